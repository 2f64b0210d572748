/** Which folds of a listing are closed by "fold all", by level, and by "all but what is linked". Pure. */
import { lowerBound } from "./search.js";

/** @typedef {import("./rows.js").Fold} Fold */

/** How many folds are around each, by its first line. @param {Iterable<Fold>} folds @returns {Map<number, number>} */
export function depths(folds) {
  /** @type {Map<number, number>} */
  const found = new Map();
  /** @type {number[]} the last lines of the folds around */
  const around = [];
  for (const { line, lastLine } of [...folds].sort((a, b) => a.line - b.line)) {
    while (around.length && around[around.length - 1] < line) around.pop();
    found.set(line, around.length);
    around.push(lastLine);
  }
  return found;
}

/**
 * Closed from a depth on: 0 closes all, 1 leaves the outermost open.
 * @param {Iterable<Fold>} folds @param {number} level @returns {(fold: Fold) => boolean}
 */
export function closedFrom(folds, level) {
  const found = depths(folds);
  return ({ line }) => (found.get(line) ?? 0) >= level;
}

/** Closed where none of the lines would be hidden. @param {Iterable<number>} lines @returns {(fold: Fold) => boolean} */
export function closedWithout(lines) {
  const sorted = Float64Array.from(lines).sort();
  return ({ line, lastLine }) => {
    const at = lowerBound(sorted, line + 1);
    return !(at < sorted.length && sorted[at] <= lastLine);
  };
}
