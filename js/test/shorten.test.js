import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import test from "node:test";
import { shortenedProperties } from "../shorten.mjs";
import { checked } from "../src/preferences.js";

const shortened = await shortenedProperties(new URL("../", import.meta.url));

test("what comes from Python or is kept for the next visit has its own name in the bundle", async () => {
  const schema = await readFile(new URL("../src/schema.d.ts", import.meta.url), "utf8");
  // Samples it matches: "  listing: string;", "  bar?: boolean;".
  const members = [...schema.matchAll(/^ {2}(\w+)\??: /gm)].map(([, name]) => name);
  assert.ok(members.length > 100);
  const stored = [...Object.keys(checked(null)), "target", "tab", "left", "right", "pins", "left_out", "keys"];
  assert.deepEqual([...members, ...stored].filter((name) => shortened.test(name)), []);
});

test("so has what is a class of the style sheet because an object has it as a key", () => {
  assert.deepEqual(["exact", "related", "pinned", "error", "cursor"].filter((name) => shortened.test(name)), []);
});

test("what only this program says is shortened", () => {
  assert.deepEqual(["loadedListing", "cursorLine", "nodesThrough"].filter((name) => !shortened.test(name)), []);
});

test("what the language and browsers have keeps its name", () => {
  const classes = [String, Array, RegExp, Map, Set, WeakMap, Promise, Int32Array, URL, AbortController, EventTarget, Event];
  const members = classes.flatMap((each) => Object.getOwnPropertyNames(each.prototype));
  assert.ok(members.includes("search"));
  assert.deepEqual([...members, "element", "options", "pattern", "closed", "composed", "sheet"].filter((name) => shortened.test(name)), []);
});
