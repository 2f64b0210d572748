"""Which results take the place of which arguments: the states of a step.

Problem: `params, opt_state = step(params, opt_state, batch)` is how steps are called, and nothing in a program says so.
Input: its `Signature`. Output: pairs of an argument's and a result's place. An argument is taken for a state if some
part of the results has the same structure, keys and types as all of it, or, for a single array, the same name. Weak
types are not compared.

That a tree comes out again does not prove that it is passed back: gradients have the structure of parameters. So the
second question, asked of the jaxpr, is whether a result is its argument with something added, cut in or selected:
`Updates`.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from jaxscope import _jax_equations
from jaxscope._analysis.signature import Leaf, Signature

# What makes the new value of a state of its old one, number by number or in a part of it.
_UPDATING = frozenset(
    (
        *("add", "add_any", "sub", "mul", "div", "neg", "max", "min", "clamp", "select_n", "and", "or", "xor"),
        *("square", "integer_pow", "pow", "sqrt", "rsqrt", "sign", "convert_element_type", "copy"),
        *("dynamic_update_slice", "scatter", "scatter-add", "scatter_add", "sharding_constraint"),
        "optimization_barrier",
    )
)
# Values looked at for one result.
_MAXIMUM_STEPS = 256


Pairs = tuple[tuple[int, int], ...]


def carried_leaves(signature: Signature) -> Pairs:
    """Pairs of places, of an argument and of the result that takes its place at the next call."""
    return _pairs(signature, lambda leaf: leaf.type, ())


def retyped_leaves(signature: Signature) -> Pairs:
    """The same of arguments that come out with the same keys and shapes, and at least one in another element type."""
    return _pairs(signature, lambda leaf: leaf.type.partition("[")[2], carried_leaves(signature))


def _pairs(signature: Signature, kind: Callable[[Leaf], str], known: Pairs) -> Pairs:
    """The pairs that are alike in `kind`, without those that are known."""
    carried, taken = {one for one, _ in known}, {other for _, other in known}
    roots: dict[str, list[int]] = {}
    for index, leaf in enumerate(signature.arguments):
        if index not in carried:
            roots.setdefault(leaf.name, []).append(index)
    outputs = {leaf.path: index for index, leaf in enumerate(signature.outputs)}
    found: list[tuple[int, int]] = []
    names = list(dict.fromkeys(leaf.name for leaf in signature.arguments))
    for name, indices in roots.items():
        leaves = [signature.arguments[index] for index in indices]
        candidates = dict(_candidates(name, leaves, signature.outputs, outputs, kind))
        # Of trees of the same types, the one of the same name or in the same place is the likeliest.
        likely = (f"['{name}']", f".{name}", f"[{names.index(name)}]")
        for prefix in sorted(candidates, key=lambda prefix: not prefix.endswith(likely)):
            candidate = candidates[prefix]
            if taken.isdisjoint(candidate):
                taken.update(candidate)
                found += zip(indices, candidate, strict=True)
                break
    return tuple(found)


def _candidates(
    name: str, leaves: Sequence[Leaf], results: Sequence[Leaf], places: dict[str, int], kind: Callable[[Leaf], str]
) -> Iterator[tuple[str, list[int]]]:
    """The parts of the results that an argument's leaves have a place in: the path, and the places of the leaves."""
    keys = [leaf.path.removeprefix(name) for leaf in leaves]
    kinds = [kind(leaf) for leaf in leaves]
    if keys == [""]:
        endings = (f"['{name}']", f".{name}")
        for index, result in enumerate(results):
            if kind(result) == kinds[0] and result.path.endswith(endings):
                yield result.path, [index]
        return
    for result in results:
        if kind(result) != kinds[0] or not result.path.endswith(keys[0]):
            continue
        prefix = result.path[: len(result.path) - len(keys[0])]
        found = [places.get(prefix + key, -1) for key in keys]
        fits = -1 not in found and all(kind(results[place]) == one for place, one in zip(found, kinds, strict=True))
        # A part with more leaves is another structure.
        if fits and sum(each.path.startswith(prefix) for each in results) == len(keys):
            yield prefix, found


class Updates:
    """Answers, for one program, which arguments a result is an update of; loops and calls are followed."""

    def __init__(self, closed_jaxpr: Any):
        self._jaxpr = closed_jaxpr.jaxpr
        self._makers: dict[int, dict[Any, Any]] = {}
        self._known: dict[tuple[int, int], frozenset[int]] = {}

    def is_update(self, result: int, argument: int) -> bool:
        """Whether a result of the program is an argument with something done to it, by their places."""
        return argument in self._reached(self._jaxpr, result)

    def _reached(self, jaxpr: Any, result: int) -> frozenset[int]:
        key = (id(jaxpr), result)
        if key not in self._known:
            # A jaxpr cannot hold itself; the entry is there for one that is met twice on one way.
            self._known[key] = frozenset()
            self._known[key] = frozenset(self._walk(jaxpr, jaxpr.outvars[result]))
        return self._known[key]

    def _walk(self, jaxpr: Any, result: Any) -> Iterator[int]:
        makers = self._makers_of(jaxpr)
        places = {variable: index for index, variable in enumerate(jaxpr.invars)}
        waiting, seen = [result], set()
        while waiting and len(seen) < _MAXIMUM_STEPS:
            variable = waiting.pop()
            if _jax_equations.is_literal(variable) or variable in seen:
                continue
            seen.add(variable)
            if variable in places:
                yield places[variable]
            elif (equation := makers.get(variable)) is not None and not _jax_equations.is_transposed(equation):
                waiting += self._operands(equation, variable)

    def _operands(self, equation: Any, variable: Any) -> Iterator[Any]:
        """The operands that a result of an equation is an update of."""
        number = equation.outvars.index(variable)
        inners = _jax_equations.inner_jaxprs(equation)
        for inner in inners:
            for output, outside in enumerate(inner.outputs):
                if outside != number:
                    continue
                inside = set(self._reached(inner.jaxpr, output)) | ({inner.carried[output]} - {None})
                yield from (equation.invars[inner.inputs[place]] for place in inside if inner.inputs[place] is not None)
        if not inners and equation.primitive.name in _UPDATING:
            for operand in equation.invars:
                if getattr(operand.aval, "shape", None) == variable.aval.shape:
                    yield operand

    def _makers_of(self, jaxpr: Any) -> dict[Any, Any]:
        if id(jaxpr) not in self._makers:
            self._makers[id(jaxpr)] = {variable: each for each in jaxpr.eqns for variable in each.outvars}
        return self._makers[id(jaxpr)]
