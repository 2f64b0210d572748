import assert from "node:assert/strict";
import { test } from "node:test";
import { TEXTS, moduleOf, repeatedTexts, rewrite } from "../rewrite.mjs";

const TIMES = (/** @type {string} */ text, /** @type {number} */ count) => Array.from({ length: count }, () => text);

/** What a module exports once it has been rewritten. @param {string} source */
async function run(source) {
  const texts = repeatedTexts([source]);
  const address = (/** @type {string} */ code) => `data:text/javascript,${encodeURIComponent(code)}`;
  const code = rewrite(source, texts).replace(JSON.stringify(TEXTS), JSON.stringify(address(moduleOf(texts))));
  return { code, result: (await import(address(code))).result };
}

test("a function that says `this` often keeps it, with the arrow functions in it, and answers the same", async () => {
  const { code, result } = await run(`
    class Box {
      a = 1; b = [2, 3];
      constructor() { this.c = this.a; this.d = this.a; }
      get sum() { return this.a + this.b.map((each) => each + this.c).reduce((x, y) => x + y) + this.d; }
    }
    export const result = new Box().sum;`);
  assert.equal(result, 9);
  assert.equal(code.match(/\bthis\b/g)?.length, 2);
});

test("nobody else's `this` is taken for a function's own", async () => {
  const { code, result } = await run(`
    class Base { constructor() { this.base = 1; } }
    class Box extends Base {
      constructor() { super(); this.a = this.b = this.c = this.base; this.d = 2; }
      few() { return [this.a, this.b]; }
      outer() {
        const inner = { a: 10, get() { return this.a; } };
        const Field = class { a = 20; twice = this.a + this.a + this.a + this.a; };
        return [this.a, this.b, this.c, this.d, inner.get(), new Field().twice];
      }
      given(a = this.d, b = this.d + this.d + this.d) { return a + b; }
    }
    const box = new Box();
    export const result = [box.few(), box.outer(), box.given()];`);
  assert.deepEqual(result, [[1, 1], [1, 1, 1, 2, 10, 80], 8]);
  assert.equal(code.match(/\$self\b/g)?.length, 5);
});

test("a text that stands often is written once, also where it names a property", async () => {
  const { code, result } = await run(`
    class Named { "aria-label" = 1; static "aria-label"() { return 2; } }
    if (new Named()["aria-label"] + Named["aria-label"]() !== 3) throw Error();
    const one = { "aria-label": "aria-label", ["aria-label"]: "aria-label" };
    switch (one["aria-label"]) { case "aria-label": one["aria-label"] += "\\"'\\n"; }
    export const result = JSON.stringify(one);`);
  assert.equal(JSON.parse(result)["aria-label"], "aria-label\"'\n");
  assert.equal(code.includes('"aria-label"'), false);
});

test("a text is repeated where its name would be no shorter", () => {
  assert.deepEqual(repeatedTexts(TIMES('f("click");', 2)), []);
  assert.deepEqual(repeatedTexts(TIMES('f("click");', 3)), ["click"]);
  assert.deepEqual(repeatedTexts([TIMES('f("on");', 4).join("\n")]), []);
});

test("a module's address and a directive stay texts", () => {
  const source = ['"use strict";', ...TIMES('import "./long-name.js";', 9)].join("\n");
  assert.deepEqual(repeatedTexts([source]), []);
});

test("a source that has the build's own name is refused", () => {
  assert.throws(() => rewrite("let $self;", []), /Choose another name/);
});
