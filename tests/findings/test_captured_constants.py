"""Large arrays that the function takes from outside its arguments."""

import jax
import jax.numpy as jnp
import numpy as np

from tests.findings import findings_of, source_of

KEY = "captured-constant"
TABLE = np.arange(1_000_000, dtype=np.float32).reshape(1000, 1000)
ROWS = np.arange(1000, dtype=np.float32)


def test_found_where_it_is_read():
    (finding,) = findings_of(KEY, lambda x: jnp.sin(TABLE @ x), "f32[1000]")
    assert "f32[1000,1000]" in finding.observation.found
    assert "3.81 MiB" in finding.observation.found
    assert "TABLE @ x" in source_of(finding)
    assert finding.observation.lines


def test_found_inside_a_jitted_function_and_a_loop():
    inner = jax.jit(lambda x: x @ TABLE)

    def outer(x):
        return jax.lax.fori_loop(0, 3, lambda _, carry: inner(carry), x)

    (finding,) = findings_of(KEY, outer, "f32[1000]")
    assert "f32[1000,1000]" in finding.observation.found
    assert finding.frame is not None


def test_not_found_as_an_argument_nor_where_it_is_small():
    assert not findings_of(KEY, lambda table, x: table @ x, "f32[1000,1000]", "f32[1000]")
    assert not findings_of(KEY, lambda x: ROWS * x, "f32[1000]")
