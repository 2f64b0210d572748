"""What the compile worker and its parent say to each other.

Problem: two processes of one user exchange small facts and large byte strings, and neither may run what the other
sends. Input: a stream socket. Output: `Message`: JSON and byte strings, each with its length before it; nothing is
unpickled.
"""

import base64
import json
import socket
import struct
import time
from dataclasses import dataclass, field
from typing import Any

_LENGTH = struct.Struct(">Q")
_BYTES_KEY = "bytes in base64"
# A length beyond this is no message of ours but a stream that was cut or mixed up.
_MAXIMUM_BYTES = 1 << 40


@dataclass(frozen=True)
class Message:
    """One message.

    Attributes:
        header: What JSON can hold, and short byte strings.
        blobs: Long byte strings.
    """

    header: dict[str, Any]
    blobs: tuple[bytes, ...] = field(default=(), repr=False)


def send(channel: socket.socket, message: Message, deadline: float | None = None) -> int:
    """Writes a message and returns its size in bytes.

    Args:
        channel: Where to.
        message: What.
        deadline: When to give up, by `time.monotonic`; None for never.

    Raises:
        TimeoutError: The deadline passed.
        OSError: The other side is gone.
    """
    header = json.dumps({"header": message.header, "sizes": [len(blob) for blob in message.blobs]}, default=_packed)
    parts = [_LENGTH.pack(len(header)), header.encode("ascii"), *message.blobs]
    for part in parts:
        channel.settimeout(_remaining_s(deadline))
        channel.sendall(part)
    return sum(map(len, parts))


def receive(channel: socket.socket, deadline: float | None = None) -> Message | None:
    """Reads a message; None when the other side closed the channel between two messages.

    Raises:
        TimeoutError: The deadline passed.
        OSError: The other side is gone, or what it sends is no message.
    """
    length = _read(channel, _LENGTH.size, deadline, may_end=True)
    if not length:
        return None
    envelope = json.loads(_read(channel, *_LENGTH.unpack(length), deadline), object_hook=_unpacked)
    return Message(envelope["header"], tuple(_read(channel, size, deadline) for size in envelope["sizes"]))


def _read(channel: socket.socket, size_bytes: int, deadline: float | None, may_end: bool = False) -> bytes:
    if size_bytes > _MAXIMUM_BYTES:
        raise OSError(f"Reading a message of the compile worker: a length of {size_bytes} bytes. Start it again.")
    buffer = bytearray(size_bytes)
    view, read = memoryview(buffer), 0
    while read < size_bytes:
        channel.settimeout(_remaining_s(deadline))
        count = channel.recv_into(view[read:])
        if not count:
            if may_end and not read:
                return b""
            raise EOFError(f"Reading a message of the compile worker: {read} of {size_bytes} bytes came. Try again.")
        read += count
    return bytes(buffer)


def _remaining_s(deadline: float | None) -> float | None:
    if deadline is None:
        return None
    # 0 would mean "do not wait", which fails in another way than waiting too long.
    return max(deadline - time.monotonic(), 0.001)


def _packed(value: Any) -> Any:
    if isinstance(value, bytes):
        return {_BYTES_KEY: base64.b64encode(value).decode("ascii")}
    raise TypeError(f"Writing a message of the compile worker: {type(value).__name__} is not JSON. Send plain values.")


def _unpacked(value: dict[str, Any]) -> Any:
    return base64.b64decode(value[_BYTES_KEY]) if value.keys() == {_BYTES_KEY} else value
