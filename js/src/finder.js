/** Finding, going, copying and folding in one pane: its keys, its two buttons, and what comes of them. */
import { chosenLines, copyText, linesOf, placeOf } from "./copy.js";
import { QUIETLY, around, codeField, consume, h, on, onResize } from "./dom.js";
import { closedFrom, closedWithout } from "./folding.js";
import { findLine } from "./goto.js";
import { ACTIONS, actionOf, titleOf } from "./keys.js";
import { Menu } from "./menu.js";
import { grouped } from "./numbers.js";
import { counted } from "./row.js";
import { SearchBar } from "./searchbar.js";

const SAID_MS = 4000;
const MOVES = new Set(["ArrowDown", "ArrowUp", "PageDown", "PageUp", "Home", "End"]);
const FOLD_GROUP = 2;
/** From which depth on folds are closed. @type {Record<string, number>} */
const LEVELS = { "fold-all": 0, "level-1": 1, "level-2": 2, "unfold-all": Infinity };

/** @typedef {import("./listing.js").ListingPane} ListingPane */

export class Finder {
  /**
   * @param {object} parts of the pane
   * @param {HTMLElement} parts.element
   * @param {HTMLElement} parts.box around the listing
   * @param {ListingPane} parts.listing
   * @param {() => void} parts.view opens the panel of switches
   * @param {AbortSignal} signal
   */
  constructor({ element, box, listing, view }, signal) {
    this.listing = listing;
    this.view = view;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    this.searchBar = new SearchBar(listing, () => this.#focusListing(), signal);
    this.lineInput = codeField("line to go to", "12 or file.py:12");
    this.lineProblem = h("span.problem", { role: "alert" });
    const closeLine = h("button", { title: "close (Escape)", "aria-label": "close" }, "✕");
    this.lineBar = h("div.bar", {}, h("span", {}, "line"), this.lineInput, closeLine, this.lineProblem);
    this.lineBar.hidden = true;
    this.bars = h("div.bars", {}, this.searchBar.element, this.lineBar);
    this.said = h("div.said", { role: "status" });
    box.before(this.bars);
    box.append(this.said);

    const find = h("button.small", { title: titleOf("search") }, "find");
    const more = h("button.small", { title: titleOf("menu"), "aria-label": "go to line, copy, fold" }, "⋯");
    this.buttons = [find, more];
    this.menu = new Menu(more, box, { groups: () => this.#groups(), onClose: () => this.#focusListing(), signal });

    on(find, "click", () => this.searchBar.open(true), signal);
    on(closeLine, "click", () => this.#closeLine(), signal);
    on(this.lineBar, "keydown", (event) => this.#onLineKey(event), signal);
    on(element, "keydown", (event) => this.#onKey(event), signal, true);
    // A fold's button is drawn anew when it is clicked, and the focus would be gone with it.
    on(
      listing.scroller,
      "mousedown",
      (event) => {
        if (!around(event, "button")) return;
        event.preventDefault();
        this.#focusListing();
      },
      signal,
    );
    on(listing.scroller, "click", () => (listing.anchor = -1), signal, true);
    // The listing gives up the height that the bars take, so that nothing below them moves.
    onResize(this.bars, () => element.style.setProperty("--bars-height", `${this.bars.offsetHeight}px`), signal);
    on(signal, "abort", () => clearTimeout(this.timer));
  }

  #focusListing() {
    this.listing.scroller.focus(QUIETLY);
  }

  /** @param {string} words */
  #say(words) {
    clearTimeout(this.timer);
    this.said.textContent = words;
    this.timer = setTimeout(() => (this.said.textContent = ""), SAID_MS);
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const target = /** @type {Element} */ (event.composedPath()[0]);
    const { listing } = this;
    if (!listing.loadedListing || event.altKey) return;
    if (event.ctrlKey || event.metaKey) {
      // The browser's own search sees only the rows in view.
      if (event.key.toLowerCase() !== "f" || event.shiftKey) return;
      this.searchBar.open(true);
    } else if (target.closest("select, input, textarea, [role=menu]")) return;
    else if (target === listing.scroller && MOVES.has(event.key)) {
      listing.anchor = event.shiftKey ? (listing.anchor < 0 ? listing.cursorLine : listing.anchor) : -1;
      return;
    } else if (actionOf(event.key, "pane")) this.#act(/** @type {import("./keys.js").KeyAction} */ (actionOf(event.key, "pane")).name);
    else if (event.key === "Escape" && listing.anchor >= 0) {
      listing.anchor = -1;
      listing.redraw();
    } else if (event.key === "Escape" && !this.searchBar.element.hidden) this.searchBar.close();
    else return;
    consume(event);
  }

  /** @param {string} name of an action that has a key */
  #act(name) {
    if (name === "search") this.searchBar.open(true);
    else if (name === "next-match") this.searchBar.go(1);
    else if (name === "previous-match") this.searchBar.go(-1);
    else if (name === "line") this.#openLine();
    else if (name === "view") this.view();
    else if (name === "menu") this.menu.open(FOLD_GROUP);
    else if (name === "copy-place") this.#copyPlace();
    else if (name.startsWith("copy")) this.#copy(name === "copy-exact");
    else this.#fold(name);
  }

  #groups() {
    const off = !this.listing.rows.folds.size || this.listing.rows.kept !== null;
    const entriesOf = (/** @type {(action: import("./keys.js").KeyAction) => boolean} */ belongs, isOff = false) =>
      ACTIONS.filter(belongs).map(({ name, keys: [keys], label }) => ({
        key: keys.slice(-1),
        // What comes after is for the sheet of keys.
        label: label.split(";")[0],
        keys,
        act: () => this.#act(name),
        off: isOff,
      }));
    return [
      { title: "find", entries: entriesOf(({ name }) => name === "search" || name === "line") },
      { title: "copy", entries: entriesOf(({ name }) => name.startsWith("copy")) },
      { title: off ? "nothing to fold" : "fold", entries: entriesOf(({ scope }) => scope === "menu", off) },
    ];
  }

  /** @param {string} name */
  #fold(name) {
    const { rows, marks } = this.listing;
    let isClosed = closedFrom(rows.folds.values(), LEVELS[name] ?? 0);
    if (name === "linked") {
      const linked = [...marks.pins.keys(), ...marks.ruler.flatMap(({ exact, related }) => [...exact, ...related])];
      if (!linked.length) {
        this.#say("nothing is linked here: pin a line first");
        return;
      }
      isClosed = closedWithout(linked.map((line) => rows.placeOf(line)));
    }
    this.listing.rearrange(() => rows.closeWhere(isClosed));
    this.#say(`${grouped(rows.count)} of ${counted(rows.lineCount)} shown`);
  }

  /** @param {boolean} exact */
  async #copy(exact) {
    const lines = chosenLines(this.listing);
    if (!lines) {
      this.#say("no line is chosen: move to one with the arrow keys, or click it");
      return;
    }
    const { text, count } = await linesOf(this.listing, lines, exact);
    this.#sayCopied(await copyText(text, this.bars), counted(count) + (exact ? " of exact text" : ""));
  }

  async #copyPlace() {
    const { loadedListing: listing, cursorLine: cursor } = this.listing;
    const place = listing && cursor >= 0 ? placeOf(listing, cursor) : "";
    if (place) this.#sayCopied(await copyText(place, this.bars), place);
    else this.#say(cursor < 0 ? "no line is chosen: move to one with the arrow keys, or click it" : "this line comes from no place in Python");
  }

  /** @param {boolean} copied @param {string} what */
  #sayCopied(copied, what) {
    this.#say(copied ? `copied ${what}` : `not copied (${what}): the browser does not let this page use the clipboard`);
  }

  #openLine() {
    this.lineBar.hidden = false;
    this.lineProblem.textContent = "";
    this.lineInput.focus();
    this.lineInput.select();
  }

  #closeLine() {
    this.lineBar.hidden = true;
    this.#focusListing();
  }

  /** @param {KeyboardEvent} event */
  #onLineKey(event) {
    if (event.key === "Escape") this.#closeLine();
    else if (event.key === "Enter" && event.target === this.lineInput) this.#goToLine();
    else return;
    consume(event);
  }

  #goToLine() {
    const { loadedListing: listing, cursorLine: cursor } = this.listing;
    if (!listing) return;
    const found = findLine(this.lineInput.value, listing, cursor);
    this.lineProblem.textContent = found.problem ?? "";
    if (found.line === undefined) return;
    this.listing.anchor = -1;
    this.listing.bring(found.line);
    this.listing.moveTo(found.line);
    this.listing.mark(this.listing.marks);
    this.#closeLine();
  }
}
