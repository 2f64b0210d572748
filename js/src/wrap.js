/**
 * How high the rows of a listing are, counted in lines of text: one each, or more where long lines are broken at the
 * width of the pane. A row nobody has seen yet has an estimated height, which is corrected when it comes into view. Pure.
 */
import { clamp } from "./numbers.js";
import { lowerBound } from "./sorted.js";

// Narrower than this, nobody can read, and the pane scrolls sideways instead.
const FEWEST_COLUMNS = 20;
/** By how many characters a body at its call stands further right than the call's own line begins, for each call around it. */
export const RAIL_CHARACTERS = 4;
const MARK_CHARACTERS = 2;
const DEEPEST_RAIL = 10;
// A row ends behind a space, or else behind a sign, if there is one in this last part of it.
const SEARCHED_SHARE = 1 / 2;

const SPACE = 32;
/** Whether a character goes on behind it: the first half of "𝛼". @param {number} code */
const isFirstHalf = (code) => code >= 0xd800 && code <= 0xdbff;
const OF_NAMES = new Set([..."abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.%-"].map((each) => each.charCodeAt(0)));
/** Whether a character is one of a name or number, such as "%add.1". @param {number} code */
const isOfName = (code) => OF_NAMES.has(code);

/** @param {number} depth in calls */
export const railOf = (depth) => Math.min(depth, DEEPEST_RAIL) * RAIL_CHARACTERS;

/** @typedef {{starts: number[], indent: number}} Broken where the rows of a line begin, and how far in all but the first are drawn */

/**
 * @param {string} text @param {number} room columns of its first row
 * @param {number} [tail] characters drawn behind the text that stay together
 * @returns {Broken}
 */
export function breakText(text, room, tail = 0) {
  const starts = [0];
  // As far as the line itself, and behind their mark, if enough room is left. A sample it matches: the "%" of "  %add.1".
  const indent = Math.min(text.search(/\S|$/) + MARK_CHARACTERS, room >> 1);
  const rest = room - indent;
  let at = 0;
  for (; text.length - at > room; room = rest) {
    const end = at + room - (isFirstHalf(text.charCodeAt(at + room - 1)) ? 1 : 0);
    let space = 0;
    let sign = 0;
    // By hand, from the end: a regex would look at all of a part from each of its characters on.
    for (let place = end; !space && place - at >= room * (1 - SEARCHED_SHARE); place -= 1) {
      const code = text.charCodeAt(place);
      if (code === SPACE) space = place + 1;
      else if (!sign && place < end && !isOfName(code)) sign = place + 1;
    }
    at = space || sign || end;
    starts.push(at);
  }
  if (at < text.length && text.length - at + tail > room) starts.push(text.length);
  return { starts, indent };
}

/** The heights of all lines of a listing at one width. */
export class Wrap {
  /** @param {number} columns @param {ArrayLike<number>} lengths of the lines as shown, or estimates */
  constructor(columns, lengths) {
    this.columns = columns;
    this.heights = new Uint32Array(lengths.length);
    const { heights } = this;
    const further = Math.max(FEWEST_COLUMNS, columns) - MARK_CHARACTERS * 3;
    for (let line = 0; line < heights.length; line += 1) {
      const beyond = lengths[line] - columns;
      heights[line] = beyond > 0 ? 1 + Math.ceil(beyond / further) : 1;
    }
    /** @type {WeakMap<object, Broken & {tail: number}>} */
    this.known = new WeakMap();
  }

  /** @param {import("./line.js").Line} composed @param {number} depth in calls @param {number} tail @returns {Broken} */
  breakLine(composed, depth, tail) {
    let found = this.known.get(composed);
    if (!found || found.tail !== tail) {
      const room = Math.max(FEWEST_COLUMNS, this.columns - railOf(depth));
      const isShort = composed.away || composed.length + tail <= room;
      found = { tail, ...breakText(isShort ? "" : composed.runs.map((run) => run.text).join(""), room, tail) };
      this.known.set(composed, found);
    }
    return found;
  }
}

/** Where each row is, counted in lines of text from the top. */
export class Heights {
  /** @param {import("./rows.js").Rows} rows @param {Wrap | null} wrap null: a line of text each */
  constructor(rows, wrap) {
    this.stamp = rows.stamp;
    this.count = rows.count;
    /** @type {Uint32Array | null} and, last, the height of all */
    this.tops = null;
    if (!wrap) return;
    const tops = new Uint32Array(this.count + 1);
    for (let row = 0, top = 0; row < this.count; row += 1) tops[row + 1] = top += wrap.heights[rows.lineAt(row)];
    this.tops = tops;
  }

  get total() {
    return this.topOf(this.count);
  }

  /** @param {number} row */
  topOf(row) {
    return this.tops ? this.tops[row] : row;
  }

  /** Gives rows one after the other other heights. @param {number} from @param {number[]} heights @returns {boolean} whether any is another */
  correct(from, heights) {
    const { tops } = this;
    if (!tops) return false;
    let changed = false;
    let shift = 0;
    for (let row = from; row < from + heights.length; row += 1) {
      const top = tops[row] + heights[row - from];
      // What is above has moved this row already, but not its end.
      changed ||= top !== tops[row + 1] + shift;
      shift = top - tops[row + 1];
      tops[row + 1] = top;
    }
    for (let row = from + heights.length; shift && row < this.count; row += 1) tops[row + 1] += shift;
    return changed;
  }

  /** The row at so many lines of text from the top. @param {number} top */
  rowAt(top) {
    return clamp(this.firstFrom(Math.floor(top) + 1) - 1, this.count - 1);
  }

  /** The first row that begins there or further down. @param {number} top */
  firstFrom(top) {
    return Math.min(this.count, this.tops ? lowerBound(this.tops, top) : Math.max(0, Math.ceil(top)));
  }
}
