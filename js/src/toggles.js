/** The switches in the head of a pane: what of a line is shown. Which there are follows from the grammar of its listing. */
import { h, replace, setAttribute } from "./dom.js";
import { awayKinds } from "./highlight.js";
import { titleOf } from "./keys.js";
import { setPressed } from "./layout.js";

/** The kinds of hidden parts that have a switch, by the name of its action. @type {Record<string, string>} */
export const KIND_OF_TOGGLE = { types: "type", layouts: "layout", metadata: "metadata", config: "backend_config" };

/** @type {Record<string, string>} */
const LABELS = { types: "types", names: "short names", layouts: "layouts", metadata: "metadata", config: "config", exact: "exact text" };

export class Toggles {
  /** @param {(name: string) => void} run does an action @param {AbortSignal} signal */
  constructor(run, signal) {
    /** @type {Map<string, HTMLElement>} */
    this.buttons = new Map(["locations", ...Object.keys(LABELS)].map((name) => [name, makeToggle(name, LABELS[name] ?? name, run, signal)]));
    this.element = h("span", { class: "toggles" }, ...this.buttons.values());
  }

  /** @param {import("./schema").ListingIndex | null} index of the listing, null for none @param {import("./preferences.js").Preferences} preferences */
  show(index, { locations, turned, shortNames, exact }) {
    const grammar = index?.grammar ?? null;
    this.element.hidden = !grammar;
    const kinds = new Set(grammar?.hidden.map(({ kind }) => kind));
    const away = awayKinds(grammar, turned);
    for (const [name, button] of this.buttons) {
      const kind = KIND_OF_TOGGLE[name];
      if (kind || name === "names") {
        button.hidden = kind ? !kinds.has(kind) : !Object.keys(index?.short_names ?? {}).length;
        setPressed(button, kind ? exact || !away.has(kind) : shortNames && !exact);
        setAttribute(button, "aria-disabled", exact ? "true" : null);
      } else if (name === "exact") setPressed(button, exact);
      else {
        setPressed(button, locations !== "off");
        replace(button, `locations: ${locations}`);
      }
    }
  }
}

/** @param {string} name of the action @param {string} label @param {(name: string) => void} run @param {AbortSignal} signal */
export function makeToggle(name, label, run, signal) {
  const button = h("button", { class: "toggle", type: "button", title: titleOf(name), "data-action": name }, label);
  button.addEventListener("click", () => run(name), { signal });
  return button;
}
