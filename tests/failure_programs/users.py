"""Exceptions of the user's own, and Python's: kept in their own words, with the line."""

import jax
import jax.numpy as jnp

from tests.failure_programs import program


class LayerError(Exception):
    """An error of somebody's own library."""


@program("user-exception", "f32[3]")
def own_exception(x):
    raise LayerError("no such layer: <b>dense_7</b>")  # <- here


def deep(x, depth):
    if depth == 0:
        raise LookupError("no such layer")  # <- here
    return deep(x, depth - 1)


@program("user-exception", "f32[3]", at=deep)
def deep_below(x):
    return deep(x, 5)


def failing_body(carry, x):
    raise LayerError("in the body")  # <- here


@program("user-exception", "f32[3]", at=failing_body)
def in_the_body_of_a_scan(x):
    return jax.lax.scan(failing_body, 0.0, x)


@program("user-exception", "f32[3]", hint="keys")
def raised_from_another(x):
    try:
        {}["dense"]
    except KeyError as error:
        raise LayerError("cannot build") from error  # <- here


class Unprintable(Exception):
    """Its own formatting fails."""

    def __str__(self):
        raise RuntimeError("odd")


@program("user-exception", "f32[3]")
def unprintable(x):
    raise Unprintable  # <- here


@program("unknown", "f32[3]")
def division_by_zero(x):
    return x * (1 / 0)  # <- here


@program("name-missing", "f32[3]", hint="Define")
def undefined_name(x):
    return x + undefined  # noqa: F821 # <- here


@program("key-missing", {"w": "f32[3]"}, hint="key")
def missing_key(params):
    return params["b"]  # <- here


@program("recursion", "f32[3]", hint="jax.lax")
def endless(x):
    return endless(x)  # <- here


@program("module-missing", "f32[3]", hint="Install")
def missing_module(x):
    import no_such_module_xyz  # <- here

    return no_such_module_xyz.f(x)


@program("jnp-name", "f32[3]", hint="jax.numpy")
def missing_function(x):
    return jnp.matrix_multiply(x, x)  # <- here


@program("user-exception", "f32[3]")
def own_assertion(x):
    assert x.shape == (4,), f"need 4, got {x.shape}"  # <- here
    return x


@program("user-exception", "f32[3]")
def not_implemented(x):
    raise NotImplementedError("later")  # <- here


@program("jax-name", "f32[3]", hint="imported")
def moved_function(x):
    return jax.tree_multimap(jnp.sin, x)  # <- here


@program("none-attribute", "f32[3]", hint="None")
def shape_of_none(x):
    y = print()
    return x.reshape(y.shape)  # <- here


@program("array-called", "f32[3]", hint="brackets")
def called_array(x):
    return x(1)  # <- here


@program("unpacked-length", "f32[3]", hint="first axis", operands=("x: f32[3]",))
def unpacked(x):
    a, b = x  # <- here
    return a + b


@program("array-iteration", "f32[3]", hint="sum too many", operands=("x: f32[3]",))
def length_of_a_number(x):
    return len(x.sum())  # <- here


@program("format-name", "f32[3]", hint="braces", operands=("x: f32[3]",))
def name_in_a_text(x):
    jax.debug.print("{y}", x=x)  # <- here


@program("broadcast-shapes", "f32[3]", "f32[4]", hint="newaxis", operands=("x: f32[3]",))
def in_a_try_with_a_finally(x, y):
    try:
        z = x + y  # <- here
    finally:
        del y
    return z


@program("broadcast-shapes", "f32[3]", "f32[4]", hint="newaxis", operands=("x: f32[3]", "y: f32[4]"))
def in_a_try_that_raises_it_again(x, y):
    try:
        return x + y  # <- here
    except TypeError:
        raise


@program("broadcast-shapes", "f32[3]", "f32[4]", hint="newaxis")
def in_a_comprehension(x, y):
    pair = [x, y]
    return [
        pair[0] + a  # <- here
        for a in pair
    ]
