/**
 * Text from programs as people should see it: every character that is invisible or changes how its neighbours are drawn
 * is written by its number, such as ⟨U+202E⟩. The table is the one that Python's HTML uses.
 */
import ranges from "./invisible.json" with { type: "json" };

const source = ranges.map(([first, last]) => `\\u{${first.toString(16)}}-\\u{${last.toString(16)}}`).join("");
// A sample it matches: "\u202e" (right-to-left override). With the u flag, D800-DFFF matches lone surrogates only.
const invisible = new RegExp(`[${source}]`, "gu");

/** @param {string} text */
export function visible(text) {
  return text.replace(
    invisible,
    (found) => `⟨U+${/** @type {number} */ (found.codePointAt(0)).toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );
}
