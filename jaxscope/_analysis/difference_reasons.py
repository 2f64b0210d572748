"""The reason, for people, why XLA's cost analysis enters something else for an instruction than jaxscope does.

Input: the graph of a module and an instruction whose figures differ. Output: one line, the same for all instructions
that differ for one reason, so that their amounts can be added up.
"""

from functools import lru_cache

from jaxscope._analysis.hlo_bytes import NOT_RUN
from jaxscope._analysis.hlo_module import HloModule
from jaxscope._analysis.work import Work
from jaxscope._analysis.xla_of_tpu import gather_or_scatter
from jaxscope._analysis.xla_sizes import XlaConvention
from jaxscope._ir.shapes import read_hlo_type

_APPLYING = dict.fromkeys(
    ("reduce", "reduce-window", "scatter", "map", "select-and-scatter"),
    "reductions and scatters: integers, comparisons and selections in their bodies, and windows, by XLA's rule",
)
_OWN_RULES = {
    "sort": "sorts: XLA takes n·⌈log₂ n⌉ FLOPs of all elements, not the comparisons of each row",
    "fft": "Fourier transforms by XLA's rule, 8·n·⌊log₂ n⌋ FLOPs",
    "cholesky": "factorisations by XLA's rule, n³/3",
    "triangular-solve": "triangular solves by XLA's rule, 2·n² for each right-hand side",
    "rng": "random numbers, one transcendental each to XLA",
    "rng-bit-generator": "random numbers, one transcendental each to XLA",
    "all-reduce": "sums over devices, to XLA as if there were two",
    "all-reduce-start": "sums over devices, to XLA as if there were two",
    "reduce-scatter": "sums over devices, to XLA as if there were two",
}
_BYTES = {
    "scatter": "scatters: XLA counts the updates three times and the indices",
    "dynamic-slice": "where slices begin: XLA counts the first of several numbers",
    "dynamic-update-slice": "where slices begin: XLA counts the first of several numbers",
    "transpose": "transpositions that leave bytes where they are",
}


def work_reason(module: HloModule, op: int, figure: int, work: Work | None) -> str:
    """Why FLOPs (figure 0) or transcendentals (1) differ.

    Args:
        module: The graph.
        op: The instruction.
        figure: Which of the two.
        work: What it computes by our rules, None for nothing.
    """
    name = module.listing.ops[op].name
    arrays = [array for types in (module.types(op), *module.operand_types(op)) for array in types]
    if name in _APPLYING:
        return _APPLYING[name]
    if name in _OWN_RULES:
        return _OWN_RULES[name]
    if work is not None and work.integer_ops:
        what = "transcendentals" if figure == 1 else "FLOPs"
        return f"arithmetic on integers and truth values that XLA calls {what}"
    if any(array.is_complex for array in arrays):
        return "complex arithmetic, one operation an element to XLA"
    if name == "clamp":
        return "a clamp is one FLOP to XLA, a maximum and a minimum to us"
    if name == "fusion":
        return "custom fusions, of which XLA counts the gather or scatter alone"
    if work is None:
        return "selections, conversions and tests of bits that XLA calls FLOPs"
    return f"{name} by another rule"


def bytes_reason(module: HloModule, op: int, convention: XlaConvention) -> str:
    """Why the bytes differ.

    Args:
        module: The graph.
        op: The instruction.
        convention: How XLA counted.
    """
    ops = module.listing.ops
    name, operands = ops[op].name, module.operands[op]
    if name == "tuple":
        return "tables of tuples, which XLA counts as memory"
    if name in NOT_RUN:
        return "instructions that move nothing: ends of asynchronous ones, partition numbers"
    if convention.is_tpu and gather_or_scatter(module, op) is not None:
        return "slices of gathers and scatters, of which XLA for TPUs counts the whole tiles"
    numbers = [number for number in (op, *operands) if number >= 0]
    types = [ops[number].type for number in numbers]
    if any("S(" in text for text in types):
        return "arrays outside main memory, which XLA counts like those in it"
    if any(text.startswith("(") for text in types) and name != "fusion":
        return "tuples, of which XLA counts the table or each array, by version"
    if any(map(_is_packed, types)):
        return "elements of less than a byte"
    if convention.is_tpu or (convention.pads_tiles and any("T(" in text for text in types)):
        return "the padding of arrays to whole tiles, which XLA counts"
    if name == "fusion":
        return _fusion_reason(module, op)
    if len(set(operands)) < len(operands):
        return "an array given twice, which is read once"
    return _BYTES.get(name, f"bytes of {name} by another rule")


@lru_cache(maxsize=1 << 16)
def _is_packed(type_text: str) -> bool:
    """Whether a type has elements of less than a byte."""
    return any(array.bits is not None and array.bits < 8 for array in read_hlo_type(type_text))


def _fusion_reason(module: HloModule, op: int) -> str:
    ops, operands = module.listing.ops, module.operands[op]
    inner = [member for called in module.called(op, "calls") for member in module.members[called]]
    names = {ops[member].name for member in inner}
    if "scatter" in names:
        return "fusions that update in place, of which XLA counts more or less"
    if names & {"dynamic-update-slice", "dynamic-slice", "gather", "slice"}:
        return "slices in fusions: what XLA counts of the array that is sliced"
    if any(ops[member].name == "constant" and _elements(module, member) > 1 for member in inner):
        return "constants in fusions, which XLA counts as read from memory"
    if len(set(operands)) < len(operands):
        return "an array given twice, which is read once"
    return "operands of fusions that XLA counts once for each use"


def _elements(module: HloModule, op: int) -> int:
    types = module.types(op)
    return types[0].elements if types else 0
