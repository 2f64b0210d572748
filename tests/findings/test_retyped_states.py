"""States that come back with another type, for which jit compiles once more."""

import jax
import jax.numpy as jnp
import numpy as np

from tests.findings import findings_of, source_of

KEY = "retyped-state"


def step(state):
    best = jnp.where(state["x"].sum() > 0, 1.0, 0.0)
    return {"x": state["x"] * 0.9, "best": best}


def strong_step(state):
    best = jnp.where(state["x"].sum() > 0, 1.0, 0.0).astype(jnp.float32)
    return {"x": state["x"] * 0.9, "best": best}


def compilations(function, state, calls=3):
    traced = []

    @jax.jit
    def counted(state):
        traced.append(state)
        return function(state)

    for _ in range(calls):
        state = counted(state)
    return len(traced)


def test_found_where_jit_really_traces_again():
    state = {"x": jnp.ones(8), "best": jnp.zeros(())}
    (finding,) = findings_of(KEY, step, state)
    assert "f32[] weak comes back as result['best'] for state['best'], which was f32[]" in finding.observation.found
    assert source_of(finding) == 'best = jnp.where(state["x"].sum() > 0, 1.0, 0.0)'
    assert compilations(step, state) == 2


def test_not_found_after_the_repair():
    state = {"x": jnp.ones(8), "best": jnp.zeros(())}
    assert not findings_of(KEY, strong_step, state)
    assert compilations(strong_step, state) == 1


def test_found_for_a_state_that_starts_with_a_python_number():
    (finding,) = findings_of(KEY, strong_step, {"x": jnp.ones(8), "best": 0.0})
    assert "which was f32[] weak" in finding.observation.found
    assert "jnp.asarray(state['best'], 'float32')" in finding.observation.advice
    assert compilations(strong_step, {"x": jnp.ones(8), "best": 0.0}) == 2


def test_found_by_name_for_one_array():
    def average(ema, x):
        return {"ema": jnp.where(x.sum() > 0, 1.0, 0.0), "loss": x.sum() + ema}

    (finding,) = findings_of(KEY, average, "f32[]", "f32[8]")
    assert "result['ema'] for ema" in finding.observation.found


def test_found_among_other_arguments_and_results():
    (finding,) = findings_of(
        KEY,
        lambda params, state, x: (params, step(state), x.sum()),
        {"w": "f32[4]"},
        {"x": "f32[8]", "best": "f32[]"},
        "f32[3]",
    )
    assert "result[1]['best'] for state['best']" in finding.observation.found


def test_not_found_for_a_weak_result_that_takes_no_argument_s_place():
    assert not findings_of(KEY, lambda x: jnp.where(x > 0, 1.0, 0.0), "f32[8]")
    assert not findings_of(KEY, lambda state: {**state, "loss": 1.0}, {"x": "f32[8]", "best": "f32[]"})


def test_not_found_where_both_sides_are_weak():
    assert not findings_of(KEY, step, {"x": jnp.ones(8), "best": 0.0})
    assert compilations(step, {"x": jnp.ones(8), "best": 0.0}) == 1


def updated(state):
    # The step size is a NumPy number, so that bf16 parameters become f32.
    return {"w": state["w"] - np.float32(0.1) * state["w"], "b": state["b"] + 1}


def test_found_for_parameters_that_come_back_wider():
    state = {"w": jnp.ones((8, 8), jnp.bfloat16), "b": jnp.ones(8)}
    (finding,) = findings_of(KEY, updated, state)
    assert "f32[8,8] comes back as result['w'] for state['w'], which was bf16[8,8]" in finding.observation.found
    assert ".astype('bfloat16')" in finding.observation.advice
    assert compilations(updated, state) == 2


def test_not_found_for_gradients_or_casts_that_are_no_update():
    state = {"w": jnp.ones((8, 8), jnp.bfloat16), "b": jnp.ones(8)}

    def wide_gradients(state):
        gradients = jax.grad(lambda s: jnp.sum(s["w"].astype(jnp.float32) @ s["b"]))(state)
        return jax.tree.map(lambda g: jnp.asarray(g, jnp.float32), gradients)

    assert not findings_of(KEY, wide_gradients, state)


def test_found_beside_another_state_of_the_type_that_comes_back():
    def step(params, momentum, x):
        gradients = jax.grad(lambda p: jnp.mean((x @ p["w"] + p["b"]) ** 2))(params)
        momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, gradients)
        return jax.tree.map(lambda p, m: p - 1e-3 * m, params, momentum), momentum

    (finding,) = findings_of(
        KEY, step, {"w": "bf16[8,4]", "b": "bf16[4]"}, {"w": "f32[8,4]", "b": "f32[4]"}, "bf16[2,8]"
    )
    assert "f32[4] comes back as result[0]['b'] for params['b'], which was bf16[4]" in finding.observation.found
    assert "1 leaf more likewise" in finding.observation.found
