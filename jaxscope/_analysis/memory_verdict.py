"""Whether a program fits into the memory of a device of its target.

Problem: "does it fit" is asked before hardware is paid for, and the answer is a sum of figures that XLA gives in part.
Input: XLA's `MemoryTable`, the sums of its allocations and the `MemoryCurve` where there are, and the target's
published memory. Output: a `MemoryVerdict` with every part of the sum, or why there is none.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from jaxscope._analysis.buffers import MemoryCurve
from jaxscope._analysis.memory import MemoryTable
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._ir.allocations import AllocationTotals
from jaxscope._targets.model import Target

FORMULA = "argument + output + temporary − alias + generated code + constants"


@dataclass(frozen=True, slots=True)
class Part:
    """One part of what is needed: its name, its bytes (below zero where they are counted twice), and the source."""

    name: str
    size_bytes: int
    source: str


@dataclass(frozen=True)
class MemoryVerdict:
    """Whether it fits.

    Attributes:
        needed_bytes: What a device needs at once.
        capacity_bytes: What a device has.
        parts: What is needed, part by part.
        is_estimate: Whether a part was estimated or left out.
        notes: What has to be known to read it.
    """

    needed_bytes: int | Unavailable
    capacity_bytes: int | Unavailable
    parts: tuple[Part, ...] = ()
    is_estimate: bool = False
    notes: tuple[str, ...] = ()

    @property
    def margin_bytes(self) -> int | Unavailable:
        """What is left; below zero where it does not fit."""
        for value in (self.needed_bytes, self.capacity_bytes):
            if isinstance(value, Unavailable):
                return value
        return self.capacity_bytes - self.needed_bytes

    @property
    def fits(self) -> bool | Unavailable:
        """Whether it does."""
        margin = self.margin_bytes
        return margin if isinstance(margin, Unavailable) else margin >= 0


def verdict_of(
    target: Target,
    table: MemoryTable,
    totals: AllocationTotals | None = None,
    curve: MemoryCurve | Unavailable | None = None,
) -> MemoryVerdict:
    """The verdict for one device of a target.

    Args:
        target: Where the program was compiled for.
        table: XLA's memory figures.
        totals: The sums of its allocations, where the buffer assignment was read.
        curve: The live buffers; only what stands in for temporaries that XLA does not report is taken from it.
    """
    notes: list[str] = []
    parts: list[Part] = []
    known = {row.key: row.size_bytes for row in table.rows}
    missing = [key for key in ("argument", "output", "alias") if isinstance(known[key], Unavailable)]
    if missing and totals is None:
        return MemoryVerdict(known[missing[0]], _capacity(target))
    for name in ("argument", "output", "alias"):
        size = known[name]
        source = "memory_analysis()"
        if isinstance(size, Unavailable):
            size, source = getattr(totals, name), "the compiler's buffer assignment"
        parts.append(Part(name, -size if name == "alias" else size, source))
    temporary, is_estimate = _temporary(target, known["temporary"], totals, curve, notes)
    parts.insert(2, temporary)
    code = known["generated code"]
    if isinstance(code, Unavailable):
        notes.append("The machine code is not reported and not counted.")
    else:
        parts.append(Part("generated code", code, "memory_analysis()"))
    if totals is not None:
        parts.append(Part("constants", totals.constant, "the compiler's buffer assignment"))
        notes += _elsewhere(totals)
    elif isinstance(curve, MemoryCurve):
        size = sum(each.size_bytes for each in curve.buffers if each.role == "constant" and not each.memory_space)
        parts.append(Part("constants", size, "the compiled HLO"))
    notes.append("What the runtime and other programs keep on the device is not counted.")
    return MemoryVerdict(
        sum(part.size_bytes for part in parts), _capacity(target), tuple(parts), is_estimate, tuple(notes)
    )


def _temporary(
    target: Target,
    reported: int | Unavailable,
    totals: AllocationTotals | None,
    curve: MemoryCurve | Unavailable | None,
    notes: list[str],
) -> tuple[Part, bool]:
    """The temporaries: XLA's own figure, where it is one; that of its buffer assignment; or those alive at once."""
    figure = 0 if isinstance(reported, Unavailable) else reported
    if totals is not None and totals.temporary > figure:
        if target.platform == "tpu" or isinstance(reported, Unavailable):
            notes.append(f"memory_analysis() reports {figure} bytes of temporaries; the buffer assignment has them.")
        return Part("temporary", totals.temporary, "the compiler's buffer assignment"), False
    if totals is None and figure == 0 and isinstance(curve, MemoryCurve):
        alive = _temporaries_alive(curve)
        if target.platform == "tpu" and alive:
            notes.append(
                "memory_analysis() reports no temporaries on this TPU; the largest sum of those alive at once in main "
                "memory stands in, without the gaps between them."
            )
            return Part("temporary", alive, "the live buffers of the compiled HLO"), True
    return Part("temporary", figure, "memory_analysis()"), isinstance(reported, Unavailable)


def _temporaries_alive(curve: MemoryCurve) -> int:
    changes: dict[int, int] = {}
    for buffer in curve.buffers:
        if buffer.role == "temporary" and not buffer.memory_space:
            changes[buffer.start] = changes.get(buffer.start, 0) + buffer.size_bytes
            changes[buffer.end + 1] = changes.get(buffer.end + 1, 0) - buffer.size_bytes
    most = alive = 0
    for instant in sorted(changes):
        alive += changes[instant]
        most = max(most, alive)
    return most


def _elsewhere(totals: AllocationTotals) -> Iterable[str]:
    for space, size in totals.elsewhere:
        yield f"{size} bytes of temporaries lie in memory space {space}, not in main memory, and are not counted."


def _capacity(target: Target) -> int | Unavailable:
    if target.platform == "cpu":
        return Unavailable("The memory of a CPU is shared with all that runs on the machine: there is no fixed limit.")
    if isinstance(target.facts, Unavailable):
        return target.facts
    memory = target.facts.memory_bytes
    return memory if isinstance(memory, Unavailable) else int(memory.value)
