/**
 * What the bundle may call by a shorter name. Problem: esbuild shortens variables but not properties, and the names of
 * this program are written to be read. Input: the sources, and the declarations of everything that others name too.
 * Output: a regex for esbuild's `mangleProps`.
 *
 * Kept are the names that a browser has (TypeScript's own libraries), those of the view model with the grammars in it
 * (schema.d.ts) and the attributes of elements, those of the modules whose objects are stored or sent, and every string
 * that could be a name: an object may be asked for it by that name.
 */
import { readFile, readdir } from "node:fs/promises";

const SHARED = ["schema.d.ts", "dom.js", "preferences.js", "selection.js", "source.js", "transfer.js", "index.js"];
// `/** words */` and `// words`; only in the typedefs of source.js do comments name what is stored.
const COMMENT = /\/\*[^]*?\*\/|\/\/.*$/gm;
// `lib.dom.d.ts`, `lib.es2022.array.d.ts`
const LIBRARY = /^lib\.(dom|es)[a-z0-9.]*\.d\.ts$/;
// `addEventListener` in any declaration
const WORD = /[A-Za-z_$][\w$]*/g;
// `    readonly scrollTop: number;`, `    closest<E extends Element>(selectors: string): E | null;`
const MEMBER = /^ +(?:readonly |get |set |static )*([A-Za-z_$][\w$]*)\??[(:<]/gm;
// `"foldAll"`, a string that may be a name
const TEXT = /(["`])[A-Za-z_$][\w$]*\1/g;
// `dataset.theme`: an attribute, data-theme, under another name
const ATTRIBUTE = /\bdataset\.([A-Za-z]+)/g;
// `contentHeight`: short names have nothing to lose
const OWN = /^[a-z][A-Za-z]{2,}$/;

/** The folder with TypeScript's declarations of the language and of browsers; since 7 it belongs to one platform. */
async function librariesFolder(/** @type {URL} */ here) {
  const none = () => /** @type {string[]} */ ([]);
  const platforms = await readdir(new URL("node_modules/@typescript/", here)).catch(none);
  for (const path of ["typescript", ...platforms.map((name) => `@typescript/${name}`)]) {
    const folder = new URL(`node_modules/${path}/lib/`, here);
    const names = await readdir(folder).catch(none);
    if (names.includes("lib.dom.d.ts") && names.includes("lib.es5.d.ts")) return folder;
  }
  throw new Error("Shortening properties. TypeScript's lib.dom.d.ts is not in node_modules. Run `npm ci` in the js folder.");
}

/** @param {URL} here the folder of this file @returns {Promise<RegExp>} */
export async function shortenedProperties(here) {
  const read = (/** @type {string} */ path) => readFile(new URL(path, here), "utf8");
  const folder = await librariesFolder(here);
  const libraries = (await readdir(folder)).filter((name) => LIBRARY.test(name));
  const modules = (await readdir(new URL("src/", here))).filter((name) => name.endsWith(".js"));
  const sources = await Promise.all(modules.map((name) => read(`src/${name}`)));
  const kept = await Promise.all([
    ...SHARED.map(async (name) => (await read(`src/${name}`)).replace(name === "source.js" ? "" : COMMENT, "")),
    ...sources.map((source) => (source.match(TEXT) ?? []).join("\n")),
  ]);
  const declared = await Promise.all(libraries.map((name) => readFile(new URL(name, folder), "utf8")));
  const members = [...declared.join("\n").matchAll(MEMBER)].map(([, name]) => name);
  const attributes = [...sources.join("\n").matchAll(ATTRIBUTE)].map(([, name]) => name);
  const reserved = new Set([...members, ...attributes, ...(kept.join("\n").match(WORD) ?? [])]);
  const names = new Set((sources.join("\n").match(WORD) ?? []).filter((name) => OWN.test(name) && !reserved.has(name)));
  return new RegExp(`^(?:${[...names].join("|")})$`);
}
