"""Programs for many devices, up to 512 chips: meshes laid over the target, shardings kept, pieces shown.

The oracles are arithmetic on shapes, `jax.make_mesh`, and the counts that XLA prints.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding, PartitionSpec

import jaxscope
from jaxscope import _placement
from jaxscope._targets import resolve_target
from jaxscope.errors import InputError
from tests.plugins import BOTH, CUDA, CUDA_TEXT, TPU

AUTO = (AxisType.Auto,) * 2


def partitions(inspection):
    found = re.search(r"num_partitions=(\d+)", inspection.hlo.partition("\n")[0])
    return int(found[1]) if found else 1


def compiled(inspection):
    assert inspection.stages["compile"].status == "done", inspection.stages["compile"]
    return inspection


@pytest.mark.parametrize(
    ("name", "mesh"),
    [
        pytest.param("tpu:v5e:16x16", {"data": 16, "model": 16}, marks=TPU),
        pytest.param("tpu:v5p:8x8x8", {"data": 32, "model": 16}, marks=TPU),
        pytest.param("tpu:v4:4x4x4", {"data": 4, "model": 16}, marks=TPU),
        pytest.param("tpu:7x:2x2x1", {"data": 4, "model": 2}, marks=TPU),
        pytest.param("cuda:h100:8", {"data": 2, "model": 4}, marks=(CUDA, CUDA_TEXT)),
        pytest.param("cuda:h100:2x8", {"data": 2, "model": 8}, marks=(CUDA, CUDA_TEXT)),
    ],
)
def test_a_mesh_of_named_sizes_covers_the_machine(name, mesh):
    try:
        inspection = jaxscope.inspect(
            lambda x, w: x @ w, "bf16[1024,@model 8192]", "bf16[@model 8192,@data 4096]", target=name, mesh=mesh
        )
    except InputError as error:
        if "Invalid TPU external name" in str(error):
            pytest.skip(str(error))
        raise
    compiled(inspection)
    assert partitions(inspection) == mesh["data"] * mesh["model"] == resolve_target(name).device_count
    assert re.search(r"all-reduce|reduce-scatter", inspection.hlo), "the contracted dimension is divided"
    signature = inspection.signature.set_index("path")
    assert signature.loc["x", "per_device"] == f"bf16[1024,{8192 // mesh['model']}]"
    assert signature.loc["w", "per_device"] == f"bf16[{8192 // mesh['model']},{4096 // mesh['data']}]"
    sizes = ", ".join(f"{axis}={size}" for axis, size in mesh.items())
    assert signature.loc["x", "sharding"] == f"P(None, 'model') over {sizes}"
    argument = inspection.memory.set_index("memory").loc["argument", "size_bytes"]
    assert argument == 2 * (1024 * 8192 // mesh["model"] + 8192 * 4096 // mesh["model"] // mesh["data"])
    assert f"bf16[1024,{8192 // mesh['model']}]" in str(inspection), "the table shows the pieces"


@pytest.mark.parametrize("name", BOTH)
def test_a_smaller_mesh_takes_the_first_devices(name):
    inspection = jaxscope.inspect(lambda x: x * 2, "f32[@a 8]", target=name, mesh={"a": 2})
    assert partitions(compiled(inspection)) == 2
    (sharding,) = inspection.compiled.input_shardings[0]
    assert sharding.device_set == set(jaxscope.targets().devices(name)[:2])


@TPU
def test_neighbours_in_the_mesh_are_neighbours_in_the_machine():
    devices = jaxscope.targets().devices("tpu:v5p:4x4x4")
    ours = _placement.place(resolve_target("tpu:v5p:4x4x4"), {"a": 4, "b": 16}).mesh
    theirs = jax.make_mesh((4, 16), ("a", "b"), devices=devices, axis_types=AUTO)
    assert (ours.devices == theirs.devices).all()
    assert [device.id for device in ours.devices.flat] != sorted(device.id for device in devices)


@TPU
def test_shapes_that_do_not_fit_on_the_torus_are_meshes_all_the_same():
    mesh = _placement.place(resolve_target("tpu:v5e:4x4"), {"a": 3, "b": 5}).mesh
    assert mesh.devices.shape == (3, 5) and len(set(mesh.devices.flat)) == 15


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize(
    ("mesh", "words"),
    [
        ({"data": 4, "model": 2}, ["Laying the mesh data=4 × model=2 over", "needs 8 devices, and there are 4"]),
        ({"data": "4"}, ["Reading mesh={'data': '4'}", "whole number from 1 on"]),
        ({"data": 0}, ["Reading mesh={'data': 0}", "whole number from 1 on"]),
        ({"data": True}, ["Reading mesh={'data': True}", "whole number from 1 on"]),
        ({}, ["Reading mesh={}", 'Write mesh={"data": 4, "model": 2}']),
        ({4: "data"}, ["Reading mesh={4: 'data'}", "a name"]),
        (4, ["Reading mesh=4", "found a int", "jax.sharding.Mesh"]),
    ],
)
def test_a_mesh_that_does_not_fit_is_refused(name, mesh, words):
    with pytest.raises(InputError) as refused:
        jaxscope.inspect(lambda x: x, "f32[8]", target=name, mesh=mesh)
    assert all(word in str(refused.value) for word in words), refused.value


def test_a_mesh_of_named_sizes_works_on_attached_devices_too():
    inspection = jaxscope.inspect(lambda x: x * 2, "f32[@a 8]", target="cpu", mesh={"a": 1})
    assert compiled(inspection).signature.set_index("path").loc["x", "sharding"] == "P('a') over a=1"
    count = len(jax.devices("cpu"))
    with pytest.raises(InputError, match=rf"needs {count + 1} devices, and there are {count}"):
        jaxscope.inspect(lambda x: x, "f32[@a 8]", target="cpu", mesh={"a": count + 1})


# Shardings that the user brings.


@pytest.mark.parametrize("name", BOTH)
def test_abstract_meshes_are_laid_over_the_target(name):
    mesh = AbstractMesh((2, 2), ("a", "b"), axis_types=AUTO)
    x = jax.ShapeDtypeStruct((8, 8), jnp.float32, sharding=NamedSharding(mesh, PartitionSpec("a", "b")))
    inspection = jaxscope.inspect(lambda x: (x * 2).sum(0), x, target=name)
    assert partitions(compiled(inspection)) == 4
    assert inspection.signature.loc[0, "per_device"] == "f32[4,4]"
    assert not any("this process" in note for note in inspection.notes), "an abstract mesh is on no devices"


@pytest.mark.parametrize("name", BOTH)
def test_abstract_meshes_in_context_are_laid_over_the_target(name):
    mesh = AbstractMesh((2, 2), ("a", "b"), axis_types=AUTO)
    with jax.sharding.use_abstract_mesh(mesh):
        inspection = jaxscope.inspect(lambda x: x * 2, "f32[@a 8,@b 8]", target=name)
    assert partitions(compiled(inspection)) == 4


@pytest.mark.parametrize("name", BOTH)
def test_shardings_on_the_target_are_kept(name):
    mesh = Mesh(np.array(jaxscope.targets().devices(name))[::-1].reshape(2, 2), ("a", "b"))
    sharding = NamedSharding(mesh, PartitionSpec("a"))
    x = jax.ShapeDtypeStruct((8, 8), jnp.float32, sharding=sharding)
    inspection = jaxscope.inspect(lambda x: x * 2, x, target=name)
    (found,) = compiled(inspection).compiled.input_shardings[0]
    assert [d.id for d in found.mesh.devices.flat] == [3, 2, 1, 0]


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("types", [AxisType.Auto, AxisType.Explicit], ids=["auto", "explicit"])
def test_functions_find_the_mesh_of_the_target(name, types):
    """with_sharding_constraint and shard_map with names only: they ask which mesh is set."""
    mesh = AbstractMesh((4,), ("data",), axis_types=(types,))

    def function(x):
        if types is AxisType.Auto:
            x = jax.lax.with_sharding_constraint(x, PartitionSpec("data"))
        return jax.shard_map(
            lambda y: jax.lax.psum(y, "data"), in_specs=PartitionSpec("data"), out_specs=PartitionSpec()
        )(x)

    inspection = jaxscope.inspect(function, "f32[@data 8,3]", target=name, mesh=mesh)
    assert partitions(compiled(inspection)) == 4 and "all-reduce" in inspection.hlo
    if types is AxisType.Explicit:
        assert inspection.signature.loc[0, "type"] == "f32[8@data,3]"


@pytest.mark.parametrize("name", BOTH)
def test_jit_with_shardings_by_name_finds_the_mesh_of_the_target(name):
    spec = PartitionSpec("data")
    function = jax.jit(lambda x: x * 2, in_shardings=spec, out_shardings=spec)
    inspection = jaxscope.inspect(function, "f32[8,3]", target=name, mesh={"data": 4})
    assert partitions(compiled(inspection)) == 4
    assert inspection.signature["per_device"].tolist() == ["f32[2,3]", "f32[2,3]"]


@pytest.mark.parametrize("name", BOTH)
def test_no_mesh_is_set_afterwards(name):
    jaxscope.inspect(lambda x: x * 2, "f32[@a 8]", target=name, mesh={"a": 4})
    assert jax.sharding.get_abstract_mesh().empty


@pytest.mark.parametrize("platform", ["rocm", pytest.param("tpu:v5e:2x2", marks=TPU)])
def test_meshes_are_lowered_for_without_a_compiler_as_with_one(platform):
    inspection = jaxscope.inspect(lambda x: x * 2, "f32[@a 8]", target=platform, mesh={"a": 4})
    assert inspection.stages["lower"].status == "done"
    assert re.search(r'sdy\.mesh @\w+ = <\["a"=4\]>|num_partitions = 4', inspection.stablehlo)


# In a process of its own: how many CPU devices there are is decided once.
FOUR_DEVICES = """
import json
import jax, jax.numpy as jnp, numpy as np, jaxscope
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec
results = {{}}
def run(key, *args, **options):
    try:
        inspection = jaxscope.inspect(*args, target={name!r}, **options)
    except jaxscope.errors.InputError as error:
        results[key] = str(error)
        return
    stage = inspection.stages["compile"]
    results[key] = [stage.status, str(inspection.error), inspection.notes, None]
    if stage.status == "done":
        results[key][3] = [
            sorted({{d.platform for s in inspection.compiled.input_shardings[0] for d in s.device_set}}),
            inspection.signature["per_device"].tolist(),
        ]
for kind in (AxisType.Auto, AxisType.Explicit):
    mesh = jax.make_mesh((4,), ("a",), axis_types=(kind,))
    array = jax.device_put(jnp.ones((8, 8)), NamedSharding(mesh, PartitionSpec("a")))
    with jax.set_mesh(mesh):
        run(f"set_mesh {{kind.name}}", lambda x: x * 2, "f32[@a 8,8]")
        run(f"array in set_mesh {{kind.name}}", lambda x: x * 2, array)
    run(f"array {{kind.name}}", lambda x: x * 2, array)
    run(f"mesh= {{kind.name}}", lambda x: x * 2, "f32[@a 8,8]", mesh=mesh)
mesh = jax.make_mesh((4,), ("a",), axis_types=(AxisType.Auto,))
with mesh:
    run("with mesh", lambda x: jax.lax.with_sharding_constraint(x, PartitionSpec("a")) * 2, "f32[@a 8,8]")
closed = NamedSharding(mesh, PartitionSpec("a"))
run("a mesh closed over", lambda x: jax.lax.with_sharding_constraint(x, closed), "f32[8,8]")
run("in_shardings", jax.jit(lambda x: x * 2, in_shardings=closed), "f32[8,8]")
big = jax.ShapeDtypeStruct((8, 8), jnp.float32, sharding=closed)
run("a larger mesh than the target", lambda x: x * 2, big) if {one!r} else None
assert jax.devices()[0].platform == "cpu"
print(json.dumps(results))
"""


def run_four(name, one=False):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FOUR_DEVICES.format(name=name, one=one)],
        env={**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_force_host_platform_device_count=4"},
        capture_output=True,
        text=True,
        timeout=300,
        cwd=Path(__file__).parents[1],
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", BOTH)
def test_meshes_of_this_process_are_laid_over_the_target(name):
    results = run_four(name)
    platform = "tpu" if name.startswith("tpu") else "gpu"
    for key, found in results.items():
        status, error, notes, facts = found
        if key in ("a mesh closed over", "in_shardings"):
            assert status != "done" and error.startswith(f"Lowering <lambda> for {name}"), (key, found)
            continue
        assert status == "done", (key, found)
        assert facts == [[platform], ["f32[2,8]", "f32[2,8]"]], (key, found)
        assert any("this process" in note for note in notes) == ("array" in key)
    assert len(results) == 11


@TPU
def test_an_array_over_more_devices_than_the_target_has_is_refused():
    found = run_four("tpu:v5e:1x1", one=True)["a larger mesh than the target"]
    assert found == (
        "Laying the mesh a=4 over tpu:v5e:1x1: it needs 4 devices, and there are 1. "
        "Make an axis smaller, or choose a larger target."
    )


@pytest.mark.parametrize("first", ["rocm", pytest.param("tpu:v5e:2x2", marks=TPU)])
def test_a_request_for_one_machine_is_moved_when_it_is_compiled_for_another(first):
    inspection = jaxscope.inspect(lambda x: x * 2, "f32[@a 8]", target=first, mesh={"a": 1})
    inspection.compile_for("cpu")
    (sharding,) = inspection.for_target("cpu").compiled.input_shardings[0]
    assert {device.platform for device in sharding.device_set} == {"cpu"}


@TPU
def test_a_program_for_an_absent_machine_is_not_taken_for_an_attached_ones():
    sharding = NamedSharding(Mesh(np.array(jaxscope.targets().devices("tpu:v5e:2x2")), "a"), PartitionSpec("a"))
    lowered = jax.jit(lambda x: x * 2).lower(jax.ShapeDtypeStruct((8,), jnp.float32, sharding=sharding))
    inspection = jaxscope.inspect(lowered)
    assert inspection.stages["compile"].status != "done"
    assert "lowered for 'TPU v5 lite', which is not attached" in str(inspection.error)
