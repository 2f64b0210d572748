"""Listings longer than a screen, than patience, and than any element can be high."""

from tests.ui import sample
from tests.ui.test_page import row


def test_long_listing_is_windowed(open_source):
    page = open_source(sample.long())
    scroller = page.locator(".pane.right .scroller")
    row(page, "right", 10).wait_for()
    assert page.locator(".pane.right .row").count() < 60
    assert row(page, "right", 10).locator(".text").evaluate("text => text.textContent.length") < 2000
    page.evaluate("() => { window.frames_ms = [] }")
    scroller.evaluate("""async (scroller) => {
      for (let step = 0; step < 60; step += 1) {
        scroller.scrollTop = (scroller.scrollHeight * step) / 60;
        const start = performance.now();
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
        window.frames_ms.push(performance.now() - start);
        if (scroller.querySelectorAll('.row').length > 60) throw new Error('too many rows');
      }
    }""")
    scroller.evaluate("s => { s.scrollTop = s.scrollHeight }")
    row(page, "right", 24_999).wait_for()
    assert row(page, "right", 24_999).locator(".number").inner_text() == "25000"
    assert "add(%add.24998" in row(page, "right", 24_999).inner_text()
    scroller.evaluate("s => { s.scrollTop = 0; s.scrollLeft = 30000 * 7 }")
    page.wait_for_timeout(100)
    shown = row(page, "right", 10).locator(".text").inner_text()
    assert 0 < len(shown) < 2000 and shown.strip() in sample.long().listings["hlo"][1]
    box, view = row(page, "right", 10).locator(".text span").first.bounding_box(), scroller.bounding_box()
    assert box["x"] < view["x"] + view["width"], "the columns in view are drawn where the view is"


def test_more_lines_than_any_element_is_high(open_source):
    page = open_source(sample.long(line_count=700_000, long_line=100))
    scroller = page.locator(".pane.right .scroller")
    row(page, "right", 0).wait_for()
    scroller.focus()
    page.keyboard.press("End")
    row(page, "right", 699_999).wait_for()
    box, view = row(page, "right", 699_999).bounding_box(), scroller.bounding_box()
    assert view["y"] <= box["y"] and box["y"] + box["height"] <= view["y"] + view["height"] + 1
    page.keyboard.press("PageUp")
    assert page.locator(".pane.right .row").count() < 60
