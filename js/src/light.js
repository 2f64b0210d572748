/**
 * What is lit: the marks of every pane and the words of the status bar, from the pins and the line under the pointer or
 * the keyboard's cursor. Pure.
 */
import { EXACT, NONE, degree, linkedLines, match, originOf } from "./links.js";
import { saidOf } from "./marks.js";
import { grouped } from "./numbers.js";

/** @typedef {import("./listing.js").LoadedListing} LoadedListing */
/** @typedef {import("./schema").View} View */
/** @typedef {{key: string, line: number}} At a line of a listing */

/** @type {import("./links.js").Linked} */
const NO_LINES = { exact: new Int32Array(0), related: new Int32Array(0) };

/**
 * @param {object} state
 * @param {View} state.view
 * @param {LoadedListing[]} state.shown the listings on screen
 * @param {(key: string) => LoadedListing | null} state.get any listing that is loaded
 * @param {At | null} state.hover
 * @param {import("./source.js").Pin[]} state.pins
 * @param {(key: string) => import("./schema").Mark[]} state.said of a listing
 * @returns {{marks: import("./listing.js").Marks[], status: import("./status.js").State | null}} marks as `shown`
 */
export function lightUp({ view, shown, get, hover, pins, said }) {
  const lastPin = pins[pins.length - 1];
  const current = hover ?? (lastPin ? { key: lastPin.listing, line: lastPin.line } : null);
  const hovered = hover && originAt(get(hover.key), hover.line);
  const nothing = { kind: /** @type {const} */ ("none"), frames: [] };
  const pinned = pins.map((pin) => originAt(get(pin.listing), pin.line) ?? nothing);
  /** @type {string[]} */
  const linked = [];
  /** @type {string[]} */
  const searched = [];
  const marks = shown.map(({ table, key }) => {
    const hoverMatch = hovered ? match(table, hovered) : null;
    const pinMatches = pinned.map((origin) => match(table, origin));
    const ownLine = hover?.key === key ? hover.line : -1;
    const hoverLines = hoverMatch ? linkedLines(table, hoverMatch) : NO_LINES;
    const pinLines = pinMatches.map((found) => linkedLines(table, found));
    if (current && current.key !== key) {
      const title = view.tabs.find((tab) => tab.key === key)?.title ?? key;
      const { exact, related } = hover ? hoverLines : (pinLines[pinLines.length - 1] ?? hoverLines);
      if (exact.length) linked.push(`${grouped(exact.length)} exact in ${title}`);
      if (related.length) linked.push(`${grouped(related.length)} by line or caller in ${title}`);
      searched.push(title);
    }
    return {
      hovered: (/** @type {number} */ line) => (line === ownLine ? EXACT : hoverMatch ? degree(table, hoverMatch, line) : NONE),
      pinned: (/** @type {number} */ line) => pinMatches.reduce((most, found) => Math.max(most, degree(table, found, line)), NONE),
      pinNumber: (/** @type {number} */ line) => strongest(pinMatches.map((found) => degree(table, found, line))),
      pins: new Map(pins.flatMap((pin, at) => (pin.listing === key ? [[pin.line, at + 1]] : []))),
      said: saidOf(said(key)),
      ruler: [hoverLines, ...pinLines],
    };
  });
  const listing = current && get(current.key);
  if (!listing || current.line >= listing.lines.length) return { marks, status: null };
  const isPinned = pins.some((pin) => pin.listing === current.key && pin.line === current.line);
  const origin = originOf(listing.table, current.line);
  return { marks, status: { listing, line: current.line, origin, linked, searched, pinned: isPinned, said: saidOf(said(current.key)).get(current.line) } };
}

/** The number of the first with the highest degree, from 1; 0 where all are NONE. @param {number[]} degrees */
function strongest(degrees) {
  const most = Math.max(NONE, ...degrees);
  return most === NONE ? 0 : degrees.indexOf(most) + 1;
}

/** @param {LoadedListing | null} listing @param {number} line */
export function originAt(listing, line) {
  return listing ? originOf(listing.table, line) : null;
}
