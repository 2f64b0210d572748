"""Values that another operand makes wider without being asked to."""

import jax
import jax.numpy as jnp
import numpy as np

from tests.findings import findings_of, source_of
from tests.plugins import TPU

KEY = "implicit-upcast"
X, W = "bf16[8,128]", "bf16[128,128]"


def scaled_product(x, scale, w):
    scaled = x * scale
    return jnp.sin(scaled) @ w


def test_found_where_an_argument_widens_what_a_product_reads():
    (finding,) = findings_of(KEY, scaled_product, X, "f32[128]", W)
    assert "bf16[8,128] becomes f32 here because argument scale is f32[128]" in finding.observation.found
    assert "3 ops after it run in f32, 1 of them a matrix product" in finding.observation.found
    assert "scale.astype(x.dtype)" in finding.observation.advice
    assert source_of(finding) == "scaled = x * scale"
    assert finding.observation.lines
    # A CPU gains nothing from 16 bits in products.
    assert finding.severity == "note"


@TPU
def test_found_as_a_warning_where_products_of_16_bits_are_faster():
    (finding,) = findings_of(KEY, lambda x, w: x @ w, X, "f32[128,128]", target="tpu:v5e:2x2")
    assert finding.severity == "warning"
    assert "The matrix product itself runs in f32" in finding.observation.found


def test_found_once_for_all_that_follows_from_it():
    def layers(x, scale, w):
        x = x * scale
        for _ in range(4):
            x = jax.nn.relu(x @ w)
        return x

    (finding,) = findings_of(KEY, layers, X, "f32[128]", W)
    assert "argument scale" in finding.observation.found
    assert "4 of them matrix products" in finding.observation.found


def test_found_for_a_scalar_of_numpy_but_not_of_python():
    (finding,) = findings_of(KEY, lambda x, w: (x * np.float32(2.0)) @ w, X, W)
    assert "the number 2.0" in finding.observation.found
    assert not findings_of(KEY, lambda x, w: (x * 2.0) @ w, X, W)


def test_found_in_a_loop():
    def layers(x, scale, stacked):
        return jax.lax.scan(lambda h, w: ((h * scale @ w).astype(h.dtype), None), x, stacked)[0]

    (finding,) = findings_of(KEY, layers, X, "f32[128]", "bf16[4,128,128]")
    assert "argument scale is f32[128]" in finding.observation.found


def test_found_where_a_result_comes_out_wider():
    def chain(x, scale):
        y = x * scale
        for _ in range(8):
            y = jnp.sin(y)
        return y

    (finding,) = findings_of(KEY, chain, X, "f32[128]")
    assert "and result is f32[8,128]" in finding.observation.found
    assert finding.severity == "note"
    assert not findings_of(KEY, lambda x, scale: chain(x, scale).astype(x.dtype), X, "f32[128]")


def test_found_for_64_bits_that_nobody_asked_for():
    with jax.enable_x64(True):
        (finding,) = findings_of(KEY, lambda x: jnp.sin(x * np.float64(2.0)), "f32[8]")
        assert "f32[8] becomes f64" in finding.observation.found
        assert not findings_of(KEY, lambda x: jnp.sin(x * 2.0), "f32[8]")
        assert not findings_of(KEY, lambda x, y: x * y, "f32[8]", "f64[8]")


def test_not_found_where_the_type_was_asked_for():
    assert not findings_of(KEY, lambda x, w: x.astype(jnp.float32) @ w, X, W)
    assert not findings_of(KEY, lambda x, w: jnp.matmul(x, w, preferred_element_type=jnp.float32), X, W)
    assert not findings_of(KEY, lambda x, scale, w: (x * scale.astype(x.dtype)) @ w, X, "f32[128]", W)


def test_not_found_where_jax_keeps_more_digits_for_a_while():
    assert not findings_of(KEY, lambda x, w: (jax.nn.softmax(x) - x.mean() + x.var()) @ w, X, W)


def test_not_found_in_a_normalization_that_casts_back():
    def normalized(x, gain, w):
        mean = jnp.mean(x.astype(jnp.float32), -1, keepdims=True)
        y = (x - mean) * gain
        return y.astype(x.dtype) @ w

    assert not findings_of(KEY, normalized, X, "f32[128]", W)


def test_not_found_for_a_state_that_is_kept_wide():
    def momentum(state, gradient):
        for _ in range(8):
            state = 0.9 * state + gradient
        return state

    assert not findings_of(KEY, momentum, "f32[8,128]", X)
