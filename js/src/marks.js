/** What is marked in a listing, row by row: a closed fold shows what it hides, and all is counted in the order shown. Pure. */
import { NONE } from "./links.js";
import { lowerBound } from "./sorted.js";
import { SIGNS } from "./table.js";

// As far as is worth looking into a closed fold on every draw.
const MOST_HIDDEN = 5000;

/** @typedef {import("./rows.js").Rows} Rows */
/** @typedef {import("./schema").Mark} Mark */
/**
 * What the pane draws upon its lines; each gives EXACT, RELATED or NONE.
 * @typedef {object} Marks
 * @property {(line: number) => number} hovered
 * @property {(line: number) => number} pinned
 * @property {(line: number) => number} pinNumber of the pin that reaches it, from 1; 0 for none
 * @property {Map<number, number>} pins the numbers of the pinned lines
 * @property {Map<number, Mark>} said the gravest that is said of a line, with all the words
 * @property {import("./links.js").Linked[]} ruler hovered, then of each pin
 * @property {ArrayLike<number>} [values] lines of the current value
 */

/** @param {Mark} mark */
export const signOf = ({ tone }) => SIGNS[tone] || "›";

/** The gravest tone last. */
const GRAVITY = ["muted", "", "good", "warning", "error"];

/** @param {Mark | undefined} one @param {Mark | undefined} other @returns {Mark | undefined} the one with the graver tone */
const graver = (one, other) => (one && GRAVITY.indexOf(one.tone) >= GRAVITY.indexOf(other?.tone ?? "muted") ? one : other);

/** What is said of the lines of a listing. @param {Mark[]} marks @returns {Map<number, Mark>} one for each line, with the words of all */
export function saidOf(marks) {
  /** @type {Map<number, Mark>} */
  const said = new Map();
  for (const mark of marks) {
    const known = said.get(mark.line);
    const words = (/** @type {"text" | "note"} */ name) => [known?.[name], mark[name]].filter(Boolean).join(name === "text" ? " " : " · ");
    said.set(mark.line, { .../** @type {Mark} */ (graver(known, mark)), text: words("text"), note: words("note") });
  }
  return said;
}

/** @type {Marks} */
export const NO_MARKS = { hovered: () => NONE, pinned: () => NONE, pinNumber: () => 0, pins: new Map(), said: new Map(), ruler: [] };

/** @template {ArrayLike<number>} Lines @param {Lines} lines @param {Rows} rows @returns {Lines | Int32Array} their places, in order */
export function placesOf(lines, rows) {
  if (!rows.order) return lines;
  const places = new Int32Array(lines.length);
  for (let at = 0; at < places.length; at += 1) places[at] = rows.placeOf(lines[at]);
  return places.sort();
}

/** @template Value @param {Map<number, Value>} map by line @param {Rows} rows */
const moved = (map, rows) => new Map([...map].map(([line, value]) => [rows.placeOf(line), value]));

/** The same marks with places instead of lines, for the ruler. @param {Marks} marks @param {Rows} rows @returns {Marks} */
export function inPlaces(marks, rows) {
  if (!rows.order) return marks;
  return {
    ...marks,
    pins: moved(marks.pins, rows),
    said: moved(marks.said, rows),
    ruler: marks.ruler.map(({ exact, related }) => ({ exact: placesOf(exact, rows), related: placesOf(related, rows) })),
  };
}

/**
 * The marks of a row: of its line, or the strongest of those of the lines that are folded into it.
 * @param {Marks} marks @param {Marks} placed the same in places @param {Rows} rows @param {number} line
 */
export function marksOf(marks, placed, rows, line) {
  const found = { hovered: NONE, pinned: NONE, pin: 0, number: 0, said: /** @type {Mark | undefined} */ (undefined) };
  const first = rows.placeOf(line);
  const closed = rows.closedFold(line);
  const last = closed && holdsMark(placed, closed) ? Math.min(closed.lastPlace, first + MOST_HIDDEN) : first;
  for (let place = first; place <= last; place += 1) {
    const at = rows.lineOf(place);
    found.hovered = Math.max(found.hovered, marks.hovered(at));
    const reached = marks.pinned(at);
    found.pinned = Math.max(found.pinned, reached);
    found.pin = marks.pins.get(at) ?? found.pin;
    if (reached) found.number = marks.pinNumber(at);
    found.said = graver(found.said, marks.said.get(at));
  }
  found.number = found.pin || found.number;
  return found;
}

/**
 * Whether anything is marked behind a closed fold; most hide nothing, and then their lines need not be gone through.
 * @param {Marks} placed @param {import("./rows.js").Fold} fold
 */
function holdsMark(placed, { place, lastPlace }) {
  const isHidden = (/** @type {number} */ marked) => place < marked && marked <= lastPlace;
  const holds = (/** @type {Int32Array} */ places) => isHidden(places[lowerBound(places, place + 1)]);
  return (
    placed.ruler.some(({ exact, related }) => holds(exact) || holds(related)) ||
    [...placed.pins.keys(), ...placed.said.keys()].some(isHidden)
  );
}
