"""Many widgets on one page, as in a long notebook: each has its own state, and none works for nobody to see."""

import pytest

from tests.bench.pages import widget_page
from tests.ui import sample

COUNT = 20
# A widget that has not been looked at: its head, strip, switches and empty panes.
MOST_NODES_UNSEEN = 250
# With both listings: some 35 rows each of a dozen spans, whatever their length.
MOST_NODES = 2_000
# Counts what is decoded and what is still to come; timers that have fired or were cleared do not count.
COUNTERS = """
(() => {
  window.decoded = 0;
  window.DecompressionStream = class extends DecompressionStream {
    constructor(...given) { super(...given); window.decoded += 1; }
  };
  const timers = new Set();
  const { setTimeout: set, clearTimeout: clear, requestAnimationFrame: frame } = window;
  window.setTimeout = (action, ...given) => {
    const timer = set((...values) => { timers.delete(timer); action(...values); }, ...given);
    timers.add(timer);
    return timer;
  };
  window.clearTimeout = (timer) => { timers.delete(timer); clear(timer); };
  window.setInterval = () => { throw new Error('a timer that never ends'); };
  window.frames_asked = 0;
  window.requestAnimationFrame = (action) => { window.frames_asked += 1; return frame(action); };
  window.pending = () => timers.size;
})();
"""


@pytest.fixture
def open_many(new_page, tmp_path):
    def open_page(count=COUNT):
        path = tmp_path / "widgets.html"
        path.write_text(widget_page(sample.attention(), count), encoding="utf-8")
        page = new_page()
        page.add_init_script(COUNTERS)
        page.goto(path.as_uri())
        page.wait_for_function("() => window.mounted")
        widget(page, 0).locator(".pane.right .row").first.wait_for()
        settle(page)
        return page

    return open_page


def widget(page, number):
    return page.locator(".jaxscope").nth(number)


def settle(page):
    """Waits until nothing is decoded any more."""
    page.wait_for_function(
        """async () => {
          const before = window.decoded;
          await new Promise((done) => setTimeout(done, 300));
          return window.decoded === before;
        }"""
    )


def nodes(page, number):
    return widget(page, number).evaluate("host => host.shadowRoot.querySelectorAll('*').length")


def selected(page, number):
    return widget(page, number).locator('[role=tab][aria-selected="true"]').get_attribute("data-key")


def test_only_what_is_near_the_view_is_decoded(open_many):
    alone = open_many(1).evaluate("() => window.decoded")
    page = open_many()
    near = page.evaluate("() => window.decoded")
    assert alone > 0 and near % alone == 0
    assert near / alone < COUNT / 2
    assert nodes(page, COUNT - 1) < MOST_NODES_UNSEEN
    for number in (7, COUNT - 1):
        widget(page, number).scroll_into_view_if_needed()
        widget(page, number).locator(".pane.right .row").first.wait_for()
    settle(page)
    assert near < page.evaluate("() => window.decoded") < COUNT * alone
    assert max(nodes(page, number) for number in range(COUNT)) < MOST_NODES


def test_each_has_its_own_tab_pins_and_search(open_many):
    page = open_many()
    widget(page, 1).get_by_role("tab", name="Cost").click()
    third = widget(page, 3)
    third.scroll_into_view_if_needed()
    third.locator('.pane.right .row[data-line="16"]').click()
    third.locator(".pane.right .scroller").press("/")
    page.keyboard.type("fusion")
    third.locator("mark").first.wait_for()
    page.wait_for_timeout(400)
    assert [selected(page, number) for number in range(5)] == ["hlo", "cost", "hlo", "hlo", "hlo"]
    assert [widget(page, number).locator(".pins button").count() for number in range(5)] == [0, 0, 0, 1, 0]
    for number in (0, 2, 4):
        widget(page, number).scroll_into_view_if_needed()
        assert widget(page, number).locator("mark, .row.exact, .row.pinned, .bar:visible").count() == 0
    states = page.evaluate("() => window.models.map((model) => model.state.selection?.tab ?? '')")
    assert states[:5] == ["", "cost", "", "hlo", ""] and not any(states[5:])


def test_at_rest_nothing_runs(open_many):
    page = open_many()
    page.wait_for_timeout(500)
    asked = page.evaluate("() => window.frames_asked")
    page.wait_for_timeout(700)
    assert page.evaluate("() => window.pending()") == 0
    assert page.evaluate("() => window.frames_asked") == asked


SHOW_MANY = f"""
import jax.numpy as jnp
import jaxscope
for size in range(1, {COUNT} + 1):
    jaxscope.show(jnp.sin, f"f32[{{size}}]")
"""


def test_many_in_one_notebook(lab, new_page):
    page = new_page()
    page.add_init_script(
        COUNTERS.replace("window.setInterval = () => { throw new Error('a timer that never ends'); };", "")
    )
    lab.run(page, [SHOW_MANY])
    page.wait_for_function(
        "(count) => document.querySelectorAll('.jaxscope').length === count", arg=COUNT, timeout=30_000
    )
    settle(page)
    near = page.evaluate("() => window.decoded")
    last = widget(page, COUNT - 1)
    last.scroll_into_view_if_needed()
    last.locator(".pane.right .row", has_text=f"f32[{COUNT}]").first.wait_for()
    settle(page)
    # Two streams for each listing, Python and three stages.
    assert near < page.evaluate("() => window.decoded") < COUNT * 8
    assert "data rate" not in page.locator("body").inner_text()
    assert max(nodes(page, number) for number in range(COUNT)) < MOST_NODES
    last.get_by_role("tab", name="Types").click()
    last.locator("td", has_text=f"f32[{COUNT}]").first.wait_for()
    assert {selected(page, number) for number in range(COUNT - 1)} == {"hlo"}
