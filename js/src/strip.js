/** The strip of stages that is the tab bar: what ran, what came out, how long it took. */
import { plural } from "./numbers.js";
import { SIGNS } from "./table.js";
import { UNHEARD, focusedBeside, h, isModified, on, replace } from "./dom.js";

/** @typedef {import("./schema").Tab} Tab */

const TICK_MS = 100;

/** @param {number} seconds */
export function formatSeconds(seconds) {
  if (seconds < 0.0995) return `${(seconds * 1000).toFixed(1)} ms`;
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 99.95) return `${seconds.toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
}

/** What stands under a tab's title, part by part. @param {Tab} tab @param {number | null} elapsedSeconds of a running stage */
export function caption(tab, elapsedSeconds) {
  const seconds = tab.status === "running" ? elapsedSeconds : tab.seconds;
  const time = seconds === null ? "" : formatSeconds(seconds);
  if (tab.status === "running") return ["running", time].filter(Boolean);
  if (tab.status === "failed") return ["failed", tab.count, time].filter(Boolean);
  return tab.status === "done" ? [tab.count, time].filter(Boolean) : [tab.status];
}

/** Parts between which a line may end. @param {string[]} parts */
const spaced = (parts) => parts.flatMap((part, number) => [number > 0 && " · ", h("span.part", {}, part)]);

/** @param {Tab} tab whether a table of it says that something is wrong */
function worstTone(tab) {
  const tones = [...tab.tables.flatMap((table) => [table.tone, ...table.rows.map((row) => row.tone)]), ...(tab.findings ?? []).map(({ tone }) => tone)];
  return tones.includes("error") ? "error" : tones.includes("warning") ? "warning" : "";
}

/** How many lines of a listing have something worth a look. @param {import("./schema").Mark[]} said */
function badge(said) {
  const grave = said.filter(({ tone }) => tone === "warning" || tone === "error");
  const count = new Set(grave.map(({ line }) => line)).size;
  const tone = grave.some(({ tone }) => tone === "error") ? "error" : "warning";
  return count > 0 && h("span", { class: `badge tone-${tone}`, role: "img", "aria-label": `${plural(count, "line")} with findings or failures` }, `${SIGNS[tone]}${count}`);
}

export class Strip {
  /**
   * @param {HTMLElement} element
   * @param {{onSelect: (key: string) => void, said: (key: string) => import("./schema").Mark[], panel: string, signal: AbortSignal}} options
   */
  constructor(element, { onSelect, said, panel, signal }) {
    this.element = element;
    this.onSelect = onSelect;
    this.said = said;
    this.panel = panel;
    /** @type {Tab[]} */
    this.tabs = [];
    this.active = "";
    /** @type {Map<string, number>} when a stage was first seen running, in milliseconds */
    this.started = new Map();
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.timer = undefined;
    element.setAttribute("role", "tablist");
    element.setAttribute("aria-label", "stages and reports");
    on(element, "click", (event) => this.#select(/** @type {Element} */ (event.target)), signal);
    on(element, "keydown", (event) => this.#onKey(event), signal);
    on(signal, "abort", () => clearInterval(this.timer));
  }

  /** @param {Element} target */
  #select(target) {
    const key = /** @type {HTMLElement | null} */ (target.closest("[role=tab]"))?.dataset.key;
    if (key !== undefined) this.onSelect(key);
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    const steps = /** @type {Record<string, number>} */ ({ ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity });
    if (!(event.key in steps) || isModified(event)) return;
    event.preventDefault();
    this.step(steps[event.key], true);
  }

  /** @param {number} step @param {boolean} focus */
  step(step, focus) {
    const at = this.tabs.findIndex((tab) => tab.key === this.active);
    const count = this.tabs.length;
    if (!count) return;
    const to = Number.isFinite(step) ? (at + step + count) % count : step < 0 ? 0 : count - 1;
    this.onSelect(this.tabs[to].key);
    if (focus) this.#button(this.tabs[to].key)?.focus();
  }

  /** @param {string} key @returns {HTMLElement | undefined} */
  #button(key) {
    const buttons = /** @type {NodeListOf<HTMLElement>} */ (this.element.querySelectorAll("[role=tab]"));
    return [...buttons].find((button) => button.dataset.key === key);
  }

  /** @param {Tab[]} tabs @param {string} active */
  show(tabs, active) {
    const focused = focusedBeside(this.element)?.closest("[role=tab]");
    const hadFocus = focused && this.element.contains(focused);
    this.tabs = tabs;
    this.active = active;
    for (const tab of tabs) {
      if (tab.status !== "running") this.started.delete(tab.key);
      else if (!this.started.has(tab.key)) this.started.set(tab.key, performance.now() - (tab.seconds ?? 0) * 1000);
    }
    // Where there is no room for all in one line, the reports go to the next together.
    const groups = /** @type {const} */ (["listing", "tables"]).map((kind) => {
      const own = tabs.filter((tab) => tab.kind === kind);
      return h("div.group", { role: "presentation" }, ...own.flatMap((tab, at) => [at > 0 && kind === "listing" && h("span.arrow", UNHEARD, "→"), this.#tab(tab)]));
    });
    replace(this.element, ...groups);
    if (hadFocus) this.#button(active)?.focus();
    clearInterval(this.timer);
    if (this.started.size) this.timer = setInterval(() => this.#tick(), TICK_MS);
  }

  /** @param {Tab} tab */
  #tab(tab) {
    const tone = tab.status === "failed" ? "error" : tab.status === "done" ? worstTone(tab) : "";
    const sign = tone === "error" ? "✕ " : tone === "warning" ? "▲ " : "";
    const isActive = tab.key === this.active;
    const off = tab.status === "not reached" || tab.status === "unavailable" || tab.status === "pending";
    return h(
      "button",
      {
        class: `tab ${off ? "off" : ""} ${tab.status === "failed" ? "failed" : ""}`,
        role: "tab",
        "aria-selected": String(isActive),
        "aria-controls": this.panel,
        tabindex: isActive ? 0 : -1,
        title: tab.reason || null,
        "data-key": tab.key,
        "data-status": tab.status,
      },
      h("b", {}, tab.status === "failed" ? "✕ " : "", tab.title, " ", tab.status === "done" && badge(this.said(tab.key))),
      h(
        "small",
        { class: tone ? `tone-${tone}` : "" },
        tab.status === "running" && h("span.spinner", UNHEARD),
        h("span.caption", {}, tab.status === "failed" ? "" : sign, ...spaced(caption(tab, this.#elapsed(tab.key)))),
      ),
    );
  }

  /** @param {string} key */
  #elapsed(key) {
    const started = this.started.get(key);
    return started === undefined ? null : (performance.now() - started) / 1000;
  }

  #tick() {
    for (const tab of this.tabs) {
      if (tab.status !== "running") continue;
      const label = this.#button(tab.key)?.querySelector(".caption");
      if (label) replace(label, ...spaced(caption(tab, this.#elapsed(tab.key))));
    }
  }
}
