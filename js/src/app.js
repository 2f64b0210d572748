/**
 * The whole screen: header, strip, two panes or the tables of a report, status bar. It holds the state that they share
 * (tab, panes, pins, hover) and tells each what to draw; a part that throws shows so and the others stay.
 */
import { SCHEMA_VERSION } from "./constants.js";
import { append, h, replace, setAttribute } from "./dom.js";
import { renderBroken, renderFailure } from "./failure.js";
import { linkTable, linkedLines, match, degree, originOf, EXACT, NONE } from "./links.js";
import { ListingPane, ROW_HEIGHT } from "./listing.js";
import { showStatus } from "./status.js";
import { Strip } from "./strip.js";
import { renderTable } from "./table.js";
import { followTheme } from "./theme.js";
import styles from "./style.css";

const MOST_ROWS = 26;
const FEWEST_ROWS = 7;
const PATIENCE_MS = 8000;

/** @typedef {import("./schema").Tab} Tab */
/** @typedef {import("./source.js").Pin} Pin */
/** @typedef {import("./listing.js").LoadedListing} LoadedListing */
/** @typedef {{key: string, version: string, listing: LoadedListing | null, error: string, promise: Promise<void>}} Entry */

export class App {
  /**
   * @param {HTMLElement} host
   * @param {import("./source.js").Source} source
   * @param {AbortSignal} signal
   */
  constructor(host, source, signal) {
    this.source = source;
    this.signal = signal;
    /** @type {Map<string, Entry>} */
    this.entries = new Map();
    /** @type {{key: string, line: number} | null} */
    this.hover = null;
    /** @type {import("./source.js").Selection} */
    this.selection = { tab: "", left: "", right: "", pins: [] };
    /** @type {number | null} */
    this.height = null;
    /** Ends the listeners inside the report that is shown. @type {AbortController} */
    this.reportLife = new AbortController();

    this.header = h("header", { class: "head" });
    this.notes = h("div", { class: "notes" });
    const strip = h("div", { class: "strip" });
    this.report = h("div", { class: "report" });
    this.paneBox = h("div", { class: "panes" });
    this.body = h("div", { class: "body", id: "body", role: "tabpanel", tabindex: -1 }, this.report, this.paneBox);
    this.grip = h("div", {
      class: "grip",
      role: "separator",
      tabindex: 0,
      "aria-orientation": "horizontal",
      "aria-label": "height of the listings",
      "aria-valuemin": FEWEST_ROWS,
      "aria-valuemax": 80,
      title: "drag to change the height",
    });
    this.status = h("footer", { class: "status", "aria-live": "polite" });
    this.element = h("div", { class: "app" }, this.header, this.notes, strip, this.body, this.grip, this.status);
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    root.replaceChildren(Object.assign(document.createElement("style"), { textContent: styles }), this.element);

    this.strip = new Strip(strip, { onSelect: (key) => this.selectTab(key), panel: "body", signal });
    this.panes = {
      left: new Pane(this, "left", signal),
      right: new Pane(this, "right", signal),
    };
    this.paneBox.append(this.panes.left.element, this.panes.right.element);
    this.#listenToGrip();
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

  get listingTabs() {
    return this.view.tabs.filter((tab) => tab.kind === "listing");
  }

  /** Shows what the source says now. */
  refresh() {
    if (this.signal.aborted) return;
    if (this.view.schema !== SCHEMA_VERSION) {
      replace(
        this.element,
        renderBroken("This inspection", new Error(`It was saved in form ${this.view.schema}, this program reads form ${SCHEMA_VERSION}.`)),
      );
      return;
    }
    this.#takeSelection();
    this.#guard(this.header, "The header", () => this.#drawHeader());
    this.#guard(this.strip.element, "The strip of stages", () => this.strip.show(this.view.tabs, this.selection.tab));
    this.#drawBody();
  }

  /** Takes over the shared selection as far as it fits this view, and fills in the rest. */
  #takeSelection() {
    const wanted = { ...this.selection, ...this.source.get() };
    const keys = this.view.tabs.map((tab) => tab.key);
    const listings = this.listingTabs.map((tab) => tab.key);
    const known = (/** @type {string[]} */ among, /** @type {string} */ key, /** @type {string | undefined} */ otherwise) =>
      among.includes(key) ? key : (otherwise ?? "");
    const first = listings.find((key) => key === "python") ?? listings[0];
    const failed = this.view.tabs.find((tab) => tab.failure);
    const done = this.listingTabs.filter((tab) => tab.status === "done");
    const automatic = failed?.key ?? done[done.length - 1]?.key ?? listings[1] ?? keys[0];
    const tab = known(keys, wanted.tab, automatic);
    this.selection = {
      // Until the user chooses, the newest stage that has something to show is the active one.
      tab: this.chosen || keys.includes(this.source.get().tab ?? "") ? tab : automatic ?? "",
      left: known(listings, wanted.left, first),
      right: "",
      pins: (Array.isArray(wanted.pins) ? wanted.pins : []).filter((pin) => listings.includes(pin?.listing) && Number.isInteger(pin.line)),
    };
    const active = this.tab(this.selection.tab);
    this.selection.right = active?.kind === "listing" ? active.key : known(listings, wanted.right, listings[1] ?? listings[0]);
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

  /** @param {"left" | "right"} side @param {string} key */
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
    replace(
      this.header,
      h("code", { class: "signature", title }, title),
      h("span", { class: "target", title: versions }, target.label),
    );
    replace(this.notes, ...notes.map((note) => h("p", {}, note)));
  }

  #drawBody() {
    const tab = this.tab(this.selection.tab);
    const isReport = tab?.kind === "tables";
    this.#guard(this.report, "This report", () => this.#drawReport(tab));
    this.paneBox.hidden = this.grip.hidden = this.status.hidden = isReport === true;
    setAttribute(this.body, "aria-label", tab?.title ?? "");
    if (!isReport) {
      // One listing beside itself would show nothing new.
      const alone = this.selection.left === this.selection.right;
      this.panes.left.element.hidden = alone;
      this.paneBox.classList.toggle("alone", alone);
      if (!alone) this.#drawPane("left");
      this.#drawPane("right");
      this.#fit();
      this.mark();
    }
  }

  /** Failure, notes and tables of a tab. @param {Tab | undefined} tab */
  #drawReport(tab) {
    this.reportLife.abort();
    this.reportLife = new AbortController();
    const nodes = [];
    if (tab?.failure) nodes.push(renderFailure(tab.failure));
    // The first note of a listing stands in the head of its pane.
    const notes = tab?.kind === "listing" ? tab.notes.slice(1) : (tab?.notes ?? []);
    nodes.push(...notes.map((note) => h("p", { class: "note" }, note)));
    if (tab?.kind === "tables") {
      if (!tab.tables.length && !tab.failure) nodes.push(h("p", { class: "message" }, sentence(tab)));
      for (const table of tab.tables) {
        const place = h("div");
        this.#guard(place, `The table ${table.title}`, () => append(place, [renderTable(table, this.reportLife.signal)]));
        nodes.push(place);
      }
    }
    replace(this.report, ...nodes);
  }

  /** @param {"left" | "right"} side */
  #drawPane(side) {
    const pane = this.panes[side];
    this.#guard(pane.element, "This listing", () => {
      const tab = this.tab(this.selection[side]);
      pane.drawHead(this.listingTabs, tab);
      if (!tab) pane.listing.say("There is no listing.");
      else if (tab.status === "done" || tab.lines !== undefined) this.#showListing(side, tab);
      else pane.listing.say(...stateOf(tab));
    });
  }

  /** @param {"left" | "right"} side @param {Tab} tab */
  #showListing(side, tab) {
    const pane = this.panes[side];
    const entry = this.load(tab);
    const { listing } = entry;
    if (entry.error) pane.listing.say(h("b", {}, "✕ This listing could not be read. "), entry.error);
    else if (listing) {
      if (pane.listing.listing !== listing) {
        pane.listing.mainFile = this.mainFile;
        pane.listing.show(listing);
      }
      pane.drawCoverage(listing);
    } else pane.listing.say("Loading…");
  }

  /** @param {Tab} tab @returns {Entry} */
  load(tab) {
    const version = `${tab.status}|${tab.lines}|${tab.size_bytes}`;
    const known = this.entries.get(tab.key);
    if (known?.version === version) return known;
    /** @type {Entry} */
    const entry = { key: tab.key, version, listing: known?.listing ?? null, error: "", promise: Promise.resolve() };
    this.entries.set(tab.key, entry);
    const impatience = setTimeout(() => {
      for (const pane of Object.values(this.panes)) {
        if (this.selection[pane.side] === tab.key && !entry.listing) {
          pane.listing.say("Loading… The kernel has not answered yet: it may be busy with a cell, or not running.");
        }
      }
    }, PATIENCE_MS);
    this.signal.addEventListener("abort", () => clearTimeout(impatience), { once: true });
    entry.promise = this.source
      .listing(tab.key)
      .then(({ index, text }) => {
        entry.listing = { key: tab.key, index, lines: text.split("\n"), table: linkTable(index) };
      })
      .catch((error) => {
        entry.listing = null;
        entry.error = error instanceof Error ? error.message : String(error);
      })
      .finally(() => {
        clearTimeout(impatience);
        if (!this.signal.aborted && this.entries.get(tab.key) === entry) this.#loaded();
      });
    return entry;
  }

  #loaded() {
    const { mainFile } = this;
    for (const pane of Object.values(this.panes)) {
      if (pane.listing.mainFile !== mainFile) pane.listing.configure({ mainFile });
    }
    if (this.tab(this.selection.tab)?.kind !== "tables") this.#drawBody();
  }

  /** The file that most lines of the Python listing are from; its name need not be repeated beside every line. */
  get mainFile() {
    for (const { listing } of this.entries.values()) {
      if (!listing?.table.isPython) continue;
      const { files, line_place: places } = listing.index;
      const counts = files.map(() => 0);
      for (const place of places) if (place >= 0) counts[place] += 1;
      return files[counts.indexOf(Math.max(...counts))] ?? "";
    }
    return "";
  }

  /** Draws links: of the pinned lines, and of the one under the pointer or cursor. */
  mark() {
    const hovered = this.hover && this.#origin(this.hover.key, this.hover.line);
    const pinned = this.selection.pins.map((pin) => ({ pin, origin: this.#origin(pin.listing, pin.line) }));
    /** @type {string[]} */
    const words = [];
    /** @type {string[]} */
    const searched = [];
    const current = this.hover ?? (this.selection.pins.length ? this.#pinAsHover() : null);
    for (const side of /** @type {const} */ (["left", "right"])) {
      const pane = this.panes[side];
      const { listing } = pane.listing;
      if (!listing || pane.element.hidden) continue;
      const { table, key } = listing;
      const hoverMatch = hovered ? match(table, hovered) : null;
      const pinMatches = pinned.flatMap(({ origin }) => (origin ? [match(table, origin)] : []));
      const ownHover = this.hover?.key === key ? this.hover.line : -1;
      const hoverLines = hoverMatch ? linkedLines(table, hoverMatch) : { exact: [], related: [] };
      const pinLines = pinMatches.map((found) => linkedLines(table, found));
      pane.listing.mark({
        hovered: (line) => (line === ownHover ? EXACT : hoverMatch ? degree(table, hoverMatch, line) : NONE),
        pinned: (line) => pinMatches.reduce((most, found) => Math.max(most, degree(table, found, line)), NONE),
        pins: new Set(this.selection.pins.filter((pin) => pin.listing === key).map((pin) => pin.line)),
        errors: this.#errorLines(listing),
        ruler: [hoverLines, { exact: pinLines.flatMap((lines) => lines.exact), related: pinLines.flatMap((lines) => lines.related) }],
      });
      if (current && current.key !== key) {
        searched.push(this.tab(key)?.title ?? key);
        const lines = this.hover ? hoverLines : (pinLines[pinLines.length - 1] ?? hoverLines);
        const { exact, related } = lines;
        if (exact.length) words.push(`${exact.length.toLocaleString("en")} exact in ${this.tab(key)?.title}`);
        if (related.length) words.push(`${related.length.toLocaleString("en")} by line or caller in ${this.tab(key)?.title}`);
      }
    }
    this.#guard(this.status, "The status bar", () => this.#drawStatus(current, words, searched));
  }

  #pinAsHover() {
    const pin = this.selection.pins[this.selection.pins.length - 1];
    return { key: pin.listing, line: pin.line };
  }

  /** @param {{key: string, line: number} | null} current @param {string[]} linked @param {string[]} searched */
  #drawStatus(current, linked, searched) {
    const listing = current && this.entries.get(current.key)?.listing;
    if (!current || !listing || current.line >= listing.lines.length) {
      showStatus(this.status, null);
      return;
    }
    const pinned = this.selection.pins.some((pin) => pin.listing === current.key && pin.line === current.line);
    showStatus(this.status, { listing, line: current.line, origin: originOf(listing.table, current.line), linked, searched, pinned });
  }

  /** @param {string} key @param {number} line */
  #origin(key, line) {
    const table = this.entries.get(key)?.listing?.table;
    return table ? originOf(table, line) : null;
  }

  /** Lines of Python where a stage failed. @param {LoadedListing} listing */
  #errorLines(listing) {
    /** @type {Set<number>} */
    const lines = new Set();
    if (!listing.table.isPython) return lines;
    for (const { failure } of this.view.tabs) {
      for (const place of failure?.places ?? []) {
        for (const line of listing.table.rowsOf.get(`${place.line}:${place.file}`) ?? []) lines.add(line);
      }
    }
    return lines;
  }

  /** @param {string} key @param {number | null} line */
  hoverAt(key, line) {
    if (this.hover?.line === line && this.hover?.key === key) return;
    if (!this.hover && line === null) return;
    this.hover = line === null ? null : { key, line };
    this.mark();
  }

  /** @param {string} key @param {number} line @param {boolean} more keeps the other pins */
  togglePin(key, line, more) {
    const { pins } = this.selection;
    const isPinned = (/** @type {Pin} */ pin) => pin.listing === key && pin.line === line;
    const others = more ? pins.filter((pin) => !isPinned(pin)) : [];
    const adds = !pins.some(isPinned);
    this.selection.pins = adds ? [...others, { listing: key, line }] : others;
    this.#save();
    this.mark();
    if (adds) this.#bringLinked(key, line);
  }

  /** Where no linked line is in view, scrolls the first one there. @param {string} key @param {number} line */
  #bringLinked(key, line) {
    const origin = this.#origin(key, line);
    if (!origin) return;
    for (const pane of Object.values(this.panes)) {
      const { listing } = pane.listing;
      if (!listing || listing.key === key || pane.element.hidden) continue;
      const { exact, related } = linkedLines(listing.table, match(listing.table, origin));
      const lines = exact.length ? exact : related;
      if (lines.length && !lines.some((linked) => pane.listing.isVisible(linked))) pane.listing.bring(lines[0]);
    }
    this.mark();
  }

  unpin() {
    if (!this.selection.pins.length) return;
    this.selection.pins = [];
    this.#save();
    this.mark();
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const target = /** @type {Element} */ (event.composedPath()[0]);
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest("select, input")) return;
    if (event.key === "[" || event.key === "]") this.strip.step(event.key === "]" ? 1 : -1, target.getAttribute("role") === "tab");
    else if (event.key === "Escape") this.unpin();
    else return;
    event.preventDefault();
  }

  /** Makes the panes as high as their content, within limits, until the user drags. */
  #fit() {
    const counts = Object.values(this.panes).map((pane) => (pane.element.hidden ? 0 : pane.listing.rows.count));
    const rows = this.height ?? Math.max(FEWEST_ROWS, Math.min(MOST_ROWS, Math.max(...counts) + 1));
    this.element.style.setProperty("--pane-height", `${Math.round(rows * ROW_HEIGHT)}px`);
    setAttribute(this.grip, "aria-valuenow", Math.round(rows));
  }

  #listenToGrip() {
    const { grip, signal } = this;
    const rowsNow = () => (this.panes.right.listing.scroller.clientHeight || this.panes.right.element.clientHeight) / ROW_HEIGHT;
    const set = (/** @type {number} */ rows) => {
      this.height = Math.max(FEWEST_ROWS, Math.min(80, rows));
      this.#fit();
    };
    let start = { y: 0, rows: 0 };
    grip.addEventListener(
      "pointerdown",
      (event) => {
        start = { y: event.clientY, rows: rowsNow() };
        grip.setPointerCapture(event.pointerId);
      },
      { signal },
    );
    grip.addEventListener(
      "pointermove",
      (event) => {
        if (grip.hasPointerCapture(event.pointerId)) set(start.rows + (event.clientY - start.y) / ROW_HEIGHT);
      },
      { signal },
    );
    grip.addEventListener(
      "keydown",
      (event) => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (!step) return;
        set(Math.round(rowsNow()) + step);
        event.preventDefault();
      },
      { signal },
    );
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

/** One side: a small head above a listing. */
class Pane {
  /** @param {App} app @param {"left" | "right"} side @param {AbortSignal} signal */
  constructor(app, side, signal) {
    this.side = side;
    this.app = app;
    this.select = h("select", { "aria-label": `listing on the ${side}` });
    this.coverage = h("span", { class: "coverage" });
    this.locations = this.#toggle("locations", "show the Python line beside every operation", true);
    this.exact = this.#toggle("exact text", "show the compiler's text with nothing put away", false);
    const head = h("div", { class: "pane-head" }, this.select, this.coverage, h("span", { class: "gap" }), this.locations, this.exact);
    const box = h("div", { class: "listing" });
    this.element = h("section", { class: `pane ${side}` }, head, box);
    const key = () => app.selection[side];
    this.listing = new ListingPane(box, {
      label: `${side} listing`,
      onHover: (line) => app.hoverAt(key(), line),
      onPin: (line, more) => app.togglePin(key(), line, more),
      onUnpin: () => app.unpin(),
      signal,
    });
    this.select.addEventListener("change", () => app.selectListing(side, this.select.value), { signal });
    this.locations.addEventListener("click", () => this.listing.configure({ locations: this.#press(this.locations) }), { signal });
    this.exact.addEventListener("click", () => this.listing.configure({ exact: this.#press(this.exact) }), { signal });
  }

  /** @param {string} label @param {string} title @param {boolean} pressed */
  #toggle(label, title, pressed) {
    return h("button", { class: "toggle", type: "button", title, "aria-pressed": String(pressed) }, label);
  }

  /** @param {HTMLElement} button */
  #press(button) {
    const pressed = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(pressed));
    return pressed;
  }

  /** @param {Tab[]} tabs @param {Tab | undefined} tab */
  drawHead(tabs, tab) {
    const options = tabs.map((each) => h("option", { value: each.key }, each.title));
    replace(this.select, ...options);
    this.select.value = tab?.key ?? "";
    replace(this.coverage, tab?.notes[0]);
    setAttribute(this.coverage, "title", tab?.notes.join("\n") || null);
    this.locations.hidden = this.exact.hidden = true;
    setAttribute(this.listing.scroller, "aria-label", tab?.title ?? "");
  }

  /** @param {LoadedListing} listing */
  drawCoverage(listing) {
    const [linked, all] = listing.index.coverage;
    if (this.coverage.textContent) return;
    const text = all > 0 ? `${linked === all ? 100 : Math.min(99, Math.round((100 * linked) / all))} % of ops linked` : "";
    replace(this.coverage, text);
    setAttribute(this.coverage, "title", text && `${linked.toLocaleString("en")} of ${all.toLocaleString("en")} operations lead back to a line of Python`);
    this.locations.hidden = this.exact.hidden = listing.table.isPython;
  }
}

/** @param {Tab} tab why there is nothing to show */
function sentence(tab) {
  const words = { pending: "has not started yet", running: "is running", failed: "failed", done: "is empty" };
  const state = /** @type {Record<string, string>} */ (words)[tab.status] ?? `is ${tab.status}`;
  return `${tab.title} ${tab.status === "not reached" ? "was not reached" : state}. ${tab.reason}`;
}

/** @param {Tab} tab @returns {import("./dom.js").Child[]} */
function stateOf(tab) {
  return [tab.status === "failed" && h("b", {}, "✕ "), tab.status === "running" && h("span", { class: "spinner" }), sentence(tab)];
}

