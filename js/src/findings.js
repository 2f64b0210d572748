/** A piece of advice: what was found and where, what to do, and what its rule is about. */
import { signed } from "./card.js";
import { h, prose } from "./dom.js";
import { placeItem } from "./failure.js";
import { dataOf } from "./table.js";

/**
 * @param {import("./schema").FindingView} finding
 * @param {import("./schema").Paragraph[]} rule its documentation
 * @param {import("./schema").View} view
 */
export function renderFinding({ rule: key, title, severity, tone, found, advice, places, links }, rule, view) {
  const name = (/** @type {string} */ key) => view.tabs.find((tab) => tab.key === key)?.title ?? key;
  const first = links.filter(({ listing }, at) => links.findIndex((link) => link.listing === listing) === at);
  const buttons = first.map((link) => {
    const count = links.filter(({ listing }) => listing === link.listing).length;
    return h("button.jump", dataOf(link), name(link.listing), count > 1 && ` (${count} lines)`);
  }).flatMap((button, at) => [at > 0 && ", ", button]);
  return h(
    "section", { class: "card finding", "data-rule": key },
    h("header.card-head", {}, h("h2", { class: `tone-${tone}` }, signed(tone, severity), ": ", title), buttons.length > 0 && h("span.source", {}, "show in ", ...buttons)),
    places.length > 0 && h("ol.places", {}, ...places.map(placeItem)),
    h("p", {}, ...prose(found)),
    h("p", {}, h("b", {}, "What to do: "), ...prose(advice)),
    h("details", {}, h("summary", {}, "about this rule"), ...rule.flatMap(({ heading, text }) => [h("h3", {}, heading), ...text.split("\n\n").map(paragraph)])),
  );
}

/** A paragraph, or lines of code, which the rules' docstrings set in. @param {string} text */
const paragraph = (text) => (text.startsWith("    ") ? h("pre", { tabindex: 0 }, text.replaceAll(/^ {4}/gm, "")) : h("p", {}, ...prose(text)));
