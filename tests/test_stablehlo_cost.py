"""Counts of single ops of StableHLO, through JAX's own lowering, against brute force and closed forms."""

import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jax import lax

from jaxscope._analysis.custom_calls import TARGETS
from jaxscope._analysis.hlo_cost import count_hlo
from jaxscope._analysis.stablehlo_cost import count_stablehlo
from jaxscope._analysis.work import Work
from jaxscope._ir import hlo, stablehlo

F4 = jax.ShapeDtypeStruct((4,), jnp.float32)
M8 = jax.ShapeDtypeStruct((8, 8), jnp.float32)
FEW = settings(max_examples=40, deadline=None)
SIZES = st.integers(1, 5)
DTYPES = st.sampled_from(["float32", "bfloat16", "int32", "complex64"])


def array(shape, dtype="float32"):
    return jax.ShapeDtypeStruct(tuple(shape), jnp.dtype(dtype))


def account(function, *args):
    """The account of a function as JAX lowers it; its total must be the same with locations and in generic form."""
    lowered = jax.jit(function).lower(*args)
    cost = count_stablehlo(stablehlo.parse(lowered.as_text()))
    module = lowered.compiler_ir("stablehlo").operation
    for text in (lowered.as_text(debug_info=True), module.get_asm(print_generic_op_form=True)):
        assert count_stablehlo(stablehlo.parse(text)).total == cost.total
    return cost


def total(function, *args):
    """The whole work of a function in which everything is known."""
    cost = account(function, *args)
    assert not cost.unknown and cost.total.is_known
    return cost.total.known


def by_rule(function, *args):
    """Work by rule, times the runs of each op."""
    found = {}
    for op in account(function, *args).ops:
        if isinstance(op.work, Work):
            found[op.rule] = found.get(op.rule, Work()) + op.work * op.runs.known
    return found


def multiply_adds(count, dtype):
    """So many products, each added to a sum, in a type."""
    dtype = jnp.dtype(dtype)
    if jnp.issubdtype(dtype, jnp.complexfloating):
        return Work(flops=8 * count)
    return Work(flops=2 * count) if jnp.issubdtype(dtype, jnp.floating) else Work(integer_ops=2 * count)


@FEW
@given(
    st.lists(SIZES, max_size=2),
    st.lists(SIZES, max_size=2),
    st.lists(SIZES, max_size=2),
    st.lists(SIZES, max_size=2),
    DTYPES,
    st.randoms(use_true_random=False),
)
def test_dot_general(batch, contracted, left, right, dtype, random):
    """Dimensions in any order; the products are counted by walking through all the index tuples."""

    def shuffled(free):
        labels = [*(("b", i) for i in range(len(batch))), *(("c", i) for i in range(len(contracted)))]
        labels += [("f", i) for i in range(len(free))]
        random.shuffle(labels)
        sizes = {"b": batch, "c": contracted, "f": free}
        return labels, [sizes[kind][i] for kind, i in labels]

    (left_labels, left_shape), (right_labels, right_shape) = shuffled(left), shuffled(right)
    positions = [
        tuple(labels.index((kind, i)) for i in range(len(sizes)))
        for kind, sizes in (("c", contracted), ("b", batch))
        for labels in (left_labels, right_labels)
    ]
    numbers = ((positions[0], positions[1]), (positions[2], positions[3]))
    products = sum(1 for _ in itertools.product(*map(range, (*batch, *contracted, *left, *right))))
    counted = total(lambda a, b: lax.dot_general(a, b, numbers), array(left_shape, dtype), array(right_shape, dtype))
    assert counted == multiply_adds(products, dtype)


def naive_convolution(lhs, rhs, out, numbers, strides, padding, lhs_dilation, rhs_dilation, groups, batch_groups):
    """Multiply-adds of a convolution: in bounds, and on the padding, by walking through all of them."""
    spatial = len(strides)
    lhs, rhs, out = ([shape[axis] for axis in spec] for shape, spec in zip((lhs, rhs, out), numbers, strict=True))
    inside = over_padding = 0
    for output in itertools.product(*map(range, out[2:])):
        for window in itertools.product(*map(range, rhs[2:])):
            positions = [output[d] * strides[d] + window[d] * rhs_dilation[d] - padding[d][0] for d in range(spatial)]
            if any(position % lhs_dilation[d] for d, position in enumerate(positions)):
                continue
            if all(0 <= position // lhs_dilation[d] < lhs[2 + d] for d, position in enumerate(positions)):
                inside += 1
            else:
                over_padding += 1
    # Each output channel of each example sees the input channels of its group.
    channels = out[0] * out[1] * (lhs[1] // groups)
    assert out[0] == lhs[0] // batch_groups and rhs[1] == lhs[1] // groups
    return inside * channels, over_padding * channels


@FEW
@given(st.data())
def test_convolution(data):
    spatial = data.draw(st.integers(1, 2))
    window = data.draw(st.lists(st.integers(1, 3), min_size=spatial, max_size=spatial))
    size = data.draw(st.lists(st.integers(3, 6), min_size=spatial, max_size=spatial))
    small = st.lists(st.integers(1, 3), min_size=spatial, max_size=spatial)
    strides, lhs_dilation, rhs_dilation = data.draw(small), data.draw(small), data.draw(small)
    padding = data.draw(st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 3)), min_size=spatial, max_size=spatial))
    groups, batch_groups = data.draw(st.sampled_from([(1, 1), (2, 1), (3, 1), (1, 2)]))
    features, kernels = groups * data.draw(SIZES), groups * batch_groups * data.draw(SIZES)
    batch = batch_groups * data.draw(st.integers(1, 2))
    # JAX makes several convolutions of one of complex numbers.
    dtype = data.draw(st.sampled_from(["float32", "bfloat16", "int32"]))
    specs = [data.draw(st.permutations(range(spatial + 2))) for _ in range(3)]

    def shape_of(sizes, spec):
        shape = [0] * len(sizes)
        for size, axis in zip(sizes, spec, strict=True):
            shape[axis] = size
        return tuple(shape)

    lhs = shape_of((batch, features, *size), specs[0])
    rhs = shape_of((kernels, features // groups, *window), specs[1])

    def convolve(a, b):
        return lax.conv_general_dilated(
            a,
            b,
            strides,
            padding,
            lhs_dilation,
            rhs_dilation,
            lax.ConvDimensionNumbers(*map(tuple, specs)),
            feature_group_count=groups,
            batch_group_count=batch_groups,
        )

    operands = array(lhs, dtype), array(rhs, dtype)
    out = jax.eval_shape(convolve, *operands).shape
    assume(math.prod(out))
    inside, padded = naive_convolution(
        lhs, rhs, out, specs, strides, padding, lhs_dilation, rhs_dilation, groups, batch_groups
    )
    expected = multiply_adds(inside, dtype)
    assert total(convolve, *operands) == Work(expected.flops, 0, expected.integer_ops, 2 * padded)
    if dtype == "float32":
        # XLA knows no padding either.
        assert jax.jit(convolve).lower(*operands).cost_analysis().get("flops", 0) == expected.flops


def applications(shape, axes):
    """How often NumPy applies a function that it does not know when it reduces over some axes."""
    applied = []

    def combine(a, b):
        applied.append(1)
        return a

    values = np.full(shape, 1, object)
    for axis in sorted(axes, reverse=True):
        values = np.frompyfunc(combine, 2, 1).reduce(values, axis=axis)
    return len(applied)


@FEW
@given(st.lists(SIZES, min_size=1, max_size=4), st.data())
def test_reduce(shape, data):
    axes = tuple(sorted(data.draw(st.sets(st.integers(0, len(shape) - 1)))))
    count = applications(shape, axes)
    assert total(lambda x: lax.reduce_max(x, axes), array(shape)) == Work(flops=count)
    assert total(lambda x: lax.reduce_and(x, axes), array(shape, "int32")) == Work(integer_ops=count)
    assert total(lambda x: lax.reduce_prod(x, axes), array(shape, "complex64")) == Work(flops=6 * count)
    if axes:
        # One reducer of two arrays: three comparisons of floats, one of indices, three of truth values.
        counted = by_rule(lambda x: lax.argmax(x, axes[0], jnp.int32), array(shape)).get("reduce", Work())
        count = applications(shape, axes[:1])
        assert counted == Work(flops=3 * count, integer_ops=4 * count)


@FEW
@given(st.data())
def test_reduce_window_and_its_gradient(data):
    rank = data.draw(st.integers(1, 3))
    each = {"min_size": rank, "max_size": rank}
    shape = data.draw(st.lists(st.integers(3, 6), **each))
    window, strides = data.draw(st.lists(st.integers(1, 3), **each)), data.draw(st.lists(st.integers(1, 3), **each))
    padding = data.draw(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), **each))
    dilation = data.draw(st.lists(st.integers(1, 2), **each))
    assume(all((w - 1) * d + 1 <= n for w, d, n in zip(window, dilation, shape, strict=True)))

    def pool(x):
        return lax.reduce_window(x, -jnp.inf, lax.max, window, strides, padding, window_dilation=dilation)

    outputs = 0
    spans = [(w - 1) * d + 1 for w, d in zip(window, dilation, strict=True)]
    padded = [low + n + high for n, (low, high) in zip(shape, padding, strict=True)]
    for start in itertools.product(*map(range, padded)):
        on_stride = all(position % stride == 0 for position, stride in zip(start, strides, strict=True))
        outputs += on_stride and all(p + span <= n for p, span, n in zip(start, spans, padded, strict=True))
    applied = sum(len(list(itertools.product(*map(range, window)))) - 1 for _ in range(outputs))
    assert by_rule(pool, array(shape)).get("reduce window", Work()) == Work(flops=applied)
    if all(d == 1 for d in dilation):
        # Each source selects among its window, then adds once.
        gradient = by_rule(lambda x: jax.vjp(pool, x)[1](pool(x)), array(shape))
        assert gradient["select and scatter"] == Work(flops=applied + outputs)


@FEW
@given(st.integers(1, 6), st.integers(1, 6), st.lists(SIZES, max_size=2), st.sampled_from(["add", "max", "set", "mul"]))
def test_scatter(rows, updates, row, method):
    def scatter(x, index, update):
        return getattr(x.at[index], method)(update, mode="drop")

    values, update = np.ones((rows, *row)), np.ones((updates, *row))
    combined = sum(1 for _ in np.nditer(update)) if method != "set" else 0
    counted = by_rule(scatter, array(values.shape), array((updates,), "int32"), array(update.shape))
    assert counted.get("scatter", Work()) == Work(flops=combined)


@FEW
@given(st.lists(SIZES, min_size=1, max_size=3), st.data())
def test_sort_and_top_k(shape, data):
    axis = data.draw(st.integers(0, len(shape) - 1))
    length = shape[axis]
    comparisons = sum(length * math.ceil(math.log2(length)) for _ in range(math.prod(shape) // length))
    counted = by_rule(lambda x: lax.sort(x, dimension=axis), array(shape, "int32"))
    assert counted.get("sort", Work()) == Work(integer_ops=comparisons)
    # Floats are compared with 0 and with themselves first: five comparisons in all.
    counted = by_rule(lambda x: lax.sort((x, x), dimension=axis), array(shape))
    assert counted.get("sort", Work()) == Work(flops=5 * comparisons)


@FEW
@given(st.lists(SIZES, max_size=3), st.data())
def test_elementwise(shape, data):
    elements = sum(1 for _ in itertools.product(*map(range, shape)))
    x, z, i = array(shape), array(shape, "complex64"), array(shape, "uint8")
    function, operands, each = data.draw(
        st.sampled_from(
            [
                (lambda x, y: x * y + y, (x, x), Work(flops=2)),
                (lambda x, y: x / y - y, (z, z), Work(flops=11 + 2)),
                (lambda x, y: x * y, (z, z), Work(flops=6)),
                (lambda x: lax.real(x) + lax.imag(-x), (z,), Work(flops=3)),
                (lambda x: jnp.exp(x) + jnp.tanh(x), (x,), Work(flops=1, transcendentals=2)),
                (lambda x: lax.clamp(0.0, x, 1.0), (x,), Work(flops=2)),
                (lambda x, y: (x + y) ^ (x << 3), (i, i), Work(integer_ops=3)),
                (lambda x, y: x > y, (x, x), Work(flops=1)),
                (lambda x, y: x == y, (i, i), Work(integer_ops=1)),
                (lambda x: lax.round(lax.floor(x)), (x,), Work(flops=2)),
                (lambda x: lax.select(x == x, x, -x), (x,), Work(flops=2)),
                (lambda x: x.astype(jnp.int32).astype(jnp.bfloat16), (x,), Work()),
                (lambda x: x.T.reshape(-1)[::-1], (x,), Work()),
                (lambda x: lax.erf(x) + jnp.tan(x) * lax.rsqrt(x), (x,), Work(flops=2, transcendentals=3)),
                (lambda x: lax.integer_pow(x, 4), (x,), Work(flops=2)),
            ]
        )
    )
    assert total(function, *operands) == each * elements


def test_a_decomposition_counts_for_its_composite():
    def twice(x, times=2):
        return x * times + x

    composite = lax.composite(twice, "my.twice", 1)
    assert total(lambda x: composite(x), F4) == total(twice, F4) == Work(flops=8)


def test_linear_algebra_of_the_library_and_of_the_compiler():
    matrix = array((3, 5, 5))
    counted = by_rule(lambda a: jnp.linalg.cholesky(a, symmetrize_input=False), matrix)
    assert counted["cholesky"] == Work(flops=3 * 5 * 4 * 15 // 6, transcendentals=3 * 5)

    def solve(a, b):
        return lax.linalg.triangular_solve(a, b, left_side=True, lower=True)

    assert by_rule(solve, matrix, array((3, 5, 2)))["triangular solve"] == Work(flops=3 * 2 * 25)
    assert total(jnp.fft.fft, array((3, 8), "complex64")) == Work(flops=3 * 5 * 8 * 3)
    assert total(lambda x: jnp.fft.irfft2(jnp.fft.rfft2(x)), array((4, 8))).flops >= 2 * 5 * 32 * 5 // 2


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_library_calls_count_the_same_before_and_after_compilation(dtype):
    """The compiler keeps LAPACK's calls as they are, and both notations are read."""

    def function(x, b):
        return (
            jnp.linalg.qr(x[:, :, :3]),
            lax.linalg.lu(x),
            lax.linalg.cholesky(x, symmetrize_input=False),
            lax.linalg.triangular_solve(x, b, left_side=True, unit_diagonal=True),
            lax.linalg.hessenberg(x),
            lax.linalg.tridiagonal(x),
            lax.linalg.eigh(x),
        )

    lowered = jax.jit(function).lower(array((2, 5, 5), dtype), array((2, 5, 4), dtype))
    asked = count_stablehlo(stablehlo.parse(lowered.as_text()))
    runs = count_hlo(hlo.parse(lowered.compile().as_text()))
    keys = {target.key for target in TARGETS}
    found = [sorted((op.rule, str(op.work)) for op in cost.ops if op.rule in keys) for cost in (asked, runs)]
    assert found[0] == found[1]
    assert [rule for rule, _ in found[0]] == [
        *("Hessenberg form", "LU", "Q of QR", "QR", "cholesky", "iterative", "triangular solve", "tridiagonal form")
    ]
