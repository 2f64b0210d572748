import assert from "node:assert/strict";
import test from "node:test";
import { keyAction } from "../src/keys.js";

/** @type {import("../src/keys.js").State} */
const state = { row: 10, first: 5, end: 25, count: 100, fold: "none", atLeft: true };

test("arrows, pages and ends move the cursor within the listing", () => {
  /** @type {[string, Partial<import("../src/keys.js").State>, number][]} */
  const cases = [
    ["ArrowDown", {}, 11], ["ArrowUp", {}, 9], ["PageDown", {}, 28], ["PageUp", {}, 0], ["Home", {}, 0], ["End", {}, 99],
    ["ArrowDown", { row: 99 }, 99], ["ArrowUp", { row: 0 }, 0], ["PageDown", { row: 95 }, 99],
    ["ArrowDown", { row: -1 }, 5], ["ArrowUp", { row: -1 }, 5], ["PageDown", { row: -1 }, 23], ["End", { count: 1, row: 0 }, 0],
  ];
  for (const [key, change, row] of cases) assert.deepEqual(keyAction(key, { ...state, ...change }), { move: row }, `${key} ${JSON.stringify(change)}`);
});

test("arrows to the sides work the fold at the beginning of a line, and scroll elsewhere", () => {
  assert.deepEqual(keyAction("ArrowRight", { ...state, fold: "closed" }), { act: "fold" });
  assert.deepEqual(keyAction("ArrowLeft", { ...state, fold: "open" }), { act: "fold" });
  for (const [key, change] of /** @type {const} */ ([
    ["ArrowRight", { fold: "open" }], ["ArrowLeft", { fold: "closed" }], ["ArrowLeft", { fold: "open", atLeft: false }], ["ArrowRight", {}],
  ])) {
    const action = keyAction(key, { ...state, .../** @type {Partial<import("../src/keys.js").State>} */ (change) });
    assert.ok(action && "scroll" in action && action.scroll < 0 === (key === "ArrowLeft"), key);
  }
});

test("the space bar folds, Enter pins, Escape unpins, and every other key is left to the page", () => {
  assert.deepEqual(keyAction(" ", { ...state, fold: "open" }), { act: "fold" });
  assert.equal(keyAction(" ", state), null);
  assert.deepEqual(keyAction("Enter", state), { act: "pin" });
  assert.equal(keyAction("Enter", { ...state, row: -1 }), null);
  assert.deepEqual(keyAction("Escape", state), { act: "unpin" });
  for (const key of ["Tab", "a", "[", "F5", "constructor"]) assert.equal(keyAction(key, state), null, key);
});
