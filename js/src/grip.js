/** A bar between two things that sets how the room is shared, by pointer and by keyboard. */
import { h, isModified, on, setAttribute } from "./dom.js";

/**
 * @param {object} options
 * @param {string} options.name its class
 * @param {string} options.label
 * @param {number} options.least
 * @param {number} options.most
 * @param {() => boolean} options.isUpright whether it moves to the sides
 * @param {() => number} options.perPixel what a pixel is worth
 * @param {() => number} options.value the one shown now
 * @param {(value: number) => void} options.onChange
 * @param {AbortSignal} options.signal
 * @returns {{element: HTMLElement, show: () => void}} `show` tells what it stands at
 */
export function makeSeparator({ name, label, least, most, isUpright, perPixel, value, onChange, signal }) {
  const element = h("div", {
    class: name,
    role: "separator",
    tabindex: 0,
    "aria-label": label,
    "aria-valuemin": least,
    "aria-valuemax": most,
    title: `drag to change the ${label}; with the focus here, the arrow keys do`,
  });
  const show = () => {
    setAttribute(element, "aria-orientation", isUpright() ? "vertical" : "horizontal");
    setAttribute(element, "aria-valuenow", Math.round(value()));
  };
  const set = (/** @type {number} */ wanted) => onChange(Math.max(least, Math.min(most, wanted)));
  const at = (/** @type {PointerEvent} */ event) => (isUpright() ? event.clientX : event.clientY);
  let start = { at: 0, value: 0 };
  const listen = (/** @type {string} */ event, /** @type {(event: any) => void} */ action) => on(element, event, action, signal);
  listen("pointerdown", (event) => {
    start = { at: at(event), value: value() };
    element.setPointerCapture(event.pointerId);
  });
  listen("pointermove", (event) => {
    if (element.hasPointerCapture(event.pointerId)) set(start.value + (at(event) - start.at) * perPixel());
  });
  listen("keydown", (event) => {
    if (isModified(event)) return;
    const now = Math.round(value());
    const [less, more] = isUpright() ? ["ArrowLeft", "ArrowRight"] : ["ArrowUp", "ArrowDown"];
    const wanted = /** @type {Record<string, number>} */ ({ [less]: now - 1, [more]: now + 1, Home: least, End: most })[event.key];
    if (wanted === undefined) return;
    set(wanted);
    event.preventDefault();
  });
  return { element, show };
}
