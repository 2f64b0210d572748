"""What jit's cache does for a call, and what happens to types inside the program, as tables of the Types tab.

Input: the verdict on a call; the facts of an inspection whose program was traced. Output: the tables; those of the
program only where they have rows.
"""

from collections.abc import Sequence

from jaxscope._analysis.cache_verdict import CacheVerdict
from jaxscope._analysis.surroundings import Operand
from jaxscope._analysis.type_flow import TypeChange
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._facts import Facts
from jaxscope._ir.model import Frame
from jaxscope._sources import display_names
from jaxscope._view.cells import MISSING, column_list, known, row_of
from jaxscope._view.format import format_count, format_exact
from jaxscope._view.model import Column, Link, Row, Table, Tone

# The whole table is one call away; the view travels with every notebook.
MAXIMUM_ROWS = 100
_LONGEST_NUMBER_BITS = 64
_TONES: dict[str, Tone] = {"raises": "error", "traces again": "warning", "compiles again": "warning"}


def cache_table(cache: CacheVerdict | Unavailable) -> Table:
    """What jit does for a call after the inspected one, with one row for each difference that decides it."""
    table = Table(
        key="cache",
        title="jit's cache",
        source="jaxscope",
        summary="",
        tone="",
        columns=column_list("cache", "path", "first", "now", "differs", "outcome"),
        rows=[],
        notes=[],
        empty="Nothing that jit compares differs from the inspected call.",
    )
    for column in table["columns"][1:3]:
        column["code"] = True
    if isinstance(cache, Unavailable):
        table["empty"] = cache.reason
        return table
    for row in cache.rows:
        cells = row_of(row.path, row.first or MISSING, row.now or MISSING, ", ".join(row.differs), row.outcome)
        cells["tone"] = _TONES.get(row.outcome, "")
        cells["marks"] = [2, 3] if cells["tone"] else []
        table["rows"].append(cells)
    table.update(summary=cache.summary, tone=_TONES.get(cache.outcome, ""))
    table["notes"] = [
        "Judged as if jit had been called once before, as inspected, and never otherwise.",
        *cache.notes,
    ]
    return table


def type_flow_tables(facts: Facts) -> list[Table]:
    """The changes of type inside the program and integer arithmetic that may overflow, where there are any."""
    flow = facts.type_flow
    places = _Places(facts, [*(each.frames for each in flow.changes), *(each.frames for each in flow.overflows)])
    tables = []
    if flow.changes:
        concerning = sum(bool(change.concerns) for change in flow.changes)
        worth = format_count(concerning, ("is worth", "are worth"))
        tables.append(
            Table(
                key="type changes",
                title="Changes of type",
                source="jaxpr",
                summary=format_count(len(flow.changes), ("place", "places")) + f"; {worth} a look" * bool(concerning),
                tone="warning" if concerning else "",
                columns=_places_first(
                    column_list(
                        "type changes",
                        *("python_line", "before", "after", "cause", "operand", "downstream_ops", "concerns"),
                    ),
                    code=(1, 2),
                ),
                rows=[_change_row(change, places) for change in _most_telling(flow.changes)],
                notes=[*_notes_of_more(len(flow.changes), "type_changes"), *flow.notes],
                empty="",
            )
        )
    if flow.overflows:
        rows = []
        for risk in flow.overflows[:MAXIMUM_ROWS]:
            row = row_of(
                places.name(risk.frames), risk.primitive, risk.type, _number(risk.largest), _number(risk.limit)
            )
            row["tone"], row["marks"] = "warning", [2, 3]
            places.lead(row, risk.frames, risk.line)
            rows.append(row)
        tables.append(
            Table(
                key="overflows",
                title="Integer arithmetic that may overflow",
                source="jaxpr",
                summary=format_count(len(flow.overflows), ("place", "places")),
                tone="warning",
                columns=_places_first(
                    column_list("overflows", "python_line", "primitive", "type", "largest", "limit"), code=(1,)
                ),
                rows=rows,
                notes=_notes_of_more(len(flow.overflows), "integer_overflows"),
                empty="",
            )
        )
    return tables


def broken_table(error: Exception) -> Table:
    """What stands in the place of the tables that could not be made."""
    return Table(
        key="type changes",
        title="Changes of type",
        source="jaxpr",
        summary="",
        tone="error",
        columns=column_list("type changes", "python_line", "before", "after", "cause"),
        rows=[],
        notes=[],
        empty=f"Following types through the program: jaxscope itself raised {type(error).__name__}: {error}. "
        "The other tables are not affected; please report this as a bug of jaxscope.",
    )


class _Places:
    """Short names of Python places, and the lines that rows lead to."""

    def __init__(self, facts: Facts, stacks: Sequence[tuple[Frame, ...]]):
        self._facts = facts
        linked = facts.listing("jaxpr")
        files = [frame.file for frame in linked.stacks.frames]
        self._names = display_names([*files, *(frames[0].file for frames in stacks if frames)])

    def name(self, frames: tuple[Frame, ...]) -> str:
        """``model.py:12``."""
        return f"{self._names[frames[0].file]}:{frames[0].line}" if frames else MISSING

    def lead(self, row: Row, frames: tuple[Frame, ...], line: int | Unavailable) -> None:
        """Links a row to its Python line, or to that of the jaxpr where Python is not shown."""
        at = self._facts.python_lines.get((frames[0].file, frames[0].line)) if frames else None
        if at is not None:
            row["link"] = Link(listing="python", line=at)
        elif not isinstance(line, Unavailable):
            row["link"] = Link(listing="jaxpr", line=line)


def _change_row(change: TypeChange, places: _Places) -> Row:
    ops = change.downstream_ops
    row = row_of(
        places.name(change.frames),
        change.before,
        change.after,
        _cause_text(change),
        str(change.operand) or MISSING,
        known(ops, lambda number: f"{format_exact(number)} in {change.after.partition('[')[0]}"),
        ", ".join(change.concerns),
    )
    if change.concerns:
        row["tone"], row["marks"] = "warning", [2, 6]
    places.lead(row, change.frames, change.line)
    return row


def _cause_text(change: TypeChange) -> str:
    """``promotion by f32[4] (argument y) in add``."""
    text: str = change.cause
    if isinstance(change.widened_by, Operand):
        text += f" by {change.widened_by}"
    return f"{text} in {_short(change.function)}" if change.function else text


def _short(function: str) -> str:
    """``mean`` for JAX's own ``reductions._mean``."""
    return function if function.startswith("jnp.") else function.rpartition(".")[2].lstrip("_")


def _most_telling(changes: Sequence[TypeChange]) -> list[TypeChange]:
    """As many as are shown, those with a concern before others, in the order of the program."""
    chosen = sorted(range(len(changes)), key=lambda index: not changes[index].concerns)[:MAXIMUM_ROWS]
    return [changes[index] for index in sorted(chosen)]


def _notes_of_more(count: int, name: str) -> list[str]:
    return [f"{count - MAXIMUM_ROWS:,} more in inspection.{name}."] if count > MAXIMUM_ROWS else []


def _places_first(columns: list[Column], code: Sequence[int]) -> list[Column]:
    """The columns of a table that begins with the place in Python, whose cells are names and not figures."""
    columns[0]["align"] = "left"
    for number in (0, *code):
        columns[number]["code"] = True
    return columns


def _number(value: int) -> str:
    """All the digits, unless nobody would read them."""
    bits = value.bit_length()
    return f"{value:,}" if bits <= _LONGEST_NUMBER_BITS else f"about {'−' * (value < 0)}2^{bits}"
