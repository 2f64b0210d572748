"""Moving over a curve of live buffers: 10,000 of them over 30,000 instants, in an exported page.

Problem: whoever looks for what fills the memory drags a cursor over the schedule, and what is alive there must follow
without a stutter. Input: made-up buffers, the bundle, a Chromium. Output: a table of figures and the number of limits
that were missed.
"""

from pathlib import Path
from typing import Any

from tests.bench import actions
from tests.bench.probe import open_browser, open_page, show, traced

BUFFERS, INSTANTS = 10_000, 30_000
LIMIT_TASK_MS = 50
LIMIT_MOVE_MS = 16

_DEEDS = {
    "opening the report": actions.OPEN_MEMORY,
    "moving the pointer over the curve": actions.MOVE_OVER_CURVE,
    "moving the cursor by keys": actions.MOVE_BY_KEYS,
    "scrolling what is alive": actions.SCROLL_ALIVE,
    "another report and back": actions.OTHER_REPORT,
}


def bench_memory_view(playwright: Any, folder: Path) -> int:
    """The report of memory with its cursor in motion."""
    from jaxscope._render.html import render_page
    from tests.ui.sample_cost import costs

    source = costs(BUFFERS, INSTANTS)
    columns = source.listing("live-columns")[0]
    path = folder / "memory.html"
    path.write_text(render_page(source), encoding="utf-8")
    print(f"{BUFFERS:,} buffers over {INSTANTS:,} instants: columns of {len(columns) / 1e6:.2f} MB")
    missed = 0
    with open_browser(playwright) as browser:
        page = open_page(browser, path)
        page.evaluate("() => bench.opened")
        page.wait_for_timeout(300)
        for name, action in _DEEDS.items():
            found = traced(browser, page, action)
            remark = f"of its own {found['own']:.0f} ms, longest frame {found['frame']:.0f} ms"
            missed += show(f"longest task, {name}", found["task"], LIMIT_TASK_MS, "ms", remark)
            if name.startswith("moving the pointer"):
                missed += show("a move, 95th", found["result"], LIMIT_MOVE_MS, "ms", "until it is laid out")
    return missed
