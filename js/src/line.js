/** One line of a listing as runs to draw: kinds from the grammar, and the parts that are put away. Pure. */

/**
 * @typedef {object} Run
 * @property {string} kind a kind of the grammar, "" for plain text, "away" for the mark of what is put away
 * @property {string} text
 * @property {string} [title]
 * @property {string} [name] the compiler's own, where another, or only a part of it, is shown
 * @property {number} [match] the number in its line of the match of a search that it is part of
 * @property {boolean} [current] whether that match is the visited one
 */
/** @typedef {[start: number, end: number, shown: string]} Renamed */
/** @typedef {{start: number, end: number, kinds: string[], shown?: string}} Part put away, or shown as something else */
/** @typedef {{runs: Run[], length: number, away: boolean}} Line `away`: nothing but put-away parts and space */

// These are taken out without a trace: a mark on every type and every line would be noisier than what it stands for.
const UNMARKED = new Set(["layout", "location", "type"]);
// Beyond this the rest of a line stays plain: tokenising is linear, but nobody reads colours this far out.
export const TOKENISED_CHARACTERS = 20_000;

/**
 * Runs of `[kind, length]`, with lengths in code points as Python counts them, over a line.
 * @param {string} text @param {(string | number)[][]} tokens
 * @returns {[string, string][]}
 */
export function pythonTokens(text, tokens) {
  // Only characters beyond the basic plane make the two counts differ.
  // A sample it matches: "𝛼", as the first half of its surrogate pair.
  const characters = /[\ud800-\udbff]/.test(text) ? [...text] : null;
  /** @type {[string, string][]} */
  const runs = [];
  let start = 0;
  for (const [kind, length] of tokens) {
    const end = start + Number(length);
    const part = characters ? characters.slice(start, end).join("") : text.slice(start, end);
    if (part) runs.push([String(kind), part]);
    start = end;
  }
  const rest = characters ? characters.slice(start).join("") : text.slice(start);
  if (rest) runs.push(["", rest]);
  return runs;
}

/**
 * @param {string} text
 * @param {[string, string][]} tokens runs of [kind, text] from the start of the line; a missing rest is plain
 * @param {[number, number, string][]} hidden parts to put away, `[start, end, kind]`
 * @param {Renamed[]} names to show as others, unless they are put away
 * @returns {Line}
 */
export function composeLine(text, tokens, hidden, names = []) {
  const spans = withNames(mergeSpans(text, hidden), names);
  /** @type {Run[]} */
  const runs = [];
  let column = 0;
  let next = 0;
  let kept = "";
  /** @param {string} kind @param {string} part */
  const push = (kind, part) => {
    while (part) {
      const span = spans[next];
      if (span && column >= span.end) {
        next += 1;
      } else if (span && column >= span.start) {
        if (column > span.start) {
          // Told already.
        } else if (span.shown !== undefined) {
          const name = text.slice(span.start, span.end);
          runs.push({ kind, text: span.shown, title: name, name });
          kept += span.shown;
        } else if (!span.kinds.every((each) => UNMARKED.has(each))) runs.push({ kind: "away", text: "…", title: awayTitle(text, span) });
        const length = Math.min(part.length, span.end - column);
        part = part.slice(length);
        column += length;
      } else {
        const length = span ? Math.min(part.length, span.start - column) : part.length;
        const piece = part.slice(0, length);
        runs.push({ kind, text: piece });
        kept += piece;
        part = part.slice(length);
        column += length;
      }
    }
  };
  for (const [kind, part] of tokens) push(kind, part);
  if (column < text.length) push("", text.slice(column));
  const length = runs.reduce((total, run) => total + run.text.length, 0);
  return { runs, length, away: spans.length > 0 && kept.trim() === "" };
}

/** A line with something said about it at its end. @param {Line} line @param {Run} note @returns {Line} */
export const withNote = (line, note) => ({ ...line, runs: [...line.runs, note], length: line.length + note.text.length });

/** @param {Part[]} spans @param {Renamed[]} names @returns {Part[]} */
function withNames(spans, names) {
  if (!names.length) return spans;
  const left = names.filter(([from, to]) => !spans.some(({ start, end }) => from < end && to > start));
  return [...spans, ...left.map(([start, end, shown]) => ({ start, end, kinds: [], shown }))].sort((one, other) => one.start - other.start);
}

/** @param {string} text @param {Part} span */
function awayTitle(text, span) {
  const part = text.slice(span.start, span.end).trim();
  const shown = part.length > 300 ? `${part.slice(0, 300)}…` : part;
  return `put away (${span.kinds.join(", ")}): ${shown}`;
}

/**
 * Neighbouring spans, also with only separators between them, become one mark.
 * @param {string} text @param {[number, number, string][]} hidden
 */
function mergeSpans(text, hidden) {
  /** @type {Part[]} */
  const spans = [];
  for (const [start, end, kind] of [...hidden].sort((a, b) => a[0] - b[0])) {
    const last = spans[spans.length - 1];
    // A sample it matches: ", " between a location and a backend config.
    if (last && (start <= last.end || /^[\s,]*$/.test(text.slice(last.end, start)))) {
      last.end = Math.max(last.end, end);
      if (!last.kinds.includes(kind)) last.kinds.push(kind);
    } else if (end > start) {
      spans.push({ start, end, kinds: [kind] });
    }
  }
  return spans;
}
