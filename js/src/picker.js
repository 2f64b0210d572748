/** Which target is shown, and which others the kernel could compile for. */
import { append, h, on, replace, setAttribute } from "./dom.js";

export class Picker {
  /** @param {(name: string) => void} onSelect @param {AbortSignal} signal */
  constructor(onSelect, signal) {
    this.select = h("select.target", { "aria-label": "target" });
    on(this.select, "change", () => onSelect(this.select.value), signal);
  }

  /** A name where there is nothing to choose. @param {import("./schema").View} view @param {string} chosen @param {boolean} canCompile @returns {HTMLElement} */
  show({ targets, choices, versions }, chosen, canCompile) {
    const option = (/** @type {{name: string, label: string, reason?: string}} */ { name, label, reason }) =>
      h("option", { value: name, disabled: reason ? "" : null, title: reason || null }, label);
    const others = choices.filter(({ name }) => canCompile && !targets.some((target) => target.name === name));
    if (targets.length + others.length < 2) return h("span.target", { title: versions }, targets[0]?.label ?? "");
    replace(this.select, ...targets.map(option));
    if (others.length) append(this.select, [h("optgroup", { label: "compile for…" }, ...others.map(option))]);
    setAttribute(this.select, "title", versions);
    this.select.value = chosen;
    return this.select;
  }
}
