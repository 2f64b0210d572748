"""What lowering and compilers refuse."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import pallas as pl
from jax.extend.core import Primitive

from tests.failure_programs import program

FLOATS = jax.ShapeDtypeStruct((3,), jnp.float32)

unlowered = Primitive("unlowered")
unlowered.def_abstract_eval(lambda x: x)
untyped = Primitive("untyped")


@program("lowering-rule-missing", "f32[3]", hint="platform", stage="lower")
def primitive_without_lowering(x):
    return unlowered.bind(x)  # <- here


@program("abstract-rule-missing", "f32[3]", hint="def_abstract_eval")
def primitive_without_types(x):
    return untyped.bind(x)  # <- here


@program("differentiation-rule-missing", "f32[3]", hint="jvp")
def primitive_without_derivative(x):
    return jax.grad(lambda y: unlowered.bind(y).sum())(x)  # <- here


@program("batching-rule-missing", "f32[3]", hint="batch")
def primitive_without_batching(x):
    return jax.vmap(unlowered.bind)(x)  # <- here


@program("pallas-platform", "f32[8]", hint="interpret=True", stage="lower")
def pallas_on_a_cpu(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2

    return pl.pallas_call(kernel, out_shape=jax.ShapeDtypeStruct((8,), jnp.float32))(x)  # <- here


@program("custom-call-missing", "f32[3]", hint="register", stage="compile")
def unregistered_call(x):
    return jax.ffi.ffi_call("no_such_target_xyz", FLOATS)(x)  # <- here


@program(
    "compiler-option",
    "f32[3]",
    hint="spelling",
    stage="compile",
    at="nowhere",
    compiler_options={"xla_no_such_flag": True},
)
def unknown_option(x):
    return x


@program(
    "compiler-option-value",
    "f32[3]",
    hint="value",
    stage="compile",
    at="nowhere",
    compiler_options={"xla_embed_ir_in_executable": "perhaps"},
)
def wrong_value_of_an_option(x):
    return x


@program("backend-missing", "f32[3]", hint="target=", jit={"backend": "tpu"}, at="definition")
def backend_of_jit(x):
    return x


@program("backend-missing", "f32[3]", hint="target=")
def devices_of_a_backend(x):
    return jax.device_put(x, jax.devices("rocm")[0])  # <- here


@program(
    "symbolic-shape",
    jax.ShapeDtypeStruct(jax.export.symbolic_shape("b, 4"), np.float32),
    hint="numbers",
    stage="compile",
    at="nowhere",
)
def symbolic_shape(x):
    return x.sum()


@program("symbolic-comparison", jax.ShapeDtypeStruct(jax.export.symbolic_shape("b, 4"), np.float32), hint="constraints")
def symbolic_comparison(x):
    return x if x.shape[0] > 3 else -x  # <- here


@program("sharding-size", "f32[3]", hint="divides", operands=("x: f32[3]",))
def sharding_that_does_not_divide(x):
    mesh = jax.sharding.AbstractMesh((2,), ("data",))
    spec = jax.sharding.PartitionSpec("data")
    return jax.shard_map(jnp.sin, mesh=mesh, in_specs=spec, out_specs=spec)(x)  # <- here


@program("mesh-axis", "f32[4]", hint="Name axes of the mesh")
def axis_of_another_mesh(x):
    mesh = jax.sharding.AbstractMesh((2,), ("data",))
    return jax.lax.with_sharding_constraint(
        x,
        jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("model")),  # <- here
    )


@program("mesh-missing", "f32[4]", hint="mesh=")
def axis_of_no_mesh(x):
    return jax.lax.with_sharding_constraint(x, jax.sharding.PartitionSpec("model"))  # <- here


@program("dtype-unsupported-by-target", "u2[8,8]", hint="another target", stage="compile", at="nowhere", since=(0, 11))
def product_of_two_bit_integers(x):
    return x @ x


@program("lowering-verifier", "c64[]", hint="functions of jnp", stage="lower")
def random_complex_numbers(x):
    return jax.lax.rng_uniform(x, x, (8,))  # <- here


@program(
    "out-of-memory",
    "f32[131072,131072]",
    hint="jax.checkpoint",
    stage="compile",
    at="nowhere",
    target="tpu:v5e:1x1",
    needs="libtpu",
)
def more_than_a_device_holds(x):
    return (x @ x) @ (x @ x)


@program("lowering-rule-missing", "f32[8,8]", hint="target=", stage="lower", target="tpu:v5e:1x1", needs="libtpu")
def eigenvalues_on_a_tpu(x):
    return jnp.linalg.eig(x)  # <- here


@program(
    "compiler-time-limit",
    "f32[8,8]",
    hint="time_limit_s=",
    stage="compile",
    at="nowhere",
    target="tpu:v5e:1x1",
    needs="libtpu",
    time_limit_s=0.001,
)
def no_time_at_all(x):
    return x @ x
