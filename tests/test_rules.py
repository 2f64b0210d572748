"""The rules of counting against textbook algorithms run on counting numbers, and their table against the dialects."""

import importlib
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jaxscope._analysis.custom_calls import TARGETS, Call, count_custom_call
from jaxscope._analysis.rules import (
    RULES,
    Convolution,
    FourierTransform,
    Operation,
    TriangularSolve,
    count_work,
    operation_name,
    rule_of,
)
from jaxscope._analysis.rules.windows import count_window_positions
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._analysis.work import Work
from jaxscope._ir.shapes import DYNAMIC, ArrayType
from tests.counted import Complex, Real, Word, counting

# Every opcode of https://github.com/openxla/xla/blob/main/xla/hlo/ir/hlo_opcode.h
_OPCODES = """
abs acos acosh add add-dependency after-all all-gather all-gather-done all-gather-start all-reduce all-reduce-done
all-reduce-start all-to-all and asin asinh async-done async-start async-update atan atan2 atanh batch-norm-grad
batch-norm-inference batch-norm-training bitcast bitcast-convert broadcast call cbrt ceil cholesky clamp
count-leading-zeros collective-broadcast collective-permute collective-permute-done collective-permute-start
collective-reduce compare complex concatenate conditional constant convert convolution copy copy-done copy-start cosine
cosh custom-call divide domain dot dynamic-reshape dynamic-slice dynamic-update-slice erf exponential
exponential-minus-one fft floor fusion gather get-dimension-size get-tuple-element imag infeed iota is-finite log
log-plus-one logistic map maximum minimum mulhi multiply negate not opt-barrier or outfeed pad parameter partition-id
popcnt power ragged-all-to-all ragged-dot real recv recv-done reduce reduce-precision reduce-scatter reduce-window
remainder replica-id reshape reverse rng rng-bit-generator rng-get-and-update-state round-nearest-afz
round-nearest-even rsqrt scaled-dot scan scatter select select-and-scatter send send-done set-dimension-size shift-left
shift-right-arithmetic shift-right-logical shuffle sign sine sinh slice sort sqrt stochastic-convert subtract tan tanh
topk transpose triangular-solve tuple while xor
"""
HLO_OPCODES = _OPCODES.split()
# Ops of other dialects that stand among StableHLO's where sizes are computed.
OF_SIZES = {"arith.constant", "shape.broadcast", "shape.shape_of"}

F32, S32, C64 = (lambda *sizes, element=element: ArrayType(element, sizes) for element in ("f32", "s32", "c64"))


def dialect_operations(dialect):
    """The names of a dialect's operations, from the Python classes that MLIR generates for them."""
    module = importlib.import_module(f"jaxlib.mlir.dialects._{dialect}_ops_gen")
    classes = [value for value in vars(module).values() if isinstance(value, type)]
    return {one.OPERATION_NAME for one in classes if hasattr(one, "OPERATION_NAME")}


def counted_dialects():
    names = {name for dialect in ("stablehlo", "chlo", "sdy", "mpmd") for name in dialect_operations(dialect)}
    return names | {"func.call", "func.call_indirect", "func.return"}


@pytest.mark.parametrize("name", sorted(counted_dialects()))
def test_every_operation_has_a_rule(name):
    assert rule_of(operation_name(name)) is not None


@pytest.mark.parametrize("opcode", HLO_OPCODES)
def test_every_opcode_has_a_rule(opcode):
    assert rule_of(operation_name(opcode)) is not None


def test_no_rule_is_left_over():
    """A name in the table that no dialect has would be a rule that is never used."""
    known = {operation_name(name) for name in (*counted_dialects(), *HLO_OPCODES)} | OF_SIZES
    if "sdy.sharded_to_unreduced" not in known:
        pytest.skip("this version of the dialects lacks ops that newer ones have")
    assert {name for rule in RULES for name in rule.operations} <= known


def test_each_operation_is_in_one_rule():
    names = [name for rule in RULES for name in rule.operations]
    assert len(names) == len(set(names))
    assert len({rule.key for rule in RULES}) == len(RULES)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.key)
def test_rules_are_documented(rule):
    assert rule.formula.endswith(".") and rule.source.startswith("https://")
    assert (rule.count is not None) == (rule.kind == "arithmetic")


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.key)
def test_targets_are_documented(target):
    assert target.pattern.fullmatch(target.example)
    assert target.formula.endswith(".") and target.source.startswith("https://")
    assert [other.key for other in TARGETS if other.pattern.fullmatch(target.example)] == [target.key]


def elementwise(name, element, operands=1, result=None):
    array = ArrayType(element, (3, 2))
    return count_work(Operation(name, (array,) * operands, (ArrayType(result or element, (3, 2)),)))


BINARY = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
}


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize(("element", "number"), [("f32", Real), ("bf16", Real), ("c64", Complex), ("c128", Complex)])
def test_arithmetic_by_definition(name, element, number):
    with counting() as tally:
        for _ in range(6):
            BINARY[name](number(), number())
    assert elementwise(name, element, 2) == Work(flops=tally.flops)


def test_absolute_value_and_sign_of_complex_numbers():
    with counting() as tally:
        Complex().absolute()
    assert elementwise("abs", "c64", result="f32") == Work(6 * tally.flops, 6 * tally.transcendentals)
    with counting() as tally:
        z = Complex()
        z.over_real(z.absolute())
    assert elementwise("sign", "c64") == Work(6 * tally.flops, 6 * tally.transcendentals)


def test_kinds_of_arithmetic():
    assert elementwise("add", "s8", 2) == elementwise("and", "pred", 2) == Work(integer_ops=6)
    assert elementwise("compare", "f32", 2, "pred") == Work(flops=6)
    assert elementwise("compare", "s32", 2, "pred") == Work(integer_ops=6)
    assert elementwise("clamp", "f8e4m3fn", 3) == Work(flops=12)
    assert elementwise("power", "s32", 2) == Work(integer_ops=6)
    assert elementwise("conj", "f32") == Work()
    for name in ("tanh", "rsqrt", "lgamma", "erf_inv"):
        assert elementwise(name, "f32") == elementwise(name, "c64") == Work(transcendentals=6)
    for name in ("select", "convert", "is_finite", "reshape", "gather", "reduce_precision"):
        assert elementwise(name, "f32") == Work()


def test_what_is_not_known_says_why():
    symbolic = ArrayType("f32", (DYNAMIC, 4))
    assert "not known before" in count_work(Operation("add", (symbolic, symbolic), (symbolic,))).reason
    assert "no rule" in count_work(Operation("perceive", (F32(2),), (F32(2),))).reason
    assert "lacks" in count_work(Operation("convolution", (F32(2),), (F32(2),))).reason
    opaque = Unavailable("no")
    assert count_work(Operation("reduce", (F32(4), F32()), (F32(),), bodies=(opaque,))) is opaque
    assert count_work(Operation("sort", (F32(4),), (F32(4),), bodies=(opaque,))) is opaque


@given(
    *(st.integers(0, 9), st.integers(1, 6), st.integers(0, 9)),
    *(st.integers(1, 4), st.integers(-3, 5), st.integers(1, 4), st.integers(1, 3)),
)
def test_window_positions(inputs, window, outputs, stride, padding, lhs_dilation, rhs_dilation):
    """Every output and every element of the window, one by one."""
    inside = on_grid = 0
    dilated = [None] * max((inputs - 1) * lhs_dilation + 1, 0)
    dilated[::lhs_dilation] = range(len(dilated[::lhs_dilation]))
    for output in range(outputs):
        for element in range(window):
            position = output * stride + element * rhs_dilation - padding
            inside += 0 <= position < len(dilated) and dilated[position] is not None
            on_grid += position % lhs_dilation == 0
    counted = count_window_positions(inputs, window, outputs, stride, padding, lhs_dilation, rhs_dilation)
    assert counted == (inside, on_grid)


def test_windows_over_millions_take_no_time():
    """By symmetry: a window as long as the input, as in the gradient of a convolution."""
    assert count_window_positions(10**9, 3, 10**9, 1, 1, 1, 1) == (3 * 10**9 - 2, 3 * 10**9)
    assert count_window_positions(10**9, 10**9, 3, 1, 1, 1, 1) == (3 * 10**9 - 2, 3 * 10**9)


def test_convolution_counts_holes_of_no_kind():
    """A transposed convolution: each element of the input meets each of the kernel, but for what is cut off."""
    convolution = Convolution(0, 2, (1,), 1, 2, (0,), 0, 2, (1,), (1,), ((2, 2),), (2,), (1,))
    operation = Operation("convolution", (F32(1, 5, 3), F32(3, 3, 7)), (F32(1, 11, 7),), convolution=convolution)
    assert count_work(operation) == Work(flops=2 * 5 * 3 * 3 * 7, padding_flops=2 * (11 * 3 // 2 - 15 + 1) * 21)


def cholesky(size, number):
    """Row by row, as Golub and Van Loan have it; the inner products without the first, empty sum."""
    large = Real(9.0) if number is Real else Complex(Real(9.0), Real(0.0))
    matrix = [[large if i == j else number() for i in range(size)] for j in range(size)]
    for j in range(size):
        for i in range(j, size):
            for k in range(j):
                if number is Complex and i == j:
                    # The diagonal stays real.
                    matrix[i][j] = Complex(matrix[i][j].real - matrix[j][k].squared_norm(), Real())
                else:
                    matrix[i][j] = matrix[i][j] - matrix[i][k] * matrix[j][k]
            if i == j:
                root = (matrix[j][j] if number is Real else matrix[j][j].real).sqrt()
            else:
                matrix[i][j] = matrix[i][j] / root if number is Real else matrix[i][j].over_real(root)


@pytest.mark.parametrize("size", range(7))
@pytest.mark.parametrize(("array", "number"), [(F32, Real), (C64, Complex)], ids=["real", "complex"])
def test_cholesky_by_algorithm(size, array, number):
    with counting() as tally:
        for _ in range(3):
            cholesky(size, number)
    matrix = array(3, size, size)
    assert count_work(Operation("cholesky", (matrix,), (matrix,))) == Work(tally.flops, tally.transcendentals)
    call = Call("lapack_spotrf_ffi", (matrix,), (matrix, S32(3)), "")
    assert count_custom_call(call) == (Work(tally.flops, tally.transcendentals), "cholesky")


@pytest.mark.parametrize("size", range(6))
@pytest.mark.parametrize("has_unit_diagonal", [False, True])
@pytest.mark.parametrize(("array", "number"), [(F32, Real), (C64, Complex)], ids=["real", "complex"])
def test_triangular_solve_by_algorithm(size, has_unit_diagonal, array, number):
    with counting() as tally:
        for _ in range(2 * 4):
            solution = [number() for _ in range(size)]
            for i in range(size):
                for k in range(i):
                    solution[i] = solution[i] - number() * solution[k]
                if not has_unit_diagonal:
                    solution[i] = solution[i] / number()
    for is_left, right in ((True, array(2, size, 4)), (False, array(2, 4, size))):
        solve = TriangularSolve(is_left, has_unit_diagonal)
        operation = Operation("triangular_solve", (array(2, size, size), right), (right,), triangular_solve=solve)
        assert count_work(operation) == Work(flops=tally.flops)


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (4, 4), (5, 3), (3, 5), (0, 2)])
@pytest.mark.parametrize(("array", "number"), [(F32, Real), (C64, Complex)], ids=["real", "complex"])
def test_lu_by_algorithm(rows, columns, array, number):
    matrix = [[number() for _ in range(columns)] for _ in range(rows)]
    with counting() as tally:
        for j in range(min(rows, columns)):
            for i in range(j + 1, rows):
                matrix[i][j] = matrix[i][j] / number()
                for k in range(j + 1, columns):
                    matrix[i][k] = matrix[i][k] - matrix[i][j] * matrix[j][k]
    call = Call("lapack_sgetrf_ffi", (array(rows, columns),), (array(rows, columns),), "")
    assert count_custom_call(call) == (Work(flops=tally.flops), "LU")


def fourier(values):
    """Cooley and Tukey's recursion, each butterfly with its factor."""
    if len(values) == 1:
        return values
    even, odd = fourier(values[::2]), fourier(values[1::2])
    turned = [Complex() * value for value in odd]
    return [a + b for a, b in zip(even, turned, strict=True)] + [a - b for a, b in zip(even, turned, strict=True)]


@pytest.mark.parametrize("points", [1, 2, 8, 32])
def test_fft_by_algorithm(points):
    with counting() as tally:
        for _ in range(3):
            fourier([Complex()] * points)
    whole, half = C64(3, points), C64(3, points // 2 + 1)
    for kind, given_, result, flops in (
        ("FFT", whole, whole, tally.flops),
        ("IFFT", whole, whole, tally.flops),
        ("RFFT", F32(3, points), half, tally.flops // 2),
        ("IRFFT", half, F32(3, points), tally.flops // 2),
    ):
        operation = Operation("fft", (given_,), (result,), fourier_transform=FourierTransform(kind, (points,)))
        assert count_work(operation) == Work(flops=flops)


def threefry(key, block):
    """Threefry-2x32 with 20 rounds; the last key word is made once for all blocks, outside."""
    keys = [*key, Word(key[0].value ^ key[1].value ^ 0x1BD11BDA)]
    a, b = block[0] + keys[0], block[1] + keys[1]
    for number, rotation in enumerate((13, 15, 26, 6, 17, 29, 16, 24) * 2 + (13, 15, 26, 6)):
        a = a + b
        b = ((b << rotation) | (b >> (32 - rotation))) ^ a
        if number % 4 == 3:
            injected = number // 4 + 1
            a, b = a + keys[injected % 3], b + keys[(injected + 1) % 3] + Word(injected)
    return a, b


def philox(key, block):
    """Philox-4x32 with 10 rounds."""
    a, b, c, d = block
    first, second = key
    for number in range(10):
        if number:
            first, second = first + Word(0x9E3779B9), second + Word(0xBB67AE85)
        high, low = a.wide_product(0xD2511F53)
        high2, low2 = c.wide_product(0xCD9E8D57)
        a, b, c, d = high2 ^ b ^ first, low2, high ^ d ^ second, low
    return a, b, c, d


@pytest.mark.parametrize(
    ("algorithm", "generate", "words", "answer"),
    [
        # Known answers for key and counter of zeros, from the generators' own tests, kat_vectors of Random123.
        ("THREE_FRY", threefry, 2, [0x6B200159, 0x99BA4EFE]),
        ("PHILOX", philox, 4, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
    ],
)
def test_random_bits_by_algorithm(algorithm, generate, words, answer):
    with counting() as tally:
        made = generate((Word(0), Word(0)), (Word(0),) * words)
    assert [word.value for word in made] == answer
    for element, elements in (("u32", 6 * words), ("u64", 3 * words), ("u8", 6 * words), ("u32", 6 * words - 1)):
        state, values = ArrayType("u64", (2,)), ArrayType(element, (elements,))
        operation = Operation("rng_bit_generator", (state,), (state, values), algorithm=algorithm)
        assert count_work(operation) == Work(integer_ops=6 * tally.integer_ops)


@pytest.mark.parametrize("features", [1, 3])
@pytest.mark.parametrize("count", [1, 4])
def test_batch_norm_by_definition(features, count):
    """The specification's formulas, each feature's own values computed once."""
    one = Real()

    def normalise(values, mean, variance):
        deviation = (variance + one).sqrt()
        return [(value - mean) / deviation * one + one for value in values]

    def total(values):
        result = values[0]
        for value in values[1:]:
            result = result + value
        return result

    values = [one] * count
    with counting() as inference:
        for _ in range(features):
            normalise(values, one, one)
    with counting() as training:
        for _ in range(features):
            mean = total(values) / one
            centred = [value - mean for value in values]
            variance = total([value * value for value in centred]) / one
            deviation = (variance + one).sqrt()
            for value in centred:
                value / deviation * one + one
    with counting() as gradient:
        for _ in range(features):
            deviation_squared = one + one
            deviation = deviation_squared.sqrt()
            centred = [value - one for value in values]
            normalised = [value / deviation for value in centred]
            first = [one * value for value in values]
            second, third = total(values), total([one * value for value in centred])
            fifth = [third * value / deviation_squared for value in centred]
            factor = one / deviation / one
            for a, b in zip(first, fifth, strict=True):
                factor * (a - second - b)
            total([one * value for value in normalised])
    array, feature = F32(count, features), F32(features)
    for name, operands, tally in (
        ("batch_norm_inference", (array, *(feature,) * 4), inference),
        ("batch_norm_training", (array, feature, feature), training),
        ("batch_norm_grad", (array, *(feature,) * 3, array), gradient),
    ):
        assert count_work(Operation(name, operands, (array,))) == Work(tally.flops, tally.transcendentals), name


@settings(max_examples=30)
@given(st.integers(1, 8), st.integers(1, 40))
def test_all_reduce_adds_no_more_than_it_must(devices, elements):
    """Together the devices add each element of each but one of them; in whole numbers, each does its share."""
    array, body = F32(elements), (Work(flops=1),)
    share = count_work(Operation("all_reduce", (array,), (array,), group_size=devices, bodies=body)).flops
    assert (devices - 1) * elements <= share * devices < (devices - 1) * elements + devices
    scattered = Operation("reduce_scatter", (F32(elements * devices),), (array,), group_size=devices, bodies=body)
    assert count_work(scattered).flops * devices == (devices - 1) * elements * devices


@settings(max_examples=30)
@given(st.lists(st.integers(0, 99), min_size=1, max_size=40), st.integers(1, 8))
def test_sorting_takes_no_more_comparisons_than_counted(values, kept):
    """Merge sort, and a heap of the greatest, on values that count comparisons."""

    def merge_sort(rest):
        if len(rest) < 2:
            return rest
        left, right = merge_sort(rest[: len(rest) // 2]), merge_sort(rest[len(rest) // 2 :])
        merged = []
        while left and right:
            merged.append((right if right[0] < left[0] else left).pop(0))
        return merged + left + right

    with counting() as tally:
        merge_sort([Real(value) for value in values])
    array = F32(2, len(values))
    work = count_work(Operation("sort", (array,), (array,), dimension=1, bodies=(Work(flops=1),)))
    assert 2 * tally.flops <= work.flops == 2 * len(values) * math.ceil(math.log2(len(values)))
    kept = min(kept, len(values))
    top = count_work(Operation("top_k", (array,), (F32(2, kept), S32(2, kept))))
    # Inserting into a sorted row of up to k by bisection.
    assert top.flops == 2 * len(values) * math.ceil(math.log2(kept + 1))


def test_pallas_declares_its_cost():
    text = (
        r'stablehlo.custom_call @tpu_custom_call(%0) {backend_config = "{\22custom_call_config\22: {'
        r"\22body\22: \22TUz\22, "
        r"\22cost_estimate\22: {\0A\22bytes_accessed\22:8192,\0A\22flops\22:1024,\0A\22transcendentals\22:3\0A}, "
        r'\22serialization_format\22: 1}}"}'
    )
    assert count_custom_call(Call("tpu_custom_call", (), (), text)) == (Work(1024, 3), "declared cost")
    hlo = 'backend_config={"custom_call_config":{"cost_estimate":{"flops":"7","transcendentals":"0"}}}'
    assert count_custom_call(Call("tpu_custom_call", (), (), hlo))[0] == Work(7)
    assert "cost_estimate" in count_custom_call(Call("tpu_custom_call", (), (), "{}"))[0].reason


def test_unknown_targets_are_named():
    work, key = count_custom_call(Call("my_kernel", (F32(2),), (F32(2),), ""))
    assert key == "custom call" and work.reason.startswith("my_kernel: ")
    work, key = count_custom_call(Call("lapack_sgesdd_ffi", (F32(2, 2),), (), ""))
    assert "converges" in work.reason
    assert isinstance(count_custom_call(Call("lapack_spotrf_ffi", (), (), ""))[0], Unavailable)
