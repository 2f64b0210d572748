/**
 * Which lines of two listings come from the same Python.
 *
 * A link is exact when the innermost frames are the same expression, or, where the other listing has no frame of that
 * extent (XLA keeps one end for all expressions that start together), when they start at the same place. For a line of
 * Python: when the innermost frame is on that line. It is related when they only share the line or meet further out in the call stack. Pure functions over the
 * listing indices; one table per listing is built when it is loaded, hovering only looks things up.
 */
import { LINE_MADE_BY_COMPILER } from "./constants.js";

export const EXACT = 2;
export const RELATED = 1;
export const NONE = 0;

/** @typedef {import("./schema").ListingIndex} ListingIndex */
/** @typedef {{file: string, function: string, line: number, column: number, extent: string}} Frame */
/**
 * @typedef {object} Origin
 * @property {"python" | "op" | "compiler" | "none"} kind
 * @property {Frame[]} frames innermost first; for a line of Python the line itself
 */
/**
 * @typedef {object} LinkTable
 * @property {ListingIndex} index
 * @property {boolean} isPython
 * @property {Map<string, number[]>} nodesOver innermost extent → stack nodes
 * @property {Map<string, number[]>} nodesAt innermost position → stack nodes
 * @property {Map<string, number[]>} nodesOn innermost line → stack nodes
 * @property {Map<string, number[]>} nodesThrough any frame's line → stack nodes
 * @property {Map<string, number[]>} rowsOf line of Python → lines of a Python listing
 * @property {Int32Array} linesFrom where the lines of each stack node begin in `linesOf`
 * @property {Int32Array} linesOf the lines of all nodes, those of a node in order
 * @property {Map<string, Match>} matches the last ones asked for
 */
/**
 * @typedef {object} Match what of one listing is linked to one origin
 * @property {Set<number>} exactNodes
 * @property {Set<number>} relatedNodes
 * @property {Set<number>} exactLines
 * @property {Set<number>} relatedLines
 * @property {Linked} [linked] all linked lines, once they were asked for
 */
/** @typedef {{exact: Int32Array, related: Int32Array}} Linked lines in order */

// Those of the pins and of the line under the pointer; each may hold 100,000 lines.
const KEPT_MATCHES = 16;
// Up to this share of a listing, sorting what is linked is quicker than looking through all of it.
const SORTED_SHARE = 1 / 32;

/** @param {{file: string, line: number}} place */
const lineKey = (place) => `${place.line}:${place.file}`;
/** @param {Frame} frame */
const positionKey = (frame) => `${frame.line}:${frame.column}:${frame.file}`;
/** @param {Frame} frame */
const extentKey = (frame) => `${frame.extent}:${positionKey(frame)}`;

/** @template K @param {Map<K, number[]>} map @param {K} key @param {number} value */
function add(map, key, value) {
  const values = map.get(key);
  if (!values) map.set(key, [value]);
  else if (values[values.length - 1] !== value) values.push(value);
}

/** @param {ListingIndex} index @param {number} number @returns {Frame} */
function frameAt(index, number) {
  const [file, name, line, column, endLine, endColumn] = index.frames[number];
  return { file: index.files[file], function: index.functions[name], line, column, extent: `${endLine}:${endColumn}` };
}

/** @param {ListingIndex} index @param {number} node @returns {Frame[]} innermost first */
export function stackFrames(index, node) {
  const frames = [];
  // The bound ends a walk over a damaged index whose callers form a ring.
  for (let left = index.stacks.length; node >= 0 && left > 0; left -= 1) {
    const [frame, caller] = index.stacks[node];
    frames.push(frameAt(index, frame));
    node = caller;
  }
  return frames;
}

/** @param {ListingIndex} index @returns {LinkTable} */
export function linkTable(index) {
  /** @type {LinkTable} */
  const table = {
    index,
    isPython: index.line_place.length > 0,
    nodesOver: new Map(),
    nodesAt: new Map(),
    nodesOn: new Map(),
    nodesThrough: new Map(),
    rowsOf: new Map(),
    linesFrom: new Int32Array(index.stacks.length + 1),
    linesOf: new Int32Array(0),
    matches: new Map(),
  };
  if (table.isPython) {
    index.line_place.forEach((file, line) => {
      if (file >= 0) add(table.rowsOf, lineKey({ file: index.files[file], line: lineNumber(index, line) }), line);
    });
    return table;
  }
  const { linesFrom } = table;
  const nodeCount = index.stacks.length;
  for (const node of index.line_stack) if (node >= 0) linesFrom[node + 1] += 1;
  for (let node = 0; node < nodeCount; node += 1) linesFrom[node + 1] += linesFrom[node];
  const next = linesFrom.slice();
  const linesOf = (table.linesOf = new Int32Array(linesFrom[nodeCount]));
  index.line_stack.forEach((node, line) => {
    if (node >= 0) linesOf[next[node]++] = line;
  });
  for (let node = 0; node < nodeCount; node += 1) {
    if (linesFrom[node] === linesFrom[node + 1]) continue;
    const frames = stackFrames(index, node);
    add(table.nodesOver, extentKey(frames[0]), node);
    add(table.nodesAt, positionKey(frames[0]), node);
    add(table.nodesOn, lineKey(frames[0]), node);
    for (const frame of frames) add(table.nodesThrough, lineKey(frame), node);
  }
  return table;
}

/** The number shown beside a line, 0 for none. @param {ListingIndex} index @param {number} line */
export function lineNumber(index, line) {
  return index.numbers.length ? (index.numbers[line] ?? 0) : line + 1;
}

/**
 * The line whose op a line belongs to: itself, or the first line of the innermost op that spans it.
 * @param {ListingIndex} index
 * @param {number} line
 */
export function opLine(index, line) {
  if (index.line_stack[line] >= 0 || index.line_stack[line] === LINE_MADE_BY_COMPILER) return line;
  let found = line;
  let length = Infinity;
  for (const [first, last] of index.spans) {
    if (first <= line && line <= last && last - first < length) {
      found = first;
      length = last - first;
    }
  }
  return found;
}

/** @param {LinkTable} table @param {number} line @returns {Origin} */
export function originOf(table, line) {
  const { index } = table;
  if (table.isPython) {
    const file = index.line_place[line] ?? -1;
    if (file < 0) return { kind: "none", frames: [] };
    const place = { file: index.files[file], function: "", line: lineNumber(index, line), column: 0, extent: "" };
    return { kind: "python", frames: [place] };
  }
  const node = index.line_stack[opLine(index, line)];
  if (node === LINE_MADE_BY_COMPILER) return { kind: "compiler", frames: [] };
  const frames = node >= 0 ? stackFrames(index, node) : [];
  return { kind: frames.length ? "op" : "none", frames };
}

/** @param {LinkTable} table @param {Origin} origin @returns {Match} */
export function match(table, origin) {
  const { matches } = table;
  const asked = `${origin.kind} ${origin.frames.map(extentKey)}`;
  let found = matches.get(asked);
  if (!found) {
    found = newMatch(table, origin);
    if (matches.size >= KEPT_MATCHES) matches.clear();
    matches.set(asked, found);
  }
  return found;
}

/** @param {LinkTable} table @param {Origin} origin @returns {Match} */
function newMatch(table, origin) {
  /** @type {Match} */
  const found = { exactNodes: new Set(), relatedNodes: new Set(), exactLines: new Set(), relatedLines: new Set() };
  const [innermost, ...callers] = origin.frames;
  if (!innermost) return found;
  if (table.isPython) {
    for (const line of table.rowsOf.get(lineKey(innermost)) ?? []) found.exactLines.add(line);
    for (const frame of callers) {
      for (const line of table.rowsOf.get(lineKey(frame)) ?? []) if (!found.exactLines.has(line)) found.relatedLines.add(line);
    }
    return found;
  }
  const exact =
    origin.kind === "python"
      ? table.nodesOn.get(lineKey(innermost))
      : (table.nodesOver.get(extentKey(innermost)) ?? table.nodesAt.get(positionKey(innermost)));
  found.exactNodes = new Set(exact);
  for (const node of table.nodesThrough.get(lineKey(innermost)) ?? []) if (!found.exactNodes.has(node)) found.relatedNodes.add(node);
  return found;
}

/** @param {LinkTable} table @param {Match} found @param {number} line @returns {number} EXACT, RELATED or NONE */
export function degree(table, found, line) {
  if (table.isPython) return found.exactLines.has(line) ? EXACT : found.relatedLines.has(line) ? RELATED : NONE;
  const node = table.index.line_stack[line];
  if (node < 0) return NONE;
  return found.exactNodes.has(node) ? EXACT : found.relatedNodes.has(node) ? RELATED : NONE;
}

/** All linked lines in order. @param {LinkTable} table @param {Match} found @returns {Linked} */
export function linkedLines(table, found) {
  if (!found.linked) {
    const { exactNodes, relatedNodes, exactLines, relatedLines } = found;
    found.linked = table.isPython
      ? { exact: Int32Array.from(exactLines).sort(), related: Int32Array.from(relatedLines).sort() }
      : { exact: linesOfNodes(table, exactNodes), related: linesOfNodes(table, relatedNodes) };
  }
  return found.linked;
}

/**
 * The lines of stack nodes, in order.
 * @param {LinkTable} table @param {Iterable<number>} nodes each once
 */
export function linesOfNodes({ index, linesFrom, linesOf }, nodes) {
  const parts = [...nodes].map((node) => linesOf.subarray(linesFrom[node], linesFrom[node + 1]));
  const lines = new Int32Array(parts.reduce((sum, part) => sum + part.length, 0));
  if (parts.length > 1 && lines.length > index.line_stack.length * SORTED_SHARE) {
    const isLinked = new Uint8Array(index.line_stack.length);
    for (const part of parts) for (const line of part) isLinked[line] = 1;
    let at = 0;
    for (let line = 0; line < isLinked.length; line += 1) if (isLinked[line]) lines[at++] = line;
    return lines;
  }
  let at = 0;
  for (const part of parts) {
    lines.set(part, at);
    at += part.length;
  }
  return parts.length > 1 ? lines.sort() : lines;
}
