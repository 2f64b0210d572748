"""Integer equations whose result need not fit into their type.

Problem: JAX counts positions in int32, and a flattened index over more than 2**31 elements wraps round without a word.
Input: a traced program. Output: `OverflowRisk`, one for each equation whose largest possible result, as far as it
follows from iotas, literals and shapes alone, is beyond its type. Arguments can be anything and give no bound, so
arithmetic on them is never reported; unsigned arithmetic, which random bits and hashes wrap on purpose, is not either.
"""

from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from jaxscope import _jax, _jax_equations, _jax_types
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._ir.model import Frame

Range = tuple[int, int]

# They hand on or pick from what they are given.
_KEEPING = frozenset(
    (
        "broadcast_in_dim",
        "reshape",
        "squeeze",
        "expand_dims",
        "transpose",
        "copy",
        "rev",
        "slice",
        "dynamic_slice",
        "reduce_max",
        "reduce_min",
        "cummax",
        "cummin",
        "sort",
        "stop_gradient",
    )
)
_NO_LINE = Unavailable("No listing of the jaxpr was given.")


@dataclass(frozen=True, slots=True)
class OverflowRisk:
    """One equation whose result may be too large.

    Attributes:
        primitive: What it does: ``mul``.
        type: The type of its result: ``i32[70000]``.
        largest: The value furthest from zero that follows from the program.
        limit: The largest value of the type.
        frames: The user's call stack, innermost first.
        line: The line in the jaxpr's listing, from 0.
        equation: JAX's own equation.
    """

    primitive: str
    type: str
    largest: int
    limit: int
    frames: tuple[Frame, ...]
    line: int | Unavailable = _NO_LINE
    equation: Any = field(default=None, repr=False, compare=False)


def overflow_risks(closed_jaxpr: Any) -> tuple[OverflowRisk, ...]:
    """The equations of a program, jaxprs inside it included, whose results need not fit into their integer type."""
    walk = _Ranges()
    walk.jaxpr(closed_jaxpr.jaxpr, (), ())
    return tuple(walk.found.values())


class _Ranges:
    def __init__(self) -> None:
        self.found: dict[int, OverflowRisk] = {}
        self.sources: dict[int, _jax_equations.EquationSource] = {}
        self.known: dict[tuple[int, tuple[Range | None, ...]], tuple[Range | None, ...]] = {}

    def jaxpr(
        self, jaxpr: Any, inputs: tuple[Range | None, ...], frames: tuple[Frame, ...]
    ) -> tuple[Range | None, ...]:
        key = (id(jaxpr), inputs)
        if (answer := self.known.get(key)) is not None:
            return answer
        ranges: dict[Any, Range] = {
            variable: known for variable, known in zip(jaxpr.invars, inputs, strict=False) if known is not None
        }
        for equation in jaxpr.eqns:
            taken = [_range_of(operand, ranges) for operand in equation.invars]
            given = self.inside(equation, taken, frames)
            if given is None:
                given = (_result(equation, taken), *(None,) * len(equation.outvars))[: len(equation.outvars)]
            for variable, known in zip(equation.outvars, given, strict=True):
                dtype = _jax_equations.numeric_dtype(variable)
                if known is None or dtype is None or not jax.dtypes.issubdtype(dtype, np.signedinteger):
                    continue
                limits = jax.numpy.iinfo(dtype)
                if int(limits.min) <= known[0] and known[1] <= int(limits.max):
                    ranges[variable] = known
                elif equation.primitive.name != "convert_element_type" and not _jax_equations.inner_jaxprs(equation):
                    self.report(equation, variable, known, int(limits.max), frames)
        answer = tuple(_range_of(variable, ranges) for variable in jaxpr.outvars)
        self.known[key] = answer
        return answer

    def inside(
        self, equation: Any, taken: list[Range | None], frames: tuple[Frame, ...]
    ) -> tuple[Range | None, ...] | None:
        """The ranges that the jaxprs inside an equation give; None when it has none."""
        inners = _jax_equations.inner_jaxprs(equation)
        if not inners:
            return None
        around = _jax_equations.equation_source(equation, self.sources).frames + frames
        given: list[Range | None] = [None] * len(equation.outvars)
        for inner in inners:
            loops = equation.primitive.name in ("scan", "while")
            # What a loop carries is anything after some turns; only what stays the same keeps its range.
            changing = {index for index in inner.carried if index is not None}
            inputs = tuple(
                None
                if operand is None or index in changing or (loops and equation.primitive.name == "while")
                else taken[operand]
                for index, operand in enumerate(inner.inputs)
            )
            outputs = self.jaxpr(inner.jaxpr, inputs, around)
            if len(inners) == 1 and not loops:
                for place, known in zip(inner.outputs, outputs, strict=True):
                    if place is not None:
                        given[place] = known
        return tuple(given)

    def report(self, equation: Any, variable: Any, known: Range, limit: int, frames: tuple[Frame, ...]) -> None:
        own = _jax_equations.equation_source(equation, self.sources).frames
        self.found.setdefault(
            id(equation),
            OverflowRisk(
                primitive=equation.primitive.name,
                type=_jax_types.short_type(variable.aval),
                largest=max(known, key=abs),
                limit=limit,
                frames=own + frames,
                equation=equation,
            ),
        )


def _range_of(operand: Any, ranges: dict[Any, Range]) -> Range | None:
    if not _jax_equations.is_literal(operand):
        return ranges.get(operand)
    dtype = _jax_equations.numeric_dtype(operand)
    if dtype is None or not jax.dtypes.issubdtype(dtype, np.integer) or np.ndim(operand.val) != 0:
        return None
    return int(operand.val), int(operand.val)


def _result(equation: Any, taken: list[Range | None]) -> Range | None:
    """The range of the first result of an equation, None where nothing is known."""
    name, parameters = equation.primitive.name, equation.params
    if name == "iota":
        shape = parameters.get("shape") or ()
        size = shape[parameters.get("dimension", 0)] if shape else 1
        return (0, int(size) - 1) if isinstance(size, int) and size > 0 else None
    if not taken or taken[0] is None:
        return None
    low, high = taken[0]
    if name in _KEEPING or name == "convert_element_type":
        return low, high
    if name == "neg":
        return -high, -low
    if name in ("reduce_sum", "cumsum"):
        return _sum(equation, low, high)
    if len(taken) < 2 or any(known is None for known in taken):
        return None
    others = [known for known in taken if known is not None]
    second = others[1]
    if name in ("add", "sub"):
        sign = 1 if name == "add" else -1
        return low + min(sign * bound for bound in second), high + max(sign * bound for bound in second)
    if name == "mul":
        products = [first * other for first in (low, high) for other in second]
        return min(products), max(products)
    if name in ("max", "min"):
        pick = max if name == "max" else min
        return pick(low, second[0]), pick(high, second[1])
    if name == "concatenate":
        return min(known[0] for known in others), max(known[1] for known in others)
    return None


def _sum(equation: Any, low: int, high: int) -> Range | None:
    dimensions = _jax.dimensions_of(equation.invars[0].aval)
    if _jax.is_symbolic(dimensions):
        return None
    axes = equation.params.get("axes")
    axes = (equation.params.get("axis", 0),) if axes is None else axes
    count = int(np.prod([int(dimensions[axis]) for axis in axes], dtype=object))
    return min(low, low * count), max(high, high * count)
