"""The loops and conditionals of a program, and what is known of how often they run.

Input: a `ProgramCost` and the `LinkedListing` it was counted on. Output: a data frame.
"""

from typing import TYPE_CHECKING

from jaxscope._analysis.roll_up import amount_in_symbols
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._analysis.work import ProgramCost
from jaxscope._ir.model import NO_STACK
from jaxscope._links import LinkedListing

if TYPE_CHECKING:
    import pandas

LOOP_COLUMNS = ("control", "kind", "times", "symbol", "note", "line", "file", "python_line")


def loops_frame(cost: ProgramCost, linked: LinkedListing) -> "pandas.DataFrame":
    """One row per loop, then one per conditional; columns as `jaxscope._analysis.cost_columns` documents them."""
    import pandas

    def row(number: int, *facts: object) -> tuple[object, ...]:
        op, stack = linked.listing.ops[number], linked.op_stack[number]
        frame = linked.stacks.frames[linked.stacks.nodes[stack][0]] if stack != NO_STACK else None
        name = op.results[0] if op.results else op.name
        return (name, *facts, op.line + 1, frame.file if frame else None, frame.line if frame else None)

    rows = []
    for loop in cost.loops:
        if isinstance(loop.trip_count, Unavailable):
            rows.append(row(loop.op, "loop", None, loop.symbol, loop.trip_count.reason))
        else:
            rows.append(row(loop.op, "loop", loop.trip_count, "", loop.source))
    for conditional in cost.conditionals:
        flops = ", ".join(amount_in_symbols(amount) for amount in conditional.branches)
        note = f"FLOPs of the branches: {flops}; the totals count branch {conditional.dearest}, the dearest."
        rows.append(row(conditional.op, "branches", len(conditional.branches), "", note))
    frame = pandas.DataFrame(rows, columns=list(LOOP_COLUMNS))
    return frame.astype(dict.fromkeys(("times", "line", "python_line"), "Int64"))
