import assert from "node:assert/strict";
import test from "node:test";
import { cellNumber, shownColumns, sortRows } from "../src/table.js";
import { caption, formatSeconds } from "../src/strip.js";

test("cells are numbers with their units", () => {
  /** @type {[string, number | null][]} */
  const cases = [
    ["12", 12], ["-1,204", -1204], ["−3", -3], ["16.8 M", 16.8e6], ["940 k", 940e3], ["34.6 MFLOP", 34.6e6], ["1.0 MiB", 2 ** 20],
    ["512 B", 512], ["48.5 %", 48.5], ["12 ms", 0.012], ["3 s", 3], ["3e-5", 3e-5], ["—", null], ["f32[8]", null], ["", null], ["12 … 30", null],
  ];
  for (const [cell, number] of cases) assert.equal(cellNumber(cell), number, cell);
});

test("rows sort by figure, not by spelling, and those without one come last", () => {
  const rows = ["940 k", "—", "16.9 M", "16.8 M"].map((cell) => ({ cells: [cell], tone: /** @type {const} */ (""), marks: [] }));
  assert.deepEqual(sortRows(rows, 0, true).map((row) => row.cells[0]), ["16.9 M", "16.8 M", "940 k", "—"]);
  assert.deepEqual(sortRows(rows, 0, false).map((row) => row.cells[0]), ["940 k", "16.8 M", "16.9 M", "—"]);
  assert.equal(rows[0].cells[0], "940 k");
});

test("names sort with their numbers in order", () => {
  const rows = ["m.py:12", "m.py:9"].map((cell) => ({ cells: [cell], tone: /** @type {const} */ (""), marks: [] }));
  assert.deepEqual(sortRows(rows, 0, false).map((row) => row.cells[0]), ["m.py:9", "m.py:12"]);
});

test("times are short", () => {
  assert.deepEqual([0.0041, 0.212, 6.04, 92.5, 125].map(formatSeconds), ["4.1 ms", "212 ms", "6.0 s", "92.5 s", "2 min 5 s"]);
});

test("a caption is never only a colour", () => {
  /** @type {import("../src/schema").Tab} */
  const tab = { key: "", title: "", kind: "listing", status: "failed", count: "", seconds: 1, reason: "", failure: null, figures: [], tables: [], notes: [], targets: [] };
  assert.deepEqual(caption(tab, null), ["failed", "1.0 s"]);
  assert.deepEqual(caption({ ...tab, status: "running" }, 2), ["running", "2.0 s"]);
  assert.deepEqual(caption({ ...tab, status: "not reached", count: "9" }, null), ["not reached"]);
  assert.deepEqual(caption({ ...tab, status: "done", count: "9 eqns" }, null), ["9 eqns", "1.0 s"]);
});

test("columns that no row fills are left out, and sentences are told from figures", () => {
  /** @type {(...cells: string[][]) => import("../src/schema").Table} */
  const table = (...rows) => ({
    key: "", title: "", source: "", summary: "", tone: "", notes: [], empty: "",
    columns: [["path", "left", true], ["size", "right", false], ["note", "left", false]].map(([key, align, code]) => (
      /** @type {import("../src/schema").Column} */ ({ key, label: key, align, code, help: "" })
    )),
    rows: rows.map((cells) => ({ cells, tone: "", marks: [] })),
  });
  const names = (/** @type {import("../src/schema").Table} */ of) => shownColumns(of).shown.map(({ key, number }) => `${key} ${number}`);
  const full = table(["x", "1 B", ""], ["y", "2 B", "dropped"]);
  assert.deepEqual(names(full), ["path 0", "size 1", "note 2"]);
  assert.equal(shownColumns(full).prose?.key, "note");
  const figures = table(["x", "1 B", ""]);
  assert.deepEqual(names(figures), ["path 0", "size 1"]);
  assert.deepEqual([shownColumns(figures).prose, shownColumns(figures).filler], [null, true]);
  assert.deepEqual(names(table(["x", "", "why"])), ["path 0", "note 2"]);
  assert.deepEqual(shownColumns(table(["x", "", ""])).prose, null);
});
