"""Every form of function that `show` takes is inspected as the very program that JAX itself makes of it.

The oracle is JAX: what it lowers when the same thing is called with real arrays.
"""

import functools
import json
import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxscope
from jaxscope.errors import InputError

X = jnp.arange(8.0)


def scale(x, n=2, *, mode="a"):
    return jnp.sin(x) * n


def total(x):
    return jnp.sin(x).sum()


class Net:
    """A callable with methods, a jitted one among them, and a `trace` that has nothing to do with JAX."""

    weights = np.ones(8, np.float32)

    def plain(self, x):
        return x * self.weights

    @functools.partial(jax.jit, static_argnums=0)
    def step(self, x):
        return x * self.weights

    @classmethod
    def of_class(cls, x):
        return x * cls.weights

    def __call__(self, x):
        return x @ self.weights

    def trace(self):
        return 3.0


class Pair(NamedTuple):
    first: Any
    second: Any


NET = Net()
STATIC = jax.jit(scale, static_argnames=("n", "mode"))
DONATING = jax.jit(lambda x, y: x + y, donate_argnums=0)

# What is handed to inspect (function, args, kwargs), and what JAX lowers for it.
FORMS = {
    "function": ((scale, (X,), {}), lambda: jax.jit(scale).lower(X)),
    "lambda": ((lambda x: x + 1, (X,), {}), lambda: jax.jit(lambda x: x + 1).lower(X)),
    "method": ((NET.plain, (X,), {}), lambda: jax.jit(NET.plain).lower(X)),
    "class method": ((Net.of_class, (X,), {}), lambda: jax.jit(Net.of_class).lower(X)),
    "jitted method": ((NET.step, (X,), {}), lambda: Net.step.lower(NET, X)),
    "callable object": ((NET, (X,), {}), lambda: jax.jit(NET).lower(X)),
    "grad": ((jax.grad(total), (X,), {}), lambda: jax.jit(jax.grad(total)).lower(X)),
    "vmap": ((jax.vmap(scale), (X,), {}), lambda: jax.jit(jax.vmap(scale)).lower(X)),
    "vmap of jitted": ((jax.vmap(jax.jit(scale)), (X,), {}), lambda: jax.jit(jax.vmap(jax.jit(scale))).lower(X)),
    "checkpoint": ((jax.checkpoint(scale), (X,), {}), lambda: jax.jit(jax.checkpoint(scale)).lower(X)),
    "custom rule around jit": ((jax.nn.relu, (X,), {}), lambda: jax.jit(jax.nn.relu).lower(X)),
    "ufunc": ((jnp.add, (X, X), {}), lambda: jax.jit(jnp.add).lower(X, X)),
    "builtin": ((abs, (X,), {}), lambda: jax.jit(abs).lower(X)),
    "partial": ((functools.partial(scale, n=3), (X,), {}), lambda: jax.jit(functools.partial(scale, n=3)).lower(X)),
    "partial of grad": (
        (functools.partial(jax.grad(total), X), (), {}),
        lambda: jax.jit(functools.partial(jax.grad(total), X)).lower(),
    ),
    "partial of static": ((functools.partial(STATIC, X), (), {"n": 3}), lambda: STATIC.lower(X, n=3)),
    "partial of donating": ((functools.partial(DONATING, X), (X,), {}), lambda: DONATING.lower(X, X)),
    "static by keyword": ((STATIC, (X,), {"n": 3, "mode": "b"}), lambda: STATIC.lower(X, n=3, mode="b")),
    "static by position": ((STATIC, (X, 3), {}), lambda: STATIC.lower(X, 3)),
    "keywords only": (
        (lambda *, x, y: x - y, (), {"y": 2.0, "x": X}),
        lambda: jax.jit(lambda *, x, y: x - y).lower(x=X, y=2.0),
    ),
    "variadic": (
        (lambda x, *xs, **kw: x + sum(xs) + kw["z"], (X, X, 1), {"z": X}),
        lambda: jax.jit(lambda x, *xs, **kw: x + sum(xs) + kw["z"]).lower(X, X, 1, z=X),
    ),
    "named tuple": (
        (lambda pair: pair.first - pair.second, (Pair(X, 2.0),), {}),
        lambda: jax.jit(lambda pair: pair.first - pair.second).lower(Pair(X, 2.0)),
    ),
    "key": ((jax.random.bits, (jax.random.key(0),), {}), lambda: jax.jit(jax.random.bits).lower(jax.random.key(0))),
    "traced": ((STATIC.trace(X, n=3), (), {}), lambda: STATIC.lower(X, n=3)),
    "lowered": ((STATIC.lower(X, n=3), (), {}), lambda: STATIC.lower(X, n=3)),
    "NumPy scalar": ((scale, (np.float64(2),), {}), lambda: jax.jit(scale).lower(np.float64(2))),
    "None": ((lambda x, y: x, (X, None), {}), lambda: jax.jit(lambda x, y: x).lower(X, None)),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_program_is_the_one_that_jax_makes(form):
    (function, args, kwargs), lower = FORMS[form]
    inspection = jaxscope.inspect(function, *args, **kwargs)
    assert {stage.status for stage in inspection.stages.values()} <= {"done", "unavailable"}
    assert inspection.lowered.as_text() == lower().as_text()


@pytest.mark.parametrize("form", ["partial of static", "partial of donating", "jitted method"])
def test_what_has_a_jit_of_its_own_is_not_jitted_again(form):
    (function, args, kwargs), _ = FORMS[form]
    inspection = jaxscope.inspect(function, *args, **kwargs)
    assert not any("jitted for this inspection" in note for note in inspection.notes)


def test_the_python_side_is_the_users_and_not_a_wrapper_of_jax():
    for function in (jax.grad(total), functools.partial(jax.grad(total), X), functools.partial(total, X)):
        args = () if isinstance(function, functools.partial) else (X,)
        inspection = jaxscope.inspect(function, *args)
        assert inspection._facts.definition.first_line == total.__code__.co_firstlineno


def test_an_exported_program_takes_types_as_strings():
    shape = jax.export.symbolic_shape("b,4")
    exported = jax.export.export(jax.jit(scale))(jax.ShapeDtypeStruct(shape, jnp.float32))
    inspection = jaxscope.inspect(exported, "f32[2,4]")
    assert inspection.error is None
    assert inspection.compiled(np.ones((2, 4), np.float32)).shape == (2, 4)


def test_every_kind_of_key_that_jax_prints_is_read():
    for implementation in ("threefry2x32", "rbg", "unsafe_rbg"):
        key = jax.random.key(0, impl=implementation)
        inspection = jaxscope.inspect(jax.random.bits, f"{key.dtype}[]")
        assert inspection.lowered.as_text() == jax.jit(jax.random.bits).lower(key).as_text()


def test_what_jax_refuses_is_not_let_through():
    masked = np.ma.masked_array(np.ones(3, np.float32), [True, False, False])
    with pytest.raises(ValueError, match="masked") as raised:
        jax.jit(scale).trace(masked)
    error = jaxscope.inspect(scale, masked).error
    assert type(error) is type(raised.value) and str(error) == str(raised.value)


@pytest.mark.parametrize("text", ["f32[" + "9" * 19 + "]", "f32[" + "9" * 5000 + "]"])
def test_a_dimension_beyond_64_bits_is_refused(text):
    with pytest.raises(InputError, match="not a number of at most 18 digits"):
        jaxscope.inspect(scale, text)


def test_values_are_shown_on_one_line_and_the_same_in_every_run():
    class Tree:
        def __repr__(self):
            return "Tree(\n    depth=3,\n    size=4)"

        def __hash__(self):
            return 1

    jitted = jax.jit(lambda x, tree, names: x, static_argnums=(1, 2))
    inspection = jaxscope.inspect(jitted, X, Tree(), frozenset("cab"))
    values = inspection.signature.set_index("path")["value"]
    assert values["tree"] == "Tree( depth=3, size=4)" and values["names"] == "frozenset({'a', 'b', 'c'})"


def test_a_wrapper_that_takes_no_types_is_explained():
    equinox = pytest.importorskip("equinox")
    failure = next(
        tab["failure"]
        for tab in jaxscope.inspect(equinox.filter_jit(lambda x: x * 2), "f32[8]")._source.view["tabs"]
        if tab["failure"]
    )
    assert "real array" in failure["advice"]


def test_a_bound_method_of_another_librarys_jit():
    equinox = pytest.importorskip("equinox")

    class Model(equinox.Module):
        weights: jax.Array

        @equinox.filter_jit
        def step(self, x):
            return x @ self.weights

    inspection = jaxscope.inspect(Model(X).step, X)
    assert inspection.error is None and "step(" in inspection._source.view["title"]
    assert "dot_general" in inspection.stablehlo


IN_TRACES = {
    "jit": lambda work: jax.jit(lambda x: work(x) or x)(X),
    "grad": lambda work: jax.grad(lambda x: (work(x) or x).sum())(X),
    "vmap": lambda work: jax.vmap(lambda x: work(x) or x)(jnp.ones((3, 8))),
}


@pytest.mark.parametrize("around", IN_TRACES)
def test_tracers_of_an_outer_trace_are_types_like_any_other(around):
    found = []
    IN_TRACES[around](lambda x: found.append(jaxscope.inspect(scale, x)))
    assert found[0].lowered.as_text() == jax.jit(scale).lower(X).as_text()


ON_FOUR_DEVICES = """
import json, sys
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import NamedSharding, PartitionSpec as P
import jaxscope

mesh = jax.make_mesh((4,), ("data",))
split = NamedSharding(mesh, P("data"))
x = jax.device_put(jnp.ones((8, 4)), split)
devices = jax.devices()
expected = jax.jit(jnp.sin).lower(x).as_text()
facts = {}


def says(name, inspection):
    facts[name] = [inspection.error is None, inspection.lowered.as_text() == expected]


says("array", jaxscope.inspect(jnp.sin, x))
says("mesh=", jaxscope.inspect(jnp.sin, "f32[@data 8,4]", mesh=mesh))
with jax.set_mesh(mesh):
    expected_in_context = jax.jit(jnp.sin).lower(x).as_text()
    inspection = jaxscope.inspect(jnp.sin, "f32[@data 8,4]")
    facts["set_mesh"] = [inspection.error is None, inspection.lowered.as_text() == expected_in_context]
with mesh:
    says("with mesh", jaxscope.inspect(jnp.sin, "f32[@data 8,4]"))
exported = jax.export.export(jax.jit(jnp.sin))(x)
inspection = jaxscope.inspect(exported, mesh=mesh)
facts["exported"] = [inspection.error is None, len(inspection.compiled.input_shardings[0][0].device_set) == 4]
placed = jaxscope.inspect(jnp.sin, jax.device_put(jnp.ones(3), devices[2]))
facts["committed"] = [placed.error is None, placed.compiled.input_shardings[0][0].device_set == {devices[2]}]
placed = jaxscope.inspect(jnp.sin, "f32[3]", target=devices[1])
facts["target"] = [placed.error is None, placed.compiled.input_shardings[0][0].device_set == {devices[1]}]
with jax.default_device(devices[3]):
    placed = jaxscope.inspect(jnp.sin, "f32[3]")
facts["default_device"] = [placed.error is None, placed.compiled.input_shardings[0][0].device_set == {devices[3]}]
pmapped = jaxscope.inspect(jax.pmap(jnp.sin), "f32[4,3]")
facts["pmap"] = [pmapped.error is None, pmapped.compiled(np.ones((4, 3), np.float32)).shape == (4, 3)]
for name, bad in (("twice", "f32[@data 8,@data 4]"), ("absent", "f32[@model 8]")):
    try:
        jaxscope.inspect(jnp.sin, bad, mesh=mesh)
    except jaxscope.errors.InputError as error:
        facts[name] = [True, str(error).startswith("Reading the argument")]
print(json.dumps(facts))
"""


def test_shardings_and_devices_are_those_that_jax_uses():
    environment = {
        **os.environ,
        "XLA_FLAGS": "--xla_force_host_platform_device_count=4",
        "PYTHONPATH": str(Path(__file__).parents[1]),
    }
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", ON_FOUR_DEVICES], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr[-3000:]
    facts = json.loads(done.stdout.splitlines()[-1])
    assert len(facts) == 11 and all(first and second for first, second in facts.values()), facts


def test_two_threads_leave_pythons_warnings_as_they_were():
    """The second starts while the first traces and ends after it: the order that mixes up two recorders."""
    first_traces, second_traces, first_is_done = threading.Event(), threading.Event(), threading.Event()
    before = warnings.showwarning, warnings._showwarnmsg_impl, warnings.filters[:]

    def first(x):
        first_traces.set()
        assert second_traces.wait(10)
        return x

    def second(x):
        second_traces.set()
        assert first_is_done.wait(10)
        return x

    found = []
    ended = threading.Thread(target=lambda: found.append(jaxscope.inspect(second, "f32[8]")))
    begin = threading.Thread(target=lambda: first_traces.wait(10) and ended.start())
    begin.start()
    found.append(jaxscope.inspect(first, "f32[8]"))
    first_is_done.set()
    begin.join()
    ended.join()
    assert [inspection.error for inspection in found] == [None, None]
    assert (warnings.showwarning, warnings._showwarnmsg_impl, warnings.filters[:]) == before
