/** What is known of the op on the current line, as a row of words: its value, what it uses, what it calls. */
import { h } from "./dom.js";
import { grouped } from "./numbers.js";
import { typeOf } from "./types.js";

const SHOWN_OPERANDS = 4;
const SHOWN_CHARACTERS = 44;

/** @typedef {import("./values.js").Value} Value */
/** @typedef {import("./values.js").Values} Values */

/**
 * @param {object} facts
 * @param {Values} facts.values
 * @param {Value | null} facts.value the current one
 * @param {string} facts.count of its uses, in words
 * @param {number} facts.line
 * @param {string} facts.side of the pane to jump in
 * @param {(name: string) => string} facts.nameShown
 * @returns {Node[]}
 */
export function renderFacts({ values, value, count, line, side, nameShown }) {
  /** A name that leads to its definition, with its type. @param {Value} each */
  const valueButton = (each) => {
    const type = typeOf(values, each);
    const definition = values.definitionLine(each);
    const printed = values.readLine(definition).names.find(({ isDefinition, name }) => isDefinition && name === each.name)?.text ?? each.name;
    return h("span", { title: type || null }, jumpButton(side, definition, nameShown(printed)), type && ` ${shortened(type)}`);
  };
  const parts = [];
  if (value) parts.push(h("span", {}, valueButton(value), ` · ${count}`));
  const operands = values.operands(line, SHOWN_OPERANDS + 1);
  if (operands.length) {
    const shown = operands.slice(0, SHOWN_OPERANDS).flatMap((each, number) => [number > 0 && ", ", valueButton(each)]);
    parts.push(h("span", {}, "from ", ...shown, operands.length > SHOWN_OPERANDS && ", …"));
  }
  const called = values.called(line);
  if (called >= 0) {
    const [, name = ""] = values.readLine(called).tokens.find(([kind]) => kind === "symbol") ?? [];
    parts.push(h("span", {}, "calls ", jumpButton(side, called, nameShown(name))));
  }
  return parts;
}

/** @param {string} text */
const shortened = (text) => (text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS - 1)}…` : text);

/** @param {string} side @param {number} line @param {string} name */
function jumpButton(side, line, name) {
  return h("button.jump", { "data-side": side, "data-line": line, title: `jump to line ${grouped(line + 1)}` }, name);
}
