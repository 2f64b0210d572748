"""Which results take the place of which arguments: the states of a step.

Problem: `params, opt_state = step(params, opt_state, batch)` is how steps are called, and nothing in a program says so.
Input: its `Signature`. Output: pairs of an argument's and a result's place. An argument is taken for a state if some
part of the results has the same structure, keys and types as all of it, or, for a single array, the same name. Weak
types are not compared.

That a tree comes out again does not prove that it is passed back: gradients have the structure of parameters.
"""

from collections.abc import Iterator, Sequence

from jaxscope._analysis.signature import Leaf, Signature


def carried_leaves(signature: Signature) -> tuple[tuple[int, int], ...]:
    """Pairs of places, of an argument and of the result that takes its place at the next call."""
    roots: dict[str, list[int]] = {}
    for index, leaf in enumerate(signature.arguments):
        roots.setdefault(leaf.name, []).append(index)
    outputs = {leaf.path: index for index, leaf in enumerate(signature.outputs)}
    taken: set[int] = set()
    found: list[tuple[int, int]] = []
    for name, indices in roots.items():
        leaves = [signature.arguments[index] for index in indices]
        for candidate in _candidates(name, leaves, signature.outputs, outputs):
            if taken.isdisjoint(candidate):
                taken.update(candidate)
                found += zip(indices, candidate, strict=True)
                break
    return tuple(found)


def _candidates(
    name: str, leaves: Sequence[Leaf], results: Sequence[Leaf], places: dict[str, int]
) -> Iterator[list[int]]:
    """The parts of the results that an argument's leaves have a place in, each as the places of its leaves."""
    keys = [leaf.path.removeprefix(name) for leaf in leaves]
    if keys == [""]:
        endings = (f"['{name}']", f".{name}")
        for index, result in enumerate(results):
            if result.type == leaves[0].type and result.path.endswith(endings):
                yield [index]
        return
    for result in results:
        if result.type != leaves[0].type or not result.path.endswith(keys[0]):
            continue
        prefix = result.path[: len(result.path) - len(keys[0])]
        found = [places.get(prefix + key, -1) for key in keys]
        fits = -1 not in found and all(
            results[place].type == leaf.type for place, leaf in zip(found, leaves, strict=True)
        )
        # A part with more leaves is another structure.
        if fits and sum(each.path.startswith(prefix) for each in results) == len(keys):
            yield found
