"""Two pytrees of types as rows, one for each place where they differ.

Problem: a loop whose body changes the type of its carry, or branches that return other types, are refused by a message
that lists whole structures. Input: two pytrees whose leaves have types: avals, `jax.ShapeDtypeStruct`, arrays or
numbers. Output: `TreeDifference`, path by path, and a DataFrame.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jaxscope import _jax_types
from jaxscope._analysis import structure
from jaxscope._analysis.entry import Entry
from jaxscope._analysis.pytrees import Side, describe, same
from jaxscope._analysis.types import describe_value, shorten

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, slots=True)
class TreeDifference:
    """One place where two trees differ.

    Attributes:
        path: Where: ``carry['w']``, ``[0].opt``.
        left: What the first tree has there: ``f32[3]``, ``f32[] weak``, ``tuple of 2``, ``missing``.
        right: What the second has.
        differs: What differs: ``shape``, ``dtype``, ``weak type``, ``sharding``, ``varying axes``, ``memory space``, or
            of the structure ``missing``, ``extra``, ``container``, ``length``, ``key order``, ``static data``.
    """

    path: str
    left: str
    right: str
    differs: tuple[str, ...]


def tree_difference(left: Any, right: Any, path: str = "") -> tuple[TreeDifference, ...]:
    """Where two pytrees of types differ, in the order of the first.

    Args:
        left: The tree that was wanted: the carry that goes in, the result of the first branch.
        right: The tree that came: the carry that comes out, the result of another branch.
        path: What to call the whole, such as ``carry``; "" leaves only the keys.

    Returns:
        One row for each place; empty when JAX takes both for equal.
    """
    left_leaves, left_tree = _jax_types.flatten(left)
    right_leaves, right_tree = _jax_types.flatten(right)
    left_types, right_types = list(map(_type_of, left_leaves)), list(map(_type_of, right_leaves))
    first = Side(left_tree, _key_paths(left), lambda index: _describe(left_leaves[index], left_types[index]))
    second = Side(right_tree, _key_paths(right), lambda index: _describe(right_leaves[index], right_types[index]))
    try:
        walk = structure.compare_trees(first, second, path)
    except RecursionError:
        if same(left_tree, right_tree):
            pairs = [(index, index, f"{path}[leaf {index}]") for index in range(len(left_leaves))]
            walk = structure.Walk(pairs=pairs)
        else:
            texts = (shorten(describe(tree, "an array")) for tree in (left_tree, right_tree))
            return (TreeDifference(path or "the whole", *texts, ("container",)),)
    rows = [
        (entry.order, TreeDifference(entry.path or "the whole", entry.compiled, entry.called, (entry.kind,)))
        for entry in walk.differences
    ]
    for left_index, right_index, place in walk.pairs:
        differs = type_difference(left_types[left_index], right_types[right_index])
        if differs:
            sides = _both(first.leaf_type(left_index), second.leaf_type(right_index), differs, left_types[left_index])
            rows.append((left_index, TreeDifference(place or "the whole", *sides, differs)))
    return tuple(row for _, row in sorted(rows, key=lambda entry: entry[0]))


def type_difference(left: Any, right: Any) -> tuple[str, ...]:
    """What differs between two types of arrays; () when JAX takes them for equal.

    Args:
        left: An aval, or None for what is no array.
        right: Likewise.
    """
    if left is None or right is None:
        return () if left is right else ("not an array",)
    found = []
    if getattr(left, "shape", None) != getattr(right, "shape", None):
        found.append("shape")
    if getattr(left, "dtype", None) != getattr(right, "dtype", None):
        found.append("dtype")
    if not found and bool(getattr(left, "weak_type", False)) != bool(getattr(right, "weak_type", False)):
        found.append("weak type")
    if "shape" not in found:
        for attribute, name in (("sharding", "sharding"), ("vma", "varying axes"), ("memory_space", "memory space")):
            if getattr(left, attribute, None) != getattr(right, attribute, None):
                found.append(name)
    if not found and left != right:
        found.append("type")
    return tuple(found)


def _both(left: str, right: str, differs: Sequence[str], aval: Any) -> tuple[str, str]:
    """Both descriptions, with the word that tells them apart where the short form has none."""
    if differs == ("weak type",):
        return (f"{left} weak", f"{right} strong") if aval.weak_type else (f"{left} strong", f"{right} weak")
    return left, right


def _type_of(leaf: Any) -> Any:
    """The type of a leaf, None for what is no array."""
    if _jax_types.is_abstract(leaf):
        return leaf
    try:
        return _jax_types.traced_type(leaf)
    except Exception:
        # Whatever JAX says of a value that is no array.
        return None


def _describe(leaf: Any, aval: Any) -> str:
    return describe_value(leaf) if aval is None else _jax_types.short_type(aval)


def _key_paths(tree: Any) -> tuple[tuple[Any, ...], ...]:
    try:
        return _jax_types.key_paths(tree)
    except Exception:
        # Classes may refuse to name their children although they can be flattened.
        return ()


TREE_DIFFERENCE_COLUMNS = (
    Entry(
        "path",
        "Where",
        "Where the two trees differ.",
        "The keys of the pytree.",
        "Never; the whole stands for two trees that differ at the root.",
    ),
    Entry("left", "Wanted", "What the first tree has there.", "JAX's type of the leaf, or its container.", "Never."),
    Entry("right", "Given", "What the second tree has there.", "JAX's type of the leaf, or its container.", "Never."),
    Entry(
        "differs",
        "What differs",
        "Shape, dtype, weak type, sharding, varying axes, memory space, or what of the structure.",
        "Both types compared as JAX compares them.",
        "Never.",
    ),
)


def tree_difference_frame(rows: Sequence[TreeDifference]) -> "pandas.DataFrame":
    """The rows as a pandas DataFrame; `differs` is joined by commas."""
    import pandas

    columns = [entry.key for entry in TREE_DIFFERENCE_COLUMNS]
    data = [(row.path, row.left, row.right, ", ".join(row.differs)) for row in rows]
    return pandas.DataFrame(data, columns=columns, dtype="object")
