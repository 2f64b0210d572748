/** Long names of a listing as the shorter ones that its index brings for them; `jaxscope/_view/names.py` chooses these. Pure. */

// Sign, stem, and what follows it. Samples it matches: "%while_body.12.clone", "param_0.2".
const NAME = /^(%?)([^.]*?)((?:_\d+)?(?:\..*)?)$/;

/** @param {import("./schema").ListingIndex} index @param {string} name as printed @returns {string} the name itself where it has no shorter one */
export function shortName({ short_names: shorter }, name) {
  const [, sign = "", stem = "", rest = ""] = NAME.exec(name) ?? [];
  return Object.hasOwn(shorter, stem) ? sign + shorter[stem] + rest : name;
}
