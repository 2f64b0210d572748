"""Functions of `jax.shard_map` and kernels of Pallas that do not fit what they are given."""

import jax
import jax.numpy as jnp
from jax.experimental import checkify
from jax.experimental import pallas as pl
from jax.sharding import AxisType
from jax.sharding import PartitionSpec as P

from tests.failure_programs import program

FLOATS = jax.ShapeDtypeStruct((16,), jnp.float32)


def mapped(function, in_specs, out_specs, kind=AxisType.Auto):
    """`function` over a mesh of one device."""
    mesh = jax.make_mesh((1,), ("data",), axis_types=(kind,))
    return jax.shard_map(function, mesh=mesh, in_specs=in_specs, out_specs=out_specs)


@program("shard-map-specs", "f32[8,4]", hint="x[None]", operands=("x: f32[8,4]",))
def number_to_be_joined(x):
    return mapped(jnp.sum, P("data"), P("data"))(x)  # <- here


@program("shard-map-specs", "f32[8,4]", hint="jax.lax.psum", operands=("x: f32[8,4]",))
def result_that_differs(x):
    return mapped(jnp.sin, P("data"), P())(x)  # <- here


@program("shard-map-specs", "f32[8,4]", hint="axes of the mesh")
def axis_of_no_mesh(x):
    return mapped(jnp.sin, P("model"), P("data"))(x)  # <- here


@program("shard-map-specs", "f32[8,4]", hint="each positional argument")
def missing_spec(x):
    return mapped(jnp.add, (P("data"),), P("data"))(x, x)  # <- here


@program("shard-map-specs", "f32[8,4]", hint="jax.reshard", since=(0, 10))
def argument_that_is_not_split(x):
    return mapped(jnp.sin, P("data"), P("data"), AxisType.Explicit)(x)  # <- here


@program("shard-map-mesh", "f32[8,4]", hint="jax.set_mesh", since=(0, 10), mesh={"data": 1})
def mesh_of_another_kind(x):
    return mapped(jnp.sin, P("data"), P("data"), AxisType.Explicit)(x)  # <- here


def copy(x_ref, o_ref):
    o_ref[...] = x_ref[...]


def copy_half(x_ref, o_ref):
    o_ref[...] = x_ref[:8]  # <- here


@program("kernel-captures", "f32[16]", hint="further inputs", operands=("x: f32[16]",))
def kernel_with_an_array_from_outside(x):
    shift = jnp.arange(16.0)

    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] + shift

    return pl.pallas_call(kernel, out_shape=FLOATS)(x)  # <- here


@program("kernel-shapes", "f32[16]", hint="o_ref[:8]", at=copy_half)
def kernel_that_writes_too_little(x):
    return pl.pallas_call(copy_half, out_shape=FLOATS)(x)


@program("kernel-shapes", "f32[16]", hint="BlockSpec", operands=("x: f32[16]",))
def block_of_another_rank(x):
    block = pl.BlockSpec((4, 4), lambda i: (i, 0))
    return pl.pallas_call(copy, out_shape=FLOATS, grid=(4,), in_specs=[block])(x)  # <- here


@program("checkify-outside", "f32[16]", hint="checkify.checkify(f)", stage="lower")
def check_that_nobody_takes_up(x):
    checkify.check(jnp.all(x > 0), "negative")  # <- here
    return x
