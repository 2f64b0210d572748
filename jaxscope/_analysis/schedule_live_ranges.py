"""From when to when each value of a compiled program is alive, read from its scheduled text.

Problem: XLA writes its live ranges into a file of a dump, which takes one more compilation; the compiled text that is
there anyway holds all that they follow from. Input: the `Listing` of compiled HLO whose text is its schedule. Output:
`LiveRanges`, with the instants of the schedule and the first and last instant of every value.

It follows XLA's HloLiveRange, whose report is the oracle of the tests: called computations, branches and loop bodies
stand before the instruction that calls them, once; values that must share a buffer give way to each other.
https://github.com/openxla/xla/blob/main/xla/hlo/utils/hlo_live_range.h
"""

from dataclasses import dataclass
from itertools import pairwise

from jaxscope._analysis.hlo_aliases import buffers_of
from jaxscope._analysis.hlo_values import Value, ValueTable, find_values
from jaxscope._ir.hlo_program import Computation, HloProgram, Instruction
from jaxscope._ir.model import Listing


@dataclass(frozen=True, slots=True)
class LiveRange:
    """A value and the first and last instant at which its buffer is taken, both included."""

    value: Value
    start: int
    end: int


@dataclass(frozen=True)
class LiveRanges:
    """The live ranges of a program.

    Attributes:
        instants: The instruction of each instant of the schedule.
        ranges: In the order in which the values are made.
        results: The values that the program's result is made of.
        shared: Values that one buffer holds, one after the other, in that order.
        problems: What could not be followed, in words; with any, the ranges are an estimate.
    """

    instants: tuple[Instruction, ...]
    ranges: tuple[LiveRange, ...]
    results: tuple[Value, ...]
    shared: tuple[tuple[Value, ...], ...]
    problems: tuple[str, ...]


def live_ranges_of(listing: Listing, *, starts_open_buffers: bool = True) -> LiveRanges:
    """The live ranges of every value of the computations that run in order.

    Args:
        listing: Compiled HLO; without ``is_scheduled=true`` in its head there are none, and a problem says so.
        starts_open_buffers: Whether the results of what runs beside the schedule take their buffers when it is
            started, as in XLA of JAX 0.12; else an instant earlier, where the started instruction itself stands.
    """
    program = HloProgram(listing)
    if not program.is_scheduled or program.entry is None:
        return LiveRanges((), (), (), (), ("the text is not a schedule: its head does not say is_scheduled=true",))
    table = find_values(program)
    schedule = _Schedule(table, starts_open_buffers)
    schedule.flatten(program.entry, None)
    ranges = schedule.ranges()
    shared = _give_way(ranges, table)
    root = table.trees.get(program.entry.root)
    results = {value for _, values in root.walk() for value in values} if root is not None else set()
    ordered = sorted(ranges, key=lambda value: (ranges[value][0], value.joined is not None, value.number))
    return LiveRanges(
        tuple(schedule.instants),
        tuple(LiveRange(value, *ranges[value]) for value in ordered),
        tuple(value for value in ordered if value in results),
        shared,
        tuple(table.problems),
    )


class _Schedule:
    def __init__(self, table: ValueTable, starts_open_buffers: bool):
        self.table = table
        self.starts_open_buffers = starts_open_buffers
        self.program = table.program
        self.instants: list[Instruction] = []
        self.at: dict[Instruction, int] = {}
        self.spans: dict[Computation, tuple[int, int]] = {}
        # Of computations that run beside the others: the instruction that starts them.
        self.beside: dict[Computation, Instruction] = {}

    def flatten(self, computation: Computation, starter: Instruction | None) -> None:
        """Numbers the instructions of a computation, and of those it calls before the call."""
        if computation in self.spans:
            return
        if starter is not None:
            self.beside[computation] = starter
        start = len(self.instants)
        for instruction in computation.instructions:
            for called, its_starter in self._called_in_order(instruction, starter):
                self.flatten(called, its_starter)
            self.at[instruction] = len(self.instants)
            self.instants.append(instruction)
        self.spans[computation] = (start, len(self.instants))

    def _called_in_order(
        self, instruction: Instruction, starter: Instruction | None
    ) -> list[tuple[Computation, Instruction | None]]:
        opcode = instruction.opcode
        if opcode in ("call", "conditional"):
            return [(called, starter) for called in self.program.called(instruction)]
        if opcode == "while":
            return [(called, starter) for called in self.program.loop_of(instruction) if called is not None]
        wrapped = self.program.wrapped(instruction)
        return [] if wrapped is None or wrapped not in self.table.callers else [(wrapped, instruction)]

    def ranges(self) -> dict[Value, list[int]]:
        """First and last instant of every value, before values in one buffer give way to each other."""
        found: dict[Value, list[int]] = {}
        for instruction, instant in self.at.items():
            computation = instruction.computation
            first, last = self.spans[computation]
            # A parameter's buffer is taken from the beginning, a result's to the end.
            start = first if instruction.opcode == "parameter" else instant
            end = last if instruction.is_root else instant
            if (starter := self.beside.get(computation)) is not None:
                start, end = self._beside(computation, starter, start, end)
            for index, values in self.table.trees[instruction].walk():
                for value in values:
                    if value.instruction is instruction and value.index == index:
                        found[value] = [start, end]
        self._extend(found)
        aliased = {(alias.parameter, alias.parameter_index) for alias in self.program.input_output_aliases}
        entry = self.program.entry
        for number, parameter in entry.parameters.items():
            for index, values in self.table.trees[parameter].walk():
                if (number, index) not in aliased:
                    for value in values:
                        # Nobody may write into it, so that it stays to the end.
                        found[value][1] = len(self.instants)
        return found

    def _beside(self, computation: Computation, starter: Instruction, start: int, end: int) -> tuple[int, int]:
        """What runs beside the schedule keeps its buffers until it is waited for."""
        done = next(
            (
                user
                for user in starter.computation.instructions
                if user.opcode.endswith("-done") and starter in user.operands
            ),
            None,
        )
        if self.starts_open_buffers:
            start = max(start, self.at.get(starter, start))
        return start, max(end, self.at.get(done, self.spans[computation][1]) if done else self.spans[computation][1])

    def _extend(self, found: dict[Value, list[int]]) -> None:
        for instruction, index, value in self.table.positions():
            if value.instruction is instruction and value.index == index:
                continue
            instant = self.spans[instruction.computation][1] if instruction.is_root else self.at[instruction]
            bounds = found[value]
            if instant > bounds[1]:
                bounds[1] = instant
        for user, _, _, value in self.table.uses():
            if user.opcode == "call" and any(called in self.spans for called in self.program.called(user)):
                continue  # The uses inside the computation that it calls tell.
            if user.opcode == "while":
                # The value that goes in gives its buffer over as soon as the body runs.
                body = self.program.loop_of(user)[1]
                user = body.parameters[0] if body in self.spans else user
            instant = self.at[user]
            bounds = found[value]
            if instant > bounds[1]:
                bounds[1] = instant


def _give_way(ranges: dict[Value, list[int]], table: ValueTable) -> tuple[tuple[Value, ...], ...]:
    """Of values in one buffer, each ends where the next begins; the values of each such buffer in that order."""
    shared = []
    for values in buffers_of(table).values():
        members = sorted(
            (value for value in values if value in ranges),
            key=lambda value: (*ranges[value], value.joined is not None, value.number),
        )
        for value, following in pairwise(members):
            mine, its = ranges[value], ranges[following]
            its[1] = max(mine[1], its[1])
            mine[1] = min(mine[1], its[0])
        shared.append(tuple(members))
    return tuple(shared)


def compilers_peak(ranges: tuple[LiveRange, ...]) -> int:
    """The instant that XLA's report calls the peak.

    It takes what ends at one instant for still there at the next, and counts each part of a tuple with the size of the
    tuple's table of pointers, so that it may miss the highest point of the curve.
    """
    changes: dict[int, list[int]] = {}
    for each in ranges:
        shape = each.value.instruction.shape
        size = shape.size_bytes or 0
        changes.setdefault(each.start, [0, 0])[0] += size
        changes.setdefault(each.end + 1, [0, 0])[1] += size
    peak_instant, peak, alive = 0, 0, 0
    for instant in sorted(changes):
        starting, ending = changes[instant]
        alive += starting
        if alive > peak:
            peak_instant, peak = instant, alive
        alive -= ending
    return peak_instant
