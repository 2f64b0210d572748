import assert from "node:assert/strict";
import test from "node:test";
import { Rows } from "../src/rows.js";
import { Search, compile, markRuns, rangesIn, sharesOf } from "../src/search.js";
import { Heights } from "../src/wrap.js";

/** @param {string} text @param {Partial<import("../src/search.js").Query>} [how] */
const pattern = (text, how) => /** @type {import("../src/search.js").Pattern} */ (compile({ text, matchCase: false, regex: false, ...how }, "ab".repeat(5000)));
/** @param {string} text @param {string} line @param {Partial<import("../src/search.js").Query>} [how] */
const found = (text, line, how) => rangesIn(pattern(text, how), line).map(([from, to]) => line.slice(from, to));
/** @param {string[]} lines @param {string} text @param {Partial<import("../src/search.js").Query>} [how] */
function search(lines, text, how) {
  const made = new Search(pattern(text, how), lines.length, (line) => lines[line]);
  while (!made.done) made.step(1000);
  return made;
}

test("plain text has no special characters", () => {
  for (const text of ["a.b", "f32[8,128]{1,0}", "(", "\\", "^$", "%add.1", "a|b", "*", "<b>", "𝛼", "-/"]) {
    assert.deepEqual(found(text, `x${text}y${text}`), [text, text]);
    assert.deepEqual(found(text, "xay"), []);
  }
});

test("case is told apart only when asked for", () => {
  assert.deepEqual(found("add", "Add add ADD"), ["Add", "add", "ADD"]);
  assert.deepEqual(found("add", "Add add ADD", { matchCase: true }), ["add"]);
  assert.deepEqual(found("a.d", "Add add", { matchCase: true, regex: true }), ["add"]);
});

test("a character that the screen writes by its number is found by it", () => {
  assert.deepEqual(rangesIn(pattern("a⟨U+202E⟩b"), "xa\u202eby"), [[1, 4]]);
  assert.deepEqual(rangesIn(pattern("⟨U+FFFFFF⟩"), "⟨U+FFFFFF⟩"), [[0, 10]]);
});

test("regular expressions find what JavaScript's own do", () => {
  const line = "%fusion.12 = f32[8,128]{1,0} fusion(%a, %b), kind=kLoop, calls=%c";
  for (const source of ["%\\w+", "f\\d+\\[[\\d,]+\\]", "kind=k(?:Loop|Input)", "^%", "\\bcalls", "[^\\]]+]", "a??", "x*", "(%c)$", "%(a|b)", "\\-", "(?<=%)c"]) {
    const expected = [...line.matchAll(new RegExp(source, "gi"))].map(([match]) => match).filter(Boolean);
    assert.deepEqual(found(source, line, { regex: true }), expected, source);
    assert.equal(pattern(source, { regex: true }).problem, "");
  }
});

test("what is not a regular expression is searched as plain text, and said so", () => {
  for (const source of ["(", "[", "*", "a{2,1}", "(?<x", "f32[8", "a)"]) {
    assert.match(pattern(source, { regex: true }).problem, /^not a regular expression .*: searched as plain text$/, source);
    assert.deepEqual(found(source, `.${source}.`, { regex: true }), [source]);
  }
});

test("patterns that could take for ever are not run", () => {
  const line = `${"a".repeat(60)}!`;
  for (const source of ["(a+)+$", "(a*)*b", "(a|a)+$", "(?:a+){2,}$", "((a+))+$", "(a?){40}a{40}$", "(?:(a|b)c?)*x", "a+a+a+a+a+$", "(a)\\1"]) {
    const started = performance.now();
    assert.deepEqual(found(source, line, { regex: true }), [], source);
    assert.ok(performance.now() - started < 50, source);
    assert.match(pattern(source, { regex: true }).problem, /searched as plain text$/, source);
  }
});

test("a pattern that is slow again and again ends the search, one interruption does not", () => {
  let time = 0;
  const slow = new Search(pattern("x"), 10, () => "x");
  slow.step(100_000, () => (time += 500));
  assert.ok(slow.done && slow.total === 5);
  assert.match(slow.problem, /too slow .* stopped after 4 of them/);
  const interrupted = new Search(pattern("x"), 10, () => "x");
  let calls = 0;
  interrupted.step(100_000, () => (time += (calls += 1) === 5 ? 500 : 1));
  assert.deepEqual([interrupted.total, interrupted.problem], [10, ""]);
});

test("matches across the stretches of a long line are found once and whole", () => {
  const line = Array.from({ length: 6000 }, (_, number) => `f32[${number}]`).join(", ");
  const all = [...line.matchAll(/f\d+\[\d+/g)].map(([match]) => match);
  for (const source of ["f32\\[\\d+", "f\\d+\\[\\d+", "\\w+\\[\\d+"]) assert.deepEqual(found(source, line, { regex: true }), all, source);
  assert.deepEqual(found("^f32", line, { regex: true }), ["f32"]);
  assert.deepEqual(found("\\d+\\]$", line, { regex: true }), ["5999]"]);
});

test("patterns that are slow on the lines that there are are found out in time", () => {
  for (const source of ["(?:a.*)b*.*c", ".*.*c$", "[ab]*[ab]*[ab]*c"]) {
    const started = performance.now();
    assert.match(pattern(source, { regex: true }).problem, /^(too slow for the long lines here|a repeated group).*: searched as plain text$/, source);
    assert.ok(performance.now() - started < 5000, source);
  }
});

test("a long line costs a bounded time also where a repetition looks to its end", () => {
  const line = "ab".repeat(100_000);
  const started = performance.now();
  assert.deepEqual(found("a.*c", line, { regex: true }), []);
  assert.ok(performance.now() - started < 3000);
});

test("matches are counted by line, and found by their ordinal", () => {
  const made = search(["aa", "b", "a", "", "xaaax"], "a");
  assert.deepEqual([made.lines, made.before, made.total], [[0, 2, 4], [0, 2, 3], 6]);
  assert.deepEqual([0, 1, 2, 3, 5].map((ordinal) => made.at(ordinal)), [
    { line: 0, nth: 0 },
    { line: 0, nth: 1 },
    { line: 2, nth: 0 },
    { line: 4, nth: 0 },
    { line: 4, nth: 2 },
  ]);
  assert.deepEqual([0, 1, 3, 5].map((line) => made.from(line)), [0, 1, 2, 3]);
});

test("a step ends when its time is up, and the next goes on from there", () => {
  let time = 0;
  const made = new Search(pattern("x"), 100, () => "x");
  made.step(10, () => (time += 1));
  assert.ok(made.searched >= 3 && made.searched <= 6, `${made.searched} lines at 2 ms each`);
  const { searched } = made;
  made.step(10, () => (time += 1));
  assert.ok(made.searched > searched && made.total === made.searched);
});

test("385,000 lines are searched in steps of less than 30 ms", () => {
  const line = (/** @type {number} */ number) => `  %add.${number} = f32[8,128]{1,0} add(%add.${number - 1}, %c), metadata={op_name="jit(f)/layer/attention/add" stack_frame_id=9}`;
  const lines = Array.from({ length: 385_000 }, (_, number) => line(number)).join("\n").split("\n");
  const made = new Search(pattern("add.1234"), lines.length, (number) => lines[number]);
  const steps_ms = [];
  while (!made.done) {
    const started = performance.now();
    made.step(2);
    steps_ms.push(performance.now() - started);
  }
  assert.equal(made.total, lines.join("\n").split("add.1234").length - 1);
  // The median, since the machine may be busy with something else now and then.
  assert.ok(steps_ms.sort((a, b) => a - b)[steps_ms.length >> 1] < 30);
});

test("runs are cut at the matches, and know which and whether it is the visited one", () => {
  const runs = [{ kind: "a", text: "0123" }, { kind: "b", text: "456789" }];
  assert.deepEqual(markRuns(runs, [[1, 2], [3, 6], [6, 7]], 1), [
    { kind: "a", text: "0" },
    { kind: "a", text: "1", match: 0, current: false },
    { kind: "a", text: "2" },
    { kind: "a", text: "3", match: 1, current: true },
    { kind: "b", text: "45", match: 1, current: true },
    { kind: "b", text: "6", match: 2, current: false },
    { kind: "b", text: "789" },
  ]);
  assert.deepEqual(markRuns(runs, [], -1), runs);
});

test("the overview has a mark wherever there is a match, also behind a fold, and few marks", () => {
  const rows = new Rows(8, [[1, 3, "region", true]]);
  assert.deepEqual(sharesOf([2, 7], rows, new Heights(rows, null), 10), [0.1, 0.5]);
  const long = new Rows(100_000, []);
  const shares = sharesOf(Array.from({ length: 100_000 }, (_, line) => line), long, new Heights(long, null), 100_000);
  assert.equal(shares.length, 200);
  assert.deepEqual(sharesOf([99_999], long, new Heights(long, null), 100_000), [0.995]);
});
