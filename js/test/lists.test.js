import assert from "node:assert/strict";
import test from "node:test";
import { longLists } from "../src/lists.js";

const items = (/** @type {number} */ count) => Array.from({ length: count }, (_, number) => `%arg.${number}`).join(", ");
/** @param {string} text */
const parts = (text) => longLists(text).map(([start, end]) => text.slice(start, end));

test("what is between outermost parentheses is a list, if it is long", () => {
  assert.deepEqual(parts(`ROOT %t = () tuple(${items(40)}), metadata={}`), [items(40)]);
  assert.deepEqual(parts(`ENTRY %main (${items(30)}) -> (${items(20)}) {`), [items(30), items(20)]);
  assert.deepEqual(parts(`f(${items(3)})`), []);
});

test("lists within a list are part of it", () => {
  const types = `(f32[8], (${items(20)})), ${items(5)}`;
  assert.deepEqual(parts(`while(${types})`), [types]);
});

test("parentheses in strings and without a partner are text", () => {
  const text = `${")".repeat(3)} call(${items(20)}, "((\\")"), x="(`;
  assert.deepEqual(parts(text), [`${items(20)}, "((\\")"`]);
  assert.deepEqual(parts(`call(${items(40)}`), []);
});

test("time is linear in what is never closed", () => {
  const text = '("\\'.repeat(200_000);
  assert.deepEqual(longLists(text), []);
});
