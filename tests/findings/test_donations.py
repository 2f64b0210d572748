"""Donations that do not work, and states that could be donated."""

import functools
import warnings

import jax
import jax.numpy as jnp
import pytest

import jaxscope
from tests.findings import findings_of, source_of

KEY = "donation"
PARAMS = {"w": "f32[512,512]", "b": "f32[512]"}
BATCH = "f32[8,512]"


def loss(params, x):
    # The weight decay makes every gradient a sum with its parameter in it.
    return jnp.mean((x @ params["w"] + params["b"]) ** 2) + 0.01 * sum(jnp.sum(p * p) for p in params.values())


def step(params, momentum, x):
    gradients = jax.grad(loss)(params, x)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, gradients)
    return jax.tree.map(lambda p, m: p - 1e-3 * m, params, momentum), momentum


def test_found_for_states_that_could_be_donated():
    (finding,) = findings_of(KEY, jax.jit(step), PARAMS, PARAMS, BATCH)
    assert "params, momentum (4 arrays, 2.00 MiB) come out again" in finding.observation.found
    assert 'donate_argnames=("params", "momentum")' in finding.observation.advice
    assert finding.severity == "note"
    assert source_of(finding) == "def step(params, momentum, x):"


def test_not_found_where_they_are_donated_and_memory_is_saved_then():
    donated = jax.jit(step, donate_argnames=("params", "momentum"))
    assert not findings_of(KEY, donated, PARAMS, PARAMS, BATCH)
    kept, given = (jaxscope.inspect(f, PARAMS, PARAMS, BATCH).compiled.memory_analysis() for f in (step, donated))
    assert given.alias_size_in_bytes == 2 * (512 * 512 + 512) * 4
    assert kept.alias_size_in_bytes == 0


@pytest.mark.parametrize("function", [jax.grad(loss), jax.value_and_grad(loss), jax.jit(jax.grad(jax.jit(loss)))])
def test_not_found_for_gradients_which_have_the_types_of_parameters(function):
    assert not findings_of(KEY, function, PARAMS, BATCH)


def test_not_found_where_the_state_is_small():
    small = {"w": "f32[16,16]", "b": "f32[16]"}
    assert not findings_of(KEY, step, small, small, "f32[8,16]")
    assert not findings_of(KEY, step, PARAMS, PARAMS, "f32[65536,512]")


def test_found_for_a_state_that_goes_through_a_loop():
    def train(params, xs):
        return jax.lax.scan(lambda p, x: (step(p, p, x)[0], None), params, xs)[0]

    (finding,) = findings_of(KEY, train, PARAMS, "f32[3,8,512]")
    assert "params (2 arrays, 1.00 MiB) comes out again" in finding.observation.found


def test_found_for_a_cache_that_is_written_in_place():
    def decode(cache, new, at):
        cache = {name: jax.lax.dynamic_update_slice(cache[name], new, (at, 0)) for name in ("k", "v")}
        return cache["k"].sum(0), cache

    (finding,) = findings_of(KEY, decode, {"k": "f32[1024,256]", "v": "f32[1024,256]"}, "f32[1,256]", "i32[]")
    assert "the first as result[1]['k']" in finding.observation.found


def test_found_where_a_donation_does_not_work():
    @functools.partial(jax.jit, donate_argnums=0)
    def narrowed(x):
        return (x * 2).astype(jnp.bfloat16)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (finding,) = findings_of(KEY, narrowed, "f32[512,512]")
        (small,) = findings_of(KEY, narrowed, "f32[8]")
    assert "x (f32[512,512]), 1.00 MiB, is donated in vain" in finding.observation.found
    assert "there are bf16[512,512]" in finding.observation.found
    assert (finding.severity, small.severity) == ("warning", "note")


def test_not_found_where_a_donation_works():
    doubled = jax.jit(lambda x: x * 2, donate_argnums=0)
    assert not findings_of(KEY, doubled, "f32[512,512]")
    x = jnp.ones((512, 512))
    doubled(x)
    assert x.is_deleted()


def test_not_found_where_what_is_donated_is_small_and_not_read():
    @functools.partial(jax.jit, donate_argnums=0)
    def step(state, x):
        return {"sum": state["sum"] + x, "last": x * 2}

    assert not findings_of(KEY, step, {"sum": "f32[4]", "last": "f32[4]"}, "f32[4]")
    (finding,) = findings_of(KEY, step, {"sum": "f32[512,512]", "last": "f32[512,512]"}, "f32[512,512]")
    assert "state['last'] (f32[512,512]), 1.00 MiB, is donated in vain" in finding.observation.found
