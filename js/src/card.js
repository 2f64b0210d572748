/** The cards of a report: a head, a picture, and rows of figures; of tables that answer one question in several ways, one. */
import { renderScatter, renderStack } from "./charts.js";
import { append, around, h, on, replace } from "./dom.js";
import { grouped, plural } from "./numbers.js";
import { renderSteps } from "./steps.js";
import { SIGNS, makeGrid } from "./table.js";

/** @typedef {import("./schema").Table} Table */
/**
 * @typedef {object} Reader what a card asks of the program around it
 * @property {Map<string, string>} choices what was chosen, by group
 * @property {(link: import("./schema").Link) => void} jump
 * @property {((table: string, onRefused: (reason: string) => void) => void) | null} make asks the kernel for what a card lacks; null where there is none
 * @property {(chart: import("./schema").Steps) => Promise<import("./schema").LiveColumns>} columns
 * @property {AbortSignal} signal
 */

// Fewer rows are seen at a glance.
const FILTERED_ROWS = 12;

/** The tables of a tab, those of one group together. @param {Table[]} tables @returns {Table[][]} */
export function groupsOf(tables) {
  /** @type {Map<unknown, Table[]>} */
  const groups = new Map();
  for (const table of tables) groups.set(table.group ?? table, [...(groups.get(table.group ?? table) ?? []), table]);
  return [...groups.values()];
}

/** @param {import("./schema").Figure[]} figures */
export const renderFigures = (figures) =>
  h("ul.figures", {}, ...figures.map(({ label, value, note, help, tone }) => h("li", { title: help }, h("b", {}, value), h("span", {}, label), h("small", { class: `tone-${tone}` }, signed(tone, note)))));

/** @param {keyof typeof SIGNS} tone @param {string} text */
export const signed = (tone, text) => (SIGNS[tone] && text ? `${SIGNS[tone]} ${text}` : text);

/** Has what names a line lead there. @param {HTMLElement} element @param {Reader["jump"]} jump @param {AbortSignal} signal */
export const followLinks = (element, jump, signal) =>
  on(element, "click", (event) => {
    const { listing, line } = around(event, "[data-listing]")?.dataset ?? {};
    if (listing !== undefined) jump({ listing, line: Number(line) });
  }, signal);

/** @param {Table[]} tables of one group @param {Reader} reader @returns {HTMLElement} */
export function renderCard(tables, reader) {
  const { choices, jump, make, signal } = reader;
  const table = tables.find(({ group = "", choice }) => choices.get(group) === choice) ?? tables[0];
  const { key, title, source, summary, tone, rows, notes, chart, request, group = "" } = table;
  const head = h("header.card-head", {}, h("h2", {}, title), source && h("span.source", {}, "source: ", source), h("span", { class: `summary tone-${tone}` }, signed(tone, summary)));
  const card = h("section.card", { "data-table": key }, head);
  followLinks(card, jump, signal);
  if (tables.length > 1) {
    const select = h("select", {}, ...tables.map(({ choice }) => h("option", { value: choice, selected: choice === table.choice }, choice)));
    on(select, "change", () => {
      choices.set(group, select.value);
      const other = renderCard(tables, reader);
      card.replaceWith(other);
      other.querySelector("select")?.focus();
    }, signal);
    head.append(h("label", {}, "group by ", select));
  }
  if (chart?.kind === "stack") card.append(renderStack(chart));
  if (chart?.kind === "scatter") card.append(renderScatter(chart, table, signal));
  const [grid, filter] = makeGrid(table, signal);
  if (rows.length > FILTERED_ROWS && chart?.kind !== "steps") {
    const count = h("small", { role: "status" });
    const input = h("input.query", { type: "search" });
    on(input, "input", () => replace(count, `${grouped(filter(input.value))} of ${plural(rows.length, "row")}`), signal);
    head.append(count, h("label", {}, "filter ", input));
  }
  const scroller = h("div.table-scroll", { tabindex: 0, role: "region", "aria-label": title }, grid);
  if (chart?.kind === "steps") card.append(renderSteps(chart, table, scroller, reader));
  append(card, [rows.length ? scroller : h("p.empty", {}, table.empty || "There are no rows.")]);
  if (request && make) {
    const button = h("button.make", {}, request);
    const line = h("p.empty", { role: "status" }, button);
    on(button, "click", () => {
      replace(line, "Asked the kernel, which has to compile once more for it…");
      make(key, (reason) => replace(line, button, ` ${reason}`));
    }, signal);
    card.append(line);
  }
  if (notes.length) card.append(h("div.notes", {}, ...notes.map((note) => h("p", {}, note))));
  return card;
}
