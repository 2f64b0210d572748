"""Donations that worked and donations that did not: against the compiled program's alias, JAX's warning, and a run."""

import json
import os
import re
import subprocess
import sys
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxscope
from jaxscope._analysis.donation import donations_of
from jaxscope._analysis.signature import signature_of
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._ir import hlo
from tests.plugins import CUDA, CUDA_TEXT, TPU

F8 = jax.ShapeDtypeStruct((8,), jnp.float32)
I8 = jax.ShapeDtypeStruct((8,), jnp.int32)
F3 = jax.ShapeDtypeStruct((3,), jnp.float32)


def step(params, batch, unused, extra):
    return {"w": params["w"] - batch.sum(), "b": params["b"] * 2}, extra.sum()


def stages(function, *args, **options):
    """The stages, and what JAX warned of, which it does not do twice for one function."""
    jax.clear_caches()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        traced = jax.jit(function, **options).trace(*args)
        lowered = traced.lower()
        compiled = lowered.compile()
    return traced, lowered, compiled, [str(each.message) for each in caught if "donated" in str(each.message)]


def donations(function, *args, **options):
    traced, lowered, compiled, warned = stages(function, *args, **options)
    found = donations_of(signature_of(traced, lowered, compiled), lowered, hlo.parse(compiled.as_text()))
    return {each.path: each for each in found}, compiled, warned


# Each with functions whose donations work, do not, or both.
PROGRAMS = {
    "a training step": (step, ({"w": F8, "b": F3}, F8, F3, I8), {"donate_argnums": (0, 2, 3)}),
    "nothing fits": (lambda x: x.sum(), (F8,), {"donate_argnums": 0}),
    "two for one place": (lambda x, y: x + y, (F8, F8), {"donate_argnums": (0, 1)}),
    "another element type": (lambda x: x.astype(jnp.int32), (F8,), {"donate_argnums": 0}),
    "another shape, the same size": (lambda x: x.reshape(2, 4) * 2, (F8,), {"donate_argnums": 0}),
    "unchanged": (lambda x, y: (y, x), (F8, F3), {"donate_argnums": (0, 1)}),
    "a constant beside": (lambda x: x + np.arange(8, dtype=np.float32), (F8,), {"donate_argnums": 0}),
    "by name": (lambda x, *, state: (state + 1, x.sum()), (F8,), {"donate_argnames": "state"}),
    "kept though unused": (lambda x, y: y * 2, (F3, F8), {"donate_argnums": (0, 1), "keep_unused": True}),
}


def arguments(name):
    _, args, options = PROGRAMS[name]
    return args, {"state": F8} if "donate_argnames" in options else {}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_donation_that_worked_is_deleted_and_its_buffer_is_the_results(name):
    """The runtime deletes what was taken; JAX's own rule is not asked."""
    function, _, options = PROGRAMS[name]
    shapes, keywords = arguments(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        traced = jax.jit(function, **options).trace(*shapes, **keywords)
        lowered = traced.lower()
        compiled = lowered.compile()
    found = donations_of(signature_of(traced, lowered, compiled), lowered, hlo.parse(compiled.as_text()))
    values = jax.tree.map(lambda leaf: jnp.ones(leaf.shape, leaf.dtype), (shapes, keywords))
    leaves, donated = jax.tree.leaves(values), jax.tree.leaves(lowered.args_info)
    pointers = [leaf.unsafe_buffer_pointer() for leaf in leaves]
    results = jax.tree.leaves(compiled(*values[0], **values[1]))
    given = [index for index, info in enumerate(donated) if info.donated]
    assert len(found) == len(given)
    paths = [f"result{jax.tree_util.keystr(path)}" for path, _ in jax.tree_util.tree_leaves_with_path(traced.out_info)]
    for index, donation in zip(given, found, strict=True):
        if donation.worked:
            assert leaves[index].is_deleted()
            taker = results[paths.index(donation.output)]
            assert taker.unsafe_buffer_pointer() == pointers[index]
        else:
            assert pointers[index] not in [result.unsafe_buffer_pointer() for result in results]
    aliased = sum(leaves[i].nbytes for i, each in zip(given, found, strict=True) if each.worked)
    assert compiled.memory_analysis().alias_size_in_bytes == aliased


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name != "by name"])
def test_jax_warns_of_those_that_did_not_work(name):
    """By type, which is all that JAX says; of arguments that it drops it says nothing."""
    function, args, options = PROGRAMS[name]
    found, _, warned = donations(function, *args, **options)
    listed = re.findall(r"ShapedArray\(([^)]*)\)|((?:float|int)\d+\[[\d,]*\])", " ".join(warned))
    expected = sorted(
        each.type.replace("f32", "float32").replace("i32", "int32")
        for each in found.values()
        if not each.worked
        and "JAX left the choice" not in each.output.reason
        and "does not read" not in each.output.reason
    )
    assert sorted(first or second for first, second in listed) == expected


@pytest.mark.filterwarnings("ignore:Some donated buffers were not usable")
def test_every_reason():
    found, _, _ = donations(*PROGRAMS["a training step"][:1], *PROGRAMS["a training step"][1], donate_argnums=(0, 2, 3))
    assert found["params['w']"].worked and found["params['w']"].output == "result[0]['w']"
    assert found["params['b']"].output == "result[0]['b']"
    assert "does not read it" in found["unused"].output.reason and found["unused"].worked is False
    assert found["extra"].output.reason == "No result has its type i32[8]; there are f32[3], f32[8], i32[]."
    found, _, _ = donations(*PROGRAMS["two for one place"][:1], F8, F8, donate_argnums=(0, 1))
    assert found["x"].worked and "result takes x" in found["y"].output.reason
    found, _, _ = donations(lambda x: None, F8, donate_argnums=0)
    assert found["x"].worked is False


def test_nothing_donated_nothing_said():
    assert donations(lambda x: x * 2, F8)[0] == {}


@pytest.mark.filterwarnings("ignore:Some donated buffers were not usable")
def test_before_compilation_only_jaxs_own_refusals_are_known():
    traced = jax.jit(lambda x, y: x * 2, donate_argnums=(0, 1)).trace(F8, F3)
    lowered = traced.lower()
    x, y = donations_of(signature_of(traced, lowered, None), lowered, None)
    assert x.worked is None and "not compiled" in x.output.reason
    assert y.worked is False and "does not read" in y.output.reason


def test_tokens_do_not_shift_the_results():
    def logged(x):
        jax.debug.print("{}", x.sum(), ordered=True)
        return x.sum(), x * 2

    found, _, _ = donations(logged, F8, donate_argnums=0)
    assert found["x"].output == "result[1]"


@pytest.mark.parametrize(
    "target", [pytest.param("tpu:v5e:2x2", marks=TPU), pytest.param("cuda:h100", marks=(CUDA, CUDA_TEXT))]
)
@pytest.mark.filterwarnings("ignore:Some donated buffers were not usable")
def test_other_targets(target):
    function, args, options = PROGRAMS["a training step"]
    facts = jaxscope.inspect(jax.jit(function, **options), *args, target=target)._facts
    found = {each.path: each for each in facts.donations}
    assert found["params['w']"].output == "result[0]['w']" and found["params['b']"].output == "result[0]['b']"
    assert not found["extra"].worked and not found["unused"].worked
    taken = sum(
        a.size_bytes for a in facts.read_buffer_assignment().allocations if a.kind == "parameter" and a.is_live_out
    )
    assert taken == facts.product("compile").memory_analysis().alias_size_in_bytes > 0


SHARDED = """
import warnings; warnings.simplefilter("ignore")
import jax, jax.numpy as jnp, json
from jax.sharding import NamedSharding, PartitionSpec as P
from jaxscope._analysis.donation import donations_of
from jaxscope._analysis.signature import signature_of
from jaxscope._ir import hlo
mesh = jax.make_mesh((4,), ("d",))
over, whole = NamedSharding(mesh, P("d")), NamedSharding(mesh, P())
x = jax.ShapeDtypeStruct((8, 4), jnp.float32, sharding=over)
for out in (None, over, whole):
    traced = jax.jit(lambda x: x * 2, donate_argnums=0, out_shardings=out).trace(x)
    lowered = traced.lower()
    compiled = lowered.compile()
    (found,) = donations_of(signature_of(traced, lowered, compiled), lowered, hlo.parse(compiled.as_text()))
    value = jax.device_put(jnp.ones((8, 4)), over)
    before = {s.data.unsafe_buffer_pointer() for s in value.addressable_shards}
    result = compiled(value)
    after = {s.data.unsafe_buffer_pointer() for s in result.addressable_shards}
    print(json.dumps([found.worked, before == after, str(found.output)]))
"""


def test_arrays_over_several_devices():
    """The runtime's own pointers tell whether the buffers were taken."""
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=4", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", SHARDED], env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    left_open, same, whole = (json.loads(line) for line in done.stdout.splitlines())
    assert left_open[:2] == same[:2] == [True, True]
    assert whole[:2] == [False, False] and whole[2].startswith("unavailable: ")


def test_text_that_is_no_program():
    traced, lowered, compiled, _ = stages(lambda x: x * 2, F8, donate_argnums=0)
    (found,) = donations_of(signature_of(traced, lowered, compiled), lowered, hlo.parse("nothing"))
    assert found.worked is None and isinstance(found.output, Unavailable)
