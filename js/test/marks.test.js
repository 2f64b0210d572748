import assert from "node:assert/strict";
import test from "node:test";
import { NO_MARKS, inPlaces, marksOf, saidOf, signOf } from "../src/marks.js";
import { Rows } from "../src/rows.js";
import { Sheet } from "../src/sheet.js";

/** @param {number} line @param {import("../src/schema").Mark["tone"]} tone @param {string} [note] @returns {import("../src/schema").Mark} */
const mark = (line, tone, note = "") => ({ listing: "python", line, tone, text: `${tone} on ${line}.`, note });

test("of several marks of a line the gravest gives the sign, and all their words are kept", () => {
  const marks = [mark(3, "muted"), mark(3, "error", "x: f32[3]"), mark(3, "warning", "64 MiB"), mark(5, "muted")];
  const said = saidOf(marks);
  assert.deepEqual([...said.keys()], [3, 5]);
  assert.deepEqual(said.get(3), { ...marks[1], text: "muted on 3. error on 3. warning on 3.", note: "x: f32[3] · 64 MiB" });
  assert.deepEqual([...said.values()].map(signOf), ["✕", "›"]);
  assert.equal(signOf(mark(0, "warning")), "▲");
});

test("a closed fold shows the gravest mark of what it hides", () => {
  const rows = new Rows(10, [[2, 6, "jaxpr", false]]);
  const marks = { ...NO_MARKS, said: saidOf([mark(2, "muted"), mark(5, "error"), mark(6, "warning")]) };
  const at = (/** @type {number} */ line) => marksOf(marks, inPlaces(marks, rows), rows, line).said?.tone;
  assert.deepEqual([at(1), at(2), at(5)], [undefined, "muted", "error"]);
  rows.toggle(2);
  assert.deepEqual([at(1), at(2), at(7)], [undefined, "error", undefined]);
});

test("a note stands behind the text that it is about, which is searched and copied without it", () => {
  const index = { key: "python", dialect: "python", folds: [], calls: [], tokens: [], grammar: null };
  const listing = /** @type {import("../src/listing.js").LoadedListing} */ (/** @type {unknown} */ ({ key: "python", index, lines: ["def f(x):", "    return x + 1"] }));
  /** @type {import("../src/sheet.js").Options} */
  const options = { exact: false, locations: "short", turned: [], shortNames: false, wrap: false, inline: false, heat: null, said: [mark(1, "error", "x: f32[3]")], mainFile: "" };
  const sheet = new Sheet(listing, options);
  const words = (/** @type {number} */ line) => sheet.compose(line).runs.map(({ text }) => text).join("");
  assert.deepEqual([words(0), words(1)], ["def f(x):", "    return x + 1  ← x: f32[3]"]);
  assert.equal(sheet.compose(1).length, words(1).length);
  assert.equal(sheet.textOf(1), "    return x + 1");
  options.exact = true;
  sheet.forget();
  assert.equal(words(1), "    return x + 1");
});
