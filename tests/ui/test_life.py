"""Mounting and unmounting leaves nothing behind, in the page, in a notebook and in its kernel."""

import pytest

from tests.ui import sample

LISTENERS = """
(() => {
  let count = 0;
  const live = new Set();
  const add = EventTarget.prototype.addEventListener;
  EventTarget.prototype.addEventListener = function (type, listener, options) {
    const key = {};
    live.add(key);
    const signal = typeof options === 'object' ? options?.signal : undefined;
    if (signal) add.call(signal, 'abort', () => live.delete(key), { once: true });
    if (typeof options === 'object' && options?.once) add.call(this, type, () => live.delete(key), { once: true });
    return add.call(this, type, listener, options);
  };
  window.liveListeners = () => live.size;
})();
"""
# Mounts the bundle's module on one element with a source made in the browser, points at rows, searches, opens each tab.
MOUNT = """
async ([code, { view, listings }]) => {
  const { mount } = await import(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })));
  const place = document.getElementById('place');
  window.mountOnce = async () => {
    let callbacks = 0;
    const source = {
      view, listing: async (key) => listings[key], get: () => ({}), set() {},
      onChange: (callback, signal) => {
        callbacks += 1;
        signal.addEventListener('abort', () => { callbacks -= 1; }, { once: true });
      },
    };
    const unmount = mount(place, source);
    await new Promise((done) => setTimeout(done, 30));
    const shadow = place.firstElementChild.shadowRoot;
    const rows = shadow.querySelectorAll('.pane.right .row');
    for (const row of rows) row.dispatchEvent(new PointerEvent('pointermove', { bubbles: true, composed: true }));
    rows[2].click();
    shadow.querySelector('.pane.right .pane-head button.small').click();
    const query = shadow.querySelector('.pane.right .query');
    query.value = 'f32';
    query.dispatchEvent(new InputEvent('input', { bubbles: true }));
    for (const tab of [...shadow.querySelectorAll('[role=tab]')].map((tab) => tab.dataset.key)) {
      shadow.querySelector(`[role=tab][data-key="${tab}"]`).click();
    }
    const during = window.liveListeners?.() ?? 0;
    unmount();
    return { during, after: window.liveListeners?.() ?? 0, callbacks, children: place.childElementCount };
  };
}
"""
# One that stays holds some 50 kB of scripts' memory (measured by keeping each mount's callback) and 1,600 nodes; what
# an engine keeps for its own reasons, compiled code above all, comes to 3 kB for each of the first ones, and less then.
MOST_BYTES_PER_MOUNT = 10_000
MOUNTS = (10, 50)


@pytest.fixture
def mounting(new_page):
    """A page on which `mountOnce` mounts and unmounts; with a count of listeners if asked for."""
    from jaxscope._render.html import bundle

    def open_page(count_listeners):
        page = new_page()
        page.goto("about:blank")
        page.set_content("<div id=place></div>")
        if count_listeners:
            page.evaluate(LISTENERS)
        source = sample.attention()
        listings = {key: {"index": index, "lines": text.split("\n")} for key, (index, text) in source.listings.items()}
        page.evaluate(MOUNT, [bundle(), {"view": source.view, "listings": listings}])
        return page

    return open_page


def test_mounting_many_times_leaves_nothing_behind(mounting):
    page = mounting(count_listeners=True)
    counts = [page.evaluate("() => window.mountOnce()") for _ in range(12)]
    assert counts[0]["during"] > 10
    assert [count["after"] for count in counts] == [counts[0]["after"]] * len(counts)
    assert counts[0]["after"] == 0
    assert {(count["callbacks"], count["children"]) for count in counts} == {(0, 0)}


def test_neither_memory_nor_nodes_grow_with_each_mount(mounting):
    page = mounting(count_listeners=False)
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")

    def held():
        # Chromium lets go of elements in a collection after the one that found their wrappers unused.
        for _ in range(3):
            session.send("HeapProfiler.collectGarbage")
        metrics = {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}
        return metrics["Nodes"], metrics["JSEventListeners"], metrics["JSHeapUsedSize"]

    found = []
    done = 0
    for mounts in MOUNTS:
        page.evaluate(
            "async (times) => { for (let time = 0; time < times; time += 1) await mountOnce() }", mounts - done
        )
        done = mounts
        # Whatever was put off for a moment (what a screen reader is told, a search) has had its turn.
        page.wait_for_timeout(400)
        found.append(held())
    (nodes, listeners, heap_bytes), (nodes_then, listeners_then, heap_bytes_then) = found
    assert (nodes_then, listeners_then) == (nodes, listeners)
    assert (heap_bytes_then - heap_bytes) / (MOUNTS[1] - MOUNTS[0]) < MOST_BYTES_PER_MOUNT


SHOW_AGAIN = """
import gc, weakref
import jaxscope
result = jaxscope.show(lambda x: x @ x, "f32[8,8]")
known = [*globals().get("known", []), (weakref.ref(result), weakref.ref(result._source))]
"""
RUNS = 10
# Per widget some 1,700; JupyterLab itself keeps a few of each output.
MOST_NODES_PER_RUN = 300


def test_a_cell_that_is_run_again_keeps_one_widget(lab, new_page):
    page = lab.run(new_page(), [SHOW_AGAIN])
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")

    def nodes():
        for _ in range(3):
            session.send("HeapProfiler.collectGarbage")
        return {each["name"]: each["value"] for each in session.send("Performance.getMetrics")["metrics"]}["Nodes"]

    def run_again():
        lab.run_all(page)
        page.locator(".jaxscope .row", has_text="ENTRY").first.wait_for()

    run_again()
    before = nodes()
    for _ in range(RUNS):
        run_again()
    page.wait_for_timeout(500)
    assert page.locator(".jaxscope").count() == 1
    grown = nodes() - before
    assert grown / RUNS < MOST_NODES_PER_RUN
    counted = """
import ipywidgets
gc.collect()
print([sum(ref() is not None for ref in refs) for refs in zip(*known)], len(known))
print(sorted(type(each).__name__ for each in gc.get_objects() if isinstance(each, ipywidgets.Widget)))
"""
    assert lab.evaluate(page, counted).splitlines() == [f"[1, 1] {RUNS + 2}", "['InspectionWidget', 'Layout']"]
    lab.command(page, "notebook:clear-cell-output")
    page.wait_for_timeout(300)
    assert page.locator(".jaxscope").count() == 0
