"""Equations of a jaxpr: who wrote them, what they hold, and how values pass through them.

Problem: which function of JAX made an equation, and which operand of a loop is which variable of its body, have no
public interface. Input: equations of a traced program. Output: plain records. Each entry says why it is needed and what
would let us delete it. Tested on JAX 0.8, 0.10 and 0.12.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePath
from typing import Any

import jax
from jax._src import core, source_info_util

from jaxscope import _jax
from jaxscope._ir.model import Frame

# Behind these, a stack goes on to whoever caused the trace: on 0.8 that is the first caller of a cached function, not
# the one at hand; from 0.9 on stacks end before them.
_TRACE_BOUNDARIES = frozenset({"trace_to_jaxpr_dynamic", "trace_to_jaxpr", "trace_to_jaxpr_nounits"})
# Modules every equation passes through, whatever function of JAX made it.
_MACHINERY = frozenset(
    (
        "api_util",
        "contextlib",
        "core",
        "linear_util",
        "partial_eval",
        "pjit",
        "profiler",
        "source_info_util",
        "traceback_util",
    )
)


@dataclass(frozen=True, slots=True)
class EquationSource:
    """Who wrote an equation.

    Attributes:
        functions: JAX's own functions between the equation and the user's line, innermost first, as ``module.function``
            (``lax_numpy.astype``), without the machinery that all equations pass through. A function that JAX keeps
            compiled and inlines (``jnp.add``) leaves no frame.
        frames: The user's frames up to the function that was traced, innermost first.
        key: Equal for the equations of one call of an inlined function.
    """

    functions: tuple[str, ...] = ()
    frames: tuple[Frame, ...] = ()
    key: int = 0


def equation_source(equation: Any, known: dict[int, EquationSource]) -> EquationSource:
    """Who wrote `equation`.

    Tracebacks have no public reader. Deletable when JAX exports `source_info_util` or an equation names its caller.

    Args:
        equation: A `jax.core.JaxprEqn`.
        known: What was found so far, by the identity of tracebacks, which many equations share; give the same
            dictionary while the jaxpr is alive.
    """
    traceback = equation.source_info.traceback
    if (found := known.get(id(traceback))) is None:
        found = known[id(traceback)] = _read_source(traceback)
    return found


def _read_source(traceback: Any) -> EquationSource:
    if traceback is None:
        return EquationSource()
    if isinstance(traceback, source_info_util.Frame):
        return EquationSource((), _jax.user_frames(traceback), id(traceback))
    functions: list[str] = []
    frames: list[Frame] = []
    for code, instruction in zip(*traceback.raw_frames(), strict=True):
        if code.co_name in _TRACE_BOUNDARIES:
            break
        if _jax.is_user_file(code.co_filename):
            frames.append(_frame(source_info_util.raw_frame_to_frame(code, instruction)))
        elif not frames:
            module = _module(code.co_filename)
            if module not in _MACHINERY:
                functions.append(f"{module}.{code.co_name}")
    return EquationSource(tuple(functions), tuple(frames), id(traceback))


@lru_cache(maxsize=1024)
def _module(file: str) -> str:
    return PurePath(file).stem


def _frame(frame: Any) -> Frame:
    return Frame(
        file=frame.file_name,
        function=frame.function_name,
        line=frame.start_line,
        column=frame.start_column + 1,
        end_line=frame.end_line,
        end_column=frame.end_column + 1,
    )


def is_literal(operand: Any) -> bool:
    """Whether an operand is a value written into the equation; `jax.extend.core.Literal` is another name for it."""
    return isinstance(operand, core.Literal)


def is_dropped(variable: Any) -> bool:
    """Whether a result is thrown away (printed ``_``); such variables are all different and of no use."""
    return isinstance(variable, core.DropVar)


def is_transposed(equation: Any) -> bool:
    """Whether an equation was made by transposing another, as the backward pass of a gradient is.

    `name_stack` is documented nowhere; it reads ``transpose(jvp(f))``. Deletable when equations name what made them.
    """
    return "transpose(" in str(getattr(equation.source_info, "name_stack", ""))


def source_of_jaxpr(jaxpr: Any) -> str:
    """What a jaxpr was traced from, ``_where at /…/util.py:288``; "" where it does not say.

    `debug_info.func_src_info` is documented nowhere. Deletable when equations name the function they call.
    """
    return str(getattr(getattr(jaxpr, "debug_info", None), "func_src_info", "") or "")


def argument_names(closed_jaxpr: Any) -> tuple[str, ...]:
    """JAX's names of a program's inputs, ``params['w']``; "" where it has none."""
    jaxpr = closed_jaxpr.jaxpr
    names = tuple(getattr(getattr(jaxpr, "debug_info", None), "arg_names", None) or ())
    count = len(jaxpr.invars)
    return tuple(name or "" for name in names) if len(names) == count else ("",) * count


@dataclass(frozen=True, slots=True)
class Inner:
    """One jaxpr inside an equation, and how values pass in and out.

    Attributes:
        parameter: The parameter that holds it.
        number: Its place in that parameter, 0 where it holds only one.
        jaxpr: The open jaxpr.
        inputs: For each of its inputs the operand of the equation it takes; None for what comes from elsewhere.
        outputs: For each of its outputs the result of the equation it becomes; None for what becomes none.
        carried: For each of its outputs the input that takes it in the next turn; None for what is not carried.
    """

    parameter: str
    number: int
    jaxpr: Any
    inputs: tuple[int | None, ...]
    outputs: tuple[int | None, ...]
    carried: tuple[int | None, ...]


def inner_jaxprs(equation: Any) -> tuple[Inner, ...]:
    """The jaxprs inside an equation, in the order of its parameters' names, which is how they are printed.

    What the parameters of an equation mean is documented nowhere. Where it is not known, all inputs and outputs are
    None.
    """
    name, parameters = equation.primitive.name, equation.params
    found = []
    for parameter in sorted(parameters):
        for number, jaxpr in enumerate(_jax.jaxprs_in(parameters[parameter])):
            found.append(_inner(name, equation, parameter, number, jaxpr))
    return tuple(found)


def _inner(name: str, equation: Any, parameter: str, number: int, jaxpr: Any) -> Inner:
    operands, results = len(equation.invars), len(equation.outvars)
    takes, gives = len(jaxpr.invars), len(jaxpr.outvars)
    nothing = Inner(parameter, number, jaxpr, (None,) * takes, (None,) * gives, (None,) * gives)
    whole = tuple(range(gives)) if gives == results else (None,) * gives
    none = (None,) * gives
    parameters = equation.params
    if name == "scan" and parameter == "jaxpr" and takes == operands:
        constants, carries = _scan_counts(parameters)
        carried = tuple(constants + index if index < carries else None for index in range(gives))
        return Inner(parameter, number, jaxpr, tuple(range(operands)), whole, carried)
    if name == "while":
        tests, bodies = _count(parameters, "cond_nconsts"), _count(parameters, "body_nconsts")
        carry = tuple(range(tests + bodies, operands))
        if parameter == "cond_jaxpr" and takes == tests + len(carry):
            return Inner(parameter, number, jaxpr, (*range(tests), *carry), none, none)
        if parameter == "body_jaxpr" and takes == bodies + len(carry):
            inputs = (*range(tests, tests + bodies), *carry)
            return Inner(parameter, number, jaxpr, inputs, whole, tuple(range(bodies, bodies + gives)))
        return nothing
    if name == "cond" and parameter == "branches" and takes == operands - 1:
        return Inner(parameter, number, jaxpr, tuple(range(1, operands)), whole, none)
    if parameter in ("jaxpr", "call_jaxpr", "fun_jaxpr") and takes == operands and gives == results:
        return Inner(parameter, number, jaxpr, tuple(range(operands)), whole, none)
    return nothing


def _scan_counts(parameters: Any) -> tuple[int, int]:
    """How many operands of a scan stay the same in all turns, and how many are carried."""
    if (parts := parameters.get("ft_in")) is not None:
        # Since 0.12 the operands are a tree of three parts.
        constants, carry, _ = parts.unpack()
        return len(constants), len(carry)
    return _count(parameters, "num_consts"), _count(parameters, "num_carry")


def _count(parameters: Any, key: str) -> int:
    value = parameters.get(key, 0)
    return value if isinstance(value, int) else 0


def is_weak(value: Any) -> bool:
    """Whether an aval, a variable or a literal gives way to others in arithmetic."""
    return bool(getattr(getattr(value, "aval", value), "weak_type", False))


def numeric_dtype(value: Any) -> Any:
    """The NumPy dtype of an aval or variable that holds numbers; None for keys, tokens and references.

    Ask `has_dtype` to compare: NumPy takes None for float64, so ``dtype == None`` can be true.
    """
    dtype = getattr(getattr(value, "aval", value), "dtype", None)
    if dtype is None or jax.dtypes.issubdtype(dtype, jax.dtypes.extended) or dtype == jax.dtypes.float0:
        return None
    return dtype


def has_dtype(value: Any, dtype: Any) -> bool:
    """Whether an aval or variable holds numbers of a NumPy dtype."""
    found = numeric_dtype(value)
    return found is not None and found == dtype


def context_of_call() -> tuple[Sequence[Any], dict[str, Any]]:
    """What jit compares besides the arguments: settings and contexts of JAX, and the same by name where it has names.

    The public `jax.config` has no list of what belongs to the cache's key. Deletable when JAX exports one.
    """
    from jax._src import config

    values = tuple(config.trace_context())
    try:
        names = config.trace_context_names()
    except (AttributeError, NotImplementedError):
        # JAX before 0.9: read the public flags; what differs without a name is called a context.
        names = ()
    if len(names) == len(values):
        return values, dict(zip(names, values, strict=True))
    flags = {name: getattr(jax.config, name, None) for name in getattr(config, "config_states", ())}
    return values, flags
