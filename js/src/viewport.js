/** The window onto a listing: where it is among the rows, and how it gets elsewhere. Heights are given in pixels here. */
import { UNHEARD, h } from "./dom.js";
import { MAX_SCROLL_HEIGHT, contentTop, scrollTopFor } from "./rows.js";
import { lowerBound } from "./sorted.js";
import { railOf } from "./wrap.js";

export const ROW_HEIGHT = 19;
// Of lines too long to be drawn whole, a part is, which moves in steps.
const COLUMN_STEP = 100;
const PIECE_STEP = 4;
/** Rows that are drawn above and below the window. */
export const MARGIN_ROWS = 4;
// What is kept in view beside a match that was out of sight.
const MARGIN_CHARACTERS = 8;
// Corrected heights bring other rows into view, whose heights are not known either.
const MOST_CORRECTIONS = 20;

export class Viewport {
  /** @param {string} label @param {import("./sheet.js").Sheet} sheet what is looked at, until another one is */
  constructor(label, sheet) {
    this.sheet = sheet;
    /** Pixels of a character, 0 while not known. */
    this.measuredWidth = 0;
    this.gutterWidth = 0;
    this.layer = h("div.layer", { role: "presentation" });
    this.sizer = h("div.sizer", { role: "presentation" }, this.layer);
    this.probe = h("span.probe", UNHEARD, "0".repeat(100));
    this.scroller = h("div.scroller", { tabindex: 0, role: "grid", "aria-label": label }, this.probe, this.sizer);
  }

  /** Kept until the element is resized: asking for it lays the page out, which each draw would do several times. */
  get characterWidth() {
    if (!this.measuredWidth) this.measuredWidth = this.probe.getBoundingClientRect().width / 100;
    return this.measuredWidth || 7.2;
  }

  /** The columns beside the gutter. */
  get columns() {
    return Math.max(1, Math.floor((this.scroller.clientWidth - this.gutterWidth) / this.characterWidth));
  }

  get contentHeight() {
    return this.sheet.heights.total * ROW_HEIGHT;
  }

  /** How high the window is. */
  get height() {
    return this.scroller.clientHeight;
  }

  /** Where the window begins. */
  get top() {
    return contentTop(this.contentHeight, this.height, this.scroller.scrollTop);
  }

  /** The first row in view and the one after the last. */
  get rows() {
    return this.rowsFrom(this.top);
  }

  /** The same for a window that begins there. @param {number} top */
  rowsFrom(top) {
    const { heights } = this.sheet;
    return { first: heights.rowAt(top / ROW_HEIGHT), end: heights.firstFrom((top + this.height) / ROW_HEIGHT) };
  }

  /** Where a row is in the window, and how high. @param {number} row */
  place(row) {
    const { heights } = this.sheet;
    const top = heights.topOf(row);
    return { offset: top * ROW_HEIGHT - this.top, height: (heights.topOf(row + 1) - top) * ROW_HEIGHT };
  }

  /** Makes room for all rows. */
  size() {
    const height = Math.min(this.contentHeight, MAX_SCROLL_HEIGHT);
    this.sizer.style.height = `${height}px`;
  }

  /** Breaks lines at the width that there is now, and finds the heights of those in view; the first of them stays, or the end. @returns {boolean} whether the width is another */
  settle() {
    const { sheet, columns, height } = this;
    if (!sheet.wrap) return false;
    const resized = sheet.wrap.columns !== columns;
    // Without the page, which would be laid out anew each time.
    let { top } = this;
    const isAtEnd = top > 0 && top + height >= this.contentHeight - 1;
    let moved = false;
    for (let left = MOST_CORRECTIONS, changed = true; changed && left; left -= 1) {
      const { first, end } = this.rowsFrom(top);
      const offset = sheet.heights.topOf(first) * ROW_HEIGHT - top;
      if (sheet.wrap.columns !== columns) sheet.breakAt(columns);
      else changed = sheet.measure(first - MARGIN_ROWS, end + MARGIN_ROWS);
      const { heights } = sheet;
      const lowest = (heights.topOf(first + 1) - 1) * ROW_HEIGHT;
      if (changed) top = Math.min(heights.topOf(first) * ROW_HEIGHT - offset, lowest);
      if (isAtEnd) top = this.contentHeight - height;
      moved ||= changed;
    }
    if (moved) this.scrollTo(top);
    return resized;
  }

  /** The columns that lines too long to draw whole show. */
  get columnsInView() {
    const left = Math.max(0, this.scroller.scrollLeft) / this.characterWidth;
    const right = left + this.scroller.clientWidth / this.characterWidth;
    return inSteps(left, right, COLUMN_STEP);
  }

  /**
   * Which rows of a broken line are drawn. Asks nothing of the page, which has been changed meanwhile and would be laid out.
   * @param {number} row @param {number} top of the window @param {number} height of it
   * @returns {import("./row.js").Pieces | null}
   */
  piecesInView(row, top, height) {
    const { heights, rows } = this.sheet;
    const broken = this.sheet.breakLine(rows.lineAt(row));
    if (!broken || broken.starts.length < 2) return null;
    const above = top / ROW_HEIGHT - heights.topOf(row);
    return { ...broken, ...inSteps(above, above + height / ROW_HEIGHT, PIECE_STEP) };
  }

  /** @param {number} top */
  scrollTo(top) {
    const { height } = this;
    this.size();
    this.scroller.scrollTop = scrollTopFor(this.contentHeight, height, top);
  }

  /** @param {number} row @param {number} offset */
  #scrollTo(row, offset) {
    this.scrollTo(this.sheet.heights.topOf(row) * ROW_HEIGHT - offset);
  }

  /** @param {number} row @param {number} offset of the row from the top of the window */
  scrollToRow(row, offset) {
    const around = Math.ceil(this.height / ROW_HEIGHT) + MARGIN_ROWS;
    this.sheet.measure(row - around, row + around);
    this.#scrollTo(row, offset);
  }

  /** Scrolls no further than it takes to see a row, or a part of one that is higher than the window. @param {number} row */
  showRow(row) {
    this.sheet.measure(row, row + 1);
    const { offset, height } = this.place(row);
    const lowest = Math.max(0, this.height - height);
    if (height > this.height && offset <= this.height - ROW_HEIGHT && offset + height >= ROW_HEIGHT) return;
    if (offset < 0 || offset > lowest) this.scrollToRow(row, offset < 0 ? 0 : lowest);
  }

  /** Scrolls to columns of a row that is in view. @param {number} row @param {import("./search.js").Range} range */
  showColumns(row, [from, to]) {
    const { scroller, characterWidth } = this;
    const sheet = this.sheet;
    const line = sheet.rows.lineAt(row);
    const broken = sheet.breakLine(line);
    if (broken) {
      const down = (lowerBound(broken.starts, from + 1) - 1) * ROW_HEIGHT;
      const offset = this.place(row).offset + down;
      if (offset < 0 || offset + ROW_HEIGHT > this.height) this.scrollToRow(row, this.height / 3 - down);
      return;
    }
    const rail = railOf(sheet.rows.depthOf(line));
    const least = (rail + to + MARGIN_CHARACTERS) * characterWidth - scroller.clientWidth + this.gutterWidth;
    const most = Math.max(0, rail + from - MARGIN_CHARACTERS) * characterWidth;
    scroller.scrollLeft = Math.min(most, Math.max(least, scroller.scrollLeft));
  }

  /**
   * Scrolls on within a row that is higher than the window.
   * @param {number} row @param {number} step 1 for a line of text further down, 2 for a page; negative for up
   * @returns {boolean} whether there was more of it
   */
  stepWithin(row, step) {
    const { offset, height } = this.place(row);
    const more = step > 0 ? offset + height - this.height : -offset;
    if (more < 1 || offset >= this.height || offset + height <= 0) return false;
    this.scrollTo(this.top + Math.sign(step) * Math.min(more, Math.abs(step) > 1 ? Math.max(ROW_HEIGHT, this.height - ROW_HEIGHT) : ROW_HEIGHT));
    return true;
  }
}

/** A little more than from here to there, and the same for a while when both move on. @param {number} from @param {number} to @param {number} step */
const inSteps = (from, to, step) => ({
  from: Math.max(0, Math.floor(from / step) - 1) * step,
  // Of what begins below the window nothing is drawn: counted from the end, less than none would be nearly all.
  to: Math.max(0, Math.ceil(to / step) + 1) * step,
});
