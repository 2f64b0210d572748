/** Tables of figures: sortable, with their source, notes and the meaning of every column at hand. */
import { append, h, replace } from "./dom.js";

/** @typedef {import("./schema").Table} Table */
/** @typedef {import("./schema").Row} Row */

const FIRST_ROWS = 300;
// Cells up to this length stay on one line.
const LONG_CHARACTERS = 48;
const SIGNS = { error: "✕", warning: "▲", muted: "", "": "" };
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

/**
 * @param {Table} table
 * @param {AbortSignal} signal
 * @returns {HTMLElement}
 */
export function renderTable(table, signal) {
  const card = h(
    "section",
    { class: "card", "data-table": table.key },
    h(
      "header",
      { class: "card-head" },
      h("h2", {}, table.title),
      table.source && h("span", { class: "source" }, "source: ", table.source),
      h("span", { class: `summary ${table.tone ? `tone-${table.tone}` : ""}` }, signed(table.tone, table.summary)),
    ),
  );
  if (!table.rows.length) {
    append(card, [h("p", { class: "empty" }, table.empty || "There are no rows.")]);
  } else {
    append(card, [h("div", { class: "table-scroll", tabindex: 0, role: "region", "aria-label": table.title }, grid(table, signal))]);
  }
  if (table.notes.length) append(card, [h("div", { class: "notes" }, ...table.notes.map((note) => h("p", {}, note)))]);
  return card;
}

/** @param {keyof typeof SIGNS} tone @param {string} text */
function signed(tone, text) {
  return SIGNS[tone] && text ? `${SIGNS[tone]} ${text}` : text;
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

/** @param {Table} table @param {AbortSignal} signal */
function grid(table, signal) {
  const { shown, prose, filler } = shownColumns(table);
  const body = h("tbody");
  let sorted = -1;
  let descending = false;
  let limit = FIRST_ROWS;
  const heads = shown.map((column) => {
    const { number } = column;
    const button = h("button", { type: "button", title: column.help || null }, column.label, h("span", { class: "sort", "aria-hidden": "true" }));
    button.addEventListener(
      "click",
      () => {
        if (sorted !== number) [sorted, descending] = [number, column.align === "right"];
        else if (descending === (column.align === "right")) descending = !descending;
        else sorted = -1;
        draw();
      },
      { signal },
    );
    const kind = column === prose ? "prose" : "";
    return h("th", { scope: "col", class: `${column.align} ${kind}`, "aria-sort": "none", "data-column": number }, button);
  });
  const width = shown.length + Number(filler);
  const more = h("button", { type: "button", class: "more" });
  more.addEventListener(
    "click",
    () => {
      limit = Infinity;
      draw();
    },
    { signal },
  );
  const moreRow = h("tr", {}, h("td", { colspan: width }, more));

  function draw() {
    heads.forEach((head) => {
      const order = Number(head.dataset.column) !== sorted ? "none" : descending ? "descending" : "ascending";
      head.setAttribute("aria-sort", order);
      replace(/** @type {Element} */ (head.querySelector(".sort")), { none: "", ascending: " ▲", descending: " ▼" }[order]);
    });
    const rows = sorted < 0 ? table.rows : sortRows(table.rows, sorted, descending);
    replace(body, ...rows.slice(0, limit).flatMap(bodyRows));
    if (rows.length > limit) {
      replace(more, `show all ${rows.length.toLocaleString("en")} rows`);
      body.append(moreRow);
    }
  }

  /** @param {Row} row @param {number} number */
  function content(row, number) {
    const cell = row.cells[number] ?? "";
    const text = table.columns[number].code ? h("code", {}, cell) : cell;
    if (!row.marks.includes(number)) return text;
    return h("b", {}, SIGNS[row.tone] && `${SIGNS[row.tone]} `, text);
  }

  /** A row, and for narrow screens its sentence below it. @param {Row} row */
  function bodyRows(row) {
    const tone = row.tone ? `tone-${row.tone}` : "";
    const cells = shown.map((column) => {
      const long = (row.cells[column.number] ?? "").length > LONG_CHARACTERS ? "long" : "";
      return h("td", { class: `${column.align} ${column === prose ? "prose" : long}` }, content(row, column.number));
    });
    const drawn = [h("tr", { class: tone }, ...cells, filler && h("td", { class: "filler" }))];
    if (prose && row.cells[prose.number]) {
      const label = h("span", { class: "muted" }, prose.label, ": ");
      drawn.push(h("tr", { class: `below ${tone}` }, h("td", { colspan: width }, h("div", {}, label, content(row, prose.number)))));
    }
    return drawn;
  }

  draw();
  return h("table", {}, h("thead", {}, h("tr", {}, ...heads, filler && h("td", { class: "filler" }))), body);
}
