import assert from "node:assert/strict";
import test from "node:test";
import { ACTIONS, LISTING_DEEDS, actionOf, keyAction, keyName, titleOf } from "../src/keys.js";

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

test("the space bar folds, Enter pins, and every other key is left to the page", () => {
  assert.deepEqual(keyAction(" ", { ...state, fold: "open" }), { act: "fold" });
  assert.equal(keyAction(" ", state), null);
  assert.deepEqual(keyAction("Enter", state), { act: "pin" });
  assert.equal(keyAction("Enter", { ...state, row: -1 }), null);
  for (const key of ["Tab", "a", "[", "Escape", "F5", "constructor"]) assert.equal(keyAction(key, state), null, key);
});

test("every action of the table has its own keys, a group and words", () => {
  for (const scope of /** @type {const} */ (["listing", "app"])) {
    const keys = ACTIONS.filter((action) => action.scope === scope).flatMap((action) => action.keys);
    assert.equal(new Set(keys).size, keys.length, `two actions of scope ${scope} share a key`);
  }
  assert.equal(new Set(ACTIONS.map((action) => action.name)).size, ACTIONS.length);
  for (const action of ACTIONS) {
    assert.ok(action.keys.length && action.group && action.label, action.name);
    for (const key of action.keys) {
      assert.equal(actionOf(key, action.scope), action);
      assert.ok(titleOf(action.name).includes(keyName(key)), action.name);
    }
  }
});

test("no key in a listing is also one of the whole widget", () => {
  const listing = new Set(ACTIONS.filter((action) => action.scope === "listing").flatMap((action) => action.keys));
  for (const action of ACTIONS.filter((each) => each.scope === "app")) for (const key of action.keys) assert.ok(!listing.has(key), key);
});

test("every action of a listing is handled, and nothing else is", () => {
  const names = ACTIONS.filter((action) => action.scope === "listing").map((action) => action.name);
  assert.deepEqual(Object.keys(LISTING_DEEDS).sort(), names.sort());
});

test("keys of finding are free everywhere, and those of the menu are told apart", () => {
  const keysOf = (/** @type {string} */ scope) => ACTIONS.filter((action) => action.scope === scope).flatMap((action) => action.keys);
  const others = new Set([...keysOf("listing"), ...keysOf("app")]);
  for (const key of keysOf("pane")) assert.ok(!others.has(key), key);
  const inMenu = [...keysOf("pane"), ...keysOf("menu").map((keys) => keys.slice(-1))];
  assert.equal(new Set(inMenu).size, inMenu.length);
});
