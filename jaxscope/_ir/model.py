"""The one record for every listing: what a line is, where it comes from, what it defines and uses.

Problem: jaxpr, StableHLO, HLO and Python are four notations, and everything after the parsers (links, tables, text, the
browser) should not know which one it is looking at. Input: nothing; this module only defines records. Output: `Listing`
and its parts, all frozen and free of JAX.

Lines are counted from 0 inside a listing; Python's own line and column numbers, in `Frame`, from 1 (0 = not known).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

NO_STACK = -1


@dataclass(frozen=True, slots=True)
class Frame:
    """A place in Python: lines and columns from 1, end column exclusive, 0 where the compiler did not say."""

    file: str
    function: str
    line: int
    column: int = 0
    end_line: int = 0
    end_column: int = 0

    @property
    def position(self) -> tuple[str, int, int]:
        """What an exact link compares: compilers agree on where an expression starts, not always on where it ends."""
        return (self.file, self.line, self.column)


@dataclass(frozen=True, slots=True)
class StackTable:
    """Python call stacks as a tree: `nodes[i]` is (index of the innermost frame, node of its caller or NO_STACK)."""

    frames: tuple[Frame, ...] = ()
    nodes: tuple[tuple[int, int], ...] = ()

    def walk(self, node: int) -> Iterator[Frame]:
        """The frames of a stack, innermost first."""
        while node != NO_STACK:
            frame, node = self.nodes[node]
            yield self.frames[frame]


@dataclass(slots=True)
class StackTableBuilder:
    """Interns frames and stacks while a parser runs; `build` freezes them."""

    _frames: dict[Frame, int] = field(default_factory=dict)
    _nodes: dict[tuple[int, int], int] = field(default_factory=dict)

    def push(self, frame: Frame, caller: int = NO_STACK) -> int:
        """The node for `frame` called from the stack `caller`."""
        key = (self._frames.setdefault(frame, len(self._frames)), caller)
        return self._nodes.setdefault(key, len(self._nodes))

    def intern(self, frames: Iterable[Frame]) -> int:
        """The node for a whole stack given innermost first; NO_STACK when it is empty."""
        node = NO_STACK
        for frame in reversed(tuple(frames)):
            node = self.push(frame, node)
        return node

    def build(self) -> StackTable:
        """The frozen table; node numbers handed out so far stay valid in it."""
        return StackTable(tuple(self._frames), tuple(self._nodes))


@dataclass(frozen=True, slots=True)
class Op:
    """An equation (jaxpr), operation (StableHLO) or instruction (HLO), from `line` to `end_line` inclusive.

    Attributes:
        line: Where the op's text begins.
        end_line: Where it ends, regions and sub-jaxprs included.
        name: Primitive, operation or opcode as printed: ``dot_general``, ``stablehlo.add``, ``fusion``.
        results: The names it defines, as printed (``%5`` also for ``%5:2``).
        operands: The names it uses, as printed and in order (``%5#1`` is a use of ``%5``).
        type: The result type as printed, "" when there is none.
        name_path: ``jit(f)/jvp/mul`` where the compiler kept it, else "".
        stack: The Python call stack, a node of the listing's `StackTable`, or NO_STACK.
        block: Index of the innermost `Block` that holds it.
    """

    line: int
    end_line: int
    name: str
    results: tuple[str, ...] = ()
    operands: tuple[str, ...] = ()
    type: str = ""
    name_path: str = ""
    stack: int = NO_STACK
    block: int = -1


@dataclass(frozen=True, slots=True)
class Block:
    """What holds ops: a ``jaxpr``, a ``func`` or ``region``, a ``computation``, each with the names it takes in.

    `isolated` blocks do not see the names of the block around them (functions, computations); the others do (regions).
    """

    kind: str
    name: str
    line: int
    end_line: int
    parent: int = -1
    arguments: tuple[str, ...] = ()
    isolated: bool = True


@dataclass(frozen=True, slots=True)
class Fold:
    """Lines that can be put away behind `line`: `line` stays visible, `line + 1` to `end_line` inclusive do not.

    `closed` folds start put away: location tables, which nobody reads first.
    """

    line: int
    end_line: int
    kind: str
    closed: bool = False


@dataclass(frozen=True)
class Listing:
    """The text of one stage, exactly as its compiler printed it, and what its lines mean.

    Attributes:
        dialect: ``python``, ``jaxpr``, ``stablehlo`` or ``hlo``: the key of the grammar that reads it.
        text: The exact text.
        ops: In the order of their first lines; an op inside another's region comes after it.
        blocks: Likewise.
        stacks: The call stacks that `Op.stack` points into.
        folds: What can be put away.
    """

    dialect: str
    text: str
    ops: tuple[Op, ...] = ()
    blocks: tuple[Block, ...] = ()
    stacks: StackTable = StackTable()
    folds: tuple[Fold, ...] = ()

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The text split at line feeds only; joining them gives the text back."""
        return tuple(self.text.split("\n"))

    @cached_property
    def definitions(self) -> dict[tuple[int, str], int]:
        """(block, name) to the index of the op that defines the name there."""
        return {(op.block, name): index for index, op in enumerate(self.ops) for name in op.results}

    def definition(self, block: int, name: str) -> int | None:
        """The op that defines `name` as seen from `block`, or None for an argument or an unknown name."""
        while block != -1:
            if (found := self.definitions.get((block, name))) is not None:
                return found
            if name in self.blocks[block].arguments or self.blocks[block].isolated:
                return None
            block = self.blocks[block].parent
        return None

    @cached_property
    def uses(self) -> dict[int, tuple[int, ...]]:
        """Index of a defining op to the indices of the ops that use one of its results."""
        found: dict[int, list[int]] = {}
        for index, op in enumerate(self.ops):
            for name in dict.fromkeys(op.operands):
                if (source := self.definition(op.block, name)) is not None:
                    found.setdefault(source, []).append(index)
        return {source: tuple(users) for source, users in found.items()}
