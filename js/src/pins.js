/** The pins below the listings: each with its number, where it is, and a button that takes it off. */
import { UNHEARD, focusedBeside, h, replace } from "./dom.js";
import { lineNumber } from "./links.js";

// Colours and marks of the style sheet for that many; later pins take them again and have their own numbers.
export const PIN_COLORS = 6;

/** @param {number} number from 1 @returns {number} which of the colours */
export const pinColor = (number) => ((number - 1) % PIN_COLORS) + 1;

/**
 * @param {HTMLElement} element
 * @param {import("./schema").View} view
 * @param {import("./source.js").Pin[]} pins
 * @param {(key: string) => import("./listing.js").LoadedListing | null} get
 */
export function showPins(element, view, pins, get) {
  const focused = focusedBeside(element)?.dataset.remove;
  const buttons = pins.map(({ listing, line }, at) => {
    const title = view.tabs.find((tab) => tab.key === listing)?.title ?? listing;
    const index = get(listing)?.index;
    const place = `${title} ${index ? lineNumber(index, line) || "" : line + 1}`.trim();
    const key = at < PIN_COLORS ? ` (key ${at + 1})` : "";
    return h(
      "button",
      { "data-remove": at, "data-pin": pinColor(at + 1), title: `take this pin off${key}` },
      h("b", {}, String(at + 1)),
      ` ${place} `,
      h("span", UNHEARD, "✕"),
    );
  });
  element.hidden = !pins.length;
  replace(element, ...buttons);
  if (focused !== undefined) buttons[Math.min(Number(focused), buttons.length - 1)]?.focus();
}
