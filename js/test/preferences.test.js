/** Choices about the screen: checked like foreign text, and never in the way. */
import assert from "node:assert/strict";
import test from "node:test";
import { arrangement, checked, keepPreferences, next, readPreferences } from "../src/preferences.js";
import { endedStages, linkedWords } from "../src/live.js";

const defaults = checked(null);

test("what does not fit counts as not chosen", () => {
  for (const found of [undefined, 3, "text", [], { layout: "round" }, { split: 3 }, { split: "50" }, { rows: Number.NaN }, { rows: 1e9 }, { exact: "true" },
    { turned: "layout" }, { turned: [3] }, { shortNames: 1 }, { locations: null }, { unknown: 1 }, { constructor: 1 }, JSON.parse('{"__proto__": {"exact": true}}')]) {
    assert.deepEqual(checked(found), defaults, JSON.stringify(found));
  }
  assert.deepEqual(checked({ split: 60, rows: null, turned: ["layout"], layout: "one" }), { ...defaults, split: 60, turned: ["layout"], layout: "one" });
});

test("without any storage the choices hold for the page, and a later change of what was given is not one of them", () => {
  const given = { ...defaults, split: 70 };
  keepPreferences(given);
  given.split = 20;
  assert.equal(readPreferences().split, 70);
  Reflect.deleteProperty(globalThis, Symbol.for("jaxscope.preferences"));
});

test("a storage is read, and one that throws or holds something else does no harm", () => {
  const stores = [
    { getItem: () => '{"split": 30}', split: 30 },
    { getItem: () => "not JSON", split: defaults.split },
    { getItem: () => { throw new Error("denied"); }, split: defaults.split },
  ];
  for (const { getItem, split } of stores) {
    Object.defineProperty(globalThis, "localStorage", { value: { getItem }, configurable: true });
    assert.equal(readPreferences().split, split);
  }
  Reflect.deleteProperty(globalThis, "localStorage");
});

test("after the last comes the first", () => {
  assert.equal(next(["a", "b"], "a"), "b");
  assert.equal(next(["a", "b"], "b"), "a");
  assert.equal(next(["a", "b"], "c"), "a");
});

test("narrow listings are stacked unless the reader says otherwise", () => {
  assert.equal(arrangement("auto", 700), "stacked");
  assert.equal(arrangement("auto", 701), "side");
  assert.equal(arrangement("auto", 0), "side");
  for (const layout of /** @type {const} */ (["one", "side", "stacked"])) assert.equal(arrangement(layout, 300), layout);
});

test("stages that have ended since are told, those that had already are not", () => {
  const view = (/** @type {string[]} */ ...statuses) =>
    /** @type {any} */ ({ tabs: statuses.map((status, at) => ({ key: String(at), title: `stage ${at}`, status })) });
  assert.deepEqual(endedStages(null, view("done")), []);
  assert.deepEqual(endedStages(view("done", "running", "pending", "running"), view("done", "done", "failed", "running")), ["stage 1 finished", "stage 2 failed"]);
});

test("counts of lines in words", () => {
  assert.equal(linkedWords(0, "Jaxpr"), "no linked lines in Jaxpr");
  assert.equal(linkedWords(1, "Jaxpr"), "1 linked line in Jaxpr");
  assert.equal(linkedWords(3000, "StableHLO"), "3,000 linked lines in StableHLO");
});
