/** Which folds of a listing are closed by "fold all", by level, and by "all but what is linked". Pure. */
import { lowerBound } from "./sorted.js";

/** @typedef {import("./rows.js").Fold} Fold */

/** How many folds are around each, by its first line. @param {Iterable<Fold>} folds @returns {Map<number, number>} */
export function depths(folds) {
  /** @type {Map<number, number>} */
  const found = new Map();
  /** @type {number[]} the last places of the folds around */
  const around = [];
  for (const { line, place, lastPlace } of [...folds].sort((a, b) => a.place - b.place)) {
    while (around.length && around[around.length - 1] < place) around.pop();
    found.set(line, around.length);
    around.push(lastPlace);
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

/** Closed where none of the places would be hidden. @param {Iterable<number>} places @returns {(fold: Fold) => boolean} */
export function closedWithout(places) {
  const sorted = Float64Array.from(places).sort();
  return ({ place, lastPlace }) => {
    const at = lowerBound(sorted, place + 1);
    return !(at < sorted.length && sorted[at] <= lastPlace);
  };
}
