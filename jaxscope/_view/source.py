"""What renderers are given: the view, and each listing's index and text on demand.

Input: the facts of an inspection. Output: `ViewSource`. Renderers see nothing else.
"""

import json
from collections.abc import Mapping
from typing import Any

from jaxscope._programs import Programs
from jaxscope._view.build import build_view
from jaxscope._view.call_box import call_box, verdict_line
from jaxscope._view.failure import first_row
from jaxscope._view.heat import line_costs
from jaxscope._view.listing import index_listing, index_python
from jaxscope._view.memory import LIVE, live_columns
from jaxscope._view.model import ListingIndex, View
from jaxscope.errors import UnavailableError


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
            return index_python(facts.python_side()[1], facts.definition, first_row(facts))
        index = index_listing(facts.shown_listing(base))
        if base in ("stablehlo", "hlo") and facts.has_ended:
            index["costs"], index["line_cost"] = line_costs(facts.listing(base), facts.program_cost(base))
        index["key"] = key
        return index

    def text(self, key: str) -> str:
        """The exact text of a listing; of a jaxpr whose tracing failed, what there was of it."""
        facts, base = self._programs.find(key)
        return facts.python_side()[0].text if base == "python" else facts.shown_listing(base).listing.text

    def make(self, tab: str, table: str) -> None:
        """Makes what a card of a tab has a `request` for: the compiler's own account of memory.

        Raises:
            UnavailableError: It could not be made.
        """
        facts, base = self._programs.find(tab)
        if (base, table) != ("memory", LIVE):
            raise UnavailableError(
                f"Making more for the table {table!r} of the tab {tab!r}: there is nothing to make. "
                "Reload the view; it may be of another version."
            )
        facts.read_buffer_assignment()

    def check(self, tab: str, text: str) -> str:
        """Judges a call that was typed in a tab, whose tables then show the verdict; the verdict in a line.

        Raises:
            InputError: The text is no call of types and literal values.
            UnavailableError: The tab takes no call.
        """
        facts, base = self._programs.find(tab)
        if base != "types" or not facts.has_ended or call_box(facts) is None:
            raise UnavailableError(
                f"Judging a call that was typed in the tab {tab!r}: there is no signature to compare it with. "
                "Reload the view; it may be of another version."
            )
        facts.take_call_text(text)
        return verdict_line(facts)

    def listing(self, key: str) -> tuple[bytes, bytes]:
        """Index (as JSON) and text of a listing in UTF-8, for the browser; of a chart's data, the text is empty."""
        if key.partition("@")[0] == LIVE:
            facts, _ = self._programs.find(key)
            return _encode(live_columns(facts, self._programs.key(facts, "hlo"))), b""
        return _encode(self.index(key)), self.text(key).encode(errors="replace")


def _encode(columns: Mapping[str, Any]) -> bytes:
    return json.dumps(columns, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")
