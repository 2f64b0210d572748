/** The one tokenizer, made from the grammar that Python's lexers are made from too. */
import grammar from "../../jaxscope/lexers/grammar.json";
import { createTokenizer } from "./tokenize.js";
import { TOKENISED_CHARACTERS, composeLine, pythonTokens } from "./line.js";

const tokenizer = createTokenizer(grammar);
/** @type {ReadonlySet<string>} */
const NO_KINDS = new Set();

/** The kinds of parts of a dialect that are put away unless asked for. @param {string} dialect @returns {ReadonlySet<string>} */
export function putAwayKinds(dialect) {
  const { dialects } = /** @type {import("./tokenize.js").Grammar} */ (grammar);
  const hidden = Object.hasOwn(dialects, dialect) ? dialects[dialect].hidden : [];
  return new Set(hidden.filter((rule) => !rule.shown).map((rule) => rule.kind));
}

/**
 * @param {import("./schema").ListingIndex} index
 * @param {string} text the line
 * @param {number} line its number, from 0
 * @param {boolean} exact nothing is put away
 * @param {ReadonlySet<string>} shown kinds that are shown all the same
 * @returns {import("./line.js").Line}
 */
export function highlightLine(index, text, line, exact, shown = NO_KINDS) {
  if (index.dialect === "python") return composeLine(text, pythonTokens(text, index.tokens[line] ?? []), []);
  const tokens = tokenizer.tokenize(index.dialect, text, TOKENISED_CHARACTERS);
  return composeLine(text, tokens, exact ? [] : hiddenParts(index, text, shown));
}

/** @param {import("./schema").ListingIndex} index @param {string} text @param {ReadonlySet<string>} shown */
function hiddenParts(index, text, shown) {
  return tokenizer.hiddenSpans(index.dialect, text).filter(([, , kind]) => tokenizer.putAwayByDefault.has(kind) && !shown.has(kind));
}

/**
 * The text of a line as it is shown, without its colours, which would take ten times as long; "" where all of it is put
 * away.
 * @param {import("./schema").ListingIndex} index @param {string} text @param {boolean} exact @param {ReadonlySet<string>} shown
 */
export function shownText(index, text, exact, shown) {
  const hidden = exact || index.dialect === "python" ? [] : hiddenParts(index, text, shown);
  if (!hidden.length) return text;
  const { runs, away } = composeLine(text, [], hidden);
  return away ? "" : runs.map((run) => run.text).join("");
}

/** The tokens of a line that is not Python's. @param {string} dialect @param {string} text */
export function tokensOf(dialect, text) {
  return tokenizer.tokenize(dialect, text, TOKENISED_CHARACTERS);
}
