"""Trip counts against loops that are run, step by step, and against what JAX was asked for."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jax import lax

import jaxscope
from jaxscope._analysis.regions import Program
from jaxscope._analysis.trip_counts import BOUNDS, JAXPR, read_trip_counts
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._ir import stablehlo
from tests import programs
from tests.shared import ABSENT, case_files

F4 = jax.ShapeDtypeStruct((4,), jnp.float32)
I0 = jax.ShapeDtypeStruct((), jnp.int32)
COMPARE = {
    "LT": lambda i, n: i < n,
    "LE": lambda i, n: i <= n,
    "GT": lambda i, n: i > n,
    "GE": lambda i, n: i >= n,
    "NE": lambda i, n: i != n,
    "EQ": lambda i, n: i == n,
}


def read(function, *args):
    """The counts of a function's loops in the order of the text, None for unknown ones."""
    return read_text(jax.jit(function).lower(*args).as_text())


def read_text(text):
    found = read_trip_counts(Program(stablehlo.parse(text))).values()
    assert all(source == ("" if isinstance(count, Unavailable) else BOUNDS) for count, source in found)
    return [None if isinstance(count, Unavailable) else count for count, _ in found]


def run_loop(start, bound, step, compare, dtype, limit=300):
    """How often the loop really runs; None where it goes on, or the counter leaves its type."""
    with np.errstate(over="ignore"):
        i, n = np.array(start, dtype), np.array(bound, dtype)
        for count in range(limit):
            if not compare(i, n):
                return count
            before, i = i, (i + np.array(step).astype(dtype)).astype(dtype)
            if int(before) + step != int(i):
                return None
    return None


@settings(max_examples=150, deadline=None)
@given(
    st.integers(-20, 60),
    st.integers(-20, 60),
    st.integers(-5, 5),
    st.sampled_from(sorted(COMPARE)),
    st.sampled_from(["int32", "int8", "uint8", "int16"]),
    st.booleans(),
    st.booleans(),
)
def test_counters_as_they_run(start, bound, step, direction, dtype, mirrored, carried):
    """Any start, bound, step and direction; the bound before or behind the counter, and carried along or not."""
    info = np.iinfo(dtype)
    assume(info.min <= start <= info.max and info.min <= bound <= info.max)
    # An unsigned counter goes down by adding what wraps around, which is not followed.
    assume(step >= 0 or info.min < 0)
    compare = COMPARE[direction]

    def condition(carry):
        i, n, _ = carry
        n = n if carried else jnp.array(bound, dtype)
        if mirrored:
            mirror = {"LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE"}.get(direction, direction)
            return COMPARE[mirror](n, i)
        return compare(i, n)

    def body(carry):
        i, n, x = carry
        return (i - jnp.array(-step, dtype) if step < 0 else i + jnp.array(step, dtype)), n, x * 2

    def loop(x):
        return lax.while_loop(condition, body, (jnp.array(start, dtype), jnp.array(bound, dtype), x))

    assert read(loop, F4) == [run_loop(start, bound, step, compare, dtype)]


def test_scan_and_fori_loop():
    def function(x):
        y, _ = lax.scan(lambda c, s: (c * s, c), x, jnp.arange(7.0))
        y = lax.fori_loop(3, 10, lambda i, v: v + i, y)
        y, _ = lax.scan(lambda c, _: (c + 1, None), y, None, length=12, unroll=4)
        y, _ = lax.scan(lambda c, _: (c + 1, None), y, None, length=12, reverse=True)
        return lax.map(lambda v: v + 1, y)

    assert read(function, F4) == [7, 7, 3, 12, 4]


@given(st.lists(st.integers(2, 9), min_size=1, max_size=4))
@settings(max_examples=10, deadline=None)
def test_nested_scans(lengths):
    def nest(x, rest):
        if not rest:
            return jnp.sin(x)
        return lax.scan(lambda c, _: (nest(c, rest[1:]), None), x, None, length=rest[0])[0]

    assert sorted(read(lambda x: nest(x, lengths), F4)) == sorted(lengths)


def test_a_bound_from_an_argument_is_not_known():
    assert read(lambda n, x: lax.fori_loop(0, n, lambda i, v: v + i, x), I0, F4) == [None]
    assert read(lambda n, x: lax.fori_loop(n, 9, lambda i, v: v + i, x), I0, F4) == [None]


def test_a_bound_that_changes_is_not_known():
    def triangle(x):
        return lax.fori_loop(0, 5, lambda i, v: lax.fori_loop(0, i, lambda j, w: w + j, v), x)

    assert read(triangle, F4) == [5, None]

    def approaching(carry):
        return carry[0] + 1, carry[1] - 1

    assert read(lambda n: lax.while_loop(lambda c: c[0] < c[1], approaching, (0, n)), I0) == [None]
    assert read(lambda: lax.while_loop(lambda c: c[0] < c[1], approaching, (0, 10))) == [None]


def test_a_condition_on_data_is_not_known():
    assert read(lambda x: lax.while_loop(lambda v: v.sum() < 10, lambda v: v * 2, x), F4) == [None]

    def either(x):
        return lax.while_loop(lambda c: (c[0] < 10) & (c[1].sum() < 3), lambda c: (c[0] + 1, c[1] * 2), (0, x))

    assert read(either, F4) == [None]
    # The step depends on the data.
    assert read(lambda x: lax.while_loop(lambda i: i < 10, lambda i: i + jnp.int32(x[0]), 0), F4) == [None]


def test_bounds_come_through_functions_and_loops():
    @jax.jit
    def inner(n, x):
        return lax.while_loop(lambda c: c[0] < c[1], lambda c: (c[0] + 1, c[1], c[2] * 2), (0, n, x))[2]

    def outer(x):
        n = jnp.int32(6)
        _, x = lax.fori_loop(0, 3, lambda i, c: (c[0], inner(c[0], c[1])), (n, x))
        return x

    assert sorted(read(outer, F4)) == [3, 6]
    # Called with two bounds, one function has no count of its own.
    assert read(lambda x: inner(4, x) + inner(4, x), F4) == [4]
    assert read(lambda x: inner(4, x) + inner(5, x), F4) == [None]


def test_a_counter_that_a_function_moves():
    @jax.jit
    def advance(i):
        return i + 2

    assert read(lambda x: lax.while_loop(lambda c: c[0] < 9, lambda c: (advance(c[0]), c[1] * 2), (0, x)), F4) == [5]


def test_generic_form():
    lowered = programs.stages("nested_loops").lowered
    text = lowered.compiler_ir("stablehlo").operation.get_asm(print_generic_op_form=True)
    counts = read_text(text)
    assert counts == read_text(lowered.as_text()) == read_text(lowered.as_text(debug_info=True))
    # In which order they stand is up to the version of JAX, which may put bodies into functions.
    assert sorted(counts, key=str) == [3, 5, None]


def test_a_counter_that_would_overflow_is_not_known():
    """An 8-bit counter in steps of 3 from 0 never passes 127 by: it wraps around below the bound."""
    text = """
    func.func @main() -> tensor<i8> {
      %c = stablehlo.constant dense<0> : tensor<i8>
      %0 = stablehlo.while(%iterArg = %c) : tensor<i8>
      cond {
        %c_0 = stablehlo.constant dense<BOUND> : tensor<i8>
        %1 = stablehlo.compare LE, %iterArg, %c_0, SIGNED : (tensor<i8>, tensor<i8>) -> tensor<i1>
        stablehlo.return %1 : tensor<i1>
      } do {
        %c_0 = stablehlo.constant dense<3> : tensor<i8>
        %1 = stablehlo.add %iterArg, %c_0 : tensor<i8>
        stablehlo.return %1 : tensor<i8>
      }
      return %0 : tensor<i8>
    }
    """
    assert read_text(text.replace("BOUND", "123")) == [42]
    assert read_text(text.replace("BOUND", "126")) == [None]


def test_text_that_is_cut_off_has_no_counts():
    text = jax.jit(lambda x: lax.fori_loop(0, 4, lambda i, v: v + i, x)).lower(F4).as_text()
    for end in range(0, len(text), 37):
        assert set(read_text(text[:end])) <= {None, 4}


def scanned(x):
    def inner(c, _):
        return lax.scan(lambda d, _: (jnp.sin(d), None), c, None, length=3)[0], None

    y, _ = lax.scan(inner, x, None, length=5)
    # One place, two lengths.
    for n in (4, 6):
        y, _ = lax.scan(inner, y, None, length=n)
    return lax.while_loop(lambda v: v.sum() < 10, lambda v: v * 2, y)


def test_the_jaxpr_knows_where_the_bounds_do_not_say():
    inspection = jaxscope.inspect(scanned, F4)
    jaxpr, module = (inspection._facts.listing(key).listing for key in ("jaxpr", "stablehlo"))
    # The bounds come from where nobody can look.
    hidden = stablehlo.parse(
        re.sub(r"constant dense<[3-6]> : (tensor<i32>)", r"custom_call @bound() : () -> \1", module.text)
    )
    found = read_trip_counts(Program(hidden), jaxpr)
    lines = {index: next(hidden.stacks.walk(hidden.ops[index].stack)).line for index in found}
    first = scanned.__code__.co_firstlineno
    sources = {lines[index] - first: value for index, value in found.items()}
    assert sources[4] == (5, JAXPR)
    assert isinstance(sources[7][0], Unavailable) and isinstance(sources[8][0], Unavailable)
    # The inner scan is printed three times, or once where JAX shares its text, and always has three steps.
    assert sources[2] == (3, JAXPR) or isinstance(sources[2][0], Unavailable)
    assert all(isinstance(count, Unavailable) for count, _ in read_trip_counts(Program(hidden)).values())


@pytest.mark.skipif(not case_files(), reason=ABSENT)
def test_the_loops_of_the_cases():
    expected = {"001_scan_flops_counted_once": [12], "003_while_unknown_trip": [None]}
    for name, counts in expected.items():
        assert read_text(programs.stages(name).lowered.as_text()) == counts
