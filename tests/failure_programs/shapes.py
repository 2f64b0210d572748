"""Shapes and types that do not fit: elementwise, products, layout, indexing, convolutions, linear algebra."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tests.failure_programs import program


@program("broadcast-shapes", "f32[3]", "f32[4]", hint="jnp.newaxis", operands=("x: f32[3]", "y: f32[4]"))
def add(x, y):
    return x + y  # <- here


@program("broadcast-shapes", "f32[8,3]", "f32[8]", hint="None]")
def row_against_column(x, y):
    return jnp.where(x > 0, x, y)  # <- here


@program("broadcast-shapes", "f32[3]", "f32[3,1]", hint="jnp")
def lax_add(x, y):
    return lax.add(x, y)  # <- here


@program("broadcast-shapes", "f32[3]", hint="x[:, None]", operands=("x: f32[3]",))
def broadcast_to(x):
    return jnp.broadcast_to(x, (3, 4))  # <- here


@program("dtype-mismatch", "f32[3]", "i32[3]", hint="astype", operands=("x: f32[3]", "y: i32[3]"))
def lax_add_dtypes(x, y):
    return lax.add(x, y)  # <- here


@program("dtype-unsupported-by-op", "i32[3]", hint="astype", operands=("x: i32[3]",))
def lax_sine_of_integers(x):
    return lax.sin(x)  # <- here


@program("dtype-unsupported-by-op", "f32[3]", "f32[3]", hint="astype")
def bits_of_floats(x, y):
    return x & y  # <- here


@program("dtype-unsupported-by-op", "c64[3]", hint="x.real", operands=("x: c64[3]",))
def floor_of_complex_numbers(x):
    return x // 2  # <- here


@program("dtype-unsupported-by-op", "i4[3]", hint="jnp.int8", since=(0, 11))
def sum_of_four_bit_integers(x):
    return x.sum()  # <- here


@program("contraction-shapes", "f32[2,3]", "f32[4,5]", hint="Transpose", operands=("x: f32[2,3]", "w: f32[4,5]"))
def matmul(x, w):
    return x @ w  # <- here


@program("contraction-shapes", "f32[2,3]", "f32[4,5]", hint="Transpose")
def dot(x, w):
    return jnp.dot(x, w)  # <- here


@program("contraction-shapes", "f32[2,3]", "f32[4,5]", hint="Transpose")
def lax_dot_general(x, w):
    return lax.dot_general(x, w, (((1,), (0,)), ((), ())))  # <- here


@program("contraction-shapes", "f32[2,8,3]", "f32[4,3,5]", hint="batch")
def batched_matmul(x, w):
    return x @ w  # <- here


@program("einsum-shapes", "f32[2,3]", "f32[4,5]", hint="letter")
def einsum(x, w):
    return jnp.einsum("ij,jk->ik", x, w)  # <- here


@program("einsum-shapes", "f32[2,3,4]", "f32[4,5]", hint="letter")
def einsum_rank(x, w):
    return jnp.einsum("ij,jk->ik", x, w)  # <- here


@program("concatenate-shapes", "f32[2,3]", "f32[2,4]", hint="axis", operands=("x: f32[2,3]", "y: f32[2,4]"))
def concatenate(x, y):
    return jnp.concatenate([x, y])  # <- here


@program("concatenate-shapes", "f32[2,3]", "f32[4]", hint="axis")
def concatenate_ranks(x, y):
    return jnp.concatenate([x, y])  # <- here


@program("concatenate-shapes", "f32[2,3]", "f32[2,4]", hint="axis")
def lax_concatenate(x, y):
    return lax.concatenate([x, y], 0)  # <- here


@program("concatenate-shapes", "f32[2,3]", "f32[4]", hint="axis")
def stack(x, y):
    return jnp.stack([x, y])  # <- here


@program("reshape-size", "f32[6]", hint="-1", operands=("x: f32[6]",))
def reshape(x):
    return x.reshape(4, 2)  # <- here


@program("reshape-size", "f32[6]", hint="-1")
def reshape_rest(x):
    return jnp.reshape(x, (4, -1))  # <- here


@program("reshape-size", "f32[6]", hint="-1", stage="lower", since=(0, 10))
def lax_reshape(x):
    return lax.reshape(x, (4, 2))  # <- here


@program("axis-out-of-range", "f32[2,3]", hint="each axis once")
def transpose(x):
    return jnp.transpose(x, (0, 1, 2))  # <- here


@program("axis-out-of-range", "f32[2,3]", hint="Axes count from 0", operands=("x: f32[2,3]",))
def axis(x):
    return x.sum(axis=2)  # <- here


@program("squeeze-size", "f32[2,3]", hint="axis")
def squeeze(x):
    return jnp.squeeze(x, 0)  # <- here


@program("split-size", "f32[7]", hint="jnp.array_split", operands=("x: f32[7]",))
def split(x):
    return jnp.split(x, 2)  # <- here


@program("too-many-indices", "f32[3]", hint="dimension", operands=("x: f32[3]",))
def too_many_indices(x):
    return x[0, 1]  # <- here


@program("index-dtype", "f32[3]", "f32[2]", hint="astype", operands=("x: f32[3]", "i: f32[2]"))
def index_by_floats(x, i):
    return x[i]  # <- here


@program("index-type", "f32[3]", hint="jnp.array")
def index_by_a_list(x):
    return x[[0, 1]]  # <- here


@program("index-type", "f32[3]", hint="index")
def index_by_a_string(x):
    return x["a"]  # <- here


@program("mask-shape", "f32[3]", hint="mask", operands=("x: f32[3]",))
def mask_of_another_size(x):
    return x[np.array([True, False, True, False])]  # <- here


@program("update-shape", "f32[4]", "f32[3]", hint="slice", operands=("x: f32[4]", "y: f32[3]"))
def indexed_update(x, y):
    return x.at[:2].set(y)  # <- here


@program("slice-size", "f32[4]", hint="size", operands=("x: f32[4]",))
def dynamic_slice(x):
    return lax.dynamic_slice(x, (0,), (5,))  # <- here


@program("slice-size", "f32[4]", "f32[6]", hint="size")
def dynamic_update_slice(x, y):
    return lax.dynamic_update_slice(x, y, (0,))  # <- here


@program("convolution-shapes", "f32[1,3,8,8]", "f32[4,5,3,3]", hint="dimension_numbers")
def convolution(x, w):
    return lax.conv(x, w, (1, 1), "SAME")  # <- here


@program("convolution-shapes", "f32[1,8,8]", "f32[4,5,3,3]", hint="dimension_numbers")
def convolution_rank(x, w):
    return lax.conv_general_dilated(x, w, (1, 1), "SAME")  # <- here


@program("matrix-shape", "f32[2,3]", hint="square", operands=("x: f32[2,3]",))
def inverse(x):
    return jnp.linalg.inv(x)  # <- here


@program("matrix-shape", "f32[2,3]", hint="square", since=(0, 11))
def cholesky(x):
    return jnp.linalg.cholesky(x)  # <- here


@program("matrix-shape", "f32[3,3]", "f32[4]", hint="rows")
def solve(a, b):
    return jnp.linalg.solve(a, b)  # <- here


@program("not-an-array", hint="jnp.asarray")
def sum_of_a_list():
    return jnp.sum([1.0, 2.0])  # <- here


@program("not-an-array", "f32[3]", hint="None")
def add_none(x):
    return jnp.add(x, None)  # <- here


@program("operand-type", "f32[3]", hint="None")
def plus_none(x):
    return x + None  # <- here


@program("dtype-unsupported", hint="numbers")
def array_of_strings():
    return jnp.array(["a", "b"])  # <- here


@program("dtype-unsupported", "f32[3]", hint="numbers")
def numpy_objects(x):
    return x + np.array([1, None, 2])  # <- here


@program("dtype-unsupported", hint="numbers")
def numpy_dates():
    return jnp.asarray(np.array(["2020-01-01"], dtype="datetime64[D]"))  # <- here


@program("dtype-unknown", "f32[3]", hint="jnp.float32")
def name_of_a_dtype(x):
    return x.astype("flot32")  # <- here


@program("array-inhomogeneous", "f32[3]", "f32[2]", hint="one shape")
def ragged_array(x, y):
    return jnp.array([[1.0, 2.0], [3.0]])  # <- here


@program("pad-widths", "f32[3]", hint="pad")
def pad(x):
    return jnp.pad(x, ((1, 1), (2, 2)))  # <- here


@program("key-type", "f32[2]", hint="jax.random.key")
def key_of_floats(key):
    return jax.random.normal(key, (3,))  # <- here


@program("key-type", hint="jax.random.key")
def key_that_is_a_seed():
    return jax.random.normal(0, (3,))  # <- here


@program("einsum-operands", "f32[2,3]", hint="commas", operands=("x: f32[2,3]",))
def einsum_operands(x):
    return jnp.einsum("ij,jk->ik", x)  # <- here


@program("einsum-shapes", "f32[2,3]", hint="->")
def einsum_result(x):
    return jnp.einsum("ij->iz", x)  # <- here


@program("contraction-shapes", "f32[2,3]", hint="Multiply")
def matmul_by_a_number(x):
    return jnp.matmul(x, 2.0)  # <- here


@program("reshape-size", "f32[6]", hint="-1")
def reshape_two_rests(x):
    return x.reshape(-1, -1)  # <- here


@program("reshape-size", "f32[6]", hint="-1")
def reshape_to_one_size(x):
    return x.reshape(7)  # <- here


@program("axis-out-of-range", "f32[2,3]", hint="once")
def mean_of_an_axis_twice(x):
    return x.mean(axis=(0, 0))  # <- here


@program("axis-out-of-range", "f32[2,3]", hint="Axes count from 0")
def lax_axis(x):
    return jax.lax.cumsum(x, axis=2)  # <- here


@program("axis-out-of-range", "f32[2,3]", hint="once")
def transpose_twice_the_same(x):
    return jnp.transpose(x, (0, 0))  # <- here


@program("slice-size", "f32[4]", hint="at most", operands=("x: f32[4]",))
def too_many_of_the_largest(x):
    return jax.lax.top_k(x, 9)  # <- here


@program("update-shape", "f32[4]", hint="x[i]", operands=("x: f32[4]",))
def element_that_is_an_array(x):
    return x.at[0].set(x)  # <- here


@program("matrix-shape", "f32[2,3]", hint="square")
def determinant(x):
    return jnp.linalg.det(x)  # <- here


@program("matrix-shape", "f32[4]", hint="second dimension")
def decomposition_of_a_vector(x):
    return jnp.linalg.svd(x)  # <- here


@program("dtype-unsupported-by-op", "f32[4]", hint="jnp.int32", operands=("x: f32[4]",))
def shift_of_floats(x):
    return x << 2  # <- here


@program("index-dtype", "f32[4]", hint="//", operands=("x: f32[4]",))
def index_in_the_middle(x):
    return x[x.shape[0] / 2]  # <- here


@program("select-predicate", "f32[4]", hint="x > 0", operands=("x: f32[4]",))
def lax_select_by_floats(x):
    return jax.lax.select(x, x, x)  # <- here


@program("operand-type", "f32[3]", hint="None")
def minus_what_a_function_forgot(x):
    return (lambda x: None)(x) * 2  # <- here


@program("operand-type", "f32[3]", hint="jnp.asarray", operands=("x: f32[3]",))
def times_a_list(x):
    return x * [1, 2, 3]  # <- here


@program("key-type", hint="comes first")
def draw_without_a_key():
    return jax.random.normal((3,))  # <- here


@program("key-type", hint="jax.random.fold_in")
def key_plus_a_number():
    key = jax.random.key(0)
    return key + 1  # <- here


@program("key-shape", hint="jax.vmap")
def draw_with_many_keys():
    keys = jax.random.split(jax.random.key(0), 3)
    return jax.random.normal(keys, (3,))  # <- here


@program("key-shape", "i32[4]", hint="jax.random.split", operands=("seeds: i32[4]",))
def many_seeds(seeds):
    return jax.random.key(seeds)  # <- here
