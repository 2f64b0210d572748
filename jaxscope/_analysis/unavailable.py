"""The value that stands where a figure is missing.

Problem: a missing figure shown as 0, -1 or nothing is taken for a figure. Input: a reason. Output: `Unavailable`, which
every table of `jaxscope._analysis` uses and every renderer shows with its reason.
"""

from dataclasses import dataclass
from typing import TypeVar

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Unavailable:
    """A value that is not there; `reason` is one sentence for people."""

    reason: str

    def __str__(self) -> str:
        return f"unavailable: {self.reason}"


def known_or(value: Value | Unavailable, otherwise: Value) -> Value:
    """`value` where it is known, else `otherwise`: for arithmetic and frames, never for display."""
    return otherwise if isinstance(value, Unavailable) else value
