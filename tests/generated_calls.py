"""Pairs of calls over several devices, made at random, and what JAX really does about the second one.

Run as a module in a process of its own, with four devices of the CPU: `python -m tests.generated_calls 320 1` makes 320
pairs from the seed 1. Each pair is a call that a program is compiled for, and a second one that differs in some leaves,
containers, static values, placements or settings. The compiled function and the jitted one are really called; what they
do is seen in exceptions, in a counter inside the function, in JAX's compile events, in the size of the function's cache
and by a guard that refuses transfers. The last line printed counts the outcomes.
"""

import collections
import contextlib
import json
import re
import sys
import warnings

import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.layout import Format, Layout
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

from jaxscope._analysis.cache_verdict import cache_verdict
from jaxscope._analysis.call_key import call_key, with_static_arguments
from jaxscope._analysis.mismatches import check_call
from jaxscope._analysis.signature import signature_of

compilations = []
jax.monitoring.register_event_duration_secs_listener(
    lambda name, *_, **__: compilations.append(name) if "backend_compile" in name else None
)

DEVICES = jax.devices()[:4]
MESH = Mesh(np.array(DEVICES), ("d",), axis_types=(AxisType.Auto,))
EXPLICIT = Mesh(np.array(DEVICES), ("d",), axis_types=(AxisType.Explicit,))
BACKWARDS = Mesh(np.array(DEVICES[::-1]), ("d",), axis_types=(AxisType.Auto,))
ALONE = Mesh(np.array(DEVICES[:1]), ("d",), axis_types=(AxisType.Auto,))
SHAPES = ((), (4,), (8,), (8, 4))
DTYPES = ("float32", "int32", "bool", "float16", "bfloat16", "float64", "int64")


def placed(array, where):
    """A JAX array at a place; as close as its shape allows."""
    split = PartitionSpec("d") if array.ndim else PartitionSpec()
    match where:
        case "host":
            return np.asarray(array)
        case "free":
            return array
        case "free elsewhere":
            with jax.default_device(DEVICES[1]):
                return jnp.asarray(np.asarray(array))
        case "first" | "second":
            return jax.device_put(array, DEVICES[where == "second"])
        case "pinned":
            return jax.device_put(array, SingleDeviceSharding(DEVICES[0], memory_kind="pinned_host"))
        case "split":
            return jax.device_put(array, NamedSharding(MESH, split))
        case "whole":
            return jax.device_put(array, NamedSharding(MESH, PartitionSpec()))
        case "whole, spelled out":
            return jax.device_put(array, NamedSharding(MESH, PartitionSpec(*[None] * array.ndim)))
        case "explicit":
            return jax.device_put(array, NamedSharding(EXPLICIT, split))
        case "backwards":
            return jax.device_put(array, NamedSharding(BACKWARDS, split))
        case "alone":
            return jax.device_put(array, NamedSharding(ALONE, PartitionSpec()))
        case "other layout":
            if array.ndim != 2:
                return jax.device_put(array, DEVICES[0])
            return jax.device_put(array, Format(Layout((1, 0)), SingleDeviceSharding(DEVICES[0])))
    raise AssertionError(where)


HOMES = {
    "host": ("host", "free"),
    "first": ("host", "free", "first"),
    "second": ("host", "free", "second", "free elsewhere"),
    "mesh": ("host", "free", "split", "whole"),
    "explicit": ("host", "free", "explicit"),
    "first in another layout": ("host", "first", "other layout"),
}
ANYWHERE = ("host", "free", "free elsewhere", "first", "second", "pinned", "split", "whole", "whole, spelled out")
ANYWHERE = (*ANYWHERE, "explicit", "backwards", "alone", "other layout")


class Bad:
    """No array."""


def make(spec):
    """The value that a description of a leaf stands for; each time a new one."""
    match spec:
        case ("array", dtype, shape, where):
            if where == "host":
                return np.zeros(shape, jnp.dtype(dtype))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return placed(jnp.zeros(shape, dtype), where)
        case ("number", value):
            return value
        case ("scalar", name):
            return getattr(np, name)(1)
        case ("weak", where):
            return placed(jnp.asarray(1.0) * 1, where)
        case ("key", implementation, where):
            return placed_key(jax.random.key(0, impl=implementation), where)
        case ("deleted",):
            array = jnp.zeros(4)
            array.delete()
            return array
        case ("masked",):
            return np.ma.ones(4, "float32")
        case ("bad",):
            return Bad()
        case ("text",):
            return "text"
    raise AssertionError(spec)


def placed_key(key, where):
    return jax.device_put(key, DEVICES[where == "second"]) if where in ("first", "second") else key


def leaves(places):
    return st.one_of(
        st.tuples(st.just("array"), st.sampled_from(DTYPES), st.sampled_from(SHAPES), st.sampled_from(places)),
        st.tuples(st.just("array"), st.just("float32"), st.just((8, 4)), st.sampled_from(places)),
        st.tuples(st.just("number"), st.sampled_from((1, 2.0, True, 1j))),
        st.tuples(st.just("scalar"), st.sampled_from(("float32", "int32", "float64"))),
        st.tuples(
            st.just("weak"), st.sampled_from([where for where in places if where in ("free", "first")] or ["free"])
        ),
        st.tuples(st.just("key"), st.sampled_from(("threefry2x32", "rbg")), st.just("free")),
    )


BAD = st.sampled_from((("deleted",), ("masked",), ("bad",), ("text",), ("number", 2**40)))
# A description of a leaf is a tuple that starts with text; containers of descriptions are lists and dictionaries here
# and become tuples or lists when they are made.
Tree = collections.namedtuple("Tree", "kind children")


def trees(places):
    leaf = leaves(places)
    return st.one_of(
        leaf,
        leaf,
        st.builds(lambda children: Tree("tuple", children), st.lists(leaf, min_size=1, max_size=2)),
        st.builds(lambda children: Tree("list", children), st.lists(leaf, min_size=1, max_size=2)),
        st.builds(lambda children: Tree("dict", children), st.lists(leaf, min_size=1, max_size=2)),
    )


def build(tree):
    if not isinstance(tree, Tree):
        return make(tree)
    children = list(map(build, tree.children))
    if tree.kind == "dict":
        return dict(zip("wb", children, strict=False))
    return tuple(children) if tree.kind == "tuple" else children


# Which change each leaf, and each call as a whole, gets: most get none, so that the others are seen alone.
KINDS = st.sampled_from(
    (*["none"] * 10, *["place"] * 5, *["moved"] * 4, "bad", "another tree", "container", "length", "dtype", "shape")
)
CALLS = st.sampled_from(
    (
        *["none"] * 16,
        "another static value",
        "another static value",
        "an unhashable static value",
        "no static value",
        "an argument less",
        "an argument more",
        "by keyword",
        "another order of keywords",
        "another keyword",
    )
)


@st.composite
def pairs(draw):
    """Two calls: their positional arguments, keywords, static values; how the function is jitted; a setting."""
    home = draw(st.sampled_from(sorted(HOMES)))
    places = HOMES[home]
    args = draw(st.lists(trees(places), min_size=1, max_size=2))
    kwargs = draw(st.dictionaries(st.sampled_from(("c", "unused")), trees(places), max_size=2))
    static = draw(st.dictionaries(st.sampled_from(("n", "mode")), st.sampled_from((1, 2, "relu")), max_size=2))

    def other(tree):
        kind = draw(KINDS)
        if kind == "bad":
            return draw(BAD)
        if kind == "another tree":
            return draw(trees(ANYWHERE))
        if isinstance(tree, Tree):
            children = list(map(other, tree.children))
            if kind == "container":
                return Tree({"tuple": "list", "list": "tuple", "dict": "tuple"}[tree.kind], children)
            if kind == "length":
                children = children[1:] or [*children, *children]
            return Tree(tree.kind, children)
        if tree[0] == "array":
            # One property at a time.
            _, dtype, shape, where = tree
            if kind == "moved":
                return ("array", dtype, shape, {"host": "free", "free": "host"}.get(where, where))
            if kind == "place":
                return ("array", dtype, shape, draw(st.sampled_from(ANYWHERE)))
            if kind == "dtype":
                return ("array", draw(st.sampled_from(DTYPES)), shape, where)
            if kind == "shape":
                return ("array", dtype, draw(st.sampled_from(SHAPES)), where)
        if tree[0] == "key" and kind == "place":
            return ("key", tree[1], draw(st.sampled_from(("first", "second"))))
        return tree

    alike = draw(st.sampled_from((*[False] * 5, True)))
    other_args = list(args) if alike else list(map(other, args))
    other_kwargs = dict(kwargs) if alike else {name: other(tree) for name, tree in kwargs.items()}
    other_static = dict(static)
    match draw(CALLS):
        case "another static value":
            other_static["n"] = draw(st.sampled_from((1, True, 1.0, 2, "gelu")))
        case "an unhashable static value":
            other_static["n"] = [1]
        case "no static value":
            other_static.pop("n", None)
        case "an argument less":
            other_args = other_args[1:]
        case "an argument more":
            other_args = [*other_args, draw(leaves(places))]
        case "by keyword":
            other_kwargs = {**other_kwargs, "b": other_args[-1]} if len(other_args) == 2 else other_kwargs
            other_args = other_args[:1]
        case "another order of keywords":
            other_kwargs = dict(reversed(other_kwargs.items()))
        case "another keyword":
            other_kwargs["c"] = draw(trees(places))
    jit = draw(st.sampled_from((*["plain"] * 6, "keep unused", "backend", "in_shardings")))
    if jit == "in_shardings":
        kwargs, static, other_static = {}, {}, {}
        other_kwargs = {name: tree for name, tree in other_kwargs.items() if draw(st.booleans())}
    setting = draw(st.sampled_from((*[None] * 12, "x64", "precision")))
    return args, kwargs, static, other_args, other_kwargs, other_static, jit, setting


JIT = {
    "plain": {},
    "keep unused": {"keep_unused": True},
    "backend": {"backend": "cpu"},
    "in_shardings": {"in_shardings": NamedSharding(MESH, PartitionSpec())},
}
SETTINGS = {
    None: contextlib.nullcontext,
    "x64": lambda: jax.enable_x64(True),
    "precision": lambda: jax.default_matmul_precision("float32"),
}
# "Argument 'a[0]' compiled with float32[4] and called with"    "Argument a[0] with shape float32[4]:"
BLAMED = re.compile(r"^Argument '?(.+?)'? (?:compiled with|with shape) ", re.MULTILINE)


def judge(pair, seen):
    """Compares both verdicts on one pair with what JAX does."""
    args, kwargs, static, other_args, other_kwargs, other_static, how, setting = pair
    traces = []

    def program(a, b=None, *, c=None, unused=None, n=0, mode="tanh"):
        traces.append(1)
        return jax.tree.map(lambda leaf: leaf[None], (a, b, c))

    jitted = jax.jit(program, static_argnames=("n", "mode"), **JIT[how])
    first_args = tuple(map(build, args))
    first_kwargs = {name: build(tree) for name, tree in kwargs.items()}
    try:
        jitted(*first_args, **first_kwargs, **static)
        traced = jitted.trace(*first_args, **first_kwargs, **static)
        lowered = traced.lower()
        compiled = lowered.compile()
    except Exception:
        hypothesis.reject()
    signature = signature_of(traced, lowered, compiled, tuple((name, repr(value)) for name, value in static.items()))
    first = call_key(jitted, first_args, {**first_kwargs, **static})
    new_args = tuple(map(build, other_args))
    new_kwargs = {name: build(tree) for name, tree in other_kwargs.items()}
    with SETTINGS[setting]():
        compare_cache(jitted, first, new_args, {**new_kwargs, **other_static}, signature, traces, seen)
        compare_compiled(signature, compiled, new_args, new_kwargs, seen)
    filled, named = with_static_arguments(jitted, first, first_args, first_kwargs)
    assert cache_verdict(first, call_key(jitted, filled, named), signature.types).outcome == "hits"


def compare_cache(jitted, first, args, kwargs, signature, traces, seen):
    verdict = cache_verdict(first, call_key(jitted, args, kwargs), signature.types)
    traces.clear()
    compilations.clear()
    before, raised = jitted._cache_size(), None
    try:
        jax.block_until_ready(jitted(*args, **kwargs))
    except Exception as error:
        raised = error
    done = (
        "raises"
        if raised is not None
        else "traces again"
        if traces
        else "compiles again"
        if compilations
        else "dispatches again"
        if jitted._cache_size() > before
        else "hits"
    )
    assert verdict.outcome == done, (verdict, done, raised)
    assert done == "hits" or (all(row.path and row.differs for row in verdict.rows) and verdict.rows)
    seen[f"jit {done}"] += 1
    for row in verdict.rows:
        seen[f"jit {row.outcome}: {', '.join(row.differs)}"] += 1


def compare_compiled(signature, compiled, args, kwargs, seen):
    mismatches = check_call(signature, args, kwargs)
    raised = copied = None
    try:
        # The first call of a kind goes the slow way, which asks the guard; later ones may move arrays unasked.
        with jax.transfer_guard("disallow"):
            jax.block_until_ready(compiled(*args, **kwargs))
    except Exception as error:
        copied = error if "Disallowed" in str(error) else None
    try:
        jax.block_until_ready(compiled(*args, **kwargs))
    except Exception as error:
        raised = error
    assert mismatches.raises == (raised is not None), (mismatches, raised)
    raising = {row.path for row in mismatches.rows if row.verdict == "raises"}
    blamed = set(BLAMED.findall(str(raised)))
    assert blamed <= raising, (blamed, mismatches, raised)
    assert raised or mismatches.copies == (copied is not None), (mismatches, copied)
    seen["compiled raises" if raised else "compiled copies" if copied else "compiled accepts"] += 1
    for row in mismatches.rows:
        seen[f"compiled {row.verdict}: {', '.join(row.differs)}"] += 1


def main(count, seed):
    seen = collections.Counter()

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=count, deadline=None, database=None, suppress_health_check=list(hypothesis.HealthCheck)
    )
    @hypothesis.given(pairs())
    def every_pair(pair):
        judge(pair, seen)
        seen["pairs"] += 1

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        every_pair()
    print(json.dumps(seen))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
