/**
 * One listing on screen. Only the rows in view are elements, and of long lines only the columns in view, so that 385,000
 * lines scroll like 30.
 */
import { selectionBeside } from "./copy.js";
import { UNHEARD, around, consume, h, isModified, on, onResize, replace, setAttribute } from "./dom.js";
import { keyAction } from "./keys.js";
import { NO_MARKS, inPlaces, marksOf, placesOf } from "./marks.js";
import { continuedLines, decorateRow, gutterCharacters, locationOf, renderRow } from "./row.js";
import { Ruler } from "./ruler.js";
import { Sheet } from "./sheet.js";
import { MARGIN_ROWS, ROW_HEIGHT, Viewport } from "./viewport.js";

// Lines up to this length are drawn whole; of longer ones a window that moves in steps.
const WHOLE_CHARACTERS = 600;
// What the gutter holds besides figures: sign, fold and paddings of the style sheet.
const GUTTER_PIXELS = 54;
const HEAT_PIXELS = 58;
/** Keys that go through a line higher than the window before they leave it; 2 is a page. */
const STEPS = new Map([["ArrowDown", 1], ["ArrowUp", -1], ["PageDown", 2], ["PageUp", -2]]);

/** @typedef {{key: string, index: import("./schema").ListingIndex, lines: string[], table: import("./links.js").LinkTable}} LoadedListing */
/** @typedef {import("./marks.js").Marks} Marks */
/** @typedef {import("./sheet.js").Options} Options */

/**
 * A search in the listing, as far as drawing is concerned.
 * @typedef {object} Find
 * @property {(line: number, composed: import("./line.js").Line) => import("./line.js").Line} mark
 * @property {(rows: import("./rows.js").Rows, heights: import("./wrap.js").Heights, height: number) => {shares: number[], current: number}} overview for a height in lines of text
 */

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
    this.loadedListing = null;
    this.marks = NO_MARKS;
    /** The same with places instead of lines. */
    this.placed = NO_MARKS;
    /** @type {Options} */
    this.options = { exact: false, locations: "short", turned: [], shortNames: false, wrap: false, inline: false, heat: null, said: [], mainFile: "" };
    this.cursorLine = -1;
    /** Where a selection of lines began that ends at the cursor; -1 while there is none. */
    this.anchor = -1;
    /** @type {Find | null} */
    this.find = null;
    /** Called when other text is shown than before. @type {() => void} */
    this.onText = () => {};
    this.prefix = `line-${Math.random().toString(36).slice(2)}-`;
    /** @type {Set<number>} */
    this.continued = new Set();
    /** @type {Map<number, {element: HTMLElement, key: string}>} */
    this.drawn = new Map();
    this.frame = 0;
    /** Marks of others upon a row that has been drawn. @type {((row: HTMLElement, line: number) => void) | null} */
    this.decorate = null;
    /** Where the current value is defined and used. @type {number[]} */
    this.valueLines = [];
    this.viewHeight = 0;

    this.view = new Viewport(label, new Sheet(null, this.options));
    this.scroller = this.view.scroller;
    this.message = h("div.message", { role: "status", tabindex: 0 });
    this.rulerElement = h("div.ruler", UNHEARD);
    this.ruler = new Ruler(this.rulerElement, { onJump: (share) => this.#jump(share), signal });
    element.append(this.scroller, this.rulerElement, this.message);

    const listen = (/** @type {string} */ name, /** @type {(event: any) => void} */ action) =>
      this.scroller.addEventListener(name, action, { signal, passive: name === "scroll" });
    listen("scroll", () => this.draw());
    listen("pointermove", (event) => this.onHover(this.#lineOf(event)));
    listen("pointerleave", () => this.onHover(null));
    listen("click", (event) => this.#onClick(event));
    listen("keydown", (event) => this.#onKey(event));
    listen("focus", () => this.cursorLine >= 0 && this.draw());
    const onSize = () => {
      this.view.measuredWidth = 0;
      this.#schedule();
    };
    onResize(this.scroller, onSize, signal);
    on(signal, "abort", () => cancelAnimationFrame(this.frame));
  }

  get sheet() {
    return this.view.sheet;
  }

  get rows() {
    return this.sheet.rows;
  }

  /** @param {LoadedListing} listing */
  show(listing) {
    const same = this.loadedListing?.key === listing.key;
    const earlier = this.sheet;
    this.scroller.classList.toggle("python", listing.index.dialect === "python");
    this.continued = continuedLines(listing.index);
    this.message.hidden = true;
    this.scroller.hidden = this.rulerElement.hidden = false;
    this.loadedListing = listing;
    const take = () => {
      this.view.sheet = new Sheet(listing, this.options);
      if (!same) return;
      this.sheet.whole = earlier.whole;
      if (!this.options.exact) this.rows.adopt(earlier.rows);
    };
    if (same) {
      this.#showText(take);
      return;
    }
    take();
    this.cursorLine = this.anchor = -1;
    this.#forgetDrawn();
    this.#arrange();
    // Only now: an element that is hidden does not scroll, and comes back where it was. And not later: what is drawn
    // where it was would be laid out for nothing.
    this.view.scrollTo(0);
    const row = this.rows.rowOf(listing.index.start);
    // At the bottom it could be seen, and not be read.
    if (row > this.view.rows.end / 2) this.view.scrollToRow(row, ROW_HEIGHT);
    this.redraw();
    this.onText();
  }

  /** Shows text instead of a listing. @param {...import("./dom.js").Child} content */
  say(...content) {
    this.loadedListing = null;
    this.view.sheet = new Sheet(null, this.options);
    this.#forgetDrawn();
    replace(this.message, ...content);
    this.message.hidden = false;
    this.scroller.hidden = this.rulerElement.hidden = true;
    this.onText();
  }

  /** @param {Marks} marks */
  mark(marks) {
    this.marks = marks;
    this.placed = inPlaces(marks, this.rows);
    this.redecorate();
  }

  /** Draws everything anew: other text is shown for the lines. @param {() => void} change */
  #showText(change) {
    this.rearrange(() => {
      change();
      this.#arrange();
    });
    this.onText();
  }

  /** Works out anew what follows from the options and the rows. */
  #arrange() {
    this.placed = inPlaces(this.marks, this.rows);
    this.sheet.forget();
    this.#measureGutter();
    this.sheet.breakAt(this.options.wrap ? this.view.columns : 0);
  }

  /** Draws rows and overview anew. */
  redraw() {
    this.#forgetDrawn();
    this.draw();
    this.#drawRuler();
  }

  #forgetDrawn() {
    this.drawn.clear();
    this.view.layer.textContent = "";
  }

  #schedule() {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => {
      this.draw();
      this.#drawRuler();
    });
  }

  draw() {
    const { sheet, rows, view } = this;
    if (!this.loadedListing || !view.height) return;
    this.viewHeight = view.height;
    if (view.settle()) this.#forgetDrawn();
    view.size();
    setAttribute(this.scroller, "aria-rowcount", rows.count);
    const { top } = view;
    const { first, end } = view.rowsFrom(top);
    const columns = view.columnsInView;

    /** @type {Map<number, {element: HTMLElement, key: string}>} */
    const drawn = new Map();
    for (let row = Math.max(0, first - MARGIN_ROWS); row < Math.min(rows.count, end + MARGIN_ROWS); row += 1) {
      const line = rows.lineAt(row);
      const composed = sheet.compose(line);
      const pieces = view.piecesInView(row, top, this.viewHeight);
      const slice = !sheet.wrap && composed.length > WHOLE_CHARACTERS ? columns : null;
      const key = `${row}|${slice ? slice.from : ""}|${pieces ? `${pieces.from} ${pieces.to}` : ""}`;
      let entry = this.drawn.get(line);
      if (entry?.key !== key) {
        entry?.element.remove();
        entry = { element: this.#makeRow(line, row, composed, slice, pieces), key };
        view.layer.append(entry.element);
      }
      this.drawn.delete(line);
      drawn.set(line, /** @type {{element: HTMLElement, key: string}} */ (entry));
    }
    for (const { element } of this.drawn.values()) element.remove();
    this.drawn = drawn;
    const { heights } = sheet;
    // Rows stand relative to the sticky layer, which is what keeps their coordinates small in scaled scrolling.
    for (const [line, { element }] of drawn) {
      const offset = heights.topOf(rows.rowOf(line)) * ROW_HEIGHT - top;
      element.style.transform = `translateY(${offset}px)`;
      this.#decorate(element, line);
    }
    const width = sheet.wrap ? 0 : Math.ceil(view.gutterWidth + (sheet.longest + 2) * view.characterWidth);
    view.sizer.style.width = `max(100%, ${width}px)`;
    this.#activeDescendant();
  }

  /** @param {number} line @param {number} row @param {import("./line.js").Line} composed @param {import("./row.js").Slice | null} slice @param {import("./row.js").Pieces | null} pieces */
  #makeRow(line, row, composed, slice, pieces) {
    const listing = /** @type {LoadedListing} */ (this.loadedListing);
    const location = locationOf(listing.index, line, this.options.mainFile, this.continued, this.options.locations);
    const marked = this.find?.mark(line, composed) ?? composed;
    return renderRow({ listing, rows: this.rows, line, row, composed: marked, slice, pieces, location, heat: this.options.heat, id: this.prefix + line });
  }

  #measureGutter() {
    const { locations, mainFile, heat } = this.options;
    const { number, location } = gutterCharacters(/** @type {LoadedListing} */ (this.loadedListing), mainFile, locations);
    this.scroller.style.setProperty("--number-width", `${number}ch`);
    this.scroller.style.setProperty("--location-width", `${location}ch`);
    this.view.gutterWidth = GUTTER_PIXELS + (number + location + 2) * this.view.characterWidth + (heat ? HEAT_PIXELS : 0);
  }

  /** @param {Partial<Options>} changed */
  configure(changed) {
    const earlier = { ...this.options };
    // The text on screen keeps its own view of this object.
    Object.assign(this.options, changed);
    if (JSON.stringify(earlier) === JSON.stringify(this.options) || !this.loadedListing) return;
    const { exact, inline } = this.options;
    this.#showText(() => {
      if (exact === earlier.exact && inline === earlier.inline) return;
      const { rows } = this;
      this.sheet.rows = this.sheet.freshRows();
      if (exact === earlier.exact) this.rows.adopt(rows);
    });
  }

  /** Draws the marks anew. */
  redecorate() {
    for (const [line, { element }] of this.drawn) this.#decorate(element, line);
    this.#drawRuler();
  }

  /** @param {HTMLElement} element @param {number} line */
  #decorate(element, line) {
    const { rows, anchor, cursorLine: cursor } = this;
    decorateRow(element, { ...marksOf(this.marks, this.placed, rows, line), cursor: line === cursor });
    this.decorate?.(element, line);
    const [place, one, other] = [line, anchor, cursor].map((each) => rows.placeOf(each));
    element.classList.toggle("selected", anchor >= 0 && place >= Math.min(one, other) && place <= Math.max(one, other));
  }

  #drawRuler() {
    const { rows, viewHeight } = this;
    const { heights } = this.sheet;
    if (!this.loadedListing) return;
    // As high as when it was last drawn: asking now would lay the page out in the middle of marking it.
    const height = Math.max(heights.total, viewHeight / ROW_HEIGHT, 1);
    this.ruler.arrange(rows, height, (place) => heights.topOf(rows.rowAt(place)) / height);
    this.ruler.draw({ ...this.placed, values: placesOf(this.valueLines, rows) }, this.find?.overview(rows, heights, height));
  }

  #activeDescendant() {
    setAttribute(this.scroller, "aria-activedescendant", this.drawn.has(this.cursorLine) ? this.prefix + this.cursorLine : null);
  }

  /** @param {Event} event @returns {number | null} */
  #lineOf(event) {
    const row = around(event, ".row");
    return row ? Number(row.dataset.line) : null;
  }

  /** @param {MouseEvent} event */
  #onClick(event) {
    const line = this.#lineOf(event);
    if (line === null) return;
    const action = around(event, "[data-do]")?.dataset.do;
    this.cursorLine = line;
    if (action === "fold") this.toggleFold(line);
    else if (action === "whole") {
      this.sheet.whole.add(line);
      this.sheet.composed.delete(line);
      this.redraw();
      this.onText();
    } else if (!selectionBeside(this.scroller)) this.onPin(line, event.ctrlKey || event.metaKey || event.shiftKey);
    this.redecorate();
    this.#activeDescendant();
  }

  /** @param {number} line */
  toggleFold(line) {
    if (this.rows.toggle(line)) this.redraw();
  }

  /** Changes which lines are rows, or their text, with the cursor, or else the first row in view, staying where it is. @param {() => void} change */
  rearrange(change) {
    if (!this.loadedListing) return;
    const line = this.cursorLine >= 0 && this.isVisible(this.cursorLine) ? this.cursorLine : (this.rows.lineAt(this.view.rows.first) ?? 0);
    const { offset } = this.view.place(this.rows.rowOf(line));
    change();
    if (this.cursorLine >= 0) this.cursorLine = this.rows.lineAt(this.rows.rowOf(this.cursorLine)) ?? -1;
    this.view.scrollToRow(this.rows.rowOf(line), offset);
    this.redraw();
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (!this.loadedListing || isModified(event) || !this.rows.count) return;
    const { folds, closed } = this.rows;
    const action = keyAction(event.key, {
      ...this.view.rows,
      row: this.cursorLine < 0 ? -1 : this.rows.rowOf(this.cursorLine),
      count: this.rows.count,
      fold: !folds.has(this.cursorLine) ? "none" : closed.has(this.cursorLine) ? "closed" : "open",
      atLeft: this.scroller.scrollLeft === 0,
    });
    if (!action) return;
    if ("move" in action) this.#move(action.move, STEPS.get(event.key) ?? 0);
    else if ("scroll" in action) this.scroller.scrollLeft += action.scroll * this.view.characterWidth;
    else if (action.act === "pin") this.onPin(this.cursorLine, event.shiftKey);
    else this.toggleFold(this.cursorLine);
    consume(event);
  }

  /** @param {number} row @param {number} step */
  #move(row, step) {
    if (step && this.sheet.wrap && this.cursorLine >= 0 && this.view.stepWithin(this.rows.rowOf(this.cursorLine), step)) this.draw();
    else this.moveTo(this.rows.lineAt(row));
  }

  /** Puts the keyboard's cursor on a line. @param {number} line */
  moveTo(line) {
    this.cursorLine = line;
    this.ensureVisible(line);
    this.onHover(line);
    this.draw();
  }

  /** Whether a line is in view, or at least its beginning. @param {number} line */
  isVisible(line) {
    const row = this.rows.rowOf(line);
    const { offset } = this.view.place(row);
    return offset >= -1 && offset + ROW_HEIGHT <= this.view.height + 1 && this.rows.lineAt(row) === line;
  }

  /** @param {number} line */
  ensureVisible(line) {
    if (this.rows.reveal(line)) this.#forgetDrawn();
    this.view.showRow(this.rows.rowOf(line));
    this.draw();
  }

  /** Scrolls a line to the upper third, when it is not in view already. @param {number} line */
  bring(line) {
    if (this.isVisible(line)) return;
    if (this.rows.reveal(line)) this.#forgetDrawn();
    this.view.scrollToRow(this.rows.rowOf(line), this.view.height / 3);
    this.draw();
  }

  /** @param {number} share */
  #jump(share) {
    const { view } = this;
    view.scrollTo(share * Math.max(view.contentHeight, view.height) - view.height / 3);
    this.draw();
  }
}
