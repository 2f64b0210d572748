"""What lies between the values alive at the peak and the memory that is set aside for the program.

Problem: a program whose values take 830 MB at their peak is given 914 MB, and a figure nobody can explain is not
believed. Input: a `MemoryCurve` with places and the `Allocation` records that it was placed in. Output: a
`PeakReconciliation`: steps, each named, from the one sum to the other, that add up to the byte.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from jaxscope._analysis.buffers import Buffer, MemoryCurve
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._ir.allocations import Allocation, Kind


@dataclass(frozen=True, slots=True)
class Step:
    """A part of the difference.

    Attributes:
        name: What it is, in a word or two.
        size_bytes: Bytes that it adds; below zero where it takes away.
        explanation: A sentence.
    """

    name: str
    size_bytes: int
    explanation: str


@dataclass(frozen=True)
class PeakReconciliation:
    """From the bytes alive at the peak to the bytes set aside.

    Attributes:
        peak_bytes: Bytes of the values alive at the peak, without padding.
        steps: What has to be added; those of 0 bytes are left out.
        allocated_bytes: All allocations of the device's main memory, as XLA's statistics count them: those inside
            kernels are not among them.
    """

    peak_bytes: int
    steps: tuple[Step, ...]
    allocated_bytes: int


_SPARE: dict[Kind, tuple[str, str]] = {
    "parameter": ("arguments no longer read", "Buffers of arguments whose values are no longer needed."),
    "output": ("outputs not yet written", "Buffers of results that hold nothing at the peak."),
    "constant": ("constants not in use", "Constants stay for the whole run; these are not needed at the peak."),
    "temporary": (
        "fragmentation",
        "Room between temporaries: the buffers that are alive then do not fit together without gaps, or others, not "
        "alive at this instant, need the room at another.",
    ),
}


def reconcile_peak(
    curve: MemoryCurve, allocations: Iterable[Allocation], instant: int | None = None
) -> PeakReconciliation | Unavailable:
    """The steps from the bytes alive at an instant to the bytes set aside.

    Args:
        curve: A curve whose buffers have places.
        allocations: The allocations that they were placed in.
        instant: The peak where it is None.
    """
    allocations = tuple(allocations)
    if not allocations:
        return Unavailable("The compiler's buffer assignment is not known, so nobody can say what was set aside.")
    alive = curve.alive_at(curve.peak_instant if instant is None else instant)
    placed = [buffer for buffer in alive if not isinstance(buffer.allocation, Unavailable)]
    known = {allocation.index: allocation for allocation in allocations}
    if any(buffer.allocation not in known for buffer in placed):
        return Unavailable("The values were placed in other allocations than these.")
    in_main = [buffer for buffer in placed if known[buffer.allocation].memory_space == 0]
    counted = [each for each in allocations if each.memory_space == 0 and each.kind != "thread-local"]
    steps = [
        Step(
            "other memories",
            -sum(buffer.size_bytes for buffer in placed if known[buffer.allocation].memory_space),
            "Values in memories of their own, such as the VMEM of a TPU, which the peak counts too.",
        ),
        Step(
            "no memory",
            -sum(buffer.size_bytes for buffer in alive if isinstance(buffer.allocation, Unavailable)),
            "Values that the compiler gives no memory to.",
        ),
        Step(
            "padding",
            sum(buffer.allocated_bytes - buffer.size_bytes for buffer in in_main),
            "What tiles and alignment add to the arrays that are alive.",
        ),
    ]
    occupied = {allocation.index: _occupied_bytes(allocation.index, in_main) for allocation in counted}
    shared = sum(buffer.allocated_bytes for buffer in in_main) - sum(occupied.values())
    steps.append(
        Step("shared", -shared, "Values in one place at the instant at which one of them takes it over from another.")
    )
    for kind, (name, explanation) in _SPARE.items():
        spare = sum(each.size_bytes - occupied[each.index] for each in counted if each.kind == kind)
        steps.append(Step(name, spare, explanation))
    return PeakReconciliation(
        sum(buffer.size_bytes for buffer in alive),
        tuple(step for step in steps if step.size_bytes),
        sum(allocation.size_bytes for allocation in counted),
    )


def _occupied_bytes(index: int, buffers: list[Buffer]) -> int:
    """Bytes of an allocation that at least one of the buffers lies on."""
    spans = sorted(
        (buffer.offset, buffer.offset + buffer.allocated_bytes) for buffer in buffers if buffer.allocation == index
    )
    total = end = 0
    for first, last in spans:
        if last > end:
            total += last - max(first, end)
            end = last
    return total
