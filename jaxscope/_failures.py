"""What an exception of a stage means to the person who wrote the function.

Problem: a tracing error arrives with dozens of frames of JAX and of jaxscope around the one line that matters, and
formatting it may itself raise. Input: the exception and the stage. Output: an `Explanation`: what was being done, what
was found, what to do, and where, the user's own line first. The exception object itself is kept elsewhere, untouched.
"""

import os
import re
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from jaxscope import _jax
from jaxscope._ir.model import Frame
from jaxscope._sources import display_name, name_cells

_PACKAGE = str(Path(__file__).parent) + os.sep

_DOING = {
    "trace": "Tracing the function",
    "lower": "Lowering the jaxpr to StableHLO",
    "compile": "Compiling the StableHLO",
}

# What to do, by the class of the exception, where the class alone says what went wrong.
_ADVICE = {
    "TracerBoolConversionError": (
        "While tracing, values are not known, so Python cannot branch on them. Use `jnp.where` or `jax.lax.cond`, or "
        "pass the value as a static argument."
    ),
    "TracerIntegerConversionError": (
        "While tracing, values are not known, so they cannot be a Python int. Index with `jnp.take` or "
        "`jax.lax.dynamic_index_in_dim`, or pass the value as a static argument."
    ),
    "TracerArrayConversionError": (
        "NumPy was called on a traced array. Use the function of the same name in jax.numpy, or `jax.pure_callback`."
    ),
    "ConcretizationTypeError": (
        "While tracing, values are not known. Pass the value as a static argument, or compute with jax.numpy and "
        "jax.lax."
    ),
    "NonConcreteBooleanIndexError": (
        "The result would have as many elements as the mask has True, and a compiled program's shapes are fixed. Keep "
        "the shape and blank out the rest: `jnp.where(mask, x, 0)`, or give a size: `x[jnp.nonzero(mask, size=4)]`."
    ),
    "UnexpectedTracerError": (
        "A traced value escaped from an earlier call. Return it from the function instead of storing it."
    ),
    "OverflowError": "The Python number does not fit JAX's default integer. Pass it as an array of a wider type.",
    "KeyboardInterrupt": (
        "Run the cell again to go on. A compilation for attached hardware that had begun ends in the background; any "
        "other has ended."
    ),
}


@dataclass(frozen=True)
class Explanation:
    """A failure in words.

    Attributes:
        headline: What was being done and where, in one line.
        message: What was found: the exception's own words.
        advice: What to do; "" where nothing is known beyond the message.
        frames: Places in Python, the user's own innermost line first.
        traceback: The full traceback, without jaxscope's own frames and with short file names.
    """

    headline: str
    message: str
    advice: str
    frames: tuple[Frame, ...]
    traceback: str


def explain(error: BaseException, stage: str) -> Explanation:
    """Puts the exception of a stage into words; never raises, whatever the exception does when it is formatted."""
    frames = tuple(_order(list(_frames(error.__traceback__))))
    kind = type(error).__name__
    place = f", {Path(frames[0].file).name}:{frames[0].line}" if frames and not _is_cell(frames[0].file) else ""
    headline = f"{_DOING.get(stage, stage)} stopped with {kind}{place}."
    return Explanation(headline, name_cells(message_of(error)), _advice(error), frames, name_cells(_format(error)))


def message_of(error: BaseException) -> str:
    """The exception's own words, without its class; a stand-in where its ``__str__`` raises."""
    try:
        text = str(error)
    except Exception as second:  # Case 117: an exception whose own formatting fails.
        return f"(the exception's own __str__ raised {type(second).__name__})"
    return text.strip() or "(no message)"


def _is_cell(file: str) -> bool:
    return "ipykernel_" in file or file.startswith("<")


def _advice(error: BaseException) -> str:
    for kind in type(error).__mro__:
        if kind.__name__ in _ADVICE:
            return _ADVICE[kind.__name__]
    message = message_of(error)
    # TypeError: Expected a callable value, got [1. 1. 1.]
    if re.search(r"Expected a callable value", message):
        return "Hand over the function itself, show(f, x), not the result of calling it, show(f(x))."
    # TypeError: unsupported operand type(s) for @: 'ShapeDtypeStruct' and 'DynamicJaxprTracer'
    if re.search(r"'ShapeDtypeStruct'", message):
        return (
            "A type stood where the function needs values: pass a real array there (of any values), or jit the "
            "function with jax.jit, which takes types."
        )
    # JaxRuntimeError: INVALID_ARGUMENT: No such compile option: 'xla_no_such_flag'
    if re.search(r"No such compile option", message):
        return "Check the spelling in compiler_options=; the names are those of XLA's flags without the leading dashes."
    # JaxRuntimeError: NOT_FOUND: No FFI handler registered for no_such_target on a platform Host
    # JaxRuntimeError: INVALID_ARGUMENT: Custom emitter for no_such_target not found
    if re.search(r"No FFI handler registered|[Cc]ustom (?:call target|emitter for) .* not found", message):
        return (
            "The program calls a library function that is not registered for this target: import or register it first. "
            "Nothing can be registered for hardware that is not attached: leave the call out there."
        )
    # RuntimeError: Unknown backend: 'gpu' requested, but no platforms that are instances of gpu are present.
    # RuntimeError: Backend 'tpu' failed to initialize: NOT_FOUND: ... Available backends are ['cpu']
    if re.search(r"Unknown backend|Backend '\w+' failed to initialize", message):
        return (
            "JAX was asked for hardware that is not attached: leave backend= and device= out, and choose with target=. "
            "For a GPU that is not attached, JAX lowers no host callback (jax.debug.print, pure_callback) either."
        )
    # ValueError: Error refining shapes. Define JAX_DUMP_IR_TO to dump the module.
    if re.search(r"Error refining shapes", message):
        return "XLA compiles for sizes that are known: give numbers where the arguments' shapes have names."
    return ""


def _frames(trace: TracebackType | None) -> Iterator[Frame]:
    """The user's frames of a Python traceback, outermost first."""
    for frame, line in traceback.walk_tb(trace):
        code = frame.f_code
        if _is_own(code.co_filename) or not _jax.is_user_file(code.co_filename):
            continue
        yield Frame(code.co_filename, code.co_qualname, line)


def _order(frames: list[Frame]) -> Iterator[Frame]:
    """Innermost first, but the user's own lines before those of installed libraries."""
    frames.reverse()
    own = [frame for frame in frames if "site-packages" not in frame.file]
    yield from own
    yield from (frame for frame in frames if "site-packages" in frame.file)


def _format(error: BaseException) -> str:
    """The traceback as Python prints it, without jaxscope's own frames and with short file names.

    It is saved in notebooks and pages, where a home directory has no place.
    """
    try:
        whole = traceback.TracebackException.from_exception(error)
        waiting, seen = [whole], set()
        while waiting:
            part = waiting.pop()
            if part is None or id(part) in seen:
                continue
            seen.add(id(part))
            part.stack = traceback.StackSummary.from_list(
                [
                    (_short_file(frame.filename), frame.lineno, frame.name, frame.line)
                    for frame in part.stack
                    if not _is_own(frame.filename)
                ]
            )
            waiting += [part.__cause__, part.__context__, *(part.exceptions or ())]
        return "".join(whole.format())
    except Exception as second:  # As in message_of.
        return f"{type(error).__name__} (formatting its traceback raised {type(second).__name__})"


def _is_own(file: str) -> bool:
    return file.startswith(_PACKAGE)


def _short_file(file: str) -> str:
    """``jax/_src/core.py`` for an installed file, otherwise the file's name."""
    installed = re.split(r"(?:site|dist)-packages[/\\]", file)  # /usr/lib/python3/site-packages/jax/_src/core.py
    return installed[-1] if len(installed) > 1 else display_name(file)
