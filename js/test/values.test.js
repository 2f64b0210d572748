/**
 * Names, definitions and counts on small texts whose answers can be read off them. `tests/test_values.py` holds the same
 * code to the compilers' own listings.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { countsOf } from "../src/counts.js";
import { linkTable } from "../src/links.js";
import { createTokenizer } from "../src/tokenize.js";
import { typeOf } from "../src/types.js";
import { Values, bareName } from "../src/values.js";

const { parts, dialects } = JSON.parse(readFileSync(new URL("../../jaxscope/lexers/grammar.json", import.meta.url), "utf8"));

/**
 * @param {string} dialect @param {string} text
 * @param {[line: number, operands: number[] | null][]} entries operands as entries back, null for a block
 * @param {Partial<import("../src/schema").ListingIndex>} columns
 */
function read(dialect, text, entries, columns = {}) {
  const lines = text.split("\n");
  const index = {
    key: dialect, dialect, grammar: { parts, ...dialects[dialect] }, numbers: [], line_stack: lines.map(() => -1), line_path: lines.map(() => -1), line_place: [], spans: [], folds: [], start: 0,
    files: ["f.py"], functions: ["f"], frames: [], stacks: [], paths: [], tokens: [], short_names: {}, coverage: [0, 0], calls: [],
    op_line: entries.map(([line], at) => line - (at ? entries[at - 1][0] : 0)),
    op_operands: entries.map(([, operands]) => operands?.length ?? -1),
    operand_source: entries.flatMap(([, operands]) => operands ?? []),
    ...columns,
  };
  return { index, values: new Values({ index, lines }, createTokenizer(index.grammar).tokenize) };
}

const LOOP = `\
func.func public @main(%arg0: tensor<f32>) -> tensor<f32> {
  %0:2 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %arg0) : tensor<f32>, tensor<f32>
  cond {
    %1 = stablehlo.compare LT, %iterArg, %iterArg_0 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.add %iterArg, %arg0 : tensor<f32>
    stablehlo.return %1, %iterArg_0 : tensor<f32>, tensor<f32>
  }
  return %0#1 : tensor<f32>
}`;
const loop = read(
  "stablehlo",
  LOOP,
  [[0, null], [1, [1, 1]], [2, null], [3, [1, 1]], [4, [1]], [5, null], [6, [1, 6]], [7, [1, 2]], [9, [7]]],
  { spans: [[1, 8]] },
).values;

test("a name is bare of its sign and of the number of a result", () => {
  assert.deepEqual(["%5#1", "%add.0", "bf"].map(bareName), ["5", "add.0", "bf"]);
});

test("names of sibling regions are other values, arguments printed once for both are one", () => {
  const [first, second] = [4, 7].map((line) => /** @type {import("../src/values.js").Value} */ (loop.at(line, "%1")));
  assert.deepEqual([loop.definitionLine(first), loop.definitionLine(second)], [3, 6]);
  assert.deepEqual([loop.uses(first), loop.uses(second)], [[4], [7]]);
  for (const [line, name] of /** @type {[number, string][]} */ ([[1, "%iterArg"], [3, "%iterArg"], [6, "%iterArg"]])) {
    const value = /** @type {import("../src/values.js").Value} */ (loop.at(line, name));
    assert.equal(loop.definitionLine(value), 1);
    assert.deepEqual(loop.uses(value), [3, 6]);
  }
});

test("one name for several results has all their types, and its uses", () => {
  const value = /** @type {import("../src/values.js").Value} */ (loop.at(9, "%0#1"));
  assert.deepEqual([loop.definitionLine(value), loop.uses(value), typeOf(loop, value)], [1, [9], "tensor<f32>, tensor<f32>"]);
  assert.deepEqual(loop.ofLine(1), value);
});

test("arguments have a type and no row of their own, other words are no values", () => {
  const argument = /** @type {import("../src/values.js").Value} */ (loop.at(6, "%arg0"));
  assert.deepEqual([loop.definitionLine(argument), typeOf(loop, argument), loop.uses(argument)], [0, "tensor<f32>", [1, 6]]);
  assert.equal(loop.ofLine(0), null);
  assert.equal(loop.at(6, "%nothing"), null);
  assert.equal(loop.at(10, "%1"), null);
  assert.deepEqual(loop.operands(6, 9).map(({ name }) => name), ["iterArg", "arg0"]);
});

test("what a jaxpr gives back is its own, not that of a jaxpr inside it with the same names", () => {
  const { values } = read(
    "jaxpr",
    "{ lambda ; a:f32[2]. let\n    e:f32[2] = sin a\n    c:f32[2] = jit[\n      jaxpr={ lambda ; e:f32[2]. let\n          c:f32[2] = cos e\n        in (c,) }\n    ] e\n  in (e, c) }",
    [[0, null], [1, [1]], [2, [1]], [3, null], [4, [1]]],
    { spans: [[2, 6]] },
  );
  const lineOf = (/** @type {number} */ line, /** @type {string} */ name) => values.definitionLine(/** @type {any} */ (values.at(line, name)));
  assert.deepEqual([lineOf(7, "e"), lineOf(7, "c"), lineOf(5, "c"), lineOf(4, "e"), lineOf(6, "e")], [1, 2, 4, 3, 1]);
});

const HLO = `\
HloModule m
%fused (p: f32[4]) -> f32[4] {
  %p = f32[4]{0} parameter(0)
  %s = f32[4]{0} sine(%p)
  ROOT %c = f32[4]{0} cosine(%s)
}
%other (q: f32[4]) -> f32[4] {
  %q = f32[4]{0} parameter(0)
  ROOT %n = f32[4]{0} negate(%q)
}
ENTRY %main (x: f32[4]) -> (f32[4]) {
  %x = f32[4]{0} parameter(0)
  %f = f32[4]{0} fusion(%x), kind=kLoop, calls=%fused
  %g = f32[4]{0} fusion(%f), kind=kLoop, calls=%other
  %b = f32[4]{0} bitcast(%g)
  ROOT %t = (f32[4]{0}, /*index=1*/f32[4]{0}) tuple(%f, %b)
}`;

test("kernels are instructions of the program that run something, also by what they call", () => {
  const { index, values } = read(
    "hlo",
    HLO,
    [[2, []], [3, [1]], [4, [1]], [7, []], [8, [1]], [11, []], [12, [1]], [13, [1]], [14, [1]], [15, [3, 1]]],
    {
      frames: [[0, 0, 7, 1, 7, 9], [0, 0, 8, 1, 8, 9]], stacks: [[0, -1], [1, -1]], start: 10, calls: [12, 11, 13, 7],
      folds: [[1, 5, "computation", false], [6, 9, "computation", false], [10, 16, "computation", false]],
      // Line 7 made what is in the first fusion and the tuple, line 8 a negation and the second fusion that holds it.
      line_stack: HLO.split("\n").map((_, line) => (line === 3 || line === 4 || line === 15 ? 0 : line === 8 || line === 13 || line === 14 ? 1 : -1)),
    },
  );
  const listings = [{ values, table: linkTable(index) }];
  assert.equal(countsOf(listings, { file: "f.py", line: 7 }), "1 kernel");
  assert.equal(countsOf(listings, { file: "f.py", line: 8 }), "1 kernel");
  assert.equal(countsOf(listings, { file: "f.py", line: 9 }), "");
  assert.equal(countsOf([...listings, { values: loop, table: linkTable(loop.index) }], { file: "f.py", line: 7 }), "1 kernel → 0 ops");
  assert.deepEqual([values.called(12), values.called(12, "%fused"), values.called(13, "%fused"), values.called(11)], [1, 1, -1, -1]);
  const tuple = /** @type {import("../src/values.js").Value} */ (values.at(15, "%t"));
  assert.equal(typeOf(values, tuple), "(f32[4], f32[4])");
  assert.equal(values.definitionLine(/** @type {any} */ (values.at(1, "p"))), 2);
});
