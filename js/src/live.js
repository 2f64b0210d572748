/** What a screen reader is told when something happens: the words, and the region that says them. */
import { h, on, replace } from "./dom.js";
import { grouped } from "./numbers.js";

// Somebody who holds an arrow key down wants to hear where they stopped, not every line on the way.
const PAUSE_MS = 200;

/** @typedef {import("./schema").View} View */

/** The stages that have ended since. @param {View | null} before @param {View} view @returns {string[]} */
export function endedStages(before, view) {
  const isOver = (/** @type {string | undefined} */ status) => status === "done" || status === "failed";
  const earlier = new Map(before?.tabs.map((tab) => [tab.key, tab.status]));
  return view.tabs
    .filter((tab) => earlier.has(tab.key) && !isOver(earlier.get(tab.key)) && isOver(tab.status))
    .map((tab) => `${tab.title} ${tab.status === "done" ? "finished" : "failed"}`);
}

/** @param {number} count @param {string} title of a listing */
export const linkedWords = (count, title) => `${count ? grouped(count) : "no"} linked ${count === 1 ? "line" : "lines"} in ${title}`;

export class Live {
  /** @param {AbortSignal} signal */
  constructor(signal) {
    /** @type {Map<string, string>} what is still to be said, by topic */
    this.pending = new Map();
    this.element = h("div.unseen", { role: "status", "aria-live": "polite" });
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
    on(signal, "abort", () => clearTimeout(this.timer));
  }

  /** What is linked to the line in question, in each other listing. @param {{tab?: {title: string}, lines?: import("./links.js").Linked}[]} others */
  sayLinks(others) {
    const counts = others.map(({ tab, lines }) => linkedWords(lines ? lines.exact.length + lines.related.length : 0, tab?.title ?? ""));
    if (counts.length) this.say(counts.join(", "), "links");
  }

  /** @param {string} words @param {string} [topic] of which only the newest words matter */
  say(words, topic = words) {
    this.pending.set(topic, words);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const all = [...this.pending.values()].join(". ");
      this.pending.clear();
      if (all !== this.element.textContent) replace(this.element, all);
    }, PAUSE_MS);
  }
}
