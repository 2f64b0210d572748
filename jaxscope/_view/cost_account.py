"""What the tables of the Cost tab share: the listing that counts, its account, names and places of its ops.

Input: the facts of an inspection. Output: `CostAccount`, and amounts of work in words.
"""

from jaxscope._analysis.work import Amount
from jaxscope._facts import Facts
from jaxscope._ir.model import NO_STACK, Frame
from jaxscope._sources import display_names
from jaxscope._view.cells import MISSING
from jaxscope._view.format import format_quantity
from jaxscope._view.model import Link

# The whole table is one call away; the view travels with every notebook.
MAXIMUM_ROWS = 200
STAGE_WORDS = {"hlo": "compiled HLO: what runs", "stablehlo": "StableHLO: what was asked for"}


class CostAccount:
    """What the parts of the tab share: the listing that counts, its account, and short names of files."""

    def __init__(self, facts: Facts):
        self.facts = facts
        self.key, self.linked, self.cost = facts.main_cost
        self.names = display_names(frame.file for frame in self.linked.stacks.frames)

    def place(self, frame: Frame | None) -> str:
        """``model.py:12``."""
        return MISSING if frame is None else f"{self.names[frame.file]}:{frame.line}"

    def frame(self, op: int) -> Frame | None:
        """The innermost Python place of an op."""
        stack = self.linked.op_stack[op]
        return self.linked.stacks.frames[self.linked.stacks.nodes[stack][0]] if stack != NO_STACK else None

    def link(self, op: int) -> Link:
        """The line of an op."""
        return Link(listing=self.key, line=self.linked.listing.ops[op].line)

    def name(self, op: int) -> str:
        """What an op is called: the name of its result, or the op's own."""
        found = self.linked.listing.ops[op]
        return found.results[0] if found.results else found.name


def amount_text(amount: Amount, unit: str = "FLOP") -> str:
    """``34.6 MFLOP``, or ``1.20 MFLOP + n1 · 3.40 kFLOP`` where a loop's count is not known."""
    if amount.is_known:
        return format_quantity(amount.known.flops, unit)
    parts = [" · ".join((*symbols, format_quantity(work.flops, unit))) for symbols, work in amount.terms if work.flops]
    return " + ".join(parts) or format_quantity(0, unit)
