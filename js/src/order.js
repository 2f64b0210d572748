/**
 * Computations below the one instruction that calls them, instead of at the head of the module: the same lines, each once,
 * in another order. A line keeps its number; where it stands is its place. Pure.
 */
/** @typedef {{caller: number, head: number, end: number}} Body the lines from head to end stand below the caller's */
/**
 * @typedef {object} Order
 * @property {Int32Array} lines the line at each place
 * @property {Int32Array} places the place of each line
 * @property {Uint8Array} depths how many calls are around each line
 * @property {Map<number, Body>} bodies by the line that they begin with
 */

// Chains of calls this long are nobody's program.
const DEEPEST = 255;

/**
 * What can stand at its call: the computations that exactly one instruction calls, and that alone.
 * @param {import("./schema").ListingIndex} index @param {string[]} lines
 * @returns {Map<number, Body>} by the line that they begin with
 */
function findBodies({ folds, calls }, lines) {
  /** @type {Map<number, number>} the line that calls, by what it calls; -1 for several */
  const callers = new Map();
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (let at = 0; at + 1 < calls.length; at += 2) {
    const head = calls[at] - calls[at + 1];
    callers.set(head, callers.has(head) ? -1 : calls[at]);
    counts.set(calls[at], (counts.get(calls[at]) ?? 0) + 1);
  }
  const computations = folds.flatMap(([first, last, kind]) => (kind === "computation" ? [[Number(first), Number(last)]] : [])).sort((a, b) => a[0] - b[0]);
  /** @type {Map<number, Body>} */
  const bodies = new Map();
  let before = -1;
  for (const [head, last] of computations) {
    const caller = callers.get(head) ?? -1;
    const isApart = head > before && last < lines.length;
    before = Math.max(before, last);
    // "fusion(%x), kind=kLoop, calls=%fused_computation", "reduce(%x, %c), dimensions={1}, to_apply=%region_0"
    if (!isApart || caller < 0 || counts.get(caller) !== 1 || !/ (?:calls|to_apply)=/.test(lines[caller])) continue;
    let end = last;
    while (end + 1 < lines.length && !lines[end + 1].trim()) end += 1;
    bodies.set(head, { caller, head, end });
  }
  return bodies;
}

/** @param {import("./schema").ListingIndex} index @param {string[]} lines @returns {Order | null} null where nothing would move */
export function orderByCalls(index, lines) {
  const bodies = findBodies(index, lines);
  if (!bodies.size) return null;
  const count = lines.length;
  /** @type {Order} */
  const order = { lines: new Int32Array(count), places: new Int32Array(count), depths: new Uint8Array(count), bodies };
  // Asked for each of 385,000 lines: a table is read ten times as fast as a map.
  const bodyAt = new Int32Array(count);
  const bodyBelow = new Int32Array(count);
  const all = [...bodies.values()];
  all.forEach(({ caller, head }, number) => (bodyAt[head] = bodyBelow[caller] = number + 1));
  /** What is left of each stretch that was left for a deeper one. */
  const around = [{ line: 0, end: count - 1, isMoved: false }];
  let place = 0;
  while (around.length) {
    const stretch = around[around.length - 1];
    const line = stretch.line++;
    if (line > stretch.end) around.pop();
    else if (bodyAt[line] && !stretch.isMoved) stretch.line = all[bodyAt[line] - 1].end + 1;
    else {
      stretch.isMoved = false;
      order.lines[place] = line;
      order.places[line] = place++;
      order.depths[line] = Math.min(DEEPEST, around.length - 1);
      const body = all[bodyBelow[line] - 1];
      if (body) around.push({ line: body.head, end: body.end, isMoved: true });
    }
  }
  // Texts that are no programs may call in a ring, and a ring has no place of its own.
  return place === count ? order : null;
}
