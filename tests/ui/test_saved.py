"""What a saved notebook holds: large listings too, within its limit, and a note where they are left out."""

import pytest

from tests.shared import ABSENT, SHARED
from tests.ui.test_lab import save_and_reopen

SHOW = """
import jaxscope
import jaxscope._render.widget as widget
widget.EMBED_LISTING_BYTES = 100
widget.split.__defaults__ = (400,)
inspection = jaxscope.show(lambda x: x @ x, "f32[8,8]")
"""
RECORDED = """
from tests.bench.recorded import RecordedSource
from jaxscope._render.widget import InspectionWidget
shown = InspectionWidget(RecordedSource({layers}))
shown.refresh()
shown
"""


def tab(page, name):
    return page.get_by_role("tab", name=name)


def wait_until_stored(lab, page, expression):
    for _ in range(150):
        if lab.evaluate(page, f"print('hlo' in {expression}.stored)") == "True":
            return
        page.wait_for_timeout(200)
    raise AssertionError("the HLO was not stored")


def test_a_listing_that_came_in_parts_is_read_without_its_kernel(lab, new_page):
    page = lab.run(new_page(), [SHOW])
    page.locator(".pane.right .row", has_text="ENTRY").first.wait_for()
    wait_until_stored(lab, page, "inspection._display._widget")
    parts = lab.evaluate(page, "print(len(inspection._display._widget.stored['hlo']['text']))")
    assert int(parts) > 1
    page = save_and_reopen(lab, page, new_page, keep_state=True)
    page.locator(".pane.right .row", has_text="ENTRY").first.wait_for()


def test_what_was_left_out_says_so_without_its_kernel(lab, new_page):
    page = lab.run(new_page(), [SHOW + "inspection.saved_bytes = 0"])
    page.locator(".pane.right .row", has_text="ENTRY").first.wait_for()
    page = save_and_reopen(lab, page, new_page, keep_state=True)
    tab(page, "Compiled HLO").wait_for()
    page.locator(".pane.right .message", has_text="This listing is not in the saved notebook").wait_for()


@pytest.mark.skipif(SHARED is None, reason=ABSENT)
@pytest.mark.parametrize(("layers", "limit_bytes"), [(12, 1_500_000), (48, 8_000_000)])
def test_a_large_program_is_saved_whole_within_its_limit(lab, new_page, layers, limit_bytes):
    page = lab.run(new_page(), [RECORDED.format(layers=layers)])
    page.locator(".pane.right .row", has_text="ENTRY").first.wait_for(timeout=90_000)
    if layers > 12:
        wait_until_stored(lab, page, "shown")
    assert "data rate" not in page.locator("body").inner_text()
    assert lab.evaluate(page, "print(shown.left_out, sorted({*shown.listings, *shown.stored}))") == (
        "{} ['hlo', 'jaxpr', 'python', 'stablehlo']"
    )
    page = save_and_reopen(lab, page, new_page, keep_state=True)
    saved = max(lab.root.glob("*.ipynb"), key=lambda each: each.stat().st_mtime)
    size_bytes = saved.stat().st_size
    print(f"{layers} layers: the notebook is saved with {size_bytes:,} bytes")
    assert size_bytes <= limit_bytes
    page.locator(".pane.right .row", has_text="ENTRY").first.wait_for(timeout=30_000)
