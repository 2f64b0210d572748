"""The account of a StableHLO module: what each op computes, and how often it runs.

Problem: an op in a function that is called 48 times, inside a loop of 1000 steps, stands in the text once. Input: the
`Listing` of a module, and where there is one the jaxpr that it was lowered from, for loops that do not say their count.
Output: a `ProgramCost`. Regions that an op applies to scalars (the reducer of a reduction) are part of that op's work;
regions and functions that run as they stand (loops, branches, calls) have ops of their own in the account. The
condition of a loop runs once more than its body.

Figures are those of the whole program. A manual computation (``shard_map``) is written for one device: it counts as
often as there are devices that run it.
"""

import itertools
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from jaxscope._analysis.custom_calls import Call, count_custom_call
from jaxscope._analysis.regions import CALLS, TOP, Program
from jaxscope._analysis.rules import Kind, Operation, count_work, operation_name, rule_of
from jaxscope._analysis.stablehlo_attributes import read_operation, signature_of
from jaxscope._analysis.trip_counts import read_trip_counts
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._analysis.work import (
    NEVER,
    NO_WORK,
    ONCE,
    Amount,
    Conditional,
    Loop,
    OpCost,
    ProgramCost,
    Runs,
    Work,
)
from jaxscope._ir.locations import QUOTED
from jaxscope._ir.model import Listing
from jaxscope._ir.shapes import read_mlir_types

# Ops whose type alone decides their work.
_BY_TYPE = frozenset(("elementwise", "integer", "clamp", "transcendental"))
_NAMES = re.compile(r"%[\w$.-]+(?:#\d+)?")
# `custom_call @cu_threefry2x32_ffi(`    `call_target_name = "Sharding"`
_TARGET = re.compile(rf"custom_call @([\w$.-]+|{QUOTED})|call_target_name ?= ?({QUOTED})")
# `mhlo.num_partitions = 8 : i32`    `mhlo.num_replicas = 1 : i32`
_DEVICES = re.compile(r"\bmhlo\.num_(?:partitions|replicas) ?= ?(\d+)")
# `sdy.mesh @mesh = <["x"=2, "y"=4]>`    `stablehlo.mesh @mesh {axes = [...]}`
_MESH = re.compile(r"\bsdy\.mesh @([\w$.-]+) = <\[([^\]]*)\]")
_AXIS_SIZE = re.compile(r'"([^"]*)"=(\d+)')
# `manual_axes={"x", "y"} (%arg1: tensor<4xf32>) {`, after `in_shardings=[<@mesh, [{"x"}]>]`
_MANUAL_AXES = re.compile(r"\bmanual_axes=\{([^}]*)\}")
_MESH_USE = re.compile(r"<@([\w$.-]+),")
_BRANCHING = frozenset(("case", "if"))


@dataclass(frozen=True, slots=True)
class _Own:
    """What an op computes itself, and the rule that said so."""

    work: Work | Unavailable
    rule: str


_NOTHING = _Own(NO_WORK, "")


def count_stablehlo(listing: Listing, jaxpr: Listing | None = None) -> ProgramCost:
    """Counts a module.

    Args:
        listing: The module; where it has several functions the one called ``main`` runs, and where there is none
            those that no other calls.
        jaxpr: What it was lowered from.

    Returns:
        The account. Ops of functions that nothing calls are not in it.
    """
    return _Accountant(Program(listing), jaxpr).account()


class _Accountant:
    def __init__(self, program: Program, jaxpr: Listing | None):
        self.program = program
        self.ops = program.listing.ops
        text = program.listing.text
        self.devices = math.prod(int(size) for size in _DEVICES.findall(program.listing.lines[0])) or 1
        self.meshes = {
            name: {axis: int(size) for axis, size in _AXIS_SIZE.findall(axes)} for name, axes in _MESH.findall(text)
        }
        self.by_text: dict[tuple[str, str, tuple[Work | Unavailable, ...]], _Own] = {}
        self.own: dict[int, _Own] = {}
        self.amounts: dict[int, Amount] = {}
        # Block to the first reason why what it computes is not known.
        self.reasons: dict[int, Unavailable | None] = {}
        self.conditionals: dict[int, Conditional] = {}
        self.loops: dict[int, Loop] = {}
        # The function that holds each block, or `TOP`; functions and regions come after what is around them.
        self.function_of: list[int] = []
        for number, block in enumerate(program.listing.blocks):
            around = self.function_of[block.parent] if block.parent != TOP else TOP
            self.function_of.append(number if block.kind == "func" else around)
        functions, called = program.functions, set(program.calls)
        self.entries = (
            [functions["main"]] if "main" in functions else [f for f in functions.values() if f not in called]
        )
        self.order = self.callers_first()
        reached = {TOP, *self.order}
        symbols = itertools.count(1)
        for index, (count, source) in read_trip_counts(program, jaxpr).items():
            if self.function_around(index) in reached:
                symbol = f"n{next(symbols)}" if isinstance(count, Unavailable) else ""
                self.loops[index] = Loop(index, count, symbol, source)
        self.manual: dict[int, int] = {}
        # Runs of ops in what is counted, and in branches that are not the dearest.
        self.runs: dict[bool, dict[int, Runs]] = {True: {}, False: {}}
        self.function_runs: dict[bool, dict[int, Runs]] = {True: {}, False: {}}

    def account(self) -> ProgramCost:
        # What is run before what runs it: functions call, and regions nest, deeper than Python's stack.
        regions: dict[int, list[int]] = {}
        for block, function in enumerate(self.function_of):
            regions.setdefault(function, []).append(block)
        for function in (*reversed(self.order), TOP):
            for block in (*reversed(regions.get(function, ())), function):
                self.amount(block)
        self.run(TOP, ONCE, is_counted=True)
        for entry in self.entries:
            self.function_runs[True][entry] = ONCE
        for function in self.order:
            for is_counted in (True, False):
                if (runs := self.function_runs[is_counted].get(function)) is not None:
                    self.run(function, runs, is_counted=is_counted)
        costs = []
        for index in sorted({*self.runs[True], *self.runs[False]}):
            is_counted = index in self.runs[True]
            own = self.own[index]
            costs.append(OpCost(index, own.work, self.runs[is_counted][index], is_counted, own.rule))
        return ProgramCost(
            ops=tuple(costs),
            loops=tuple(self.loops.values()),
            conditionals=tuple(self.conditionals[index] for index in sorted(self.conditionals)),
            notes=tuple(self.notes()),
        )

    def notes(self) -> Iterable[str]:
        """What has to be known to read the figures."""
        if any(loop.symbol for loop in self.loops.values()):
            yield "A symbol such as n1 stands for the mean number of steps of a loop each time it runs."
        for devices in sorted(set(self.manual.values())):
            if devices > 1:
                yield f"A manual computation runs on {devices} devices, and counts on each of them."

    # What a block computes in one run.

    def amount(self, block: int) -> Amount:
        """All that one run of a block computes, without what is not known."""
        if block not in self.amounts:
            # A function that calls itself is not valid, and counts once.
            self.amounts[block], self.reasons[block] = Amount(), None
            parts: list[tuple[Work, Runs]] = []
            reasons: list[Unavailable | None] = []
            for index in self.program.ops_in.get(block, ()):
                for inner, times in self.inner(index):
                    amount = self.amount(inner)
                    parts += ((work, _product(Runs.of({symbols: 1}), times)) for symbols, work in amount.terms)
                    reasons.append(self.reasons[inner])
                work = self.own_work(index).work
                if isinstance(work, Work):
                    parts.append((work, ONCE))
                else:
                    reasons.append(work)
            self.amounts[block] = Amount.total(parts)
            self.reasons[block] = next((reason for reason in reasons if reason is not None), None)
        return self.amounts[block]

    def inner(self, index: int) -> list[tuple[int, Runs]]:
        """The blocks that an op runs as they stand, and how often in one run of the op; of branches the dearest."""
        op = self.ops[index]
        regions = self.program.regions.get(index, ())
        if op.name in CALLS:
            callee = self.program.callee(index)
            return [(callee, ONCE)] if callee is not None else []
        if not regions or self.kind(op.name) != "control":
            return []
        if (loop := self.loops.get(index)) is not None:
            count = loop.symbol or loop.trip_count
            body = (regions[-1], ONCE.times(count))
            return [(regions[0], ONCE.times(count) + ONCE), body] if len(regions) > 1 else [body]
        if operation_name(op.name) in _BRANCHING:
            if index not in self.conditionals:
                branches = tuple(self.amount(region) for region in regions)
                dearest = max(range(len(branches)), key=lambda number: _dearness(branches[number]))
                self.conditionals[index] = Conditional(index, branches, dearest)
            return [(regions[self.conditionals[index].dearest], ONCE)]
        times = ONCE.times(self.manual_devices(index)) if op.name == "sdy.manual_computation" else ONCE
        return [(region, times) for region in regions]

    def manual_devices(self, index: int) -> int:
        """On how many devices a manual computation runs: the product of the sizes of its manual axes."""
        if index not in self.manual:
            text = self.program.own_text(index)
            axes, mesh = _MANUAL_AXES.search(text), _MESH_USE.search(text)
            sizes = self.meshes.get(mesh[1], {}) if mesh else {}
            named = re.findall(r'"([^"]*)"', axes[1]) if axes else []
            self.manual[index] = math.prod(sizes.get(axis, 1) for axis in named)
        return self.manual[index]

    def kind(self, name: str) -> Kind | None:
        """The kind of an op's rule, None for an op without one."""
        rule = rule_of(operation_name(name))
        return rule.kind if rule else None

    # What an op computes itself.

    def own_work(self, index: int) -> _Own:
        if index not in self.own:
            self.own[index] = self.find_work(index)
        return self.own[index]

    def find_work(self, index: int) -> _Own:
        op = self.ops[index]
        name = operation_name(op.name)
        rule = rule_of(name)
        if rule is None:
            return _Own(Unavailable(f"There is no rule for {op.name}."), "")
        if op.name in CALLS:
            known = self.program.callee(index) is not None
            return _NOTHING if known else _Own(Unavailable(f"The function of this {name} is not here."), rule.key)
        if rule.count is None:
            return _NOTHING
        text = self.program.own_text(index)
        bodies = tuple(self.body(region) for region in self.program.regions.get(index, ()))
        # Names differ from op to op, and no rule asks for them.
        kept = signature_of(text) if rule.key in _BY_TYPE else _NAMES.sub("%", text)
        key = (op.name, kept, bodies)
        if key not in self.by_text:
            self.by_text[key] = self.read(op.name, text, op.type, bodies, rule.key)
        return self.by_text[key]

    def read(self, name: str, text: str, result_type: str, bodies: tuple[Work | Unavailable, ...], rule: str) -> _Own:
        if name == "stablehlo.custom_call":
            found = _TARGET.search(text)
            target = (found[1] or found[2]).strip('"') if found else "a target without a name"
            given = signature_of(text).partition(" -> ")[0]
            call = Call(target, read_mlir_types(given), read_mlir_types(result_type), text)
            return _Own(*count_custom_call(call))
        if not bodies and (applied := re.search(r" applies ([\w.]+)", text)):
            bodies = (self.applied(applied[1], text),)
        operation = read_operation(name, text, result_type, bodies, self.meshes, self.devices)
        return _Own(count_work(operation), rule)

    def applied(self, name: str, text: str) -> Work | Unavailable:
        """The work of a reducer that is printed as one word, `applies stablehlo.add`, on scalars."""
        arrays = read_mlir_types(signature_of(text).partition(" -> ")[0])
        scalar = type(arrays[0])(arrays[0].element) if arrays else None
        if scalar is None:
            return Unavailable("The types of this reduction are not in its text.")
        return count_work(Operation(operation_name(name), (scalar, scalar), (scalar,)))

    def body(self, region: int) -> Work | Unavailable:
        """The work of one application of a region."""
        amount = self.amount(region)
        if (reason := self.reasons[region]) is not None:
            return reason
        return amount.known if amount.is_known else Unavailable("Its region holds a loop whose count is not known.")

    # How often things run.

    def run(self, block: int, runs: Runs, *, is_counted: bool) -> None:
        """Adds the runs of a block to its ops, and to what they run; to functions later, when all callers have said."""
        waiting = [(block, runs, is_counted)]
        while waiting:
            block, runs, is_counted = waiting.pop()
            for index in self.program.ops_in.get(block, ()):
                if self.own_work(index).work:
                    here = self.runs[is_counted]
                    here[index] = here.get(index, NEVER) + runs
                inner = self.inner(index)
                following = [(child, _product(runs, times), is_counted) for child, times in inner]
                if index in self.conditionals:
                    rest = (region for region in self.program.regions[index] if region != inner[0][0])
                    following += ((region, runs, False) for region in rest)
                for child, times, counts in following:
                    if self.program.listing.blocks[child].kind == "func":
                        called = self.function_runs[counts]
                        called[child] = called.get(child, NEVER) + times
                    else:
                        waiting.append((child, times, counts))

    def function_around(self, index: int) -> int:
        """The function that holds an op, or `TOP`."""
        block = self.ops[index].block
        return TOP if block == TOP else self.function_of[block]

    def callers_first(self) -> list[int]:
        """The functions that run, each after all that call it."""
        callees: dict[int, list[int]] = {}
        for callee, calls in self.program.calls.items():
            for call in calls:
                callees.setdefault(self.function_around(call), []).append(callee)
        order: list[int] = []
        seen: set[int] = set()
        stack = [(TOP, iter([*self.entries, *callees.get(TOP, ())]))]
        # Depth first, without Python's stack: a function goes to `order` when all below it are there.
        while stack:
            function, rest = stack[-1]
            following = next((callee for callee in rest if callee not in seen), None)
            if following is None:
                order.append(function)
                stack.pop()
            else:
                seen.add(following)
                stack.append((following, iter(callees.get(following, ()))))
        # All but `TOP`, which is the last to be done.
        return order[-2::-1]


def _dearness(amount: Amount) -> tuple[int, int, int]:
    work = amount.with_loops_once
    return (work.flops, work.transcendentals, work.integer_ops)


def _product(runs: Runs, times: Runs) -> Runs:
    """How often something runs that runs `times` in each of `runs`."""
    found = NEVER
    for symbols, number in times.terms:
        part = runs.times(number)
        for symbol in symbols:
            part = part.times(symbol)
        found += part
    return found
