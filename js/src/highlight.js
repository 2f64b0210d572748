/** Lines in their colours and without what is put away, by the rules that each listing brings: a tokenizer for each distinct set. */
import { createTokenizer } from "./tokenize.js";
import { TOKENISED_CHARACTERS, composeLine, pythonTokens } from "./line.js";

/** @typedef {import("./schema").ListingIndex} ListingIndex */
/** @typedef {import("./tokenize.js").Tokenizer} Tokenizer */

/** By the text of their rules. @type {Map<string, Tokenizer>} */
const tokenizers = new Map();
/** @type {WeakMap<ListingIndex, Tokenizer>} */
const known = new WeakMap();
/** @type {ReadonlySet<string>} */
const NO_KINDS = new Set();

/** Null for Python, whose listings bring their tokens. @param {ListingIndex} index */
function tokenizerOf(index) {
  const { grammar } = index;
  if (!grammar) return null;
  let tokenizer = known.get(index);
  if (!tokenizer) {
    const rules = JSON.stringify(grammar);
    tokenizer = tokenizers.get(rules) ?? createTokenizer(grammar);
    tokenizers.set(rules, tokenizer);
    known.set(index, tokenizer);
  }
  return tokenizer;
}

/**
 * @param {ListingIndex} index
 * @param {string} text the line
 * @param {number} line its number, from 0
 * @param {boolean} exact nothing is put away
 * @param {ReadonlySet<string>} shown kinds that are shown all the same
 * @returns {import("./line.js").Line}
 */
export function highlightLine(index, text, line, exact, shown = NO_KINDS) {
  const tokenizer = tokenizerOf(index);
  if (!tokenizer) return composeLine(text, pythonTokens(text, index.tokens[line] ?? []), []);
  return composeLine(text, tokenizer.tokenize(text, TOKENISED_CHARACTERS), exact ? [] : hiddenParts(tokenizer, text, shown));
}

/** @param {Tokenizer} tokenizer @param {string} text @param {ReadonlySet<string>} shown */
function hiddenParts({ hiddenSpans, putAwayByDefault }, text, shown) {
  return hiddenSpans(text).filter(([, , kind]) => putAwayByDefault.has(kind) && !shown.has(kind));
}

/**
 * The text of a line as it is shown, without its colours, which would take ten times as long; "" where all of it is put
 * away.
 * @param {ListingIndex} index @param {string} text @param {boolean} exact @param {ReadonlySet<string>} shown
 */
export function shownText(index, text, exact, shown) {
  const tokenizer = exact ? null : tokenizerOf(index);
  const hidden = tokenizer ? hiddenParts(tokenizer, text, shown) : [];
  if (!hidden.length) return text;
  const { runs, away } = composeLine(text, [], hidden);
  return away ? "" : runs.map((run) => run.text).join("");
}

/** The tokens of a line that is not Python's. @param {ListingIndex} index @param {string} text */
export function tokensOf(index, text) {
  return tokenizerOf(index)?.tokenize(text, TOKENISED_CHARACTERS) ?? [];
}
