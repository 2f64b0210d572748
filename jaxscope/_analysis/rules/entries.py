"""The rules of counting, one documented entry each: every op of StableHLO, CHLO and HLO belongs to exactly one.

Problem: a figure is only as good as the rule behind it, and an op without one must not count as nothing. Input: none.
Output: `RULES`, from which the documentation and tooltips are made, and `rule_of`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from jaxscope._analysis.rules import elementwise, matrices, windows
from jaxscope._analysis.rules.records import Operation
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._analysis.work import Work

Kind = Literal["arithmetic", "moves data", "communicates", "control", "no work"]

_SPECIFICATION = "https://openxla.org/stablehlo/spec"
_CHLO = "https://openxla.org/stablehlo/generated/chlo"
_HLO = "https://openxla.org/xla/operation_semantics"
_XLA_COUNTS = "https://github.com/openxla/xla/blob/main/xla/service/hlo_cost_analysis.cc"
_SHARDY = "https://openxla.org/shardy/sdy_dialect"


@dataclass(frozen=True, slots=True)
class Rule:
    """How the ops of one kind are counted.

    Attributes:
        key: Its name in tables: ``dot``, ``elementwise``.
        kind: Whether the ops compute; the other kinds count nothing themselves. ``control`` ops stand for the ops of
            the functions, regions and computations that they run.
        operations: The ops it is for, by `operation_name`.
        formula: What is counted, for people.
        source: Where the definition or the convention comes from.
        count: The formula; None where there is nothing to compute.
    """

    key: str
    kind: Kind
    operations: tuple[str, ...]
    formula: str
    source: str
    count: Callable[[Operation], Work | Unavailable] | None = None


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


RULES: tuple[Rule, ...] = (
    Rule(
        "elementwise",
        "arithmetic",
        _names(
            "add subtract multiply divide remainder maximum minimum negate abs sign ceil floor round_nearest_afz"
            " round_nearest_even compare square conj"
        ),
        "1 FLOP for each element of the result. Complex numbers: 2; multiply and square 6, divide 11, conj 1, abs 3 and"
        " a transcendental, sign 5 and a transcendental. Integers and truth values: 1 integer operation.",
        _SPECIFICATION,
        elementwise.count_arithmetic,
    ),
    Rule(
        "integer",
        "arithmetic",
        _names(
            "and or xor not popcnt count_leading_zeros shift_left shift_right_arithmetic shift_right_logical mulhi"
            " next_after"
        ),
        "1 integer operation for each element of the result.",
        _SPECIFICATION,
        elementwise.count_integer,
    ),
    Rule(
        "clamp",
        "arithmetic",
        _names("clamp"),
        "2 for each element of the result, a maximum and a minimum: FLOPs, or integer operations.",
        f"{_SPECIFICATION}#clamp",
        elementwise.count_clamp,
    ),
    Rule(
        "transcendental",
        "arithmetic",
        _names(
            "exponential exponential_minus_one log log_plus_one logistic tanh tan sine cosine sqrt rsqrt cbrt power"
            " atan2 erf erf_inv erfc acos acosh asin asinh atan atanh cosh sinh bessel_i1e digamma lgamma polygamma"
            " zeta _asin_acos_kernel"
        ),
        "1 transcendental for each element of the result, real or complex, and no FLOP; a power of integers is 1"
        " integer operation.",
        _XLA_COUNTS,
        elementwise.count_transcendental,
    ),
    Rule(
        "quantize",
        "arithmetic",
        _names("uniform_quantize"),
        "5 FLOPs for each element: divide by the scale, round, add the zero point, clamp.",
        f"{_SPECIFICATION}#uniform_quantize",
        elementwise.count_quantize,
    ),
    Rule(
        "dequantize",
        "arithmetic",
        _names("uniform_dequantize"),
        "2 FLOPs for each element: subtract the zero point, multiply by the scale.",
        f"{_SPECIFICATION}#uniform_dequantize",
        elementwise.count_dequantize,
    ),
    Rule(
        "dot",
        "arithmetic",
        _names("dot_general dot einsum unary_einsum scaled_dot"),
        "2 FLOPs for each element of the result and each position along the contracting dimensions. Complex numbers: 8;"
        " integers: 2 integer operations.",
        f"{_SPECIFICATION}#dot_general",
        matrices.count_dot,
    ),
    Rule(
        "ragged dot",
        "arithmetic",
        _names("ragged_dot"),
        "As a dot in which every row, or every contracted position, belongs to exactly one group: an upper bound, since"
        " the sizes of the groups are data.",
        _CHLO,
        matrices.count_ragged_dot,
    ),
    Rule(
        "convolution",
        "arithmetic",
        _names("convolution dynamic_conv"),
        "2 FLOPs for each element of the window that lies over an element of the input, at every result, for every"
        " input channel of the group. Complex numbers: 8; integers: 2 integer operations. Window elements over padding"
        " count apart, 2 each, as papers count them; those over the holes of a dilated input never count.",
        f"{_SPECIFICATION}#convolution",
        windows.count_convolution,
    ),
    Rule(
        "reduce",
        "arithmetic",
        _names("reduce"),
        "(elements of an input − elements of a result) times the work of the reducer; several inputs are reduced by"
        " one reducer.",
        f"{_SPECIFICATION}#reduce",
        windows.count_reduce,
    ),
    Rule(
        "reduce window",
        "arithmetic",
        _names("reduce_window"),
        "(elements of the window − 1) times the work of the reducer, for each element of a result; padding is reduced"
        " too.",
        f"{_SPECIFICATION}#reduce_window",
        windows.count_reduce_window,
    ),
    Rule(
        "select and scatter",
        "arithmetic",
        _names("select_and_scatter"),
        "For each element of the source: (elements of the window − 1) times the work of select, and scatter once.",
        f"{_SPECIFICATION}#select_and_scatter",
        windows.count_select_and_scatter,
    ),
    Rule(
        "scatter",
        "arithmetic",
        _names("scatter"),
        "The work of the combiner for each element of the updates; none where it only replaces.",
        f"{_SPECIFICATION}#scatter",
        windows.count_scatter,
    ),
    Rule(
        "map",
        "arithmetic",
        _names("map"),
        "The work of the body for each element of the result.",
        f"{_SPECIFICATION}#map",
        windows.count_map,
    ),
    Rule(
        "scan",
        "arithmetic",
        _names("scan"),
        "The work of the body for each position along the scanned dimension.",
        _CHLO,
        windows.count_scan,
    ),
    Rule(
        "sort",
        "arithmetic",
        _names("sort"),
        "n·⌈log₂ n⌉ times the work of the comparator for each sorted row of n: the order of comparisons of merge sort.",
        f"{_SPECIFICATION}#sort",
        windows.count_sort,
    ),
    Rule(
        "top-k",
        "arithmetic",
        _names("top_k"),
        "n·⌈log₂(k+1)⌉ comparisons for each row of n: each element against a heap of k.",
        _CHLO,
        windows.count_top_k,
    ),
    Rule(
        "fft",
        "arithmetic",
        _names("fft"),
        "5·N·log₂ N FLOPs for each transform of N points, rounded to whole ones; half of that for RFFT and IRFFT.",
        "https://www.fftw.org/speed/method.html",
        matrices.count_fft,
    ),
    Rule(
        "cholesky",
        "arithmetic",
        _names("cholesky"),
        "n³/3 + n²/2 − 5n/6 FLOPs and n square roots for each n×n matrix. Complex numbers: 4n³/3 − n² − n/3.",
        "https://www.netlib.org/lapack/lawnspdf/lawn41.pdf",
        matrices.count_cholesky,
    ),
    Rule(
        "triangular solve",
        "arithmetic",
        _names("triangular_solve"),
        "n² FLOPs for each right-hand side of an n×n matrix, n² − n with a unit diagonal. Complex numbers: 4n² + 7n, or"
        " 4n² − 4n.",
        "https://www.netlib.org/lapack/lawnspdf/lawn41.pdf",
        matrices.count_triangular_solve,
    ),
    Rule(
        "random bits",
        "arithmetic",
        _names("rng_bit_generator"),
        "Integer operations: 117 for each 64 bits of Threefry-2x32 (20 rounds), 78 for each 128 bits of Philox-4x32 (10"
        " rounds), which XLA takes for the default; elements below 32 bits take 32.",
        "https://doi.org/10.1145/2063384.2063405",
        matrices.count_random_bits,
    ),
    Rule(
        "random numbers",
        "arithmetic",
        _names("rng"),
        "1 transcendental for each element, as XLA counts it: the distribution decides what it takes.",
        _XLA_COUNTS,
        matrices.count_random_numbers,
    ),
    Rule(
        "batch norm, inference",
        "arithmetic",
        _names("batch_norm_inference"),
        "4 FLOPs for each element; 1 and a square root for each feature.",
        f"{_SPECIFICATION}#batch_norm_inference",
        elementwise.count_batch_norm_inference,
    ),
    Rule(
        "batch norm, training",
        "arithmetic",
        _names("batch_norm_training"),
        "7 FLOPs for each element: 1 for the mean, 3 for the variance, 3 for the result; 1 and a square root for each"
        " feature.",
        f"{_SPECIFICATION}#batch_norm_training",
        elementwise.count_batch_norm_training,
    ),
    Rule(
        "batch norm, gradient",
        "arithmetic",
        _names("batch_norm_grad"),
        "13 FLOPs for each element, and a square root for each feature: the specification's formula, whatever depends"
        " on the feature alone once for each feature.",
        f"{_SPECIFICATION}#batch_norm_grad",
        elementwise.count_batch_norm_grad,
    ),
    Rule(
        "all-reduce",
        "arithmetic",
        _names("all_reduce all_reduce_start cross_replica_sum collective_reduce"),
        "On each of the g devices of a group, the work of the reducer for (g−1)/g of the elements, rounded up: the"
        " group together combines g values of each element g−1 times, and shares that out evenly.",
        "https://doi.org/10.1016/j.jpdc.2008.09.002",
        windows.count_all_reduce,
    ),
    Rule(
        "reduce-scatter",
        "arithmetic",
        _names("reduce_scatter"),
        "On each of the g devices of a group, g−1 times the work of the reducer for each element of its result.",
        f"{_SPECIFICATION}#reduce_scatter",
        windows.count_reduce_scatter,
    ),
    Rule(
        "moves data",
        "moves data",
        _names(
            "bitcast bitcast_convert broadcast broadcast_in_dim concatenate convert copy copy_start copy_done"
            " dynamic_broadcast_in_dim dynamic_gather dynamic_iota dynamic_pad dynamic_reshape dynamic_slice"
            " dynamic_update_slice gather imag iota pad real complex real_dynamic_slice reduce_precision reshape"
            " reverse select shuffle slice stochastic_convert torch_index_select transpose"
        ),
        "Nothing: elements are moved, selected, made up from their index or written in another type.",
        _SPECIFICATION,
    ),
    Rule(
        "tests bits",
        "no work",
        _names("is_finite is_inf is_neg_inf is_pos_inf"),
        "Nothing: a look at the bits of a number.",
        _SPECIFICATION,
    ),
    Rule(
        "communicates",
        "communicates",
        _names(
            "all_gather all_gather_start all_gather_done all_reduce_done all_to_all ragged_all_to_all"
            " collective_broadcast collective_permute collective_permute_start collective_permute_done infeed outfeed"
            " send send_done recv recv_done sdy.all_gather sdy.all_slice sdy.all_to_all sdy.collective_permute"
            " sdy.reshard sdy.replicated_to_unreduced sdy.sharded_to_unreduced mpmd.broadcast mpmd.transfer"
        ),
        "Nothing: data goes from device to device, or to and from the host.",
        f"{_SPECIFICATION}#collective-ops",
    ),
    Rule(
        "control",
        "control",
        _names(
            "while case if call composite fusion async_start async_update async_done sdy.manual_computation"
            " sdy.named_computation mpmd.call mpmd.for mpmd.fragment mpmd.fragment_call mpmd.named_computation"
        ),
        "The ops it runs count, as often as it runs them; of the branches of a conditional only the dearest.",
        _SPECIFICATION,
    ),
    Rule(
        "no work",
        "no work",
        _names(
            "constant constant_like parameter return tuple get_tuple_element after_all create_token add_dependency"
            " optimization_barrier domain partition_id replica_id get_dimension_size set_dimension_size"
            " rng_get_and_update_state sdy.mesh sdy.return sdy.constant sdy.sharding_constraint sdy.sharding_group"
            " sdy.propagation_barrier sdy.data_flow_edge sdy.func_data_flow_edge mpmd.assign mpmd.unassign"
            " mpmd.named_tensor mpmd.return"
        ),
        "Nothing: constants, structure, and what is known without computing.",
        _SPECIFICATION,
    ),
    Rule(
        "shapes",
        "no work",
        _names("shape.shape_of shape.broadcast arith.constant"),
        "Nothing: arithmetic on the sizes of arrays.",
        "https://mlir.llvm.org/docs/Dialects/ShapeDialect/",
    ),
    Rule(
        "sum over an axis",
        "arithmetic",
        _names("sdy.all_reduce sdy.reduce_scatter mpmd.reduce"),
        "As the collective that it becomes; not known before the program is partitioned.",
        _SHARDY,
        lambda operation: Unavailable(
            f"{operation.name} becomes a collective when the program is partitioned; compiled HLO counts it."
        ),
    ),
    Rule(
        "custom call",
        "arithmetic",
        _names("custom_call call_indirect"),
        "What its target is known to compute, or declares; else unknown, and listed by name.",
        _HLO,
        lambda operation: Unavailable(f"What the target of this {operation.name} computes is not known."),
    ),
)

_BY_OPERATION = {name: rule for rule in RULES for name in rule.operations}


def rule_of(name: str) -> Rule | None:
    """The rule for an op by its `operation_name`; None for an op that is in none of the dialects known here."""
    return _BY_OPERATION.get(name)
