"""XLA's own way of counting, instruction by instruction, to explain how its figures differ from ours.

Problem: `cost_analysis` gives three totals and not what they are made of. Input: the graph of a compiled module.
Output: what XLA's ``HloCostAnalysis`` enters for each instruction, and its totals to the unit, rounding included: it
adds up in single precision, in the order in which it visits. Nothing here is used for our own counts.

What it does, and we do not: a loop's body and condition once; of a conditional the most of any branch, for each figure
by itself; −1 FLOP and −1 byte for a custom call; one FLOP for each element of nearly everything, truth values, whole
numbers, selections and conversions included; the memory that a tuple's own table takes.
https://github.com/openxla/xla/blob/main/xla/service/hlo_cost_analysis.cc
"""

from collections.abc import Sequence
from dataclasses import dataclass

from jaxscope._analysis.hlo_module import HloModule
from jaxscope._analysis.xla_instructions import ELEMENTWISE, FREE, HANDLERS, NOTHING, TRANSCENDENTAL, XlaCount
from jaxscope._analysis.xla_sizes import (
    CONVENTIONS,
    EXACT_BITS,
    NO_SHAPE,
    Shape,
    XlaConvention,
    add_single,
    read_shape,
    single,
)
from jaxscope._ir.model import Op

FIGURES = ("flops", "transcendentals", "bytes accessed")


@dataclass(slots=True)
class XlaTotals:
    """The whole module as XLA counts it.

    Attributes:
        total: Of the computation that runs.
        by_op: Each instruction that XLA visits, by index, once, without what it calls: a loop, a call or a conditional
            is not here, a fusion has its bytes only. None of the computations that are applied to elements is here:
            theirs is in the instruction that applies them.
        by_computation: Each computation that it visits, what it calls included, loops once, conditionals by XLA's rule.
        convention: How it counts.
    """

    total: XlaCount
    by_op: dict[int, tuple[int, int, int]]
    by_computation: dict[int, XlaCount]
    convention: XlaConvention


def _exact_sum(counted: Sequence[tuple[int, XlaCount]]) -> tuple[tuple[int, int, int], bool]:
    """The sum of all counts, and whether one in single precision can differ from it.

    It cannot where all are multiples of one power of two, and their sum is less than 2^24 times that.
    """
    flops = transcendentals = size_bytes = 0
    flops_bits = transcendentals_bits = size_bits = 0
    flops_size = transcendentals_size = bytes_size = 0
    may_round = False
    for _, count in counted:
        one, two, three = exact = count.exact
        may_round = may_round or exact != count.rounded
        flops += one
        transcendentals += two
        size_bytes += three
        flops_bits |= one
        transcendentals_bits |= two
        size_bits |= three
        flops_size += abs(one)
        transcendentals_size += abs(two)
        bytes_size += abs(three)
    sizes = ((flops_bits, flops_size), (transcendentals_bits, transcendentals_size), (size_bits, bytes_size))
    may_round = may_round or any(bits and size >= (bits & -bits) << EXACT_BITS for bits, size in sizes)
    return (flops, transcendentals, size_bytes), may_round


class Counter:
    """Counts the computations of a module, each once."""

    def __init__(self, module: HloModule, convention: XlaConvention):
        self.module = module
        self.ops: Sequence[Op] = module.listing.ops
        self.convention = convention
        self.by_op: dict[int, tuple[int, int, int]] = {}
        self.by_computation: dict[int, XlaCount] = {}
        self.shapes: dict[str, Shape] = {}
        self.applied: dict[int, XlaCount] = {}
        self.memo: dict[tuple[object, ...], XlaCount] = {}
        self.open: set[int] = set()
        # Whether what is being counted stands in a fusion: its bytes are not asked for.
        self.is_fused = False

    # Types

    def shape(self, number: int) -> Shape:
        if number < 0:
            return NO_SHAPE
        text = self.ops[number].type
        if (found := self.shapes.get(text)) is None:
            found = self.shapes[text] = read_shape(text, self.convention)
        return found

    def size(self, number: int) -> int:
        """XLA's size of a value: of a tuple, the table of pointers alone."""
        shape = self.shape(number)
        return shape.own_bytes if shape.is_tuple or not shape.sizes else shape.sizes[0]

    def elements(self, number: int) -> int:
        return self.shape(number).elements

    # Computations

    def computation(self, number: int, *, is_fused: bool = False) -> XlaCount:
        """What XLA sums over a computation; of a fused one the bytes are not asked for."""
        if (found := self.by_computation.get(number)) is not None:
            return found
        if number in self.open:
            return NOTHING
        self.open.add(number)
        outside, self.is_fused = self.is_fused, is_fused
        ops = self.ops
        counted = [
            (op, count)
            for op in self.module.members[number]
            if ops[op].name not in FREE and (count := self.count(op)) is not None
        ]
        self.is_fused = outside
        self.open.discard(number)
        exact, may_round = _exact_sum(counted)
        rounded = (float(exact[0]), float(exact[1]), float(exact[2]))
        if may_round:
            order = {op: place for place, op in enumerate(self._visiting_order(number))}
            counted.sort(key=lambda pair: order.get(pair[0], -1))
            flops, transcendentals, size_bytes = (
                add_single(count.rounded[figure] for _, count in counted) for figure in range(3)
            )
            rounded = (flops, transcendentals, size_bytes)
        result = self.by_computation[number] = XlaCount(exact, rounded)
        return result

    def _visiting_order(self, computation: int) -> list[int]:
        """Instructions as XLA visits them: operands first, from the roots; those that nothing uses before the root.

        The order of the sum decides how it is rounded. Control predecessors are operands to the visit.
        """
        module = self.module
        members = module.members[computation]
        used = {operand for op in members for operand in module.operands[op]}
        predecessors = self._control_predecessors(members)
        for before in predecessors.values():
            used.update(before)
        root = module.roots[computation]
        starts = [op for op in members if op not in used and op != root]
        if root >= 0:
            starts.append(root)
        order: list[int] = []
        state = dict.fromkeys(members, 0)
        for start in starts:
            stack = [start]
            while stack:
                op = stack[-1]
                if state[op]:
                    stack.pop()
                    if state[op] == 1:
                        state[op] = 2
                        order.append(op)
                    continue
                state[op] = 1
                children = [*module.operands[op], *predecessors.get(op, ())]
                stack += (child for child in reversed(children) if child in state and not state[child])
        return order

    def _control_predecessors(self, members: range) -> dict[int, tuple[int, ...]]:
        found: dict[int, tuple[int, ...]] = {}
        lines, ops = self.module.listing.lines, self.ops
        names: dict[str, int] | None = None
        for op in members:
            if "control-predecessors=" in lines[ops[op].line]:
                if names is None:
                    names = {ops[number].results[0]: number for number in members}
                listed = self.module.attributes(op).get("control-predecessors", "").strip("{}")
                found[op] = tuple(names[name] for part in listed.split(",") if (name := part.strip()) in names)
        return found

    # Instructions

    def count(self, number: int) -> XlaCount | None:
        """What XLA enters for an instruction and all that it calls; None for nothing."""
        op = self.ops[number]
        name = op.name
        if name in FREE:
            return None
        handler = HANDLERS.get(name)
        if handler is None:
            # One figure of its type alone, and bytes by its operands' types.
            is_work = name in ELEMENTWISE
            if not is_work and self.is_fused:
                return None
            key: tuple[object, ...] = (name, op.type)
            if not self.is_fused:
                key += tuple([self.ops[operand].type for operand in self.module.operands[number] if operand >= 0])
            if (found := self.memo.get(key)) is None:
                elements = self.elements(number) if is_work else 0
                figures = (0, elements) if name in TRANSCENDENTAL else (elements, 0)
                found = self.memo[key] = self._entry(figures, self.default_bytes(number))
            self.by_op[number] = found.exact
            return found
        return handler(self, number)

    def _entry(self, figures: tuple[int, int], addends: Sequence[int]) -> XlaCount:
        return XlaCount(
            (*figures, sum(addends)), (single(float(figures[0])), single(float(figures[1])), add_single(addends))
        )

    def default_bytes(self, number: int) -> list[int]:
        """The result and every operand, whole."""
        if self.is_fused:
            return []
        shape = self.shape(number)
        given = sum(shape.sizes) if shape.is_tuple and self.convention.counts_results else self.size(number)
        return [given, *(self.size(operand) for operand in self.module.operands[number])]

    def record(self, number: int, figures: tuple[int, int], addends: Sequence[int]) -> XlaCount:
        found = self._entry(figures, () if self.is_fused else addends)
        self.by_op[number] = found.exact
        return found

    def operand(self, number: int, position: int) -> int:
        operands = self.module.operands[number]
        return operands[position] if position < len(operands) else -1

    def apply(self, number: int, times: Sequence[tuple[str, int]], addends: Sequence[int]) -> XlaCount:
        """An instruction that applies computations to elements: those that attributes name, so many times each."""
        addends = () if self.is_fused else addends
        exact, rounded = [0, 0], [0.0, 0.0]
        for attribute, count in times:
            for computation in self.module.called(number, attribute):
                inner = self._applied(computation)
                for figure in range(2):
                    exact[figure] += inner.exact[figure] * count
                    rounded[figure] = single(rounded[figure] + single(inner.rounded[figure] * single(float(count))))
        found = XlaCount((*exact, sum(addends)), (*rounded, add_single(addends)))
        self.by_op[number] = found.exact
        return found

    def _applied(self, computation: int) -> XlaCount:
        """A computation that is applied to elements; its instructions stand for nothing of their own."""
        if (found := self.applied.get(computation)) is None:
            outside, self.by_op = self.by_op, {}
            found = self.applied[computation] = self.computation(computation, is_fused=True)
            self.by_op = outside
        return found


def count_as_xla(module: HloModule, convention: XlaConvention = CONVENTIONS[0]) -> XlaTotals:
    """What XLA's cost analysis makes of a compiled module.

    Args:
        module: Its graph.
        convention: Of which version.
    """
    counter = Counter(module, convention)
    total = counter.computation(module.entry) if module.entry >= 0 else NOTHING
    return XlaTotals(total, counter.by_op, counter.by_computation, convention)
