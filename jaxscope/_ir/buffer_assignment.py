"""XLA's report of its buffer assignment, the file ``*-buffer-assignment.txt`` of a dump.

Problem: where every value lies, and what all of it takes, is in a report for people. Input: its text, from any backend.
Output: the `Allocation` records in order. Lines of another form are left out: newer versions add fields, JAX 0.8 adds
the uses of every value and the live ranges.
"""

import re

from jaxscope._ir.allocations import Allocation, AssignedValue, kind_of
from jaxscope._ir.hlo_program import read_index

# allocation 3: size 512, color 6, page 0, parameter 6, shape |f32[768,3072]| at ShapeIndex {1}, maybe-live-out:
_ALLOCATION = re.compile(r"allocation (\d+): size (\d+)((?:, .*)?):$")
_COLOR = re.compile(r", color (\d+)")
# , parameter 6, shape |f32[768,3072]| at ShapeIndex {1}
_PARAMETER = re.compile(r", parameter (\d+), shape \|[^|]*\| at ShapeIndex \{([\d, ]*)\}")
# , output shape is |(f32[4], s32[])|
_SHAPE = re.compile(r"\|[^|]*\|")
#  value: <41 tuple.3{0} (phi) @0> (size=8,offset=256): (f32[4]{0})
_VALUE = re.compile(r" value: <(\d+) (\S+?)(\{[\d,]*\})?( \(phi\))?(?: @\d+)?> \(size=(\d+),offset=(\d+)\): (.*)$")


def read_buffer_assignment(text: str) -> tuple[Allocation, ...]:
    """Reads a report; text that is none gives ()."""
    found: list[Allocation] = []
    head: re.Match[str] | None = None
    values: list[AssignedValue] = []

    def finish() -> None:
        if head is not None:
            found.append(_allocation(head, tuple(values)))
            values.clear()

    for line in text.split("\n"):
        if line.startswith(" value: <"):
            if (value := _VALUE.match(line)) is not None:
                values.append(
                    AssignedValue(
                        int(value[1]),
                        value[2] + (value[3] or "{}"),
                        int(value[6]),
                        int(value[5]),
                        value[7],
                        bool(value[4]),
                    )
                )
        elif (match := _ALLOCATION.match(line)) is not None:
            finish()
            head = match
        elif not line.strip() and head is not None:
            break
    finish()
    return tuple(found)


def _allocation(head: re.Match[str], values: tuple[AssignedValue, ...]) -> Allocation:
    parameter = _PARAMETER.search(head[3])
    # What stands between bars is a shape, and holds none of the words below.
    words = {word.strip() for word in _SHAPE.sub("", head[3]).split(",")}
    color = _COLOR.search(head[3])
    is_live_out = "maybe-live-out" in words
    return Allocation(
        int(head[1]),
        int(head[2]),
        kind_of(
            is_parameter=parameter is not None,
            is_live_out=is_live_out,
            is_constant="constant" in words,
            is_thread_local="thread-local" in words,
        ),
        int(color[1]) if color else 0,
        int(parameter[1]) if parameter else None,
        read_index(parameter[2]) if parameter else (),
        is_live_out,
        values,
    )
