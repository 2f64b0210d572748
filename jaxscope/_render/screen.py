"""Which cells of a notebook show which widgets; one that none shows any more is closed.

Problem: ipywidgets keeps every widget until it is closed, with all that it refers to, and a notebook saves the state of
each. A cell that is run again shows a new inspection, and the old one (its compiled programs, and megabytes of listings
in the browser and in the file) would stay for as long as the kernel does. Input: the shell's events, and what `Display`
shows in which cell. Output: closed widgets.

A widget is closed once every cell that showed it has been run again without showing it, and the browser has no view of
it left: a copied output is a view too. What the kernel cannot know it leaves alone: a cell that was deleted, a program
that sends no cell ids. https://github.com/jupyter-widgets/ipywidgets/issues/1345 says why ipywidgets keeps them.
"""

import weakref
from collections.abc import Callable
from typing import Any


def current_cell(shell: Any) -> str | None:
    """The id of the cell that runs now; None where whoever sent it gives none."""
    get_parent = getattr(getattr(shell, "kernel", None), "get_parent", None)
    parent = get_parent() if get_parent is not None else None
    return ((parent or {}).get("metadata") or {}).get("cellId")


class Screen:
    """The widgets that cells show."""

    def __init__(self) -> None:
        # By model: the widget, its cells, and how whoever made it is told that it was closed.
        self._shown: dict[str, tuple[Any, set[str], weakref.WeakMethod]] = {}
        self._shell: Callable[[], Any] = lambda: None

    def show(self, shell: Any, widget: Any, on_close: Callable[[], None]) -> None:
        """Takes note that the cell that runs now shows a widget.

        Args:
            shell: IPython's.
            widget: Its trait `_view_count` counts the browser's views of it.
            on_close: Called when it has been closed; it is kept by weak reference, so a bound method it has to be.
        """
        cell = current_cell(shell)
        if cell is None:
            return
        if self._shell() is not shell:
            self._shell = weakref.ref(shell)
            shell.events.register("pre_run_cell", self._begin)
            shell.events.register("post_run_cell", self._end)
        if widget.model_id not in self._shown:
            self._shown[widget.model_id] = (widget, set(), weakref.WeakMethod(on_close))
            widget.observe(self._close_unseen, "_view_count")
        self._shown[widget.model_id][1].add(cell)

    def _begin(self, info: Any) -> None:
        for _, cells, _ in self._shown.values():
            cells.discard(getattr(info, "cell_id", None))

    def _end(self, _result: Any) -> None:
        self._close_unseen()

    def _close_unseen(self, _change: Any = None) -> None:
        for model, (widget, cells, on_close) in list(self._shown.items()):
            if cells or widget._view_count:
                continue
            del self._shown[model]
            widget.unobserve(self._close_unseen, "_view_count")
            widget.close()
            # It is a widget too, made for this one.
            widget.layout.close()
            if (tell := on_close()) is not None:
                tell()


SCREEN = Screen()
