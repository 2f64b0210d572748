"""What grad, vmap, jvp and friends refuse, and tracers that outlive them."""

import functools

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import io_callback

from tests.failure_programs import program


def compiled():
    """A function compiled for one signature."""
    return jax.jit(jnp.sin).lower(jax.ShapeDtypeStruct((3,), jnp.float32)).compile()


@program("compiled-transformed", "f32[3]", hint="jax.jit", operands=("x: f32[3]",))
def compiled_in_jit(x):
    return compiled()(x)  # <- here


@program("compiled-transformed", "f32[4,3]", hint="jax.jit", operands=("x: f32[4,3]",))
def compiled_in_vmap(x):
    return jax.vmap(compiled())(x)  # <- here


@program("compiled-transformed", "f32[3]", hint="jax.jit")
def compiled_in_grad(x):
    f = compiled()
    return jax.grad(lambda y: f(y).sum())(x)  # <- here


@program("gradient-not-scalar", "f32[3]", hint="jax.jacobian", operands=("x: f32[3]",))
def gradient_of_a_vector(x):
    return jax.grad(lambda y: y * 2)(x)  # <- here


@program("gradient-not-scalar", "f32[3]", hint="has_aux")
def gradient_of_a_pair(x):
    return jax.grad(lambda y: (y.sum(), y))(x)  # <- here


@program("gradient-dtype", "i32[3]", hint="astype", operands=("x: i32[3]",))
def gradient_by_integers(x):
    return jax.grad(lambda y: y.sum())(x)  # <- here


@program("gradient-dtype", "f32[3]", hint="real")
def gradient_of_an_integer(x):
    return jax.grad(lambda y: y.sum().astype(jnp.int32))(x)  # <- here


@program("mapped-sizes", "f32[3]", "f32[4]", hint="in_axes", operands=("x: f32[3]", "y: f32[4]"))
def map_sizes(x, y):
    return jax.vmap(jnp.add)(x, y)  # <- here


@program("mapped-axis", "f32[3]", "f32[]", hint="in_axes", operands=("x: f32[3]", "y: f32[]"))
def map_a_scalar(x, y):
    return jax.vmap(jnp.add)(x, y)  # <- here


@program("mapped-axes-tree", "f32[3]", "f32[3]", hint="in_axes")
def map_axes_tree(x, y):
    return jax.vmap(jnp.add, in_axes=(0, 0, 0))(x, y)  # <- here


@program("mapped-axis", "f32[3]", hint="in_axes")
def map_nothing(x):
    return jax.vmap(jnp.sin, in_axes=None)(x)  # <- here


@program("unbound-axis-name", "f32[3]", hint="axis_name")
def sum_over_no_axis(x):
    return lax.psum(x, "batch")  # <- here


@program("tangent-types", "f32[3]", "f32[4]", hint="tangent", operands=("x: f32[3]", "t: f32[4]"))
def tangent_shape(x, t):
    return jax.jvp(jnp.sin, (x,), (t,))  # <- here


@program("tangent-types", "f32[3]", "f32[4]", hint="cotangent")
def cotangent_shape(x, t):
    return jax.vjp(jnp.sin, x)[1](t)  # <- here


@program("custom-rule-missing", "f32[3]", hint="defjvp")
def custom_jvp_without_a_rule(x):
    f = jax.custom_jvp(lambda y: y)
    return jax.grad(lambda y: f(y).sum())(x)  # <- here


@program("custom-rule-missing", "f32[3]", hint="defvjp")
def custom_vjp_without_a_rule(x):
    f = jax.custom_vjp(lambda y: y)
    return jax.grad(lambda y: f(y).sum())(x)  # <- here


@program("custom-rule-result", "f32[3]", hint="bwd")
def custom_vjp_result(x):
    f = jax.custom_vjp(lambda a, b: a * b)
    f.defvjp(lambda a, b: (a * b, b), lambda b, g: (g * b,))
    return jax.grad(lambda y: f(y, y).sum())(x)  # <- here


@program("forward-of-custom-vjp", "f32[3]", hint="custom_jvp", stage="lower")
def forward_mode_of_custom_vjp(x):
    f = jax.custom_vjp(lambda y: y)
    f.defvjp(lambda y: (y, None), lambda _, g: (g,))
    return jax.jvp(f, (x,), (x,))  # <- here


@program("callback-derivative", "f32[3]", hint="custom_jvp")
def gradient_of_a_callback(x):
    def f(y):
        return jax.pure_callback(lambda v: v, jax.ShapeDtypeStruct((3,), jnp.float32), y).sum()  # <- here

    return jax.grad(f)(x)


@program("leaked-tracer", "f32[3]", hint="Return it")
def leak_from_vmap(x):
    kept = []
    jax.vmap(lambda y: kept.append(y) or y)(x)
    return kept[0] + 1  # <- here


KEPT = []


def leave_one_behind(function):
    """The function, once an earlier call has left a traced value in `KEPT`."""
    KEPT.clear()
    jax.jit(lambda x: KEPT.append(x * 2) or x).trace(jnp.ones(3))
    return function


@program("leaked-tracer", "f32[3]", hint="Return it", stage="lower", since=(0, 10), make=leave_one_behind)
def leak_from_an_earlier_call(x):
    y = jnp.sin(x)
    return y + KEPT[0]  # <- here


@program("leaked-tracer", "f32[3]", hint="Return it", stage="lower", since=(0, 10), make=leave_one_behind)
def leak_into_a_scan(x):
    return lax.scan(lambda carry, y: (carry + KEPT[0].sum(), y), 0.0, x)  # <- here


@program("leaked-tracer", "f32[3]", hint="Return it", stage="lower", at="nowhere", since=(0, 10), make=leave_one_behind)
def leak_that_is_returned(x):
    return KEPT[0]


@program("leaked-tracer", "f32[3]", hint="Return it", since=(0, 11))
def leak_from_grad(x):
    kept = []
    jax.grad(lambda y: kept.append(y) or y.sum())(x)
    return jnp.sin(kept[0])  # <- here


@program("leaked-tracer", "f32[3]", hint="Return it")
def leak_from_jit_that_is_looked_for(x):
    kept = []
    with jax.checking_leaks():
        return jax.jit(lambda y: kept.append(y) or y * 2)(x)  # <- here


@program("leaked-tracer", "f32[3]", hint="Return it")
def leak_from_scan_that_is_looked_for(x):
    kept = []
    with jax.checking_leaks():
        return lax.scan(lambda carry, y: (kept.append(y * 2) or carry, y), 0.0, x)  # <- here


@program("tracer-method", "f32[3]", hint="outside")
def deleted_inside(x):
    x.delete()  # <- here
    return x


@functools.partial(jax.jit, donate_argnums=0)
def consume(state):
    return state + 1


@program("buffer-deleted", "f32[3]", hint="donate_argnums")
def donated_buffer(x):
    with jax.ensure_compile_time_eval():
        state = jnp.ones(3) * 2
        consume(state)
        return float(state[0]) * x  # <- here


def with_rules(forward=lambda x: (jnp.sin(x), x), backward=lambda x, g: (g,)):
    """A custom_vjp function of one argument."""
    f = jax.custom_vjp(jnp.sin)
    f.defvjp(forward, backward)
    return f


@program("custom-rule-result", "f32[3]", hint="cotangent", operands=("x: f32[3]",))
def custom_vjp_types(x):
    f = with_rules(backward=lambda x, g: (jnp.zeros(4),))
    return jax.grad(lambda x: f(x).sum())(x)  # <- here


@program("custom-rule-result", "f32[3]", hint="fwd")
def custom_vjp_without_a_pair(x):
    f = with_rules(forward=jnp.sin)
    return jax.grad(lambda x: f(x).sum())(x)  # <- here


@program("custom-rule-result", "f32[3]", hint="tangent", operands=("x: f32[3]",))
def custom_jvp_types(x):
    f = jax.custom_jvp(jnp.sin)
    f.defjvp(lambda primals, tangents: (f(*primals), tangents[0].astype(jnp.float16)))
    return jax.jvp(f, (x,), (x,))  # <- here


@program("gradient-argnums", "f32[3]", hint="argnums=", operands=("x: f32[3]",))
def gradient_by_a_missing_argument(x):
    return jax.grad(lambda x: x.sum(), argnums=1)(x)  # <- here


@program("gradient-aux", "f32[3]", hint="return loss, metrics")
def gradient_without_the_pair(x):
    return jax.grad(lambda x: x.sum(), has_aux=True)(x)  # <- here


@program("gradient-dtype", "i32[3]", hint="astype", operands=("x: i32[3]",))
def forward_derivative_by_integers(x):
    return jax.jacfwd(lambda x: x * 2)(x)  # <- here


@program("gradient-not-scalar", "f32[3]", hint="jax.jacobian", make=jax.grad, at="definition")
def vector_to_be_differentiated(x):
    return x


@program("mapped-axes-tree", "f32[3]", hint="in_axes", make=lambda f: jax.vmap(f, in_axes=(0, 0)), at="definition")
def one_argument_to_be_mapped_over(x):
    return x


@program("mapped-result", "f32[3]", hint="out_axes", operands=("x: f32[3]",))
def result_that_differs(x):
    return jax.vmap(lambda x: x, out_axes=None)(x)  # <- here


@program("callback-mapped", "f32[3]", hint="jax.lax.map")
def ordered_callback_under_vmap(x):
    number = jax.ShapeDtypeStruct((), jnp.float32)
    return jax.vmap(lambda x: io_callback(abs, number, x, ordered=True))(x)  # <- here
