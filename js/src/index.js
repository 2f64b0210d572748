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

/** @typedef {import("./source.js").Source} Source */

/**
 * @param {HTMLElement} el
 * @param {Source} source
 * @param {AbortSignal} [signal] ends the view, like calling what is returned
 * @returns {() => void} clean-up
 */
export const mount = (el, source, signal) => begin(el, () => source, signal);

/** @param {HTMLElement} el @param {(signal: AbortSignal) => Source} makeSource for as long as the view is there @param {AbortSignal} [until] */
function begin(el, makeSource, until) {
  const life = new AbortController();
  const { signal } = life;
  const end = () => life.abort();
  if (until?.aborted) return end;
  if (until) on(until, "abort", end, signal);
  const host = document.createElement("div");
  host.className = "jaxscope";
  // JupyterLab reads keys before any listener inside the page; this is its own way of leaving them to the widget.
  // https://github.com/jupyterlab/lumino/blob/main/packages/commands/src/index.ts
  host.setAttribute("data-lm-suppress-shortcuts", "true");
  el.append(host);
  on(signal, "abort", () => host.remove());
  const source = makeSource(signal);
  inflatedStyles
    .then((styles) => signal.aborted || new App(host, source, styles, signal))
    .catch((error) => {
      console.error("[jaxscope]", error);
      host.replaceWith(renderBroken("The inspection", error));
    });
  return end;
}

/** @param {{model: any, el: HTMLElement, signal?: AbortSignal}} context */
const render = ({ model, el, signal }) => begin(el, (life) => widgetSource(model, life, comesNear(el, life)), signal);

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
