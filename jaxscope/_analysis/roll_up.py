"""The account of a program by what people think in: a line of Python, a function, a name scope, an op, a kernel.

Problem: work stands on ops and bytes on kernels, the same line of Python is reached through many calls, and a figure
in a loop of unknown length is no number. Input: a `ProgramCost` and the `LinkedListing` it was counted on. Output:
`CostGroup` records, dearest first; those of lines, ops and kernels add up to the program's total, those of functions
and scopes have it twice, inclusive of what they call and on their own. It has over 400 lines because every
grouping shares the same sums.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from jaxscope._analysis.rules import RULES
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._analysis.work import ONCE, Amount, KernelCost, OpCost, ProgramCost, Runs, Symbols, Work
from jaxscope._ir.model import NO_STACK, Frame
from jaxscope._links import LinkedListing

if TYPE_CHECKING:
    import pandas

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


class _Sum:
    """Work times runs while it is being summed: large programs have a hundred thousand parts."""

    __slots__ = ("terms",)

    def __init__(self) -> None:
        self.terms: dict[Symbols, list[int]] = {}

    def add(self, work: Work, runs: Runs) -> None:
        for symbols, number in runs.terms:
            if (term := self.terms.get(symbols)) is None:
                term = self.terms[symbols] = [0, 0, 0, 0]
            term[0] += work.flops * number
            term[1] += work.transcendentals * number
            term[2] += work.integer_ops * number
            term[3] += work.padding_flops * number

    def finish(self) -> Amount:
        return Amount(tuple(sorted((symbols, Work(*term)) for symbols, term in self.terms.items() if any(term))))


class _Group:
    """A group while it is being summed."""

    def __init__(self, key: str, place: Frame | None):
        self.key, self.place = key, place
        self.own, self.inclusive = _Sum(), _Sum()
        self.moved = 0
        self.missing: dict[str, None] = {}
        self.ops: list[int] = []
        self.unknown: dict[str, None] = {}
        self.rules: dict[str, None] = {}
        self.weight, self.dearest, self.runs = (-1, 0, 0), -1, ONCE

    def add(self, cost: OpCost, *, is_own: bool) -> None:
        work = cost.work
        if isinstance(work, Work):
            self.inclusive.add(work, cost.runs)
        if not is_own:
            return
        self.ops.append(cost.op)
        self.rules[cost.rule] = None
        weight = (0, 0, 0)
        if isinstance(work, Work):
            self.own.add(work, cost.runs)
            often = cost.runs.with_loops_once
            weight = (work.flops * often, work.transcendentals * often, work.integer_ops * often)
        else:
            self.unknown[work.reason] = None
        if weight > self.weight:
            self.weight, self.dearest, self.runs = weight, cost.op, cost.runs

    def move(self, kernel: KernelCost) -> None:
        if self.dearest < 0:
            self.dearest, self.runs = kernel.op, kernel.runs
        size = moved_bytes(kernel)
        if isinstance(size, Unavailable):
            self.missing[size.reason] = None
        else:
            self.moved += size * kernel.runs.with_loops_once

    def finish(self) -> CostGroup:
        return CostGroup(
            self.key,
            self.place,
            self.inclusive.finish(),
            self.own.finish(),
            Bytes(self.moved, tuple(self.missing)),
            tuple(self.ops),
            tuple(self.unknown),
            tuple(self.rules),
            self.dearest,
            self.runs,
        )


def moved_bytes(kernel: KernelCost) -> int | Unavailable:
    """What one run of a kernel reads and writes."""
    if isinstance(kernel.bytes_read, Unavailable):
        return kernel.bytes_read
    if isinstance(kernel.bytes_written, Unavailable):
        return kernel.bytes_written
    return kernel.bytes_read + kernel.bytes_written


def group_costs(cost: ProgramCost, linked: LinkedListing, grouping: Grouping) -> tuple[CostGroup, ...]:
    """Sums a program's account.

    Args:
        cost: The account.
        linked: The listing it was counted on.
        grouping: What to sum by. There are kernels in compiled HLO only.

    Returns:
        The groups that cost something or are not known, dearest first: by inclusive FLOPs, then by transcendentals,
        integer operations and bytes.
    """
    if grouping == "kernel":
        return _by_kernel(cost, linked)
    keys = _KEYS[grouping](linked)
    groups: dict[object, _Group] = {}

    def open_group(one: "_Key") -> _Group:
        if (group := groups.get(one.identity)) is None:
            group = groups[one.identity] = _Group(one.text, one.place)
        return group

    for op_cost in cost.ops:
        if op_cost.is_counted:
            for depth, one in enumerate(keys(op_cost.op)):
                open_group(one).add(op_cost, is_own=not depth)
    for kernel in cost.kernels:
        if kernel.is_counted:
            open_group(next(keys(kernel.op))).move(kernel)
    return _dearest_first(group.finish() for group in groups.values())


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


# For the index of an op, the groups it belongs to: its own first, then those that include it.
_Keys = Callable[[int], Iterator[_Key]]


def _innermost(linked: LinkedListing, op: int) -> Frame | None:
    stack = linked.op_stack[op]
    return linked.stacks.frames[linked.stacks.nodes[stack][0]] if stack != NO_STACK else None


def _line_keys(linked: LinkedListing) -> _Keys:
    def keys(op: int) -> Iterator[_Key]:
        frame = _innermost(linked, op)
        if frame is None:
            yield _Key(None, MADE_BY_COMPILER, None)
        else:
            yield _Key((frame.file, frame.line), f"{frame.file}:{frame.line}", frame)

    return keys


def _function_keys(linked: LinkedListing) -> _Keys:
    # Many ops share a stack.
    known: dict[int, tuple[_Key, ...]] = {}

    def read(stack: int) -> tuple[_Key, ...]:
        found: dict[object, _Key] = {}
        for frame in linked.stacks.walk(stack):
            # A function that calls itself includes itself once.
            found.setdefault(
                (frame.file, frame.function), _Key((frame.file, frame.function), frame.function or NO_FUNCTION, frame)
            )
        return tuple(found.values()) or (_Key(None, MADE_BY_COMPILER, None),)

    def keys(op: int) -> Iterator[_Key]:
        stack = linked.op_stack[op]
        if stack not in known:
            known[stack] = read(stack)
        return iter(known[stack])

    return keys


def scopes_of(name_path: str) -> tuple[str, ...]:
    """The scopes around an op, innermost first: ``jit(f)/a/b/mul`` is in ``jit(f)/a/b``, ``jit(f)/a`` and ``jit(f)``.

    Of several names, which XLA joins by ``;`` where it joined their ops, the first counts.
    """
    parts = name_path.partition(";")[0].split("/")[:-1]
    return tuple("/".join(parts[:length]) for length in range(len(parts), 0, -1))


def _scope_keys(linked: LinkedListing) -> _Keys:
    known: dict[str, tuple[_Key, ...]] = {}

    def keys(op: int) -> Iterator[_Key]:
        path = linked.listing.ops[op].name_path
        if path not in known:
            scopes = scopes_of(path) or (NO_SCOPE,)
            known[path] = tuple(_Key(scope, scope, None) for scope in scopes)
        return iter(known[path])

    return keys


def _op_keys(linked: LinkedListing) -> _Keys:
    def keys(op: int) -> Iterator[_Key]:
        name = linked.listing.ops[op].name.removeprefix("stablehlo.")
        yield _Key(name, name, None)

    return keys


_KEYS: dict[str, Callable[[LinkedListing], _Keys]] = {
    "line": _line_keys,
    "function": _function_keys,
    "scope": _scope_keys,
    "op": _op_keys,
}


def _by_kernel(cost: ProgramCost, linked: LinkedListing) -> tuple[CostGroup, ...]:
    groups = []
    for kernel in cost.kernels:
        if not kernel.is_counted:
            continue
        size = moved_bytes(kernel)
        work = Amount.total([(kernel.work, kernel.runs)]) if isinstance(kernel.work, Work) else Amount()
        missing = isinstance(size, Unavailable)
        groups.append(
            CostGroup(
                key=linked.listing.ops[kernel.op].results[0],
                place=_innermost(linked, kernel.op),
                inclusive=work,
                own=work,
                moved=Bytes(0, (size.reason,)) if missing else Bytes(size * kernel.runs.with_loops_once),
                ops=(kernel.op,),
                unknown=(kernel.work.reason,) if isinstance(kernel.work, Unavailable) else (),
                rules=(),
                dearest=kernel.op,
                runs=kernel.runs,
            )
        )
    return _dearest_first(groups)


_FRAME_KEYS = {
    "line": ("file", "python_line"),
    "function": ("function", "file"),
    "scope": ("scope",),
    "op": ("op",),
    "kernel": ("kernel", "line", "file", "python_line"),
}
GROUP_COLUMNS = {
    grouping: (
        *keys,
        *(("own_flops",) if grouping in ("function", "scope") else ()),
        "flops",
        "share",
        "transcendentals",
        "integer_ops",
        "padding_flops",
        "moved_bytes",
        "runs",
        "ops",
        *(("rule",) if grouping == "op" else ()),
        "unknown_loops",
        "missing",
    )
    for grouping, keys in _FRAME_KEYS.items()
}


def group_frame(cost: ProgramCost, linked: LinkedListing, grouping: Grouping) -> "pandas.DataFrame":
    """One row per group, dearest first; the columns are documented in `jaxscope._analysis.cost_columns`."""
    import pandas

    total = cost.total.with_loops_once.flops
    rows = []
    for group in group_costs(cost, linked, grouping):
        work = group.inclusive.with_loops_once
        place = (group.place.file, group.place.line) if group.place is not None else (None, None)
        keys: tuple[object, ...] = {"line": place, "function": (group.key, place[0])}.get(grouping, (group.key,))
        if grouping == "kernel":
            keys = (group.key, linked.listing.ops[group.dearest].line + 1, *place)
        rows.append(
            (
                *keys,
                *((group.own.with_loops_once.flops,) if grouping in ("function", "scope") else ()),
                work.flops,
                work.flops / total if total else None,
                work.transcendentals,
                work.integer_ops,
                work.padding_flops,
                group.moved.with_loops_once if cost.kernels else None,
                group.runs.with_loops_once,
                len(group.ops),
                *((rule_text(group),) if grouping == "op" else ()),
                unknown_text(group.inclusive),
                " ".join((*group.unknown, *group.moved.missing)),
            )
        )
    frame = pandas.DataFrame(rows, columns=list(GROUP_COLUMNS[grouping]))
    whole = [name for name in frame.columns if name in _WHOLE]
    return frame.astype({**dict.fromkeys(whole, "Int64"), "share": "Float64"})


_WHOLE = frozenset(
    (
        "python_line",
        "line",
        "own_flops",
        "flops",
        "transcendentals",
        "integer_ops",
        "padding_flops",
        "moved_bytes",
        "runs",
        "ops",
    )
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
