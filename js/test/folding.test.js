import assert from "node:assert/strict";
import test from "node:test";
import { closedFrom, closedWithout, depths } from "../src/folding.js";

/** @param {number} line @param {number} lastPlace @param {string} kind */
const fold = (line, lastPlace, kind) => ({ line, head: line, place: line, lastPlace, kind });
const FOLDS = [
  fold(0, 9, "function"),
  fold(2, 5, "region"),
  fold(3, 5, "region"),
  fold(7, 8, "region"),
  fold(10, 12, "function"),
];
/** @param {(fold: import("../src/rows.js").Fold) => boolean} isClosed */
const closed = (isClosed) => FOLDS.filter(isClosed).map(({ line }) => line);

test("depth counts the folds around, also where several end together", () => {
  assert.deepEqual([...depths([...FOLDS].reverse())], [[0, 0], [2, 1], [3, 2], [7, 1], [10, 0]]);
});

test("a level leaves that many folds around a line open", () => {
  assert.deepEqual(closed(closedFrom(FOLDS, 0)), [0, 2, 3, 7, 10]);
  assert.deepEqual(closed(closedFrom(FOLDS, 1)), [2, 3, 7]);
  assert.deepEqual(closed(closedFrom(FOLDS, 2)), [3]);
  assert.deepEqual(closed(closedFrom(FOLDS, Infinity)), []);
});

test("a fold stays open for a linked line inside, not for one on its own first line", () => {
  assert.deepEqual(closed(closedWithout([4, 10])), [7, 10]);
  assert.deepEqual(closed(closedWithout([])), [0, 2, 3, 7, 10]);
});
