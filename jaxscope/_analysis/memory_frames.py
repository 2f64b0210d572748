"""The tables of a program's memory as pandas DataFrames.

Problem: a figure is looked at in a table that can be sorted, beside its line in HLO and in Python. Input: a
`MemoryCurve`, `Allocation` records, `Donation` records, and the linked compiled HLO. Output: DataFrames whose columns
`jaxscope._analysis.memory_columns` documents; what is missing is NA, with its reason in the column ``missing``.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from jaxscope._analysis.buffers import NO_OP, Buffer, MemoryCurve
from jaxscope._analysis.donation import Donation
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._ir.allocations import Allocation
from jaxscope._ir.model import NO_STACK
from jaxscope._links import LinkedListing

if TYPE_CHECKING:
    import pandas

BUFFER_COLUMNS = (
    "buffer",
    "opcode",
    "role",
    "type",
    "size_bytes",
    "start",
    "end",
    "memory_space",
    "allocation",
    "offset",
    "allocated_bytes",
    "line",
    "file",
    "python_line",
    "missing",
)
ALIVE_COLUMNS = (*BUFFER_COLUMNS[:5], "running_bytes", *BUFFER_COLUMNS[5:])
ALLOCATION_COLUMNS = (
    "allocation",
    "kind",
    "size_bytes",
    "memory_space",
    "parameter",
    "live_out",
    "values",
)
DONATION_COLUMNS = ("path", "type", "size_bytes", "worked", "output", "missing")

_WHOLE = (*BUFFER_COLUMNS[4:12], "python_line")


def buffers_frame(curve: MemoryCurve, linked: LinkedListing) -> "pandas.DataFrame":
    """One row for each value, in the order in which they come to life."""
    return _frame(_buffer_rows(curve.buffers, linked), BUFFER_COLUMNS, _WHOLE)


def alive_frame(curve: MemoryCurve, linked: LinkedListing, instant: int | None = None) -> "pandas.DataFrame":
    """One row for each value alive at an instant, the largest first.

    Args:
        curve: The curve.
        linked: The compiled HLO.
        instant: The compiler's peak where it is None.

    Raises:
        IndexError: There is no such instant.
    """
    rows = _buffer_rows(curve.alive_at(curve.peak_instant if instant is None else instant), linked)
    running = 0
    for row in rows:
        running += row["size_bytes"]
        row["running_bytes"] = running
    return _frame(rows, ALIVE_COLUMNS, (*_WHOLE, "running_bytes"))


def allocations_frame(allocations: Iterable[Allocation]) -> "pandas.DataFrame":
    """One row for each allocation, in the compiler's order."""
    rows = [
        {
            "allocation": each.index,
            "kind": each.kind,
            "size_bytes": each.size_bytes,
            "memory_space": each.memory_space,
            "parameter": each.parameter,
            "live_out": each.is_live_out,
            "values": len(each.values),
        }
        for each in allocations
    ]
    frame = _frame(rows, ALLOCATION_COLUMNS, ("allocation", "size_bytes", "memory_space", "parameter", "values"))
    return frame.astype({"live_out": "bool"})


def donation_frame(donations: Iterable[Donation]) -> "pandas.DataFrame":
    """One row for each donated argument."""
    rows = []
    for each in donations:
        row: dict[str, Any] = {"path": each.path, "type": each.type, "worked": each.worked}
        reasons = []
        for name in ("size_bytes", "output"):
            value = getattr(each, name)
            row[name] = None if isinstance(value, Unavailable) else value
            if isinstance(value, Unavailable):
                reasons.append(f"{name}: {value.reason}")
        row["missing"] = " ".join(reasons)
        rows.append(row)
    return _frame(rows, DONATION_COLUMNS, ("size_bytes",)).astype({"worked": "boolean"})


def _buffer_rows(buffers: Iterable[Buffer], linked: LinkedListing) -> list[dict[str, Any]]:
    rows = []
    for buffer in buffers:
        row: dict[str, Any] = {
            "buffer": buffer.name,
            "role": buffer.role,
            "type": buffer.type,
            "size_bytes": buffer.size_bytes,
            "start": buffer.start,
            "end": buffer.end,
            "memory_space": buffer.memory_space,
        }
        reasons: dict[str, None] = {}
        for name in ("allocation", "offset", "allocated_bytes"):
            value = getattr(buffer, name)
            row[name] = None if isinstance(value, Unavailable) else value
            if isinstance(value, Unavailable):
                reasons[value.reason] = None
        if buffer.op != NO_OP:
            op = linked.listing.ops[buffer.op]
            row["opcode"], row["line"] = op.name, op.line + 1
            stack = linked.op_stack[buffer.op]
            if stack != NO_STACK:
                frame = linked.stacks.frames[linked.stacks.nodes[stack][0]]
                row["file"], row["python_line"] = frame.file, frame.line
        row["missing"] = " ".join(reasons)
        rows.append(row)
    return rows


def _frame(rows: list[dict[str, Any]], columns: tuple[str, ...], whole: tuple[str, ...]) -> "pandas.DataFrame":
    import pandas

    return pandas.DataFrame(rows, columns=list(columns)).astype(dict.fromkeys(whole, "Int64"))
