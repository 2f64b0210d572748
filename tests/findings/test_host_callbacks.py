"""Calls from the running program back to Python."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental import io_callback

from tests.findings import findings_of, source_of

KEY = "host-callback"
THREE = jax.ShapeDtypeStruct((3,), "float32")


def on_the_host(x):
    return jax.pure_callback(lambda x: np.sin(x), THREE, x)


def printing(x):
    jax.debug.print("{x}", x=x)
    return x


def calling(x):
    jax.debug.callback(lambda x: None, x)
    return x


def writing(x):
    io_callback(lambda x: None, None, x)
    return x


@pytest.mark.parametrize(
    ("function", "what"),
    [
        (on_the_host, "jax.pure_callback sends 12 B to Python and waits for 12 B from there"),
        (printing, "jax.debug.print sends 12 B to Python"),
        (calling, "jax.debug.callback sends 12 B to Python"),
        (writing, "jax.experimental.io_callback sends 12 B to Python"),
    ],
)
def test_found_of_every_kind(function, what):
    (outside,) = findings_of(KEY, function, "f32[3]")
    assert outside.observation.found == f"{what}, outside of loops."
    assert outside.severity == "note"
    assert outside.observation.lines

    def twice(x):
        return jax.lax.fori_loop(0, 5, lambda _, x: jax.lax.fori_loop(0, 4, lambda _, x: function(x), x), x)

    (inside,) = findings_of(KEY, twice, "f32[3]")
    assert inside.observation.found == f"{what}, 20 times in each run of the program."
    assert inside.severity == "warning"
    assert any(word in source_of(inside) for word in ("pure_callback", "debug", "io_callback"))


def test_found_in_a_loop_whose_length_is_not_known():
    (finding,) = findings_of(KEY, lambda x: jax.lax.while_loop(lambda x: x.sum() < 9, printing, x), "f32[3]")
    assert "1 time for each turn of a while loop, whose number of turns is not known." in finding.observation.found
    assert finding.severity == "warning"


def test_found_as_a_note_in_some_turns_only():
    def body(turn, x):
        return jax.lax.cond(turn % 100 == 0, printing, lambda x: x, x)

    (finding,) = findings_of(KEY, lambda x: jax.lax.fori_loop(0, 1000, body, x), "f32[3]")
    assert "at most 1,000 times" in finding.observation.found
    assert finding.severity == "note"


def test_found_without_operands():
    def greeting(x):
        jax.debug.print("hello")
        return x

    (finding,) = findings_of(KEY, greeting, "f32[3]")
    assert finding.observation.found == "jax.debug.print calls Python, outside of loops."


def test_found_worst_first():
    def both(x):
        return jax.lax.fori_loop(0, 5, lambda _, x: on_the_host(x), printing(x))

    first, second = findings_of(KEY, both, "f32[3]")
    assert (first.severity, second.severity) == ("warning", "note")
    assert "pure_callback" in first.observation.found


def test_not_found_where_python_runs_while_tracing():
    def quiet(x):
        print("tracing", x)
        return jnp.sin(x)

    assert not findings_of(KEY, lambda x: jax.lax.fori_loop(0, 5, lambda _, x: quiet(x), x), "f32[3]")


def test_found_as_an_upper_bound_where_a_condition_stands_around_the_loop():
    def step(flag, x):
        loop = lambda x: jax.lax.fori_loop(0, 10, lambda i, y: y + on_the_host(y), x)  # noqa: E731
        return jax.lax.cond(flag, loop, lambda x: x, x)

    (finding,) = findings_of(KEY, step, "bool[]", THREE)
    assert "at most 10 times in each run" in finding.observation.found


def test_found_with_the_number_of_others_on_the_line():
    def both(x):
        return jax.pure_callback(np.sin, THREE, x) + jax.pure_callback(np.cos, THREE, x + 1)

    (finding,) = findings_of(KEY, both, THREE)
    assert finding.observation.found.endswith("1 more callback on this line.")
