/** The bar at the foot: where the current line comes from, and what is linked to it. */
import { h, replace } from "./dom.js";
import { lineNumber, opLine } from "./links.js";
import { signOf } from "./marks.js";
import { grouped } from "./numbers.js";

const SHOWN_FRAMES = 4;
// A sample it matches: "%q.1 = f32[8,128,64]{2,1,0} parameter(0), metadata={…}".
const PARAMETER = /^[^"]* parameter\(\d+\)/;

/** @typedef {import("./links.js").Frame} Frame */

/**
 * @typedef {object} State
 * @property {import("./listing.js").LoadedListing} listing
 * @property {number} line
 * @property {import("./links.js").Origin} origin
 * @property {string[]} linked what is linked, in words
 * @property {string[]} searched the titles of the listings that were searched for links
 * @property {boolean} pinned
 * @property {import("./schema").Mark} [said]
 */

/** @param {HTMLElement} element @param {State | null} state */
export function showStatus(element, state) {
  if (!state) {
    replace(element, h("span.hint", {}, "hover: linked lines · click: pin · [ ]: stages"));
    return;
  }
  const { listing, line, origin, linked, searched, pinned, said } = state;
  const number = lineNumber(listing.index, line);
  const parts = [h("span", {}, pinned ? "◆ pinned " : "", number > 0 ? `line ${grouped(number)}` : "")];
  if (said) parts.push(h("span", { class: `tone-${said.tone}`, title: said.text }, signOf(said), " ", said.text, said.note && ` (${said.note})`));
  if (origin.kind === "op") parts.push(stack(origin.frames));
  else if (origin.kind === "python") parts.push(h("span", {}, h("b", {}, `${origin.frames[0].file}:${origin.frames[0].line}`)));
  else if (origin.kind === "compiler") parts.push(h("span", {}, h("b", {}, maker(listing)), ": no Python line asked for it"));
  else if (PARAMETER.test(listing.lines[line])) parts.push(h("span", {}, "a parameter: what the caller passes in"));
  else parts.push(h("span", {}, "no operation on this line"));
  const path = listing.index.paths[listing.index.line_path[opLine(listing.index, line)] ?? -1];
  if (path) parts.push(h("span.path", { title: path }, "name ", h("b", {}, path)));
  const cost = listing.index.costs?.[listing.index.line_cost?.[opLine(listing.index, line)] ?? -1];
  if (cost) parts.push(h("span", {}, h("b", {}, cost)));
  const hasOrigin = origin.kind === "python" || origin.kind === "op";
  const none = hasOrigin && searched.length ? `nothing in ${searched.join(" or ")} is linked to this line` : "";
  parts.push(h("span.hint", {}, linked.length ? `linked: ${linked.join(", ")}` : none));
  replace(element, ...parts);
}

/** Who made an operation that no Python line asked for: a jaxpr and its lowering are JAX's own, the rest is XLA's.
 * @param {import("./listing.js").LoadedListing} listing */
function maker(listing) {
  return ["hlo", "llvm", "ptx"].includes(listing.index.dialect) ? "made by the compiler" : "made inside JAX";
}

/** @param {Frame[]} frames innermost first */
function stack(frames) {
  const [innermost, ...callers] = frames;
  const all = frames.map((frame) => `${frame.file}:${frame.line}:${frame.column} in ${frame.function}`).join("\n");
  const shown = callers.slice(0, SHOWN_FRAMES).flatMap((frame) => [` ‹ ${frame.function} `, place(frame, `${frame.file}:${frame.line}`)]);
  const column = innermost.column ? `:${innermost.column}` : "";
  return h(
    "span.stack", { title: `Python call stack, innermost first\n${all}` },
    "→ ",
    h("b", {}, place(innermost, `${innermost.file}:${innermost.line}${column}`)),
    innermost.function && ` in ${innermost.function}`,
    ...shown,
    callers.length > SHOWN_FRAMES && ` ‹ ${callers.length - SHOWN_FRAMES} more`,
  );
}

/** A place of the call stack that leads to its line of Python. @param {Frame} frame @param {string} text */
function place({ file, line }, text) {
  return h("button.jump", { "data-file": file, "data-line": line, title: "show this line of Python" }, text);
}
