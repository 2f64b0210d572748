/**
 * One line of jaxpr, StableHLO or HLO to its tokens and hidden parts, by the grammar that Python's lexers are made from
 * (`jaxscope/lexers/grammar.py` says what is in it). The results are Python's, but for offsets, which count what each
 * language's strings are made of: UTF-16 units here, characters there. No state is kept from one line to the next.
 */

/**
 * @typedef {{ kind: string, match: string, sample: string }} Rule
 * @typedef {Rule & { shown: boolean }} HiddenRule
 * @typedef {{ step_over: string, rules: Rule[], hidden: HiddenRule[] }} Dialect
 * @typedef {{ version: number, kinds: string[], parts: Record<string, string>, dialects: Record<string, Dialect> }} Grammar
 * @typedef {[kind: string, text: string]} Token
 * @typedef {[start: number, end: number, kind: string]} HiddenSpan `end` is exclusive
 * @typedef {{
 *   tokenize: (dialect: string, line: string, limit?: number) => Token[],
 *   hiddenSpans: (dialect: string, line: string) => HiddenSpan[],
 *   putAwayByDefault: ReadonlySet<string>,
 * }} Tokenizer
 * @typedef {{ kind: string, pattern: RegExp }} CompiledRule
 * @typedef {{ rules: CompiledRule[], wholeLine: CompiledRule[], hidden: RegExp, hiddenKinds: string[] }} CompiledDialect
 */

// How far beyond the limit a rule may look to tell what a token is; only names longer than this can be told wrongly.
const LOOKAHEAD_CHARACTERS = 512;

// A reference to a part of the grammar: "<<string>>" in ", metadata=<<braces_12>>".
const PART = /<<([a-z_0-9]+)>>/g;

/**
 * "braces_7" where the bundle left it out: "braces_2" with what it holds six levels down.
 * @param {Grammar} grammar
 * @param {string} name
 */
export function deeperPart(grammar, name) {
  // "parentheses_12" is "parentheses" and 12
  const [, stem, depth] = /^(.*)_(\d+)$/.exec(name) ?? [];
  return grammar.parts[`${stem}_2`].replace(`${stem}_1`, `${stem}_${Number(depth) - 1}`);
}

/**
 * @param {Grammar} grammar the content of `jaxscope/lexers/grammar.json`
 * @returns {Tokenizer}
 */
export function createTokenizer(grammar) {
  /** @type {(regex: string) => string} */
  const expand = (regex) => regex.replace(PART, (_, name) => expand(grammar.parts[name] ?? deeperPart(grammar, name)));

  /** @type {(rule: Rule) => CompiledRule} */
  const compileRule = (rule) => ({ kind: rule.kind, pattern: new RegExp(expand(rule.match), "yu") });

  /** @type {(dialect: Dialect) => CompiledDialect} */
  const compileDialect = ({ rules, hidden, step_over }) => {
    const within = hidden.filter((rule) => !rule.match.startsWith("^"));
    const alternatives = [...within.map((rule) => rule.match), step_over].map((match) => `(${expand(match)})`);
    return {
      rules: rules.map(compileRule),
      wholeLine: hidden.filter((rule) => rule.match.startsWith("^")).map(compileRule),
      hidden: new RegExp(alternatives.join("|"), "gu"),
      hiddenKinds: within.map((rule) => rule.kind),
    };
  };

  /** @type {Map<string, CompiledDialect>} */
  const compiled = new Map();

  /** @type {(name: string) => CompiledDialect} */
  const dialectOf = (name) => {
    let found = compiled.get(name);
    if (!found) {
      if (!Object.hasOwn(grammar.dialects, name)) {
        const known = Object.keys(grammar.dialects).join(", ");
        throw new RangeError(`Tokenising a line: there is no dialect "${name}". Use one of ${known}.`);
      }
      found = compileDialect(grammar.dialects[name]);
      compiled.set(name, found);
    }
    return found;
  };

  return {
    /**
     * The tokens of a line, in order; their texts add up to it. With a `limit` they add up to its first `limit` UTF-16
     * units (one more where that would split a character): the last token may be cut, and the time taken does not
     * depend on how much follows.
     */
    tokenize(dialect, line, limit = Infinity) {
      const { rules } = dialectOf(dialect);
      const text = line.length > limit + LOOKAHEAD_CHARACTERS ? line.slice(0, limit + LOOKAHEAD_CHARACTERS) : line;
      const end = Math.min(line.length, limit);
      /** @type {Token[]} */
      const tokens = [];
      for (let start = 0; start < end; ) {
        let [kind, stop] = firstMatch(rules, text, start);
        if (stop > end) stop = afterCharacter(text, end - 1);
        tokens.push([kind, text.slice(start, stop)]);
        start = stop;
      }
      return tokens;
    },

    /**
     * The parts of a line that may be put away, of every kind, in order and without overlap. What follows a part that
     * is too much for the engine's stack (see `firstMatch`) stays shown.
     */
    hiddenSpans(dialect, line) {
      const { wholeLine, hidden, hiddenKinds } = dialectOf(dialect);
      for (const { kind, pattern } of wholeLine) {
        pattern.lastIndex = 0;
        if (pattern.test(line)) return [[0, pattern.lastIndex, kind]];
      }
      /** @type {HiddenSpan[]} */
      const spans = [];
      try {
        for (const found of line.matchAll(hidden)) {
          const rule = found.indexOf(found[0], 1) - 1;
          if (rule < hiddenKinds.length) spans.push([found.index, found.index + found[0].length, hiddenKinds[rule]]);
        }
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
      }
      return spans;
    },

    putAwayByDefault: new Set(
      Object.values(grammar.dialects).flatMap(({ hidden }) => hidden.filter((rule) => !rule.shown).map((rule) => rule.kind)),
    ),
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
