"""The report of memory on the screen: its parts, the curve of live buffers, what is alive where the cursor stands."""

import pytest

from tests.ui import sample_cost
from tests.ui.conftest import LOOKS
from tests.ui.test_assistive import violations
from tests.ui.test_cost import mounted  # noqa: F401
from tests.ui.test_page import active_tab, lines

LIVE = sample_cost.live_columns()
PEAK = LIVE["step_bytes"].index(max(LIVE["step_bytes"]))
COUNT = len(LIVE["step_bytes"])


@pytest.fixture
def memory_page(open_source):
    """The report, opened, with its columns there."""

    def open_page(source=None, **options):
        page = open_source(source or sample_cost.costs(), **options)
        page.locator(".pane.left .row").first.wait_for()
        page.locator("[role=tab][data-key=memory]").click()
        page.locator("path.curve").wait_for(state="attached")
        return page

    return open_page


def alive(at):
    """The buffers at an instant, by definition."""
    return [number for number in range(len(LIVE["size"])) if LIVE["first"][number] <= at <= LIVE["last"][number]]


def slider(page):
    return page.get_by_role("slider")


def now(page):
    """The instant of the cursor, from 0, as assistive technology hears it."""
    return int(slider(page).get_attribute("aria-valuenow")) - 1


def shown_sizes(page):
    return page.locator("[data-table=live] tbody tr:not([aria-hidden]) td:nth-child(4)").all_inner_texts()


def check_table(page, at):
    """The first rows are the largest of the buffers alive, and the sums run down to them."""
    from jaxscope._view.format import format_bytes

    sizes = [LIVE["size"][number] for number in alive(at)]
    expected = [format_bytes(size) for size in sizes[:14]]
    assert shown_sizes(page)[: len(expected)] == expected[: len(shown_sizes(page))] and len(shown_sizes(page)) >= min(
        10, len(sizes)
    )
    sums = page.locator("[data-table=live] tbody tr:not([aria-hidden]) td:nth-child(5)").all_inner_texts()
    assert sums == [format_bytes(sum(sizes[: number + 1])) for number in range(len(sums))]
    table = page.locator("[data-table=live] table")
    assert table.get_attribute("aria-rowcount") == str(len(sizes) + 1)
    said = page.locator("[data-table=live] .said-below").inner_text()
    assert f"instant {at + 1:,} of {COUNT:,}" in said and f"{len(sizes):,} buffer" in said
    assert format_bytes(LIVE["step_bytes"][at]) in said


def test_the_parts_of_a_whole_are_told_by_number_and_width(memory_page):
    page = memory_page()
    bar = page.locator(".shares")
    assert bar.get_attribute("role") == "img" and "temporaries 540 MiB" in bar.get_attribute("aria-label")
    whole = bar.bounding_box()["width"]
    parts = bar.locator("i")
    widths = [parts.nth(number).bounding_box()["width"] / whole for number in range(parts.count())]
    assert widths == pytest.approx([0.426, 0.002, 0.352, 0.031], abs=0.01)
    assert parts.all_text_contents() == page.locator(".legend i").all_text_contents() == ["1", "2", "3", "4"]
    assert page.locator(".legend li").nth(2).inner_text().split("\n")[-1] == "temporaries 540 MiB"
    limit = page.locator(".shares .limit")
    assert limit.inner_text() == "memory of the target 1.43 GiB"
    box = limit.bounding_box()
    assert box["x"] + box["width"] == pytest.approx(bar.bounding_box()["x"] + 0.93 * whole, abs=2)
    assert page.locator("[data-table=memory] .summary").inner_text().startswith("✓ fits")


def test_the_curve_begins_at_its_peak(memory_page):
    page = memory_page()
    assert now(page) == PEAK
    assert f"peak at instruction {PEAK + 1:,}" in page.locator("[data-table=live] .limit").inner_text()
    check_table(page, PEAK)
    box = page.locator("[data-table=live] .plot").bounding_box()
    mark = page.locator("[data-table=live] .limit").bounding_box()
    assert mark["x"] + mark["width"] == pytest.approx(box["x"] + (PEAK + 0.5) / COUNT * box["width"], abs=2)


def test_keys_move_the_cursor(memory_page):
    page = memory_page()
    slider(page).focus()
    for key, at in (
        ("ArrowRight", PEAK + 1),
        ("ArrowLeft", PEAK),
        ("Home", 0),
        ("ArrowLeft", 0),
        ("PageUp", round(COUNT / 20)),
        ("End", COUNT - 1),
        ("ArrowRight", COUNT - 1),
        ("p", PEAK),
    ):
        page.keyboard.press(key)
        assert now(page) == at, key
        check_table(page, at)
    assert f"instant {PEAK + 1:,} of {COUNT:,}" in slider(page).get_attribute("aria-valuetext")
    # These keys mean something else to the program around.
    assert page.locator("[role=tab][data-key=memory]").get_attribute("aria-selected") == "true"


def test_the_pointer_shows_and_a_click_keeps(memory_page):
    page = memory_page()
    box = slider(page).bounding_box()
    x, y = box["x"] + box["width"] / 4, box["y"] + 50
    at = int(COUNT * (round(x) - box["x"]) / box["width"])
    page.mouse.move(round(x), y)
    assert abs(now(page) - at) <= 1
    check_table(page, now(page))
    page.mouse.move(5, 5)
    assert now(page) == PEAK
    page.mouse.click(round(x), y)
    page.mouse.move(5, 5)
    assert abs(now(page) - at) <= 1
    page.get_by_role("button", name="peak (key p)").click()
    assert now(page) == PEAK
    assert page.get_by_role("button", name="peak (key p)").count() == 0


def test_rows_are_drawn_as_they_come_into_view(memory_page):
    page = memory_page()
    count = len(alive(PEAK))
    scroller = page.locator("[data-table=live] .table-scroll")
    drawn = page.locator("[data-table=live] tbody tr:not([aria-hidden])")
    assert count > 40 and drawn.count() < 20
    height = scroller.evaluate("each => each.scrollHeight")
    scroller.evaluate("each => { each.scrollTop = each.scrollHeight }")
    page.wait_for_timeout(60)
    assert drawn.last.get_attribute("aria-rowindex") == str(count + 1)
    assert scroller.evaluate("each => each.scrollHeight") == pytest.approx(height, abs=2)
    last = drawn.last.bounding_box()
    frame = scroller.bounding_box()
    assert frame["y"] < last["y"] and last["y"] + last["height"] <= frame["y"] + frame["height"] + 1
    # The largest are on top again at another instant.
    slider(page).press("ArrowRight")
    check_table(page, PEAK + 1)


def test_buffers_and_instants_lead_to_their_lines(memory_page):
    page = memory_page()
    number = next(each for each in alive(PEAK) if LIVE["line"][each] >= 0)
    place = alive(PEAK).index(number)
    page.locator("[data-table=live] tbody tr:not([aria-hidden])").nth(place).get_by_role("button").click()
    assert active_tab(page) == "hlo" and lines(page, "right", "pinned") == [LIVE["line"][number]]
    page.locator("[role=tab][data-key=memory]").click()
    at = PEAK if LIVE["step_line"][PEAK] >= 0 else PEAK + 1
    if at != PEAK:
        slider(page).press("ArrowRight")
    page.locator("[data-table=live] .said-below .jump").click()
    assert active_tab(page) == "hlo" and lines(page, "right", "pinned") == [LIVE["step_line"][at]]


def test_the_curve_is_there_again_after_another_report(memory_page):
    page = memory_page()
    page.locator("[role=tab][data-key=cost]").click()
    page.locator("[role=tab][data-key=memory]").click()
    page.locator("path.curve").wait_for(state="attached")
    check_table(page, PEAK)


def test_without_columns_the_rows_of_the_peak_stay(open_source):
    source = sample_cost.costs()
    source.listings["live-columns"] = ValueError("The sample has lost them.")
    page = open_source(source)
    page.locator("[role=tab][data-key=memory]").click()
    said = page.locator("[data-table=live] .said-below")
    said.get_by_text("The sample has lost them.").wait_for()
    assert len(shown_sizes(page)) == 20 and page.locator("path.curve").count() == 0


def test_a_card_can_ask_the_kernel(mounted):  # noqa: F811
    page = mounted(sample_cost.on_request())
    page.locator("[role=tab][data-key=memory]").click()
    page.get_by_role("button", name="Compile once more").click()
    assert page.evaluate("() => window.asked") == [["memory", "live"]]
    status = page.locator("[data-table=live] .empty[role=status]")
    assert "Asked the kernel" in status.inner_text()
    page.evaluate("() => window.refuse('There is no room for it.')")
    assert "There is no room for it." in status.inner_text()
    page.get_by_role("button", name="Compile once more").click()
    page.evaluate("(view) => window.change(view)", sample_cost.costs().view)
    page.locator("[data-table=live] .plot").wait_for()
    assert page.get_by_role("button", name="Compile once more").count() == 0


def test_a_page_cannot_ask(open_source):
    page = open_source(sample_cost.on_request())
    page.locator("[role=tab][data-key=memory]").click()
    card = page.locator("[data-table=live]")
    assert card.get_by_role("button").count() == 0
    assert "Nobody had opened it when this was saved" in card.inner_text()


@pytest.mark.parametrize(("scheme", "viewport"), LOOKS)
def test_axe_finds_nothing(memory_page, axe, scheme, viewport, picture):
    page = memory_page(viewport=viewport, color_scheme=scheme, reduced_motion="reduce")
    slider(page).focus()
    page.keyboard.press("ArrowRight")
    assert violations(page, axe) == []
    picture(page, f"memory-{scheme}", full_page=True)


def test_without_colours_of_our_own_the_parts_are_still_seen(memory_page):
    page = memory_page(forced_colors="active")
    colors = page.locator(".shares i").evaluate_all("all => all.map(each => getComputedStyle(each).backgroundColor)")
    assert len(set(colors)) == 4
    cursor = page.locator(".instant").evaluate("each => getComputedStyle(each).borderLeftStyle")
    assert cursor == "solid"


@pytest.mark.parametrize("width", [320, 620])
def test_nothing_sticks_out_of_a_narrow_page(memory_page, width):
    page = memory_page(viewport={"width": width, "height": 700}, device_scale_factor=2)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    for box in [each.bounding_box() for each in page.locator(".plot, .shares, .limit").all()]:
        assert box["x"] >= 0 and box["x"] + box["width"] <= width
