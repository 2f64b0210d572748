"""Two ways of reading a listing: long lines broken at the width of the pane, and computations shown at their call."""

from itertools import pairwise

import pytest

from tests.ui import sample
from tests.ui.conftest import NARROW
from tests.ui.test_layout import opened, press
from tests.ui.test_long import row as long_row
from tests.ui.test_page import click_toggle, offered, row, toggle
from tests.ui.test_search import count, current_line, cursor, pane, pasted, said, search, settle

SCROLLER = ".pane.right .scroller"
# The entry computation with the body of %fusion.2 below it, and what is not moved before.
AT_THEIR_CALL = [0, 1, 2, 5, *range(11, 18), *range(6, 11), 18, 19]
EVERYTHING = [*range(6), *range(11, 18), *range(6, 11), 18, 19]
IN_COMPILED_ORDER = [0, 1, 2, *range(5, 20)]
# Each row's line, edges and text, and whether it is drawn where the one before it ends.
ROWS = """(scroller) => [...scroller.querySelectorAll('.row')].map((row) => {
  const box = row.getBoundingClientRect(), view = scroller.getBoundingClientRect();
  const text = row.querySelector('.text').cloneNode(true);
  for (const mark of text.querySelectorAll('.turn')) mark.remove();
  return { line: Number(row.dataset.line), number: Number(row.getAttribute('aria-rowindex')), top: box.top - view.top,
           bottom: box.bottom - view.top, text: text.textContent, pieces: row.querySelectorAll('.piece').length || 1 };
}).sort((a, b) => a.top - b.top)"""


def drawn(page):
    """The rows on the page from top to bottom, each checked to begin where the one before it ends."""
    found = page.locator(SCROLLER).evaluate(ROWS)
    for before, after in pairwise(found):
        assert after["top"] == pytest.approx(before["bottom"], abs=0.6), (before, after)
        assert after["number"] == before["number"] + 1
    return found


def in_view(page):
    height = page.locator(SCROLLER).evaluate("scroller => scroller.clientHeight")
    return [each for each in drawn(page) if each["bottom"] > 0.5 and each["top"] < height - 0.5]


def scrolled_sideways(page):
    return page.locator(SCROLLER).evaluate("scroller => scroller.scrollWidth - scroller.clientWidth")


def shown_order(page):
    return [each["line"] for each in drawn(page)]


def pressed(page, name):
    return toggle(page, "right", name).get_attribute("aria-pressed")


def find(page, text):
    """Searches from where the view is."""
    press(page, "/")
    pane(page).locator(".query:visible").fill(text)
    settle(page)


def scroll(page, top):
    page.locator(SCROLLER).evaluate("(scroller, top) => { scroller.scrollTop = top }", top)
    page.wait_for_timeout(80)


def wide_lines(line_count=4000):
    """A long listing whose lines are as long as those of programs: most need two to four rows on a narrow pane."""
    source = sample.long(line_count=line_count, long_line=12_000)
    index, text = source.listings["hlo"]
    made = [
        f"{line}, {'window={size=2x2} ' * (number % 9)}end.{number}" for number, line in enumerate(text.split("\n"))
    ]
    source.listings["hlo"] = (index, "\n".join(made))
    return source, made


def test_long_lines_are_broken_at_the_width_of_the_pane(open_source):
    page = opened(open_source, viewport=NARROW)
    assert scrolled_sideways(page) > 100
    whole = {each["line"]: each["text"] for each in drawn(page)}
    press(page, "W")
    assert pressed(page, "wrap") == "true"
    assert scrolled_sideways(page) == 0
    rows = drawn(page)
    assert any(each["pieces"] > 2 for each in rows)
    for each in rows:
        assert each["text"] == whole[each["line"]]
        assert each["bottom"] - each["top"] == pytest.approx(19 * each["pieces"], abs=0.5)
    broken = row(page, "right", 11)
    assert broken.locator(".number").count() == 1 and broken.locator(".number").inner_text() == "12"
    marks = broken.locator(".turn")
    assert marks.count() == broken.locator(".piece").count() - 1
    assert set(marks.evaluate_all("all => all.map((each) => each.ariaHidden + each.textContent)")) == {"true↪"}
    starts = broken.locator(".piece").evaluate_all(
        "all => all.map((each) => each.querySelector('span:not(.turn)').getBoundingClientRect().x)"
    )
    assert min(starts[1:]) > starts[0], "the rest is further in than the line"
    click_toggle(page, "right", "wrap")
    assert page.locator(".piece").count() == 0 and scrolled_sideways(page) > 100


def test_the_choice_is_kept_and_holds_for_python_too(open_source):
    page = opened(open_source, viewport=NARROW)
    press(page, "W", "I")
    page.reload()
    row(page, "right", 11).wait_for()
    assert (pressed(page, "wrap"), pressed(page, "inline")) == ("true", "true")
    assert toggle(page, "left", "wrap").get_attribute("aria-pressed") == "true"
    assert offered(page, "left") == ["wrap long lines"]


def test_a_new_width_breaks_lines_anew(open_source):
    page = opened(open_source)
    press(page, "W")
    for width in (1500, 760, 430):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_timeout(150)
        assert scrolled_sideways(page) == 0
        assert drawn(page)
    assert max(each["pieces"] for each in drawn(page)) > 3


def test_pins_cursor_and_values_are_whole_lines(open_source):
    page = opened(open_source, viewport=NARROW)
    press(page, "W")
    row(page, "right", 16).locator(".piece").last.click()
    assert row(page, "right", 16).get_attribute("aria-selected") == "true"
    assert cursor(page) == 16
    press(page, "ArrowDown")
    assert cursor(page) == 17
    press(page, " ", "ArrowUp", "ArrowUp")
    assert cursor(page) == 15
    active = page.locator(SCROLLER).get_attribute("aria-activedescendant")
    assert row(page, "right", 15).get_attribute("id") == active


def test_a_name_that_is_broken_is_still_one_name(open_source):
    source = sample.attention()
    index, text = source.listings["hlo"]
    name = "%" + "copy_bitcast_fusion_" * 4 + "1"
    text = text.replace("%copy.1", name)
    source.listings["hlo"] = ({**index, "op_line": [15, 1], "op_operands": [0, 1], "operand_source": [1]}, text)
    page = open_source(source, viewport=NARROW)
    row(page, "right", 15).wait_for()
    press(page, "W")
    row(page, "right", 16).scroll_into_view_if_needed()
    settle(page)
    parts = row(page, "right", 16).locator(".k-name[data-name]")
    assert "".join(parts.all_inner_texts()).strip() == name
    parts.first.hover()
    lit = page.locator(".pane.right .row .value").evaluate_all(
        "all => all.map((each) => each.closest('.row').dataset.line)"
    )
    assert set(lit) == {"15", "16"}
    assert row(page, "right", 16).locator(".value").count() == parts.count() > 1


def test_a_match_across_a_break_is_marked_in_both_rows_and_brought_into_view(open_source):
    source, made = wide_lines()
    page = open_source(source, viewport=NARROW)
    long_row(page, "right", 10).wait_for()
    press(page, "W")
    scroll(page, 30_000)
    find(page, "f32[700], f32[701], f32[702], f32[703], f32[704]")
    assert count(page) == "1 of 1" and cursor(page) == 10
    marks = page.locator(".pane.right mark.current")
    assert "".join(marks.all_inner_texts()) == "f32[700], f32[701], f32[702], f32[703], f32[704]"
    assert marks.count() > 1
    view, box = page.locator(SCROLLER).bounding_box(), marks.first.bounding_box()
    assert view["y"] <= box["y"] and box["y"] + box["height"] <= view["y"] + view["height"]
    assert page.locator(".pane.right .piece").count() < 150, "of a line of hundreds of rows, those near the view"
    find(page, "end.3999")
    assert current_line(page) == 3999 == drawn(page)[-1]["line"]
    assert in_view(page)[-1]["text"] == made[3999].replace("{1,0}", "")


def test_broken_rows_join_wherever_one_scrolls(open_source):
    source, _ = wide_lines()
    page = open_source(source, viewport=NARROW)
    long_row(page, "right", 10).wait_for()
    press(page, "W")
    height = page.locator(SCROLLER).evaluate("scroller => scroller.scrollHeight")
    for share in (0.9, 0.2, 0.55, 0.01):
        scroll(page, height * share)
        before = in_view(page)[0]
        # What was estimated above the view is corrected as it comes in, and the view stays.
        for _ in range(4):
            page.mouse.move(260, 700)
            page.mouse.wheel(0, -57)
            page.wait_for_timeout(60)
            now = in_view(page)
            assert now[0]["number"] <= before["number"] <= now[0]["number"] + 3
            before = now[0]
    scroll(page, 10**9)
    assert drawn(page)[-1]["line"] == 3999
    view = page.locator(SCROLLER).evaluate("scroller => scroller.clientHeight")
    assert drawn(page)[-1]["bottom"] == pytest.approx(view, abs=1)


def test_breaking_lines_keeps_the_view_where_it_is(open_source):
    source, _ = wide_lines()
    page = open_source(source)
    long_row(page, "right", 10).wait_for()
    scroll(page, 19 * 2000)
    for _ in range(3):
        assert in_view(page)[0]["line"] == 2000
        press(page, "W")
        page.wait_for_timeout(80)
    press(page, "g")
    page.keyboard.type("3,141")
    page.keyboard.press("Enter")
    at = next(each for each in in_view(page) if each["line"] == 3140)
    assert 0 < at["top"] < page.locator(SCROLLER).evaluate("scroller => scroller.clientHeight") / 2
    press(page, "e")
    assert any(each["line"] == 3140 and each["top"] == pytest.approx(at["top"], abs=1) for each in in_view(page))


def test_the_keyboard_goes_through_a_line_higher_than_the_view(open_source):
    source, _ = wide_lines()
    page = open_source(source, viewport=NARROW)
    long_row(page, "right", 10).wait_for()
    press(page, "W", "g")
    page.keyboard.type("11")
    page.keyboard.press("Enter")
    seen = 0
    while cursor_or_none(page) == 10 and seen < 200:
        first = in_view(page)[0]
        press(page, "PageDown")
        seen += 1
        if cursor_or_none(page) == 10:
            moved = first["top"] - next(each["top"] for each in drawn(page) if each["line"] == first["line"])
            view = page.locator(SCROLLER).evaluate("scroller => scroller.clientHeight")
            assert first["line"] != 10 or 0 < moved <= view
    assert 10 < seen < 200, "a page at a time, to its end"
    press(page, "ArrowUp", "ArrowUp")
    assert cursor_or_none(page) in (10, 11)
    press(page, "Home")
    assert cursor(page) == 0


def cursor_or_none(page):
    found = page.locator(".pane.right .row.cursor")
    return int(found.get_attribute("data-line")) if found.count() else None


def test_tasks_stay_short_on_a_long_listing(open_source):
    """Whatever is on, only what is in view is drawn; how long that takes is the benchmark's business."""
    page = open_source(sample.long(line_count=60_000))
    long_row(page, "right", 10).wait_for()
    press(page, "W")
    for share in (0.001, 0.3, 0.999):
        page.locator(SCROLLER).evaluate(
            "(scroller, share) => { scroller.scrollTop = scroller.scrollHeight * share }", share
        )
        page.wait_for_timeout(80)
        assert page.locator(".pane.right .row").count() < 60
        assert page.locator(".pane.right .piece").count() < 150
        assert in_view(page)


def test_a_body_is_shown_below_its_call(open_source):
    page = opened(open_source)
    assert shown_order(page) == IN_COMPILED_ORDER
    press(page, "I")
    assert shown_order(page) == AT_THEIR_CALL
    numbers = page.locator(".pane.right .number").all_inner_texts()
    assert sorted(map(int, numbers)) == [line + 1 for line in IN_COMPILED_ORDER], "numbers stay the compiler's"
    call, head = row(page, "right", 17), row(page, "right", 6)
    text_at = [each.locator(".text > span").first.evaluate(EDGE) for each in (call, head)]
    assert text_at[1] > text_at[0], "further in than the call"
    rail = head.locator(".rail")
    assert rail.count() == 1 and call.locator(".rail").count() == 0
    assert rail.evaluate("rail => getComputedStyle(rail).borderLeftStyle") == "solid"
    call.locator(".fold").click()
    assert shown_order(page) == [line for line in AT_THEIR_CALL if not 6 <= line <= 10]
    assert call.locator(".fold").get_attribute("aria-expanded") == "false"
    assert "⋯ 5 lines" in call.inner_text()
    click_toggle(page, "right", "exact text")
    assert shown_order(page) == list(range(20)), "the compiler's own order"
    assert (pressed(page, "inline"), toggle(page, "right", "inline").get_attribute("aria-disabled")) == (
        "false",
        "true",
    )
    click_toggle(page, "right", "exact text")
    click_toggle(page, "right", "inline")
    assert shown_order(page) == IN_COMPILED_ORDER


# Where the first character that can be seen begins.
EDGE = """(span) => {
  const node = document.createTreeWalker(span, NodeFilter.SHOW_TEXT).nextNode(), range = document.createRange();
  range.setStart(node, node.data.search(/\\S|$/));
  range.setEnd(node, node.data.length);
  return range.getBoundingClientRect().x;
}"""


def test_listings_without_such_calls_have_no_such_switch(open_source):
    page = opened(open_source)
    page.get_by_role("tab", name="Jaxpr").click()
    row(page, "right", 1).wait_for()
    before = shown_order(page)
    assert not any("inline" in each for each in offered(page, "right"))
    press(page, "I")
    assert shown_order(page) == before


def test_search_goes_in_the_order_that_is_shown(open_source):
    page = opened(open_source)
    press(page, "I")
    search(page, "f32[8,128,128]")
    visited = []
    for _ in range(int(count(page).split(" of ")[1])):
        visited.append(current_line(page))
        page.keyboard.press("Enter")
    shown = [line for line in AT_THEIR_CALL if line in visited]
    start = shown.index(visited[0])
    assert list(dict.fromkeys(visited)) == shown[start:] + shown[:start]
    pane(page).get_by_role("button", name="only matches: no other lines").click()
    assert shown_order(page) == shown
    page.keyboard.press("Escape")
    assert shown_order(page) == AT_THEIR_CALL


def test_jumps_folds_and_copies_follow_the_order(open_source, browser):
    page = opened(open_source, permissions=["clipboard-read", "clipboard-write"])
    press(page, "I", "z", "1")
    assert said(page).inner_text() == "15 of 20 lines shown", "the entry is open, its fusion is not"
    press(page, "g")
    page.keyboard.type("18")
    page.keyboard.press("Enter")
    press(page, "i")
    assert cursor(page) == 6 and shown_order(page) == EVERYTHING
    press(page, "ArrowUp")
    assert cursor(page) == 17
    press(page, "Shift+ArrowDown", "Shift+ArrowDown", "c")
    said(page).get_by_text("copied 3 lines").wait_for()
    assert [line.strip().split(" ")[0] for line in pasted(page).split("\n")] == [
        "%fusion.2",
        "%fused_computation",
        "%p",
    ]
    press(page, "z", "a")
    assert shown_order(page) == [0, 1, 2, 5, 11]
    press(page, "C")
    said(page).get_by_text("copied 14 lines of exact text").wait_for()
    text = sample.HLO.split("\n")
    assert pasted(page).split("\n") == [text[line] for line in AT_THEIR_CALL[4:]]


def test_marks_in_the_overview_are_where_the_rows_are(open_source):
    page = opened(open_source)
    press(page, "I")
    row(page, "right", 8).click()
    rank = AT_THEIR_CALL.index(8)
    tops = page.locator(".pane.right .ruler .pinned").evaluate_all(
        "all => all.map((each) => parseFloat(each.style.top))"
    )
    ruler = page.locator(".pane.right .ruler").bounding_box()
    assert [ruler["height"] * top / 100 for top in tops] == [pytest.approx(19 * rank, abs=4)]
    press(page, "ArrowUp")
    row(page, "right", 17).locator(".fold").click()
    assert row(page, "right", 17).locator(".sign").inner_text() == "1", "a closed fold shows the pin that it hides"


def test_both_as_they_look(open_source, picture):
    for name, options in {"light": {}, "dark": {"color_scheme": "dark"}, "narrow": {"viewport": NARROW}}.items():
        page = opened(open_source, **options)
        press(page, "I", "W")
        assert set(shown_order(page)) <= set(AT_THEIR_CALL)
        assert scrolled_sideways(page) == 0
        picture(page, f"reading-{name}")


def test_of_long_lines_beside_the_window_hardly_anything_is_drawn(open_source):
    """Of the rows in the margins only the pieces near the window, however long they are."""
    source = sample.long(line_count=300)
    index, text = source.listings["hlo"]
    lines = text.split("\n")
    # Two below each other, so that the second begins far below the window while the first ends it.
    lines[11] = lines[12] = lines[10]
    source.listings["hlo"] = (index, "\n".join(lines))
    page = open_source(source)
    row(page, "right", 0).wait_for()
    press(page, "W")
    drawn_pieces = page.locator(SCROLLER).evaluate(
        """async (scroller) => {
          const most = [];
          for (let top = 0; top < 2000; top += 190) {
            scroller.scrollTop = top;
            await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
            most.push(scroller.querySelectorAll('.piece').length);
          }
          return [Math.max(...most), Math.floor(scroller.clientHeight / 19)];
        }"""
    )
    most, rows_in_view = drawn_pieces
    assert 0 < most < 2 * rows_in_view
