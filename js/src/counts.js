/** How many equations, operations and kernels one line of Python became. Pure. */
import { linesOfNodes } from "./links.js";
import { plural } from "./numbers.js";
import { firstBeyond } from "./sorted.js";

const NOUNS = /** @type {Record<string, string>} */ ({ jaxpr: "equation", stablehlo: "op", hlo: "kernel", llvm: "instruction", ptx: "instruction" });
// Instructions that run nothing: "%p.1 = f32[4]{0} parameter(0)", "ROOT %t = (f32[]) tuple(%a)".
const NO_KERNEL = /^\s*(?:ROOT )?\S+ = (?:\(.*?\)|\S+) (?:parameter|constant|tuple|get-tuple-element|bitcast)\(/;

/** @typedef {import("./values.js").Values} Values */
/** @typedef {{file: string, line: number}} Place */

/**
 * @param {{values: Values, table: import("./links.js").LinkTable}[]} listings in the order of the stages
 * @param {Place} place a line of Python
 * @returns {string} "3 equations → 5 ops → 1 kernel"; "" where nothing comes from it
 */
export function countsOf(listings, place) {
  const counts = listings.map(({ values, table }) => {
    const lines = linesOfNodes(table, table.nodesOn.get(`${place.line}:${place.file}`) ?? []);
    const count = values.index.dialect === "hlo" ? kernels(values, lines) : ops(values, lines).length;
    return { count, noun: NOUNS[values.index.dialect] ?? "op" };
  });
  if (counts.every(({ count }) => !count)) return "";
  return counts.map(({ count, noun }) => plural(count, noun)).join(" → ");
}

/** The ops on lines. @param {Values} values @param {Int32Array} lines @returns {number[]} their lines; those of several ops stand there as often */
function ops(values, lines) {
  const found = [];
  const { lineOf } = values;
  let entry = values.entriesFrom(lines[0]);
  for (const line of lines) {
    while (lineOf[entry] < line) entry += 1;
    for (; lineOf[entry] === line; entry += 1) if (!values.isBlock(entry)) found.push(line);
  }
  return found;
}

/** The lines on which computations begin. @type {WeakMap<Values, Int32Array>} */
const computations = new WeakMap();

/** @param {Values} values */
function headsOf(values) {
  let heads = computations.get(values);
  if (!heads) {
    heads = Int32Array.from(values.index.folds.filter((fold) => fold[2] === "computation"), (fold) => Number(fold[0])).sort();
    computations.set(values, heads);
  }
  return heads;
}

/**
 * How many instructions of the program itself run something for these, themselves or in a computation that they call.
 * @param {Values} values @param {Int32Array} lines
 */
function kernels(values, lines) {
  const { start } = values.index;
  const heads = headsOf(values);
  /** @type {Set<number>} */
  const found = new Set();
  /** @type {Set<number>} */
  const seen = new Set();
  const waiting = ops(values, lines);
  for (let line = waiting.pop(); line !== undefined; line = waiting.pop()) {
    const head = heads[firstBeyond(heads.length, 0, (at) => heads[at] > line) - 1] ?? -1;
    if (seen.has(head) || NO_KERNEL.test(values.lines[line])) continue;
    if (head === start || head < 0) found.add(line);
    else {
      seen.add(head);
      waiting.push(...(values.callers.get(head) ?? []));
    }
  }
  return found.size;
}
