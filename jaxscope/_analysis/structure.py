"""Two pytrees walked together, so that each difference gets one row of its own.

Problem: JAX compares structures as a whole; its message gives another dict key as "metadata" of the node and a keyword
argument as two numbers of children. Input: the structures of a compiled signature and of a call, each the pair
(positional arguments, keyword arguments). Output: the differences in user's words, and the pairs of leaves that sit in
the same place and can be compared by type.
"""

import collections
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from jaxscope._analysis.pytrees import Node, Side, describe, is_equal, same, unequal_parts
from jaxscope._analysis.types import root_name, shorten

Verdict = Literal["raises", "copied", "accepted"]
Kind = Literal[
    "missing",
    "extra",
    "container",
    "length",
    "key order",
    "static data",
    "by keyword",
    "by position",
    "static argument",
]

# Placements of dropped static arguments that are tried before the last ones are taken to be the extra ones.
_MAXIMUM_PLACEMENTS = 200
_MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference of structure; `order` is the leaf of the compiled signature that it comes before."""

    path: str
    compiled: str
    called: str
    kind: Kind
    order: int
    advice: str = ""
    note: str = ""


@dataclass
class Walk:
    """What was found: `pairs` are (compiled leaf, called leaf, path), `extra` counts what is too much."""

    differences: list[Difference] = field(default_factory=list)
    pairs: list[tuple[int, int, str]] = field(default_factory=list)
    touched: set[int] = field(default_factory=set)
    extra: int = 0


def compare(
    compiled: Side,
    called: Side,
    paths: Sequence[str],
    static: Sequence[tuple[str, str]],
    leaves_agree: Callable[[int, int], bool],
    value_text: Callable[[int], str],
) -> Walk:
    """Walks both structures.

    Args:
        compiled: The structure the program was compiled for.
        called: The structure of the call.
        paths: JAX's name of each compiled leaf.
        static: Name and repr of the static arguments, which a right call leaves out.
        leaves_agree: Whether a compiled and a called leaf have the same type.
        value_text: The repr of a called leaf that is a plain value, "" for arrays.
    """
    return _Walker(paths, static, leaves_agree, value_text).walk(compiled, called)


def compare_trees(first: Side, second: Side, path: str) -> Walk:
    """Walks two structures that are no arguments of a call, such as the carry of a loop before and after its body.

    Args:
        first: The structure that is wanted.
        second: The structure that is there.
        path: What to call the whole.
    """
    walker = _Walker((), (), lambda *_: True, lambda _: "")
    walker.place(Node(first, first.tree, 0, 0), Node(second, second.tree, 0, 0), path)
    return walker.found


class _Walker:
    def __init__(
        self,
        paths: Sequence[str],
        static: Sequence[tuple[str, str]],
        leaves_agree: Callable[[int, int], bool],
        value_text: Callable[[int], str],
    ):
        self.paths, self.static, self.leaves_agree, self.value_text = paths, static, leaves_agree, value_text
        self.found = Walk()

    def walk(self, compiled: Side, called: Side) -> Walk:
        wanted_positional, wanted_keywords = compiled.children
        brought_positional, brought_keywords = called.children
        wanted = list(wanted_positional.children())
        roots = [self.root(node, f"args[{index}]") for index, node in enumerate(wanted)]
        keyword_nodes = dict(zip(wanted_keywords.keys() or (), wanted_keywords.children(), strict=True))
        brought_by_keyword = dict(zip(brought_keywords.keys() or (), brought_keywords.children(), strict=True))
        brought = list(brought_positional.children())

        moved: set[int] = set()
        for name, node in brought_by_keyword.items():
            if name in keyword_nodes:
                self.place(keyword_nodes[name], node, self.root(keyword_nodes[name], name))
                continue
            position = next((index for index in range(len(brought), len(wanted)) if roots[index] == name), None)
            if position is not None:
                moved.add(position)
                self.moved(
                    wanted[position], node, name, "by keyword", f"position {position}", f"pass {name} by position"
                )
            elif name in dict(self.static):
                self.static_argument(name, node)
            else:
                self.extra(name, node, len(self.paths))

        unfilled = [name for name in keyword_nodes if name not in brought_by_keyword]
        surplus = len(brought) - len(wanted)
        skipped = self.skipped_positions(wanted, brought, surplus) if surplus > 0 and self.static else set()
        unnamed = self.name_static(brought, skipped)
        remaining = [(index, node) for index, node in enumerate(brought) if index not in skipped]
        for index, node in enumerate(wanted):
            if index < len(remaining):
                self.place(node, remaining[index][1], roots[index])
            elif index not in moved:
                self.missing(node, roots[index], f"pass {roots[index]}")
        for index, node in (*remaining[len(wanted) :], *((index, brought[index]) for index in sorted(unnamed))):
            if unfilled:
                name = unfilled.pop(0)
                self.moved(keyword_nodes[name], node, name, "by position", "keyword", f"pass {name}=... by keyword")
            else:
                self.extra(f"args[{index}]", node, len(self.paths))
        for name in unfilled:
            self.missing(keyword_nodes[name], self.root(keyword_nodes[name], name), f"pass {name}=...")
        return self.found

    def root(self, node: Node, otherwise: str) -> str:
        """The name of an argument: the name of its first leaf without the keys inside the argument."""
        if not node.tree.num_leaves:
            return otherwise
        path = self.paths[node.first]
        if node.is_leaf:
            return path
        suffix = "".join(self.suffix(node))
        if suffix and path.endswith(suffix) and path != suffix:
            return path.removesuffix(suffix)
        # Classes without named fields print their children differently; the name before them is still the parameter's.
        name = root_name(path)
        shared = sum(root_name(other) == name for other in self.paths) > node.tree.num_leaves
        return otherwise if shared or not name.isidentifier() else name

    def suffix(self, node: Node) -> Iterator[str]:
        while not node.is_leaf:
            label, node = next(
                (label, child)
                for label, child in zip(node.labels(), node.children(), strict=True)
                if child.tree.num_leaves
            )
            yield label

    def skipped_positions(self, wanted: Sequence[Node], brought: Sequence[Node], surplus: int) -> set[int]:
        """The positions of the call that are most likely static arguments: without them the rest fits best."""
        count = min(surplus, len(self.static))
        values = {value for _, value in self.static}
        best, best_score = (), -1
        for skipped in itertools.islice(itertools.combinations(range(len(brought)), count), _MAXIMUM_PLACEMENTS):
            rest = [node for index, node in enumerate(brought) if index not in skipped]
            score = sum(2 for first, second in zip(wanted, rest, strict=False) if self.fits(first, second))
            score += sum(self.plain_value(brought[index]) in values for index in skipped)
            if score >= best_score:
                best, best_score = skipped, score
        return set(best)

    def fits(self, wanted: Node, brought: Node) -> bool:
        return same(wanted.tree, brought.tree) and all(
            self.leaves_agree(first, second) for first, second in zip(wanted.leaves, brought.leaves, strict=True)
        )

    def plain_value(self, node: Node) -> str:
        return self.value_text(node.first) if node.is_leaf else ""

    def name_static(self, brought: Sequence[Node], skipped: set[int]) -> set[int]:
        """Reports the skipped positions as static arguments; returns those for which no name is left."""
        names = list(self.static)
        without_name = set()
        for index in sorted(skipped):
            text = self.plain_value(brought[index])
            entry = next((entry for entry in names if entry[1] == text), names[0] if names else None)
            if entry is None:
                without_name.add(index)
                continue
            names.remove(entry)
            self.static_argument(entry[0], brought[index])
        return without_name

    def place(self, wanted: Node, brought: Node, path: str) -> None:
        """Compares what sits in the same place."""
        if wanted.is_leaf and brought.is_leaf:
            self.found.pairs.append((wanted.first, brought.first, path))
            return
        if wanted.container is not brought.container:
            self.other_container(wanted, brought, path)
            return
        wanted_keys, brought_keys = wanted.keys(), brought.keys()
        if wanted_keys is not None and brought_keys is not None:
            self.dictionaries(wanted, brought, path, wanted_keys, brought_keys)
            return
        if len(wanted.tree.children()) != len(brought.tree.children()):
            self.report(wanted, brought, path, "length", self.length_advice(wanted, path), wanted.leaves)
        elif not is_equal(wanted.data, brought.data):
            name = describe(wanted.tree, "")
            compiled, called = (f"{name} {text}" for text in unequal_parts(wanted.data, brought.data))
            advice = f"pass {path} with the static data it was compiled with, or compile again"
            self.found.differences.append(Difference(path, compiled, called, "static data", wanted.first, advice))
            self.found.touched.update(wanted.leaves)
        self.children(wanted, brought, path)

    def children(self, wanted: Node, brought: Node, path: str) -> None:
        # The side that is there names the fields: the other may have no leaf that says.
        labels = wanted.labels() if wanted.side.key_paths else brought.labels()
        for label, first, second in zip(labels, wanted.children(), brought.children(), strict=False):
            self.place(first, second, path + label)

    def dictionaries(
        self, wanted: Node, brought: Node, path: str, wanted_keys: list[Any], brought_keys: list[Any]
    ) -> None:
        brought_nodes = list(zip(brought_keys, brought.children(), strict=True))
        absent: list[tuple[Any, Node]] = []
        for key, node in zip(wanted_keys, wanted.children(), strict=True):
            match = next((other for other_key, other in brought_nodes if other_key == key), None)
            if match is None:
                absent.append((key, node))
            else:
                self.place(node, match, f"{path}[{key!r}]")
        surplus = [(key, node) for key, node in brought_nodes if key not in wanted_keys]
        renamed = len(absent) == len(surplus) == 1
        for key, node in absent:
            advice = f"rename {surplus[0][0]!r} to {key!r}" if renamed else f"add the key {key!r}"
            self.missing(node, f"{path}[{key!r}]", shorten(advice))
        for key, node in surplus:
            advice = f"rename {key!r} to {absent[0][0]!r}" if renamed else f"leave out the key {key!r}"
            self.extra(f"{path}[{key!r}]", node, (wanted.first + wanted.tree.num_leaves), shorten(advice))
        if not absent and not surplus and not is_equal(wanted.data, brought.data):
            # The order of an OrderedDict and the factory of a defaultdict are part of the structure.
            compiled, called = shorten(repr(wanted.data)), shorten(repr(brought.data))
            kind: Kind = "key order" if wanted.container is collections.OrderedDict else "static data"
            advice = (
                "give the keys in the order it was compiled with" if kind == "key order" else f"pass {path} as compiled"
            )
            self.found.differences.append(Difference(path, compiled, called, kind, wanted.first, advice))
            self.found.touched.update(wanted.leaves)

    def other_container(self, wanted: Node, brought: Node, path: str) -> None:
        self.report(wanted, brought, path, "container", self.container_advice(wanted, brought, path), wanted.leaves)
        sequences = wanted.container in (tuple, list) and brought.container in (tuple, list)
        wanted_keys, brought_keys = wanted.keys(), brought.keys()
        if sequences:
            self.children(wanted, brought, path)
        elif wanted_keys is not None and brought_keys is not None and set(wanted_keys) == set(brought_keys):
            others = dict(zip(brought_keys, brought.children(), strict=True))
            for key, node in zip(wanted_keys, wanted.children(), strict=True):
                self.place(node, others[key], f"{path}[{key!r}]")

    def container_advice(self, wanted: Node, brought: Node, path: str) -> str:
        if brought.container is type(None):
            return f"pass {wanted.with_article()} for {path}"
        if wanted.is_leaf:
            return f"pass one array, {wanted.describe()}; jnp.asarray({path}) makes one of numbers"
        if wanted.container is type(None):
            return f"pass None for {path}"
        # A dict makes a tuple of its keys, and a tuple of two arrays is no dict.
        if wanted.container in (tuple, list):
            converts = brought.container is not None and issubclass(brought.container, tuple | list)
        else:
            converts = wanted.container is dict and brought.keys() is not None
        if converts:
            return f"{wanted.container.__name__}({path})"
        return f"pass {wanted.with_article()} for {path}"

    def length_advice(self, wanted: Node, path: str) -> str:
        return f"pass {wanted.with_article()} for {path}, or compile again"

    def report(self, wanted: Node, brought: Node, path: str, kind: Kind, advice: str, touched: Sequence[int]) -> None:
        entry = Difference(path, wanted.describe(), brought.describe(), kind, wanted.first, shorten(advice))
        self.found.differences.append(entry)
        self.found.touched.update(touched)

    def missing(self, node: Node, path: str, advice: str) -> None:
        self.found.differences.append(Difference(path, node.describe(), _MISSING, "missing", node.first, advice))
        self.found.touched.update(node.leaves)

    def extra(self, path: str, node: Node, order: int, advice: str = "") -> None:
        advice = advice or f"leave out {path}"
        self.found.differences.append(Difference(path, _MISSING, node.describe(), "extra", order, advice))
        self.found.extra += 1

    def static_argument(self, name: str, node: Node) -> None:
        value = dict(self.static)[name]
        entry = Difference(
            path=name,
            compiled=f"static {value}",
            called=node.describe(),
            kind="static argument",
            order=len(self.paths),
            advice=f"leave out static argument {name}",
            note="Static values are part of the program, so a compiled function does not take them.",
        )
        self.found.differences.append(entry)
        self.found.extra += 1

    def moved(self, wanted: Node, brought: Node, name: str, kind: Kind, compiled: str, advice: str) -> None:
        called = "keyword" if kind == "by keyword" else "position"
        self.found.differences.append(Difference(name, compiled, called, kind, wanted.first, advice))
        self.found.touched.update(wanted.leaves)
        self.place(wanted, brought, name)
