"""Captured NumPy arrays that were changed after they had been written into the program."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

from tests.findings import findings_of, source_of

KEY = "stale-capture"


def captured_and_called(array):
    """A function that captures `array` and was called once, so that JAX has its program."""
    function = jax.jit(lambda x: x + array)
    function(jnp.zeros(array.shape, array.dtype))
    return function


def test_found_where_one_element_was_changed():
    scale = np.ones((2, 3), np.float32)
    function = captured_and_called(scale)
    scale[1, 2] = 7
    (finding,) = findings_of(KEY, function, "f32[2,3]")
    assert finding.observation.found == (
        "The captured f32[2,3] was changed after it was written into the program, which holds the old elements: "
        "1 of 6 differs, [1, 2] is 1.0 in the program and 7.0 now."
    )
    assert "x + array" in source_of(finding)
    assert finding.observation.lines
    # That is what JAX does.
    assert function(jnp.zeros((2, 3)))[1, 2] == 1


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "float16", "float32"])
def test_found_for_each_element_type(dtype):
    scale = np.zeros(5, dtype)
    function = captured_and_called(scale)
    assert not findings_of(KEY, function, jax.ShapeDtypeStruct((5,), dtype))
    scale[:2] = 1
    (finding,) = findings_of(KEY, function, jax.ShapeDtypeStruct((5,), dtype))
    assert "2 of 5 differ" in finding.observation.found


def test_found_of_the_right_one_of_several():
    first, second = np.arange(3, dtype=np.float32), np.full(3, np.nan, np.float32)

    def combine(x):
        return x * first + second

    jitted = jax.jit(combine)
    jitted(jnp.zeros(3))
    assert not findings_of(KEY, jitted, "f32[3]")
    second[1] = 0
    (finding,) = findings_of(KEY, jitted, "f32[3]")
    assert "[1] is nan in the program and 0.0 now" in finding.observation.found


def test_not_found_where_it_was_changed_before():
    scale = np.ones(3, np.float32)
    scale[:] = 7
    assert not findings_of(KEY, captured_and_called(scale), "f32[3]")


def test_not_found_where_another_array_took_its_name():
    scale = np.ones(3, np.float32)
    function = captured_and_called(scale)
    scale = scale * 7
    assert not findings_of(KEY, function, "f32[3]")


def test_not_found_where_no_result_needs_the_array():
    scale = np.ones(3, np.float32)

    def ignores(x):
        scale * x
        return x * 2

    function = jax.jit(ignores)
    function(jnp.zeros(3))
    scale[:] = 7
    assert not findings_of(KEY, function, "f32[3]")


def test_not_found_where_the_elements_cannot_be_read():
    scale = np.ones(3, ml_dtypes.bfloat16)
    function = captured_and_called(scale)
    scale[:] = 7
    assert not findings_of(KEY, function, "bf16[3]")
