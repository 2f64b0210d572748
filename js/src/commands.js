/** What every action of the table does that is not for a listing alone. */
import { LAYOUTS, LOCATIONS, next } from "./preferences.js";
import { layoutName } from "./layout.js";
import { KIND_OF_TOGGLE } from "./toggles.js";

/** Choices with an action of the same name. */
const FLAGS = /** @type {const} */ (["follow", "wrap", "inline", "heat", "exact"]);

/** @typedef {(key: string, target: HTMLElement) => void} Command */

/** @param {import("./app.js").App} app @returns {Record<string, Command>} */
export function commandsOf(app) {
  /** @param {string} kind */
  const toggleKind = (kind) => {
    const { turned } = app.preferences;
    app.prefer({ turned: turned.includes(kind) ? turned.filter((each) => each !== kind) : [...turned, kind] });
  };
  return {
    help: () => app.help.open(),
    before: (_, target) => app.stepTab(-1, target),
    after: (_, target) => app.stepTab(1, target),
    leave: () => app.layout.leaveFull() || app.unpin(),
    "unpin-one": (key) => app.unpin(Number(key) - 1),
    full: () => void app.layout.toggleFull(),
    layout: () => {
      app.prefer({ layout: next(LAYOUTS, app.preferences.layout) });
      app.live.say(`layout: ${layoutName(app.preferences.layout)}`, "layout");
    },
    ...Object.fromEntries(FLAGS.map((name) => [name, () => app.prefer({ [name]: !app.preferences[name] })])),
    locations: () => app.prefer({ locations: next(LOCATIONS, app.preferences.locations) }),
    ...Object.fromEntries(["definition", "use", "use-before", "called", "back"].map((name) => [name, () => app.jumps.run(name)])),
    mark: (_, target) => app.stepMark(1, target),
    "mark-before": (_, target) => app.stepMark(-1, target),
    names: () => app.prefer({ shortNames: !app.preferences.shortNames }),
    ...Object.fromEntries(Object.entries(KIND_OF_TOGGLE).map(([name, kind]) => [name, () => toggleKind(kind)])),
  };
}
