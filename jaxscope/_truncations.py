"""Requests for 64-bit types that JAX cuts to 32 bits, with the user's place.

Problem: with 64-bit mode off, ``x.astype('float64')`` gives float32; JAX warns, but names a line of its own, warns once
for many lines, and the program holds no trace of what was asked. Input: Python's `warnings` while a program is traced.
Output: `Truncation`, one for each request. The warning goes on to whoever listens for warnings.
"""

import contextlib
import re
import sys
import warnings
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

from jaxscope import _jax
from jaxscope._ir.model import Frame


@dataclass(frozen=True, slots=True)
class Truncation:
    """A 64-bit type that was asked for and cut.

    Attributes:
        asked: The type that was asked for: ``float64``.
        given: The type that was given instead.
        function: The function that was asked, ``astype``; "" where JAX does not say.
        frame: The user's innermost line; None where there is none.
    """

    asked: str
    given: str
    function: str
    frame: Frame | None = None


# "Explicitly requested dtype float64 requested in astype is not available, and will be truncated to dtype float32. To"
# For a scalar type: "Explicitly requested dtype <class 'jax.numpy.float64'> requested in zeros is not available, and"
_TRUNCATED = re.compile(
    r"Explicitly requested dtype (?:<class '(?:\w+\.)*(\w+)'>|(\w+))(?: +requested in (\S+))? is not available,"
    r"\s+and will be truncated to dtype (\w+)"
)


def read_truncation(message: str, frame: Frame | None = None) -> Truncation | None:
    """The truncation that a warning of JAX tells of; None for other warnings."""
    if (match := _TRUNCATED.search(message)) is None:
        return None
    return Truncation(match.group(1) or match.group(2), match.group(4), match.group(3) or "", frame)


_BEGINNING = "Explicitly requested dtype"
_OF_PROGRAMS: "weakref.WeakKeyDictionary[Any, tuple[Truncation, ...]]" = weakref.WeakKeyDictionary()


def truncations_of(closed_jaxpr: Any, noted: Sequence[Truncation]) -> tuple[Truncation, ...]:
    """Those noted while a program was traced; JAX keeps what it traced, and does not warn when it is asked again."""
    return _OF_PROGRAMS.setdefault(closed_jaxpr, tuple(noted))


@contextlib.contextmanager
def noted_truncations() -> Iterator[list[Truncation]]:
    """Collects the truncations that JAX warns of in this block; each request once.

    Who has switched warnings off is told all the same, and is shown none. Like all of `warnings` it changes the whole
    process: one thread at a time.
    """
    found: list[Truncation] = []
    with warnings.catch_warnings():
        # Without it Python shows one warning for all lines.
        warnings.filterwarnings("always", message=_BEGINNING, append=True)
        filters = list(warnings.filters)
        # Before the user's own filters, which are asked when it is noted.
        warnings.filterwarnings("always", message=_BEGINNING)
        previous = warnings.showwarning

        def note(message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
            truncation = read_truncation(str(message), _user_frame(sys._getframe(1)))
            # jnp.sum asks twice for one request of the user's.
            known = [(other.frame, other.asked) for other in found]
            if truncation is not None and (truncation.frame, truncation.asked) not in known:
                found.append(truncation)
            if truncation is None:
                previous(message, category, filename, lineno, file, line)
                return
            with warnings.catch_warnings():
                warnings.filters[:] = filters
                warnings.showwarning = previous
                warnings.warn_explicit(message, category, filename, lineno)

        warnings.showwarning = note
        yield found


def _user_frame(frame: FrameType | None) -> Frame | None:
    """The innermost frame of the user's that called, as an equation's traceback names it."""
    while frame is not None and not _jax.is_user_file(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return None
    positions = list(frame.f_code.co_positions())[frame.f_lasti // 2]
    line, end_line, column, end_column = (number or 0 for number in positions)
    return Frame(
        frame.f_code.co_filename, frame.f_code.co_qualname, line or frame.f_lineno, column + 1, end_line, end_column + 1
    )
