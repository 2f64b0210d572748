/** What a key does in a listing. Pure. */

/**
 * @typedef {object} State
 * @property {number} row of the cursor, -1 while there is none
 * @property {number} first row in view
 * @property {number} end the row after the last one in view
 * @property {number} count of rows
 * @property {"open" | "closed" | "none"} fold on the cursor's line
 * @property {boolean} atLeft whether the view shows the beginning of the lines
 */
/** @typedef {{move: number} | {scroll: number} | {act: "pin" | "unpin" | "fold"}} Action a row, characters, or a deed */

const SCROLLED_CHARACTERS = 8;

/** @param {string} key @param {State} state @returns {Action | null} null for a key that is not for the listing */
export function keyAction(key, { row, first, end, count, fold, atLeft }) {
  const page = Math.max(1, end - first - 2);
  const moves = /** @type {Record<string, number>} */ ({
    ArrowDown: row < 0 ? first : row + 1,
    ArrowUp: row < 0 ? first : row - 1,
    PageDown: Math.max(row, first) + page,
    PageUp: Math.max(row, 0) - page,
    Home: 0,
    End: count - 1,
  });
  if (Object.hasOwn(moves, key)) return { move: Math.max(0, Math.min(count - 1, moves[key])) };
  if (key === "Enter" && row >= 0) return { act: "pin" };
  if (key === "Escape") return { act: "unpin" };
  if (key === " " && fold !== "none") return { act: "fold" };
  if (key === "ArrowRight") return fold === "closed" && atLeft ? { act: "fold" } : { scroll: SCROLLED_CHARACTERS };
  if (key === "ArrowLeft") return fold === "open" && atLeft ? { act: "fold" } : { scroll: -SCROLLED_CHARACTERS };
  return null;
}
