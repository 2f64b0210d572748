/** The entry: a notebook widget (anywidget calls `render`), or a page that `mount` or the last lines fill. */
import { App } from "./app.js";
import { on } from "./dom.js";
import { renderBroken } from "./failure.js";
import { pageSource, widgetSource } from "./source.js";
import deflatedStyles from "./style.css";
import { inflate } from "./transfer.js";

const inflatedStyles = inflate(deflatedStyles);
// Whoever draws first hears what is wrong with them.
inflatedStyles.catch(() => {});

/**
 * @param {HTMLElement} el
 * @param {import("./source.js").Source} source
 * @param {AbortSignal} [signal] ends the view, like calling what is returned
 * @returns {() => void} clean-up
 */
export function mount(el, source, signal) {
  const life = new AbortController();
  if (signal?.aborted) return () => {};
  signal?.addEventListener("abort", () => life.abort(), { once: true, signal: life.signal });
  const host = document.createElement("div");
  host.className = "jaxscope";
  // JupyterLab reads keys before any listener inside the page; this is its own way of leaving them to the widget.
  // https://github.com/jupyterlab/lumino/blob/main/packages/commands/src/index.ts
  host.setAttribute("data-lm-suppress-shortcuts", "true");
  el.append(host);
  on(life.signal, "abort", () => host.remove());
  inflatedStyles
    .then((styles) => life.signal.aborted || new App(host, source, styles, life.signal))
    .catch((error) => {
      console.error("[jaxscope]", error);
      host.replaceWith(renderBroken("The inspection", error));
    });
  return () => life.abort();
}

/** @param {{model: any, el: HTMLElement, signal?: AbortSignal}} context */
function render({ model, el, signal }) {
  const life = new AbortController();
  if (signal?.aborted) return () => {};
  signal?.addEventListener("abort", () => life.abort(), { once: true, signal: life.signal });
  mount(el, widgetSource(model, life.signal, comesNear(el, life.signal)), life.signal);
  return () => life.abort();
}

/**
 * Resolves when an element is in view, or not more than a screen away.
 * @param {Element} element @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
function comesNear(element, signal) {
  return new Promise((resolve) => {
    const options = { rootMargin: "100%", scrollMargin: "100%" };
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      observer.disconnect();
      resolve();
    }, options);
    observer.observe(element);
    on(signal, "abort", () => observer.disconnect());
  });
}

export default { render };

// In an exported page this module stands in the page itself; as a widget it is loaded from an address of its own.
if (import.meta.url === document.baseURI) {
  const place = document.getElementById("jaxscope");
  if (place) {
    pageSource(document).then(
      (source) => mount(place, source),
      (error) => place.replaceChildren(renderBroken("The inspection", error)),
    );
  }
}
