"""Python asked for what a traced value is: to branch, to count, to index, to size an array."""

import functools
import math

import jax
import jax.numpy as jnp
import numpy as np

from tests.failure_programs import program


@program("tracer-to-bool", "f32[3]", hint="jnp.where", operands=("x: f32[3]",))
def branch(x):
    if x.sum() > 0:  # <- here
        return x
    return -x


@program("tracer-to-bool", "f32[]", hint="jax.lax.while_loop", operands=("x: f32[]", "limit: f32[]"))
def loop(x):
    limit = x * 100
    while x < limit:  # <- here
        x = x * 2
    return x


@program("tracer-to-bool", "f32[3]", hint="jax.experimental.checkify")
def assertion(x):
    assert (x > 0).all()  # <- here
    return x


@program("tracer-to-bool", "bool[]", "bool[]", hint="jnp.logical_and")
def conjunction(a, b):
    return a and b  # <- here


@program("tracer-to-bool", "bool[]", hint="jnp.logical_not")
def negation(a):
    return not a  # <- here


@program("tracer-to-bool", "f32[]", hint="jnp.logical_and")
def chained_comparison(x):
    return jnp.where(0 < x < 1, x, 0)  # <- here


@program("tracer-to-bool", "f32[]", "f32[]", hint="jnp.maximum")
def larger_of_two(x, y):
    return max(x, y)  # <- here


@program("tracer-to-bool", "i32[]", hint="jnp.isin")
def membership(n):
    known = [1, 2, 3]
    return n in known  # <- here


@program("tracer-to-bool", "f32[4]", hint="jnp.sort")
def sorted_list(x):
    return sorted(x)  # <- here


@program("array-to-bool", "f32[3]", hint="jnp.any")
def branch_on_an_array(x):
    if x > 0:  # <- here
        return x
    return -x


def inner_branch(x):
    return x if x[0] > 0 else -x  # <- here


@program("tracer-to-bool", "f32[4,3]", hint="jax.lax.cond", at=inner_branch)
def under_vmap(x):
    return jax.vmap(inner_branch)(x)


@program("tracer-to-bool", "f32[3]", hint="jax.lax.cond", at=inner_branch)
def under_grad(x):
    return jax.grad(lambda y: inner_branch(y).sum())(x)


@program("tracer-to-bool", "f32[4,3]", hint="jax.lax.cond", at=inner_branch)
def in_a_scan(xs):
    return jax.lax.scan(lambda carry, x: (carry, inner_branch(x)), 0.0, xs)


@program("tracer-to-integer", "i32[]", hint="jax.lax.fori_loop", operands=("n: i32[]",))
def count(n):
    total = 0
    for i in range(n):  # <- here
        total += i
    return total


@program("tracer-to-integer", "i32[]", hint="jnp.take")
def index_of_a_list(i):
    return [1, 2, 3][i]  # <- here


@program("tracer-to-integer", "i32[]", hint="static", operands=("n: i32[]",))
def repeated_string(n):
    return len("ab" * n)  # <- here


@program("tracer-to-number", "f32[3]", hint="static argument", operands=("x: f32[3]",))
def to_float(x):
    return x * float(x[0])  # <- here


@program("tracer-to-number", "f32[3]", hint="astype")
def to_int(x):
    return x * int(x[0])  # <- here


@program("tracer-to-number", "f32[]", hint="jnp.sqrt")
def math_function(x):
    return math.sqrt(x)  # <- here


@program("tracer-to-number", "f32[]", hint="static argument")
def item(x):
    return x.item()  # <- here


@program("tracer-to-number", "f32[3]", hint="static argument")
def to_list(x):
    return x.tolist()  # <- here


@program("tracer-to-numpy", "f32[3]", hint="jax.numpy", operands=("x: f32[3]",))
def numpy_function(x):
    return np.sin(x)  # <- here


@program("tracer-to-numpy", "f32[3]", hint="jnp.asarray")
def numpy_array(x):
    return np.asarray(x) + 1  # <- here


@program("tracer-to-numpy", "f32[3]", hint=".at[", operands=("out: f64[3]", "x: f32[3]"))
def numpy_assignment(x):
    out = np.zeros(3)
    out[:] = x  # <- here
    return out


@program("tracer-to-numpy", "f32[8]", hint="jax.pure_callback")
def numpy_library(x):
    return np.fft.fft(x)  # <- here


@program("traced-shape", "i32[]", hint="static argument", operands=("n: i32[]",))
def size_of_zeros(n):
    return jnp.zeros(n)  # <- here


@program("traced-shape", "f32[6]", "i32[]", hint="static argument", operands=("x: f32[6]", "n: i32[]"))
def size_of_reshape(x, n):
    return x.reshape(n, -1)  # <- here


@program("traced-shape", "i32[]", hint="static argument")
def size_of_arange(n):
    return jnp.arange(n)  # <- here


@program("traced-shape", "i32[]", hint="static argument")
def size_of_linspace(n):
    return jnp.linspace(0.0, 1.0, n)  # <- here


@program("traced-shape", "i32[]", hint="static argument")
def size_of_a_random_draw(n):
    return jax.random.normal(jax.random.key(0), (n,))  # <- here


@program("traced-shape", "i32[]", hint="static argument")
def size_of_one_hot(n):
    return jax.nn.one_hot(jnp.arange(3), n)  # <- here


@program("traced-shape", "f32[6]", "i32[]", hint="static argument")
def size_of_broadcast(x, n):
    return jnp.broadcast_to(x, (n, 6))  # <- here


@program("traced-slice", "f32[8]", "i32[]", hint="jax.lax.dynamic_slice", operands=("x: f32[8]", "n: i32[]"))
def slice_to_a_traced_end(x, n):
    return x[:n]  # <- here


@program("boolean-mask", "f32[5]", hint="jnp.where(mask, x, 0)", operands=("x: f32[5]",))
def mask(x):
    return x[x > 0]  # <- here


@program("boolean-mask", "f32[5]", hint="jnp.where")
def mask_assignment(x):
    return x.at[x > 0].set(x[x > 0])  # <- here


@program("data-dependent-size", "f32[5]", hint="size=", operands=("x: f32[5]",))
def nonzero(x):
    return jnp.nonzero(x)  # <- here


@program("data-dependent-size", "f32[5]", hint="size=")
def where_with_one_argument(x):
    return jnp.where(x > 0)  # <- here


@program("data-dependent-size", "i32[5]", hint="size=")
def unique(x):
    return jnp.unique(x)  # <- here


@program("data-dependent-size", "f32[3]", "i32[3]", hint="total_repeat_length=")
def repeat(x, counts):
    return jnp.repeat(x, counts)  # <- here


@program("data-dependent-size", "i32[5]", hint="length=")
def bincount(x):
    return jnp.bincount(x)  # <- here


@program("concrete-value-needed", "f32[3,4]", "i32[]", hint="static argument", operands=("axis: i32[]",))
def traced_axis(x, axis):
    return jnp.sum(x, axis=axis)  # <- here


@functools.partial(jax.jit, static_argnums=1)
def power(x, n):
    return x**n


@program("static-unhashable", "f32[3]", "i32[]", hint="static", operands=("n: i32[]",))
def tracer_as_a_static_argument(x, n):
    return power(x, n)  # <- here


@program("tracer-unhashable", "i32[]", hint="jax.lax.switch", operands=("n: i32[]",))
def key_of_a_dict(n):
    return {0: 1.0, 1: 2.0}[n]  # <- here


@program("tracer-format", "f32[]", hint="jax.debug.print", operands=("x: f32[]",))
def format_string(x):
    print(f"loss {x:.3f}")  # <- here
    return x


@program("array-assignment", "f32[3]", hint=".at[", operands=("x: f32[3]",))
def item_assignment(x):
    x[0] = 1.0  # <- here
    return x


@program("array-iteration", "f32[]", hint="dimension", operands=("x: f32[]",))
def iterate_over_a_scalar(x):
    return [v + 1 for v in x]  # <- here


@program("array-attribute", "f32[3]", hint="np.asarray(x)", operands=("x: f32[3]",))
def method_of_another_library(x):
    return x.numpy()  # <- here


@program("tracer-to-bool", "f32[]", "bool[]", hint="jax.lax.cond", operands=("flag: bool[]",))
def branch_on_a_name(x, flag):
    if flag:  # <- here
        return x
    return -x


@program("tracer-to-bool", "f32[]", "bool[]", hint="jax.lax.while_loop", operands=("flag: bool[]",))
def loop_on_a_name(x, flag):
    while flag:  # <- here
        x = x + 1
    return x


@program("tracer-to-bool", "f32[]", "bool[]", hint="jnp.logical_not", operands=("flag: bool[]",))
def negated_name(x, flag):
    if not flag:  # <- here
        return x
    return -x


@program("tracer-to-bool", "f32[4]", hint="jnp.any", operands=("x: f32[4]",))
def any_element(x):
    return x if any(x > 0) else -x  # <- here


@program("tracer-to-bool", "i32[]", hint="jax.lax.switch")
def match_on_a_value(i):
    match i + 1:
        case 1:  # <- here
            return i
    return -i


@program("tracer-to-bool", "f32[4]", "i32[]", hint="is a setting", operands=("x: f32[4]", "k: i32[]"))
def traced_setting_of_a_library_function(x, k):
    return jax.lax.top_k(x, k)  # <- here


@program("tracer-to-bool", "f32[4]", hint="jnp.where")
def filtered_list(x):
    return jnp.stack([v for v in x if v > 0])  # <- here


@program("concrete-value-needed", "f32[4]", "i32[]", hint="static argument", operands=("n: i32[]",), since=(0, 10))
def traced_repetitions(x, n):
    return jnp.tile(x, n)  # <- here


@program("tracer-format", "f32[4]", hint="jax.debug.print", operands=("x: f32[4]",))
def formatted_by_percent(x):
    print("mean %.3f" % x.mean())  # noqa: UP031 # <- here
    return x


@program("shape-type", "f32[4]", hint="//", operands=("x: f32[4]",))
def size_that_is_no_integer(x):
    return jnp.zeros(x.shape[0] / 2)  # <- here


@program("tracer-to-numpy", "f32[4]", hint="same name", operands=("v: f32[4]",))
def numpy_in_a_lambda(x):
    sine = lambda v: np.sin(v)  # noqa: E731 # <- here
    return sine(x)
