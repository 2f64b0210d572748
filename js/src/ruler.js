/**
 * The strip beside a listing that shows where in the whole of it the linked and pinned lines are. It is divided into slots,
 * a few pixels each: what it takes to draw it does not depend on how many lines are marked.
 */
import { h, on } from "./dom.js";
import { pinColor } from "./pins.js";
import { firstBeyond } from "./sorted.js";

const SLOTS = 200;
// Linked lines may fill every slot; those of one kind are one element, whose colour comes and goes down its height.
const BANDS = [
  ["related", "exact"],
  ["pin-related", "pin-exact"],
];

export class Ruler {
  /**
   * @param {HTMLElement} element
   * @param {{onJump: (share: number) => void, signal: AbortSignal}} options
   */
  constructor(element, { onJump, signal }) {
    this.element = element;
    /** What is drawn, by kind, pin and slot. @type {Map<string, {mark: HTMLElement, style: string}>} */
    this.drawn = new Map();
    /** The first line of each slot. */
    this.bounds = new Int32Array(SLOTS + 1);
    /** What the bounds were worked out from. @type {unknown[]} */
    this.arranged = [];
    on(
      element,
      "click",
      (event) => {
        const box = element.getBoundingClientRect();
        onJump((event.clientY - box.top) / Math.max(1, box.height));
      },
      signal,
    );
  }

  /**
   * Works out which lines belong to which slot, unless nothing has moved since. Lines are counted in the order shown.
   * @param {import("./rows.js").Rows} rows
   * @param {number} height of the whole text
   * @param {(line: number) => number} share of the way down, of a line
   */
  arrange(rows, height, share) {
    const from = [rows.stamp, height];
    if (from.every((each, at) => each === this.arranged[at])) return;
    this.arranged = from;
    const { lineCount } = rows;
    for (let slot = 1, line = 0; slot < SLOTS; slot += 1) {
      line = firstBeyond(lineCount, line, (at) => share(at) * SLOTS >= slot);
      this.bounds[slot] = line;
    }
    this.bounds[SLOTS] = lineCount;
  }

  /** The slots that hold one of the lines. @param {ArrayLike<number>} lines in order @returns {number[]} in order, each once */
  #slotsOf(lines) {
    const slots = [];
    for (let at = 0; at < lines.length; ) {
      const slot = firstBeyond(SLOTS, 0, (each) => this.bounds[each + 1] > lines[at]);
      slots.push(slot);
      // From the first line of a slot straight to the first beyond it: a pin may be linked to 100,000 lines.
      at = firstBeyond(lines.length, at + 1, (each) => lines[each] >= this.bounds[slot + 1]);
    }
    return slots;
  }

  /**
   * @param {import("./listing.js").Marks} marks
   * @param {{shares: number[], current: number}} [found] matches of a search, and the line of the visited one, or -1
   */
  draw(marks, found) {
    /** @type {Map<string, string>} */
    const wanted = new Map();
    const put = (/** @type {number[]} */ slots, /** @type {string} */ name, pin = 0) => {
      for (const slot of slots) wanted.set(`${name} ${pin} ${slot}`, percent(slot));
    };
    const band = (/** @type {ArrayLike<number>} */ lines, /** @type {string} */ name, /** @type {number} */ pin) => {
      if (lines.length) wanted.set(`${name} ${pin}`, gradient(this.#slotsOf(lines)));
    };
    marks.ruler.forEach((lines, number) => {
      const [related, exact] = BANDS[Math.min(number, 1)];
      band(lines.related, related, number);
      band(lines.exact, exact, number);
    });
    put((found?.shares ?? []).map((share) => Math.floor(share * SLOTS)), "found");
    if (found && found.current >= 0) put(this.#slotsOf([found.current]), "current");
    put(this.#slotsOf(Int32Array.from(marks.values ?? []).sort()), "value");
    for (const [line, { tone }] of marks.said) put(this.#slotsOf([line]), `tone-${tone}`);
    for (const [line, pin] of marks.pins) put(this.#slotsOf([line]), "pinned", pin);
    // Most of it stays as it was when the pointer moves on, and new elements would be laid out anew.
    for (const [key, { mark, style }] of this.drawn) {
      if (wanted.get(key) === style) wanted.delete(key);
      else {
        mark.remove();
        this.drawn.delete(key);
      }
    }
    for (const [key, style] of wanted) {
      const [name, pin, slot] = key.split(" ");
      const mark = h("i", { class: name, "data-pin": Number(pin) > 0 && pinColor(Number(pin)) });
      mark.style[slot ? "top" : "background"] = style;
      this.drawn.set(key, { mark, style });
      this.element.append(mark);
    }
  }
}

/** @param {number} slot */
const percent = (slot) => `${(slot / SLOTS) * 100}%`;

/** Colour in these slots, each at least three pixels high. @param {number[]} slots in order */
function gradient(slots) {
  const stops = [];
  for (let at = 0; at < slots.length; at += 1) {
    const first = slots[at];
    while (slots[at + 1] === slots[at] + 1) at += 1;
    stops.push(`#0000 ${percent(first)},currentColor 0 calc(${percent(slots[at])} + 3px),#0000 0`);
  }
  return `linear-gradient(${stops})`;
}
