"""The equations up to a failure are those of the function cut short there."""

import contextlib
import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jaxscope
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._failures import explain
from jaxscope._ir import jaxpr
from jaxscope._jax_failures import partial_jaxpr
from tests.test_failure_parts import caught

STEPS = [
    ("sin", jnp.sin),
    ("exp", jnp.exp),
    ("mul", lambda x: x * 2.0),
    ("reshape", lambda x: x.reshape(3, 2)),
    ("transpose", lambda x: x.T),
    ("constant", lambda x: x + np.arange(3, dtype=np.float32)),
]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(STEPS[:3] + STEPS[5:]), max_size=6), st.integers(0, 2))
def test_the_equations_are_those_of_the_function_cut_short(steps, inner):
    """JAX's own jaxpr of the same steps without what fails."""

    def cut_short(x):
        for _, step in steps:
            x = step(x)
        return x

    def fails(x):
        x = cut_short(x)
        return x.block if inner == 0 else x[:, None, None].nothing if inner == 1 else float(x.sum())

    x = jax.ShapeDtypeStruct((3,), jnp.float32)
    error = caught(lambda: jax.jit(fails).trace(x))
    partial = partial_jaxpr(error)
    wanted = jax.make_jaxpr(cut_short)(x)
    got = partial.traces[0].jaxpr
    primitives = [equation.primitive.name for equation in wanted.jaxpr.eqns]
    assert [equation.primitive.name for equation in got.jaxpr.eqns][: len(primitives)] == primitives
    assert [v.aval for e in got.jaxpr.eqns[: len(primitives)] for v in e.outvars] == [
        v.aval for e in wanted.jaxpr.eqns for v in e.outvars
    ]
    assert len(got.jaxpr.eqns) <= len(primitives) + 2  # what came before the failure in the failing expression
    assert [v.aval for v in got.jaxpr.invars] == [v.aval for v in wanted.jaxpr.invars]
    made = [variable for equation in got.jaxpr.eqns for variable in equation.outvars]
    used = [atom for equation in got.jaxpr.eqns for atom in equation.invars]
    assert list(got.jaxpr.outvars) == [variable for variable in made if not any(atom is variable for atom in used)]
    assert len(partial.traces) == 1 and str(got).startswith("{ lambda ")


def test_open_functions_are_told_outermost_first():
    def body(carry, x):
        y = jnp.sin(x)
        if y > 0:
            return carry, x
        return carry, y

    def f(xs):
        scaled = xs * 3.0
        return jax.lax.scan(body, 0.0, scaled)

    partial = partial_jaxpr(caught(lambda: jax.jit(f).trace(jax.ShapeDtypeStruct((4,), jnp.float32))))
    assert [(trace.function, trace.purpose) for trace in partial.traces] == [("f", "jit"), ("body", "scan")]
    assert [[e.primitive.name for e in trace.jaxpr.jaxpr.eqns] for trace in partial.traces] == [["mul"], ["sin", "gt"]]
    assert "# body, traced for scan, up to the failure\n{ lambda " in partial.text


def test_the_equations_are_read_and_linked_like_any_jaxpr():
    def body(carry, x):
        y = jnp.sin(x)
        return carry, y.nothing

    def f(xs):
        scaled = xs * 3.0
        return jax.lax.scan(body, 0.0, scaled)

    partial = partial_jaxpr(caught(lambda: jax.jit(f).trace(jax.ShapeDtypeStruct((4,), jnp.float32))))
    listing = jaxpr.parse(*partial.printed())
    assert listing.text == partial.text
    lines = {op.name: next(iter(listing.stacks.walk(op.stack))).line for op in listing.ops}
    first = inspect.getsourcelines(body)[1]
    assert lines == {"mul": first + 5, "sin": first + 1}
    assert len(listing.blocks) >= 2


def test_a_failure_while_another_is_handled_has_its_own_equations_only():
    def branch(x):
        return x if jnp.sin(x) > 0 else -x

    try:
        jax.jit(branch)(1.0)
    except jax.errors.TracerBoolConversionError:
        error = jaxscope.inspect(lambda i: i, 1 << 40).error
    assert error.__context__ is not None
    assert isinstance(partial_jaxpr(error), Unavailable)


def test_an_own_exception_while_another_is_handled_gets_no_advice_for_that():
    def fails(x):
        raise LookupError("mine")

    try:
        jax.jit(lambda x: x if x > 0 else -x)(1.0)
    except jax.errors.TracerBoolConversionError:
        inspection = jaxscope.inspect(fails, "f32[3]")
    assert explain(inspection.error, "trace").advice == ""


def test_without_a_traceback_there_are_no_equations():
    assert isinstance(partial_jaxpr(ValueError("x")), Unavailable)


@pytest.mark.parametrize("mode", ["off", "tracebackhide", "remove_frames", "quiet_remove_frames"])
def test_how_jax_filters_its_frames_makes_no_difference(mode):
    def f(x):
        y = jnp.cos(x)
        return y if y.sum() > 0 else x

    with filtering(mode):
        inspection = jaxscope.inspect(f, "f32[3]")
    explanation = explain(inspection.error, "trace")
    first = inspect.getsourcelines(f)[1]
    assert (explanation.kind, explanation.frames[0].line) == ("tracer-to-bool", first + 2)
    assert [str(operand) for operand in explanation.operands] == ["y: f32[3]"]
    names = [e.primitive.name for e in partial_jaxpr(inspection.error).traces[0].jaxpr.jaxpr.eqns]
    assert names == ["cos", "reduce_sum", "gt"]


@contextlib.contextmanager
def filtering(mode):
    """JAX's frames are taken out of tracebacks in this way."""
    before = jax.config.jax_traceback_filtering
    jax.config.update("jax_traceback_filtering", mode)
    try:
        yield
    finally:
        jax.config.update("jax_traceback_filtering", before)
