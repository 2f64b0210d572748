"""The account of compiled HLO: each instruction with work, how often it runs, and what each kernel moves.

Problem: the compiled text holds every loop's body once, fusions and calls apart from where they run, and library calls
as names. Input: the `Listing` of compiled HLO. Output: a `ProgramCost`: every instruction with work, wherever it
stands, with the product of the trip counts around it, summed over all ways that lead to it; every kernel as a whole.

A loop's condition runs once more than its body. Of a conditional the branch with most FLOPs counts. The instructions of
a computation that is applied to elements, as a reducer is, are in the work of the instruction that applies it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from jaxscope._analysis.hlo_bytes import NOT_RUN, moved_bytes
from jaxscope._analysis.hlo_loops import trip_count
from jaxscope._analysis.hlo_module import FUSIONS, HloModule, read_module
from jaxscope._analysis.hlo_operations import read_operation
from jaxscope._analysis.library_calls import LibraryCall, library_call
from jaxscope._analysis.rules import Operation, count_work, operation_name, rule_of
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._analysis.work import (
    NEVER,
    NO_WORK,
    ONCE,
    Amount,
    Conditional,
    KernelCost,
    Loop,
    OpCost,
    ProgramCost,
    Runs,
    Symbols,
    Work,
)
from jaxscope._ir.model import Listing

# Instructions that run computations as a whole; "fusion" runs inside a kernel of its own.
_CONTROL = FUSIONS | {"async-start", "call", "conditional", "while"}
# Opcodes of XLA for TPU that are in no specification: parts of an array are copied from one memory to another.
_TPU_COPIES = frozenset(("slice-start", "slice-done"))
# What begins a collective and may stand in several fusions, each doing a part of it.
_STEPPED = frozenset(("all-reduce", "all-reduce-start", "reduce-scatter"))


# Work, rule and element type of an instruction; those alike share one.
_Counted = tuple[Work | Unavailable, str, str]


@dataclass(frozen=True, slots=True)
class _Step:
    """A computation that another runs: so many times, or as often as a symbol says, and `extra` times more.

    Attributes:
        computation: Which.
        count: How often each time.
        extra: How often besides: a loop's condition once more than its body.
        is_dearest: False for the branches of a conditional that do not count.
        is_fused: Whether it runs inside a kernel.
    """

    computation: int
    count: int | str = 1
    extra: int = 0
    is_dearest: bool = True
    is_fused: bool = False

    def runs(self, around: Runs) -> Runs:
        runs = around.times(self.count)
        return runs + around.times(self.extra) if self.extra else runs


@dataclass(slots=True)
class _Computation:
    entries: list[tuple[int, _Counted]] = field(default_factory=list)
    steps: list[_Step] = field(default_factory=list)


_Terms = dict[Symbols, Work]


class _Walk:
    """Goes through the computations that run, each once."""

    def __init__(self, module: HloModule):
        self.module = module
        self.ops = module.listing.ops
        self.computations: dict[int, _Computation] = {}
        # In the order in which they were finished: what a computation runs stands before it.
        self.order: list[int] = []
        self.totals: dict[int, _Terms] = {}
        self.applied_work: dict[int, Work | Unavailable] = {}
        self.loops: list[Loop] = []
        self.conditionals: list[Conditional] = []
        self.calls: dict[int, LibraryCall] = {}
        self.memo: dict[tuple[str, str, str], _Counted | None] = {}
        # Opcodes that compute nothing, as they are met.
        self.idle: set[str] = set()
        self.open: set[int] = set()
        self.begun: set[tuple[str, str]] = set()
        self.symbols = self._symbols()

    def _symbols(self) -> Mapping[int, tuple[int | Unavailable, str, str]]:
        """Count, source and symbol of every loop, numbered in the order of the text."""
        found: dict[int, tuple[int | Unavailable, str, str]] = {}
        unknown = 0
        for number, op in enumerate(self.ops):
            if op.name == "while":
                count, source = trip_count(self.module, number)
                symbol = ""
                if isinstance(count, Unavailable):
                    unknown += 1
                    symbol = f"n{unknown}"
                found[number] = (count, source, symbol)
        return found

    def visit(self, number: int) -> None:
        """Takes in a computation and all that it runs."""
        if number in self.computations or number in self.open:
            return
        self.open.add(number)
        found = _Computation()
        ops, memo, idle = self.ops, self.memo, self.idle
        operands = self.module.operands
        entries = found.entries
        for op_number in self.module.members[number]:
            op = ops[op_number]
            name = op.name
            if name in idle:
                continue
            if name in _CONTROL:
                self._control(op_number, name, found)
                continue
            given = operands[op_number]
            key = (name, op.type, ops[given[0]].type if given and given[0] >= 0 else "")
            known = memo.get(key, False)
            if known is False:
                known = self._count(op_number, name, key)
            if known is not None:
                entries.append((op_number, known))
        self.open.discard(number)
        self.computations[number] = found
        self.order.append(number)
        self.totals[number] = self._total(found)

    def _control(self, number: int, name: str, found: _Computation) -> None:
        module = self.module
        if name == "while":
            count, source, symbol = self.symbols[number]
            times = symbol or count
            self.loops.append(Loop(number, count, symbol, source))
            found.steps += (_Step(body, times) for body in self._run(module.called(number, "body")))
            found.steps += (_Step(test, times, 1) for test in self._run(module.called(number, "condition")))
        elif name == "conditional":
            branches = list(self._run(module.branches(number)))
            amounts = tuple(_amount(self.totals[branch]) for branch in branches)
            if not amounts:
                return
            dearest = max(range(len(amounts)), key=lambda branch: _price(amounts[branch]))
            self.conditionals.append(Conditional(number, amounts, dearest))
            found.steps += (_Step(branch, is_dearest=place == dearest) for place, branch in enumerate(branches))
        else:
            called = module.called(number, "calls", "to_apply", "called_computations")
            found.steps += (_Step(callee, is_fused=name in FUSIONS) for callee in self._run(called))

    def _run(self, computations: tuple[int, ...]) -> Iterator[int]:
        """Those of the computations that can be run: one that runs itself cannot."""
        for computation in computations:
            self.visit(computation)
            if computation in self.computations:
                yield computation

    def _count(self, number: int, name: str, key: tuple[str, str, str]) -> _Counted | None:
        """Work, rule and element type of an instruction; None for none."""
        if name == "custom-call":
            return self._custom_call(number)
        rule = rule_of(operation_name(name))
        if name in _TPU_COPIES or (rule is not None and rule.count is None):
            self.idle.add(name)
            return None
        if name in _STEPPED and self._is_later_step(number):
            return None
        operation = read_operation(self.module, number, self.applied)
        work = count_work(operation)
        if isinstance(work, Work) and work.padding_flops and self._is_product(number):
            work = replace(work, padding_flops=0)
        if isinstance(work, Work) and not work:
            result = None
        else:
            used = rule_of(operation.name)
            result = (work, used.key if used is not None else "", _computed_in(operation))
        if rule is not None and rule.key in _BY_TYPE_ALONE:
            self.memo[key] = result
        return result

    def _is_product(self, number: int) -> bool:
        """Whether a convolution stands for something else, as every matrix product does on a TPU.

        Batches are then dimensions of a window that lies over padding nearly everywhere; no paper counts that.
        """
        path = self.ops[number].name_path
        return bool(path) and "conv_general_dilated" not in path

    def _is_later_step(self, number: int) -> bool:
        """Whether a collective is another part of one that was met: its channel says so."""
        attributes = self.module.attributes(number)
        channel = attributes.get("channel_id", "")
        if not channel or '"async_collective_fusion_config"' not in attributes.get("backend_config", ""):
            return False
        step = (self.ops[number].name, channel)
        is_later = step in self.begun
        self.begun.add(step)
        return is_later

    def _custom_call(self, number: int) -> _Counted | None:
        attributes = self.module.attributes(number)
        operands = tuple(array for types in self.module.operand_types(number) for array in types)
        target = attributes.get("custom_call_target", "").strip('"')
        found = library_call(target, operands, self.module.types(number), attributes, self.module.text(number))
        self.calls[number] = found
        if isinstance(found.work, Work) and not found.work:
            return None
        return found.work, found.rule, found.computed

    def applied(self, computation: int) -> Work | Unavailable:
        """The work of one application of a computation to elements."""
        if (found := self.applied_work.get(computation)) is None:
            self.visit_apart(computation)
            terms, unknown = self.totals.get(computation, {}), self._unknown_in(computation)
            found = unknown if unknown is not None else sum(terms.values(), NO_WORK)
            self.applied_work[computation] = found
        return found

    def visit_apart(self, computation: int) -> None:
        """Takes in a computation that is applied to elements: it is not part of what runs by itself."""
        kept = self.order, self.loops, self.conditionals
        self.order, self.loops, self.conditionals = [], [], []
        self.visit(computation)
        self.order, self.loops, self.conditionals = kept

    def _unknown_in(self, computation: int) -> Unavailable | None:
        found = self.computations.get(computation)
        if found is None:
            return Unavailable("A computation that runs itself has no cost.")
        for _, (work, _, _) in found.entries:
            if isinstance(work, Unavailable):
                return work
        for step in found.steps:
            if step.is_dearest and (unknown := self._unknown_in(step.computation)) is not None:
                return unknown
        return None

    def _total(self, found: _Computation) -> _Terms:
        flops = transcendentals = integers = padding = 0
        for _, (work, _, _) in found.entries:
            if isinstance(work, Work):
                flops += work.flops
                transcendentals += work.transcendentals
                integers += work.integer_ops
                padding += work.padding_flops
        terms: _Terms = {(): Work(flops, transcendentals, integers, padding)}
        for step in found.steps:
            if step.is_dearest:
                for symbols, work in self.totals[step.computation].items():
                    for around, number in step.runs(ONCE).terms:
                        key = tuple(sorted((*symbols, *around)))
                        terms[key] = terms.get(key, NO_WORK) + work * number
        return terms


# Rules whose work follows from the result's type and the first operand's.
_BY_TYPE_ALONE = frozenset(("clamp", "elementwise", "integer", "transcendental"))
# Rules of which the operands are what hardware computes in; elsewhere it is what comes out.
_BY_OPERANDS = frozenset(("convolution", "dot_general", "compare", "ragged_dot", "scaled_dot"))


def _computed_in(operation: Operation) -> str:
    arrays = operation.operands if operation.name in _BY_OPERANDS else operation.results
    return arrays[0].element if arrays else ""


def _amount(terms: _Terms) -> Amount:
    return Amount(tuple(sorted((symbols, work) for symbols, work in terms.items() if work)))


def _price(amount: Amount) -> tuple[int, int, int]:
    work = amount.with_loops_once
    return work.flops, work.transcendentals, work.integer_ops


def count_module(module: HloModule) -> ProgramCost:
    """The account of a module whose graph is there already; see `count_hlo`."""
    if module.entry < 0:
        return ProgramCost((), notes=("The text has no computation that runs.",))
    walk = _Walk(module)
    walk.visit(module.entry)
    counted, uncounted = _runs(walk, module.entry)
    fused = {step.computation for found in walk.computations.values() for step in found.steps if step.is_fused}
    costs: list[OpCost] = []
    kernels: list[KernelCost] = []
    for computation in sorted(walk.order, key=lambda number: module.members[number].start):
        runs, is_counted = counted.get(computation, NEVER), True
        if not runs.terms:
            runs, is_counted = uncounted.get(computation, NEVER), not uncounted.get(computation, NEVER).terms
        entries = walk.computations[computation].entries
        costs += (OpCost(op, work, runs, is_counted, rule) for op, (work, rule, _) in entries)
        if computation not in fused:
            kernels += _kernels(walk, computation, runs, is_counted)
    costs.sort(key=lambda cost: cost.op)
    kernels.sort(key=lambda kernel: kernel.op)
    return ProgramCost(
        tuple(costs),
        tuple(kernels),
        tuple(sorted(walk.loops, key=lambda loop: loop.op)),
        tuple(sorted(walk.conditionals, key=lambda conditional: conditional.op)),
    )


def count_hlo(listing: Listing) -> ProgramCost:
    """The account of compiled HLO.

    Args:
        listing: As `jaxscope._ir.hlo.parse` gives it, of any backend.

    Returns:
        Its work, kernels, loops and conditionals. Text that is not whole gives less, never an exception.
    """
    return count_module(read_module(listing))


def _runs(walk: _Walk, entry: int) -> tuple[dict[int, Runs], dict[int, Runs]]:
    """How often each computation runs: on the dearest way, and on the others."""
    counted: dict[int, Runs] = {entry: ONCE}
    uncounted: dict[int, Runs] = {}
    for computation in reversed(walk.order):
        runs, other = counted.get(computation, NEVER), uncounted.get(computation, NEVER)
        for step in walk.computations[computation].steps:
            callee = step.computation
            if step.is_dearest:
                counted[callee] = counted.get(callee, NEVER) + step.runs(runs)
                uncounted[callee] = uncounted.get(callee, NEVER) + step.runs(other)
            else:
                uncounted[callee] = uncounted.get(callee, NEVER) + step.runs(runs) + step.runs(other)
    return counted, uncounted


def _kernels(walk: _Walk, computation: int, runs: Runs, is_counted: bool) -> Iterator[KernelCost]:
    module, ops = walk.module, walk.ops
    entries = dict(walk.computations[computation].entries)
    for number in module.members[computation]:
        name = ops[number].name
        if name in NOT_RUN:
            continue
        work: Work | Unavailable
        if name in FUSIONS:
            called = module.called(number, "calls")
            work, dtype = _inside(walk, called[0]) if called else (NO_WORK, "")
        elif (counted := entries.get(number)) is not None:
            work, _, dtype = counted
        else:
            work, dtype = NO_WORK, ""
        call = walk.calls.get(number)
        if call is not None and not call.moves_data:
            continue
        moved = moved_bytes(module, number)
        read, written = (moved, moved) if isinstance(moved, Unavailable) else moved
        yield KernelCost(number, work, read, written, runs, is_counted, dtype)


def _inside(walk: _Walk, computation: int) -> tuple[Work | Unavailable, str]:
    """The work of a fused computation, and the element type of its dearest instruction."""
    if computation not in walk.computations:
        return Unavailable("A computation that runs itself has no cost."), ""
    unknown = walk._unknown_in(computation)
    work = unknown if unknown is not None else sum(walk.totals[computation].values(), NO_WORK)
    return work, _dearest_type(walk, computation)[1]


def _dearest_type(walk: _Walk, computation: int) -> tuple[tuple[int, int, int], str]:
    best: tuple[tuple[int, int, int], str] = ((0, 0, 0), "")
    for _, (work, _, dtype) in walk.computations[computation].entries:
        if isinstance(work, Work):
            price = work.flops, work.transcendentals, work.integer_ops
            if price > best[0]:
                best = (price, dtype)
    for step in walk.computations[computation].steps:
        best = max(best, _dearest_type(walk, step.computation))
    return best
