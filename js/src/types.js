/** The type of a value, as its line prints it. Pure. */

/** @typedef {import("./values.js").Token} Token */

/** @param {import("./values.js").Values} values @param {import("./values.js").Value} value @returns {string} "" where it is not printed */
export function typeOf(values, value) {
  const { dialect } = values.index;
  const line = values.definitionLine(value);
  const { tokens, names } = values.readLine(line);
  const found = names.find((each) => each.name === value.name && each.isDefinition);
  if (!found) return "";
  if (dialect === "hlo") return hloType(tokens, found.at);
  // "a:f32[4]", "%arg0: tensor<4xf32>"
  const [, mark] = tokens[found.at + 1] ?? [];
  const [typeKind, type] = tokens.slice(found.at + 2).find(([kind]) => kind !== "text") ?? [];
  if (mark === ":" && typeKind === "type") return type ?? "";
  if (dialect !== "stablehlo" || values.isBlock(value.entry)) return "";
  const results = [...values.definitions(value.entry).keys()];
  // Behind its regions an op prints its own types; before them may stand those of its attributes.
  for (const at of [values.endOf(line), line]) {
    const types = resultTypes(values.readLine(at).tokens);
    if (!types.length) continue;
    if (results.length > 1) return types[types.length - results.length + results.indexOf(value.name)] ?? "";
    // "%0:2 = ..." is one name for two results; other types before the last are those of operands.
    const isSeveral = tokens[found.at + 1]?.[1] === ":";
    return isSeveral ? types.join(", ") : types[types.length - 1];
  }
  return "";
}

/** What stands between "%a = " and the opcode, without layouts. @param {Token[]} tokens @param {number} at of the name */
function hloType(tokens, at) {
  const end = tokens.findIndex(([kind], number) => number > at && kind === "op");
  const parts = tokens.slice(at + 1, end < 0 ? at + 1 : end).filter(([kind, text]) => kind !== "comment" && !(kind === "type" && text.startsWith("{")));
  // A sample it matches: " = ", before the type.
  return parts.map(([, text]) => text).join("").replace(/^ = /, "").trim();
}

/** The types behind the last "->", or else the last ":". @param {Token[]} tokens */
function resultTypes(tokens) {
  const location = tokens.findIndex(([kind, text]) => kind === "location" && text === "loc");
  const own = location < 0 ? tokens : tokens.slice(0, location);
  const last = (/** @type {string} */ mark) => own.findLastIndex(([kind, text]) => kind === "punctuation" && text.endsWith(mark));
  const at = Math.max(last("->"), last(":"));
  return at < 0 ? [] : own.slice(at).filter(([kind]) => kind === "type").map(([, text]) => text);
}
