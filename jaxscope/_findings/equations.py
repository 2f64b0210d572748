"""Every equation of a traced program with its place: what rules about jaxprs walk over.

Problem: an equation inside a loop inside a jitted helper has half its call stack on the equations around it. Input: the
facts of a program that was traced. Output: one `PlacedEquation` for each equation, those inside another after it; a
jaxpr that is called from several places is entered once for each line of Python that calls it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jaxscope import _jax, _jax_equations
from jaxscope._analysis.jaxpr_lines import line_of_equations
from jaxscope._findings.records import ListingLine, Program
from jaxscope._ir.model import Frame, Listing

# Where a function is called from more places than this, the first are enough to point at.
_MAXIMUM_VISITS = 20_000


@dataclass(frozen=True)
class PlacedEquation:
    """An equation and where it stands.

    Attributes:
        equation: A `jax.extend.core.JaxprEqn`.
        jaxpr: The open jaxpr that holds it.
        frames: The user's call stack, innermost first, the equations around it included.
        lines: Its line in the listing; () where it could not be found.
        enclosing: The equations around it, outermost first.
    """

    equation: Any
    jaxpr: Any
    frames: tuple[Frame, ...]
    lines: tuple[ListingLine, ...]
    enclosing: tuple[Any, ...]

    @property
    def loops(self) -> tuple[str, ...]:
        """The loops around it: ``scan``, ``while``."""
        names = (equation.primitive.name for equation in self.enclosing)
        return tuple(name for name in names if name in ("scan", "while"))


def placed_equations(closed_jaxpr: Any, listing: Listing) -> tuple[PlacedEquation, ...]:
    """Every equation of a closed jaxpr, in the order of the program; `listing` is that of its text."""
    walk = _Walk(line_of_equations(closed_jaxpr, listing))
    return tuple(walk.visit(closed_jaxpr.jaxpr, (), ()))


def live_equations(jaxpr: Any) -> set[int]:
    """The identities of the equations of an open jaxpr that its results or an effect need; the rest is thrown away."""
    wanted = {variable for variable in jaxpr.outvars if not _jax_equations.is_literal(variable)}
    live = set()
    for equation in reversed(jaxpr.eqns):
        if equation.effects or any(variable in wanted for variable in equation.outvars):
            live.add(id(equation))
            wanted.update(operand for operand in equation.invars if not _jax_equations.is_literal(operand))
    return live


def first_uses(program: Program) -> dict[int, PlacedEquation]:
    """The equation that reads each captured array first, by the array's identity."""
    values = dict(_jax.captured_values(program.require_product("trace").jaxpr))
    found: dict[int, PlacedEquation] = {}
    for placed in program.equations:
        for operand in placed.equation.invars:
            value = operand.val if _jax_equations.is_literal(operand) else values.get(operand)
            if value is not None:
                found.setdefault(id(value), placed)
    return found


class _Walk:
    def __init__(self, lines: Mapping[int, int]):
        self.lines = lines
        self.sources: dict[int, _jax_equations.EquationSource] = {}
        self.entered: set[tuple[int, Frame | None]] = set()

    def visit(self, jaxpr: Any, outer: tuple[Frame, ...], enclosing: tuple[Any, ...]) -> Iterator[PlacedEquation]:
        place = (id(jaxpr), outer[0] if outer else None)
        if place in self.entered or len(self.entered) > _MAXIMUM_VISITS:
            return
        self.entered.add(place)
        for equation in jaxpr.eqns:
            frames = _jax_equations.equation_source(equation, self.sources).frames + outer
            line = self.lines.get(id(equation))
            lines = () if line is None else (ListingLine("jaxpr", line),)
            yield PlacedEquation(equation, jaxpr, frames, lines, enclosing)
            for inner in _jax_equations.inner_jaxprs(equation):
                yield from self.visit(inner.jaxpr, frames, (*enclosing, equation))
