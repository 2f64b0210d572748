"""Verdicts on calls of public cases, over several devices and of random trees are those of the compiled call."""

import collections
import json
import subprocess
import sys
from pathlib import Path

import hypothesis
import hypothesis.strategies as st
import jax
import numpy as np
import pytest

from jaxscope._analysis.mismatches import check_call
from tests.cases import load, needs_own_process
from tests.shared import ABSENT, SHARED, case_files
from tests.test_mismatches import REPOSITORY, Layer, compile_for, really_raises


def judge_case(path):
    """For each call of a case: our verdict and whether the compiled call raised."""
    module = load(path)
    static = (("n", "3"),) if "static_argnums" in getattr(module, "jit_kwargs", {}) else ()
    signature, compiled = compile_for(
        module.fn, *module.args, static=static, jit=getattr(module, "jit_kwargs", {}), **getattr(module, "kwargs", {})
    )
    return {
        label: (check_call(signature, args, kwargs).raises, really_raises(compiled, args, kwargs))
        for label, args, kwargs in module.calls
    }


@pytest.mark.skipif(SHARED is None, reason=ABSENT)
@pytest.mark.parametrize("path", [p for p in case_files() if "\ncalls =" in p.read_text()], ids=lambda path: path.stem)
def test_cases_agree_with_jax(path):
    if needs_own_process(path.read_text()):
        command = [sys.executable, "-m", "tests.test_mismatches_of_programs", str(path)]
        result = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=120)
        assert result.returncode == 0, result.stderr[-3000:]
        verdicts = json.loads(result.stdout.splitlines()[-1])
    else:
        verdicts = judge_case(path)
    assert verdicts
    for label, (ours, jaxs) in verdicts.items():
        assert ours == jaxs, f"{label}: ours {ours}, JAX's {jaxs}"


SHARDINGS = """
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
import json
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P, SingleDeviceSharding
from tests.test_mismatches import compile_for, found, really_raises
from jaxscope._analysis.mismatches import check_call

mesh = jax.make_mesh((8,), ("d",), axis_types=(AxisType.Auto,))
split, whole = NamedSharding(mesh, P("d")), NamedSharding(mesh, P())
first, second = jax.devices()[:2]
x = jnp.ones(8)
one_device = compile_for(lambda x, unused: x + 1, *(jax.ShapeDtypeStruct((8,), jnp.float32),) * 2)
sharded = compile_for(lambda x: x + 1, jax.ShapeDtypeStruct((8,), jnp.float32, sharding=split))
keys = jax.random.split(jax.random.key(0), 8)
of_keys = compile_for(lambda k: jax.random.normal(k[0], (2,)), keys)
with jax.default_device(second):
    elsewhere = jnp.ones(8)
calls = {
    "one device, right": (one_device, (x, x)),
    "one device, committed there": (one_device, (jax.device_put(x, first), x)),
    "one device, committed elsewhere": (one_device, (jax.device_put(x, second), x)),
    "one device, uncommitted elsewhere": (one_device, (elsewhere, x)),
    "one device, dropped elsewhere": (one_device, (x, jax.device_put(x, second))),
    "one device, sharded": (one_device, (jax.device_put(x, split), x)),
    "one device, pinned": (one_device, (jax.device_put(x, SingleDeviceSharding(first, memory_kind="pinned_host")), x)),
    "sharded, right": (sharded, (jax.device_put(x, split),)),
    "sharded, numpy": (sharded, (np.ones(8, np.float32),)),
    "sharded, uncommitted": (sharded, (x,)),
    "sharded, committed to one": (sharded, (jax.device_put(x, first),)),
    "sharded, whole": (sharded, (jax.device_put(x, whole),)),
    "keys, elsewhere": (of_keys, (jax.device_put(keys, second),)),
}
print(json.dumps({
    label: [found(signature, *args), really_raises(compiled, args, {})]
    for label, ((signature, compiled), args) in calls.items()
}))
abstract = jax.ShapeDtypeStruct((8,), jnp.float32, sharding=whole)
print(json.dumps([row.called for row in check_call(sharded[0], (abstract,)).rows]))
"""


def test_placement():
    environment = {"JAX_PLATFORMS": "cpu", "PYTHONPATH": str(REPOSITORY), "PATH": ""}
    result = subprocess.run(
        [sys.executable, "-c", SHARDINGS], cwd=REPOSITORY, capture_output=True, text=True, timeout=120, env=environment
    )
    assert result.returncode == 0, result.stderr[-3000:]
    verdicts, abstract = map(json.loads, result.stdout.splitlines()[-2:])
    for label, (rows, raised) in verdicts.items():
        assert any(verdict == "raises" for *_, verdict in rows) == raised, label
    with_rows = {label for label, (rows, _) in verdicts.items() if rows}
    assert with_rows == {
        "one device, committed elsewhere",
        "one device, uncommitted elsewhere",
        "one device, sharded",
        "one device, pinned",
        "sharded, uncommitted",
        "sharded, committed to one",
        "sharded, whole",
        "keys, elsewhere",
    }
    assert {label: row[1] for label, (rows, _) in verdicts.items() for row in rows} == {
        "one device, committed elsewhere": ["device"],
        "one device, uncommitted elsewhere": ["device"],
        "one device, sharded": ["sharding"],
        "one device, pinned": ["memory kind"],
        "sharded, uncommitted": ["sharding"],
        "sharded, committed to one": ["sharding"],
        "sharded, whole": ["sharding"],
        "keys, elsewhere": ["device"],
    }
    assert abstract == ["f32[8] on P() over d=8"]


# Random pytrees, a random change, and the compiled call as the judge.

DTYPES = ("float32", "int32", "bool", "float16")
SHAPES = ((), (2,), (2, 3), (0,), (1,))
arrays = st.builds(lambda shape, dtype: np.zeros(shape, dtype), st.sampled_from(SHAPES), st.sampled_from(DTYPES))
leaves = arrays | st.just(1.0) | st.just(2) | st.just(True)
keys = st.sampled_from(("a", "b", "c"))


def containers(children):
    return (
        st.lists(children, max_size=3)
        | st.lists(children, max_size=3).map(tuple)
        | st.dictionaries(keys, children, max_size=3)
        | st.dictionaries(keys, children, max_size=2).map(collections.OrderedDict)
        | st.builds(Layer, children, st.sampled_from(("linear", "softmax")))
    )


trees = st.recursive(leaves | st.none(), containers, max_leaves=4)
other_leaves = leaves | arrays.map(lambda a: a.astype("float64")) | st.sampled_from(("text", 2**40, 1j, np.int64(1)))


@st.composite
def calls(draw):
    """Arguments to compile for, and arguments to call with: the same, changed in places, or others."""
    args = tuple(draw(st.lists(trees, max_size=2)))
    kwargs = draw(st.dictionaries(keys, trees, max_size=2))

    def change(tree):
        kind = draw(st.integers(0, 9))
        if kind == 0:
            return draw(trees)
        if kind == 1:
            return draw(other_leaves)
        if isinstance(tree, tuple | list):
            changed = [change(child) for child in tree]
            if kind == 2:
                changed.append(np.zeros(2, np.float32))
            if kind == 3:
                return tuple(changed) if isinstance(tree, list) else changed
            return type(tree)(changed)
        if isinstance(tree, dict):
            changed = {key: change(child) for key, child in tree.items()}
            if kind == 2:
                changed["z"] = np.zeros(2, np.float32)
            if kind == 3 and changed:
                changed.pop(next(iter(changed)))
            if kind == 4 and changed:
                changed["y"] = changed.pop(next(iter(changed)))
            return type(tree)(changed) if kind != 5 else collections.OrderedDict(reversed(changed.items()))
        if isinstance(tree, Layer):
            return Layer(change(tree.w), "softmax" if kind == 2 else tree.name)
        return tree

    called_args, called_kwargs = tuple(map(change, args)), {key: change(value) for key, value in kwargs.items()}
    match draw(st.integers(0, 5)):
        case 0:
            called_args = (*called_args, np.zeros(2, np.float32))
        case 1:
            called_args = called_args[1:]
        case 2 if called_kwargs:
            called_kwargs.pop(next(iter(called_kwargs)))
        case 3 if called_kwargs:
            called_args = (*called_args, called_kwargs.pop(next(iter(called_kwargs))))
        case 4 if called_args:
            called_kwargs = {**called_kwargs, "p0": called_args[-1]}
            called_args = called_args[:-1]
    return args, kwargs, called_args, called_kwargs


@hypothesis.settings(max_examples=150, deadline=None)
@hypothesis.given(calls(), st.booleans(), st.booleans())
def test_verdicts_are_those_of_the_compiled_call(call, compiled_wide, called_wide):
    args, kwargs, called_args, called_kwargs = call
    with jax.enable_x64(compiled_wide):
        signature, compiled = compile_for(lambda *args, **kwargs: (), *args, jit={"keep_unused": True}, **kwargs)
    with jax.enable_x64(called_wide):
        mismatches = check_call(signature, called_args, called_kwargs)
        assert mismatches.raises == really_raises(compiled, called_args, called_kwargs)
    assert mismatches.differing_count <= mismatches.argument_count
    assert len({(row.path, row.differs) for row in mismatches.rows}) == len(mismatches.rows), "two rows say the same"


if __name__ == "__main__":
    print(json.dumps(judge_case(Path(sys.argv[1]))))
