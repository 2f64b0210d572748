/** Where the two listings stand and how high they are: one, side by side or stacked, in the page or over all of it. */
import { h, on, setAttribute } from "./dom.js";
import { makeSeparator } from "./grip.js";
import { ROW_LIMITS, SPLIT_LIMITS, arrangement } from "./preferences.js";
import { ROW_HEIGHT } from "./viewport.js";

const MOST_ROWS = 26;
const PAGE_MARGIN_PIXELS = 36;
const FEWEST_STACKED_ROWS = 3;
const STACKED_SHARE = 0.62;

/** @typedef {import("./preferences.js").Preferences} Preferences */
/** @typedef {import("./preferences.js").Arrangement} Arrangement */

export class Layout {
  /**
   * @param {object} options
   * @param {HTMLElement} options.host
   * @param {HTMLElement} options.element the app
   * @param {import("./pane.js").Pane[]} options.panes left, right
   * @param {Preferences} options.preferences
   * @param {boolean} options.fillsWindow
   * @param {(change: Partial<Preferences>) => void} options.prefer
   * @param {() => void} options.onFull the widget covers the screen now, or no longer does
   * @param {AbortSignal} options.signal
   */
  constructor({ host, element, panes, preferences, fillsWindow, prefer, onFull, signal }) {
    this.host = host;
    this.element = element;
    this.panes = panes;
    this.preferences = preferences;
    this.fillsWindow = fillsWindow;
    this.onFull = onFull;
    /** Of the app, 0 while not known: asking for it lays the page out. */
    this.width = 0;
    this.box = h("div.panes");
    const isStacked = () => this.arrangement === "stacked";
    this.split = makeSeparator({
      ...{ name: "split", label: "room of the first listing", ...SPLIT_LIMITS, signal },
      isUpright: () => !isStacked(),
      perPixel: () => 100 / Math.max(1, isStacked() ? this.#stackedPixels() : this.box.clientWidth),
      value: () => (isStacked() ? this.#stackShare() : preferences.split),
      onChange: (share) => prefer(isStacked() ? { stack: share } : { split: share }),
    });
    this.grip = makeSeparator({
      ...{ name: "grip", label: "height of the listings", ...ROW_LIMITS, signal },
      isUpright: () => false,
      perPixel: () => 1 / ROW_HEIGHT,
      value: () => Number.parseFloat(this.element.style.getPropertyValue("--pane-height")) / ROW_HEIGHT,
      onChange: (rows) => prefer({ rows }),
    });
    this.box.append(panes[0].element, this.split.element, panes[1].element);
    on(host, "fullscreenchange", () => this.#setFull(host.matches(":fullscreen")), signal);
    on(signal, "abort", () => this.leaveFull());
  }

  /** @returns {Arrangement} */
  get arrangement() {
    this.width ||= this.element.clientWidth;
    return arrangement(this.preferences.layout, this.width);
  }

  get isFull() {
    return this.host.dataset.full !== undefined;
  }

  /**
   * @param {boolean} same both listings are one, and beside itself it would show nothing new
   */
  arrange(same) {
    const arranged = this.arrangement;
    const alone = same || arranged === "one";
    this.box.dataset.layout = alone ? "one" : arranged;
    this.panes[0].element.hidden = this.split.element.hidden = alone;
  }

  /** Makes the listings as high as their content, within limits, until the reader says otherwise. */
  fit() {
    const { rows: wanted, split, stack } = this.preferences;
    const shown = this.panes.filter((pane) => !pane.element.hidden);
    const counts = shown.map((pane) => pane.listingPane.sheet.heights.total || pane.lines);
    const mostRows = this.#mostRows();
    const height = this.isFull ? mostRows : wanted;
    const rows = height ?? Math.max(ROW_LIMITS.least, Math.min(mostRows, Math.max(...counts) + 1));
    // One above the other, each is as high as its own content asks for, and both together not much higher than one.
    const share = this.isFull ? 0.5 : STACKED_SHARE;
    const stackedRows = (height ?? mostRows) * share;
    shown.forEach((pane, number) => {
      const own = counts[number] ? Math.max(FEWEST_STACKED_ROWS, counts[number] + 1) : FEWEST_STACKED_ROWS + 1;
      const given = (2 * stackedRows * (number ? 100 - Number(stack) : Number(stack))) / 100;
      const each = stack !== null ? given : this.isFull ? stackedRows : Math.min(own, stackedRows);
      pane.element.style.setProperty("--stacked-height", `${Math.round(each * ROW_HEIGHT)}px`);
    });
    this.element.style.setProperty("--pane-height", `${Math.round(rows * ROW_HEIGHT)}px`);
    this.box.style.setProperty("--left", `${split}fr`);
    this.box.style.setProperty("--right", `${100 - split}fr`);
    this.grip.show();
    this.split.show();
  }

  /** The heights of the listings themselves, without their heads. */
  #listingPixels() {
    return this.panes.map((pane) => (pane.element.hidden ? 0 : (pane.listingPane.scroller.parentElement?.offsetHeight ?? 0)));
  }

  #stackedPixels() {
    return this.#listingPixels().reduce((sum, pixels) => sum + pixels, 0);
  }

  #stackShare() {
    const { stack } = this.preferences;
    return stack ?? (100 * this.#listingPixels()[0]) / Math.max(1, this.#stackedPixels());
  }

  /** A page of its own and a full screen have the whole window for the listings, a notebook's cell only a part. */
  #mostRows() {
    if (!this.fillsWindow && !this.isFull) return MOST_ROWS;
    const isStacked = this.box.dataset.layout === "stacked";
    const listings = isStacked && this.isFull ? this.#stackedPixels() : this.#listingPixels()[1];
    const parts = /** @type {HTMLElement[]} */ ([...this.element.children]).filter((part) => part.localName !== "dialog");
    const height = parts.reduce((sum, part) => sum + part.offsetHeight, 0);
    const room = window.innerHeight - height + listings - (this.isFull ? 4 : PAGE_MARGIN_PIXELS);
    return this.isFull ? Math.max(ROW_LIMITS.least, room / ROW_HEIGHT) : Math.max(MOST_ROWS, Math.floor(room / ROW_HEIGHT));
  }

  /** Over the whole screen where the browser lets it, else over the whole page; or back. */
  async toggleFull() {
    if (this.isFull) return this.leaveFull();
    try {
      if (!document.fullscreenEnabled) throw new Error("A frame may have no screen to fill.");
      await this.host.requestFullscreen();
    } catch {
      this.#setFull(true);
    }
  }

  /** @returns {boolean} whether there was something to leave */
  leaveFull() {
    if (!this.isFull) return false;
    if (this.host.matches(":fullscreen")) document.exitFullscreen().catch(() => {});
    this.#setFull(false);
    return true;
  }

  /** @param {boolean} full */
  #setFull(full) {
    if (full === this.isFull) return;
    if (full) this.host.dataset.full = "";
    else delete this.host.dataset.full;
    this.onFull();
  }
}

/** @param {Preferences["layout"]} layout what the button for it says */
export const layoutName = (layout) => ({ auto: "automatic", one: "one pane", side: "side by side", stacked: "stacked" })[layout];

/** Whether a button's thing is on. @param {Element} button @param {boolean} pressed */
export const setPressed = (button, pressed) => setAttribute(button, "aria-pressed", String(pressed));
