"""The tables of what happens to types in a program, and what each of their columns means.

Input: a `TypeFlow`. Output: DataFrames, and the entries of their columns.
"""

from typing import TYPE_CHECKING, Any

from jaxscope._analysis.entry import Entry
from jaxscope._analysis.type_flow import TypeChange, TypeFlow
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._ir.model import Frame

if TYPE_CHECKING:
    import pandas

_TRACED = "The equation of the traced jaxpr."
_PLACE = (
    Entry("file", "File", "The Python file.", "The equation's traceback.", "For what names no line of the user's."),
    Entry(
        "python_line",
        "Python line",
        "The innermost line of the user's.",
        "The equation's traceback.",
        "For what names no line of the user's.",
        "right",
    ),
    Entry(
        "line",
        "Line",
        "The line in the listing of the jaxpr, from 1.",
        "The listing's ops, in the order of the equations.",
        "Where no listing was given or the text could not be matched.",
        "right",
    ),
)

TYPE_CHANGE_COLUMNS = (
    Entry(
        "path",
        "Equation",
        "Which equation it is, through the jaxprs inside others.",
        _TRACED,
        "Empty for a request that left no equation.",
    ),
    Entry("before", "From", "The type before, with the word weak where it gives way in arithmetic.", _TRACED, "Never."),
    Entry("after", "To", "The type after.", _TRACED, "Never."),
    Entry(
        "cause",
        "Cause",
        "Why the type changes: an explicit cast, one inside a called function, promotion by another operand, a 64-bit "
        "type cut because 64-bit mode is off, a function that computes in floating point, a sum kept in more digits, "
        "preferred_element_type, a weak type gained or lost, the operation itself, or 64-bit numbers made of nothing.",
        "JAX's functions on the equation's call stack, and the equations that read and make its operands.",
        "Never.",
    ),
    Entry("operand", "Operand", "The value that changes.", "The operand's origin in the jaxpr.", "Never."),
    Entry(
        "widened_by",
        "Because of",
        "The other operand, which asked for the new type.",
        "The equation that reads the converted value.",
        "When no other operand took part.",
    ),
    Entry(
        "function",
        "In",
        "The function of JAX or the primitive that made it necessary.",
        "The equation's call stack, or the equation that reads the value.",
        "Empty where neither says.",
    ),
    Entry(
        "downstream_ops",
        "Ops after it",
        "Equations whose results have the new type because of this change, until it is cast back.",
        "The flow of data in the jaxpr, through calls, loops and branches; each equation once.",
        "For changes to a narrower type, and for programs too large to follow.",
        "right",
    ),
    Entry(
        "calls",
        "Calls",
        "How often the program contains the equation: the calls of the jaxpr that holds it.",
        "The jaxprs inside the traced one.",
        "Never.",
        "right",
    ),
    Entry(
        "concerns",
        "Concerns",
        "What may be wrong: a 16-bit float widened, a 64-bit float unasked, an integer made a float, a float narrowed.",
        "Both types and the cause.",
        "Empty when nothing is.",
    ),
    *_PLACE,
    Entry("missing", "Missing", "Why values of this row are missing.", "jaxscope.", "Empty when nothing is missing."),
)

OVERFLOW_COLUMNS = (
    Entry("primitive", "Op", "What the equation does.", _TRACED, "Never."),
    Entry("type", "Type", "The integer type of its result.", _TRACED, "Never."),
    Entry(
        "largest",
        "Largest",
        "The possible result that is furthest from zero.",
        "Bounds of iotas, literals and shapes, followed through the arithmetic.",
        "Never.",
        "right",
    ),
    Entry("limit", "Limit", "The largest number of the type.", "The type.", "Never.", "right"),
    *_PLACE,
)


def type_flow_frame(flow: TypeFlow) -> "pandas.DataFrame":
    """The changes of type as a pandas DataFrame; missing values are NA and their reasons in the column ``missing``."""
    import pandas

    frame = pandas.DataFrame(
        [_row(change) for change in flow.changes], columns=[entry.key for entry in TYPE_CHANGE_COLUMNS], dtype="object"
    )
    return frame.astype({"downstream_ops": "Int64", "calls": "int64", "python_line": "Int64", "line": "Int64"})


def overflow_frame(flow: TypeFlow) -> "pandas.DataFrame":
    """The integer equations that may overflow, as a pandas DataFrame; figures stay Python's, they may be huge."""
    import pandas

    rows = [
        {"primitive": risk.primitive, "type": risk.type, "largest": risk.largest, "limit": risk.limit}
        | _place(risk.frames, risk.line)
        for risk in flow.overflows
    ]
    frame = pandas.DataFrame(rows, columns=[entry.key for entry in OVERFLOW_COLUMNS], dtype="object")
    return frame.astype({"python_line": "Int64", "line": "Int64"})


def _row(change: TypeChange) -> dict[str, Any]:
    missing = {
        "widened_by": change.widened_by,
        "downstream_ops": change.downstream_ops,
        "line": change.line,
    }
    return {
        "path": change.path,
        "before": change.before,
        "after": change.after,
        "cause": change.cause,
        "operand": str(change.operand),
        "widened_by": None if isinstance(change.widened_by, Unavailable) else str(change.widened_by),
        "function": change.function,
        "downstream_ops": None if isinstance(change.downstream_ops, Unavailable) else change.downstream_ops,
        "calls": change.calls,
        "concerns": ", ".join(change.concerns),
        "missing": " ".join(
            f"{name}: {value.reason}" for name, value in missing.items() if isinstance(value, Unavailable)
        ),
    } | _place(change.frames, change.line)


def _place(frames: tuple[Frame, ...], line: int | Unavailable) -> dict[str, Any]:
    return {
        "file": frames[0].file if frames else None,
        "python_line": frames[0].line if frames else None,
        "line": None if isinstance(line, Unavailable) else line + 1,
    }
