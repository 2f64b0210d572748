/** Lines in their colours and without what is put away, by the rules that each listing brings: a tokenizer for each distinct set. */
import { createTokenizer } from "./tokenize.js";
import { TOKENISED_CHARACTERS, composeLine, pythonTokens } from "./line.js";
import { LIST, longLists } from "./lists.js";
import { shortName } from "./names.js";

/** @typedef {import("./schema").ListingIndex} ListingIndex */
/** @typedef {import("./tokenize.js").Tokenizer} Tokenizer */
/** @typedef {{away: ReadonlySet<string>, shortNames: boolean}} Manner how text is shown: without parts of these kinds, and with which names */

/** By the text of their rules. @type {Map<string, Tokenizer>} */
const tokenizers = new Map();
/** @type {WeakMap<ListingIndex, Tokenizer>} */
const known = new WeakMap();
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
 * The kinds of parts that are put away, when those in `turned` are the other way round than by default.
 * @param {import("./schema").Grammar | null} grammar @param {string[]} turned
 */
export const awayKinds = (grammar, turned) =>
  new Set([...(grammar?.hidden ?? []), { kind: LIST, shown: true }].filter(({ kind, shown }) => shown === turned.includes(kind)).map(({ kind }) => kind));

/** @param {Tokenizer} tokenizer @param {string} text @param {Manner} manner */
const awaySpans = (tokenizer, text, { away }) => [...tokenizer.hiddenSpans(text, away), ...(away.has(LIST) ? longLists(text) : [])];

/**
 * @param {ListingIndex} index
 * @param {string} text the line
 * @param {number} line its number, from 0
 * @param {Manner | null} manner null for the exact text
 * @returns {import("./line.js").Line}
 */
export function highlightLine(index, text, line, manner) {
  const tokenizer = tokenizerOf(index);
  if (!tokenizer) return composeLine(text, pythonTokens(text, index.tokens[line] ?? []), []);
  const tokens = tokenizer.tokenize(text, TOKENISED_CHARACTERS);
  return manner ? composeLine(text, tokens, awaySpans(tokenizer, text, manner), renamed(index, tokenizer, text, manner)) : composeLine(text, tokens, []);
}

/** @param {ListingIndex} index @param {Tokenizer} tokenizer @param {string} text @param {Manner} manner @returns {import("./line.js").Renamed[]} */
function renamed(index, tokenizer, text, { shortNames }) {
  if (!shortNames) return [];
  return tokenizer.nameSpans(text).flatMap(([start, end]) => {
    const name = text.slice(start, end);
    const short = shortName(index, name);
    return short === name ? [] : [[start, end, short]];
  });
}

/**
 * The text of a line as it is shown, without its colours, which would take ten times as long; "" where all of it is put
 * away.
 * @param {ListingIndex} index @param {string} text @param {Manner | null} manner
 */
export function shownText(index, text, manner) {
  const tokenizer = manner && tokenizerOf(index);
  if (!tokenizer) return text;
  const hidden = awaySpans(tokenizer, text, manner);
  const names = renamed(index, tokenizer, text, manner);
  if (!hidden.length && !names.length) return text;
  const { runs, away } = composeLine(text, [], hidden, names);
  return away ? "" : runs.map((run) => run.text).join("");
}

/** The tokens of a line that is not Python's. @param {ListingIndex} index @param {string} text */
export function tokensOf(index, text) {
  return tokenizerOf(index)?.tokenize(text, TOKENISED_CHARACTERS) ?? [];
}
