"""The kernels of a program against the target's roof, as a table with its chart.

Input: the account of a program. Output: the table; none where only StableHLO is there.
"""

from collections import Counter
from collections.abc import Sequence

from jaxscope._analysis.roofline import KernelBound, Roofline
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._view.cells import MISSING, column_list, row_of
from jaxscope._view.charts import scatter_of
from jaxscope._view.cost_account import CostAccount
from jaxscope._view.format import format_bytes, format_count, format_duration, format_percent, format_quantity
from jaxscope._view.model import Row, Table

_MAXIMUM_KERNELS = 100


def roofline_tables(account: CostAccount) -> list[Table]:
    """The kernels against the target's roof, slowest first, with the chart."""
    roofline = account.facts.roofline
    if account.key != "hlo":
        return []
    if isinstance(roofline, Unavailable):
        return [_roofline_table(account, (), [], roofline.reason)]
    shown = roofline.kernels[:_MAXIMUM_KERNELS]
    rows = []
    total = roofline.seconds
    for one in shown:
        op = one.kernel.op
        row = row_of(
            account.name(op),
            account.place(account.frame(op)),
            one.kernel.dtype if one.flops else MISSING,
            format_quantity(one.flops),
            format_bytes(one.moved_bytes),
            format_quantity(one.intensity) if one.intensity != float("inf") else "∞",
            format_duration(one.seconds),
            format_percent(one.seconds / total) if total else MISSING,
            str(one.bound),
        )
        row["link"] = account.link(op)
        rows.append(row)
    notes = []
    if len(roofline.kernels) > len(shown):
        notes.append(f"{len(roofline.kernels) - len(shown):,} more kernels: inspection.roofline.")
    sources = dict.fromkeys(
        f"{figure.source.title}{': ' + figure.note.rstrip('.') if figure.note else ''}"
        for figure in (*roofline.peaks.values(), roofline.bandwidth)
    )
    notes.append("Peaks and bandwidth: " + "; ".join(sources) + ".")
    for reason, count in Counter(reason for _, reason in roofline.left_out).items():
        notes.append(f"Left out, {format_count(count, ('kernel', 'kernels'))}: {reason}")
    table = _roofline_table(account, shown, rows, "No kernel computes or moves anything.")
    table["notes"] = notes
    table["summary"] = f"at least {format_duration(roofline.seconds)}" if roofline.seconds else ""
    return [table]


def _roofline_table(account: CostAccount, shown: Sequence[KernelBound], rows: list[Row], empty: str) -> Table:
    columns = column_list("roofline", "kernel", "python_line", "dtype", "flops", "moved_bytes")
    columns[0]["code"] = True
    columns[1]["align"], columns[1]["code"] = "left", True
    share = column_list("roofline", "share")[0]
    share["bar"] = True
    columns += [*column_list("roofline", "intensity", "seconds"), share, *column_list("roofline", "bound")]
    table = Table(
        key="roofline",
        title=f"Roofline, {account.facts.target.label}",
        source="jaxscope's count and the vendor's figures",
        summary="",
        tone="",
        columns=columns,
        rows=rows,
        notes=[],
        empty=empty,
    )
    roofline = account.facts.roofline
    if isinstance(roofline, Roofline) and (chart := scatter_of(roofline, shown)) is not None:
        table["chart"] = chart
    return table
