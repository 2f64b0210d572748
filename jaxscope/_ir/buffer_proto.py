"""XLA's buffer assignment as an executable hands it over, without a dump: ``serialized_buffer_assignment_proto``.

Problem: on CPU the assignment comes with the executable, as bytes of a protocol buffer whose class is in no package.
Input: the bytes, and for names the bytes of the module, whose instructions the assignment only numbers. Output: the
`Allocation` records. Only the wire format is read, by the field numbers of XLA's published definition:
https://github.com/openxla/xla/blob/main/xla/service/hlo.proto
"""

from collections.abc import Collection, Iterator
from typing import Any

from jaxscope._ir.allocations import Allocation, AssignedValue, kind_of

# BufferAssignmentProto
_LOGICAL_BUFFERS, _BUFFER_ALLOCATIONS = 1, 3
# LogicalBufferProto, and its Location
_ID, _DEFINED_AT = 1, 3
_SHAPE_INDEX, _INSTRUCTION_ID = 3, 4
# BufferAllocationProto, and its Assigned
_INDEX, _SIZE, _THREAD_LOCAL, _PARAMETER, _PARAMETER_NUMBER, _LIVE_OUT, _COLOR, _ASSIGNED = 1, 2, 3, 5, 6, 7, 8, 9
_PARAMETER_SHAPE_INDEX, _CONSTANT = 10, 12
_LOGICAL_BUFFER_ID, _OFFSET, _ASSIGNED_SIZE = 1, 2, 3
# HloModuleProto, HloComputationProto, HloInstructionProto
_COMPUTATIONS, _COMPUTATION_NAME, _INSTRUCTIONS = 3, 1, 2
_INSTRUCTION_NAME, _ID_OF_INSTRUCTION = 1, 35

# Instruction's number, place in its result.
Place = tuple[int, tuple[int, ...]]


def read_buffer_proto(data: bytes, names: dict[int, str] | None = None) -> tuple[Allocation, ...]:
    """Reads an assignment.

    Args:
        data: The bytes.
        names: The names of the module's instructions by number, as of `read_instruction_names`.

    Raises:
        ValueError: The bytes are no protocol buffer.
    """
    places: dict[int, Place] = {}
    allocations = []
    for number, value in _fields(data):
        if number == _LOGICAL_BUFFERS:
            buffer = _message(value)
            location = _message(buffer.get(_DEFINED_AT, [b""])[-1])
            places[_one(buffer, _ID)] = (_one(location, _INSTRUCTION_ID), _numbers(location, _SHAPE_INDEX))
        elif number == _BUFFER_ALLOCATIONS:
            allocations.append(_message(value))
    return tuple(_allocation(fields, places, names or {}) for fields in allocations)


def read_instruction_names(module: bytes, computations: Collection[str]) -> dict[int, str]:
    """The names of the instructions of some computations of a module, by number.

    Args:
        module: A serialized HloModuleProto.
        computations: The names of the computations; the rest, mostly fusions, is not looked into.

    Raises:
        ValueError: The bytes are no protocol buffer.
    """
    wanted = set(computations)
    names: dict[int, str] = {}
    for number, value in _fields(module):
        if number != _COMPUTATIONS:
            continue
        for part, content in _fields(value):
            if part == _COMPUTATION_NAME and _text(content) not in wanted:
                break
            if part == _INSTRUCTIONS:
                name, instruction = b"", 0
                for field, found in _fields(content):
                    if field == _INSTRUCTION_NAME:
                        name = found
                    elif field == _ID_OF_INSTRUCTION:
                        instruction = found
                        break  # Fields stand in the order of their numbers; what follows is long.
                names[instruction] = _text(name)
    return names


def _allocation(fields: dict[int, list[Any]], places: dict[int, Place], names: dict[int, str]) -> Allocation:
    is_parameter = bool(_one(fields, _PARAMETER))
    is_live_out = bool(_one(fields, _LIVE_OUT))
    values = []
    for content in fields.get(_ASSIGNED, ()):
        assigned = _message(content)
        number = _one(assigned, _LOGICAL_BUFFER_ID)
        instruction, index = places.get(number, (-1, ()))
        name = names.get(instruction, "")
        values.append(
            AssignedValue(
                number,
                f"{name}{{{','.join(map(str, index))}}}" if name else "",
                _one(assigned, _OFFSET),
                _one(assigned, _ASSIGNED_SIZE),
            )
        )
    return Allocation(
        _one(fields, _INDEX),
        _one(fields, _SIZE),
        kind_of(
            is_parameter=is_parameter,
            is_live_out=is_live_out,
            is_constant=bool(_one(fields, _CONSTANT)),
            is_thread_local=bool(_one(fields, _THREAD_LOCAL)),
        ),
        _one(fields, _COLOR),
        _one(fields, _PARAMETER_NUMBER) if is_parameter else None,
        _numbers(fields, _PARAMETER_SHAPE_INDEX),
        is_live_out,
        tuple(values),
    )


# The wire format: https://protobuf.dev/programming-guides/encoding/


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Number and content of every field: an integer for numbers, bytes for everything else."""
    at, end = 0, len(data)
    while at < end:
        # Nearly all numbers have one byte: those are read here, which halves the time.
        key, at = (data[at], at + 1) if data[at] < 128 else _varint(data, at)
        kind = key & 7
        if kind == 0:
            content, at = (data[at], at + 1) if at < end and data[at] < 128 else _varint(data, at)
        else:
            if kind == 2:
                length, at = (data[at], at + 1) if at < end and data[at] < 128 else _varint(data, at)
            elif kind in (1, 5):
                length = 8 if kind == 1 else 4
            else:
                raise ValueError(
                    f"Reading a buffer assignment: a field of wire type {kind} stands at byte {at}, which no message "
                    "of XLA's has. Pass the bytes of serialized_buffer_assignment_proto as they are."
                )
            content = data[at : at + length]
            at += length
            if at > end:
                raise ValueError(
                    f"Reading a buffer assignment: it ends at byte {end} in the middle of a field. Pass all bytes of "
                    "serialized_buffer_assignment_proto."
                )
        yield key >> 3, content


def _varint(data: bytes, at: int) -> tuple[int, int]:
    result = shift = 0
    while at < len(data):
        byte = data[at]
        at += 1
        result |= (byte & 127) << shift
        if byte < 128:
            return result, at
        shift += 7
    raise ValueError(
        f"Reading a buffer assignment: it ends at byte {at} in the middle of a number. Pass all bytes of "
        "serialized_buffer_assignment_proto."
    )


def _message(data: Any) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = {}
    for number, content in _fields(data if isinstance(data, bytes) else b""):
        if number in found:
            found[number].append(content)
        else:
            found[number] = [content]
    return found


def _one(fields: dict[int, list[Any]], number: int) -> int:
    """A number; 0, which is not written, where there is none."""
    content = fields.get(number, (0,))[-1]
    return content if isinstance(content, int) else 0


def _numbers(fields: dict[int, list[Any]], number: int) -> tuple[int, ...]:
    """A list of numbers, packed or not."""
    found: list[int] = []
    for content in fields.get(number, ()):
        if isinstance(content, int):
            found.append(content)
            continue
        at = 0
        while at < len(content):
            value, at = _varint(content, at)
            found.append(value)
    return tuple(found)


def _text(data: Any) -> str:
    return data.decode("utf-8", "replace") if isinstance(data, bytes) else ""
