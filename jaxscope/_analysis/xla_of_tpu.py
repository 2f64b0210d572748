"""What XLA for TPUs counts otherwise: calls that it knows, and rows that are read by whole tiles.

Problem: its cost analysis is not in the open source. Input: the counter of a module and the index of an instruction.
Output: the `XlaCount` of a known call, and how many times its own bytes a row that is gathered or scattered costs.
Both are measured: programs were compiled, and the rule is what gives XLA's totals to the byte.
"""

import math
from typing import TYPE_CHECKING

from jaxscope._analysis.hlo_attributes import backend_configuration, numbers, whole
from jaxscope._analysis.xla_sizes import TILE_OF_TPU, minor_to_major

if TYPE_CHECKING:
    from jaxscope._analysis.hlo_module import HloModule
    from jaxscope._analysis.xla_counts import Counter
    from jaxscope._analysis.xla_instructions import XlaCount

# Room for an array, and a promise: nothing is computed or moved.
_NOTHING_RUNS = ("AllocateBuffer", "AssumeGatherIndicesInBound")


def gather_or_scatter(module: "HloModule", number: int) -> int | None:
    """The gather or scatter that an instruction is, or that a custom fusion is made for; None for any other."""
    ops, moving = module.listing.ops, ("gather", "scatter")
    if ops[number].name in moving:
        return number
    if ops[number].name != "fusion" or module.attributes(number).get("kind") != "kCustom":
        return None
    members = (member for called in module.called(number, "calls") for member in module.members[called])
    return next((member for member in members if ops[member].name in moving), None)


def custom_call_of_tpu(counter: "Counter", number: int) -> "XlaCount | None":
    """What it knows of some calls: a kernel's declaration, the largest few of each row, those of which nothing runs."""
    attributes = counter.module.attributes(number)
    target = attributes.get("custom_call_target", "").strip('"')
    if target in _NOTHING_RUNS:
        return counter.record(number, (0, 0), ())
    if target == "tpu_custom_call":
        custom = backend_configuration(attributes).get("custom_call_config", {})
        cost = custom.get("cost_estimate", {}) if isinstance(custom, dict) else {}
        figures = [whole(cost, name, 0) for name in ("flops", "transcendentals", "bytes_accessed")]
        return counter.record(number, (figures[0], figures[1]), (figures[2],))
    if target == "TopK":
        results = counter.shape(number).arrays
        kept = results[0].dimensions[-1] if results and results[0].dimensions else 1
        elements = counter.elements(counter.operand(number, 0))
        return counter.record(number, (elements * kept, 0), counter.default_bytes(number))
    return counter.record(number, (0, 0), counter.default_bytes(number)) if target == "PartialReduce" else None


def whole_tiles(counter: "Counter", number: int, attribute: str) -> int:
    """How many times its own bytes a slice costs: of a tile that holds several rows it reads all, for one of them.

    Args:
        counter: That of the module.
        number: A gather or a scatter; its first operand is what is sliced.
        attribute: The one that names the dimensions of which a slice is one element.
    """
    operand = counter.operand(number, 0)
    arrays = counter.shape(operand).arrays
    if not counter.convention.is_tpu or not arrays:
        return 1
    rank = len(arrays[0].dimensions)
    order = minor_to_major(counter.ops[operand].type, rank)
    # A narrower tile of a small array counts as the whole one does; of an array of one dimension it lies in that.
    widths = dict(zip(order, reversed(TILE_OF_TPU), strict=False)) if rank > 1 else {0: math.prod(TILE_OF_TPU)}
    return math.prod(widths.get(one, 1) for one in numbers(counter.module.attributes(number).get(attribute, "")))
