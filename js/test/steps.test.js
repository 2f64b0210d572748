import assert from "node:assert/strict";
import test from "node:test";
import { pathThrough } from "../src/charts.js";
import { groupsOf } from "../src/card.js";
import { aliveAt, stepsPath } from "../src/steps.js";
import { barShare, filterRows } from "../src/table.js";

/** Heights that a path of V and H reaches, and where. @param {string} path */
const corners = (path) => [...path.matchAll(/([VH])(-?\d+)/g)].map(([, way, to]) => [way, Number(to)]);

test("every instant has its step", () => {
  assert.equal(stepsPath([0, 50, 100, 25], 100), "V1000V1000H250V500V500H500V0V0H750V750V750H1000");
});

test("of many instants the least and the most stay, and the path stays short", () => {
  const bytes = Array.from({ length: 30_000 }, (_, at) => (at === 12_345 ? 1000 : at === 20_001 ? 1 : 500));
  const found = corners(stepsPath(bytes, 1000));
  assert.ok(found.length <= 3000);
  const heights = found.filter(([way]) => way === "V").map(([, to]) => to);
  assert.deepEqual([Math.min(...heights.map(Number)), Math.max(...heights.map(Number))], [0, 999]);
  const across = found.filter(([way]) => way === "H").map(([, to]) => Number(to));
  assert.deepEqual([across.at(-1), across.every((to, at) => !at || to >= across[at - 1])], [1000, true]);
});

test("what is alive at an instant is what the definition says, the largest first, with running sums", () => {
  const number = (/** @type {number} */ at) => (at * 2654435761) % 2 ** 32;
  const size = Array.from({ length: 500 }, (_, at) => 10_000 - at);
  const first = size.map((_, at) => number(at) % 900);
  const last = first.map((from, at) => Math.min(999, from + (number(at + 7) % 80)));
  const columns = /** @type {import("../src/schema").LiveColumns} */ (/** @type {unknown} */ ({ size, first, last }));
  for (const at of [0, 17, 500, 999]) {
    const { alive, totals } = aliveAt(columns, at);
    const expected = size.map((_, buffer) => buffer).filter((buffer) => first[buffer] <= at && at <= last[buffer]);
    assert.deepEqual(alive, expected);
    assert.deepEqual(totals, expected.map((_, row) => expected.slice(0, row + 1).reduce((sum, buffer) => sum + size[buffer], 0)));
  }
});

test("a path goes through its points, from below", () => {
  assert.equal(pathThrough([[0, 0], [0.5, 1], [1, 0.25]]), "M0 1000L500 0L1000 750");
});

test("bars are shares of a hundred per cent, or of the largest figure", () => {
  assert.deepEqual([barShare("48.5 %", 50), barShare("512 B", 1024), barShare("—", 1024), barShare("3", 0), barShare("120 %", 0)], [0.485, 0.5, 0, 1, 1]);
});

test("rows are filtered by any cell, in either case", () => {
  const rows = [["attention.py:12", "Dot"], ["layers.py:4", "exp"]].map((cells) => ({ cells, tone: /** @type {const} */ (""), marks: [] }));
  const found = (/** @type {string} */ words) => filterRows(rows, words).map(({ cells }) => cells[1]);
  assert.deepEqual([found("dot"), found(" LAYERS "), found(""), found("x.")], [["Dot"], ["exp"], ["Dot", "exp"], []]);
});

test("tables of one group stand where the first of them does", () => {
  const tables = /** @type {import("../src/schema").Table[]} */ (/** @type {unknown} */ ([{ key: "a", group: "g" }, { key: "b" }, { key: "c", group: "g" }, { key: "d" }]));
  assert.deepEqual(groupsOf(tables).map((group) => group.map(({ key }) => key).join("")), ["ac", "b", "d"]);
});
