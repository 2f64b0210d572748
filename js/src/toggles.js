/** The switches in the head of a pane: what of a line is shown. Which there are follows from the grammar of its listing. */
import { h, replace, setAttribute } from "./dom.js";
import { awayKinds } from "./highlight.js";
import { titleOf } from "./keys.js";
import { setPressed } from "./layout.js";

/** The kinds of hidden parts that have a switch, by the name of its action. @type {Record<string, string>} */
export const KIND_OF_TOGGLE = { types: "type", layouts: "layout", metadata: "metadata", config: "backend_config" };

/** @type {Record<string, string>} */
const LABELS = { types: "types", names: "short names", layouts: "layouts", metadata: "metadata", config: "config", inline: "inline", wrap: "wrap", exact: "exact text" };

export class Toggles {
  /** @param {(name: string) => void} run does an action @param {AbortSignal} signal */
  constructor(run, signal) {
    /** @type {Map<string, HTMLElement>} */
    this.buttons = new Map(["locations", ...Object.keys(LABELS)].map((name) => [name, makeToggle(name, LABELS[name] ?? name, run, signal)]));
    this.element = h("span", { class: "toggles" }, ...this.buttons.values());
  }

  /**
   * @param {import("./schema").ListingIndex | null} index of the listing, null for none
   * @param {import("./preferences.js").Preferences} preferences
   * @param {boolean} hasBodies whether it has computations that can stand at their call
   */
  show(index, { locations, turned, shortNames, exact, wrap, inline }, hasBodies) {
    const grammar = index?.grammar ?? null;
    this.element.hidden = !index;
    const kinds = new Set(grammar?.hidden.map(({ kind }) => kind));
    const away = awayKinds(grammar, turned);
    /** Whether a switch has a purpose here and is on, and what the exact text makes of it. @type {Record<string, [boolean, boolean, boolean?]>} */
    const states = {
      locations: [grammar !== null, locations !== "off"],
      names: [Object.keys(index?.short_names ?? {}).length > 0, shortNames, false],
      inline: [hasBodies, inline, false],
      wrap: [true, wrap],
      exact: [grammar !== null, exact],
    };
    for (const [name, button] of this.buttons) {
      const kind = KIND_OF_TOGGLE[name];
      const [fits, isOn, whenExact] = kind ? [kinds.has(kind), !away.has(kind), true] : states[name];
      const givesWay = exact && whenExact !== undefined;
      button.hidden = !fits;
      setPressed(button, givesWay ? whenExact : isOn);
      setAttribute(button, "aria-disabled", givesWay ? "true" : null);
      if (name === "locations") replace(button, `locations: ${locations}`);
    }
  }
}

/** @param {string} name of the action @param {string} label @param {(name: string) => void} run @param {AbortSignal} signal */
export function makeToggle(name, label, run, signal) {
  const button = h("button", { class: "toggle", type: "button", title: titleOf(name), "data-action": name }, label);
  button.addEventListener("click", () => run(name), { signal });
  return button;
}
