"""Calls that only compiled programs hold: into vendors' libraries, and a compiler's own.

Problem: to XLA a custom call is a name and costs nothing, yet most of a network's arithmetic can be in one. Input: the
target of a call, its arrays, its attributes and its text. Output: a `LibraryCall`: its work by what the call replaces,
and whether it moves data. `LIBRARY_TARGETS` documents those that compilers put in; the others, which a program may hold
before it is compiled as well, are `jaxscope._analysis.custom_calls`'s. What neither knows is Unavailable, by name:
never 0.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from jaxscope._analysis.custom_calls import Call, count_custom_call
from jaxscope._analysis.library_work import (
    CompiledCall,
    count_cholesky,
    count_cublas_product,
    count_cudnn_convolution,
    count_cudnn_gradient,
    count_inverse_of_triangle,
    count_lu,
    count_nothing,
    count_onednn_convolution,
    count_onednn_product,
    count_partial_reduce,
    count_qr,
    count_triangular_solve,
)
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._analysis.work import Work
from jaxscope._ir.shapes import ArrayType


@dataclass(frozen=True, slots=True)
class LibraryCall:
    """What a custom call does.

    Attributes:
        work: What one run computes; or why that is not known.
        rule: The key of the entry that counted it, here or in `custom_calls`; ``custom call`` for an unknown target.
        moves_data: False for calls that only tell the compiler something.
        computed: The element type that it computes in, "" where it takes no array.
    """

    work: Work | Unavailable
    rule: str
    moves_data: bool = True
    computed: str = ""


@dataclass(frozen=True, slots=True)
class LibraryTarget:
    """What is known of some targets.

    Attributes:
        key: The name of the rule in tables.
        targets: The targets it is for.
        formula: What is counted, or why nothing can be, for people.
        source: Where that comes from.
        count: The formula; None where the work cannot be known.
    """

    key: str
    targets: tuple[str, ...]
    formula: str
    source: str
    count: Callable[[CompiledCall], Work | Unavailable] | None = None


# Remarks to the compiler, resolved before the program runs or at no cost.
_REMARKS = frozenset(
    (
        *("AllocateBuffer", "AssumeGatherIndicesInBound", "ConcatBitcast", "CreateBuffer"),
        *("GatherScatterIndicesBitpacked", "LayoutConstraint", "MoveToDevice", "MoveToHost", "NopReturnToken"),
        *("SPMDFullToShardShape", "SPMDShardToFullShape", "Sharding", "annotate_device_placement"),
    )
)


def library_call(
    target: str,
    operands: Sequence[ArrayType],
    results: Sequence[ArrayType],
    attributes: Mapping[str, str],
    text: str = "",
) -> LibraryCall:
    """What a custom call does.

    Args:
        target: Its ``custom_call_target``, without quotes.
        operands: Its arrays, tuples flattened.
        results: Likewise what it gives, work space included.
        attributes: Its attributes as `read_attributes` splits them.
        text: The whole instruction.
    """
    computed = operands[0].element if operands else ""
    moves_data = target not in _REMARKS and not target.startswith("xla.sdy.")
    known = _BY_TARGET.get(target)
    if known is None:
        work, rule = count_custom_call(Call(target, tuple(operands), tuple(results), text))
        return LibraryCall(work, rule, moves_data, computed)
    if known.count is None:
        return LibraryCall(Unavailable(f"{target}: {known.formula}"), known.key, moves_data, computed)
    try:
        work = known.count(CompiledCall(tuple(operands), tuple(results), attributes))
    except (IndexError, KeyError, ValueError, TypeError, ZeroDivisionError, AttributeError):
        work = Unavailable(f"{target}: its arrays or its configuration are not those of {known.key}.")
    return LibraryCall(work, known.key, moves_data, computed)


_LAWN = "https://www.netlib.org/lapack/lawnspdf/lawn41.pdf"
_CUDNN = "https://docs.nvidia.com/deeplearning/cudnn/latest/operations/Convolutions.html"
_CUSTOM_CALLS = "https://openxla.org/xla/custom_call"


LIBRARY_TARGETS: tuple[LibraryTarget, ...] = (
    LibraryTarget(
        "cuBLAS product",
        ("__cublas$gemm", "__cublas$lt$matmul", "__cublas$lt$matmul$f8"),
        "The matrix product; 1 FLOP for each element to scale it, to add another matrix, a bias, or to take ReLU; 8"
        " FLOPs and a transcendental for GELU.",
        "https://docs.nvidia.com/cuda/cublas/#cublasltmatmul",
        count_cublas_product,
    ),
    LibraryTarget(
        "cuDNN convolution",
        ("__cudnn$convForward", "__cudnn$convBiasActivationForward"),
        "The convolution, and for each element of the result its scale, bias, side input and activation.",
        _CUDNN,
        count_cudnn_convolution,
    ),
    LibraryTarget(
        "cuDNN gradient",
        ("__cudnn$convBackwardInput", "__cudnn$convBackwardFilter"),
        "As many multiply-adds as the convolution that it is the gradient of.",
        _CUDNN,
        count_cudnn_gradient,
    ),
    LibraryTarget(
        "oneDNN product",
        ("__onednn$matmul",),
        "The matrix product, and for each element what is named as fused into it.",
        "https://github.com/openxla/xla/blob/main/xla/service/cpu/onednn_config.proto",
        count_onednn_product,
    ),
    LibraryTarget(
        "oneDNN convolution",
        ("__onednn$convolution",),
        "The convolution, and for each element of the result what is named as fused into it.",
        "https://github.com/openxla/xla/blob/main/xla/service/cpu/onednn_config.proto",
        count_onednn_convolution,
    ),
    LibraryTarget(
        "triangular solve",
        ("__cublas$triangularSolve",),
        "n² FLOPs for each right-hand side of an n×n matrix; as the op of that name.",
        _LAWN,
        count_triangular_solve,
    ),
    LibraryTarget(
        "cholesky",
        ("__cusolver$cholesky",),
        "As the op of that name.",
        _LAWN,
        count_cholesky,
    ),
    LibraryTarget(
        "LU", ("LuDecompositionBlock", "LuRealDecompositionBlock"), "As LAPACK's getrf of the block.", _LAWN, count_lu
    ),
    LibraryTarget("QR", ("QrDecompositionBlock",), "As LAPACK's geqrf of the block.", _LAWN, count_qr),
    LibraryTarget(
        "inverse of a triangle",
        ("InvertDiagBlocksLowerTriangular", "InvertDiagBlocksUpperTriangular"),
        "n³/3 + 2n/3 FLOPs for each n×n block.",
        _LAWN,
        count_inverse_of_triangle,
    ),
    LibraryTarget(
        "iterative",
        ("EighTpu",),
        "the algorithm goes on until it converges, so the work depends on the numbers.",
        _CUSTOM_CALLS,
    ),
    LibraryTarget(
        "partial top-k",
        ("PartialReduce",),
        "A comparison for each element that is left out.",
        "https://arxiv.org/abs/2206.14286",
        count_partial_reduce,
    ),
    LibraryTarget(
        "marker",
        (
            *("ConcatBitcast", "GatherScatterIndicesBitpacked"),
            *("X64Combine", "X64SplitHigh", "X64SplitLow", "hip_lu_pivots_to_permutation"),
        ),
        "Nothing: a note to the compiler, or a move of data.",
        _CUSTOM_CALLS,
        count_nothing,
    ),
)

_BY_TARGET = {target: entry for entry in LIBRARY_TARGETS for target in entry.targets}
