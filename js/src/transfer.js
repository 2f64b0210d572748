/** How a listing travels: deflated bytes, whole or in parts, no faster than a Jupyter server lets through. */

/** @typedef {{index: import("./schema").ListingIndex, text: string}} ListingData */
/** @typedef {"index" | "text"} PartName */

/**
 * @param {ArrayBuffer | ArrayBufferView} data deflated (zlib)
 * @returns {Promise<string>}
 */
export async function inflate(data) {
  const stream = new Blob([/** @type {BlobPart} */ (data)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return await new Response(stream).text();
}

/**
 * @param {ArrayBuffer | ArrayBufferView} index
 * @param {ArrayBuffer | ArrayBufferView} text
 * @returns {Promise<ListingData>}
 */
export async function decodeListing(index, text) {
  const [indexJson, exactText] = await Promise.all([inflate(index), inflate(text)]);
  return { index: JSON.parse(indexJson), text: exactText };
}

/** @param {string} text */
export function decodeBase64(text) {
  return Uint8Array.from(atob(text.trim()), (character) => character.charCodeAt(0));
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
