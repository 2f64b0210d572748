"""Calls into libraries that are known by name: what they replace, or what they declare, counted.

Problem: to XLA a custom call is a name and costs nothing, yet most of a network's arithmetic can be in one. Input: the
target of a call, its arrays and its attributes. Output: a `LibraryCall`: its work by the closed form of what the
library computes, or by the cost that whoever wrote the kernel declared; and whether it moves data. A call that is not
known here, and one whose work depends on the data (eigenvalues, pivoted tridiagonal solves), is Unavailable, by name:
never 0.

Closed forms of LAPACK's routines count multiplications and additions as LAPACK Working Note 41 does.
https://www.netlib.org/lapack/lawnspdf/lawn41.pdf
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from jaxscope._analysis.hlo_attributes import backend_configuration
from jaxscope._analysis.hlo_operations import read_convolution
from jaxscope._analysis.rules import Operation, TriangularSolve, count_work
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._analysis.work import NO_WORK, Work
from jaxscope._ir.shapes import ArrayType

RULE = "library call"
DECLARED = "declared cost"
NOTHING = "no work"
UNKNOWN = "custom call"


@dataclass(frozen=True, slots=True)
class LibraryCall:
    """What a custom call does.

    Attributes:
        work: What one run computes; or why that is not known.
        rule: `RULE`, `DECLARED`, `NOTHING` or `UNKNOWN`.
        moves_data: False for calls that only tell the compiler something.
        computed: The element type that it computes in, "" where it computes nothing.
    """

    work: Work | Unavailable
    rule: str
    moves_data: bool = True
    computed: str = ""


@dataclass(frozen=True, slots=True)
class _Call:
    operands: tuple[ArrayType, ...]
    results: tuple[ArrayType, ...]
    attributes: Mapping[str, str]

    @property
    def configuration(self) -> dict[str, Any]:
        return backend_configuration(self.attributes)


# Remarks to the compiler, resolved before the program runs or at no cost.
_REMARKS = frozenset(
    (
        "AllocateBuffer",
        "AssumeGatherIndicesInBound",
        "ConcatBitcast",
        "GatherScatterIndicesBitpacked",
        "LayoutConstraint",
        "MoveToDevice",
        "MoveToHost",
        "SPMDFullToShardShape",
        "SPMDShardToFullShape",
        "Sharding",
        "annotate_device_placement",
        "xla.sdy.FuncResultSharding",
        "xla.sdy.GlobalToLocalShape",
        "xla.sdy.LocalToGlobalShape",
    )
)
# Data is moved, split or numbered anew, and nothing computed.
_MOVES = frozenset(("PadToStatic", "SliceToDynamic", "X64Combine", "X64SplitHigh", "X64SplitLow"))
# A permutation is made of pivots by swapping.
_SWAPS = frozenset(("cu_lu_pivots_to_permutation", "hip_lu_pivots_to_permutation"))
# lapack_spotrf_ffi    cusolver_potrf_ffi    cublas_trsm_ffi    hipsolver_geqrf_ffi    cusolver_getrf_batched_ffi
_FACTORISATION = re.compile(
    r"(?:lapack_[sdcz]|cusolver_|cublas_|hipsolver_|hipblas_)([a-z]+\d?)(?:_batched)?(?:_ffi)?$"
)
_DATA_DEPENDENT = frozenset(
    (
        *("syevd", "heevd", "syev", "heev", "syevdx", "syevj", "geev", "gees", "ggev"),
        *("gesdd", "gesvd", "gesvdj", "gesvdp", "gesvdr", "gtsv", "gtsv2"),
    )
)
_TPU_DATA_DEPENDENT = frozenset(("EighTpu", "Eigh"))
# side = 76 : ui8    diag = 85 : ui8, the characters L, R, U and N by their codes
_CHARACTER = re.compile(r"\b(side|diag|trans_x|uplo) = (\d+) : ui8")


def library_call(
    target: str,
    operands: Sequence[ArrayType],
    results: Sequence[ArrayType],
    attributes: Mapping[str, str],
) -> LibraryCall:
    """What a custom call does.

    Args:
        target: Its ``custom_call_target``, without quotes.
        operands: Its arrays, tuples flattened.
        results: Likewise what it gives, work space included.
        attributes: Its attributes as `read_attributes` splits them.
    """
    if target in _REMARKS:
        return LibraryCall(NO_WORK, NOTHING, moves_data=False)
    if target in _MOVES or target in _SWAPS:
        return LibraryCall(NO_WORK, NOTHING)
    call = _Call(tuple(operands), tuple(results), attributes)
    computed = operands[0].element if operands else ""
    if (declared := _declared(call)) is not None:
        return LibraryCall(declared, DECLARED, computed=computed)
    found = _FACTORISATION.match(target)
    routine = found[1] if found else ""
    if routine in _DATA_DEPENDENT or target in _TPU_DATA_DEPENDENT or target.startswith("cusparse_gtsv"):
        return LibraryCall(Unavailable(f"How much {target} computes depends on its data."), UNKNOWN)
    count = _TARGETS.get(target) or _ROUTINES.get(routine)
    if count is None:
        return LibraryCall(Unavailable(f"What the custom call {target} computes is not known."), UNKNOWN)
    try:
        work = count(call)
    except (IndexError, KeyError, ValueError, TypeError, ZeroDivisionError, AttributeError):
        work = Unavailable(f"The call of {target} has other arrays or another configuration than expected.")
    return LibraryCall(work, UNKNOWN if isinstance(work, Unavailable) else RULE, computed=computed)


def _declared(call: _Call) -> Work | None:
    """The cost that a Pallas kernel carries: https://docs.jax.dev/en/latest/pallas/ (``CostEstimate``)."""
    custom = call.configuration.get("custom_call_config")
    cost = custom.get("cost_estimate") if isinstance(custom, dict) else None
    if not isinstance(cost, dict):
        return None
    try:
        return Work(flops=int(cost.get("flops", 0)), transcendentals=int(cost.get("transcendentals", 0)))
    except (TypeError, ValueError):
        return None


# Matrix products


def _dot(left: ArrayType, right: ArrayType, result: ArrayType, contracting: Sequence[int]) -> Work | Unavailable:
    return count_work(Operation("dot_general", (left, right), (result,), contracting=tuple(contracting)))


def _elementwise(result: ArrayType, flops: int, transcendentals: int = 0) -> Work:
    return Work(flops=flops, transcendentals=transcendentals) * result.elements


# FLOPs and transcendentals, for each element, of what is done to a product before it is stored. GELU is the
# approximation by tanh: 0.5·x·(1 + tanh(c·(x + 0.044715·x³))).
_GELU = (8, 1)
_EPILOGUES = {"BIAS": (1, 0), "RELU": (1, 0), "GELU": _GELU, "SILU": (1, 1), "AUX": (0, 0), "DEFAULT": (0, 0)}


def _cublas_product(call: _Call) -> Work | Unavailable:
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


def _onednn_product(call: _Call) -> Work | Unavailable:
    """A product with operations on its result fused in; of the latter those of one FLOP are named."""
    configuration = call.configuration["onednn_matmul_config"]
    left, right = call.operands[:2]
    result = call.results[0]
    width = left.dimensions[-2 if configuration.get("transpose_a") else -1]
    if right.dimensions[-1 if configuration.get("transpose_b") else -2] != width:
        raise ValueError
    work = _dot(left, right, result, (len(left.dimensions) - (2 if configuration.get("transpose_a") else 1),))
    return _with_fusions(work, result, configuration)


# https://github.com/openxla/xla/blob/main/xla/service/cpu/onednn_config.proto
_ONEDNN_FUSIONS = {
    **dict.fromkeys(("BIAS", "BINARY_ADD", "RELU", "LINEAR", "SUM"), (1, 0)),
    "RELU6": (2, 0),
    "TANH": (0, 1),
    "ELU": (1, 1),
    "SIGMOID": (0, 1),
    "SWISH": (1, 1),
    "GELU_TANH": _GELU,
    "GELU_ERF": (4, 1),
}


def _with_fusions(work: Work | Unavailable, result: ArrayType, configuration: Mapping[str, Any]) -> Work | Unavailable:
    if isinstance(work, Unavailable):
        return work
    for name in configuration.get("fusions", {}).get("ops", []):
        work += _elementwise(result, *_ONEDNN_FUSIONS[name])
    return work


# Convolutions


def _convolution(call: _Call, image: ArrayType, kernel: ArrayType, result: ArrayType) -> Work | Unavailable:
    return count_work(
        Operation("convolution", (image, kernel), (result,), convolution=read_convolution(dict(call.attributes)))
    )


def _convolution_forward(call: _Call) -> Work | Unavailable:
    return _convolution(call, call.operands[0], call.operands[1], call.results[0])


def _convolution_with_activation(call: _Call) -> Work | Unavailable:
    """scale·conv + bias, with another image added, through an activation."""
    work = _convolution_forward(call)
    if isinstance(work, Unavailable):
        return work
    configuration = call.configuration["cudnn_conv_backend_config"]
    result = call.results[0]
    flops = 1 + (configuration.get("conv_result_scale", 1) != 1)
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


def _convolution_of_gradient(call: _Call) -> Work | Unavailable:
    """The gradient for the image: each multiply-add of the forward convolution once, the other way round."""
    return _convolution(call, call.results[0], call.operands[1], call.operands[0])


def _convolution_for_kernel(call: _Call) -> Work | Unavailable:
    """The gradient for the kernel, likewise."""
    return _convolution(call, call.operands[0], call.results[0], call.operands[1])


# Factorisations and solves


def _batch(matrix: ArrayType) -> int:
    return math.prod(matrix.dimensions[:-2])


def _factorisation(matrix: ArrayType, multiplications: Fraction | int, additions: Fraction | int) -> Work:
    """Of each matrix of a batch; a complex multiplication is six FLOPs, an addition two."""
    weights = (6, 2) if matrix.is_complex else (1, 1)
    total = weights[0] * multiplications + weights[1] * additions
    return Work(flops=math.floor(total)) * _batch(matrix)


def _cholesky(call: _Call) -> Work | Unavailable:
    return count_work(Operation("cholesky", call.operands[:1], call.results[:1]))


def _lu(call: _Call) -> Work:
    """Row by row: step k divides m − k numbers by the pivot and updates (m − k)·(n − k) by a multiply-subtract."""
    matrix = call.operands[0]
    m, n = matrix.dimensions[-2:]
    steps = range(1, min(m, n) + 1)
    updates = sum((m - k) * (n - k) for k in steps)
    return _factorisation(matrix, sum(m - k for k in steps) + updates, updates)


def _qr(call: _Call) -> Work:
    """Householder reflections."""
    matrix = call.operands[0]
    m, n = matrix.dimensions[-2:]
    third, half = Fraction(1, 3), Fraction(1, 2)
    if m > n:
        multiplications = n * (n * (half - third * n + m) + m + Fraction(23, 6))
        additions = n * (n * (half - third * n + m) + Fraction(5, 6))
    else:
        multiplications = m * (m * (-half - third * m + n) + 2 * n + Fraction(23, 6))
        additions = m * (m * (-half - third * m + n) + n + Fraction(5, 6))
    return _factorisation(matrix, multiplications, additions)


def _reflections(call: _Call) -> Work:
    """An m×n matrix with orthonormal columns from k reflections."""
    matrix = call.operands[0]
    m, n = matrix.dimensions[-2:]
    k = call.operands[1].dimensions[-1]
    multiplications = k * (2 * m * n + 2 * n - Fraction(5, 3) + k * (Fraction(2, 3) * k - (m + n) - 1))
    additions = k * (2 * m * n + n - m + Fraction(1, 3) + k * (Fraction(2, 3) * k - (m + n)))
    return _factorisation(matrix, multiplications, additions)


def _tridiagonal(call: _Call) -> Work:
    matrix = call.operands[0]
    n = matrix.dimensions[-1]
    multiplications = n * (Fraction(2, 3) * n * n + Fraction(5, 2) * n - Fraction(1, 6)) - 15
    additions = n * (Fraction(2, 3) * n * n + n - Fraction(8, 3)) - 4
    return _factorisation(matrix, max(multiplications, 0), max(additions, 0))


def _hessenberg(call: _Call) -> Work:
    matrix = call.operands[0]
    n = matrix.dimensions[-1]
    multiplications = n * (Fraction(5, 3) * n * n + Fraction(1, 2) * n - Fraction(7, 6)) - 13
    additions = n * (Fraction(5, 3) * n * n - n - Fraction(2, 3)) - 8
    return _factorisation(matrix, max(multiplications, 0), max(additions, 0))


def _inverse_of_triangle(call: _Call) -> Work:
    matrix = call.operands[0]
    n = matrix.dimensions[-1]
    multiplications = n * (Fraction(n * n, 6) + Fraction(n, 2) + Fraction(1, 3))
    additions = n * (Fraction(n * n, 6) - Fraction(n, 2) + Fraction(1, 3))
    return _factorisation(matrix, multiplications, additions)


def _triangular_solve(call: _Call) -> Work | Unavailable:
    """Of LAPACK and cuBLAS through FFI, whose options are characters by their codes."""
    options = {name: chr(int(code)) for name, code in _CHARACTER.findall(call.attributes.get("backend_config", ""))}
    return _solve(call, options.get("side", "L") == "L", options.get("diag", "N") == "U")


def _triangular_solve_of_xla(call: _Call) -> Work | Unavailable:
    options = call.configuration
    return _solve(call, options.get("left_side", True), options.get("unit_diagonal", False))


def _solve(call: _Call, is_left: bool, has_unit_diagonal: bool) -> Work | Unavailable:
    solve = TriangularSolve(bool(is_left), bool(has_unit_diagonal))
    return count_work(Operation("triangular_solve", call.operands[:2], call.results[:1], triangular_solve=solve))


# Selections


def _top_k(call: _Call) -> Work | Unavailable:
    return count_work(Operation("top_k", call.operands[:1], call.results))


def _partial_reduce(call: _Call) -> Work:
    """Of an approximate top-k: every element but those that are left is compared once."""
    values, kept = call.operands[0], call.results[0]
    comparisons = values.elements - kept.elements
    return Work(flops=comparisons) if values.is_float else Work(integer_ops=comparisons)


_Count = Callable[[_Call], Work | Unavailable]

_TARGETS: dict[str, _Count] = {
    "Cholesky": _cholesky,
    "InvertDiagBlocksLowerTriangular": _inverse_of_triangle,
    "InvertDiagBlocksUpperTriangular": _inverse_of_triangle,
    "LuDecompositionBlock": _lu,
    "LuRealDecompositionBlock": _lu,
    "PartialReduce": _partial_reduce,
    "QrDecompositionBlock": _qr,
    "TopK": _top_k,
    "__cublas$gemm": _cublas_product,
    "__cublas$lt$matmul": _cublas_product,
    "__cublas$lt$matmul$f8": _cublas_product,
    "__cublas$triangularSolve": _triangular_solve_of_xla,
    "__cudnn$convBackwardFilter": _convolution_for_kernel,
    "__cudnn$convBackwardInput": _convolution_of_gradient,
    "__cudnn$convBiasActivationForward": _convolution_with_activation,
    "__cudnn$convForward": _convolution_forward,
    "__cusolver$cholesky": _cholesky,
    "__onednn$matmul": _onednn_product,
}
_ROUTINES: dict[str, _Count] = {
    "gehrd": _hessenberg,
    "geqrf": _qr,
    "geqp3": _qr,
    "getrf": _lu,
    "hetrd": _tridiagonal,
    "orgqr": _reflections,
    "potrf": _cholesky,
    "sytrd": _tridiagonal,
    "trsm": _triangular_solve,
    "ungqr": _reflections,
}
