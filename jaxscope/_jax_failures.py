"""What JAX's own objects say about a failure: the equations traced so far, types, pages, the code behind a lowering.

Problem: a tracing error leaves behind, in the frames of its traceback, the state of every trace that was open, which
no public interface gives; the line behind a lowering error hangs on it as the cause of a private class. Input: an
exception, or a value from a frame. Output: a `PartialJaxpr`, a type in words, an address, a traceback. Each entry says
why it is needed and what would let us delete it. Tested on JAX 0.8, 0.10 and 0.12.
"""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType, TracebackType
from typing import Any

import jax
import numpy as np
from jax._src import core, errors, source_info_util
from jax._src.interpreters import partial_eval
from jax.extend.core import ClosedJaxpr

from jaxscope import _jax
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._ir.model import Frame

# Of a failure before or after tracing.
NOTHING_TRACED = Unavailable("No function was being traced when this was raised.")

_PAGE = "https://docs.jax.dev/en/latest/errors.html"
_MAXIMUM_FRAMES = 5000
_ARRAY_CLASSES = ("ArrayImpl", "PRNGKeyArray")

# Attributes of an exception, read past whatever its class makes of these names.
_TRACEBACK = BaseException.__dict__["__traceback__"]
_CAUSE = BaseException.__dict__["__cause__"]
_CONTEXT = BaseException.__dict__["__context__"]
_SUPPRESS = BaseException.__dict__["__suppress_context__"]


@dataclass(frozen=True)
class OpenTrace:
    """One function that was being traced when an exception ended it.

    Attributes:
        function: Its name.
        purpose: What it was traced for: ``jit``, ``scan``, ``cond``.
        jaxpr: A closed jaxpr of the equations there were by then; it has no results.
    """

    function: str
    purpose: str
    jaxpr: Any


@dataclass(frozen=True)
class PartialJaxpr:
    """What had been traced when tracing failed: the functions that were open, outermost first, each at least once.

    The equation that failed is in none of them: it would have been the next of the last.
    """

    traces: tuple[OpenTrace, ...]

    @property
    def text(self) -> str:
        """The jaxprs one below the other, each under a comment with the function's name."""
        return self.printed()[0]

    def printed(self) -> tuple[str, list[list[tuple[int, int, tuple[Frame, ...]]]]]:
        """The text and, for each of its lines, its equations' places, as `_jax.print_jaxpr` gives them for one jaxpr.

        `jaxscope._ir.jaxpr.parse` takes both.
        """
        texts: list[str] = []
        places: list[list[tuple[int, int, tuple[Frame, ...]]]] = []
        for trace in self.traces:
            text, lines = _jax.print_jaxpr(trace.jaxpr)
            texts += [f"# {' '.join(trace.function.split())}, traced for {trace.purpose}, up to the failure", text]
            places += [[], *lines]
        return "\n".join(texts), places


def partial_jaxpr(error: BaseException) -> PartialJaxpr | Unavailable:
    """The equations that had been traced when `error` was raised; never raises.

    An open `DynamicJaxprTrace` stands in the frame of the function of JAX's that made it, which stays reachable from
    the exception's traceback also where JAX has taken its own frames out of that. Deletable when JAX offers a jaxpr for
    a failed trace (https://github.com/jax-ml/jax/issues/19527 asks for what it would serve).
    """
    try:
        traces = []
        for trace in _open_traces(error):
            traces.append(_closed(trace))
    except Exception as second:
        return Unavailable(f"JAX's trace could not be read: {type(second).__name__}.")
    if not traces:
        return NOTHING_TRACED
    return PartialJaxpr(tuple(traces))


def _open_traces(error: BaseException) -> list[Any]:
    """The traces that were open, outermost first."""
    found: dict[int, Any] = {}
    caught = traceback_of(error)
    for part in chain_of(error) if caught is not None else ():
        if not is_within(part, error):
            continue
        for frame in _frames_below(part, caught.tb_frame):
            # The functions that trace keep the trace in a variable of that name.
            if frame.f_code.co_filename == partial_eval.__file__:
                trace = frame.f_locals.get("trace")
                if type(trace) is partial_eval.DynamicJaxprTrace:
                    found.setdefault(id(trace), trace)
    return list(found.values())


def is_within(part: BaseException, error: BaseException) -> bool:
    """Whether an exception in the chain of `error` was raised by what raised `error`.

    One that somebody was handling when they called us hangs on all that is raised from then on.
    """
    if part is error:
        return True
    outer, inner = traceback_of(error), traceback_of(part)
    if outer is None or inner is None:
        return outer is inner
    frame: FrameType | None = inner.tb_frame
    for _ in range(_MAXIMUM_FRAMES):
        if frame is None or frame is outer.tb_frame:
            break
        frame = frame.f_back
    return frame is outer.tb_frame


def _frames_below(error: BaseException, top: FrameType) -> list[FrameType]:
    """The frames from `top` to where an exception was raised, JAX's own included, outermost first."""
    frames: list[FrameType] = []
    seen = {id(top)}
    trace = traceback_of(error)
    while trace is not None:
        # From each frame of the traceback back to its callers: a generator that has ended knows its caller no more.
        callers: list[FrameType] = []
        frame: FrameType | None = trace.tb_frame
        while frame is not None and id(frame) not in seen and len(seen) < _MAXIMUM_FRAMES:
            seen.add(id(frame))
            callers.append(frame)
            frame = frame.f_back
        frames += reversed(callers)
        trace = trace.tb_next
    return frames


def _closed(trace: Any) -> OpenTrace:
    """An open trace as a closed jaxpr whose results are the values that no equation has used yet."""
    frame = trace.frame
    # JAX 0.8 wraps the constants.
    constants = {
        variable: getattr(value, "canonical", value) for variable, value in dict(frame.constvar_to_val).items()
    }
    equations = frame.get_eqns()
    used = {id(atom) for equation in equations for atom in equation.invars}
    results = [variable for equation in equations for variable in equation.outvars if id(variable) not in used]
    jaxpr = core.Jaxpr(list(constants), list(frame.invars), results, equations, core.no_effects)
    about = frame.debug_info
    return OpenTrace(
        str(getattr(about, "func_name", "function")),
        str(getattr(about, "traced_for", "jit")),
        ClosedJaxpr(jaxpr, list(constants.values())),
    )


def chain_of(error: BaseException) -> Iterator[BaseException]:
    """An exception, what it was raised from or while handling, and so on; each once."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        part = waiting.pop(0)
        if part is None or id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        waiting += [_CAUSE.__get__(part), _CONTEXT.__get__(part)]


def traceback_of(error: BaseException) -> TracebackType | None:
    """The traceback of an exception, whatever its class calls by that name."""
    return _TRACEBACK.__get__(error)


def class_name(kind: type) -> str:
    """The name of a class, whatever its metaclass calls by that name."""
    return type.__dict__["__name__"].__get__(kind)


def module_of(kind: type) -> str:
    """The package that a class comes from, ``numpy`` for ``numpy.exceptions``; "" where it says nothing of use."""
    module = type.__dict__["__module__"].__get__(kind)
    return module.partition(".")[0] if type(module) is str else ""


def cause_of(error: BaseException) -> BaseException | None:
    """What an exception was raised from, or while handling, as Python would print it; None where there is nothing."""
    cause = _CAUSE.__get__(error)
    return cause if cause is not None or _SUPPRESS.__get__(error) else _CONTEXT.__get__(error)


def origin_of(error: BaseException) -> TracebackType | None:
    """The traceback of the operation whose lowering failed, where JAX hung it on the exception.

    The class is private. Deletable when it is exported, or when the exception names the operation.
    """
    for part in chain_of(error):
        if type(part) is source_info_util.JaxStackTraceBeforeTransformation:
            return traceback_of(part)
    return None


def error_page(error: BaseException) -> str:
    """The address of JAX's page on an exception of its own, "" for others.

    The page has moved between versions: JAX keeps its address on a private class, which is deletable with that.
    """
    for kind in type.mro(type(error)):
        # The two in between, JAXTypeError and JAXIndexError, are not described.
        is_described = type.__subclasscheck__(errors._JAXErrorMixin, kind) and not class_name(kind).startswith("JAX")
        if is_described and module_of(kind) == "jax" and kind is not errors._JAXErrorMixin:
            return f"{getattr(kind, '_error_page', _PAGE)}#jax.errors.{class_name(kind)}"
    return ""


def refuse_leaked_tracers(traced: Any) -> None:
    """Raises what a call raises, between tracing and lowering, for a traced value that an earlier trace left behind.

    Without a call JAX makes it an argument of the program that nothing can fill. The exception belongs to the first
    equation that reads it. Inside of another trace the value may be that one's. `_consts` has no public counterpart;
    JAX 0.8 keeps no trace of them. Deletable when `Traced.lower` refuses them.

    Raises:
        jax.errors.UnexpectedTracerError: There is one.
    """
    if not core.trace_state_clean():
        return
    jaxpr = getattr(traced.jaxpr, "jaxpr", traced.jaxpr)
    # They are the leading inputs of the program.
    for constant, variable in zip(getattr(traced, "_consts", ()), jaxpr.invars):
        if not isinstance(constant, core.Tracer):
            continue
        readers = (equation for equation in jaxpr.eqns if any(operand is variable for operand in equation.invars))
        reader = next(readers, None)
        with source_info_util.user_context(reader.source_info.traceback) if reader else contextlib.nullcontext():
            raise core.escaped_tracer_error(constant)


def type_in_words(value: Any) -> str:
    """``f32[8]`` for an array of JAX's or NumPy's and what stands for one in a trace; "" for anything else.

    Nothing of the value's own is called: it comes from a frame of somebody's program. `isinstance` would ask it, and
    `jax.typeof` convert it.
    """
    kind = type(value)
    if kind is np.ndarray:
        return _short(value.shape, value.dtype)
    if kind is jax.ShapeDtypeStruct:
        return _short(value.shape, value.dtype)
    is_array = type.__subclasscheck__(core.Tracer, kind) or class_name(kind) in _ARRAY_CLASSES
    if not is_array or module_of(kind) not in ("jax", "jaxlib"):
        return ""
    aval = value.aval
    return f"{aval.str_short(short_dtypes=True)}{' weak' if getattr(aval, 'weak_type', False) else ''}"


def _short(shape: tuple[int, ...], dtype: Any) -> str:
    if not _jax.is_array_dtype(dtype):
        return f"array of {dtype.name}"
    return core.ShapedArray(shape, dtype).str_short(short_dtypes=True)
