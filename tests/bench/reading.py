"""Reading the recorded compilation of 48 layers: the exported page, opening the HLO, and everything that is done to it.

Problem: 385,000 lines must open and scroll like thirty. Input: recorded compiler output of the shared material, the
bundle, a Chromium. Output: a table of figures and the number of limits that were missed.
"""

import os
import time
from pathlib import Path
from typing import Any

from tests.bench import actions
from tests.bench.pages import widget_page
from tests.bench.probe import memory_bytes, open_browser, open_page, show, traced

LAYERS = 48
LIMIT_FIRST_ROWS_MS = 300
LIMIT_TASK_MS = 50
LIMIT_HOVER_MS = 16
LIMIT_MEMORY_TIMES = 6
LIMIT_PAGE_BYTES = 8_000_000
LIMIT_READABLE_MS = 1000
HOVERS = 200
# Both are found more than 100,000 times in the HLO.
LITERAL, REGEX = "f32[", r"%\w+\.\d+"
LEAST_MATCHES = 100_000

_DEEDS = {
    "scrolling": (actions.SCROLL, None),
    "jumping": (actions.JUMP, None),
    "scrolling sideways": (actions.SIDEWAYS, None),
    "folding": (actions.FOLD, None),
    "folding all, unfolding, by level": (actions.FOLD_ALL, None),
    "folding all but what is linked": (actions.FOLD_BUT_LINKED, None),
    "searching a literal": (actions.SEARCH, {"query": LITERAL, "regex": False}),
    "only its matches, and all": (actions.ONLY_MATCHES, None),
    "searching a regex": (actions.SEARCH, {"query": REGEX, "regex": True}),
    "only those matches, and all": (actions.ONLY_MATCHES, None),
    "closing the search": (actions.CLOSE_SEARCH, None),
    "breaking long lines": (actions.TURN, ["W"]),
    "scrolling broken lines": (actions.SCROLL, None),
    "jumping among broken lines": (actions.JUMP, None),
    "folding all of them, unfolding": (actions.FOLD_ALL, None),
    "bodies at their call": (actions.TURN, ["I"]),
    "scrolling those, broken": (actions.SCROLL, None),
    "compiled order, types and names, whole lines": (actions.TURN, ["I", "t", "s", "W", "s", "t"]),
    "switching stages": (actions.SWITCH_TABS, None),
}


def bench_reading(playwright: Any, folder: Path) -> int:
    """The exported page, then opening one tab of it and of a widget."""
    return bench_page(playwright, folder) + bench_opening(playwright, folder)


def bench_page(playwright: Any, folder: Path) -> int:
    """The exported page of the recorded 48 layers."""
    from jaxscope._render.html import render_page
    from tests.bench.recorded import RecordedSource

    source = RecordedSource(LAYERS)
    start = time.perf_counter()
    text = source.text("hlo")
    parse_s = time.perf_counter() - start
    start = time.perf_counter()
    index, _ = source.listing("hlo")
    listing_s = time.perf_counter() - start
    path = folder / "page.html"
    start = time.perf_counter()
    path.write_text(render_page(source), encoding="utf-8")
    page_s = time.perf_counter() - start
    size_bytes = path.stat().st_size
    if (load := os.getloadavg()[0]) > (os.cpu_count() or 1):
        print(f"the machine is busy (load {load:.1f}), so what is timed below takes longer than it needs to")
    print(f"recorded transformer, {LAYERS} layers: HLO of {text.count(chr(10)) + 1:,} lines, {len(text) / 1e6:.1f} MB")
    print(f"  parse and link                        {parse_s * 1e3:9.0f} ms")
    print(f"  listing for the browser               {listing_s * 1e3:9.0f} ms   index {len(index) / 1e6:.2f} MB")
    print(f"  export the page                       {page_s * 1e3:9.0f} ms")
    missed = show("exported page", size_bytes / 1e6, LIMIT_PAGE_BYTES / 1e6, "MB")
    with open_browser(playwright) as browser:
        blank = browser.new_page()
        blank_bytes = memory_bytes(browser)
        blank.close()
        page = open_page(browser, path)
        missed += show("page readable after", page.evaluate("() => bench.opened"), LIMIT_READABLE_MS, "ms")
        page.wait_for_timeout(500)
        held_bytes = memory_bytes(browser) - blank_bytes
        missed += show("memory of the page, times the text", held_bytes / len(text), LIMIT_MEMORY_TIMES, "times")
        for side, what in (("right", "HLO"), ("left", "Python")):
            missed += bench_hover(browser, page, side, what)
        for name, (action, options) in _DEEDS.items():
            found = traced(browser, page, action, options)
            missed += show_task(name, found)
            if name.startswith("searching"):
                assert read_count(found["result"]) >= LEAST_MATCHES, f"{name}: found {found['result']!r}"
        held_bytes = memory_bytes(browser) - blank_bytes
        missed += show("memory after all that, times the text", held_bytes / len(text), LIMIT_MEMORY_TIMES, "times")
    return missed


def read_count(words: str) -> int:
    """The number of matches in "1 of 1,204" or "1,204 matches"."""
    return int(words.split(" of ")[-1].split()[0].replace(",", ""))


def show_task(name: str, found: dict[str, Any]) -> int:
    """Prints the longest task of a deed; 1 when it was too long."""
    remark = f"of its own {found['own']:.0f} ms, longest frame {found['frame']:.0f} ms"
    if isinstance(found["result"], str):
        remark += f", {found['result']}"
    return show(f"longest task, {name}", found["task"], LIMIT_TASK_MS, "ms", remark)


def bench_hover(browser: Any, page: Any, side: str, what: str) -> int:
    """From a move of the pointer to the laid-out highlight."""
    found = traced(browser, page, actions.HOVER, {"count": HOVERS, "side": side})
    return show(
        f"hover {what}, 95th of {found['count']}",
        found["p95"],
        LIMIT_HOVER_MS,
        "ms",
        f"of its own {found['moved_95']:.1f} ms, script {found['script']:.1f} ms, worst {found['worst']:.1f} ms",
    )


def bench_opening(playwright: Any, folder: Path) -> int:
    """Opening the HLO tab where it has not been read yet, the middle of five: in a page, and as a notebook's widget."""
    from jaxscope._render.html import render_page
    from tests.bench.recorded import RecordedSource

    # The tab that opens by itself is the last listing, so here the HLO is not.
    source = RecordedSource(LAYERS, order=("python", "jaxpr", "hlo", "stablehlo"))
    page_path, widget_path = folder / "opening.html", folder / "widget.html"
    page_path.write_text(render_page(source), encoding="utf-8")
    widget_path.write_text(widget_page(source), encoding="utf-8")
    missed = 0
    for what, path in (("page", page_path), ("widget", widget_path)):
        found = []
        with open_browser(playwright) as browser:
            for _ in range(5):
                page = open_page(browser, path)
                page.wait_for_function("() => window.bench.readable('stablehlo')")
                page.wait_for_timeout(300)
                found.append(traced(browser, page, actions.OPEN))
                page.close()
        times = sorted(each["result"] for each in found)
        remark = (
            f"slowest {times[-1]:.0f} ms, longest task {max(each['task'] for each in found):.0f} ms, "
            f"of its own {max(each['own'] for each in found):.0f} ms, "
            f"the page's own work {sorted(each['busy'] for each in found)[2]:.0f} ms"
        )
        missed += show(f"first rows of the HLO in a {what}", times[2], LIMIT_FIRST_ROWS_MS, "ms", remark)
    return missed
