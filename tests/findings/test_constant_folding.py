"""Work on captured arrays that the compiler does itself, slowly, while it compiles."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.findings import findings_of, source_of

KEY = "constant-folding"
TABLE = np.random.default_rng(0).random((1100, 1000), dtype=np.float32)
SMALL = TABLE[:100]
ZEROS = np.zeros((2000, 100, 10), np.float32)


def test_found_where_the_folded_result_is_stored():
    (finding,) = findings_of(KEY, lambda x: x + jnp.sin(TABLE), "f32[1100,1000]")
    assert finding.severity == "warning"
    found = finding.observation.found
    assert "sin of f32[1100,1000] (4.20 MiB) depends on no argument" in found
    assert "constant folding" in found
    assert "The result, f32[1100,1000] (4.20 MiB), is written into the executable." in found
    assert "jnp.sin(TABLE)" in source_of(finding)
    assert [line.listing for line in finding.observation.lines] == ["jaxpr", "hlo"]


def test_found_of_a_reduction_whose_result_is_small():
    (finding,) = findings_of(KEY, lambda x: x + jnp.sum(TABLE, axis=0), "f32[1000]")
    assert "reduce_sum of f32[1100,1000]" in finding.observation.found
    assert "executable" not in finding.observation.found


def test_found_once_for_a_line_and_inside_jitted_functions():
    inner = jax.jit(lambda table: jnp.sin(table) * 2 + 1)
    findings = findings_of(KEY, lambda x: x + inner(TABLE), "f32[1100,1000]")
    assert len(findings) == 1
    assert "3 operations on captured arrays" in findings[0].observation.found


def test_found_as_a_note_where_all_elements_are_equal():
    (finding,) = findings_of(KEY, lambda: jax.vmap(jax.vmap(jnp.sum))(ZEROS))
    assert finding.severity == "note"
    assert "constant folding" in finding.observation.found


def test_not_found_where_the_array_is_an_argument():
    assert not findings_of(KEY, lambda table, x: x + jnp.sin(table), "f32[1100,1000]", "f32[1100,1000]")


def test_not_found_behind_a_barrier():
    assert not findings_of(KEY, lambda x: x + jnp.sin(jax.lax.optimization_barrier(TABLE)), "f32[1100,1000]")


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + jnp.sin(SMALL)[0],
        lambda x: x @ TABLE.T[:, :1000],
        lambda x: x @ jnp.asarray(TABLE)[:1000].T,
        lambda x: x + jnp.tril(jnp.ones((1100, 1000)))[0],
        lambda x: x + jnp.sin(jnp.arange(1_100_000, dtype=jnp.float32)).reshape(1100, 1000)[0],
        lambda x: (jnp.sin(TABLE), x)[1],
        lambda x: x + (jnp.zeros((1100, 1000)) + 1)[0],
    ],
    ids=["small", "moved", "moved by JAX", "a mask", "iota", "dead", "numbers"],
)
def test_not_found_where_nothing_large_is_folded(function):
    assert not findings_of(KEY, function, "f32[1000]")
