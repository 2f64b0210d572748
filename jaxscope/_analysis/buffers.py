"""Who takes how much memory at each instant of a compiled program's schedule.

Problem: a peak is understood only by the values that are alive then, and XLA names them in a dump that costs one more
compilation. Input: the compiled HLO's `Listing`; where there are, XLA's live-range report and its allocations. Output:
`MemoryCurve`: one `Buffer` for each value, the bytes alive at each instant, the peak, and what differs between our
account and the compiler's where both are there.

Bytes are those of XLA's reports: of one device, without padding, over all memories. A tuple's table of pointers is a
value too.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Literal

from jaxscope._analysis.hlo_values import Value
from jaxscope._analysis.schedule_live_ranges import LiveRanges, compilers_peak, live_ranges_of
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._ir.allocations import Allocation, AssignedValue
from jaxscope._ir.hlo_program import HloProgram, read_index
from jaxscope._ir.hlo_shapes import read_shape
from jaxscope._ir.live_range import LiveRangeReport
from jaxscope._ir.model import Listing

Role = Literal["argument", "output", "constant", "temporary"]

NO_OP = -1
NOT_ASSIGNED = Unavailable("The compiler's report has no place for it.")
NOT_READ = Unavailable("The compiler's buffer assignment was not read.")

FROM_TEXT = "jaxscope's live ranges of the compiled HLO"
FROM_REPORT = "the compiler's live-range report"


@dataclass(frozen=True, slots=True)
class Buffer:
    """One value and the instants at which its buffer is taken.

    Attributes:
        name: The instruction that makes it and the place in its result: ``fusion.3{1}``.
        op: Index of that instruction in `Listing.ops`; `NO_OP` where the text does not show it.
        role: ``argument``, ``output`` (it lies in the program's result), ``constant``, or ``temporary``.
        type: As printed.
        size_bytes: Without padding, as XLA's reports count it.
        start: First instant at which its buffer is taken.
        end: Last one, included; the instant after the last instruction stands for the end of the program.
        made_at: The instant of the instruction that makes it.
        memory_space: XLA's number of the memory it lies in; 0 is the device's main memory.
        hand_over: The instant at which another value takes its buffer over, which is its last one; None where none
            does.
        allocation: Number of the allocation that it lies in.
        offset: Where in it, in bytes.
        allocated_bytes: What it takes there, with padding.
    """

    name: str
    op: int
    role: Role
    type: str
    size_bytes: int
    start: int
    end: int
    made_at: int
    memory_space: int = 0
    hand_over: int | None = None
    allocation: int | Unavailable = NOT_READ
    offset: int | Unavailable = NOT_READ
    allocated_bytes: int | Unavailable = NOT_READ


@dataclass(frozen=True)
class MemoryCurve:
    """The memory of a program over its schedule.

    Attributes:
        instants: Index in `Listing.ops` of the instruction of each instant.
        buffers: Every value, in the order of their starts.
        peak_instant: The instant that the compiler's report calls the peak.
        source: `FROM_TEXT` or `FROM_REPORT`.
        confirmed: Whether the compiler's own report says the same; None where it was not asked for.
        notes: What has to be known to read it: what could not be followed, where our account and the report differ.
    """

    instants: tuple[int, ...]
    buffers: tuple[Buffer, ...]
    peak_instant: int
    source: str = FROM_TEXT
    confirmed: bool | None = None
    notes: tuple[str, ...] = ()

    @cached_property
    def bytes_alive(self) -> tuple[int, ...]:
        """Bytes at each instant, and at the end of the program: one more figure than there are instants."""
        return self._summed(self.buffers)

    def bytes_alive_in(self, memory_space: int) -> tuple[int, ...]:
        """The same of one memory."""
        return self._summed(buffer for buffer in self.buffers if buffer.memory_space == memory_space)

    def bytes_alive_as(self, role: Role) -> tuple[int, ...]:
        """The same of one role."""
        return self._summed(buffer for buffer in self.buffers if buffer.role == role)

    @cached_property
    def bytes_in_use(self) -> tuple[int, ...]:
        """The same with every buffer counted once where one value takes it over from another.

        The compiler's report, and `bytes_alive`, count both at that instant, so that an update in place looks like two
        arrays. Without places in memory, only what has to be in place is known to be: this is then an upper bound.
        """
        changes = [0] * (len(self.instants) + 2)
        for buffer in self.buffers:
            after = buffer.end + 1 if buffer.hand_over is None else buffer.hand_over
            changes[buffer.start] += buffer.size_bytes
            changes[after] -= buffer.size_bytes
        return tuple(accumulate(changes[:-1]))

    def _summed(self, buffers: Iterable[Buffer]) -> tuple[int, ...]:
        changes = [0] * (len(self.instants) + 2)
        for buffer in buffers:
            changes[buffer.start] += buffer.size_bytes
            changes[buffer.end + 1] -= buffer.size_bytes
        return tuple(accumulate(changes[:-1]))

    @property
    def peak_bytes(self) -> int:
        """Bytes at the instant that the compiler calls the peak."""
        return self.bytes_alive[self.peak_instant]

    @cached_property
    def highest_instant(self) -> int:
        """The first instant with the most bytes in use.

        It may be another than the compiler's peak, which takes values that have just ended for still there, and parts
        of tuples for as large as the tuple's table of pointers.
        """
        return self.bytes_in_use.index(max(self.bytes_in_use))

    @property
    def highest_bytes(self) -> int:
        """The most bytes in use at any instant."""
        return self.bytes_in_use[self.highest_instant]

    @cached_property
    def memory_spaces(self) -> tuple[int, ...]:
        """The memories that values lie in."""
        return tuple(sorted({buffer.memory_space for buffer in self.buffers}))

    def alive_at(self, instant: int) -> tuple[Buffer, ...]:
        """The buffers that are taken at an instant, the largest first.

        Args:
            instant: From 0 to the number of instants, which stands for the end of the program.

        Raises:
            IndexError: There is no such instant.
        """
        if not 0 <= instant <= len(self.instants):
            raise IndexError(
                f"Asking who is alive at instant {instant}: the schedule has the instants 0 to {len(self.instants)}. "
                "Pass one of them."
            )
        alive = [buffer for buffer in self.buffers if buffer.start <= instant <= buffer.end]
        return tuple(sorted(alive, key=lambda buffer: (-buffer.size_bytes, buffer.name)))

    def breakdown_at(self, instant: int) -> dict[tuple[Role, int], int]:
        """Bytes at an instant by role and memory, the largest first."""
        found: dict[tuple[Role, int], int] = {}
        for buffer in self.alive_at(instant):
            key = (buffer.role, buffer.memory_space)
            found[key] = found.get(key, 0) + buffer.size_bytes
        return dict(sorted(found.items(), key=lambda item: -item[1]))


def curve_of(listing: Listing, *, starts_open_buffers: bool = True) -> MemoryCurve | Unavailable:
    """The curve right away, from the compiled text.

    Args:
        listing: Compiled HLO.
        starts_open_buffers: As for `live_ranges_of`.
    """
    found = live_ranges_of(listing, starts_open_buffers=starts_open_buffers)
    if not found.instants:
        return Unavailable(f"Nobody can be said to be alive: {'; '.join(found.problems) or 'there is no program'}.")
    made_at = {instruction: instant for instant, instruction in enumerate(found.instants)}
    roles = _roles(found)
    starts = {live.value: live.start for live in found.ranges}
    hand_overs = {value: starts[heir] for values in found.shared for value, heir in pairwise(values)}
    unknown: dict[str, None] = {}
    buffers = []
    for live in found.ranges:
        value = live.value
        size = value.shape.size_bytes
        if size is None:
            unknown[value.shape.text] = None
        buffers.append(
            Buffer(
                value.name,
                value.instruction.op,
                roles.get(value, "temporary"),
                value.shape.text,
                size or 0,
                live.start,
                live.end,
                made_at[value.instruction],
                value.shape.memory_space,
                hand_overs.get(value) if hand_overs.get(value) == live.end else None,
            )
        )
    notes = [f"An estimate: {problem}." for problem in found.problems]
    if unknown:
        notes.append(f"Counted as 0 bytes, because their element types are not known: {', '.join(unknown)}.")
    return MemoryCurve(
        tuple(instruction.op for instruction in found.instants),
        tuple(buffers),
        compilers_peak(found.ranges),
        notes=tuple(notes),
    )


def _roles(found: LiveRanges) -> dict[Value, Role]:
    roles: dict[Value, Role] = {}
    for live in found.ranges:
        instruction = live.value.instruction
        if instruction.opcode == "parameter" and instruction.computation.is_entry:
            roles[live.value] = "argument"
        elif instruction.opcode == "constant":
            roles[live.value] = "constant"
    for value in found.results:
        roles.setdefault(value, "output")
    return roles


def differences(curve: MemoryCurve, report: LiveRangeReport) -> tuple[str, ...]:
    """Where our account and the compiler's report differ, in words; () where they say the same to the byte."""
    if len(curve.instants) != len(report.instants):
        return (f"the compiler's schedule has {len(report.instants)} instants, ours {len(curve.instants)}",)
    found = []
    ours = {_reported_name(buffer, report): (buffer.start, buffer.end) for buffer in curve.buffers}
    theirs = {each.name: (each.start, each.end) for each in report.ranges}
    if differing := [name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name)]:
        found.append(f"{len(differing)} of {len(theirs)} live ranges differ, such as that of {min(differing)}")
    if curve.peak_instant != report.peak_instant:
        found.append(f"the compiler has the peak at instant {report.peak_instant}, we at {curve.peak_instant}")
    else:
        alive = {_reported_name(each, report): each.size_bytes for each in curve.alive_at(curve.peak_instant)}
        if alive != dict(report.alive):
            found.append(f"the compiler has {report.peak_bytes} bytes at the peak, we {sum(alive.values())}")
    return tuple(found)


def _reported_name(buffer: Buffer, report: LiveRangeReport) -> str:
    """The name of a value in a report, which names instructions that the text leaves out."""
    name, _, index = buffer.name.rpartition("{")
    reported = report.instants[buffer.made_at]
    if reported == name:
        return buffer.name
    # Ours stands in the second part of its start's result: "slice-start.3{1}" is the report's "slice.7{}".
    return f"{reported}{{{index.removeprefix('1').removeprefix(',')}"


def check_curve(
    curve: MemoryCurve | Unavailable,
    report: LiveRangeReport | None,
    allocations: Iterable[Allocation],
    listing: Listing,
) -> MemoryCurve | Unavailable:
    """The curve with what the compiler says: confirmed, or replaced where it differs, and with places in memory.

    Args:
        curve: Ours.
        report: The compiler's; None where its dump has none.
        allocations: Its allocations, with names.
        listing: The compiled HLO.
    """
    allocations = tuple(allocations)
    if report is None:
        if isinstance(curve, Unavailable):
            return curve
        note = "The compiler's dump has no live ranges to compare with."
        return place_buffers(replace(curve, notes=(*curve.notes, note)), allocations)
    if isinstance(curve, Unavailable):
        return place_buffers(_from_report(report, allocations, listing, ()), allocations)
    if differing := differences(curve, report):
        note = f"The compiler's report is shown: {'; '.join(differing)}."
        return place_buffers(_from_report(report, allocations, listing, (note,)), allocations)
    named = tuple(replace(buffer, name=_reported_name(buffer, report)) for buffer in curve.buffers)
    notes = tuple(note for note in curve.notes if not note.startswith("An estimate"))
    return place_buffers(replace(curve, buffers=named, confirmed=True, notes=notes), allocations)


def place_buffers(curve: MemoryCurve, allocations: Iterable[Allocation]) -> MemoryCurve:
    """The curve with the allocation, the offset and the allocated bytes of every value that the allocations name."""
    places = _places(allocations)
    if not places:
        return curve
    buffers = []
    for buffer in curve.buffers:
        allocation, value = places.get(buffer.name, (None, None))
        if allocation is None or value is None:
            placed = replace(buffer, allocation=NOT_ASSIGNED, offset=NOT_ASSIGNED, allocated_bytes=NOT_ASSIGNED)
        else:
            placed = replace(buffer, allocation=allocation.index, offset=value.offset, allocated_bytes=value.size_bytes)
        buffers.append(placed)
    return replace(curve, buffers=_with_hand_overs(buffers))


def _with_hand_overs(buffers: list[Buffer]) -> tuple[Buffer, ...]:
    """Where the compiler lets an instruction write over an operand, the operand hands its buffer over, too."""
    beginning: dict[tuple[int, int], list[Buffer]] = {}
    for buffer in buffers:
        if not isinstance(buffer.allocation, Unavailable):
            beginning.setdefault((buffer.allocation, buffer.start), []).append(buffer)
    done = []
    for buffer in buffers:
        heirs = () if isinstance(buffer.allocation, Unavailable) else beginning.get((buffer.allocation, buffer.end), ())
        if buffer.hand_over is None and any(_overlap(buffer, heir) for heir in heirs if heir is not buffer):
            buffer = replace(buffer, hand_over=buffer.end)
        done.append(buffer)
    return tuple(done)


def _overlap(one: Buffer, other: Buffer) -> bool:
    return (
        one.offset < other.offset + other.allocated_bytes
        and other.offset < one.offset + one.allocated_bytes
        # Of two that begin and end together, none is the heir.
        and (one.start, one.end) != (other.start, other.end)
    )


def _places(allocations: Iterable[Allocation]) -> dict[str, tuple[Allocation, AssignedValue]]:
    return {value.name: (each, value) for each in allocations for value in each.values if value.name}


def _from_report(
    report: LiveRangeReport, allocations: tuple[Allocation, ...], listing: Listing, notes: tuple[str, ...]
) -> MemoryCurve:
    entry = HloProgram(listing).entry
    arguments = {parameter.op for parameter in entry.parameters.values()} if entry is not None else set()
    ops = _ops_named(listing, set(report.instants))
    at = {name: instant for instant, name in enumerate(report.instants)}
    places = _places(allocations)
    reported = dict(report.alive)
    unknown = 0
    buffers = []
    for each in report.ranges:
        name, _, index = each.name.rpartition("{")
        op = ops.get(name, NO_OP)
        shape = read_shape(listing.ops[op].type) if op != NO_OP else None
        shape = shape.at(read_index(index[:-1])) if shape is not None else None
        allocation, value = places.get(each.name, (None, None))
        if shape is None and value is not None:
            shape = read_shape(value.type)
        size = shape.size_bytes if shape is not None else reported.get(each.name)
        unknown += size is None
        buffers.append(
            Buffer(
                each.name,
                op,
                _role(listing, op, allocation, arguments),
                shape.text if shape is not None else "",
                size or 0,
                each.start,
                each.end,
                at.get(name, each.start),
                shape.memory_space if shape is not None else allocation.memory_space if allocation is not None else 0,
            )
        )
    if unknown:
        notes = (*notes, f"{unknown} values are counted as 0 bytes, because no text gives their type.")
    return MemoryCurve(
        tuple(ops.get(name, NO_OP) for name in report.instants),
        tuple(sorted(buffers, key=lambda buffer: buffer.start)),
        report.peak_instant or 0,
        FROM_REPORT,
        True,
        notes,
    )


def _ops_named(listing: Listing, names: "set[str]") -> Mapping[str, int]:
    found = {}
    for index, op in enumerate(listing.ops):
        if op.results and (name := op.results[0].removeprefix("%")) in names:
            found[name] = index
    return found


def _role(listing: Listing, op: int, allocation: Allocation | None, arguments: set[int]) -> Role:
    if op != NO_OP and listing.ops[op].name == "constant":
        return "constant"
    if op in arguments:
        return "argument"
    return "output" if allocation is not None and allocation.kind == "output" else "temporary"
