"""Loops and branches whose parts do not fit together."""

import jax
import jax.numpy as jnp
from jax import lax

from tests.failure_programs import program


@program("carry-type", "f32[4]", hint="astype", operands=("xs: f32[4]",))
def scan_dtype(xs):
    return lax.scan(lambda carry, x: (carry + x, x), jnp.int32(0), xs)  # <- here


@program("carry-type", "f32[4,3]", hint="shape")
def scan_shape(xs):
    return lax.scan(lambda carry, x: (jnp.append(carry, x[0]), None), jnp.zeros(3), xs)  # <- here


@program("carry-type", "f32[4]", hint="astype")
def scan_leaf(xs):
    start = {"sum": jnp.zeros(()), "count": jnp.zeros((), jnp.int32)}

    def body(carry, x):
        return {"sum": carry["sum"] + x, "count": carry["count"] + 1.0}, None

    return lax.scan(body, start, xs)  # <- here


@program("carry-tree", "f32[4]", hint="structure")
def scan_tree(xs):
    return lax.scan(lambda carry, x: ((carry[0] + x,), None), (0.0, 0.0), xs)  # <- here


@program("carry-tree", "f32[4]", hint="structure")
def scan_keys(xs):
    return lax.scan(lambda carry, x: ({"total": carry["sum"] + x}, None), {"sum": 0.0}, xs)  # <- here


@program("scan-result", "f32[4]", hint="pair")
def scan_without_a_pair(xs):
    return lax.scan(lambda carry, x: carry + x, 0.0, xs)  # <- here


@program("scan-lengths", "f32[4]", "f32[5]", hint="length", operands=("xs: f32[4]", "ys: f32[5]"))
def scan_lengths(xs, ys):
    return lax.scan(lambda carry, _: (carry, None), 0.0, (xs, ys))  # <- here


@program("scan-lengths", "f32[]", hint="length=")
def scan_without_length(x):
    return lax.scan(lambda carry, _: (carry, None), x, None)  # <- here


@program("carry-type", "f32[3]", hint="astype", operands=("x: f32[3]",))
def while_dtype(x):
    return lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1.0, c[1]), (jnp.int32(0), x))  # <- here


@program("carry-tree", "f32[3]", hint="structure")
def while_tree(x):
    return lax.while_loop(lambda c: c[0] < 3, lambda c: c[0] + 1, (0, x))  # <- here


@program("while-condition", "f32[3]", hint="jnp.any")
def while_condition(x):
    return lax.while_loop(lambda c: c < 3, lambda c: c + 1, x)  # <- here


@program("carry-type", "f32[3]", hint="astype")
def fori_dtype(x):
    return lax.fori_loop(0, 3, lambda i, c: c + x[i], jnp.int32(0))  # <- here


@program("carry-type", "f32[3]", hint="shape")
def fori_shape(x):
    return lax.fori_loop(0, 3, lambda i, c: jnp.concatenate([c, c]), x)  # <- here


@program("branch-types", "bool[]", "f32[3]", hint="astype", operands=("p: bool[]", "x: f32[3]"))
def cond_dtype(p, x):
    return lax.cond(p, lambda x: x, lambda x: x.astype(jnp.int32), x)  # <- here


@program("branch-types", "bool[]", "f32[3]", hint="shape")
def cond_shape(p, x):
    return lax.cond(p, lambda x: x, lambda x: x[:2], x)  # <- here


@program("branch-trees", "bool[]", "f32[3]", hint="structure")
def cond_tree(p, x):
    return lax.cond(p, lambda x: (x, x), lambda x: x, x)  # <- here


@program("branch-trees", "bool[]", "f32[3]", hint="structure")
def cond_none(p, x):
    return lax.cond(p, lambda x: x, lambda x: None, x)  # <- here


@program("cond-predicate", "bool[3]", hint="jnp.where", operands=("p: bool[3]",))
def cond_array(p):
    return lax.cond(p, lambda: 1, lambda: 2)  # <- here


@program("branch-types", "i32[]", "f32[3]", hint="astype")
def switch_dtype(i, x):
    return lax.switch(i, [lambda x: x, lambda x: x, lambda x: x > 0], x)  # <- here


@program("switch-index", "f32[]", hint="astype", operands=("i: f32[]",))
def switch_index(i):
    return lax.switch(i, [lambda: 1, lambda: 2])  # <- here


@program("branch-arguments", "bool[]", "f32[3]", hint="operands")
def cond_arguments(p, x):
    return lax.cond(p, lambda: x, lambda x: x, x)  # <- here


@program("reverse-mode-while", "f32[]", hint="jax.lax.scan")
def gradient_of_while(x):
    return jax.grad(lambda y: lax.while_loop(lambda c: c < 3, lambda c: c * y, y))(x)  # <- here


@program("fori-bounds", "f32[]", "f32[]", hint="integer")
def fori_bounds(n, x):
    return lax.fori_loop(0, n, lambda i, c: c, x)  # <- here
