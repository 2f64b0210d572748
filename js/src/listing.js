/**
 * One listing on screen. Only the rows in view are elements, and of long lines only the columns in view, so that 385,000
 * lines scroll like 30. The file is longer than most because scrolling, drawing and marking share that one window.
 */
import { h, replace, setAttribute } from "./dom.js";
import { awayKinds, highlightLine, shownText } from "./highlight.js";
import { keyAction } from "./keys.js";
import { composeLine } from "./line.js";
import { NONE } from "./links.js";
import { shortName } from "./names.js";
import { continuedLines, decorateRow, gutterCharacters, locationOf, renderRow } from "./row.js";
import { MAX_SCROLL_HEIGHT, Rows, contentTop, mergeClosedFolds, scrollTopFor } from "./rows.js";
import { Ruler, firstBeyond } from "./ruler.js";

export const ROW_HEIGHT = 19;
const MARGIN_ROWS = 4;
// Lines up to this length are drawn whole; of longer ones a window that moves in steps.
const WHOLE_CHARACTERS = 600;
const COLUMN_STEP = 100;
const KEPT_LINES = 1500;
// What the gutter holds besides figures: sign, fold and paddings of the style sheet.
const GUTTER_PIXELS = 54;

/** @typedef {import("./schema").ListingIndex} ListingIndex */
/** @typedef {{key: string, index: ListingIndex, lines: string[], table: import("./links.js").LinkTable}} LoadedListing */
/** @typedef {import("./row.js").Slice} Slice */
/**
 * What the pane draws upon its lines; each gives EXACT, RELATED or NONE.
 * @typedef {object} Marks
 * @property {(line: number) => number} hovered
 * @property {(line: number) => number} pinned
 * @property {(line: number) => number} pinNumber of the pin that reaches it, from 1; 0 for none
 * @property {Map<number, number>} pins the numbers of the pinned lines
 * @property {Set<number>} errors
 * @property {import("./links.js").Linked[]} ruler hovered, then of each pin
 * @property {number[]} [values] lines of the current value
 */

/** @typedef {Pick<import("./preferences.js").Preferences, "turned" | "shortNames">} Choices */
/**
 * A search in the listing, as far as drawing is concerned.
 * @typedef {object} Find
 * @property {(line: number, composed: import("./line.js").Line) => import("./line.js").Line} mark
 * @property {(rows: Rows, height: number) => {shares: number[], current: number}} overview for a height in rows
 */

/** @type {Marks} */
const NO_MARKS = { hovered: () => NONE, pinned: () => NONE, pinNumber: () => 0, pins: new Map(), errors: new Set(), ruler: [] };

export class ListingPane {
  /**
   * @param {HTMLElement} element
   * @param {object} options
   * @param {string} options.label
   * @param {(line: number | null) => void} options.onHover
   * @param {(line: number, more: boolean) => void} options.onPin
   * @param {AbortSignal} options.signal
   */
  constructor(element, { label, onHover, onPin, signal }) {
    this.onHover = onHover;
    this.onPin = onPin;
    /** @type {LoadedListing | null} */
    this.listing = null;
    this.rows = new Rows(0, []);
    this.marks = NO_MARKS;
    this.exact = false;
    /** @type {import("./preferences.js").Preferences["locations"]} */
    this.locations = "short";
    this.choices = /** @type {Choices} */ ({ turned: [], shortNames: false });
    /** What follows from these for the listing. @type {import("./highlight.js").Manner} */
    this.manner = { away: new Set(), shortNames: false };
    this.mainFile = "";
    this.cursor = -1;
    /** Where a selection of lines began that ends at the cursor; -1 while there is none. */
    this.anchor = -1;
    /** @type {Find | null} */
    this.find = null;
    /** Called when other text is shown than before. @type {() => void} */
    this.onText = () => {};
    this.prefix = `line-${Math.random().toString(36).slice(2)}-`;
    /** @type {Map<number, import("./line.js").Line>} */
    this.composed = new Map();
    /** @type {Set<number>} lines shown whole although the rest is not */
    this.whole = new Set();
    /** @type {Set<number>} */
    this.continued = new Set();
    /** @type {Map<number, {element: HTMLElement, key: string}>} */
    this.drawn = new Map();
    this.longest = 0;
    this.gutterWidth = 0;
    this.frame = 0;
    /** Marks of others upon a row that has been drawn. @type {((row: HTMLElement, line: number) => void) | null} */
    this.decorate = null;
    /** Where the current value is defined and used. @type {number[]} */
    this.valueLines = [];
    this.viewHeight = 0;
    /** Pixels of a character, 0 while not known. */
    this.measuredWidth = 0;

    this.layer = h("div", { class: "layer", role: "presentation" });
    this.sizer = h("div", { class: "sizer", role: "presentation" }, this.layer);
    this.probe = h("span", { class: "probe", "aria-hidden": "true" }, "0".repeat(100));
    this.scroller = h("div", { class: "scroller", tabindex: 0, role: "grid", "aria-label": label }, this.probe, this.sizer);
    this.message = h("div", { class: "message", role: "status", tabindex: 0 });
    this.rulerElement = h("div", { class: "ruler", "aria-hidden": "true" });
    this.ruler = new Ruler(this.rulerElement, { onJump: (share) => this.#jump(share), signal });
    element.append(this.scroller, this.rulerElement, this.message);

    const listen = (/** @type {string} */ name, /** @type {(event: any) => void} */ action) =>
      this.scroller.addEventListener(name, action, { signal, passive: name === "scroll" });
    listen("scroll", () => this.draw());
    listen("pointermove", (event) => this.onHover(this.#lineOf(event)));
    listen("pointerleave", () => this.onHover(null));
    listen("click", (event) => this.#onClick(event));
    listen("keydown", (event) => this.#onKey(event));
    listen("focus", () => this.cursor >= 0 && this.draw());
    const observer = new ResizeObserver(() => {
      this.measuredWidth = 0;
      this.#schedule();
    });
    observer.observe(this.scroller);
    signal.addEventListener(
      "abort",
      () => {
        observer.disconnect();
        cancelAnimationFrame(this.frame);
      },
      { once: true },
    );
  }

  /** @param {LoadedListing} listing */
  show(listing) {
    const same = this.listing?.key === listing.key;
    const earlier = this.rows;
    this.listing = listing;
    this.rows = this.#freshRows();
    if (this.exact) this.rows.openAll();
    else if (same) this.rows.adopt(earlier);
    if (!same) {
      this.cursor = this.anchor = -1;
      this.whole.clear();
    }
    this.scroller.classList.toggle("python", listing.index.dialect === "python");
    this.continued = continuedLines(listing.index);
    this.#setManner();
    this.#measureGutter();
    this.message.hidden = true;
    this.scroller.hidden = this.rulerElement.hidden = false;
    // Only now: an element that is hidden does not scroll, and comes back where it was. And not later: what is drawn
    // where it was would be laid out for nothing.
    if (!same) this.#showFirst(listing.index.start);
    this.invalidate();
  }

  /** Scrolls to where a listing is to be read from. @param {number} line */
  #showFirst(line) {
    this.#forgetDrawn();
    this.sizer.style.height = `${Math.min(this.contentHeight, MAX_SCROLL_HEIGHT)}px`;
    this.scroller.scrollTop = 0;
    if (!this.isVisible(line)) this.#scrollToRow(this.rows.rowOf(line), ROW_HEIGHT);
  }

  #freshRows() {
    const { lines, index } = /** @type {LoadedListing} */ (this.listing);
    return new Rows(lines.length, mergeClosedFolds(lines, index.folds));
  }

  /** Shows text instead of a listing. @param {...import("./dom.js").Child} content */
  say(...content) {
    this.listing = null;
    this.rows = new Rows(0, []);
    this.#forgetDrawn();
    replace(this.message, ...content);
    this.message.hidden = false;
    this.scroller.hidden = this.rulerElement.hidden = true;
    this.onText();
  }

  /** @param {Marks} marks */
  mark(marks) {
    this.marks = marks;
    this.#decorateAll();
    this.#drawRuler();
  }

  /** Draws everything anew: the text shown for a line has changed. */
  invalidate() {
    this.composed.clear();
    this.longest = 0;
    if (this.exact && this.listing) for (const line of this.listing.lines) this.longest = Math.max(this.longest, line.length);
    this.redraw();
    this.onText();
  }

  /** Draws rows and overview anew. */
  redraw() {
    this.#forgetDrawn();
    this.draw();
    this.#drawRuler();
  }

  /** The text of a line as it is shown. @param {number} line */
  textOf(line) {
    const { index, lines } = /** @type {LoadedListing} */ (this.listing);
    return shownText(index, lines[line], this.#mannerOf(line));
  }

  /** A name as it is shown. @param {string} name as printed */
  nameShown(name) {
    return this.listing && this.manner.shortNames && !this.exact ? shortName(this.listing.index, name) : name;
  }

  /** @param {number} line */
  #mannerOf(line) {
    return this.exact || this.whole.has(line) ? null : this.manner;
  }

  #setManner() {
    const { turned, shortNames } = this.choices;
    this.manner = { away: awayKinds(this.listing?.index.grammar ?? null, turned), shortNames };
  }

  #forgetDrawn() {
    this.drawn.clear();
    this.layer.textContent = "";
  }

  #schedule() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => {
      this.draw();
      this.#drawRuler();
    });
  }

  get contentHeight() {
    return this.rows.count * ROW_HEIGHT;
  }

  get top() {
    return contentTop(this.contentHeight, this.scroller.clientHeight, this.scroller.scrollTop);
  }

  /** The first row in view and the one after the last, as shares of rows. */
  get window() {
    const top = this.top;
    return { first: Math.floor(top / ROW_HEIGHT), end: Math.ceil((top + this.scroller.clientHeight) / ROW_HEIGHT) };
  }

  /** Kept until the element is resized: asking for it lays the page out, which each draw would do several times. */
  get characterWidth() {
    if (!this.measuredWidth) this.measuredWidth = this.probe.getBoundingClientRect().width / 100;
    return this.measuredWidth || 7.2;
  }

  draw() {
    if (!this.listing) return;
    const viewHeight = this.scroller.clientHeight;
    if (!viewHeight) return;
    this.viewHeight = viewHeight;
    const height = this.contentHeight;
    this.sizer.style.height = `${Math.min(height, MAX_SCROLL_HEIGHT)}px`;
    setAttribute(this.scroller, "aria-rowcount", this.rows.count);
    const { first, end } = this.window;
    const from = Math.max(0, first - MARGIN_ROWS);
    const to = Math.min(this.rows.count, end + MARGIN_ROWS);
    const top = this.top;
    const columns = this.#columns();

    /** @type {Map<number, {element: HTMLElement, key: string}>} */
    const drawn = new Map();
    for (let row = from; row < to; row += 1) {
      const line = this.rows.lineAt(row);
      const composed = this.#compose(line);
      const slice = composed.length > WHOLE_CHARACTERS ? columns : null;
      const key = `${row}|${slice ? slice.from : ""}`;
      let entry = this.drawn.get(line);
      if (entry?.key !== key) {
        entry?.element.remove();
        entry = { element: this.#makeRow(line, row, composed, slice), key };
        this.layer.append(entry.element);
      }
      this.drawn.delete(line);
      drawn.set(line, /** @type {{element: HTMLElement, key: string}} */ (entry));
    }
    for (const { element } of this.drawn.values()) element.remove();
    this.drawn = drawn;
    // Rows stand relative to the sticky layer, which is what keeps their coordinates small in scaled scrolling.
    for (const [line, { element }] of drawn) {
      element.style.transform = `translateY(${this.rows.rowOf(line) * ROW_HEIGHT - top}px)`;
      this.#decorate(element, line);
    }
    const width = Math.ceil(this.gutterWidth + (this.longest + 2) * this.characterWidth);
    this.sizer.style.width = `max(100%, ${width}px)`;
    this.#activeDescendant();
  }

  /** The columns that lines too long to draw whole show. */
  #columns() {
    const width = this.characterWidth;
    const left = Math.max(0, this.scroller.scrollLeft) / width;
    const from = Math.max(0, Math.floor(left / COLUMN_STEP) - 1) * COLUMN_STEP;
    const to = Math.ceil((left + this.scroller.clientWidth / width) / COLUMN_STEP + 1) * COLUMN_STEP;
    return { from, to };
  }

  /** @param {number} line */
  #compose(line) {
    const { index, lines } = /** @type {LoadedListing} */ (this.listing);
    let composed = this.composed.get(line);
    if (!composed) {
      try {
        composed = highlightLine(index, lines[line], line, this.#mannerOf(line));
      } catch {
        // Without colours, and with nothing put away, a line is still readable.
        composed = composeLine(lines[line], [], []);
      }
      if (this.composed.size >= KEPT_LINES) this.composed.clear();
      this.composed.set(line, composed);
    }
    if (composed.length > this.longest) this.longest = composed.length;
    return composed;
  }

  /** @param {number} line @param {number} row @param {import("./line.js").Line} composed @param {Slice | null} slice */
  #makeRow(line, row, composed, slice) {
    const listing = /** @type {LoadedListing} */ (this.listing);
    const location = locationOf(listing.index, line, this.mainFile, this.continued, this.locations);
    const marked = this.find?.mark(line, composed) ?? composed;
    return renderRow({ listing, rows: this.rows, line, row, composed: marked, slice, location, id: this.prefix + line });
  }

  #measureGutter() {
    const { listing, mainFile } = this;
    const { number, location } = gutterCharacters(/** @type {LoadedListing} */ (listing), mainFile, this.locations);
    this.scroller.style.setProperty("--number-width", `${number}ch`);
    this.scroller.style.setProperty("--location-width", `${location}ch`);
    this.gutterWidth = GUTTER_PIXELS + (number + location + 2) * this.characterWidth;
  }

  /** @param {Partial<Pick<ListingPane, "exact" | "locations" | "mainFile" | "choices">>} options */
  configure({ exact = this.exact, locations = this.locations, mainFile = this.mainFile, choices = this.choices }) {
    const turned = exact !== this.exact;
    const isSame = JSON.stringify(choices) === JSON.stringify(this.choices);
    if (!turned && isSame && locations === this.locations && mainFile === this.mainFile) return;
    Object.assign(this, { exact, locations, mainFile, choices });
    this.#setManner();
    if (!this.listing) return;
    const anchor = this.rows.lineAt(Math.min(this.window.first, this.rows.count - 1));
    if (turned && exact) this.rows.openAll();
    else if (turned) this.rows = this.#freshRows();
    this.#measureGutter();
    this.invalidate();
    if (anchor !== undefined) this.#scrollToRow(this.rows.rowOf(anchor), 0);
  }

  /** Draws the marks anew. */
  redecorate() {
    this.#decorateAll();
    this.#drawRuler();
  }

  #decorateAll() {
    for (const [line, { element }] of this.drawn) this.#decorate(element, line);
  }

  /** @param {HTMLElement} element @param {number} line */
  #decorate(element, line) {
    const closed = this.rows.closedFold(line);
    // A closed fold shows the strongest mark of what it hides, as far as is worth looking on every draw.
    const last = closed && holdsMark(this.marks, line, closed.lastLine) ? Math.min(closed.lastLine, line + 5000) : line;
    let hovered = NONE;
    let pinned = NONE;
    let pin = 0;
    let number = 0;
    let error = false;
    for (let at = line; at <= last; at += 1) {
      hovered = Math.max(hovered, this.marks.hovered(at));
      const reached = this.marks.pinned(at);
      pinned = Math.max(pinned, reached);
      pin = this.marks.pins.get(at) ?? pin;
      if (reached) number = this.marks.pinNumber(at);
      error = error || this.marks.errors.has(at);
    }
    decorateRow(element, { hovered, pinned, pin, number: pin || number, error, cursor: line === this.cursor });
    this.decorate?.(element, line);
    const { anchor, cursor } = this;
    element.classList.toggle("selected", anchor >= 0 && line >= Math.min(anchor, cursor) && line <= Math.max(anchor, cursor));
  }

  #drawRuler() {
    if (!this.listing) return;
    // As high as when it was last drawn: asking now would lay the page out in the middle of marking it.
    const height = Math.max(this.contentHeight, this.viewHeight, 1);
    const share = (/** @type {number} */ line) => (this.rows.rowOf(line) * ROW_HEIGHT) / height;
    this.ruler.arrange(this.rows, height, share);
    this.ruler.draw({ ...this.marks, values: this.valueLines }, this.find?.overview(this.rows, height / ROW_HEIGHT));
  }

  #activeDescendant() {
    setAttribute(this.scroller, "aria-activedescendant", this.drawn.has(this.cursor) ? this.prefix + this.cursor : null);
  }

  /** @param {Event} event @returns {number | null} */
  #lineOf(event) {
    const row = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest(".row"));
    return row ? Number(row.dataset.line) : null;
  }

  /** @param {MouseEvent} event */
  #onClick(event) {
    const line = this.#lineOf(event);
    if (line === null) return;
    const action = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest("[data-do]"))?.dataset.do;
    this.cursor = line;
    if (action === "fold") this.toggleFold(line);
    else if (action === "whole") {
      this.whole.add(line);
      this.composed.delete(line);
      this.#forgetDrawn();
      this.draw();
      this.onText();
    } else if (!this.#hasSelectedText()) this.onPin(line, event.ctrlKey || event.metaKey || event.shiftKey);
    this.#decorateAll();
    this.#activeDescendant();
  }

  #hasSelectedText() {
    // Chromium answers for the shadow root, other browsers for the document.
    const root = /** @type {any} */ (this.scroller.getRootNode());
    const selection = root.getSelection?.() ?? document.getSelection();
    return selection !== null && !selection.isCollapsed;
  }

  /** @param {number} line */
  toggleFold(line) {
    if (this.rows.toggle(line)) this.redraw();
  }

  /** Changes which lines are rows, with the cursor, or else the first row in view, staying where it is. @param {() => void} change */
  rearrange(change) {
    if (!this.listing) return;
    const line = this.cursor >= 0 && this.isVisible(this.cursor) ? this.cursor : (this.rows.lineAt(this.window.first) ?? 0);
    const offset = this.rows.rowOf(line) * ROW_HEIGHT - this.top;
    change();
    if (this.cursor >= 0) this.cursor = this.rows.lineAt(this.rows.rowOf(this.cursor)) ?? -1;
    this.sizer.style.height = `${Math.min(this.contentHeight, MAX_SCROLL_HEIGHT)}px`;
    this.#scrollToRow(this.rows.rowOf(line), offset);
    this.redraw();
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (!this.listing || event.ctrlKey || event.metaKey || event.altKey || !this.rows.count) return;
    const { folds, closed } = this.rows;
    const action = keyAction(event.key, {
      ...this.window,
      row: this.cursor < 0 ? -1 : this.rows.rowOf(this.cursor),
      count: this.rows.count,
      fold: !folds.has(this.cursor) ? "none" : closed.has(this.cursor) ? "closed" : "open",
      atLeft: this.scroller.scrollLeft === 0,
    });
    if (!action) return;
    if ("move" in action) this.moveTo(this.rows.lineAt(action.move));
    else if ("scroll" in action) this.scroller.scrollLeft += action.scroll * this.characterWidth;
    else if (action.act === "pin") this.onPin(this.cursor, event.shiftKey);
    else this.toggleFold(this.cursor);
    event.preventDefault();
    event.stopPropagation();
  }

  /** Puts the keyboard's cursor on a line. @param {number} line */
  moveTo(line) {
    this.cursor = line;
    this.ensureVisible(line);
    this.onHover(line);
    this.draw();
  }

  /** @param {number} line */
  isVisible(line) {
    const row = this.rows.rowOf(line);
    const top = this.top;
    return row * ROW_HEIGHT >= top - 1 && (row + 1) * ROW_HEIGHT <= top + this.scroller.clientHeight + 1 && this.rows.lineAt(row) === line;
  }

  /** @param {number} line */
  ensureVisible(line) {
    if (this.rows.reveal(line)) this.#forgetDrawn();
    const row = this.rows.rowOf(line);
    const top = this.top;
    const viewHeight = this.scroller.clientHeight;
    if (row * ROW_HEIGHT < top) this.#scrollToRow(row, 0);
    else if ((row + 1) * ROW_HEIGHT > top + viewHeight) this.#scrollToRow(row, viewHeight - ROW_HEIGHT);
    this.draw();
  }

  /** Scrolls a line to the upper third, when it is not in view already. @param {number} line */
  bring(line) {
    if (this.isVisible(line)) return;
    if (this.rows.reveal(line)) {
      this.sizer.style.height = `${Math.min(this.contentHeight, MAX_SCROLL_HEIGHT)}px`;
      this.#forgetDrawn();
    }
    this.#scrollToRow(this.rows.rowOf(line), this.scroller.clientHeight / 3);
    this.draw();
  }

  /** @param {number} row @param {number} offset of the row from the top of the view, in pixels */
  #scrollToRow(row, offset) {
    this.scroller.scrollTop = scrollTopFor(this.contentHeight, this.scroller.clientHeight, row * ROW_HEIGHT - offset);
  }

  /** @param {number} share */
  #jump(share) {
    const height = Math.max(this.contentHeight, this.scroller.clientHeight);
    this.#scrollToRow(Math.floor((share * height) / ROW_HEIGHT), this.scroller.clientHeight / 3);
    this.draw();
  }
}

/**
 * Whether anything is marked behind a closed fold; most hide nothing, and then their lines need not be gone through.
 * @param {Marks} marks @param {number} line @param {number} lastLine
 */
function holdsMark(marks, line, lastLine) {
  const isHidden = (/** @type {number} */ marked) => line < marked && marked <= lastLine;
  const holds = (/** @type {Int32Array} */ lines) => isHidden(lines[firstBeyond(lines.length, 0, (at) => lines[at] > line)]);
  return (
    marks.ruler.some(({ exact, related }) => holds(exact) || holds(related)) ||
    [...marks.pins.keys()].some(isHidden) ||
    [...marks.errors].some(isHidden)
  );
}
