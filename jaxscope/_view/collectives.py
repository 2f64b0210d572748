"""The table of what the devices say to each other.

Input: the facts of a compiled program. Output: no table for a program of one device, else one row for all collectives
that are alike: the same kind, axes, size and Python line.
"""

from collections import Counter

from jaxscope._analysis.collectives import (
    Collective,
    collective_seconds,
    kernel_runs,
    link_bytes,
    run_count,
)
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._facts import Facts
from jaxscope._ir.model import NO_STACK
from jaxscope._sources import display_names
from jaxscope._view.cells import MISSING, column_list, known, row_of
from jaxscope._view.format import format_bytes, format_count, format_duration, format_exact
from jaxscope._view.model import Column, Table


def collective_tables(facts: Facts) -> list[Table]:
    """The table, if there is anything to put into it."""
    if "hlo" not in facts.available_listings():
        return []
    linked, found = facts.listing("hlo"), facts.collectives
    if not found:
        return []
    names = display_names(frame.file for frame in linked.stacks.frames)

    def place(one: Collective) -> str:
        stack = linked.op_stack[one.op]
        if stack == NO_STACK:
            return MISSING
        frame = linked.stacks.frames[linked.stacks.nodes[stack][0]]
        return f"{names[frame.file]}:{frame.line}"

    runs = kernel_runs(facts.program_cost("hlo"))

    def seconds(one: Collective) -> float | Unavailable:
        once, often = collective_seconds(one, facts.target.facts), run_count(one, runs)
        return once if isinstance(once, Unavailable) else often if isinstance(often, Unavailable) else once * often

    total = [seconds(one) for one in found]
    rows = Counter(
        (
            one.kind,
            known(one.axes, _axes),
            known(one.group_size, format_exact),
            known(one.group_count, format_exact),
            known(one.operand_bytes, format_bytes),
            known(link_bytes(one), format_bytes),
            known(run_count(one, runs), format_exact),
            known(seconds(one), format_duration),
            place(one),
        )
        for one in found
    )
    reasons = dict.fromkeys(
        value.reason
        for one in found
        for value in (
            *(one.axes, one.group_size, one.group_count, one.operand_bytes),
            *(link_bytes(one), run_count(one, runs), seconds(one)),
        )
        if isinstance(value, Unavailable)
    )
    count = Column(
        key="count",
        label="Count",
        align="right",
        code=False,
        help="How many instructions of the text are alike in this.",
    )
    return [
        Table(
            key="collectives",
            title="Collectives",
            source="the compiled HLO",
            summary=_summary(total),
            tone="",
            columns=[
                *column_list("collectives", "collective", "mesh_axes", "group_size", "groups"),
                *column_list("collectives", "operand_bytes", "link_bytes", "runs", "seconds", "python_line"),
                count,
            ],
            rows=[row_of(*cells, f"{number:,}") for cells, number in rows.most_common()],
            notes=[f"{MISSING}: {reason}" for reason in reasons],
            empty="",
        )
    ]


def _summary(seconds: list[float | Unavailable]) -> str:
    """How many there are, and the time that all of them together cannot beat."""
    count = format_count(len(seconds), ("instruction", "instructions"))
    known_ones = [one for one in seconds if not isinstance(one, Unavailable)]
    return f"{count}, at least {format_duration(sum(known_ones))}" if known_ones else count


def _axes(axes: tuple[str, ...]) -> str:
    return ", ".join(axes) or "none"
