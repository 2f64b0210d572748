import assert from "node:assert/strict";
import test from "node:test";
import { placeOf } from "../src/copy.js";
import { findLine } from "../src/goto.js";
import { linkTable } from "../src/links.js";

/** @param {Partial<import("../src/schema").ListingIndex>} columns @param {number} count */
function listing(columns, count) {
  const empty = Array.from({ length: count }, () => -1);
  /** @type {import("../src/schema").ListingIndex} */
  const index = {
    ...{ key: "x", dialect: "hlo", grammar: null, numbers: [], line_stack: empty, line_path: empty, line_place: [], spans: [], folds: [], start: 0 },
    ...{ op_line: [], op_operands: [], operand_source: [], calls: [] },
    ...{ files: ["a/attention.py", "layers.py"], functions: ["f"], frames: [], stacks: [], paths: [], tokens: [], short_names: {}, coverage: [0, 0] },
    ...columns,
  };
  return { key: "x", index, lines: empty.map(String), table: linkTable(index) };
}
const python = listing({ dialect: "python", numbers: [0, 11, 12, 0, 3, 12], line_place: [-1, 0, 0, -1, 1, 1] }, 6);
const hlo = listing({ line_stack: [-1, 0, 0], frames: [[1, 0, 4, 9, 4, 20]], stacks: [[0, -1]] }, 1500);

test("a number is that of the gutter", () => {
  assert.deepEqual(findLine("3", hlo, -1), { line: 2 });
  assert.deepEqual(findLine(" 1,204 ", hlo, -1), { line: 1203 });
  assert.deepEqual(findLine("11", python, -1), { line: 1 });
});

test("of several files with the number, that of the cursor comes first", () => {
  assert.deepEqual(findLine("12", python, -1), { line: 2 });
  assert.deepEqual(findLine("12", python, 4), { line: 5 });
});

test("a place in Python is found in Python, and where something comes from it", () => {
  assert.deepEqual(findLine("layers.py:12", python, -1), { line: 5 });
  assert.deepEqual(findLine("attention.py:12", python, -1), { line: 2 });
  assert.deepEqual(findLine("layers.py:4:9", hlo, -1), { line: 1 });
});

test("what is not there is said", () => {
  for (const [text, where, words] of /** @type {const} */ ([
    ["0", hlo, "the lines are 1 to 1,500"],
    ["1501", hlo, "the lines are 1 to 1,500"],
    ["0", python, "no line 0 is shown"],
    ["tention.py:12", python, "tention.py:12 is not shown"],
    ["layers.py:5", hlo, "nothing here comes from layers.py:5"],
    ["<b>", hlo, "“<b>” is not a line number"],
    ["", hlo, "“” is not a line number"],
  ])) {
    assert.deepEqual(findLine(text, where, -1), { problem: words });
  }
});

test("a place to copy is file and line, or nothing", () => {
  assert.equal(placeOf(python, 2), "a/attention.py:12");
  assert.equal(placeOf(hlo, 1), "layers.py:4");
  assert.equal(placeOf(hlo, 0), "");
});
