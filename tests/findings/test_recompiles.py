"""Calls for which jit traces and compiles again."""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxscope._findings.recompiles import MOST_ENTRIES
from tests.findings import findings_of

KEY = "recompile"


class ByIdentity:
    degree = 2


@dataclasses.dataclass(frozen=True)
class ByValue:
    degree: int = 2


def power(x, options):
    return x**options.degree


def applied(x, function):
    return function(x)


def traces(function, first, second, **options):
    """How often two calls trace a function."""
    traced = []

    @functools.wraps(function)
    def counted(*args):
        traced.append(args)
        return function(*args)

    jitted = jax.jit(counted, **options)
    jitted(*first)
    jitted(*second)
    return len(traced)


@pytest.mark.parametrize(
    ("first", "second", "named", "repair"),
    [
        ((jnp.ones(8), 1.0), (jnp.ones(9), 1.0), "x was f32[8] and is f32[9] (shape)", "Pad it"),
        ((jnp.ones(8), 1.0), (jnp.ones(8), jnp.float32(1)), "(weak type)", "an array in every call"),
        ((jnp.ones(8), 1.0), (np.ones(8, np.int32), 1.0), "(dtype)", "Cast it"),
        ((jnp.ones(8), [1.0]), (jnp.ones(8), (1.0,)), "y", "containers"),
    ],
)
def test_found_for_the_argument_that_makes_jit_trace_again(first, second, named, repair):
    def scaled(x, y):
        return jax.tree.map(lambda leaf: leaf * x, y)

    (finding,) = findings_of(KEY, jax.jit(scaled), *first, call=second)
    assert named in finding.observation.found
    assert repair in finding.observation.advice
    assert traces(scaled, first, second) == 2


def test_found_for_a_static_value():
    def repeated(x, n):
        return jnp.tile(x, n)

    jitted = jax.jit(repeated, static_argnames="n")
    (finding,) = findings_of(KEY, jitted, jnp.ones(8), n=2, call={"x": jnp.ones(8), "n": 3})
    assert "n was 2 and is 3" in finding.observation.found
    assert "traced" in finding.observation.advice


def test_not_found_where_the_call_hits():
    assert not findings_of(KEY, jax.jit(jnp.multiply), jnp.ones(8), 1.0, call=(jnp.zeros(8), 2.0))


def test_found_where_jit_keeps_many_entries():
    varying = jax.jit(lambda x: x + 1)
    for size in range(1, MOST_ENTRIES + 1):
        varying(np.ones(size, np.float32))
    assert not findings_of(KEY, varying, "f32[8]")
    varying(np.ones(100, np.float32))
    (finding,) = findings_of(KEY, varying, "f32[8]")
    assert f"keeps {MOST_ENTRIES + 1} entries" in finding.observation.found


def test_not_found_for_what_a_library_jits():
    for size in range(1, MOST_ENTRIES + 2):
        jax.nn.relu(jnp.ones(size))
    assert not findings_of(KEY, jax.nn.relu, "f32[8]")


def test_found_for_a_static_object_that_is_compared_by_identity():
    (finding,) = findings_of(KEY, jax.jit(power, static_argnums=1), jnp.ones(8), ByIdentity())
    assert "The static argument options is" in finding.observation.found
    assert finding.severity == "note"
    x = jnp.ones(8)
    assert traces(power, (x, ByIdentity()), (x, ByIdentity()), static_argnums=1) == 2


def test_found_for_functions_that_are_made_where_they_are_passed():
    for function in (lambda x: x * 2, functools.partial(jnp.multiply, 2.0)):
        (finding,) = findings_of(KEY, jax.jit(applied, static_argnums=1), jnp.ones(8), function)
        assert "The static argument function is" in finding.observation.found


def test_not_found_for_static_objects_that_last_or_are_compared_by_value():
    x = jnp.ones(8)
    assert not findings_of(KEY, jax.jit(power, static_argnums=1), x, ByValue())
    assert traces(power, (x, ByValue()), (x, ByValue()), static_argnums=1) == 1
    for function in (jnp.sin, jax.nn.relu, jnp.add.reduce):
        assert not findings_of(KEY, jax.jit(applied, static_argnums=1), x, function)


def test_not_found_for_a_function_that_was_jitted_only_for_the_inspection():
    assert not findings_of(KEY, applied, jnp.ones(8), lambda x: x * 2)
