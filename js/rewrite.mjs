/**
 * What esbuild's minifier leaves long. Problem: `this` and a text that many places use are written out each time. Input:
 * the sources. Output: the same program for esbuild, in which a function that says `this` often keeps it in a variable,
 * and texts that stand often are exports of one module; esbuild then gives the names a letter or two.
 */
import { parse } from "acorn";

/** @typedef {any} Node of the syntax tree, see https://github.com/estree/estree */
/** @typedef {{start: number, end: number, text: string}} Edit */

/** The module that holds the texts. */
export const TEXTS = "repeated-texts";
const SELF = "$self";
// `let t=this;` costs what three uses gain.
const LEAST_USES = 4;
// What a use of a text costs, and beside the text its definition: `ab`, `,ab=""`.
const USE_BYTES = 2;
const DEFINITION_BYTES = 6;

/** @param {string} source @returns {Node} */
const treeOf = (source) => parse(source, { ecmaVersion: "latest", sourceType: "module" });

/** The nodes right below one. @param {Node} node @returns {Node[]} */
const childrenOf = (node) => Object.values(node).flat().filter((value) => typeof value?.type === "string");

/** A node and all below it. @param {Node} node @returns {Node[]} */
const allIn = (node) => [node, ...childrenOf(node).flatMap(allIn)];

/** The texts of a module that a variable may stand for. @param {Node} node @returns {Node[]} */
function textsIn(node) {
  // Where a module is named, and where a directive stands, only a text may.
  if (node.directive || /^(Import|Export\w*)Declaration$/.test(node.type) && node.source) return [];
  if (node.type === "Literal" && typeof node.value === "string") return [node];
  return childrenOf(node).flatMap(textsIn);
}

/** Which texts stand so often that a name for them is shorter. @param {string[]} sources @returns {string[]} */
export function repeatedTexts(sources) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const { value } of sources.flatMap((source) => textsIn(treeOf(source)))) counts.set(value, (counts.get(value) ?? 0) + 1);
  const isShorter = (/** @type {[string, number]} */ [{ length }, count]) => count * (length + 2 - USE_BYTES) > length + DEFINITION_BYTES;
  return [...counts].filter(isShorter).map(([text]) => text);
}

/** The module of these texts. @param {string[]} texts */
export const moduleOf = (texts) => texts.map((text, number) => `export let text${number} = ${JSON.stringify(text)};`).join("\n");

// What may have a text for its name: `{ "aria-label": 1 }`, `class { "aria-label"() {} }`.
const KEYED = ["Property", "MethodDefinition", "PropertyDefinition"];

/** Names in place of texts. @param {Node} tree @param {string[]} texts @returns {Edit[]} */
function nameTexts(tree, texts) {
  const keys = new Set(allIn(tree).flatMap((node) => (KEYED.includes(node.type) && !node.computed ? [node.key] : [])));
  return textsIn(tree).flatMap((node) => {
    const number = texts.indexOf(node.value);
    const text = keys.has(node) ? `[$text${number}]` : `$text${number}`;
    return number < 0 ? [] : [{ start: node.start, end: node.end, text }];
  });
}

/** Keeps `this` in a variable. @param {Node} node @param {Node[]} uses of `this` in the function around @returns {Edit[]} */
function nameThis(node, uses) {
  if (node.type === "ThisExpression") uses.push(node);
  const within = (/** @type {Node[]} */ nodes, /** @type {Node[]} */ found) => nodes.flatMap((child) => nameThis(child, found));
  // Fields of a class have a `this` of their own.
  if (node.type === "PropertyDefinition" || node.type === "StaticBlock") return within(childrenOf(node), []);
  // An arrow function has the `this` of what is around it.
  if (node.type !== "FunctionExpression" && node.type !== "FunctionDeclaration") return within(childrenOf(node), uses);
  /** @type {Node[]} */
  const own = [];
  const edits = [...within(node.params, []), ...within([node.body], own)];
  // In a subclass there is no `this` before `super()` has made it.
  if (own.length < LEAST_USES || allIn(node.body).some(({ type }) => type === "Super")) return edits;
  const { start } = node.body;
  return [...edits, { start: start + 1, end: start + 1, text: `let ${SELF} = this;` }, ...own.map((use) => ({ start: use.start, end: use.end, text: SELF }))];
}

/** @param {string} source @param {Edit[]} edits that do not overlap */
function edited(source, edits) {
  let text = "";
  let at = 0;
  for (const edit of edits.sort((one, other) => one.start - other.start)) {
    text += source.slice(at, edit.start) + edit.text;
    at = edit.end;
  }
  return text + source.slice(at);
}

/** @param {string} source @param {string[]} texts of `repeatedTexts` */
export function rewrite(source, texts) {
  if (source.includes(SELF)) throw new Error(`Building the browser bundle. A source says ${SELF}, which is kept for the build. Choose another name.`);
  const tree = treeOf(source);
  const edits = [...nameThis(tree, []), ...nameTexts(tree, texts)];
  const names = texts.map((_, number) => `text${number} as $text${number}`);
  return `import { ${names} } from "${TEXTS}";\n${edited(source, edits)}`;
}
