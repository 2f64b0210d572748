"""The box of the Types tab: a call is typed, the kernel judges it, and nothing is lost on the way."""

import functools

import jax
import jax.numpy as jnp
import pytest

import jaxscope
from jaxscope._render import widget
from tests.ui.conftest import LOOKS
from tests.ui.test_assistive import violations
from tests.ui.test_lab import save_and_reopen
from tests.ui.test_page import active_tab
from tests.ui.test_show import ATTENTION, tab, wait_for_widgets

BOX, FIELD, ALERT, STATUS = ".call", ".call input", ".call [role=alert]", ".call [role=status]"
FOCUSED = "() => document.querySelector('.jaxscope').shadowRoot.activeElement?.tagName"
# anywidget's model, whose messages the test answers as a kernel does.
RENDER = """async ([code, view]) => {
  const module = await import(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })));
  const heard = {}, state = { view, listings: {} };
  const tell = (event, ...news) => (heard[event] ?? []).forEach((callback) => callback(...news));
  const model = {
    get: (name) => state[name], set() {}, save_changes() {},
    on: (event, callback) => (heard[event] ??= []).push(callback),
    off() {},
    async send(message) {
      const { answers, view } = await window.kernel(message);
      if (JSON.stringify(view) !== JSON.stringify(state.view)) { state.view = view; tell('change:view'); }
      for (const answer of answers) tell('msg:custom', answer, []);
    },
  };
  module.default.render({ model, el: document.getElementById('place') });
}"""


@functools.partial(jax.jit, static_argnames="n")
def layer(params, x, n=2):
    return jnp.tanh(x @ params["w"]) * n


@pytest.fixture
def live_page(new_page, monkeypatch):
    """A widget with a kernel: the real one's answers, or none while `is_alive` says so."""

    def open_page(inspection, is_alive=lambda: True, **options):
        model = widget.InspectionWidget(inspection._source)
        answers = []
        monkeypatch.setattr(model, "send", lambda content, buffers=None: answers.append(content))

        def kernel(message):
            answers.clear()
            if is_alive() and message["type"] == "check":
                model._handle_custom_msg(message, [])
            return {"answers": answers, "view": model.view}

        page = new_page(**options)
        page.goto("about:blank")
        page.expose_function("kernel", kernel)
        page.set_content("<!doctype html><html lang=en><title>calls</title><main id=place><h1>calls</h1></main></html>")
        page.evaluate(RENDER, [widget.bundle(), model.view])
        page.locator("[role=tab][data-key=types]").click()
        return page

    return open_page


@pytest.fixture
def inspection():
    return jaxscope.inspect(layer, {"w": "f32[4,4]"}, "f32[8,4]", n=3)


def cells(page, table):
    return page.locator(f"[data-table={table}] tbody td").all_inner_texts()


def test_a_typed_call_is_judged_where_it_stands(live_page, inspection):
    page = live_page(inspection)
    field = page.get_by_role("textbox", name="call")
    field.wait_for()
    assert field.input_value() == "{'w': f32[4,4]}, f32[8,4]"
    assert page.locator("[data-table=mismatches]").count() == 0
    field.fill('{"w": f32[4,4]}, bf16[8,4]')
    field.press("Enter")
    page.locator("[data-table=mismatches]").wait_for()
    expected = inspection.check({"w": "f32[4,4]"}, "bf16[8,4]")
    assert page.locator("[data-table=mismatches] .summary").inner_text() == f"✕ {expected.summary}"
    assert page.locator("[data-table=cache] .summary").inner_text() == f"▲ {expected.cache.summary}"
    assert cells(page, "mismatches")[:3] == ["x", "f32[8,4]", "✕ bf16[8,4]"]
    assert page.locator(STATUS).inner_text() == f"{expected.summary}. {expected.cache.summary}"
    assert field.input_value() == '{"w": f32[4,4]}, bf16[8,4]' and page.evaluate(FOCUSED) == "INPUT"
    # The same by the button, twice: a verdict that has not changed is still an answer.
    field.fill("{'w': f32[4,4]}, f32[8,4]")
    for _ in range(2):
        page.get_by_role("button", name="check", exact=True).click()
        page.locator(STATUS, has_text="agrees").wait_for()
    assert "agrees with the compiled signature" in page.locator("[data-table=mismatches]").inner_text()


def test_what_cannot_be_read_is_told_and_stays(live_page, inspection):
    page = live_page(inspection)
    field = page.locator(FIELD)
    field.fill("f32[9]")
    field.press("Enter")
    page.locator("[data-table=mismatches]").wait_for()
    before = page.locator("[data-table=mismatches]").inner_text()
    field.fill("f32[8], open('/etc/passwd')")
    field.press("Enter")
    alert = page.locator(ALERT)
    alert.wait_for()
    assert "at column 9, open('/etc/passwd') is a call, and nothing is run here" in alert.inner_text()
    assert alert.locator("code").inner_text() == "open('/etc/passwd')"
    assert page.locator(STATUS).inner_text() == ""
    assert field.input_value() == "f32[8], open('/etc/passwd')" and page.evaluate(FOCUSED) == "INPUT"
    assert page.locator("[data-table=mismatches]").inner_text() == before
    field.fill("<img src=x onerror=alert(1)>")
    field.press("Enter")
    page.locator(ALERT, has_text="<img").wait_for()
    assert page.locator(".call img").count() == 0


def test_keys_of_the_screen_are_letters_in_the_box(live_page, inspection):
    page = live_page(inspection)
    field = page.locator(FIELD)
    field.fill("")
    typed = "?/ngcCzvotsymkxpWIhe[1]FL 2"
    field.press_sequentially(typed)
    field.press("Escape")
    assert field.input_value() == typed and active_tab(page) == "types"
    assert page.locator("dialog:visible").count() == 0


def test_what_is_being_typed_outlives_other_tabs(live_page, inspection):
    page = live_page(inspection)
    page.locator(FIELD).fill("f32[1")
    page.locator("[role=tab][data-key=cost]").click()
    assert page.locator(BOX).count() == 0
    page.locator("[role=tab][data-key=types]").click()
    assert page.locator(FIELD).input_value() == "f32[1"


def test_each_target_has_its_own_box(live_page):
    inspection = jaxscope.inspect(layer, {"w": "f32[4,4]"}, "f32[8,4]", targets=["cpu", "rocm"])
    page = live_page(inspection)
    page.locator(FIELD).fill("1")
    page.locator("select.target").select_option("rocm")
    field = page.locator(FIELD)
    assert field.input_value() == "{'w': f32[4,4]}, f32[8,4]"
    field.fill("2")
    field.press("Enter")
    page.locator("[data-table=mismatches]").wait_for()
    page.locator("select.target").select_option("cpu")
    assert page.locator(FIELD).input_value() == "1" and page.locator("[data-table=mismatches]").count() == 0


def test_there_is_no_box_without_a_kernel(live_page, inspection, open_source):
    page = live_page(inspection, is_alive=lambda: False)
    page.locator("[data-table=arguments]").wait_for()
    assert not page.locator(BOX).is_visible()
    inspection._source.check("types", "f32[9]")
    page = open_source(inspection._source)
    page.locator("[role=tab][data-key=types]").click()
    # What was judged is there, and which call it was.
    assert "The call: f32[9]" in page.locator("[data-table=mismatches]").inner_text()
    assert page.locator(BOX).count() == 0


@pytest.mark.parametrize(("scheme", "viewport"), LOOKS)
def test_axe_finds_nothing(live_page, inspection, axe, scheme, viewport, picture):
    page = live_page(inspection, color_scheme=scheme, viewport=viewport)
    field = page.locator(FIELD)
    field.fill("{'w': f32[4,4]}, bf16[8,4]")
    field.press("Enter")
    page.locator("[data-table=mismatches]").wait_for()
    picture(page, f"call-box-{scheme}")
    assert violations(page, axe) == []
    field.fill("{'w': weights}")
    field.press("Enter")
    page.locator(ALERT, has_text="column 7").wait_for()
    picture(page, f"call-box-refused-{scheme}")
    assert violations(page, axe) == []
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out"


def test_in_a_notebook_and_in_the_one_that_was_saved(lab, new_page):
    page = lab.run(new_page(), [ATTENTION, "result = jaxscope.show(attention, shape, shape, shape)"])
    wait_for_widgets(page, 1)
    tab(page, "Types").click()
    field = page.locator(FIELD)
    field.fill("f32[8,128,64], bf16[8,128,64], ~f32[8,128,64]")
    field.press("Enter")
    page.locator("[data-table=mismatches]").wait_for()
    told = page.locator("[data-table=mismatches] .summary").inner_text().removeprefix("✕ ")
    code = "print(result.check(shape, 'bf16[8,128,64]', '~f32[8,128,64]').summary)"
    assert lab.evaluate(page, code) == told
    assert lab.evaluate(page, "print('The call: f32[8,128,64], bf16' in str(result))") == "True"
    page = save_and_reopen(lab, page, new_page, keep_state=True)
    tab(page, "Types").click()
    page.locator("[data-table=mismatches]", has_text="The call: f32[8,128,64], bf16").wait_for()
    page.wait_for_timeout(500)
    assert not page.locator(BOX).is_visible()
