/** Long lists of arguments and types: what stands between outermost parentheses, so long that it hides the rest. Pure. */

/** The kind of such parts, beside those of the grammars. */
export const LIST = "list";
const LONG_CHARACTERS = 120;

/**
 * @param {string} text a line
 * @returns {[number, number, string][]} what is between the parentheses, in order
 */
export function longLists(text) {
  /** @type {[number, number, string][]} */
  const found = [];
  let depth = 0;
  let start = 0;
  // A string, in which a parenthesis is a character like others, or a parenthesis. A sample it matches: "a\")".
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"?|[()]/g)) {
    if (token === "(" && depth++ === 0) start = index + 1;
    else if (token === ")" && depth > 0 && --depth === 0 && index - start >= LONG_CHARACTERS) found.push([start, index, LIST]);
  }
  return found;
}
