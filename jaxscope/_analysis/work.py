"""What a program has to do, op by op: the records that every count of work is made of.

Problem: a figure that can be trusted names the op it comes from, how often that runs, and what is not known of it; a
bare number can do none of this. Input: none; this module only defines records. Output: `Work` of one run of one op,
`Runs`, how often it runs, with a symbol for each loop whose count is not known, `Amount`, their products summed, and
`ProgramCost`, the account of a whole listing.

Convention: a multiplication and an addition are one FLOP each, so a fused multiply-add is two. Transcendental functions
are counted apart, by element; so is arithmetic on integers and truth values. Moving, converting and selecting data is
no work.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from jaxscope._analysis.unavailable import Unavailable


@dataclass(frozen=True, slots=True)
class Work:
    """What one run of an op computes.

    Attributes:
        flops: Floating-point operations; a complex addition is two, a complex multiplication six.
        transcendentals: Elements of ``exp``, ``log``, ``tanh``, ``rsqrt`` and their like.
        integer_ops: Operations on integers and truth values.
        padding_flops: Further multiply-adds, two FLOPs each, of a convolution's window over padding, which nobody has
            to compute and `flops` leaves out. Papers about networks count them.
    """

    flops: int = 0
    transcendentals: int = 0
    integer_ops: int = 0
    padding_flops: int = 0

    def __add__(self, other: "Work") -> "Work":
        return Work(
            self.flops + other.flops,
            self.transcendentals + other.transcendentals,
            self.integer_ops + other.integer_ops,
            self.padding_flops + other.padding_flops,
        )

    def __mul__(self, times: int) -> "Work":
        return Work(
            self.flops * times,
            self.transcendentals * times,
            self.integer_ops * times,
            self.padding_flops * times,
        )

    def __bool__(self) -> bool:
        return bool(self.flops or self.transcendentals or self.integer_ops or self.padding_flops)


NO_WORK = Work()

# A product of loop symbols, sorted: () for none, ("n1", "n2") for a loop in a loop.
Symbols = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Runs:
    """How often something runs: a sum of terms, each a number times the unknown counts of the loops around it.

    `terms` maps the symbols of unknown loops to a number: ``{(): 12}`` is twelve, ``{("n1",): 3}`` is 3·n1.
    """

    terms: tuple[tuple[Symbols, int], ...] = (((), 1),)

    @classmethod
    def of(cls, terms: "dict[Symbols, int]") -> "Runs":
        """From a mapping; terms of zero are dropped."""
        return cls(tuple(sorted((symbols, number) for symbols, number in terms.items() if number)))

    def __add__(self, other: "Runs") -> "Runs":
        terms = dict(self.terms)
        for symbols, number in other.terms:
            terms[symbols] = terms.get(symbols, 0) + number
        return Runs.of(terms)

    def times(self, count: "int | str") -> "Runs":
        """Inside a loop that runs `count` times: a number, or the symbol of a loop whose count is not known."""
        if isinstance(count, str):
            return Runs.of({tuple(sorted((*symbols, count))): number for symbols, number in self.terms})
        return Runs.of({symbols: number * count for symbols, number in self.terms})

    @property
    def known(self) -> int | None:
        """The number where no unknown loop is around, else None."""
        if not self.terms:
            return 0
        return self.terms[0][1] if len(self.terms) == 1 and not self.terms[0][0] else None

    @property
    def with_loops_once(self) -> int:
        """The number if every unknown loop ran once."""
        return sum(number for _, number in self.terms)


ONCE = Runs()
NEVER = Runs(())


@dataclass(frozen=True, slots=True)
class Amount:
    """Work, or bytes, summed over runs: one total for each product of unknown loop counts.

    ``{(): Work(flops=100), ("n1",): Work(flops=7)}`` is 100 FLOP + n1 · 7 FLOP.
    """

    terms: tuple[tuple[Symbols, Work], ...] = ()

    @classmethod
    def total(cls, parts: "Iterable[tuple[Work, Runs]]") -> "Amount":
        """The sum of work times runs."""
        sums = AmountSum()
        for work, runs in parts:
            sums.add(work, runs)
        return sums.finish()

    @property
    def known(self) -> Work:
        """The part outside unknown loops: everything, where there are none."""
        return dict(self.terms).get((), NO_WORK)

    @property
    def with_loops_once(self) -> Work:
        """The whole if every unknown loop ran once."""
        return sum((work for _, work in self.terms), NO_WORK)

    @property
    def is_known(self) -> bool:
        """Whether no unknown loop contributes."""
        return all(not symbols for symbols, _ in self.terms)


class AmountSum:
    """An `Amount` while it is being summed: large programs have a hundred thousand parts."""

    __slots__ = ("terms",)

    def __init__(self) -> None:
        self.terms: dict[Symbols, list[int]] = {}

    def add(self, work: Work, runs: Runs) -> None:
        """Adds work times runs."""
        for symbols, number in runs.terms:
            if (term := self.terms.get(symbols)) is None:
                term = self.terms[symbols] = [0, 0, 0, 0]
            term[0] += work.flops * number
            term[1] += work.transcendentals * number
            term[2] += work.integer_ops * number
            term[3] += work.padding_flops * number

    def add_all(self, other: "AmountSum") -> None:
        """Adds all that another has."""
        for symbols, numbers in other.terms.items():
            known = self.terms.get(symbols, (0, 0, 0, 0))
            self.terms[symbols] = [one + more for one, more in zip(known, numbers, strict=True)]

    def finish(self) -> Amount:
        """The sum."""
        return Amount(tuple(sorted((symbols, Work(*term)) for symbols, term in self.terms.items() if any(term))))


class OpCost(NamedTuple):
    """The account of one op of a listing that has work, or whose work is not known.

    Of these there are hundreds of thousands: a frozen dataclass would take four times as long to make.

    Attributes:
        op: Its index in `Listing.ops`.
        work: What one run computes; or why that is not known (an opaque custom call).
        runs: How often it runs in one run of the program.
        is_counted: False inside the branches of a conditional that are not the dearest: they stand apart.
        rule: Key of the rule that counted it, as documented: ``dot``, ``elementwise``, ``reduce``, ``custom call``.
    """

    op: int
    work: Work | Unavailable
    runs: Runs = ONCE
    is_counted: bool = True
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop of a listing.

    Attributes:
        op: Index of the loop op.
        trip_count: How often its body runs each time; or why that is not known.
        symbol: What stands for the count where it is not known (``n1``), else "".
        source: Where the count was read: ``the jaxpr's scan``, ``known_trip_count``, ``the loop's bounds``.
    """

    op: int
    trip_count: int | Unavailable
    symbol: str
    source: str


@dataclass(frozen=True, slots=True)
class Conditional:
    """A conditional: the work of each branch, once, and which one the total counts (the dearest)."""

    op: int
    branches: tuple[Amount, ...]
    dearest: int


@dataclass(frozen=True, slots=True)
class KernelCost:
    """One instruction of a schedule that is launched as a whole: a fusion, a library call, a plain instruction.

    Attributes:
        op: Index of the instruction in `Listing.ops`.
        work: What one run computes, its inner instructions included; Unavailable where a part of it is not known.
        bytes_read: Bytes of operands that one run reads from memory; of a slice, only the slice.
        bytes_written: Likewise what it writes.
        runs: How often it runs in one run of the program.
        is_counted: As in `OpCost`.
        dtype: Element type that its dearest op computes in, in XLA's names; "" where it computes nothing.
    """

    op: int
    work: Work | Unavailable
    bytes_read: int | Unavailable
    bytes_written: int | Unavailable
    runs: Runs = ONCE
    is_counted: bool = True
    dtype: str = ""


@dataclass(frozen=True)
class ProgramCost:
    """The account of a whole listing.

    Attributes:
        ops: Every op with work, or whose work is not known, in the order of the listing; none twice.
        kernels: Of compiled HLO, every instruction that runs as a whole; () for StableHLO.
        loops: The loops.
        conditionals: The conditionals.
    """

    ops: tuple[OpCost, ...]
    kernels: tuple[KernelCost, ...] = ()
    loops: tuple[Loop, ...] = ()
    conditionals: tuple[Conditional, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @cached_property
    def total(self) -> Amount:
        """All that is counted and known."""
        return Amount.total(
            (cost.work, cost.runs) for cost in self.ops if cost.is_counted and isinstance(cost.work, Work)
        )

    @cached_property
    def unknown(self) -> tuple[OpCost, ...]:
        """The counted ops whose work is not known."""
        return tuple(cost for cost in self.ops if cost.is_counted and isinstance(cost.work, Unavailable))
