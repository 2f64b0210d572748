"""All that is known of a compiled program's memory, from whatever there is.

Problem: XLA's figures, its buffer assignment, its live ranges and our own account come from four places, each of which
may be missing, and each checks the others. Input: the compiled HLO, the executable, the target, and the texts of a dump
where somebody asked for one. Output: `ProgramMemory`.

Without a dump the curve is ours, and the allocations are there on CPU only. With one, both are the compiler's, or are
confirmed by it.
"""

import fnmatch
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jaxscope import _jax_memory
from jaxscope._analysis.buffers import MemoryCurve, check_curve, curve_of, place_buffers
from jaxscope._analysis.memory import MemoryTable
from jaxscope._analysis.memory_verdict import MemoryVerdict, verdict_of
from jaxscope._analysis.peak_reconciliation import PeakReconciliation, reconcile_peak
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._ir.allocations import Allocation, AllocationTotals, total_allocations
from jaxscope._ir.buffer_assignment import read_buffer_assignment
from jaxscope._ir.buffer_proto import read_buffer_proto, read_instruction_names
from jaxscope._ir.live_range import LiveRangeReport, read_live_range
from jaxscope._ir.model import Listing
from jaxscope._targets.model import Target

ASSIGNMENT_PATTERN = "*buffer-assignment.txt"
LIVE_RANGE_PATTERN = "*live-range.txt"
MEMORY_PATTERNS = (ASSIGNMENT_PATTERN, LIVE_RANGE_PATTERN)

FROM_DUMP = "the dump's buffer assignment"
FROM_EXECUTABLE = "the executable's buffer assignment"

ON_REQUEST = Unavailable(
    "This platform's executables do not carry their buffer assignment; compiling once more with the dump on brings it."
)
NO_TEXT = Unavailable("There is no compiled HLO to read the live ranges from.")


@dataclass(frozen=True, slots=True)
class Agreement:
    """A sum over allocations beside XLA's own figure.

    Attributes:
        name: What the bytes are for.
        allocated_bytes: The sum over the allocations.
        reported_bytes: XLA's figure of memory_analysis().
        note: What follows where they differ; "" where they agree.
    """

    name: str
    allocated_bytes: int
    reported_bytes: int | Unavailable
    note: str = ""

    @property
    def agrees(self) -> bool:
        """Whether both are the same to the byte."""
        return self.allocated_bytes == self.reported_bytes


@dataclass(frozen=True)
class ProgramMemory:
    """The memory of a program.

    Attributes:
        curve: Who is alive when.
        allocations: What the compiler sets aside.
        allocations_from: `FROM_DUMP`, `FROM_EXECUTABLE` or "".
        totals: The sums of the allocations.
        agreement: These sums beside XLA's own figures.
        reconciliation: What lies between the peak and what is set aside.
        verdict: Whether it fits.
    """

    curve: MemoryCurve | Unavailable
    allocations: tuple[Allocation, ...] | Unavailable
    allocations_from: str
    totals: AllocationTotals | Unavailable
    agreement: tuple[Agreement, ...]
    reconciliation: PeakReconciliation | Unavailable
    verdict: MemoryVerdict


def program_memory(
    listing: Listing | None,
    compiled: Any,
    target: Target,
    table: MemoryTable,
    dump: Mapping[str, str] | None = None,
    *,
    starts_open_buffers: bool = _jax_memory.STARTS_OPEN_BUFFERS,
) -> ProgramMemory:
    """Everything that can be said of a program's memory.

    Args:
        listing: The compiled HLO, or None.
        compiled: The `jax.stages.Compiled`, or None.
        target: Where it was compiled for.
        table: XLA's memory figures.
        dump: Texts by file name of one more compilation; None where there was none.
        starts_open_buffers: As for `live_ranges_of`.
    """
    curve = curve_of(listing, starts_open_buffers=starts_open_buffers) if listing is not None else NO_TEXT
    report, allocations = read_dump(dump or {})
    source = FROM_DUMP if allocations else ""
    if not allocations and compiled is not None:
        allocations = _carried_by(table.buffer_assignment, compiled, listing, curve)
        source = FROM_EXECUTABLE if allocations else ""
    if report is not None and listing is not None:
        curve = check_curve(curve, report, allocations, listing)
    elif isinstance(curve, MemoryCurve):
        curve = place_buffers(curve, allocations)
    totals = total_allocations(allocations) if allocations else None
    return ProgramMemory(
        curve,
        allocations or ON_REQUEST,
        source,
        totals or ON_REQUEST,
        agreement_of(totals, table) if totals is not None else (),
        reconcile_peak(curve, allocations) if isinstance(curve, MemoryCurve) else curve,
        verdict_of(target, table, totals, curve),
    )


def read_dump(dump: Mapping[str, str]) -> tuple[LiveRangeReport | None, tuple[Allocation, ...]]:
    """The live ranges and the allocations of a dump; None and () where it has none."""
    assignment = _largest(dump, ASSIGNMENT_PATTERN)
    # JAX 0.8 writes the live ranges at the end of the buffer assignment.
    report = read_live_range(_largest(dump, LIVE_RANGE_PATTERN)) or read_live_range(assignment)
    return report, read_buffer_assignment(assignment)


def _largest(dump: Mapping[str, str], pattern: str) -> str:
    """The text of the program itself: what a compiler makes on the side, such as folded constants, is small."""
    return max((text for name, text in dump.items() if fnmatch.fnmatchcase(name, pattern)), key=len, default="")


def _carried_by(
    data: bytes, compiled: Any, listing: Listing | None, curve: MemoryCurve | Unavailable
) -> tuple[Allocation, ...]:
    if not data:
        return ()
    names: dict[int, str] = {}
    try:
        if listing is not None and isinstance(curve, MemoryCurve):
            blocks = {listing.ops[op].block for op in curve.instants}
            computations = {listing.blocks[block].name.removeprefix("%") for block in blocks}
            names = read_instruction_names(_jax_memory.module_bytes(compiled), computations)
        return read_buffer_proto(data, names)
    except ValueError:
        # A format of another version: as good as none.
        return ()


def agreement_of(totals: AllocationTotals, table: MemoryTable) -> tuple[Agreement, ...]:
    """The sums over allocations beside XLA's own figures."""
    reported = {row.key: row.size_bytes for row in table.rows}
    found = []
    for name in ("argument", "output", "temporary", "alias"):
        ours, figure = getattr(totals, name), reported[name]
        note = ""
        if isinstance(figure, Unavailable):
            note = "XLA gives no figure: that of the buffer assignment stands in."
        elif figure != ours:
            note = (
                "XLA reports 0 although it allocates them: the buffer assignment stands in."
                if figure == 0
                else "XLA's figure counts also what is decided after the buffer assignment."
                if figure > ours
                else "XLA's figure leaves some of the allocations out."
            )
        found.append(Agreement(name, ours, figure, note))
    return tuple(found)
