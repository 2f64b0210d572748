/**
 * From lines of a listing to rows on screen: order, folds, and the arithmetic of windows in both directions. A line is
 * counted as the compiler printed it; its place is where it stands among the lines as they are shown. Pure.
 */
import { clamp } from "./numbers.js";
import { lowerBound } from "./sorted.js";

/** @typedef {{line: number, head: number, place: number, lastPlace: number, kind: string}} Fold its button is on `line`, what it folds begins with `head` */

// Browsers stop growing elements at some 17 to 33 million pixels; beyond this height scrolling is scaled.
export const MAX_SCROLL_HEIGHT = 8_000_000;
// Samples it matches: "name", "definition", "symbol".
const NAME_KINDS = /^(name|definition|symbol)$/;

/**
 * Closed folds of one kind with only blank lines between them become one: four location tables are one row, not eight.
 * @param {string[]} lines
 * @param {(number | string | boolean)[][]} folds `[line, last line, kind, closed]`
 */
export function mergeClosedFolds(lines, folds) {
  /** @type {(number | string | boolean)[][]} */
  const merged = [];
  /** @type {(number | string | boolean)[] | null} the last closed fold */
  let open = null;
  for (const fold of [...folds].sort((a, b) => Number(a[0]) - Number(b[0]))) {
    const [line, lastLine, kind, closed] = fold;
    if (closed && open && open[2] === kind && Number(line) > Number(open[1])) {
      const between = lines.slice(Number(open[1]) + 1, Number(line));
      if (between.every((text) => !text.trim())) {
        open[1] = lastLine;
        continue;
      }
    }
    const copy = [...fold];
    if (closed) open = copy;
    merged.push(copy);
  }
  return merged;
}

/** Which lines are rows, in which order, given the folds that are closed. */
export class Rows {
  /**
   * @param {number} lineCount
   * @param {(number | string | boolean)[][]} folds `[line, last line, kind, closed]`
   * @param {import("./order.js").Order | null} [order] null: as printed
   */
  constructor(lineCount, folds, order = null) {
    this.lineCount = lineCount;
    this.order = order;
    /** @type {Map<number, Fold>} by the line of its button */
    this.folds = new Map();
    /** @type {Set<number>} */
    this.closed = new Set();
    for (const [first, last, kind, closed] of folds) {
      const head = Number(first);
      // What stands at its call is folded into the line of the call.
      const body = order?.bodies.get(head);
      const line = body ? body.caller : head;
      const place = this.placeOf(line);
      const lastPlace = this.placeOf(body ? body.end : Math.min(Number(last), lineCount - 1));
      const known = this.folds.get(line);
      if (lastPlace <= place || (known && known.lastPlace >= lastPlace)) continue;
      this.folds.set(line, { line, head, place, lastPlace, kind: String(kind) });
      if (closed) this.closed.add(line);
    }
    /** @type {Int32Array | null} the place of each row; null while every line is one */
    this.shown = null;
    /** @type {Int32Array | null} the only places that are rows, whatever is folded */
    this.kept = null;
    /** Another one whenever other lines are rows. */
    this.stamp = {};
    this.#rebuild();
  }

  get count() {
    return this.shown ? this.shown.length : this.lineCount;
  }

  /** @param {number} line */
  placeOf(line) {
    return this.order ? this.order.places[line] : line;
  }

  /** @param {number} place */
  lineOf(place) {
    return this.order ? this.order.lines[place] : place;
  }

  /** How many calls a line is shown inside of. @param {number} line */
  depthOf(line) {
    return this.order ? this.order.depths[line] : 0;
  }

  /** @param {number} row */
  placeAt(row) {
    return this.shown ? this.shown[row] : row;
  }

  /** @param {number} row */
  lineAt(row) {
    return this.lineOf(this.placeAt(row));
  }

  /** The row of a line, or of the closed fold that holds it. @param {number} line */
  rowOf(line) {
    return this.rowAt(this.placeOf(line));
  }

  /** The row of a place, or of the closed fold that holds it. @param {number} place */
  rowAt(place) {
    return this.shown ? Math.max(0, lowerBound(this.shown, place + 1) - 1) : clamp(place, this.lineCount - 1);
  }

  /** @param {number} line @returns {Fold | null} the closed fold behind this line */
  closedFold(line) {
    return !this.kept && this.closed.has(line) ? (this.folds.get(line) ?? null) : null;
  }

  /** @param {number} line @returns {boolean} whether there was a fold to toggle */
  toggle(line) {
    if (this.kept || !this.folds.has(line)) return false;
    if (!this.closed.delete(line)) this.closed.add(line);
    this.#rebuild();
    return true;
  }

  /** Closes the folds for which this holds, and opens the others. @param {(fold: Fold) => boolean} isClosed */
  closeWhere(isClosed) {
    this.closed = new Set([...this.folds.values()].filter(isClosed).map((fold) => fold.line));
    this.#rebuild();
  }

  /** Makes the lines at these places the only rows; null makes rows of all again. @param {number[] | null} places in order */
  keep(places) {
    this.kept = places && Int32Array.from(places);
    this.#rebuild();
  }

  /** Opens every closed fold that hides the line. @param {number} line @returns {boolean} whether anything changed */
  reveal(line) {
    if (this.kept && this.lineAt(this.rowOf(line)) === line) return false;
    const place = this.placeOf(line);
    let changed = this.kept !== null;
    this.kept = null;
    for (const first of [...this.closed]) {
      const fold = this.folds.get(first);
      if (fold && fold.place < place && place <= fold.lastPlace) changed = this.closed.delete(first) || changed;
    }
    if (changed) this.#rebuild();
    return changed;
  }

  /** Opens every fold: the exact text is all of it. */
  openAll() {
    this.closed.clear();
    this.#rebuild();
  }

  /** Takes over which folds are open from the rows of an earlier state of the same listing. @param {Rows} earlier */
  adopt(earlier) {
    const wasClosed = new Map([...earlier.folds.values()].map(({ head, line }) => [head, earlier.closed.has(line)]));
    for (const { head, line } of this.folds.values()) {
      if (wasClosed.get(head)) this.closed.add(line);
      else if (wasClosed.has(head)) this.closed.delete(line);
    }
    this.#rebuild();
  }

  #rebuild() {
    this.stamp = {};
    if (this.kept) {
      this.shown = this.kept;
      return;
    }
    if (!this.closed.size) {
      this.shown = null;
      return;
    }
    const shown = new Int32Array(this.lineCount);
    let count = 0;
    let place = 0;
    const folds = [...this.closed].flatMap((line) => this.folds.get(line) ?? []);
    // From one closed fold to the next, in one sweep: 385,000 lines are folded anew within a frame.
    for (const fold of folds.sort((a, b) => a.place - b.place)) {
      if (fold.place < place) continue;
      while (place <= fold.place) shown[count++] = place++;
      place = fold.lastPlace + 1;
    }
    while (place < this.lineCount) shown[count++] = place++;
    this.shown = shown.slice(0, count);
  }
}

/**
 * Where the text is when the scroll bar is somewhere, also for texts too high for any element.
 * @param {number} contentHeight @param {number} viewHeight @param {number} scrollTop
 * @param {number} [maxHeight]
 */
export function contentTop(contentHeight, viewHeight, scrollTop, maxHeight = MAX_SCROLL_HEIGHT) {
  const reach = contentHeight - viewHeight;
  if (reach <= 0) return 0;
  if (contentHeight <= maxHeight) return Math.min(scrollTop, reach);
  return Math.min(scrollTop * (reach / (maxHeight - viewHeight)), reach);
}

/**
 * The inverse of `contentTop`.
 * @param {number} contentHeight @param {number} viewHeight @param {number} top
 * @param {number} [maxHeight]
 */
export function scrollTopFor(contentHeight, viewHeight, top, maxHeight = MAX_SCROLL_HEIGHT) {
  const reach = contentHeight - viewHeight;
  if (reach <= 0) return 0;
  const clamped = clamp(top, reach);
  return contentHeight <= maxHeight ? clamped : clamped * ((maxHeight - viewHeight) / reach);
}

/**
 * A part of a run; a part of a name knows the whole one.
 * @template {{kind: string, text: string, name?: string}} Run
 * @param {Run} run @param {number} from @param {number} to
 * @returns {Run}
 */
export function cutRun(run, from, to) {
  const part = { ...run, text: run.text.slice(from, to) };
  if (part.text.length < run.text.length && NAME_KINDS.test(run.kind)) part.name ??= run.text;
  return part;
}

/**
 * The part of a row's runs between two columns.
 * @template {{kind: string, text: string, name?: string}} Run
 * @param {Run[]} runs @param {number} from @param {number} to
 * @returns {Run[]}
 */
export function sliceRuns(runs, from, to) {
  const slice = [];
  let column = 0;
  for (const run of runs) {
    const end = column + run.text.length;
    if (end > from && column < to) slice.push(cutRun(run, Math.max(0, from - column), to - column));
    column = end;
    if (column >= to) break;
  }
  return slice;
}
