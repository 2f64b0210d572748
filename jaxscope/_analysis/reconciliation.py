"""Why XLA's figures differ from ours: the difference split into causes, to the FLOP and to the byte.

Problem: two figures side by side that differ are two figures that nobody trusts. Input: the graph of a compiled module,
our account of it and the figures that XLA gives for it. Output: a `Reconciliation` for each figure: ours, the causes
with the instructions behind each, XLA's, and what is left without a cause.

Every difference is worked out from XLA's own way of counting, which `xla_counts` imitates instruction by instruction;
XLA's figures themselves only decide what is left unexplained. Loops whose count is not known count as if they ran once.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxscope._analysis.difference_reasons import bytes_reason, work_reason
from jaxscope._analysis.hlo_module import FUSIONS, HloModule, read_module
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._analysis.work import ProgramCost, Work
from jaxscope._analysis.xla_counts import CONVENTIONS, FIGURES, XlaConvention, XlaTotals, count_as_xla
from jaxscope._ir.model import Listing
from jaxscope._links import LinkedListing

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True)
class Cause:
    """A part of a difference.

    Attributes:
        reason: What XLA does otherwise.
        amount: What it adds to our figure, negative where XLA counts less.
        ops: The indices of the instructions behind it.
    """

    reason: str
    amount: int
    ops: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """How one figure of ours becomes XLA's.

    Attributes:
        figure: XLA's name of it: ``flops``, ``transcendentals`` or ``bytes accessed``.
        ours: Our figure for one run of the program; unknown loops once, unknown calls left out.
        xla: XLA's figure, as it gives it; or why there is none.
        causes: What lies between, the largest first.
        unexplained: What is left: ours + the causes + this is XLA's. 0 where XLA gives no figure.
    """

    figure: str
    ours: int
    xla: int | Unavailable
    causes: tuple[Cause, ...]
    unexplained: int


def reconcile(
    listing: Listing, cost: ProgramCost, figures: Mapping[str, float] | Unavailable
) -> tuple[Reconciliation, ...]:
    """Explains XLA's figures by ours.

    Args:
        listing: The compiled HLO.
        cost: Our account of it.
        figures: XLA's cost table as it gives it; an entry that is missing from it means 0.

    Returns:
        One for each of `FIGURES`, in that order.
    """
    return reconcile_module(read_module(listing), cost, figures)


def reconcile_module(
    module: HloModule,
    cost: ProgramCost,
    figures: Mapping[str, float] | Unavailable,
    likely: XlaConvention = CONVENTIONS[0],
) -> tuple[Reconciliation, ...]:
    """As `reconcile`, of a module whose graph is there already; `likely` is the convention to try first."""
    totals = _as_counted(module, figures, likely)
    difference = _Difference(module, cost, totals)
    found = []
    for figure, (name, causes) in enumerate(zip(FIGURES, difference.causes(), strict=True)):
        ours = difference.inside.get(module.entry, _ZERO)[figure]
        xla = _whole(figures, name)
        explained = ours + sum(cause.amount for cause in causes)
        unexplained = 0 if isinstance(xla, Unavailable) else xla - explained
        found.append(Reconciliation(name, ours, xla, causes, unexplained))
    return tuple(found)


def _whole(figures: Mapping[str, float] | Unavailable, name: str) -> int | Unavailable:
    if isinstance(figures, Unavailable):
        return figures
    value = figures.get(name, 0)
    return int(value) if math.isfinite(value) else Unavailable(f"XLA reports {value}.")


RECONCILIATION_COLUMNS = ("figure", "cause", "amount", "ops", "where")
NOT_EXPLAINED = "not explained"


def reconciliation_frame(reconciliations: Sequence[Reconciliation], linked: LinkedListing) -> "pandas.DataFrame":
    """For each figure a row with ours, one per cause, what is not explained if anything, and one with XLA's."""
    import pandas

    ops = linked.listing.ops
    rows: list[tuple[object, ...]] = []
    for one in reconciliations:
        rows.append((one.figure, "jaxscope", one.ours, 0, ""))
        for cause in one.causes:
            where = ", ".join(ops[op].results[0] for op in cause.ops[:3])
            more = f", … {len(cause.ops) - 3:,} more" if len(cause.ops) > 3 else ""
            rows.append((one.figure, cause.reason, cause.amount, len(cause.ops), where + more))
        if one.unexplained:
            rows.append((one.figure, NOT_EXPLAINED, one.unexplained, 0, ""))
        if isinstance(one.xla, Unavailable):
            rows.append((one.figure, f"XLA's figure is missing: {one.xla.reason}", None, 0, ""))
        else:
            rows.append((one.figure, "XLA", one.xla, 0, ""))
    frame = pandas.DataFrame(rows, columns=list(RECONCILIATION_COLUMNS))
    return frame.astype({"amount": "Int64", "ops": "Int64"})


def _as_counted(module: HloModule, figures: Mapping[str, float] | Unavailable, likely: XlaConvention) -> XlaTotals:
    """The module in the convention of the XLA that gave the figures: the one that comes closest to them."""
    best, least = None, math.inf
    for convention in dict.fromkeys((likely, *CONVENTIONS)):
        totals = count_as_xla(module, convention)
        if isinstance(figures, Unavailable):
            return totals
        distance = sum(
            abs(figures.get(figure, 0) - value) for figure, value in zip(FIGURES, totals.total.rounded, strict=True)
        )
        if best is None or distance < least:
            best, least = totals, distance
        if not least:
            break
    return best


_Vector = tuple[int, int, int]
_ZERO: _Vector = (0, 0, 0)


@dataclass(slots=True)
class _Step:
    """What an instruction runs: computations, each with how often ours counts it."""

    op: int
    computations: tuple[tuple[int, int], ...]


class _Difference:
    """Ours and XLA's, computation by computation."""

    def __init__(self, module: HloModule, cost: ProgramCost, totals: XlaTotals):
        self.module = module
        self.ops = module.listing.ops
        self.totals = totals
        self.ours = _per_op(cost)
        self.works = {op.op: op.work for op in cost.ops if isinstance(op.work, Work)}
        self.counts = {
            loop.op: (1 if isinstance(loop.trip_count, Unavailable) else loop.trip_count, loop.symbol)
            for loop in cost.loops
        }
        self.dearest = {one.op: one.dearest for one in cost.conditionals}
        self.inside: dict[int, _Vector] = {}
        self.weights = self._weights()

    def _steps(self, computation: int) -> list[_Step]:
        module = self.module
        steps = []
        for op in module.members[computation]:
            name = self.ops[op].name
            if name == "while":
                count, _ = self.counts.get(op, (1, ""))
                parts = [(body, count) for body in module.called(op, "body")]
                parts += [(condition, count + 1) for condition in module.called(op, "condition")]
                steps.append(_Step(op, tuple(parts)))
            elif name == "conditional":
                branches = module.branches(op)
                if branches:
                    steps.append(_Step(op, ((branches[self.dearest.get(op, 0)], 1),)))
            elif name in FUSIONS or name in ("call", "async-start"):
                called = module.called(op, "calls", "to_apply", "called_computations")
                steps.append(_Step(op, tuple((callee, 1) for callee in called)))
        return steps

    def _weights(self) -> dict[int, int]:
        """How often each computation runs where every loop runs once and of conditionals our branch."""
        order: list[int] = []
        steps: dict[int, list[_Step]] = {}
        if self.module.entry >= 0:
            self._sort(self.module.entry, order, steps, set())
        self.steps = steps
        weights = dict.fromkeys(order, 0)
        if order:
            weights[self.module.entry] = 1
        for computation in reversed(order):
            for step in steps[computation]:
                for callee, _ in step.computations:
                    if callee in weights:
                        weights[callee] += weights[computation]
        own = dict.fromkeys(order, _ZERO)
        for op, amounts in self.ours.items():
            block = self.ops[op].block
            if block in own:
                own[block] = _add(own[block], amounts)
        for computation in order:
            total = own[computation]
            for step in steps[computation]:
                for callee, count in step.computations:
                    total = _add(total, _times(self.inside.get(callee, _ZERO), count))
            self.inside[computation] = total
        return weights

    def _sort(self, computation: int, order: list[int], steps: dict[int, list[_Step]], open_: set[int]) -> None:
        if computation in steps or computation in open_:
            return
        open_.add(computation)
        found = self._steps(computation)
        for step in found:
            for callee, _ in step.computations:
                self._sort(callee, order, steps, open_)
        open_.discard(computation)
        steps[computation] = found
        order.append(computation)

    def causes(self) -> tuple[tuple[Cause, ...], ...]:
        """The causes of each figure, the largest first."""
        found: list[dict[str, tuple[int, list[int]]]] = [{}, {}, {}]

        def add(figure: int, reason: str, amount: int, *ops: int) -> None:
            if amount:
                total, behind = found[figure].get(reason, (0, []))
                behind += ops
                found[figure][reason] = (total + amount, behind)

        by_op, weights, ops = self.totals.by_op, self.weights, self.ops
        for op in sorted(by_op.keys() | self.ours.keys()):
            theirs, ours = by_op.get(op, _ZERO), self.ours.get(op, _ZERO)
            if theirs != ours and (weight := weights.get(ops[op].block, 0)):
                for figure in range(len(FIGURES)):
                    if theirs[figure] != ours[figure]:
                        self._compare(figure, op, theirs[figure], ours[figure], weight, add)
        for computation, weight in weights.items():
            for step in self.steps[computation]:
                if weight and ops[step.op].name in ("while", "conditional"):
                    for figure in range(len(FIGURES)):
                        self._run(figure, step, weight, add)
        total = self.totals.total
        for figure in range(len(FIGURES)):
            add(figure, "XLA adds up in single precision", int(total.rounded[figure]) - total.exact[figure])
        return tuple(
            tuple(
                sorted(
                    (Cause(reason, amount, tuple(behind)) for reason, (amount, behind) in causes.items() if amount),
                    key=lambda cause: -abs(cause.amount),
                )
            )
            for causes in found
        )

    def _run(self, figure: int, step: _Step, weight: int, add: Callable[..., None]) -> None:
        """What lies in how often loops run and in which branch counts."""
        name = self.ops[step.op].name
        if name == "while":
            count, symbol = self.counts.get(step.op, (1, ""))
            missing = sum((times - 1) * self.inside.get(callee, _ZERO)[figure] for callee, times in step.computations)
            times = f"{count:,} times" if not symbol else f"{symbol} times, once in our figure"
            add(figure, f"the loop {self._name(step.op)} runs {times}; XLA counts it once", -missing * weight, step.op)
        elif name == "conditional":
            of = self.totals.by_computation
            branches = [of[branch].exact[figure] for branch in self.module.branches(step.op) if branch in of]
            taken = step.computations[0][0]
            if branches and taken in of:
                add(
                    figure,
                    "of a conditional XLA takes the most of any branch, for each figure by itself",
                    (max(branches) - of[taken].exact[figure]) * weight,
                    step.op,
                )

    def _name(self, op: int) -> str:
        return self.ops[op].results[0].lstrip("%")

    def _compare(self, figure: int, op: int, theirs: int, ours: int, weight: int, add: Callable[..., None]) -> None:
        """What lies in one instruction."""
        name = self.ops[op].name
        if name == "custom-call":
            target = self.module.attributes(op).get("custom_call_target", "").strip('"')
            add(figure, f"custom calls, −1 each: {target}", theirs * weight, op)
            what = "arrays" if figure == 2 else "work"
            add(figure, f"the {what} of library calls, which XLA does not know: {target}", -ours * weight, op)
        else:
            if figure == 2:
                reason = bytes_reason(self.module, op, self.totals.convention)
            else:
                reason = work_reason(self.module, op, figure, self.works.get(op))
            add(figure, reason, (theirs - ours) * weight, op)


def _add(left: _Vector, right: _Vector) -> _Vector:
    return left[0] + right[0], left[1] + right[1], left[2] + right[2]


def _times(vector: _Vector, count: int) -> _Vector:
    return vector[0] * count, vector[1] * count, vector[2] * count


def _per_op(cost: ProgramCost) -> dict[int, _Vector]:
    """FLOPs and transcendentals of one run of each instruction, bytes of one of each kernel."""
    found: dict[int, _Vector] = {
        op.op: (op.work.flops, op.work.transcendentals, 0) for op in cost.ops if isinstance(op.work, Work)
    }
    for kernel in cost.kernels:
        if not isinstance(kernel.bytes_read, Unavailable) and not isinstance(kernel.bytes_written, Unavailable):
            flops, transcendentals, _ = found.get(kernel.op, _ZERO)
            found[kernel.op] = (flops, transcendentals, kernel.bytes_read + kernel.bytes_written)
    return found
