"""The call that a program was compiled for, as text that can be typed again.

Problem: whoever tries another call starts best from the one that fits. Input: the inputs of a program. Output: what
stands between the parentheses of that call, static arguments left out, or why it cannot be written; and the mesh that
axes in such a text belong to.
"""

from dataclasses import dataclass
from typing import Any

import jax

from jaxscope import _jax_types
from jaxscope._analysis.types import shorten
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._call_text import write_call_text

# Nobody edits a longer line.
MAXIMUM_LENGTH = 2_000
_SHORTEST_TYPE = len("i4[], ")
_WRITTEN_CONTAINERS = (tuple, list, dict, type(None))
_IN_PYTHON = "inspection.check(...) in Python takes them."


@dataclass(frozen=True)
class CompiledCall:
    """The compiled types as a call.

    Attributes:
        text: What stands between the parentheses, such as ``f32[8,128], {'w': bf16[128,64]}``.
        is_placed: Whether it says of every array over which axes of a mesh it is split; False where some are split in a
            way that has no spelling, and the text leaves all of that out.
    """

    text: str
    is_placed: bool


def write_compiled_call(types: _jax_types.InputTypes) -> CompiledCall | Unavailable:
    """The compiled types as a call."""
    too_many = Unavailable(f"The compiled types are too many to stand in one line; {_IN_PYTHON}")
    if len(types.avals) * _SHORTEST_TYPE > MAXIMUM_LENGTH:
        return too_many
    try:
        other = _other_container(types.tree)
    except RecursionError:
        return Unavailable(f"The arguments are nested too deeply to be typed here; {_IN_PYTHON}")
    if other is not None:
        return Unavailable(
            f"The program takes containers that cannot be typed here ({shorten(other.__name__)}); {_IN_PYTHON}"
        )
    for placed in (True, False):
        leaves = [_leaf(types, index, placed) for index in range(len(types.avals))]
        # Of tuples, lists and dicts only: no code of the user runs.
        args, kwargs = jax.tree_util.tree_unflatten(types.tree, leaves)
        text = write_call_text(args, kwargs)
        if text is not None:
            return CompiledCall(text, placed) if len(text) <= MAXIMUM_LENGTH else too_many
    return Unavailable(f"The program takes types that cannot be typed here; {_IN_PYTHON}")


def mesh_of_inputs(types: _jax_types.InputTypes) -> Any:
    """The mesh that inputs of the program are laid over; None where there is none."""
    for sharding in (*(types.shardings or ()), *types.requested):
        mesh = getattr(sharding, "mesh", None)
        if isinstance(mesh, jax.sharding.Mesh):
            return mesh
    return None


def _other_container(tree: Any) -> type | None:
    """A container that is no tuple, list or dict of Python's own."""
    data = tree.node_data()
    if data is not None and data[0] not in _WRITTEN_CONTAINERS:
        return data[0]
    return next(filter(None, map(_other_container, tree.children())), None)


def _leaf(types: _jax_types.InputTypes, index: int, placed: bool) -> Any:
    """An input as an abstract array, with its place on a mesh where that is wanted and there is one."""
    aval = types.avals[index]
    sharding = (types.shardings[index] if types.shardings is not None else None) or types.requested[index]
    is_split = isinstance(sharding, jax.sharding.NamedSharding) and any(sharding.spec)
    try:
        return jax.ShapeDtypeStruct(
            aval.shape,
            aval.dtype,
            sharding=sharding if placed and is_split else None,
            weak_type=bool(getattr(aval, "weak_type", False)),
        )
    except (AttributeError, TypeError, ValueError):
        # Tokens and other types without a shape: they cannot be written either.
        return aval
