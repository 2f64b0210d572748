"""What renderers are given: the view, and each listing's index and text on demand.

Input: the facts of an inspection. Output: `ViewSource`. Renderers see nothing else.
"""

import json

from jaxscope._programs import Programs
from jaxscope._view.build import build_view
from jaxscope._view.listing import index_listing, index_python
from jaxscope._view.model import ListingIndex, View


class ViewSource:
    """The view model of one inspection, made anew each time it is asked for."""

    def __init__(self, programs: Programs):
        self._programs = programs

    @property
    def view(self) -> View:
        """What is known by now."""
        return build_view(self._programs)

    def index(self, key: str) -> ListingIndex:
        """The columns of a listing; ``python`` is one too."""
        facts, base = self._programs.find(key)
        if base == "python":
            return index_python(facts.python_side()[1], facts.definition)
        index = index_listing(facts.listing(base))
        index["key"] = key
        return index

    def text(self, key: str) -> str:
        """The exact text of a listing."""
        facts, base = self._programs.find(key)
        return facts.python_side()[0].text if base == "python" else facts.listing(base).listing.text

    def listing(self, key: str) -> tuple[bytes, bytes]:
        """Index (as JSON) and text of a listing in UTF-8, for the browser."""
        index = json.dumps(self.index(key), ensure_ascii=False, separators=(",", ":"))
        return index.encode(errors="replace"), self.text(key).encode(errors="replace")
