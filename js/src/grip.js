/** The bar under the listings that sets their height, by pointer and by keyboard. */
import { h } from "./dom.js";

export const FEWEST_ROWS = 7;
export const MOST_DRAGGED_ROWS = 80;

/**
 * @param {object} options
 * @param {number} options.rowHeight
 * @param {() => number} options.rows how many are shown now
 * @param {(rows: number) => void} options.onChange
 * @param {AbortSignal} options.signal
 */
export function makeGrip({ rowHeight, rows, onChange, signal }) {
  const grip = h("div", {
    class: "grip",
    role: "separator",
    tabindex: 0,
    "aria-orientation": "horizontal",
    "aria-label": "height of the listings",
    "aria-valuemin": FEWEST_ROWS,
    "aria-valuemax": MOST_DRAGGED_ROWS,
    title: "drag to change the height",
  });
  const set = (/** @type {number} */ wanted) => onChange(Math.max(FEWEST_ROWS, Math.min(MOST_DRAGGED_ROWS, wanted)));
  let start = { y: 0, rows: 0 };
  grip.addEventListener(
    "pointerdown",
    (event) => {
      start = { y: event.clientY, rows: rows() };
      grip.setPointerCapture(event.pointerId);
    },
    { signal },
  );
  grip.addEventListener(
    "pointermove",
    (event) => {
      if (grip.hasPointerCapture(event.pointerId)) set(start.rows + (event.clientY - start.y) / rowHeight);
    },
    { signal },
  );
  grip.addEventListener(
    "keydown",
    (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step) return;
      set(Math.round(rows()) + step);
      event.preventDefault();
    },
    { signal },
  );
  return grip;
}
