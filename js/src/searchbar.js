/** The bar above a listing that searches it: what is typed, how many matches there are, and the way from one to the next. */
import { codeField, consume, h, on, setAttribute } from "./dom.js";
import { ACTIONS, titleOf } from "./keys.js";
import { grouped } from "./numbers.js";
import { Search, WINDOW_CHARACTERS, compile, markRuns, rangesIn, sharesOf } from "./search.js";

const STEP_MS = 12;
const TYPING_PAUSE_MS = 60;
// How often the marks of a search that goes on are drawn in the overview.
const OVERVIEW_MS = 250;

/** @typedef {import("./listing.js").ListingPane} ListingPane */

export class SearchBar {
  /** @param {ListingPane} pane @param {() => void} onClose @param {AbortSignal} signal */
  constructor(pane, onClose, signal) {
    this.pane = pane;
    this.onClose = onClose;
    /** @type {import("./search.js").Pattern | null} */
    this.pattern = null;
    /** Goes through the lines in the order shown, so that its lines are places. @type {Search | null} */
    this.search = null;
    /** The visited match. @type {{line: number, nth: number} | null} */
    this.current = null;
    /** The place to look for the first match from; -1 once one is visited. */
    this.anchor = -1;
    /** Whether the first match is to be visited, wherever it is. */
    this.isImpatient = false;
    this.drawn_ms = 0;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;

    this.input = codeField("search this listing", "search");
    this.matchCase = toggle("Aa", "match-case");
    this.regex = toggle(".*", "regex", `; of lines longer than ${grouped(WINDOW_CHARACTERS)} characters, matches up to half of that are found`);
    this.only = toggle("only matches", "only");
    this.count = h("span.count", { role: "status" });
    this.problem = h("span.problem", { role: "alert" });
    const previous = h("button", { title: "previous match (Shift+Enter; N in the listing)", "aria-label": "previous match" }, "↑");
    const next = h("button", { title: "next match (Enter; n in the listing)", "aria-label": "next match" }, "↓");
    const close = h("button", { title: "close the search (Escape)", "aria-label": "close the search" }, "✕");
    this.element = h("div.bar", { role: "search" }, this.input, this.matchCase, this.regex, this.only, this.count, previous, next, close, this.problem);
    this.element.hidden = true;

    const listen = (/** @type {HTMLElement} */ element, /** @type {string} */ name, /** @type {(event: any) => void} */ action) =>
      on(element, name, action, signal);
    listen(this.input, "input", () => {
      this.isImpatient = false;
      this.#later(() => this.#start(), TYPING_PAUSE_MS);
    });
    listen(this.matchCase, "click", () => this.#press(this.matchCase));
    listen(this.regex, "click", () => this.#press(this.regex));
    listen(this.only, "click", () => this.#press(this.only));
    listen(previous, "click", () => this.go(-1));
    listen(next, "click", () => this.go(1));
    listen(close, "click", () => this.close());
    listen(this.element, "keydown", (event) => this.#onKey(event));
    on(signal, "abort", () => clearTimeout(this.timer));
    pane.onText = () => this.#onText();
  }

  /** @param {boolean} focus whether to write in it now */
  open(focus) {
    if (!this.pane.loadedListing) return;
    const wasOpen = !this.element.hidden;
    this.element.hidden = false;
    const way = this.pane.options.exact ? "the exact text" : "the text as shown; what is put away is found with its own switch or “exact text” on";
    setAttribute(this.input, "title", `searches ${way}`);
    if (focus) {
      this.input.focus();
      this.input.select();
    }
    if (!wasOpen) this.#start();
  }

  close() {
    if (this.element.hidden) return;
    const { pane, current } = this;
    clearTimeout(this.timer);
    this.element.hidden = true;
    this.pattern = this.search = this.current = pane.find = null;
    if (pane.rows.kept) pane.rearrange(() => pane.rows.keep(null));
    else pane.redraw();
    if (current) pane.moveTo(current.line);
    this.onClose();
  }

  /** To the next match, or the previous one. @param {1 | -1} step */
  go(step) {
    if (this.element.hidden) this.open(!this.input.value);
    const { search } = this;
    if (!this.input.value) return;
    // A query just typed is not searched yet.
    if (!search || this.typed !== this.#query()) {
      this.isImpatient = true;
      this.#start();
      return;
    }
    if (!search.total) {
      this.isImpatient = !search.done;
      this.anchor = this.#cursorPlace();
      return;
    }
    const at = this.#ordinal();
    const index = search.from(this.#cursorPlace());
    const here = index < search.lines.length ? search.before[index] : search.total;
    // After the cursor has been moved, it goes on from there.
    const isHere = at >= 0 && (this.pane.cursorLine < 0 || this.current?.line === this.pane.cursorLine);
    const ordinal = isHere ? at + step : step > 0 ? here : here - 1;
    this.#visit((ordinal + search.total) % search.total);
  }

  #cursorPlace() {
    return this.pane.rows.placeOf(Math.max(this.pane.cursorLine, 0));
  }

  #query() {
    return JSON.stringify([this.input.value, isPressed(this.matchCase), isPressed(this.regex)]);
  }

  /** @param {() => void} action @param {number} delay_ms */
  #later(action, delay_ms) {
    clearTimeout(this.timer);
    this.timer = setTimeout(action, delay_ms);
  }

  /** @param {HTMLElement} button */
  #press(button) {
    button.setAttribute("aria-pressed", String(!isPressed(button)));
    if (button !== this.only) this.#start();
    else if (!isPressed(button)) this.pane.rearrange(() => this.pane.rows.keep(null));
    else this.#keepMatches();
  }

  /** Another text is shown than was searched. */
  #onText() {
    if (this.element.hidden) return;
    clearTimeout(this.timer);
    this.search = this.pattern = this.pane.find = null;
    this.open(false);
    this.#start(false);
    this.#say();
  }

  /** @param {boolean} [visit] whether to go to a match */
  #start(visit = true) {
    const { pane } = this;
    if (!pane.loadedListing || this.element.hidden) return;
    this.typed = this.#query();
    const longest = pane.loadedListing.lines.reduce((a, b) => (b.length > a.length ? b : a), "");
    this.pattern = compile({ text: this.input.value, matchCase: isPressed(this.matchCase), regex: isPressed(this.regex) }, longest);
    const { rows } = pane;
    const shown = pane.cursorLine >= 0 && pane.isVisible(pane.cursorLine) ? pane.cursorLine : (rows.lineAt(pane.view.rows.first) ?? 0);
    this.anchor = visit ? rows.placeOf(this.current?.line ?? shown) : -1;
    this.current = null;
    this.search = this.pattern && new Search(this.pattern, pane.loadedListing.lines.length, (place) => pane.sheet.textOf(rows.lineOf(place)));
    pane.find = this.pattern && {
      mark: (line, composed) => this.#mark(line, composed),
      overview: (...given) => this.#overview(...given),
    };
    if (pane.rows.kept) pane.rearrange(() => pane.rows.keep(null));
    else pane.redraw();
    this.#later(() => this.#step(), 0);
    this.#say();
  }

  #step() {
    const { search, pane } = this;
    if (!search || !pane.loadedListing) return;
    search.step(STEP_MS);
    if (search.done && isPressed(this.only)) this.#keepMatches();
    if (this.anchor >= 0) this.#visitFirst();
    this.#say();
    if (search.done) {
      pane.redraw();
      return;
    }
    if (performance.now() - this.drawn_ms > OVERVIEW_MS) {
      pane.mark(pane.marks);
      this.drawn_ms = performance.now();
    }
    this.#later(() => this.#step(), 0);
  }

  /** While typing, the view goes to the first match that no fold hides; asked for, to the first of all. */
  #visitFirst() {
    const { rows } = this.pane;
    const search = /** @type {Search} */ (this.search);
    const { lines, before, done } = search;
    const isHidden = (/** @type {number} */ place) => !this.isImpatient && rows.placeAt(rows.rowAt(place)) !== place;
    let index = search.from(this.anchor);
    while (index < lines.length && isHidden(lines[index])) index += 1;
    if (index === lines.length) {
      // What has been looked at need not be again.
      this.anchor = Math.max(this.anchor, search.searched);
      if (!done) return;
      index = 0;
      while (index < lines.length && isHidden(lines[index])) index += 1;
    }
    this.anchor = -1;
    this.isImpatient = false;
    if (index < lines.length) this.#visit(before[index]);
  }

  /** @param {number} ordinal */
  #visit(ordinal) {
    const { pane, pattern } = this;
    const { line: place, nth } = /** @type {Search} */ (this.search).at(ordinal);
    const line = pane.rows.lineOf(place);
    this.current = { line, nth };
    this.anchor = -1;
    pane.anchor = -1;
    pane.bring(line);
    pane.moveTo(line);
    const range = pattern && rangesIn(pattern, pane.sheet.textOf(line))[nth];
    if (range) pane.view.showColumns(pane.rows.rowOf(line), range);
    pane.redraw();
    this.#say();
  }

  #keepMatches() {
    const { pane, search } = this;
    if (search?.done && search.lines.length) pane.rearrange(() => pane.rows.keep(search.lines));
  }

  /** @param {number} line @param {import("./line.js").Line} composed */
  #mark(line, composed) {
    if (!this.pattern || composed.away) return composed;
    const ranges = rangesIn(this.pattern, composed.runs.map((run) => run.text).join(""));
    const nth = this.current?.line === line ? this.current.nth : -1;
    return ranges.length ? { ...composed, runs: markRuns(composed.runs, ranges, nth) } : composed;
  }

  /** @type {import("./listing.js").Find["overview"]} */
  #overview(rows, heights, height) {
    const { search } = this;
    // Going to a line that does not match has brought all lines back.
    if (search?.done && search.total && !rows.kept) this.only.setAttribute("aria-pressed", "false");
    return { shares: search ? sharesOf(search.lines, rows, heights, height) : [], current: this.current ? rows.placeOf(this.current.line) : -1 };
  }

  /** The number of the visited match, as soon as it is known, or -1. */
  #ordinal() {
    const { search, current } = this;
    if (!search || !current) return -1;
    const place = this.pane.rows.placeOf(current.line);
    const index = search.from(place);
    return search.lines[index] === place ? search.before[index] + current.nth : -1;
  }

  #say() {
    const { search, count, problem } = this;
    const total = grouped(search?.total ?? 0);
    const at = this.#ordinal();
    let words = "";
    if (search && !search.total) words = search.done ? "no match" : "searching…";
    else if (search && at >= 0) words = `${grouped(at + 1)} of ${total}`;
    else if (search) words = `${total} ${search.total === 1 ? "match" : "matches"}`;
    setAttribute(count, "aria-busy", search && !search.done ? "true" : null);
    const text = search && !search.done && search.total ? `${words}…` : words;
    if (count.textContent !== text) count.textContent = text;
    const reason = search?.problem ?? "";
    if (problem.textContent !== reason) problem.textContent = reason;
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (event.isComposing) return;
    const byCode = { KeyC: this.matchCase, KeyR: this.regex, KeyO: this.only }[event.code];
    if (event.altKey && byCode) this.#press(byCode);
    else if (event.key === "Escape") this.close();
    else if (event.key === "Enter" && event.target === this.input) this.go(event.shiftKey ? -1 : 1);
    else return;
    consume(event);
  }
}

/** @param {string} label @param {string} name of its action @param {string} [note] */
function toggle(label, name, note = "") {
  return h("button.toggle", { title: titleOf(name) + note, "aria-label": ACTIONS.find((action) => action.name === name)?.label, "aria-pressed": "false" }, label);
}

/** @param {HTMLElement} button */
const isPressed = (button) => button.getAttribute("aria-pressed") === "true";
