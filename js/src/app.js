/**
 * The whole screen: header, strip, two panes or the tables of a report, status bar. It holds the state that they share
 * (tab, panes, pins, hover) and tells each what to draw; a part that throws shows so and the others stay.
 * It is over 400 lines because every part of the screen is wired to others here, and nowhere else.
 */
import { SCHEMA_VERSION } from "./constants.js";
import { QUIETLY, append, around, h, isModified, on, onResize, replace, setAttribute } from "./dom.js";
import { guard, renderBroken } from "./failure.js";
import { commandsOf } from "./commands.js";
import { Help } from "./help.js";
import { actionOf } from "./keys.js";
import { Layout } from "./layout.js";
import { Jumps } from "./jumps.js";
import { lightUp, originAt } from "./light.js";
import { linkedLines, match } from "./links.js";
import { Live, endedStages } from "./live.js";
import { Listings } from "./listings.js";
import { Pane } from "./pane.js";
import { Picker } from "./picker.js";
import { showPins } from "./pins.js";
import { SIZES, keepPreferences, readPreferences } from "./preferences.js";
import { Report } from "./report.js";
import { counterpart, reconcile, tabsOf, togglePin } from "./selection.js";
import { showStatus } from "./status.js";
import { Strip } from "./strip.js";
import { followTheme } from "./theme.js";
import { Tools } from "./tools.js";

// Listings above this are loaded when they are opened only.
const COUNTED_BYTES = 8_000_000;

/** @typedef {import("./schema").Tab} Tab */
/** @typedef {import("./pane.js").Side} Side */
/** @typedef {import("./listing.js").LoadedListing} LoadedListing */

export class App {
  /**
   * @param {HTMLElement} host
   * @param {import("./source.js").Source} source
   * @param {string} styles
   * @param {AbortSignal} signal
   */
  constructor(host, source, styles, signal) {
    this.source = source;
    this.signal = signal;
    const onListing = () => {
      this.#drawBody();
      this.#arrive();
      this.jumps.prepare();
    };
    this.listings = new Listings(source, onListing, signal);
    /** @type {{key: string, line: number} | null} */
    this.hover = null;
    /** @type {import("./source.js").Selection} */
    this.selection = { target: "", tab: "", left: "", right: "", pins: [] };
    /** Whether the user has chosen anything in this view. */
    this.chosen = false;
    /** The target that the kernel was asked for. */
    this.awaited = "";
    this.preferences = readPreferences();
    /** @type {import("./schema").View | null} */
    this.shownView = null;
    /** The line that is to be shown as soon as its listing is there. @type {import("./schema").Link | null} */
    this.arriving = null;

    this.header = h("div.headline");
    this.live = new Live(signal);
    this.commands = commandsOf(this);
    this.picker = new Picker((name) => this.selectTarget(name), signal);
    this.tools = new Tools((name) => this.run(name), signal);
    this.notes = h("div.notes");
    const strip = h("div.strip");
    this.report = new Report(source, (link) => this.#follow(link), signal);
    this.body = h("div.body", { id: "body", role: "tabpanel", tabindex: -1 }, this.report.element);
    this.pinList = h("div.pins", { role: "group", "aria-label": "pins" });
    this.status = h("div.status");
    this.facts = h("div.facts");
    this.foot = h("div.foot", {}, this.pinList, this.status, this.facts);
    this.element = h("div.app", { role: "region" });
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    root.replaceChildren(Object.assign(document.createElement("style"), { textContent: styles }), this.element);

    this.strip = new Strip(strip, { onSelect: (key) => this.selectTab(key), said: (key) => this.#said(key), panel: "body", signal });
    /** @type {import("./pane.js").PaneEvents} */
    const events = {
      onSelect: (side, key) => this.selectListing(side, key),
      onHover: (side, line) => this.#hoverAt(this.selection[side], line),
      onPin: (side, line, more) => this.#togglePin(this.selection[side], line, more),
      onAction: (name) => this.run(name),
    };
    this.panes = { left: new Pane("left", events, signal), right: new Pane("right", events, signal) };
    this.layout = new Layout({
      ...{ host, element: this.element, panes: [this.panes.left, this.panes.right], preferences: this.preferences, signal },
      fillsWindow: source.fillsWindow ?? false,
      prefer: (change) => this.prefer(change),
      onFull: () => this.#drawPreferences(),
    });
    this.paneBox = this.layout.box;
    this.grip = this.layout.grip.element;
    this.body.append(this.paneBox);
    const head = h("div.head", {}, this.header, this.tools.element);
    append(this.element, [head, this.notes, strip, this.body, this.grip, this.foot, this.live.element]);
    this.help = new Help(this.element, signal);
    on(this.element, "click", (event) => this.#onRemove(event), signal);
    this.jumps = new Jumps({
      element: this.element,
      facts: this.facts,
      status: this.status,
      panes: () => this.shownPanes,
      select: (side, key) => this.selectListing(side, key),
      stages: () => this.#countedListings(),
      signal,
    });
    for (const pane of [this.panes.left, this.panes.right]) this.jumps.watch(pane);
    const checkTheme = followTheme(this.element, signal);
    let arranged = this.layout.arrangement;
    const onSize = () => {
      this.layout.width = 0;
      checkTheme();
      if (arranged !== this.layout.arrangement || this.layout.isFull) this.#drawPreferences();
      arranged = this.layout.arrangement;
    };
    onResize(this.element, onSize, signal);
    on(this.element, "keydown", (event) => this.#onKey(event), signal);
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
    const { view } = this;
    const shared = { ...this.source.get() };
    const arrived = view.targets.some(({ name }) => name === this.awaited);
    if (arrived) {
      shared.target = this.awaited;
      this.awaited = "";
    }
    if (view !== this.shownView) for (const words of endedStages(this.shownView, view)) this.live.say(words);
    const earlier = JSON.stringify(this.selection);
    this.selection = reconcile(this.view, { ...this.selection, ...shared }, this.chosen || shared.tab !== undefined);
    if (arrived) this.#save();
    // The user's own choice comes back as a change; drawing anew would undo sorting and close what is open.
    if (view === this.shownView && JSON.stringify(this.selection) === earlier) return;
    this.shownView = view;
    guard(this.header, "The header", () => this.#drawHeader());
    guard(this.strip.element, "The strip of stages", () => this.strip.show(this.#tabs(), this.selection.tab));
    this.#drawBody();
    // Once, when the stages have ended: moving the pointer asks the kernel for nothing.
    for (const tab of this.#compiledTabs()) if ((tab.size_bytes ?? Infinity) <= COUNTED_BYTES) this.listings.load(tab);
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
    this.strip.show(this.#tabs(), key);
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
    const { title, notes } = this.view;
    const level = this.source.fillsWindow ? 1 : 2;
    const signature = h("code.signature", { role: "heading", "aria-level": level, title }, title);
    const label = this.picker.show(this.view, this.selection.target, this.source.compile !== undefined);
    replace(this.header, signature, label);
    setAttribute(this.element, "aria-label", `jaxscope: ${this.view.function}`);
    // What scrolls has to be reached by the keyboard; what does not would only be in its way.
    for (const each of [signature, label]) if (each.scrollHeight > each.clientHeight) each.tabIndex = 0;
    replace(this.notes, ...notes.map((note) => h("p", {}, note)));
  }

  #drawBody() {
    const tab = this.tab(this.selection.tab);
    const isReport = tab?.kind === "tables";
    guard(this.report.element, "This report", () => this.report.show(tab));
    this.tools.show(this.preferences, this.layout.isFull);
    this.paneBox.hidden = this.grip.hidden = this.foot.hidden = isReport;
    setAttribute(this.body, "aria-label", tab?.title ?? "");
    if (isReport) return;
    this.layout.arrange(this.selection.left === this.selection.right);
    const tabs = this.view.tabs.filter((each) => each.kind === "listing");
    let changed = false;
    for (const pane of this.shownPanes) {
      guard(pane.element, "This listing", () => {
        changed = pane.show(tabs, this.tab(this.selection[pane.side]), this.listings) || changed;
        const key = this.selection[pane.side];
        pane.configure(this.preferences, this.view.heat[this.#named(key)] ?? null, this.#said(key));
      });
    }
    this.layout.fit();
    const lastPin = this.selection.pins[this.selection.pins.length - 1];
    if (changed && lastPin) this.#bringLinked(lastPin.listing, lastPin.line);
    this.mark();
  }

  /** The name under which the view says something about the lines of a listing; of Python, for each target. @param {string} key */
  #named(key) {
    const { target } = this.selection;
    return key === "python" && target !== this.view.targets[0]?.name ? `python@${target}` : key;
  }

  /** What is said about the lines of a listing. @param {string} key */
  #said(key) {
    const name = this.#named(key);
    return this.view.marks.filter(({ listing }) => listing === name);
  }

  /** Goes to the next line that something is said of: in the pane with the focus, or else in one that has such lines. @param {number} step @param {HTMLElement} target where the focus is */
  stepMark(step, target) {
    const panes = this.shownPanes.filter(({ listingPane: { loadedListing } }) => loadedListing && this.#said(loadedListing.key).length);
    const pane = panes.find(({ element }) => element.contains(target)) ?? panes[0];
    if (this.paneBox.hidden || !pane) {
      this.live.say("No line here has a finding or a failure.", "mark");
      return;
    }
    const { cursorLine, loadedListing, rows } = pane.listingPane;
    const further = (/** @type {number} */ one, /** @type {number} */ other) => (rows.placeOf(one) - rows.placeOf(other)) * step;
    const lines = this.#said(/** @type {LoadedListing} */ (loadedListing).key).map(({ line }) => line).sort(further);
    this.jumps.go(pane, lines.find((line) => cursorLine < 0 || further(line, cursorLine) > 0) ?? lines[0]);
  }

  /** What the strip shows: what there is for the chosen target. */
  #tabs() {
    return tabsOf(this.view, this.selection.target);
  }

  /** @param {string} name */
  selectTarget(name) {
    if (!this.view.targets.some((target) => target.name === name)) {
      this.awaited = name;
      this.#note(`Asked the kernel to compile for ${name}…`);
      this.source.compile?.(name, (reason) => {
        this.awaited = "";
        this.#drawHeader();
        this.#note(reason);
      });
      return;
    }
    this.selection.target = name;
    this.selection.tab = counterpart(this.view, this.selection.tab, name);
    this.#save();
    this.shownView = null;
    this.refresh();
  }

  /** Says something above the strip until the view changes. @param {string} words */
  #note(words) {
    replace(this.notes, h("p", {}, words));
    this.live.say(words, "target");
  }

  /** Shows a line that a report names, pinned. @param {import("./schema").Link} link */
  #follow(link) {
    const tab = this.tab(link.listing);
    if (!tab) return;
    const { selection } = this;
    const side = link.listing === "python" && this.layout.arrangement !== "one" ? "left" : "right";
    selection.pins = [link];
    selection[side] = link.listing;
    this.arriving = link;
    this.selectTab(selection.right);
    this.#arrive();
  }

  /** Goes where `#follow` leads, once the listing is there. */
  #arrive() {
    const { arriving } = this;
    const pane = this.shownPanes.find((each) => arriving && each.listingPane.loadedListing?.key === arriving.listing);
    if (!arriving || !pane || this.paneBox.hidden) return;
    this.arriving = null;
    this.jumps.go(pane, arriving.line, false);
  }

  /** Draws links: of the pinned lines, and of the one under the pointer or cursor. */
  mark() {
    const panes = this.shownPanes.filter((pane) => pane.listingPane.loadedListing);
    const { marks, status } = lightUp({
      view: this.view,
      shown: panes.map((pane) => /** @type {LoadedListing} */ (pane.listingPane.loadedListing)),
      get: (key) => this.listings.get(key),
      hover: this.hover,
      pins: this.selection.pins,
      said: (key) => this.#said(key),
    });
    const lastPin = this.selection.pins[this.selection.pins.length - 1];
    guard(this.facts, "What is known of this line", () => this.jumps.follow(this.hover ?? (lastPin ? { key: lastPin.listing, line: lastPin.line } : null)));
    panes.forEach((pane, number) => guard(pane.element, "This listing", () => pane.listingPane.mark(marks[number])));
    guard(this.status, "The status bar", () => showStatus(this.status, status));
    guard(this.pinList, "The list of pins", () => showPins(this.pinList, this.view, this.selection.pins, (key) => this.listings.get(key)));
    const { pins } = this.selection;
    const current = this.hover?.key ?? pins.at(-1)?.listing;
    const others = panes.map((pane, number) => ({ tab: this.tab(this.selection[pane.side]), lines: marks[number].ruler[this.hover ? 0 : pins.length] }));
    if (current) this.live.sayLinks(others.filter(({ tab }) => tab && tab.key !== current));
  }

  #compiledTabs() {
    return this.#tabs().filter((tab) => tab.kind === "listing" && tab.key !== "python" && tab.status === "done");
  }

  /** What the compilers made, as far as it is loaded. */
  #countedListings() {
    return this.#compiledTabs().flatMap((tab) => this.listings.get(tab.key) ?? []);
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
    if (!origin || !this.preferences.follow) return;
    for (const pane of this.shownPanes) {
      const { loadedListing: listing } = pane.listingPane;
      if (!listing || listing.key === key) continue;
      const { exact, related } = linkedLines(listing.table, match(listing.table, origin));
      const lines = exact.length ? exact : related;
      if (lines.length && !lines.some((linked) => pane.listingPane.isVisible(linked))) pane.listingPane.bring(lines[0]);
    }
  }

  /** Takes off the pin at that place, or all. @param {number} [at] */
  unpin(at) {
    const { pins } = this.selection;
    const kept = at === undefined ? [] : pins.filter((_, number) => number !== at);
    if (kept.length === pins.length) return;
    this.selection.pins = kept;
    this.#save();
    this.mark();
  }

  /** @param {Event} event */
  #onRemove(event) {
    const button = around(event, "[data-remove]");
    if (button) this.unpin(Number(button.dataset.remove));
  }

  /** Changes how the screen is to be, for this view and the next. @param {Partial<import("./preferences.js").Preferences>} change */
  prefer(change) {
    keepPreferences(Object.assign(this.preferences, change));
    // While a bar is dragged, nothing but sizes changes.
    if (Object.keys(change).every((name) => SIZES.includes(name))) this.layout.fit();
    else this.#drawPreferences();
  }

  #drawPreferences() {
    this.#drawBody();
    // How much room there is on a full screen is only known once everything else on it has its height.
    if (this.layout.isFull) this.layout.fit();
    for (const pane of this.shownPanes) pane.listingPane.draw();
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const target = /** @type {Element} */ (event.composedPath()[0]);
    if (isModified(event) || target.closest("select, input")) return;
    const action = actionOf(event.key, "app");
    if (!action) return;
    this.run(action.name, event.key, /** @type {HTMLElement} */ (target));
    event.preventDefault();
  }

  /** @param {string} name of an action that has a key @param {string} [key] @param {HTMLElement} [target] where the focus is */
  run(name, key = "", target = this.body) {
    this.commands[name](key, target);
  }

  /** @param {number} step @param {HTMLElement} target */
  stepTab(step, target) {
    this.strip.step(step, target.getAttribute("role") === "tab");
    this.#keepFocus(target);
  }

  /** Where the focus was may be hidden now, and then the next key would go to the page around. @param {HTMLElement} target */
  #keepFocus(target) {
    if (target.offsetParent && target !== this.body) return;
    const { scroller } = this.panes.right.listingPane;
    (scroller.offsetParent ? scroller : this.body).focus(QUIETLY);
  }
}
