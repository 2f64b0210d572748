"""The table of what the devices say to each other.

Input: the facts of a compiled program. Output: no table for a program of one device, else one row for all collectives
that are alike: the same kind, axes, size and Python line.
"""

from collections import Counter

from jaxscope._analysis import columns
from jaxscope._analysis.collectives import Collective, collectives_of
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._facts import Facts
from jaxscope._ir.model import NO_STACK
from jaxscope._sources import display_names
from jaxscope._view.format import format_bytes, format_count
from jaxscope._view.model import Column, Row, Table

_MISSING = "—"


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
            return _MISSING
        frame = linked.stacks.frames[linked.stacks.nodes[stack][0]]
        return f"{names[frame.file]}:{frame.line}"

    rows = Counter(
        (
            one.kind,
            _axes(one.axes),
            _text(one.group_size),
            _text(one.group_count),
            _bytes(one.operand_bytes),
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
    entries = [columns.column("collectives", key) for key in ("collective", "mesh_axes", "group_size", "groups")]
    entries += [columns.column("collectives", key) for key in ("operand_bytes", "python_line")]
    shown = [Column(key=each.key, label=each.label, align=each.align, code=False, help=each.help) for each in entries]
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
            columns=[*shown, count],
            rows=[Row(cells=[*cells, f"{number:,}"], tone="", marks=[]) for cells, number in rows.most_common()],
            notes=[f"{_MISSING}: {reason}" for reason in reasons],
            empty="",
        )
    ]


def _axes(value: tuple[str, ...] | Unavailable) -> str:
    return _MISSING if isinstance(value, Unavailable) else ", ".join(value) or "none"


def _text(value: int | Unavailable) -> str:
    return _MISSING if isinstance(value, Unavailable) else f"{value:,}"


def _bytes(value: int | Unavailable) -> str:
    return _MISSING if isinstance(value, Unavailable) else format_bytes(value)
