import assert from "node:assert/strict";
import test from "node:test";
import { EXACT, NONE, RELATED, degree, linkTable, linkedLines as typedLines, match, opLine, originOf, stackFrames } from "../src/links.js";

/** @param {Partial<import("../src/schema").ListingIndex>} columns @returns {import("../src/schema").ListingIndex} */
function index(columns) {
  return {
    key: "", dialect: "hlo", grammar: null, numbers: [], line_stack: [], line_path: [], line_place: [], spans: [], folds: [], start: 0, files: [],
    functions: [], frames: [], stacks: [], paths: [], tokens: [], short_names: {}, coverage: [0, 0], op_line: [], op_operands: [], operand_source: [], calls: [], ...columns,
  };
}

/** @type {(...given: Parameters<typeof typedLines>) => {exact: number[], related: number[]}} */
function linkedLines(...given) {
  const { exact, related } = typedLines(...given);
  return { exact: [...exact], related: [...related] };
}

// model.py: f at 10 calls g at 20; the files have other numbers in the other listing.
const python = linkTable(
  index({ dialect: "python", files: ["model.py"], numbers: [0, 10, 11, 20], line_place: [-1, 0, 0, 0], line_stack: [-1, -1, -1, -1] }),
);
const stages = linkTable(
  index({
    files: ["other.py", "model.py"],
    functions: ["f", "g"],
    frames: [[1, 0, 10, 5, 10, 9], [1, 1, 20, 7, 20, 8], [1, 0, 10, 12, 10, 14], [0, 0, 10, 5, 0, 0]],
    stacks: [[0, -1], [1, 0], [2, -1], [3, -1]],
    line_stack: [0, 1, 2, -2, -1, 3, 0],
    spans: [[0, 4], [2, 4]],
  }),
);

test("a stack is read innermost first", () => {
  assert.deepEqual(stackFrames(stages.index, 1).map((frame) => [frame.function, frame.line]), [["g", 20], ["f", 10]]);
});

test("a ring of callers ends", () => {
  assert.equal(stackFrames(index({ files: ["a"], functions: ["f"], frames: [[0, 0, 1, 1, 1, 1]], stacks: [[0, 1], [0, 0]] }), 0).length, 2);
});

test("a line of Python links exactly to ops whose innermost frame is on it, and related to those that pass through it", () => {
  const found = match(stages, originOf(python, 1));
  assert.deepEqual([0, 1, 2, 3, 4, 5, 6].map((line) => degree(stages, found, line)), [EXACT, RELATED, EXACT, NONE, NONE, NONE, EXACT]);
  assert.deepEqual(linkedLines(stages, found), { exact: [0, 2, 6], related: [1] });
});

test("an op links exactly to its innermost line of Python and related to its callers", () => {
  assert.deepEqual(linkedLines(python, match(python, originOf(stages, 1))), { exact: [3], related: [1] });
});

test("two ops of one line at different columns are related, at the same position exact", () => {
  assert.deepEqual(linkedLines(stages, match(stages, originOf(stages, 0))), { exact: [0, 6], related: [1, 2] });
});

test("the same line of another file is no link", () => {
  assert.deepEqual(linkedLines(python, match(python, originOf(stages, 5))), { exact: [], related: [] });
});

test("an op made by the compiler says so and links to nothing", () => {
  const origin = originOf(stages, 3);
  assert.equal(origin.kind, "compiler");
  assert.deepEqual(linkedLines(python, match(python, origin)), { exact: [], related: [] });
});

test("a line inside an op belongs to the innermost op that spans it", () => {
  assert.equal(opLine(stages.index, 4), 2);
  assert.equal(originOf(stages, 4).frames[0].column, 12);
});

test("a heading of the Python side has no origin", () => {
  assert.equal(originOf(python, 0).kind, "none");
});

test("an expression is told from another that starts at the same place, where both ends are known", () => {
  // Two frames of one line that start together: jnp.sin(x), and the sum that it begins.
  const both = { files: ["model.py"], functions: ["f"], frames: [[0, 0, 5, 12, 5, 22], [0, 0, 5, 12, 5, 35]] };
  const jaxpr = linkTable(index({ ...both, stacks: [[0, -1], [1, -1]], line_stack: [0, 1] }));
  const hlo = linkTable(index({ ...both, frames: [[0, 0, 5, 12, 5, 99]], stacks: [[0, -1]], line_stack: [0, 0] }));
  assert.deepEqual(linkedLines(jaxpr, match(jaxpr, originOf(jaxpr, 0))), { exact: [0], related: [1] });
  assert.deepEqual(linkedLines(hlo, match(hlo, originOf(jaxpr, 0))), { exact: [0, 1], related: [] });
});

test("few or many, the lines of several stacks come in order, and are those whose degree says so", () => {
  for (const lineCount of [9, 20_000]) {
    // Every third line from one stack or the other of line 5, the others from line 6.
    const stacks = Array.from({ length: lineCount }, (_, line) => (line % 3 ? 2 : line % 2));
    const frames = [[0, 0, 5, 1, 5, 9], [0, 0, 5, 4, 5, 9], [0, 0, 6, 1, 6, 9]];
    const table = linkTable(index({ files: ["model.py"], functions: ["f"], frames, stacks: [[0, -1], [1, -1], [2, -1]], line_stack: stacks }));
    for (const origin of [{ kind: /** @type {const} */ ("python"), frames: [{ file: "model.py", function: "", line: 5, column: 0, extent: "" }] }, originOf(table, 0)]) {
      const found = match(table, origin);
      const lines = stacks.map((_, line) => line);
      const of = (/** @type {number} */ wanted) => lines.filter((line) => degree(table, found, line) === wanted);
      assert.deepEqual(linkedLines(table, found), { exact: of(EXACT), related: of(RELATED) });
      assert.equal(match(table, origin), found, "asked again, it is looked up");
    }
  }
});
