"""What every column of the tables of cost means, once; `jaxscope._analysis.columns` has those of the other tables.

Input: nothing. Output: entries for the groups of cost, the roofline and the reconciliation.
"""

from collections.abc import Mapping
from types import MappingProxyType

from jaxscope._analysis.entry import Entry
from jaxscope._analysis.roll_up_frame import GROUP_COLUMNS

_COUNTED = "jaxscope's rules, applied to each op and multiplied by the trip counts of the loops around it."

_KEYS = (
    Entry(
        "file",
        "File",
        "The Python file.",
        "The debug location of the ops, from the inspected function inwards.",
        "For what the compiler made without naming a place.",
    ),
    Entry(
        "python_line",
        "Python line",
        "The innermost line of Python that the ops name.",
        "The debug location of the ops.",
        "For what the compiler made without naming a place.",
        "right",
    ),
    Entry(
        "function",
        "Function",
        "A Python function on the call stack of the ops.",
        "The debug location of the ops; in StableHLO, also those of the loop or call that they are in.",
        "Never; what names no place stands under the words made by the compiler.",
    ),
    Entry(
        "scope",
        "Scope",
        "A name scope around the ops: the transformations, named scopes and modules they were traced in.",
        "The ops' name paths; of several joined by ; the first.",
        "Never; ops without a name path stand under no scope.",
    ),
    Entry("op", "Op", "The operation or instruction.", "Its name in the listing.", "Never."),
    Entry(
        "kernel",
        "Kernel",
        "An instruction of the compiled program that runs as a whole: a fusion, a library call, a plain instruction.",
        "The compiled HLO.",
        "Never.",
    ),
    Entry("line", "Line", "The line in the listing, from 1.", "The listing.", "Never.", "right"),
)

_FIGURES = (
    Entry(
        "own_flops",
        "Own FLOPs",
        "FLOPs of its own ops, without what it calls or encloses.",
        _COUNTED,
        "Never.",
        "right",
    ),
    Entry(
        "flops",
        "FLOPs",
        "Floating-point operations, a multiply and an add being two; what it calls or encloses is included.",
        _COUNTED,
        "Never; opaque calls are in the column missing, and loops of unknown length count once.",
        "right",
    ),
    Entry(
        "share",
        "Share",
        "Its part of the program's FLOPs, from 0 to 1.",
        "The column flops over the program's total.",
        "When the program has no FLOPs.",
        "right",
    ),
    Entry(
        "transcendentals",
        "Transcendentals",
        "Elements through exp, log, tanh, sqrt and their like, which are not among the FLOPs.",
        _COUNTED,
        "Never.",
        "right",
    ),
    Entry(
        "integer_ops",
        "Integer ops",
        "Operations on integers and truth values, which are not among the FLOPs.",
        _COUNTED,
        "Never.",
        "right",
    ),
    Entry(
        "padding_flops",
        "Over padding",
        "Further FLOPs of convolution windows over padding, which nobody computes and papers about networks count.",
        "jaxscope's rule for convolutions.",
        "Never.",
        "right",
    ),
    Entry(
        "moved_bytes",
        "Bytes moved",
        "What its own kernels read and write in main memory, all runs; values inside a fusion move nothing.",
        "Types of the kernels' operands and results; of a slice only the slice.",
        "For StableHLO, which has no kernels.",
        "right",
    ),
    Entry(
        "runs",
        "Runs",
        "How often it runs in one run of the program; of several ops, the dearest.",
        "Trip counts and calls.",
        "Never; loops of unknown length count once.",
        "right",
    ),
    Entry("ops", "Ops", "How many ops of the listing it counts.", "The listing.", "Never.", "right"),
    Entry(
        "rule",
        "Rule",
        "What is counted for such an op.",
        "jaxscope's rules, each from the definition of the op in the StableHLO specification or HLO's semantics.",
        "Empty for ops that only move data.",
    ),
    Entry(
        "unknown_loops",
        "Unknown loops",
        "The FLOPs as a sum with a symbol for each loop whose trip count is not known, as 100 + 7·n1.",
        "Trip counts, where they can be read.",
        "Empty where all are known.",
    ),
    Entry(
        "missing",
        "Missing",
        "What is not in the figures, and why: opaque calls by name.",
        "jaxscope.",
        "Empty when nothing is missing.",
    ),
)

_BY_KEY = {entry.key: entry for entry in (*_KEYS, *_FIGURES)}

_ROOFLINE = (
    _BY_KEY["kernel"],
    _BY_KEY["line"],
    _BY_KEY["file"],
    _BY_KEY["python_line"],
    Entry(
        "dtype",
        "Type",
        "The element type that its dearest op computes in.",
        "The compiled HLO, in XLA's names.",
        "Empty where nothing is computed.",
    ),
    Entry(
        "flops",
        "FLOPs",
        "Floating-point operations of all its runs; of 8-bit and 4-bit integers, operations on these.",
        _COUNTED,
        "When it is an opaque call.",
        "right",
    ),
    _BY_KEY["moved_bytes"],
    Entry(
        "intensity",
        "FLOP/B",
        "FLOPs for each byte moved.",
        "The two columns before it.",
        "When one of the two is missing.",
        "right",
    ),
    Entry(
        "seconds",
        "At least",
        "Seconds that all its runs cannot beat on this target.",
        "The larger of FLOPs over the published peak for the type and bytes over the published memory bandwidth.",
        "When a figure of the kernel or of the device is not known.",
        "right",
    ),
    Entry(
        "share",
        "Share",
        "Its part of the sum of these times, from 0 to 1.",
        "The column before it.",
        "As before.",
        "right",
    ),
    Entry(
        "bound",
        "Bound by",
        "compute or memory: which of the two times is the larger.",
        "The comparison of both.",
        "As before.",
    ),
    _BY_KEY["missing"],
)

_RECONCILIATION = (
    Entry("figure", "Figure", "Which figure is explained: flops, transcendentals or bytes accessed.", "XLA.", "Never."),
    Entry(
        "cause",
        "Cause",
        "jaxscope's figure, then each cause of a difference, then XLA's figure.",
        "The conventions of both, applied to each instruction.",
        "Never.",
    ),
    Entry(
        "amount",
        "Amount",
        "The figure, or what the cause adds to or takes from jaxscope's.",
        "Both conventions.",
        "When XLA gives no figure.",
        "right",
    ),
    Entry("ops", "Ops", "How many instructions the cause is about.", "The compiled HLO.", "Never.", "right"),
    Entry(
        "where",
        "Where",
        "The instructions it is about, the first few.",
        "The compiled HLO.",
        "Empty for the totals.",
    ),
)

_LOOPS = (
    Entry("control", "Control", "The loop or conditional.", "Its name in the listing.", "Never."),
    Entry("kind", "Kind", "loop or branches.", "The listing.", "Never."),
    Entry(
        "times",
        "Times",
        "How often the loop's body runs each time, or how many branches there are.",
        "For loops the column beside it says where the count was read.",
        "For loops whose count depends on data; the column symbol then names it.",
        "right",
    ),
    Entry(
        "symbol", "Symbol", "What stands for the count where it is not known, as n1.", "jaxscope.", "Where it is known."
    ),
    Entry(
        "note",
        "Note",
        "Where a count was read or why it is not known; what each branch would cost.",
        "The listing.",
        "Never.",
    ),
    _BY_KEY["line"],
    _BY_KEY["file"],
    _BY_KEY["python_line"],
)

COST_TABLES: Mapping[str, tuple[Entry, ...]] = MappingProxyType(
    {
        **{
            f"cost by {grouping}": tuple(_BY_KEY[key] for key in columns) for grouping, columns in GROUP_COLUMNS.items()
        },
        "loops": _LOOPS,
        "roofline": _ROOFLINE,
        "reconciliation": _RECONCILIATION,
    }
)
