/** Rows of figures: sortable, filtered by their words, with the meaning of every column at hand. */
import { UNHEARD, h, on, replace } from "./dom.js";
import { grouped } from "./numbers.js";

/** @typedef {import("./schema").Table} Table */
/** @typedef {import("./schema").Row} Row */
/** @typedef {import("./schema").Column} Column */

const FIRST_ROWS = 300;
// Cells up to this length stay on one line.
const LONG_CHARACTERS = 48;
export const SIGNS = { error: "✕", warning: "▲", good: "✓", muted: "", "": "" };
/** @type {Record<string, number>} */
const FACTORS = { k: 1e3, K: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, m: 1e-3, µ: 1e-6, n: 1e-9 };

/**
 * The number that a cell shows, for sorting; null when it is not one.
 * @param {string} cell
 */
export function cellNumber(cell) {
  // Samples it matches: "-1,204", "16.8 M", "1.0 MiB", "48.5 %", "34.6 MFLOP", "12 ms", "3e-5".
  const found = cell.trim().match(/^([-−+]?[\d,]*\.?\d+(?:e[-+]?\d+)?)\s*(?:(Ki|Mi|Gi|Ti|[kKMGTPmµn])(?=B|FLOP|s|$)[\w/]*|%|[A-Za-z][\w/]*)?$/);
  if (!found) return null;
  return Number(found[1].replaceAll(",", "").replace("−", "-")) * (FACTORS[found[2]] ?? 1);
}

/**
 * @param {Row[]} rows @param {number} column @param {boolean} descending
 * @returns {Row[]} numbers in order, texts after them in order; equal rows keep their places
 */
export function sortRows(rows, column, descending) {
  const collator = new Intl.Collator("en", { numeric: true });
  const keyed = rows.map((row) => ({ row, text: row.cells[column] ?? "", number: cellNumber(row.cells[column] ?? "") }));
  keyed.sort((a, b) => {
    if ((a.number === null) !== (b.number === null)) return a.number === null ? 1 : -1;
    const order = a.number !== null && b.number !== null ? a.number - b.number : collator.compare(a.text, b.text);
    return descending ? -order : order;
  });
  return keyed.map(({ row }) => row);
}

/** Those of which a cell contains the words, in either case. @param {Row[]} rows @param {string} words */
export function filterRows(rows, words) {
  const wanted = words.trim().toLowerCase();
  return rows.filter(({ cells }) => cells.some((cell) => cell.toLowerCase().includes(wanted)));
}

/**
 * The columns to draw: one that no row fills is left out.
 * @param {Table} table
 */
export function shownColumns(table) {
  const shown = table.columns.map((column, number) => ({ ...column, number })).filter(({ number }) => table.rows.some((row) => row.cells[number]));
  const last = shown[shown.length - 1];
  // Sentences get the space that the figures leave or, on a narrow screen, a line of their own.
  const prose = shown.length > 1 && last.align === "left" && !last.code ? last : null;
  return { shown, prose, filler: last?.align === "right" };
}

/** The largest figure of a column, of which a bar shows a share. @param {Table} table @param {number} column */
const largest = ({ rows }, column) => rows.reduce((most, { cells }) => Math.max(most, cellNumber(cells[column]) ?? 0), 0);

/** How long the bar of a cell is, from 0 to 1. @param {string} cell @param {number} most that the column has */
export const barShare = (cell, most) => Math.min(1, (cellNumber(cell) ?? 0) / (cell.endsWith("%") ? 100 : most || 1));

/** @param {Column} column @param {string} kind @param {...import("./dom.js").Child} content */
export const headCell = ({ align, key, bar }, kind, ...content) => h("th", { scope: "col", class: `${align} ${bar ? "barred" : kind}`, "data-key": key }, ...content);

/** The attributes of what leads to a line. @param {import("./schema").Link} [link] */
export const dataOf = (link) => link && { "data-listing": link.listing, "data-line": link.line };

/**
 * What a cell shows: words or code, with a bar beside it, or as a way to a line, which the card sees to.
 * @param {{code: boolean, bar?: boolean}} column @param {string} cell @param {number} share of the bar @param {import("./schema").Link | false} [link]
 * @returns {import("./dom.js").Child}
 */
export function cellContent({ code, bar }, cell, share, link) {
  const text = code ? h("code", {}, cell) : cell;
  if (link) return h("button.jump", { title: "show this line", ...dataOf(link) }, text);
  if (!bar) return text;
  const line = h("i");
  line.style.width = `${100 * share}%`;
  return h("span.with-bar", {}, text, h("span", {}, line));
}

/**
 * @param {Table} table @param {AbortSignal} signal
 * @returns {[HTMLElement, (words: string) => number]} the table, and what shows only rows with these words, and tells how many
 */
export function makeGrid(table, signal) {
  const { shown, prose, filler } = shownColumns(table);
  const most = table.columns.map(({ bar }, number) => (bar ? largest(table, number) : 0));
  const body = h("tbody");
  let { rows } = table;
  let sorted = -1;
  let descending = false;
  let limit = FIRST_ROWS;
  const heads = shown.map((column) => {
    const { number, align } = column;
    const button = h("button", { title: column.help || null }, column.label, h("span.sort", UNHEARD));
    const numbersFirst = align === "right";
    on(
      button,
      "click",
      () => {
        if (sorted !== number) [sorted, descending] = [number, numbersFirst];
        else if (descending === numbersFirst) descending = !descending;
        else sorted = -1;
        draw();
      },
      signal,
    );
    return headCell(column, column === prose ? "prose" : "", button);
  });
  const width = shown.length + Number(filler);
  const more = h("button.more");
  on(
    more,
    "click",
    () => {
      limit = Infinity;
      draw();
    },
    signal,
  );

  function draw() {
    heads.forEach((head, at) => {
      const order = shown[at].number !== sorted ? "none" : descending ? "descending" : "ascending";
      head.setAttribute("aria-sort", order);
      replace(/** @type {Element} */ (head.querySelector(".sort")), { none: "", ascending: " ▲", descending: " ▼" }[order]);
    });
    const inOrder = sorted < 0 ? rows : sortRows(rows, sorted, descending);
    replace(body, ...inOrder.slice(0, limit).flatMap(bodyRows));
    if (rows.length > limit) {
      replace(more, `show all ${grouped(rows.length)} rows`);
      body.append(h("tr", {}, h("td", { colspan: width }, more)));
    }
  }

  /** @param {Row} row @param {number} number */
  function content({ cells, link, marks, tone }, number) {
    const cell = cells[number] ?? "";
    const made = cellContent(table.columns[number], cell, barShare(cell, most[number]), number === shown[0].number && link);
    return marks.includes(number) ? h("b", {}, SIGNS[tone] && `${SIGNS[tone]} `, made) : made;
  }

  /** A row, and for narrow screens its sentence below it. @param {Row} row */
  function bodyRows(row) {
    const tone = row.tone ? `tone-${row.tone}` : "";
    const cells = shown.map((column) => {
      const long = (row.cells[column.number] ?? "").length > LONG_CHARACTERS ? "long" : "";
      return h("td", { class: `${column.align} ${column === prose ? "prose" : long}` }, content(row, column.number));
    });
    const drawn = [h("tr", { class: tone }, ...cells, filler && h("td.filler"))];
    if (prose && row.cells[prose.number]) {
      const label = h("span.muted", {}, prose.label, ": ");
      drawn.push(h("tr", { class: `below ${tone}` }, h("td", { colspan: width }, h("div", {}, label, content(row, prose.number)))));
    }
    return drawn;
  }

  draw();
  const filter = (/** @type {string} */ words) => {
    rows = filterRows(table.rows, words);
    draw();
    return rows.length;
  };
  return [h("table", {}, h("thead", {}, h("tr", {}, ...heads, filler && h("td.filler"))), body), filter];
}
