import assert from "node:assert/strict";
import test from "node:test";
import { clamp, formatBytes, grouped, plural } from "../src/numbers.js";

test("bytes read as Python writes them", () => {
  // The cases of tests/test_format.py; the screen is compared with format_bytes itself in tests/ui/test_memory_view.py.
  /** @type {[number, string][]} */
  const cases = [
    [0, "0 B"], [1, "1 B"], [1023, "1023 B"], [1024, "1.00 KiB"], [1536, "1.50 KiB"], [1024 ** 2 - 1, "1.00 MiB"], [12_582_912, "12.0 MiB"],
    [100 * 1024 ** 3, "100 GiB"], [2 ** 63, "8.00 EiB"], [2 ** 80, "1048576 EiB"], [-2048, "-2.00 KiB"],
  ];
  for (const [bytes, text] of cases) assert.equal(formatBytes(bytes), text);
});

test("counts are grouped and have their noun", () => {
  assert.deepEqual([grouped(12_582_912), plural(1, "row"), plural(1204, "row"), plural(0, "row")], ["12,582,912", "1 row", "1,204 rows", "0 rows"]);
  assert.deepEqual([clamp(-3, 5), clamp(9, 5), clamp(2, 5), clamp(2, -1)], [0, 5, 2, 0]);
});
