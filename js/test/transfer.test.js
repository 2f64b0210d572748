import assert from "node:assert/strict";
import test from "node:test";
import { deflateSync } from "node:zlib";
import { Assembly, Pacer, decodeBase64, decodeListing, inflateLines, join } from "../src/transfer.js";

test("deflated parts become the listing again, cut anywhere, through views with an offset", async () => {
  const text = "%é = add(𝛼)\n".repeat(3000);
  const whole = deflateSync(Buffer.from(text));
  const shifted = new Uint8Array(whole.length + 7);
  shifted.set(whole, 7);
  const parts = [0, 100, 101].map((start, number, starts) => new DataView(shifted.buffer, 7 + start, (starts[number + 1] ?? whole.length) - start));
  const decoded = await decodeListing(deflateSync(Buffer.from('{"key":"hlo"}')), join(parts));
  assert.equal(decoded.lines.join("\n"), text);
  assert.equal(decoded.index.key, "hlo");
});

test("a text becomes the same lines wherever its pieces end", async () => {
  const wide = Array.from({ length: 40_000 }, (_, number) => `%${number} = é${"x".repeat(number % 50)}`);
  const texts = ["", "\n", "one", "one\n\n", "\ufeffmark\r\nkept\u2028as it is", wide.join("\n"), `${"y".repeat(400_000)}\nz`];
  for (const text of texts) assert.deepEqual(await inflateLines(deflateSync(Buffer.from(text))), text.split("\n"));
});

test("a text that ends before its end is an error", async () => {
  const whole = deflateSync(Buffer.from(Array.from({ length: 9000 }, (_, number) => String(number * 7919)).join("\n")));
  await assert.rejects(inflateLines(whole.subarray(0, whole.length - 10)));
});

test("broken bytes are an error, not an empty listing", async () => {
  await assert.rejects(decodeListing(new Uint8Array([1, 2, 3]), new Uint8Array([1, 2, 3])));
});

test("base64 is read as bytes", () => {
  assert.deepEqual([...decodeBase64(" AP+A\n")], [0, 255, 128]);
});

test("parts are asked for one after the other, index first, and strangers are ignored", () => {
  const assembly = new Assembly();
  const byte = new Uint8Array(1);
  assert.deepEqual(assembly.add({ name: "index", part: 0, parts: 2 }, byte), { name: "index", part: 1 });
  assert.equal(assembly.add({ name: "index", part: 0, parts: 2 }, byte), null);
  assert.equal(assembly.add({ name: "text", part: 0, parts: 1 }, byte), null);
  assert.deepEqual(assembly.add({ name: "index", part: 1, parts: 2 }, byte), { name: "text", part: 0 });
  assert.equal(assembly.done, false);
  assert.equal(assembly.add({ name: "text", part: 0, parts: 1 }, byte), null);
  assert.equal(assembly.done, true);
  assert.equal(assembly.add({ name: "text", part: 0, parts: 1 }, byte), null);
  assert.deepEqual([assembly.parts.index.length, assembly.parts.text.length], [2, 1]);
});

test("no three seconds see more than the server's limit of 3 MB, whatever the size", () => {
  let now = 0;
  const pacer = new Pacer({ now: () => now });
  /** @type {[number, number][]} */
  const sent = [];
  for (let part = 0; part < 200; part += 1) {
    sent.push([now, 256_000]);
    now += pacer.spend(256_000);
  }
  const worst = Math.max(...sent.map(([start]) => sent.filter(([at]) => at >= start && at < start + 3000).reduce((sum, [, size]) => sum + size, 0)));
  assert.ok(worst <= 3_000_000, `${worst} bytes in 3 s`);
  assert.ok(now < (200 * 256_000) / 500, `${now} ms for 51 MB`);
});

test("a small listing is not held up", () => {
  const pacer = new Pacer({ now: () => 0 });
  assert.equal(pacer.spend(256_000), 0);
});

test("base64 is inflated step by step, wherever the steps end", async () => {
  const { deflateSync } = await import("node:zlib");
  for (const size of [0, 1, 20_000, 43_690, 120_001]) {
    // Digits of a fraction: hardly anything to deflate, so that several steps are needed.
    const line = Array.from({ length: size }, (_, at) => ((at * 7919) % 104_729).toString(36)).join("");
    const data = deflateSync(`${line}\n𝛼`).toString("base64");
    assert.deepEqual(await inflateLines(data), [line, "𝛼"]);
  }
});
