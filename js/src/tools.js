/** The buttons in the head of the widget: layout, following, full screen and the sheet of keys. */
import { h, replace } from "./dom.js";
import { layoutName, setPressed } from "./layout.js";
import { makeToggle } from "./toggles.js";

export class Tools {
  /** @param {(name: string) => void} run does an action @param {AbortSignal} signal */
  constructor(run, signal) {
    this.layout = makeToggle("layout", "", run, signal);
    this.follow = makeToggle("follow", "follow", run, signal);
    this.full = makeToggle("full", "full screen", run, signal);
    const help = makeToggle("help", "? keys", run, signal);
    for (const button of [this.layout, help]) button.classList.add("plain");
    this.element = h("span.tools", {}, this.layout, this.follow, this.full, help);
  }

  /** @param {import("./preferences.js").Preferences} preferences @param {boolean} isFull */
  show({ layout, follow }, isFull) {
    replace(this.layout, `layout: ${layoutName(layout)}`);
    setPressed(this.follow, follow);
    setPressed(this.full, isFull);
  }
}
