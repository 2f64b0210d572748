"""Changes of type inside programs: causes, places, lines and how far they go."""

import linecache
import re
import warnings

import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxscope import _jax
from jaxscope._analysis.surroundings import Operand
from jaxscope._analysis.type_flow import type_flow
from jaxscope._analysis.type_flow_columns import OVERFLOW_COLUMNS, TYPE_CHANGE_COLUMNS, overflow_frame, type_flow_frame
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._ir import jaxpr as jaxpr_parser
from jaxscope._truncations import noted_truncations, read_truncation

B, F, INTEGERS = (jax.ShapeDtypeStruct((4,), dtype) for dtype in (jnp.bfloat16, jnp.float32, jnp.int32))


def flow_of(function, *args, listing=True, **kwargs):
    """The flow of a function's types, with the lines of its listing."""
    with warnings.catch_warnings(record=True, action="default"), noted_truncations() as truncations:
        closed_jaxpr = jax.jit(function, **kwargs).trace(*args).jaxpr
    parsed = jaxpr_parser.parse(*_jax.print_jaxpr(closed_jaxpr)) if listing else None
    return type_flow(closed_jaxpr, parsed, truncations)


def flow_frame_is_sound(flow):
    frame = type_flow_frame(flow)
    assert list(frame.columns) == [entry.key for entry in TYPE_CHANGE_COLUMNS]
    assert len(frame) == len(flow.changes)
    assert list(overflow_frame(flow).columns) == [entry.key for entry in OVERFLOW_COLUMNS]
    return True


def told(change):
    """Cause, types, other operand's origin and function of a change."""
    other = change.widened_by.origin if isinstance(change.widened_by, Operand) else None
    return (change.cause, change.before, change.after, other, change.function.rpartition(".")[2])


# What each line does to types: (cause, before, after, widened by, function). One row a change.
LINES = {
    "astype": (lambda b: b.astype(jnp.float32), [("explicit cast", "bf16[4]", "f32[4]", None, "astype")]),
    "jnp.astype": (lambda b: jnp.astype(b, "int32"), [("explicit cast", "bf16[4]", "i32[4]", None, "astype")]),
    "asarray": (lambda b: jnp.asarray(b, "float32"), [("explicit cast", "bf16[4]", "f32[4]", None, "asarray")]),
    "array": (lambda b: jnp.array(b, "float32"), [("explicit cast", "bf16[4]", "f32[4]", None, "array")]),
    "scalar type": (lambda b: jnp.float32(b), [("explicit cast", "bf16[4]", "f32[4]", None, "float32")]),
    "lax": (
        lambda b: jax.lax.convert_element_type(b, jnp.float32),
        [("explicit cast", "bf16[4]", "f32[4]", None, "convert_element_type")],
    ),
    "full": (lambda i: jnp.full((3,), i[0], "float32"), [("explicit cast", "i32[]", "f32[]", None, "full")]),
    "sum of a type": (lambda b: jnp.sum(b, dtype="float32"), [("explicit cast", "bf16[4]", "f32[4]", None, "sum")]),
    "sum": (
        lambda b: jnp.sum(b),
        [
            ("accumulation", "bf16[4]", "f32[4]", None, "reduce_sum"),
            ("accumulation", "f32[]", "bf16[]", None, "reduce_sum"),
        ],
    ),
    "mean": (
        lambda b: b.mean(),
        [("accumulation", "bf16[4]", "f32[4]", None, "reduce_sum"), ("accumulation", "f32[]", "bf16[]", None, "div")],
    ),
    "sum of bytes": (
        lambda i: jnp.sum(i.astype("int8")),
        [("explicit cast", "i32[4]", "i8[4]", None, "astype"), ("accumulation", "i8[4]", "i32[4]", None, "reduce_sum")],
    ),
    "sum of truths": (lambda i: jnp.sum(i > 0), [("accumulation", "bool[4]", "i32[4]", None, "reduce_sum")]),
    "cumsum of truths": (lambda i: jnp.cumsum(i > 0), [("accumulation", "bool[4]", "i32[4]", None, "cumsum")]),
    "mean of integers": (lambda i: jnp.mean(i), [("float function", "i32[4]", "f32[4]", None, "reduce_sum")]),
    "square root": (lambda i: jnp.sqrt(i), [("float function", "i32[4]", "f32[4]", None, "sqrt")]),
    "division": (lambda i: i / 2, [("float function", "i32[4]", "f32[4]", None, "div")]),
    "operator": (lambda b, f: b + f, [("promotion", "bf16[4]", "f32[4]", "argument f", "add")]),
    "other way": (lambda b, f: f * b, [("promotion", "bf16[4]", "f32[4]", "argument f", "mul")]),
    "where": (lambda b, f: jnp.where(f > 0, b, f), [("promotion", "bf16[4]", "f32[4]", "argument f", "select_n")]),
    "concatenate": (
        lambda b, f: jnp.concatenate([b, f]),
        [("promotion", "bf16[4]", "f32[4]", "argument f", "concatenate")],
    ),
    "set": (
        lambda b, f: b.at[:].set(f),
        [
            ("promotion", "bf16[4]", "f32[4]", "argument f", "scatter"),
            ("cast in a called function", "f32[4]", "bf16[4]", None, "set"),
        ],
    ),
    "einsum": (lambda b, f: jnp.einsum("i,i", b, f), [("promotion", "bf16[4]", "f32[]", "argument f", "dot_general")]),
    "matmul": (lambda b, f: f @ b, [("promotion", "bf16[4]", "f32[]", "argument f", "dot_general")]),
    "broadcast": (lambda b, f: b[0] + f, [("promotion", "bf16[]", "f32[4]", "argument f", "add")]),
    "function of two": (lambda i: jnp.arctan2(i, 2), [("float function", "i32[4]", "f32[4]", None, "atan2")]),
    "Python float": (lambda i: i * 1.5, [("promotion", "i32[4]", "f32[4] weak", "the number 1.5", "mul")]),
    "no change": (lambda b: b * 1.5 + 2, []),
    "NumPy scalar": (lambda b: b * np.float32(2), [("promotion", "bf16[4]", "f32[4]", "the number 2.0", "mul")]),
    "filled": (lambda b: b * jnp.ones(4), [("promotion", "bf16[4]", "f32[4]", "the number 1.0", "mul")]),
    "preferred": (
        lambda b: jax.lax.dot(b, b, preferred_element_type=jnp.float32),
        [("preferred_element_type", "bf16[4]", "f32[]", None, "dot_general")],
    ),
    "bits": (lambda f: f.view("int32"), [("operation", "f32[4]", "i32[4]", None, "bitcast_convert_type")]),
    "positions": (lambda f: jnp.argmax(f), [("operation", "f32[4]", "i32[]", None, "argmax")]),
    "comparison": (lambda f: f > 0, []),
    "unused": (lambda b, i: b**i, []),
    "in a function of JAX": (
        lambda b: jax.nn.standardize(b).astype("float32"),
        None,
    ),
}


@pytest.mark.parametrize("name", LINES)
def test_the_cause_of_each_change(name):
    function, expected = LINES[name]
    arguments = {"b": B, "f": F, "i": INTEGERS}
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    flow = flow_of(function, *(arguments[each] for each in names))
    if expected is None:
        assert flow.changes[-1].cause == "explicit cast"
        assert all(change.cause != "explicit cast" for change in flow.changes[:-1])
    else:
        # Scalars of a broadcast keep their own shape until they are used; that is no matter here.
        assert [told(change) for change in flow.changes] == [
            (cause, before, change.after if name == "broadcast" else after, other, function)
            for (cause, before, after, other, function), change in zip(expected, flow.changes, strict=True)
        ]
    for change in flow.changes:
        assert change.frames[0].file == __file__
        assert change.frames[0].line in range(function.__code__.co_firstlineno, function.__code__.co_firstlineno + 4)
        assert isinstance(change.line, int)


def test_the_line_in_the_listing_prints_the_equation():
    def block(x):
        return jnp.where(x > 0, x, 1.0).astype(jnp.float32) * np.float32(2)

    jitted = jax.jit(block)

    def function(x, n):
        def body(carry, row):
            return carry + jitted(row).sum(), jnp.var(row)

        total, _ = jax.lax.scan(body, jnp.float32(0), x)
        branch = jax.lax.cond(n > 0, lambda: jitted(x[1]), lambda: x[0].astype(jnp.float32))
        turned = jax.lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, c[1] * np.float32(2)), (0, branch))
        return total, jitted(x[0]), jnp.var(x), jax.checkpoint(lambda y: y.astype(jnp.float32))(x), turned

    closed_jaxpr = jax.jit(function).trace(jax.ShapeDtypeStruct((3, 4), jnp.bfloat16), 1).jaxpr
    listing = jaxpr_parser.parse(*_jax.print_jaxpr(closed_jaxpr))
    flow = type_flow(closed_jaxpr, listing)
    assert len(flow.changes) > 8
    for change in flow.changes:
        text = listing.lines[change.line]
        assert change.primitive in text
        after = re.escape(change.after.removesuffix(" weak"))
        assert re.search(rf":{after} = ", text), (text, change.after)
    # The function that is called three times is printed once.
    (cast,) = [
        change
        for change in flow.changes
        if "astype(jnp.float32) * np" in source(change)[0] and "explicit" in change.cause
    ]
    assert cast.calls == 3
    # jnp.var has no line of the user's inside: both calls are places.
    assert len({change.frames[0].line for change in flow.changes if "jnp.var" in source(change)[0]}) == 2


def source(change):
    return [linecache.getline(frame.file, frame.line) for frame in change.frames]


def test_the_stack_goes_through_enclosing_equations():
    def inner(x):
        return x.astype(jnp.float32)

    def body(carry, row):
        return carry, inner(row)

    (change,) = flow_of(lambda x: jax.lax.scan(body, 0, x), jax.ShapeDtypeStruct((3, 4), jnp.bfloat16)).changes
    functions = [frame.function.rpartition(".")[2] for frame in change.frames]
    assert functions[:2] == ["inner", "body"]
    assert "<lambda>" in functions
    assert change.path.startswith("eqns[0].jaxpr.eqns[")


def chain(x, count):
    for _ in range(count):
        x = jnp.sin(x)
    return x


@jax.custom_jvp
def own(x):
    return jnp.cos(jnp.sin(x))


own.defjvp(lambda primals, tangents: (own(*primals), tangents[0]))

# From the cast on, how many equations give f32.
REACHED = {
    "41 in a row": (lambda x: chain(x.astype(jnp.float32), 41), 41),
    "until it is cast back": (lambda x: chain(chain(x.astype(jnp.float32), 5).astype(jnp.bfloat16), 7), 5),
    "only what depends on it": (lambda x: (chain(x.astype(jnp.float32), 2), chain(x, 9)), 2),
    "comparisons end it": (lambda x: jnp.where(x.astype(jnp.float32) > 0, x, x + 1), 0),
    "a call": (lambda x: jax.jit(lambda y: chain(y, 3))(x.astype(jnp.float32)), 3),
    "out of a call": (lambda x: chain(jax.jit(lambda y: jnp.sin(y.astype(jnp.float32)))(x), 4), 5),
    "a call from two places": (lambda x: CALLED(CALLED(x.astype(jnp.float32))), 6),
    "one operand of a call": (lambda x: jax.jit(lambda y, z: (chain(y, 2), chain(z, 3)))(x.astype("float32"), x)[0], 2),
    "remat": (lambda x: jax.checkpoint(lambda y: chain(y, 3))(x.astype(jnp.float32)), 3),
    "custom_jvp": (lambda x: own(x.astype(jnp.float32)), 2),
    "constant of a scan": (
        # The carry takes it from the first turn on: one in the body, and what follows.
        lambda x: chain(scanned(x.astype(jnp.float32)), 2),
        3,
    ),
    "carried from turn to turn": (
        # a becomes b's in the second turn, b leaves through the result: sin, cos and neg.
        lambda x: jax.lax.scan(
            lambda c, _: ((jnp.sin(c[0]), jnp.cos(c[0])), -c[1]),
            (x.astype(jnp.float32), jnp.zeros(4, jnp.float32)),
            None,
            length=3,
        )[1],
        3,
    ),
    "inside a scan and on": (
        # The cast is in the body, the carry brings it back to the sum of the next turn.
        lambda x: jax.lax.scan(lambda c, y: (jnp.sin(c) + y.astype(jnp.float32), None), jnp.zeros(4), x[None])[0],
        2,
    ),
    "while": (
        # sin in the body, the test's own cos.
        lambda x: jax.lax.while_loop(lambda c: jnp.cos(c)[0] > 0, lambda c: jnp.sin(c), x.astype(jnp.float32)),
        # cos, slice and squeeze of the test and sin of the body
        4,
    ),
    "branches": (
        lambda x: jnp.sin(jax.lax.cond(x[0] > 0, lambda y: chain(y, 2), lambda y: chain(y, 3), x.astype(jnp.float32))),
        6,
    ),
    "gradient": (lambda x: chain(x.astype(jnp.float32), 1) * 2.0, 2),
}
CALLED = jax.jit(lambda y: chain(y, 3))


def scanned(constant):
    return jax.lax.scan(lambda carry, _: (carry + constant, None), jnp.zeros(4, jnp.float32), None, length=3)[0]


@pytest.mark.parametrize("name", REACHED)
def test_how_far_a_cast_goes(name):
    function, expected = REACHED[name]
    flow = flow_of(function, B)
    (cast,) = [change for change in flow.changes if change.cause == "explicit cast" and change.after.startswith("f32")]
    assert cast.downstream_ops == expected
    if expected:
        assert f"from here {expected} op" in cast.summary


@hypothesis.settings(max_examples=60, deadline=None)
@hypothesis.given(st.lists(st.tuples(st.sampled_from(("sin", "cast", "add", "scan", "call")), st.integers(1, 3))))
def test_generated_programs_reach_what_they_were_made_to_reach(steps):
    """A program is built beside the count of equations that must run in the widened type."""
    expected = [0]

    def function(x):
        wide = x.astype(jnp.float32)
        is_wide = True
        for step, count in steps:
            match step:
                case "sin":
                    wide = chain(wide, count)
                    expected[0] += count * is_wide
                case "add":
                    wide = wide + (wide if is_wide else x)
                    expected[0] += is_wide
                case "cast":
                    # Once narrow, what is widened again belongs to that cast, not to the first.
                    wide, is_wide = wide.astype(jnp.bfloat16), False
                case "scan":
                    wide, _ = jax.lax.scan(lambda c, _, n=count: (chain(c, n), None), wide, None, length=5)
                    expected[0] += count * is_wide
                case "call":
                    wide = jax.jit(lambda y, n=count: chain(y, n))(wide)
                    expected[0] += count * is_wide
        return wide

    flow = flow_of(function, B, listing=False)
    assert flow.changes[0].downstream_ops == expected[0]


def test_weak_types_gained_and_lost():
    flow = flow_of(lambda f, x: f + x, F, 1.0)
    (lost,) = flow.with_cause("weak type lost")
    assert (lost.before, lost.after, str(lost.widened_by)) == ("f32[] weak", "f32[]", "f32[4] (argument f)")
    assert isinstance(lost.downstream_ops, Unavailable)
    gained = flow_of(lambda i, x: i * x, INTEGERS, 1.0).changes
    assert [(change.before, change.after) for change in gained] == [("i32[4]", "f32[4] weak")]


CUT = {
    "cast": lambda b: b.astype("float64"),
    "nothing left": lambda f: f.astype(jnp.float64) * 2,
    "asarray": lambda b: jnp.asarray(b, jnp.float64),
    "sum": lambda b: jnp.sum(b, dtype=jnp.float64),
    "zeros": lambda b: jnp.zeros(4, jnp.float64) + b,
    "index": lambda i: jnp.arange(4, dtype=jnp.int64) + i,
}


@pytest.mark.parametrize("name", CUT)
def test_cut_64_bit_types_are_told_where_they_were_asked_for(name):
    function = CUT[name]
    (argument,) = function.__code__.co_varnames[: function.__code__.co_argcount]
    flow = flow_of(function, {"b": B, "f": F, "i": INTEGERS}[argument])
    (cut,) = flow.with_cause("x64 truncation")
    assert "64" in source(cut)[0] and cut.frames[0].file == __file__
    wanted = name in ("cast", "asarray", "sum")
    assert bool(cut.path) == wanted
    assert flow_frame_is_sound(flow)
    with jax.enable_x64(True):
        assert not flow_of(function, {"b": B, "f": F, "i": INTEGERS}[argument]).with_cause("x64 truncation")


def test_two_casts_on_one_line_are_told_apart():
    flow = flow_of(lambda b: (b.astype("float64"), b.astype("float32")), B)
    assert [change.cause for change in flow.changes] == ["x64 truncation", "explicit cast"]


def test_warnings_of_others_are_no_truncations():
    assert read_truncation("something else") is None
    found = read_truncation(
        "Explicitly requested dtype <class 'jax.numpy.float64'> requested in zeros is not available, and will be "
        "truncated to dtype float32. To enable more dtypes"
    )
    assert (found.asked, found.given, found.function) == ("float64", "float32", "zeros")
    assert (
        read_truncation(
            "Explicitly requested dtype float64 is not available, and will be truncated to dtype float32."
        ).function
        == ""
    )


def test_integer_promotions_are_cut_without_64_bit_mode():
    unsigned = jax.ShapeDtypeStruct((4,), jnp.uint32)
    (change,) = flow_of(lambda i, u: i + u, INTEGERS, unsigned).changes
    assert (change.cause, change.before, change.after) == ("x64 truncation", "u32[4]", "i32[4]")
    with jax.enable_x64(True):
        assert {change.cause for change in flow_of(lambda i, u: i + u, INTEGERS, unsigned).changes} == {"promotion"}


@pytest.mark.parametrize(
    ("function", "primitives"),
    [
        (lambda f: f * jnp.ones(4), ["broadcast_in_dim", "convert_element_type"]),
        (lambda f: f + np.arange(4.0), ["convert_element_type"]),
        (lambda f: f * 2.0, []),
        (lambda f: f.astype(jnp.float64), []),
    ],
)
def test_64_bit_floats_that_nobody_asked_for(function, primitives):
    with jax.enable_x64(True):
        flow = flow_of(function, F)
        assert [change.primitive for change in flow.with_concern("64-bit float unasked")] == primitives
        # A program that is given 64-bit floats wants them.
        wide = jax.ShapeDtypeStruct((4,), jnp.float64)
        assert not flow_of(function, wide).with_concern("64-bit float unasked")


def test_concerns():
    assert [c.concerns for c in flow_of(lambda b, f: b + f, B, F).changes] == [("16-bit float widened",)]
    assert [c.concerns for c in flow_of(lambda b: b.sum(), B).changes] == [(), ()]
    assert [c.concerns for c in flow_of(lambda i: i * 1.5, INTEGERS).changes] == [("int to float",)]
    assert [c.concerns for c in flow_of(lambda f: f.astype("bfloat16"), F).changes] == [("float narrowed",)]
    assert [c.concerns for c in flow_of(lambda b: jnp.where(b > 0, b, jnp.nan), B).changes] == [()]


def test_arguments_are_named_through_calls():
    inner = jax.jit(lambda y, z: y + z)
    (change,) = flow_of(lambda params, x: inner(params["w"], x), {"w": B}, F).changes
    assert str(change.operand) == "bf16[4] (argument params['w'])"
    assert str(change.widened_by) == "f32[4] (argument x)"
