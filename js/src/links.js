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
 */
/**
 * @typedef {object} Match what of one listing is linked to one origin
 * @property {Set<number>} exactNodes
 * @property {Set<number>} relatedNodes
 * @property {Set<number>} exactLines
 * @property {Set<number>} relatedLines
 */

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
  };
  if (table.isPython) {
    index.line_place.forEach((file, line) => {
      if (file >= 0) add(table.rowsOf, lineKey({ file: index.files[file], line: lineNumber(index, line) }), line);
    });
    return table;
  }
  for (const node of new Set(index.line_stack)) {
    if (node < 0) continue;
    const frames = stackFrames(index, node);
    if (!frames.length) continue;
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

/** All linked lines in order. @param {LinkTable} table @param {Match} found @returns {{exact: number[], related: number[]}} */
export function linkedLines(table, found) {
  if (table.isPython) {
    const sorted = (/** @type {Set<number>} */ lines) => [...lines].sort((a, b) => a - b);
    return { exact: sorted(found.exactLines), related: sorted(found.relatedLines) };
  }
  /** @type {number[]} */ const exact = [];
  /** @type {number[]} */ const related = [];
  if (!found.exactNodes.size && !found.relatedNodes.size) return { exact, related };
  const { line_stack: nodes, stacks } = table.index;
  // Asked for each time the pointer moves: a table of degrees is read some ten times as fast as two sets.
  const degrees = new Uint8Array(stacks.length);
  for (const node of found.relatedNodes) degrees[node] = RELATED;
  for (const node of found.exactNodes) degrees[node] = EXACT;
  for (let line = 0; line < nodes.length; line += 1) {
    if (nodes[line] < 0) continue;
    const found = degrees[nodes[line]];
    if (found === EXACT) exact.push(line);
    else if (found === RELATED) related.push(line);
  }
  return { exact, related };
}
