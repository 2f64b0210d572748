"""What all tables are made of: the mark of what is missing, cells for figures that may be missing, rows, columns.

Input: raw values, each known or `Unavailable`, and the keys of documented columns. Output: cells and the records of the
view model.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from jaxscope._analysis import columns
from jaxscope._analysis.memory import TOTAL
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._view.model import CallBox, Column, Figure, Row, Table

MISSING = "—"
# What a memory table shows even where it is missing.
MEMORY_KEYS = ("argument", "output", "temporary", "alias", "generated code", TOTAL, "peak")
_CODE = ("path", "type", "compiled", "called", "sharding", "per_device", "source", "name")


@dataclass(frozen=True)
class Page:
    """What a tab of tables shows: a short count for the strip, the figures it begins with, its tables.

    With a `call`, another one can be typed.
    """

    count: str
    figures: list[Figure]
    tables: list[Table]
    call: CallBox | None = None


def known(value: Any, show: Callable[[Any], str] = str) -> str:
    """The cell of a value: shown, or the mark of what is missing."""
    return MISSING if isinstance(value, Unavailable) else show(value)


def reasons_of(note: str, *values: object, besides: Sequence[str] = ()) -> str:
    """A note, and the reason of every figure that is missing, but for those that are told elsewhere."""
    reasons = [value.reason for value in values if isinstance(value, Unavailable) and value.reason not in besides]
    return " ".join(dict.fromkeys(filter(None, (note, *reasons))))


def row_of(*cells: str) -> Row:
    """A row that nothing is wrong with."""
    return Row(cells=list(cells), tone="", marks=[])


def column_list(table: str, *keys: str) -> list[Column]:
    """The columns of a table, from the one place where each is described."""
    entries = [columns.column(table, key) for key in keys]
    return [
        Column(key=entry.key, label=entry.label, align=entry.align, code=entry.key in _CODE, help=entry.help)
        for entry in entries
    ]
