"""Why one equation of a jaxpr changes the type of a value.

Problem: jax.numpy puts ``convert_element_type`` into the user's own line, and the equation looks the same whether the
user asked for it, another operand widened this one, or a sum is kept in more digits for a while. Input: one equation,
the jaxpr around it and JAX's functions on its call stack. Output: `Reason`: the cause, the operand that changed and the
operand that made it change.

Two things are read. JAX's functions between the equation and the user's line tell ``astype`` from ``promote_dtypes``;
but functions that JAX keeps compiled and inlines (``jnp.add``) leave no frame, so else the reader of the converted
value decides: one that adds it to another operand of the new type was the reason, one that sums it up computes in more
digits. In both cases the operands are found in the jaxpr itself.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import jax
import numpy as np

from jaxscope import _jax_equations
from jaxscope._analysis.downstream import PRODUCTS
from jaxscope._analysis.surroundings import MAXIMUM_STEPS_BACK, PASSING, Surroundings

Cause = Literal[
    "explicit cast",
    "cast in a called function",
    "promotion",
    "x64 truncation",
    "float function",
    "accumulation",
    "preferred_element_type",
    "weak type gained",
    "weak type lost",
    "operation",
    "creation",
]

# What users call to ask for a type, as JAX's stack names it.
_CASTS = frozenset(
    (
        "lax_numpy.astype",
        "array_methods._astype",
        "lax.convert_element_type",
        "array_constructors.asarray",
        "array_constructors.array",
        "scalar_types.__call__",
        "array_creation.full",
        "array_creation.full_like",
        "lax.full",
        "lax.full_like",
    )
)
# What stands around those without adding anything.
_CAST_WRAPPERS = _CASTS | {"array_methods.meth", "lax._convert_element_type", "array_methods.deferring_binary_op"}
_PROMOTING = frozenset(
    (
        "promote_dtypes",
        "promote_dtypes_inexact",
        "promote_dtypes_numeric",
        "promote_dtypes_complex",
        "promote_args",
        "promote_args_inexact",
        "promote_args_numeric",
    )
)
_REDUCING = frozenset(
    (
        "reduce_sum",
        "reduce_prod",
        "reduce_max",
        "reduce_min",
        "reduce_and",
        "reduce_or",
        "reduce_xor",
        "reduce",
        "reduce_window",
        "reduce_window_sum",
        "cumsum",
        "cumprod",
        "cummax",
        "cummin",
        "cumlogsumexp",
        "psum",
        "reduce_scatter",
    )
)
# Equations that jax.numpy makes of floats only, whatever numbers it is given.
_FLOATING = frozenset(
    ("div", "atan2", "nextafter", "igamma", "igammac", "zeta", "polygamma", "regularized_incomplete_beta")
)
# Operands that select or point and take no part in promotion, by their place.
_POINTING = {"select_n": (0,), "gather": (1,), "scatter": (1,), "scatter-add": (1,), "scatter_add": (1,)}


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a type changed.

    Attributes:
        cause: The cause.
        operand: The variable or literal whose type changed, before the change.
        widened_by: The other operand that asked for the new type; None where there is none.
        function: JAX's function that did it, ``lax_numpy.astype``, the primitive that reads the value, or "".
    """

    cause: Cause
    operand: Any
    widened_by: Any = None
    function: str = ""


def reason_of(equation: Any, around: Surroundings) -> Reason | None:
    """Why an equation changes a type; None when it changes none.

    Comparisons, which always give booleans, and equations that only hold other jaxprs change nothing themselves.

    Args:
        equation: A `jax.core.JaxprEqn`.
        around: The jaxpr that holds it.
    """
    if not equation.outvars:
        # Prints and other callbacks give nothing.
        return None
    if equation.primitive.name == "convert_element_type":
        return _conversion(equation, around)
    if equation.primitive.name in PRODUCTS:
        return _product(equation)
    if not equation.invars or any(inner.outputs for inner in _jax_equations.inner_jaxprs(equation)):
        return None
    return _operation(equation)


def is_creation(equation: Any) -> bool:
    """Whether an equation makes floating-point numbers of none: iotas, filled arrays, draws of random numbers."""
    (result, *_) = equation.outvars or (None,)
    dtype = _jax_equations.numeric_dtype(result) if result is not None else None
    if dtype is None or not _is_float(dtype) or any(_jax_equations.inner_jaxprs(equation)):
        return False
    taken = [operand for operand in equation.invars if not _jax_equations.is_literal(operand)]
    dtypes = map(_jax_equations.numeric_dtype, taken)
    return not any(other is not None and _is_float(other) for other in dtypes)


def _operation(equation: Any) -> Reason | None:
    """An operation that by its nature gives another type: positions, bits, parts of complex numbers."""
    given = _jax_equations.numeric_dtype(equation.outvars[0])
    taken = [_jax_equations.numeric_dtype(operand) for operand in equation.invars]
    if given is None or given == np.bool_ or any(dtype is None for dtype in taken) or given in taken:
        return None
    return Reason("operation", equation.invars[0], None, equation.primitive.name)


def _product(equation: Any) -> Reason | None:
    """A product of two arrays, which promotes inside itself."""
    given = _jax_equations.numeric_dtype(equation.outvars[0])
    left, right = equation.invars[:2]
    dtypes = _jax_equations.numeric_dtype(left), _jax_equations.numeric_dtype(right)
    name = equation.primitive.name
    if given is None or any(dtype is None for dtype in dtypes) or given == dtypes[0] == dtypes[1]:
        return None
    changed, other = (left, right) if dtypes[0] != given else (right, left)
    if dtypes[0] != dtypes[1] and given in dtypes:
        return Reason("promotion", changed, other, name)
    promoted = None if dtypes[0] == dtypes[1] else _promoted_with_x64(*map(np.dtype, dtypes))
    if promoted is not None and given in (promoted, jax.dtypes.canonicalize_dtype(promoted)):
        return Reason("promotion" if given == promoted else "x64 truncation", changed, other, name)
    return Reason("preferred_element_type", changed, None, name)


def _conversion(equation: Any, around: Surroundings) -> Reason | None:
    (operand,) = equation.invars[:1]
    (result,) = equation.outvars
    before, after = _jax_equations.numeric_dtype(operand), _jax_equations.numeric_dtype(result)
    if before is None or after is None:
        return None
    source = around.source(equation)
    functions = source.functions
    weak_before, weak_after = _jax_equations.is_weak(operand), _jax_equations.is_weak(result)
    if before == after and weak_before == weak_after:
        return None
    cast = _asked(functions)
    if cast == "":
        return Reason("explicit cast", operand, None, _cast_name(functions, after))
    reader = _reader(equation, around)
    if reader is None and result not in around.jaxpr.outvars and not around.readers.get(result):
        # jnp.power converts exponents it then does not use: nothing sees the new type.
        return None
    if before == after:
        other = _partner(result, reader, around) if reader is not None else None
        cause: Cause = "weak type gained" if weak_after else "weak type lost"
        return Reason(cause, operand, None if other is None else other[0], _name(functions, reader))
    if cast is None and _restores(equation, around, after):
        return Reason("accumulation", operand, None, _name(functions, around.maker(around.passed_from(operand))))
    if (found := _by_reader(equation, reader, around, before, after, cast is not None)) is not None:
        return found
    if _is_float(after) and not _is_float(before) and cast is None:
        # sqrt and other functions of one operand, which compute in floating point whatever they are given.
        return Reason("float function", operand, None, _name(functions, reader))
    return Reason("cast in a called function", operand, None, cast or _last(functions))


def _by_reader(equation: Any, reader: Any, around: Surroundings, before: Any, after: Any, asked: bool) -> Reason | None:
    """The reason as far as the equation that reads the converted value tells it."""
    if reader is None:
        return None
    operand, (result,) = equation.invars[0], equation.outvars
    name = reader.primitive.name
    functions = around.source(equation).functions
    if name in _REDUCING:
        if _is_float(after) and not _is_float(before):
            return Reason("float function", operand, None, name)
        if _width(after) <= _width(before):
            return None
        if _is_float(before) and not asked and not _is_restored(reader, around, before):
            # Sums of short floats come back as short floats, unless jnp.sum(..., dtype=) asked for more.
            causes: tuple[Cause, Cause] = ("explicit cast", "cast in a called function")
            return Reason(causes[len(functions) > 1], operand, None, _last(functions) or name)
        return Reason("accumulation", operand, None, name)
    if asked:
        # JAX's own code casts deliberately, whatever reads the value.
        return None
    partner = _partner(result, reader, around)
    if partner is None or not (_promotes(functions) or around.source(equation).key == around.source(reader).key):
        # A reader in another call was given what this one returns, and was not its reason.
        return None
    other, other_before = partner
    weak = _jax_equations.is_weak(operand) or _jax_equations.is_weak(other)
    promoted = None if weak else _promoted_with_x64(np.dtype(before), np.dtype(other_before))
    # Not promoted == after alone: NumPy takes None for float64.
    promotes = promoted is not None and promoted == after
    if _is_float(after) and not _is_float(before):
        # 1 / 2 and 1 / 2.0 look alike here. Not all integers are without a common type: i64 and u64 make a float.
        number = _jax_equations.is_literal(other) and np.ndim(other.val) == 0
        if (name in _FLOATING and number) or (not _is_float(other_before) and (name in _FLOATING or not promotes)):
            return Reason("float function", operand, None, name)
    if weak or promotes:
        return Reason("promotion", operand, other, name)
    if promoted is not None and jax.dtypes.issubdtype(promoted, np.integer):
        return Reason("x64 truncation", operand, other, name)
    return None


def _partner(result: Any, reader: Any, around: Surroundings) -> tuple[Any, Any] | None:
    """The other operand of an equation that asked for the type of `result`, and the type it had before.

    One that has the type of its own accord comes first, then a weak one, then one that was converted too.
    """
    after = _jax_equations.numeric_dtype(result)
    pointing = _POINTING.get(reader.primitive.name, ())
    best, best_rank = None, 4
    for place, operand in enumerate(reader.invars):
        if place in pointing or not _jax_equations.has_dtype(operand, after):
            continue
        origin = around.passed_from(operand)
        if not _jax_equations.is_literal(origin) and origin == result:
            continue
        maker, before, rank = around.maker(origin), after, 1
        if maker is not None and maker.primitive.name == "convert_element_type" and _same_call(maker, reader, around):
            origin = maker.invars[0]
            before = _jax_equations.numeric_dtype(origin)
            rank = 0 if before == after else 3
        if rank < 3 and _jax_equations.is_weak(origin):
            rank = 2
        if rank < best_rank:
            best, best_rank = (origin, before), rank
    return best


def _same_call(converting: Any, reader: Any, around: Surroundings) -> bool:
    """Whether a conversion belongs to the call that reads its result, and was not asked for by the user before."""
    source = around.source(converting)
    return source.key == around.source(reader).key or _promotes(source.functions) or _asked(source.functions) is None


def _reader(equation: Any, around: Surroundings) -> Any:
    """The equation that uses a converted value, behind broadcasts and reshapes; one of the same call comes first."""
    (variable,) = equation.outvars
    key = around.source(equation).key
    for _ in range(MAXIMUM_STEPS_BACK):
        readers = around.readers.get(variable, ())
        if not readers:
            return None
        reader = next((reader for reader in readers if around.source(reader).key == key), readers[0])
        if reader.primitive.name not in PASSING:
            return reader
        variable = reader.outvars[0]
    return None


def _restores(equation: Any, around: Surroundings, after: Any) -> bool:
    """Whether a conversion gives a value the type back that it had before the same call widened it."""
    key, waiting, seen = around.source(equation).key, [equation.invars[0]], set()
    while waiting and len(seen) < MAXIMUM_STEPS_BACK:
        maker = around.maker(waiting.pop())
        if maker is None or id(maker) in seen or around.source(maker).key != key:
            continue
        seen.add(id(maker))
        if maker.primitive.name == "convert_element_type" and _jax_equations.has_dtype(maker.invars[0], after):
            return True
        waiting.extend(maker.invars)
    return False


def _is_restored(reducing: Any, around: Surroundings, before: Any) -> bool:
    """Whether what a reduction gives is converted back to `before` within the same call."""
    key, waiting, seen = around.source(reducing).key, list(reducing.outvars), set()
    while waiting and len(seen) < MAXIMUM_STEPS_BACK:
        for reader in around.readers.get(waiting.pop(), ()):
            if around.source(reader).key != key or id(reader) in seen:
                continue
            seen.add(id(reader))
            if any(_jax_equations.has_dtype(variable, before) for variable in reader.outvars[:1]):
                return True
            waiting.extend(reader.outvars)
    return False


def _asked(functions: Sequence[str]) -> str | None:
    """Who asked for a cast: "" for the user's own line, a function of JAX, or None when no cast was asked for."""
    if _promotes(functions):
        return None
    place = next((index for index, name in enumerate(functions) if name in _CASTS), None)
    if place is None:
        return None
    around = [name for name in functions[place:] if name not in _CAST_WRAPPERS]
    return around[-1] if around else ""


def _promotes(functions: Sequence[str]) -> bool:
    return any(name.rpartition(".")[2] in _PROMOTING for name in functions)


def _cast_name(functions: Sequence[str], after: Any) -> str:
    """What the user called to cast: ``astype``, ``asarray``, ``jnp.float32``."""
    name = next(name for name in reversed(functions) if name in _CASTS).rpartition(".")[2]
    return f"jnp.{np.dtype(after).name}" if name == "__call__" else name.strip("_")


def _last(functions: Sequence[str]) -> str:
    """The function of JAX that the user's line called, as far as the stack has it."""
    return functions[-1] if functions else ""


def _name(functions: Sequence[str], equation: Any) -> str:
    """What did it, for people: the primitive that reads the value, else JAX's function."""
    return equation.primitive.name if equation is not None else _last(functions)


def _is_float(dtype: Any) -> bool:
    return jax.dtypes.issubdtype(dtype, np.inexact)


def _width(dtype: Any) -> int:
    """Bytes of one number, a boolean being smaller than every number."""
    return 0 if dtype == np.bool_ else np.dtype(dtype).itemsize


@functools.lru_cache(maxsize=1024)
def _promoted_with_x64(first: Any, second: Any) -> Any:
    with jax.enable_x64(True):
        try:
            return jax.numpy.promote_types(first, second)
        except Exception:
            # Types that JAX promotes with nothing (the 8-bit floats) were converted by somebody else.
            return None
