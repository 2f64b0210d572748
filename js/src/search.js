/**
 * Finding text in the lines of a listing, a few milliseconds at a time: the query as a safe pattern, where it matches, how
 * often in which line. Pure.
 */
import { grouped } from "./numbers.js";
import { cutRun } from "./rows.js";
import { lowerBound } from "./sorted.js";

// A repetition without end may try every pair of places in a line, so that of long lines only so much is looked at at
// once. A match may be half as long.
export const WINDOW_CHARACTERS = 2000;
const MOST_REPETITIONS = 3;
const SHORTEST_PROBE = 60;
const SLOW_PROBE_MS = 20;
// One slow stretch may be another program's doing.
const SLOW_STRETCH_MS = 400;
const MOST_SLOW_STRETCHES = 5;
const MARKING_MS = 100;
const SLOTS = 200;

/** @typedef {{text: string, matchCase: boolean, regex: boolean}} Query */
/** @typedef {{pattern: RegExp, window: number, problem: string}} Pattern `problem`: why a regular expression is not used as one */
/** @typedef {[from: number, to: number]} Range columns */

/** @param {Query} query @param {string} longest of the lines to be searched @returns {Pattern | null} null for an empty query */
export function compile({ text, matchCase, regex }, longest) {
  if (!text) return null;
  const flags = matchCase ? "g" : "gi";
  // What the screen writes by its number can be searched as it is read. A sample it matches: "⟨U+202E⟩".
  const asWritten = text.replace(/⟨U\+(10[0-9A-F]{4}|[0-9A-F]{4,5})⟩/gi, (_, code) => String.fromCodePoint(Number.parseInt(code, 16)));
  // A sample it matches: "(", in "add(".
  const literal = asWritten.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  /** @param {string} problem @returns {Pattern} */
  const plain = (problem) => ({ pattern: new RegExp(literal, flags), window: Infinity, problem });
  if (!regex) return plain("");
  const { problem, repetitions } = inspect(text);
  if (problem) return plain(`${problem}: searched as plain text`);
  for (const form of [`${flags}u`, flags]) {
    try {
      const pattern = new RegExp(text, form);
      if (repetitions && isSlow(pattern, longest)) return plain("too slow for the long lines here: searched as plain text");
      return { pattern, window: repetitions ? WINDOW_CHARACTERS : Infinity, problem: "" };
    } catch (error) {
      // A sample it matches: ": Unterminated group", at the end of "Invalid regular expression: /(/g: Unterminated group".
      const reason = /: ([^:]+)$/.exec(error instanceof Error ? error.message : "")?.[1] ?? "";
      if (form === flags) return plain(`not a regular expression${reason && ` (${reason.toLowerCase()})`}: searched as plain text`);
    }
  }
  return null;
}

/**
 * Engines try every way in which a repeated repetition can match, which takes for ever on a line of a few dozen
 * characters; and nothing can stop them meanwhile.
 * @param {string} source of a regular expression
 */
function inspect(source) {
  /** @type {boolean[]} whether each open group, and the whole, holds something that varies */
  const varying = [false];
  let repetitions = 0;
  for (let at = 0; at < source.length; at += 1) {
    const character = source[at];
    let closed = false;
    if (character === "\\") {
      at += 1;
      // A sample it matches: "1", in "(a)\1".
      if (/[1-9k]/.test(source[at] ?? "")) return { problem: "references to groups are not supported", repetitions };
    } else if (character === "[") {
      while (at < source.length && source[at] !== "]") at += source[at] === "\\" ? 2 : 1;
    } else if (character === "(") {
      varying.push(false);
      // The mark after it is part of the group's beginning. A sample it matches: "(?:".
      if (source[at + 1] === "?") at += 1;
      continue;
    } else if (character === ")" && varying.length > 1) closed = true;
    else if (character === "|") varying[varying.length - 1] = true;
    const inner = closed && varying.pop();
    // Samples it matches: "*", "+?", "{2,}", "{3}".
    const quantifier = /^(?:[*+?]|\{\d+(,?)\d*\})/.exec(source.slice(at + 1, at + 20));
    if (inner) varying[varying.length - 1] = true;
    if (!quantifier) continue;
    varying[varying.length - 1] = true;
    at += quantifier[0].length;
    if (source[at + 1] === "?") at += 1;
    if (quantifier[0] === "?") continue;
    if (inner) return { problem: "a repeated group that can match in several ways could take for ever", repetitions };
    if (quantifier[0].length === 1 || quantifier[1]) repetitions += 1;
  }
  return { problem: repetitions > MOST_REPETITIONS ? `more than ${MOST_REPETITIONS} repetitions could take for ever` : "", repetitions };
}

/**
 * Whether a pattern takes too long on a text, found out on beginnings of it that grow slowly enough to stop in time.
 * @param {RegExp} pattern @param {string} text
 */
function isSlow(pattern, text) {
  for (let length = SHORTEST_PROBE; ; length *= 1.5) {
    const part = text.slice(0, Math.min(length, WINDOW_CHARACTERS));
    const isSlowOnPart = () => {
      const started = performance.now();
      part.match(pattern);
      return performance.now() - started > SLOW_PROBE_MS;
    };
    // A try may have been interrupted by something else.
    if (isSlowOnPart() && isSlowOnPart() && isSlowOnPart()) return true;
    if (length >= WINDOW_CHARACTERS || length >= text.length) return false;
  }
}

/**
 * The matches that begin in the next stretch of a text.
 * @param {Pattern} pattern @param {string} text @param {number} start @param {(from: number, to: number) => void} visit
 * @returns {number} where to go on, -1 at the end
 */
function scan({ pattern, window }, text, start, visit) {
  const isLast = text.length - start <= window;
  const part = isLast ? text : text.slice(0, start + window);
  // A match that begins further on may be cut by the end of this stretch; the next one has it whole.
  const half = isLast ? Infinity : start + window / 2;
  pattern.lastIndex = start;
  for (let found = pattern.exec(part); found && found.index < half; found = pattern.exec(part)) {
    if (found[0]) {
      start = pattern.lastIndex;
      visit(found.index, start);
    } else pattern.lastIndex += 1;
  }
  return isLast ? -1 : Math.max(start, half);
}

/** @param {Pattern} pattern @param {string} text @returns {Range[]} as far as they are found in the time of one task */
export function rangesIn(pattern, text) {
  /** @type {Range[]} */
  const ranges = [];
  const end = performance.now() + MARKING_MS;
  let at = 0;
  do at = scan(pattern, text, at, (from, to) => ranges.push([from, to]));
  while (at >= 0 && performance.now() < end);
  return ranges;
}

/** The matches of one pattern in a listing, as far as it has been searched; what it calls a line, callers may call otherwise. */
export class Search {
  /** @param {Pattern} pattern @param {number} lineCount @param {(line: number) => string} textOf */
  constructor(pattern, lineCount, textOf) {
    this.pattern = pattern;
    this.lineCount = lineCount;
    this.textOf = textOf;
    /** Lines that have matches. @type {number[]} */
    this.lines = [];
    /** Matches before each of these lines. @type {number[]} */
    this.before = [];
    this.total = 0;
    this.searched = 0;
    /** Where to go on in the line after those. */
    this.column = 0;
    this.slowStretches = 0;
    this.problem = pattern.problem;
  }

  get done() {
    return this.searched >= this.lineCount;
  }

  /** Searches on for a while. @param {number} budget_ms @param {() => number} [now] in milliseconds */
  step(budget_ms, now = () => performance.now()) {
    const end = now() + budget_ms;
    for (let time = end - budget_ms; time < end && !this.done; ) {
      const line = this.searched;
      // The text of a long line is made again for each stretch, which is little beside a pattern that needs stretches.
      const text = this.textOf(line);
      const started = now();
      const before = this.total;
      this.column = scan(this.pattern, text, this.column, () => (this.total += 1));
      time = now();
      if (this.total > before && this.lines[this.lines.length - 1] !== line) {
        this.lines.push(line);
        this.before.push(before);
      }
      if (this.column < 0) {
        this.searched += 1;
        this.column = 0;
      }
      if (time - started > SLOW_STRETCH_MS) this.slowStretches += 1;
      if (this.slowStretches >= MOST_SLOW_STRETCHES && !this.done) {
        this.problem = `too slow for these lines: stopped after ${grouped(line)} of them`;
        this.searched = this.lineCount;
      }
    }
  }

  /** The index among `lines` of the first one that is not before this line. @param {number} line */
  from(line) {
    return lowerBound(this.lines, line);
  }

  /** @param {number} ordinal of a match, from 0 @returns {{line: number, nth: number}} */
  at(ordinal) {
    const index = lowerBound(this.before, ordinal + 1) - 1;
    return { line: this.lines[index], nth: ordinal - this.before[index] };
  }
}

/**
 * Where in the overview the lines are, as shares of its height: a few hundred at most, however many lines there are.
 * @param {number[]} places sorted
 * @param {import("./rows.js").Rows} rows
 * @param {import("./wrap.js").Heights} heights
 * @param {number} height of the overview, in lines of text
 */
export function sharesOf(places, rows, heights, height) {
  const shares = [];
  const step = Math.max(1, height / SLOTS);
  for (let top = 0; top < heights.total; top += step) {
    const next = heights.firstFrom(top + step);
    const from = rows.placeAt(heights.firstFrom(top));
    const end = next < rows.count ? rows.placeAt(next) : rows.lineCount;
    const at = lowerBound(places, from);
    if (at < places.length && places[at] < end) shares.push(Math.floor(top) / height);
  }
  return shares;
}

/**
 * Runs cut at the ranges, those within a range with its number.
 * @param {import("./line.js").Run[]} runs @param {Range[]} ranges @param {number} current the number of the visited one, or -1
 */
export function markRuns(runs, ranges, current) {
  /** @type {import("./line.js").Run[]} */
  const marked = [];
  let column = 0;
  let next = 0;
  for (const run of runs) {
    for (let at = 0; at < run.text.length; ) {
      while (next < ranges.length && ranges[next][1] <= column) next += 1;
      const range = ranges[next];
      const isInside = range !== undefined && column >= range[0];
      const stop = range ? (isInside ? range[1] : range[0]) : Infinity;
      const part = cutRun(run, at, at + stop - column);
      marked.push(isInside ? { ...part, match: next, current: next === current } : part);
      at += part.text.length;
      column += part.text.length;
    }
  }
  return marked;
}
