"""A failed stage on the screen: in words and places, as marks beside the lines, and with what was traced until then.

Input: the facts of an inspection. Output: a `FailureView`, the `Mark`s of the lines where stages failed, and the row of
the Python side to show first.
"""

from collections.abc import Iterator

from jaxscope._facts import Facts
from jaxscope._failures import Explanation
from jaxscope._jax_failures import class_name
from jaxscope._links import LinkedListing
from jaxscope._programs import Programs
from jaxscope._sources import display_name, rows_of, source_line
from jaxscope._stages import Stage
from jaxscope._view.cells import column_list
from jaxscope._view.model import Column, FailureView, Mark, Operand, Place, Row, Table

# From the function's first line to the one that fails, as long as both are read at once.
_NEAR_LINES = 12
_LINES_BEFORE = 6
_MAXIMUM_ROWS = 100


def failure_view(explanation: Explanation) -> FailureView:
    """A failed stage in words and places."""
    places = [
        Place(
            file=display_name(frame.file),
            line=frame.line,
            column=frame.column,
            function=frame.function,
            text=source_line(frame.file, frame.line),
        )
        for frame in explanation.frames
    ]
    return FailureView(
        headline=explanation.headline,
        found=explanation.found,
        message=explanation.message,
        advice=explanation.advice,
        page=explanation.page,
        places=places,
        expression=_part_that_failed(explanation, places[0]["text"] if places else ""),
        operands=[Operand(expression=each.expression, type=each.type) for each in explanation.operands],
        mismatches=_mismatch_table(explanation),
        traceback=explanation.traceback,
    )


def _part_that_failed(explanation: Explanation, line: str) -> str:
    """The expression that failed; "" where the line itself says it."""
    says_it = line.partition("  #")[0].rstrip().endswith(explanation.expression)
    return "" if says_it else explanation.expression


def _mismatch_table(explanation: Explanation) -> Table | None:
    """The leaves that differ; None where no two trees are compared."""
    mismatches = explanation.mismatches
    if not mismatches:
        return None
    is_carry = explanation.kind.startswith("carry")
    whole = "the carry" if is_carry else "the result"
    more = len(mismatches) - _MAXIMUM_ROWS
    return Table(
        key="carry" if is_carry else "branches",
        title="What differs between input and output of the body" if is_carry else "What differs between the branches",
        source="",
        summary="",
        tone="",
        columns=[
            Column({**column, "code": column["key"] != "reason"})
            for column in column_list("carry" if is_carry else "branches", "path", "left", "right", "reason")
        ],
        rows=[
            Row(cells=[each.path or whole, each.left, each.right, each.reason], tone="", marks=[])
            for each in mismatches[:_MAXIMUM_ROWS]
        ],
        notes=[f"{more:,} more stand in the exception's own words."] if more > 0 else [],
        empty="",
    )


def failure_marks(programs: Programs) -> Iterator[Mark]:
    """The lines of Python at which a stage of some target failed, and where in its text.

    The Python side is that of the first target, and its marks are shown with the target that they are about.
    """
    for facts in programs:
        for stage in facts.stages.values():
            if stage.error is not None:
                yield from _python_marks(programs, facts, stage)
                yield from _text_marks(programs, facts, stage)


def _python_marks(programs: Programs, facts: Facts, stage: Stage) -> Iterator[Mark]:
    explanation = facts.explanation(stage.key)
    rows = rows_of(programs.first.python_side()[1])
    # A function that calls itself is on the call stack more than once.
    at = dict.fromkeys(rows.get((frame.file, frame.line)) for frame in explanation.frames)
    for number, row in enumerate(at):
        if row is None:
            continue
        is_place = number == 0
        yield Mark(
            listing=programs.key(facts, "python"),
            line=row,
            tone="error" if is_place else "muted",
            text=_said(explanation) if is_place else f"On the call stack of the failure. {explanation.headline}",
            note=" · ".join(map(str, explanation.operands)) or class_name(type(stage.error)) if is_place else "",
        )


def _text_marks(programs: Programs, facts: Facts, stage: Stage) -> Iterator[Mark]:
    explanation = facts.explanation(stage.key)
    if stage.key == "trace" and isinstance(partial := facts.partial_listing, LinkedListing):
        yield Mark(
            listing=programs.key(facts, "jaxpr"),
            line=len(partial.listing.lines) - 1,
            tone="error",
            text=f"Tracing stopped here. {_said(explanation)}",
            note="tracing stopped here",
        )
    if (line := facts.failed_line(stage.key)) is not None:
        yield Mark(
            listing=programs.key(facts, "stablehlo"),
            line=line,
            tone="error",
            text=_said(explanation),
            note=class_name(type(stage.error)),
        )


def _said(explanation: Explanation) -> str:
    return explanation.found or explanation.headline


def first_row(facts: Facts) -> int | None:
    """The row of the Python side to show first where a stage failed; None where its own beginning will do."""
    failed = next((stage for stage in facts.stages.values() if stage.error is not None), None)
    frames = facts.explanation(failed.key).frames if failed is not None else ()
    if not frames:
        return None
    rows = rows_of(facts.python_side()[1])
    at = rows.get((frames[0].file, frames[0].line))
    own = rows.get((facts.definition.file, facts.definition.first_line)) if facts.definition else None
    if at is None or (own is not None and own <= at <= own + _NEAR_LINES):
        return None
    return max(0, at - _LINES_BEFORE)
