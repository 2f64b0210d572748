/** How a listing travels: deflated bytes, whole or in parts, no faster than a Jupyter server lets through. */

/** @typedef {{index: import("./schema").ListingIndex, lines: string[]}} ListingData */
/** @typedef {"index" | "text"} PartName */

// Deflated bytes that are inflated at once: some 300 kB of a compiler's text, a millisecond or two of work.
const STEP_BYTES = 32_768;
// After this much work the browser gets its turn, so that loading 50 MB stops neither scrolling nor typing.
const TURN_MS = 12;

/** Lets the browser draw and answer input. @returns {Promise<void>} */
export async function yieldTurn() {
  const { scheduler } = /** @type {any} */ (globalThis);
  if (scheduler?.yield) await scheduler.yield();
  else await new Promise((resolve) => setTimeout(resolve));
}

/** @typedef {ArrayBuffer | ArrayBufferView | string} Deflated zlib's bytes, or these in base64 */

/** The bytes in steps; base64 is decoded step by step too, while the step before is inflated. @param {Deflated} data */
function* stepsOf(data) {
  if (typeof data === "string") {
    const step = 4 * Math.floor(STEP_BYTES / 3);
    for (let at = 0; at < data.length; at += step) yield decodeBase64(data.slice(at, at + step));
    return;
  }
  const bytes = ArrayBuffer.isView(data) ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength) : new Uint8Array(data);
  for (let at = 0; at < bytes.length; at += STEP_BYTES) yield bytes.subarray(at, at + STEP_BYTES);
}

/**
 * Inflates piece by piece; each piece of the text is given as it comes.
 * @param {Deflated} data
 * @param {(piece: string) => void} take
 */
async function inflateInto(data, take) {
  const stream = new DecompressionStream("deflate");
  const writer = stream.writable.getWriter();
  async function feed() {
    for (const step of stepsOf(data)) await writer.write(/** @type {BufferSource} */ (step));
    await writer.close();
  }
  // What is wrong with the data reaches the reader below, too.
  feed().catch(() => {});
  // A mark of the byte order would be a character of the exact text.
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const reader = stream.readable.getReader();
  let turnStart = performance.now();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    take(decoder.decode(value, { stream: true }));
    if (performance.now() - turnStart > TURN_MS) {
      await yieldTurn();
      turnStart = performance.now();
    }
  }
  take(decoder.decode());
}

/**
 * @param {Deflated} data
 * @returns {Promise<string>}
 */
export async function inflate(data) {
  /** @type {string[]} */
  const pieces = [];
  await inflateInto(data, (piece) => pieces.push(piece));
  return pieces.join("");
}

/**
 * The lines of a text, without ever holding it in one piece: the lines point into the pieces they came in.
 * @param {Deflated} data
 * @returns {Promise<string[]>}
 */
export async function inflateLines(data) {
  /** @type {string[]} */
  const lines = [];
  let rest = "";
  await inflateInto(data, (piece) => {
    const end = piece.indexOf("\n");
    if (end < 0) {
      rest += piece;
      return;
    }
    // The rest is joined to its own line only: joined to the whole piece it would copy all of the text once more.
    lines.push(rest + piece.slice(0, end));
    const found = piece.slice(end + 1).split("\n");
    rest = /** @type {string} */ (found.pop());
    for (const line of found) lines.push(line);
  });
  lines.push(rest);
  return lines;
}

/**
 * @param {Deflated} index
 * @param {Deflated} text
 * @returns {Promise<ListingData>}
 */
export async function decodeListing(index, text) {
  const [indexJson, lines] = await Promise.all([inflate(index), inflateLines(text)]);
  await yieldTurn();
  return { index: JSON.parse(indexJson), lines };
}

/** @param {string} text @returns {Uint8Array} */
export function decodeBase64(text) {
  const { fromBase64 } = /** @type {any} */ (Uint8Array);
  if (fromBase64) return fromBase64.call(Uint8Array, text.trim());
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

/** @param {ArrayBufferView[]} parts */
export function join(parts) {
  const whole = new Uint8Array(parts.reduce((total, part) => total + part.byteLength, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(new Uint8Array(part.buffer, part.byteOffset, part.byteLength), offset);
    offset += part.byteLength;
  }
  return whole;
}

/**
 * Puts the parts of one listing together. Parts that were not asked for (another view of the same widget may be asking
 * too) are ignored.
 */
export class Assembly {
  constructor() {
    /** @type {Record<PartName, ArrayBufferView[]>} */
    this.parts = { index: [], text: [] };
    /** @type {PartName} */
    this.name = "index";
    this.done = false;
  }

  /**
   * @param {{name: PartName, part: number, parts: number}} message
   * @param {ArrayBufferView} data
   * @returns {{name: PartName, part: number} | null} what to ask for next; null when this part was not expected or all are here
   */
  add(message, data) {
    const expected = this.parts[this.name];
    if (this.done || message.name !== this.name || message.part !== expected.length) return null;
    expected.push(data);
    if (expected.length < message.parts) return { name: this.name, part: expected.length };
    if (this.name === "text") {
      this.done = true;
      return null;
    }
    this.name = "text";
    return { name: "text", part: 0 };
  }
}

/**
 * A Jupyter server drops output above 1 MB/s averaged over 3 s. This budget allows a burst and then a steady rate below it.
 */
export class Pacer {
  /** @param {{burstBytes?: number, bytesPerSecond?: number, now?: () => number}} [options] `now` in milliseconds */
  constructor({ burstBytes = 800_000, bytesPerSecond = 550_000, now = () => performance.now() } = {}) {
    this.burstBytes = burstBytes;
    this.bytesPerSecond = bytesPerSecond;
    this.now = now;
    this.level = burstBytes;
    this.last = now();
  }

  /**
   * @param {number} bytes just received
   * @returns {number} milliseconds to wait before asking for more
   */
  spend(bytes) {
    const now = this.now();
    this.level = Math.min(this.burstBytes, this.level + ((now - this.last) / 1000) * this.bytesPerSecond) - bytes;
    this.last = now;
    return this.level >= 0 ? 0 : (-this.level / this.bytesPerSecond) * 1000;
  }
}
