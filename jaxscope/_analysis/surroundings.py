"""One jaxpr with the equations that make and read each of its values, and words for them.

Problem: an equation names its operands by variables that mean nothing to anybody. Input: a jaxpr. Output:
`Surroundings`, which finds who made and who reads a value and who wrote an equation, and `Operand`, a value as the user
knows it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from jaxscope import _jax_equations, _jax_types

# Equations that hand a value on as it is.
PASSING = frozenset(
    ("broadcast_in_dim", "reshape", "squeeze", "expand_dims", "transpose", "copy", "rev", "pvary", "stop_gradient")
)
MAXIMUM_STEPS_BACK = 64


@dataclass(frozen=True, slots=True)
class Operand:
    """A value as the user knows it: its type and where it comes from."""

    type: str
    origin: str

    def __str__(self) -> str:
        return f"{self.type} ({self.origin})" if self.origin else self.type


@dataclass
class Surroundings:
    """One jaxpr with the equations that make and read each of its variables."""

    jaxpr: Any
    sources: dict[int, _jax_equations.EquationSource]
    makers: dict[Any, Any] = field(default_factory=dict)
    readers: dict[Any, list[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for equation in self.jaxpr.eqns:
            for variable in equation.outvars:
                self.makers[variable] = equation
            for operand in equation.invars:
                if not _jax_equations.is_literal(operand):
                    self.readers.setdefault(operand, []).append(equation)

    def source(self, equation: Any) -> _jax_equations.EquationSource:
        """Who wrote an equation of this jaxpr."""
        return _jax_equations.equation_source(equation, self.sources)

    def maker(self, operand: Any) -> Any:
        """The equation that gives an operand; None for inputs, constants and literals."""
        return None if _jax_equations.is_literal(operand) else self.makers.get(operand)

    def passed_from(self, operand: Any) -> Any:
        """The operand behind broadcasts and reshapes."""
        for _ in range(MAXIMUM_STEPS_BACK):
            equation = self.maker(operand)
            if equation is None or equation.primitive.name not in PASSING or not equation.invars:
                break
            operand = equation.invars[0]
        return operand


def describe_operand(operand: Any, origins: Mapping[Any, str], around: Surroundings) -> Operand:
    """An operand for people.

    Args:
        operand: A variable or a literal.
        origins: What the inputs of this jaxpr are called: ``argument x``.
        around: The jaxpr that holds the operand.
    """
    text = type_text(operand.aval)
    if _jax_equations.is_literal(operand):
        if np.ndim(operand.val) != 0:
            return Operand(text, "a constant")
        # A Python number is weak, unless JAX has converted it before it was written down.
        return Operand(text, f"the number {np.asarray(operand.val).item()!r}")
    origin = around.passed_from(operand)
    if _jax_equations.is_literal(origin):
        # A filled array is told by its number.
        return Operand(text, describe_operand(origin, origins, around).origin)
    operand = origin
    if operand in origins:
        return Operand(text, origins[operand])
    if (maker := around.maker(operand)) is not None:
        called = maker.params.get("name") if maker.primitive.name in ("jit", "pjit") else None
        return Operand(text, f"result of {str(called or maker.primitive.name).lstrip('_')}")
    return Operand(text, "a constant" if operand in around.jaxpr.constvars else "")


def type_text(aval: Any) -> str:
    """JAX's short form of a type, with a word where it is weak."""
    text = _jax_types.short_type(aval)
    return f"{text} weak" if _jax_equations.is_weak(aval) else text
