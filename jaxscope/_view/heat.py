"""Where the work is, line by line: heat for gutters, and what each op costs in words for the status bar.

Input: the facts of an inspection whose stages have ended. Output: `Heat` by listing, and the costs of a listing's
lines. A line of Python has the work of everything that it calls, as a line of a profiler has its time.
"""

from jaxscope._analysis.roll_up import moved_bytes
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._analysis.work import ProgramCost, Work
from jaxscope._facts import Facts
from jaxscope._links import LinkedListing
from jaxscope._view.format import format_bytes, format_percent, format_quantity
from jaxscope._view.model import Heat

_LEAST_SHARE = 0.005
_MAXIMUM_LINES = 300


def heat_of(facts: Facts) -> dict[str, Heat]:
    """Heat of the Python side and of the listing that the counts are from; {} where nothing is computed."""
    key, _, cost = facts.main_cost
    linked = facts.roll_up(key).linked
    total = cost.total.with_loops_once.flops
    if not total:
        return {}
    lines: dict[int, int] = {}
    python: dict[int, int] = {}
    rows_of_stack: dict[int, tuple[int, ...]] = {}
    for one in cost.ops:
        if not one.is_counted or not isinstance(one.work, Work) or not one.work.flops:
            continue
        flops = one.work.flops * one.runs.with_loops_once
        line = linked.listing.ops[one.op].line
        lines[line] = lines.get(line, 0) + flops
        stack = linked.op_stack[one.op]
        if stack not in rows_of_stack:
            rows_of_stack[stack] = _python_rows(facts, linked, stack)
        for row in rows_of_stack[stack]:
            python[row] = python.get(row, 0) + flops
    for kernel in cost.kernels:
        if kernel.is_counted and isinstance(kernel.work, Work):
            lines[linked.listing.ops[kernel.op].line] = kernel.work.flops * kernel.runs.with_loops_once
    stage = "compiled program" if key == "hlo" else "lowered program"
    help_ = f"Share of the {stage}'s FLOPs, loops counted"
    return {
        "python": _heat(python, total, f"{help_}; with everything that the line calls."),
        key: _heat(lines, total, f"{help_}; a fusion's with its inner instructions, which stand in its computation."),
    }


def _python_rows(facts: Facts, linked: LinkedListing, stack: int) -> tuple[int, ...]:
    """The lines of the Python side on a call stack, each once."""
    found = (facts.python_lines.get((frame.file, frame.line)) for frame in linked.stacks.walk(stack))
    return tuple(dict.fromkeys(row for row in found if row is not None))


def _heat(flops: dict[int, int], total: int, help_: str) -> Heat:
    noticeable = [line for line, number in flops.items() if number >= _LEAST_SHARE * total]
    dearest = sorted(sorted(noticeable, key=lambda line: -flops[line])[:_MAXIMUM_LINES])
    return Heat(
        help=help_,
        lines=dearest,
        shares=[round(min(1.0, flops[line] / total), 4) for line in dearest],
        texts=[_percent(flops[line] / total) for line in dearest],
    )


def _percent(share: float) -> str:
    return f"{share * 100:.0f} %" if share >= 0.0095 else format_percent(share)


def line_costs(linked: LinkedListing, cost: ProgramCost) -> tuple[list[str], list[int]]:
    """What the lines of a listing cost, in words, each text once.

    Returns:
        The texts, and for each line an index into them, -1 for none.
    """
    texts: dict[str, int] = {}
    line_cost = [-1] * len(linked.listing.lines)
    ops = linked.listing.ops
    for one in cost.ops:
        text = _work_text(one.work, one.runs.known) if isinstance(one.work, Work) else one.work.reason
        if text:
            line_cost[ops[one.op].line] = texts.setdefault(text, len(texts))
    for kernel in cost.kernels:
        parts = [_work_text(kernel.work, None)] if isinstance(kernel.work, Work) else [kernel.work.reason]
        size = moved_bytes(kernel)
        if not isinstance(size, Unavailable) and size:
            parts.append(f"{format_bytes(size)} moved")
        runs = kernel.runs.known
        if runs is not None and runs > 1:
            parts.append(f"{runs:,} runs")
        if text := " · ".join(filter(None, parts)):
            line_cost[ops[kernel.op].line] = texts.setdefault(text, len(texts))
    return list(texts), line_cost


def _work_text(work: Work, runs: int | None) -> str:
    parts = []
    if work.flops:
        parts.append(format_quantity(work.flops, "FLOP"))
    if work.transcendentals:
        parts.append(f"{format_quantity(work.transcendentals)} transcendentals")
    if work.integer_ops and not work.flops:
        parts.append(f"{format_quantity(work.integer_ops)} integer ops")
    if parts and runs is not None and runs > 1:
        parts.append(f"{runs:,} runs")
    return " · ".join(parts)
