"""The memory that XLA sets aside for a compiled program: records that every reader of its buffer assignment gives.

Problem: the same assignment comes as text from a dump and as bytes from an executable, and which bytes count as
argument, output or temporary follows from flags. Input: none; this module only defines records. Output: `Allocation`,
the values that lie in it, and the sums that XLA's own statistics are made of.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Kind = Literal["parameter", "output", "constant", "thread-local", "temporary"]


@dataclass(frozen=True, slots=True)
class AssignedValue:
    """A value in an allocation.

    Attributes:
        number: XLA's number of it.
        name: The instruction that makes it and the place in its result, as live-range reports have it:
            ``fusion.3{1}``; "" where the source does not name it.
        offset: Where it begins, in bytes from the beginning of the allocation.
        size_bytes: What it takes, with padding.
        type: As printed, "" where the source does not give it.
        is_join: Whether it stands for whichever value a loop or a conditional passes on.
    """

    number: int
    name: str
    offset: int
    size_bytes: int
    type: str = ""
    is_join: bool = False


@dataclass(frozen=True, slots=True)
class Allocation:
    """A piece of memory that XLA sets aside for a whole run.

    Attributes:
        index: XLA's number of it.
        size_bytes: Its size.
        kind: ``parameter``: an argument's; ``output``: made for a result; ``constant``; ``thread-local``: inside the
            kernels, not in the device's memory; ``temporary``.
        memory_space: XLA's number of the memory it lies in; 0 is the device's main memory.
        parameter: The number of the argument; None for other kinds.
        parameter_index: Which part of the argument.
        is_live_out: Whether a result may lie in it; of a parameter: whether a result takes its buffer.
        values: What lies in it, at one time or another.
    """

    index: int
    size_bytes: int
    kind: Kind
    memory_space: int = 0
    parameter: int | None = None
    parameter_index: tuple[int, ...] = ()
    is_live_out: bool = False
    values: tuple[AssignedValue, ...] = ()


@dataclass(frozen=True, slots=True)
class AllocationTotals:
    """Sums over allocations, in bytes, as XLA's memory statistics define them; a donated argument is in three of them.

    Attributes:
        argument: Of arguments.
        output: Of everything that a result may lie in.
        alias: Of arguments whose buffer a result takes.
        temporary: Of temporaries in the device's main memory.
        constant: Of constants, which XLA's statistics leave out.
        thread_local: Inside kernels, which XLA's statistics leave out.
        elsewhere: Of temporaries in other memories, by the number of the memory.
    """

    argument: int = 0
    output: int = 0
    alias: int = 0
    temporary: int = 0
    constant: int = 0
    thread_local: int = 0
    elsewhere: tuple[tuple[int, int], ...] = ()


def total_allocations(allocations: Iterable[Allocation]) -> AllocationTotals:
    """Adds them up, kind by kind."""
    sums = dict.fromkeys(("argument", "output", "alias", "temporary", "constant", "thread_local"), 0)
    elsewhere: dict[int, int] = {}
    for allocation in allocations:
        size = allocation.size_bytes
        if allocation.kind == "parameter":
            sums["argument"] += size
            sums["alias"] += size if allocation.is_live_out else 0
        if allocation.is_live_out:
            sums["output"] += size
        if allocation.kind == "temporary":
            if allocation.memory_space:
                elsewhere[allocation.memory_space] = elsewhere.get(allocation.memory_space, 0) + size
            else:
                sums["temporary"] += size
        elif allocation.kind == "constant":
            sums["constant"] += size
        elif allocation.kind == "thread-local":
            sums["thread_local"] += size
    return AllocationTotals(**sums, elsewhere=tuple(sorted(elsewhere.items())))


def kind_of(*, is_parameter: bool, is_live_out: bool, is_constant: bool, is_thread_local: bool) -> Kind:
    """The kind that XLA's flags mean; what has none of them is temporary."""
    if is_parameter:
        return "parameter"
    if is_live_out:
        return "output"
    if is_constant:
        return "constant"
    return "thread-local" if is_thread_local else "temporary"
