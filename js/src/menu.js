/** A small menu over a listing. Every entry has a key, which works while it is open. */
import { UNHEARD, around, closeOnLeave, consume, h, isModified, on, replace, setAttribute } from "./dom.js";

/**
 * @typedef {object} Entry
 * @property {string} key
 * @property {string} label
 * @property {string} keys as told to people
 * @property {() => void} act
 * @property {boolean} [off]
 */
/** @typedef {{title: string, entries: Entry[]}} Group */

export class Menu {
  /**
   * @param {HTMLElement} button that opens it
   * @param {HTMLElement} place
   * @param {object} options
   * @param {() => Group[]} options.groups asked for each time
   * @param {() => void} options.onClose the focus has to go somewhere
   * @param {AbortSignal} options.signal
   */
  constructor(button, place, { groups, onClose, signal }) {
    this.button = button;
    this.groups = groups;
    this.onClose = onClose;
    this.element = h("div.menu", { role: "menu", "aria-label": button.getAttribute("aria-label") });
    this.element.hidden = true;
    setAttribute(button, "aria-haspopup", "menu");
    setAttribute(button, "aria-expanded", "false");
    place.append(this.element);
    on(button, "click", () => (this.element.hidden ? this.open(0) : this.close()), signal);
    closeOnLeave(button, this.element, () => this.#hide(), signal);
    on(this.element, "keydown", (event) => this.#onKey(event), signal);
    on(this.element, "click", (event) => this.#choose(around(event, "button")), signal);
  }

  /** @param {number} group whose first entry gets the focus */
  open(group) {
    /** @type {Map<Element, Entry>} */
    this.entries = new Map();
    const groups = this.groups().map(({ title, entries }) => {
      const items = entries.map((entry) => {
        const item = h("button", { role: "menuitem", tabindex: -1, "aria-disabled": entry.off && "true", "aria-keyshortcuts": entry.keys }, h("span", {}, entry.label), h("kbd", {}, entry.keys));
        this.entries?.set(item, entry);
        return item;
      });
      return h("div", { role: "group", "aria-label": title }, h("b", UNHEARD, title), ...items);
    });
    replace(this.element, ...groups);
    this.element.hidden = false;
    setAttribute(this.button, "aria-expanded", "true");
    groups[group].querySelector("button")?.focus();
  }

  close() {
    if (this.element.hidden) return;
    this.#hide();
    this.onClose();
  }

  #hide() {
    this.element.hidden = true;
    setAttribute(this.button, "aria-expanded", "false");
  }

  /** @param {Element | null} item */
  #choose(item) {
    const entry = item && this.entries?.get(item);
    if (!entry || entry.off) return;
    this.close();
    entry.act();
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (isModified(event)) return;
    const items = [...(this.entries?.keys() ?? [])];
    const at = items.indexOf(/** @type {Element} */ (event.composedPath()[0]));
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (to !== undefined) /** @type {HTMLElement} */ (items[(to + items.length) % items.length]).focus();
    else if (event.key === "Escape" || event.key === "Tab") this.close();
    else if (event.key !== "Enter" && event.key !== " ") this.#choose(items.find((item) => this.entries?.get(item)?.key === event.key) ?? null);
    else return;
    consume(event);
  }
}
