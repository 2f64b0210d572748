/**
 * The switches of a pane: what of a line is shown. Which there are follows from the grammar of its listing. Two stand in its
 * head, the others in a panel over the listing, because heads are narrow.
 */
import { UNHEARD, closeOnLeave, h, on, replace, setAttribute } from "./dom.js";
import { awayKinds } from "./highlight.js";
import { ACTIONS, titleOf } from "./keys.js";
import { LIST } from "./lists.js";
import { setPressed } from "./layout.js";

/** The kinds of hidden parts that have a switch, by the name of its action. @type {Record<string, string>} */
export const KIND_OF_TOGGLE = { types: "type", layouts: "layout", metadata: "metadata", config: "backend_config", constants: "constant", lists: LIST };

/** @type {Record<string, string>} */
const PANEL = {
  types: "types",
  names: "short names",
  layouts: "layouts",
  metadata: "metadata",
  config: "backend configuration",
  constants: "long constants",
  lists: "long lists",
  inline: "bodies inline at their call",
  heat: "share of the work",
  wrap: "wrap long lines",
};

export class Toggles {
  /** @param {HTMLElement} box around the listing @param {(name: string) => void} run does an action @param {AbortSignal} signal */
  constructor(box, run, signal) {
    const head = ["locations", "exact"].map((name) => makeToggle(name, "exact text", run, signal));
    const panel = Object.entries(PANEL).map(([name, label]) => makeToggle(name, label, run, signal));
    for (const button of panel) {
      const { keys } = /** @type {import("./keys.js").KeyAction} */ (ACTIONS.find(({ name }) => name === button.dataset.action));
      button.append(h("kbd", UNHEARD, keys[0]));
    }
    /** @type {Map<string, HTMLElement>} */
    this.buttons = new Map([...head, ...panel].map((button) => [String(button.dataset.action), button]));
    this.opener = h("button.small view", { title: titleOf("view"), "aria-expanded": "false" }, "view");
    this.panel = h("div.menu", { role: "group", "aria-label": "what of the text is shown" }, ...panel);
    this.panel.hidden = true;
    this.element = h("span.toggles", {}, ...head, this.opener);
    box.append(this.panel);
    on(this.opener, "click", () => this.open(Boolean(this.panel.hidden)), signal);
    closeOnLeave(this.opener, this.panel, () => this.open(false), signal);
    on(
      this.panel,
      "keydown",
      (event) => {
        if (event.key !== "Escape") return;
        this.open(false);
        this.opener.focus();
        event.stopPropagation();
      },
      signal,
    );
  }

  /** @param {boolean} isOpen */
  open(isOpen) {
    this.panel.hidden = !isOpen;
    setAttribute(this.opener, "aria-expanded", String(isOpen));
    if (isOpen) /** @type {HTMLElement | null} */ (this.panel.querySelector("button:not([hidden])"))?.focus();
  }

  /**
   * @param {import("./schema").ListingIndex | null} index of the listing, null for none
   * @param {import("./preferences.js").Preferences} preferences
   * @param {boolean} hasBodies whether it has computations that can stand at their call
   * @param {boolean} hasHeat whether it is known what its lines cost
   */
  show(index, { locations, turned, shortNames, exact, wrap, inline, heat }, hasBodies, hasHeat) {
    const grammar = index?.grammar ?? null;
    this.element.hidden = !index;
    if (!index) this.open(false);
    const kinds = new Set(grammar?.hidden.map(({ kind }) => kind));
    if (grammar) kinds.add(LIST);
    const away = awayKinds(grammar, turned);
    /** Whether a switch has a purpose here and is on, and what the exact text makes of it. @type {Record<string, [boolean, boolean, boolean?]>} */
    const states = {
      locations: [grammar !== null, locations !== "off"],
      names: [Object.keys(index?.short_names ?? {}).length > 0, shortNames, false],
      inline: [hasBodies, inline, false],
      heat: [hasHeat, heat],
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
  const button = h("button.toggle", { title: titleOf(name), "data-action": name }, label);
  on(button, "click", () => run(name), signal);
  return button;
}
