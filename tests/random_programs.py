"""Random small programs for the counts of compiled HLO, each with what it computes where a definition says so.

Input: nothing; `PROGRAM_KINDS` maps a kind to a hypothesis strategy. Output: `RandomProgram`: a function, its abstract
arguments, and the multiply-adds that its products must have, counted by walking through the definition, None where the
kind has no products.
"""

import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from hypothesis import strategies as st


class RandomProgram(NamedTuple):
    """A program, and the multiply-adds of its products by the definition."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    multiply_adds: int | None = None


SIZES = st.integers(1, 6)
FLOATS = st.sampled_from([jnp.float32, jnp.bfloat16, jnp.float16])
NUMBERS = st.sampled_from([jnp.float32, jnp.bfloat16, jnp.int32, jnp.complex64])


def _array(shape, dtype):
    return jax.ShapeDtypeStruct(tuple(shape), dtype)


@st.composite
def dots(draw, sizes_of=SIZES, fewest=0):
    """A product with batch, free and contracting dimensions in any order, among other arithmetic.

    Args:
        draw: Hypothesis's.
        sizes_of: Sizes of dimensions.
        fewest: How many there are at least of each kind but the batch.
    """
    batch = draw(st.lists(sizes_of, max_size=2))
    contracting, left, right = (draw(st.lists(sizes_of, min_size=fewest, max_size=2)) for _ in range(3))
    dtype = draw(NUMBERS)
    labels = [("b", i) for i in range(len(batch))] + [("c", i) for i in range(len(contracting))]
    sizes = {("b", i): size for i, size in enumerate(batch)} | {("c", i): size for i, size in enumerate(contracting)}
    sides = []
    for name, free in (("l", left), ("r", right)):
        sizes |= {(name, i): size for i, size in enumerate(free)}
        sides.append(draw(st.permutations([*labels, *((name, i) for i in range(len(free)))])))
    numbers = tuple(
        tuple(tuple(side.index(label) for label in labels if label[0] == kind) for side in sides) for kind in "cb"
    )

    def function(a, b):
        return jax.lax.dot_general(a + a, b, numbers) * 2

    # Every pair of elements that meets.
    pairs = itertools.product(*(range(size) for size in (*batch, *contracting, *left, *right)))
    args = tuple(_array([sizes[label] for label in side], dtype) for side in sides)
    return RandomProgram(function, args, sum(1 for _ in pairs))


def _window_meets(size, window, result, stride, low, base, dilation):
    """Pairs of result and window positions that lie over an element, one by one."""
    return sum(
        1
        for place in range(result)
        for element in range(window)
        for position in [place * stride + element * dilation - low]
        if position % base == 0 and 0 <= position // base < size
    )


@st.composite
def convolutions(draw, least=1):
    """A convolution with padding, strides, both dilations, and groups of features or of the batch.

    Args:
        draw: Hypothesis's.
        least: The smallest size of a dimension.
    """
    rank = draw(st.integers(1, 2))
    groups, batch_groups = draw(st.sampled_from([(1, 1), (1, 1), (2, 1), (3, 1), (1, 2)]))
    channels, outputs = draw(st.integers(least, 3)), draw(st.integers(least, 3)) * groups * batch_groups
    batch = draw(st.integers(least, 3)) * batch_groups
    dtype = draw(FLOATS)
    sizes, windows = ([draw(st.integers(least, 5)) for _ in range(rank)] for _ in range(2))
    strides, bases, dilations = ([draw(st.integers(1, 3)) for _ in range(rank)] for _ in range(3))
    padding = []
    results = []
    for axis in range(rank):
        wide = (windows[axis] - 1) * dilations[axis] + 1
        dilated = (sizes[axis] - 1) * bases[axis] + 1
        low = draw(st.integers(0, 3))
        high = draw(st.integers(max(0, wide - dilated - low), max(0, wide - dilated - low) + 3))
        padding.append((low, high))
        results.append((dilated + low + high - wide) // strides[axis] + 1)

    def function(image, kernel):
        return jax.lax.conv_general_dilated(
            image,
            kernel,
            strides,
            padding,
            bases,
            dilations,
            feature_group_count=groups,
            batch_group_count=batch_groups,
        )

    args = _array((batch, channels * groups, *sizes), dtype), _array((outputs, channels, *windows), dtype)
    over = math.prod(
        _window_meets(sizes[i], windows[i], results[i], strides[i], padding[i][0], bases[i], dilations[i])
        for i in range(rank)
    )
    return RandomProgram(function, args, over * channels * outputs * (batch // batch_groups))


@st.composite
def reductions(draw):
    """Sums, maxima, argmaxima and products over some axes."""
    shape = draw(st.lists(SIZES, min_size=1, max_size=3))
    axes = tuple(sorted(draw(st.sets(st.integers(0, len(shape) - 1)))))
    dtype = draw(st.sampled_from([jnp.float32, jnp.bfloat16, jnp.int32]))
    reduce = draw(st.sampled_from([jnp.sum, jnp.max, jnp.prod, jnp.any]))
    return RandomProgram(
        lambda x: (reduce(x, axis=axes), jnp.argmax(x), jnp.sin(x * 2.0).mean()), (_array(shape, dtype),)
    )


@st.composite
def windows(draw):
    """Pooling with any window, its gradient, and running sums."""
    rank = draw(st.integers(1, 2))
    shape = [draw(st.integers(2, 7)) for _ in range(rank)]
    window = tuple(draw(st.integers(1, size)) for size in shape)
    strides = tuple(draw(st.integers(1, 2)) for _ in shape)
    padding = draw(st.sampled_from(["SAME", "VALID"]))

    def pooled(x):
        return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, window, strides, padding)

    def function(x):
        return pooled(x), jax.grad(lambda x: pooled(x).sum())(x), jnp.cumsum(x, axis=0)

    return RandomProgram(function, (_array(shape, jnp.float32),))


@st.composite
def scatters(draw):
    """Updates and reads at indices, and slices at a place that is data."""
    rows, columns, count = (draw(st.integers(2, 6)) for _ in range(3))
    how = draw(st.sampled_from(["set", "add", "max", "multiply"]))

    def function(x, indices, updates):
        changed = getattr(x.at[indices], how)(updates)
        sliced = jax.lax.dynamic_slice(x, (indices[0], 0), (2, columns))
        return changed, x[indices] * 2, jax.lax.dynamic_update_slice(x, sliced, (0, indices[0]))

    args = _array((rows, columns), jnp.float32), _array((count,), jnp.int32), _array((count, columns), jnp.float32)
    return RandomProgram(function, args)


@st.composite
def sorts(draw):
    """Sorts of one and of two arrays, and the largest few."""
    shape = draw(st.lists(st.integers(1, 9), min_size=1, max_size=2))
    axis = draw(st.integers(0, len(shape) - 1))
    dtype = draw(st.sampled_from([jnp.float32, jnp.int32]))
    kept = draw(st.integers(1, shape[-1]))

    def function(x, y):
        return jax.lax.sort((x, y), dimension=axis, num_keys=1), jnp.sort(y, axis=axis), jax.lax.top_k(x, kept)

    return RandomProgram(function, (_array(shape, dtype), _array(shape, dtype)))


@st.composite
def transforms(draw):
    """Fourier transforms of one and two dimensions."""
    shape = draw(st.lists(st.sampled_from([1, 2, 3, 4, 6, 8]), min_size=2, max_size=3))
    name = draw(st.sampled_from(["fft", "ifft2", "rfft", "rfft2", "irfft"]))
    dtype = jnp.float32 if name.startswith("rfft") else jnp.complex64
    if name == "irfft":
        shape[-1] += 1
    return RandomProgram(lambda x: jnp.abs(getattr(jnp.fft, name)(x)), (_array(shape, dtype),))


@st.composite
def elementwise(draw):
    """Arithmetic of every element type, chained, with comparisons, selections and conversions."""
    shape = draw(st.lists(SIZES, max_size=3))
    dtype = draw(st.sampled_from([jnp.float32, jnp.bfloat16, jnp.int32, jnp.uint8, jnp.complex64, jnp.bool_]))
    of_any = [jnp.abs, jnp.negative, jnp.square]
    of_complex = [*of_any, jnp.sin, jnp.exp, jnp.tanh]
    of_real = [jnp.sqrt, jnp.isfinite, jax.scipy.special.erf, jnp.arccosh, jnp.arcsin, jnp.sinh, jnp.cbrt, jnp.log1p]
    of_real += [jnp.floor, jax.nn.sigmoid, jnp.sign, jnp.tan]
    chosen = draw(st.lists(st.sampled_from([*of_complex, *of_real]), min_size=1, max_size=4))
    loops = draw(st.integers(0, 3))

    def function(x, y):
        z = jnp.where(x == y, x, y) + jnp.asarray(1, dtype)
        for step in chosen:
            if z.dtype == jnp.bool_ or not (jnp.issubdtype(z.dtype, jnp.inexact) or step in of_any):
                z = z.astype(jnp.float32)
            if z.dtype != jnp.complex64 or step in of_complex:
                z = step(z)
        z = z.astype(jnp.float32) if z.dtype == jnp.bool_ else z
        return jax.lax.fori_loop(0, loops, lambda i, v: v * v, z) ** 2, jnp.clip(jnp.real(z).astype(jnp.float32), 0, 1)

    return RandomProgram(function, (_array(shape, dtype), _array(shape, dtype)))


@st.composite
def branches(draw):
    """Loops in loops and branches, of which some are known to the compiler."""
    size, outer, inner = draw(st.integers(1, 8)), draw(st.integers(1, 5)), draw(st.integers(1, 4))

    def function(x, n, choice):
        def body(carry, _):
            return jax.lax.fori_loop(0, inner, lambda i, v: jnp.sin(v) * 2 + i, carry), carry.sum()

        x, sums = jax.lax.scan(body, x, None, length=outer)
        x = jax.lax.fori_loop(0, n, lambda i, v: v + 1, x)
        return jax.lax.switch(choice, [lambda v: v @ v.T, lambda v: jnp.exp(v), lambda v: v], x), sums

    return RandomProgram(function, (_array((size, size), jnp.float32), _array((), jnp.int32), _array((), jnp.int32)))


PROGRAM_KINDS = {
    strategy.__name__: strategy()
    for strategy in (dots, convolutions, reductions, windows, scatters, sorts, transforms, elementwise, branches)
}
