"""The record that documents one column or row of a table.

Problem: a figure is worth what is known about it. Input: none; this module only defines the record. Output: `Entry`.
"""

from dataclasses import dataclass
from typing import Literal

Align = Literal["left", "right"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One column or row.

    Attributes:
        key: Its name in the DataFrame, or the key of the row.
        label: Its heading for people.
        what: What it is.
        source: Where it comes from.
        missing: When there is no value, and what that means.
        align: How a renderer aligns it.
    """

    key: str
    label: str
    what: str
    source: str
    missing: str
    align: Align = "left"

    @property
    def help(self) -> str:
        """The whole entry in three sentences."""
        return f"{self.what} Source: {self.source} Missing: {self.missing}"


# Where an instruction stands in Python, in every table of instructions.
INSTRUCTION_PLACE = (
    Entry("file", "File", "The Python file.", "The debug location.", "When the compiler made the instruction."),
    Entry(
        "python_line",
        "Python line",
        "The innermost line of the user's.",
        "The debug location.",
        "When the compiler made the instruction.",
        "right",
    ),
)
