"""Where the ops of a listing come from in Python: what rules about listings group by.

Problem: one line of Python becomes many instructions, and a rule has one thing to say of it. Input: a linked listing
and ops of it. Output: the ops by the user's own line, and the call stack of each.
"""

from collections.abc import Iterable, Sequence

from jaxscope._ir.model import Frame
from jaxscope._links import LinkedListing
from jaxscope._sources import is_library


def own_frame(frames: Sequence[Frame]) -> Frame | None:
    """The innermost line of the user's own, or else of a library; None where there is none."""
    return next((frame for frame in frames if not is_library(frame.file)), frames[0] if frames else None)


def by_line(linked: LinkedListing, ops: Iterable[int]) -> list[list[int]]:
    """Ops of one line of Python together, in their order; those of no line are together as well."""
    found: dict[tuple[str, int] | None, list[int]] = {}
    for op in ops:
        frame = own_frame(linked.op_frames(op))
        found.setdefault((frame.file, frame.line) if frame is not None else None, []).append(op)
    return list(found.values())
