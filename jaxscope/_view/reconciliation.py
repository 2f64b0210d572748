"""From jaxscope's figures to XLA's, cause by cause, as a table.

Input: the account of a program. Output: the table; none where there is no compiled text.
"""

from jaxscope._analysis import columns
from jaxscope._analysis.reconciliation import NOT_EXPLAINED, Reconciliation
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._view.cells import MISSING, column_list, row_of
from jaxscope._view.cost_account import CostAccount
from jaxscope._view.format import format_exact
from jaxscope._view.model import Row, Table


def reconciliation_tables(account: CostAccount) -> list[Table]:
    """From jaxscope's figures to XLA's, cause by cause."""
    rows = []
    for one in account.facts.reconciliations:
        rows += _reconciliation_rows(account, one)
    if not rows:
        return []
    shown = column_list("reconciliation", "figure", "cause", "amount", "ops", "where")
    shown[-1]["code"] = True
    return [
        Table(
            key="reconciliation",
            title="From jaxscope's figures to XLA's",
            source="both conventions, instruction by instruction",
            summary="",
            tone="warning" if any(one.unexplained for one in account.facts.reconciliations) else "",
            columns=shown,
            rows=rows,
            notes=[],
            empty="",
        )
    ]


def _reconciliation_rows(account: CostAccount, one: Reconciliation) -> list[Row]:
    figure = columns.row("cost", one.figure).label
    if isinstance(one.xla, Unavailable):
        return [row_of(figure, f"XLA's figure is missing: {one.xla.reason}", MISSING, MISSING, "")]
    rows = [row_of(figure, "jaxscope", format_exact(one.ours), MISSING, "")]
    for cause in one.causes:
        where = ", ".join(account.name(op) for op in cause.ops[:3])
        more = f", … {len(cause.ops) - 3:,} more" if len(cause.ops) > 3 else ""
        row = row_of(figure, cause.reason, _signed(cause.amount), format_exact(len(cause.ops)), where + more)
        if cause.ops:
            row["link"] = account.link(cause.ops[0])
        rows.append(row)
    if one.unexplained:
        row = row_of(figure, NOT_EXPLAINED, _signed(one.unexplained), MISSING, "")
        row["tone"] = "warning"
        rows.append(row)
    rows.append(row_of(figure, "XLA", format_exact(one.xla), MISSING, ""))
    return rows


def _signed(amount: int) -> str:
    return f"+{amount:,}" if amount > 0 else f"−{-amount:,}" if amount < 0 else "0"
