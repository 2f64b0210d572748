/** What is copied from a listing (lines as shown, their exact text, a place in Python) and its way to the clipboard. */
import { QUIETLY, focusedBeside, h } from "./dom.js";
import { originOf } from "./links.js";
import { awayWords, foldWords } from "./row.js";
import { visible } from "./visible.js";

// Long copies make room for other work this often.
const BREATH_MS = 20;

/** @typedef {import("./listing.js").ListingPane} ListingPane */
/** @typedef {{from: number, to: number}} Lines both included, in the order in which they are shown */

/** The selected lines, or the one of the cursor. @param {ListingPane} pane @returns {Lines | null} */
export function chosenLines(pane) {
  const native = nativeLines(pane);
  if (native) return native;
  const { cursorLine: cursor } = pane;
  if (cursor < 0) return null;
  return inOrder(pane, pane.anchor < 0 ? cursor : pane.anchor, cursor);
}

/** @param {ListingPane} pane @param {number} line @param {number} other @returns {Lines} */
function inOrder({ rows }, line, other) {
  return rows.placeOf(line) < rows.placeOf(other) ? { from: line, to: other } : { from: other, to: line };
}

/** The text selected with the pointer, if any. @param {Element} element @returns {Selection | null} */
export function selectionBeside(element) {
  // Chromium answers for the shadow root, other browsers for the document.
  const root = /** @type {any} */ (element.getRootNode());
  const selection = /** @type {Selection | null} */ (root.getSelection?.() ?? document.getSelection());
  return selection?.isCollapsed ? null : selection;
}

/** The lines that the pointer has selected text in. @param {ListingPane} pane @returns {Lines | null} */
function nativeLines(pane) {
  const { scroller } = pane;
  const selection = selectionBeside(scroller);
  if (!selection) return null;
  const rows = [selection.anchorNode, selection.focusNode].map((node) => (node instanceof Element ? node : node?.parentElement)?.closest(".row"));
  const lines = rows.flatMap((row) => (row && scroller.contains(row) ? Number(/** @type {HTMLElement} */ (row).dataset.line) : []));
  return lines.length === 2 ? inOrder(pane, lines[0], lines[1]) : null;
}

/**
 * @param {ListingPane} pane
 * @param {Lines} lines
 * @param {boolean} exact also what is put away or folded, and every character as it is
 * @returns {Promise<{text: string, count: number}>}
 */
export async function linesOf(pane, { from, to }, exact) {
  const { rows, loadedListing: listing } = pane;
  if (!listing) return { text: "", count: 0 };
  /** @type {string[]} */
  const texts = [];
  let resumed = performance.now();
  for (let row = rows.rowOf(from); row < rows.count && rows.placeAt(row) <= rows.placeOf(to); row += 1) {
    const line = rows.lineAt(row);
    const closed = rows.closedFold(line);
    const place = rows.placeAt(row);
    if (exact) for (let at = place; at <= (closed?.lastPlace ?? place); at += 1) texts.push(listing.lines[rows.lineOf(at)]);
    else texts.push(visible(shownRow(pane.sheet.textOf(line), listing.lines[line], closed)));
    if (performance.now() - resumed < BREATH_MS) continue;
    await new Promise((resume) => setTimeout(resume));
    resumed = performance.now();
  }
  return { text: texts.join("\n"), count: texts.length };
}

/** @param {string} shown @param {string} text @param {import("./rows.js").Fold | null} closed */
function shownRow(shown, text, closed) {
  if (!shown && text) return awayWords(closed);
  return closed ? `${shown} ${foldWords(closed)}` : shown;
}

/** Where a line comes from, such as attention.py:12; "" for nowhere. @param {import("./listing.js").LoadedListing} listing @param {number} line */
export function placeOf({ table }, line) {
  const [frame] = originOf(table, line).frames;
  return frame ? `${frame.file}:${frame.line}` : "";
}

/**
 * @param {string} text
 * @param {Element} element of the screen, to copy from where the browser keeps its clipboard from pages and frames
 * @returns {Promise<boolean>} whether it is in the clipboard now
 */
export async function copyText(text, element) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const focused = focusedBeside(element);
    const area = h("textarea.offscreen", { tabindex: -1, "aria-hidden": "true" });
    area.value = text;
    element.append(area);
    area.select();
    let copied = false;
    try {
      copied = document.execCommand("copy");
    } catch {
      // Then it is not copied, and the caller says so.
    }
    area.remove();
    focused?.focus(QUIETLY);
    return copied;
  }
}
