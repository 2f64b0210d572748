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
from hypothesis import given, settings
from hypothesis import strategies as st

from jaxscope._analysis.collectives import axes_of_groups, axes_of_pairs, collectives_of, replica_groups
from jaxscope._ir import hlo
from jaxscope._ir.shapes import size_bytes

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


@settings(deadline=None)
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


@settings(deadline=None)
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


@settings(deadline=None)
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


@settings(deadline=None)
@given(meshes(), st.data())
def test_a_named_mesh_gives_the_groups_of_its_device_numbers(mesh, data):
    """XLA makes meshes of its own, of axes that nobody wrote; by numpy: one group a row, the named axes last."""
    count = math.prod(mesh.values())
    ids = np.array(data.draw(st.permutations(range(count))))
    form, kind = "", data.draw(st.sampled_from(["in order", "listed", "short"]))
    if kind == "in order":
        ids = np.arange(count)
    elif kind == "short":
        order = data.draw(st.permutations(range(len(mesh))))
        sizes = list(mesh.values())
        ids = np.arange(count).reshape(sizes).transpose(order).ravel()
        form = f", device_ids=([{','.join(map(str, sizes))}]T({','.join(map(str, order))}))"
    else:
        form = f", device_ids=({','.join(map(str, ids))})"
    chosen = data.draw(st.lists(st.sampled_from(list(mesh)), unique=True, min_size=1))
    last = [axis for axis, name in enumerate(mesh) if name in chosen]
    rest = [axis for axis, name in enumerate(mesh) if name not in chosen]
    size = math.prod(mesh[name] for name in chosen)
    expected = np.transpose(ids.reshape(list(mesh.values())), rest + last).reshape(-1, size)
    sizes_text = ",".join(f"'{name}'={size}" for name, size in mesh.items())
    axes_text = ",".join(f"'{name}'" for name in chosen)
    groups = replica_groups(f", replica_groups=mesh[{sizes_text}]{form} {{{axes_text}}}, dimensions={{0}}", count)
    assert set(map(frozenset, groups)) == set(map(frozenset, expected.tolist()))


# XLA 0.10.2 for TPU: an all-gather over a mesh of XLA's own, hidden behind two fusions, and an all-reduce after it.
HIDDEN = """HloModule jit_step, entry_computation_layout={(f32[4]{0})->f32[4]{0}}, num_partitions=8

%fused_computation.58 (param_0: f32[4]) -> (f32[4], f32[8]) {
  %param_0 = f32[4]{0} parameter(0)
  %all-gather.14 = f32[8]{0} all-gather(%param_0), channel_id=4, replica_groups=mesh['axis_0'=1,'axis_1'=2,'axis_2'=4] {'axis_1'}, dimensions={0}, backend_config={"async_collective_fusion_config":{"flag_start":"-1","flag_end":"-1"}}
  ROOT %custom-call.1 = (f32[4]{0}, f32[8]{0}) custom-call(%all-gather.14), custom_call_target="AsyncCollectiveStart"
}

%fused_computation.60 (param_0.1: f32[4]) -> f32[8] {
  %param_0.1 = f32[4]{0} parameter(0)
  %all-gather.18 = f32[8]{0} all-gather(%param_0.1), channel_id=4, replica_groups=mesh['axis_0'=1,'axis_1'=2,'axis_2'=4] {'axis_1'}, dimensions={0}, backend_config={"async_collective_fusion_config":{"flag_start":"2","flag_end":"8"}}
  ROOT %custom-call.3 = f32[8]{0} custom-call(%all-gather.18), custom_call_target="AsyncCollectiveDone"
}

ENTRY %main (x: f32[4]) -> f32[4] {
  %x = f32[4]{0} parameter(0)
  %async-collective-start = (f32[4]{0}, f32[8]{0}) fusion(%x), kind=kCustom, calls=%fused_computation.58
  %async-collective-done = f32[8]{0} fusion(%x), kind=kCustom, calls=%fused_computation.60
  ROOT %all-reduce = f32[4]{0} all-reduce(%x), channel_id=5, replica_groups=mesh['axis_0'=2,'axis_1'=4] {'axis_1'}, to_apply=%add
}
"""  # noqa: E501


def test_one_that_is_spread_over_fusions_counts_once_and_names_the_users_axes():
    found = collectives_of(hlo.parse(HIDDEN), [{"data": 2, "model": 4}])
    assert [(one.kind, one.axes, one.group_size, one.group_count) for one in found] == [
        ("all-gather", ("data",), 2, 4),
        ("all-reduce", ("model",), 4, 2),
    ]


def test_a_part_of_an_axis_is_said_to_be_one():
    text = HIDDEN.replace("{'axis_1'}, to_apply", "{'axis_1':(1)2}, to_apply")
    assert "part of an axis" in collectives_of(hlo.parse(text), [{"data": 2, "model": 4}])[-1].axes.reason


def test_pairs_that_leave_the_mesh_have_no_axes():
    assert axes_of_pairs(((0, 5),), {"x": 4}) is None
    assert axes_of_pairs(((0, 1), (1, 0), (2, 3), (3, 2)), {"x": 2, "y": 2}) == ("y",)
    assert axes_of_pairs((), {"x": 4}) == ()


NUMPY_NAMES = {
    "pred": "bool", "s8": "int8", "u16": "uint16", "s32": "int32", "u64": "uint64", "f16": "float16",
    "bf16": "bfloat16", "f32": "float32", "f64": "float64", "c64": "complex64", "c128": "complex128",
    "f8e4m3fn": "float8_e4m3fn", "f8e5m2fnuz": "float8_e5m2fnuz", "f8e4m3b11fnuz": "float8_e4m3b11fnuz",
}  # fmt: skip


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(sorted(NUMPY_NAMES)), st.lists(st.integers(0, 9), max_size=3)), min_size=1))
def test_sizes_are_those_of_numpy(arrays):
    texts = [f"{name}[{','.join(map(str, shape))}]{{0:T(8,128)(2,1)S(1)}}" for name, shape in arrays]
    expected = sum(np.dtype(jnp.dtype(NUMPY_NAMES[name])).itemsize * math.prod(shape) for name, shape in arrays)
    assert size_bytes(f"({', /*index=1*/'.join(texts)}, token[])") == expected
    assert size_bytes("odd9[3]") is None


@pytest.mark.parametrize(("text", "expected"), [("s4[3]", 2), ("s2[5]", 2), ("u1[9]", 2), ("s32[<=5,2]", 40)])
def test_sizes_of_parts_of_bytes(text, expected):
    assert size_bytes(text) == expected
