/** From lines of a listing to rows on screen: folds, and the arithmetic of windows in both directions. Pure. */

/** @typedef {{line: number, lastLine: number, kind: string}} Fold */

// Browsers stop growing elements at some 17 to 33 million pixels; beyond this height scrolling is scaled.
export const MAX_SCROLL_HEIGHT = 8_000_000;

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

/** Which lines are rows, given the folds that are closed. */
export class Rows {
  /**
   * @param {number} lineCount
   * @param {(number | string | boolean)[][]} folds `[line, last line, kind, closed]`
   */
  constructor(lineCount, folds) {
    this.lineCount = lineCount;
    /** @type {Map<number, Fold>} */
    this.folds = new Map();
    /** @type {Set<number>} */
    this.closed = new Set();
    for (const [first, last, kind, closed] of folds) {
      const line = Number(first);
      const lastLine = Math.min(Number(last), lineCount - 1);
      const known = this.folds.get(line);
      if (lastLine <= line || (known && known.lastLine >= lastLine)) continue;
      this.folds.set(line, { line, lastLine, kind: String(kind) });
      if (closed) this.closed.add(line);
    }
    /** @type {Int32Array | null} the line of each row; null while every line is one */
    this.lines = null;
    /** @type {Int32Array | null} the only lines that are rows, whatever is folded */
    this.kept = null;
    this.#rebuild();
  }

  get count() {
    return this.lines ? this.lines.length : this.lineCount;
  }

  /** @param {number} row */
  lineAt(row) {
    return this.lines ? this.lines[row] : row;
  }

  /** The row of a line, or of the closed fold that holds it. @param {number} line */
  rowOf(line) {
    if (!this.lines) return Math.max(0, Math.min(line, this.lineCount - 1));
    let low = 0;
    let high = this.lines.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.lines[middle] <= line) low = middle;
      else high = middle - 1;
    }
    return low;
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

  /** Makes these lines the only rows; null makes rows of all again. @param {number[] | null} lines in order */
  keep(lines) {
    this.kept = lines && Int32Array.from(lines);
    this.#rebuild();
  }

  /** Opens every closed fold that hides the line. @param {number} line @returns {boolean} whether anything changed */
  reveal(line) {
    if (this.kept && this.lineAt(this.rowOf(line)) === line) return false;
    let changed = this.kept !== null;
    this.kept = null;
    for (const first of [...this.closed]) {
      const fold = this.folds.get(first);
      if (fold && fold.line < line && line <= fold.lastLine) changed = this.closed.delete(first) || changed;
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
    for (const line of this.folds.keys()) {
      if (!earlier.folds.has(line)) continue;
      if (earlier.closed.has(line)) this.closed.add(line);
      else this.closed.delete(line);
    }
    this.#rebuild();
  }

  #rebuild() {
    if (this.kept) {
      this.lines = this.kept;
      return;
    }
    if (!this.closed.size) {
      this.lines = null;
      return;
    }
    const lines = new Int32Array(this.lineCount);
    let count = 0;
    let line = 0;
    // From one closed fold to the next, in one sweep: 385,000 lines are folded anew within a frame.
    for (const first of [...this.closed].sort((a, b) => a - b)) {
      const fold = this.folds.get(first);
      if (!fold || first < line) continue;
      while (line <= first) lines[count++] = line++;
      line = fold.lastLine + 1;
    }
    while (line < this.lineCount) lines[count++] = line++;
    this.lines = lines.slice(0, count);
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
  const clamped = Math.max(0, Math.min(top, reach));
  return contentHeight <= maxHeight ? clamped : clamped * ((maxHeight - viewHeight) / reach);
}

/**
 * The part of a row's runs between two columns.
 * @template {{text: string}} Run
 * @param {Run[]} runs @param {number} from @param {number} to
 * @returns {Run[]}
 */
export function sliceRuns(runs, from, to) {
  const slice = [];
  let column = 0;
  for (const run of runs) {
    const end = column + run.text.length;
    if (end > from && column < to) slice.push({ ...run, text: run.text.slice(Math.max(0, from - column), to - column) });
    column = end;
    if (column >= to) break;
  }
  return slice;
}
