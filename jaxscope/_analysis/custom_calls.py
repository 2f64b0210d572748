"""What the targets of custom calls compute: libraries, kernels that declare it, markers for the compiler.

Problem: a compiler cannot look into a custom call, XLA counts none, and a call that counts as nothing makes every total
wrong without a word. Input: the target of a call in StableHLO or HLO, its arrays and its text. Output: the work of the
documented algorithm, or of the call's own declaration, or `Unavailable`, with the target's name and the reason.
`TARGETS` documents every target that is known.

LAPACK's counts are those of LAPACK Working Note 41, multiplications and additions apart, so that a complex matrix
counts 6 for the one and 2 for the other.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from jaxscope._analysis.rules.matrices import cholesky_work, random_bits_work, triangular_solve_work
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._analysis.work import NO_WORK, Work
from jaxscope._ir.shapes import DYNAMIC, ArrayType

_LAWN = "https://www.netlib.org/lapack/lawnspdf/lawn41.pdf"
# Behind the name of a Pallas kernel's estimate: `"cost_estimate":{"bytes_accessed":8192,"flops":1024,...}`, in HLO
# numbers may stand in quotes, in StableHLO quotes are \22.
_ESTIMATE = re.compile(r'cost_estimate(?:\\22|"): ?\{([^{}]*)\}')
_ESTIMATED = re.compile(r'(?:\\22|")(flops|transcendentals)(?:\\22|"): ?"?(\d+)')
# `transpose_a = true`    `left = false`
_FLAG = r"\b{} ?= ?(true|false|\d+)"


@dataclass(frozen=True, slots=True)
class Call:
    """A custom call: its target, the arrays it takes and gives, and its text."""

    target: str
    operands: tuple[ArrayType, ...]
    results: tuple[ArrayType, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Target:
    """What is known of some targets.

    Attributes:
        key: The name of the rule in tables.
        pattern: Matches the whole name of a target.
        example: A name that it matches.
        formula: What is counted, or why nothing can be, for people.
        source: Where that comes from.
        count: The formula; None where the work cannot be known.
    """

    key: str
    pattern: re.Pattern[str]
    example: str
    formula: str
    source: str
    count: Callable[[Call], Work | Unavailable] | None = None


def count_custom_call(call: Call) -> tuple[Work | Unavailable, str]:
    """The work of one run of a custom call.

    Returns:
        The work, or Unavailable with the target's name and the reason; and the key of the entry of `TARGETS` that said
        so, ``custom call`` for a target that none knows.
    """
    target = next((target for target in TARGETS if target.pattern.fullmatch(call.target)), None)
    if target is None:
        return Unavailable(f"{call.target}: what this custom call computes is not known."), "custom call"
    if target.count is None:
        return Unavailable(f"{call.target}: {target.formula}"), target.key
    if any(DYNAMIC in array.dimensions for array in (*call.operands, *call.results)):
        return Unavailable(f"{call.target}: its arrays' sizes are not known before the program runs."), target.key
    try:
        return target.count(call), target.key
    except (IndexError, ValueError, ZeroDivisionError):
        return Unavailable(f"{call.target}: its arrays are not those of {target.key}."), target.key


def _matrix(call: Call) -> tuple[int, int, int, bool]:
    """Rows, columns, how many in the batch, and whether they are complex: of the first operand."""
    dimensions = call.operands[0].dimensions
    return dimensions[-2], dimensions[-1], math.prod(dimensions[:-2]), call.operands[0].is_complex


def _flops(products: Fraction | int, sums: Fraction | int, is_complex: bool) -> Work:
    return Work(flops=int(6 * products + 2 * sums if is_complex else products + sums))


def _count_nothing(call: Call) -> Work:
    return NO_WORK


def _count_declared(call: Call) -> Work | Unavailable:
    estimate = _ESTIMATE.search(call.text)
    declared = dict(_ESTIMATED.findall(estimate[1])) if estimate else {}
    if not declared:
        return Unavailable(f"{call.target}: the kernel declares no cost; pallas_call takes one as cost_estimate.")
    return Work(flops=int(declared.get("flops", 0)), transcendentals=int(declared.get("transcendentals", 0)))


def _count_cholesky(call: Call) -> Work:
    rows, _, batch, is_complex = _matrix(call)
    return cholesky_work(rows, is_complex) * batch


def _count_lu(call: Call) -> Work:
    m, n, batch, is_complex = _matrix(call)
    k = min(m, n)
    # Step j divides the m-1-j elements below the pivot, and takes a product from each of the rows' n-1-j others.
    divisions = sum(m - 1 - j for j in range(k))
    products = sum((m - 1 - j) * (n - 1 - j) for j in range(k))
    flops = 11 * divisions + 8 * products if is_complex else divisions + 2 * products
    return Work(flops=flops) * batch


def _count_qr(call: Call) -> Work:
    m, n, batch, is_complex = _matrix(call)
    if m >= n:
        shared = m * n**2 - Fraction(n**3, 3) + Fraction(n**2, 2)
        products, sums = shared + m * n + Fraction(23 * n, 6), shared + Fraction(5 * n, 6)
    else:
        shared = n * m**2 - Fraction(m**3, 3) - Fraction(m**2, 2)
        products, sums = shared + 2 * n * m + Fraction(23 * m, 6), shared + n * m + Fraction(5 * m, 6)
    return _flops(products, sums, is_complex) * batch


def _count_q(call: Call) -> Work:
    m, n, batch, is_complex = _matrix(call)
    k = call.operands[1].dimensions[-1]
    shared = 2 * m * n * k - (m + n) * k**2 + Fraction(2 * k**3, 3)
    products = shared + 2 * n * k - k**2 - Fraction(5 * k, 3)
    sums = shared + n * k - m * k + Fraction(k, 3)
    return _flops(products, sums, is_complex) * batch


def _count_tridiagonal_form(call: Call) -> Work:
    n, _, batch, is_complex = _matrix(call)
    products = Fraction(2 * n**3, 3) + Fraction(5 * n**2, 2) - Fraction(n, 6) - 15
    sums = Fraction(2 * n**3, 3) + n**2 - Fraction(8 * n, 3) - 4
    return _reduced(products, sums, is_complex) * batch


def _count_hessenberg_form(call: Call) -> Work:
    n, _, batch, is_complex = _matrix(call)
    products = Fraction(5 * n**3, 3) + Fraction(n**2, 2) - Fraction(7 * n, 6) - 13
    sums = Fraction(5 * n**3, 3) - n**2 - Fraction(2 * n, 3) - 8
    return _reduced(products, sums, is_complex) * batch


def _reduced(products: Fraction, sums: Fraction, is_complex: bool) -> Work:
    # The closed forms are for matrices that have something to reduce, and negative for the smallest.
    work = _flops(products, sums, is_complex)
    return work if work.flops > 0 else NO_WORK


def _count_triangular_solve(call: Call) -> Work:
    matrix, right = call.operands[:2]
    size = matrix.dimensions[-1]
    diagonal = re.search(_FLAG.format("(?:diag|unit_diagonal)"), call.text)
    # The FFI passes BLAS's own letter: 85 is "U".
    has_unit_diagonal = diagonal is not None and diagonal[1] in ("true", "85")
    vectors = right.elements // size if size else 0
    return triangular_solve_work(size, vectors, matrix.is_complex, has_unit_diagonal)


def _count_threefry(call: Call) -> Work:
    return random_bits_work(2 * call.results[0].elements, 32, "THREE_FRY")


def _count_top_k(call: Call) -> Work:
    values, kept = call.operands[0], call.results[0].dimensions[-1]
    comparisons = values.elements * kept.bit_length()
    return Work(flops=comparisons) if values.is_float else Work(integer_ops=comparisons)


def _count_elementwise(call: Call) -> Work:
    return Work(transcendentals=call.results[0].elements)


def _target(
    key: str,
    pattern: str,
    example: str,
    formula: str,
    source: str,
    count: Callable[[Call], Work | Unavailable] | None = None,
) -> Target:
    return Target(key, re.compile(pattern), example, formula, source, count)


_ITERATIVE = "the algorithm goes on until it converges, so the work depends on the numbers."

TARGETS: tuple[Target, ...] = (
    _target(
        "marker",
        r"Sharding|SPMD(?:FullToShard|ShardToFull)Shape|InspectSharding|annotate_device_placement|MoveTo(?:Host|Device)"
        r"|LayoutConstraint|AllocateBuffer|xla\.sdy\.\w+|(?:stablehlo\.)?shape_assertion|PadToStatic|SliceToDynamic"
        r"|NopReturnToken|AssumeGatherIndicesInBound|Pin|Unpin|ConsumeBuffer|CreateBuffer",
        "Sharding",
        "Nothing: a note to the compiler, or a move of data.",
        "https://openxla.org/xla/custom_call",
        _count_nothing,
    ),
    _target(
        "declared cost",
        r"tpu_custom_call|mosaic_gpu(?:_v2)?|__gpu\$xla\.gpu\.triton|triton_kernel_call(?:_ffi)?",
        "tpu_custom_call",
        "What the kernel's author declared with pallas_call(..., cost_estimate=...).",
        "https://docs.jax.dev/en/latest/pallas/tpu/pipelining.html",
        _count_declared,
    ),
    _target(
        "cholesky",
        r"lapack_[sdcz]potrf(?:_ffi)?|(?:cu|hip|roc)solver_potrf(?:_ffi)?|Cholesky",
        "lapack_spotrf_ffi",
        "n³/3 + n²/2 − 5n/6 FLOPs and n square roots for each n×n matrix; as the op of that name.",
        _LAWN,
        _count_cholesky,
    ),
    _target(
        "LU",
        r"lapack_[sdcz]getrf(?:_ffi)?|(?:cu|hip|roc)(?:solver_getrf|blas_getrf_batched)(?:_ffi)?|LuDecomposition",
        "lapack_sgetrf_ffi",
        "For step j of min(m, n): m−1−j divisions and (m−1−j)(n−1−j) multiply-subtracts; 2n³/3 − n²/2 − n/6 FLOPs where"
        " m = n. Choosing the pivot is not counted.",
        _LAWN,
        _count_lu,
    ),
    _target(
        "QR",
        r"lapack_[sdcz]geqrf(?:_ffi)?|(?:cu|hip|roc)(?:solver_geqrf|blas_geqrf_batched)(?:_ffi)?|Qr",
        "lapack_sgeqrf_ffi",
        "2mn² − 2n³/3 + mn + n² + 14n/3 FLOPs for m ≥ n.",
        _LAWN,
        _count_qr,
    ),
    _target(
        "Q of QR",
        r"lapack_[sd]orgqr(?:_ffi)?|lapack_[cz]ungqr(?:_ffi)?|(?:cu|hip|roc)solver_(?:org|ung)qr(?:_ffi)?"
        r"|ProductOfElementaryHouseholderReflectors",
        "lapack_sorgqr_ffi",
        "4mnk − 2(m+n)k² + 4k³/3 + 3nk − mk − k² − 4k/3 FLOPs for k reflectors.",
        _LAWN,
        _count_q,
    ),
    _target(
        "triangular solve",
        r"(?:lapack|blas)_[sdcz]trsm(?:_ffi)?|(?:cu|hip)blas_trsm_batched(?:_ffi)?",
        "lapack_strsm_ffi",
        "n² FLOPs for each right-hand side of an n×n matrix; as the op of that name.",
        _LAWN,
        _count_triangular_solve,
    ),
    _target(
        "tridiagonal form",
        r"lapack_(?:[sd]sytrd|[cz]hetrd)(?:_ffi)?|(?:cu|hip|roc)solver_(?:sy|he)trd(?:_ffi)?",
        "lapack_ssytrd_ffi",
        "4n³/3 + 7n²/2 − 17n/6 − 19 FLOPs for each n×n matrix.",
        _LAWN,
        _count_tridiagonal_form,
    ),
    _target(
        "Hessenberg form",
        r"lapack_[sdcz]gehrd(?:_ffi)?",
        "lapack_sgehrd_ffi",
        "10n³/3 − n²/2 − 11n/6 − 21 FLOPs for each n×n matrix.",
        _LAWN,
        _count_hessenberg_form,
    ),
    _target(
        "tridiagonal solve",
        r"lapack_[sdcz]gtsv(?:_ffi)?|cusparse_gtsv2?(?:_ffi)?",
        "lapack_sgtsv_ffi",
        "rows change places as the numbers ask, and the work with them.",
        "https://www.netlib.org/lapack/explore-html/",
    ),
    _target(
        "iterative",
        r"lapack_[sdcz](?:gesdd|gesvd|syevd|heevd|geev|gees)(?:_ffi)?"
        r"|(?:cu|hip|roc)solver_(?:gesvdj?|gesvdp|gesdd|syevd|syevj|geev)\w*|(?:cu|hip)hybrid_eig_\w+|Eigh",
        "lapack_sgesdd_ffi",
        _ITERATIVE,
        "https://www.netlib.org/lapack/lug/node71.html",
    ),
    _target(
        "random bits",
        r"(?:cu|hip)_threefry2x32(?:_ffi)?",
        "cu_threefry2x32_ffi",
        "117 integer operations for each pair of 32-bit words; as Threefry in the rule of that name.",
        "https://doi.org/10.1145/2063384.2063405",
        _count_threefry,
    ),
    _target(
        "top-k",
        r"(?:mhlo\.topk|TopK|__gpu\$TopK|stablehlo\.dynamic_top_k)",
        "mhlo.topk",
        "n·⌈log₂(k+1)⌉ comparisons for each row of n; as the op of that name.",
        "https://openxla.org/stablehlo/generated/chlo",
        _count_top_k,
    ),
    _target(
        "approximate top-k",
        r"ApproxTopK|PartialReduce",
        "ApproxTopK",
        "how much it compares depends on the recall asked for, and on the device.",
        "https://arxiv.org/abs/2206.14286",
    ),
    _target(
        "transcendental",
        r"mhlo\.(?:acos|acosh|asin|asinh|atan|atanh|bessel_i1e|cosh|digamma|erf|erf_inv|erfc|lgamma|sinh|tan)",
        "mhlo.erf",
        "1 transcendental for each element.",
        "https://openxla.org/stablehlo/generated/chlo",
        _count_elementwise,
    ),
    _target(
        "permutation",
        r"(?:cu|hip)_lu_pivots_to_permutation",
        "cu_lu_pivots_to_permutation",
        "Nothing: rows change places.",
        "https://docs.jax.dev/en/latest/_autosummary/jax.lax.linalg.lu_pivots_to_permutation.html",
        _count_nothing,
    ),
    _target(
        "callback",
        r"xla_(?:ffi_|buffer_)?(?:partitioned_)?python_[cg]pu_callback",
        "xla_ffi_python_cpu_callback",
        "it calls a Python function on the host, which can do anything.",
        "https://docs.jax.dev/en/latest/external-callbacks.html",
    ),
)
