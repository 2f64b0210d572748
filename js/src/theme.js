/** Light or dark: read off the background that the page's theme variables actually give, and followed when it changes. */

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
  check();
  // The background has a transition of a millisecond, so that any change of theme, from whatever variable, is an event.
  app.addEventListener("transitionend", (event) => event.target === app && check(), { signal });
  return check;
}
