"""Twenty widgets on one page, as in a long notebook, beside one alone: each should cost what it costs as the only one.

Input: the recorded compilation of 12 layers. Output: ratios of twenty to one in the same run, with their limits:
to put a widget on the page, until one that comes into view can be read, and what scrolling and hovering cost.
"""

import statistics
from pathlib import Path
from typing import Any

from tests.bench.pages import widget_page
from tests.bench.probe import memory_bytes, open_browser, open_page, show, traced

LAYERS = 12
WIDGETS = 20
LIMIT_RATIO = 1.5
# The browser lays out and layers what is a screen away too, which with one alone is nothing.
LIMIT_FRAME_RATIO = 2.5
LIMIT_FRAME_MS = 16
LIMIT_TASK_MS = 50
# As high as the widgets are, so that the one alone is scrolled as far.
SPACER_PIXELS = 12_000
SCROLL_PIXELS = 120
# The listings beside the one that is read come a little later, which is measured with opening.
SETTLED_MS = 3000

# Opening means: it comes into view, and its listing can be read.
_OPEN_EACH = """({ count }) => bench.measure(async () => {
  const times = [];
  for (let number = 0; number < count; number += 1) {
    const start = number ? performance.now() : window.started;
    bench.hosts()[number].scrollIntoView({ block: 'start' });
    times.push(await bench.until(() => bench.readableIn(number)) - start);
  }
  return times;
})"""

_SCROLL_PAGE = """({ pixels, step }) => bench.measure(async () => {
  for (let at = 0; at < pixels; at += step) {
    scrollTo(0, at);
    await bench.frame();
  }
})"""

_SCROLL_LISTING = """({ number }) => bench.measure(async () => {
  bench.hosts()[number].scrollIntoView();
  await bench.until(() => bench.readableIn(number));
  const scroller = bench.hosts()[number].shadowRoot.querySelector('.pane.right .scroller');
  for (let step = 0; step < 120; step += 1) {
    scroller.scrollTop += 0.7 * scroller.clientHeight;
    await bench.frame();
  }
})"""

_HOVER_LISTING = """({ number }) => bench.measure(async () => {
  bench.hosts()[number].scrollIntoView();
  const root = bench.hosts()[number].shadowRoot;
  for (let times = 0; times < 4; times += 1) {
    for (const row of root.querySelectorAll('.pane.right .row')) {
      row.dispatchEvent(new PointerEvent('pointermove', { bubbles: true, composed: true }));
      await bench.frame();
    }
  }
})"""


def bench_many(playwright: Any, folder: Path) -> int:
    """One widget and then twenty; the number of limits that were missed."""
    from tests.bench.recorded import RecordedSource

    source = RecordedSource(LAYERS)
    one, many = (measure(playwright, folder, source, count) for count in (1, WIDGETS))
    print(f"{WIDGETS} widgets of {LAYERS} layers on one page, beside one alone")
    print(f"  nodes of each                         {many['nodes'] / WIDGETS:9.0f}      one alone {one['nodes']:.0f}")
    print(f"  memory of each further one            {(many['memory'] - one['memory']) / (WIDGETS - 1) / 1e6:9.1f} MB")
    missed = 0
    for name in ("mounting each", "opening each", "scrolling a listing", "hovering"):
        limit = LIMIT_RATIO if name.endswith("each") else LIMIT_FRAME_RATIO
        remark = f"{many[name]:.1f} ms beside {one[name]:.1f} ms"
        missed += show(name, many[name] / one[name], limit, "times", remark)
    each_ms = many["scrolling the page"] * SCROLL_PIXELS / SPACER_PIXELS
    missed += show("each step of scrolling the page", each_ms, LIMIT_FRAME_MS, "ms", "of its own")
    remark = f"of its own {many['own']:.0f} ms; one alone {one['task']:.0f} ms, of its own {one['own']:.0f} ms"
    return missed + show("longest task of all that", many["task"], LIMIT_TASK_MS, "ms", remark)


def measure(playwright: Any, folder: Path, source: Any, count: int) -> dict[str, float]:
    """What widgets cost, in milliseconds: the work of the page itself but for opening, which is timed."""
    path = folder / f"widgets-{count}.html"
    path.write_text(widget_page(source, count, 0 if count > 1 else SPACER_PIXELS), encoding="utf-8")
    # The middle one, so that there are others above and below it.
    middle = {"number": count // 2}
    with open_browser(playwright) as browser:
        page = open_page(browser, path)
        page.wait_for_function("() => window.mounted")
        opened = traced(browser, page, _OPEN_EACH, {"count": count})
        page.wait_for_timeout(SETTLED_MS)
        found = {
            "scrolling the page": traced(browser, page, _SCROLL_PAGE, {"pixels": SPACER_PIXELS, "step": SCROLL_PIXELS}),
            "scrolling a listing": traced(browser, page, _SCROLL_LISTING, middle),
            "hovering": traced(browser, page, _HOVER_LISTING, middle),
        }
        return {
            **{name: each["busy"] for name, each in found.items()},
            "mounting each": page.evaluate("() => window.mounted - window.started") / count,
            "opening each": statistics.median(opened["result"]),
            "own": max(each["own"] for each in (opened, *found.values())),
            "task": max(each["task"] for each in (opened, *found.values())),
            "memory": memory_bytes(browser),
            "nodes": page.evaluate(
                "() => bench.hosts().reduce((sum, host) => sum + host.shadowRoot.querySelectorAll('*').length, 0)"
            ),
        }
