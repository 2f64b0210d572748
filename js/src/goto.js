/** Which line of a listing "12" or "file.py:12" means. Pure. */
import { lineNumber, originOf } from "./links.js";
import { grouped } from "./numbers.js";

/** @typedef {{line: number, problem?: undefined} | {problem: string, line?: undefined}} Found */

/**
 * @param {string} text as typed
 * @param {import("./listing.js").LoadedListing} listing
 * @param {number} near the line of the cursor: of several files that have the number, its own comes first
 * @returns {Found}
 */
export function findLine(text, { index, lines, table }, near) {
  // Samples it matches: "12", "1,204", "layers.py:4", "layers.py:4:9".
  const parts = /^\s*(?:(.+?):)?\s*(\d[\d,_ ]*)(?::\d+)?\s*$/.exec(text);
  if (!parts) return { problem: `“${text.trim()}” is not a line number` };
  const [, file, digits] = parts;
  const number = Number(digits.replace(/[,_ ]/g, ""));
  if (file !== undefined) return inFile(file, number, { index, lines, table });
  if (!index.numbers.length) return number >= 1 && number <= lines.length ? { line: number - 1 } : { problem: `the lines are 1 to ${grouped(lines.length)}` };
  const candidates = lines.flatMap((_, line) => (number > 0 && lineNumber(index, line) === number ? line : []));
  const own = candidates.find((line) => index.line_place[line] === index.line_place[near]);
  const line = own ?? candidates[0];
  return line === undefined ? { problem: `no line ${grouped(number)} is shown` } : { line };
}

/** @param {string} file its end is enough @param {number} number @param {Pick<import("./listing.js").LoadedListing, "index" | "lines" | "table">} listing @returns {Found} */
function inFile(file, number, { lines, table }) {
  for (let line = 0; line < lines.length; line += 1) {
    const [frame] = originOf(table, line).frames;
    if (frame?.line === number && (frame.file === file || frame.file.endsWith(`/${file}`))) return { line };
  }
  return { problem: table.isPython ? `${file}:${number} is not shown` : `nothing here comes from ${file}:${number}` };
}
