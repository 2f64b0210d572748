/**
 * What the bundle may leave out, and which properties it may call by a shorter name. Problem: esbuild shortens variables, but not properties, and the
 * names of this program are written to be read. Input: the sources, and the declarations of everything that others name too.
 * Output: a regex for esbuild's `mangleProps`.
 *
 * Kept are the names that a browser has (TypeScript's own libraries), those of the view model, the grammar and the
 * attributes of elements, those of the modules whose objects are stored or sent, and every word that stands in a string: an
 * object may be asked for it by that name.
 */
import { readFile, readdir } from "node:fs/promises";
import { deeperPart } from "./src/tokenize.js";

const SHARED = ["schema.d.ts", "dom.js", "preferences.js", "selection.js", "source.js", "transfer.js", "index.js"];
// `lib.dom.d.ts`, `lib.es2022.array.d.ts`
const LIBRARY = /^lib\.(dom|es)[a-z0-9.]*\.d\.ts$/;
// `addEventListener` in any declaration
const WORD = /[A-Za-z_$][\w$]*/g;
// `"foldAll"`, and what stands in backquotes
const TEXT = /"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/g;
// `contentHeight`: short names have nothing to lose
const OWN = /^[a-z][A-Za-z]{2,}$/;

/**
 * The parts of the grammar that the tokenizer works out itself: brackets three and more levels deep.
 * @param {import("./src/tokenize.js").Grammar} grammar
 */
export function derivedParts(grammar) {
  const nested = Object.keys(grammar.parts).filter((name) => /^.*_([3-9]|1[0-9])$/.test(name)); // "braces_12"
  return nested.filter((name) => grammar.parts[name] === deeperPart(grammar, name));
}

/** @param {URL} here the folder of this file @returns {Promise<RegExp>} */
export async function shortenedProperties(here) {
  const read = (/** @type {string} */ path) => readFile(new URL(path, here), "utf8");
  const libraries = (await readdir(new URL("node_modules/typescript/lib/", here))).filter((name) => LIBRARY.test(name));
  const modules = (await readdir(new URL("src/", here))).filter((name) => name.endsWith(".js"));
  const sources = await Promise.all(modules.map((name) => read(`src/${name}`)));
  const kept = await Promise.all([
    ...libraries.map((name) => read(`node_modules/typescript/lib/${name}`)),
    ...SHARED.map((name) => read(`src/${name}`)),
    read("../jaxscope/lexers/grammar.json"),
    ...sources.map((source) => (source.match(TEXT) ?? []).join("\n")),
  ]);
  const reserved = new Set(kept.join("\n").match(WORD));
  const names = new Set((sources.join("\n").match(WORD) ?? []).filter((name) => OWN.test(name) && !reserved.has(name)));
  return new RegExp(`^(?:${[...names].join("|")})$`);
}
