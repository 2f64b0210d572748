/** The strip beside a listing that shows where in the whole of it the linked and pinned lines are. */
import { h } from "./dom.js";
import { pinColor } from "./pins.js";

// Marks closer than this share one, so that the strip never holds more than a few hundred.
const SLOTS = 200;

export class Ruler {
  /**
   * @param {HTMLElement} element
   * @param {{onJump: (share: number) => void, signal: AbortSignal}} options
   */
  constructor(element, { onJump, signal }) {
    this.element = element;
    element.addEventListener(
      "click",
      (event) => {
        const box = element.getBoundingClientRect();
        onJump((event.clientY - box.top) / Math.max(1, box.height));
      },
      { signal },
    );
  }

  /**
   * @param {import("./listing.js").Marks} marks
   * @param {(line: number) => number} share of the way down
   * @param {{shares: number[], current: number}} [found] matches of a search, and the line of the visited one, or -1
   */
  draw(marks, share, found) {
    /** @type {Map<string, HTMLElement>} */
    const slots = new Map();
    const putAt = (/** @type {number} */ place, /** @type {string} */ name, pin = 0) => {
      const slot = Math.floor(place * SLOTS);
      const key = `${name}${pin} ${slot}`;
      if (slots.has(key)) return;
      const mark = h("i", { class: name, "data-pin": pin > 0 && pinColor(pin) });
      mark.style.top = `${(slot / SLOTS) * 100}%`;
      slots.set(key, mark);
    };
    const put = (/** @type {Iterable<number>} */ lines, /** @type {string} */ name, pin = 0) => {
      for (const line of lines) putAt(share(line), name, pin);
    };
    for (const each of found?.shares ?? []) putAt(each, "found");
    if (found && found.current >= 0) put([found.current], "current");
    const names = [
      ["related", "exact"],
      ["pin-related", "pin-exact"],
    ];
    marks.ruler.forEach((lines, number) => {
      const [related, exact] = names[Math.min(number, 1)];
      put(lines.related, related, number);
      put(lines.exact, exact, number);
    });
    put(marks.errors, "error");
    for (const [line, pin] of marks.pins) put([line], "pinned", pin);
    this.element.replaceChildren(...slots.values());
  }
}
