/** The sheet of all keys, made from the table of them; the focus stays in it and goes back to where it was. */
import { QUIETLY, append, focusedBeside, h, on, replace } from "./dom.js";
import { ACTIONS, keyName } from "./keys.js";

export class Help {
  /** @param {HTMLElement} app @param {AbortSignal} signal */
  constructor(app, signal) {
    this.close = h("button", { class: "toggle plain" }, "close");
    this.list = h("div.key-groups", { tabindex: 0, role: "group", "aria-label": "actions and their keys" });
    const head = h("header.card-head", {}, h("h2", { id: "help-title" }, "Keys"), h("span.gap"), this.close);
    this.element = h("dialog.help", { role: "dialog", "aria-modal": "true", "aria-labelledby": "help-title" }, head, this.list);
    /** @type {HTMLElement | null} */
    this.earlier = null;
    app.append(this.element);
    on(this.close, "click", () => this.element.close(), signal);
    on(this.element, "close", () => this.earlier?.focus(QUIETLY), signal);
    on(this.element, "keydown", (event) => this.#onKey(event), signal);
    on(this.element, "click", (event) => event.target === this.element && this.element.close(), signal);
  }

  open() {
    this.earlier = focusedBeside(this.element);
    replace(this.list, ...groups());
    this.element.showModal();
    this.close.focus();
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    event.stopPropagation();
    if (event.key === "Tab") (event.composedPath()[0] === this.close ? this.list : this.close).focus();
    else if (event.key === "Escape" || event.key === "?") this.element.close();
    else return;
    event.preventDefault();
  }
}

function groups() {
  const names = [...new Set(ACTIONS.map((action) => action.group))];
  return names.map((name) => {
    const list = h("dl");
    for (const { keys, label } of ACTIONS.filter((action) => action.group === name)) {
      append(list, [h("div", {}, h("dt", {}, ...keys.map((key) => h("kbd", {}, keyName(key)))), h("dd", {}, label))]);
    }
    return h("section", {}, h("h3", {}, name), list);
  });
}
