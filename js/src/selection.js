/** What the user has chosen (tab, panes, pins), kept fitting to a view that grows while stages finish. Pure. */

/** @typedef {import("./schema").View} View */
/** @typedef {import("./source.js").Selection} Selection */
/** @typedef {import("./source.js").Pin} Pin */

/**
 * The tab that shows most before anybody chooses: a failure, else the newest finished stage.
 * @param {View} view
 */
export function automaticTab(view) {
  const listings = view.tabs.filter((tab) => tab.kind === "listing");
  const done = listings.filter((tab) => tab.status === "done");
  const tab = view.tabs.find((each) => each.failure) ?? done[done.length - 1] ?? listings[1] ?? view.tabs[0];
  return tab?.key ?? "";
}

/**
 * @param {View} view
 * @param {Partial<Selection>} wanted from the user or from Python; anything in it may be missing or not fit
 * @param {boolean} chosen whether `wanted.tab` is somebody's choice
 * @returns {Selection}
 */
export function reconcile(view, wanted, chosen) {
  const keys = view.tabs.map((tab) => tab.key);
  const listings = view.tabs.filter((tab) => tab.kind === "listing").map((tab) => tab.key);
  /** @type {(among: string[], key: string | undefined, otherwise: string | undefined) => string} */
  const known = (among, key, otherwise) => (key !== undefined && among.includes(key) ? key : (otherwise ?? ""));
  const automatic = automaticTab(view);
  const tab = chosen ? known(keys, wanted.tab, automatic) : automatic;
  const pins = Array.isArray(wanted.pins) ? wanted.pins : [];
  return {
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
