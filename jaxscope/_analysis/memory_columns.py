"""What every column of the tables of buffers means, once; `jaxscope._analysis.columns` has those of the other tables.

Input: nothing. Output: entries for buffers, those alive at an instant, allocations and donations.
"""

from collections.abc import Mapping
from types import MappingProxyType

from jaxscope._analysis.entry import INSTRUCTION_PLACE, Entry

_LIVE = "jaxscope's live ranges of the compiled HLO; after one more compilation, the compiler's own report."
_ASSIGNED = "The compiler's buffer assignment: on CPU it comes with the executable, else from one more compilation."
_NO_ASSIGNMENT = "Where the buffer assignment was not read, and for values that get no memory."

_BUFFER = (
    Entry(
        "buffer",
        "Buffer",
        "A value that takes memory: the instruction that makes it, and in braces which part of its result.",
        _LIVE,
        "Never.",
    ),
    Entry(
        "opcode",
        "Opcode",
        "What makes it.",
        "The compiled HLO.",
        "For instructions that the text leaves out.",
    ),
    Entry(
        "role",
        "Role",
        "argument, output (it lies in the program's result), constant, or temporary.",
        "The compiled HLO.",
        "Never.",
    ),
    Entry(
        "type",
        "Type",
        "The type with its layout: tiles behind T, the memory behind S.",
        "The compiled HLO.",
        "Empty for values of instructions that no text shows.",
    ),
    Entry(
        "size_bytes",
        "Bytes",
        "What it takes on one device without padding; 8 bytes for each part of a tuple's table of pointers.",
        "The type, counted as XLA's live-range report does.",
        "Never.",
        "right",
    ),
)
_RANGE = (
    Entry(
        "start",
        "From",
        "The first instant of the schedule at which its buffer is taken.",
        _LIVE,
        "Never.",
        "right",
    ),
    Entry(
        "end",
        "To",
        "The last instant at which it is taken, included; one past the last instruction is the end of the program.",
        _LIVE,
        "Never.",
        "right",
    ),
    Entry(
        "memory_space",
        "Memory",
        "XLA's number of the memory that it lies in: 0 is the device's main memory, 1 a TPU's VMEM, 5 the host's.",
        "The layout in its type, or the colour in the buffer assignment.",
        "Never.",
        "right",
    ),
)
_PLACE = (
    Entry("allocation", "Allocation", "The number of the allocation it lies in.", _ASSIGNED, _NO_ASSIGNMENT, "right"),
    Entry("offset", "Offset", "Where in the allocation it begins, in bytes.", _ASSIGNED, _NO_ASSIGNMENT, "right"),
    Entry("allocated_bytes", "Allocated", "What it takes there, with padding.", _ASSIGNED, _NO_ASSIGNMENT, "right"),
    Entry(
        "line",
        "HLO line",
        "The line of the compiled text, from 1.",
        "The listing.",
        "For instructions that no text shows.",
        "right",
    ),
    *INSTRUCTION_PLACE,
    Entry(
        "missing",
        "Missing",
        "Why values of this row are missing.",
        "jaxscope, or the compiler's own words.",
        "Empty when nothing is missing.",
    ),
)

_ALLOCATIONS = (
    Entry("allocation", "Allocation", "The compiler's number of it.", _ASSIGNED, "Never.", "right"),
    Entry(
        "kind",
        "Kind",
        "parameter, output, constant, temporary, or thread-local (inside kernels, not in the device's memory).",
        _ASSIGNED,
        "Never.",
    ),
    Entry("size_bytes", "Bytes", "Its size, padding and gaps included.", _ASSIGNED, "Never.", "right"),
    Entry("memory_space", "Memory", "XLA's number of the memory it lies in; 0 is main memory.", _ASSIGNED, "Never."),
    Entry("parameter", "Parameter", "The number of the argument.", _ASSIGNED, "For other kinds.", "right"),
    Entry(
        "live_out",
        "Lives out",
        "Whether a result may lie in it; for a parameter, whether a result takes its buffer.",
        _ASSIGNED,
        "Never.",
    ),
    Entry("values", "Values", "How many values lie in it at one time or another.", _ASSIGNED, "Never.", "right"),
)

_DONATIONS = (
    Entry(
        "path",
        "Argument",
        "Where the array sits in the arguments, as params['w'].",
        "JAX's debug information.",
        "Never.",
    ),
    Entry("type", "Type", "Element type and shape in JAX's short form.", "The aval.", "Never."),
    Entry(
        "size_bytes",
        "Bytes",
        "Shape times element size over all devices, without padding.",
        "Computed from the type.",
        "For shapes with symbolic dimensions.",
        "right",
    ),
    Entry(
        "worked",
        "Worked",
        "Whether a result takes its buffer.",
        "input_output_alias of the compiled program.",
        "Before compilation, unless JAX has already let the donation go.",
    ),
    Entry(
        "output",
        "Result",
        "The result that takes its buffer.",
        "input_output_alias of the compiled program.",
        "When none does; the reason is in the column missing.",
    ),
    Entry(
        "missing",
        "Missing",
        "Why no result takes its buffer, or why other values are missing.",
        "jaxscope, from JAX's rules of donation and the compiled program.",
        "Empty when nothing is missing.",
    ),
)

_PEAK = (
    Entry("step", "Step", "The bytes alive at the peak, what has to be added, the bytes set aside.", _LIVE, "Never."),
    Entry("size_bytes", "Bytes", "What the step adds, or the sum.", _ASSIGNED, "Never.", "right"),
    Entry("note", "Note", "What the step is.", "jaxscope.", "Never."),
)
_AGREEMENT = (
    Entry("kind", "Memory", "What the bytes are for.", "XLA's names.", "Never."),
    Entry("allocated_bytes", "Allocations", "The sum over the allocations of that kind.", _ASSIGNED, "Never.", "right"),
    Entry(
        "reported_bytes",
        "XLA's figure",
        "The figure of memory_analysis().",
        "XLA.",
        "When the platform or version does not report it.",
        "right",
    ),
    Entry("note", "Note", "Why both differ.", "jaxscope.", "Empty where they are the same to the byte."),
)

MEMORY_TABLES: Mapping[str, tuple[Entry, ...]] = MappingProxyType(
    {
        "buffers": (*_BUFFER, *_RANGE, *_PLACE),
        "alive": (
            *_BUFFER,
            Entry(
                "running_bytes",
                "Together",
                "Bytes of this and all larger buffers.",
                "The sum of the column of bytes down to this row.",
                "Never.",
                "right",
            ),
            *_RANGE,
            *_PLACE,
        ),
        "allocations": _ALLOCATIONS,
        "donations": _DONATIONS,
        "peak": _PEAK,
        "agreement": _AGREEMENT,
    }
)
