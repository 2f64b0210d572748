/**
 * How the reader wants the screen: kept for the next widget of the page and, where the browser allows it, for the next
 * visit. What was kept is checked like any foreign text: a choice that does not fit counts as not made.
 */

export const LAYOUTS = /** @type {const} */ (["auto", "one", "side", "stacked"]);
export const LOCATIONS = /** @type {const} */ (["short", "full", "off"]);
/** The choices that only change how the room is shared. */
export const SIZES = ["split", "stack", "rows"];
export const SPLIT_LIMITS = { least: 15, most: 85 };
export const ROW_LIMITS = { least: 7, most: 80 };

const NAME = "jaxscope.preferences";
// Every notebook widget loads this module anew, so that only the page itself is common to them.
const SHARED = Symbol.for(NAME);
const MOST_KINDS = 20;
// As wide as in the container query of the style sheet.
const NARROW_PIXELS = 700;

/** @typedef {"one" | "side" | "stacked"} Arrangement */

/**
 * @typedef {object} Preferences
 * @property {(typeof LAYOUTS)[number]} layout
 * @property {number} split the left listing's share of the width, in percent
 * @property {number | null} stack the upper listing's share of the height, in percent; null: by content
 * @property {number | null} rows the height of the listings; null: by content
 * @property {(typeof LOCATIONS)[number]} locations
 * @property {string[]} turned the kinds of hidden parts that are shown, or put away, other than by default
 * @property {boolean} shortNames instead of the compiler's
 * @property {boolean} exact
 * @property {boolean} wrap long lines are broken at the width of the pane
 * @property {boolean} inline computations stand at their call
 * @property {boolean} heat the share of the work that a line does stands beside it
 * @property {boolean} follow whether the other pane scrolls to what is linked
 */

/** @type {Preferences} */
const DEFAULTS = {
  ...{ layout: "auto", split: 43, stack: null, rows: null, follow: true },
  ...{ locations: "short", turned: [], shortNames: false, exact: false, wrap: false, inline: false, heat: true },
};

const within = (/** @type {unknown} */ value, /** @type {{least: number, most: number}} */ { least, most }) =>
  typeof value === "number" && value >= least && value <= most;
const isFlag = (/** @type {unknown} */ value) => typeof value === "boolean";

/** @type {Record<keyof Preferences, (value: any) => boolean>} */
const CHECKS = {
  layout: (value) => LAYOUTS.includes(value),
  split: (value) => within(value, SPLIT_LIMITS),
  stack: (value) => value === null || within(value, SPLIT_LIMITS),
  rows: (value) => value === null || within(value, ROW_LIMITS),
  locations: (value) => LOCATIONS.includes(value),
  turned: (value) => Array.isArray(value) && value.length < MOST_KINDS && value.every((kind) => typeof kind === "string"),
  shortNames: isFlag,
  exact: isFlag,
  wrap: isFlag,
  inline: isFlag,
  heat: isFlag,
  follow: isFlag,
};

/** @param {unknown} found @returns {Preferences} what fits, and the defaults for the rest */
export function checked(found) {
  const given = Object.entries(typeof found === "object" && found !== null ? found : {});
  const fits = given.filter(([name, value]) => Object.hasOwn(CHECKS, name) && CHECKS[/** @type {keyof Preferences} */ (name)](value));
  return { ...DEFAULTS, ...Object.fromEntries(fits) };
}

/** @returns {Preferences} */
export function readPreferences() {
  const shared = /** @type {any} */ (globalThis)[SHARED];
  if (shared) return checked(shared);
  try {
    return checked(JSON.parse(localStorage.getItem(NAME) ?? "null"));
  } catch {
    // Frames without an origin of their own have no storage, and what is in it may be anybody's.
    return checked(null);
  }
}

/** @param {Preferences} preferences */
export function keepPreferences(preferences) {
  /** @type {any} */ (globalThis)[SHARED] = { ...preferences };
  try {
    localStorage.setItem(NAME, JSON.stringify(preferences));
  } catch {
    // Then they last as long as the page.
  }
}

/** The one after `value`, and after the last the first. @template T @param {readonly T[]} values @param {T} value @returns {T} */
export const next = (values, value) => values[(values.indexOf(value) + 1) % values.length];

/**
 * @param {Preferences["layout"]} wanted @param {number} width in pixels, 0 while nothing is drawn
 * @returns {Arrangement}
 */
export function arrangement(wanted, width) {
  if (wanted !== "auto") return wanted;
  return width > 0 && width <= NARROW_PIXELS ? "stacked" : "side";
}
