/** One side of the screen: a small head above a listing, or the reason why there is none. */
import { h, on, replace, setAttribute } from "./dom.js";
import { Finder } from "./finder.js";
import { ListingPane } from "./listing.js";
import { hasBodies } from "./sheet.js";
import { Toggles } from "./toggles.js";

/** @typedef {import("./schema").Tab} Tab */
/** @typedef {"left" | "right"} Side */
/**
 * @typedef {object} PaneEvents
 * @property {(side: Side, key: string) => void} onSelect another listing
 * @property {(side: Side, line: number | null) => void} onHover
 * @property {(side: Side, line: number, more: boolean) => void} onPin
 * @property {(name: string) => void} onAction does what a key of that name does
 */

export class Pane {
  /** @param {Side} side @param {PaneEvents} events @param {AbortSignal} signal */
  constructor(side, events, signal) {
    this.side = side;
    /** How many lines are to be shown, once they are loaded. */
    this.lines = 0;
    this.select = h("select", { "aria-label": `listing on the ${side}` });
    this.coverage = h("span.coverage");
    const head = h("div.pane-head", {}, this.select, this.coverage, h("span.gap"));
    const box = h("div.listing");
    this.toggles = new Toggles(box, events.onAction, signal);
    this.element = h("section", { class: `pane ${side}` }, head, box);
    this.listingPane = new ListingPane(box, {
      label: `${side} listing`,
      onHover: (line) => events.onHover(side, line),
      onPin: (line, more) => events.onPin(side, line, more),
      signal,
    });
    this.finder = new Finder({ element: this.element, box, listing: this.listingPane, view: () => this.toggles.open(true) }, signal);
    // The switches come last: where they need a row of their own, the buttons stay in the one above.
    head.append(...this.finder.buttons, this.toggles.element);
    on(this.select, "change", () => events.onSelect(side, this.select.value), signal);
  }

  /** @param {import("./preferences.js").Preferences} preferences @param {import("./schema").Heat | null} heat of its listing @param {import("./schema").Mark[]} said */
  configure(preferences, heat, said) {
    const { exact, locations, turned, shortNames, wrap, inline } = preferences;
    this.listingPane.configure({ exact, locations, turned, shortNames, wrap, inline, heat: preferences.heat ? heat : null, said });
    const { loadedListing: listing } = this.listingPane;
    this.toggles.show(listing?.index ?? null, preferences, listing !== null && hasBodies(listing), heat !== null);
  }

  /**
   * @param {Tab[]} tabs those with listings
   * @param {Tab | undefined} tab the one to show
   * @param {import("./listings.js").Listings} listings
   * @returns {boolean} whether another listing is shown than before
   */
  show(tabs, tab, listings) {
    const earlier = this.listingPane.loadedListing?.key;
    this.lines = tab?.lines ?? 0;
    replace(this.select, ...tabs.map((each) => h("option", { value: each.key }, [each.title, ...each.targets.slice(-1)].join(" · "))));
    this.select.value = tab?.key ?? "";
    replace(this.coverage);
    for (const button of this.finder.buttons) button.hidden = true;
    setAttribute(this.listingPane.scroller, "aria-label", tab?.title ?? "");
    if (!tab) this.listingPane.say("There is no listing.");
    else if (tab.status === "done" || tab.lines !== undefined || listings.entries.has(tab.key)) this.#showListing(tab, listings);
    else if (tab.status === "on request") {
      // Making it can take as long as the compilation did, so passing by is not enough.
      const open = h("button.make", {}, "Compile once more");
      open.addEventListener("click", () => {
        listings.load(tab);
        this.show(tabs, tab, listings);
        this.listingPane.message.focus();
      });
      this.listingPane.say(`${tab.reason} `, open);
    } else {
      const isRunning = tab.status === "running";
      // The panel above the panes is that of the right one.
      const sentence = this.side === "right" && tab.failure ? `There is no ${tab.title}, for the reason above.` : stateSentence(tab);
      this.listingPane.say(tab.status === "failed" && h("b", {}, "✕ "), isRunning && h("span.spinner"), sentence);
    }
    return this.listingPane.loadedListing !== null && this.listingPane.loadedListing.key !== earlier;
  }

  /** @param {Tab} tab @param {import("./listings.js").Listings} listings */
  #showListing(tab, listings) {
    const { listing, error, late } = listings.load(tab);
    if (error) this.listingPane.say(h("b", {}, "✕ This listing could not be read. "), error);
    else if (!listing) {
      this.listingPane.say("Loading…", late && ` ${listings.absence(tab.key)}`);
    } else {
      this.listingPane.configure({ mainFile: listings.mainFile });
      if (this.listingPane.loadedListing !== listing) this.listingPane.show(listing);
      this.#drawCoverage(tab, listing);
      for (const button of this.finder.buttons) button.hidden = false;
    }
  }

  /** @param {Tab} tab @param {import("./listing.js").LoadedListing} listing */
  #drawCoverage(tab, listing) {
    const [linked, all] = listing.index.coverage;
    const share = linked === all ? 100 : Math.min(99, Math.round((100 * linked) / all));
    const note = tab.notes[tab.notes.length - 1] ?? "";
    replace(this.coverage, linked > 0 ? `${share} % of ops linked` : note);
    setAttribute(this.coverage, "title", note || null);
  }
}

/** Why a tab has nothing to show. @param {Tab} tab */
export function stateSentence(tab) {
  const words = { pending: "has not started yet", running: "is running", failed: "failed", done: "is empty", "not reached": "was not reached" };
  return tab.reason || `${tab.title} ${/** @type {Record<string, string>} */ (words)[tab.status] ?? `is ${tab.status}`}.`;
}
