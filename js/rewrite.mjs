/**
 * What esbuild's minifier leaves long. Problem: `this` and a text that many places use are written out each time.
 * Input: the sources. Output: the same program for esbuild, in which a function that says `this` often keeps it in a
 * variable, and texts that stand often are exports of one module; esbuild then gives both names of a letter or two.
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

/** The texts of a module that a variable may stand for. @param {Node} node @returns {Node[]} */
function textsIn(node) {
  // Where a module is named, and where a directive stands, only a text may.
  if (node.type === "ImportDeclaration" || node.directive) return [];
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

/** Keeps `this` in a variable. @param {Node} node @param {Node[]} uses of `this` in the function around @returns {Edit[]} */
function nameThis(node, uses) {
  if (node.type === "ThisExpression") uses.push(node);
  const withIn = (/** @type {Node[]} */ nodes, /** @type {Node[]} */ found) => nodes.flatMap((child) => nameThis(child, found));
  // Fields of a class have a `this` of their own.
  if (node.type === "PropertyDefinition" || node.type === "StaticBlock") return withIn(childrenOf(node), []);
  // An arrow function has the `this` of what is around it.
  if (node.type !== "FunctionExpression" && node.type !== "FunctionDeclaration") return withIn(childrenOf(node), uses);
  /** @type {Node[]} */
  const own = [];
  const edits = [...withIn(node.params, []), ...withIn([node.body], own)];
  // In a subclass there is no `this` before `super()` has made it.
  if (own.length < LEAST_USES || callsSuper(node.body)) return edits;
  const { start } = node.body;
  return [...edits, { start: start + 1, end: start + 1, text: `let ${SELF} = this;` }, ...own.map((use) => ({ start: use.start, end: use.end, text: SELF }))];
}

/** @param {Node} node @returns {boolean} */
const callsSuper = (node) => (node.type === "CallExpression" && node.callee.type === "Super") || childrenOf(node).some(callsSuper);

/** The names of properties that are texts. @param {Node} node @returns {Node[]} */
const keysIn = (node) => [...(node.type === "Property" && !node.computed ? [node.key] : []), ...childrenOf(node).flatMap(keysIn)];

/** @param {string} source @param {string[]} texts of `repeatedTexts` */
export function rewrite(source, texts) {
  if (source.includes(SELF)) throw new Error(`Building the browser bundle. A source says ${SELF}, which is kept for the build. Choose another name.`);
  const tree = treeOf(source);
  const keys = new Set(keysIn(tree));
  /** @type {Set<number>} */
  const used = new Set();
  const edits = nameThis(tree, []);
  for (const node of textsIn(tree)) {
    const number = texts.indexOf(node.value);
    if (number < 0) continue;
    used.add(number);
    edits.push({ start: node.start, end: node.end, text: keys.has(node) ? `[$text${number}]` : `$text${number}` });
  }
  edits.sort((one, other) => other.start - one.start);
  const body = edits.reduce((text, edit) => text.slice(0, edit.start) + edit.text + text.slice(edit.end), source);
  const names = [...used].map((number) => `text${number} as $text${number}`);
  return `import { ${names} } from "${TEXTS}";\n${body}`;
}
