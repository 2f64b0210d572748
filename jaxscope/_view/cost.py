"""The Cost tab: what a program computes and moves, by what people think in, and how that meets the target.

Input: the facts of an inspection whose stages have ended. Output: the figures it begins with, and its tables: groups of
cost, the roofline, loops and branches, the reconciliation with XLA's figures, collectives.
"""

from collections.abc import Callable

from jaxscope._analysis import columns
from jaxscope._analysis.roll_up import GROUPINGS, CostGroup, Grouping, moved_bytes, rule_text, unknown_text
from jaxscope._analysis.roofline import Roofline
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._analysis.work import ProgramCost
from jaxscope._facts import Facts
from jaxscope._view.cells import MISSING, Page, column_list, row_of
from jaxscope._view.collectives import collective_tables
from jaxscope._view.control_flow import loop_tables
from jaxscope._view.cost_account import MAXIMUM_ROWS, STAGE_WORDS, CostAccount, amount_text
from jaxscope._view.format import (
    format_bytes,
    format_count,
    format_duration,
    format_exact,
    format_percent,
    format_quantity,
)
from jaxscope._view.model import Figure, Link, Row, Table, Tone
from jaxscope._view.reconciliation import reconciliation_tables
from jaxscope._view.roofline import roofline_tables
from jaxscope._view.xla_cost import xla_figure, xla_tables
from jaxscope.errors import UnavailableError

_CHOICES: dict[Grouping, str] = {
    "line": "Python line",
    "function": "function",
    "scope": "name scope",
    "op": "op",
    "kernel": "kernel",
}
_ONCE = "Loops of unknown length count once."


def cost_page(facts: Facts) -> Page:
    """What stands on the strip, the figures, the tables; without a text that can be counted, XLA's figures alone."""
    xla = xla_tables(facts)
    try:
        account = CostAccount(facts)
    except UnavailableError:
        return Page(xla_figure(facts.cost), [], xla)
    if symbols := [loop.symbol for loop in account.cost.loops if isinstance(loop.trip_count, Unavailable)]:
        xla[0]["notes"].insert(
            0,
            f"How often these loops run is not known: {', '.join(symbols)}. Totals count one run of each, so what is "
            "inside is per iteration.",
        )
    tables = [
        *group_tables(account),
        *roofline_tables(account),
        *loop_tables(account),
        *collective_tables(facts),
        xla[0],
        *reconciliation_tables(account),
        *xla[1:],
    ]
    return Page(total_figure(account.cost), cost_figures(account), tables)


def total_figure(cost: ProgramCost) -> str:
    """The FLOPs of a whole program in words, with what is not in them."""
    text = amount_text(cost.total)
    if not cost.unknown:
        return text
    return f"{text} + {format_count(len(cost.unknown), ('opaque call', 'opaque calls'))}"


def cost_figures(account: CostAccount) -> list[Figure]:
    """The figures that the tab begins with."""
    facts, cost = account.facts, account.cost
    xla = {row.key: row.after if account.key == "hlo" else row.before for row in facts.cost.rows}
    total = cost.total
    work = total.with_loops_once
    figures = [
        _figure(
            "FLOPs, loops counted",
            total_figure(cost),
            _xla_note(xla.get("flops"), format_quantity),
            "cost",
            "flops",
            tone="warning" if cost.unknown or not total.is_known else "",
        )
    ]
    if cost.kernels:
        moved, missing = _moved(cost)
        note = _xla_note(xla.get("bytes accessed"), format_bytes)
        if missing:
            note = f"{format_count(missing, ('kernel', 'kernels'))} unknown. {note}"
        figures.append(_figure("bytes moved", format_bytes(moved), note, "cost", "bytes accessed"))
    if work.transcendentals:
        note = _xla_note(xla.get("transcendentals"), format_quantity)
        figures.append(
            _figure("transcendentals", format_quantity(work.transcendentals), note, "cost", "transcendentals")
        )
    roofline = facts.roofline
    if isinstance(roofline, Roofline):
        figures += _roofline_figures(roofline, facts)
    elif cost.kernels:
        moved, _ = _moved(cost)
        if moved:
            note = "no roofline: " + roofline.reason
            figures.append(
                Figure(
                    label="intensity",
                    value=f"{format_quantity(work.flops / moved)} FLOP/B",
                    note=note,
                    help="FLOPs for each byte moved.",
                    tone="",
                )
            )
    return figures


def _figure(label: str, value: str, note: str, table: str, key: str, tone: Tone = "") -> Figure:
    return Figure(label=label, value=value, note=note, help=columns.row(table, key).help, tone=tone)


def _moved(cost: ProgramCost) -> tuple[int, int]:
    """Bytes of all kernels, and how many kernels they are not known of."""
    total = missing = 0
    for kernel in cost.kernels:
        if kernel.is_counted:
            size = moved_bytes(kernel)
            if isinstance(size, Unavailable):
                missing += 1
            else:
                total += size * kernel.runs.with_loops_once
    return total, missing


def _xla_note(value: float | Unavailable | None, show: Callable[[float], str]) -> str:
    if value is None or isinstance(value, Unavailable):
        return "XLA reports none"
    return f"XLA reports {show(value)}"


def _roofline_figures(roofline: Roofline, facts: Facts) -> list[Figure]:
    name = facts.target.machine
    figures = []
    main = roofline.main_peak
    if main is not None and roofline.ridge is not None:
        side = "compute" if roofline.intensity >= roofline.ridge else "memory"
        figures.append(
            Figure(
                label="intensity",
                value=f"{format_quantity(roofline.intensity)} FLOP/B",
                note=f"{side}-bound on {name} (ridge {format_quantity(roofline.ridge)}, {main[0]})",
                help="FLOPs for each byte moved, against the ratio of the device's peak to its memory bandwidth, the "
                f"ridge. Sources: {main[1].source.title}; {roofline.bandwidth.source.title}.",
                tone="",
            )
        )
    if roofline.seconds:
        left_out = len(roofline.left_out)
        note = f"mostly {roofline.bound}-bound" + (
            f"; {format_count(left_out, ('kernel', 'kernels'))} left out" if left_out else ""
        )
        figures.append(
            Figure(
                label="time, at least",
                value=format_duration(roofline.seconds),
                note=note,
                help="The sum over kernels, one after the other, of the larger of FLOPs over the device's peak and "
                "bytes over its memory bandwidth. No run can be faster; most are slower.",
                tone="",
            )
        )
    return figures


# Groups.


def group_tables(account: CostAccount) -> list[Table]:
    """The same account by line, function, scope, op and kernel; one card."""
    return [_group_table(account, grouping) for grouping in GROUPINGS if grouping != "kernel" or account.cost.kernels]


def _group_table(account: CostAccount, grouping: Grouping) -> Table:
    groups = account.facts.roll_up(account.key).by(grouping)
    nested = grouping in ("function", "scope")
    total = account.cost.total.with_loops_once.flops
    shown = groups[:MAXIMUM_ROWS]
    table = f"cost by {grouping}"
    keys = {
        "line": ("python_line",),
        "function": ("function", "file"),
        "scope": ("scope",),
        "op": ("op",),
        "kernel": ("kernel", "python_line"),
    }[grouping]
    columns = column_list(table, *keys)
    if grouping in ("line", "kernel"):
        columns[-1]["align"] = "left"
        columns[-1]["code"] = True
    columns[0]["code"] = True
    share = column_list(table, "share")[0]
    share["bar"] = True
    columns += [*column_list(table, *(("own_flops",) if nested else ()), "flops"), share]
    columns += column_list(table, "transcendentals", "integer_ops")
    if account.cost.kernels:
        columns += column_list(table, "moved_bytes")
    columns += column_list(table, "runs", *(("ops",) if grouping != "kernel" else ()))
    columns += column_list(table, "rule" if grouping == "op" else "missing")
    notes = []
    if len(groups) > len(shown):
        notes.append(f'{len(groups) - len(shown):,} more: inspection.cost_by("{grouping}").')
    if padding := account.cost.total.with_loops_once.padding_flops:
        notes.append(
            f"{format_quantity(padding, 'FLOP')} of convolution windows over padding are left out, by XLA too: nobody "
            "computes them. Papers about networks count them."
        )
    if nested:
        notes.append("FLOPs and share include what is called or enclosed, so shares do not add up to 100 %.")
    return Table(
        key=f"cost-{grouping}",
        title="Cost",
        source=f"jaxscope's count of the {STAGE_WORDS[account.key]}",
        summary="",
        tone="",
        columns=columns,
        rows=[_group_row(account, grouping, group, total) for group in shown],
        notes=notes,
        empty="The program computes and moves nothing.",
        group="cost-groups",
        choice=_CHOICES[grouping],
    )


def _group_row(account: CostAccount, grouping: Grouping, group: CostGroup, total: int) -> Row:
    nested = grouping in ("function", "scope")
    work = group.inclusive.with_loops_once
    place = account.place(group.place)
    heads = {
        "line": (place if group.place is not None else group.key,),
        "function": (group.key, account.names[group.place.file] if group.place is not None else MISSING),
        "scope": (group.key,),
        "op": (group.key,),
        "kernel": (group.key, place),
    }[grouping]
    unknown = unknown_text(group.inclusive)
    rules = (rule_text(group),) if grouping == "op" and group.rules else ()
    row = row_of(
        *heads,
        *((format_quantity(group.own.with_loops_once.flops),) if nested else ()),
        amount_text(group.inclusive, ""),
        format_percent(work.flops / total) if total else MISSING,
        format_quantity(work.transcendentals),
        format_quantity(work.integer_ops),
        *((format_bytes(group.moved.with_loops_once),) if account.cost.kernels else ()),
        _runs_text(group),
        *((format_exact(len(group.ops)),) if grouping != "kernel" else ()),
        " ".join((*rules, *group.unknown, *group.moved.missing, *((_ONCE,) if unknown else ()))),
    )
    if group.unknown:
        row["tone"] = "warning"
    if (link := _group_link(account, grouping, group)) is not None:
        row["link"] = link
    return row


def _runs_text(group: CostGroup) -> str:
    if group.runs.known is not None:
        return format_exact(group.runs.known)
    return " + ".join(
        "·".join((*((str(number),) if number != 1 or not symbols else ()), *symbols))
        for symbols, number in group.runs.terms
    )


def _group_link(account: CostAccount, grouping: Grouping, group: CostGroup) -> Link | None:
    if grouping in ("line", "function") and group.place is not None:
        at = account.facts.python_lines.get((group.place.file, group.place.line))
        if at is not None:
            return Link(listing="python", line=at)
    if not group.ops:
        return None
    return account.link(group.dearest)
