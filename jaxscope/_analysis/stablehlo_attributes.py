"""What the text of one StableHLO op says of it, as the record that the rules of counting take.

Problem: an attribute stands in the op's own syntax (``contracting_dims = [1] x [0]``), or as MLIR's generic one has it
(``lhs_contracting_dimensions = [1]``), in arrays, tensors or structures, by the version of whoever printed it. Input:
the op's name, its text without regions and location, its result type and the work of its regions. Output: an
`Operation`. An attribute that cannot be read stays out, and the rule says that it is missing.
"""

import math
import re
from collections.abc import Callable, Mapping

from jaxscope._analysis.rules import Convolution, FourierTransform, Operation, TriangularSolve, operation_name
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._analysis.work import Work
from jaxscope._ir.shapes import ArrayType, read_mlir_types

_INTEGER = re.compile(r"-?\d+")
# `contracting_dims = [1, 2] x [0, 1]`    `lhs_contracting_dimensions = [1]`
_CONTRACTING = re.compile(r"\b(?:contracting_dims|lhs_contracting_dimensions) ?= ?\[([^\]]*)\]")
# `lhs_ragged_dimensions = [0]`
_RAGGED = re.compile(r"\blhs_ragged_dimensions ?= ?\[([^\]]*)\]")
# `einsum_config = "ab,bc->ac"`
_EINSUM = re.compile(r'\beinsum_config ?= ?"([a-z]*),([a-z]*)->([a-z]*)"')
# `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`
_CONVOLVED = re.compile(r"\[([^\]]*)\]x\[([^\]]*)\]->\[([^\]]*)\]")
# `array<i64: 1, 2>`    `dense<[[1, 2], [0, 1]]> : tensor<2x2xi64>`    `dense<1> : tensor<2xi64>`    `[[1, 2], [0, 1]]`
_NUMBERS = r" ?= ?(?:array<i\d+(?:: ?([^>]*))?>|dense<([^>]*)> ?: ?tensor<([\dx]*)xi\d+>|(\[[-\d, \[\]]*\]))"
# `feature_group_count = 3 : i64`
_COUNT = r"\b{} ?= ?(-?\d+)"
# `type =  RFFT`    `fft_type = #stablehlo<fft_type RFFT>`
_FFT = re.compile(r"type(?: ?= ?| )\s*(I?R?FFT)\b")
# `algorithm = DEFAULT`    `rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>`
_ALGORITHM = re.compile(r"\b(DEFAULT|THREE_FRY|PHILOX)\b")
# `replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>`
_GROUPS = re.compile(r"\breplica_groups ?= ?dense<.*?> ?: ?tensor<(\d+)x(\d+)xi64>")
# `replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "x">]>`
_GROUPS_BY_AXES = re.compile(r"_mesh_axes<mesh(?:_name)? ?= ?@([\w$.-]+)(.*)")
# `axis_ref<name = "x">`    `axis_ref<name = "x", sub_axis_info = (1)2>`
_AXIS = re.compile(r'\baxis_ref<name ?= ?"([^"]*)"(?:, ?sub_axis_info ?= ?[^>]*?\(\d+\)(\d+))?')
# Where the operands' types end: `(tensor<4xf32>) -> tensor<4xf32>`    `tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)`
_ARROW = " -> "
# The words between a reduction's types and its region: `reducer(%arg1: tensor<f32>, ...)`
_REDUCER = " reducer("

# Axis sizes of the module's meshes by name, and how many devices take part in all.
Meshes = Mapping[str, Mapping[str, int]]


def signature_of(text: str) -> str:
    """The types at the end of an op's text: all after the last colon that a space follows."""
    if _REDUCER in text:
        text = text.partition(_REDUCER)[0]
    return text.rpartition(" : ")[2]


def read_operation(
    name: str,
    text: str,
    result_type: str,
    bodies: tuple[Work | Unavailable, ...],
    meshes: Meshes,
    devices: int,
) -> Operation:
    """One op as the rules take it.

    Args:
        name: As printed, ``stablehlo.dot_general``.
        text: Its text on one line, without regions and location.
        result_type: Its result types as printed.
        bodies: Work of one application of each region.
        meshes: Axis sizes of the module's meshes by name.
        devices: How many devices the program runs on; 1 where the module does not say.
    """
    short = operation_name(name)
    signature = signature_of(text)
    results = read_mlir_types(result_type)
    given, arrow, _ = signature.partition(_ARROW)
    operands = read_mlir_types(given)
    if not arrow:
        # One type stands for all operands and the result; of several (`select`) the result's is the last.
        operands = results or operands
    fields: dict[str, object] = {}
    if (reader := _READERS.get(short)) is not None:
        fields = reader(text, operands)
    elif short in ("all_reduce", "reduce_scatter"):
        fields = {"group_size": _group_size(text, meshes, devices)}
    return Operation(short, operands, results, bodies=bodies, **fields)


def _integers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in _INTEGER.findall(text))


def _numbers(text: str, *names: str) -> tuple[int, ...] | None:
    """The numbers of an attribute by any of its names, flat; None where it is not there."""
    found = re.search(rf"\b(?:{'|'.join(names)}){_NUMBERS}", text)
    if found is None:
        return None
    array, dense, shape, listed = found.groups()
    if dense is None:
        return _integers(listed if listed is not None else array or "")
    values = _integers(dense)
    count = math.prod(int(size) for size in shape.split("x") if size)
    return values * count if len(values) == 1 else values


def _count(text: str, name: str, otherwise: int) -> int:
    found = re.search(_COUNT.format(name), text)
    return int(found[1]) if found else otherwise


def _read_dot_general(text: str, operands: tuple[ArrayType, ...]) -> dict[str, object]:
    found = _CONTRACTING.search(text)
    return {"contracting": _integers(found[1]) if found else ()}


def _read_dot(text: str, operands: tuple[ArrayType, ...]) -> dict[str, object]:
    return {"contracting": (-1,)}


def _read_ragged_dot(text: str, operands: tuple[ArrayType, ...]) -> dict[str, object]:
    contracting = _read_dot_general(text, operands)["contracting"]
    ragged = _RAGGED.search(text)
    is_contracting = ragged is not None and set(_integers(ragged[1])) <= set(contracting)
    return {"contracting": contracting, "is_ragged_contracting": is_contracting}


def _read_einsum(text: str, operands: tuple[ArrayType, ...]) -> dict[str, object]:
    found = _EINSUM.search(text)
    if found is None or set(found[2]) - set(found[1]) - set(found[3]):
        # Out of range for every array: sums over the second operand alone are not in the rule.
        return {"contracting": (len(operands[0].dimensions),)}
    return {"contracting": tuple(axis for axis, label in enumerate(found[1]) if label not in found[3])}


def _read_convolution(text: str, operands: tuple[ArrayType, ...]) -> dict[str, object]:
    found = _CONVOLVED.search(text)
    if found is None:
        return {}
    lhs, rhs, out = ([part.strip() for part in group.split(",")] for group in found.groups())
    spatial = [str(axis) for axis in range(len(lhs) - 2)]
    padding = _numbers(text, "pad", "padding")
    if padding is None:
        # The generic form always has it; of `dynamic_conv` it is a value.
        padding = (0, 0) * len(spatial) if len(operands) == 2 else ()
    ones = (1,) * len(spatial)
    return {
        "convolution": Convolution(
            input_batch=lhs.index("b"),
            input_feature=lhs.index("f"),
            input_spatial=tuple(lhs.index(axis) for axis in spatial),
            kernel_input_feature=rhs.index("i"),
            kernel_output_feature=rhs.index("o"),
            kernel_spatial=tuple(rhs.index(axis) for axis in spatial),
            output_batch=out.index("b"),
            output_feature=out.index("f"),
            output_spatial=tuple(out.index(axis) for axis in spatial),
            strides=_numbers(text, "stride", "window_strides") or ones,
            padding=tuple(zip(padding[::2], padding[1::2], strict=True)),
            lhs_dilation=_numbers(text, "lhs_dilate", "lhs_dilation") or ones,
            rhs_dilation=_numbers(text, "rhs_dilate", "rhs_dilation") or ones,
            feature_group_count=_count(text, "feature_group_count", 1),
            batch_group_count=_count(text, "batch_group_count", 1),
        )
    }


def _read_window(text: str, operands: tuple[ArrayType, ...]) -> dict[str, object]:
    return {"window": _numbers(text, "window_dimensions") or ()}


def _read_dimension(text: str, operands: tuple[ArrayType, ...]) -> dict[str, object]:
    return {"dimension": _count(text, "dimension", -1)}


def _read_fft(text: str, operands: tuple[ArrayType, ...]) -> dict[str, object]:
    kind, lengths = _FFT.search(text), _numbers(text, "length", "fft_length")
    return {"fourier_transform": FourierTransform(kind[1], lengths)} if kind and lengths else {}


def _read_triangular_solve(text: str, operands: tuple[ArrayType, ...]) -> dict[str, object]:
    # A boolean attribute that is on prints in the generic form alone, as `unit_diagonal` or `unit_diagonal = true`.
    is_on = {name: f"{name} = true" in text for name in ("left_side", "unit_diagonal")}
    return {"triangular_solve": TriangularSolve(is_on["left_side"], is_on["unit_diagonal"])}


def _read_random_bits(text: str, operands: tuple[ArrayType, ...]) -> dict[str, object]:
    found = _ALGORITHM.search(text)
    return {"algorithm": found[1]} if found else {}


_READERS: Mapping[str, Callable[[str, tuple[ArrayType, ...]], dict[str, object]]] = {
    "dot_general": _read_dot_general,
    "dot": _read_dot,
    "ragged_dot": _read_ragged_dot,
    "einsum": _read_einsum,
    "convolution": _read_convolution,
    "dynamic_conv": _read_convolution,
    "reduce_window": _read_window,
    "select_and_scatter": _read_window,
    "sort": _read_dimension,
    "scan": _read_dimension,
    "fft": _read_fft,
    "triangular_solve": _read_triangular_solve,
    "rng_bit_generator": _read_random_bits,
}


def _group_size(text: str, meshes: Meshes, devices: int) -> int | Unavailable:
    if (listed := _GROUPS.search(text)) is not None:
        groups, size = int(listed[1]), int(listed[2])
        # No groups at all are one of everybody.
        return size if groups and size else devices
    if (named := _GROUPS_BY_AXES.search(text)) is not None:
        axes = meshes.get(named[1])
        sizes = [int(part) if part else (axes or {}).get(axis) for axis, part in _AXIS.findall(named[2])]
        if axes is not None and None not in sizes:
            return math.prod(sizes)
    return Unavailable("How many devices reduce together is not in the op's text.")
