"""Prints how a recorded compilation of 48 layers behaves in headless Chromium, beside two peers on the same text.

Problem: 385,000 lines must open and scroll like thirty. Input: recorded compiler output of the shared material, the
bundle, a Chromium. Output: a table of figures and the limits that were missed: the exported page (size, time until
readable, memory), opening the HLO, the longest task while scrolling, jumping and folding, and hover to highlight.
"""

import base64
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

LAYERS = 48
LIMIT_FIRST_ROWS_MS = 300
LIMIT_TASK_MS = 50
LIMIT_HOVER_MS = 16
LIMIT_MEMORY_TIMES = 6
LIMIT_PAGE_BYTES = 8_000_000
LIMIT_READABLE_MS = 1000
HOVERS = 200
TIMEOUT_MS = 120_000
# A highlighted copy of the whole text is half a gigabyte of markup, which no browser opens here; the peer gets a part,
# and so does this project in the line beside it.
PEER_CHARACTERS = 4_000_000
PEER_LAYERS = 12

_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# Runs before the page's own scripts. `measure` gives the longest task (Chromium reports those above 50 ms) and the
# longest wait between two frames of what an action does to the page.
_PROBE = """
(() => {
  const root = () => document.querySelector('.jaxscope')?.shadowRoot;
  const pane = () => root()?.querySelector('.pane.right');
  const scroller = () => pane()?.querySelector('.scroller');
  const readable = (key) => {
    const tab = root()?.querySelector(`[role=tab][data-key=${key}][aria-selected=true]`);
    const rows = pane()?.querySelectorAll('.row .text') ?? [];
    return !!tab && pane().querySelector('select').value === key && !scroller().hidden && rows.length > 5 &&
      [...rows].some((row) => row.textContent.trim());
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
  window.bench = { root, pane, scroller, readable, frame, until, measure };
  window.bench.opened = new Promise((resolve) => {
    addEventListener('DOMContentLoaded', () => until(() => readable('hlo')).then(resolve), { once: true });
  });
})();
"""

_OPEN = """() => bench.measure(async () => {
  const start = performance.now();
  bench.root().querySelector('[role=tab][data-key=hlo]').click();
  return await bench.until(() => bench.readable('hlo')) - start;
})"""

_SCROLL = """() => bench.measure(async () => {
  const scroller = bench.scroller();
  for (let step = 0; step < 200; step += 1) {
    scroller.scrollTop += 1.5 * scroller.clientHeight;
    await bench.frame();
  }
})"""

_JUMP = """() => bench.measure(async () => {
  const scroller = bench.scroller();
  for (const share of [0, 0.5, 1, 0.13, 0.77, 0.01, 0.999, 0.3]) {
    scroller.scrollTop = scroller.scrollHeight * share;
    await bench.frame();
  }
  const box = bench.pane().querySelector('.ruler').getBoundingClientRect();
  for (const share of [0.2, 0.9, 0.4]) {
    const clientY = box.top + share * box.height;
    const click = new MouseEvent('click', { bubbles: true, composed: true, clientY });
    bench.pane().querySelector('.ruler').dispatchEvent(click);
    await bench.frame();
  }
})"""

_SIDEWAYS = """() => bench.measure(async () => {
  const scroller = bench.scroller();
  for (let step = 0; step < 60; step += 1) {
    scroller.scrollLeft = (scroller.scrollWidth * step) / 60;
    await bench.frame();
  }
  scroller.scrollLeft = 0;
})"""

_FOLD = """() => bench.measure(async () => {
  const scroller = bench.scroller();
  for (let times = 0; times < 6; times += 1) {
    scroller.scrollTop = scroller.scrollHeight * 0.1 * times;
    await bench.frame(); await bench.frame();
    bench.pane().querySelector('button.fold')?.click();
    await bench.frame();
  }
})"""

_SCROLL_WINDOW = """() => bench.measure(async () => {
  for (let step = 0; step < 100; step += 1) {
    scrollTo(0, document.documentElement.scrollHeight * (step / 100));
    await bench.frame();
  }
})"""

# Each hover goes to another row, and counts until the highlight is laid out.
_HOVER = """async (count) => {
  const scroller = bench.scroller();
  const times = [];
  for (let done = 0; done < count; ) {
    scroller.scrollTop = scroller.scrollHeight * (done / count);
    await bench.frame(); await bench.frame();
    for (const row of [...bench.pane().querySelectorAll('.row')].slice(8, 18)) {
      if (!row.isConnected) continue;
      const start = performance.now();
      row.dispatchEvent(new PointerEvent('pointermove', { bubbles: true, composed: true }));
      void bench.root().querySelector('.app').getBoundingClientRect().height;
      const lit = bench.root().querySelectorAll('.row.exact, .row.related');
      for (const each of lit) void getComputedStyle(each).backgroundColor;
      times.push(performance.now() - start);
      await bench.frame();
      done += 1;
    }
  }
  times.sort((a, b) => a - b);
  return { p95: times[Math.floor(times.length * 0.95)], worst: times[times.length - 1], count: times.length };
}"""


def main() -> int:
    """Runs the benchmark; the number of limits that were missed, or 0 with a sentence where a part is not there."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        print("browser: left out, playwright is not installed")
        return 0
    executable = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    from tests.shared import SHARED

    if executable is None or SHARED is None:
        print("browser: left out, there is no chromium or no shared material beside the repository")
        return 0
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:

        @contextmanager
        def chromium() -> Iterator[Any]:
            opened = playwright.chromium.launch(executable_path=executable, args=_FLAGS)
            try:
                yield opened
            finally:
                opened.close()

        return bench_page(chromium, Path(folder)) + bench_peers(chromium, Path(folder))


def bench_page(chromium: Callable, folder: Path) -> int:
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
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(TIMEOUT_MS)
        blank_bytes = memory_bytes(browser)
        page.add_init_script(_PROBE)
        page.goto(path.as_uri())
        missed += show("page readable after", page.evaluate("() => bench.opened"), LIMIT_READABLE_MS, "ms")
        page.wait_for_timeout(500)
        held_bytes = memory_bytes(browser) - blank_bytes
        missed += show("memory of the page, times the text", held_bytes / len(text), LIMIT_MEMORY_TIMES, "times")
        for name, action in (
            ("scrolling", _SCROLL),
            ("jumping", _JUMP),
            ("scrolling sideways", _SIDEWAYS),
            ("folding", _FOLD),
        ):
            found = traced(browser, page, action)
            missed += show(
                f"longest task, {name}",
                found["task"],
                LIMIT_TASK_MS,
                "ms",
                f"of its own {found['own']:.0f} ms, longest frame {found['frame']:.0f} ms",
            )
        found = traced(browser, page, _HOVER, HOVERS)
        missed += show(
            f"hover to highlight, 95th of {found['count']}",
            found["p95"],
            LIMIT_HOVER_MS,
            "ms",
            f"of the frame's own {found['own_95']:.1f} ms, worst {found['worst']:.1f} ms",
        )
        held_bytes = memory_bytes(browser) - blank_bytes
        missed += show("memory after all that, times the text", held_bytes / len(text), LIMIT_MEMORY_TIMES, "times")
    return missed + bench_opening(chromium, folder)


def bench_opening(chromium: Callable, folder: Path) -> int:
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
        with chromium() as browser:
            for _ in range(5):
                page = browser.new_page(viewport={"width": 1280, "height": 900})
                page.set_default_timeout(TIMEOUT_MS)
                page.add_init_script(_PROBE)
                page.goto(path.as_uri())
                page.wait_for_function("() => window.bench.readable('stablehlo')")
                page.wait_for_timeout(300)
                found.append(traced(browser, page, _OPEN))
                page.close()
        times = sorted(each["result"] for each in found)
        remark = (
            f"slowest {times[-1]:.0f} ms, longest task {max(each['task'] for each in found):.0f} ms, "
            f"the page's own work {sorted(each['busy'] for each in found)[2]:.0f} ms"
        )
        missed += show(f"first rows of the HLO in a {what}", times[2], LIMIT_FIRST_ROWS_MS, "ms", remark)
    return missed


def widget_page(source: Any) -> str:
    """A page that feeds the widget as a saved notebook does: everything is in the model, deflated."""
    from jaxscope._render.html import bundle
    from jaxscope._render.widget import deflate_listing

    listings = {
        tab["key"]: {
            name: base64.b64encode(data).decode() for name, data in deflate_listing(source, tab["key"]).items()
        }
        for tab in source.view["tabs"]
    }
    state = json.dumps({"program": bundle(), "view": source.view, "listings": listings}).replace("</", "<\\/")
    return f"""<!doctype html><meta charset="utf-8"><div id="place"></div>
<script type="application/json" id="state">{state}</script>
<script type="module">
  const state = JSON.parse(document.getElementById("state").textContent);
  const bytes = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  for (const listing of Object.values(state.listings)) {{
    for (const name of Object.keys(listing)) listing[name] = new DataView(bytes(listing[name]).buffer);
  }}
  const model = {{
    get: (name) => state[name], set: (name, value) => {{ state[name] = value; }},
    on() {{}}, off() {{}}, send() {{}}, save_changes() {{}},
  }};
  const program = new Blob([state.program], {{ type: "text/javascript" }});
  const {{ default: widget }} = await import(URL.createObjectURL(program));
  widget.render({{ model, el: document.getElementById("place") }});
</script>"""


def bench_peers(chromium: Callable, folder: Path) -> int:
    """Pygments' highlighted ``<pre>`` of the same HLO, and JAX's own page of a jaxpr, opened in the same browser."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter

    from jaxscope._render.html import render_page
    from jaxscope.lexers import HloLexer
    from tests.bench.recorded import RecordedSource

    text = RecordedSource(LAYERS).text("hlo")
    part = text[: text.index("\n", PEER_CHARACTERS)]
    start = time.perf_counter()
    (folder / "pygments.html").write_text(highlight(part, HloLexer(), HtmlFormatter(full=True)), encoding="utf-8")
    made_s = time.perf_counter() - start
    print(f"peers, as far as they get (the whole text is {len(text) / len(part):.1f} times as long)")
    print_peer(
        chromium, folder / "pygments.html", f"Pygments' <pre>, {len(part) / 1e6:.1f} MB of HLO", len(part), made_s
    )
    made = jaxpr_page()
    if isinstance(made, str):
        print(f"  JAX's jaxpr_to_html: {made}")
        return 0
    page, jaxpr_characters, made_s = made
    (folder / "jaxpr.html").write_text(page, encoding="utf-8")
    print_peer(chromium, folder / "jaxpr.html", f"jaxpr_to_html, {PEER_LAYERS} layers traced", jaxpr_characters, made_s)
    source = RecordedSource(PEER_LAYERS)
    start = time.perf_counter()
    (folder / "ours.html").write_text(render_page(source), encoding="utf-8")
    characters = sum(len(source.text(tab["key"])) for tab in source.view["tabs"])
    made_s = time.perf_counter() - start
    print_peer(chromium, folder / "ours.html", f"jaxscope's page, {PEER_LAYERS} layers, all stages", characters, made_s)
    return 0


def jaxpr_page() -> tuple[str, int, float] | str:
    """JAX's page of a transformer traced here, the characters of its jaxpr and the seconds; or why there is none."""
    from tests.shared import SHARED

    try:
        from jax._src.jaxpr_util import jaxpr_to_html
    except ImportError:
        return "not in this JAX"
    import jax

    sys.path.insert(0, str(SHARED / "programs"))
    from transformer import step_and_args

    step, args = step_and_args(layers=PEER_LAYERS)
    jaxpr = jax.jit(step, donate_argnums=(0, 1)).trace(*args).jaxpr
    start = time.perf_counter()
    page = jaxpr_to_html(jaxpr.jaxpr)
    return page, len(str(jaxpr)), time.perf_counter() - start


def print_peer(chromium: Callable, path: Path, name: str, characters: int, made_s: float) -> None:
    """Opens a page and prints what it costs: until it is laid out, in memory, and the longest task of scrolling."""
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(TIMEOUT_MS)
        blank_bytes = memory_bytes(browser)
        page.add_init_script(_PROBE)
        try:
            page.goto(path.as_uri(), wait_until="load")
            readable_ms = page.evaluate(
                "async () => { await bench.frame(); await bench.frame(); return performance.now() }"
            )
            scrolled = page.evaluate(_SCROLL_WINDOW)
        except Exception as error:
            print(f"  {name:<46} did not get through: {str(error).splitlines()[0]}")
            return
        held_bytes = memory_bytes(browser) - blank_bytes
    print(
        f"  {name:<46} {path.stat().st_size / 1e6:7.1f} MB, made in {made_s:.1f} s, "
        f"readable after {readable_ms:.0f} ms, "
        f"longest task scrolling {scrolled['task']:.0f} ms (frame {scrolled['frame']:.0f} ms), "
        f"memory {held_bytes / characters:.1f} times the text"
    )


def traced(browser: Any, page: Any, action: str, count: int = 0) -> dict[str, float]:
    """What an action measured, and the processor time of the page's longest task (`own`) and of all (`busy`).

    On a machine that others use too, a task waits for its turn; its own time says what it would take alone.
    """
    browser.start_tracing(page=page, categories=["toplevel", "disabled-by-default-devtools.timeline", "__metadata"])
    found = page.evaluate(action, count)
    events = json.loads(browser.stop_tracing())["traceEvents"]
    threads = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    own_ms = [
        event.get("tdur", 0) / 1000
        for event in events
        if event["name"].endswith("RunTask") and (event["pid"], event["tid"]) in threads
    ]
    own_ms.sort(reverse=True)
    # With `count` actions, each in a task of its own with the frame it leads to: the one that 95 of 100 stay below.
    own_95_ms = own_ms[count // 20] if count else 0
    return {**found, "own": own_ms[0] if own_ms else 0, "own_95": own_95_ms, "busy": sum(own_ms)}


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
