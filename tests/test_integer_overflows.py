"""Index arithmetic that may pass what its type holds is found, with its exact bound."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.test_type_flow import INTEGERS, flow_of

# Where index arithmetic passes 2**31 - 1.
N = 70_000
OVERFLOWS = {
    "flattened index": (lambda i: jnp.arange(N)[:, None] * N + jnp.arange(N)[None, :], ["mul"]),
    "small": (lambda i: jnp.arange(1000)[:, None] * 1000 + jnp.arange(1000)[None, :], []),
    "arguments may be anything": (lambda i: i * N * N, []),
    "sum of positions": (lambda i: jnp.sum(jnp.arange(N)), ["reduce_sum"]),
    "in a call": (lambda i: jax.jit(lambda k: k * N)(jnp.arange(N)), ["mul"]),
    "in a loop": (
        lambda i: jax.lax.fori_loop(0, 3, lambda n, c: c + jnp.arange(N) * N, jnp.zeros(N, int)),
        ["mul"],
    ),
    "carried": (lambda i: jax.lax.fori_loop(0, 3, lambda n, c: c + 1, jnp.arange(N)), []),
    "unsigned wraps on purpose": (lambda i: jnp.arange(N, dtype="uint32") * jnp.uint32(N), []),
    "floats": (lambda i: jnp.arange(N) * 1e9, []),
    "negative": (lambda i: -jnp.arange(N) * N, ["mul"]),
    "bounded again": (lambda i: jnp.minimum(jnp.arange(N), 10) * N, []),
}


@pytest.mark.parametrize("name", OVERFLOWS)
def test_integers_that_need_not_fit(name):
    function, expected = OVERFLOWS[name]
    flow = flow_of(function, INTEGERS)
    assert [risk.primitive for risk in flow.overflows] == expected
    for risk in flow.overflows:
        assert abs(risk.largest) > risk.limit == 2**31 - 1
        assert risk.frames[0].file == __file__ and isinstance(risk.line, int)
    with jax.enable_x64(True):
        assert not flow_of(function, jax.ShapeDtypeStruct((4,), jnp.int64)).overflows


def test_the_bound_of_an_overflow_is_exact():
    (risk,) = flow_of(lambda: jnp.arange(N) * N).overflows
    assert risk.largest == (N - 1) * N
    product = np.arange(N, dtype=np.int64) * N
    assert risk.largest == product.max()
