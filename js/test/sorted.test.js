import assert from "node:assert/strict";
import test from "node:test";
import { firstBeyond, lowerBound } from "../src/sorted.js";

test("the first number beyond is found from either side, and the end where none is", () => {
  const lines = [3, 5, 5, 9];
  for (const [line, first] of [[2, 0], [3, 1], [5, 3], [9, 4]]) {
    assert.equal(firstBeyond(lines.length, 0, (at) => lines[at] > line), first);
  }
  assert.equal(firstBeyond(4, 2, () => true), 2);
});

test("the lower bound is the first that is not less", () => {
  assert.deepEqual([0, 1, 2, 3, 4].map((value) => lowerBound([1, 3, 3], value)), [0, 0, 1, 1, 3]);
});
