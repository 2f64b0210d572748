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
    /** What is drawn. */
    this.content = "";
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
    /** @type {Map<string, {name: string, pin: number, slot: number}>} */
    const slots = new Map();
    const putSlot = (/** @type {number} */ slot, /** @type {string} */ name, pin = 0) => {
      const key = `${name}${pin} ${slot}`;
      if (!slots.has(key)) slots.set(key, { name, pin, slot });
    };
    const put = (/** @type {Iterable<number>} */ lines, /** @type {string} */ name, pin = 0) => {
      const ordered = inOrder(lines);
      // From the first line of a slot straight to the first beyond it: a pin may be linked to 100,000 lines.
      for (let at = 0; at < ordered.length; ) {
        const slot = Math.floor(share(ordered[at]) * SLOTS);
        at = firstBeyond(ordered, at + 1, (line) => Math.floor(share(line) * SLOTS) > slot);
        putSlot(slot, name, pin);
      }
    };
    for (const each of found?.shares ?? []) putSlot(Math.floor(each * SLOTS), "found");
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
    put(marks.values ?? [], "value");
    put(marks.errors, "error");
    for (const [line, pin] of marks.pins) put([line], "pinned", pin);
    // Most moves of the pointer change nothing here, and new elements would be laid out anew.
    const content = [...slots.keys()].join();
    if (content === this.content) return;
    this.content = content;
    const elements = [...slots.values()].map(({ name, pin, slot }) => {
      const mark = h("i", { class: name, "data-pin": pin > 0 && pinColor(pin) });
      mark.style.top = `${(slot / SLOTS) * 100}%`;
      return mark;
    });
    this.element.replaceChildren(...elements);
  }
}

/** @param {Iterable<number>} lines @returns {number[]} themselves where they are in order already */
function inOrder(lines) {
  const given = Array.isArray(lines) ? lines : [...lines];
  for (let at = 1; at < given.length; at += 1) if (given[at] < given[at - 1]) return [...given].sort((a, b) => a - b);
  return given;
}

/**
 * @param {number[]} lines in order @param {number} from @param {(line: number) => boolean} isBeyond false, then true
 * @returns {number} the first place from `from` on whose line is beyond
 */
export function firstBeyond(lines, from, isBeyond) {
  let low = from;
  let high = lines.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBeyond(lines[middle])) high = middle;
    else low = middle + 1;
  }
  return low;
}
