"""`jaxscope.show` in a real JupyterLab: one widget however it is called, live, and kept in the saved notebook."""

import json

import pytest

from tests.shared import ABSENT, SHARED
from tests.ui.conftest import NARROW, WIDE

ATTENTION = """
import jax
import jax.numpy as jnp
import jaxscope

def attention(q, k, v):
    scores = jnp.einsum("htd,hsd->hts", q, k) / jnp.sqrt(q.shape[-1])
    weights = jax.nn.softmax(scores)
    return jnp.einsum("hts,hsd->htd", weights, v)

shape = "f32[8,128,64]"
"""
FAILING = """
import jaxscope

def keep(x):
    mask = x > 0.5
    return x[mask]

jaxscope.show(keep, "f32[8]")
"""


def widgets_per_cell(page):
    return page.evaluate(
        "() => [...document.querySelectorAll('.jp-Notebook .jp-CodeCell')]"
        ".map((cell) => cell.querySelectorAll('.jaxscope').length)"
    )


def wait_for_widgets(page, count):
    page.wait_for_function(
        "(count) => document.querySelectorAll('.jp-Notebook .jaxscope').length === count", arg=count, timeout=30_000
    )


# What a cell says, and how many widgets it then has.
CELLS = {
    "jaxscope.show(attention, shape, shape, shape)": 1,
    "result = jaxscope.show(attention, shape, shape, shape)": 1,
    "result = jaxscope.show(attention, shape, shape, shape)\nresult": 1,
    "for rows in (8, 16):\n    jaxscope.show(jnp.sin, f'f32[{rows}]')": 2,
    "def run():\n    return jaxscope.show(attention, shape, shape, shape)\nrun();": 1,
    "[jaxscope.show(jnp.sin, 'f32[8]')][0]": 1,
    "jaxscope.inspect(attention, shape, shape, shape)": 1,
    "result = jaxscope.inspect(attention, shape, shape, shape)": 0,
}


def test_exactly_one_widget(lab, new_page):
    # So high that JupyterLab draws every cell.
    page = lab.run(new_page(viewport={"width": 1240, "height": 9000}), [ATTENTION, *CELLS])
    wait_for_widgets(page, sum(CELLS.values()))
    page.wait_for_timeout(300)
    assert widgets_per_cell(page) == [0, *CELLS.values()]


def test_shown_again_in_a_later_cell(lab, new_page):
    page = lab.run(new_page(), [ATTENTION, "result = jaxscope.show(attention, shape, shape, shape)", "result"])
    wait_for_widgets(page, 2)
    assert widgets_per_cell(page) == [0, 1, 1]


def tab(page, name):
    return page.get_by_role("tab", name=name)


def shown(root, words):
    """The first visible row of a listing or table that holds these words."""
    return root.locator(".row:visible, tr:visible").filter(has_text=words).first


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_tab_has_its_content(lab, new_page, scheme, picture):
    page = new_page(color_scheme=scheme)
    lab.open(page, [ATTENTION, "jaxscope.show(attention, shape, shape, shape, call=(shape, 'f64[8,128,64]', shape))"])
    lab.command(page, "apputils:change-theme", {"theme": f"JupyterLab {scheme.title()}"})
    lab.run_all(page)
    wait_for_widgets(page, 1)
    expected = {
        "Jaxpr": "dot_general",
        "StableHLO": "stablehlo.dot_general",
        "Compiled HLO": "ENTRY",
        "Cost": "FLOPs",
        "Memory": "Temporaries",
        "Types": "f64[8,128,64]",
        "Python": "def attention",
    }
    root = page.locator(".jaxscope").first
    for width, size in {"wide": WIDE, "narrow": NARROW}.items():
        page.set_viewport_size(size)
        for name, words in expected.items():
            tab(page, name).click()
            shown(root, words).wait_for()
            root.scroll_into_view_if_needed()
            picture(root, f"show-{name.replace(' ', '-').lower()}-{scheme}-{width}")
    lab.command(page, "apputils:change-theme", {"theme": "JupyterLab Light"})


def test_a_failure_names_the_users_own_line(lab, new_page, picture):
    page = lab.run(new_page(), [FAILING])
    wait_for_widgets(page, 1)
    root = page.locator(".jaxscope").first
    root.get_by_text("NonConcreteBooleanIndexError").first.wait_for()
    text = root.evaluate("host => (host.shadowRoot ?? host).textContent")
    assert "return x[mask]" in text and "jnp.where(mask, x, 0)" in text and "not reached" in text
    picture(root, "show-failing")


def test_hovering_lights_the_python_line(lab, new_page, picture):
    page = lab.run(new_page(), [ATTENTION, "jaxscope.show(attention, shape, shape, shape)"])
    wait_for_widgets(page, 1)
    tab(page, "StableHLO").click()
    right = page.locator(".pane.right .row", has_text="stablehlo.dot_general").first
    right.hover()
    lit = page.locator(".pane.left .row.exact")
    lit.first.wait_for()
    assert "einsum" in lit.first.inner_text()
    picture(page.locator(".jaxscope").first, "show-linked")


def test_the_saved_notebook_ends_with_the_final_state(lab, new_page):
    page = lab.run(new_page(), [ATTENTION, "result = jaxscope.show(attention, shape, shape, shape)"])
    wait_for_widgets(page, 1)
    lab.command(page, "docmanager:save")
    page.wait_for_timeout(1000)
    saved = json.loads(sorted(lab.root.glob("*.ipynb"), key=lambda path: path.stat().st_mtime)[-1].read_text())
    (output,) = saved["cells"][1]["outputs"]
    assert {"application/vnd.jupyter.widget-view+json", "text/html", "text/plain"} <= set(output["data"])
    plain = "".join(output["data"]["text/plain"])
    assert "Compiled HLO" in plain and "running" not in plain and "0x" not in plain
    assert "✓ done" in "".join(output["data"]["text/html"])


def test_interrupting_a_long_compile_gives_the_prompt_back(lab, new_page):
    """A Python loop unrolled into thousands of products takes XLA many seconds; the interrupt must not wait for it."""
    cell = """
import threading, time, _thread
import jax, jax.numpy as jnp, jaxscope
def slow(x):
    for number in range(3000):
        x = jnp.sin(x @ x + number)
    return x
def interrupt():
    while not any(thread.name == "jaxscope-compile" for thread in threading.enumerate()):
        time.sleep(0.05)
    time.sleep(0.3)
    global sent
    sent = time.monotonic()
    _thread.interrupt_main()
threading.Thread(target=interrupt).start()
try:
    jaxscope.show(slow, "f32[64,64]")
except KeyboardInterrupt:
    print("back after", time.monotonic() - sent)
print(any(thread.name == "jaxscope-compile" for thread in threading.enumerate()))
"""
    page = lab.run(new_page(), [cell], timeout_s=120)
    output = page.locator(".jp-OutputArea", has_text="back after")
    output.wait_for(timeout=60_000)
    assert "True" in output.inner_text(), "XLA must still be compiling when the prompt is back"


def test_the_transformer_opens_with_all_tabs_working(lab, new_page, picture):
    """Real input: 12 layers, 34,000 lines of HLO."""
    if SHARED is None:
        pytest.skip(ABSENT)
    cell = f"""
import sys
sys.path.insert(0, {str(SHARED / "programs")!r})
import jax, jaxscope
from transformer import step_and_args
step, args = step_and_args(layers=12)
result = jaxscope.show(jax.jit(step, donate_argnums=(0, 1)), *args)
"""
    page = lab.run(new_page(), [cell], timeout_s=180)
    wait_for_widgets(page, 1)
    root = page.locator(".jaxscope").first
    expected = {
        "Jaxpr": "{ lambda",
        "StableHLO": "module @jit_step",
        "Compiled HLO": "ENTRY",
        "Cost": "FLOPs",
        "Memory": "Temporaries",
        "Types": "params['embedding']",
        "Python": "def step",
    }
    for name, words in expected.items():
        tab(page, name).click()
        shown(root, words).wait_for(timeout=30_000)
        picture(root, f"transformer-{name.replace(' ', '-').lower()}")
    tab(page, "Compiled HLO").click()
    page.wait_for_timeout(500)
    rows = page.locator(".pane.right .row").count()
    assert 10 < rows < 200, "only the rows on screen are in the page"
