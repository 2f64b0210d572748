"""Instructions of HLO as the rules of counting see ops.

Problem: rules are written once for both notations; HLO keeps the numbers that they ask for in its own attributes.
Input: the graph of a module, and the work of the computations that an instruction applies to elements. Output: the
`Operation` of one instruction.
"""

from collections.abc import Callable, Sequence
from dataclasses import fields, replace

from jaxscope._analysis.collectives import device_count, replica_groups
from jaxscope._analysis.hlo_attributes import (
    WindowDimension,
    numbers,
    read_convolution_numbers,
    read_window,
    whole,
)
from jaxscope._analysis.hlo_module import HloModule
from jaxscope._analysis.rules import (
    Convolution,
    ConvolutionNumbers,
    FourierTransform,
    Operation,
    TriangularSolve,
    operation_name,
)
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._analysis.work import Work
from jaxscope._ir.shapes import ArrayType

# The work of one application of a computation, by its number.
Applied = Callable[[int], Work | Unavailable]


def read_operation(module: HloModule, number: int, applied: Applied) -> Operation:
    """The operation of an instruction; attributes that its text lacks are left at their defaults."""
    op = module.listing.ops[number]
    operation = Operation(
        operation_name(op.name),
        tuple(array for types in module.operand_types(number) for array in types),
        module.types(number),
    )
    reader = _READERS.get(op.name)
    return reader(module, number, applied, operation) if reader is not None else operation


def _dot(module: HloModule, number: int, applied: Applied, operation: Operation) -> Operation:
    return replace(operation, contracting=numbers(module.attributes(number).get("lhs_contracting_dims", "")))


def _ragged_dot(module: HloModule, number: int, applied: Applied, operation: Operation) -> Operation:
    operation = _dot(module, number, applied, operation)
    ragged = numbers(module.attributes(number).get("lhs_ragged_dims", ""))
    return replace(operation, is_ragged_contracting=bool(set(ragged) & set(operation.contracting)))


def read_convolution(attributes: dict[str, str]) -> Convolution | None:
    """The convolution that attributes describe, of an instruction or of a library call; None where they do not."""
    labels = read_convolution_numbers(attributes.get("dim_labels", ""))
    if labels is None:
        return None
    window = read_window(attributes.get("window", "")) or (WindowDimension(1),) * len(labels.input_spatial)
    if len(window) != len(labels.input_spatial):
        return None
    return make_convolution(
        labels,
        window,
        whole(attributes, "feature_group_count", 1),
        whole(attributes, "batch_group_count", 1),
    )


def make_convolution(
    labels: ConvolutionNumbers, window: Sequence[WindowDimension], feature_groups: int = 1, batch_groups: int = 1
) -> Convolution:
    """The convolution of these dimension numbers and this window, as rules know it."""
    numbers = {field.name: getattr(labels, field.name) for field in fields(labels)}
    return Convolution(
        **numbers,
        strides=tuple(dimension.stride for dimension in window),
        padding=tuple((dimension.padding_low, dimension.padding_high) for dimension in window),
        lhs_dilation=tuple(dimension.base_dilation for dimension in window),
        rhs_dilation=tuple(dimension.window_dilation for dimension in window),
        feature_group_count=feature_groups,
        batch_group_count=batch_groups,
    )


def _convolution(module: HloModule, number: int, applied: Applied, operation: Operation) -> Operation:
    return replace(operation, convolution=read_convolution(module.attributes(number)))


def _applies(module: HloModule, number: int, applied: Applied, operation: Operation) -> Operation:
    bodies = module.called(number, "to_apply", "select", "scatter")
    return replace(operation, bodies=tuple(map(applied, bodies)))


def _reduce_window(module: HloModule, number: int, applied: Applied, operation: Operation) -> Operation:
    operation = _applies(module, number, applied, operation)
    window = read_window(module.attributes(number).get("window", ""))
    values = operation.operands[:1]
    if values and _sees_everything(window, values[0]):
        # Every place along some dimensions gets the reduction of all: compilers reduce once and copy. XLA's own cost
        # analysis knows this form too.
        kept = (size for size, dimension in zip(values[0].dimensions, window, strict=True) if dimension.size == 1)
        return replace(operation, name="reduce", results=(ArrayType(values[0].element, tuple(kept)),))
    return replace(operation, window=tuple(dimension.size for dimension in window))


def _sees_everything(window: tuple[WindowDimension, ...], values: ArrayType) -> bool:
    """Whether at every place the window lies over all elements along the dimensions in which it is wide."""
    if len(window) != len(values.dimensions) or all(dimension.size == 1 for dimension in window):
        return False
    return all(
        dimension == WindowDimension(1) or dimension == WindowDimension(2 * size - 1, 1, size - 1, size - 1)
        for dimension, size in zip(window, values.dimensions, strict=True)
    )


def _select_and_scatter(module: HloModule, number: int, applied: Applied, operation: Operation) -> Operation:
    window = read_window(module.attributes(number).get("window", ""))
    operation = _applies(module, number, applied, operation)
    return replace(operation, window=tuple(dimension.size for dimension in window))


def _sort(module: HloModule, number: int, applied: Applied, operation: Operation) -> Operation:
    dimensions = numbers(module.attributes(number).get("dimensions", ""))
    operation = _applies(module, number, applied, operation)
    return replace(operation, dimension=dimensions[0] if dimensions else -1)


def _fft(module: HloModule, number: int, applied: Applied, operation: Operation) -> Operation:
    attributes = module.attributes(number)
    transform = FourierTransform(attributes.get("fft_type", ""), numbers(attributes.get("fft_length", "")))
    return replace(operation, fourier_transform=transform)


def _triangular_solve(module: HloModule, number: int, applied: Applied, operation: Operation) -> Operation:
    attributes = module.attributes(number)
    is_left, has_unit_diagonal = (attributes.get(name) == "true" for name in ("left_side", "unit_diagonal"))
    return replace(operation, triangular_solve=TriangularSolve(is_left, has_unit_diagonal))


def _random_bits(module: HloModule, number: int, applied: Applied, operation: Operation) -> Operation:
    return replace(operation, algorithm=module.attributes(number).get("algorithm", "DEFAULT"))


def _collective(module: HloModule, number: int, applied: Applied, operation: Operation) -> Operation:
    groups = replica_groups(module.text(number), device_count(module.listing.lines[0]))
    size = len(groups[0]) if groups else Unavailable("The instruction names no groups that can be read.")
    return replace(_applies(module, number, applied, operation), group_size=size)


_READERS = {
    "all-reduce": _collective,
    "all-reduce-start": _collective,
    "convolution": _convolution,
    "dot": _dot,
    "fft": _fft,
    "map": _applies,
    "ragged-dot": _ragged_dot,
    "reduce": _applies,
    "reduce-scatter": _collective,
    "reduce-window": _reduce_window,
    "rng-bit-generator": _random_bits,
    "scaled-dot": _dot,
    "scatter": _applies,
    "select-and-scatter": _select_and_scatter,
    "sort": _sort,
    "triangular-solve": _triangular_solve,
}
