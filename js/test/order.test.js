/** Computations at their call: on texts whose order can be read off, and as properties of random modules. */
import assert from "node:assert/strict";
import test from "node:test";
import { orderByCalls } from "../src/order.js";
import { Rows } from "../src/rows.js";

const CALL = / (?:calls|to_apply|body|condition)=%(\w+)/g;

/**
 * What the parser gives for a module: a fold for each computation, and who calls what.
 * @param {string} text
 */
function read(text) {
  const lines = text.split("\n");
  /** @type {Map<string, number>} */
  const heads = new Map();
  /** @type {(number | string | boolean)[][]} */
  const folds = [];
  lines.forEach((line, at) => {
    const name = /^(?:ENTRY )?%(\w+) .*\{$/.exec(line)?.[1];
    if (name === undefined) return;
    heads.set(name, at);
    folds.push([at, lines.indexOf("}", at), "computation", false]);
  });
  const calls = lines.flatMap((line, at) => [...line.matchAll(CALL)].flatMap(([, name]) => (heads.has(name) ? [at, at - Number(heads.get(name))] : [])));
  const index = /** @type {import("../src/schema").ListingIndex} */ (/** @type {unknown} */ ({ folds, calls, start: 0 }));
  return { index, lines, folds };
}

/** @param {string} text */
function arranged(text) {
  const { index, lines } = read(text);
  const order = orderByCalls(index, lines);
  return order && [...order.lines].map((line) => `${" ".repeat(order.depths[line] * 4)}${lines[line]}`);
}

const NESTED = `HloModule m

%inner (p: f32[]) -> f32[] {
  ROOT %e = f32[] exponential(%p)
}

%outer (p: f32[]) -> f32[] {
  %f.1 = f32[] fusion(%p), kind=kLoop, calls=%inner
  ROOT %n = f32[] negate(%f.1)
}

ENTRY %main (x: f32[]) -> f32[] {
  %f.2 = f32[] fusion(%x), kind=kLoop, calls=%outer
  ROOT %r = f32[] add(%f.2, %x)
}`;

test("a body stands below its call, and one inside it below its own", () => {
  assert.deepEqual(arranged(NESTED), [
    "HloModule m", "",
    "ENTRY %main (x: f32[]) -> f32[] {",
    "  %f.2 = f32[] fusion(%x), kind=kLoop, calls=%outer",
    "    %outer (p: f32[]) -> f32[] {",
    "      %f.1 = f32[] fusion(%p), kind=kLoop, calls=%inner",
    "        %inner (p: f32[]) -> f32[] {",
    "          ROOT %e = f32[] exponential(%p)",
    "        }", "        ",
    "      ROOT %n = f32[] negate(%f.1)",
    "    }", "    ",
    "  ROOT %r = f32[] add(%f.2, %x)", "}",
  ]);
});

test("the fold of a body is on its call and hides all of it, its blank line too", () => {
  const { index, lines, folds } = read(NESTED);
  const rows = new Rows(lines.length, folds, orderByCalls(index, lines));
  const call = lines.findIndex((line) => line.includes("calls=%outer"));
  rows.toggle(call);
  assert.deepEqual(Array.from({ length: rows.count }, (_, row) => rows.lineAt(row)), [0, 1, 11, 12, 13, 14]);
  const inner = lines.findIndex((line) => line.includes("exponential"));
  assert.deepEqual([rows.rowOf(inner), rows.closedFold(call)?.head], [3, 6]);
  rows.toggle(11);
  assert.ok(rows.reveal(inner));
  assert.equal(rows.count, lines.length);
  assert.equal(rows.folds.has(6), false);
});

test("which folds are closed is kept from one order to the other and back", () => {
  const { index, lines, folds } = read(NESTED);
  const compiled = new Rows(lines.length, folds);
  compiled.toggle(2);
  const atCalls = new Rows(lines.length, folds, orderByCalls(index, lines));
  atCalls.adopt(compiled);
  assert.deepEqual([...atCalls.closed], [7]);
  atCalls.toggle(12);
  const back = new Rows(lines.length, folds);
  back.adopt(atCalls);
  assert.deepEqual([...back.closed].sort(), [2, 6]);
});

test("what several call, and what a loop calls, stays where it is", () => {
  const shared = "%add (a: f32[]) -> f32[] {\n}\n\nENTRY %m () -> f32[] {\n  %r = reduce(%x), to_apply=%add\n  %s = reduce(%y), to_apply=%add\n}";
  assert.equal(arranged(shared), null);
  const loop = "%c (a: f32[]) -> pred[] {\n}\n\n%b (a: f32[]) -> f32[] {\n}\n\nENTRY %m () -> f32[] {\n  %w = while(%x), condition=%c, body=%b\n}";
  assert.equal(arranged(loop), null);
  assert.equal(arranged("no module\n\nat all"), null);
  const twice = "%f (a: f32[]) -> f32[] {\n}\n\nENTRY %m () -> f32[] {\n  %w = call(%x), to_apply=%f, calls=%f\n}";
  assert.equal(arranged(twice), null);
});

test("texts that call in a ring, and folds that overlap, lose no line", () => {
  const ring = "%a () -> f32[] {\n  fusion(), calls=%b\n}\n\n%b () -> f32[] {\n  fusion(), calls=%a\n}\n\nENTRY %m () -> f32[] {\n}";
  assert.equal(arranged(ring), null);
  assert.equal(arranged("%a () -> f32[] {\n  fusion(), calls=%a\n}"), null);
  const { index, lines } = read(NESTED);
  for (const wrong of [[3, 8], [2, 6], [2, 99], [0, 14]]) {
    const order = orderByCalls({ ...index, folds: [[wrong[0], wrong[1], "computation", false], ...index.folds] }, lines);
    assertPermutation(order?.lines ?? Int32Array.from(lines.keys()), lines.length);
  }
  for (const calls of [[99, 97], [7, -90], [3, 0.5], [7]]) {
    const order = orderByCalls({ ...index, calls }, lines);
    assertPermutation(order?.lines ?? Int32Array.from(lines.keys()), lines.length);
  }
});

/** @param {ArrayLike<number>} lines @param {number} count */
function assertPermutation(lines, count) {
  assert.deepEqual(Array.from(lines).sort((a, b) => a - b), Array.from({ length: count }, (_, line) => line));
}

/** @param {number} seed @returns {() => number} below 1 */
function randomFrom(seed) {
  return () => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed / 2147483648;
  };
}

/** Computations that call earlier ones, some of them several times, with and without lines between them. @param {() => number} random */
function randomModule(random) {
  const parts = ["HloModule random"];
  const count = 1 + Math.floor(random() * 12);
  for (let number = 0; number < count; number += 1) {
    const body = Array.from({ length: Math.floor(random() * 6) }, (_, at) => {
      const other = Math.floor(random() * number);
      const how = ["kind=kLoop, calls", "to_apply", "body"][Math.floor(random() * 3)];
      return number && random() < 0.5 ? `  %v${number}_${at} = f32[] fusion(%x), ${how}=%c${other}` : `  %v${number}_${at} = f32[] add(%x, %y)`;
    });
    parts.push([`%c${number} (x: f32[]) -> f32[] {`, ...body, "}"].join("\n"));
  }
  return parts.join("\n".repeat(1 + Math.floor(random() * 3)));
}

test("every line of random modules stands once, each computation in its own order, and folds hold or miss each other", () => {
  let moved = 0;
  for (let seed = 1; seed <= 400; seed += 1) {
    const random = randomFrom(seed);
    const { index, lines, folds } = read(randomModule(random));
    const order = orderByCalls(index, lines);
    if (!order) continue;
    moved += order.bodies.size;
    assertPermutation(order.lines, lines.length);
    order.lines.forEach((line, place) => assert.equal(order.places[line], place));
    for (const [first, last] of folds) {
      /** @type {number[]} */
      const places = Array.from({ length: Number(last) - Number(first) + 1 }, (_, at) => order.places[Number(first) + at]);
      assert.deepEqual([...places].sort((a, b) => a - b), places, "a computation is not turned around");
    }
    for (const { caller, head } of order.bodies.values()) {
      assert.equal(order.places[head], order.places[caller] + 1);
      assert.equal(order.depths[head], order.depths[caller] + 1);
    }
    const rows = new Rows(lines.length, folds, order);
    const all = [...rows.folds.values()];
    for (const a of all) for (const b of all) assert.ok(a.lastPlace < b.place || b.lastPlace < a.place || (a.place - b.place) * (a.lastPlace - b.lastPlace) <= 0);
    rows.closeWhere(() => random() < 0.4);
    const hidden = new Set([...rows.closed].flatMap((line) => {
      const { place, lastPlace } = /** @type {import("../src/rows.js").Fold} */ (rows.folds.get(line));
      return Array.from({ length: lastPlace - place }, (_, at) => place + at + 1);
    }));
    const shown = [...order.lines.keys()].filter((place) => !hidden.has(place));
    assert.deepEqual(Array.from({ length: rows.count }, (_, row) => rows.placeAt(row)), shown);
    for (let row = 0; row < rows.count; row += 1) assert.equal(rows.rowOf(rows.lineAt(row)), row);
    const line = Math.floor(random() * lines.length);
    rows.reveal(line);
    assert.equal(rows.lineAt(rows.rowOf(line)), line);
  }
  assert.ok(moved > 200, "the modules have bodies to move");
});
