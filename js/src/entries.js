/**
 * The columns of an index that say where values are defined and used, unpacked: an entry for each op, and for each block
 * that takes arguments, in the order of their lines. Pure.
 */
import { lowerBound } from "./sorted.js";

const ENTRY_OF_BLOCK = -1;

export class Entries {
  /** @param {import("./schema").ListingIndex} index */
  constructor(index) {
    this.index = index;
    const count = index.op_line.length;
    /** The line of each entry. */
    this.lineOf = new Int32Array(count);
    /** Where the operands of each entry begin. */
    this.operandsFrom = new Int32Array(count + 1);
    /** The entry that defines each operand, -1 for none. */
    this.sources = new Int32Array(index.operand_source.length);
    const { lineOf, operandsFrom, sources } = this;
    const { op_line: steps, op_operands: counts, operand_source: backs } = index;
    let line = 0;
    let operand = 0;
    for (let entry = 0; entry < count; entry += 1) {
      line += steps[entry];
      lineOf[entry] = line;
      operandsFrom[entry] = operand;
      for (const end = operand + counts[entry]; operand < end; operand += 1) sources[operand] = backs[operand] ? entry - backs[operand] : -1;
    }
    this.operandsFrom[count] = operand;
    /** Where the users of each entry begin. */
    this.usersFrom = new Int32Array(count + 1);
    this.users = new Int32Array(0);
    this.#linkUsers(count);
    /** Lines of what a line calls. @type {Map<number, number[]>} */
    this.calls = new Map();
    /** Lines of the calls of what begins at a line. @type {Map<number, number[]>} */
    this.callers = new Map();
    for (let at = 0; at + 1 < index.calls.length; at += 2) {
      const from = index.calls[at];
      const to = from - index.calls[at + 1];
      add(this.calls, from, to);
      add(this.callers, to, from);
    }
    /** First line to last line of ops of several lines. @type {Map<number, number>} */
    this.ends = new Map(index.spans.map(([first, last]) => [first, last]));
  }

  /** @param {number} count */
  #linkUsers(count) {
    const { sources } = this;
    for (let at = 0; at < sources.length; at += 1) if (sources[at] >= 0) this.usersFrom[sources[at] + 1] += 1;
    for (let entry = 0; entry < count; entry += 1) this.usersFrom[entry + 1] += this.usersFrom[entry];
    this.users = new Int32Array(this.usersFrom[count]);
    const next = this.usersFrom.slice();
    for (let entry = 0; entry < count; entry += 1) {
      for (let at = this.operandsFrom[entry]; at < this.operandsFrom[entry + 1]; at += 1) {
        const source = sources[at];
        if (source >= 0) this.users[next[source]++] = entry;
      }
    }
  }

  /** The first entry that begins on a line or after it. @param {number} line */
  entriesFrom(line) {
    return lowerBound(this.lineOf, line);
  }

  /** The entries that begin on a line. @param {number} line @returns {number[]} */
  entriesOn(line) {
    const entries = [];
    for (let entry = this.entriesFrom(line); this.lineOf[entry] === line; entry += 1) entries.push(entry);
    return entries;
  }

  /** The first line of the innermost op of several lines around a line, -1 for none. @param {number} line */
  lineAround(line) {
    let found = -1;
    let length = Infinity;
    for (const [first, last] of this.index.spans) {
      if (first < line && line <= last && last - first < length) [found, length] = [first, last - first];
    }
    return found;
  }

  /** @param {number} entry */
  isBlock(entry) {
    return this.index.op_operands[entry] === ENTRY_OF_BLOCK;
  }

  /** The last line of what begins on a line. @param {number} line */
  endOf(line) {
    return this.ends.get(line) ?? line;
  }

  /** The entries whose values an entry uses, each once. @param {number} entry @returns {number[]} */
  sourcesOf(entry) {
    const sources = this.sources.subarray(this.operandsFrom[entry], this.operandsFrom[entry + 1]);
    return [...new Set(sources)].filter((source) => source >= 0);
  }
}

/** @param {Map<number, number[]>} map @param {number} key @param {number} value */
function add(map, key, value) {
  const values = map.get(key);
  if (values) values.push(value);
  else map.set(key, [value]);
}
