"""How far a type that was changed goes: the equations that run in it afterwards.

Problem: one line that widens a value to f32 makes everything after it run in f32, until somebody casts back. Input: the
equation that made the value, the jaxprs around it and the type. Output: `Reach`: how many equations, reached through
the flow of data alone, have a result of that type, how many of these are matrix products, and which results of the
program are among them; loops, branches and calls are followed. Each equation counts once, however often a loop runs it;
a jaxpr that is called from two reached places counts twice.
"""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from jaxscope import _jax_equations
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._jax_equations import Inner

PRODUCTS = frozenset(("dot_general", "conv_general_dilated", "ragged_dot", "ragged_dot_general"))

# Equations looked at for one program, all questions together.
_MAXIMUM_STEPS = 2_000_000
_TOO_LARGE = Unavailable("The program is too large to follow every change of type; the first ones were followed.")


@dataclass(frozen=True, slots=True)
class Enclosing:
    """One step inwards: the equation, the jaxpr it stands in, and which of its jaxprs was entered."""

    jaxpr: Any
    equation: Any
    inner: Inner


@dataclass(frozen=True, slots=True)
class _Tally:
    """Equations, and those of them that are matrix products or convolutions."""

    ops: int = 0
    products: int = 0

    def __add__(self, other: "_Tally") -> "_Tally":
        return _Tally(self.ops + other.ops, self.products + other.products)

    def __sub__(self, other: "_Tally") -> "_Tally":
        return _Tally(self.ops - other.ops, self.products - other.products)


@dataclass(frozen=True, slots=True)
class Reach:
    """How far a type goes.

    Attributes:
        ops: The equations that have a result of it because of one value, that of the value itself not counted.
        products: Those of them that are matrix products or convolutions.
        results: The results of the program that are reached, by their places.
    """

    ops: int = 0
    products: int = 0
    results: frozenset[int] = frozenset()


class _TooManySteps(Exception):
    pass


class Downstream:
    """Answers `follow` for one program; keeps what calls of the same jaxpr answered."""

    def __init__(self, maximum_steps: int = _MAXIMUM_STEPS):
        self._left = maximum_steps
        self._readers: dict[int, dict[Any, list[int]]] = {}
        self._known: dict[tuple[int, frozenset[int], Any], tuple[frozenset[int], _Tally]] = {}
        self._inner: dict[int, tuple[Inner, ...]] = {}

    def follow(self, jaxpr: Any, equation: Any, enclosing: Sequence[Enclosing], dtype: Any) -> Reach | Unavailable:
        """What has a result of `dtype` because of what `equation` gives, itself not counted.

        Args:
            jaxpr: The open jaxpr that holds the equation.
            equation: The equation whose result is followed.
            enclosing: The equations around that jaxpr, outermost first.
            dtype: The type that is followed.
        """
        seeds = self._results(equation, range(len(equation.outvars)), dtype)
        total, outputs = _Tally(), frozenset()
        try:
            for step in (None, *reversed(enclosing)):
                if step is None:
                    outputs, count = self._flow(jaxpr, frozenset(), seeds, dtype)
                    total += count
                    continue
                outputs, again = self._around(step, outputs, seeds, jaxpr, dtype, count)
                total += again
                seeds = self._results(step.equation, outputs, dtype)
                jaxpr = step.jaxpr
                outputs, count = self._flow(jaxpr, frozenset(), seeds, dtype)
                total += count
        except _TooManySteps:
            return _TOO_LARGE
        return Reach(total.ops, total.products, outputs)

    def _around(
        self, step: Enclosing, outputs: frozenset[int], seeds: frozenset[Any], jaxpr: Any, dtype: Any, counted: _Tally
    ) -> tuple[frozenset[int], _Tally]:
        """The results of an enclosing equation that are reached, and the equations that only later turns reach."""
        inner, inputs, extra = step.inner, frozenset(), _Tally()
        while True:
            carried = {inner.carried[index] for index in outputs} - {None}
            if carried <= inputs:
                break
            inputs |= carried
            outputs, count = self._flow(jaxpr, inputs, seeds, dtype)
            extra = count - counted
        if inputs:
            operands = {inner.inputs[index] for index in inputs} - {None}
            for other in self._inner_of(step.equation):
                # The test of a loop reads what its body carries.
                if other.jaxpr is not inner.jaxpr and not any(index is not None for index in other.outputs):
                    extra += self._flow(other.jaxpr, _taken(other, operands), frozenset(), dtype)[1]
        return frozenset(inner.outputs[index] for index in outputs) - {None}, extra

    def _flow(
        self, jaxpr: Any, inputs: frozenset[int], seeds: frozenset[Any], dtype: Any
    ) -> tuple[frozenset[int], _Tally]:
        """The outputs that are reached from some inputs and variables of a jaxpr, and how many equations are."""
        if not inputs and not seeds:
            return frozenset(), _Tally()
        key = (id(jaxpr), inputs, dtype)
        if not seeds and (found := self._known.get(key)) is not None:
            return found
        readers = self._readers_of(jaxpr)
        reached = {jaxpr.invars[index] for index in inputs} | set(seeds)
        waiting = sorted({index for variable in reached for index in readers.get(variable, ())})
        queued, count = set(waiting), _Tally()
        while waiting:
            equation = jaxpr.eqns[heapq.heappop(waiting)]
            self._left -= 1
            if self._left < 0:
                raise _TooManySteps
            operands = {
                index
                for index, operand in enumerate(equation.invars)
                if not _jax_equations.is_literal(operand) and operand in reached
            }
            results, inside = self._through(equation, operands, dtype)
            count += inside
            for variable in self._results(equation, results, dtype):
                reached.add(variable)
                for index in readers.get(variable, ()):
                    if index not in queued:
                        queued.add(index)
                        heapq.heappush(waiting, index)
        outputs = frozenset(
            index
            for index, variable in enumerate(jaxpr.outvars)
            if not _jax_equations.is_literal(variable) and variable in reached
        )
        if not seeds:
            self._known[key] = (outputs, count)
        return outputs, count

    def _through(self, equation: Any, operands: set[int], dtype: Any) -> tuple[Iterable[int], _Tally]:
        """The results of an equation that some of its operands reach, and how many equations that is."""
        inners = [inner for inner in self._inner_of(equation) if any(index is not None for index in inner.inputs)]
        if not inners:
            everything = range(len(equation.outvars))
            if not self._results(equation, everything, dtype):
                return everything, _Tally()
            return everything, _Tally(1, int(equation.primitive.name in PRODUCTS))
        while True:
            results: set[int] = set()
            again, count = set(operands), _Tally()
            for inner in inners:
                outputs, inside = self._flow(inner.jaxpr, _taken(inner, operands), frozenset(), dtype)
                count += inside
                results.update(inner.outputs[index] for index in outputs if inner.outputs[index] is not None)
                carried = (inner.carried[index] for index in outputs)
                again.update(inner.inputs[index] for index in carried if index is not None)
            again.discard(None)
            if again == operands:
                return results, count
            operands = again

    def _results(self, equation: Any, indices: Iterable[int], dtype: Any) -> frozenset[Any]:
        variables = (equation.outvars[index] for index in indices)
        return frozenset(
            variable
            for variable in variables
            if not _jax_equations.is_dropped(variable) and _jax_equations.has_dtype(variable, dtype)
        )

    def _readers_of(self, jaxpr: Any) -> dict[Any, list[int]]:
        if (found := self._readers.get(id(jaxpr))) is None:
            found = self._readers[id(jaxpr)] = {}
            for index, equation in enumerate(jaxpr.eqns):
                for operand in equation.invars:
                    if not _jax_equations.is_literal(operand):
                        found.setdefault(operand, []).append(index)
        return found

    def _inner_of(self, equation: Any) -> tuple[Inner, ...]:
        if (found := self._inner.get(id(equation))) is None:
            found = self._inner[id(equation)] = _jax_equations.inner_jaxprs(equation)
        return found


def _taken(inner: Inner, operands: Iterable[int]) -> frozenset[int]:
    """The inputs of a jaxpr that take one of some operands."""
    wanted = set(operands)
    return frozenset(index for index, operand in enumerate(inner.inputs) if operand in wanted)
