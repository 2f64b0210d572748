"""Which lines of two listings come from the same place in Python.

Problem: every stage names Python places, with more or fewer frames around the user's function and under its own
numbering. Input: parsed listings and where the inspected function is defined. Output: `LinkedListing`, a listing whose
stacks start at the user's function, with one stack per line; `linked_lines`, the lines of one listing that belong to a
line of another; and how many ops are linked at all.
"""

import inspect
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from jaxscope._ir.model import NO_STACK, Frame, Listing, StackTable, StackTableBuilder
from jaxscope._sources import code_of, is_library
from jaxscope._specs import is_partial

# Values of `LinkedListing.line_stack` for lines without a stack.
WITHOUT_OP = -1
MADE_BY_COMPILER = -2


@dataclass(frozen=True, slots=True)
class Definition:
    """Where the inspected function's own code stands: a stack is shown from here inwards."""

    file: str
    first_line: int
    last_line: int

    def frame(self, function: str) -> Frame:
        """Its first line, as a place of the function of that name."""
        return Frame(self.file, function, self.first_line)

    def holds(self, frame: Frame) -> bool:
        """Whether a frame runs this code."""
        return frame.file == self.file and self.first_line <= frame.line <= self.last_line


@dataclass(frozen=True)
class LinkedListing:
    """A listing with trimmed stacks.

    Attributes:
        key: The tab it belongs to.
        listing: The parsed text.
        stacks: The call stacks from the user's function inwards.
        op_stack: For each op a node of `stacks`, or NO_STACK.
    """

    key: str
    listing: Listing
    stacks: StackTable
    op_stack: tuple[int, ...]

    @cached_property
    def line_stack(self) -> list[int]:
        """For each line a node of `stacks`, WITHOUT_OP or MADE_BY_COMPILER; inner ops win over the ones around them."""
        found = [WITHOUT_OP] * len(self.listing.lines)
        for op, stack in zip(self.listing.ops, self.op_stack):
            # An argument has no line of its own and was not made by the compiler either.
            value = stack if stack != NO_STACK else WITHOUT_OP if op.name == "parameter" else MADE_BY_COMPILER
            if op.line == op.end_line:
                found[op.line] = value
            else:
                found[op.line : op.end_line + 1] = [value] * (op.end_line + 1 - op.line)
        return found

    @cached_property
    def linked_ops(self) -> int:
        """How many ops name a place in Python."""
        return sum(stack != NO_STACK for stack in self.op_stack)

    @cached_property
    def _lines_by_extent(self) -> dict[tuple[str, int, int, int, int], list[int]]:
        return self._lines_by(_extent)

    @cached_property
    def _lines_by_position(self) -> dict[tuple[str, int, int], list[int]]:
        return self._lines_by(lambda frame: frame.position)

    @cached_property
    def _lines_by_line(self) -> dict[tuple[str, int], list[int]]:
        return self._lines_by(lambda frame: (frame.file, frame.line))

    def _lines_by(self, key_of: Any) -> dict[Any, list[int]]:
        keys = [key_of(self.stacks.frames[frame]) for frame, _ in self.stacks.nodes]
        found: dict[Any, list[int]] = {}
        for line, stack in enumerate(self.line_stack):
            if stack >= 0:
                found.setdefault(keys[stack], []).append(line)
        return found

    def lines_through(self, file: str, line: int) -> list[int]:
        """The lines whose call stack passes through a line of Python."""
        nodes = {
            node
            for node in range(len(self.stacks.nodes))
            if any(frame.file == file and frame.line == line for frame in self.stacks.walk(node))
        }
        return [number for number, stack in enumerate(self.line_stack) if stack in nodes]

    def op_frames(self, op: int) -> tuple[Frame, ...]:
        """The call stack of an op, innermost frame first; () where no line of Python asked for it."""
        return tuple(self.stacks.walk(self.op_stack[op]))

    def frames(self, line: int) -> tuple[Frame, ...]:
        """The call stack of a line, innermost frame first; () where there is none."""
        stack = self.line_stack[line]
        return tuple(self.stacks.walk(stack)) if stack >= 0 else ()


def _extent(frame: Frame) -> tuple[str, int, int, int, int]:
    return (frame.file, frame.line, frame.column, frame.end_line, frame.end_column)


@dataclass(frozen=True, slots=True)
class Links:
    """Lines of another listing: `exact` from the same expression, `near` only from the same line of Python."""

    exact: tuple[int, ...]
    near: tuple[int, ...]


def definition_of(function: Any) -> Definition | None:
    """Where the code of a function (or of an object's ``__call__``) stands; None where it is not Python."""
    try:
        function = inspect.unwrap(function)
        while is_partial(function):
            function = inspect.unwrap(function.func)
    except (TypeError, ValueError):
        return None
    code = code_of(function)
    if code is None:
        return None
    last = max((line for _, _, line in code.co_lines() if line), default=code.co_firstlineno)
    return Definition(code.co_filename, code.co_firstlineno, last)


def link_listing(
    key: str, listing: Listing, definition: Definition | None, callers: frozenset[tuple[str, int]] = frozenset()
) -> LinkedListing:
    """Trims the stacks of a listing to the user's function and keeps which op has which."""
    builder = StackTableBuilder()
    trimmed: dict[int, int] = {NO_STACK: NO_STACK}
    op_stack = []
    for op in listing.ops:
        if (node := trimmed.get(op.stack)) is None:
            frames = trim_stack(tuple(listing.stacks.walk(op.stack)), definition, callers)
            node = trimmed[op.stack] = builder.intern(frames)
        op_stack.append(node)
    return LinkedListing(key, listing, builder.build(), tuple(op_stack))


def trim_stack(
    frames: tuple[Frame, ...], definition: Definition | None, callers: frozenset[tuple[str, int]] = frozenset()
) -> tuple[Frame, ...]:
    """Drops what called the user's function: the notebook, the test runner, an earlier call that JAX remembers.

    `callers` are the places (file, line) from which the inspection itself was called. JAX gives them to constants and
    returns, which no line of the function asked for; such a stack ends up empty. Where no frame runs the definition (a
    trace that JAX remembers from elsewhere), only these and installed libraries go from the outer end.
    """
    if definition is not None:
        for index in reversed(range(len(frames))):
            if definition.holds(frames[index]):
                return frames[: index + 1]
    end = len(frames)
    while end and _is_outside(frames[end - 1], callers, innermost=end == 1):
        end -= 1
    return frames[:end]


def _is_outside(frame: Frame, callers: frozenset[tuple[str, int]], *, innermost: bool) -> bool:
    if (frame.file, frame.line) in callers:
        return True
    return not innermost and (is_library(frame.file) or frame.file.startswith("<"))


def linked_lines(source: LinkedListing, line: int, other: LinkedListing) -> Links:
    """The lines of `other` that come from the same place in Python as `line` of `source`.

    Near are those that share only the line of Python, be it further out in their call stack.
    """
    frames = source.frames(line)
    if not frames:
        return Links((), ())
    # The same expression where both compilers kept its end; XLA keeps one end for all expressions that start together.
    exact = other._lines_by_extent.get(_extent(frames[0])) or other._lines_by_position.get(frames[0].position, [])
    return _links(exact, other.lines_through(frames[0].file, frames[0].line))


def lines_of_python(listing: LinkedListing, file: str, line: int) -> Links:
    """The lines that one line of Python asked for: `exact` in its own words, `near` through what it called."""
    return _links(listing._lines_by_line.get((file, line), []), listing.lines_through(file, line))


def _links(exact: list[int], near: list[int]) -> Links:
    return Links(tuple(exact), tuple(sorted(set(near) - set(exact))))
