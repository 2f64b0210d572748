"""Places in a pytree structure, without the values in it.

Problem: a structure (`PyTreeDef`) gives its children and what a container keeps beside them, but neither what a place
is called nor which leaves are below it. Input: a structure and, where there are any, the keys that lead to its leaves.
Output: `Node`, one place, with the labels JAX's own argument names use, and descriptions for people.
"""

import collections
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax

from jaxscope._analysis.types import shorten


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two structures: its tree, the keys that lead to its leaves (or none), and how to describe a leaf."""

    tree: Any
    key_paths: Sequence[tuple[Any, ...]]
    leaf_type: Callable[[int], str]

    @property
    def children(self) -> tuple["Node", "Node"]:
        """The positional and the keyword arguments."""
        positional, keywords = Node(self, self.tree, 0, 0).children()
        return positional, keywords


@dataclass(frozen=True, slots=True)
class Node:
    """A place in a structure: `first` is the index of its first leaf, `depth` the number of keys that lead to it."""

    side: Side
    tree: Any
    first: int
    depth: int

    @property
    def is_leaf(self) -> bool:
        """Whether an array sits here; None is a node without leaves."""
        return self.tree.num_nodes == 1 and self.tree.num_leaves == 1

    @property
    def leaves(self) -> range:
        """The indices of the leaves below."""
        return range(self.first, self.first + self.tree.num_leaves)

    @property
    def container(self) -> type | None:
        """The type of the container, None for a leaf."""
        data = None if self.is_leaf else self.tree.node_data()
        return None if data is None else data[0]

    @property
    def data(self) -> Any:
        """What the container keeps beside its children: keys of a dict, static fields of a class."""
        return None if self.is_leaf else self.tree.node_data()[1]

    def children(self) -> list["Node"]:
        """The places directly below."""
        found, first = [], self.first
        for child in self.tree.children():
            found.append(Node(self.side, child, first, self.depth + 1))
            first += child.num_leaves
        return found

    def labels(self) -> list[str]:
        """What to write behind the path for each child: ``['w']``, ``[0]``, ``.opt``."""
        container, children = self.container, self.children()
        if (keys := self.keys()) is not None:
            return [f"[{key!r}]" for key in keys]
        if container in (tuple, list):
            return [f"[{index}]" for index in range(len(children))]
        if container is not None and issubclass(container, tuple) and hasattr(container, "_fields"):
            return [f".{name}" for name in container._fields]
        return [self._label(child, index) for index, child in enumerate(children)]

    def keys(self) -> list[Any] | None:
        """The keys of a dict in the order of the children, None for everything else."""
        if self.container in (dict, collections.OrderedDict):
            return list(self.data)
        if self.container is collections.defaultdict:
            return list(self.data[1])
        return None

    def _label(self, child: "Node", index: int) -> str:
        # Classes of the user: only the keys that lead to a leaf say what its fields are called.
        if child.tree.num_leaves and child.first < len(self.side.key_paths):
            keys = self.side.key_paths[child.first]
            if self.depth < len(keys):
                return key_text(keys[self.depth])
        return f"[{index}]"

    def describe(self) -> str:
        """The type of a leaf, or the container and its size."""
        if self.is_leaf:
            return self.side.leaf_type(self.first)
        return describe(self.tree, "")

    def with_article(self) -> str:
        """`describe` inside a sentence."""
        text = self.describe()
        if self.is_leaf or self.container is type(None):
            return text
        return ("an " if text[0].lower() in "aeio" else "a ") + text


def key_text(key: Any) -> str:
    """One key as JAX's argument names write it; `jax.tree_util.keystr` writes ``[<flat index 0>]`` for ``[0]``."""
    if isinstance(key, jax.tree_util.FlattenedIndexKey):
        return f"[{key.key}]"
    return jax.tree_util.keystr((key,))


def describe(tree: Any, leaf: str) -> str:
    """A container in words: ``tuple of 2``, ``dict with keys 'b', 'w'``, ``None``; `leaf` for a leaf."""
    if tree.num_nodes == 1 and tree.num_leaves == 1:
        return leaf
    container, data = tree.node_data()
    if container is type(None):
        return "None"
    if container in (dict, collections.OrderedDict):
        return shorten(f"{container.__name__} with keys {', '.join(map(repr, data))}" if data else "empty dict")
    if container in (tuple, list):
        return f"{container.__name__} of {len(tree.children())}"
    return shorten(container.__name__)


def same(first: Any, second: Any) -> bool:
    """Whether JAX takes two structures for equal; classes whose static data cannot be compared are not."""
    try:
        return bool(first == second)
    except Exception:
        # The user's __eq__ may raise anything; the compiled call raises the same then.
        return False


def unequal_parts(first: Any, second: Any) -> tuple[str, str]:
    """The reprs of two pieces of static data, of their unequal entries only where both list the same entries."""
    if isinstance(first, dict) and isinstance(second, dict) and first.keys() == second.keys():
        keys = [key for key in first if not is_equal(first[key], second[key])]
        return tuple(shorten(", ".join(f"{key}={data[key]!r}" for key in keys)) for data in (first, second))
    if isinstance(first, tuple) and isinstance(second, tuple) and len(first) == len(second):
        unequal = [index for index in range(len(first)) if not is_equal(first[index], second[index])]
        return tuple(shorten(", ".join(repr(data[index]) for index in unequal)) for data in (first, second))
    return shorten(repr(first)), shorten(repr(second))


def is_equal(first: Any, second: Any) -> bool:
    """Whether two pieces of static data are equal, as far as their own classes can say."""
    try:
        return bool(first == second)
    except Exception:
        # Arrays among static data have no truth value; JAX's own comparison fails on them too.
        return False
