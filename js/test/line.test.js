import assert from "node:assert/strict";
import test from "node:test";
import { composeLine, pythonTokens } from "../src/line.js";

const text = "%a = add(), metadata={x}, backend_config={y}";
/** @type {[string, string][]} */
const tokens = [["name", "%a"], ["text", " = add()"], ["text", ", metadata={x}, backend_config={y}"]];

test("nothing is lost when nothing is put away", () => {
  const line = composeLine(text, tokens, []);
  assert.equal(line.runs.map((run) => run.text).join(""), text);
  assert.equal(line.away, false);
});

test("neighbouring parts become one mark, which says what it stands for", () => {
  const line = composeLine(text, tokens, [[10, 24, "metadata"], [24, 44, "backend_config"]]);
  assert.deepEqual(line.runs.map((run) => run.text), ["%a", " = add()", "…"]);
  assert.match(String(line.runs[2].title), /metadata, backend_config.*\{y\}/);
  assert.equal(line.length, 11);
});

test("layouts go without a mark", () => {
  assert.deepEqual(composeLine("f32[8]{0} x", [["type", "f32[8]{0}"], ["text", " x"]], [[6, 9, "layout"]]).runs.map((run) => run.text), ["f32[8]", " x"]);
});

test("a line with nothing but put-away parts says so", () => {
  assert.equal(composeLine("  #loc1 = loc(unknown)", [], [[2, 22, "location"]]).away, true);
  assert.equal(composeLine("   ", [], []).away, false);
});

test("a rest that was not tokenised is kept", () => {
  assert.equal(composeLine("abcdef", [["name", "abc"]], []).runs.map((run) => run.text).join(""), "abcdef");
});

test("Python's lengths are code points", () => {
  assert.deepEqual(pythonTokens("𝛼 = 1", [["name", 1], ["text", 3], ["number", 1]]), [["name", "𝛼"], ["text", " = "], ["number", "1"]]);
  assert.deepEqual(pythonTokens("ab", []), [["", "ab"]]);
});

test("a name is shown as another, with its own as title, unless it is put away", () => {
  const line = composeLine(text, tokens, [[10, 44, "metadata"]], [[0, 2, "%b"], [21, 22, "z"]]);
  assert.deepEqual(line.runs.map(({ kind, text: shown, name }) => [kind, shown, name]), [["name", "%b", "%a"], ["text", " = add()", undefined], ["away", "…", undefined]]);
  assert.equal(line.runs[0].title, "%a");
  assert.equal(line.length, 11);
  assert.equal(composeLine(" %a", [], [[0, 1, "location"]], [[1, 3, "%long"]]).away, false);
});
