"""Mounting and unmounting leaves nothing behind."""

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


def test_mounting_many_times_leaves_nothing_behind(new_page, tmp_path):
    """The bundle as a module, mounted on one element again and again with a source made in the browser."""
    from jaxscope._render.html import bundle

    page = new_page()
    page.add_init_script(LISTENERS)
    page.goto("about:blank")
    page.set_content("<div id=place></div>")
    page.evaluate(LISTENERS)
    source = sample.attention()
    data = {
        "view": source.view,
        "listings": {
            key: {"index": index, "lines": text.split("\n")} for key, (index, text) in source.listings.items()
        },
    }
    counts = page.evaluate(
        """async ([code, { view, listings }]) => {
          const { mount } = await import(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })));
          const place = document.getElementById('place');
          const counts = [];
          for (let time = 0; time < 12; time += 1) {
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
            for (const tab of [...shadow.querySelectorAll('[role=tab]')].map((tab) => tab.dataset.key)) {
              shadow.querySelector(`[role=tab][data-key="${tab}"]`).click();
            }
            const during = window.liveListeners();
            unmount();
            counts.push({ during, after: window.liveListeners(), callbacks, children: place.childElementCount });
          }
          return counts;
        }""",
        [bundle(), data],
    )
    assert counts[0]["during"] > 10
    assert [count["after"] for count in counts] == [counts[0]["after"]] * len(counts)
    assert counts[0]["after"] == 0
    assert {(count["callbacks"], count["children"]) for count in counts} == {(0, 0)}
