/**
 * The whole screen: header, strip, two panes or the tables of a report, status bar. It holds the state that they share
 * (tab, panes, pins, hover) and tells each what to draw; a part that throws shows so and the others stay.
 */
import { SCHEMA_VERSION } from "./constants.js";
import { append, h, replace, setAttribute } from "./dom.js";
import { renderBroken, renderFailure } from "./failure.js";
import { FEWEST_ROWS, makeGrip } from "./grip.js";
import { lightUp, originAt } from "./light.js";
import { linkedLines, match } from "./links.js";
import { ROW_HEIGHT } from "./listing.js";
import { Listings } from "./listings.js";
import { Pane, stateSentence } from "./pane.js";
import { reconcile, togglePin } from "./selection.js";
import { showStatus } from "./status.js";
import { Strip } from "./strip.js";
import { renderTable } from "./table.js";
import { followTheme } from "./theme.js";
import styles from "./style.css";

const MOST_ROWS = 26;
const PAGE_MARGIN_PIXELS = 36;
const FEWEST_STACKED_ROWS = 3;
const STACKED_SHARE = 0.62;

/** @typedef {import("./schema").Tab} Tab */
/** @typedef {import("./pane.js").Side} Side */
/** @typedef {import("./listing.js").LoadedListing} LoadedListing */

export class App {
  /**
   * @param {HTMLElement} host
   * @param {import("./source.js").Source} source
   * @param {AbortSignal} signal
   */
  constructor(host, source, signal) {
    this.source = source;
    this.signal = signal;
    this.listings = new Listings(source, () => this.#drawBody(), signal);
    /** @type {{key: string, line: number} | null} */
    this.hover = null;
    /** @type {import("./source.js").Selection} */
    this.selection = { tab: "", left: "", right: "", pins: [] };
    /** Whether the user has chosen anything in this view. */
    this.chosen = false;
    /** Rows, once the user has set them. @type {number | null} */
    this.height = null;
    /** @type {import("./schema").View | null} */
    this.shownView = null;
    /** What the report was made from, to leave it alone while that stays. */
    this.shownReport = "";
    /** Ends the listeners inside the report that is shown. @type {AbortController} */
    this.reportLife = new AbortController();

    this.header = h("header", { class: "head" });
    this.notes = h("div", { class: "notes" });
    const strip = h("div", { class: "strip" });
    this.report = h("div", { class: "report" });
    this.paneBox = h("div", { class: "panes" });
    this.body = h("div", { class: "body", id: "body", role: "tabpanel", tabindex: -1 }, this.report, this.paneBox);
    this.grip = makeGrip({ rowHeight: ROW_HEIGHT, rows: () => this.#shownRows(), onChange: (rows) => this.#setHeight(rows), signal });
    this.status = h("footer", { class: "status", "aria-live": "polite" });
    this.element = h("div", { class: "app" }, this.header, this.notes, strip, this.body, this.grip, this.status);
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    root.replaceChildren(Object.assign(document.createElement("style"), { textContent: styles }), this.element);

    this.strip = new Strip(strip, { onSelect: (key) => this.selectTab(key), panel: "body", signal });
    /** @type {import("./pane.js").PaneEvents} */
    const events = {
      onSelect: (side, key) => this.selectListing(side, key),
      onHover: (side, line) => this.#hoverAt(this.selection[side], line),
      onPin: (side, line, more) => this.#togglePin(this.selection[side], line, more),
      onUnpin: () => this.#unpin(),
    };
    this.panes = { left: new Pane("left", events, signal), right: new Pane("right", events, signal) };
    this.paneBox.append(this.panes.left.element, this.panes.right.element);
    const checkTheme = followTheme(this.element, signal);
    const observer = new ResizeObserver(() => checkTheme());
    observer.observe(this.element);
    signal.addEventListener(
      "abort",
      () => {
        observer.disconnect();
        this.reportLife.abort();
      },
      { once: true },
    );
    this.element.addEventListener("keydown", (event) => this.#onKey(event), { signal });
    source.onChange(() => this.refresh(), signal);
    this.refresh();
  }

  get view() {
    return this.source.view;
  }

  /** @param {string} key @returns {Tab | undefined} */
  tab(key) {
    return this.view.tabs.find((tab) => tab.key === key);
  }

  /** The panes that can be seen. */
  get shownPanes() {
    return [this.panes.left, this.panes.right].filter((pane) => !pane.element.hidden);
  }

  /** Shows what the source says now. */
  refresh() {
    if (this.signal.aborted) return;
    if (this.view.schema !== SCHEMA_VERSION) {
      const found = new Error(`It was saved in form ${this.view.schema}, this program reads form ${SCHEMA_VERSION}.`);
      replace(this.element, renderBroken("This inspection", found));
      return;
    }
    const shared = this.source.get();
    const { view } = this;
    const earlier = JSON.stringify(this.selection);
    this.selection = reconcile(this.view, { ...this.selection, ...shared }, this.chosen || shared.tab !== undefined);
    // The user's own choice comes back as a change; drawing anew would undo sorting and close what is open.
    if (view === this.shownView && JSON.stringify(this.selection) === earlier) return;
    this.shownView = view;
    this.#guard(this.header, "The header", () => this.#drawHeader());
    this.#guard(this.strip.element, "The strip of stages", () => this.strip.show(this.view.tabs, this.selection.tab));
    this.#drawBody();
  }

  #save() {
    this.chosen = true;
    this.source.set({ ...this.selection, pins: [...this.selection.pins] });
  }

  /** @param {string} key */
  selectTab(key) {
    const tab = this.tab(key);
    if (!tab) return;
    this.selection.tab = key;
    if (tab.kind === "listing") this.selection.right = key;
    this.#save();
    this.strip.show(this.view.tabs, key);
    this.#drawBody();
  }

  /** @param {Side} side @param {string} key */
  selectListing(side, key) {
    if (side === "right") {
      this.selectTab(key);
      return;
    }
    this.selection.left = key;
    this.#save();
    this.#drawBody();
  }

  #drawHeader() {
    const { title, target, versions, notes } = this.view;
    replace(this.header, h("code", { class: "signature", title }, title), h("span", { class: "target", title: versions }, target.label));
    replace(this.notes, ...notes.map((note) => h("p", {}, note)));
  }

  #drawBody() {
    const tab = this.tab(this.selection.tab);
    const isReport = tab?.kind === "tables";
    this.#guard(this.report, "This report", () => this.#drawReport(tab));
    this.paneBox.hidden = this.grip.hidden = this.status.hidden = isReport;
    setAttribute(this.body, "aria-label", tab?.title ?? "");
    if (isReport) return;
    // One listing beside itself would show nothing new.
    const alone = this.selection.left === this.selection.right;
    this.panes.left.element.hidden = alone;
    this.paneBox.classList.toggle("alone", alone);
    const tabs = this.view.tabs.filter((each) => each.kind === "listing");
    let changed = false;
    for (const pane of this.shownPanes) {
      this.#guard(pane.element, "This listing", () => {
        changed = pane.show(tabs, this.tab(this.selection[pane.side]), this.listings) || changed;
      });
    }
    this.#fit();
    const lastPin = this.selection.pins[this.selection.pins.length - 1];
    if (changed && lastPin) this.#bringLinked(lastPin.listing, lastPin.line);
    this.mark();
  }

  /** Failure, notes and tables of a tab. @param {Tab | undefined} tab */
  #drawReport(tab) {
    const content = JSON.stringify(tab?.kind === "tables" ? tab : [tab?.key, tab?.failure, tab?.notes]);
    if (content === this.shownReport) return;
    this.shownReport = content;
    this.reportLife.abort();
    this.reportLife = new AbortController();
    const nodes = [];
    if (tab?.failure) nodes.push(renderFailure(tab.failure));
    // The last note of a listing that is there is on its links, and stands in the head of its pane.
    const notes = tab?.kind === "listing" && tab.status === "done" ? tab.notes.slice(0, -1) : (tab?.notes ?? []);
    if (notes.length) nodes.push(h("div", { class: "notes" }, ...notes.map((note) => h("p", {}, note))));
    if (tab?.kind === "tables") {
      if (!tab.tables.length && !tab.failure) nodes.push(h("p", { class: "message" }, stateSentence(tab)));
      for (const table of tab.tables) {
        const place = h("div");
        this.#guard(place, `The table ${table.title}`, () => append(place, [renderTable(table, this.reportLife.signal)]));
        nodes.push(place);
      }
    }
    replace(this.report, ...nodes);
  }

  /** Draws links: of the pinned lines, and of the one under the pointer or cursor. */
  mark() {
    const panes = this.shownPanes.filter((pane) => pane.listing.listing);
    const { marks, status } = lightUp({
      view: this.view,
      shown: panes.map((pane) => /** @type {LoadedListing} */ (pane.listing.listing)),
      get: (key) => this.listings.get(key),
      hover: this.hover,
      pins: this.selection.pins,
    });
    panes.forEach((pane, number) => this.#guard(pane.element, "This listing", () => pane.listing.mark(marks[number])));
    this.#guard(this.status, "The status bar", () => showStatus(this.status, status));
  }

  /** @param {string} key @param {number | null} line */
  #hoverAt(key, line) {
    if (line === null ? !this.hover : this.hover?.line === line && this.hover.key === key) return;
    this.hover = line === null ? null : { key, line };
    this.mark();
  }

  /** @param {string} key @param {number} line @param {boolean} more keeps the other pins */
  #togglePin(key, line, more) {
    const { pins, added } = togglePin(this.selection.pins, { listing: key, line }, more);
    this.selection.pins = pins;
    this.#save();
    if (added) this.#bringLinked(key, line);
    this.mark();
  }

  /** Where no linked line is in view, scrolls the first one there. @param {string} key @param {number} line */
  #bringLinked(key, line) {
    const origin = originAt(this.listings.get(key), line);
    if (!origin) return;
    for (const pane of this.shownPanes) {
      const { listing } = pane.listing;
      if (!listing || listing.key === key) continue;
      const { exact, related } = linkedLines(listing.table, match(listing.table, origin));
      const lines = exact.length ? exact : related;
      if (lines.length && !lines.some((linked) => pane.listing.isVisible(linked))) pane.listing.bring(lines[0]);
    }
  }

  #unpin() {
    if (!this.selection.pins.length) return;
    this.selection.pins = [];
    this.#save();
    this.mark();
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const target = /** @type {Element} */ (event.composedPath()[0]);
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest("select, input")) return;
    if (event.key === "[" || event.key === "]") {
      this.strip.step(event.key === "]" ? 1 : -1, target.getAttribute("role") === "tab");
      this.#keepFocus(/** @type {HTMLElement} */ (target));
    } else if (event.key === "Escape") this.#unpin();
    else return;
    event.preventDefault();
  }

  /** Where the focus was may be hidden now, and then the next key would go to the page around. @param {HTMLElement} target */
  #keepFocus(target) {
    if (target.offsetParent && target !== this.body) return;
    const { scroller } = this.panes.right.listing;
    (scroller.offsetParent ? scroller : this.body).focus({ preventScroll: true });
  }

  /** Makes the panes as high as their content, within limits, until the user says otherwise. */
  #fit() {
    const counts = this.shownPanes.map((pane) => pane.listing.rows.count);
    const mostRows = this.#mostRows();
    const rows = this.height ?? Math.max(FEWEST_ROWS, Math.min(mostRows, Math.max(...counts) + 1));
    // One above the other, each is as high as its own content asks for, and both together not much higher than one.
    const stackedRows = (this.height ?? mostRows) * STACKED_SHARE;
    this.shownPanes.forEach((pane, number) => {
      const own = counts[number] ? Math.max(FEWEST_STACKED_ROWS, counts[number] + 1) : FEWEST_STACKED_ROWS + 1;
      pane.element.style.setProperty("--stacked-height", `${Math.round(Math.min(own, stackedRows) * ROW_HEIGHT)}px`);
    });
    this.element.style.setProperty("--pane-height", `${Math.round(rows * ROW_HEIGHT)}px`);
    setAttribute(this.grip, "aria-valuenow", Math.round(rows));
  }

  /** A page of its own has the whole window for the listings, a notebook's cell only a part. */
  #mostRows() {
    if (!this.source.fillsWindow) return MOST_ROWS;
    const listing = this.panes.right.listing.scroller.parentElement;
    const otherPixels = this.element.offsetHeight - (listing?.offsetHeight ?? 0) + PAGE_MARGIN_PIXELS;
    return Math.max(MOST_ROWS, Math.floor((window.innerHeight - otherPixels) / ROW_HEIGHT));
  }

  #shownRows() {
    return Number.parseFloat(this.element.style.getPropertyValue("--pane-height")) / ROW_HEIGHT;
  }

  /** @param {number} rows */
  #setHeight(rows) {
    this.height = rows;
    this.#fit();
  }

  /** @param {Element} element @param {string} what @param {() => void} draw */
  #guard(element, what, draw) {
    try {
      draw();
    } catch (error) {
      console.error("[jaxscope]", error);
      replace(element, renderBroken(what, error));
    }
  }
}
