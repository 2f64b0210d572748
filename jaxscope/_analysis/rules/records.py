"""One op as the rules of counting see it, whichever notation it was printed in.

Problem: StableHLO and HLO spell the same op differently, and a rule must be written once. Input: none; whoever reads a
notation fills these records. Output: `Operation`, with the attributes that decide how much there is to compute, and
`operation_name`, the one name of an op.
"""

from dataclasses import dataclass

from jaxscope._analysis.unavailable import Unavailable
from jaxscope._analysis.work import Work
from jaxscope._ir.shapes import ArrayType

# HLO's opcodes that are not StableHLO's name with hyphens: https://openxla.org/xla/operation_semantics
_HLO_NAMES = {"dot": "dot_general", "opt-barrier": "optimization_barrier", "topk": "top_k", "conditional": "case"}
_PREFIXES = ("stablehlo.", "chlo.", "mhlo.", "func.")


def operation_name(printed: str) -> str:
    """The name that rules know an op by: StableHLO's own, without its dialect.

    Args:
        printed: An op's name in either notation: ``stablehlo.dot_general``, ``chlo.broadcast_add``, ``reduce-window``.

    Returns:
        ``dot_general``, ``add``, ``reduce_window``. Dialects about sharding keep their prefix (``sdy.mesh``).
    """
    if (known := _HLO_NAMES.get(printed)) is not None:
        return known
    for prefix in _PREFIXES:
        if printed.startswith(prefix):
            printed = printed[len(prefix) :]
            if prefix == "chlo." and printed.startswith("broadcast_"):
                printed = printed.removeprefix("broadcast_")
            break
    return printed.replace("-", "_")


@dataclass(frozen=True, slots=True)
class ConvolutionNumbers:
    """Which dimension of each array of a convolution is what; spatial ones in the order of the window.

    Attributes:
        input_batch: Of the input.
        input_feature: Of the input.
        input_spatial: Of the input.
        kernel_input_feature: Of the kernel.
        kernel_output_feature: Of the kernel.
        kernel_spatial: Of the kernel.
        output_batch: Of the result.
        output_feature: Of the result.
        output_spatial: Of the result.
    """

    input_batch: int
    input_feature: int
    input_spatial: tuple[int, ...]
    kernel_input_feature: int
    kernel_output_feature: int
    kernel_spatial: tuple[int, ...]
    output_batch: int
    output_feature: int
    output_spatial: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Convolution(ConvolutionNumbers):
    """The attributes of a convolution.

    Attributes:
        strides: Elements the window moves by.
        padding: Elements added below and above the dilated input; negative ones are cut off.
        lhs_dilation: Distance of the input's elements after dilation, 1 for none ("base dilation").
        rhs_dilation: Distance of the window's elements, 1 for none ("window dilation").
        reversal: Whether the window runs backwards; of no effect on any count.
        feature_group_count: Groups of channels that do not see each other.
        batch_group_count: Likewise of the batch.
    """

    strides: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    lhs_dilation: tuple[int, ...]
    rhs_dilation: tuple[int, ...]
    reversal: tuple[bool, ...] = ()
    feature_group_count: int = 1
    batch_group_count: int = 1


@dataclass(frozen=True, slots=True)
class FourierTransform:
    """Of an FFT: `kind` is ``FFT``, ``IFFT``, ``RFFT`` or ``IRFFT``, `lengths` those of one transform."""

    kind: str
    lengths: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TriangularSolve:
    """The attributes of a triangular solve: op(a)·x = b, or x·op(a) = b where `is_left` is False."""

    is_left: bool = True
    has_unit_diagonal: bool = False


@dataclass(frozen=True, slots=True)
class Operation:
    """One op, with whatever of its attributes its rule asks for.

    Attributes:
        name: As `operation_name` gives it.
        operands: The operands' arrays in order, tuples flattened and tokens left out.
        results: Likewise the results'.
        contracting: Of ``dot_general`` and its like: the contracting dimensions of the first operand.
        is_ragged_contracting: Of ``ragged_dot``: whether the ragged dimension is a contracting one.
        convolution: Of ``convolution``.
        window: Sizes of the window of ``reduce_window`` and ``select_and_scatter``.
        dimension: The sorted dimension of ``sort``, the scanned one of ``scan``; negative ones count from the end.
        fourier_transform: Of ``fft``.
        triangular_solve: Of ``triangular_solve``.
        algorithm: Of ``rng_bit_generator``: ``THREE_FRY``, ``PHILOX`` or ``DEFAULT``, in any spelling.
        group_size: Of a collective with a reduction: how many devices take part in a group.
        bodies: Work of one application of each region to scalars, in order: the reducer, the comparator, the
            combiner; ``select_and_scatter`` has two, select and scatter.
    """

    name: str
    operands: tuple[ArrayType, ...]
    results: tuple[ArrayType, ...]
    contracting: tuple[int, ...] = ()
    is_ragged_contracting: bool = False
    convolution: Convolution | None = None
    window: tuple[int, ...] = ()
    dimension: int = -1
    fourier_transform: FourierTransform | None = None
    triangular_solve: TriangularSolve | None = None
    algorithm: str = "DEFAULT"
    group_size: int | Unavailable = 1
    bodies: tuple[Work | Unavailable, ...] = ()
