"""Places of fusions that name none, from what is fused in them.

Problem: a compiler names no line for an instruction that it added itself, such as a change of type, and where that is
the last of a fusion, none for the fusion either: all that the kernel moves would be nobody's. Input: the linked listing
of a compiled module, and its graph. Output: the same with a stack for each fusion whose body has one; links keep to
what the compiler says of each instruction.
"""

from collections.abc import Callable
from dataclasses import replace

from jaxscope._analysis.hlo_module import FUSIONS, HloModule
from jaxscope._ir.model import NO_STACK
from jaxscope._links import LinkedListing


def place_fusions(linked: LinkedListing, read: Callable[[], HloModule]) -> LinkedListing:
    """The listing with the stack of the last placed instruction of its body for each fusion without one of its own.

    Args:
        linked: The listing.
        read: Gives its graph, which is asked for only where there is such a fusion.
    """
    ops, stacks = linked.listing.ops, list(linked.op_stack)
    without = [number for number, op in enumerate(ops) if op.name in FUSIONS and stacks[number] == NO_STACK]
    if not without:
        return linked
    module = read()
    # A computation stands before those that call it, so that fusions inside of others have their place first.
    for number in without:
        bodies = (module.members[called] for called in module.called(number, "calls"))
        placed = (stacks[member] for body in bodies for member in reversed(body) if stacks[member] != NO_STACK)
        stacks[number] = next(placed, NO_STACK)
    return replace(linked, op_stack=tuple(stacks))
