/** What went wrong, for people: in a stage of the user's program, or in a pane of ours. */
import { h, prose, replace } from "./dom.js";

/** @param {import("./schema").FailureView} failure @returns {HTMLElement} */
export function renderFailure(failure) {
  return h(
    "section.failure", { role: "group", "aria-label": "failure" },
    h("p", {}, h("b", {}, "✕ ", failure.headline)),
    ...paragraphs(failure.message).map((part) => h("p", {}, ...prose(part))),
    failure.advice && h("p.advice", {}, h("b", {}, "What to do: "), ...prose(failure.advice)),
    failure.places.length > 0 &&
      h(
        "ol.places", {},
        ...failure.places.map(placeItem),
      ),
    failure.traceback &&
      h("details", {}, h("summary", {}, "full traceback"), h("pre", { tabindex: 0 }, failure.traceback)),
  );
}

/** A line of Python and where it stands. @param {import("./schema").Place} place */
export const placeItem = (place) =>
  h("li", {}, h("span.where", {}, `${place.file}:${place.line}`), place.function && h("span.muted", {}, " in ", place.function), h("code", {}, place.text));

/** @param {string} text its lines, without the empty ones */
const paragraphs = (text) => text.split("\n").filter((line) => line.trim());

/** A pane of ours that threw. @param {string} what @param {unknown} error */
export function renderBroken(what, error) {
  const message = error instanceof Error ? error.message : String(error);
  return h(
    "p.failure", { role: "alert" },
    h("b", {}, "✕ ", what, " cannot be shown."),
    " ",
    message,
    " The other parts are not affected.",
  );
}

/** Draws a part of the screen; one that throws says so itself. @param {Element} element @param {string} what @param {() => void} draw */
export function guard(element, what, draw) {
  try {
    draw();
  } catch (error) {
    console.error("[jaxscope]", error);
    replace(element, renderBroken(what, error));
  }
}
