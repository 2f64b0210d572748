/** Pictures of figures. All places come as shares of a side; what is drawn stretches with the card. */
import { UNHEARD, around, drawPaths, h, isModified, on, replace } from "./dom.js";
import { clamp } from "./numbers.js";
import { dataOf } from "./table.js";

/** @typedef {import("./schema").Tick} Tick */

/** @param {HTMLElement} element @param {number} x @param {number} y shares of the plot, from below @returns {HTMLElement} */
export function placed(element, x, y) {
  element.style.left = `${100 * x}%`;
  element.style.bottom = `${100 * y}%`;
  return element;
}

/** A path through points. @param {number[][]} points shares of the plot, from below */
export const pathThrough = (points) => `M${points.map(([x, y]) => `${Math.round(1000 * x)} ${Math.round(1000 - 1000 * y)}`).join("L")}`;

/**
 * @param {Tick[]} across @param {Tick[]} up @param {[name: string, path: string][]} paths
 * @param {...import("./dom.js").Child} more
 */
export function plot(across, up, paths, ...more) {
  const lines = [...up.map(({ at }) => [[0, at], [1, at]]), ...across.map(({ at }) => [[at, 0], [at, 1]])];
  const label = (/** @type {Tick} */ { label }, /** @type {string} */ name) => h("span", { class: `tick ${name}`, ...UNHEARD }, label);
  return h(
    "div.plot", {},
    drawPaths([["grid", lines.map(pathThrough).join("")], ...paths]),
    ...up.map((tick) => placed(label(tick, "up"), 0, tick.at)),
    ...across.map((tick) => placed(label(tick, "across"), tick.at, 0)),
    ...more,
  );
}

/** A line across the chart, whose words stand on the side with more room. @param {number} at @param {string} label */
export function limitMark(at, label) {
  const late = at > 0.5;
  const mark = h("span", { class: `limit ${late ? "late" : ""}` }, label);
  mark.style[late ? "right" : "left"] = `${100 * (late ? 1 - at : at)}%`;
  return mark;
}

/** @param {import("./schema").Stack} chart */
export function renderStack({ summary, parts, marks }) {
  const sign = (/** @type {number} */ at) => h("i", { "data-part": (at % 6) + 1 }, String(at + 1));
  const bar = h("div.shares", { role: "img", "aria-label": summary });
  parts.forEach(({ share }, at) => {
    const part = sign(at);
    part.style.width = `${100 * share}%`;
    bar.append(part);
  });
  for (const { at, label } of marks) bar.append(limitMark(at, label));
  return h("div.chart", {}, bar, h("ul.legend", {}, ...parts.map(({ label }, at) => h("li", {}, sign(at), label))));
}

/**
 * @param {import("./schema").Scatter} chart @param {import("./schema").Table} table whose rows the points are
 * @param {AbortSignal} signal
 */
export function renderScatter({ summary, x_label: xLabel, y_label: yLabel, x_ticks: xTicks, y_ticks: yTicks, roofs, points }, { columns, rows }, signal) {
  const hint = `${summary} Each circle is a row of the table below.`;
  const said = h("p.said-below", {}, hint);
  /** @type {HTMLElement[]} */
  const marks = [];
  points.forEach(([x, y, share], at) => {
    const { cells, link } = rows[at] ?? {};
    if (x === undefined || !cells) return;
    const words = columns.flatMap(({ label }, number) => (cells[number] ? (number ? `${label} ${cells[number]}` : cells[0]) : [])).join(" · ");
    const mark = placed(h("button.point", { "aria-label": words, tabindex: marks.length ? -1 : 0, ...dataOf(link) }), x, y);
    mark.style.width = `${8 + 26 * Math.sqrt(share)}px`;
    marks.push(mark);
  });
  // The largest first: a small one upon it can be reached.
  const area = plot(xTicks, yTicks, roofs.map(({ points: corners }) => ["roof", pathThrough(corners)]), ...roofs.map(({ label, points: corners }) => {
    const [x, y] = corners[corners.length - 1];
    return placed(h("span.roof-label", {}, label), x, y);
  }), ...marks);
  for (const name of ["pointerover", "focusin"]) on(area, name, (event) => replace(said, around(event, ".point")?.getAttribute("aria-label") ?? hint), signal);
  on(area, "keydown", (event) => {
    const step = /** @type {Record<string, number>} */ ({ ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity })[event.key];
    if (!step || isModified(event)) return;
    const at = clamp(marks.indexOf(event.target) + step, marks.length - 1);
    for (const mark of marks) mark.tabIndex = -1;
    marks[at].tabIndex = 0;
    marks[at].focus();
    event.preventDefault();
  }, signal);
  area.setAttribute("role", "group");
  area.setAttribute("aria-label", summary);
  return h("div.chart", {}, h("span.axis", {}, `↑ ${yLabel}`), area, h("span.axis right", {}, `${xLabel} →`), said);
}
