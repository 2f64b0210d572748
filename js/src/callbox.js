/** The box into which a call is typed, for the kernel to judge; it stays as it is while the tables below it change. */
import { h, on, prose, replace } from "./dom.js";

/**
 * @param {(text: string | null, onAnswer: import("./source.js").OnAnswer) => void} check asks the kernel; for no text, only whether it is there
 * @param {AbortSignal} signal
 * @returns {{element: HTMLElement, take: (call: import("./schema").CallBox) => void}}
 */
export function makeCallBox(check, signal) {
  const input = h("input.query");
  input.spellcheck = false;
  const button = h("button.make", {}, "check");
  const status = h("span", { role: "status" });
  const alert = h("span.tone-error", { role: "alert" });
  const note = h("small");
  const element = h("section.call", {}, h("label", {}, "call ", input), button, status, alert, note);
  // A saved notebook has no kernel, and then nothing answers.
  element.hidden = true;
  /** @type {import("./source.js").OnAnswer} */
  const answer = (words, isRefusal) => {
    element.hidden = false;
    replace(status, isRefusal ? "" : words);
    replace(alert, ...prose(isRefusal ? words : ""));
  };
  const ask = () => {
    answer("Asked the kernel…", false);
    check(input.value, answer);
  };
  on(button, "click", ask, signal);
  on(input, "keydown", (event) => event.key === "Enter" && !event.isComposing && ask(), signal);
  check(null, answer);
  let given = "";
  return {
    element,
    take(call) {
      // What somebody is typing stays.
      if (input.value === given) input.value = call.text;
      given = call.text;
      replace(note, call.note);
    },
  };
}
