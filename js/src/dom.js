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
 * @param {Tag} tag
 * @param {Record<string, string | number | boolean | null | undefined>} [attributes] false, null and undefined leave one out
 * @param {...Child} children strings become text nodes
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) setAttribute(element, name, value);
  append(element, children);
  return element;
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

/**
 * Text in which `code` between backticks is shown as code.
 * @param {string} text
 * @returns {Child[]}
 */
export function prose(text) {
  // A sample it matches: "`jnp.where(mask, x, 0)`".
  return text.split(/`([^`\n]+)`/).map((part, number) => (number % 2 ? h("code", {}, part) : part));
}
