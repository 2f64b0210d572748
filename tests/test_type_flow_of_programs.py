"""Types in whole programs: none left out in public cases, deep calls, 64-bit mode, warnings switched off."""

import functools
import inspect
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxscope import _jax
from jaxscope._analysis.type_flow import type_flow
from jaxscope._analysis.type_flow_columns import (
    OVERFLOW_COLUMNS,
    TYPE_CHANGE_COLUMNS,
    type_flow_frame,
)
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._ir import jaxpr as jaxpr_parser
from jaxscope._truncations import noted_truncations
from tests.cases import load, needs_own_process
from tests.shared import ABSENT, SHARED, case_files
from tests.test_type_flow import B, flow_frame_is_sound, flow_of


def every_conversion(closed_jaxpr):
    """The conversions of a program by a walk of its own: those that something reads."""
    for jaxpr in _jax.every_jaxpr(closed_jaxpr):
        read = {id(operand) for equation in jaxpr.eqns for operand in equation.invars}
        read |= {id(variable) for variable in jaxpr.outvars}
        for equation in jaxpr.eqns:
            if equation.primitive.name == "convert_element_type" and id(equation.outvars[0]) in read:
                before, after = equation.invars[0].aval, equation.outvars[0].aval
                if before.dtype != after.dtype or before.weak_type != after.weak_type:
                    yield equation


@pytest.mark.skipif(SHARED is None, reason=ABSENT)
@pytest.mark.parametrize("path", case_files(), ids=lambda path: path.stem)
def test_cases_leave_no_conversion_out(path):
    if needs_own_process(path.read_text()):
        pytest.skip("runs in a process of its own")
    try:
        module = load(path)
    except ImportError as error:
        pytest.skip(str(error))
    if inspect.iscoroutinefunction(module.fn):
        pytest.skip("tracing it leaves a coroutine that nobody awaits")
    try:
        jitted = module.fn if hasattr(module, "prejitted") else jax.jit(module.fn, **getattr(module, "jit_kwargs", {}))
        closed_jaxpr = jitted.trace(*module.args, **getattr(module, "kwargs", {})).jaxpr
    except Exception:
        pytest.skip("it does not trace")
    listing = jaxpr_parser.parse(*_jax.print_jaxpr(closed_jaxpr))
    flow = type_flow(closed_jaxpr, listing)
    wanted = {id(equation) for equation in every_conversion(closed_jaxpr)}
    converted = [change for change in flow.changes if change.primitive == "convert_element_type"]
    assert bool(wanted) == bool(converted)
    for change in converted:
        assert isinstance(change.line, Unavailable) or "convert_element_type" in listing.lines[change.line]
    lines = {change.line for change in converted if isinstance(change.line, int)}
    assert len(lines) >= len(wanted) or any(isinstance(change.line, Unavailable) for change in converted)
    assert flow_frame_is_sound(flow)


def test_missing_values_have_reasons():
    frame = type_flow_frame(flow_of(lambda b: b.astype("float32"), B, listing=False))
    (row,) = frame.to_dict("records")
    assert row["widened_by"] is None and "widened_by: No other operand took part." in row["missing"]
    assert "line: No listing" in row["missing"] and row["downstream_ops"] == 0


def test_programs_that_call_deeply_are_cut_with_a_note():
    function = jax.jit(lambda x: x.astype(jnp.float32).astype(jnp.bfloat16))
    for _ in range(16):
        function = jax.jit(lambda x, f=function: f(f(x)))
    flow = flow_of(function, B, listing=False)
    assert flow.notes and flow.changes[0].calls > 100


def test_the_cause_is_the_same_in_64_bit_mode():
    """NumPy takes None for float64: a missing type must not be read as that one."""
    with jax.enable_x64(True):
        integers = jax.ShapeDtypeStruct((4,), jnp.int64)
        (change,) = flow_of(lambda i: jnp.arctan2(i, 2), integers).changes
        assert (change.cause, change.after) == ("float function", "f64[4]")
        assert not flow_of(lambda k: jax.random.key_data(k), jax.random.key(0)).changes
        flow = flow_of(lambda i, k: jax.random.uniform(k, (4,)) * i, integers, jax.random.key(0))
        assert flow.changes[-1].cause == "promotion" and flow.changes[-1].after == "f64[4]"


def test_functools_partials_and_vmaps():
    flow = flow_of(jax.vmap(functools.partial(lambda f, b: f + b, np.float32(1))), B)
    assert [change.cause for change in flow.changes] == ["promotion"]


@pytest.mark.parametrize("entry", [*TYPE_CHANGE_COLUMNS, *OVERFLOW_COLUMNS], ids=lambda entry: entry.key)
def test_every_column_is_documented(entry):
    for heading in ("key", "label", "what", "source", "missing"):
        assert getattr(entry, heading).strip()
    for sentence in ("what", "source", "missing"):
        assert getattr(entry, sentence).endswith(".")


@pytest.mark.skipif(jax.config.jax_enable_x64, reason="nothing is cut in 64-bit mode")
@pytest.mark.parametrize(("action", "shown"), [("ignore", 0), ("default", 2), ("error", None)])
def test_what_is_cut_is_told_whatever_is_done_with_warnings(action, shown):
    """What is shown, or raised, is what Python does with JAX's warnings without us; what is noted is the same."""

    def f(b):
        b = b.astype("float64")
        return b + jnp.zeros(4, "int64")

    jax.clear_caches()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter(action)
        with noted_truncations() as truncations:
            if shown is None:
                with pytest.raises(UserWarning, match="float64"):
                    jax.jit(f).trace(B)
                return
            jax.jit(f).trace(B)
    assert [(cut.asked, cut.function) for cut in truncations] == [("float64", "astype"), ("int64", "zeros")]
    assert len(caught) == shown
