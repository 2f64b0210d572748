"""Two trees of types differ where JAX's own control flow says so, and nowhere else."""

import collections
import sys

import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxscope._analysis.tree_difference import TREE_DIFFERENCE_COLUMNS, tree_difference, tree_difference_frame

S = jax.ShapeDtypeStruct
F3, H3, F4, I3 = S((3,), jnp.float32), S((3,), jnp.float16), S((4,), jnp.float32), S((3,), jnp.int32)
WEAK = S((), jnp.float32, weak_type=True)
Point = collections.namedtuple("Point", "x y")

# Two trees, and the rows: path, left, right, what differs.
TREES = {
    "equal": (F3, F3, []),
    "dtype": (F3, H3, [("carry", "f32[3]", "f16[3]", "dtype")]),
    "shape and dtype": (F4, I3, [("carry", "f32[4]", "i32[3]", "shape, dtype")]),
    "inside": ((F3, {"w": F3}), (F3, {"w": F4}), [("carry[1]['w']", "f32[3]", "f32[4]", "shape")]),
    "two places": (
        [F3, F3],
        [F4, H3],
        [("carry[0]", "f32[3]", "f32[4]", "shape"), ("carry[1]", "f32[3]", "f16[3]", "dtype")],
    ),
    "weak type": (
        Point(F3, WEAK),
        Point(F3, S((), jnp.float32)),
        [("carry.y", "f32[] weak", "f32[] strong", "weak type")],
    ),
    "length": ((F3, F3), (F3,), [("carry", "tuple of 2", "tuple of 1", "length")]),
    "container": ((F3,), [F3], [("carry", "tuple of 1", "list of 1", "container")]),
    "leaf for a tuple": (F3, (F3,), [("carry", "f32[3]", "tuple of 1", "container")]),
    "None": ({"a": None}, {"a": F3}, [("carry['a']", "None", "f32[3]", "container")]),
    "keys": (
        {"a": F3, "b": F3},
        {"a": F3, "c": F3},
        [("carry['b']", "f32[3]", "missing", "missing"), ("carry['c']", "missing", "f32[3]", "extra")],
    ),
    "values": (1.0, np.float32(1), [("carry", "f32[] weak", "f32[] strong", "weak type")]),
    "avals and structs": (jnp.ones(3).aval, F3, []),
    "no array": ("a", F3, [("carry", "value of type str", "f32[3]", "not an array")]),
}


@pytest.mark.parametrize("name", TREES)
def test_each_place_is_one_row(name):
    left, right, rows = TREES[name]
    found = tree_difference(left, right, "carry")
    assert [(row.path, row.left, row.right, ", ".join(row.differs)) for row in found] == rows


def test_the_root_has_a_name():
    assert tree_difference(F3, F4)[0].path == "the whole"


def test_deep_trees():
    def nest(leaf):
        for _ in range(sys.getrecursionlimit() * 3 // 4):
            leaf = [leaf]
        return leaf

    assert tree_difference(nest(F3), nest(F3)) == ()
    assert tree_difference(nest(F3), nest(F4))[0].differs == ("shape",)
    assert tree_difference(nest(F3), F3)


leaves = st.sampled_from((F3, H3, F4, I3, S((), jnp.float32), S((), jnp.int32)))
trees = st.recursive(
    leaves,
    lambda children: (
        st.lists(children, max_size=2)
        | st.lists(children, max_size=2).map(tuple)
        | st.dictionaries(st.sampled_from("ab"), children, max_size=2)
    ),
    max_leaves=3,
)


def refuses(call):
    """Whether JAX refuses two trees for their types."""
    try:
        call()
    except TypeError:
        return True
    return False


@hypothesis.settings(max_examples=120, deadline=None)
@hypothesis.given(trees, trees | st.none(), st.data())
def test_carries_and_branches_differ_where_jax_refuses_them(left, right, data):
    right = left if right is None else data.draw(st.sampled_from((left, right)))

    def values(tree):
        return jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), tree)

    def scan():
        jax.eval_shape(lambda: jax.lax.scan(lambda carry, _: (values(right), None), values(left), None, length=2))

    def branches():
        jax.eval_shape(lambda: jax.lax.cond(True, lambda: values(left), lambda: values(right)))

    def loop():
        jax.eval_shape(lambda: jax.lax.while_loop(lambda carry: False, lambda carry: values(right), values(left)))

    rows = tree_difference(left, right)
    assert bool(rows) == refuses(scan) == refuses(branches) == refuses(loop)


def test_shardings_that_are_part_of_the_type():
    mesh = jax.make_mesh((1,), ("d",), axis_types=(jax.sharding.AxisType.Explicit,))
    split = S((4,), jnp.float32, sharding=jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("d")))
    whole = S((4,), jnp.float32, sharding=jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec()))
    (row,) = tree_difference(split, whole)
    assert row.differs == ("sharding",)


def test_every_column_is_documented():
    frame = tree_difference_frame(tree_difference((F3, F3), (F4, H3), "carry"))
    assert list(frame.columns) == [entry.key for entry in TREE_DIFFERENCE_COLUMNS]
    assert list(frame["differs"]) == ["shape", "dtype"]
