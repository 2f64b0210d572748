/**
 * Every action that has a key: this table answers the keyboard, names the keys in titles and is what the help sheet
 * shows, so that these cannot disagree. An action of scope "listing" has its deed in LISTING_DEEDS, one of scope "app"
 * in commands.js; a test holds both to the table. Pure.
 */
import { clamp } from "./numbers.js";

/**
 * @typedef {object} KeyAction
 * @property {string} name
 * @property {string[]} keys as `KeyboardEvent.key` gives them
 * @property {"listing" | "app" | "pane" | "menu" | "search"} scope where the focus has to be: in a listing, anywhere in the widget or
 *   in a pane, in the pane's menu, or in the field of its search
 * @property {string} group its heading in the help sheet
 * @property {string} label what it does
 */

/**
 * @param {string} group @param {KeyAction["scope"]} scope
 * @param {[name: string, keys: string | string[], label: string][]} actions
 * @returns {KeyAction[]}
 */
const rows = (group, scope, actions) => actions.map(([name, keys, label]) => ({ name, keys: [keys].flat(), scope, group, label }));

export const ACTIONS = [
  ...rows("Lines", "listing", [
    ["down", "ArrowDown", "next line"],
    ["up", "ArrowUp", "previous line"],
    ["page-down", "PageDown", "a page down"],
    ["page-up", "PageUp", "a page up"],
    ["first", "Home", "first line"],
    ["last", "End", "last line"],
    ["right", "ArrowRight", "open the fold, or scroll right"],
    ["left", "ArrowLeft", "close the fold, or scroll left"],
    ["fold", " ", "open or close the fold"],
  ]),
  ...rows("Find and copy", "pane", [
    ["search", ["/", "Ctrl+F"], "search"],
    ["next-match", "n", "next match"],
    ["previous-match", "N", "previous match"],
  ]),
  ...rows("Find and copy", "search", [
    ["match-case", "Alt+C", "match case"],
    ["regex", "Alt+R", "regular expression"],
    ["only", "Alt+O", "only matches: no other lines"],
  ]),
  ...rows("Find and copy", "pane", [
    ["line", "g", "go to line"],
    ["copy", "c", "copy lines as shown; Shift and arrows choose several"],
    ["copy-exact", "C", "copy exact text"],
    ["copy-place", "l", "copy place in Python"],
  ]),
  ...rows("Fold", "pane", [
    ["menu", "z", "menu: go to line, copy, fold"],
  ]),
  ...rows("Fold", "menu", [
    ["fold-all", "z a", "fold all"],
    ["unfold-all", "z u", "unfold all"],
    ["level-1", "z 1", "fold to level 1"],
    ["level-2", "z 2", "fold to level 2"],
    ["linked", "z k", "fold all but what is linked"],
  ]),
  ...rows("Pins", "listing", [
    ["pin", "Enter", "pin the line; with Shift, keep the other pins"],
  ]),
  ...rows("Pins", "app", [
    ["unpin-one", ["1", "2", "3", "4", "5", "6"], "take that pin off"],
    ["leave", "Escape", "leave the full screen, or take all pins off"],
  ]),
  ...rows("Values", "app", [
    ["definition", "d", "definition of the value, or of the first operand"],
    ["use", "u", "next use"],
    ["use-before", "U", "use before"],
    ["called", "i", "into what is called"],
    ["back", "b", "back from a jump; Alt+← too"],
  ]),
  ...rows("Findings", "app", [
    ["mark", "a", "next line with a finding or a failure"],
    ["mark-before", "A", "the one before"],
  ]),
  ...rows("Screen", "app", [
    ["before", "[", "stage or report before"],
    ["after", "]", "stage or report after"],
    ["layout", "w", "layout: automatic, one pane, side by side, stacked"],
    ["full", "F", "full screen"],
    ["follow", "f", "whether the other pane scrolls to what is linked"],
    ["help", "?", "all keys"],
  ]),
  ...rows("Text", "pane", [
    ["view", "v", "switches of what is shown"],
  ]),
  ...rows("Text", "app", [
    ["locations", "o", "Python line beside every operation: short, full call stack, off"],
    ["types", "t", "types of values"],
    ["names", "s", "short names in place of the compiler's, which are their titles"],
    ["layouts", "y", "layouts of arrays"],
    ["metadata", "m", "metadata"],
    ["config", "k", "backend configuration"],
    ["constants", "x", "long constants"],
    ["lists", "p", "long lists of parameters, operands and types"],
    ["wrap", "W", "long lines broken at the width of the pane"],
    ["inline", "I", "fusion bodies at their call"],
    ["heat", "h", "share of the work beside a line"],
    ["exact", "e", "the compiler's exact text, nothing put away"],
  ]),
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
  return action && "move" in action ? { move: clamp(action.move, state.count - 1) } : action;
}
