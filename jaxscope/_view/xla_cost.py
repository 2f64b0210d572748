"""XLA's own cost figures as tables, with jaxscope's beside them.

Input: the facts of an inspection whose stages have ended. Output: the table of the main figures, and that of their
parts where there are any.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from jaxscope._analysis import columns
from jaxscope._analysis.cost import CostRow, CostTable, counted_figures
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._facts import Facts
from jaxscope._view.cells import MISSING, column_list, reasons_of, row_of
from jaxscope._view.format import format_bytes, format_quantity
from jaxscope._view.model import Table

_NOT_COUNTED = Unavailable("jaxscope does not count it.")


def xla_tables(facts: Facts) -> list[Table]:
    """XLA's figures for what was asked (StableHLO) and what runs (compiled HLO), with jaxscope's own beside them."""
    cost = facts.cost
    before, after = (counted_figures(facts.cost_or_none(key)) for key in ("stablehlo", "hlo"))
    main = _cost_table("cost", "Totals", [row for row in cost.rows if not row.is_part], before, after)
    main["notes"] = [*cost.notes, *main["notes"]]
    main["tone"] = "warning" if cost.uncounted_calls else ""
    parts = [row for row in cost.rows if row.is_part]
    return [main, *([_cost_table("cost-parts", "Shares of single operands", parts, {}, {})] if parts else [])]


def _cost_table(
    key: str, name: str, rows: Sequence[CostRow], before: Mapping[str, int], after: Mapping[str, int]
) -> Table:
    counted = ("counted_before", "counted_after") if before or after else ()
    reasons = Counter(
        value.reason for row in rows for value in (row.before, row.after) if isinstance(value, Unavailable)
    )
    # What is true of several figures is said once, below the table.
    common = [reason for reason, count in reasons.items() if count > 1]
    return Table(
        key=key,
        title=name,
        source="jaxscope's count and XLA's own cost analysis" if counted else "XLA's own cost analysis",
        summary="",
        tone="",
        columns=column_list("cost", "figure", *counted, "before", "after", "note"),
        rows=[
            row_of(
                columns.row("cost", row.key).label,
                *(_figure(row.key, figures.get(row.key, _NOT_COUNTED)) for figures in (before, after) if counted),
                _figure(row.key, row.before),
                _figure(row.key, row.after),
                reasons_of(row.note, row.before, row.after, besides=common),
            )
            for row in rows
        ],
        notes=[f"{MISSING}: {reason}" for reason in common],
        empty="XLA gave no figures.",
    )


def _figure(key: str, value: float | Unavailable) -> str:
    if isinstance(value, Unavailable):
        return MISSING
    if key.startswith("bytes"):
        return format_bytes(value)
    return format_quantity(value) if not key.startswith("utilization") else f"{value:g}"


def xla_figure(cost: CostTable) -> str:
    """XLA's FLOPs in words, "" where there are none."""
    for row in cost.rows:
        if row.key == "flops":
            for value in (row.after, row.before):
                if not isinstance(value, Unavailable):
                    return format_quantity(value, "FLOP")
    return ""
