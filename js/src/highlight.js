/** The one tokenizer, made from the grammar that Python's lexers are made from too. */
import grammar from "../../jaxscope/lexers/grammar.json";
import { createTokenizer } from "./tokenize.js";
import { TOKENISED_CHARACTERS, composeLine, pythonTokens } from "./line.js";

const tokenizer = createTokenizer(grammar);

/**
 * @param {import("./schema").ListingIndex} index
 * @param {string} text the line
 * @param {number} line its number, from 0
 * @param {boolean} exact nothing is put away
 * @returns {import("./line.js").Line}
 */
export function highlightLine(index, text, line, exact) {
  if (index.dialect === "python") return composeLine(text, pythonTokens(text, index.tokens[line] ?? []), []);
  const tokens = tokenizer.tokenize(index.dialect, text, TOKENISED_CHARACTERS);
  const spans = exact ? [] : tokenizer.hiddenSpans(index.dialect, text);
  const hidden = spans.filter(([, , kind]) => tokenizer.putAwayByDefault.has(kind));
  return composeLine(text, tokens, hidden);
}
