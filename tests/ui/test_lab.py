"""The widget in a real JupyterLab: what the kernel sends arrives, and what the user does goes back."""

import json

import pytest

SHOW = """
from tests.ui import sample
from jaxscope._render.widget import InspectionWidget
source = sample.{name}
widget = InspectionWidget(source)
widget
"""


def row(page, side, line):
    return page.locator(f'.pane.{side} .row[data-line="{line}"]')


@pytest.fixture
def show(lab, new_page):
    """Shows one of the sample's sources in a new notebook, with more cells after it; the page."""

    def run(name, *cells, **options):
        page = lab.run(new_page(**options), [SHOW.format(name=name), *cells])
        page.locator(".jaxscope .strip").first.wait_for()
        return page

    return run


def test_listings_come_on_request_and_the_choice_goes_back(lab, show):
    page = show("attention()")
    row(page, "right", 17).hover()
    assert "exact" in row(page, "left", 11).get_attribute("class").split()
    row(page, "left", 3).click()
    page.get_by_role("tab", name="Jaxpr").click()
    page.wait_for_timeout(600)
    said = lab.evaluate(page, "print([widget.selection[name] for name in ('tab', 'left', 'right', 'pins')])")
    assert said == "['jaxpr', 'python', 'jaxpr', [{'listing': 'python', 'line': 3}]]"


def test_sorting_outlives_the_echo_of_the_choice(lab, show):
    page = show("attention()")
    page.get_by_role("tab", name="Cost").click()
    page.get_by_role("button", name="FLOPs").click()
    page.wait_for_timeout(700)
    assert lab.evaluate(page, "print(widget.selection['tab'])") == "cost"
    assert page.locator("th").nth(2).get_attribute("aria-sort") == "descending"
    lab.evaluate(page, "source.view['tabs'][0]['count'] = 'changed'; widget.refresh(embed=False)")
    page.get_by_role("tab", name="Python changed").wait_for()
    assert page.locator("th").nth(2).get_attribute("aria-sort") == "descending"


def test_hovering_sends_nothing_to_the_kernel(lab, show):
    page = show("attention()")
    row(page, "right", 17).wait_for()
    page.wait_for_timeout(500)
    lab.evaluate(
        page, "messages = []; widget.on_msg(lambda *message: messages.append(message)); old = dict(widget.selection)"
    )
    for line in (3, 4, 5, 6):
        row(page, "left", line).hover()
    page.wait_for_timeout(500)
    assert lab.evaluate(page, "print(len(messages), widget.selection == old)") == "0 True"


def test_stages_appear_as_they_finish(lab, show):
    page = show("running()")
    assert "running" in page.get_by_role("tab", name="Compiled HLO").inner_text()
    assert page.locator('.jaxscope [role=tab][aria-selected="true"]').get_attribute("data-key") == "jaxpr"
    lab.evaluate(page, "source.view = sample.attention().view; widget.refresh(embed=False)")
    page.wait_for_function("() => !document.querySelector('.jaxscope').shadowRoot.querySelector('.spinner')")
    row(page, "right", 16).wait_for()
    assert "4 kernels" in page.get_by_role("tab", name="Compiled HLO").inner_text()


def test_embedded_listings_need_no_kernel(lab, show):
    page = show("attention()", "widget.refresh(embed=True)")
    page.wait_for_timeout(300)
    lab.evaluate(
        page, "def refuse(key): raise RuntimeError('asked')\nsource.listing = refuse; widget._transfers.forget()"
    )
    page.get_by_role("tab", name="Jaxpr").click()
    row(page, "right", 1).wait_for()
    assert "dot_general" in row(page, "right", 1).inner_text()
    assert lab.evaluate(page, "print(sorted(widget.listings))") == "['hlo', 'jaxpr', 'python']"


def test_large_listing_comes_in_parts_below_the_server_limit(lab, show):
    cells = """
import random
random.seed(0)
text = "\\n".join(f"  %x.{n} = f32[{random.getrandbits(400)}] add(%a, %b)" for n in range(60_000))
index = sample.listing_index("hlo", "hlo", text)
source.listings["hlo"] = (index, text)
source.view["tabs"][3].update(lines=60_000, size_bytes=len(text))
seen = []
widget.on_msg(lambda w, content, buffers: seen.append(content))
widget.refresh(embed=True)
"""
    page = show("attention()", cells)
    page.get_by_role("tab", name="Compiled HLO").click()
    scroller = page.locator(".pane.right .scroller")
    row(page, "right", 16).wait_for()
    page.locator('.pane.right .scroller[aria-rowcount="60000"]').wait_for(timeout=60_000)
    scroller.evaluate("s => { s.scrollTop = s.scrollHeight }")
    row(page, "right", 59_999).wait_for()
    parts = lab.evaluate(
        page, "print(len([m for m in seen if m.get('type') == 'next']), 'hlo' in widget.listings)"
    ).split()
    assert int(parts[0]) > 12 and parts[1] == "False"
    assert "data rate" not in page.locator("body").inner_text()


def test_failing_listing_shows_its_reason(lab, show):
    page = show("hostile()")
    page.locator(".jaxscope [role=tab]").nth(1).click()
    page.locator(".pane.right .message b").wait_for()
    assert "could not be read" in page.locator(".pane.right .message").inner_text()
    assert row(page, "left", 0).is_visible()
    assert page.evaluate("() => window.pwned ?? null") is None


def test_keys_stay_in_the_widget(lab, show):
    page = show("attention()", "1 + 1")
    row(page, "right", 16).wait_for()
    page.locator(".pane.right .scroller").focus()
    active = "() => window.jupyterapp.shell.currentWidget.content.activeCellIndex"
    before, cells = page.evaluate(active), page.locator(".jp-Notebook .jp-Cell").count()
    for key in ("ArrowDown", "ArrowDown", "Enter", "a", "b", "d", "d", "j", "PageDown", "]"):
        page.keyboard.press(key)
    page.wait_for_timeout(300)
    assert page.evaluate(active) == before
    assert page.locator(".jp-Notebook .jp-Cell").count() == cells
    assert page.locator('.jaxscope [role=tab][aria-selected="true"]').get_attribute("data-key") == "cost"


def test_theme_of_the_lab_is_followed(lab, show, picture):
    page = show("attention()")
    row(page, "right", 16).wait_for()
    app = page.locator(".jaxscope .app")
    assert app.get_attribute("data-theme") == "light"
    picture(page, "lab-light")
    lab.command(page, "apputils:change-theme", {"theme": "JupyterLab Dark"})
    try:
        page.wait_for_function(
            "() => document.querySelector('.jaxscope').shadowRoot.querySelector('.app').dataset.theme === 'dark'"
        )
        page.wait_for_timeout(300)
        picture(page, "lab-dark")
    finally:
        lab.command(page, "apputils:change-theme", {"theme": "JupyterLab Light"})


def test_styles_do_not_leak(lab, show):
    page = show("attention()")
    assert page.evaluate("() => getComputedStyle(document.body).getPropertyValue('--link')") == ""
    assert page.evaluate(
        "() => [...document.querySelectorAll('style')].every((style) => !style.textContent.includes('--link-bar'))"
    )


def test_two_views_of_one_widget(lab, show):
    page = show("attention()", "widget")
    views = page.locator(".jaxscope")
    views.nth(1).locator(".strip").wait_for()
    for view in (0, 1):
        # One out of view loads no listing.
        views.nth(view).scroll_into_view_if_needed()
        views.nth(view).locator('.pane.right .row[data-line="16"]').wait_for()
    views.nth(0).get_by_role("tab", name="Cost").click()
    views.nth(1).locator('[data-table="cost"]').wait_for()


def test_an_inspection_shown_again_shares_its_pins_and_its_tab(lab, new_page):
    """`show`, its value in a later cell, and once more in a cell that is run while the others are open."""
    shown = """
import jaxscope
result = jaxscope.show(lambda x: x @ x, "f32[8,8]")
"""
    page = lab.run(new_page(), [shown, "result", ""])
    views = page.locator(".jaxscope")

    def line(view, words):
        # One out of view loads no listing.
        views.nth(view).scroll_into_view_if_needed()
        return views.nth(view).locator(".pane.right .row", has_text=words).first

    def wait_for_pins(count, view_count):
        page.wait_for_function(
            """(wanted) => JSON.stringify([...document.querySelectorAll('.jaxscope')]
              .map((host) => host.shadowRoot.querySelectorAll('.pins button').length)) === JSON.stringify(wanted)""",
            arg=[count] * view_count,
        )

    line(0, "ENTRY").wait_for()
    line(1, "ENTRY").wait_for()
    line(0, "ENTRY").click()
    wait_for_pins(1, 2)
    views.nth(1).get_by_role("tab", name="StableHLO").click()
    line(0, "stablehlo.dot_general").click(modifiers=["Shift"])
    wait_for_pins(2, 2)
    page.evaluate(
        """() => {
          const { content } = window.jupyterapp.shell.currentWidget;
          content.widgets[2].model.sharedModel.setSource('result');
          // Only that one is to be run.
          content.deselectAll();
          content.activeCellIndex = 2;
        }"""
    )
    lab.command(page, "notebook:run-cell")
    views.nth(2).wait_for(state="attached")
    # JupyterLab scrolls to what has been run.
    page.wait_for_timeout(500)
    line(2, "stablehlo.dot_general").wait_for()
    wait_for_pins(2, 3)
    assert len({tuple(view.locator(".pins button").all_text_contents()) for view in views.all()}) == 1
    # Taken off in one, whichever, a pin is gone from all.
    views.nth(2).locator(".pins button").first.click()
    wait_for_pins(1, 3)
    views.nth(1).locator(".pane.right .scroller").press("Escape")
    wait_for_pins(0, 3)
    page.wait_for_timeout(600)
    said = lab.evaluate(page, "chosen = result._display._widget.selection; print(chosen['pins'], chosen['tab'])")
    assert said == "[] stablehlo"


def save_and_reopen(lab, page, new_page, *, keep_state=False, trusted=True):
    """Saves the notebook, ends every kernel, and opens what is on the disk anew without running anything."""
    command = "@jupyter-widgets/jupyterlab-manager:saveWidgetState"
    # It turns a setting round that outlives the page.
    if page.evaluate("(name) => window.jupyterapp.commands.isToggled(name)", command) != keep_state:
        lab.command(page, command)
    lab.command(page, "docmanager:save")
    page.wait_for_timeout(700)
    path = max(lab.root.glob("*.ipynb"), key=lambda each: each.stat().st_mtime)
    page.evaluate("() => window.jupyterapp.serviceManager.sessions.shutdownAll()")
    page.close()
    if not trusted:
        # JupyterLab trusts what it has signed itself, by its content.
        saved = json.loads(path.read_text())
        saved["metadata"]["from"] = saved["cells"][0]["outputs"][0]["data"]["text/plain"] = "somebody else"
        path.write_text(json.dumps(saved))
    page = new_page()
    page.goto(f"{lab.url}/doc/tree/{path.name}")
    return page


INSPECT = """
import jaxscope
jaxscope.inspect(lambda x: x @ x, "f32[8,8]")
"""


def read_every_tab(page):
    """Opens each tab and waits for what only it holds."""
    expected = {
        "Jaxpr": "dot_general",
        "StableHLO": "stablehlo.dot_general",
        "Compiled HLO": "ENTRY",
        "Cost": "FLOPs",
        "Memory": "Temporaries",
        "Types": "f32[8,8]",
        "Python": "x @ x",
    }
    for name, words in expected.items():
        page.get_by_role("tab", name=name).click()
        page.locator(".pane.right .row:visible, tr:visible").filter(has_text=words).first.wait_for()


@pytest.mark.parametrize("how", ["show", "inspect"])
def test_reopened_with_its_state_a_notebook_is_read_without_its_kernel(lab, new_page, how):
    page = lab.run(new_page(), [INSPECT.replace("inspect", how)])
    page.locator(".jaxscope .strip").wait_for()
    page.wait_for_timeout(500)
    page = save_and_reopen(lab, page, new_page, keep_state=True)
    read_every_tab(page)


@pytest.mark.parametrize("end", ["restart", "shutdown"])
def test_when_its_kernel_is_gone_an_open_notebook_is_read_on(lab, new_page, end):
    page = lab.run(new_page(), [INSPECT])
    page.locator(".jaxscope .row", has_text="ENTRY").first.wait_for()
    page.evaluate(f"() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.{end}()")
    page.wait_for_timeout(1500)
    read_every_tab(page)
    # Pins are the browser's own, and nothing is asked of the kernel that is not there.
    page.locator(".pane.right .row", has_text="x @ x").first.click()
    page.locator(".pins button").first.wait_for()


def test_a_notebook_from_somebody_else_shows_the_tables(lab, new_page):
    page = lab.run(new_page(), [INSPECT])
    page.locator(".jaxscope .strip").wait_for()
    page = save_and_reopen(lab, page, new_page, trusted=False)
    output = page.locator(".jp-RenderedHTML")
    output.wait_for()
    assert "✓ done" in output.inner_text() and page.locator(".jaxscope").count() == 0
    output.locator("summary", has_text="Types").click()
    types = output.locator("details", has=page.locator("summary", has_text="Types")).last
    cell = types.locator("td", has_text="f32[8,8]").first
    assert cell.is_visible()
    assert cell.evaluate("cell => getComputedStyle(cell).textAlign") == "left"
    figure = types.locator("td", has_text="256 B").first
    assert figure.evaluate("cell => getComputedStyle(cell).textAlign") == "right"
