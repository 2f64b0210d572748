/** Tables of figures: sortable, with their source, notes and the meaning of every column at hand. */
import { append, h, replace } from "./dom.js";

/** @typedef {import("./schema").Table} Table */
/** @typedef {import("./schema").Row} Row */

const FIRST_ROWS = 300;
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
      h("h3", {}, table.title),
      h("span", { class: `summary ${table.tone ? `tone-${table.tone}` : ""}` }, signed(table.tone, table.summary)),
    ),
  );
  if (!table.rows.length) {
    append(card, [h("p", { class: "empty" }, table.empty || "There are no rows.")]);
  } else {
    append(card, [h("div", { class: "table-scroll", tabindex: 0, role: "region", "aria-label": table.title }, grid(table, signal))]);
  }
  append(card, table.notes.map((note) => h("p", { class: "note" }, note)));
  if (table.source) append(card, [h("p", { class: "note source" }, "source: ", table.source)]);
  return card;
}

/** @param {keyof typeof SIGNS} tone @param {string} text */
function signed(tone, text) {
  return SIGNS[tone] && text ? `${SIGNS[tone]} ${text}` : text;
}

/** @param {Table} table @param {AbortSignal} signal */
function grid(table, signal) {
  const body = h("tbody");
  let sorted = -1;
  let descending = false;
  let limit = FIRST_ROWS;
  const heads = table.columns.map((column, number) => {
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
    return h("th", { scope: "col", class: column.align, "aria-sort": "none" }, button);
  });
  const more = h("button", { type: "button", class: "more" });
  more.addEventListener(
    "click",
    () => {
      limit = Infinity;
      draw();
    },
    { signal },
  );
  const moreRow = h("tr", {}, h("td", { colspan: table.columns.length }, more));

  function draw() {
    heads.forEach((head, number) => {
      const order = number !== sorted ? "none" : descending ? "descending" : "ascending";
      head.setAttribute("aria-sort", order);
      replace(/** @type {Element} */ (head.querySelector(".sort")), { none: "", ascending: " ▲", descending: " ▼" }[order]);
    });
    const rows = sorted < 0 ? table.rows : sortRows(table.rows, sorted, descending);
    replace(body, ...rows.slice(0, limit).map(bodyRow));
    if (rows.length > limit) {
      replace(more, `show all ${rows.length.toLocaleString("en")} rows`);
      body.append(moreRow);
    }
  }

  /** @param {Row} row */
  function bodyRow(row) {
    return h(
      "tr",
      { class: row.tone ? `tone-${row.tone}` : "" },
      ...table.columns.map((column, number) => {
        const cell = row.cells[number] ?? "";
        const marked = row.marks.includes(number);
        const content = column.code ? h("code", {}, cell) : cell;
        const sign = marked && SIGNS[row.tone] ? `${SIGNS[row.tone]} ` : "";
        return h("td", { class: `${column.align} ${marked ? "marked" : ""}` }, marked ? h("b", {}, sign, content) : content);
      }),
    );
  }

  draw();
  return h("table", {}, h("thead", {}, h("tr", {}, ...heads)), body);
}
