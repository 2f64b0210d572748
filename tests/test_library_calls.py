"""Calls that compilers put in: counted as what they replace, or unknown by name."""

import re

import jax
import jax.numpy as jnp
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jaxscope
from jaxscope._analysis.custom_calls import TARGETS
from jaxscope._analysis.hlo_cost import count_hlo
from jaxscope._analysis.library_calls import LIBRARY_TARGETS, library_call
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._analysis.work import NO_WORK, Work
from jaxscope._ir.hlo import parse
from tests.counted import Complex, Real, counting
from tests.plugins import CUDA, CUDA_TEXT, TPU


def call_of(instruction, **parameters):
    """The entry of one instruction in a module whose parameters have these types; None where it has no work."""
    lines = [f"  %{name} = {type_} parameter({number})" for number, (name, type_) in enumerate(parameters.items())]
    text = "HloModule m\n\nENTRY %m () -> f32[] {\n" + "\n".join([*lines, f"  ROOT %r = {instruction}"]) + "\n}\n"
    found = count_hlo(parse(text))
    return (*found.ops, None)[0], found.kernels


def flops(instruction, **parameters):
    return call_of(instruction, **parameters)[0].work.flops


GEMM = (
    '(f32[8,32]{{1,0}}, s8[4096]{{0}}) custom-call(%a, %b{more}), custom_call_target="__cublas$lt$matmul",'
    ' backend_config={{"gemm_backend_config":{{"alpha_real":{alpha},"beta":{beta},"dot_dimension_numbers":'
    '{{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"],"lhs_batch_dimensions":[],'
    '"rhs_batch_dimensions":[]}},"alpha_imag":0,"epilogue":"{epilogue}"}}}}'
)


@pytest.mark.parametrize(
    ("alpha", "beta", "epilogue", "more", "each"),
    [
        (1, 0, "DEFAULT", "", 0),
        (2, 0, "DEFAULT", "", 1),
        (1, 1, "DEFAULT", ", %c", 1),
        (1, 0.5, "DEFAULT", ", %c", 2),
        (1, 0, "BIAS", ", %d", 1),
        (1, 0, "BIAS_RELU", ", %d", 2),
        (1, 1, "BIAS", ", %c, %d", 2),
    ],
)
def test_products_of_cublas(alpha, beta, epilogue, more, each):
    """alpha·A·B + beta·C through an epilogue, as cuBLAS documents it: so many FLOPs more for each element."""
    instruction = GEMM.format(alpha=alpha, beta=beta, epilogue=epilogue, more=more)
    types = {"a": "f32[8,16]{1,0}", "b": "f32[16,32]{1,0}", "c": "f32[8,32]{1,0}", "d": "f32[32]{0}"}
    assert flops(instruction, **types) == 8 * 32 * (2 * 16 + each)


def test_gelu_and_complex_products_of_cublas():
    types = {"a": "f32[8,16]{1,0}", "b": "f32[16,32]{1,0}"}
    work = call_of(GEMM.format(alpha=1, beta=0, epilogue="GELU", more=""), **types)[0].work
    assert work == Work(flops=8 * 32 * (2 * 16 + 8), transcendentals=8 * 32)
    instruction = GEMM.format(alpha=1, beta=0, epilogue="DEFAULT", more="").replace("f32[8,32]", "c64[8,32]")
    types = {"a": "c64[8,16]{1,0}", "b": "c64[16,32]{1,0}"}
    # Four multiplications and four additions for each complex multiply-add.
    assert flops(instruction, **types) == 8 * 8 * 32 * 16


CONVOLUTION = (
    "({result}, u8[0]{{0}}) custom-call({operands}), window={{size=3x3 stride=2x2 pad=1_0x1_0}}, "
    'dim_labels=b01f_o01i->b01f, custom_call_target="__cudnn$conv{kind}", backend_config={{"cudnn_conv_backend_config":'
    '{{"activation_mode":"{activation}","conv_result_scale":1,"side_input_scale":{side}}}}}'
)
IMAGE, KERNEL, RESULT = "f32[2,8,8,5]{3,2,1,0}", "f32[7,3,3,5]{3,2,1,0}", "f32[2,4,4,7]{3,2,1,0}"
# Window of 3 at 2·o − 1: the first place has one element outside, along each dimension; 5 channels in, 7 out, 2 images.
MULTIPLY_ADDS = (3 * 4 - 1) ** 2 * 5 * 7 * 2
ELEMENTS = 2 * 4 * 4 * 7


@pytest.mark.parametrize(
    ("kind", "result", "types"),
    [
        ("Forward", RESULT, {"a": IMAGE, "b": KERNEL}),
        ("BackwardInput", IMAGE, {"a": RESULT, "b": KERNEL}),
        ("BackwardFilter", KERNEL, {"a": IMAGE, "b": RESULT}),
    ],
)
def test_convolutions_of_cudnn(kind, result, types):
    """Forwards and backwards each pair of a result's place and an element of its window is multiplied once."""
    instruction = CONVOLUTION.format(result=result, operands="%a, %b", kind=kind, activation="kNone", side=0)
    assert flops(instruction, **types) == 2 * MULTIPLY_ADDS


@pytest.mark.parametrize(
    ("operands", "activation", "side", "each"),
    [("%a, %b, %c", "kNone", 0, 1), ("%a, %b, %c", "kRelu", 0, 2), ("%a, %b, %c, %d", "kRelu", 1, 3)],
)
def test_what_cudnn_does_with_a_convolution_at_once(operands, activation, side, each):
    instruction = CONVOLUTION.format(
        result=RESULT, operands=operands, kind="BiasActivationForward", activation=activation, side=side
    )
    types = {"a": IMAGE, "b": KERNEL, "c": "f32[7]{0}", "d": RESULT}
    assert flops(instruction, **types) == 2 * MULTIPLY_ADDS + each * ELEMENTS


ONEDNN = """f32[2,4,4,7]{3,2,1,0} custom-call(%a, %b), custom_call_target="__onednn$convolution", \
backend_config={"outer_dimension_partitions":[],"onednn_conv_config":{"dims":"4","fusions":{"ops":["BIAS","RELU"]},\
"input":{"dims":"4","data":{"feature_dim":"3","spatial_dims":[%d1,%d2]}},\
"kernel":{"dims":"4","filter":{"input_feature_dim":"2","output_feature_dim":"3","spatial_dims":[%d0,%d1]}},\
"output":{"dims":"4","data":{"feature_dim":"3","spatial_dims":[%d1,%d2]}},\
"window":{"pad_left":[%d1,%d1],"pad_right":[%d0,%d0],"strides":[%d2,%d2],"window_dilations":[%d1,%d1]},\
"feature_groups":"1"}}"""


@pytest.mark.parametrize("shift", [0, 1])
def test_convolutions_of_onednn_in_both_spellings(shift):
    """XLA wrote these numbers one larger for a while."""
    instruction = re.sub(r"%d(\d)", lambda found: f'"{int(found[1]) + shift}"', ONEDNN)
    types = {"a": IMAGE, "b": "f32[3,3,5,7]{3,2,1,0}"}
    assert flops(instruction, **types) == 2 * MULTIPLY_ADDS + 2 * ELEMENTS


def test_a_convolution_of_onednn_that_does_not_fit_is_unknown():
    instruction = re.sub(r"%d(\d)", lambda found: f'"{int(found[1]) + 2}"', ONEDNN)
    work = call_of(instruction, a=IMAGE, b="f32[3,3,5,7]{3,2,1,0}")[0].work
    assert isinstance(work, Unavailable) and "__onednn$convolution" in work.reason


@pytest.mark.parametrize(
    ("left", "right", "options"),
    [
        ("f32[2,8,16]{2,1,0}", "f32[2,16,32]{2,1,0}", ""),
        ("f32[2,16,8]{2,1,0}", "f32[2,16,32]{2,1,0}", '"transpose_a":true,'),
        ("f32[2,8,16]{2,1,0}", "f32[2,32,16]{2,1,0}", '"transpose_b":true,'),
    ],
)
@pytest.mark.parametrize(("fused", "each"), [("", 0), ('"BIAS"', 1), ('"BIAS","RELU","SUM"', 3)])
def test_products_of_onednn(left, right, options, fused, each):
    instruction = (
        'f32[2,8,32]{2,1,0} custom-call(%a, %b), custom_call_target="__onednn$matmul", '
        f'backend_config={{"onednn_matmul_config":{{{options}"fusions":{{"ops":[{fused}]}}}}}}'
    )
    assert flops(instruction, a=left, b=right) == 2 * 8 * 32 * (2 * 16 + each)


# Factorisations by running the textbook's algorithm on numbers that count.


def matrix(n, number):
    return [[number() for _ in range(n)] for _ in range(n)]


def invert_triangle(n, number, one):
    """Column by column: the diagonal's reciprocal, and what stands below by substitution."""
    lower, inverse = matrix(n, number), matrix(n, number)
    for column in range(n):
        inverse[column][column] = one / lower[column][column]
        for row in range(column + 1, n):
            total = lower[row][column] * inverse[column][column]
            for middle in range(column + 1, row):
                total = total + lower[row][middle] * inverse[middle][column]
            # The sign goes with the reciprocal of the diagonal.
            inverse[row][column] = total * inverse[row][row]


def eliminate(n, number):
    """Row by row, of a matrix whose diagonal is so large that no pivot is 0."""
    values = [[number(100.0 if row == column else row + column / 2 + 1) for column in range(n)] for row in range(n)]
    for step in range(n):
        for row in range(step + 1, n):
            values[row][step] = values[row][step] / values[step][step]
            for column in range(step + 1, n):
                values[row][column] = values[row][column] - values[row][step] * values[step][column]


@given(st.integers(1, 9), st.integers(1, 3))
def test_inverses_of_blocks(n, batch):
    with counting() as tally:
        invert_triangle(n, Real, Real())
    instruction = f'f32[{batch},{n},{n}] custom-call(%a), custom_call_target="InvertDiagBlocksLowerTriangular"'
    assert flops(instruction, a=f"f32[{batch},{n},{n}]") == batch * tally.flops


@given(st.integers(2, 9), st.sampled_from([("f32", Real), ("c64", lambda value: Complex(Real(value)))]))
def test_blocks_of_an_lu_factorisation(n, element):
    with counting() as tally:
        eliminate(n, element[1])
    array = f"{element[0]}[{n},{n}]"
    instruction = f'({array}, s32[{n}], s32[{n}]) custom-call(%a), custom_call_target="LuDecompositionBlock"'
    assert flops(instruction, a=array) == tally.flops


@pytest.mark.parametrize("unit", [False, True])
def test_triangular_solves_of_xla_for_gpus(unit):
    def solve(n, vectors):
        matrix_, right = matrix(n, Real), [[Real() for _ in range(vectors)] for _ in range(n)]
        for column in range(vectors):
            for row in range(n):
                for before in range(row):
                    right[row][column] = right[row][column] - matrix_[row][before] * right[before][column]
                if not unit:
                    right[row][column] = right[row][column] / matrix_[row][row]

    with counting() as tally:
        solve(6, 3)
    instruction = (
        '(f32[6,3]{0,1}, s8[0]{0}) custom-call(%a, %b), custom_call_target="__cublas$triangularSolve", backend_config='
        f'{{"left_side":true,"lower":true,"unit_diagonal":{str(unit).lower()},"transpose_a":"NO_TRANSPOSE"}}'
    )
    assert flops(instruction, a="f32[6,6]{0,1}", b="f32[6,3]{0,1}") == tally.flops


@pytest.mark.parametrize(("routine", "leading"), [("sytrd", 4 / 3), ("gehrd", 10 / 3)])
def test_reductions_of_large_matrices_approach_their_leading_term(routine, leading):
    instruction = (
        f'(f32[2000,2000]{{0,1}}, f32[1999]{{0}}, s32[]) custom-call(%a), custom_call_target="lapack_s{routine}_ffi"'
    )
    assert flops(instruction, a="f32[2000,2000]{0,1}") == pytest.approx(leading * 2000**3, rel=0.005)


def test_the_partial_top_k_of_a_tpu():
    instruction = (
        '(f32[16,256], s32[16,256]) custom-call(%a, %i), custom_call_target="PartialReduce", '
        'backend_config={"log2_reduction": 2, "reduction_dim": 1, "top_k": 8, "recall_target": 0.950000}'
    )
    # Of 1000 numbers in each of 16 rows 256 are left, each the largest of its own.
    assert flops(instruction, a="f32[16,1000]", i="s32[16,1000]") == 16 * (1000 - 256)


DECLARED = (
    'f32[256] custom-call(%a), custom_call_target="tpu_custom_call", backend_config={"custom_call_config":'
    '{"body":"TUzvUg==","cost_estimate":{"flops":"1234","transcendentals":"5","bytes_accessed":"777"},'
    '"needs_layout_passes":true}}'
)


def test_a_kernel_costs_what_its_author_declared():
    one, _ = call_of(DECLARED, a="f32[256]")
    assert one.work == Work(flops=1234, transcendentals=5)
    bare = re.sub(r'"cost_estimate":\{[^}]*\},', "", DECLARED)
    assert isinstance(call_of(bare, a="f32[256]")[0].work, Unavailable)


@pytest.mark.parametrize(
    "target", ["nobody_knows_me", "__cudnn$fmhaSoftmax", "EighTpu", "lapack_sgtsv_ffi", "Sharding2"]
)
def test_what_is_not_known_is_named_and_never_nothing(target):
    one, kernels = call_of(f'f32[4,4] custom-call(%a), custom_call_target="{target}"', a="f32[4,4]")
    assert isinstance(one.work, Unavailable) and target in one.work.reason
    # What it moves is known all the same.
    assert [(kernel.bytes_read, kernel.bytes_written) for kernel in kernels] == [(64, 64)]


def test_remarks_to_the_compiler_are_no_kernels():
    for target in ("Sharding", "ConcatBitcast", "AssumeGatherIndicesInBound"):
        one, kernels = call_of(f'f32[4] custom-call(%a), custom_call_target="{target}"', a="f32[4]")
        assert one is None and kernels == ()


@pytest.mark.parametrize("entry", LIBRARY_TARGETS, ids=lambda entry: entry.key)
def test_a_call_with_other_arrays_than_its_own_is_unknown(entry):
    for target in entry.targets:
        found = library_call(target, (), (), {})
        assert found.rule == entry.key
        assert found.work == NO_WORK if entry.key == "marker" else isinstance(found.work, Unavailable)


def test_each_target_is_known_once():
    targets = [target for entry in LIBRARY_TARGETS for target in entry.targets]
    assert len(targets) == len(set(targets))
    shared = {target for target in targets for other in TARGETS if other.pattern.fullmatch(target)}
    # What an approximate top-k compares is only known once it is compiled.
    assert shared == {"PartialReduce"} or shared <= {"PartialReduce", "hip_lu_pivots_to_permutation"}
    assert all(entry.formula and entry.source.startswith("https://") for entry in LIBRARY_TARGETS)


# Compilers themselves: what they really call.


def convolve(image, kernel):
    numbers = ("NHWC", "HWIO", "NHWC")
    return jax.lax.conv_general_dilated(image, kernel, (1, 1), "SAME", dimension_numbers=numbers)


def convolution_and_gradients(image, kernel):
    return jax.value_and_grad(lambda x, k: (convolve(x, k) ** 2).sum(), (0, 1))(image, kernel)


ON_TARGETS = [
    # Along each spatial dimension 32 places of a window of 3, less the two that lie outside.
    ("convolution", convolution_and_gradients, ("f32[8,32,32,16]", "f32[3,3,16,32]"), 3 * 2 * 94**2 * 8 * 16 * 32),
    ("product", jnp.matmul, ("bf16[512,256]", "bf16[256,128]"), 2 * 512 * 256 * 128),
    ("batch", jnp.matmul, ("bf16[8,64,32]", "bf16[8,32,48]"), 2 * 8 * 64 * 32 * 48),
    ("integers", jnp.matmul, ("i8[64,32]", "i8[32,48]"), 2 * 64 * 32 * 48),
]


@pytest.mark.parametrize(
    "target",
    [
        "cpu",
        pytest.param("cuda:h100", marks=(CUDA, CUDA_TEXT)),
        pytest.param("tpu:v5e:2x2", marks=TPU),
    ],
)
@pytest.mark.parametrize(("name", "function", "types", "expected"), ON_TARGETS, ids=[row[0] for row in ON_TARGETS])
def test_products_are_the_same_on_every_target(target, name, function, types, expected):
    """A dot, a Triton fusion, a cuDNN call, a convolution on the matrix unit: the same multiply-adds."""
    inspection = jaxscope.inspect(function, *types, target=target)
    cost = count_hlo(parse(inspection.hlo))
    rules = {"dot", "convolution", "cuDNN convolution", "cuDNN gradient", "cuBLAS product"}
    products = [one for one in cost.ops if one.rule in rules]
    figure = "integer_ops" if types[0].startswith("i") else "flops"
    counted = sum(getattr(one.work, figure) * one.runs.known for one in products)
    # cuDNN scales a gradient's result in the same call: one FLOP an element, far below a product.
    assert expected <= counted < expected * 1.01
    assert cost.unknown == ()
