"""How a page is measured: a script that every page gets before its own, and what the browser says of it.

Problem: the longest task that a reader feels, on a machine that may be busy with other things. Input: a page of an
open Chromium and an action on it, written in JavaScript. Output: the longest task and frame as the page sees them, and
beside them the processor time of its own that the browser's trace gives.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.chromium import FLAGS, find_chromium

TIMEOUT_MS = 120_000
VIEWPORT = {"width": 1280, "height": 900}

# Runs before the page's own scripts. `measure` gives the longest task (Chromium reports those above 50 ms) and the
# longest wait between two frames of what an action does to the page.
PROBE = """
(() => {
  const root = () => document.querySelector('.jaxscope')?.shadowRoot;
  const pane = (side = 'right') => root()?.querySelector(`.pane.${side}`);
  const scroller = () => pane()?.querySelector('.scroller');
  const readable = (key) => {
    const tab = root()?.querySelector(`[role=tab][data-key=${key}][aria-selected=true]`);
    const rows = pane()?.querySelectorAll('.row .text') ?? [];
    return !!tab && pane().querySelector('select').value === key && !scroller().hidden && rows.length > 5 &&
      [...rows].some((row) => row.textContent.trim());
  };
  const hosts = () => [...document.querySelectorAll('.jaxscope')];
  const readableIn = (number) => {
    const rows = hosts()[number].shadowRoot.querySelectorAll('.pane.right .row .text');
    return rows.length > 5 && [...rows].some((row) => row.textContent.trim());
  };
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const until = async (condition, timeoutMs = 60000) => {
    const end = performance.now() + timeoutMs;
    while (!condition()) {
      if (performance.now() > end) throw new Error(`still not: ${condition}`);
      await frame();
    }
    // Rows that exist are seen after the next frame.
    await frame();
    return performance.now();
  };
  const measure = async (action) => {
    const tasks = [];
    const observer = new PerformanceObserver((list) => tasks.push(...list.getEntries().map((task) => task.duration)));
    observer.observe({ type: 'longtask' });
    let frames = [], last = performance.now(), running = true;
    const tick = () => {
      frames.push(performance.now() - last);
      last = performance.now();
      if (running) requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
    const result = await action();
    await frame(); await frame();
    await new Promise((done) => setTimeout(done, 100));
    running = false;
    tasks.push(...observer.takeRecords().map((task) => task.duration));
    observer.disconnect();
    return { task: Math.max(0, ...tasks), frame: Math.max(0, ...frames), result };
  };
  const key = (target, name) => {
    const options = { key: name, bubbles: true, composed: true, cancelable: true };
    target.dispatchEvent(new KeyboardEvent('keydown', options));
  };
  const toggle = (keys) => [...pane().querySelectorAll('.bar .toggle')].find((each) => each.title.includes(keys));
  const menu = async (keys) => {
    key(scroller(), 'z');
    await frame();
    pane().querySelector(`[role=menuitem][aria-keyshortcuts="${keys}"]`).click();
    await frame(); await frame();
  };
  window.bench = { hosts, readableIn, root, pane, scroller, readable, frame, until, measure, key, toggle, menu };
  window.bench.opened = new Promise((resolve) => {
    addEventListener('DOMContentLoaded', () => until(() => readable('hlo')).then(resolve), { once: true });
  });
})();
"""


@contextmanager
def open_browser(playwright: Any) -> Iterator[Any]:
    """A browser of its own: what one benchmark leaves in memory is not counted for the next."""
    opened = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
    try:
        yield opened
    finally:
        opened.close()


def open_page(browser: Any, path: Path) -> Any:
    """A page of the file, with the script of this module in it."""
    page = browser.new_page(viewport=VIEWPORT)
    page.set_default_timeout(TIMEOUT_MS)
    page.add_init_script(PROBE)
    page.goto(path.as_uri())
    return page


def traced(browser: Any, page: Any, action: str, options: dict[str, Any] | None = None) -> dict[str, Any]:
    """What an action measured, and the processor time of the page's longest task (`own`) and of all (`busy`).

    On a machine that others use too, a task waits for its turn; its own time says what it would take alone.
    """
    timeline = ["devtools.timeline", "disabled-by-default-devtools.timeline"]
    browser.start_tracing(page=page, categories=["toplevel", "__metadata", *timeline])
    found = page.evaluate(action, options)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    threads = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    own = [event for event in events if (event["pid"], event.get("tid")) in threads and event.get("ph") == "X"]
    tasks_ms = sorted((own_ms(event) for event in own if event["name"] == "RunTask"), reverse=True)
    moves_ms = sorted(moved_ms(own), reverse=True)
    return {
        **found,
        "own": tasks_ms[0] if tasks_ms else 0,
        "busy": sum(tasks_ms),
        "moved_95": moves_ms[len(moves_ms) // 20] if moves_ms else 0,
    }


def own_ms(event: dict[str, Any]) -> float:
    """The processor time of an event of a trace."""
    return event.get("tdur", 0) / 1000


def moved_ms(events: list[dict[str, Any]]) -> list[float]:
    """For each move of the pointer, the processor time of its script, and of the styles and layout that it leads to."""
    found: list[float] = []
    awaited: set[str] = set()
    for event in sorted(events, key=lambda event: event["ts"]):
        name = event["name"]
        if name == "EventDispatch" and event["args"]["data"]["type"] == "pointermove":
            found.append(own_ms(event))
            awaited = {"UpdateLayoutTree", "Layout"}
        elif name in awaited:
            awaited.remove(name)
            found[-1] += own_ms(event)
    return found


def memory_bytes(browser: Any) -> int:
    """What the browser's page processes hold for themselves after a collection, everything counted."""
    for page in browser.contexts[-1].pages if browser.contexts else []:
        session = page.context.new_cdp_session(page)
        session.send("HeapProfiler.collectGarbage")
        session.detach()
    session = browser.new_browser_cdp_session()
    processes = session.send("SystemInfo.getProcessInfo")["processInfo"]
    total = 0
    for process in processes:
        if process["type"] == "renderer":
            # A sample it matches: "RssAnon:\t  123456 kB".
            found = re.search(r"RssAnon:\s+(\d+) kB", Path(f"/proc/{process['id']}/status").read_text())
            total += int(found[1]) * 1024 if found else 0
    session.detach()
    return total


def show(name: str, value: float, limit: float, unit: str, remark: str = "") -> int:
    """Prints one figure beside its limit; 1 when it was missed."""
    digits = 0 if unit == "ms" and value >= 100 else 1
    verdict = "" if value <= limit else "   MISSED"
    print(f"  {name:<40} {value:9.{digits}f} {unit:<5} of {limit:g}{verdict}   {remark}".rstrip())
    return value > limit
