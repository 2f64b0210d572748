"""The Cost tab: what a program computes and moves, by what people think in, and how that meets the target.

Input: the facts of an inspection whose stages have ended. Output: the figures it begins with, and its tables: groups of
cost, the roofline, loops and branches, the reconciliation with XLA's figures, collectives.
"""

from collections import Counter
from collections.abc import Callable, Sequence

from jaxscope._analysis import columns
from jaxscope._analysis.reconciliation import NOT_EXPLAINED, Reconciliation
from jaxscope._analysis.roll_up import GROUPINGS, CostGroup, Grouping, group_costs, moved_bytes, unknown_text
from jaxscope._analysis.roofline import KernelBound, Roofline
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._analysis.work import Amount, ProgramCost
from jaxscope._facts import Facts
from jaxscope._ir.model import NO_STACK, Frame
from jaxscope._sources import display_names
from jaxscope._view.cells import MISSING, Page, column_list, row_of
from jaxscope._view.charts import scatter_of
from jaxscope._view.collectives import collective_tables
from jaxscope._view.format import (
    format_bytes,
    format_count,
    format_duration,
    format_exact,
    format_percent,
    format_quantity,
)
from jaxscope._view.model import Figure, Link, Row, Table, Tone
from jaxscope._view.xla_cost import xla_figure, xla_tables
from jaxscope.errors import UnavailableError

# The whole table is one call away; the view travels with every notebook.
_MAXIMUM_ROWS = 200
_MAXIMUM_KERNELS = 100
_CHOICES: dict[Grouping, str] = {
    "line": "Python line",
    "function": "function",
    "scope": "name scope",
    "op": "op",
    "kernel": "kernel",
}
_ONCE = "Loops of unknown length count once."
_STAGE_WORDS = {"hlo": "compiled HLO: what runs", "stablehlo": "StableHLO: what was asked for"}


def cost_page(facts: Facts) -> Page:
    """What stands on the strip, the figures, the tables; without a text that can be counted, XLA's figures alone."""
    xla = xla_tables(facts)
    try:
        page = CostPage(facts)
    except UnavailableError:
        return Page(xla_figure(facts.cost), [], xla)
    tables = [
        *group_tables(page),
        *roofline_tables(page),
        *loop_tables(page),
        *collective_tables(facts),
        xla[0],
        *reconciliation_tables(page),
        *xla[1:],
    ]
    return Page(total_figure(page.cost), cost_figures(page), tables)


class CostPage:
    """What the parts of the tab share: the listing that counts, its account, and short names of files."""

    def __init__(self, facts: Facts):
        self.facts = facts
        self.key, self.linked, self.cost = facts.main_cost
        self.names = display_names(frame.file for frame in self.linked.stacks.frames)

    def place(self, frame: Frame | None) -> str:
        """``model.py:12``."""
        return MISSING if frame is None else f"{self.names[frame.file]}:{frame.line}"

    def link(self, op: int) -> Link:
        """The line of an op."""
        return Link(listing=self.key, line=self.linked.listing.ops[op].line)

    def name(self, op: int) -> str:
        """What an op is called: the name of its result, or the op's own."""
        found = self.linked.listing.ops[op]
        return found.results[0] if found.results else found.name


def total_figure(cost: ProgramCost) -> str:
    """The FLOPs of a whole program in words, with what is not in them."""
    text = amount_text(cost.total)
    if not cost.unknown:
        return text
    return f"{text} + {format_count(len(cost.unknown), ('opaque call', 'opaque calls'))}"


def amount_text(amount: Amount, unit: str = "FLOP") -> str:
    """``34.6 MFLOP``, or ``1.20 MFLOP + n1 · 3.40 kFLOP`` where a loop's count is not known."""
    if amount.is_known:
        return format_quantity(amount.known.flops, unit)
    parts = [" · ".join((*symbols, format_quantity(work.flops, unit))) for symbols, work in amount.terms if work.flops]
    return " + ".join(parts) or format_quantity(0, unit)


def cost_figures(page: CostPage) -> list[Figure]:
    """The figures that the tab begins with."""
    facts, cost = page.facts, page.cost
    xla = {row.key: row.after if page.key == "hlo" else row.before for row in facts.cost.rows}
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
    name = facts.target.label
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
        note = f"mostly {roofline.bound}-bound" + (f"; {left_out} kernels left out" if left_out else "")
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


def group_tables(page: CostPage) -> list[Table]:
    """The same account by line, function, scope, op and kernel; one card."""
    return [_group_table(page, grouping) for grouping in GROUPINGS if grouping != "kernel" or page.cost.kernels]


def _group_table(page: CostPage, grouping: Grouping) -> Table:
    groups = group_costs(page.cost, page.linked, grouping)
    nested = grouping in ("function", "scope")
    total = page.cost.total.with_loops_once.flops
    shown = groups[:_MAXIMUM_ROWS]
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
    if page.cost.kernels:
        columns += column_list(table, "moved_bytes")
    columns += column_list(table, "runs", *(("ops",) if grouping != "kernel" else ()), "missing")
    notes = []
    if len(groups) > len(shown):
        notes.append(f'{len(groups) - len(shown):,} more: inspection.cost_by("{grouping}").')
    if padding := page.cost.total.with_loops_once.padding_flops:
        notes.append(
            f"{format_quantity(padding, 'FLOP')} of convolution windows over padding are left out, by XLA too: nobody "
            "computes them. Papers about networks count them."
        )
    if nested:
        notes.append("FLOPs and share include what is called or enclosed, so shares do not add up to 100 %.")
    return Table(
        key=f"cost-{grouping}",
        title="Cost",
        source=f"jaxscope's count of the {_STAGE_WORDS[page.key]}",
        summary="",
        tone="",
        columns=columns,
        rows=[_group_row(page, grouping, group, total) for group in shown],
        notes=notes,
        empty="The program computes and moves nothing.",
        group="cost-groups",
        choice=_CHOICES[grouping],
    )


def _group_row(page: CostPage, grouping: Grouping, group: CostGroup, total: int) -> Row:
    nested = grouping in ("function", "scope")
    work = group.inclusive.with_loops_once
    place = page.place(group.place)
    heads = {
        "line": (place if group.place is not None else group.key,),
        "function": (group.key, page.names[group.place.file] if group.place is not None else MISSING),
        "scope": (group.key,),
        "op": (group.key,),
        "kernel": (group.key, place),
    }[grouping]
    unknown = unknown_text(group.inclusive)
    row = row_of(
        *heads,
        *((format_quantity(group.own.with_loops_once.flops),) if nested else ()),
        amount_text(group.inclusive, ""),
        format_percent(work.flops / total) if total else MISSING,
        format_quantity(work.transcendentals),
        format_quantity(work.integer_ops),
        *((format_bytes(group.moved.with_loops_once),) if page.cost.kernels else ()),
        _runs_text(group),
        *((format_exact(len(group.ops)),) if grouping != "kernel" else ()),
        " ".join((*group.unknown, *group.moved.missing, *((_ONCE,) if unknown else ()))),
    )
    if group.unknown:
        row["tone"] = "warning"
    if (link := _group_link(page, grouping, group)) is not None:
        row["link"] = link
    return row


def _runs_text(group: CostGroup) -> str:
    if group.runs.known is not None:
        return format_exact(group.runs.known)
    return " + ".join(
        "·".join((*((str(number),) if number != 1 or not symbols else ()), *symbols))
        for symbols, number in group.runs.terms
    )


def _group_link(page: CostPage, grouping: Grouping, group: CostGroup) -> Link | None:
    if grouping in ("line", "function") and group.place is not None:
        at = page.facts.python_lines.get((group.place.file, group.place.line))
        if at is not None:
            return Link(listing="python", line=at)
    if not group.ops:
        return None
    return page.link(group.dearest)


# The roofline.


def roofline_tables(page: CostPage) -> list[Table]:
    """The kernels against the target's roof, slowest first, with the chart."""
    roofline = page.facts.roofline
    if page.key != "hlo":
        return []
    if isinstance(roofline, Unavailable):
        return [_roofline_table(page, (), [], roofline.reason)]
    shown = roofline.kernels[:_MAXIMUM_KERNELS]
    rows = []
    total = roofline.seconds
    for one in shown:
        op = one.kernel.op
        stack = page.linked.op_stack[op]
        frame = page.linked.stacks.frames[page.linked.stacks.nodes[stack][0]] if stack != NO_STACK else None
        row = row_of(
            page.name(op),
            page.place(frame),
            one.kernel.dtype if one.flops else MISSING,
            format_quantity(one.flops),
            format_bytes(one.moved_bytes),
            format_quantity(one.intensity) if one.intensity != float("inf") else "∞",
            format_duration(one.seconds),
            format_percent(one.seconds / total) if total else MISSING,
            str(one.bound),
        )
        row["link"] = page.link(op)
        rows.append(row)
    notes = []
    if len(roofline.kernels) > len(shown):
        notes.append(f"{len(roofline.kernels) - len(shown):,} more kernels: inspection.roofline.")
    sources = dict.fromkeys(
        f"{figure.source.title}{': ' + figure.note if figure.note else ''}"
        for figure in (*roofline.peaks.values(), roofline.bandwidth)
    )
    notes.append("Peaks and bandwidth: " + "; ".join(sources) + ".")
    for reason, count in Counter(reason for _, reason in roofline.left_out).items():
        notes.append(f"Left out, {format_count(count, ('kernel', 'kernels'))}: {reason}")
    table = _roofline_table(page, shown, rows, "No kernel computes or moves anything.")
    table["notes"] = notes
    table["summary"] = f"at least {format_duration(roofline.seconds)}" if roofline.seconds else ""
    return [table]


def _roofline_table(page: CostPage, shown: Sequence[KernelBound], rows: list[Row], empty: str) -> Table:
    columns = column_list("roofline", "kernel", "python_line", "dtype", "flops", "moved_bytes")
    columns[0]["code"] = True
    columns[1]["align"], columns[1]["code"] = "left", True
    share = column_list("roofline", "share")[0]
    share["bar"] = True
    columns += [*column_list("roofline", "intensity", "seconds"), share, *column_list("roofline", "bound")]
    table = Table(
        key="roofline",
        title=f"Roofline, {page.facts.target.label}",
        source="jaxscope's count and the vendor's figures",
        summary="",
        tone="",
        columns=columns,
        rows=rows,
        notes=[],
        empty=empty,
    )
    roofline = page.facts.roofline
    if isinstance(roofline, Roofline) and (chart := scatter_of(roofline, shown)) is not None:
        table["chart"] = chart
    return table


# Loops and branches.


def loop_tables(page: CostPage) -> list[Table]:
    """How often each loop runs, and what each branch would cost; no table where there are none."""
    rows = []
    for loop in page.cost.loops:
        known = not isinstance(loop.trip_count, Unavailable)
        row = row_of(
            page.name(loop.op),
            page.place(_frame(page, loop.op)),
            "loop",
            format_exact(loop.trip_count) if known else loop.symbol,
            loop.source if known else loop.trip_count.reason,
        )
        row["link"] = page.link(loop.op)
        row["tone"] = "" if known else "warning"
        rows.append(row)
    for conditional in page.cost.conditionals:
        branches = ", ".join(
            f"{number}: {amount_text(amount)}{' (counted)' if number == conditional.dearest else ''}"
            for number, amount in enumerate(conditional.branches)
        )
        row = row_of(
            page.name(conditional.op),
            page.place(_frame(page, conditional.op)),
            "branches",
            format_exact(len(conditional.branches)),
            f"The totals count the dearest branch. {branches}",
        )
        row["link"] = page.link(conditional.op)
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
            source=f"the {_STAGE_WORDS[page.key].partition(':')[0]}",
            summary="",
            tone="",
            columns=columns,
            rows=rows[:_MAXIMUM_ROWS],
            notes=[f"{len(rows) - _MAXIMUM_ROWS:,} more."] if len(rows) > _MAXIMUM_ROWS else [],
            empty="",
        )
    ]


def _frame(page: CostPage, op: int) -> Frame | None:
    stack = page.linked.op_stack[op]
    return page.linked.stacks.frames[page.linked.stacks.nodes[stack][0]] if stack != NO_STACK else None


# Reconciliation.


def reconciliation_tables(page: CostPage) -> list[Table]:
    """From jaxscope's figures to XLA's, cause by cause."""
    rows = []
    for one in page.facts.reconciliations:
        rows += _reconciliation_rows(page, one)
    if not rows:
        return []
    columns = column_list("reconciliation", "figure", "cause", "amount", "ops", "where")
    columns[-1]["code"] = True
    return [
        Table(
            key="reconciliation",
            title="From jaxscope's figures to XLA's",
            source="both conventions, instruction by instruction",
            summary="",
            tone="warning" if any(one.unexplained for one in page.facts.reconciliations) else "",
            columns=columns,
            rows=rows,
            notes=[],
            empty="",
        )
    ]


def _reconciliation_rows(page: CostPage, one: Reconciliation) -> list[Row]:
    if isinstance(one.xla, Unavailable):
        return [row_of(one.figure, f"XLA's figure is missing: {one.xla.reason}", MISSING, MISSING, "")]
    rows = [row_of(one.figure, "jaxscope", format_exact(one.ours), MISSING, "")]
    for cause in one.causes:
        where = ", ".join(page.name(op) for op in cause.ops[:3])
        more = f", … {len(cause.ops) - 3:,} more" if len(cause.ops) > 3 else ""
        row = row_of(one.figure, cause.reason, _signed(cause.amount), format_exact(len(cause.ops)), where + more)
        if cause.ops:
            row["link"] = page.link(cause.ops[0])
        rows.append(row)
    if one.unexplained:
        row = row_of(one.figure, NOT_EXPLAINED, _signed(one.unexplained), MISSING, "")
        row["tone"] = "warning"
        rows.append(row)
    rows.append(row_of(one.figure, "XLA", format_exact(one.xla), MISSING, ""))
    return rows


def _signed(amount: int) -> str:
    return f"+{amount:,}" if amount > 0 else f"−{-amount:,}" if amount < 0 else "0"
