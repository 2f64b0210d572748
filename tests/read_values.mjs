// What the browser makes of names in listings: reads {index, text, at: [[line, name], …]} from standard input, one JSON
// value a line, and writes [[definition line, [lines of uses], type], …] or null for each.
import { readFileSync } from "node:fs";
import { createTokenizer } from "../js/src/tokenize.js";
import { typeOf } from "../js/src/types.js";
import { Values } from "../js/src/values.js";

for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const { index, text, at } = JSON.parse(line);
  const values = new Values({ index, lines: text.split("\n") }, createTokenizer(index.grammar).tokenize);
  const found = at.map(([line, name]) => {
    const value = values.at(line, name);
    return value && [values.definitionLine(value), values.uses(value), typeOf(values, value)];
  });
  console.log(JSON.stringify(found));
}
