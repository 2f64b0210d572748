"""The figures of several targets side by side, one column for each.

Input: the programs of an inspection, some of which may still be running. Output: the tables that stand above those of a
single target. A missing figure keeps its reason, below the table.
"""

import functools
from collections.abc import Callable, Sequence

from jaxscope._analysis import columns
from jaxscope._analysis.cost import MAIN_KEYS
from jaxscope._analysis.memory import FOR_ONE_DEVICE
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._facts import Facts
from jaxscope._programs import Programs
from jaxscope._view.cells import MEMORY_KEYS, MISSING, column_list, known, row_of
from jaxscope._view.format import format_bytes, format_count, format_quantity
from jaxscope._view.model import Column, Table
from jaxscope.errors import UnavailableError

Figures = dict[str, float | Unavailable]


def comparison_tables(key: str, programs: Programs) -> list[Table]:
    """The table for the tab ``cost`` or ``memory``; none for the others."""
    if key == "cost":
        return [_table(programs, "cost", "after", "figure", MAIN_KEYS, _cost_figures, _format_cost, _cost_remarks)]
    if key == "memory":
        return [
            _table(
                programs,
                "memory",
                "size_bytes",
                "memory",
                MEMORY_KEYS,
                _memory_figures,
                _format_memory,
                _memory_remarks,
            )
        ]
    return []


def _cost_figures(facts: Facts) -> Figures:
    return {row.key: row.after for row in facts.cost.rows}


def _memory_figures(facts: Facts) -> Figures:
    return {row.key: row.size_bytes for row in facts.memory.rows}


def _cost_remarks(facts: Facts) -> Sequence[str]:
    try:
        cost = facts.program_cost("hlo")
    except UnavailableError:
        return ()
    if not cost.unknown:
        return ()
    calls = format_count(len(cost.unknown), ("opaque call", "opaque calls"))
    return (f"{calls} that nobody can look into: its figures are too small.",)


def _memory_remarks(facts: Facts) -> Sequence[str]:
    return [note for note in facts.memory.notes if note != FOR_ONE_DEVICE]


def _format_cost(key: str, value: float) -> str:
    return format_bytes(value) if key.startswith("bytes") else format_quantity(value)


def _format_memory(_key: str, value: float) -> str:
    return format_bytes(value)


def _table(
    programs: Programs,
    table: str,
    column: str,
    head: str,
    keys: tuple[str, ...],
    read: Callable[[Facts], Figures],
    show: Callable[[str, float], str],
    remarks: Callable[[Facts], Sequence[str]],
) -> Table:
    figures = [_figures_of(facts, keys, read) for facts in programs]
    meaning = columns.column(table, column).help
    reasons: dict[str, None] = {}
    rows = []
    for key in keys:
        cells = []
        for facts, found in zip(programs, figures, strict=True):
            value = found.get(key, Unavailable(f"XLA does not report {key} there."))
            if isinstance(value, Unavailable):
                reasons[f"{MISSING} {facts.target.name}: {value.reason}"] = None
            cells.append(known(value, functools.partial(show, key)))
        rows.append(row_of(columns.row(table, key).label, *cells))
    # What makes a figure smaller than the others' has to stand beside it.
    notes = [f"{facts.target.name}: {note}" for facts in programs if _is_compiled(facts) for note in remarks(facts)]
    return Table(
        key=f"{table}-targets",
        title="Targets side by side",
        source="XLA, one device of each",
        summary="",
        tone="",
        columns=[
            *column_list(table, head),
            *(
                Column(key=name, label=name, align="right", code=False, help=f"{facts.target.label}. {meaning}")
                for name, facts in zip(programs.names, programs, strict=True)
            ),
        ],
        rows=rows,
        notes=[*reasons, *notes],
        empty="There are no figures yet.",
    )


def _is_compiled(facts: Facts) -> bool:
    compiled = facts.stages.get("compile")
    return compiled is not None and compiled.product is not None


def _figures_of(facts: Facts, keys: tuple[str, ...], read: Callable[[Facts], Figures]) -> Figures:
    compiled = facts.stages.get("compile")
    if compiled is None or compiled.product is None:
        reason = compiled.reason if compiled is not None else "It is not compiled yet."
        return dict.fromkeys(keys, Unavailable(reason))
    return read(facts)
