"""Kernels that stayed apart because of one op between them.

What it does:
    Names an `optimization_barrier`, a foreign function or a kernel of the author's own that stands between two kernels
    of elementwise arithmetic on the same data, where what passes through memory because of it is a tenth of all bytes
    that the program moves, and a mebibyte at least.

Why it matters:
    XLA makes one kernel of elementwise arithmetic, which reads its arguments once and writes its result once. It moves
    nothing across a barrier or a call that it cannot look into: the kernel before writes its result to memory, the one
    after reads it, and such kernels take as long as their bytes do.

Example:
        y = jax.lax.optimization_barrier(jnp.sin(x))
        return jnp.cos(y)

Use instead:
        return jnp.cos(jnp.sin(x))

    Of a kernel in Pallas, do the arithmetic around it inside it, on the blocks that it holds already.

When it is wrong:
    Where a barrier holds numbers or the order of work in place. Sorts, transforms and running sums between kernels are
    not told: they are work of their own.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from jaxscope import _jax_equations
from jaxscope._analysis.hlo_bytes import UnknownSizeError, bytes_in_memory
from jaxscope._analysis.hlo_module import HloModule
from jaxscope._analysis.rules import operation_name, rule_of
from jaxscope._findings.equations import PlacedEquation
from jaxscope._findings.foreign_calls import foreign_calls, is_pallas
from jaxscope._findings.records import ListingLine, Observation, Program, Rule, read_documentation
from jaxscope._findings.traffic import all_bytes, matters
from jaxscope._ir.model import Frame
from jaxscope._view.format import format_bytes, format_count, format_percent
from jaxscope.errors import UnavailableError

_BARRIER = "optimization_barrier"
_ARITHMETIC = frozenset(("clamp", "elementwise", "integer", "transcendental"))
# What may stand in a kernel of elementwise arithmetic beside it.
_BESIDE = frozenset(("bitcast", "bitcast-convert", "broadcast", "constant", "convert", "iota", "parameter", "select"))
_VIEWS = frozenset(("bitcast", "get-tuple-element"))


@dataclass(frozen=True, slots=True)
class _Split:
    """An op between kernels of elementwise arithmetic.

    Attributes:
        name: The op, for people.
        array: What passes, as a type.
        before, after: The kernels.
        size_bytes: What all runs write and read because of it.
        runs: How often it runs.
        frames: The Python that asked for the op.
        lines: The op and the kernels.
        advice: What to do.
    """

    name: str
    array: str
    before: tuple[int, ...]
    after: int
    size_bytes: int
    runs: int
    frames: tuple[Frame, ...]
    lines: tuple[ListingLine, ...]
    advice: str


def _observations(program: Program) -> Iterator[Observation]:
    calls = foreign_calls(program)
    barriers = _barriers(program)
    if not calls and not barriers:
        return
    flow = _Flow(program)
    splits = [*_around_calls(program, flow, calls), *_around_barriers(program, flow, barriers)]
    whole = all_bytes(program.program_cost("hlo")) if splits else None
    if whole is None:
        return
    ops = program.hlo_module.listing.ops
    for split in sorted(splits, key=lambda split: -split.size_bytes):
        if not matters(split.size_bytes, whole):
            continue
        before = ", ".join(ops[number].results[0].lstrip("%") for number in split.before)
        yield Observation(
            found=(
                f"{split.name} keeps kernels apart that compute on the same {split.array}: {before} and "
                f"{ops[split.after].results[0].lstrip('%')}. What passes between them is written to memory and read "
                f"again: {format_bytes(split.size_bytes)} in {format_count(split.runs, ('run', 'runs'))}, "
                f"{format_percent(split.size_bytes / whole)} of all bytes that the program moves."
            ),
            advice=split.advice,
            frames=split.frames,
            lines=split.lines,
        )


class _Flow:
    """Who makes what and who alone reads it, in the computations whose instructions run by themselves."""

    def __init__(self, program: Program):
        self.module: HloModule = program.hlo_module
        self.ops = self.module.listing.ops
        kernels = [kernel for kernel in program.program_cost("hlo").kernels if kernel.is_counted]
        self.runs = {kernel.op: kernel.runs.known for kernel in kernels}
        self.sources: dict[int, int] = {}
        self.readers: dict[int, list[int]] = {}
        for block in {self.ops[number].block for number in self.runs}:
            for number in self.module.members[block]:
                self._take(number)

    def _take(self, number: int) -> None:
        operands = self.module.operands[number]
        if self.ops[number].name in _VIEWS and operands:
            self.sources[number] = self.source(operands[0])
            return
        for source in {self.source(operand) for operand in operands}:
            self.readers.setdefault(source, []).append(number)

    def source(self, number: int) -> int:
        """What a value is a view of."""
        return self.sources.get(number, number)

    def only_reader(self, number: int) -> int | None:
        """The one instruction that reads a value; None where there are several, or it is returned."""
        readers = self.readers.get(number, [])
        is_returned = number == self.module.roots[self.ops[number].block]
        return readers[0] if len(readers) == 1 and not is_returned else None

    def elements(self, number: int) -> int:
        """The elements of the largest array of a value."""
        return max((array.elements for array in self.module.types(number)), default=0)

    def size_bytes(self, number: int) -> int:
        """What a value takes in the device's main memory; 0 where that is not known."""
        try:
            return sum(bytes_in_memory(self.ops[number].type))
        except UnknownSizeError:
            return 0

    def is_elementwise(self, number: int) -> bool:
        """Whether an instruction is a kernel of elementwise arithmetic and nothing else."""
        if number not in self.runs:
            return False
        if self.ops[number].name != "fusion":
            return _computes(self.ops[number].name)
        called = self.module.called(number, "calls")
        names = {self.ops[member].name for member in self.module.members[called[0]]} if called else set()
        arithmetic = {name for name in names if _computes(name)}
        return bool(arithmetic) and names - arithmetic <= _BESIDE


def _computes(name: str) -> bool:
    rule = rule_of(operation_name(name))
    return rule is not None and rule.key in _ARITHMETIC


def _around_calls(program: Program, flow: _Flow, calls: dict[int, str]) -> Iterator[_Split]:
    linked = program.listing("hlo")
    for call, target in calls.items():
        runs = flow.runs.get(call)
        after = flow.only_reader(call)
        if not runs or after is None or not flow.is_elementwise(after) or flow.elements(after) != flow.elements(call):
            continue
        before = tuple(
            source
            for source in dict.fromkeys(map(flow.source, flow.module.operands[call]))
            if source >= 0
            and flow.only_reader(source) == call
            and flow.is_elementwise(source)
            and flow.elements(source) == flow.elements(call)
        )
        if not before:
            continue
        # Each is written once and read once.
        size = 2 * runs * sum(map(flow.size_bytes, (*before, call)))
        kernel = is_pallas(target)
        yield _Split(
            "A Pallas kernel" if kernel else f"{target}, a custom call,",
            _array(flow.module, call),
            before,
            after,
            size,
            runs,
            linked.op_frames(call),
            _lines(flow.module, (call, *before, after)),
            "Do the arithmetic around it inside the kernel, on the blocks that it holds."
            if kernel
            else "Do the arithmetic around it inside the function that it calls, or write that in jax.numpy.",
        )


def _barriers(program: Program) -> list[tuple[PlacedEquation, Any, tuple[Frame, ...]]]:
    """What the barriers of the traced program pass: the barrier, the value, and where that is made.

    `jax.checkpoint` puts in barriers of its own when it is lowered; an argument that is passed keeps nothing apart.
    """
    try:
        if _BARRIER not in program.listing("jaxpr").listing.text:
            return []
        makers = {result: placed for placed in program.equations for result in placed.equation.outvars}
        return [
            (placed, value.aval, makers[value].frames)
            for placed in program.equations
            if placed.equation.primitive.name == _BARRIER
            for value in placed.equation.invars
            if not _jax_equations.is_literal(value) and value in makers and hasattr(value.aval, "dtype")
        ]
    except UnavailableError:
        return []


def _around_barriers(
    program: Program, flow: _Flow, barriers: Sequence[tuple[PlacedEquation, Any, tuple[Frame, ...]]]
) -> Iterable[_Split]:
    """Two kernels of elementwise arithmetic, one after the other, with a value between them that a barrier passes.

    XLA removes barriers after it has made its kernels: it would have made one of two that follow on each other.
    """
    passed: dict[tuple[tuple[int, ...], int], list[tuple[PlacedEquation, tuple[Frame, ...]]]] = {}
    for placed, aval, maker in barriers:
        passed.setdefault((tuple(aval.shape), aval.dtype.itemsize), []).append((placed, maker))
    linked = program.listing("hlo")
    largest: dict[int, _Split] = {}
    for before, runs in flow.runs.items():
        kinds = flow.module.types(before)
        key = (kinds[0].dimensions, (kinds[0].bits or 0) // 8) if len(kinds) == 1 else None
        made = _first_line(linked.op_frames(before))
        # Another value of that type may lie between two kernels for reasons of its own.
        placed = next((one for one, maker in passed.get(key, ()) if _first_line(maker) == made), None)
        if placed is None or not runs or not flow.is_elementwise(before):
            continue
        after = flow.only_reader(before)
        if after is None or flow.runs.get(after) != runs or flow.elements(after) != flow.elements(before):
            continue
        # A value in a faster memory costs nothing here.
        size = 2 * runs * flow.size_bytes(before)
        known = largest.get(id(placed))
        if flow.is_elementwise(after) and size and (known is None or size > known.size_bytes):
            largest[id(placed)] = _Split(
                _BARRIER,
                _array(flow.module, before),
                (before,),
                after,
                size,
                runs,
                placed.frames,
                (*placed.lines, *_lines(flow.module, (before, after))),
                "Remove the barrier where nothing depends on it; XLA then makes one kernel of the two.",
            )
    return largest.values()


def _first_line(frames: tuple[Frame, ...]) -> tuple[str, int] | None:
    return (frames[0].file, frames[0].line) if frames else None


def _array(module: HloModule, number: int) -> str:
    """The largest array of a value: ``f32[1024,1024]``."""
    return str(max(module.types(number), key=lambda array: array.elements))


def _lines(module: HloModule, numbers: Iterable[int]) -> tuple[ListingLine, ...]:
    return tuple(ListingLine("hlo", module.listing.ops[number].line) for number in numbers)


RULE = Rule(
    key="split-kernel",
    title="Kernels kept apart",
    severity="warning",
    find=_observations,
    documentation=read_documentation(__doc__),
)
