"""Work of ops that move a window over an array, and of those that apply a region many times.

Input: an `Operation`. Output: its `Work`. The positions of a convolution's window are counted exactly, without walking
through them all: a spatial dimension can have millions.
"""

import math
from functools import lru_cache

from jaxscope._analysis.rules.matrices import multiply_add
from jaxscope._analysis.rules.records import Operation
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._analysis.work import Work


def _apply(times: int, body: Work | Unavailable) -> Work | Unavailable:
    return body if isinstance(body, Unavailable) else body * max(times, 0)


def count_convolution(operation: Operation) -> Work:
    """A multiply-add for each window element over an input element, in every channel; those over padding apart."""
    convolution = operation.convolution
    lhs, rhs = operation.operands[:2]
    result = operation.results[0]
    valid = everywhere = 1
    for axis, (in_axis, kernel_axis, out_axis) in enumerate(
        zip(convolution.input_spatial, convolution.kernel_spatial, convolution.output_spatial, strict=True)
    ):
        inside, on_grid = count_window_positions(
            lhs.dimensions[in_axis],
            rhs.dimensions[kernel_axis],
            result.dimensions[out_axis],
            convolution.strides[axis],
            convolution.padding[axis][0],
            convolution.lhs_dilation[axis],
            convolution.rhs_dilation[axis],
        )
        valid *= inside
        everywhere *= on_grid
    # A kernel has the input channels of one group only.
    channels = (
        result.dimensions[convolution.output_batch]
        * result.dimensions[convolution.output_feature]
        * rhs.dimensions[convolution.kernel_input_feature]
    )
    work = multiply_add(result, valid * channels)
    return Work(work.flops, 0, work.integer_ops, 2 * (everywhere - valid) * channels)


@lru_cache(maxsize=4096)
def count_window_positions(
    inputs: int, window: int, outputs: int, stride: int, padding_low: int, lhs_dilation: int, rhs_dilation: int
) -> tuple[int, int]:
    """How often, along one dimension, an element of the window meets one of the input.

    Element k of the window at output o lies at p = o·stride + k·rhs_dilation − padding_low of the dilated input, which
    has input element p / lhs_dilation where that is whole, and a hole elsewhere.

    Returns:
        The pairs (o, k) over an element of the input; and those over an element or over padding where an element of
        the same grid would be. Holes are neither: nobody multiplies with them, and nobody counts it.
    """
    # The roles of o and k are alike: walk through the fewer of them.
    if window <= outputs:
        walked, step, counted, counted_step = window, rhs_dilation, outputs, stride
    else:
        walked, step, counted, counted_step = outputs, stride, window, rhs_dilation
    extent = (inputs - 1) * lhs_dilation
    common = math.gcd(counted_step, lhs_dilation)
    period = lhs_dilation // common
    inverse = pow(counted_step // common, -1, period) if period > 1 else 0
    inside = on_grid = 0
    for number in range(walked):
        start = number * step - padding_low
        if start % common:
            continue
        # i·counted_step ≡ −start (mod lhs_dilation) holds for i ≡ first (mod period).
        first = (-start // common) * inverse % period if period > 1 else 0
        on_grid += _count_congruent(0, counted - 1, first, period)
        low = max(0, -(start // counted_step))
        high = min(counted - 1, (extent - start) // counted_step)
        inside += _count_congruent(low, high, first, period)
    return (inside if inputs > 0 else 0), on_grid


def _count_congruent(low: int, high: int, first: int, period: int) -> int:
    """How many i with low ≤ i ≤ high are `first` modulo `period`."""
    return (high - first) // period - (low - 1 - first) // period if high >= low else 0


def count_reduce(operation: Operation) -> Work | Unavailable:
    """The body for each element that is combined into another; the first one of each result is free."""
    return _apply(operation.operands[0].elements - operation.results[0].elements, operation.bodies[0])


def count_reduce_window(operation: Operation) -> Work | Unavailable:
    """The body for each element of the window but one, at each result."""
    return _apply(operation.results[0].elements * (math.prod(operation.window) - 1), operation.bodies[0])


def count_select_and_scatter(operation: Operation) -> Work | Unavailable:
    """At each source element, select for each window element but one, and scatter once."""
    sources = operation.operands[1].elements
    select = _apply(sources * (math.prod(operation.window) - 1), operation.bodies[0])
    scatter = _apply(sources, operation.bodies[1])
    if isinstance(select, Unavailable):
        return select
    return scatter if isinstance(scatter, Unavailable) else select + scatter


def count_scatter(operation: Operation) -> Work | Unavailable:
    """The body for each update."""
    # Operands are n inputs, the indices, n updates.
    return _apply(operation.operands[-1].elements, operation.bodies[0])


def count_map(operation: Operation) -> Work | Unavailable:
    """The body for each element."""
    return _apply(operation.results[0].elements, operation.bodies[0])


def count_scan(operation: Operation) -> Work | Unavailable:
    """The body, which works on whole slices, for each step along the scanned dimension."""
    return _apply(operation.operands[0].dimensions[operation.dimension], operation.bodies[0])


def count_sort(operation: Operation) -> Work | Unavailable:
    """n·⌈log₂ n⌉ comparisons for each sorted row of n."""
    values = operation.operands[0]
    length = values.dimensions[operation.dimension] if values.dimensions else 1
    return _apply(values.elements * _log2_ceiling(length), operation.bodies[0])


def count_top_k(operation: Operation) -> Work:
    """n·⌈log₂(k+1)⌉ comparisons for each row of n: each element against a heap of k."""
    values, kept = operation.operands[0], operation.results[0].dimensions[-1]
    comparisons = values.elements * _log2_ceiling(kept + 1)
    return Work(flops=comparisons) if values.is_float else Work(integer_ops=comparisons)


def _log2_ceiling(number: int) -> int:
    return max(number - 1, 0).bit_length()


def count_all_reduce(operation: Operation) -> Work | Unavailable:
    """(g−1)/g of the elements, rounded up, are combined on each of a group's g devices."""
    size = operation.group_size
    if isinstance(size, Unavailable):
        return size
    times = sum(-(-array.elements * (size - 1) // size) for array in operation.results) if size else 0
    return _apply(times, operation.bodies[0])


def count_reduce_scatter(operation: Operation) -> Work | Unavailable:
    """g−1 for each element of the result."""
    size = operation.group_size
    if isinstance(size, Unavailable):
        return size
    return _apply(sum(array.elements for array in operation.results) * (size - 1), operation.bodies[0])
