"""XLA's report of live ranges, the file ``*-live-range.txt`` of a dump.

Problem: the compiler's own account of who is alive when is in a report for people. Input: its text; JAX 0.8 writes it
at the end of the buffer assignment's report. Output: a `LiveRangeReport`.
"""

import re
from dataclasses import dataclass

# HloLiveRange (max 1353):
_HEAD = re.compile(r"^HloLiveRange \(max (\d+)\):$", re.MULTILINE)
#     12:copy.9
_INSTANT = re.compile(r"    (\d+):(\S+)$")
#     iota_reduce_fusion{1}:21-24
_RANGE = re.compile(r"    (\S+\{[\d,]*\}):(\d+)-(\d+)$")
#   Live ranges at 22 (peak):
_PEAK = re.compile(r"  Live ranges at (\d+) \(peak\):$")
#     tuple.8{}: 8 bytes (cumulative: 56 bytes)
_ALIVE = re.compile(r"    (\S+\{[\d,]*\}): (\d+) bytes \(cumulative: \d+ bytes\)$")


@dataclass(frozen=True, slots=True)
class ReportedRange:
    """A value, by instruction and place in its result, and its first and last instant, both included."""

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class LiveRangeReport:
    """What the compiler says of live ranges.

    Attributes:
        instants: The name of the instruction of each instant of the schedule.
        ranges: The values, in the compiler's order.
        peak_instant: The instant that it calls the peak; None where it could not tell.
        alive: The values alive then and their bytes without padding, the largest first.
    """

    instants: tuple[str, ...]
    ranges: tuple[ReportedRange, ...]
    peak_instant: int | None
    alive: tuple[tuple[str, int], ...]

    @property
    def peak_bytes(self) -> int:
        """The bytes alive at the peak."""
        return sum(size for _, size in self.alive)


def read_live_range(text: str) -> LiveRangeReport | None:
    """Reads a report, or the part of a text that is one; None where there is none."""
    head = _HEAD.search(text)
    if head is None:
        return None
    instants: list[str] = []
    ranges: list[ReportedRange] = []
    alive: list[tuple[str, int]] = []
    peak: int | None = None
    for line in text[head.end() :].split("\n"):
        if line.startswith("  ") and not line.startswith("   "):
            if (found := _PEAK.match(line)) is not None:
                peak = int(found[1])
            elif peak is not None:
                break
        elif peak is not None:
            if (found := _ALIVE.match(line)) is not None:
                alive.append((found[1], int(found[2])))
        elif (found := _RANGE.match(line)) is not None:
            ranges.append(ReportedRange(found[1], int(found[2]), int(found[3])))
        elif (found := _INSTANT.match(line)) is not None:
            instants.append(found[2])
    return LiveRangeReport(tuple(instants), tuple(ranges), peak, tuple(alive))
