/**
 * Where the values of a listing are defined and used. The index says it entry by entry (`op_line` and the columns beside
 * it); names are read from the lines, by the tokenizer. A name is written without its "%" here, and without "#1", so
 * that it reads the same at its definition and at its uses. Pure.
 */
import { definedNames } from "./definitions.js";
import { Entries } from "./entries.js";

// Operands that spread over lines; in longer ops they stand on the first or the last.
const MOST_LINES_OF_OP = 400;
const KEPT_LINES = 2000;
// What a jaxpr gives back: "    in (c,) }".
const OUTPUT = /^\s*in \(/;

/** @typedef {import("./schema").ListingIndex} ListingIndex */
/** @typedef {[kind: string, text: string]} Token */
/** @typedef {{entry: number, name: string}} Value an entry of the index, and which of the names it defines */
/** @typedef {{name: string, text: string, isDefinition: boolean, at: number}} Name `at` counts tokens */

/** @param {string} text a name as printed: "%5#1", "%add.0", "bf" */
export function bareName(text) {
  // Samples it matches: "%5#1", "%add.0".
  return text.replace(/^%|#\d+$/g, "");
}

export class Values extends Entries {
  /** @param {{index: ListingIndex, lines: string[]}} listing @param {(text: string) => Token[]} tokenize */
  constructor({ index, lines }, tokenize) {
    super(index);
    this.lines = lines;
    this.tokenize = tokenize;
    /** @type {Map<number, {tokens: Token[], names: Name[]}>} */
    this.read = new Map();
    /** @type {Map<number, Map<string, number>>} */
    this.defined = new Map();
  }

  /** The tokens of a line, and the names among them. @param {number} line */
  readLine(line) {
    let found = this.read.get(line);
    if (!found) {
      const tokens = this.tokenize(this.lines[line] ?? "");
      /** @type {Name[]} */
      const names = [];
      tokens.forEach(([kind, text], at) => {
        if (kind === "definition" || kind === "name") names.push({ name: bareName(text), text, isDefinition: kind === "definition", at });
      });
      found = { tokens, names };
      if (this.read.size >= KEPT_LINES) this.read.clear();
      this.read.set(line, found);
    }
    return found;
  }

  /** Whether a line uses a name. @param {number} line @param {string} name */
  #holds(line, name) {
    // Most lines need no closer look.
    if (!this.lines[line]?.includes(name)) return false;
    return this.readLine(line).names.some((each) => each.name === name && !each.isDefinition);
  }

  /** @param {number} line */
  #entriesAround(line) {
    const around = this.lineAround(line);
    return around < 0 ? [] : this.entriesOn(around);
  }

  /** The names that an entry defines, bare, and their lines. @param {number} entry @returns {Map<string, number>} */
  definitions(entry) {
    let found = this.defined.get(entry);
    if (!found) {
      const line = this.lineOf[entry];
      const isBlock = this.isBlock(entry);
      const alike = this.entriesOn(line).filter((each) => this.isBlock(each) === isBlock);
      const place = { dialect: this.index.dialect, line, isBlock, number: alike.indexOf(entry), count: alike.length, around: -1 };
      if (isBlock) place.around = this.lineAround(line);
      const names = definedNames(place, (at) => this.readLine(at).tokens);
      found = new Map([...names].map(([name, at]) => [bareName(name), at]));
      if (this.defined.size >= KEPT_LINES) this.defined.clear();
      this.defined.set(entry, found);
    }
    return found;
  }

  /** @param {number} entry @param {string} name */
  #defines(entry, name) {
    const line = this.lineOf[entry];
    const isSingle = !this.isBlock(entry) && this.endOf(line) === line;
    // Most lines need no closer look.
    return (!isSingle || this.lines[line].includes(name)) && this.definitions(entry).has(name);
  }

  /** The value that a name on a line means. @param {number} line @param {string} text as printed @returns {Value | null} */
  at(line, text) {
    const name = bareName(text);
    const own = this.entriesOn(line);
    const isOutput = !own.length && OUTPUT.test(this.lines[line]);
    for (const entries of isOutput ? [] : [own, this.#entriesAround(line)]) {
      for (const entry of entries) {
        for (const source of this.sourcesOf(entry)) if (this.#defines(source, name)) return { entry: source, name };
      }
      for (const entry of entries) if (this.#defines(entry, name)) return { entry, name };
    }
    return this.#atEnds(line, name);
  }

  /** A name in a line that belongs to no entry: an argument's own line, or what a jaxpr gives back. @param {number} line @param {string} name */
  #atEnds(line, name) {
    let entry = this.entriesFrom(line + 1);
    // A loop names the arguments of its regions, which come after it; labels belong to the region before.
    const last = Math.max(line + 1, this.endOf(line));
    for (let each = entry; this.lineOf[each] <= last; each += 1) {
      if (this.isBlock(each) && this.definitions(each).get(name) === line) return { entry: each, name };
    }
    const { dialect } = this.index;
    if (dialect === "hlo" && this.lines[line].trimEnd().endsWith("{")) {
      // The head of a computation names its parameters, which are instructions.
      const end = Math.min(this.lineOf.length, entry + MOST_LINES_OF_OP);
      for (let each = entry; each < end; each += 1) if (this.#defines(each, name)) return { entry: each, name };
      return null;
    }
    const isJaxpr = dialect === "jaxpr";
    for (entry -= 1; entry >= 0 && this.lineOf[entry] > line - MOST_LINES_OF_OP; entry -= 1) {
      if (!(isJaxpr || this.isBlock(entry)) || !this.#defines(entry, name)) continue;
      if (isJaxpr ? this.#isSeenFrom(line, this.lineOf[entry]) : this.definitions(entry).get(name) === line) return { entry, name };
    }
    return null;
  }

  /** Whether no op holds one line and not the other: jaxprs inside an equation have names of their own.
   * @param {number} line @param {number} other an earlier line */
  #isSeenFrom(line, other) {
    return this.index.spans.every(([first, last]) => !(first < other && other <= last) || line <= last);
  }

  /** What the op on a line defines first. @param {number} line @returns {Value | null} */
  ofLine(line) {
    const entry = this.#opAt(line);
    const [name] = entry < 0 ? [] : this.definitions(entry).keys();
    return name === undefined ? null : { entry, name };
  }

  /** The op on a line, or the one around it; -1 for none. @param {number} line */
  #opAt(line) {
    for (const entries of [this.entriesOn(line), this.#entriesAround(line)]) {
      const entry = entries.find((each) => !this.isBlock(each));
      if (entry !== undefined) return entry;
    }
    return -1;
  }

  /** The values that the op on a line uses, in the order of their names. @param {number} line @param {number} most @returns {Value[]} */
  operands(line, most) {
    const entry = this.#opAt(line);
    if (entry < 0) return [];
    const sources = this.sourcesOf(entry);
    /** @type {Map<string, Value>} */
    const found = new Map();
    for (const at of this.#linesOf(entry)) {
      for (const { name, isDefinition } of this.readLine(at).names) {
        if (found.size >= most || found.size >= this.operandsFrom[entry + 1] - this.operandsFrom[entry]) return [...found.values()];
        if (isDefinition || found.has(name)) continue;
        const source = sources.find((each) => this.#defines(each, name));
        if (source !== undefined) found.set(name, { entry: source, name });
      }
    }
    return [...found.values()];
  }

  /** The lines on which an op's own names stand: its first, its last, and those between that begin no other. @param {number} entry */
  #linesOf(entry) {
    const first = this.lineOf[entry];
    const last = this.endOf(first);
    if (last === first) return [first];
    const between = [];
    let isPlain = true;
    for (let line = first + 1; line < last && last - first < MOST_LINES_OF_OP; line += 1) {
      if (!this.entriesOn(line).length) between.push(line);
      else isPlain = false;
    }
    // Around other ops, lines between are mostly theirs.
    return isPlain ? [first, ...between, last] : [first, last, ...between];
  }

  /** Where a value is defined. @param {Value} value */
  definitionLine({ entry, name }) {
    return this.definitions(entry).get(name) ?? this.lineOf[entry];
  }

  /** The lines that use a value, in order. @param {Value} value @returns {number[]} */
  uses(value) {
    /** @type {Set<number>} */
    const lines = new Set();
    for (const entry of this.#together(value)) {
      const isOnly = this.definitions(entry).size === 1;
      for (const user of new Set(this.users.subarray(this.usersFrom[entry], this.usersFrom[entry + 1]))) {
        const own = this.#linesOf(user);
        const line = isOnly && own.length === 1 ? own[0] : own.find((each) => this.#holds(each, value.name));
        if (line !== undefined) lines.add(line);
      }
    }
    return [...lines].sort((a, b) => a - b);
  }

  /** The regions of a loop print their arguments once, in the loop's own line. @param {Value} value */
  #together({ entry, name }) {
    const line = this.definitions(entry).get(name);
    if (!this.isBlock(entry) || line === undefined || line >= this.lineOf[entry]) return [entry];
    const entries = [];
    const last = this.endOf(line);
    for (let each = this.entriesOn(line)[0]; this.lineOf[each] <= last; each += 1) {
      if (this.isBlock(each) && this.definitions(each).get(name) === line) entries.push(each);
    }
    return entries;
  }

  /** The line of the function, computation or jaxpr that a name on a line calls, -1 for none. @param {number} line @param {string} [text] */
  called(line, text) {
    const targets = this.calls.get(line) ?? [];
    if (text === undefined) return targets[0] ?? -1;
    return targets.find((target) => this.tokenize(this.lines[target]).some(([kind, each]) => kind === "symbol" && each === text)) ?? -1;
  }
}
