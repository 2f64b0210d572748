"""Pages that show widgets without a notebook around them."""

import base64
import json
from typing import Any


def widget_page(source: Any, count: int = 1, spacer_pixels: int = 0) -> str:
    """A page that feeds widgets as a saved notebook does: everything is in their models, deflated.

    Args:
        source: What each of them shows; each has a state of its own.
        count: How many there are, one below the other.
        spacer_pixels: The height of an empty box after them.
    """
    from jaxscope._render.html import bundle
    from jaxscope._render.widget import deflate_listing

    listings = {}
    for tab in source.view["tabs"]:
        if tab["kind"] == "listing" and tab["status"] == "done":
            deflated = deflate_listing(source, tab["key"])
            listings[tab["key"]] = {name: base64.b64encode(data).decode() for name, data in deflated.items()}
    data = {"program": bundle(), "view": source.view, "listings": listings, "count": count}
    state = json.dumps(data).replace("</", "<\\/")
    return f"""<!doctype html><meta charset="utf-8"><title>widgets</title><div id="widgets"></div>
<div style="height: {spacer_pixels}px"></div>
<script type="application/json" id="state">{state}</script>
<script type="module">
  const {{ program, view, listings, count }} = JSON.parse(document.getElementById("state").textContent);
  const bytes = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  for (const listing of Object.values(listings)) {{
    for (const name of Object.keys(listing)) listing[name] = new DataView(bytes(listing[name]).buffer);
  }}
  const {{ default: widget }} = await import(URL.createObjectURL(new Blob([program], {{ type: "text/javascript" }})));
  window.started = performance.now();
  window.models = [];
  for (let number = 0; number < count; number += 1) {{
    const state = {{ view, listings: {{ ...listings }} }};
    const model = {{
      state, get: (name) => state[name], set: (name, value) => {{ state[name] = value; }},
      on() {{}}, off() {{}}, send() {{}}, save_changes() {{}},
    }};
    window.models.push(model);
    const el = document.createElement("div");
    document.getElementById("widgets").append(el);
    widget.render({{ model, el }});
  }}
  window.mounted = performance.now();
</script>"""
