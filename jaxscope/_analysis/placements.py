"""Where an argument must be, where it is, and what a compiled call does about the difference.

Problem: a compiled program takes its arguments on certain devices, in certain pieces, memories and layouts; JAX moves
what is free to move, copies from the host and refuses the rest, and says so of none before it runs. Input: what the
program takes and one argument. Output: `Placement`: what differs, and whether the call ``raises``, copies or takes it.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

import jax
import numpy as np

from jaxscope import _jax_types
from jaxscope._analysis.structure import Verdict
from jaxscope._analysis.types import describe_sharding, shorten

Difference = Literal["device", "memory kind", "sharding", "layout", "deleted"]


@dataclass(frozen=True, slots=True)
class Placement:
    """What a compiled call does about where an argument is.

    Attributes:
        verdict: Whether it ``raises``, the argument is ``copied`` to where the program is, or ``accepted`` as it is.
        differs: What differs; None where nothing does but the argument may come from the host.
        compiled: Where the program takes it, in words behind its type: ``on cpu:0``.
        called: Where it is.
        note: What else follows from it.
        advice: What to do.
        known: Whether the two could be compared.
    """

    verdict: Verdict
    differs: Difference | None = None
    compiled: str = ""
    called: str = ""
    note: str = ""
    advice: str = ""
    known: bool = True


_ACCEPTED = Placement("accepted")
_UNKNOWN = Placement("accepted", known=False)
_FREE = "The array is committed to no device, so the call moves it to where the program wants it."
_KEY = "Calls move keys from any device to where the program wants them."
_HELD = "The devices of the program hold the pieces it wants, so nothing is copied."
_MOVED = "The program was jitted for a device or a backend of its own, so the call moves its arguments there."


def judge_placement(types: _jax_types.InputTypes, index: int, value: Any, path: str) -> Placement:
    """What a compiled call does about where leaf `index` is; shapes and dtypes must agree already.

    Args:
        types: The inputs of the program.
        index: The leaf.
        value: What the call brings.
        path: What to call it in the advice.
    """
    if types.kept is not None and not types.kept[index]:
        # Not even deleted arrays matter where the program does not read them.
        return _ACCEPTED
    is_array = isinstance(value, jax.Array)
    is_key = is_array and jax.dtypes.issubdtype(value.dtype, jax.dtypes.extended)
    if is_array and not is_key and value.is_deleted():
        return Placement(
            "raises",
            "deleted",
            called="deleted",
            note="The array was donated or deleted.",
            advice="pass an array that is still alive",
        )
    if not is_array and not isinstance(value, jax.ShapeDtypeStruct):
        is_host = isinstance(value, np.ndarray | np.generic | int | float | complex)
        return Placement("copied" if is_host else "accepted")
    compiled = types.shardings[index] if types.shardings is not None else None
    sharding = getattr(value, "sharding", None)
    if not isinstance(compiled, jax.sharding.Sharding) or sharding is None:
        return _ACCEPTED
    if not _jax_types.is_attached(compiled):
        return _UNKNOWN
    moves = _jax_types.follows_device_argument(compiled)
    committed = (_jax_types.is_committed(value) if is_array else True) and not is_key and not moves
    if not sharding.is_equivalent_to(compiled, len(types.avals[index].shape)):
        moved = _MOVED if moves else _KEY if is_key else _FREE
        held = not committed and is_array and _holds_pieces(compiled, sharding, tuple(types.avals[index].shape))
        found = _elsewhere(compiled, sharding, committed, moved, path)
        return replace(found, verdict="accepted", note=_HELD) if held else found
    return _layout(types, index, value, path) if is_array and committed else _ACCEPTED


def _elsewhere(compiled: Any, sharding: Any, committed: bool, moved: str, path: str) -> Placement:
    wanted = describe_sharding(compiled)
    return Placement(
        verdict="raises" if committed else "copied",
        differs=placement_difference(compiled, sharding),
        compiled=f"on {wanted}",
        called=f"on {describe_sharding(sharding)}",
        note="" if committed else moved,
        advice=f"jax.device_put({path}, ...) with the sharding {wanted}" if committed else "",
    )


def _holds_pieces(compiled: Any, sharding: Any, shape: tuple[int, ...]) -> bool:
    """Whether each device of the program has just the piece of the array that it wants there."""
    if compiled.memory_kind != sharding.memory_kind:
        return False
    wanted, held = (_pieces(each, shape) for each in (compiled, sharding))
    return all(held.get(device) == piece for device, piece in wanted.items())


def _pieces(sharding: Any, shape: tuple[int, ...]) -> dict[Any, tuple[tuple[int, int, int], ...]]:
    """The range of each dimension that each device holds."""
    return {
        device: tuple(part.indices(size) for part, size in zip(parts, shape, strict=True))
        for device, parts in sharding.devices_indices_map(shape).items()
    }


def _layout(types: _jax_types.InputTypes, index: int, value: Any, path: str) -> Placement:
    required = types.layouts[index] if types.layouts is not None else None
    layout = value.format.layout
    if required is None or layout is None or layout == required:
        return _ACCEPTED
    return Placement(
        "raises",
        "layout",
        compiled=f"as {shorten(str(required))}",
        called=f"as {shorten(str(layout))}",
        advice=f"jax.device_put({path}, compiled.input_formats) with the format of this argument",
    )


def placement_difference(first: Any, second: Any) -> Literal["device", "memory kind", "sharding"]:
    """What differs between two shardings: only the memory, only the device of a whole array, or how it is cut."""
    if first.device_set == second.device_set and first.memory_kind != second.memory_kind:
        if first.with_memory_kind(second.memory_kind) == second:
            return "memory kind"
    elif len(first.device_set) == len(second.device_set) == 1 and first.device_set != second.device_set:
        return "device"
    return "sharding"
