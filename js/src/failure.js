/** What went wrong, for people: in a stage of the user's program, or in a pane of ours. */
import { h, link, prose, replace } from "./dom.js";
import { makeGrid } from "./table.js";

/** @param {import("./schema").FailureView} failure @param {AbortSignal} signal @returns {HTMLElement} */
export function renderFailure({ headline, found, message, advice, page, places, expression, operands, mismatches, traceback }, signal) {
  const words = paragraphs(message);
  return h(
    "section.failure", { role: "group", "aria-label": "failure" },
    h("p", {}, h("b", {}, "✕ ", headline)),
    ...(found ? paragraphs(found) : words),
    (advice || page) && h("p.advice", {}, advice && h("b", {}, "What to do: "), ...prose(advice), " ", link(page, "In JAX’s documentation")),
    mismatches && h("div.table-scroll", { tabindex: 0, role: "region", "aria-label": mismatches.title }, makeGrid(mismatches, signal)[0]),
    places.length > 0 &&
      h(
        "ol.places", {},
        ...places.map((place, number) => {
          const item = placeItem(place);
          if (!number && (expression || operands.length)) item.append(h("p", {}, expression && h("code", {}, expression), ...operands.map((each) => h("code", {}, `${each.expression}: ${each.type}`))));
          return item;
        }),
      ),
    found && h("details", {}, h("summary", {}, "the exception's own words"), ...words),
    traceback && h("details", {}, h("summary", {}, "full traceback"), h("pre", { tabindex: 0 }, traceback)),
  );
}

/** A line of Python and where it stands. @param {import("./schema").Place} place */
export const placeItem = (place) =>
  h("li", {}, h("span.where", {}, `${place.file}:${place.line}`), place.function && h("span.muted", {}, " in ", place.function), h("code", {}, place.text.trim()));

/** @param {string} text its lines, without the empty ones */
const paragraphs = (text) => text.split("\n").filter((line) => line.trim()).map((line) => h("p", {}, ...prose(line)));

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
