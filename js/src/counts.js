/** How many equations, operations and kernels one line of Python became. Pure. */

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
    const nodes = new Set(table.nodesOn.get(`${place.line}:${place.file}`));
    const count = values.index.dialect === "hlo" ? kernels(values, nodes).size : ops(values, nodes).length;
    return { count, noun: NOUNS[values.index.dialect] ?? "op" };
  });
  if (counts.every(({ count }) => !count)) return "";
  return counts.map(({ count, noun }) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`).join(" → ");
}

/** @param {Values} values @param {Set<number>} nodes @returns {number[]} their lines; those of several ops stand there as often */
function ops(values, nodes) {
  const lines = [];
  if (nodes.size) {
    const { line_stack: stacks } = values.index;
    for (let entry = 0; entry < values.lineOf.length; entry += 1) {
      const line = values.lineOf[entry];
      if (nodes.has(stacks[line]) && !values.isBlock(entry)) lines.push(line);
    }
  }
  return lines;
}

/**
 * The instructions of the program itself that run something for these, themselves or in a computation that they call.
 * @param {Values} values @param {Set<number>} nodes @returns {Set<number>} lines
 */
function kernels(values, nodes) {
  const { folds, start } = values.index;
  const heads = folds.filter((fold) => fold[2] === "computation").map((fold) => Number(fold[0])).sort((a, b) => a - b);
  /** @type {Set<number>} */
  const found = new Set();
  /** @type {Set<number>} */
  const seen = new Set();
  const waiting = ops(values, nodes);
  for (let line = waiting.pop(); line !== undefined; line = waiting.pop()) {
    const head = heads[lastBefore(heads, line)] ?? -1;
    if (seen.has(head) || NO_KERNEL.test(values.lines[line])) continue;
    if (head === start || head < 0) found.add(line);
    else {
      seen.add(head);
      waiting.push(...(values.callers.get(head) ?? []));
    }
  }
  return found;
}

/** @param {number[]} sorted @param {number} line @returns {number} index of the last that is not behind the line */
function lastBefore(sorted, line) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= line) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
