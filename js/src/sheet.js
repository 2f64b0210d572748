/** The lines of a listing as they are shown: in which order, what is put away, where long ones are broken, and how high that makes each. */
import { awayKinds, highlightLine, shownText } from "./highlight.js";
import { composeLine, withNote } from "./line.js";
import { saidOf } from "./marks.js";
import { shortName } from "./names.js";
import { orderByCalls } from "./order.js";
import { foldWords } from "./row.js";
import { Rows, mergeClosedFolds } from "./rows.js";
import { Heights, Wrap, railOf } from "./wrap.js";

const KEPT_LINES = 1500;
// Of more lines than this, so many are measured and the others judged by them.
const MEASURED_LINES = 400;

/** @typedef {import("./listing.js").LoadedListing} LoadedListing */
/**
 * How the reader wants the lines.
 * @typedef {object} Options
 * @property {boolean} exact the compiler's own text in its own order
 * @property {import("./preferences.js").Preferences["locations"]} locations
 * @property {string[]} turned the kinds of hidden parts that are shown, or put away, other than by default
 * @property {boolean} shortNames instead of the compiler's
 * @property {boolean} wrap long lines are broken at the width of the pane
 * @property {boolean} inline computations stand at their call
 * @property {import("./schema").Heat | null} heat what stands beside lines of their share of the work
 * @property {import("./schema").Mark[]} said of its lines
 * @property {string} mainFile whose name need not be repeated
 */

/** The order of computations at their call, once it has been asked for. @type {WeakMap<LoadedListing, import("./order.js").Order | null>} */
const orders = new WeakMap();

/** @param {LoadedListing} listing */
export function orderOf(listing) {
  let order = orders.get(listing);
  if (order === undefined) orders.set(listing, (order = orderByCalls(listing.index, listing.lines)));
  return order;
}

/** Whether computations can stand at their call; false while that is not known yet. @param {LoadedListing} listing */
export const hasBodies = (listing) => Boolean(orders.get(listing));

export class Sheet {
  /** @param {LoadedListing | null} listing @param {Options} options may change, and then `forget` has to be called */
  constructor(listing, options) {
    this.loadedListing = listing;
    this.lines = listing?.lines ?? [];
    this.options = options;
    /** @type {Set<number>} lines shown whole although the rest is not */
    this.whole = new Set();
    this.longest = 0;
    /** @type {Wrap | null} */
    this.wrap = null;
    /** @type {Heights | null} */
    this.laid = null;
    this.rows = this.freshRows();
    /** Which choice the lines were composed for. */
    this.composedFor = "";
    this.forget();
  }

  /** All lines in the order that is wanted now. */
  freshRows() {
    const { exact, inline } = this.options;
    const folds = mergeClosedFolds(this.lines, this.loadedListing?.index.folds ?? []);
    const rows = new Rows(this.lines.length, folds, this.loadedListing && inline && !exact ? orderOf(this.loadedListing) : null);
    if (exact) rows.openAll();
    return rows;
  }

  /** Composes and measures everything anew, if other parts are to be shown than before. */
  forget() {
    const { exact, turned, shortNames, said } = this.options;
    const choice = JSON.stringify([exact, turned, shortNames, said]);
    if (choice === this.composedFor) return;
    this.composedFor = choice;
    /** @type {import("./highlight.js").Manner} */
    this.manner = { away: awayKinds(this.loadedListing?.index.grammar ?? null, turned), shortNames };
    /** @type {Map<number, import("./line.js").Line>} */
    this.composed = new Map();
    /** @type {Int32Array | null} */
    this.measured = null;
    /** What is said, by line. @type {Map<number, import("./schema").Mark>} */
    this.said = saidOf(exact ? [] : said);
    this.longest = exact ? this.lines.reduce((most, line) => Math.max(most, line.length), 0) : 0;
  }

  /** Breaks lines at these columns, which may be none. @param {number} columns */
  breakAt(columns) {
    this.wrap = columns ? new Wrap(columns, this.#lengths) : null;
    this.laid = null;
  }

  /** Where the rows are, as far as is known. */
  get heights() {
    if (this.laid?.stamp !== this.rows.stamp) this.laid = new Heights(this.rows, this.wrap);
    return /** @type {Heights} */ (this.laid);
  }

  /** @param {number} line */
  #mannerOf(line) {
    return this.options.exact || this.whole.has(line) ? null : /** @type {import("./highlight.js").Manner} */ (this.manner);
  }

  /** A name as it is shown. @param {string} name as printed */
  nameShown(name) {
    const { exact, shortNames } = this.options;
    return this.loadedListing && shortNames && !exact ? shortName(this.loadedListing.index, name) : name;
  }

  /** @param {number} line */
  textOf(line) {
    const { index } = /** @type {LoadedListing} */ (this.loadedListing);
    return shownText(index, this.lines[line], this.#mannerOf(line));
  }

  /** @param {number} line @returns {import("./line.js").Line} */
  compose(line) {
    let composed = this.composed.get(line);
    if (!composed) {
      const { index } = /** @type {LoadedListing} */ (this.loadedListing);
      try {
        composed = highlightLine(index, this.lines[line], line, this.#mannerOf(line));
      } catch {
        // Without colours, and with nothing put away, a line is still readable.
        composed = composeLine(this.lines[line], [], []);
      }
      const { note, tone } = this.said.get(line) ?? {};
      if (note) composed = withNote(composed, { kind: `note tone-${tone}`, text: `  ← ${note}` });
      if (this.composed.size >= KEPT_LINES) this.composed.clear();
      this.composed.set(line, composed);
      if (this.measured) this.measured[line] = composed.length;
    }
    this.longest = Math.max(this.longest, composed.length + railOf(this.rows.depthOf(line)));
    return composed;
  }

  /** How long the lines are as shown; of many only some are measured, and the rest judged by those. */
  get #lengths() {
    if (this.measured) return this.measured;
    const { lines } = this;
    const lengths = (this.measured = new Int32Array(lines.length));
    for (let line = 0; line < lines.length; line += 1) lengths[line] = lines[line].length;
    if (this.options.exact) return lengths;
    const step = Math.ceil(lines.length / MEASURED_LINES);
    let shown = 0;
    let all = 1;
    for (let line = 0; line < lines.length; line += step) {
      all += lengths[line];
      lengths[line] = this.textOf(line).length;
      shown += lengths[line];
    }
    for (let line = 0; step > 1 && line < lines.length; line += 1) if (line % step) lengths[line] *= shown / all;
    return lengths;
  }

  /** @param {number} line @returns {import("./wrap.js").Broken | undefined} where it is broken, if lines are */
  breakLine(line) {
    const closed = this.rows.closedFold(line);
    return this.wrap?.breakLine(this.compose(line), this.rows.depthOf(line), closed ? foldWords(closed).length + 1 : 0);
  }

  /** Corrects the heights of rows that were estimated. @param {number} from @param {number} to @returns {boolean} whether any was wrong */
  measure(from, to) {
    const { rows, wrap } = this;
    if (!wrap) return false;
    const heights = [];
    for (let row = (from = Math.max(0, from)); row < Math.min(rows.count, to); row += 1) {
      const line = rows.lineAt(row);
      heights.push((wrap.heights[line] = this.breakLine(line)?.starts.length ?? 1));
    }
    return this.heights.correct(from, heights);
  }
}
