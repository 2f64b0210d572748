"""The axes of a collective are those that the program was written with."""

import itertools
import json
import math
import os
import subprocess
import sys

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxscope._analysis.collectives import axes_of_groups, axes_of_pairs, replica_groups
from jaxscope._ir.hlo_types import size_bytes

PROGRAM = """
import json
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P
import jaxscope
from jaxscope import _jax
from jaxscope._analysis.collectives import collectives_of

mesh = jax.make_mesh((2, 1, 4), ("data", "one", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 3)
shard_map = jax.shard_map


def over(body):
    spec = P(("data", "one", "model"))
    return shard_map(body, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)


bodies = {
    "psum data": lambda x: jax.lax.psum(x, "data"),
    "psum model": lambda x: jax.lax.psum(x, "model"),
    "psum data model": lambda x: jax.lax.psum(x, ("data", "model")),
    "psum data one": lambda x: jax.lax.psum(x, ("data", "one")),
    "all_gather model": lambda x: jax.lax.all_gather(x, "model", tiled=True)[: x.shape[0]],
    "reduce_scatter data": lambda x: jnp.tile(jax.lax.psum_scatter(x, "data", tiled=True), (2, 1)),
    "ppermute model": lambda x: jax.lax.ppermute(x, "model", [(i, (i + 1) % 4) for i in range(4)]),
    "all_to_all model": lambda x: jax.lax.all_to_all(x, "model", 0, 0, tiled=True),
}
found = {}
for name, body in bodies.items():
    inspection = jaxscope.inspect(over(body), "f32[64,8]", strict=True)
    meshes = _jax.meshes_of(inspection.traced, inspection.compiled)
    listing = inspection._facts.listing("hlo").listing
    found[name] = [
        [one.kind, one.axes, one.group_size, one.group_count, one.operand_bytes]
        for one in collectives_of(listing, meshes)
    ]
print(json.dumps(found))
"""


# Of f32[64,8] over 8 devices.
LOCAL_BYTES = 64 // 8 * 8 * 4


def test_axes_are_those_of_the_program():
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=8", "JAX_PLATFORMS": "cpu"}
    run = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == {
        "psum data": [["all-reduce", ["data"], 2, 4, LOCAL_BYTES]],
        "psum model": [["all-reduce", ["model"], 4, 2, LOCAL_BYTES]],
        "psum data model": [["all-reduce", ["data", "model"], 8, 1, LOCAL_BYTES]],
        "psum data one": [["all-reduce", ["data"], 2, 4, LOCAL_BYTES]],
        "all_gather model": [["all-gather", ["model"], 4, 2, LOCAL_BYTES]],
        "reduce_scatter data": [["reduce-scatter", ["data"], 2, 4, LOCAL_BYTES]],
        "ppermute model": [["collective-permute", ["model"], 4, 2, LOCAL_BYTES]],
        "all_to_all model": [["all-to-all", ["model"], 4, 2, LOCAL_BYTES]],
    }


@st.composite
def meshes(draw):
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    return {f"axis{number}": size for number, size in enumerate(sizes)}


@given(meshes(), st.data())
def test_groups_made_from_axes_give_these_axes(mesh, data):
    """By numpy: devices laid out as the mesh, the chosen axes moved last, one group a row."""
    names = list(mesh)
    chosen = data.draw(st.sets(st.sampled_from(names)))
    numbers = np.arange(math.prod(mesh.values())).reshape(list(mesh.values()))
    last = [axis for axis, name in enumerate(names) if name in chosen]
    rest = [axis for axis, name in enumerate(names) if name not in chosen]
    size = math.prod(mesh[name] for name in chosen)
    groups = tuple(map(tuple, np.transpose(numbers, rest + last).reshape(-1, size).tolist()))
    shuffled = tuple(data.draw(st.permutations(groups)))
    wide = tuple(name for name in names if name in chosen and mesh[name] > 1)
    assert axes_of_groups(shuffled, mesh) == wide


@given(meshes(), st.data())
def test_groups_that_no_axes_give_have_none(mesh, data):
    count = math.prod(mesh.values())
    order = data.draw(st.permutations(range(count)))
    size = data.draw(st.sampled_from([size for size in range(1, count + 1) if count % size == 0]))
    groups = tuple(tuple(order[start : start + size]) for start in range(0, count, size))
    axes = axes_of_groups(groups, mesh)
    # The definition: two devices are in one group when they agree in all the other axes.
    places = dict(enumerate(itertools.product(*(range(size) for size in mesh.values()))))

    def gives(chosen):
        rest = [axis for axis, name in enumerate(mesh) if name not in chosen]
        together = {
            frozenset(other for other in places if all(places[other][axis] == places[one][axis] for axis in rest))
            for one in places
        }
        return together == set(map(frozenset, groups))

    subsets = itertools.chain.from_iterable(itertools.combinations(mesh, count) for count in range(len(mesh) + 1))
    assert (axes is not None) == any(map(gives, subsets))
    assert axes is None or gives(axes)


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.data())
def test_the_short_form_is_read_as_it_is_defined(dimensions, data):
    """`[groups,size]<=[dimensions]T(order)`: an iota of these dimensions, transposed, flattened, cut into groups."""
    order = data.draw(st.permutations(range(len(dimensions))))
    count = math.prod(dimensions)
    size = data.draw(st.sampled_from([size for size in range(1, count + 1) if count % size == 0]))
    expected = np.arange(count).reshape(dimensions).transpose(order).reshape(count // size, size)
    form = f"[{count // size},{size}]<=[{','.join(map(str, dimensions))}]"
    if list(order) != sorted(order) or data.draw(st.booleans()):
        form += f"T({','.join(map(str, order))})"
    found = replica_groups(f"  %a = f32[] all-reduce(%b), channel_id=1, replica_groups={form}, to_apply=%r", count)
    assert found == tuple(map(tuple, expected.tolist()))


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("{}", ((0, 1, 2, 3),)),
        ("{{0,2},{1,3}}", ((0, 2), (1, 3))),
        ("{{0},{1},{2},{3}}", ((0,), (1,), (2,), (3,))),
        ("[3,2]<=[4]", None),
        ("[2,2]<=[4]T(1)", None),
    ],
)
def test_forms_of_groups(form, expected):
    assert replica_groups(f", replica_groups={form}, use_global_device_ids=true", 4) == expected


def test_pairs_that_leave_the_mesh_have_no_axes():
    assert axes_of_pairs(((0, 5),), {"x": 4}) is None
    assert axes_of_pairs(((0, 1), (1, 0), (2, 3), (3, 2)), {"x": 2, "y": 2}) == ("y",)
    assert axes_of_pairs((), {"x": 4}) == ()


NUMPY_NAMES = {
    "pred": "bool", "s8": "int8", "u16": "uint16", "s32": "int32", "u64": "uint64", "f16": "float16",
    "bf16": "bfloat16", "f32": "float32", "f64": "float64", "c64": "complex64", "c128": "complex128",
    "f8e4m3fn": "float8_e4m3fn", "f8e5m2fnuz": "float8_e5m2fnuz", "f8e4m3b11fnuz": "float8_e4m3b11fnuz",
}  # fmt: skip


@given(st.lists(st.tuples(st.sampled_from(sorted(NUMPY_NAMES)), st.lists(st.integers(0, 9), max_size=3)), min_size=1))
def test_sizes_are_those_of_numpy(arrays):
    texts = [f"{name}[{','.join(map(str, shape))}]{{0:T(8,128)(2,1)S(1)}}" for name, shape in arrays]
    expected = sum(np.dtype(jnp.dtype(NUMPY_NAMES[name])).itemsize * math.prod(shape) for name, shape in arrays)
    assert size_bytes(f"({', /*index=1*/'.join(texts)}, token[])") == expected
    assert size_bytes("odd9[3]") is None


@pytest.mark.parametrize(("text", "expected"), [("s4[3]", 2), ("s2[5]", 2), ("u1[9]", 2), ("s32[<=5,2]", 40)])
def test_sizes_of_parts_of_bytes(text, expected):
    assert size_bytes(text) == expected
