/**
 * Builds the browser's program: src/index.js and what it imports → ../jaxscope/static/widget.js, one ES module with its
 * styles inside. Fails when it grows over the limit, because anywidget saves it again with every widget of a notebook.
 */
import { build, transform } from "esbuild";
import { mkdir, readFile, readdir, rename, rm, stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { deflateSync } from "node:zlib";
import { TEXTS, moduleOf, repeatedTexts, rewrite } from "./rewrite.mjs";
import { shortenedProperties } from "./shorten.mjs";

const LIMIT_BYTES = 120_000;
const here = fileURLToPath(new URL(".", import.meta.url));
const target = fileURLToPath(new URL("../jaxscope/static/widget.js", import.meta.url));
const unfinished = `${target}.new`;

const browsers = ["es2022", "chrome111", "firefox113", "safari16.4"];

/** The style sheet deflated, which the browser inflates as it does listings: a third of the bytes. */
const styles = {
  name: "styles",
  /** @param {import("esbuild").PluginBuild} builder */
  setup(builder) {
    builder.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await transform(await readFile(path, "utf8"), { loader: "css", minify: true, target: browsers });
      return { contents: deflateSync(code, { level: 9 }).toString("base64"), loader: "text" };
    });
  },
};

/** The sources as `rewrite.mjs` says them shorter. */
const shorter = {
  name: "shorter",
  /** @param {import("esbuild").PluginBuild} builder */
  async setup(builder) {
    const folder = new URL("src/", import.meta.url);
    const names = (await readdir(folder)).filter((name) => name.endsWith(".js"));
    const texts = repeatedTexts(await Promise.all(names.map((name) => readFile(new URL(name, folder), "utf8"))));
    builder.onResolve({ filter: new RegExp(`^${TEXTS}$`) }, () => ({ path: TEXTS, namespace: TEXTS }));
    builder.onLoad({ filter: /.*/, namespace: TEXTS }, () => ({ contents: moduleOf(texts) }));
    builder.onLoad({ filter: /\.js$/ }, async ({ path }) => ({ contents: rewrite(await readFile(path, "utf8"), texts) }));
  },
};

await mkdir(new URL("../jaxscope/static/", import.meta.url), { recursive: true });
await build({
  absWorkingDir: here,
  entryPoints: ["src/index.js"],
  outfile: unfinished,
  bundle: true,
  format: "esm",
  minify: true,
  mangleProps: await shortenedProperties(new URL(".", import.meta.url)),
  target: browsers,
  charset: "utf8",
  inject: ["builtins.mjs"],
  plugins: [styles, shorter],
  legalComments: "none",
  logLevel: "warning",
});
const { size } = await stat(unfinished);
if (size > LIMIT_BYTES) {
  await rm(unfinished);
  console.error(`Building the browser bundle. It has ${size} bytes, over the limit of ${LIMIT_BYTES}. Make src/ smaller.`);
  process.exit(1);
}
await rename(unfinished, target);
console.log(`jaxscope/static/widget.js: ${size} bytes`);
