"""Every change of type inside a traced program, with its cause and how far it goes.

Problem: a bf16 model that runs in f32 shows no error; one line widened a value, and jaxprs show the equation but not
why it is there or what it costs. Input: the traced program's own jaxpr and, for the lines, its listing. Output:
`TypeFlow`: one `TypeChange` for each equation that changes a type, in the order of the program, what 64-bit numbers
were cut, and where integers may overflow. Causes are found in `jaxscope._analysis.promotions`, the equations that a
change reaches in `jaxscope._analysis.downstream`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import jax
import numpy as np

from jaxscope import _jax_equations
from jaxscope._analysis.downstream import Downstream, Enclosing, Reach
from jaxscope._analysis.integer_ranges import OverflowRisk, overflow_risks
from jaxscope._analysis.jaxpr_lines import line_of_equations
from jaxscope._analysis.promotions import Cause, Reason, is_creation, reason_of
from jaxscope._analysis.surroundings import Operand, Surroundings, describe_operand, type_text
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._ir.model import Frame, Listing
from jaxscope._truncations import Truncation

Concern = Literal["16-bit float widened", "64-bit float unasked", "int to float", "float narrowed"]

# Places at which jaxprs are entered before the rest is left out.
_MAXIMUM_VISITS = 20_000
_NO_LISTING = Unavailable("No listing of the jaxpr was given.")
_NOT_PRINTED = Unavailable("Its line in the listing could not be found.")
_NO_EQUATION = Unavailable("Nothing of it is in the program.")
_NOT_WIDENED = Unavailable("Only changes to a wider or floating-point type are followed.")


@dataclass(frozen=True, slots=True)
class TypeChange:
    """One place where a value gets another type.

    Attributes:
        path: The equation: ``eqns[3].jaxpr.eqns[0]``.
        primitive: What does it: ``convert_element_type``, ``dot_general``.
        cause: Why.
        before: The type before: ``bf16[4]``; ``f32[] weak`` for one that gives way in arithmetic, ``nothing`` for
            numbers that are made here.
        after: The type after.
        operand: The value that changed.
        widened_by: The operand that asked for the new type; Unavailable where no other operand did.
        function: The function of JAX or the primitive that made it necessary, "" where that is not known.
        frames: The user's call stack, innermost first.
        line: The line in the jaxpr's listing, from 0.
        reach: The equations that give the new type because of it, and the results of the program among them.
        calls: How often the program contains the equation: the calls of the jaxpr that holds it.
        concerns: What may be wrong with it.
    """

    path: str
    primitive: str
    cause: Cause
    before: str
    after: str
    operand: Operand
    widened_by: Operand | Unavailable
    function: str
    frames: tuple[Frame, ...]
    line: int | Unavailable = _NO_LISTING
    reach: Reach | Unavailable = _NOT_WIDENED
    calls: int = 1
    concerns: tuple[Concern, ...] = ()

    @property
    def downstream_ops(self) -> int | Unavailable:
        """How many equations give the new type because of it."""
        return self.reach.ops if isinstance(self.reach, Reach) else self.reach

    @property
    def summary(self) -> str:
        """One sentence: ``bf16[4] to f32[4]: promotion by f32[4] (argument y) in add; from here 41 ops run in f32``."""
        text = f"{self.before} to {self.after}: {self.cause}"
        if isinstance(self.widened_by, Operand):
            text += f" by {self.widened_by}"
        if self.function:
            name = self.function if self.function.startswith("jnp.") else self.function.rpartition(".")[2]
            text += f" in {name.lstrip('_')}"
        if isinstance(self.downstream_ops, int) and self.downstream_ops:
            noun = "op runs" if self.downstream_ops == 1 else "ops run"
            text += f"; from here {self.downstream_ops} {noun} in {self.after.partition('[')[0]}"
        return text


@dataclass(frozen=True, slots=True)
class TypeFlow:
    """What happens to types in a program.

    Attributes:
        changes: In the order of the program; what is inside an equation comes where the equation stands.
        overflows: Integer equations whose results need not fit.
        notes: What was left out, and why.
    """

    changes: tuple[TypeChange, ...]
    overflows: tuple[OverflowRisk, ...] = ()
    notes: tuple[str, ...] = ()

    def with_cause(self, *causes: Cause) -> tuple[TypeChange, ...]:
        """The changes that have one of some causes."""
        return tuple(change for change in self.changes if change.cause in causes)

    def with_concern(self, *concerns: Concern) -> tuple[TypeChange, ...]:
        """The changes that have one of some concerns."""
        return tuple(change for change in self.changes if set(concerns) & set(change.concerns))


def type_flow(closed_jaxpr: Any, listing: Listing | None = None, truncations: Iterable[Truncation] = ()) -> TypeFlow:
    """Every change of type in a traced program.

    Args:
        closed_jaxpr: The program's own jaxpr: `jax.stages.Traced.jaxpr`.
        listing: The listing of its text, for the lines.
        truncations: What `jaxscope._truncations.noted_truncations` noted while the program was traced.

    Returns:
        The changes; shapes and values are not looked at.
    """
    walk = _Walk(closed_jaxpr, listing)
    walk.visit(closed_jaxpr.jaxpr, "", (), (), walk.arguments())
    changes = _with_truncations(walk.changes, truncations)
    overflows = tuple(replace(risk, line=walk.line(risk.equation)) for risk in overflow_risks(closed_jaxpr))
    return TypeFlow(tuple(changes), overflows, tuple(walk.notes))


class _Walk:
    def __init__(self, closed_jaxpr: Any, listing: Listing | None):
        self.closed_jaxpr = closed_jaxpr
        self.lines = None if listing is None else line_of_equations(closed_jaxpr, listing)
        self.surroundings: dict[int, Surroundings] = {}
        self.sources: dict[int, _jax_equations.EquationSource] = {}
        self.downstream = Downstream()
        self.place: dict[tuple[int, Any], int] = {}
        self.holds_changes: dict[int, bool] = {}
        self.changes: list[TypeChange] = []
        self.notes: list[str] = []
        self.visits = 0
        dtypes = [_jax_equations.numeric_dtype(variable) for variable in closed_jaxpr.jaxpr.invars]
        self.takes_wide = any(dtype is not None and _float_bits(dtype) == 64 for dtype in dtypes)

    def arguments(self) -> dict[Any, str]:
        names = _jax_equations.argument_names(self.closed_jaxpr)
        return {
            variable: f"argument {name}" if name else "an argument"
            for variable, name in zip(self.closed_jaxpr.jaxpr.invars, names, strict=True)
        }

    def around(self, jaxpr: Any) -> Surroundings:
        if (found := self.surroundings.get(id(jaxpr))) is None:
            found = self.surroundings[id(jaxpr)] = Surroundings(jaxpr, self.sources)
        return found

    def line(self, equation: Any) -> int | Unavailable:
        return _NO_LISTING if self.lines is None else self.lines.get(id(equation), _NOT_PRINTED)

    def has_changes(self, jaxpr: Any) -> bool:
        """Whether a jaxpr or one inside it changes a type; calls of those that do not are not entered."""
        if (found := self.holds_changes.get(id(jaxpr))) is None:
            self.holds_changes[id(jaxpr)] = False
            around = self.around(jaxpr)
            found = any(
                self.reason(equation, around) is not None
                or any(self.has_changes(inner.jaxpr) for inner in _jax_equations.inner_jaxprs(equation))
                for equation in jaxpr.eqns
            )
            self.holds_changes[id(jaxpr)] = found
        return found

    def reason(self, equation: Any, around: Surroundings) -> Reason | None:
        """Why an equation changes a type, or makes 64-bit floats of nothing in a program that is given none."""
        if (reason := reason_of(equation, around)) is not None or self.takes_wide:
            return reason
        (result, *_) = equation.outvars or (None,)
        dtype = None if result is None else _jax_equations.numeric_dtype(result)
        if dtype is None or _float_bits(dtype) != 64 or _jax_equations.is_weak(result) or not is_creation(equation):
            return None
        return Reason("creation", result, None, equation.primitive.name)

    def visit(
        self,
        jaxpr: Any,
        path: str,
        frames: tuple[Frame, ...],
        enclosing: tuple[Enclosing, ...],
        origins: Mapping[Any, str],
    ) -> None:
        self.visits += 1
        if self.visits > _MAXIMUM_VISITS:
            if not self.notes:
                self.notes.append("The program calls its functions from too many places; the first ones were read.")
            return
        around = self.around(jaxpr)
        for index, equation in enumerate(jaxpr.eqns):
            place = f"{path}eqns[{index}]"
            if (reason := self.reason(equation, around)) is not None:
                self.add(equation, reason, around, place, frames, enclosing, origins)
            for inner in _jax_equations.inner_jaxprs(equation):
                if not self.has_changes(inner.jaxpr):
                    continue
                step = f"{place}.{inner.parameter}" + (f"[{inner.number}]" if inner.parameter == "branches" else "")
                self.visit(
                    inner.jaxpr,
                    f"{step}.",
                    around.source(equation).frames + frames,
                    (*enclosing, Enclosing(jaxpr, equation, inner)),
                    self.origins_inside(equation, inner, origins, around),
                )

    def origins_inside(
        self, equation: Any, inner: _jax_equations.Inner, origins: Mapping[Any, str], around: Surroundings
    ) -> dict[Any, str]:
        """What the inputs of an inner jaxpr are called outside."""
        found = {}
        for variable, operand in zip(inner.jaxpr.invars, inner.inputs, strict=True):
            if operand is None:
                found[variable] = f"an input of {equation.primitive.name}"
            else:
                found[variable] = describe_operand(equation.invars[operand], origins, around).origin
        return found

    def add(
        self,
        equation: Any,
        reason: Reason,
        around: Surroundings,
        path: str,
        outer_frames: tuple[Frame, ...],
        enclosing: tuple[Enclosing, ...],
        origins: Mapping[Any, str],
    ) -> None:
        own_frames = around.source(equation).frames
        frames = own_frames + outer_frames
        # A function of JAX has no line of the user's inside: each of its calls is a place of its own.
        key = (id(equation), (own_frames or outer_frames)[:1])
        if (known := self.place.get(key)) is not None:
            self.changes[known] = replace(self.changes[known], calls=self.changes[known].calls + 1)
            return
        self.place[key] = len(self.changes)
        (result,) = equation.outvars[:1]
        before, after = _jax_equations.numeric_dtype(reason.operand), _jax_equations.numeric_dtype(result)
        other = reason.widened_by
        self.changes.append(
            TypeChange(
                path=path,
                primitive=equation.primitive.name,
                cause=reason.cause,
                before="nothing" if reason.cause == "creation" else type_text(reason.operand.aval),
                after=type_text(result.aval),
                operand=describe_operand(reason.operand, origins, around),
                widened_by=_no_partner(reason) if other is None else describe_operand(other, origins, around),
                function=reason.function,
                frames=frames,
                line=self.line(equation),
                reach=self.followed(reason, equation, around.jaxpr, enclosing),
                concerns=self.concerns(reason, before, after),
            )
        )

    def followed(
        self, reason: Reason, equation: Any, jaxpr: Any, enclosing: Sequence[Enclosing]
    ) -> Reach | Unavailable:
        before = _jax_equations.numeric_dtype(reason.operand)
        after = _jax_equations.numeric_dtype(equation.outvars[0])
        wider = _width(after) > _width(before) or (_float_bits(after) and not _float_bits(before))
        if wider or reason.cause == "creation":
            return self.downstream.follow(jaxpr, equation, enclosing, after)
        return _NOT_WIDENED

    def concerns(self, reason: Reason, before: Any, after: Any) -> tuple[Concern, ...]:
        found: list[Concern] = []
        old, new = _float_bits(before), _float_bits(after)
        if reason.cause == "creation":
            return ("64-bit float unasked",)
        gives_way = reason.widened_by is not None or reason.cause == "cast in a called function"
        if _jax_equations.is_weak(reason.operand) and gives_way:
            # A Python number gives way, which is what it is for; jnp.var(ddof=0) makes one a float.
            return ()
        asked = reason.cause in ("explicit cast", "preferred_element_type")
        if 0 < old <= 16 < new and reason.cause != "accumulation":
            found.append("16-bit float widened")
        if new == 64 > old and not asked and not self.takes_wide:
            found.append("64-bit float unasked")
        if new and not old and not asked and before != np.bool_ and reason.cause != "operation":
            found.append("int to float")
        if 0 < new < old and reason.cause != "accumulation":
            found.append("float narrowed")
        return tuple(found)


def _no_partner(reason: Reason) -> Unavailable:
    if reason.cause in ("promotion", "x64 truncation"):
        return Unavailable("The other operand could not be found in the jaxpr.")
    return Unavailable("No other operand took part.")


def _width(dtype: Any) -> int:
    """Bits of one number; of one part of a complex number."""
    if jax.dtypes.issubdtype(dtype, np.integer):
        return int(jax.numpy.iinfo(dtype).bits)
    return _float_bits(dtype) or 1


def _float_bits(dtype: Any) -> int:
    """Bits of one floating-point number, of one part of a complex one; 0 for other types."""
    return int(jax.numpy.finfo(dtype).bits) if jax.dtypes.issubdtype(dtype, np.inexact) else 0


def _with_truncations(changes: Sequence[TypeChange], truncations: Iterable[Truncation]) -> list[TypeChange]:
    """Marks the casts that a 64-bit type was asked of; a request that left nothing in the program is a row alone."""
    found = list(changes)
    for truncation in dict.fromkeys(truncations):
        given = np.dtype(truncation.given)
        matches = [
            index
            for index, change in enumerate(found)
            if change.cause in ("explicit cast", "cast in a called function")
            and _jax_name(given) == change.after.partition("[")[0]
            and truncation.frame is not None
            and any(frame.position == truncation.frame.position for frame in change.frames[:1])
        ]
        for index in matches:
            found[index] = replace(found[index], cause="x64 truncation", function=truncation.function)
        if not matches:
            found.append(_unseen(truncation, given))
    return found


def _unseen(truncation: Truncation, given: Any) -> TypeChange:
    frames = () if truncation.frame is None else (truncation.frame,)
    before, after = _jax_name(np.dtype(truncation.asked)), _jax_name(given)
    return TypeChange(
        path="",
        primitive="",
        cause="x64 truncation",
        before=before,
        after=after,
        operand=Operand(before, f"asked for in {truncation.function}" if truncation.function else ""),
        widened_by=Unavailable("No other operand took part."),
        function=truncation.function,
        frames=frames,
        line=_NO_EQUATION,
        reach=_NO_EQUATION,
    )


def _jax_name(dtype: Any) -> str:
    """``f32`` for float32."""
    return type_text(jax.core.ShapedArray((), dtype)).partition("[")[0]
