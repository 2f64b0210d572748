/**
 * One line of jaxpr, StableHLO or HLO to its tokens and hidden parts, by the rules that its listing brings, which
 * Python's lexers are made from too (`jaxscope/lexers/grammar.py` says what is in them). The results are Python's, but
 * for offsets, which count what each language's strings are made of: UTF-16 units here, characters there. No state is
 * kept from one line to the next.
 */

/**
 * @typedef {import("./schema").Grammar} Grammar
 * @typedef {[kind: string, text: string]} Token
 * @typedef {[start: number, end: number, kind: string]} Span `end` is exclusive
 * @typedef {{
 *   tokenize: (line: string, limit?: number) => Token[],
 *   hiddenSpans: (line: string, kinds?: ReadonlySet<string>) => Span[],
 *   nameSpans: (line: string) => Span[],
 * }} Tokenizer
 * @typedef {{ kind: string, pattern: RegExp }} CompiledRule
 */

// How far beyond the limit a rule may look to tell what a token is; only names longer than this can be told wrongly.
const LOOKAHEAD_CHARACTERS = 512;

// A reference to a part of the grammar: "<<string>>" in ", metadata=<<braces_12>>".
const PART = /<<([a-z_0-9]+)>>/g;

/**
 * @param {Grammar} grammar the rules of a dialect, as a listing's index brings them
 * @returns {Tokenizer}
 */
export function createTokenizer({ parts, step_over: stepOver, names, rules, hidden }) {
  /** @type {(regex: string) => string} */
  const expand = (regex) => regex.replace(PART, (_, name) => expand(parts[name]));

  /** @type {(rule: import("./schema").Rule) => CompiledRule} */
  const compile = ({ kind, match }) => ({ kind, pattern: new RegExp(expand(match), "yu") });

  const tokenRules = rules.map(compile);
  const wholeLine = hidden.filter(({ match }) => match.startsWith("^")).map(compile);
  const within = hidden.filter(({ match }) => !match.startsWith("^"));

  /**
   * Finds the parts of a line outside of what is stepped over. What follows a part that is too much for the engine's
   * stack (see `firstMatch`) is not found.
   * @type {(among: import("./schema").Rule[]) => (line: string) => Span[]}
   */
  const finder = (among) => {
    const pattern = new RegExp([...among.map(({ match }) => match), stepOver].map((match) => `(${expand(match)})`).join("|"), "gu");
    return (line) => {
      /** @type {Span[]} */
      const spans = [];
      try {
        for (const found of line.matchAll(pattern)) {
          const rule = found.indexOf(found[0], 1) - 1;
          if (rule < among.length) spans.push([found.index, found.index + found[0].length, among[rule].kind]);
        }
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
      }
      return spans;
    };
  };

  // What is shown by default may hold other parts.
  const groups = [false, true].map((isShown) => {
    const among = within.filter(({ shown }) => shown === isShown);
    return { find: finder(among), kinds: among.map(({ kind }) => kind) };
  });

  return {
    /**
     * The tokens of a line, in order; their texts add up to it. With a `limit` they add up to its first `limit` UTF-16
     * units (one more where that would split a character): the last token may be cut, and the time taken does not
     * depend on how much follows.
     */
    tokenize(line, limit = Infinity) {
      const text = line.length > limit + LOOKAHEAD_CHARACTERS ? line.slice(0, limit + LOOKAHEAD_CHARACTERS) : line;
      const end = Math.min(line.length, limit);
      /** @type {Token[]} */
      const tokens = [];
      for (let start = 0; start < end; ) {
        let [kind, stop] = firstMatch(tokenRules, text, start);
        if (stop > end) stop = afterCharacter(text, end - 1);
        tokens.push([kind, text.slice(start, stop)]);
        start = stop;
      }
      return tokens;
    },

    /** The parts of a line that may be put away, of these kinds or of every kind, in the order of their beginnings. */
    hiddenSpans(line, kinds) {
      const isWanted = (/** @type {string} */ kind) => !kinds || kinds.has(kind);
      for (const { kind, pattern } of wholeLine) {
        pattern.lastIndex = 0;
        if (pattern.test(line)) return isWanted(kind) ? [[0, pattern.lastIndex, kind]] : [];
      }
      const spans = groups.flatMap((group) => (group.kinds.some(isWanted) ? group.find(line) : []));
      return spans.filter(([, , kind]) => isWanted(kind)).sort((one, other) => one[0] - other[0]);
    },

    nameSpans: names ? finder([{ kind: "name", match: names }]) : () => [],
  };
}

/**
 * The kind and the end of the token at `start`. Where a rule is too much for the engine's stack, which takes a string
 * with millions of escapes, the whole rest is one error token.
 *
 * @type {(rules: CompiledRule[], text: string, start: number) => [kind: string, stop: number]}
 */
function firstMatch(rules, text, start) {
  try {
    for (const { kind, pattern } of rules) {
      pattern.lastIndex = start;
      if (pattern.test(text) && pattern.lastIndex > start) return [kind, pattern.lastIndex];
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return ["error", text.length];
  }
  return ["error", afterCharacter(text, start)];
}

/**
 * Where the character at `index` ends: after both halves of a surrogate pair.
 *
 * @type {(text: string, index: number) => number}
 */
function afterCharacter(text, index) {
  return index + (/** @type {number} */ (text.codePointAt(index)) > 0xffff ? 2 : 1);
}
