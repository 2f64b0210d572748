/** Breaking lines and adding up their heights: properties of random texts, against counting one by one. */
import assert from "node:assert/strict";
import test from "node:test";
import { Rows } from "../src/rows.js";
import { Sheet } from "../src/sheet.js";
import { Heights, Wrap, breakText } from "../src/wrap.js";

/** @param {string} text @param {number[]} starts */
const pieces = (text, starts) => starts.map((start, at) => text.slice(start, starts[at + 1]));

test("a line is broken behind its spaces, and the rest begins further in than the line", () => {
  const text = "  %fusion.2 = f32[8,128]{1,0} fusion(%dot.3), kind=kLoop";
  const { starts, indent } = breakText(text, 40);
  assert.deepEqual(pieces(text, starts), ["  %fusion.2 = f32[8,128]{1,0} ", "fusion(%dot.3), kind=kLoop"]);
  assert.equal(indent, 4);
});

test("without a space a line is broken behind a sign, and without that anywhere but in a character", () => {
  assert.deepEqual(pieces("entry_computation={(f32[8,128,64])}", breakText("entry_computation={(f32[8,128,64])}", 30).starts), ["entry_computation={(f32[8,128,", "64])}"]);
  const wide = "𝛼".repeat(50);
  for (const part of pieces(wide, breakText(wide, 21).starts)) assert.doesNotThrow(() => encodeURIComponent(part), "no half of a character");
  assert.deepEqual(breakText("a".repeat(100), 40).starts, [0, 40, 78]);
});

test("what is drawn behind a line has a row of its own where the last one is full", () => {
  assert.deepEqual(breakText("a".repeat(38), 40, 2).starts, [0]);
  assert.deepEqual(breakText("a".repeat(38), 40, 3).starts, [0, 38]);
  assert.deepEqual(breakText("", 40, 99).starts, [0]);
});

test("broken lines lose nothing and fit, whatever is in them", () => {
  let seed = 7;
  const random = (/** @type {number} */ below) => (seed = (seed * 1103515245 + 12345) % 2147483648) % below;
  for (let turn = 0; turn < 2000; turn += 1) {
    const text = " ".repeat(random(60)) + Array.from({ length: random(300) }, () => "ab9 ,(%_.={}[]𝛼"[random(15)]).join("");
    const room = 20 + random(60);
    const { starts, indent } = breakText(text, room, random(20));
    assert.equal(pieces(text, starts).join(""), text);
    assert.ok(indent >= 2 && indent <= room / 2);
    pieces(text, starts).forEach((part, at) => {
      // A space at the end need not fit.
      assert.ok(part.replace(/ $/, "").length <= (at ? room - indent : room), JSON.stringify([text, room]));
      assert.ok(part || at === starts.length - 1);
    });
  }
});

test("heights add up, and their inverse finds the row at any height", () => {
  const rows = new Rows(60, [[10, 30, "region", true]]);
  const wrap = new Wrap(20, Array.from({ length: 60 }, (_, line) => (line * 37) % 90));
  const heights = new Heights(rows, wrap);
  let top = 0;
  for (let row = 0; row < rows.count; row += 1) {
    assert.equal(heights.topOf(row), top);
    assert.equal(heights.firstFrom(top), row);
    for (const within = top; top < within + wrap.heights[rows.lineAt(row)]; top += 1) {
      assert.equal(heights.rowAt(top), row);
      assert.equal(heights.rowAt(top + 0.7), row);
    }
  }
  assert.deepEqual([heights.total, heights.rowAt(1e9), heights.rowAt(-5), heights.firstFrom(1e9)], [top, rows.count - 1, 0, rows.count]);
  const plain = new Heights(rows, null);
  assert.deepEqual([plain.total, plain.topOf(7), plain.rowAt(7.9), plain.firstFrom(7.1)], [40, 7, 7, 8]);
});

/** @param {string[]} lines @param {Partial<import("../src/sheet.js").Options>} [options] @param {(number | string | boolean)[][]} [folds] */
function sheetOf(lines, options, folds = []) {
  const index = { key: "hlo", dialect: "hlo", folds, calls: [], tokens: [], grammar: null };
  const listing = /** @type {import("../src/listing.js").LoadedListing} */ (/** @type {unknown} */ ({ key: "hlo", index, lines }));
  return new Sheet(listing, { exact: false, locations: "short", turned: [], shortNames: false, wrap: true, inline: false, heat: null, said: [], mainFile: "", ...options });
}

test("estimated heights become the real ones where rows are measured, and only there", () => {
  const lines = Array.from({ length: 3000 }, (_, line) => "word ".repeat((line * 7919) % 60).trimEnd());
  const sheet = sheetOf(lines);
  sheet.breakAt(50);
  const before = sheet.heights.total;
  assert.ok(sheet.measure(1000, 1100));
  const real = (/** @type {number} */ line) => breakText(lines[line], 50).starts.length;
  for (let row = 1000; row < 1100; row += 1) assert.equal(sheet.heights.topOf(row + 1) - sheet.heights.topOf(row), real(row));
  assert.equal(sheet.measure(1000, 1100), false);
  sheet.measure(-5, 99_999);
  const total = lines.reduce((sum, _, line) => sum + real(line), 0);
  assert.equal(sheet.heights.total, total);
  assert.ok(Math.abs(before - total) < total / 10, `${before} was estimated, ${total} it is`);
});

test("a closed fold takes part, and lines that are not broken have one row each", () => {
  const sheet = sheetOf(["a".repeat(48), "b", "c", "d"], {}, [[0, 2, "region", true]]);
  sheet.breakAt(50);
  sheet.measure(0, 9);
  assert.equal(sheet.heights.total, 3);
  sheet.rows.toggle(0);
  sheet.measure(0, 9);
  assert.equal(sheet.heights.total, 4);
  sheet.breakAt(0);
  assert.deepEqual([sheet.heights.total, sheet.breakLine(0)], [4, undefined]);
});
