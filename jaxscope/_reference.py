"""`jaxscope.reference`: the manual of every figure, as an object that shows itself.

Input: words to look for, or none. Output: `Reference`: HTML in a notebook, wrapped text elsewhere, a data frame.
"""

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jaxscope._render.html import render_table
from jaxscope._view.model import Row, Table
from jaxscope._view.reference import reference_tables

if TYPE_CHECKING:
    import pandas as pd

_WIDTH = 100


class Reference:
    """What columns, figures, counting rules and findings mean; shows itself."""

    def __init__(self, words: str = ""):
        self._words = words
        self._tables = reference_tables(words)

    @property
    def frame(self) -> "pd.DataFrame":
        """One row for each entry: part (its table), source (where that is to be had), name, heading, text."""
        import pandas

        rows = [
            (table["title"], table["source"], row["cells"][0], row["cells"][1], "\n".join(_paragraphs(table, row, 2)))
            for table in self._tables
            for row in table["rows"]
        ]
        return pandas.DataFrame(rows, columns=["part", "source", "name", "heading", "text"])

    def __len__(self) -> int:
        return sum(len(table["rows"]) for table in self._tables)

    def __str__(self) -> str:
        return "\n".join(self._lines()) or self._nothing

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "".join(map(render_table, self._tables)) or f"<p>{self._nothing}</p>"

    @property
    def _nothing(self) -> str:
        return "No entry holds these words. jaxscope.reference() shows all."

    def _lines(self) -> Iterator[str]:
        for table in self._tables:
            yield f"{table['title']} ({table['source']})" if table["source"] else table["title"]
            for row in table["rows"]:
                yield f"  {row['cells'][0]}"
                for paragraph in _paragraphs(table, row, 1):
                    yield from _wrapped(paragraph)
            yield ""


def _paragraphs(table: Table, row: Row, first: int) -> Iterator[str]:
    """The cells from `first` on, each behind the heading of its column."""
    for column, cell in list(zip(table["columns"], row["cells"], strict=True))[first:]:
        if cell:
            yield f"{column['label']}:\n{cell}" if "\n" in cell else f"{column['label']}: {cell}"


def _wrapped(paragraph: str) -> Iterator[str]:
    for line in paragraph.split("\n"):
        if line.startswith(" ") or not line:
            # Examples are indented, and stay as they are.
            yield f"    {line}".rstrip()
        else:
            yield from textwrap.wrap(
                line, _WIDTH, initial_indent="    ", subsequent_indent="      ", break_on_hyphens=False
            )


def reference(words: str = "") -> Reference:
    """Says what the figures mean: every column and row of every table, how each op is counted, every finding.

    The same entries are the tooltips of the widget and the documentation of the data frames.

    Args:
        words: Show only entries that hold these words, in any case: ``jaxscope.reference("roofline")``,
            ``jaxscope.reference("convolution")``.

    Returns:
        The manual: shown in a notebook, printed elsewhere, ``.frame`` as a data frame.
    """
    return Reference(words)
