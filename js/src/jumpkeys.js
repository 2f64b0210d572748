/** The keys that follow values, in the words of a sheet of keys. */
export const JUMP_ACTIONS = [
  { name: "definition", keys: ["d"], group: "Values", label: "definition of the value, or of the first operand" },
  { name: "use", keys: ["u"], group: "Values", label: "next use" },
  { name: "use-before", keys: ["U"], group: "Values", label: "use before" },
  { name: "called", keys: ["i"], group: "Values", label: "into what is called" },
  { name: "back", keys: ["b", "Alt+ArrowLeft"], group: "Values", label: "back" },
];

/** The same on one line. */
export const HINT = `${JUMP_ACTIONS.map(({ keys: [key], label }) => `${key}: ${label}`).join(" · ")} · Ctrl+click on a name: go there`;
