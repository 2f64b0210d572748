/** Bytes over the instants of a schedule, with a cursor, and below it what is alive there. 10,000 buffers move like ten. */
import { limitMark, placed, plot } from "./charts.js";
import { UNHEARD, consume, drawPaths, h, isModified, on, replace, setAttribute } from "./dom.js";
import { clamp, formatBytes, grouped, plural } from "./numbers.js";
import { cellContent, headCell, shownColumns } from "./table.js";

const ROW_PIXELS = 27;
const SHOWN_ROWS = 10;
// More corners than there are pixels only cost time.
const MOST_CORNERS = 1000;

/** @typedef {import("./schema").LiveColumns} LiveColumns */

/**
 * The steps from left to right; many instants share a corner, which goes from their least to their most.
 * @param {number[]} bytes at each instant @param {number} top
 * @returns {string} of a path, without its beginning
 */
export function stepsPath(bytes, top) {
  const { length } = bytes;
  const width = Math.ceil(length / MOST_CORNERS);
  const y = (/** @type {number} */ value) => Math.round(1000 - (1000 * value) / top);
  let path = "";
  for (let at = 0; at < length; at += width) {
    const here = bytes.slice(at, at + width);
    path += `V${y(Math.min(...here))}V${y(Math.max(...here))}H${Math.round((1000 * Math.min(length, at + width)) / length)}`;
  }
  return path;
}

/**
 * @param {LiveColumns} columns @param {number} at
 * @returns {{alive: number[], totals: number[]}} the buffers that are alive at an instant, the largest first, and the sums down to each
 */
export function aliveAt({ first, last, size }, at) {
  const alive = [];
  const totals = [];
  let total = 0;
  for (let buffer = 0; buffer < size.length; buffer += 1) {
    if (first[buffer] > at || last[buffer] < at) continue;
    alive.push(buffer);
    totals.push((total += size[buffer]));
  }
  return { alive, totals };
}

/**
 * @param {import("./schema").Steps} chart @param {import("./schema").Table} table @param {HTMLElement} scroller with the rows of the peak
 * @param {import("./card.js").Reader} reader
 */
export function renderSteps(chart, table, scroller, { columns, signal }) {
  const { count, peak, label, ticks, top, axis, summary } = chart;
  const where = (/** @type {number} */ at) => (at + 0.5) / count;
  const cursor = h("i.instant");
  const area = plot([], ticks, [], limitMark(where(peak), label), cursor);
  const slider = { role: "slider", tabindex: 0, "aria-label": summary, "aria-valuemin": 1, "aria-valuemax": count, "aria-valuenow": peak + 1 };
  for (const [name, value] of Object.entries(slider)) setAttribute(area, name, value);
  const said = h("p.said-below", {}, summary);
  const { shown, filler } = shownColumns(table);
  const body = h("tbody");
  const grid = h("table.live", {}, h("thead", {}, h("tr", {}, ...shown.map((column) => headCell(column, "", h("span", { title: column.help || null }, column.label))), filler && h("td.filler"))), body);
  /** @type {LiveColumns | undefined} */
  let data;
  let pinned = peak;
  let at = -1;
  let down = 0;
  /** @type {{alive: number[], totals: number[]}} */
  let { alive, totals } = { alive: [], totals: [] };

  /** @param {LiveColumns} of @param {string} key @param {number} row */
  const cell = ({ strings, cells, size, first, last }, key, row) => {
    const buffer = alive[row];
    if (key === "size") return formatBytes(size[buffer]);
    if (key === "total") return formatBytes(totals[row]);
    if (key === "lifetime") return `${grouped(first[buffer] + 1)} … ${grouped(last[buffer] + 1)}`;
    return strings[cells[key]?.[buffer]] ?? "";
  };
  // Only rows in view are drawn; an empty one stands for all those above them, and one for those below.
  const space = (/** @type {number} */ rows) => {
    const row = h("tr", UNHEARD);
    row.style.height = `${rows * ROW_PIXELS}px`;
    return row;
  };
  const to = (/** @type {LiveColumns} */ { listing }, /** @type {number} */ line) => line >= 0 && { listing, line };

  function drawRows() {
    if (!data) return;
    const of = data;
    const from = Math.max(0, Math.floor(down / ROW_PIXELS) - 2);
    const rows = alive.slice(from, from + SHOWN_ROWS + 4).map((buffer, number) => {
      const share = of.size[buffer] / of.size[alive[0]];
      const cells = shown.map((column, nth) => h("td", { class: column.align }, cellContent(column, cell(of, column.key, from + number), share, !nth && to(of, of.line[buffer]))));
      return h("tr", { "aria-rowindex": from + number + 2 }, ...cells, filler && h("td.filler"));
    });
    replace(body, space(from), ...rows, space(alive.length - from - rows.length));
  }

  /** @param {number} instant */
  function show(instant) {
    const next = clamp(instant, count - 1);
    if (next === at) return;
    at = next;
    placed(cursor, where(at), 0);
    if (!data) return;
    ({ alive, totals } = aliveAt(data, at));
    const name = data.strings[data.step_name[at]] ?? "";
    const words = [`instant ${grouped(at + 1)} of ${grouped(count)}`, `${formatBytes(data.step_bytes[at])} in ${plural(alive.length, "buffer")}`];
    setAttribute(area, "aria-valuenow", at + 1);
    setAttribute(area, "aria-valuetext", `${words.join(", ")}, ${name}`);
    setAttribute(grid, "aria-rowcount", alive.length + 1);
    replace(said, `${words.join(" · ")} · `, cellContent({ code: true }, name, 0, to(data, data.step_line[at])), at !== peak && h("button.small", { "data-peak": "" }, "peak (key p)"));
    if (down) scroller.scrollTop = down = 0;
    drawRows();
  }

  const instantAt = (/** @type {PointerEvent} */ { clientX }) => {
    const { left, width } = area.getBoundingClientRect();
    return Math.floor(((clientX - left) / width) * count);
  };
  const pin = (/** @type {number} */ instant) => show((pinned = clamp(instant, count - 1)));
  on(area, "pointermove", (event) => show(instantAt(event)), signal);
  on(area, "pointerleave", () => show(pinned), signal);
  on(area, "click", (event) => pin(instantAt(event)), signal);
  on(said, "click", (event) => event.target.dataset.peak !== undefined && pin(peak), signal);
  on(scroller, "scroll", () => {
    down = scroller.scrollTop;
    drawRows();
  }, signal);
  on(
    area,
    "keydown",
    (event) => {
      const { key } = event;
      const page = Math.max(1, Math.round(count / 20));
      /** @type {Record<string, number>} */
      const places = { ArrowRight: at + 1, ArrowUp: at + 1, ArrowLeft: at - 1, ArrowDown: at - 1, PageUp: at + page, PageDown: at - page, Home: 0, End: count - 1, p: peak };
      if (isModified(event) || !(key in places)) return;
      pin(places[key]);
      consume(event);
    },
    signal,
  );
  columns(chart).then(
    (found) => {
      data = found;
      const path = stepsPath(found.step_bytes, top);
      area.prepend(drawPaths([["area", `M0 1000${path}V1000Z`], ["curve", `M0 1000${path}`]]));
      replace(scroller, grid);
      scroller.style.height = `${Math.min(SHOWN_ROWS, found.size.length) * ROW_PIXELS + 36}px`;
      at = -1;
      show(pinned);
    },
    (reason) => replace(said, `${summary} The other instants are not here: ${reason.message}`),
  );
  return h("div.chart", {}, area, h("span.axis right", {}, axis), said);
}
