"""What XLA's cost analysis enters for one instruction, by opcode.

Problem: each opcode has a rule of its own there. Input: the counter of a module and the index of an instruction.
Output: its `XlaCount`, which the counter also keeps; None for what costs XLA nothing.

Written from the behaviour that XLA documents in its source:
https://github.com/openxla/xla/blob/main/xla/service/hlo_cost_analysis.cc
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxscope._analysis.hlo_attributes import numbers, read_convolution_numbers, read_window, whole
from jaxscope._analysis.xla_of_tpu import custom_call_of_tpu, gather_or_scatter, whole_tiles
from jaxscope._analysis.xla_sizes import add_single, is_bitcast, valid_positions

if TYPE_CHECKING:
    from jaxscope._analysis.xla_counts import Counter


def _opcodes(text: str) -> frozenset[str]:
    return frozenset(text.split())


TRANSCENDENTAL = _opcodes(
    "atan2 cbrt cosine erf exponential exponential-minus-one log log-plus-one logistic power rsqrt sine sqrt tan tanh"
)
ELEMENTWISE = TRANSCENDENTAL | _opcodes(
    "abs acos acosh add and asin asinh atanh bitcast-convert ceil clamp compare complex convert cosh"
    " count-leading-zeros divide floor imag is-finite maximum minimum mulhi multiply negate not or popcnt real"
    " reduce-precision remainder round-nearest-afz round-nearest-even select shift-left shift-right-arithmetic"
    " shift-right-logical sign sinh stochastic-convert subtract xor"
)
# What XLA charges nothing for, not even its result.
FREE = _opcodes("parameter constant get-tuple-element bitcast domain after-all add-dependency")


@dataclass(slots=True)
class XlaCount:
    """What XLA enters for something: exact, and as it comes out in single precision.

    Attributes:
        exact: FLOPs, transcendentals, bytes accessed.
        rounded: The same as XLA holds them.
    """

    exact: tuple[int, int, int]
    rounded: tuple[float, float, float]


NOTHING = XlaCount((0, 0, 0), (0.0, 0.0, 0.0))
_UNKNOWN_CALL = XlaCount((-1, 0, -1), (-1.0, 0.0, -1.0))
_UNKNOWN_FUSED_CALL = XlaCount((-1, 0, 0), (-1.0, 0.0, 0.0))

Handler = Callable[["Counter", int], XlaCount | None]


def _no_figures(addends: Callable[["Counter", int], Sequence[int]]) -> Handler:
    return lambda counter, number: counter.record(number, (0, 0), addends(counter, number))


def _slice(counter: "Counter", number: int) -> Sequence[int]:
    return (2 * counter.size(number),)


def _dynamic_slice(counter: "Counter", number: int) -> Sequence[int]:
    return (2 * counter.size(number) + counter.size(counter.operand(number, 1)),)


def _gather(counter: "Counter", number: int) -> Sequence[int]:
    read = whole_tiles(counter, number, "collapsed_slice_dims")
    return ((1 + read) * counter.size(number) + counter.size(counter.operand(number, 1)),)


def _dynamic_update_slice(counter: "Counter", number: int) -> Sequence[int]:
    return (2 * counter.size(counter.operand(number, 1)) + counter.size(counter.operand(number, 2)),)


def _own_table(counter: "Counter", number: int) -> Sequence[int]:
    return (counter.size(number),)


def _transpose(counter: "Counter", number: int) -> XlaCount | None:
    operand = counter.operand(number, 0)
    permutation = numbers(counter.module.attributes(number).get("dimensions", ""))
    if operand >= 0 and is_bitcast(counter.ops[operand].type, counter.ops[number].type, permutation):
        return None
    return counter.record(number, (0, 0), counter.default_bytes(number))


def _dot(counter: "Counter", number: int) -> XlaCount:
    left = counter.shape(counter.operand(number, 0))
    width = 1
    for dimension in numbers(counter.module.attributes(number).get("lhs_contracting_dims", "")):
        if left.arrays and dimension < len(left.arrays[0].dimensions):
            width *= left.arrays[0].dimensions[dimension]
    return counter.record(number, (2 * counter.elements(number) * width, 0), counter.default_bytes(number))


def _convolution(counter: "Counter", number: int) -> XlaCount:
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


def _map(counter: "Counter", number: int) -> XlaCount:
    return counter.apply(number, [("to_apply", counter.elements(number))], counter.default_bytes(number))


def _reduce(counter: "Counter", number: int) -> XlaCount:
    count = counter.elements(counter.operand(number, 0)) - counter.elements(number)
    return counter.apply(number, [("to_apply", count)], counter.default_bytes(number))


def _reduce_window(counter: "Counter", number: int) -> XlaCount:
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


def _select_and_scatter(counter: "Counter", number: int) -> XlaCount:
    window = read_window(counter.module.attributes(number).get("window", ""))
    sources = counter.elements(counter.operand(number, 1))
    selections = sources * (math.prod(dimension.size for dimension in window) - 1)
    return counter.apply(number, [("select", selections), ("scatter", sources)], counter.default_bytes(number))


def _scatter(counter: "Counter", number: int) -> XlaCount:
    operands = counter.module.operands[number]
    count = (len(operands) - 1) // 2
    updates = operands[count + 1 :]
    indices = counter.size(operands[count]) if count < len(operands) else 0
    # The updates, and what they go to, read and written.
    times = 1 + 2 * whole_tiles(counter, number, "inserted_window_dims")
    moved = times * sum(counter.size(update) for update in updates) + indices
    elements = counter.elements(updates[0]) if updates else 0
    return counter.apply(number, [("to_apply", elements)], (moved,))


def _fft(counter: "Counter", number: int) -> XlaCount:
    factors = 1
    for length in numbers(counter.module.attributes(number).get("fft_length", "")):
        factors *= max(0, length.bit_length() - 1)
    flops = 2 * 4 * factors * counter.elements(counter.operand(number, 0))
    return counter.record(number, (flops, 0), counter.default_bytes(number))


def _triangular_solve(counter: "Counter", number: int) -> XlaCount:
    left, right = counter.operand(number, 0), counter.operand(number, 1)
    dimensions = counter.shape(left).arrays[0].dimensions if counter.shape(left).arrays else (0,)
    flops = 2 * dimensions[-1] * counter.elements(right)
    return counter.record(number, (flops, 0), (counter.size(number), counter.size(left) // 2, counter.size(right)))


def _cholesky(counter: "Counter", number: int) -> XlaCount:
    matrix = counter.operand(number, 0)
    dimensions = counter.shape(matrix).arrays[0].dimensions if counter.shape(matrix).arrays else (0,)
    flops = dimensions[-1] * counter.elements(matrix) // 3
    return counter.record(number, (flops, 0), (counter.size(matrix) // 2, counter.size(matrix) // 2))


def _sort(counter: "Counter", number: int) -> XlaCount:
    elements = counter.elements(counter.operand(number, 0))
    steps = max(0, elements - 1).bit_length()
    return counter.record(number, (elements * steps, 0), counter.default_bytes(number))


def _all_reduce(counter: "Counter", number: int) -> XlaCount:
    shape = counter.shape(number)
    moved = sum(shape.sizes) + sum(counter.size(operand) for operand in counter.module.operands[number])
    flops = sum(array.elements for array in shape.arrays)
    return counter.record(number, (flops, 0), (moved,))


def _random(counter: "Counter", number: int) -> XlaCount:
    elements = sum(array.elements for array in counter.shape(number).arrays)
    return counter.record(number, (0, elements), counter.default_bytes(number))


def _slice_start(counter: "Counter", number: int) -> XlaCount:
    """Another way to print an asynchronous slice: its type is of operands, results and a mark."""
    sizes = counter.shape(number).sizes
    return counter.record(number, (0, 0), (2 * sizes[1],) if len(sizes) > 1 else ())


def _infeed(counter: "Counter", number: int) -> Sequence[int]:
    return (sum(counter.shape(number).sizes),)


def _outfeed(counter: "Counter", number: int) -> Sequence[int]:
    return tuple(sum(counter.shape(operand).sizes) for operand in counter.module.operands[number])


def _custom_call(counter: "Counter", number: int) -> XlaCount:
    if counter.convention.is_tpu and (known := custom_call_of_tpu(counter, number)) is not None:
        return known
    found = _UNKNOWN_FUSED_CALL if counter.is_fused else _UNKNOWN_CALL
    counter.by_op[number] = found.exact
    return found


def _call(counter: "Counter", number: int) -> XlaCount | None:
    called = counter.module.called(number)
    return counter.computation(called[0]) if called else None


def _while(counter: "Counter", number: int) -> XlaCount | None:
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


def _conditional(counter: "Counter", number: int) -> XlaCount | None:
    branches = [counter.computation(branch) for branch in counter.module.branches(number)]
    if not branches:
        return None
    exact = [max(branch.exact[figure] for branch in branches) for figure in range(3)]
    rounded = [max(branch.rounded[figure] for branch in branches) for figure in range(3)]
    return XlaCount((exact[0], exact[1], exact[2]), (rounded[0], rounded[1], rounded[2]))


def _fusion(counter: "Counter", number: int) -> XlaCount | None:
    called = counter.module.called(number, "calls")
    if not called:
        return None
    member = None if counter.is_fused else gather_or_scatter(counter.module, number)
    if member is not None:
        # Of a custom fusion that gathers or scatters, that instruction stands for all.
        found = HANDLERS[counter.ops[member].name](counter, member)
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


def _written(counter: "Counter", number: int, computation: int) -> list[int]:
    """The arrays that a fusion gives; of one that updates a slice in place, the slice."""
    ops, module = counter.ops, counter.module
    root = module.roots[computation]
    # The start of an asynchronous fusion gives its operands too; what it writes is what its root is.
    shape = counter.shape(root if ops[number].name == "fusion-start" else number)
    sizes = list(shape.sizes)
    if root < 0:
        return sizes
    if not shape.is_tuple:
        parts = (root,)
    elif ops[root].name == "tuple":
        parts = module.operands[root]
    else:
        parts = ()
    for place, part in enumerate(parts[: len(sizes)]):
        if part >= 0 and ops[part].name == "dynamic-update-slice":
            sizes[place] = counter.size(counter.operand(part, 1))
    return sizes


def _constants(counter: "Counter", computation: int) -> list[int]:
    """The constants of a fusion that are more than one number."""
    ops = counter.ops
    return [
        counter.size(number)
        for number in counter.module.members[computation]
        if ops[number].name == "constant" and counter.elements(number) > 1
    ]


def _parameter_bytes(counter: "Counter", parameter: int) -> int:
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
            # What such a fusion inside another one reads is not counted.
            if gather_or_scatter(module, user) is not None:
                continue
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


HANDLERS: dict[str, Handler] = {
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
    "fusion-start": _fusion,
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
