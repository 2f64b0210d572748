/** Every action of the table that is not for a listing has a command, every command is in the table, and each does something. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import * as commands from "../src/commands.js";
import { ACTIONS } from "../src/keys.js";

// As loose as the app that these tests give it.
const commandsOf = /** @type {any} */ (commands.commandsOf);

/** An app that writes down what is asked of it. */
function recorder() {
  /** @type {string[]} */
  const calls = [];
  const preferences = { layout: "auto", locations: "short", turned: ["layout"], shortNames: false, exact: false, follow: true };
  const note = (/** @type {string} */ name) => (/** @type {unknown[]} */ ...given) => void calls.push(`${name} ${JSON.stringify(given)}`);
  const app = {
    preferences,
    prefer: (/** @type {object} */ change) => {
      note("prefer")(change);
      Object.assign(preferences, change);
    },
    ...{ help: { open: note("help") }, live: { say: note("say") }, stepTab: note("step"), stepMark: note("mark"), unpin: note("unpin") },
    layout: { leaveFull: note("leave"), toggleFull: note("full") },
    jumps: { run: note("jump") },
  };
  return { app, calls };
}

const names = ACTIONS.filter((action) => action.scope === "app").map((action) => action.name);

test("the commands are those of the table", () => {
  assert.deepEqual(Object.keys(commandsOf(recorder().app)).sort(), names.sort());
});

for (const name of names) {
  test(`${name} does something`, () => {
    const { app, calls } = recorder();
    commandsOf(app)[name]("1", null);
    assert.ok(calls.length > 0);
  });
}

test("choices go round and come back", () => {
  const { app } = recorder();
  const commands = commandsOf(app);
  const seen = [1, 2, 3].map(() => (commands.locations(), app.preferences.locations));
  assert.deepEqual(seen, ["full", "off", "short"]);
  const layouts = [1, 2, 3, 4].map(() => (commands.layout(), app.preferences.layout));
  assert.deepEqual(layouts, ["one", "side", "stacked", "auto"]);
  commands.layouts();
  commands.config();
  commands.types();
  assert.deepEqual(app.preferences.turned, ["backend_config", "type"]);
  commands.names();
  assert.equal(app.preferences.shortNames, true);
});

test("a digit takes off the pin of that number", () => {
  const { app, calls } = recorder();
  commandsOf(app)["unpin-one"]("3");
  assert.deepEqual(calls, ["unpin [2]"]);
});

test("everything that is put away and has no switch is a location, which has a column of its own", async () => {
  const grammar = JSON.parse(readFileSync(new URL("../../jaxscope/lexers/grammar.json", import.meta.url), "utf8"));
  const { app } = recorder();
  const before = new Set(app.preferences.turned);
  for (const name of ["layouts", "metadata", "config"]) commandsOf(app)[name]();
  const switched = new Set([...app.preferences.turned, ...before]);
  /** @type {{kind: string, shown: boolean}[]} */
  const hidden = Object.values(grammar.dialects).flatMap((/** @type {any} */ dialect) => dialect.hidden);
  const rest = new Set(hidden.filter((rule) => !rule.shown && !switched.has(rule.kind)).map((rule) => rule.kind));
  assert.deepEqual([...rest], ["location"]);
});
