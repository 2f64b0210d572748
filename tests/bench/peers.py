"""Two peers on the same text in the same browser: Pygments' highlighted ``<pre>``, and JAX's own page of a jaxpr."""

import sys
import time
from pathlib import Path
from typing import Any

from tests.bench.actions import SCROLL_WINDOW
from tests.bench.probe import PROBE, TIMEOUT_MS, VIEWPORT, memory_bytes, open_browser

LAYERS = 48
# A highlighted copy of the whole text is half a gigabyte of markup, which no browser opens here; the peer gets a part,
# and so does this project in the line beside it.
PEER_CHARACTERS = 4_000_000
PEER_LAYERS = 12


def bench_peers(playwright: Any, folder: Path) -> int:
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
    name = f"Pygments' <pre>, {len(part) / 1e6:.1f} MB of HLO"
    print_peer(playwright, folder / "pygments.html", name, len(part), made_s)
    made = jaxpr_page()
    if isinstance(made, str):
        print(f"  JAX's jaxpr_to_html: {made}")
        return 0
    page, jaxpr_characters, made_s = made
    (folder / "jaxpr.html").write_text(page, encoding="utf-8")
    name = f"jaxpr_to_html, {PEER_LAYERS} layers traced"
    print_peer(playwright, folder / "jaxpr.html", name, jaxpr_characters, made_s)
    source = RecordedSource(PEER_LAYERS)
    start = time.perf_counter()
    (folder / "ours.html").write_text(render_page(source), encoding="utf-8")
    characters = sum(len(source.text(tab["key"])) for tab in source.view["tabs"])
    made_s = time.perf_counter() - start
    name = f"jaxscope's page, {PEER_LAYERS} layers, all stages"
    print_peer(playwright, folder / "ours.html", name, characters, made_s)
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


def print_peer(playwright: Any, path: Path, name: str, characters: int, made_s: float) -> None:
    """Opens a page and prints what it costs: until it is laid out, in memory, and the longest task of scrolling."""
    with open_browser(playwright) as browser:
        page = browser.new_page(viewport=VIEWPORT)
        page.set_default_timeout(TIMEOUT_MS)
        blank_bytes = memory_bytes(browser)
        page.add_init_script(PROBE)
        try:
            page.goto(path.as_uri(), wait_until="load")
            readable_ms = page.evaluate(
                "async () => { await bench.frame(); await bench.frame(); return performance.now() }"
            )
            scrolled = page.evaluate(SCROLL_WINDOW)
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
