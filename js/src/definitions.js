/** Which names an entry of a listing defines, and on which line each: read from the tokens of its lines. Pure. */

// Binders that spread over lines: jaxprs have at most some hundreds.
const MOST_LINES = 400;

/** @typedef {[kind: string, text: string]} Token */
/**
 * @typedef {object} Entry
 * @property {string} dialect
 * @property {number} line where it begins
 * @property {boolean} isBlock
 * @property {number} number among the entries of its kind on that line, from 0
 * @property {number} count of these
 * @property {number} around the line of the op around a block, -1 for none
 */

/**
 * @param {Entry} entry
 * @param {(line: number) => Token[]} tokensOf of lines beyond the text none
 * @returns {Map<string, number>} names as printed to their lines
 */
export function definedNames(entry, tokensOf) {
  if (entry.dialect === "jaxpr") return binders(entry, tokensOf);
  const own = tokensOf(entry.line);
  if (entry.dialect === "ptx") return written(own, entry);
  if (!entry.isBlock) return named(own.slice(0, operationAt(own)), entry.line);
  if (entry.dialect === "llvm") return new Map(own.flatMap(([kind, text]) => (kind === "name" ? [[text, entry.line]] : [])));
  const arguments_ = named(own.slice(own.findIndex(([kind]) => kind === "keyword")), entry.line, true);
  if (arguments_.size) return arguments_;
  const label = tokensOf(entry.line + 1);
  // A region's arguments stand in its label, or are named by its op: "^bb0(%arg2: tensor<f32>):", "while(%iterArg = %c)".
  if (label.some(([kind, text]) => kind === "symbol" && text.startsWith("^"))) return named(label, entry.line + 1);
  if (entry.around < 0) return new Map();
  const around = tokensOf(entry.around);
  return named(around.slice(operationAt(around)), entry.around);
}

/**
 * An instruction of PTX writes its first operand, "%r1", "{%r1, %r2}" or "%p1|%p2"; several may share a line.
 * @param {Token[]} tokens @param {Entry} entry
 */
function written(tokens, { line, number, isBlock }) {
  const at = tokens.flatMap(([kind], index) => (kind === "op" ? [index + 1] : []));
  if (isBlock || !at.length) return named(tokens, line);
  /** @type {Map<string, number>} */
  const names = new Map();
  let ends = /^[,;[]$/;
  for (const [kind, text] of tokens.slice(at[number])) {
    if (ends.test(text)) break;
    if (text === "{") ends = /^\}$/;
    else if (kind === "name" || kind === "definition") names.set(text, line);
  }
  return names;
}

/** @param {Token[]} tokens */
function operationAt(tokens) {
  const at = tokens.findIndex(([kind]) => kind === "op");
  return at < 0 ? tokens.length : at;
}

/** @param {Token[]} tokens @param {number} line @param {boolean} [typed] only those with a type behind them */
function named(tokens, line, typed = false) {
  /** @type {Map<string, number>} */
  const names = new Map();
  tokens.forEach(([kind, text], at) => {
    if (kind === "definition" && (!typed || tokens[at + 1]?.[1] === ":")) names.set(text, line);
  });
  return names;
}

/**
 * A jaxpr binds its arguments between `lambda` and `let`, an equation its results before what is not a binder; several
 * of both may begin on one line.
 * @param {Entry} entry @param {(line: number) => Token[]} tokensOf
 */
function binders({ line: first, isBlock, number, count }, tokensOf) {
  /** @type {{names: Map<string, number>, isBlock: boolean}[]} */
  const groups = [];
  /** @type {{names: Map<string, number>, isBlock: boolean} | null} */
  let open = null;
  let inHead = false;
  for (let line = first; line < first + MOST_LINES && (line === first || open); line += 1) {
    for (const [kind, text] of tokensOf(line)) {
      if (kind === "definition") {
        // The lines after the first only end what that began.
        if (!open && line > first) break;
        if (!open) groups.push((open = { names: new Map(), isBlock: inHead }));
        if (text !== "_") open.names.set(text, line);
      } else if (kind === "keyword" && text === "lambda") {
        inHead = true;
        open = null;
      } else if (kind === "keyword" && text === "let") {
        inHead = false;
        open = null;
      } else if (!inHead && open && kind === "punctuation" && text !== ":") open = null;
    }
    if (line > first && !open) break;
    if (!tokensOf(line).length) break;
  }
  const own = groups.filter((group) => group.isBlock === isBlock);
  if (own.length === count) return own[number].names;
  // Equations without results stand among the others: a name on a line means one value, so all of them will do.
  return new Map(own.flatMap((group) => [...group.names]));
}
