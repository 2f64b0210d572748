"""What runs while the function is traced, and not when its program runs."""

import datetime
import linecache
import random
import time
from time import perf_counter

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import random as jax_random

from tests.findings import findings_of, source_of

KEY = "side-effect"
COUNT: list[int] = []
CACHE: dict[str, object] = {}
TOTAL = 0


def printing(x):
    print("tracing", x)
    return x + 1


def timing(x):
    start = time.perf_counter()
    return x + start


def timing_by_name(x):
    return x + perf_counter()


def dated(x):
    return x * datetime.datetime.now().year


def drawing(x):
    return x + np.random.normal(size=3)


def drawing_with_python(x):
    return x * random.random()


def unseeded(x):
    return x + np.random.default_rng().normal()


def appending(x):
    COUNT.append(1)
    return x + 1


def storing(x):
    CACHE["x"] = x.shape
    return x + 1


def counting(x):
    global TOTAL
    TOTAL += 1
    return x + 1


EFFECTS = [
    (printing, "print(…) runs once", 'print("tracing", x)', "note"),
    (timing, "time.perf_counter() runs once", "start = time.perf_counter()", "warning"),
    (timing_by_name, "perf_counter() runs once", "return x + perf_counter()", "warning"),
    (dated, "datetime.datetime.now() runs once", "return x * datetime.datetime.now().year", "warning"),
    (
        drawing,
        "every call of the compiled program has the same numbers",
        "return x + np.random.normal(size=3)",
        "warning",
    ),
    (drawing_with_python, "random.random() runs once", "return x * random.random()", "warning"),
    (unseeded, "np.random.default_rng() runs once", "return x + np.random.default_rng().normal()", "warning"),
    (appending, "COUNT.append(1) changes COUNT once", "COUNT.append(1)", "warning"),
    (storing, "CACHE['x'] = x.shape changes CACHE once", 'CACHE["x"] = x.shape', "warning"),
    (counting, "TOTAL += 1 changes TOTAL once", "TOTAL += 1", "warning"),
]


@pytest.mark.parametrize(
    ("function", "what", "line", "severity"), EFFECTS, ids=lambda value: getattr(value, "__name__", "")
)
def test_found_in_the_function_and_in_one_that_it_calls(function, what, line, severity):
    for outer in (function, lambda x: jax.lax.fori_loop(0, 3, lambda _, x: function(x).astype(x.dtype), x)):
        (finding,) = findings_of(KEY, outer, "f32[3]")
        assert what in finding.observation.found
        assert source_of(finding) == line
        assert finding.severity == severity


def test_found_of_a_bound_method_and_of_the_function_around():
    class Counter:
        calls = 0

        def step(self, x):
            self.calls += 1
            return x * 2

    (finding,) = findings_of(KEY, Counter().step, "f32[3]")
    assert "self.calls += 1 changes self.calls once" in finding.observation.found

    seen = []

    def remembers(x):
        seen.append(x)
        return x + 1

    (finding,) = findings_of(KEY, remembers, "f32[3]")
    assert "changes seen once" in finding.observation.found


def test_found_in_a_cell_of_a_notebook():
    file = "/tmp/ipykernel_4242/1185309534.py"
    text = "def cell(x):\n    print(x)\n    return x * 2\n"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict[str, object] = {}
    exec(compile(text, file, "exec"), namespace)
    (finding,) = findings_of(KEY, namespace["cell"], "f32[3]")
    assert finding.frame.line == 2


def collects(x):
    layers = []

    def layer(y):
        layers.append(y)
        return jnp.sin(y)

    layer(layer(x))
    return sum(layers)


def under_a_flag(x, verbose=False):
    if verbose:
        print(x)
    total = {}
    total["x"] = x
    total.update(y=x)
    return total["x"] * 2


def left_before(x):
    if x.ndim == 1:
        return x * 2
    print("never")
    return x


def only_a_callback_runs_it(x):
    def report(value):
        COUNT.append(value)
        print(value, time.time(), np.random.normal())

    jax.debug.callback(report, x)
    jax.debug.callback(lambda value: print(value), x)
    return x * 2


def draws_of_jax(x):
    return x + jax_random.normal(jax_random.key(0), (3,)) + np.random.default_rng(0).normal()


def shadowed(x, print=abs, random=jnp):
    print(x)
    return random.sin(x)


def conditional(x):
    return x * (random.random() if CACHE is None else 2)


@pytest.mark.parametrize(
    "function",
    [collects, under_a_flag, left_before, only_a_callback_runs_it, draws_of_jax, shadowed, conditional],
    ids=lambda function: function.__name__,
)
def test_not_found(function):
    assert not findings_of(KEY, function, "f32[3]")


def test_not_found_where_a_reference_of_jax_is_written():
    if not hasattr(jax, "new_ref"):
        pytest.skip("this JAX has no references")

    reference = jax.new_ref(jnp.zeros(3))

    def writes(x):
        reference[0] = 1.0
        return x * 2

    assert not findings_of(KEY, writes, "f32[3]")


def test_not_found_of_a_method_whose_result_a_lambda_gives():
    class Optimizer:
        def update(self, x):
            return x * 2

    optimizer = Optimizer()
    assert not findings_of(KEY, lambda x: optimizer.update(x), "f32[3]")


def test_not_found_of_functions_that_were_not_traced():
    assert not findings_of(KEY, lambda x: x * 2, "f32[3]")
