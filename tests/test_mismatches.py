"""Every difference between a call and what was compiled is named at its own place, with advice that works."""

import collections
import dataclasses
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxscope._analysis.mismatches import check_call, mismatch_frame
from jaxscope._analysis.signature import signature_of

F2, F3, F43 = (jax.ShapeDtypeStruct(shape, jnp.float32) for shape in ((2,), (3,), (4, 3)))
REPOSITORY = Path(__file__).parents[1]


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Layer:
    w: jax.Array
    name: str = dataclasses.field(default="linear", metadata={"static": True})


def compile_for(function, *args, static=(), jit=None, **kwargs):
    traced = jax.jit(function, **(jit or {})).trace(*args, **kwargs)
    lowered = traced.lower()
    compiled = lowered.compile()
    return signature_of(traced, lowered, compiled, static), compiled


def really_raises(compiled, args, kwargs):
    """Whether the compiled call raises; abstract arguments become arrays of their type."""

    def concrete(leaf):
        return jnp.zeros(leaf.shape, leaf.dtype) if isinstance(leaf, jax.ShapeDtypeStruct) else leaf

    try:
        jax.block_until_ready(compiled(*jax.tree.map(concrete, tuple(args)), **jax.tree.map(concrete, kwargs)))
    except Exception:
        return True
    return False


def found(signature, *args, **kwargs):
    return [(row.path, row.differs, row.verdict) for row in check_call(signature, args, kwargs).rows]


def tree_program(params, xs, *, scale):
    return params["w"] * xs[0] + params["b"] * xs[1] * scale


TREE_ARGS = ({"w": F2, "b": F2}, (F2, F2))
O2, O3, O43 = np.ones(2, np.float32), np.ones(3, np.float32), np.ones((4, 3), np.float32)
PARAMS = {"w": O2, "b": O2}
S = np.float32(1)

# Each call of tree_program with the rows it must give.
STRUCTURES = {
    "right": ((PARAMS, (O2, O2)), {"scale": S}, []),
    "other key": (
        ({"w": O2, "c": O2}, (O2, O2)),
        {"scale": S},
        [("params['b']", "missing"), ("params['c']", "extra")],
    ),
    "no key": (({}, (O2, O2)), {"scale": S}, [("params['b']", "missing"), ("params['w']", "missing")]),
    "longer tuple": ((PARAMS, (O2, O2, O2)), {"scale": S}, [("xs", "length")]),
    "shorter tuple": ((PARAMS, (O2,)), {"scale": S}, [("xs", "length")]),
    "list for tuple": ((PARAMS, [O2, O2]), {"scale": S}, [("xs", "container")]),
    "dict for tuple": ((PARAMS, PARAMS), {"scale": S}, [("xs", "container")]),
    "ordered dict": ((collections.OrderedDict(b=O2, w=O2), (O2, O2)), {"scale": S}, [("params", "container")]),
    "None for leaf": (({"w": O2, "b": None}, (O2, O2)), {"scale": S}, [("params['b']", "container")]),
    "tuple for leaf": (({"w": O2, "b": (O2,)}, (O2, O2)), {"scale": S}, [("params['b']", "container")]),
    "leaf for tuple": ((PARAMS, O2), {"scale": S}, [("xs", "container")]),
    "missing argument": ((PARAMS,), {"scale": S}, [("xs", "missing")]),
    "missing keyword": ((PARAMS, (O2, O2)), {}, [("scale", "missing")]),
    "nothing": ((), {}, [("params", "missing"), ("xs", "missing"), ("scale", "missing")]),
    "keyword": ((PARAMS,), {"xs": (O2, O2), "scale": S}, [("xs", "by keyword")]),
    "all keywords": (
        (),
        {"params": PARAMS, "xs": (O2, O2), "scale": S},
        [("params", "by keyword"), ("xs", "by keyword")],
    ),
    "keyword with a wrong leaf": ((PARAMS,), {"xs": (O2, O3), "scale": S}, [("xs", "by keyword"), ("xs[1]", "shape")]),
    "by position": ((PARAMS, (O2, O2), S), {}, [("scale", "by position")]),
    "extra argument": ((PARAMS, (O2, O2), O3), {"scale": S}, [("args[2]", "extra")]),
    "extra keyword": ((PARAMS, (O2, O2)), {"scale": S, "rate": S}, [("rate", "extra")]),
    "list with a wrong leaf": ((PARAMS, [O2, O3]), {"scale": S}, [("xs", "container"), ("xs[1]", "shape")]),
}


@pytest.fixture(scope="module")
def tree_signature():
    return compile_for(tree_program, *TREE_ARGS, scale=jax.ShapeDtypeStruct((), jnp.float32))


@pytest.mark.parametrize("name", STRUCTURES)
def test_each_difference_of_structure_is_one_row(name, tree_signature):
    args, kwargs, expected = STRUCTURES[name]
    signature, compiled = tree_signature
    rows = check_call(signature, args, kwargs).rows
    assert [(row.path, *row.differs) for row in rows] == expected
    assert bool(expected) == really_raises(compiled, args, kwargs)
    assert all(row.verdict == "raises" and row.advice for row in rows)


def test_structures_of_other_containers():
    ordered = collections.OrderedDict
    defaults = collections.defaultdict(list, a=F2)
    point = collections.namedtuple("point", "x y")
    args = (Layer(F2), ordered(z=F2, a=F2), defaults, point(F2, None))
    signature, compiled = compile_for(lambda layer, o, d, p: layer.w + o["z"] + o["a"] + d["a"] + p.x, *args)
    right = (Layer(O2), ordered(z=O2, a=O2), collections.defaultdict(list, a=O2), point(O2, None))
    assert not really_raises(compiled, right, {}) and not found(signature, *right)
    for position, value, expected in (
        (0, Layer(O2, "softmax"), ("layer", "static data")),
        (0, Layer(O3), ("layer.w", "shape")),
        (0, O2, ("layer", "container")),
        (1, ordered(a=O2, z=O2), ("o", "key order")),
        (2, collections.defaultdict(dict, a=O2), ("d", "static data")),
        (3, point(O3, None), ("p.x", "shape")),
        (3, point(O2, O2), ("p.y", "container")),
        (3, (O2, None), ("p", "container")),
    ):
        call = (*right[:position], value, *right[position + 1 :])
        assert [(row.path, *row.differs) for row in check_call(signature, call).rows] == [expected]
        assert really_raises(compiled, call, {})
    (row,) = check_call(signature, (Layer(O2, "softmax"), *right[1:])).rows
    assert (row.compiled, row.called) == ("Layer 'linear'", "Layer 'softmax'")


def test_static_arguments_are_left_out():
    signature, compiled = compile_for(
        lambda x, n, y: x**n + y, F3, 3, F3, jit={"static_argnames": "n"}, static=(("n", "3"),)
    )
    assert not found(signature, O3, O3) and not really_raises(compiled, (O3, O3), {})
    for args, kwargs in (((O3, 3, O3), {}), ((O3, O3), {"n": 3}), ((O3, 4, O3), {})):
        (row,) = check_call(signature, args, kwargs).rows
        assert (row.path, row.differs, row.compiled) == ("n", ("static argument",), "static 3")
        assert row.advice == "leave out static argument n"
        assert really_raises(compiled, args, kwargs)
    mismatches = check_call(signature, (O3, 3, O43))
    assert [(row.path, *row.differs) for row in mismatches.rows] == [("y", "shape"), ("n", "static argument")]
    assert mismatches.summary == "1 of 2 arguments differs from the compiled signature; 1 too many; the call raises"


def test_types():
    signature, compiled = compile_for(
        lambda x, k, s: x.sum() * k.sum() * s, F43, jax.ShapeDtypeStruct((2,), jnp.int32), jnp.float32(1)
    )
    right = (O43, np.ones(2, np.int32), np.float32(1))
    cases = [
        (right, []),
        ((O43.T, *right[1:]), [("x", ("shape",), "raises")]),
        ((O43[None], *right[1:]), [("x", ("shape",), "raises")]),
        ((O43.astype("float16"), O2, np.float32(1)), [("x", ("dtype",), "raises"), ("k", ("dtype",), "raises")]),
        ((O43.T.astype("float16"), *right[1:]), [("x", ("shape", "dtype"), "raises")]),
        (
            (O43.astype("float64"), np.ones(2, np.int64), 1.0),
            [("x", ("dtype",), "copied"), ("k", ("dtype",), "copied"), ("s", ("weak type",), "copied")],
        ),
        ((*right[:2], 1), [("s", ("dtype",), "raises")]),
        ((*right[:2], True), [("s", ("dtype",), "raises")]),
        ((*right[:2], 1j), [("s", ("dtype",), "raises")]),
        ((*right[:2], 2**40), [("s", ("not an array",), "raises")]),
        ((*right[:2], "text"), [("s", ("not an array",), "raises")]),
        ((*right[:2], object()), [("s", ("not an array",), "raises")]),
        ((np.array(["a", "b"]), *right[1:]), [("x", ("not an array",), "raises")]),
        ((F43, right[1], jax.ShapeDtypeStruct((), jnp.float16)), [("s", ("dtype",), "raises")]),
        ((jnp.asarray(O43).aval, *right[1:]), []),
    ]
    for args, expected in cases:
        assert found(signature, *args) == expected
        if not any(isinstance(arg, jax.core.AbstractValue) for arg in args):
            assert really_raises(compiled, args, {}) == any(verdict == "raises" for *_, verdict in expected)


def test_masked_arrays_are_refused():
    # Only before the first call: JAX's fast path takes them for NumPy arrays once it has seen the type.
    signature, compiled = compile_for(lambda x: x.sum(), F3)
    masked = np.ma.ones(3, "float32")
    assert found(signature, masked) == [("x", ("not an array",), "raises")]
    assert really_raises(compiled, (masked,), {})


def test_abstract_arguments_are_judged_as_arrays_of_their_type():
    signature, _ = compile_for(lambda x, y: x.sum() + y.sum(), F43, F3)
    assert found(signature, F43, F3) == []
    assert found(signature, jax.ShapeDtypeStruct((4, 4), jnp.float32), F3) == [("x", ("shape",), "raises")]
    wide = jax.ShapeDtypeStruct((3,), np.float64)
    assert found(signature, F43, wide) == [("y", ("dtype",), "accepted")]


def test_a_weak_type_is_accepted_and_compiles_again_under_jit():
    jitted = jax.jit(lambda x: x * 2)
    signature, compiled = compile_for(lambda x: x * 2, 1.0)
    strong = jnp.float32(1)
    (row,) = check_call(signature, (strong,)).rows
    assert (row.compiled, row.called, row.verdict) == ("f32[] weak", "f32[] strong", "accepted")
    assert "compile again" in row.note
    assert not really_raises(compiled, (strong,), {})
    jitted(1.0), jitted(strong)
    assert jitted._cache_size() == 2


def test_keys():
    signature, compiled = compile_for(lambda key: jax.random.normal(key, (2,)), jax.random.key(0))
    for call, advice in (
        (jax.random.PRNGKey(1), "jax.random.wrap_key_data(key) if it holds the data of a key"),
        (jax.random.key(1, impl="rbg"), "make the key with the implementation that the program was compiled for"),
        (jax.random.split(jax.random.key(1)), "pass key<fry>[], or compile for key<fry>[2]"),
    ):
        (row,) = check_call(signature, (call,)).rows
        assert (row.path, row.verdict, row.advice) == ("key", "raises", advice)
        assert really_raises(compiled, (call,), {})
    assert not found(signature, jax.random.key(7))
    signature, _ = compile_for(lambda data: data + 1, jax.random.PRNGKey(0))
    assert check_call(signature, (jax.random.key(0),)).rows[0].advice == "jax.random.key_data(data)"


def test_deleted_arrays_tracers_and_hidden_inputs():
    signature, compiled = compile_for(lambda x, unused: x + 1, F3, F3)
    alive, deleted = jnp.ones(3), jnp.ones(3)
    deleted.delete()
    assert found(signature, deleted, alive) == [("x", ("deleted",), "raises")]
    assert really_raises(compiled, (deleted, alive), {})
    assert found(signature, alive, deleted) == []
    assert not really_raises(compiled, (alive, deleted), {})

    rows = []

    def under_jit(x):
        rows.extend(check_call(signature, (x, x)).rows)
        with pytest.raises(TypeError, match="Cannot apply JAX transformations"):
            compiled(x, x)
        return x

    jax.jit(under_jit)(alive)
    assert [row.differs for row in rows] == [("tracer",), ("tracer",)]

    box = []

    def leak(x):
        result = jnp.sin(x) if not box else box[0] + x
        box.append(result)
        return result

    jax.jit(leak).trace(F3)
    signature, compiled = compile_for(lambda x: leak(x), F3)
    assert found(signature, alive) == [("hidden inputs", ("hidden input",), "raises")]
    assert really_raises(compiled, (alive,), {})


def test_dropped_arguments_are_compared_too():
    signature, compiled = compile_for(lambda x, unused: x + 1, F3, F3)
    assert found(signature, O3, O2) == [("unused", ("shape",), "raises")]
    assert really_raises(compiled, (O3, O2), {})


def test_the_64_bit_mode_of_the_call_counts():
    narrow, narrow_compiled = compile_for(lambda x: x * 2, F3)
    with jax.enable_x64(True):
        wide, wide_compiled = compile_for(lambda x: x * 2, np.ones(3))
        assert found(wide, np.ones(3)) == []
        (row,) = check_call(narrow, (np.ones(3),)).rows
        assert (row.compiled, row.called, row.verdict) == ("f32[3]", "f64[3]", "raises")
        assert "64-bit mode is on now" in row.note
        assert row.advice == "x.astype('float32')"
        assert really_raises(narrow_compiled, (np.ones(3),), {})
        assert not really_raises(narrow_compiled, (np.ones(3).astype("float32"),), {})
        (row,) = check_call(wide, (np.ones(3, np.float32),)).rows
        assert (row.verdict, row.advice) == ("raises", "x.astype('float64')")
        assert "64-bit" not in row.note
    (row,) = check_call(wide, (np.ones(3),)).rows
    assert (row.compiled, row.called, row.verdict) == ("f64[3]", "f64[3]", "raises")
    assert "64-bit mode on; it is off now" in row.note
    assert really_raises(wide_compiled, (np.ones(3),), {})
    assert found(narrow, np.ones(3)) == [("x", ("dtype",), "copied")]


def test_deep_nesting():
    def nest(leaf, depth):
        for _ in range(depth):
            leaf = [leaf]
        return leaf

    depth = sys.getrecursionlimit() * 3 // 4
    signature, compiled = compile_for(lambda tree: 0, nest(F3, depth), jit={"keep_unused": True})
    for call in (nest(O3, depth), nest(O2, depth), nest((O3,), depth - 1), nest(O3, depth + 1)):
        mismatches = check_call(signature, (call,))
        assert mismatches.raises == really_raises(compiled, (call,), {})
        assert any("nested too deeply" in note for note in mismatches.notes)


def test_calls_that_cannot_be_flattened():
    signature, compiled = compile_for(lambda d: d, {"a": F3})
    call = ({1: O3, "a": O3},)
    (row,) = check_call(signature, call).rows
    assert row.verdict == "raises"
    assert really_raises(compiled, call, {})


def test_static_data_that_cannot_be_compared_raises_as_in_jax():
    @jax.tree_util.register_pytree_node_class
    class WithArray:
        def __init__(self, x, scale):
            self.x, self.scale = x, scale

        def tree_flatten(self):
            return (self.x,), self.scale

        @classmethod
        def tree_unflatten(cls, scale, children):
            return cls(*children, scale)

    signature, compiled = compile_for(lambda a: a.x, WithArray(F3, np.ones(2)))
    call = (WithArray(O3, np.ones(2)),)
    assert check_call(signature, call).raises == really_raises(compiled, call, {})


def test_without_compilation_the_traced_types_are_compared():
    traced = jax.jit(lambda x, y: x + y).trace(F3, F3)
    signature = signature_of(traced, None, None)
    assert found(signature, O3, O2) == [("y", ("shape",), "raises")]
    assert check_call(signature_of(None, None, None), (O3,)).notes


@pytest.mark.parametrize(
    ("value", "advice"),
    [
        (O43.T, "x.T"),
        (O43.reshape(2, 6), "x.reshape((4, 3))"),
        (O43[None].astype("float16"), "x.reshape((4, 3)).astype('float32')"),
        (O43[0], "jnp.broadcast_to(x, (4, 3))"),
        (O43.astype("int32"), "x.astype('float32')"),
        (1, "jnp.broadcast_to(jnp.asarray(x), (4, 3)).astype('float32')"),
        (O2, "pass f32[4,3], or compile for f32[2]"),
    ],
)
def test_the_advice_works(value, advice):
    signature, compiled = compile_for(lambda x: x.sum(), F43)
    (row,) = check_call(signature, (value,)).rows
    assert row.advice == advice
    if not advice.startswith("pass"):
        repaired = eval(advice, {"jnp": jnp, "x": value})
        assert not really_raises(compiled, (repaired,), {})


@pytest.mark.parametrize(
    ("wanted", "brought", "advice"),
    [
        ({"a": F2, "b": F3}, (O2, O3), "pass a dict with keys 'a', 'b' for x"),
        ({"a": F2, "b": F3}, [O2, O3], "pass a dict with keys 'a', 'b' for x"),
        ({"a": F2, "b": F3}, collections.OrderedDict(b=O3, a=O2), "dict(x)"),
        ((F2, F3), {"a": O2, "b": O3}, "pass a tuple of 2 for x"),
        ((F2, F3), [O2, O3], "tuple(x)"),
        ([F2, F3], (O2, O3), "list(x)"),
        ((F2, F3), collections.namedtuple("Pair", "a b")(O2, O3), "tuple(x)"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_the_advice_for_another_container_works(wanted, brought, advice):
    signature, compiled = compile_for(lambda x: x, wanted)
    (row,) = check_call(signature, (brought,)).rows
    assert really_raises(compiled, (brought,), {})
    assert row.advice == advice
    if not advice.startswith("pass"):
        assert not really_raises(compiled, (eval(advice, {"x": brought}),), {})


def test_summaries_and_frame(tree_signature):
    signature, _ = tree_signature
    assert (
        check_call(signature, (PARAMS, (O2, O2)), {"scale": S}).summary == "The call agrees with the compiled signature"
    )
    one = check_call(signature, (PARAMS, (O2, O3)), {"scale": S})
    assert one.summary == "1 of 5 arguments differs from the compiled signature; the call raises"
    two = check_call(signature, (PARAMS, (O2, O2)), {"scale": 1.0})
    assert two.summary == "1 of 5 arguments differs from the compiled signature; the call is accepted"
    extra = check_call(signature, (PARAMS, (O2, O2), O2), {"scale": S})
    assert extra.summary == "1 too many; the call raises"
    frame = mismatch_frame(one)
    assert frame.loc[0, "differs"] == "shape" and len(frame) == 1
    right = check_call(signature, (PARAMS, (O2, O2)), {"scale": S})
    assert mismatch_frame(right).empty and right.copies
    frame = mismatch_frame(right, every_leaf=True)
    assert list(frame["path"]) == ["params['b']", "params['w']", "xs[0]", "xs[1]", "scale"]
    assert set(frame["verdict"]) == {"copied"} and set(frame["differs"]) == {""}
    on_device = jax.device_put(((PARAMS, (O2, O2)), {"scale": S}))
    assert not check_call(signature, *on_device).copies
