import assert from "node:assert/strict";
import test from "node:test";
import { MAX_SCROLL_HEIGHT, Rows, contentTop, mergeClosedFolds, scrollTopFor, sliceRuns } from "../src/rows.js";

/** @param {Rows} rows */
const lines = (rows) => Array.from({ length: rows.count }, (_, row) => rows.lineAt(row));

test("a closed fold keeps its first line and hides the rest", () => {
  const rows = new Rows(8, [[1, 3, "region", true], [5, 6, "region", false]]);
  assert.deepEqual(lines(rows), [0, 1, 4, 5, 6, 7]);
  rows.toggle(5);
  assert.deepEqual(lines(rows), [0, 1, 4, 5, 7]);
  rows.toggle(1);
  assert.deepEqual(lines(rows), [0, 1, 2, 3, 4, 5, 7]);
});

test("a hidden line is found at the row of its fold", () => {
  const rows = new Rows(8, [[1, 3, "region", true]]);
  assert.deepEqual([0, 1, 2, 3, 4, 7].map((line) => rows.rowOf(line)), [0, 1, 1, 1, 2, 5]);
});

test("a nested closed fold stays closed when the outer one opens", () => {
  const rows = new Rows(9, [[0, 8, "outer", true], [2, 4, "inner", true]]);
  assert.deepEqual(lines(rows), [0]);
  rows.toggle(0);
  assert.deepEqual(lines(rows), [0, 1, 2, 5, 6, 7, 8]);
});

test("revealing a line opens every fold around it, and only those", () => {
  const rows = new Rows(12, [[0, 8, "outer", true], [2, 4, "inner", true], [9, 11, "other", true]]);
  assert.equal(rows.reveal(3), true);
  assert.deepEqual(lines(rows), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  assert.equal(rows.reveal(3), false);
});

test("only the kept lines are rows, whatever is folded, until another line is wanted", () => {
  const rows = new Rows(8, [[1, 3, "region", true]]);
  rows.keep([0, 2, 6]);
  assert.deepEqual(lines(rows), [0, 2, 6]);
  assert.deepEqual([rows.rowOf(2), rows.rowOf(5), rows.closedFold(1), rows.toggle(1)], [1, 1, null, false]);
  assert.equal(rows.reveal(2), false);
  assert.equal(rows.reveal(5), true);
  assert.deepEqual(lines(rows), [0, 1, 4, 5, 6, 7]);
  rows.keep([3]);
  rows.keep(null);
  assert.deepEqual(lines(rows), [0, 1, 4, 5, 6, 7]);
});

test("folds are closed by what is asked of each", () => {
  const rows = new Rows(8, [[0, 7, "outer", true], [2, 4, "inner", false]]);
  rows.closeWhere(({ kind }) => kind === "inner");
  assert.deepEqual(lines(rows), [0, 1, 2, 5, 6, 7]);
});

test("toggling a line without a fold says so, and folds beyond the text are cut", () => {
  const rows = new Rows(3, [[1, 99, "region", true], [2, 2, "empty", true]]);
  assert.equal(rows.toggle(0), false);
  assert.deepEqual(lines(rows), [0, 1]);
  assert.equal(rows.folds.has(2), false);
});

test("a new state of the same listing keeps what was opened and closed", () => {
  const earlier = new Rows(6, [[0, 2, "a", true], [3, 5, "b", false]]);
  earlier.toggle(0);
  earlier.toggle(3);
  const rows = new Rows(7, [[0, 2, "a", true], [3, 5, "b", false]]);
  rows.adopt(earlier);
  assert.deepEqual(lines(rows), [0, 1, 2, 3, 6]);
});

test("scrolling is one to one while the text is lower than the limit", () => {
  assert.equal(contentTop(19_000, 400, 1234), 1234);
  assert.equal(scrollTopFor(19_000, 400, 1234), 1234);
  assert.equal(contentTop(100, 400, 0), 0);
});

test("scaled scrolling reaches the first and the last row, and its inverse fits", () => {
  const height = 19 * 5_000_000;
  assert.equal(contentTop(height, 400, 0), 0);
  assert.equal(contentTop(height, 400, MAX_SCROLL_HEIGHT - 400), height - 400);
  for (const top of [0, 12_345_678, height - 400]) {
    assert.ok(Math.abs(contentTop(height, 400, scrollTopFor(height, 400, top)) - top) < 1e-6);
  }
});

test("runs are cut at columns, keep their kinds, and know what name they are a part of", () => {
  const runs = [{ kind: "name", text: "01234" }, { kind: "b", text: "56789" }];
  assert.deepEqual(sliceRuns(runs, 3, 7), [{ kind: "name", text: "34", name: "01234" }, { kind: "b", text: "56" }]);
  assert.deepEqual(sliceRuns(sliceRuns(runs, 0, 4), 2, 9), [{ kind: "name", text: "23", name: "01234" }]);
  assert.deepEqual(sliceRuns([{ kind: "name", text: "short", name: "long" }], 1, 9), [{ kind: "name", text: "hort", name: "long" }]);
  assert.deepEqual(sliceRuns(runs, 0, 10), runs);
  assert.deepEqual(sliceRuns(runs, 10, 20), []);
});

test("closed folds of one kind with blank lines between them are one, others stay", () => {
  const text = ["a", "1", "", "b", "2", "x", "c", "3"];
  const folds = [[0, 1, "locations", true], [3, 4, "locations", true], [6, 7, "locations", true], [6, 7, "region", false]];
  assert.deepEqual(mergeClosedFolds(text, folds), [[0, 4, "locations", true], [6, 7, "locations", true], [6, 7, "region", false]]);
  assert.deepEqual(folds[0], [0, 1, "locations", true]);
});
