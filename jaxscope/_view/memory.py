"""The Memory tab: what a device has to hold, whether it fits, who is alive when, and what became of donations.

Input: the facts of an inspection whose stages have ended. Output: the figures it begins with and its tables; and
`LiveColumns`, what the chart of live buffers asks for.
"""

import re
from collections.abc import Sequence

from jaxscope._analysis.buffers import NO_OP, Buffer, MemoryCurve
from jaxscope._analysis.program_memory import ProgramMemory
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._facts import Facts
from jaxscope._ir.model import NO_STACK
from jaxscope._links import LinkedListing
from jaxscope._sources import display_names
from jaxscope._view.cells import MISSING, Page, column_list, known, row_of
from jaxscope._view.charts import byte_ticks, stack_of
from jaxscope._view.format import format_bytes, format_count, format_exact
from jaxscope._view.model import Column, Figure, Link, LiveColumns, Row, Stack, Steps, Table
from jaxscope._view.tables import memory_table

LIVE = "live"
# Rows of the peak for readers without the chart; with it, all are there.
_MAXIMUM_ROWS = 40
_REQUEST = "Compile once more for the compiler's own account"
_END = "end of the program"


def memory_page(facts: Facts) -> Page:
    """What stands on the strip, the figures, the tables."""
    memory = facts.program_memory
    curve = memory.curve
    table = memory_table(facts)
    if (stack := _stack(memory)) is not None:
        table["chart"] = stack
    tables = [table, *_live_tables(facts, memory), *_peak_tables(memory), *_donation_tables(facts)]
    verdict = memory.verdict
    count = known(verdict.needed_bytes, format_bytes).replace(MISSING, "")
    if isinstance(curve, MemoryCurve):
        # The strip has room for one figure: the one that a device has to have room for.
        count = f"{format_bytes(max(curve.peak_bytes, curve.highest_bytes))} peak"
    return Page(count, _figures(facts, memory), tables)


def _figures(facts: Facts, memory: ProgramMemory) -> list[Figure]:
    figures = []
    verdict = memory.verdict
    if not isinstance(verdict.needed_bytes, Unavailable):
        margin = verdict.margin_bytes
        if isinstance(margin, Unavailable):
            note, tone = f"no verdict: {margin.reason}", ""
        else:
            capacity = known(verdict.capacity_bytes, format_bytes)
            word, tone = ("fits", "good") if margin >= 0 else ("does not fit", "error")
            rest = f"{format_bytes(margin)} to spare" if margin >= 0 else f"{format_bytes(-margin)} too much"
            note = f"{word} {facts.target.machine}: {format_bytes(verdict.needed_bytes)} of {capacity}, {rest}"
        parts = " ".join(f"{part.name} {part.size_bytes:,}, from {part.source}." for part in verdict.parts)
        figures.append(
            Figure(
                label="needed at once on a device" + (", estimated" if verdict.is_estimate else ""),
                value=format_bytes(verdict.needed_bytes),
                note=note,
                help=f"Arguments, outputs, temporaries, code and constants, less what outputs share. {parts} "
                + " ".join(verdict.notes),
                tone=tone,  # type: ignore[typeddict-item]
            )
        )
    curve = memory.curve
    if isinstance(curve, MemoryCurve):
        figures.append(
            Figure(
                label="alive at the peak",
                value=format_bytes(curve.peak_bytes),
                note=f"instant {curve.peak_instant + 1:,} of {len(curve.bytes_alive):,}" + _highest(curve),
                help="The values that are needed at the fullest instant of the schedule, without padding and gaps. "
                f"Source: {curve.source}.",
                tone="",
            )
        )
    donated = [one for one in facts.donations if not isinstance(one.size_bytes, Unavailable)]
    if donated:
        worked = sum(one.size_bytes for one in donated if one.worked)
        refused = [one for one in donated if one.worked is False]
        figures.append(
            Figure(
                label="donated and reused",
                value=format_bytes(worked),
                note=f"{format_count(len(refused), ('donation', 'donations'))} not used" if refused else "all of them",
                help="Bytes of donated arguments, over all devices, whose buffers a result takes.",
                tone="warning" if refused else "",
            )
        )
    return figures


def _stack(memory: ProgramMemory) -> Stack | None:
    """What is needed, part by part; the outputs less what they share with arguments."""
    verdict = memory.verdict
    if not verdict.parts:
        return None
    sizes = {part.name: part.size_bytes for part in verdict.parts}
    more = max(0, sizes.get("output", 0) + sizes.get("alias", 0))
    parts = [
        ("arguments", sizes.get("argument", 0)),
        ("outputs besides them", more),
        ("temporaries", sizes.get("temporary", 0)),
        ("code", sizes.get("generated code", 0)),
        ("constants", sizes.get("constants", 0)),
    ]
    capacity = verdict.capacity_bytes
    limit = None if isinstance(capacity, Unavailable) else (f"memory {format_bytes(capacity)}", capacity)
    return stack_of(parts, limit)


# Live buffers.


class _Places:
    """Where instructions of the compiled text stand, there and in Python."""

    def __init__(self, linked: LinkedListing):
        self.linked = linked
        self.names = display_names(frame.file for frame in linked.stacks.frames)

    def line(self, op: int) -> int:
        return self.linked.listing.ops[op].line if op != NO_OP else -1

    def name(self, op: int) -> str:
        results = self.linked.listing.ops[op].results
        return results[0] if results else self.linked.listing.ops[op].name

    def python(self, op: int) -> str:
        stack = self.linked.op_stack[op] if op != NO_OP else NO_STACK
        if stack == NO_STACK:
            return MISSING
        frame = self.linked.stacks.frames[self.linked.stacks.nodes[stack][0]]
        return f"{self.names[frame.file]}:{frame.line}"


def _columns() -> list[Column]:
    columns = column_list("alive", "buffer", "role", "type", "python_line")
    columns[0]["code"] = columns[2]["code"] = columns[3]["code"] = True
    columns[3]["align"] = "left"
    size, total = column_list("alive", "size_bytes", "running_bytes")
    size.update(key="size", label="Size", bar=True)
    total["key"] = "total"
    lifetime = Column(
        key="lifetime",
        label="From … to",
        align="right",
        code=False,
        help="The instants of the schedule, from 1, at which it is alive.",
    )
    return [*columns, size, total, lifetime]


def _live_tables(facts: Facts, memory: ProgramMemory) -> list[Table]:
    curve = memory.curve
    table = Table(
        key=LIVE,
        title="Live buffers",
        source="",
        summary="",
        tone="",
        columns=_columns(),
        rows=[],
        notes=[],
        empty="",
    )
    if isinstance(memory.allocations, Unavailable) or (isinstance(curve, MemoryCurve) and curve.confirmed is None):
        table["request"] = _REQUEST
    if isinstance(curve, Unavailable):
        table["empty"] = curve.reason
        return [table]
    places = _Places(facts.placed_listing("hlo"))
    alive = curve.alive_at(curve.peak_instant)
    count = len(curve.bytes_alive)
    at_peak = f"instant {curve.peak_instant + 1:,} of {count:,}"
    words = {None: "", True: "; the compiler's own report says the same", False: "; the compiler's report differs"}
    table["source"] = curve.source + words[curve.confirmed]
    table["summary"] = f"{format_bytes(curve.peak_bytes)} in {format_count(len(alive), ('buffer', 'buffers'))}"
    table["tone"] = "warning" if curve.confirmed is False else ""
    table["notes"] = list(curve.notes)
    table["empty"] = "Nothing is alive."
    total = 0
    for buffer in alive[:_MAXIMUM_ROWS]:
        total += buffer.size_bytes
        table["rows"].append(_live_row(places, buffer, total))
    if len(alive) > _MAXIMUM_ROWS:
        table["notes"].insert(0, f"{len(alive) - _MAXIMUM_ROWS:,} more at the peak: inspection.alive().")
    op = curve.instants[curve.peak_instant] if curve.peak_instant < len(curve.instants) else NO_OP
    name = places.name(op) if op != NO_OP else _END
    shown = _bytes_shown(curve)
    top = max(shown) * 1.08
    if any(buffer.hand_over is not None for buffer in curve.buffers):
        table["notes"].append(
            "Where a value takes over the buffer of another, the buffer counts once; at the peak both count, as in the "
            "compiler's report."
        )
    if curve.highest_bytes > curve.peak_bytes:
        table["notes"].append(
            "The peak is where the compiler's report has it, and the report measures parts of tuples by their tables. "
            f"Counted in full, {format_bytes(curve.highest_bytes)} are in use at instant {curve.highest_instant + 1:,}."
        )
    table["chart"] = Steps(
        kind="steps",
        summary=(
            f"{format_bytes(curve.peak_bytes)} alive at the peak, {at_peak}, {name}; "
            f"{format_bytes(shown[0])} when it begins and {format_bytes(shown[-1])} at the end."
        ),
        data=LIVE,
        count=count,
        peak=curve.peak_instant,
        label=f"peak, {at_peak}: {name}",
        axis="schedule of the compiled program",
        top=top or 1.0,
        ticks=byte_ticks(top),
    )
    return [table]


def _highest(curve: MemoryCurve) -> str:
    """What is in use where more is than at the compiler's peak."""
    if curve.highest_bytes <= curve.peak_bytes:
        return ""
    return f"; {format_bytes(curve.highest_bytes)} in use at instant {curve.highest_instant + 1:,}"


def _bytes_shown(curve: MemoryCurve) -> list[int]:
    """The bytes in use at each instant, and at the peak those that the compiler reports."""
    shown = list(curve.bytes_in_use)
    shown[curve.peak_instant] = curve.peak_bytes
    return shown


def _last_shown(buffer: Buffer, peak: int) -> int:
    """The last instant at which a buffer counts as its own."""
    return buffer.end if buffer.hand_over is None or buffer.hand_over == peak else buffer.hand_over - 1


# "{2,1,0:T(8,128)S(1)}" behind the dimensions.
_LAYOUT = re.compile(r"\{[^{}]*\}")


def _short_type(buffer: Buffer) -> str:
    """The type without its layout, and the memory it lies in where that is not the main one."""
    space = f" S({buffer.memory_space})" if buffer.memory_space else ""
    return _LAYOUT.sub("", buffer.type) + space


def _live_row(places: _Places, buffer: Buffer, total: int) -> Row:
    row = row_of(
        buffer.name,
        buffer.role,
        _short_type(buffer),
        places.python(buffer.op),
        format_bytes(buffer.size_bytes),
        format_bytes(total),
        f"{buffer.start + 1:,} … {buffer.end + 1:,}",
    )
    if buffer.op != NO_OP:
        row["link"] = Link(listing="hlo", line=places.line(buffer.op))
    return row


def live_columns(facts: Facts, key: str) -> LiveColumns:
    """What the chart of live buffers shows at every instant.

    Args:
        facts: Of the program.
        key: The key of the listing of its compiled HLO.
    """
    curve = facts.program_memory.curve
    if isinstance(curve, Unavailable):
        return LiveColumns(
            strings=[],
            listing=key,
            step_bytes=[],
            step_name=[],
            step_line=[],
            size=[],
            first=[],
            last=[],
            line=[],
            cells={},
        )
    places = _Places(facts.placed_listing("hlo"))
    strings: dict[str, int] = {}

    def intern(text: str) -> int:
        return strings.setdefault(text, len(strings)) if text else -1

    buffers = sorted(curve.buffers, key=lambda buffer: (-buffer.size_bytes, buffer.name))
    return LiveColumns(
        step_bytes=_bytes_shown(curve),
        step_name=[*(intern(places.name(op)) if op != NO_OP else -1 for op in curve.instants), intern(_END)],
        step_line=[*(places.line(op) for op in curve.instants), -1],
        size=[buffer.size_bytes for buffer in buffers],
        first=[buffer.start for buffer in buffers],
        last=[_last_shown(buffer, curve.peak_instant) for buffer in buffers],
        line=[places.line(buffer.op) for buffer in buffers],
        cells={
            "buffer": [intern(buffer.name) for buffer in buffers],
            "role": [intern(buffer.role) for buffer in buffers],
            "type": [intern(_short_type(buffer)) for buffer in buffers],
            "python_line": [intern(places.python(buffer.op)) for buffer in buffers],
        },
        strings=list(strings),
        listing=key,
    )


# From the peak to what is set aside.


def _peak_tables(memory: ProgramMemory) -> list[Table]:
    tables = []
    if not isinstance(memory.reconciliation, Unavailable) and not isinstance(memory.allocations, Unavailable):
        one = memory.reconciliation
        rows = [_sum_row("alive at the peak", one.peak_bytes, "Values that are needed then, without padding.")]
        rows += [_sum_row(step.name, step.size_bytes, step.explanation) for step in one.steps]
        rows.append(_sum_row("set aside", one.allocated_bytes, "All allocations in the device's main memory."))
        tables.append(_sums("peak", "From the peak to what is set aside", memory.allocations_from, rows, "step"))
    if memory.agreement:
        rows = []
        for one in memory.agreement:
            row = row_of(
                one.name,
                format_exact(one.allocated_bytes),
                known(one.reported_bytes, format_exact),
                "" if one.agrees else one.note,
            )
            row["tone"] = "" if one.agrees else "warning"
            rows.append(row)
        columns = column_list("agreement", "kind", "allocated_bytes", "reported_bytes", "note")
        table = _table("agreement", "Allocations beside XLA's figures", memory.allocations_from, columns, rows)
        table["summary"] = "the same to the byte" if all(one.agrees for one in memory.agreement) else ""
        tables.append(table)
    return tables


def _sum_row(name: str, size: int, explanation: str) -> Row:
    return row_of(name, format_exact(size).replace("-", "−"), explanation)


def _sums(key: str, title: str, source: str, rows: list[Row], first: str) -> Table:
    return _table(key, title, source, column_list("peak", first, "size_bytes", "note"), rows)


def _table(key: str, title: str, source: str, columns: Sequence[Column], rows: list[Row]) -> Table:
    return Table(
        key=key, title=title, source=source, summary="", tone="", columns=list(columns), rows=rows, notes=[], empty=""
    )


def _donation_tables(facts: Facts) -> list[Table]:
    rows = []
    for one in facts.donations:
        word = {True: "yes", False: "no", None: MISSING}[one.worked]
        output = known(one.output)
        reason = one.output.reason if isinstance(one.output, Unavailable) else ""
        row = row_of(one.path, one.type, known(one.size_bytes, format_bytes), word, output, reason)
        row["tone"] = "warning" if one.worked is False else ""
        row["marks"] = [3] if one.worked is False else []
        rows.append(row)
    if not rows:
        return []
    columns = column_list("donations", "path", "type", "size_bytes", "worked", "output", "missing")
    columns[4]["code"] = True
    return [_table("donations", "Donated arguments", "input_output_alias of the compiled HLO", columns, rows)]
