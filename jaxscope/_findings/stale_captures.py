"""Captured NumPy arrays that were changed after they had been written into the program.

What it does:
    Names captured arrays whose elements are no longer those of the program's constant.

Why it matters:
    A function is traced once for each signature, and a captured array is copied into the program then. JAX does not
    look at it again: a change is silently ignored, until something else makes JAX trace anew.

Example:
        scale = np.ones(3)
        step = jax.jit(lambda x: scale * x)
        step(x)
        scale[:] = 2.0
        step(x)   # still multiplies by 1.0

Use instead:
        step = jax.jit(lambda scale, x: scale * x)
        step(scale, x)

    Or call `jax.clear_caches()` after a change: every function is then traced and compiled anew.

When it is wrong:
    Where the values of the first call are wanted; make the array read-only then, with `scale.setflags(write=False)`.
    Changed Python values, such as a number in a dictionary, are not found: they leave no trace in the program.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from jaxscope import _jax_mlir, _jax_types
from jaxscope._findings.equations import first_uses, live_equations
from jaxscope._findings.records import Observation, Program, Rule, read_documentation

# Larger ones take longer to compare than a look at the program may take, and have a finding of their own.
MOST_BYTES = 2**26


def _observations(program: Program) -> Iterator[Observation]:
    lowered, traced = program.require_product("lower"), program.require_product("trace")
    types: dict[int, str] = {}
    arrays: dict[int, np.ndarray] = {}
    for value in _jax_types.captured_constants(traced):
        array = _jax_types.live_numpy_array(value)
        if array is not None and array.ndim and 0 < array.nbytes <= MOST_BYTES:
            text = _jax_mlir.type_in_mlir(array.shape, array.dtype)
            if text is not None:
                types[id(value)], arrays[id(value)] = text, array
    if not arrays:
        return
    constants: dict[str, list[np.ndarray]] = {}
    for text, constant in _jax_mlir.constants_of(lowered, set(types.values())):
        constants.setdefault(text, []).append(constant)
    places: dict[int, Any] | None = None
    for key, array in arrays.items():
        written = constants.get(types[key], [])
        if any(_are_equal(array, constant) for constant in written):
            continue
        # What no array of this type holds any more.
        current = [arrays[other] for other, text in types.items() if text == types[key]]
        old = [constant for constant in written if not any(_are_equal(array, constant) for array in current)]
        places = first_uses(program) if places is None else places
        place = places.get(key)
        if not old or place is None or id(place.equation) not in live_equations(place.jaxpr):
            continue
        yield Observation(
            found=_describe(array, old),
            advice="Pass the array as an argument: the program then takes its elements at each call.",
            frames=place.frames,
            lines=place.lines,
        )


def _are_equal(first: np.ndarray, second: np.ndarray) -> bool:
    # Not a number equals itself here.
    return first.shape == second.shape and np.array_equal(first, second, equal_nan=first.dtype.kind == "f")


def _describe(array: np.ndarray, old: list[np.ndarray]) -> str:
    kind = _jax_types.short_array_type(array.shape, array.dtype)
    found = f"The captured {kind} was changed after it was written into the program, which holds the old elements"
    if len(old) > 1:
        return f"{found}."
    differs = (array != old[0]) & ~((array != array) & (old[0] != old[0]))
    count = int(differs.sum())
    index = tuple(int(part) for part in np.argwhere(differs)[0])
    where = ", ".join(map(str, index))
    verb = "differs" if count == 1 else "differ"
    return (
        f"{found}: {count:,} of {array.size:,} {verb}, [{where}] is {old[0][index].item()!r} in the program "
        f"and {array[index].item()!r} now."
    )


RULE = Rule(
    key="stale-capture",
    title="Captured array changed since",
    severity="warning",
    find=_observations,
    documentation=read_documentation(__doc__),
)
