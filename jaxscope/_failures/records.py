"""The records of a failure: what recognisers look at, what they say, and the explanation that comes of it.

Input: nothing; this module only defines records.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from jaxscope._failures.sites import NOWHERE, Site
from jaxscope._ir.model import Frame

# The names of the functions of JAX have pages of their own, at addresses that have not changed.
_FUNCTION_PAGE = "https://docs.jax.dev/en/latest/_autosummary/{}.html"


@dataclass(frozen=True, slots=True)
class Operand:
    """A value that the failing expression names: the expression, ``params['w']``, and its type, ``f32[3,4]``."""

    expression: str
    type: str

    def __str__(self) -> str:
        return f"{self.expression}: {self.type}"


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A leaf, or a place in the tree, that differs between a loop's input and output or between branches.

    Attributes:
        path: Where it is, ``carry['count']``; "" for the whole.
        left: Its type, or what it is, in the input or in the first branch.
        right: The same in the output or in the other branch.
        reason: JAX's words for how they differ: "the dtypes do not match".
    """

    path: str
    left: str
    right: str
    reason: str


@dataclass(frozen=True)
class Explanation:
    """A failure in words.

    Attributes:
        headline: What was being done and where, in one line.
        message: The exception's own words, whole.
        advice: What to do; "" where nothing is known beyond the message.
        frames: Places in Python, the user's own innermost line first.
        traceback: The full traceback, without jaxscope's own frames and with short file names.
        kind: A stable name of what went wrong, ``tracer-to-bool``; ``unknown`` where nothing recognises it.
        found: What was found, in one sentence; "" where the message has to speak for itself.
        expression: The user's expression that failed, on one line; "" where it cannot be told.
        operands: What that expression names, with types.
        page: The address of JAX's page on it; "" where there is none.
        symbol: The name in the compilers' texts that the failure is about, for a failure without a place in Python; "".
        mismatches: The leaves that differ, where a loop's carry or the results of branches do.
    """

    headline: str
    message: str
    advice: str
    frames: tuple[Frame, ...]
    traceback: str
    kind: str = "unknown"
    found: str = ""
    expression: str = ""
    operands: tuple[Operand, ...] = ()
    page: str = ""
    symbol: str = ""
    mismatches: tuple[Mismatch, ...] = ()


@dataclass(frozen=True)
class Failure:
    """What a recogniser looks at.

    Attributes:
        classes: The names of the exception's class and of those it derives from, in that order.
        message: Its own words, cut where they are very long.
        stage: ``trace``, ``lower`` or ``compile``.
        site: Where the user's code stood.
        is_raised: Whether a ``raise`` or ``assert`` of the user's own raised it.
        is_foreign: Whether its class is neither Python's nor JAX's nor NumPy's.
        page: JAX's own page on its class; "" for classes that are not JAX's.
    """

    classes: tuple[str, ...]
    message: str
    stage: str = "trace"
    site: Site = NOWHERE
    is_raised: bool = False
    is_foreign: bool = False
    page: str = ""


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What a recogniser makes of a failure."""

    kind: str
    found: str
    advice: str
    page: str
    symbol: str = ""


@dataclass(frozen=True)
class Recogniser:
    """A row of the table of failures.

    A row is taken when the exception is of one of its classes, the code stands in one of its forms, and its pattern is
    found in the message. `found` and `advice` are sentences in which ``{name}`` stands for a group of the pattern, and
    ``{expression}`` for the user's code; or functions that give such a sentence.

    Attributes:
        kind: A stable name of what went wrong.
        classes: Names of exception classes, one of which has to match; () for any.
        found: What was found, in one sentence.
        advice: What to do: the documented way out of JAX.
        pattern: Looked for in the message where class and form alone do not tell; "" where they do.
        samples: Messages that the pattern matches, as JAX or XLA wrote them.
        forms: What the code at the place has to be, as in `Site.forms`; () for anything.
        page: The function of JAX to read about, of which groups of the pattern can be part; where the class has a page
            of its own, that goes first.
    """

    kind: str
    classes: tuple[str, ...]
    found: str | Callable[[re.Match[str]], str]
    advice: str | Callable[[re.Match[str]], str]
    pattern: str = ""
    samples: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()
    page: str = ""
    _compiled: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_compiled", re.compile(self.pattern, re.DOTALL))

    def recognise(self, failure: Failure) -> Diagnosis | None:
        """What this row makes of a failure; None where it is another's."""
        if self.classes and not set(self.classes) & set(failure.classes):
            return None
        if self.forms and not set(self.forms) & set(failure.site.forms):
            return None
        if (match := self._compiled.search(failure.message)) is None:
            return None
        # Only our own sentences are templates; what is put in is never looked at again.
        words = {name: shorten(value or "") for name, value in match.groupdict().items()}
        words["expression"] = f"`{failure.site.text}`" if failure.site.text else "the code at the marked line"
        found, advice = (
            text(match) if callable(text) else text.format_map(words) for text in (self.found, self.advice)
        )
        page = failure.page or (_FUNCTION_PAGE.format(self.page.format_map(words)) if self.page else "")
        return Diagnosis(self.kind, found, advice, page, words.get("symbol", ""))


def shorten(text: str, length: int = 160) -> str:
    """`text` on one line, cut in the middle of nowhere but marked as cut."""
    text = " ".join(text.split())
    return text if len(text) <= length else text[: length - 1] + "…"
