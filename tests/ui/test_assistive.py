"""Use without a mouse and with assistive technology: axe-core over every tab, the help sheet, what is announced."""

import pytest

from tests.ui import sample
from tests.ui.conftest import LOOKS
from tests.ui.test_page import active_tab, lines, row, rows

FOCUSED = "() => document.querySelector('.jaxscope').shadowRoot.activeElement"


@pytest.fixture(scope="module")
def real_page(tmp_path_factory):
    """An attention layer, inspected and exported."""
    import jax
    import jax.numpy as jnp

    import jaxscope

    def attention(q, k, v):
        scores = jnp.einsum("htd,hsd->hts", q, k) / jnp.sqrt(q.shape[-1])
        return jnp.einsum("hts,hsd->htd", jax.nn.softmax(scores), v)

    shape = "f32[8,128,64]"
    path = tmp_path_factory.mktemp("real") / "attention.html"
    call = (shape, "f64[8,128,64]", shape)
    jaxscope.inspect(attention, shape, shape, shape, call=call).to_html(path)
    return path


def violations(page, axe: str) -> list:
    """What axe-core finds on the page as it stands; it looks into shadow roots too."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(axe)
    found = page.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")
    assert len(found["passes"]) > 10, "axe has looked at next to nothing"
    return [
        (each["id"], [(node["target"], node["failureSummary"]) for node in each["nodes"][:3]])
        for each in found["violations"]
    ]


def check_every_tab(page, axe: str) -> None:
    for tab in page.get_by_role("tab").all():
        tab.click()
        page.mouse.move(0, 0)
        page.wait_for_timeout(60)
        assert violations(page, axe) == [], tab.get_attribute("data-key")


@pytest.mark.parametrize(("scheme", "viewport"), LOOKS)
@pytest.mark.parametrize("name", ["attention", "failed", "failed_in_a_loop", "running", "hostile"])
def test_axe_finds_nothing_in_any_tab(open_source, axe, name, scheme, viewport):
    page = open_source(
        getattr(sample, name)(),
        viewport=viewport,
        color_scheme=scheme,
        reduced_motion="reduce",
    )
    page.locator(".pane.left .row").first.wait_for()
    check_every_tab(page, axe)


@pytest.mark.parametrize(("scheme", "viewport"), LOOKS)
def test_axe_finds_nothing_while_searching_and_in_the_menu(open_source, axe, scheme, viewport):
    page = open_source(sample.attention(), viewport=viewport, color_scheme=scheme, reduced_motion="reduce")
    row(page, "right", 16).click()
    page.keyboard.press("/")
    page.keyboard.type("(a+)+$")
    page.keyboard.press("Alt+r")
    page.locator(".pane.right .problem:visible").wait_for()
    assert violations(page, axe) == []
    page.locator(".pane.right .query:visible").fill("dot")
    page.locator(".pane.right mark.current").wait_for()
    page.locator(".pane.left .scroller").focus()
    for key in ("g", "Escape", "z"):
        page.keyboard.press(key)
        assert violations(page, axe) == [], key


@pytest.mark.parametrize(("scheme", "viewport"), LOOKS)
def test_axe_finds_nothing_on_a_real_page(new_page, real_page, axe, scheme, viewport):
    page = new_page(viewport=viewport, color_scheme=scheme)
    page.goto(real_page.as_uri())
    page.locator(".pane.right .row").first.wait_for()
    check_every_tab(page, axe)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_while_much_is_marked(open_source, axe, scheme):
    """Pins, linked lines under the pointer, every switch on, one layout after the other, the help sheet."""
    page = open_source(sample.attention(), color_scheme=scheme)
    row(page, "right", 16).wait_for()
    for line in (2, 3, 4, 5, 6, 10):
        row(page, "left", line).click(modifiers=["Control"])
    row(page, "right", 17).hover()
    assert violations(page, axe) == []
    page.locator(".pane.right .scroller").focus()
    for key in "oymkfwww":
        page.keyboard.press(key)
        assert violations(page, axe) == [], key
    page.keyboard.press("e")
    assert violations(page, axe) == []
    page.keyboard.press("?")
    page.locator("dialog").wait_for()
    assert violations(page, axe) == []


def test_axe_can_fail(open_source, axe):
    page = open_source(sample.attention())
    row(page, "right", 16).wait_for()
    page.evaluate(
        "() => document.querySelector('.jaxscope').shadowRoot.querySelector('select').removeAttribute('aria-label')"
    )
    assert [name for name, _ in violations(page, axe)] == ["select-name"]


def test_help_sheet_lists_every_key_keeps_the_focus_and_gives_it_back(open_source):
    page = open_source(sample.attention())
    row(page, "right", 16).wait_for()
    page.locator(".pane.right .scroller").focus()
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog", name="Keys")
    sheet.wait_for()
    keys = sheet.locator("kbd").all_inner_texts()
    assert len(keys) == len(set(keys)) and {"?", "Esc", "Enter", "Space", "F", "w", "o", "[", "↓"} <= set(keys)
    assert all(text.strip() for text in sheet.locator("dd").all_inner_texts())
    for _ in range(5):
        page.keyboard.press("Tab")
        assert page.evaluate(f"() => ({FOCUSED})().closest('dialog') !== null")
    page.keyboard.press("Shift+Tab")
    assert page.evaluate(f"() => ({FOCUSED})().closest('dialog') !== null")
    page.keyboard.press("w")
    page.keyboard.press("]")
    assert page.locator("[data-action=layout]").inner_text() == "layout: automatic", "keys are for the sheet alone"
    page.keyboard.press("Escape")
    assert not sheet.is_visible()
    assert page.evaluate(f"() => ({FOCUSED})().className") == "scroller"
    page.keyboard.press("End")
    assert lines(page, "right", "cursor") == [19]
    page.locator("[data-action=help]").click()
    sheet.get_by_role("button", name="close").click()
    assert page.evaluate(f"() => ({FOCUSED})().dataset.action") == "help"


def test_every_key_of_the_help_sheet_that_is_for_the_whole_widget_changes_something(open_source):
    """Each key in a fresh page with a pin, by what can be seen, or the focus, or what is covered."""
    state = """() => {
      const { shadowRoot: root, dataset } = document.querySelector('.jaxscope');
      const look = root.querySelector('.app').cloneNode(true);
      look.querySelectorAll('.unseen').forEach((each) => each.remove());
      return JSON.stringify([look.outerHTML, dataset.full, root.querySelector('dialog').open]);
    }"""
    page = open_source(sample.attention())
    unchanged = []
    for key in ["1", "Escape", "[", "]", "w", "F", "f", "?", "o", "y", "m", "e"]:
        page.evaluate("() => localStorage.clear()")
        page.reload()
        row(page, "right", 16).wait_for()
        page.locator(".pane.right .scroller").focus()
        page.keyboard.press("End")
        page.keyboard.press("Enter")
        before = page.evaluate(state)
        page.keyboard.press(key)
        page.wait_for_timeout(80)
        if page.evaluate(state) == before:
            unchanged.append(key)
    assert unchanged == []


def test_keyboard_only_from_a_kernel_to_its_python_line(open_source):
    """Opens the page, finds the fusion in the compiled program and reads which line of Python asked for it."""
    page = open_source(sample.attention())
    row(page, "right", 16).wait_for()
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate(f"() => ({FOCUSED})()?.getAttribute('role')") == "grid":
            label = page.evaluate(f"() => ({FOCUSED})().getAttribute('aria-label')")
            if label == "Compiled HLO":
                break
    assert active_tab(page) == "hlo"
    current = (
        "() => document.querySelector('.jaxscope').shadowRoot.querySelector('.pane.right .row.cursor')?.textContent"
    )
    for _ in range(20):
        page.keyboard.press("ArrowDown")
        if "fusion(" in (page.evaluate(current) or ""):
            break
    active = page.locator(".pane.right .scroller").get_attribute("aria-activedescendant")
    assert active == row(page, "right", 17).get_attribute("id")
    assert "layers.py:4:9" in page.locator(".status").inner_text()
    assert lines(page, "left", "exact") == [11]
    assert row(page, "left", 11).get_attribute("aria-description") == "linked"
    page.wait_for_timeout(350)
    assert page.locator('[role="status"].unseen').inner_text() == "2 linked lines in Python"
    page.keyboard.press("Enter")
    page.keyboard.press("w")
    page.keyboard.press("[")
    page.keyboard.press("[")
    page.keyboard.press("[")
    assert active_tab(page) == "python"
    row(page, "right", 11).wait_for()
    assert "pin-exact" in row(page, "right", 11).get_attribute("class")
    assert "jnp.exp" in row(page, "right", 11).inner_text()


def test_a_stage_that_ends_is_announced(new_page):
    from jaxscope._render.html import bundle

    page = new_page()
    page.goto("about:blank")
    page.set_content("<div id=place></div>")
    page.evaluate(
        """async ([code, running, done]) => {
          const { mount } = await import(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })));
          const source = {
            view: running, listing: () => new Promise(() => {}), get: () => ({}), set() {},
            onChange: (callback) => { window.finish = () => { source.view = done; callback(); }; },
          };
          mount(document.getElementById('place'), source);
        }""",
        [bundle(), sample.running().view, sample.attention().view],
    )
    live = page.locator('[role="status"].unseen')
    assert live.inner_text() == ""
    page.evaluate("() => window.finish()")
    page.wait_for_timeout(350)
    assert "Compiled HLO finished" in live.inner_text() and "Python finished" not in live.inner_text()


def test_rows_say_what_their_marks_show(open_source):
    page = open_source(sample.attention())
    row(page, "right", 17).hover()
    assert rows(page, "left", "exact").get_attribute("aria-description") == "linked"
    assert rows(page, "left", "related").get_attribute("aria-description") == "linked by line or caller"
    row(page, "right", 17).click()
    assert row(page, "right", 17).get_attribute("aria-description") == "pin 1"
    page.locator(".signature").hover()
    assert row(page, "left", 11).get_attribute("aria-description") == "linked to pin 1"
    assert row(page, "left", 5).get_attribute("aria-description") == "linked to pin 1 by line or caller"
    page.keyboard.press("Escape")
    assert page.locator(".row[aria-description]").count() == 0


def test_pins_without_colours_of_our_own_are_still_told_apart(open_source):
    page = open_source(sample.attention(), forced_colors="active")
    row(page, "right", 16).click()
    row(page, "right", 17).click(modifiers=["Control"])
    assert row(page, "right", 16).locator(".sign").inner_text() == "1"
    assert row(page, "right", 17).locator(".sign").inner_text() == "2"
    style = "each => getComputedStyle(each).outlineStyle"
    assert row(page, "left", 3).evaluate(style) == "solid"
    page.locator(".signature").click()
    page.keyboard.press("Tab")
    assert page.locator("[data-action]:focus").evaluate(style) == "solid"


def test_doubled_zoom_keeps_tools_pins_and_help_reachable(open_source):
    page = open_source(sample.attention(), viewport={"width": 620, "height": 400}, device_scale_factor=2)
    row(page, "right", 16).click()
    for button in page.locator(".tools button, .pins button, .pane.right .pane-head button").all():
        at = button.bounding_box()
        assert at["x"] >= 0 and at["x"] + at["width"] <= 620
    page.keyboard.press("?")
    sheet = page.get_by_role("dialog").bounding_box()
    assert (
        sheet["x"] >= 0
        and sheet["x"] + sheet["width"] <= 620
        and sheet["y"] >= 0
        and sheet["y"] + sheet["height"] <= 400
    )
    last = page.locator("dialog dd").last
    last.scroll_into_view_if_needed()
    at = last.bounding_box()
    assert sheet["y"] <= at["y"] and at["y"] + at["height"] <= sheet["y"] + sheet["height"]
