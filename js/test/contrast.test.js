/** Every text colour reaches WCAG AA (4.5:1) on every ground it stands on, in light and dark, by the definition of WCAG 2. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { luminance } from "../src/theme.js";

const css = readFileSync(new URL("../src/style.css", import.meta.url), "utf8");

/** @param {string} selector @returns {Record<string, string>} its colour variables */
function colors(selector) {
  const start = css.indexOf(`${selector} {`);
  assert.ok(start >= 0, selector);
  const block = css.slice(start, css.indexOf("}", start));
  // A sample it matches: "--ink: #1c2330;".
  return Object.fromEntries([...block.matchAll(/(--[\w-]+): (#[0-9a-f]{3,6});/g)].map(([, name, value]) => [name, value]));
}

/** @param {string} hex */
function toRgb(hex) {
  const digits = hex.length === 4 ? [...hex.slice(1)].map((digit) => digit + digit).join("") : hex.slice(1);
  return `rgb(${[0, 2, 4].map((at) => Number.parseInt(digits.slice(at, at + 2), 16)).join(", ")})`;
}

/** @param {string} a @param {string} b */
function contrast(a, b) {
  const [light, dark] = [luminance(toRgb(a)), luminance(toRgb(b))].sort((x, y) => y - x);
  return (light + 0.05) / (dark + 0.05);
}

const light = colors(".app");
const dark = { ...light, ...colors('.app[data-theme="dark"]') };
// Own backgrounds, and what JupyterLab's and VS Code's light and dark themes put in their place.
const grounds = { light: ["#ffffff"], dark: ["#14171c", "#111111", "#1f1f1f", "#1e1e1e"] };

const rowGrounds = ["--link", "--link-soft", "--error-row", "--found"];
const pins = Object.keys(light).filter((name) => name.startsWith("--pin-"));
// A sample it matches: "color-mix(in srgb, var(--pin-color) 12%, var(--bg))".
const pinShares = [...css.matchAll(/color-mix\(in srgb, var\(--pin-color\) (\d+)%, var\(--bg\)\)/g)].map(([, percent]) => Number(percent) / 100);

/** @param {string} a @param {string} b @param {number} share of a */
function mix(a, b, share) {
  const [from, to] = [a, b].map((hex) => (toRgb(hex).match(/\d+/g) ?? []).map(Number));
  return `#${from.map((value, at) => Math.round(value * share + to[at] * (1 - share)).toString(16).padStart(2, "0")).join("")}`;
}
const plainGrounds = ["--panel", "--hover"];
const rowTexts = ["--ink", "--muted", ...Object.keys(light).filter((name) => name.startsWith("--k-"))];
const plainTexts = ["--ink", "--muted", "--accent", "--bad", "--warn"];

test("the known extremes", () => {
  assert.equal(contrast("#000000", "#ffffff"), 21);
  assert.ok(Math.abs(contrast("#777777", "#ffffff") - 4.48) < 0.01);
});

test("there are colours to check", () => {
  assert.ok(pins.length === 6 && pinShares.length === 2 && rowTexts.length >= 9 && Object.keys(colors('.app[data-theme="dark"]')).length >= 15);
});

for (const [theme, variables] of Object.entries({ light, dark })) {
  test(`${theme}: texts on every ground`, () => {
    const bases = grounds[/** @type {"light" | "dark"} */ (theme)];
    /** @type {[string, string][]} */
    const pairs = [];
    for (const text of rowTexts) for (const ground of [...bases, ...rowGrounds]) pairs.push([text, ground]);
    for (const text of plainTexts) for (const ground of [...bases, ...plainGrounds]) pairs.push([text, ground]);
    for (const pin of pins) {
      for (const base of bases) {
        pairs.push([pin, base]);
        for (const share of pinShares) for (const text of [...rowTexts, pin]) pairs.push([text, mix(variables[pin], base, share)]);
      }
    }
    pairs.push(["--bad", "--error-row"], ["--warn", "--link-soft"]);
    const failures = pairs
      .map(([text, ground]) => ({ text, ground, ratio: contrast(variables[text], variables[ground] ?? ground) }))
      .filter(({ ratio }) => !(ratio >= 4.5))
      .map(({ text, ground, ratio }) => `${text} on ${ground}: ${ratio.toFixed(2)}`);
    assert.deepEqual(failures, []);
  });
}
