/** What a tab says besides its listing: why its stage failed, its notes, figures and cards. */
import { makeCallBox } from "./callbox.js";
import { followLinks, groupsOf, renderCard, renderFigures } from "./card.js";
import { h, on, replace } from "./dom.js";
import { guard, renderFailure } from "./failure.js";
import { renderFinding } from "./findings.js";
import { stateSentence } from "./pane.js";

/** @typedef {import("./schema").Tab} Tab */

export class Report {
  /**
   * @param {import("./source.js").Source} source
   * @param {(link: import("./schema").Link) => void} jump shows a line that a card leads to
   * @param {AbortSignal} signal
   */
  constructor(source, jump, signal) {
    this.source = source;
    this.jump = jump;
    this.signal = signal;
    this.box = h("div");
    this.content = h("div");
    this.element = h("div.report", {}, this.box, this.content);
    /** Where calls are typed, by tab. @type {Map<string, ReturnType<typeof makeCallBox>>} */
    this.boxes = new Map();
    /** What was chosen in cards. @type {Map<string, string>} */
    this.choices = new Map();
    /** @type {WeakMap<import("./schema").Steps, Promise<import("./schema").LiveColumns>>} */
    this.fetched = new WeakMap();
    /** What it was made from, to leave it alone while that stays. */
    this.madeFrom = "";
    /** Ends the listeners inside. @type {AbortController} */
    this.life = new AbortController();
    on(signal, "abort", () => this.life.abort());
  }

  /** @param {Tab | undefined} tab */
  show(tab) {
    const isTables = tab?.kind === "tables";
    const content = JSON.stringify(isTables ? tab : [tab?.key, tab?.failure, tab?.notes]);
    if (content === this.madeFrom) return;
    this.madeFrom = content;
    this.life.abort();
    this.life = new AbortController();
    guard(this.box, "The box for a call", () => this.#showBox(tab));
    const nodes = [];
    if (tab?.failure) nodes.push(renderFailure(tab.failure, this.life.signal));
    // The last note of a listing that is there is on its links, and stands in the head of its pane.
    const notes = tab?.kind === "listing" && tab.lines !== undefined ? tab.notes.slice(0, -1) : (tab?.notes ?? []);
    if (notes.length) nodes.push(h("div.notes", {}, ...notes.map((note) => h("p", {}, note))));
    if (isTables) {
      if (!tab.tables.length && !tab.failure && !tab.findings) nodes.push(h("p.message", {}, stateSentence(tab)));
      if (tab.figures.length) nodes.push(renderFigures(tab.figures));
      for (const finding of tab.findings ?? []) {
        const place = h("div");
        guard(place, `The finding ${finding.title}`, () => place.append(renderFinding(finding, tab.rules?.[finding.rule] ?? [], this.source.view)));
        followLinks(place, this.jump, this.life.signal);
        nodes.push(place);
      }
      for (const tables of groupsOf(tab.tables)) {
        const place = h("div");
        guard(place, `The table ${tables[0].title}`, () => place.append(renderCard(tables, this.#reader(tab))));
        nodes.push(place);
      }
    }
    replace(this.content, ...nodes);
  }

  /** @param {Tab | undefined} tab */
  #showBox(tab) {
    const { source, box, boxes, signal } = this;
    if (!source.check || !tab?.call) return replace(box);
    const { key, call } = tab;
    const callBox = boxes.get(key) ?? makeCallBox((text, onAnswer) => source.check?.(key, text, onAnswer), signal);
    boxes.set(key, callBox);
    callBox.take(call);
    // Whoever types in it would lose the focus.
    if (box.firstChild !== callBox.element) replace(box, callBox.element);
  }

  /** What the cards of a tab may ask for. @param {Tab} tab @returns {import("./card.js").Reader} */
  #reader({ key }) {
    const { choices, fetched, jump, source } = this;
    return {
      ...{ choices, jump, signal: this.life.signal },
      make: source.make ? (table, onRefused) => source.make?.(key, table, onRefused) : null,
      columns: (chart) => {
        const columns = fetched.get(chart) ?? source.listing(chart.data).then(({ index }) => /** @type {any} */ (index));
        fetched.set(chart, columns);
        return columns;
      },
    };
  }
}
