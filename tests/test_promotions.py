"""Which operand widened which, for every pair of JAX's dtypes, is what JAX's own promotion says."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxscope._analysis.surroundings import Operand
from jaxscope._analysis.type_flow import type_flow

# JAX's promotion lattice: https://docs.jax.dev/en/latest/type_promotion.html; what a JAX does not have is left out.
NAMES = (
    "bool",
    *("int2", "int4", "int8", "int16", "int32", "int64"),
    *("uint2", "uint4", "uint8", "uint16", "uint32", "uint64"),
    *("float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2"),
    *("float8_e5m2fnuz", "float8_e8m0fnu", "float4_e2m1fn"),
    *("bfloat16", "float16", "float32", "float64"),
    *("complex64", "complex128"),
)
DTYPES = tuple(np.dtype(getattr(jnp, "bool_" if name == "bool" else name)) for name in NAMES if hasattr(jnp, name))
# Traced as arguments, Python's numbers are weakly typed.
SCALARS = (2, 2.0, 2j)
MODES = pytest.mark.parametrize("x64", [False, True], ids=["x32", "x64"])


def exists(dtype):
    """Whether JAX keeps a dtype as it is under the 64-bit mode of this moment."""
    return jax.dtypes.canonicalize_dtype(dtype) == dtype


def dtype_of(value):
    """What JAX takes a value for under the 64-bit mode of this moment, and whether it is weak."""
    aval = jax.eval_shape(lambda value: value, value)
    return aval.dtype, aval.weak_type


def changes_of(function, *args):
    return type_flow(jax.jit(function).trace(*args).jaxpr).changes


def short(dtype, shape, weak=False):
    text = jax.core.ShapedArray(shape, dtype).str_short(short_dtypes=True)
    return f"{text} weak" if weak else text


@functools.cache
def promoted_with_x64(first, second):
    with jax.enable_x64(True):
        return jnp.promote_types(first, second)


def expected(values, origins, function):
    """The changes that JAX's public rules demand of ``a + b``: (operand, before, after, by, cause); None if refused."""
    try:
        wanted, result = jnp.result_type(*values), jax.eval_shape(function, *values)
    except Exception:  # JAX promotes the 8-bit floats with nothing, by several kinds of error.
        return None
    assert result.dtype == wanted
    rows = []
    kinds = [dtype_of(value) for value in values]
    for index, value in enumerate(values):
        dtype, weak = kinds[index]
        if dtype == wanted and weak == result.weak_type:
            continue
        if not isinstance(value, jax.ShapeDtypeStruct) and origins[index] is None:
            continue  # Python's numbers are written into the equation in the type that is wanted
        other_dtype, other_weak = kinds[1 - index]
        strong = not weak and not other_weak
        cut = strong and promoted_with_x64(dtype, other_dtype) != wanted
        cause = "promotion" if dtype != wanted else "weak type lost" if weak else "weak type gained"
        rows.append((origins[index], dtype, wanted, 1 - index, "x64 truncation" if cut else cause))
    return rows


def shape_of(value):
    return tuple(getattr(value, "shape", ()))


def check_pair(values, as_arguments, function=jnp.add):
    """Compares what is found for one pair with the public rules; returns how many changes there were."""
    origins = ["argument a", "argument b" if as_arguments else None]
    rows = expected(values, origins, function)
    if rows is None:
        return None
    if as_arguments:
        changes = changes_of(lambda a, b: function(a, b), *values)
    else:
        number = values[1]
        changes = changes_of(lambda a: function(a, number), values[0])
    found = [
        (
            change.operand.origin,
            change.before.removesuffix(" weak").partition("[")[0],
            change.after.removesuffix(" weak").partition("[")[0],
            change.widened_by.origin if isinstance(change.widened_by, Operand) else change.widened_by.reason,
            change.cause,
        )
        for change in changes
    ]
    by = ["argument a", "argument b" if as_arguments else f"the number {dtype_of_number(values)!r}"]
    wanted = [
        (operand, short(before, ()).partition("[")[0], short(after, ()).partition("[")[0], by[other], cause)
        for operand, before, after, other, cause in rows
    ]
    assert found == wanted, (values, found, wanted)
    return len(found)


def dtype_of_number(values):
    """The Python number as the equation holds it: in the type of the result."""
    return np.asarray(values[1]).astype(jnp.result_type(*values)).item()


@MODES
@pytest.mark.parametrize("first", DTYPES, ids=str)
def test_every_pair_of_dtypes(first, x64):
    with jax.enable_x64(x64):
        if not exists(first):
            pytest.skip("JAX has it in 64-bit mode only")
        judged = 0
        for second in DTYPES:
            if not exists(second):
                continue
            values = [jax.ShapeDtypeStruct((3,), first), jax.ShapeDtypeStruct((3,), second)]
            judged += check_pair(values, True) is not None
        assert judged, "JAX adds it to itself at least"


@MODES
@pytest.mark.parametrize("number", SCALARS, ids=repr)
def test_every_dtype_with_a_python_number(number, x64):
    with jax.enable_x64(x64):
        for dtype in DTYPES:
            if exists(dtype):
                check_pair([jax.ShapeDtypeStruct((3,), dtype), number], False)


@MODES
@pytest.mark.parametrize("number", SCALARS, ids=repr)
def test_every_dtype_with_a_weak_argument(number, x64):
    with jax.enable_x64(x64):
        for dtype in DTYPES:
            if exists(dtype):
                array = jax.ShapeDtypeStruct((3,), dtype)
                check_pair([array, number], True)
                check_pair([number, array], True)


@MODES
def test_weak_arguments_among_themselves(x64):
    with jax.enable_x64(x64):
        for values in itertools.product(SCALARS, repeat=2):
            check_pair(list(values), True)


FUNCTIONS = {
    "multiply": jnp.multiply,
    "maximum": jnp.maximum,
    "where": lambda a, b: jnp.where(jnp.ones(3, bool), a, b),
    "concatenate": lambda a, b: jnp.concatenate([a, b]),
    "stack": lambda a, b: jnp.stack([a, b]),
}
# One of each kind and width; every pair of them.
SOME = tuple(np.dtype(getattr(jnp, name)) for name in ("int8", "int32", "uint8", "uint32", "bfloat16", "float16"))
SOME = (*SOME, *(np.dtype(getattr(jnp, name)) for name in ("float32", "float64", "complex64")))


@MODES
@pytest.mark.parametrize("name", FUNCTIONS)
def test_other_functions_promote_alike(name, x64):
    with jax.enable_x64(x64):
        dtypes = [dtype for dtype in SOME if exists(dtype)]
        changed = 0
        for pair in itertools.product(dtypes, repeat=2):
            changed += check_pair([jax.ShapeDtypeStruct((3,), dtype) for dtype in pair], True, FUNCTIONS[name])
        assert changed >= len(dtypes) * (len(dtypes) - 1)


@MODES
def test_products_promote_inside(x64):
    with jax.enable_x64(x64):
        for first, second in itertools.product([dtype for dtype in SOME if exists(dtype)], repeat=2):
            pair = [jax.ShapeDtypeStruct((3,), dtype) for dtype in (first, second)]
            wanted = jnp.promote_types(first, second)
            changes = changes_of(lambda a, b: jnp.dot(a, b), *pair)
            assert {change.cause for change in changes} <= {"promotion", "x64 truncation"}
            changed = {change.operand.origin for change in changes}
            assert bool(changed) == (first != second)
            for change in changes:
                assert change.after.partition("[")[0] == short(wanted, ()).partition("[")[0]
                assert {change.operand.origin, change.widened_by.origin} == {"argument a", "argument b"}
                assert change.before != short(wanted, (3,))
