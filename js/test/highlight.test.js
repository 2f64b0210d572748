/** What is shown of a text: the same whether it is drawn or searched, whatever is put away, and nothing lost of the rest. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import test from "node:test";
import { awayKinds, highlightLine, shownText } from "../src/highlight.js";
import { shortName } from "../src/names.js";
import { markRuns, rangesIn } from "../src/search.js";

const { parts, dialects } = JSON.parse(readFileSync(new URL("../../jaxscope/lexers/grammar.json", import.meta.url), "utf8"));
const SHORTER = { param: "par", fused_computation: "fc", "get-tuple-element": "gte", constant: "con", broadcast: "bro", region: "reg", "slice-done": "sd" };

/** @param {string} dialect @returns {import("../src/schema").ListingIndex} */
const indexOf = (dialect) => /** @type {any} */ ({ dialect, grammar: { names: "", parts, ...dialects[dialect] }, short_names: dialect === "hlo" ? SHORTER : {}, tokens: [] });
const hlo = indexOf("hlo");

/** @param {import("../src/schema").ListingIndex} index @param {string[]} turned @param {boolean} [shortNames] */
const manner = (index, turned, shortNames = false) => ({ away: awayKinds(index.grammar, turned), shortNames });

/** @param {import("../src/line.js").Line} line */
const shown = ({ runs }) => runs.map((run) => run.text).join("");

const goldens = new URL("../../tests/goldens/lexers/", import.meta.url);
for (const dialect of Object.keys(dialects)) {
  test(`searched is what is drawn: ${dialect}`, () => {
    const index = indexOf(dialect);
    const kinds = [...new Set(dialects[dialect].hidden.map((/** @type {{kind: string}} */ rule) => rule.kind))];
    const manners = [null, ...[[], kinds, ["type"], ["type", "layout"], ["constant"]].flatMap((turned) => [manner(index, turned), manner(index, turned, true)])];
    for (const file of readdirSync(new URL(`${dialect}/`, goldens))) {
      const lines = readFileSync(new URL(`${dialect}/${file}`, goldens), "utf8").split("\n---tokens---\n")[0].split("\n");
      for (const text of lines) {
        for (const each of manners) {
          const drawn = highlightLine(index, text, 0, each);
          assert.equal(shownText(index, text, each), drawn.away ? "" : shown(drawn), text);
          assert.equal(drawn.length, shown(drawn).length);
          if (!each) assert.equal(shown(drawn), text);
        }
      }
    }
  });
}

test("a kind in the preference is the other way round than by default", () => {
  assert.deepEqual([...awayKinds(hlo.grammar, ["layout", "type"])].sort(), ["backend_config", "location", "metadata", "type"]);
  assert.deepEqual([...awayKinds(null, ["type"])], []);
});

test("types take their layouts with them, also where layouts are shown", () => {
  const text = "  %w.1 = (s32[], f32[8,128]{1,0:T(8,128)}) while(%t), body=%b";
  assert.equal(shownText(hlo, text, manner(hlo, ["type", "layout"])), "  %w.1 = while(%t), body=%b");
  assert.equal(shownText(hlo, text, manner(hlo, ["layout"])), text);
  assert.equal(shownText(hlo, text, manner(hlo, [])), "  %w.1 = (s32[], f32[8,128]) while(%t), body=%b");
});

test("names are short wherever they stand, computations' too, and not in strings", () => {
  const text = '  ROOT %get-tuple-element.4 = f32[] get-tuple-element(%param_0.2, %x), calls=%fused_computation.1, to="%param_0.2"';
  const drawn = highlightLine(hlo, text, 0, manner(hlo, [], true));
  assert.equal(shown(drawn), '  ROOT %gte.4 = f32[] get-tuple-element(%par_0.2, %x), calls=%fc.1, to="%param_0.2"');
  assert.deepEqual(
    drawn.runs.filter((run) => run.name).map(({ kind, text: short, name, title }) => [kind, short, name, title]),
    [["definition", "%gte.4", "%get-tuple-element.4"], ["name", "%par_0.2", "%param_0.2"], ["symbol", "%fc.1", "%fused_computation.1"]].map((each) => [...each, each[2]]),
  );
  const head = "%fused_computation.1 (param_0.2: f32[3], param: (s32[])) -> f32[3] {";
  assert.equal(shownText(hlo, head, manner(hlo, ["type"], true)), "%fc.1 (par_0.2, par) {");
  assert.equal(shownText(hlo, head, null), head);
});

test("a branch of a conditional is called as its computation", () => {
  const text = "branch_computations={%region_7.11, %region_8.12}";
  assert.equal(shownText(hlo, text, manner(hlo, [], true)), "branch_computations={%reg_7.11, %reg_8.12}");
});

test("a name is its stem and what follows", () => {
  const names = ["%constant_1234", "%constant.5.clone", "constant", "%constant_", "%constants.1", "%__proto__.1", "%toString", "%", ""];
  assert.deepEqual(names.map((name) => shortName(hlo, name)), ["%con_1234", "%con.5.clone", "con", "%constant_", "%constants.1", "%__proto__.1", "%toString", "%", ""]);
});

test("a match within a short name leaves its pieces with the compiler's", () => {
  const drawn = highlightLine(hlo, "  %param_0.2 = f32[] parameter(0)", 0, manner(hlo, [], true));
  const ranges = rangesIn({ pattern: /ar/g, window: Infinity, problem: "" }, shown(drawn));
  const pieces = markRuns(drawn.runs, ranges, -1).filter((run) => run.name);
  assert.deepEqual(pieces.map(({ text, name }) => [text, name]), [["%p", "%param_0.2"], ["ar", "%param_0.2"], ["_0.2", "%param_0.2"]]);
});
