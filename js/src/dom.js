/**
 * The one way elements are made: names, attributes and text. No string is ever parsed as markup, and every text and
 * attribute passes through `visible`.
 */
import { visible } from "./visible.js";

/** @typedef {Node | string | number | null | undefined | false} Child */

// Attributes that could run a script, load something or carry styles have no business here.
const allowed = /^(class|id|title|role|type|value|label|for|open|disabled|selected|tabindex|colspan|scope|dir|aria-[a-z]+|data-[a-z-]+)$/;

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag | `${Tag}.${string}`} tag and, behind a dot, classes
 * @param {Record<string, string | number | boolean | null | undefined>} [attributes] false, null and undefined leave one out
 * @param {...Child} children strings become text nodes
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, attributes = {}, ...children) {
  const [name, classes] = tag.split(".");
  const element = document.createElement(/** @type {Tag} */ (name));
  if (classes) element.className = classes;
  // Any other button would send a form, if it should stand in one.
  if (name === "button") element.setAttribute("type", name);
  for (const [attribute, value] of Object.entries(attributes)) setAttribute(element, attribute, value);
  append(element, children);
  return element;
}

/** The attributes of what is only to be seen. */
export const UNHEARD = { "aria-hidden": "true" };
/** How the focus moves while the page stays where it is. */
export const QUIETLY = { preventScroll: true };

/** Whether keys are held that make another key, or a click, something else. @param {KeyboardEvent} event */
export const isModified = ({ ctrlKey, metaKey, altKey }) => ctrlKey || metaKey || altKey;

/** Keeps a key from the browser and from all that is around. @param {Event} event */
export function consume(event) {
  event.preventDefault();
  event.stopPropagation();
}

const SVG = "http://www.w3.org/2000/svg";

/**
 * Lines in a square of 1000 by 1000, from the top left, that is stretched to the room that there is.
 * @param {[name: string, path: string][]} paths
 */
export function drawPaths(paths) {
  const picture = document.createElementNS(SVG, "svg");
  for (const [name, value] of [["viewBox", "0 0 1000 1000"], ["preserveAspectRatio", "none"], ["aria-hidden", "true"]]) picture.setAttribute(name, value);
  for (const [name, path] of paths) {
    const line = document.createElementNS(SVG, "path");
    line.setAttribute("class", name);
    line.setAttribute("d", path);
    picture.append(line);
  }
  return picture;
}

/**
 * @param {EventTarget} target @param {string} name @param {(event: any) => void} action
 * @param {AbortSignal} [signal] ends it @param {boolean} [capture]
 */
export const on = (target, name, action, signal, capture) => target.addEventListener(name, action, { signal, capture, once: name === "abort" });

/** The nearest element around what an event is of, or itself, that a selector fits. @param {Event} event @param {string} selector @returns {HTMLElement | null} */
export const around = (event, selector) => /** @type {Element} */ (event.target).closest(selector);

/** The element that has the focus, among those that stand where this one does. @param {Element} element @returns {HTMLElement | null} */
export const focusedBeside = (element) => /** @type {any} */ (element.getRootNode()).activeElement;

/** @param {Element} element @param {() => void} action when its size has become another, and at first @param {AbortSignal} signal ends it */
export function onResize(element, action, signal) {
  const observer = new ResizeObserver(action);
  observer.observe(element);
  on(signal, "abort", () => observer.disconnect());
}

/** A field for a line of code or of a name, which no browser is to correct. @param {string} label @param {string} placeholder */
export const codeField = (label, placeholder) =>
  Object.assign(h("input.query", { type: "text", "aria-label": label }), { spellcheck: false, autocomplete: "off", placeholder });

/**
 * Closes what a button opens over a listing when the focus leaves it.
 * @param {HTMLElement} button @param {HTMLElement} panel @param {() => void} close @param {AbortSignal} signal
 */
export function closeOnLeave(button, panel, close, signal) {
  // Safari gives a clicked button no focus, and the panel that loses it would be gone before the click.
  on(panel, "mousedown", (event) => event.preventDefault(), signal);
  // The button's own click closes it too, and must not open it again.
  on(panel, "focusout", ({ relatedTarget: to }) => to !== button && !panel.contains(to) && close(), signal);
}

/**
 * @param {Element} element
 * @param {string} name
 * @param {string | number | boolean | null | undefined} value
 */
export function setAttribute(element, name, value) {
  if (!allowed.test(name)) throw new Error(`The attribute ${name} is not one that may be set.`);
  if (value === false || value === null || value === undefined) element.removeAttribute(name);
  else element.setAttribute(name, value === true ? "" : visible(String(value)));
}

/**
 * @param {Element} element
 * @param {Child[]} children
 */
export function append(element, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(visible(String(child))));
  }
}

/**
 * @param {Element} element
 * @param {...Child} children
 */
export function replace(element, ...children) {
  element.textContent = "";
  append(element, children);
}

/** A link to a page of JAX's documentation; any other address is left out. @param {string} address @param {string} text */
export function link(address, text) {
  return address.startsWith("https://docs.jax.dev/") && Object.assign(h("a", {}, text), { href: address, target: "_blank", rel: "noopener" });
}

/**
 * Text in which `code` between backticks is shown as code.
 * @param {string} text
 * @returns {Child[]}
 */
export function prose(text) {
  // A sample it matches: "`jnp.where(mask, x, 0)`".
  return text.split(/`([^`\n]+)`/).map((part, number) => (number % 2 ? h("code", {}, part) : part));
}
