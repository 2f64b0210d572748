"""The same equations again and again, which one loop would hold."""

import jax
import jax.numpy as jnp
import pytest

from tests.findings import findings_of, source_of

KEY = "unrolled-repetition"
WEIGHTS = ["f32[8,8]"] * 12


def layer(x, weight):
    centred = x - x.mean()
    return x + jax.nn.gelu(centred @ weight)


def network(weights, x):
    for weight in weights:
        x = layer(x, weight)
    return x.sum()


def test_found_with_the_number_of_turns_and_the_line_of_the_loop():
    (finding,) = findings_of(KEY, network, WEIGHTS, "f32[8]")
    assert finding.severity == "note"
    assert "stand 12 times in a row" in finding.observation.found
    assert source_of(finding) == "x = layer(x, weight)"
    assert finding.observation.lines[0].listing == "jaxpr"


def test_found_once_for_a_loop_forward_and_backward():
    (finding,) = findings_of(KEY, jax.grad(network), WEIGHTS, "f32[8]")
    assert "1 other group from there likewise" in finding.observation.found
    assert "has each group once: it traces" in finding.observation.advice
    assert source_of(finding) == "x = layer(x, weight)"


def test_found_where_a_jitted_function_is_called_again_and_again():
    jitted = jax.jit(layer)

    def calls(weights, x):
        for weight in weights:
            x = jitted(x, weight)
        return x

    (finding,) = findings_of(KEY, calls, WEIGHTS, "f32[8]")
    assert "stand 12 times in a row" in finding.observation.found
    assert finding.observation.found.endswith("those of called functions at each call.")


def test_found_without_a_product_where_a_value_goes_from_turn_to_turn():
    def slope(y):
        return jnp.stack([10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]])

    def solve(y):
        for _ in range(100):
            y = y + 0.01 * slope(y)
        return y

    (finding,) = findings_of(KEY, solve, "f32[3]")
    assert "stand 100 times in a row" in finding.observation.found
    assert "at each call" not in finding.observation.found
    assert source_of(finding) == "y = y + 0.01 * slope(y)"


def test_not_found_in_a_scan_nor_of_few_layers():
    def scanned(weights, x):
        return jax.lax.scan(lambda x, weight: (layer(x, weight), None), x, weights)[0].sum()

    assert not findings_of(KEY, jax.grad(scanned), "f32[12,8,8]", "f32[8]")
    assert not findings_of(KEY, network, WEIGHTS[:7], "f32[8]")


def test_not_found_where_types_differ_from_turn_to_turn():
    def pyramid(weights, x):
        for weight in weights:
            x = jnp.tanh(x @ weight) * 2 + 1
        return x

    weights = [f"f32[{size},{size + 1}]" for size in range(8, 20)]
    assert not findings_of(KEY, pyramid, weights, "f32[8]")


def test_not_found_where_turns_are_connected_differently():
    def dense(weights, x):
        seen = [x]
        for turn, weight in enumerate(weights):
            hidden = seen[-1] @ weight
            seen.append(jnp.tanh(hidden) + (hidden if turn % 3 else seen[-1]))
        return seen[-1]

    assert not findings_of(KEY, dense, WEIGHTS, "f32[8]")


def horner(x):
    for coefficient in range(20):
        x = x * 3.0 + coefficient
    return x


def newton(x):
    root = x
    for _ in range(12):
        root = 0.5 * (root + x / root)
    return root


def adam(parameters, gradients, first, second):
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
    second = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, second, gradients)
    return jax.tree.map(lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), parameters, first, second)


def orthogonalized(gradients):
    """What Muon does for each matrix."""

    def step(x, _):
        return 1.5 * x - 0.5 * x @ (x.T @ x), None

    return [jax.lax.scan(step, x / jnp.linalg.norm(x), length=5)[0] for x in gradients]


@pytest.mark.parametrize(
    ("function", "args"),
    [(horner, ["f32[9]"]), (newton, ["f32[9]"]), (adam, [WEIGHTS] * 4), (orthogonalized, [WEIGHTS])],
)
def test_not_found_of_short_and_of_independent_turns(function, args):
    assert not findings_of(KEY, function, *args)


SPECIAL = {
    "betainc": 3,
    "digamma": 1,
    "erf": 1,
    "erfinv": 1,
    "exp1": 1,
    "expi": 1,
    "fresnel": 1,
    "gammainc": 2,
    "gammaln": 1,
    "hyp1f1": 3,
    "i0": 1,
    "i0e": 1,
    "i1": 1,
    "i1e": 1,
    "log_ndtr": 1,
    "ndtri": 1,
    "sici": 1,
    "spence": 1,
    "zeta": 2,
}


@pytest.mark.parametrize("name", SPECIAL)
def test_not_found_in_special_functions(name):
    function = getattr(jax.scipy.special, name, None)
    if function is None:
        pytest.skip("this JAX does not have it")
    assert not findings_of(KEY, function, *["f32[5]"] * SPECIAL[name])


@pytest.mark.parametrize("name", ["eigh_tridiagonal", "expm", "inv", "sqrtm", "matrix_power"])
def test_not_found_in_linear_algebra(name):
    functions = {
        # It unrolls a loop of its own, which the user cannot change.
        "eigh_tridiagonal": lambda x: jax.scipy.linalg.eigh_tridiagonal(x[0], x[1, 1:], eigvals_only=True),
        "expm": jax.scipy.linalg.expm,
        "inv": jnp.linalg.inv,
        "sqrtm": jax.scipy.linalg.sqrtm,
        "matrix_power": lambda x: jnp.linalg.matrix_power(x, 13),
    }
    assert not findings_of(KEY, functions[name], "f32[6,6]")
