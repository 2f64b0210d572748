"""Arguments that the program never reads."""

import jax

from tests.findings import findings_of, source_of

KEY = "unused-argument"


def ignores_b(params, x):
    return params["w"] @ x


def test_found_by_name():
    (finding,) = findings_of(KEY, ignores_b, {"w": "f32[4,4]", "b": "f32[4]"}, "f32[4]")
    assert "1 argument of 3 is never read: params['b'] (f32[4])" in finding.observation.found
    assert source_of(finding) == "def ignores_b(params, x):"


def test_not_found_where_all_are_read():
    assert not findings_of(
        KEY, lambda params, x: params["w"] @ x + params["b"], {"w": "f32[4,4]", "b": "f32[4]"}, "f32[4]"
    )


def test_not_found_where_it_was_asked_for():
    assert not findings_of(KEY, jax.jit(ignores_b, keep_unused=True), {"w": "f32[4,4]", "b": "f32[4]"}, "f32[4]")


def test_not_found_where_a_leaf_of_a_state_is_only_overwritten():
    def step(state, x):
        return {"sum": state["sum"] + x, "last": x}

    state = {"sum": "f32[4]", "last": "f32[4]"}
    assert not findings_of(KEY, step, state, "f32[4]")
    # No leaf of it is read.
    (finding,) = findings_of(KEY, lambda state, x: {"sum": x, "last": x}, state, "f32[4]")
    assert "2 arguments of 3 are never read" in finding.observation.found
