/** What the user has chosen (tab, panes, pins), kept fitting to a view that grows while stages finish. Pure. */

/** @typedef {import("./schema").View} View */
/** @typedef {import("./source.js").Selection} Selection */
/** @typedef {import("./source.js").Pin} Pin */

/** The tabs of one target, and those that it shares with others. @param {View} view @param {string} target */
export const tabsOf = (view, target) => view.tabs.filter(({ targets }) => !targets.length || targets.includes(target));

/** The tab of another target that shows the same, such as its HLO. @param {View} view @param {string} key @param {string} target */
export function counterpart(view, key, target) {
  const base = (/** @type {string} */ name) => name.split("@")[0];
  return tabsOf(view, target).find((tab) => base(tab.key) === base(key))?.key ?? key;
}

/**
 * The tab that shows most before anybody chooses: a failure, else the newest finished stage.
 * @param {View} view @param {string} target
 */
export function automaticTab(view, target) {
  const tabs = tabsOf(view, target);
  const listings = tabs.filter((tab) => tab.kind === "listing");
  const done = listings.filter((tab) => tab.status === "done");
  const tab = tabs.find((each) => each.failure) ?? done[done.length - 1] ?? listings[1] ?? tabs[0];
  return tab?.key ?? "";
}

/**
 * @param {View} view
 * @param {Partial<Selection>} wanted from the user or from Python; anything in it may be missing or not fit
 * @param {boolean} chosen whether `wanted.tab` is somebody's choice
 * @returns {Selection}
 */
export function reconcile(view, wanted, chosen) {
  /** @type {(among: string[], key: string | undefined, otherwise: string | undefined) => string} */
  const known = (among, key, otherwise) => (key !== undefined && among.includes(key) ? key : (otherwise ?? ""));
  const names = view.targets.map(({ name }) => name);
  const target = known(names, wanted.target, names[0]);
  const keys = tabsOf(view, target).map((tab) => tab.key);
  const listings = view.tabs.filter((tab) => tab.kind === "listing").map((tab) => tab.key);
  const automatic = automaticTab(view, target);
  const tab = chosen ? known(keys, wanted.tab, automatic) : automatic;
  const pins = Array.isArray(wanted.pins) ? wanted.pins : [];
  return {
    target,
    tab,
    left: known(listings, wanted.left, known(listings, "python", listings[0])),
    right: listings.includes(tab) ? tab : known(listings, wanted.right, listings[1] ?? listings[0]),
    pins: pins.filter((pin) => listings.includes(pin?.listing) && Number.isInteger(pin.line) && pin.line >= 0),
  };
}

/**
 * @param {Pin[]} pins
 * @param {Pin} pin
 * @param {boolean} more keeps the others
 * @returns {{pins: Pin[], added: boolean}}
 */
export function togglePin(pins, pin, more) {
  const isSame = (/** @type {Pin} */ other) => other.listing === pin.listing && other.line === pin.line;
  const added = !pins.some(isSame);
  const others = more ? pins.filter((other) => !isSame(other)) : [];
  return { pins: added ? [...others, pin] : others, added };
}
