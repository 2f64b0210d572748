"""The table of what the devices say to each other.

Input: the facts of a compiled program. Output: no table for a program of one device, else one row for all collectives
that are alike: the same kind, axes, size and Python line.
"""

from collections import Counter

from jaxscope._analysis.collectives import Collective, collectives_of
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._facts import Facts
from jaxscope._ir.model import NO_STACK
from jaxscope._sources import display_names
from jaxscope._view.cells import MISSING, column_list, known, row_of
from jaxscope._view.format import format_bytes, format_count, format_exact
from jaxscope._view.model import Column, Table


def collective_tables(facts: Facts) -> list[Table]:
    """The table, if there is anything to put into it."""
    if "hlo" not in facts.available_listings():
        return []
    linked = facts.listing("hlo")
    found = collectives_of(linked.listing, facts.meshes)
    if not found:
        return []
    names = display_names(frame.file for frame in linked.stacks.frames)

    def place(one: Collective) -> str:
        stack = linked.op_stack[one.op]
        if stack == NO_STACK:
            return MISSING
        frame = linked.stacks.frames[linked.stacks.nodes[stack][0]]
        return f"{names[frame.file]}:{frame.line}"

    rows = Counter(
        (
            one.kind,
            known(one.axes, _axes),
            known(one.group_size, format_exact),
            known(one.group_count, format_exact),
            known(one.operand_bytes, format_bytes),
            place(one),
        )
        for one in found
    )
    reasons = dict.fromkeys(
        value.reason
        for one in found
        for value in (one.axes, one.group_size, one.group_count, one.operand_bytes)
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
            summary=format_count(len(found), ("instruction", "instructions")),
            tone="",
            columns=[
                *column_list("collectives", "collective", "mesh_axes", "group_size", "groups", "operand_bytes"),
                *column_list("collectives", "python_line"),
                count,
            ],
            rows=[row_of(*cells, f"{number:,}") for cells, number in rows.most_common()],
            notes=[f"{MISSING}: {reason}" for reason in reasons],
            empty="",
        )
    ]


def _axes(axes: tuple[str, ...]) -> str:
    return ", ".join(axes) or "none"
