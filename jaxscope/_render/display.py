"""How an inspection reaches the screen: a widget in a notebook, text in a terminal, and never twice in one cell.

Input: a view source. Output: `Display`: a mime bundle, and for `show` a live picture that ends in its final state.
"""

import sys
import uuid
from collections.abc import Callable
from typing import Any

from jaxscope._render.html import render_fallback
from jaxscope._render.screen import SCREEN
from jaxscope._render.text import render_text, short_listings
from jaxscope._render.widget import SAVED_BYTES
from jaxscope._view.source import ViewSource
from jaxscope.errors import UnavailableError

WIDGET_MIME = "application/vnd.jupyter.widget-view+json"


def running_shell() -> Any:
    """IPython's shell when this code runs in one; IPython is never imported for the question."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


def has_front_end(shell: Any) -> bool:
    """Whether the shell is a kernel, whose output goes to a notebook."""
    return shell is not None and getattr(shell, "kernel", None) is not None


class Display:
    """The picture of one inspection: one widget model, however often it is displayed."""

    def __init__(self, source: ViewSource, compile_for: Callable[[str], object]):
        self._source = source
        self._compile_for = compile_for
        self._widget: Any = None
        self._no_widget = ""
        self._cell: int | None = None
        self._id = ""
        self._is_live = False
        self._saved_bytes: int | None = None

    @property
    def saved_bytes(self) -> int:
        """The most bytes of listings that a saved notebook holds; setting it applies to a widget that is there."""
        return SAVED_BYTES if self._saved_bytes is None else self._saved_bytes

    @saved_bytes.setter
    def saved_bytes(self, value: int) -> None:
        self._saved_bytes = value
        if self._widget is not None:
            self._widget.saved_bytes = value
            self._widget.refresh()

    @property
    def is_open(self) -> bool:
        """Whether there is a widget to keep up to date."""
        return self._widget is not None

    def bundle(self) -> dict[str, Any]:
        """Widget, HTML and text, best first for whoever displays them; without the widget where there is no bundle."""
        # Made first: only then is it known whether the HTML has to say why there is none.
        shell = running_shell()
        widget = self._make_widget() if has_front_end(shell) else None
        bundle: dict[str, Any] = {
            "text/plain": render_text(self._source, listings=False).rstrip("\n"),
            "text/html": render_fallback(self._source.view, self._no_widget, short_listings(self._source)),
        }
        if widget is not None:
            SCREEN.show(shell, widget, self._forget_widget)
            bundle[WIDGET_MIME] = {"version_major": 2, "version_minor": 0, "model_id": widget.model_id}
        return bundle

    def open(self) -> None:
        """Displays the picture as it is before the first stage; in a terminal nothing is said until the end."""
        shell = running_shell()
        self._cell = getattr(shell, "execution_count", None)
        if not has_front_end(shell):
            return
        self._id = uuid.uuid4().hex
        self._is_live = True
        self._publish(update=False)

    def refresh(self) -> None:
        """Sends what is known by now to the widget."""
        if self._widget is not None:
            self._widget.refresh(embed=True)

    def refresh_view(self) -> None:
        """Sends which stages have ended, but no listings: making those can wait until XLA works on its own."""
        if self._widget is not None:
            self._widget.refresh(embed=False)

    def close(self, *, embed: bool = True) -> None:
        """Displays the final state, so that it is what a saved notebook holds; in a terminal, prints the report.

        Args:
            embed: Whether the listings are put into the saved state too.
        """
        self._is_live = False
        if self._id:
            if self._widget is not None:
                self._widget.refresh(embed=embed)
            self._publish(update=True)
        else:
            text = render_text(self._source, colour=sys.stdout.isatty())
            # A redirected stdout may know fewer characters than the report has: → becomes \u2192, not an exception.
            encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
            print(text.encode(encoding, "backslashreplace").decode(encoding), end="")

    def shown_in_this_cell(self) -> bool:
        """Whether `show` displays it, live or at the end, in the cell that runs now."""
        return self._cell is not None and self._cell == getattr(running_shell(), "execution_count", None)

    def _publish(self, *, update: bool) -> None:
        from IPython.display import publish_display_data

        publish_display_data(self.bundle(), transient={"display_id": self._id}, update=update)

    def _make_widget(self) -> Any:
        if self._widget is None and not self._no_widget:
            try:
                from jaxscope._render.widget import InspectionWidget
            except UnavailableError as reason:
                self._no_widget = str(reason)
                return None
            self._widget = InspectionWidget(self._source, self._compile_for, _view_count=0)
            self._widget.saved_bytes = self.saved_bytes
            # While stages run they say when their listings are there; otherwise all are, and a notebook saves them.
            if not self._is_live:
                self._widget.refresh()
        return self._widget

    def _forget_widget(self) -> None:
        self._widget = None
