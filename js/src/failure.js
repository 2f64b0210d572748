/** What went wrong, for people: in a stage of the user's program, or in a pane of ours. */
import { h, prose } from "./dom.js";

/** @param {import("./schema").FailureView} failure @returns {HTMLElement} */
export function renderFailure(failure) {
  return h(
    "section",
    { class: "failure", role: "group", "aria-label": "failure" },
    h("p", {}, h("b", {}, "✕ ", failure.headline), " ", ...prose(failure.message)),
    failure.advice && h("p", {}, ...prose(failure.advice)),
    failure.places.length > 0 &&
      h(
        "ol",
        { class: "places" },
        ...failure.places.map((place) =>
          h(
            "li",
            {},
            h("span", { class: "where" }, `${place.file}:${place.line}`),
            place.function && h("span", { class: "muted" }, " in ", place.function),
            h("code", {}, place.text),
          ),
        ),
      ),
    failure.traceback &&
      h("details", {}, h("summary", {}, "full traceback"), h("pre", { tabindex: 0 }, failure.traceback)),
  );
}

/** A pane of ours that threw. @param {string} what @param {unknown} error */
export function renderBroken(what, error) {
  const message = error instanceof Error ? error.message : String(error);
  return h(
    "p",
    { class: "failure", role: "alert" },
    h("b", {}, "✕ ", what, " cannot be shown."),
    " ",
    message,
    " The other parts are not affected.",
  );
}
