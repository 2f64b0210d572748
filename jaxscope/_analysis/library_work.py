"""Work of the library calls that compilers put in, from their arrays and configurations.

Input: a `CompiledCall`. Output: its `Work`. Whatever a configuration holds is text of the compiler's: a formula raises
KeyError, ValueError and their like where it is not as expected, and `library_calls` says so.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from jaxscope._analysis.custom_calls import Call, count_custom_call
from jaxscope._analysis.hlo_attributes import WindowDimension, backend_configuration
from jaxscope._analysis.hlo_operations import make_convolution, read_convolution
from jaxscope._analysis.rules import Convolution, ConvolutionNumbers, Operation, count_work
from jaxscope._analysis.rules.matrices import triangular_solve_work
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._analysis.work import NO_WORK, Work
from jaxscope._ir.shapes import ArrayType


@dataclass(frozen=True, slots=True)
class CompiledCall:
    """A custom call of a compiled program: its arrays, those of tuples in order, and its attributes."""

    operands: tuple[ArrayType, ...]
    results: tuple[ArrayType, ...]
    attributes: Mapping[str, str]

    @property
    def configuration(self) -> dict[str, Any]:
        """What the compiler configured, where that is JSON; {} elsewhere."""
        return backend_configuration(self.attributes)


# Matrix products


def _dot(left: ArrayType, right: ArrayType, result: ArrayType, contracting: Sequence[int]) -> Work | Unavailable:
    return count_work(Operation("dot_general", (left, right), (result,), contracting=tuple(contracting)))


def _elementwise(result: ArrayType, flops: int, transcendentals: int = 0) -> Work:
    return Work(flops=flops, transcendentals=transcendentals) * result.elements


# FLOPs and transcendentals, for each element, of what is done to a product before it is stored. GELU is the
# approximation by tanh: 0.5·x·(1 + tanh(c·(x + 0.044715·x³))).
_GELU = (8, 1)
_EPILOGUES = {"BIAS": (1, 0), "RELU": (1, 0), "GELU": _GELU, "SILU": (1, 1), "AUX": (0, 0), "DEFAULT": (0, 0)}


def count_cublas_product(call: CompiledCall) -> Work | Unavailable:
    """alpha·A·B + beta·C, and an epilogue: https://docs.nvidia.com/cuda/cublas/#cublasltmatmul."""
    gemm = call.configuration["gemm_backend_config"]
    contracting = [int(axis) for axis in gemm["dot_dimension_numbers"].get("lhs_contracting_dimensions", [])]
    result = call.results[0]
    work = _dot(call.operands[0], call.operands[1], result, contracting)
    if isinstance(work, Unavailable):
        return work
    is_scaled = gemm.get("alpha_real", 1) != 1 or gemm.get("alpha_imag", 0) != 0
    beta = gemm.get("beta", 0)
    each = is_scaled + (beta != 0) + (beta not in (0, 1))
    work += _elementwise(result, each)
    for part in str(gemm.get("epilogue", "DEFAULT")).split("_"):
        work += _elementwise(result, *_EPILOGUES[part])
    return work


def count_onednn_product(call: CompiledCall) -> Work | Unavailable:
    """A product with operations on its result fused in."""
    configuration = call.configuration["onednn_matmul_config"]
    left, right = call.operands[:2]
    result = call.results[0]
    width = left.dimensions[-2 if configuration.get("transpose_a") else -1]
    if right.dimensions[-1 if configuration.get("transpose_b") else -2] != width:
        raise ValueError
    work = _dot(left, right, result, (len(left.dimensions) - (2 if configuration.get("transpose_a") else 1),))
    return _with_fusions(work, result, configuration)


# FLOPs and transcendentals of each element, of the operations that are named in
# https://github.com/openxla/xla/blob/main/xla/service/cpu/onednn_config.proto
_ONEDNN_FUSIONS = {
    **dict.fromkeys(("BIAS", "BINARY_ADD", "SUM", "RELU", "LINEAR"), (1, 0)),
    **dict.fromkeys(("TANH", "SIGMOID"), (0, 1)),
    "RELU6": (2, 0),
    "GELU_TANH": _GELU,
}


def _with_fusions(work: Work | Unavailable, result: ArrayType, configuration: Mapping[str, Any]) -> Work | Unavailable:
    if isinstance(work, Unavailable):
        return work
    for name in configuration.get("fusions", {}).get("ops", []):
        work += _elementwise(result, *_ONEDNN_FUSIONS[name])
    return work


# Convolutions


def _convolution(call: CompiledCall, image: ArrayType, kernel: ArrayType, result: ArrayType) -> Work | Unavailable:
    return count_work(
        Operation("convolution", (image, kernel), (result,), convolution=read_convolution(dict(call.attributes)))
    )


def count_cudnn_convolution(call: CompiledCall) -> Work | Unavailable:
    """scale·conv, and where there are more operands a bias and another image added, through an activation."""
    work = _convolution(call, call.operands[0], call.operands[1], call.results[0])
    if isinstance(work, Unavailable):
        return work
    configuration = call.configuration["cudnn_conv_backend_config"]
    result = call.results[0]
    flops = (len(call.operands) > 2) + (configuration.get("conv_result_scale", 1) != 1)
    if len(call.operands) > 3:
        side = configuration.get("side_input_scale", 1)
        flops += (side != 0) + (side not in (0, 1))
    activation = {
        "kNone": (0, 0),
        "kRelu": (1, 0),
        "kRelu6": (2, 0),
        "kElu": (1, 1),
        "kLeakyRelu": (2, 0),
        "kSigmoid": (0, 1),
        "kTanh": (0, 1),
    }[configuration.get("activation_mode", "kNone")]
    return work + _elementwise(result, flops + activation[0], activation[1])


def count_cudnn_gradient(call: CompiledCall) -> Work | Unavailable:
    """The gradient for the image or the kernel: each multiply-add of the forward convolution once."""
    if call.attributes.get("custom_call_target") == '"__cudnn$convBackwardInput"':
        return _convolution(call, call.results[0], call.operands[1], call.operands[0])
    return _convolution(call, call.operands[0], call.results[0], call.operands[1])


def count_onednn_convolution(call: CompiledCall) -> Work | Unavailable:
    """A convolution whose numbers are in its configuration, with operations on its result fused in."""
    configuration = call.configuration["onednn_conv_config"]
    image, kernel = call.operands[:2]
    result = call.results[0]
    # Versions of XLA write these numbers as they are, or one more: those that give this result are right.
    for shift in (0, 1):
        convolution = _read_onednn(configuration, shift)
        if convolution is not None and _gives(convolution, image, kernel, result):
            work = count_work(Operation("convolution", (image, kernel), (result,), convolution=convolution))
            return _with_fusions(work, result, configuration)
    raise ValueError


def _read_onednn(configuration: Mapping[str, Any], shift: int) -> Convolution | None:
    def listed(fields: Mapping[str, Any], name: str) -> tuple[int, ...]:
        return tuple(int(value) - shift for value in fields.get(name, ()))

    def number(fields: Mapping[str, Any], name: str) -> int:
        return int(fields.get(name, 0))

    image = configuration["input"]["data"]
    kernel = configuration["kernel"]["filter"]
    result = configuration["output"]["data"]
    window = configuration["window"]
    columns = [listed(window, name) for name in ("strides", "pad_left", "pad_right", "window_dilations")]
    spatial = [listed(fields, "spatial_dims") for fields in (image, kernel, result)]
    if len({len(column) for column in (*columns, *spatial)}) != 1:
        return None
    labels = ConvolutionNumbers(
        number(image, "batch_dim"),
        number(image, "feature_dim"),
        spatial[0],
        number(kernel, "input_feature_dim"),
        number(kernel, "output_feature_dim"),
        spatial[1],
        number(result, "batch_dim"),
        number(result, "feature_dim"),
        spatial[2],
    )
    moves = tuple(WindowDimension(0, *column) for column in zip(*columns, strict=True))
    return make_convolution(labels, moves, feature_groups=max(1, number(configuration, "feature_groups")))


def _gives(convolution: Convolution, image: ArrayType, kernel: ArrayType, result: ArrayType) -> bool:
    """Whether a convolution has a result of this size."""
    numbered = (*convolution.input_spatial, convolution.input_batch, convolution.input_feature)
    if sorted(numbered) != list(range(len(image.dimensions))) or min(convolution.strides, default=1) < 1:
        return False
    for place, (low, high) in enumerate(convolution.padding):
        size = image.dimensions[convolution.input_spatial[place]] + low + high
        wide = (kernel.dimensions[convolution.kernel_spatial[place]] - 1) * convolution.rhs_dilation[place] + 1
        expected = (size - wide) // convolution.strides[place] + 1
        if min(low, high) < 0 or result.dimensions[convolution.output_spatial[place]] != expected:
            return False
    return True


# A compiler's own blocks of factorisations


def count_cholesky(call: CompiledCall) -> Work | Unavailable:
    """As the op."""
    return count_custom_call(Call("Cholesky", call.operands, call.results, ""))[0]


def count_lu(call: CompiledCall) -> Work | Unavailable:
    """As LAPACK's getrf of the block."""
    return count_custom_call(Call("LuDecomposition", call.operands, call.results, ""))[0]


def count_qr(call: CompiledCall) -> Work | Unavailable:
    """As LAPACK's geqrf of the block."""
    return count_custom_call(Call("Qr", call.operands, call.results, ""))[0]


def count_inverse_of_triangle(call: CompiledCall) -> Work:
    """As LAPACK's trtri of each block."""
    matrix = call.operands[0]
    n = matrix.dimensions[-1]
    multiplications = n * (Fraction(n * n, 6) + Fraction(n, 2) + Fraction(1, 3))
    additions = n * (Fraction(n * n, 6) - Fraction(n, 2) + Fraction(1, 3))
    weights = (6, 2) if matrix.is_complex else (1, 1)
    each = weights[0] * multiplications + weights[1] * additions
    return Work(flops=int(each)) * math.prod(matrix.dimensions[:-2])


def count_triangular_solve(call: CompiledCall) -> Work:
    """Of XLA for GPUs, whose options are JSON."""
    matrix, right = call.operands[:2]
    size = matrix.dimensions[-1]
    has_unit_diagonal = bool(call.configuration.get("unit_diagonal", False))
    return triangular_solve_work(size, right.elements // size if size else 0, matrix.is_complex, has_unit_diagonal)


def count_partial_reduce(call: CompiledCall) -> Work:
    """Of an approximate top-k, compiled: every element but those that are left is compared once."""
    values, kept = call.operands[0], call.results[0]
    comparisons = values.elements - kept.elements
    return Work(flops=comparisons) if values.is_float else Work(integer_ops=comparisons)


def count_nothing(call: CompiledCall) -> Work:
    """Of what only moves data, or tells the compiler something."""
    return NO_WORK
