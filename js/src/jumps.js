/**
 * Following values: the one under the pointer or the cursor is lit wherever it is defined and used; keys and clicks jump
 * there, to what is called, and back. It knows panes only through `Places`.
 */
import { QUIETLY, around, consume, h, on, replace } from "./dom.js";
import { tokensOf } from "./highlight.js";
import { countsOf } from "./counts.js";
import { renderFacts } from "./facts.js";
import { originOf } from "./links.js";
import { ACTIONS } from "./keys.js";
import { plural } from "./numbers.js";
import { Values, bareName } from "./values.js";

const NAME_KINDS = ".k-name, .k-definition, .k-symbol";
const KEYS = ACTIONS.filter(({ group }) => group === "Values").map(({ keys: [key], label }) => `${key}: ${label}`);
const HINT = `${KEYS.join(" · ")} · Ctrl+click on a name: go there`;

/** @typedef {import("./listing.js").LoadedListing} LoadedListing */
/** @typedef {import("./pane.js").Side} Side */
/** @typedef {import("./pane.js").Pane} Pane */
/** @typedef {import("./values.js").Value} Value */
/** @typedef {{key: string, line: number}} At */
/**
 * @typedef {object} Places
 * @property {HTMLElement} element whose keys are heard
 * @property {HTMLElement} facts where the current value is told
 * @property {HTMLElement} status where the call stack is told
 * @property {() => Pane[]} panes those that can be seen
 * @property {(side: Side, key: string) => void} select shows another listing in a pane
 * @property {() => LoadedListing[]} stages the compilers' listings that are loaded, in order
 * @property {AbortSignal} signal
 */

export class Jumps {
  /** @param {Places} places */
  constructor(places) {
    this.places = places;
    /** @type {WeakMap<object, Values>} */
    this.values = new WeakMap();
    /** @type {At | null} */
    this.at = null;
    /** The name under the pointer, and its line. */
    this.name = "";
    this.nameLine = -1;
    /** Whether what is lit is not the name's yet. */
    this.isStale = false;
    /** Where the pointer was when it last moved, and whether a jump has moved the rows under it since. */
    this.pointer = { x: -1, y: -1, jumped: false };
    /** Whose uses are walked through, while the cursor stays where the walk led. @type {{value: Value, key: string, line: number, step: string} | null} */
    this.walk = null;
    /** @type {{side: Side, key: string, line: number}[]} */
    this.trail = [];
    /** @type {Map<Pane, {name: string, definition: number, uses: Set<number>} | null>} */
    this.lit = new Map();
    /** The answers of `countsOf`, which may look through the whole program. @type {Map<string, string>} */
    this.counted = new Map();
    const { element, facts, status, signal } = places;
    on(element, "keydown", (event) => this.#onKey(event), signal);
    for (const each of [facts, status]) on(each, "click", (event) => this.#onFact(event), signal);
  }

  /** Hears the pointer over a pane's rows. @param {Pane} pane */
  watch(pane) {
    const { scroller } = pane.listingPane;
    const { signal } = this.places;
    const move = (/** @type {PointerEvent} */ event) => this.#keepStill(event) || this.#point(nameUnder(event), lineUnder(event));
    on(scroller, "pointermove", move, signal, true);
    on(scroller, "pointerleave", () => this.#point("", -1), signal, true);
    // Where the line under the pointer changes too, all has been drawn by now.
    for (const name of ["pointermove", "pointerleave"]) on(scroller, name, () => this.#relight(), signal);
    // Before the row's own listener, for which the same click pins one more line.
    on(scroller, "click", (event) => this.#onClick(pane, event), signal, true);
    pane.listingPane.decorate = (row, line) => this.#decorate(pane, row, line);
  }

  /** Works out where the values of each stage are before anybody points at one; each takes a few dozen milliseconds. */
  prepare() {
    for (const listing of this.places.stages()) if (!this.values.has(listing)) setTimeout(() => this.valuesOf(listing));
  }

  /** @param {LoadedListing} listing */
  valuesOf(listing) {
    let values = this.values.get(listing);
    if (!values) {
      values = new Values(listing, (text) => tokensOf(listing.index, text));
      this.values.set(listing, values);
    }
    return values;
  }

  /** The line under the pointer or cursor, or else the last pinned one, has changed. @param {At | null} at */
  follow(at) {
    if (this.walk && (at?.key !== this.walk.key || at.line !== this.walk.line)) this.walk = null;
    this.at = at;
    this.#light();
  }

  /** After a jump other rows are under a pointer that rests, which browsers report as a move. @param {PointerEvent} event */
  #keepStill(event) {
    const { clientX: x, clientY: y } = event;
    const isStill = this.pointer.jumped && x === this.pointer.x && y === this.pointer.y;
    if (isStill) event.stopImmediatePropagation();
    else this.pointer = { x, y, jumped: false };
    return isStill;
  }

  /** @param {string} name @param {number} line */
  #point(name, line) {
    if (name === this.name && line === this.nameLine) return;
    this.isStale = name !== "" || this.name !== "";
    this.name = name;
    this.nameLine = line;
    if (name) this.walk = null;
  }

  /** After another name came under the pointer on the same line. */
  #relight() {
    if (!this.isStale) return;
    this.#light();
    for (const pane of this.places.panes()) pane.listingPane.redecorate();
  }

  /** @param {Pane} pane */
  #listingAt(pane) {
    const { loadedListing: listing } = pane.listingPane;
    return listing && this.at?.key === listing.key && !listing.table.isPython && this.at.line < listing.lines.length ? listing : null;
  }

  /** The current value in a listing. @param {LoadedListing} listing @returns {Value | null} */
  #valueAt(listing) {
    const { line } = /** @type {At} */ (this.at);
    if (this.walk?.key === listing.key) return this.walk.value;
    const values = this.valuesOf(listing);
    return this.#pointedAt(values, line) ?? values.ofLine(line);
  }

  /** The value under the pointer, where that is on the current line. @param {Values} values @param {number} line */
  #pointedAt(values, line) {
    return this.name && this.nameLine === line ? values.at(line, this.name) : null;
  }

  #light() {
    this.isStale = false;
    let told = false;
    for (const pane of this.places.panes()) {
      const listing = this.#listingAt(pane);
      const value = listing && this.#valueAt(listing);
      /** @type {{name: string, definition: number, uses: Set<number>} | null} */
      let lit = null;
      if (listing && value) {
        const values = this.valuesOf(listing);
        lit = { name: value.name, definition: values.definitionLine(value), uses: new Set(values.uses(value)) };
      }
      if (listing && !told) {
        told = true;
        this.#tell(pane, listing, value, lit?.uses.size ?? 0);
      }
      this.lit.set(pane, lit);
      pane.listingPane.valueLines = lit ? [lit.definition, ...lit.uses] : [];
    }
    if (told) return;
    const { loadedListing: listing } = this.places.panes().find((pane) => pane.listingPane.loadedListing?.key === this.at?.key)?.listingPane ?? {};
    this.#fill([], listing && this.at ? originOf(listing.table, this.at.line).frames[0] : undefined);
  }

  /** Marks the current value's name in a row. @param {Pane} pane @param {HTMLElement} row @param {number} line */
  #decorate(pane, row, line) {
    const lit = this.lit.get(pane);
    const isDefinition = lit?.definition === line;
    const isUse = lit?.uses.has(line) ?? false;
    if (!isDefinition && !isUse && !row.dataset.value) return;
    for (const mark of row.querySelectorAll(".value")) mark.classList.remove("value", "value-definition");
    row.removeAttribute("data-value");
    if (!lit || (!isDefinition && !isUse)) return;
    for (const span of row.querySelectorAll(".k-name, .k-definition")) {
      if (bareName(printedName(span)) !== lit.name) continue;
      const defines = span.classList.contains("k-definition");
      if (defines ? !isDefinition : !isUse) continue;
      span.classList.add("value");
      if (defines) span.classList.add("value-definition");
      row.dataset.value = defines ? "definition" : "use";
    }
  }

  /** Says what is known of the current line. @param {Pane} pane @param {LoadedListing} listing @param {Value | null} value @param {number} uses */
  #tell({ side, listingPane: lines }, listing, value, uses) {
    const { line } = /** @type {At} */ (this.at);
    const count = this.walk?.step ?? plural(uses, "use");
    this.#fill(renderFacts({ values: this.valuesOf(listing), value, count, line, side, nameShown: (name) => lines.sheet.nameShown(name) }), originOf(listing.table, line).frames[0]);
  }

  /** @param {Node[]} parts @param {import("./links.js").Frame} [frame] of the current line */
  #fill(parts, frame) {
    if (frame) {
      const stages = this.places.stages().map((each) => ({ values: this.valuesOf(each), table: each.table }));
      const asked = `${frame.line}:${frame.file}:${stages.map(({ values }) => values.index.key)}`;
      const counts = this.counted.get(asked) ?? countsOf(stages, frame);
      this.counted.set(asked, counts);
      if (counts) parts.push(h("span.counts", {}, h("b", {}, `${frame.file}:${frame.line}`), ` became ${counts}`));
    }
    if (!parts.length) parts.push(h("span", {}, HINT));
    replace(this.places.facts, ...parts);
  }

  /** @param {Pane} pane @param {MouseEvent} event */
  #onClick(pane, event) {
    if (!event.ctrlKey && !event.metaKey) return;
    const name = nameUnder(event);
    const line = lineUnder(event);
    const { loadedListing: listing } = pane.listingPane;
    if (!name || line < 0 || !listing || listing.table.isPython) return;
    const values = this.valuesOf(listing);
    const called = values.called(line, name);
    const value = called < 0 ? values.at(line, name) : null;
    if (called < 0 && !value) return;
    event.stopImmediatePropagation();
    event.preventDefault();
    this.at = { key: listing.key, line };
    this.go(pane, value ? values.definitionLine(value) : called);
  }

  /** A name in the facts, or a place of the call stack. @param {Event} event */
  #onFact(event) {
    const { file, side, line } = around(event, ".jump")?.dataset ?? {};
    const pane = this.places.panes().find((each) => each.side === side);
    if (file !== undefined) this.#showPython(file, Number(line));
    else if (pane) this.go(pane, Number(line));
  }

  /** Alt and a letter are the browser's, but for the way back, which would leave the page. @param {KeyboardEvent} event */
  #onKey(event) {
    if (!event.altKey || event.ctrlKey || event.metaKey || event.key !== "ArrowLeft" || !this.#back()) return;
    consume(event);
  }

  /** @param {string} action one of the group of values in the table of keys */
  run(action) {
    if (action === "back") {
      this.#back();
      return;
    }
    const pane = this.places.panes().find((each) => this.#listingAt(each));
    const listing = pane && this.#listingAt(pane);
    if (!pane || !listing || !this.at) return;
    const { line } = this.at;
    const values = this.valuesOf(listing);
    if (action === "definition") {
      const named = this.walk?.value ?? this.#pointedAt(values, line);
      const value = named && values.definitionLine(named) !== line ? named : values.operands(line, 1)[0];
      if (value) this.go(pane, values.definitionLine(value));
    } else if (action === "called") {
      const called = values.called(line);
      if (called >= 0) this.go(pane, called);
    } else this.#walkOn(pane, listing, action === "use-before");
  }

  /** @param {Pane} pane @param {LoadedListing} listing @param {boolean} back */
  #walkOn(pane, listing, back) {
    const { line } = /** @type {At} */ (this.at);
    const value = this.#valueAt(listing);
    const uses = value ? this.valuesOf(listing).uses(value) : [];
    if (!value || !uses.length) return;
    const next = back ? uses.findLastIndex((use) => use < line) : uses.findIndex((use) => use > line);
    const at = next >= 0 ? next : back ? uses.length - 1 : 0;
    this.walk = { value, key: listing.key, line: uses[at], step: `use ${at + 1} of ${uses.length}` };
    this.go(pane, uses[at]);
  }

  /** @param {Pane} pane @param {number} line @param {boolean} [remember] where it starts */
  go(pane, line, remember = true) {
    const { at } = this;
    const start = this.places.panes().find((each) => each.listingPane.loadedListing?.key === at?.key);
    if (remember && at && start) this.trail.push({ side: start.side, ...at });
    this.pointer.jumped = true;
    pane.listingPane.bring(line);
    pane.listingPane.moveTo(line);
    pane.listingPane.scroller.focus(QUIETLY);
  }

  /** @returns {boolean} whether there was a jump to undo */
  #back() {
    const last = this.trail.pop();
    if (!last) return false;
    const find = () => this.places.panes().find((pane) => pane.listingPane.loadedListing?.key === last.key);
    if (!find()) this.places.select(last.side, last.key);
    const pane = find();
    if (pane) this.go(pane, last.line, false);
    return true;
  }

  /** Shows a place of the call stack. @param {string} file @param {number} line */
  #showPython(file, line) {
    const find = () => this.places.panes().find((pane) => pane.listingPane.loadedListing?.table.isPython);
    if (!find()) {
      const other = this.places.panes().find((pane) => pane.listingPane.loadedListing?.key !== this.at?.key);
      this.places.select(other?.side ?? "left", "python");
    }
    const pane = find();
    const [row] = pane?.listingPane.loadedListing?.table.rowsOf.get(`${line}:${file}`) ?? [];
    if (pane && row !== undefined) this.go(pane, row);
  }
}

/** @param {Event} event @returns {string} the name under the pointer, "" for none */
function nameUnder(event) {
  const element = around(event, NAME_KINDS);
  return element ? printedName(element) : "";
}

/** The compiler's own name, also where another is shown. @param {Element} element */
function printedName(element) {
  return /** @type {HTMLElement} */ (element).dataset.name ?? element.textContent ?? "";
}

/** @param {Event} event @returns {number} the line of the row under the pointer, -1 for none */
function lineUnder(event) {
  const row = around(event, ".row");
  return row ? Number(row.dataset.line) : -1;
}
