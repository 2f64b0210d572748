/** Light or dark: read off the background that the page's theme variables actually give, and followed when it changes. */
import { on } from "./dom.js";

/** @param {string} color a computed colour, such as `rgb(17, 17, 17)` @returns {number} relative luminance by WCAG 2 */
export function luminance(color) {
  // A sample it matches: "rgba(17, 17, 17, 0.5)".
  const [red, green, blue] = (color.match(/[\d.]+/g) ?? []).map(Number);
  const linear = (/** @type {number} */ value) => {
    const share = (value || 0) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
}

// A theme arrives as a style sheet, some time after the attributes that announce it.
const LATER_MS = [0, 60, 400, 1500];

/**
 * @param {HTMLElement} app
 * @param {AbortSignal} signal
 * @returns {() => void} checks again
 */
export function followTheme(app, signal) {
  const check = () => {
    const color = getComputedStyle(app).backgroundColor;
    if (color) app.dataset.theme = luminance(color) < 0.25 ? "dark" : "light";
  };
  /** @type {ReturnType<typeof setTimeout>[]} */
  let timers = [];
  const checkLater = () => {
    timers.forEach(clearTimeout);
    timers = LATER_MS.map((delayMs) => setTimeout(check, delayMs));
  };
  check();
  // The background has a transition of a millisecond, so that a change of any theme variable is an event.
  for (const name of ["transitionrun", "transitionend", "transitioncancel"]) {
    on(app, name, (event) => event.target === app && checkLater(), signal);
  }
  const observer = new MutationObserver(checkLater);
  for (const element of [document.documentElement, document.body]) observer.observe(element, { attributes: true });
  on(
    signal,
    "abort",
    () => {
      observer.disconnect();
      timers.forEach(clearTimeout);
    },
  );
  return check;
}
