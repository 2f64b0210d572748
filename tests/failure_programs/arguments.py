"""Arguments and results that JAX cannot take: static ones, missing ones, leaves that are no arrays."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from tests.failure_programs import program


class Settings:
    """An object that JAX knows nothing of, and that cannot be hashed."""

    __hash__ = None

    def __init__(self, scale):
        self.scale = scale


@program("static-unhashable", "f32[3]", Settings(2), hint="frozen", jit={"static_argnums": 1}, at="definition")
def static_object(x, settings):
    return x * settings.scale


@program("static-unhashable", "f32[3]", [1, 2], hint="tuple", jit={"static_argnames": "axes"}, at="definition")
def static_list(x, axes):
    return x.sum(axes)


@program(
    "abstract-static-argument",
    "f32[3]",
    jax.ShapeDtypeStruct((3,), np.float32),
    hint="value itself",
    jit={"static_argnums": 1},
)
def abstract_static(x, table):
    return x + jnp.asarray(table)  # <- here


@functools.partial(jax.jit, static_argnums=1)
def takes_axes(x, axes):
    return x.sum(axes)


@program("static-unhashable", "f32[3,4]", hint="tuple", operands=("x: f32[3,4]",))
def static_list_of_an_inner_function(x):
    return takes_axes(x, [0, 1])  # <- here


@program("static-name", "f32[3]", hint="parameter")
def unknown_static_name(x):
    return jax.jit(lambda y: y, static_argnames="axis")(x)  # <- here


@program("static-number", "f32[3]", hint="counts from 0")
def unknown_static_number(x):
    return jax.jit(lambda y: y, static_argnums=3)(x)  # <- here


@program("donated-name", "f32[3]", hint="parameter")
def unknown_donated_name(x):
    return jax.jit(lambda y: y, donate_argnames="state")(x)  # <- here


@program("donated-and-static", "f32[3]", hint="either")
def donated_and_static(x):
    return jax.jit(lambda y: y, static_argnums=0, donate_argnums=0)(x)  # <- here


@program("call-arguments", "f32[3]", hint="signature", at="definition")
def missing_argument(x, y):
    return x + y


@program("call-arguments", "f32[3]", "f32[3]", hint="signature", at="definition")
def extra_argument(x):
    return x


@program("call-arguments", "f32[3]", kwargs={"scale": 2.0}, hint="signature", at="definition")
def unexpected_keyword(x):
    return x


def layer(x, *, scale):
    return x * scale


@program("call-arguments", "f32[3]", hint="signature", operands=("x: f32[3]",))
def inner_call(x):
    return layer(x, sacle=2.0)  # <- here


@program("argument-not-an-array", "f32[3]", object(), hint="static", at="definition")
def object_as_an_argument(x, thing):
    return x


@program("argument-not-an-array", "f32[3]", {"name": b"dense"}, hint="static", at="definition")
def bytes_as_an_argument(x, settings):
    return x


@jax.jit
def inner_identity(x, mode):
    return x


@program("argument-not-an-array", "f32[3]", hint="static", operands=("x: f32[3]",))
def string_for_an_inner_function(x):
    return inner_identity(x, "train")  # <- here


@program("result-not-an-array", "f32[3]", hint="Return arrays")
def returns_a_string(x):
    return {"value": x, "name": "loss"}  # <- here


@program("result-not-an-array", "f32[3]", hint="Return arrays")
def returns_a_function(x):
    return lambda: x  # <- here


@program("result-not-an-array", "f32[3]", hint="Return arrays")
def returns_an_object(x):
    result = Settings(x)
    return result  # <- here


@program("result-coroutine", "f32[3]", hint="async", at="definition")
async def coroutine(x):
    return x


@program("result-generator", "f32[3]", hint="list", at="definition")
def generator(x):
    yield x


@program("integer-overflow", 1 << 40, hint="wider type", at="definition")
def large_integer(i):
    return i


@program("integer-overflow", "i32[]", hint="wider type", operands=("i: i32[]",))
def large_integer_inside(i):
    return i + (1 << 40)  # <- here


@program("unsortable-keys", {1: 1.0, "a": 2.0}, hint="keys", at="definition")
def unsortable_keys(settings):
    return settings["a"]


@program("not-callable", "f32[3]", hint="show(f, x)", make=lambda f: jnp.ones(3), at="nowhere")
def result_instead_of_function(x):
    return x


@program("tree-structures", "f32[3]", hint="jax.tree.structure", operands=("x: f32[3]",), since=(0, 10))
def trees_with_other_keys(x):
    return jax.tree.map(lambda a, b: a + b, {"w": x}, {"b": x})  # <- here


@program("tree-structures", "f32[3]", hint="jax.tree.structure", since=(0, 10))
def trees_of_other_containers(x):
    return jax.tree.map(lambda a, b: a + b, [x, x], (x, x))  # <- here


@program("tree-structures", "f32[3]", hint="jax.tree.flatten")
def too_few_leaves(x):
    return jax.tree.unflatten(jax.tree.structure((1, 2)), [x])  # <- here


@program("argument-not-an-array", "f32[3]", hint="eqx.filter_grad", operands=("x: f32[3]",))
def gradient_by_a_model_with_a_function(x):
    return jax.grad(lambda model: model[1](model[0] * x).sum())([2.0, jax.nn.relu])  # <- here
