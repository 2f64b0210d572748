/**
 * The browser's tokenizer gives what Python's does, on the golden files that Python's tests read and write
 * (`tests/test_lexers.py` says what is in them), and stops at a limit without reading what follows.
 */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { awayKinds } from "../src/highlight.js";
import { createTokenizer } from "../src/tokenize.js";

const grammar = JSON.parse(readFileSync(new URL("../../jaxscope/lexers/grammar.json", import.meta.url), "utf8"));
/** @type {Record<string, import("../src/tokenize.js").Tokenizer>} */
const tokenizers = Object.fromEntries(
  Object.entries(grammar.dialects).map(([dialect, rules]) => [dialect, createTokenizer({ parts: grammar.parts, .../** @type {any} */ (rules) })]),
);
const goldens = new URL("../../tests/goldens/lexers/", import.meta.url);

/** @typedef {{ dialect: string, name: string, lines: string[], tokens: string[][], hidden: string[] }} Golden */

/** @type {(dialect: string, file: string) => Golden} */
function readGolden(dialect, file) {
  const content = readFileSync(new URL(`${dialect}/${file}`, goldens), "utf8");
  const [source, tokens, hidden] = content.split(/\n---(?:tokens|hidden)---\n/);
  return {
    dialect,
    name: `${dialect}/${file}`,
    lines: source.split("\n"),
    tokens: tokens.split("\n").map((row) => [row.slice(0, row.indexOf(" ")), JSON.parse(row.slice(row.indexOf('"')))]),
    hidden: hidden.split("\n").filter((row) => row),
  };
}

const files = Object.keys(grammar.dialects).flatMap((dialect) =>
  readdirSync(new URL(`${dialect}/`, goldens)).map((file) => readGolden(dialect, file)),
);

test("there are golden files of every dialect", () => {
  for (const dialect of Object.keys(grammar.dialects)) {
    assert.ok(files.filter((file) => file.dialect === dialect).length >= 6, dialect);
  }
});

for (const { dialect, name, lines, tokens, hidden } of files) {
  test(`tokens and hidden parts as in Python: ${name}`, () => {
    const found = lines.flatMap((line) => [...tokenizers[dialect].tokenize(line), ["text", "\n"]]).slice(0, -1);
    assert.deepEqual(found, tokens);
    const spans = lines.flatMap((line, index) =>
      tokenizers[dialect].hiddenSpans(line).map(([start, end, kind]) => {
        // Python counts characters where JavaScript counts UTF-16 units.
        const column = [...line.slice(0, start)].length + 1;
        return [`${index + 1}:${column}`, kind, line.slice(start, end)];
      }),
    );
    const expected = hidden.map((row) => {
      const [place, kind] = row.split(" ", 2);
      return [place, kind, JSON.parse(row.slice(row.indexOf('"')))];
    });
    assert.deepEqual(spans, expected);
  });

  test(`a limit cuts, and changes nothing before: ${name}`, () => {
    for (const line of lines) {
      for (const limit of [0, 1, 7, 40, 100, line.length - 1, line.length, line.length + 1]) {
        const limited = tokenizers[dialect].tokenize(line, limit);
        const whole = tokenizers[dialect].tokenize(line);
        const text = limited.map((token) => token[1]).join("");
        assert.ok(line.startsWith(text));
        assert.ok(text.length === Math.min(Math.max(limit, 0), line.length) || text.length === limit + 1);
        assert.deepEqual(limited.slice(0, -1), whole.slice(0, Math.max(limited.length - 1, 0)));
        if (limited.length) assert.equal(limited[limited.length - 1][0], whole[limited.length - 1][0]);
      }
    }
  });
}

test("every sample is read by its own rule", () => {
  for (const [dialect, { rules, hidden }] of Object.entries(grammar.dialects)) {
    for (const rule of rules) {
      assert.ok(tokenizers[dialect].tokenize(rule.sample).some(([kind]) => kind === rule.kind), rule.match);
    }
    for (const rule of hidden) {
      assert.ok(tokenizers[dialect].hiddenSpans(rule.sample).some((span) => span[2] === rule.kind), rule.match);
    }
  }
});

test("what is put away by default", () => {
  const kinds = Object.fromEntries(Object.entries(grammar.dialects).map(([dialect, rules]) => [dialect, [...awayKinds(/** @type {any} */ (rules), [])].sort()]));
  assert.deepEqual(kinds, {
    jaxpr: ["location"],
    stablehlo: ["location"],
    hlo: ["backend_config", "layout", "location", "metadata"],
    llvm: ["location", "metadata"],
    ptx: ["location"],
  });
});

test("a character that no rule explains is an error, and whole", () => {
  assert.deepEqual(tokenizers.hlo.tokenize("\u{1F600}\u0000"), [["error", "\u{1F600}"], ["error", "\u0000"]]);
  assert.deepEqual(tokenizers.hlo.tokenize("\u{1F600}x", 1), [["error", "\u{1F600}"]]);
  assert.deepEqual(tokenizers.hlo.tokenize("\ud800"), [["error", "\ud800"]]);
});

test("a constant of eight million characters", () => {
  const constant = `%c = stablehlo.constant dense<"0x${"3F80".repeat(2_000_000)}"> : tensor<4xf32> loc(#loc1)`;
  const started = performance.now();
  assert.equal(tokenizers.stablehlo.tokenize(constant, 300).map((token) => token[1]).join("").length, 300);
  assert.ok(performance.now() - started < 50);
  assert.deepEqual(tokenizers.stablehlo.hiddenSpans(constant).map((span) => span[2]), ["constant", "type", "location"]);
  assert.equal(tokenizers.stablehlo.tokenize(constant).map((token) => token[1]).join(""), constant);
});

test("what is too much for the engine's stack loses nothing and raises nothing", () => {
  const line = `"${'\\"'.repeat(6_000_000)}`;
  assert.equal(tokenizers.hlo.tokenize(line).map((token) => token[1]).join(""), line);
  assert.deepEqual(tokenizers.hlo.hiddenSpans(line), []);
});

test("time is linear on long lines that invite going back", () => {
  /** @type {[string, string][]} */
  const pieces = [
    ["hlo", ', metadata={"'], ["hlo", '\\"'], ["hlo", "/*"], ["hlo", "constant({"], ["stablehlo", ' loc(""'],
    ["stablehlo", "tensor<"], ["stablehlo", "%a, "], ["jaxpr", "a:b<"], ["jaxpr", " # )"], ["jaxpr", "<a<b>"],
  ];
  /** @type {(dialect: string, piece: string, length: number) => number} */
  const milliseconds = (dialect, piece, length) => {
    const line = piece.repeat(length).slice(0, length);
    const times = [1, 2, 3].map(() => {
      const started = performance.now();
      tokenizers[dialect].tokenize(line);
      tokenizers[dialect].hiddenSpans(line);
      return performance.now() - started;
    });
    return Math.min(...times);
  };
  for (const [dialect, piece] of pieces) {
    // A busy machine makes one measurement of a linear rule look worse; a quadratic one never looks linear.
    const ratios = [];
    do {
      ratios.push(milliseconds(dialect, piece, 96_000) / Math.max(milliseconds(dialect, piece, 48_000), 2));
    } while (ratios[ratios.length - 1] >= 3.5 && ratios.length < 5);
    assert.ok(ratios[ratios.length - 1] < 3.5, `${piece}: ${ratios}`);
  }
});
