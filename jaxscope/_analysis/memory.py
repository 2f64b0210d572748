"""XLA's own account of the memory a compiled program needs.

Problem: the account is an object whose fields differ between versions, where 0 means "none" or "not reported" depending
on the platform, whose peak is none on CPU, and which can wrap below zero. Input: the compiled stage or None. Output: a
`MemoryTable` of bytes in a fixed order, each known or `Unavailable`, with the formula of the one sum that is ours.

Asking takes XLA 70 to 80 ms for a transformer of 12 layers, and seconds for 48, all of it inside `memory_analysis`: it
is asked once.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jaxscope import _jax_types
from jaxscope._analysis.unavailable import Unavailable

if TYPE_CHECKING:
    import pandas

TOTAL = "total"
TOTAL_FORMULA = "argument + output + temporary − alias"

# Row key, XLA's own attribute, whether it is for the host's memory.
_FIELDS = (
    ("argument", "argument_size_in_bytes", False),
    ("output", "output_size_in_bytes", False),
    ("temporary", "temp_size_in_bytes", False),
    ("alias", "alias_size_in_bytes", False),
    ("generated code", "generated_code_size_in_bytes", False),
    ("peak", "peak_memory_in_bytes", False),
    ("unpadded peak", "peak_unpadded_heap_bytes", False),
    ("all allocations", "total_allocation_bytes", False),
    ("indefinite allocations", "indefinite_allocations", False),
    ("host argument", "host_argument_size_in_bytes", True),
    ("host output", "host_output_size_in_bytes", True),
    ("host temporary", "host_temp_size_in_bytes", True),
    ("host alias", "host_alias_size_in_bytes", True),
    ("host generated code", "host_generated_code_size_in_bytes", True),
)
ROW_KEYS = (*(key for key, _, _ in _FIELDS[:5]), TOTAL, *(key for key, _, _ in _FIELDS[5:]))

_PEAK_ON_CPU = "On CPU XLA's peak leaves out the temporaries; the total counts them."


@dataclass(frozen=True, slots=True)
class MemoryRow:
    """One figure in bytes.

    Attributes:
        key: What it is for.
        size_bytes: XLA's figure, for one device.
        source: XLA's name for it, or the formula.
        is_host: Whether it is about the host's memory.
        note: What has to be known to read it, "" for nothing.
    """

    key: str
    size_bytes: int | Unavailable
    source: str
    is_host: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class MemoryTable:
    """XLA's memory figures in a fixed order.

    Attributes:
        rows: The figures.
        notes: What has to be known to read them.
        buffer_assignment: The serialized BufferAssignmentProto; on JAX 0.8 to 0.12 only CPU executables have one.
    """

    rows: tuple[MemoryRow, ...]
    notes: tuple[str, ...]
    buffer_assignment: bytes = field(default=b"", repr=False)


FOR_ONE_DEVICE = "The figures are for one device."


def memory_of(compiled: Any) -> MemoryTable:
    """XLA's memory figures.

    Args:
        compiled: A `jax.stages.Compiled`, or None when that stage failed or was not reached.
    """
    analysis = _read(compiled)
    platform = _jax_types.platform_of(compiled)
    sizes = {key: _size(analysis, key, attribute, platform) for key, attribute, _ in _FIELDS}
    rows = [
        MemoryRow(key, sizes[key], attribute, is_host, _PEAK_ON_CPU if key == "peak" and platform == "cpu" else "")
        for key, attribute, is_host in _FIELDS
    ]
    rows.insert(ROW_KEYS.index(TOTAL), MemoryRow(TOTAL, _total(sizes), TOTAL_FORMULA))
    notes = [] if isinstance(analysis, Unavailable) else [FOR_ONE_DEVICE]
    if platform == "tpu" and sizes["temporary"] == 0:
        notes.append("On TPU XLA reports no temporaries even where it allocates them.")
    data = getattr(analysis, "serialized_buffer_assignment_proto", b"")
    return MemoryTable(tuple(rows), tuple(notes), data if isinstance(data, bytes) else b"")


MEMORY_COLUMNS = ("memory", "size_bytes", "source", "host", "note", "missing")


def memory_frame(table: MemoryTable) -> "pandas.DataFrame":
    """The figures as a pandas DataFrame; missing ones are NA and their reasons are in the column ``missing``."""
    import pandas

    rows = [
        {
            "memory": row.key,
            "size_bytes": None if isinstance(row.size_bytes, Unavailable) else row.size_bytes,
            "source": row.source,
            "host": row.is_host,
            "note": row.note,
            "missing": row.size_bytes.reason if isinstance(row.size_bytes, Unavailable) else "",
        }
        for row in table.rows
    ]
    frame = pandas.DataFrame(rows, columns=list(MEMORY_COLUMNS))
    return frame.astype({"size_bytes": "Int64", "host": "bool"})


def _read(compiled: Any) -> Any:
    if compiled is None:
        return Unavailable("The program was not compiled.")
    try:
        analysis = compiled.memory_analysis()
    except Exception as error:
        # XlaRuntimeError, NotImplementedError and what plugins raise have no common root.
        text = str(error).strip().split("\n")[0]
        return Unavailable(f"XLA refused to account for memory: {type(error).__name__}: {text[:200]}")
    if isinstance(analysis, list | tuple):
        analysis = analysis[0] if analysis else None
    return Unavailable("XLA gives no memory figures for this platform.") if analysis is None else analysis


def _size(analysis: Any, key: str, attribute: str, platform: str) -> int | Unavailable:
    if isinstance(analysis, Unavailable):
        return analysis
    value = getattr(analysis, attribute, None)
    if value is None:
        return Unavailable(f"This version of XLA has no {attribute}.")
    size = int(value)
    if size < 0:
        return Unavailable(f"XLA reports {size}: the figure does not fit its type.")
    if size == 0 and key == "generated code" and platform == "cpu":
        return Unavailable("XLA reports 0 for every program on CPU: it is not reported.")
    return size


def _total(sizes: dict[str, int | Unavailable]) -> int | Unavailable:
    parts = [sizes[key] for key in ("argument", "output", "temporary", "alias")]
    missing = next((part for part in parts if isinstance(part, Unavailable)), None)
    if missing is not None:
        return missing
    argument, output, temporary, alias = parts
    return argument + output + temporary - alias
