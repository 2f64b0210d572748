"""Call stacks of StableHLO that reach up to the program: the frames of a loop's body, and those around the loop.

Problem: JAX gives the ops of a loop's body and of a shared function the frames from there inwards only, so that a line
which calls a loop would seem to cost nothing. XLA puts both together when it inlines. Input: the `LinkedListing` of a
module. Output: the same with whole stacks; links keep to what JAX says of each op.

Of a function that several ops call, only the frames that all of them have in common are known to be around it.
"""

from dataclasses import replace

from jaxscope._analysis.regions import TOP, Program
from jaxscope._ir.model import NO_STACK, Frame, StackTableBuilder
from jaxscope._links import LinkedListing

# Innermost first.
_Stack = tuple[Frame, ...]


def complete_stacks(linked: LinkedListing) -> LinkedListing:
    """The listing with the frames around each op, those of its region's op and of what calls its function included."""
    around = _frames_around(linked)
    builder = StackTableBuilder()
    known: dict[tuple[int, int], int] = {}
    op_stack = []
    for op, stack in zip(linked.listing.ops, linked.op_stack, strict=True):
        key = (stack, op.block)
        if key not in known:
            known[key] = builder.intern(_join(tuple(linked.stacks.walk(stack)), around.get(op.block, ())))
        op_stack.append(known[key] if stack != NO_STACK else NO_STACK)
    return replace(linked, stacks=builder.build(), op_stack=tuple(op_stack))


def _frames_around(linked: LinkedListing) -> dict[int, _Stack]:
    """Block to the frames that are around everything in it."""
    program = Program(linked.listing)
    ops = linked.listing.ops
    outer: dict[int, list[int]] = {}
    for block, kind in enumerate(each.kind for each in linked.listing.blocks):
        owner = program.owners.get(block)
        outer[block] = [owner] if owner is not None else program.calls.get(block, []) if kind == "func" else []
    found: dict[int, _Stack] = {TOP: ()}

    def whole(number: int) -> _Stack:
        return _join(tuple(linked.stacks.walk(linked.op_stack[number])), found.get(ops[number].block, ()))

    for start in outer:
        # Without Python's stack, which programs can be deeper than; what calls itself has nothing around it.
        waiting, begun = [start], set()
        while waiting:
            block = waiting[-1]
            needed = [ops[number].block for number in outer[block] if ops[number].block not in found]
            if block in found or (block in begun) or not needed:
                if block not in found:
                    found[block] = _common([whole(number) for number in outer[block]])
                waiting.pop()
            else:
                begun.add(block)
                waiting += needed
    return found


def _join(own: _Stack, around: _Stack) -> _Stack:
    """A stack and what is around it, where it does not reach as far out already."""
    if not own or not around or _place(own[-1]) == _place(around[-1]):
        return own
    # Frames that end the one and begin the other stand once.
    shared = next((size for size in range(min(len(own), len(around)), 0, -1) if own[-size:] == around[:size]), 0)
    return own + around[shared:]


def _place(frame: Frame) -> tuple[str, str]:
    return (frame.file, frame.function)


def _common(stacks: list[_Stack]) -> _Stack:
    """The outermost frames that all stacks have."""
    if not stacks:
        return ()
    shortest = min(map(len, stacks))
    size = next((size for size in range(shortest, 0, -1) if len({stack[-size:] for stack in stacks}) == 1), 0)
    return stacks[0][len(stacks[0]) - size :]
