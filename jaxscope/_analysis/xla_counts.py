"""XLA's own way of counting, instruction by instruction, to explain how its figures differ from ours.

Problem: `cost_analysis` gives three totals and not what they are made of. Input: the graph of a compiled module. Output:
what XLA's ``HloCostAnalysis`` enters for each instruction, and its totals to the unit, rounding included: it adds up in
single precision, in the order in which it visits. Nothing here is used for our own counts.

What it does, and we do not: a loop's body and condition once; of a conditional the most of any branch, for each figure
by itself; −1 FLOP and −1 byte for a custom call; one FLOP for each element of nearly everything, truth values, whole
numbers, selections and conversions included; the memory that a tuple's own table takes.
https://github.com/openxla/xla/blob/main/xla/service/hlo_cost_analysis.cc
"""

import math
import re
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from jaxscope._analysis.hlo_attributes import (
    numbers,
    read_convolution_numbers,
    read_window,
    valid_positions,
    whole,
)
from jaxscope._analysis.hlo_module import HloModule
from jaxscope._ir.model import Op
from jaxscope._ir.shapes import ArrayType, read_hlo_type

FIGURES = ("flops", "transcendentals", "bytes accessed")

_TRANSCENDENTAL = frozenset(
    (
        "atan2",
        "cbrt",
        "cosine",
        "erf",
        "exponential",
        "exponential-minus-one",
        "log",
        "log-plus-one",
        "logistic",
        "power",
        "rsqrt",
        "sine",
        "sqrt",
        "tan",
        "tanh",
    )
)
_ELEMENTWISE = frozenset(
    (
        "abs",
        "acos",
        "acosh",
        "add",
        "and",
        "asin",
        "asinh",
        "atanh",
        "bitcast-convert",
        "ceil",
        "clamp",
        "compare",
        "complex",
        "convert",
        "cosh",
        "count-leading-zeros",
        "divide",
        "erf",
        "floor",
        "imag",
        "is-finite",
        "maximum",
        "minimum",
        "multiply",
        "mulhi",
        "negate",
        "not",
        "or",
        "popcnt",
        "real",
        "reduce-precision",
        "remainder",
        "round-nearest-afz",
        "round-nearest-even",
        "select",
        "shift-left",
        "shift-right-arithmetic",
        "shift-right-logical",
        "sign",
        "sinh",
        "stochastic-convert",
        "subtract",
        "xor",
    )
)
_NO_BYTES = frozenset(
    ("parameter", "constant", "get-tuple-element", "bitcast", "domain", "after-all", "add-dependency")
)
# Numbers of this many bits and fewer are exact in single precision.
_EXACT_BITS = 24
_EXACT = 1 << _EXACT_BITS
_SINGLE = struct.Struct("f")


def single(value: float) -> float:
    """The nearest number in single precision."""
    return value if -_EXACT <= value <= _EXACT else _SINGLE.unpack(_SINGLE.pack(value))[0]


def add_single(values: Iterable[float]) -> float:
    """The sum from left to right, each step rounded to single precision."""
    total = 0.0
    for value in values:
        total = single(total + single(value))
    return total


@dataclass(frozen=True, slots=True)
class XlaConvention:
    """What differs between XLA's versions.

    Attributes:
        pointer_bytes: Bytes of an entry of a tuple's table.
        counts_results: Whether an instruction with several results is charged these, or the table that names them.
        pads_tiles: Whether arrays in tiles are as large as their whole tiles.
    """

    pointer_bytes: int
    counts_results: bool
    pads_tiles: bool


# Those of JAX 0.12, 0.10 and 0.8: a module does not say which XLA made it.
CONVENTIONS = (XlaConvention(4, True, True), XlaConvention(8, True, False), XlaConvention(8, False, False))


@dataclass(slots=True)
class XlaCount:
    """What XLA enters for something: exact, and as it comes out in single precision.

    Attributes:
        exact: FLOPs, transcendentals, bytes accessed.
        rounded: The same as XLA holds them.
    """

    exact: tuple[int, int, int]
    rounded: tuple[float, float, float]


_NONE = XlaCount((0, 0, 0), (0.0, 0.0, 0.0))
_UNKNOWN_CALL = XlaCount((-1, 0, -1), (-1.0, 0.0, -1.0))
_UNKNOWN_FUSED_CALL = XlaCount((-1, 0, 0), (-1.0, 0.0, 0.0))


@dataclass(slots=True)
class XlaTotals:
    """The whole module as XLA counts it.

    Attributes:
        total: Of the computation that runs.
        by_op: Each instruction that XLA visits, by index, once, without what it calls: a loop, a call or a conditional
            is not here, a fusion has its bytes only. None of the computations that are applied to elements is here:
            theirs is in the instruction that applies them.
        by_computation: Each computation that it visits, what it calls included, loops once, conditionals by XLA's rule.
    """

    total: XlaCount
    by_op: dict[int, tuple[int, int, int]]
    by_computation: dict[int, XlaCount]


@dataclass(frozen=True, slots=True)
class _Shape:
    """A type as XLA's cost analysis sees it: its arrays, the bytes of each, and those of a tuple's table of pointers."""

    arrays: tuple[ArrayType, ...]
    sizes: tuple[int, ...]
    own_bytes: int
    is_tuple: bool

    @property
    def elements(self) -> int:
        return self.arrays[0].elements if self.arrays else 0


# The bits of an element in memory, in a layout: `{0:E(4)}`
_ELEMENT_BITS = re.compile(r"\bE\((\d+)\)")
# Tiles in a layout, `T(8,128)(2,1)` of `{1,0:T(8,128)(2,1)S(1)}`
_TILES = re.compile(r"\bT((?:\([\d,]+\))+)")
_TILE = re.compile(r"\(([\d,]+)\)")  # (8,128)


def _array_bytes(array: ArrayType, text: str, pads_tiles: bool) -> int:
    """XLA's size of an array, whose type is printed with its layout."""
    elements = array.elements
    if pads_tiles and (tiles := _TILES.search(text)):
        order = _minor_to_major(text, len(array.dimensions))
        physical = tuple(max(0, array.dimensions[dimension]) for dimension in reversed(order))
        elements = _in_tiles(physical, tuple(numbers(tile) for tile in _TILE.findall(tiles[1])))
    bits = array.bits or 0
    if found := _ELEMENT_BITS.search(text):
        return -(-elements * int(found[1]) // 8)
    return elements * max(1, bits // 8) if bits else 0


def _in_tiles(dimensions: tuple[int, ...], tiles: tuple[tuple[int, ...], ...]) -> int:
    """Elements of the whole tiles that an array of these dimensions, major to minor, takes.

    A tile splits the last dimensions in tiles and places in one; the next one splits those of the outcome.
    """
    for tile in tiles:
        dimensions = (1,) * (len(tile) - len(dimensions)) + dimensions
        kept = len(dimensions) - len(tile)
        counts = (-(-size // width) for size, width in zip(dimensions[kept:], tile, strict=True))
        dimensions = (*dimensions[:kept], *counts, *tile)
    return math.prod(dimensions)


@lru_cache(maxsize=1 << 16)
def _leaves(text: str) -> tuple[str, ...]:
    """The parts of a tuple's type, or the type itself; comments as ``/*index=5*/`` left in."""
    if not text.startswith("("):
        return (text,)
    parts, depth, begin = [], 0, 1
    for index, character in enumerate(text):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
            if not depth and index > begin:
                parts.append(text[begin:index])
        elif character == "," and depth == 1:
            parts.append(text[begin:index])
            begin = index + 1
    return tuple(part.strip() for part in parts)


class _Counter:
    """Counts the computations of a module, each once."""

    def __init__(self, module: HloModule, convention: XlaConvention):
        self.module = module
        self.ops: Sequence[Op] = module.listing.ops
        self.convention = convention
        self.by_op: dict[int, tuple[int, int, int]] = {}
        self.by_computation: dict[int, XlaCount] = {}
        self.shapes: dict[str, _Shape] = {}
        self.applied: dict[int, XlaCount] = {}
        self.memo: dict[tuple[object, ...], XlaCount] = {}
        self.open: set[int] = set()
        # Whether what is being counted stands in a fusion: its bytes are not asked for.
        self.is_fused = False

    # Types

    def shape(self, number: int) -> _Shape:
        if number < 0:
            return _NO_SHAPE
        text = self.ops[number].type
        if (found := self.shapes.get(text)) is None:
            found = self.shapes[text] = self._read_shape(text)
        return found

    def _read_shape(self, text: str) -> _Shape:
        arrays: list[ArrayType] = []
        sizes: list[int] = []
        own = 0
        parts = _leaves(text)
        is_tuple = text.startswith("(")
        if is_tuple:
            own = self.convention.pointer_bytes * len(parts)
            for part in parts:
                part = part.rpartition("*/")[2].strip()
                inner = self._read_shape(part)
                arrays += inner.arrays
                sizes += inner.sizes
        else:
            arrays += (found := read_hlo_type(text))
            sizes += (_array_bytes(array, text, self.convention.pads_tiles) for array in found)
            if text.startswith("opaque"):
                own = 8
        return _Shape(tuple(arrays), tuple(sizes), own, is_tuple)

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
            return _NONE
        self.open.add(number)
        outside, self.is_fused = self.is_fused, is_fused
        counted = [(op, count) for op in self.module.members[number] if (count := self.count(op))]
        self.is_fused = outside
        self.open.discard(number)
        exact = tuple(sum(count.exact[figure] for _, count in counted) for figure in range(3))
        rounded = tuple(float(value) for value in exact)
        if any(self._may_round(counted, figure) for figure in range(3)):
            order = {op: place for place, op in enumerate(self._visiting_order(number))}
            counted.sort(key=lambda pair: order.get(pair[0], -1))
            rounded = tuple(add_single(count.rounded[figure] for _, count in counted) for figure in range(3))
        result = self.by_computation[number] = XlaCount(exact, rounded)
        return result

    @staticmethod
    def _may_round(counted: list[tuple[int, XlaCount]], figure: int) -> bool:
        """Whether a sum in single precision can differ from the exact one.

        It cannot where all are multiples of one power of two, and their sum is less than 2^24 times that.
        """
        bits, total = 0, 0
        for _, count in counted:
            value = count.exact[figure]
            if value != count.rounded[figure]:
                return True
            bits |= value
            total += abs(value)
        return total >= (bits & -bits) << _EXACT_BITS if bits else False

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
        if name in _NO_BYTES:
            return None
        handler = _HANDLERS.get(name)
        if handler is None:
            # One figure of its type alone, and bytes by its operands' types.
            is_work = name in _ELEMENTWISE or name in _TRANSCENDENTAL
            if not is_work and self.is_fused:
                return None
            key: tuple[object, ...] = (name, op.type)
            if not self.is_fused:
                key += tuple([self.ops[operand].type for operand in self.module.operands[number] if operand >= 0])
            if (found := self.memo.get(key)) is None:
                elements = self.elements(number) if is_work else 0
                figures = (0, elements) if name in _TRANSCENDENTAL else (elements, 0)
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


_NO_SHAPE = _Shape((), (), 0, False)
_Handler = Callable[[_Counter, int], XlaCount | None]


def _no_figures(addends: Callable[[_Counter, int], Sequence[int]]) -> _Handler:
    return lambda counter, number: counter.record(number, (0, 0), addends(counter, number))


def _slice(counter: _Counter, number: int) -> Sequence[int]:
    return (2 * counter.size(number),)


def _dynamic_slice(counter: _Counter, number: int) -> Sequence[int]:
    return (2 * counter.size(number) + counter.size(counter.operand(number, 1)),)


def _dynamic_update_slice(counter: _Counter, number: int) -> Sequence[int]:
    return (2 * counter.size(counter.operand(number, 1)) + counter.size(counter.operand(number, 2)),)


def _gather(counter: _Counter, number: int) -> Sequence[int]:
    return (2 * counter.size(number) + counter.size(counter.operand(number, 1)),)


def _own_table(counter: _Counter, number: int) -> Sequence[int]:
    return (counter.size(number),)


def _transpose(counter: _Counter, number: int) -> XlaCount | None:
    if _is_bitcast(counter, number):
        return None
    return counter.record(number, (0, 0), counter.default_bytes(number))


# {1,0:T(8,128)} and {1,0}
def _minor_to_major(type_text: str, rank: int) -> tuple[int, ...]:
    start = type_text.find("]{")
    if start < 0:
        return tuple(reversed(range(rank)))
    found = numbers(type_text[start + 2 :].partition("}")[0].partition(":")[0])
    return found if len(found) == rank else tuple(reversed(range(rank)))


def _is_bitcast(counter: _Counter, number: int) -> bool:
    """Whether a transposition leaves the bytes where they are: the layouts of operand and result undo it."""
    ops, operand = counter.ops, counter.operand(number, 0)
    permutation = numbers(counter.module.attributes(number).get("dimensions", ""))
    if operand < 0:
        return False
    before, after = counter.shape(operand), counter.shape(number)
    if not before.arrays or not after.arrays or before.arrays[0].element != after.arrays[0].element:
        return False
    rank = len(permutation)
    source = _minor_to_major(ops[operand].type, rank)
    target = _minor_to_major(ops[number].type, rank)
    # Dimensions of one element have no place in memory.
    sizes = after.arrays[0].dimensions
    moved = [permutation[dimension] for dimension in target if sizes[dimension] != 1]
    kept = [dimension for dimension in source if before.arrays[0].dimensions[dimension] != 1]
    return moved == kept


def _dot(counter: _Counter, number: int) -> XlaCount:
    left = counter.shape(counter.operand(number, 0))
    width = 1
    for dimension in numbers(counter.module.attributes(number).get("lhs_contracting_dims", "")):
        if left.arrays and dimension < len(left.arrays[0].dimensions):
            width *= left.arrays[0].dimensions[dimension]
    return counter.record(number, (2 * counter.elements(number) * width, 0), counter.default_bytes(number))


def _convolution(counter: _Counter, number: int) -> XlaCount:
    attributes = counter.module.attributes(number)
    labels = read_convolution_numbers(attributes.get("dim_labels", ""))
    window = read_window(attributes.get("window", ""))
    shapes = [counter.shape(operand) for operand in counter.module.operands[number][:2]]
    flops = 0
    if labels is not None and len(shapes) == 2 and all(shape.arrays for shape in shapes):
        inputs = shapes[0].arrays[0].dimensions
        outputs = counter.shape(number).arrays[0].dimensions
        if len(window) == len(labels.input_spatial):
            positions = valid_positions(
                window,
                tuple(inputs[dimension] for dimension in labels.input_spatial),
                tuple(outputs[dimension] for dimension in labels.output_spatial),
            )
            flops = (
                2
                * (inputs[labels.input_feature] // whole(attributes, "feature_group_count", 1))
                * outputs[labels.output_feature]
                * (inputs[labels.input_batch] // whole(attributes, "batch_group_count", 1))
                * math.prod(positions)
            )
    return counter.record(number, (flops, 0), counter.default_bytes(number))


def _map(counter: _Counter, number: int) -> XlaCount:
    return counter.apply(number, [("to_apply", counter.elements(number))], counter.default_bytes(number))


def _reduce(counter: _Counter, number: int) -> XlaCount:
    count = counter.elements(counter.operand(number, 0)) - counter.elements(number)
    return counter.apply(number, [("to_apply", count)], counter.default_bytes(number))


def _reduce_window(counter: _Counter, number: int) -> XlaCount:
    window = read_window(counter.module.attributes(number).get("window", ""))
    results = counter.elements(number)
    count = (math.prod(dimension.size for dimension in window) - 1) * results
    # XLA takes a sum that is written to every place of its dimension for one sum.
    shape = counter.shape(number)
    wide = [place for place, dimension in enumerate(window) if dimension.size != 1]
    padded = [dimension for dimension in window if dimension.padding_low or dimension.padding_high]
    if len(wide) == len(padded) == 1 and not shape.is_tuple:
        dimension = window[wide[0]]
        reach = dimension.padding_low
        if (
            reach
            and reach == dimension.padding_high
            and dimension.size == 2 * reach + 1
            and reach == shape.arrays[0].dimensions[wide[0]] - 1
        ):
            count = results // (reach + 1) + reach
    return counter.apply(number, [("to_apply", count)], counter.default_bytes(number))


def _select_and_scatter(counter: _Counter, number: int) -> XlaCount:
    window = read_window(counter.module.attributes(number).get("window", ""))
    sources = counter.elements(counter.operand(number, 1))
    selections = sources * (math.prod(dimension.size for dimension in window) - 1)
    return counter.apply(number, [("select", selections), ("scatter", sources)], counter.default_bytes(number))


def _scatter(counter: _Counter, number: int) -> XlaCount:
    operands = counter.module.operands[number]
    count = (len(operands) - 1) // 2
    updates = operands[count + 1 :]
    indices = counter.size(operands[count]) if count < len(operands) else 0
    moved = 3 * sum(counter.size(update) for update in updates) + indices
    elements = counter.elements(updates[0]) if updates else 0
    return counter.apply(number, [("to_apply", elements)], (moved,))


def _fft(counter: _Counter, number: int) -> XlaCount:
    factors = 1
    for length in numbers(counter.module.attributes(number).get("fft_length", "")):
        factors *= max(0, length.bit_length() - 1)
    flops = 2 * 4 * factors * counter.elements(counter.operand(number, 0))
    return counter.record(number, (flops, 0), counter.default_bytes(number))


def _triangular_solve(counter: _Counter, number: int) -> XlaCount:
    left, right = counter.operand(number, 0), counter.operand(number, 1)
    dimensions = counter.shape(left).arrays[0].dimensions if counter.shape(left).arrays else (0,)
    flops = 2 * dimensions[-1] * counter.elements(right)
    return counter.record(number, (flops, 0), (counter.size(number), counter.size(left) // 2, counter.size(right)))


def _cholesky(counter: _Counter, number: int) -> XlaCount:
    matrix = counter.operand(number, 0)
    dimensions = counter.shape(matrix).arrays[0].dimensions if counter.shape(matrix).arrays else (0,)
    flops = dimensions[-1] * counter.elements(matrix) // 3
    return counter.record(number, (flops, 0), (counter.size(matrix) // 2, counter.size(matrix) // 2))


def _sort(counter: _Counter, number: int) -> XlaCount:
    elements = counter.elements(counter.operand(number, 0))
    steps = max(0, elements - 1).bit_length()
    return counter.record(number, (elements * steps, 0), counter.default_bytes(number))


def _all_reduce(counter: _Counter, number: int) -> XlaCount:
    shape = counter.shape(number)
    moved = sum(shape.sizes) + sum(counter.size(operand) for operand in counter.module.operands[number])
    flops = sum(array.elements for array in shape.arrays)
    return counter.record(number, (flops, 0), (moved,))


def _random(counter: _Counter, number: int) -> XlaCount:
    elements = sum(array.elements for array in counter.shape(number).arrays)
    return counter.record(number, (0, elements), counter.default_bytes(number))


def _slice_start(counter: _Counter, number: int) -> XlaCount:
    """Another way to print an asynchronous slice: its type is of operands, results and a mark."""
    sizes = counter.shape(number).sizes
    return counter.record(number, (0, 0), (2 * sizes[1],) if len(sizes) > 1 else ())


def _infeed(counter: _Counter, number: int) -> Sequence[int]:
    return (sum(counter.shape(number).sizes),)


def _outfeed(counter: _Counter, number: int) -> Sequence[int]:
    return tuple(sum(counter.shape(operand).sizes) for operand in counter.module.operands[number])


def _custom_call(counter: _Counter, number: int) -> XlaCount:
    found = _UNKNOWN_FUSED_CALL if counter.is_fused else _UNKNOWN_CALL
    counter.by_op[number] = found.exact
    return found


def _call(counter: _Counter, number: int) -> XlaCount | None:
    called = counter.module.called(number)
    return counter.computation(called[0]) if called else None


def _while(counter: _Counter, number: int) -> XlaCount | None:
    return _sum(
        [
            counter.computation(computation)
            for attribute in ("body", "condition")
            for computation in counter.module.called(number, attribute)
        ]
    )


def _sum(parts: Sequence[XlaCount]) -> XlaCount:
    exact = [sum(part.exact[figure] for part in parts) for figure in range(3)]
    rounded = [add_single(part.rounded[figure] for part in parts) for figure in range(3)]
    return XlaCount((exact[0], exact[1], exact[2]), (rounded[0], rounded[1], rounded[2]))


def _conditional(counter: _Counter, number: int) -> XlaCount | None:
    branches = [counter.computation(branch) for branch in counter.module.branches(number)]
    if not branches:
        return None
    exact = [max(branch.exact[figure] for branch in branches) for figure in range(3)]
    rounded = [max(branch.rounded[figure] for branch in branches) for figure in range(3)]
    return XlaCount((exact[0], exact[1], exact[2]), (rounded[0], rounded[1], rounded[2]))


def _fusion(counter: _Counter, number: int) -> XlaCount | None:
    called = counter.module.called(number, "calls")
    if not called:
        return None
    if counter.module.attributes(number).get("kind") == "kCustom" and not counter.is_fused:
        # Of a custom fusion that gathers or scatters, that instruction stands for all.
        for member in counter.module.members[called[0]]:
            if counter.ops[member].name in ("gather", "scatter"):
                found = _HANDLERS[counter.ops[member].name](counter, member)
                counter.by_op[number] = counter.by_op.pop(member)
                return found
    inner = counter.computation(called[0], is_fused=True)
    if counter.is_fused:
        return inner
    addends = [*_written(counter, number, called[0]), *_constants(counter, called[0])]
    addends += (_parameter_bytes(counter, parameter) for parameter in counter.module.parameters(called[0]))
    moved = sum(addends)
    counter.by_op[number] = (0, 0, moved)
    return XlaCount((*inner.exact[:2], moved), (*inner.rounded[:2], add_single(addends)))


def _written(counter: _Counter, number: int, computation: int) -> list[int]:
    """The arrays that a fusion gives; of one that updates a slice in place, the slice."""
    ops, module = counter.ops, counter.module
    root = module.roots[computation]
    sizes = list(counter.shape(number).sizes)
    if root < 0:
        return sizes
    if not counter.shape(number).is_tuple:
        parts = (root,)
    elif ops[root].name == "tuple":
        parts = module.operands[root]
    else:
        parts = ()
    for place, part in enumerate(parts[: len(sizes)]):
        if part >= 0 and ops[part].name == "dynamic-update-slice":
            sizes[place] = counter.size(counter.operand(part, 1))
    return sizes


def _constants(counter: _Counter, computation: int) -> list[int]:
    """The constants of a fusion that are more than one number."""
    ops = counter.ops
    return [
        counter.size(number)
        for number in counter.module.members[computation]
        if ops[number].name == "constant" and counter.elements(number) > 1
    ]


def _parameter_bytes(counter: _Counter, parameter: int) -> int:
    """What a fusion reads of a parameter, by its users; for one that is a tuple, of its parts."""
    if parameter < 0:
        return 0
    module, ops = counter.module, counter.ops
    if counter.shape(parameter).is_tuple:
        parts = {
            module.attributes(user).get("index"): user
            for user in reversed(module.passed_to.get(parameter, ()))
            if ops[user].name == "get-tuple-element"
        }
        return sum(_parameter_bytes(counter, part) for part in parts.values())
    own = counter.size(parameter)
    total = 0
    is_read = False
    for user in module.passed_to.get(parameter, ()):
        name = ops[user].name
        operands = module.operands[user]
        if name == "slice" or (name == "dynamic-slice" and operands[0] == parameter):
            total += counter.size(user)
        elif name == "fusion":
            for computation in module.called(user, "calls"):
                inner = module.parameters(computation)
                for place, operand in enumerate(operands):
                    if operand == parameter and place < len(inner):
                        total += _parameter_bytes(counter, inner[place])
        elif name in ("broadcast", "reshape"):
            total += own
        elif name == "dynamic-update-slice" and operands[0] == parameter:
            continue
        elif not is_read:
            is_read = True
            total += own
    return total


_HANDLERS: dict[str, _Handler] = {
    "all-reduce": _all_reduce,
    "all-reduce-start": _all_reduce,
    "async-start": _call,
    "call": _call,
    "cholesky": _cholesky,
    "conditional": _conditional,
    "convolution": _convolution,
    "custom-call": _custom_call,
    "dot": _dot,
    "dynamic-slice": _no_figures(_dynamic_slice),
    "dynamic-update-slice": _no_figures(_dynamic_update_slice),
    "fft": _fft,
    "fusion": _fusion,
    "gather": _no_figures(_gather),
    "infeed": _no_figures(_infeed),
    "map": _map,
    "outfeed": _no_figures(_outfeed),
    "reduce": _reduce,
    "reduce-window": _reduce_window,
    "rng": _random,
    "rng-bit-generator": _random,
    "scatter": _scatter,
    "select-and-scatter": _select_and_scatter,
    "slice-start": _slice_start,
    "slice": _no_figures(_slice),
    "sort": _sort,
    "transpose": _transpose,
    "triangular-solve": _triangular_solve,
    "tuple": _no_figures(_own_table),
    "while": _while,
}


def count_as_xla(module: HloModule, convention: XlaConvention = CONVENTIONS[0]) -> XlaTotals:
    """What XLA's cost analysis makes of a compiled module.

    Args:
        module: Its graph.
        convention: Of which version.
    """
    counter = _Counter(module, convention)
    total = counter.computation(module.entry) if module.entry >= 0 else _NONE
    return XlaTotals(total, counter.by_op, counter.by_computation)
