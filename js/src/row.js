/** One row of a listing as elements: the gutter with numbers, location and fold, then the text in its colours. */
import { UNHEARD, append, h, setAttribute } from "./dom.js";
import { EXACT, RELATED, lineNumber, stackFrames } from "./links.js";
import { plural } from "./numbers.js";
import { signOf } from "./marks.js";
import { pinColor } from "./pins.js";
import { sliceRuns } from "./rows.js";
import { ROW_HEIGHT } from "./viewport.js";
import { RAIL_CHARACTERS, railOf } from "./wrap.js";

const LEAST_LOCATION_CHARACTERS = 3;
const MOST_LOCATION_CHARACTERS = 18;
const MOST_STACK_CHARACTERS = 44;

/** @typedef {import("./schema").ListingIndex} ListingIndex */
/** @typedef {import("./listing.js").LoadedListing} LoadedListing */
/** @typedef {import("./rows.js").Fold} Fold */
/** @typedef {{from: number, to: number}} Slice the columns to draw of a line that is too long to draw whole */
/** @typedef {import("./wrap.js").Broken & Slice} Pieces the rows of a broken line, and which of them are drawn */
/** @typedef {{text: string, title: string}} Location */

/**
 * @param {object} options
 * @param {LoadedListing} options.listing
 * @param {import("./rows.js").Rows} options.rows
 * @param {number} options.line
 * @param {number} options.row
 * @param {import("./line.js").Line} options.composed
 * @param {Slice | null} options.slice
 * @param {Pieces | null} options.pieces null for a line that is not broken
 * @param {Location | null} options.location null where the listing has no such column
 * @param {import("./schema").Heat | null} options.heat of the listing
 * @param {string} options.id
 */
export function renderRow({ listing: { index }, rows, line, row, composed, slice, pieces, location, heat, id }) {
  const fold = rows.folds.get(line);
  const closed = rows.closedFold(line);
  const number = lineNumber(index, line);
  const isHeading = index.line_place.length > 0 && index.line_place[line] < 0;
  const text = h("span.text", { role: "gridcell" }, ...textOf(composed, closed, slice, pieces));
  const element = h(
    "div",
    { class: `row ${isHeading ? "heading" : ""}`, role: "row", id, "aria-rowindex": row + 1, "data-line": line },
    h(
      "span.gutter", { role: "presentation" },
      h("span.sign", UNHEARD),
      h("span.number", { role: "gridcell" }, number > 0 && String(number)),
      heat && heatCell(heat, line),
      location && h("span.location", { role: "gridcell", title: location.title }, location.text),
      h("span", { role: "gridcell" }, fold ? foldButton(fold.kind, closed !== null) : h("span.fold none")),
    ),
    ...Array.from({ length: railOf(rows.depthOf(line)) / RAIL_CHARACTERS }, () => h("i.rail")),
    text,
  );
  if (pieces) {
    element.style.height = `${pieces.starts.length * ROW_HEIGHT}px`;
    text.style.paddingTop = `${pieces.from * ROW_HEIGHT}px`;
    text.style.setProperty("--indent", `${pieces.indent}ch`);
  }
  return element;
}

/** @param {import("./schema").Heat} heat @param {number} line */
function heatCell({ help, lines, shares, texts }, line) {
  const at = lines.indexOf(line);
  const cell = h("span.heat", { role: "gridcell", title: at < 0 ? null : help }, texts[at]);
  cell.style.backgroundSize = `${100 * (shares[at] ?? 0)}%`;
  return cell;
}

/** @param {string} kind of lines @param {boolean} closed */
function foldButton(kind, closed) {
  const attributes = { class: "fold", tabindex: -1, "data-do": "fold", "aria-label": `fold ${kind}`, "aria-expanded": String(!closed) };
  return h("button", attributes, closed ? "▸" : "▾");
}

/** What rows show; most of them show the same when the pointer moves on. @type {WeakMap<HTMLElement, string>} */
const decorated = new WeakMap();
const UNDECORATED = "0,0,0,0,,,false";

/**
 * Shows on a row what is lit; `hovered` and `pinned` are EXACT, RELATED or NONE.
 * @param {HTMLElement} element
 * @param {{hovered: number, pinned: number, pin: number, number: number, said?: import("./schema").Mark, cursor: boolean}} marks `pin` that
 *   stands on it, `number` of the pin that reaches it; 0 for none
 */
export function decorateRow(element, { hovered, pinned, pin, number, said, cursor }) {
  const state = [hovered, pinned, pin, number, said?.tone, said?.text, cursor].join();
  if (state === (decorated.get(element) ?? UNDECORATED)) return;
  decorated.set(element, state);
  // In quotes, as the bundle has short names of its own for properties, and the style sheet does not know them.
  /** @type {Record<string, boolean>} */
  const classes = { "exact": hovered === EXACT, "related": hovered === RELATED, "pin-exact": pinned === EXACT, "pin-related": pinned === RELATED, "pinned": pin > 0, "cursor": cursor };
  for (const name in classes) element.classList.toggle(name, classes[name]);
  setAttribute(element, "aria-selected", pin ? "true" : null);
  setAttribute(element, "data-pin", number ? pinColor(number) : null);
  setAttribute(element, "data-tone", said ? said.tone : null);
  setAttribute(element, "aria-description", [descriptionOf(hovered, pinned, pin, number), said?.text].filter(Boolean).join(". ") || null);
  const sign = /** @type {HTMLElement} */ (element.querySelector(".sign"));
  const wanted = said && !pin ? signOf(said) : number ? String(number) : "";
  if (sign.textContent !== wanted) sign.textContent = wanted;
  setAttribute(sign, "title", said?.text);
}

/** What the marks of a row say, for those who do not see them.
 * @param {number} hovered @param {number} pinned @param {number} pin @param {number} number */
function descriptionOf(hovered, pinned, pin, number) {
  if (pin) return `pin ${pin}`;
  if (pinned) return `linked to pin ${number}${pinned === EXACT ? "" : " by line or caller"}`;
  return hovered ? `linked${hovered === EXACT ? "" : " by line or caller"}` : null;
}

/**
 * @param {import("./line.js").Line} composed @param {Fold | null} closed @param {Slice | null} slice @param {Pieces | null} pieces
 * @returns {Node[]}
 */
function textOf({ runs, length, away }, closed, slice, pieces) {
  if (away) return [awayButton(closed ? awayWords(closed).slice(2) : awayWords(closed), closed ? "fold" : "whole")];
  const folded = closed ? [awayButton(foldWords(closed), "fold", closed.kind)] : [];
  if (pieces) {
    const { starts, from, to } = pieces;
    return starts.slice(from, to).map((start, number) => {
      const next = starts[from + number + 1];
      const mark = start > 0 && h("span.turn", UNHEARD, "↪");
      return h("span.piece", {}, mark, ...nodesOf(sliceRuns(runs, start, next ?? Infinity)), ...(next === undefined ? folded : []));
    });
  }
  if (!slice) return [...nodesOf(runs), ...folded];
  const before = h("span.before");
  before.style.paddingLeft = `${Math.min(slice.from, length)}ch`;
  return [before, ...nodesOf(sliceRuns(runs, slice.from, slice.to)), ...folded];
}

/** @param {import("./line.js").Run[]} runs */
function nodesOf(runs) {
  /** @type {Node[]} */
  const nodes = [];
  let match = -1;
  for (const run of runs) {
    if (!run.text) continue;
    const node = run.kind === "away" ? awayButton(run.text, "whole", run.title) : h("span", { class: run.kind ? `k-${run.kind}` : null, title: run.title, "data-name": run.name }, run.text);
    if (run.match === undefined) nodes.push(node);
    else if (run.match === match) append(/** @type {Element} */ (nodes[nodes.length - 1]), [node]);
    else nodes.push(h("mark", { class: run.current ? "found current" : "found" }, node));
    match = run.match ?? -1;
  }
  return nodes;
}

/** How much a closed fold hides. @param {Fold} closed */
export const foldWords = ({ place, lastPlace }) => "⋯ " + counted(lastPlace - place);

/** What stands for a line of which nothing is shown. @param {Fold | null} closed */
export const awayWords = (closed) => "… " + counted(closed ? closed.lastPlace - closed.place + 1 : 1) + " of " + (closed?.kind ?? "locations");

/** @param {number} count */
export const counted = (count) => plural(count, "line");

/** @param {string} label @param {string} action @param {string} [title] */
function awayButton(label, action, title) {
  return h("button.away", { tabindex: -1, title, "data-do": action }, label);
}

/**
 * The short place in Python beside a line; once only for an op of several lines.
 * @param {ListingIndex} index @param {number} line @param {string} mainFile whose name need not be repeated
 * @param {Set<number>} continued @param {import("./preferences.js").Preferences["locations"]} length
 * @returns {Location | null} null where the listing has no such column
 */
export function locationOf(index, line, mainFile, continued, length) {
  if (index.line_place.length || length === "off") return null;
  const node = index.line_stack[line];
  const frames = node >= 0 ? stackFrames(index, node) : [];
  const [frame] = frames;
  if (!frame || (continued.has(line) && index.line_stack[line - 1] === node)) return { text: "", title: "" };
  const shown = length === "full" ? frames : [frame];
  return {
    text: shown.map((each) => (each.file === mainFile ? String(each.line) : `${each.file}:${each.line}`)).join(" ‹ "),
    title: shown.map((each) => `${each.file}:${each.line}:${each.column} in ${each.function}`).join("\n"),
  };
}

/** The lines after the first of an op of several lines. @param {ListingIndex} index @returns {Set<number>} */
export function continuedLines({ spans, line_stack: stacks }) {
  /** @type {Set<number>} */
  const continued = new Set();
  for (const [first, last] of spans) {
    for (let line = first + 1; line <= last && stacks[line] === stacks[first]; line += 1) continued.add(line);
  }
  return continued;
}

/**
 * How wide the columns of the gutter are, in characters.
 * @param {LoadedListing} listing @param {string} mainFile
 * @param {import("./preferences.js").Preferences["locations"]} locations
 */
export function gutterCharacters({ index, lines }, mainFile, locations) {
  const largest = index.numbers.length ? index.numbers.reduce((a, b) => Math.max(a, b), 0) : lines.length;
  let location = 0;
  if (!index.line_place.length && locations !== "off") {
    location = LEAST_LOCATION_CHARACTERS;
    for (const node of new Set(index.line_stack)) {
      if (node < 0) continue;
      const most = locations === "full" ? MOST_STACK_CHARACTERS : MOST_LOCATION_CHARACTERS;
      if (location >= most) break;
      const frames = stackFrames(index, node).slice(0, locations === "full" ? undefined : 1);
      const characters = frames.map(({ file, line }) => (file === mainFile ? 0 : file.length + 1) + String(line).length);
      location = Math.max(location, Math.min(most, characters.reduce((sum, each) => sum + each + 3, -3)));
    }
  }
  return { number: Math.max(3, String(largest).length), location };
}
