"""How often each loop runs and what each branch would cost, as a table.

Input: the account of a program. Output: the table; none where there is neither.
"""

from jaxscope._analysis.unavailable import Unavailable
from jaxscope._view.cells import column_list, row_of
from jaxscope._view.cost_account import MAXIMUM_ROWS, STAGE_WORDS, CostAccount, amount_text
from jaxscope._view.format import format_exact
from jaxscope._view.model import Table


def loop_tables(account: CostAccount) -> list[Table]:
    """How often each loop runs, and what each branch would cost; no table where there are none."""
    rows = []
    for loop in account.cost.loops:
        known = not isinstance(loop.trip_count, Unavailable)
        row = row_of(
            account.name(loop.op),
            account.place(account.frame(loop.op)),
            "loop",
            format_exact(loop.trip_count) if known else loop.symbol,
            loop.source if known else loop.trip_count.reason,
        )
        row["link"] = account.link(loop.op)
        row["tone"] = "" if known else "warning"
        rows.append(row)
    for conditional in account.cost.conditionals:
        branches = ", ".join(
            f"{number}: {amount_text(amount)}{' (counted)' if number == conditional.dearest else ''}"
            for number, amount in enumerate(conditional.branches)
        )
        row = row_of(
            account.name(conditional.op),
            account.place(account.frame(conditional.op)),
            "branches",
            format_exact(len(conditional.branches)),
            f"The totals count the dearest branch. {branches}",
        )
        row["link"] = account.link(conditional.op)
        rows.append(row)
    if not rows:
        return []
    columns = column_list("loops", "control", "python_line", "kind", "times", "note")
    columns[0]["code"] = True
    columns[1]["align"], columns[1]["code"] = "left", True
    return [
        Table(
            key="loops",
            title="Loops and branches",
            source=f"the {STAGE_WORDS[account.key].partition(':')[0]}",
            summary="",
            tone="",
            columns=columns,
            rows=rows[:MAXIMUM_ROWS],
            notes=[f"{len(rows) - MAXIMUM_ROWS:,} more."] if len(rows) > MAXIMUM_ROWS else [],
            empty="",
        )
    ]
