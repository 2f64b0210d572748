/**
 * Every action that has a key: this table answers the keyboard, names the keys in titles and is what the help sheet
 * shows, so that these cannot disagree. An action of scope "listing" has its deed in LISTING_DEEDS, one of scope "app"
 * in commands.js; a test holds both to the table. Pure.
 */

/**
 * @typedef {object} KeyAction
 * @property {string} name
 * @property {string[]} keys as `KeyboardEvent.key` gives them
 * @property {"listing" | "app" | "pane" | "menu" | "search"} scope where the focus has to be: in a listing, anywhere in the widget or
 *   in a pane, in the pane's menu, or in the field of its search
 * @property {string} group its heading in the help sheet
 * @property {string} label what it does
 */

/** @type {KeyAction[]} */
export const ACTIONS = [
  { name: "down", keys: ["ArrowDown"], scope: "listing", group: "Lines", label: "next line" },
  { name: "up", keys: ["ArrowUp"], scope: "listing", group: "Lines", label: "previous line" },
  { name: "page-down", keys: ["PageDown"], scope: "listing", group: "Lines", label: "a page down" },
  { name: "page-up", keys: ["PageUp"], scope: "listing", group: "Lines", label: "a page up" },
  { name: "first", keys: ["Home"], scope: "listing", group: "Lines", label: "first line" },
  { name: "last", keys: ["End"], scope: "listing", group: "Lines", label: "last line" },
  { name: "right", keys: ["ArrowRight"], scope: "listing", group: "Lines", label: "open the fold, or scroll right" },
  { name: "left", keys: ["ArrowLeft"], scope: "listing", group: "Lines", label: "close the fold, or scroll left" },
  { name: "fold", keys: [" "], scope: "listing", group: "Lines", label: "open or close the fold" },
  { name: "search", keys: ["/", "Ctrl+F"], scope: "pane", group: "Find and copy", label: "search" },
  { name: "next-match", keys: ["n"], scope: "pane", group: "Find and copy", label: "next match" },
  { name: "previous-match", keys: ["N"], scope: "pane", group: "Find and copy", label: "previous match" },
  { name: "match-case", keys: ["Alt+C"], scope: "search", group: "Find and copy", label: "match case" },
  { name: "regex", keys: ["Alt+R"], scope: "search", group: "Find and copy", label: "regular expression" },
  { name: "only", keys: ["Alt+O"], scope: "search", group: "Find and copy", label: "only matches: no other lines" },
  { name: "line", keys: ["g"], scope: "pane", group: "Find and copy", label: "go to line" },
  { name: "copy", keys: ["c"], scope: "pane", group: "Find and copy", label: "copy lines as shown; Shift and arrows choose several" },
  { name: "copy-exact", keys: ["C"], scope: "pane", group: "Find and copy", label: "copy exact text" },
  { name: "copy-place", keys: ["l"], scope: "pane", group: "Find and copy", label: "copy place in Python" },
  { name: "menu", keys: ["z"], scope: "pane", group: "Fold", label: "menu: go to line, copy, fold" },
  { name: "fold-all", keys: ["z a"], scope: "menu", group: "Fold", label: "fold all" },
  { name: "unfold-all", keys: ["z u"], scope: "menu", group: "Fold", label: "unfold all" },
  { name: "level-1", keys: ["z 1"], scope: "menu", group: "Fold", label: "fold to level 1" },
  { name: "level-2", keys: ["z 2"], scope: "menu", group: "Fold", label: "fold to level 2" },
  { name: "linked", keys: ["z k"], scope: "menu", group: "Fold", label: "fold all but what is linked" },
  { name: "pin", keys: ["Enter"], scope: "listing", group: "Pins", label: "pin the line; with Shift, keep the other pins" },
  { name: "unpin-one", keys: ["1", "2", "3", "4", "5", "6"], scope: "app", group: "Pins", label: "take that pin off" },
  { name: "leave", keys: ["Escape"], scope: "app", group: "Pins", label: "leave the full screen, or take all pins off" },
  { name: "definition", keys: ["d"], scope: "app", group: "Values", label: "definition of the value, or of the first operand" },
  { name: "use", keys: ["u"], scope: "app", group: "Values", label: "next use" },
  { name: "use-before", keys: ["U"], scope: "app", group: "Values", label: "use before" },
  { name: "called", keys: ["i"], scope: "app", group: "Values", label: "into what is called" },
  { name: "back", keys: ["b"], scope: "app", group: "Values", label: "back from a jump; Alt+← too" },
  { name: "before", keys: ["["], scope: "app", group: "Screen", label: "stage or report before" },
  { name: "after", keys: ["]"], scope: "app", group: "Screen", label: "stage or report after" },
  { name: "layout", keys: ["w"], scope: "app", group: "Screen", label: "layout: automatic, one pane, side by side, stacked" },
  { name: "full", keys: ["F"], scope: "app", group: "Screen", label: "full screen" },
  { name: "follow", keys: ["f"], scope: "app", group: "Screen", label: "whether the other pane scrolls to what is linked" },
  { name: "help", keys: ["?"], scope: "app", group: "Screen", label: "all keys" },
  { name: "locations", keys: ["o"], scope: "app", group: "Text", label: "Python line beside every operation: short, full call stack, off" },
  { name: "layouts", keys: ["y"], scope: "app", group: "Text", label: "layouts of arrays" },
  { name: "metadata", keys: ["m"], scope: "app", group: "Text", label: "metadata" },
  { name: "config", keys: ["k"], scope: "app", group: "Text", label: "backend configuration" },
  { name: "exact", keys: ["e"], scope: "app", group: "Text", label: "the compiler's exact text, nothing put away" },
];

/** @param {string} key @param {KeyAction["scope"]} scope @returns {KeyAction | undefined} */
export const actionOf = (key, scope) => ACTIONS.find((action) => action.scope === scope && action.keys.includes(key));

/** How a key is written. @param {string} key */
export const keyName = (key) => ({ " ": "Space", ArrowDown: "↓", ArrowUp: "↑", ArrowLeft: "←", ArrowRight: "→", Escape: "Esc" })[key] ?? key;

/** What an action does and its key, for a title. @param {string} name */
export function titleOf(name) {
  const action = ACTIONS.find((each) => each.name === name);
  return action ? `${action.label} (key ${action.keys.map(keyName).join(" ")})` : "";
}

/**
 * @typedef {object} State
 * @property {number} row of the cursor, -1 while there is none
 * @property {number} first row in view
 * @property {number} end the row after the last one in view
 * @property {number} count of rows
 * @property {"open" | "closed" | "none"} fold on the cursor's line
 * @property {boolean} atLeft whether the view shows the beginning of the lines
 */
/** @typedef {{move: number} | {scroll: number} | {act: "pin" | "fold"}} Action a row, characters, or a deed */

const SCROLLED_CHARACTERS = 8;
const page = (/** @type {State} */ { first, end }) => Math.max(1, end - first - 2);

/** @type {Record<string, (state: State) => Action | null>} */
export const LISTING_DEEDS = {
  down: ({ row, first }) => ({ move: row < 0 ? first : row + 1 }),
  up: ({ row, first }) => ({ move: row < 0 ? first : row - 1 }),
  "page-down": (state) => ({ move: Math.max(state.row, state.first) + page(state) }),
  "page-up": (state) => ({ move: Math.max(state.row, 0) - page(state) }),
  first: () => ({ move: 0 }),
  last: ({ count }) => ({ move: count - 1 }),
  right: ({ fold, atLeft }) => (fold === "closed" && atLeft ? { act: "fold" } : { scroll: SCROLLED_CHARACTERS }),
  left: ({ fold, atLeft }) => (fold === "open" && atLeft ? { act: "fold" } : { scroll: -SCROLLED_CHARACTERS }),
  fold: ({ fold }) => (fold === "none" ? null : { act: "fold" }),
  pin: ({ row }) => (row < 0 ? null : { act: "pin" }),
};

/** @param {string} key @param {State} state @returns {Action | null} null for a key that is not for the listing */
export function keyAction(key, state) {
  const action = LISTING_DEEDS[actionOf(key, "listing")?.name ?? ""]?.(state) ?? null;
  return action && "move" in action ? { move: Math.max(0, Math.min(state.count - 1, action.move)) } : action;
}
