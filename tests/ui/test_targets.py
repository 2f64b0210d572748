"""Several targets in one widget: tabs for each, tables side by side, and a picker that asks the kernel for more."""

import pytest

import jaxscope
from tests.plugins import TPU
from tests.ui.test_show import ATTENTION, shown, tab, wait_for_widgets

PICKER = "select.target"


def tabs(page):
    return page.get_by_role("tab").locator("b").all_inner_texts()


def chosen(page):
    return page.locator(PICKER).evaluate("select => select.value")


@pytest.fixture
def page_of_two(open_source):
    """An exported page for this CPU and for AMD's GPUs, which can only be lowered for: neither needs a plugin."""

    def doubled(x):
        return x * 2

    inspection = jaxscope.inspect(doubled, "f32[8]", targets=["cpu", "rocm"])
    return inspection, open_source(inspection._source)


def test_each_target_has_its_tabs_and_shares_the_python(page_of_two):
    inspection, page = page_of_two
    names = page.locator(f"{PICKER} option").evaluate_all("all => all.map((each) => each.value)")
    assert names == list(inspection.targets) == ["cpu", "rocm"], "a page has no kernel that could compile for others"
    before = tabs(page)
    assert before.count("Jaxpr") == before.count("Compiled HLO") == 1
    page.locator(PICKER).select_option("rocm")
    row = page.locator(".pane.right")
    assert tabs(page) == [name for name in before if not name.startswith("LLVM")]
    assert "AMD" in row.inner_text(), "why there is no compiled program"
    tab(page, "StableHLO").click()
    shown(page, "stablehlo.multiply").wait_for()
    assert page.locator(".pane.right select").evaluate("select => select.value") == "stablehlo@rocm"
    page.locator(PICKER).select_option("cpu")
    assert page.locator(".pane.right select").evaluate("select => select.value") == "stablehlo"


def test_programs_of_two_targets_stand_beside_each_other(page_of_two):
    _, page = page_of_two
    tab(page, "StableHLO").click()
    page.locator(".pane.left select").select_option("stablehlo@rocm")
    shown(page.locator(".pane.left"), "stablehlo.multiply").wait_for()
    row = page.locator(".pane.right .row", has_text="stablehlo.multiply")
    row.hover()
    assert page.locator(".pane.left .row.exact", has_text="stablehlo.multiply").count() == 1


def test_figures_stand_side_by_side(page_of_two):
    _, page = page_of_two
    tab(page, "Memory").click()
    table = page.locator("table").first
    assert table.locator("th").all_inner_texts() == ["Memory", "cpu", "rocm"]
    assert table.locator("tr", has_text="Arguments").locator("td").all_inner_texts()[:3] == ["Arguments", "32 B", "—"]


@TPU
def test_the_picker_compiles_for_one_more(lab, new_page, picture):
    page = lab.run(new_page(), [ATTENTION, "result = jaxscope.show(attention, shape, shape, shape)"])
    wait_for_widgets(page, 1)
    tab(page, "Compiled HLO").click()
    page.locator(PICKER).select_option("tpu:v5e:2x2")
    page.locator('[role=tab][data-key="hlo@tpu:v5e:2x2"][data-status=done]').wait_for(timeout=120_000)
    page.locator('[role=tab][data-key="hlo@tpu:v5e:2x2"]').click()
    shown(page, "ENTRY").wait_for()
    page.locator(".pane.right .scroller").press("y")
    # Tiled layouts are a TPU's.
    page.locator(".pane.right .row", has_text="T(8,128)").first.wait_for()
    assert chosen(page) == "tpu:v5e:2x2"
    assert lab.evaluate(page, "print(result.targets)").strip() == "('cpu', 'tpu:v5e:2x2')"
    picture(page.locator(".jaxscope").first, "targets-tpu")
    page.locator(PICKER).select_option("cpu")
    assert page.locator('[role=tab][data-key="hlo"]').get_attribute("aria-selected") == "true"


def test_a_target_that_is_refused_says_why(lab, new_page):
    """The arguments need four devices."""
    cell = 'jaxscope.show(lambda x: x * 2, "f32[@a 8]", target="rocm", mesh={"a": 4})'
    page = lab.run(new_page(), [ATTENTION, cell])
    wait_for_widgets(page, 1)
    page.locator(PICKER).select_option("cpu")
    note = page.locator(".notes p", has_text="Laying the mesh a=4 over cpu")
    note.wait_for()
    assert chosen(page) == "rocm"
