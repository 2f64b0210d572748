"""What every column and row of the tables means, once, for tooltips, documentation and tests.

Problem: a figure is worth what is known about it, and a tooltip, a manual page and a table written apart soon disagree.
Input: nothing. Output: one `Entry` for each column of each table and for each row of the tables with fixed rows; a test
demands that none is missing and none is left over. It is over 400 lines because it is all data.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

from jaxscope._analysis.cache_verdict import CACHE_COLUMNS
from jaxscope._analysis.cost_columns import COST_TABLES
from jaxscope._analysis.entry import INSTRUCTION_PLACE, Entry
from jaxscope._analysis.failure_columns import BRANCH_COLUMNS, CARRY_COLUMNS
from jaxscope._analysis.finding_columns import FINDING_COLUMNS
from jaxscope._analysis.memory import TOTAL, TOTAL_FORMULA
from jaxscope._analysis.memory_columns import MEMORY_TABLES
from jaxscope._analysis.type_flow_columns import OVERFLOW_COLUMNS, TYPE_CHANGE_COLUMNS

_REASONS = Entry(
    "missing",
    "Missing",
    "Why values of this row are missing.",
    "jaxscope, or the compiler's own words.",
    "Empty when nothing is missing.",
)

_SIGNATURE = (
    Entry(
        "path",
        "Argument",
        "Where the array sits in the arguments or results, as params['w'].",
        "JAX's debug information, else the place in the pytree.",
        "Never.",
    ),
    Entry(
        "kind",
        "Kind",
        "argument, static (baked into the program), output, or constant (captured from outside).",
        "jaxscope, by which list of the program it stands in.",
        "Never.",
    ),
    Entry(
        "type",
        "Type",
        "Element type and shape in JAX's short form; a mesh axis behind @ splits that dimension.",
        "The aval of the earliest stage that was reached.",
        "Never; a static argument has the type static.",
    ),
    Entry(
        "weak_type",
        "Weak",
        "Whether the type gives way to others in arithmetic, as Python scalars do.",
        "The aval's weak_type.",
        "Never.",
    ),
    Entry(
        "size_bytes",
        "Bytes",
        "Shape times element size over all devices, without padding; types below a byte are packed.",
        "Computed from the type.",
        "For static values and for shapes with symbolic dimensions.",
        "right",
    ),
    Entry(
        "donated",
        "Donated",
        "Whether the caller gives the buffer away.",
        "donate_argnums and donate_argnames of the jitted function.",
        "Never.",
    ),
    Entry(
        "aliased",
        "Aliased to",
        "The output that takes the donated buffer.",
        "The attribute tf.aliasing_output of the lowered main function.",
        "When nothing was donated, the donation was not usable, XLA is free to choose, or nothing was lowered.",
    ),
    Entry(
        "dropped",
        "Dropped",
        "Whether the compiled program never reads the argument and does not take it.",
        "The list of kept arguments of the lowering.",
        "Before lowering.",
    ),
    Entry(
        "value",
        "Value",
        "The repr of a static value, cut to 80 characters.",
        "The call that was inspected.",
        "Empty for arrays.",
    ),
    Entry(
        "sharding",
        "Sharding",
        "How the array is spread over devices: a device, or a partition of its dimensions over mesh axes.",
        "The executable; before compilation, what was asked for.",
        "For dropped arguments, static values, and where nothing was decided yet.",
    ),
    Entry(
        "per_device",
        "On each device",
        "The type of the piece that one device holds.",
        "JAX's shard_shape of the sharding.",
        "Where there is no sharding, and for shapes that are not numbers.",
    ),
    Entry(
        "layout",
        "Layout",
        "The order of the dimensions in memory, and tiles where the platform has them.",
        "The executable.",
        "For dropped arguments, static values, before compilation, and beside ordered effects on some versions.",
    ),
    Entry(
        "note",
        "Note",
        "How the array is stored where that is not plain from its type.",
        "The type, and what was measured of XLA's packing.",
        "Empty when there is nothing to say.",
    ),
    _REASONS,
)

_MISMATCHES = (
    Entry(
        "path",
        "Argument",
        "Where the call differs, as params['b'].",
        "JAX's debug information; the keys of the call for what the program does not take.",
        "Never.",
    ),
    Entry(
        "compiled",
        "Compiled for",
        "The type or container that the program takes there.",
        "The signature of the program.",
        "The word missing where the program takes nothing there.",
    ),
    Entry(
        "called",
        "Called with",
        "The type or container that the call brings.",
        "The call; NumPy arrays in their own type, before JAX narrows it.",
        "The word missing where the call brings nothing there.",
    ),
    Entry(
        "differs",
        "Differs in",
        "Which property differs.",
        "Comparison of types, structures and placements as a compiled call makes it.",
        "Never.",
    ),
    Entry(
        "verdict",
        "Verdict",
        "Whether the compiled call raises, copies the argument to where the program runs, or takes it as it is.",
        "JAX's rules for compiled calls, tested against JAX.",
        "Never.",
    ),
    Entry(
        "note",
        "Note",
        "What else follows, such as another compilation under jit.",
        "JAX's rules for its compilation cache and its 64-bit mode.",
        "Empty when nothing follows.",
    ),
    Entry(
        "advice",
        "What to do",
        "The expression to pass instead, or a sentence.",
        "jaxscope.",
        "Empty where nothing needs to be done.",
    ),
)

_COST = (
    Entry(
        "figure",
        "Figure",
        "XLA's own name of the figure.",
        "The keys of cost_analysis().",
        "Never.",
    ),
    Entry(
        "counted_before",
        "Asked for",
        "jaxscope's own figure for the StableHLO, loops multiplied by their trip counts, over all devices.",
        "jaxscope's rules for each op.",
        "When nothing was lowered; of bytes, which StableHLO's ops do not move; of parts. The data frame says what it "
        "leaves out.",
        "right",
    ),
    Entry(
        "counted_after",
        "Runs",
        "jaxscope's own figure for the compiled program, loops multiplied by their trip counts, for one device.",
        "jaxscope's rules for each instruction.",
        "When there is no compiled text; of parts. What it leaves out, the data frame says.",
        "right",
    ),
    Entry(
        "before",
        "XLA, before optimisation",
        "The figure for the program as it was lowered, over all devices.",
        "Lowered.cost_analysis(), else XLA's CPU model on the same program, which a note says.",
        "When nothing was lowered, a dimension is symbolic, or XLA counted none.",
        "right",
    ),
    Entry(
        "after",
        "XLA, after optimisation",
        "The figure for the program as it runs, for one device.",
        "Compiled.cost_analysis(), else XLA's CPU model on the same program, which a note says.",
        "When nothing was compiled, XLA counted none, or the total is negative because of calls it cannot look into.",
        "right",
    ),
    Entry(
        "part",
        "Part",
        "Whether the figure is a part of one above it.",
        "XLA's naming of its figures.",
        "Never.",
    ),
    Entry(
        "note",
        "Note",
        "What the figure after optimisation leaves out.",
        "On CPU, XLA's optimal_seconds: it is minus the number of calls without a cost, and is otherwise not shown.",
        "Empty when nothing is known to be left out.",
    ),
    _REASONS,
)

_MEMORY = (
    Entry("memory", "Memory", "What the bytes are for.", "The fields of memory_analysis().", "Never."),
    Entry(
        "size_bytes",
        "Bytes",
        "The size on one device.",
        "Compiled.memory_analysis(); the total is the sum its source column names.",
        "When nothing was compiled, the platform or version does not report it, or the figure wrapped below zero.",
        "right",
    ),
    Entry("source", "Source", "XLA's name of the field, or the formula.", "XLA.", "Never."),
    Entry("host", "Host", "Whether the bytes are in the host's memory.", "The name of the field.", "Never."),
    Entry(
        "note",
        "Note",
        "What has to be known to read the figure.",
        "Measured with XLA on CPU.",
        "Empty when there is nothing to say.",
    ),
    _REASONS,
)

_COLLECTIVES = (
    Entry(
        "collective", "Collective", "The instruction that communicates.", "The opcode in the compiled HLO.", "Never."
    ),
    Entry(
        "mesh_axes",
        "Axes",
        "The axes of the mesh whose devices take part together; empty for groups of one device.",
        "The groups of device numbers in the instruction, laid over the meshes of the program's shardings.",
        "When no mesh of the program has axes that give these groups.",
    ),
    Entry(
        "group_size",
        "Group",
        "How many devices take part together.",
        "The instruction; for a permutation, the devices along the axes that it moves along.",
        "When the groups cannot be read.",
        "right",
    ),
    Entry("groups", "Groups", "How many such groups there are.", "The instruction.", "As for the group.", "right"),
    Entry(
        "operand_bytes",
        "Operand bytes",
        "What each device gives, without padding; a loop's body counts once.",
        "The types of the operands.",
        "When the type of an operand is not known.",
        "right",
    ),
    Entry(
        "link_bytes",
        "Through links",
        "The bytes that each device must at least send or receive in one run.",
        "The known lower bound of the collective: 2(n − 1)/n of an all-reduce's operand, n − 1 times an all-gather's, "
        "(n − 1)/n of a reduce-scatter's or all-to-all's.",
        "As for the operand and the group.",
        "right",
    ),
    Entry(
        "runs",
        "Runs",
        "How often it runs in one run of the program.",
        "The trip counts of the loops around it.",
        "In a loop whose trip count is not known.",
        "right",
    ),
    Entry(
        "seconds",
        "At least",
        "Seconds that all its runs cannot beat on this target.",
        "The bytes through links over the published speed of all links of a device, one direction.",
        "When the bytes, the runs or the interconnect are not known.",
        "right",
    ),
    Entry("line", "HLO line", "The line of the compiled text, from 1.", "The listing.", "Never.", "right"),
    *INSTRUCTION_PLACE,
    _REASONS,
)

_TARGETS = (
    Entry("name", "Name", "What to pass as target=.", "jaxscope's catalogue, or a file of yours.", "Never."),
    Entry("machine", "Machine", "The machine in words.", "The same.", "Never."),
    Entry(
        "devices",
        "Devices",
        "JAX devices of the whole machine.",
        "Its size; where hardware is attached, JAX.",
        "Never.",
        "right",
    ),
    Entry(
        "memory_bytes",
        "Memory of each",
        "Main memory of one device, in bytes.",
        "The vendor's document, which Target.facts names.",
        "Where no document is known.",
        "right",
    ),
    Entry(
        "state",
        "State",
        "attached: the hardware is here. compile-only: its compiler is. lower-only: StableHLO is the last stage.",
        "JAX, and which packages are installed.",
        "Never.",
    ),
    Entry(
        "missing",
        "Missing",
        "Why there is no compiling for it, and the command that changes that.",
        "Which packages are installed.",
        "Empty when nothing is missing.",
    ),
)

COLUMNS: Mapping[str, tuple[Entry, ...]] = MappingProxyType(
    {
        "signature": _SIGNATURE,
        "mismatches": _MISMATCHES,
        "cache": CACHE_COLUMNS,
        "type changes": TYPE_CHANGE_COLUMNS,
        "overflows": OVERFLOW_COLUMNS,
        "cost": _COST,
        "memory": _MEMORY,
        "collectives": _COLLECTIVES,
        "targets": _TARGETS,
        "carry": CARRY_COLUMNS,
        "branches": BRANCH_COLUMNS,
        **COST_TABLES,
        **MEMORY_TABLES,
        "findings": FINDING_COLUMNS,
    }
)

_COST_ROWS = (
    Entry(
        "flops",
        "FLOPs",
        "Arithmetic operations, integer ones and comparisons included; a multiply and an add are two.",
        "XLA's cost model, which counts loop bodies once and a conditional's dearest branch.",
        "XLA leaves the entry out when it counted none; opaque calls count −1 each.",
        "right",
    ),
    Entry(
        "transcendentals",
        "Transcendentals",
        "Elements through exp, log, sin and their like, which are not among the FLOPs.",
        "XLA's cost model.",
        "XLA leaves the entry out when it counted none.",
        "right",
    ),
    Entry(
        "bytes accessed",
        "Bytes accessed",
        "Bytes of the operands and results of every instruction or fusion, caches ignored.",
        "XLA's cost model.",
        "XLA leaves the entry out when it counted none; opaque calls count −1 each.",
        "right",
    ),
)

_MEMORY_ROWS = (
    Entry(
        "argument",
        "Arguments",
        "Buffers of the arguments that are kept.",
        "XLA.",
        "When nothing was compiled.",
        "right",
    ),
    Entry(
        "output",
        "Outputs",
        "Buffers of the results, with the table of pointers of a result tuple.",
        "XLA.",
        "When nothing was compiled.",
        "right",
    ),
    Entry(
        "temporary",
        "Temporaries",
        "Buffers for values between instructions.",
        "XLA.",
        "When nothing was compiled; on TPU it may be 0 although there are some.",
        "right",
    ),
    Entry(
        "alias",
        "Aliased",
        "Output buffers that reuse a donated argument, counted in both.",
        "XLA.",
        "When nothing was compiled.",
        "right",
    ),
    Entry("generated code", "Code", "The machine code.", "XLA.", "Not reported on CPU.", "right"),
    Entry(
        TOTAL,
        "Total",
        f"{TOTAL_FORMULA}: what a call needs at once if no temporary could be shared.",
        "Computed from the rows above.",
        "When one of them is missing.",
        "right",
    ),
    Entry(
        "peak",
        "XLA's peak",
        "The largest sum of buffers alive at once, by XLA's account; on CPU without temporaries.",
        "XLA.",
        "Where this version does not report it, or where it wrapped below zero.",
        "right",
    ),
    Entry(
        "unpadded peak",
        "XLA's peak, unpadded",
        "The same without padding between buffers.",
        "XLA.",
        "JAX 0.10 and before do not report it.",
        "right",
    ),
    Entry(
        "all allocations",
        "All allocations",
        "The sum of every allocation in the device's main memory.",
        "XLA.",
        "JAX 0.10 and before do not report it.",
        "right",
    ),
    Entry(
        "indefinite allocations",
        "Indefinite allocations",
        "Allocations that outlive the call or come from outside: arguments, results, constants.",
        "XLA.",
        "JAX 0.10 and before do not report it.",
        "right",
    ),
    Entry(
        "host argument", "Host arguments", "Arguments in host memory.", "XLA.", "When nothing was compiled.", "right"
    ),
    Entry("host output", "Host outputs", "Results in host memory.", "XLA.", "When nothing was compiled.", "right"),
    Entry(
        "host temporary",
        "Host temporaries",
        "Temporaries in host memory.",
        "XLA.",
        "When nothing was compiled.",
        "right",
    ),
    Entry(
        "host alias",
        "Host aliased",
        "Results in host memory that reuse an argument.",
        "XLA.",
        "When nothing was compiled.",
        "right",
    ),
    Entry(
        "host generated code", "Host code", "Machine code for the host.", "XLA.", "When nothing was compiled.", "right"
    ),
)

ROWS: Mapping[str, tuple[Entry, ...]] = MappingProxyType({"cost": _COST_ROWS, "memory": _MEMORY_ROWS})

# "bytes accessed0{}", "bytes accessedout{}", "utilization12{}", "bytes accessed operand 0 {}"
_PART = re.compile(r"^(bytes accessed|utilization)(?: operand| output)? ?(\d+|out)? ?\{[\d,]*\}$")


def column(table: str, key: str) -> Entry:
    """The entry of a column; KeyError for one that is not documented."""
    return {entry.key: entry for entry in COLUMNS[table]}[key]


def row(table: str, key: str) -> Entry:
    """The entry of a row of a table with fixed rows, or of a part of XLA's cost figures."""
    known = {entry.key: entry for entry in ROWS[table]}
    return known[key] if key in known or table != "cost" else cost_part(key)


def cost_part(key: str) -> Entry:
    """The entry of one of XLA's lesser figures, whose number grows with the operands of the program."""
    found = _PART.match(key)
    if found is None:
        return Entry(
            key,
            key,
            "A figure of XLA's that jaxscope does not know.",
            "XLA's cost model.",
            "XLA leaves the entry out when it counted none.",
            "right",
        )
    which = "results" if found[2] in ("out", None) else f"operand {found[2]}"
    if found[1] == "utilization":
        what = (
            f"How often, as a fraction of its elements, {which} of the instructions is used, summed over instructions."
        )
    else:
        what = f"The share of bytes accessed that is {which} of the instructions, summed over instructions."
    return Entry(
        key,
        f"{found[1].capitalize()}, {which}",
        what,
        "XLA's cost model.",
        "XLA leaves the entry out when it counted none.",
        "right",
    )
