"""The account of a program by what people think in: a line of Python, a function, a name scope, an op, a kernel.

Problem: work stands on ops and bytes on kernels, the same line of Python is reached through many calls, and a figure
in a loop of unknown length is no number. Input: a `ProgramCost` and the `LinkedListing` it was counted on. Output:
`CostGroup` records, dearest first; those of lines, ops and kernels add up to the program's total, those of functions
and scopes have it twice, inclusive of what they call and on their own.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from jaxscope._analysis.rules import RULES
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._analysis.work import ONCE, Amount, AmountSum, KernelCost, OpCost, ProgramCost, Runs, Work
from jaxscope._collector import collector_put_off
from jaxscope._ir.model import NO_STACK, Frame
from jaxscope._links import LinkedListing

Grouping = Literal["line", "function", "scope", "op", "kernel"]
GROUPINGS: tuple[Grouping, ...] = ("line", "function", "scope", "op", "kernel")

MADE_BY_COMPILER = "made by the compiler"
NO_SCOPE = "no scope"
NO_FUNCTION = "not named"


@dataclass(frozen=True, slots=True)
class CostGroup:
    """What one line, function, scope, op or kernel costs.

    Attributes:
        key: What it is: ``file:line``, function, scope, op name or instruction name.
        place: The Python place, where it has one.
        inclusive: Its work with everything it calls; the same as `own` but for functions and scopes.
        own: Its work alone.
        moved: Bytes that its kernels read and write, own ones only.
        ops: Indices of the listing's ops that it counts itself, in their order.
        unknown: Names and reasons of what it counts itself and nobody can look into.
        rules: Keys of the rules that counted its own ops.
        dearest: Index of the dearest of these ops; where it only moves bytes, of a kernel.
        runs: How often that runs.
    """

    key: str
    place: Frame | None
    inclusive: Amount
    own: Amount
    moved: "Bytes"
    ops: tuple[int, ...]
    unknown: tuple[str, ...]
    rules: tuple[str, ...]
    dearest: int
    runs: Runs


@dataclass(frozen=True, slots=True)
class Bytes:
    """Bytes moved: the sum over unknown loops run once, and whether something is missing from it."""

    with_loops_once: int = 0
    missing: tuple[str, ...] = ()


class _Tally:
    """What some ops of one program cost, while it is being summed."""

    def __init__(self) -> None:
        self.own = AmountSum()
        self.moved = 0
        self.missing: dict[str, None] = {}
        self.ops: list[int] = []
        self.unknown: dict[str, None] = {}
        self.rules: dict[str, None] = {}
        self.weight, self.dearest, self.runs = (-1, 0, 0), -1, ONCE

    def add(self, cost: OpCost) -> None:
        """Takes an op."""
        op, work, runs, _, rule = cost
        self.ops.append(op)
        self.rules[rule] = None
        weight = (0, 0, 0)
        if isinstance(work, Work):
            self.own.add(work, runs)
            often = runs.terms[0][1] if len(runs.terms) == 1 else runs.with_loops_once
            weight = (work.flops * often, work.transcendentals * often, work.integer_ops * often)
        else:
            self.unknown[work.reason] = None
        if weight > self.weight:
            self.weight, self.dearest, self.runs = weight, op, runs

    def move(self, kernel: KernelCost) -> None:
        """Takes the bytes of a kernel."""
        if self.dearest < 0:
            self.dearest, self.runs = kernel.op, kernel.runs
        size = moved_bytes(kernel)
        if isinstance(size, Unavailable):
            self.missing[size.reason] = None
        else:
            self.moved += size * kernel.runs.with_loops_once

    def add_all(self, other: "_Tally") -> None:
        """Takes all that another has."""
        self.own.add_all(other.own)
        self.moved += other.moved
        self.missing |= other.missing
        self.ops += other.ops
        self.unknown |= other.unknown
        self.rules |= other.rules
        if other.weight > self.weight or self.dearest < 0:
            self.weight, self.dearest, self.runs = other.weight, other.dearest, other.runs


class _Group:
    """A group while it is being summed."""

    def __init__(self, key: "_Key"):
        self.key = key
        self.inclusive, self.tally = AmountSum(), _Tally()

    def finish(self) -> CostGroup:
        own = self.tally
        return CostGroup(
            self.key.text,
            self.key.place,
            self.inclusive.finish(),
            own.own.finish(),
            Bytes(own.moved, tuple(own.missing)),
            tuple(sorted(own.ops)),
            tuple(own.unknown),
            tuple(own.rules),
            own.dearest,
            own.runs,
        )


def moved_bytes(kernel: KernelCost) -> int | Unavailable:
    """What one run of a kernel reads and writes."""
    if isinstance(kernel.bytes_read, Unavailable):
        return kernel.bytes_read
    if isinstance(kernel.bytes_written, Unavailable):
        return kernel.bytes_written
    return kernel.bytes_read + kernel.bytes_written


class RollUp:
    """A program's account, to be summed by anything.

    Args:
        cost: The account.
        linked: The listing it was counted on.
    """

    def __init__(self, cost: ProgramCost, linked: LinkedListing):
        self.cost = cost
        self.linked = linked
        self._groups: dict[Grouping, tuple[CostGroup, ...]] = {}

    def by(self, grouping: Grouping) -> tuple[CostGroup, ...]:
        """The groups that cost something or are not known.

        Args:
            grouping: What to sum by. There are kernels in compiled HLO only.

        Returns:
            Dearest first: by inclusive FLOPs, then by transcendentals, integer operations and bytes.
        """
        if grouping not in self._groups:
            found = _by_kernel(self.cost, self.linked) if grouping == "kernel" else self._sums(_KEYS[grouping])
            self._groups[grouping] = _dearest_first(found)
        return self._groups[grouping]

    def _sums(self, keys_of: "Callable[[LinkedListing, _Kind], Sequence[_Key]]") -> Iterator[CostGroup]:
        groups: dict[object, _Group] = {}
        for kind, tally in self._tallies.items():
            for depth, key in enumerate(keys_of(self.linked, kind)):
                if (group := groups.get(key.identity)) is None:
                    group = groups[key.identity] = _Group(key)
                group.inclusive.add_all(tally.own)
                if not depth:
                    group.tally.add_all(tally)
        return (group.finish() for group in groups.values())

    @cached_property
    def _tallies(self) -> "dict[_Kind, _Tally]":
        """The sums of ops that no grouping tells apart: of a hundred thousand ops there are a few thousand kinds."""
        found: dict[_Kind, _Tally] = {}
        ops, stacks = self.linked.listing.ops, self.linked.op_stack

        def tally_of(number: int) -> _Tally:
            op = ops[number]
            kind = (stacks[number], op.name_path, op.name)
            if (tally := found.get(kind)) is None:
                tally = found[kind] = _Tally()
            return tally

        with collector_put_off():
            for op_cost in self.cost.ops:
                if op_cost.is_counted:
                    tally_of(op_cost.op).add(op_cost)
            for kernel in self.cost.kernels:
                if kernel.is_counted:
                    tally_of(kernel.op).move(kernel)
        return found


def _dearest_first(groups: Iterable[CostGroup]) -> tuple[CostGroup, ...]:
    def weight(group: CostGroup) -> tuple[int, int, int, int]:
        work = group.inclusive.with_loops_once
        return (-work.flops, -work.transcendentals, -work.integer_ops, -group.moved.with_loops_once)

    def costs(group: CostGroup) -> bool:
        # Windows over padding alone are no FLOPs, and still a part of the total.
        return any(weight(group)) or bool(group.inclusive.with_loops_once) or bool(group.unknown)

    return tuple(sorted(filter(costs, groups), key=weight))


@dataclass(frozen=True, slots=True)
class _Key:
    """What tells a group from others, what it is called, and where it stands."""

    identity: object
    text: str
    place: Frame | None


# What tells ops apart: the node of the call stack, the name path, the name.
_Kind = tuple[int, str, str]


def _innermost(linked: LinkedListing, stack: int) -> Frame | None:
    return linked.stacks.frames[linked.stacks.nodes[stack][0]] if stack != NO_STACK else None


# Each gives the groups that ops of a kind belong to: their own first, then those that include it.


def _line_keys(linked: LinkedListing, kind: _Kind) -> Sequence[_Key]:
    frame = _innermost(linked, kind[0])
    if frame is None:
        return (_Key(None, MADE_BY_COMPILER, None),)
    return (_Key((frame.file, frame.line), f"{frame.file}:{frame.line}", frame),)


def _function_keys(linked: LinkedListing, kind: _Kind) -> Sequence[_Key]:
    found: dict[object, _Key] = {}
    for frame in linked.stacks.walk(kind[0]):
        identity = (frame.file, frame.function)
        # A function that calls itself includes itself once.
        found.setdefault(identity, _Key(identity, frame.function or NO_FUNCTION, frame))
    return tuple(found.values()) or (_Key(None, MADE_BY_COMPILER, None),)


def _scope_keys(linked: LinkedListing, kind: _Kind) -> Sequence[_Key]:
    return tuple(_Key(scope, scope, None) for scope in scopes_of(kind[1]) or (NO_SCOPE,))


def scopes_of(name_path: str) -> tuple[str, ...]:
    """The scopes around an op, innermost first: ``jit(f)/a/b/mul`` is in ``jit(f)/a/b``, ``jit(f)/a`` and ``jit(f)``.

    Of several names, which XLA joins by ``;`` where it joined their ops, the first counts.
    """
    parts = name_path.partition(";")[0].split("/")[:-1]
    return tuple("/".join(parts[:length]) for length in range(len(parts), 0, -1))


def _op_keys(linked: LinkedListing, kind: _Kind) -> Sequence[_Key]:
    name = kind[2].removeprefix("stablehlo.")
    return (_Key(name, name, None),)


_KEYS: dict[str, Callable[[LinkedListing, _Kind], Sequence[_Key]]] = {
    "line": _line_keys,
    "function": _function_keys,
    "scope": _scope_keys,
    "op": _op_keys,
}


def _by_kernel(cost: ProgramCost, linked: LinkedListing) -> Iterator[CostGroup]:
    for kernel in cost.kernels:
        if not kernel.is_counted:
            continue
        size = moved_bytes(kernel)
        work = Amount.total([(kernel.work, kernel.runs)]) if isinstance(kernel.work, Work) else Amount()
        missing = isinstance(size, Unavailable)
        yield CostGroup(
            key=linked.listing.ops[kernel.op].results[0],
            place=_innermost(linked, linked.op_stack[kernel.op]),
            inclusive=work,
            own=work,
            moved=Bytes(0, (size.reason,)) if missing else Bytes(size * kernel.runs.with_loops_once),
            ops=(kernel.op,),
            unknown=(kernel.work.reason,) if isinstance(kernel.work, Unavailable) else (),
            rules=(),
            dearest=kernel.op,
            runs=kernel.runs,
        )


_FORMULAS = {rule.key: rule.formula for rule in RULES}


def rule_text(group: CostGroup) -> str:
    """What the rules count that counted a group's ops, for people; "" for what only moves data."""
    return " ".join(_FORMULAS[key] for key in group.rules if key in _FORMULAS)


def unknown_text(amount: Amount) -> str:
    """How FLOPs depend on loops whose count is not known: ``100 + 7·n1``; "" where they do not."""
    return amount_in_symbols(amount) if any(symbols and work.flops for symbols, work in amount.terms) else ""


def amount_in_symbols(amount: Amount) -> str:
    """FLOPs as a sum with the symbols of unknown loops: ``107``, ``100 + 7·n1``."""
    return " + ".join("·".join((str(work.flops), *symbols)) for symbols, work in amount.terms if work.flops) or "0"
