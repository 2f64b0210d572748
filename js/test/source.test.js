import assert from "node:assert/strict";
import test from "node:test";
import { deflateSync } from "node:zlib";
import { widgetSource } from "../src/source.js";

/** @param {string} text */
const deflated = (text) => {
  const bytes = deflateSync(Buffer.from(text));
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
};

/** anywidget's model, as far as it is used: `send` is answered by `answer`. @param {Record<string, any>} state */
function fakeModel(state, answer = (/** @type {any} */ _message) => {}) {
  const events = new EventTarget();
  return {
    events,
    sent: /** @type {any[]} */ ([]),
    get: (/** @type {string} */ name) => state[name],
    set: (/** @type {string} */ name, /** @type {any} */ value) => void (state[name] = value),
    on: (/** @type {string} */ name, /** @type {any} */ callback) => events.addEventListener(name, (event) => callback(.../** @type {CustomEvent} */ (event).detail)),
    off() {},
    save_changes() {},
    send(/** @type {any} */ message) {
      this.sent.push(message);
      answer(message);
    },
    receive(/** @type {any} */ message, /** @type {any[]} */ buffers) {
      events.dispatchEvent(new CustomEvent("msg:custom", { detail: [message, buffers] }));
    },
  };
}

const INDEX = JSON.stringify({ key: "hlo" });
const TEXT = "HloModule m\nENTRY main";

/** @param {DataView} data @param {number} at @returns {DataView[]} */
const cut = (data, at) => [new DataView(data.buffer, data.byteOffset, at), new DataView(data.buffer, data.byteOffset + at, data.byteLength - at)];

test("a listing that was stored in parts is read from the model, and nothing is asked for", async () => {
  const [first, second] = cut(deflated(TEXT), 7);
  const model = fakeModel({ stored: { hlo: { index: ["part_0"], text: ["part_1", "part_2"] } }, part_0: deflated(INDEX), part_1: first, part_2: second });
  const { index, lines } = await widgetSource(model, new AbortController().signal).listing("hlo");
  assert.deepEqual([index.key, lines, model.sent], ["hlo", TEXT.split("\n"), []]);
});

test("a part of the model's state serves as one that came with the message", async () => {
  /** @type {Record<string, any>} */
  const state = {};
  const parts = { index: [deflated(INDEX)], text: cut(deflated(TEXT), 7) };
  const model = fakeModel(state, ({ key, name = /** @type {"index" | "text"} */ ("index"), part = 0 }) => {
    const pieces = parts[/** @type {"index" | "text"} */ (name)];
    state[`part_${name}_${part}`] = pieces[part];
    queueMicrotask(() => model.receive({ type: "part", key, name, part, parts: pieces.length, trait: `part_${name}_${part}` }, []));
  });
  const { lines } = await widgetSource(model, new AbortController().signal).listing("hlo");
  assert.deepEqual(lines, TEXT.split("\n"));
  assert.deepEqual(model.sent.map(({ type }) => type), ["listing", "next", "next"]);
});

test("stored parts of which one is missing are asked for again", () => {
  const model = fakeModel({ stored: { hlo: { index: ["part_0"], text: ["part_1"] } }, part_0: deflated(INDEX), part_1: new DataView(new ArrayBuffer(0)) });
  widgetSource(model, new AbortController().signal).listing("hlo");
  assert.deepEqual(model.sent, [{ type: "listing", key: "hlo" }]);
});

test("why a listing is not saved is what Python said, or nothing", () => {
  const { absence } = widgetSource(fakeModel({ left_out: { hlo: "too large" } }), new AbortController().signal);
  assert.deepEqual([absence?.("hlo"), absence?.("jaxpr")], ["too large", ""]);
});

test("every answer reaches the one who asked, the second as the first", () => {
  const model = fakeModel({});
  const source = widgetSource(model, new AbortController().signal);
  /** @type {unknown[]} */
  const told = [];
  const onAnswer = (/** @type {unknown[]} */ ...answer) => void told.push(answer);
  source.check?.("types", "f32[4]", onAnswer);
  assert.deepEqual(model.sent, [{ type: "check", tab: "types", text: "f32[4]" }]);
  // Asked again while the kernel is busy with the first.
  source.check?.("types", "f(", onAnswer);
  const verdict = { type: "checked", request: "check types", verdict: "It fits" };
  model.receive({ ...verdict, request: "check types@rocm" }, []);
  model.receive(verdict, []);
  model.receive({ type: "refused", request: "check types", reason: "It is a call" }, []);
  assert.deepEqual(told, [["It fits", false], ["It is a call", true]]);
});
