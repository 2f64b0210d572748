/** The listings that have been loaded or are on their way: each once, and again when its stage says it has changed. */
import { on } from "./dom.js";
import { linkTable } from "./links.js";
import { orderOf } from "./sheet.js";
import { yieldTurn } from "./transfer.js";

const PATIENCE_MS = 8000;
const ORDER_DELAY_MS = 100;

/** @typedef {import("./schema").Tab} Tab */
/** @typedef {import("./listing.js").LoadedListing} LoadedListing */
/** @typedef {{version: string, listing: LoadedListing | null, error: string, late: boolean}} Entry */

export class Listings {
  /**
   * @param {import("./source.js").Source} source
   * @param {() => void} onChange a listing has come, failed, or is late
   * @param {AbortSignal} signal
   */
  constructor(source, onChange, signal) {
    this.source = source;
    this.onChange = onChange;
    this.signal = signal;
    /** @type {Map<string, Entry>} */
    this.entries = new Map();
  }

  /** What there is of a tab's listing by now; starts loading it. @param {Tab} tab @returns {Entry} */
  load(tab) {
    const version = `${tab.status}|${tab.lines}|${tab.size_bytes}`;
    const known = this.entries.get(tab.key);
    // A listing made on request stays as it is when the tab learns how much there is of it.
    if (known && (known.version === version || (known.listing && known.version[0] === "o"))) return known;
    /** @type {Entry} */
    const entry = { version, listing: known?.listing ?? null, error: "", late: false };
    this.entries.set(tab.key, entry);
    const changed = () => {
      if (!this.signal.aborted && this.entries.get(tab.key) === entry) this.onChange();
    };
    let ended = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let impatience;
    const end = () => {
      ended = true;
      clearTimeout(impatience);
    };
    // What nobody looks at yet is not late.
    Promise.resolve(this.source.near).then(() => {
      if (ended) return;
      impatience = setTimeout(() => {
        entry.late = true;
        changed();
      }, PATIENCE_MS);
    });
    on(this.signal, "abort", end);
    this.source
      .listing(tab.key)
      .then(async ({ index, lines }) => {
        // Of 385,000 lines each of these takes a frame or two, and so does drawing them: not all in one task.
        await yieldTurn();
        const listing = { key: tab.key, index, lines, table: linkTable(index) };
        await yieldTurn();
        entry.listing = listing;
        // Only a switch waits for the order, and readers for the lines.
        setTimeout(() => {
          if (!this.signal.aborted && orderOf(listing)) changed();
        }, ORDER_DELAY_MS);
      })
      .catch((error) => {
        entry.listing = null;
        entry.error = error instanceof Error ? error.message : String(error);
      })
      .finally(() => {
        end();
        this.signal.removeEventListener("abort", end);
        changed();
      });
    return entry;
  }

  /** Why a listing has not come although it was waited for. @param {string} key */
  absence(key) {
    const leftOut = this.source.absence?.(key);
    return `The kernel has not answered yet: it may be busy with a cell, or not running.${leftOut ? ` ${leftOut}` : ""}`;
  }

  /** @param {string} key @returns {LoadedListing | null} */
  get(key) {
    return this.entries.get(key)?.listing ?? null;
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
}
