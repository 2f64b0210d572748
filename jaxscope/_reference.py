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
        """One row for each entry: part (its table), source (where that is to be had), name, text."""
        import pandas

        rows = [
            (table["title"], table["source"], row["cells"][0], "\n".join(_paragraphs(table, row)))
            for table in self._tables
            for row in table["rows"]
        ]
        return pandas.DataFrame(rows, columns=["part", "source", "name", "text"])

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
                for paragraph in _paragraphs(table, row):
                    yield from _wrapped(paragraph)
            yield ""


def _paragraphs(table: Table, row: Row) -> Iterator[str]:
    """The cells but the first, each behind the heading of its column where there are several."""
    told = [(column["label"], cell) for column, cell in zip(table["columns"], row["cells"], strict=True)][1:]
    for label, cell in told:
        if cell:
            yield cell if len(told) == 1 else f"{label}: {cell}"


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
