import assert from "node:assert/strict";
import test from "node:test";
import { reconcile, togglePin } from "../src/selection.js";

/** @param {[string, "listing" | "tables", import("../src/schema").Tab["status"], boolean?][]} tabs @returns {import("../src/schema").View} */
function view(...tabs) {
  return {
    schema: 1, title: "", function: "", targets: [{ name: "", label: "" }], choices: [], versions: "", notes: [], heat: {}, marks: [],
    tabs: tabs.map(([key, kind, status, fails]) => ({
      key, title: key, kind, status, count: "", seconds: null, reason: "", figures: [], tables: [], notes: [], targets: [],
      failure: fails ? { headline: "", found: "", message: "", advice: "", page: "", places: [], expression: "", operands: [], mismatches: null, traceback: "" } : null,
    })),
  };
}

const early = view(["python", "listing", "done"], ["jaxpr", "listing", "running"], ["hlo", "listing", "pending"], ["cost", "tables", "pending"]);
const late = view(["python", "listing", "done"], ["jaxpr", "listing", "done"], ["hlo", "listing", "done"], ["cost", "tables", "done"]);

test("until somebody chooses, the newest finished stage is shown", () => {
  assert.equal(reconcile(early, {}, false).tab, "python");
  assert.deepEqual(reconcile(late, reconcile(early, {}, false), false), { target: "", tab: "hlo", left: "python", right: "hlo", pins: [] });
});

test("a choice stays", () => {
  assert.equal(reconcile(late, { tab: "jaxpr" }, true).tab, "jaxpr");
});

test("a failure comes first", () => {
  const failed = view(["python", "listing", "done"], ["jaxpr", "listing", "done"], ["hlo", "listing", "failed", true], ["cost", "tables", "not reached"]);
  assert.equal(reconcile(failed, {}, false).tab, "hlo");
});

test("a report keeps the listing on the right for later", () => {
  assert.deepEqual(reconcile(late, { tab: "cost", left: "jaxpr", right: "hlo" }, true), { target: "", tab: "cost", left: "jaxpr", right: "hlo", pins: [] });
});

test("what does not fit is replaced, not followed", () => {
  const wanted = { tab: "gone", left: "cost", right: "gone", pins: [{ listing: "hlo", line: 3 }, { listing: "gone", line: 1 }, { listing: "hlo", line: -1 }] };
  assert.deepEqual(reconcile(late, wanted, true), { target: "", tab: "hlo", left: "python", right: "hlo", pins: [{ listing: "hlo", line: 3 }] });
  assert.deepEqual(reconcile(late, /** @type {any} */ ({ pins: "x" }), false).pins, []);
  assert.deepEqual(reconcile(view(), {}, false), { target: "", tab: "", left: "", right: "", pins: [] });
});

test("a pin replaces the others, unless more are wanted, and a second time takes it away", () => {
  const a = { listing: "hlo", line: 1 };
  const b = { listing: "python", line: 1 };
  assert.deepEqual(togglePin([a], b, false), { pins: [b], added: true });
  assert.deepEqual(togglePin([a], b, true), { pins: [a, b], added: true });
  assert.deepEqual(togglePin([a, b], { ...a }, true), { pins: [b], added: false });
  assert.deepEqual(togglePin([a, b], { ...a }, false), { pins: [], added: false });
});
