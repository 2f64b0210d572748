"""What an exception of a stage means to the person who wrote the function.

Problem: a tracing error arrives with dozens of frames of JAX and of jaxscope around the one line that matters, says
what was found in JAX's words, and formatting it may itself raise. Input: the exception and the stage. Output: an
`Explanation`: what was being done, what was found, what to do, and where, the user's own line first, with the types of
what stands there. The exception object itself is kept elsewhere, untouched.

What is recognised is a table, one file for each family of failures, whose rows go by the class of the exception and the
form of the code, and by its words only where these do not tell.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from jaxscope import _jax_failures
from jaxscope._failures import places
from jaxscope._failures.control_flow import mismatches
from jaxscope._failures.operands import operands_of
from jaxscope._failures.places import expression_at, is_cell
from jaxscope._failures.records import Diagnosis, Explanation, Failure, Mismatch, Operand
from jaxscope._failures.sites import NOWHERE
from jaxscope._failures.table import recognise
from jaxscope._ir.model import Frame
from jaxscope._jax_failures import class_name, module_of
from jaxscope._sources import name_cells

__all__ = ["Explanation", "Mismatch", "Operand", "explain", "expression_at", "message_of"]

_DOING = {
    "trace": "Tracing the function",
    "lower": "Lowering the jaxpr to StableHLO",
    "compile": "Compiling the StableHLO",
}
# Patterns look no further: a message can be as long as somebody's arrays.
_MAXIMUM_MESSAGE = 20_000
_KNOWN_MODULES = ("builtins", "jax", "jaxlib", "jaxscope", "numpy")
_UNKNOWN = Diagnosis("unknown", "", "", "")
# What is wrong with the arguments or with the function as a whole, before a line of it has run or after the last.
_ARGUMENT_KINDS = frozenset(
    {
        "argument-not-an-array",
        "argument-protocol",
        "backend-missing",
        "call-arguments",
        "dtype-unsupported",
        "gradient-argnums",
        "gradient-dtype",
        "gradient-not-scalar",
        "integer-overflow",
        "mapped-axes-tree",
        "mapped-axis",
        "mapped-sizes",
        "result-coroutine",
        "result-generator",
        "static-unhashable",
        "unsortable-keys",
    }
)
_MISMATCH_KINDS = frozenset({"branch-trees", "branch-types", "carry-tree", "carry-type"})

Part = TypeVar("Part")


def explain(error: BaseException, stage: str, definition: Frame | None = None) -> Explanation:
    """Puts the exception of a stage into words; never raises, whatever the exception does when it is looked at.

    Args:
        error: What the stage raised.
        stage: ``trace``, ``lower`` or ``compile``.
        definition: Where the inspected function is defined: the place of what is wrong with its arguments, as no line
            of its own has run by then.
    """
    message = message_of(error)
    cut = message[:_MAXIMUM_MESSAGE]
    frames = _safely(lambda: places.frames_of(error, cut), [])
    site, frame, _ = _safely(lambda: places.site_of(error), (NOWHERE, None, False))
    diagnosis = _safely(lambda: _diagnose(error, stage, cut), _UNKNOWN)
    if not frames and definition is not None and stage == "trace" and diagnosis.kind in _ARGUMENT_KINDS:
        frames = [definition]
    place = f", {Path(frames[0].file).name}:{frames[0].line}" if frames and not is_cell(frames[0].file) else ""
    headline = f"{_DOING.get(stage, stage)} stopped with {class_name(type(error))}{place}."
    return Explanation(
        headline,
        name_cells(message),
        name_cells(diagnosis.advice),
        tuple(frames),
        places.format_traceback(error),
        kind=diagnosis.kind,
        found=name_cells(diagnosis.found),
        expression=site.text or _safely(lambda: expression_at(frames[0]) if frames else "", ""),
        operands=_safely(lambda: operands_of(site.node, frame) if frame is not None else (), ()),
        page=diagnosis.page,
        symbol=diagnosis.symbol,
        mismatches=_safely(lambda: mismatches(cut), ()) if diagnosis.kind in _MISMATCH_KINDS else (),
    )


def message_of(error: BaseException) -> str:
    """The exception's own words, without its class; a stand-in where its ``__str__`` raises."""
    try:
        # A subclass of str could do anything in its methods.
        text = str.__str__(str(error))
    except BaseException as second:  # Case 117: an exception whose own formatting fails, in any way.
        return f"(the exception's own __str__ raised {class_name(type(second))})"
    return text.strip() or "(no message)"


def _safely(part: Callable[[], Part], otherwise: Part) -> Part:
    """What one part of an explanation gives, or what stands for it: the others must not be lost with it."""
    try:
        return part()
    except Exception:
        return otherwise


def _diagnose(error: BaseException, stage: str, message: str) -> Diagnosis:
    diagnosis = recognise(_failure_of(error, stage, message))
    if diagnosis is None:
        return _UNKNOWN
    cause = _jax_failures.cause_of(error)
    if diagnosis.kind == "user-exception" and cause is not None and _jax_failures.is_within(cause, error):
        # Somebody's own words for a failure of JAX's: what to do about that one helps.
        inner = recognise(_failure_of(cause, stage, message_of(cause)[:_MAXIMUM_MESSAGE]))
        if inner is not None and inner.advice:
            found = f"It was raised while handling {class_name(type(cause))}: {inner.found}"
            return Diagnosis(diagnosis.kind, found, inner.advice, inner.page)
    return diagnosis


def _failure_of(error: BaseException, stage: str, message: str) -> Failure:
    site, _, is_last = places.site_of(error)
    kind = type(error)
    return Failure(
        tuple(class_name(each) for each in type.mro(kind)),
        message,
        stage,
        site,
        is_raised=is_last and ("raise" in site.forms or ("assert" in site.forms and kind is AssertionError)),
        is_foreign=module_of(kind) not in _KNOWN_MODULES,
        page=_jax_failures.error_page(error),
    )
