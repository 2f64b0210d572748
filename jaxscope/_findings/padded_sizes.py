"""Sizes of matrix products that fit the target badly.

What it does:
    On a TPU it reads from the layouts that the compiler chose how far the tiles of a product's operands and result are
    filled, and names products whose tiles have room for one and a half times the multiplications or more. On an NVIDIA
    GPU it names products of 8 and 16-bit numbers whose rows in memory are no multiple of 16 bytes long. Products of
    less than a GFLOP, or of less than 5 % of the program's FLOPs, are left out.

Why it matters:
    A TPU keeps arrays in tiles of 8 by 128 numbers and its matrix unit works on whole tiles: what pads them is stored,
    moved and multiplied. Tensor cores are fed 16 bytes at a time; rows that begin elsewhere need narrower loads. See
    https://docs.cloud.google.com/tpu/docs/performance-guide and
    https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/

Example:
        vocabulary = 50257
        logits = hidden @ embedding.T                # bf16[8192,768] @ bf16[768,50257]

Use instead:
        vocabulary = 50304                           # the next multiple of 128; the new rows are never asked for

    On TPUs, multiples of 128 for features and of 8 for the batch of each device; on GPUs, multiples of 8 numbers of 16
    bits, or 16 of 8 bits.

When it is wrong:
    Where the size is given by the problem and the product is not what the program waits for.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from jaxscope._analysis.hlo_attributes import numbers, read_convolution_numbers
from jaxscope._analysis.hlo_module import UNKNOWN, HloModule
from jaxscope._analysis.work import OpCost, Work
from jaxscope._findings.places import by_line
from jaxscope._findings.records import ListingLine, Observation, Program, Rule, read_documentation
from jaxscope._ir.hlo_shapes import Shape, read_shape
from jaxscope._view.format import format_count, format_exact, format_percent, format_quantity

# Below, a third of the multiplications at most is padding.
LEAST_RATIO = 1.5
# About 5 µs of a TPU v5e, which is what starting a kernel takes.
LEAST_FLOPS = 10**9
LEAST_SHARE = 0.05
GPU_BYTES = 16
_PRODUCTS = frozenset(("dot", "convolution"))


@dataclass(frozen=True, slots=True)
class _Product:
    """A product with the shapes of its operands and result, and the dimension of each operand that is summed over."""

    op: int
    line: int
    flops: int
    left: Shape
    right: Shape
    result: Shape
    summed: tuple[int, int]

    def __str__(self) -> str:
        return f"{self.left.array} × {self.right.array} → {self.result.array}"


def _observations(program: Program) -> Iterator[Observation]:
    tell = _TELLING.get(program.target.platform)
    if tell is None:
        return
    linked = program.listing("hlo")
    costs = program.program_cost("hlo").ops
    if any(cost.is_counted and cost.runs.known is None for cost in costs):
        # A share says something only where the whole is known.
        return
    total = sum(map(_flops, costs))
    found: dict[int, tuple[_Product, str, str]] = {}
    for cost in costs:
        if linked.listing.ops[cost.op].name not in _PRODUCTS or _flops(cost) < max(LEAST_FLOPS, LEAST_SHARE * total):
            continue
        product = _read_product(program.hlo_module, cost)
        if product is not None and (told := tell(product)) is not None:
            found[cost.op] = (product, *told)
    groups = [[found[op] for op in ops] for ops in by_line(linked, found)]
    for group in sorted(groups, key=lambda group: sum(product.flops for product, *_ in group), reverse=True):
        product, text, advice = max(group, key=lambda told: told[0].flops)
        flops = sum(each.flops for each, *_ in group)
        work = f"{format_quantity(flops, 'FLOP')}, {format_percent(flops / total)} of the program's"
        if len(group) > 1:
            where = "of this line" if linked.op_frames(product.op) else "without a line"
            work += f", with {format_count(len(group) - 1, ('more product', 'more products'))} {where}"
        yield Observation(
            f"{product}, {work}: {text}",
            advice,
            linked.op_frames(product.op),
            tuple(ListingLine("hlo", each.line) for each, *_ in group),
            # How much slower such rows are, no vendor says in general.
            severity="note" if tell is _on_gpu else "warning",
        )


def _flops(cost: OpCost) -> int:
    if not isinstance(cost.work, Work) or not cost.is_counted:
        return 0
    return cost.work.flops * cost.runs.with_loops_once


def _read_product(module: HloModule, cost: OpCost) -> _Product | None:
    """The product with its shapes; None where the text does not give them."""
    op = module.listing.ops[cost.op]
    numbers_of_operands = module.operands[cost.op][:2]
    if len(numbers_of_operands) < 2 or UNKNOWN in numbers_of_operands:
        return None
    shapes = [read_shape(text) for text in (*(module.listing.ops[n].type for n in numbers_of_operands), op.type)]
    if any(shape is None or shape.array is None for shape in shapes):
        return None
    attributes = module.attributes(cost.op)
    if op.name == "dot":
        left, right = (numbers(attributes.get(f"{side}_contracting_dims", "")) for side in ("lhs", "rhs"))
        summed = (left[-1], right[-1]) if left and right else None
    else:
        labels = read_convolution_numbers(attributes.get("dim_labels", ""))
        summed = None if labels is None else (labels.input_feature, labels.kernel_input_feature)
    ranks = [len(shape.array.dimensions) for shape in shapes]
    if summed is None or summed[0] >= ranks[0] or summed[1] >= ranks[1]:
        return None
    return _Product(cost.op, op.line, _flops(cost), *shapes, summed)


def _on_tpu(product: _Product) -> tuple[str, str] | None:
    """How much more the filled tiles would hold: those of the result times those along the sum.

    The two operands may be laid out differently; the one that is padded less counts.
    """
    result = product.result
    padded = [result.padded_dimension(number) for number in range(len(result.array.dimensions))]
    along = min(
        shape.padded_dimension(number) / shape.array.dimensions[number]
        for shape, number in zip((product.left, product.right), product.summed, strict=True)
    )
    ratio = along * math.prod(padded) / math.prod(result.array.dimensions)
    if ratio < LEAST_RATIO:
        return None
    text = f"the tiles of its layouts have room for {format_quantity(ratio)} times the multiplications"
    if math.prod(padded) > result.array.elements:
        text += f"; the result fills {format_percent(result.array.elements / math.prod(padded))} of its own"
    return (
        f"{text}.",
        "Make the sizes multiples of 128 and 8, by padding once outside or by choosing other sizes, or merge the small "
        "dimension with another.",
    )


def _on_gpu(product: _Product) -> tuple[str, str] | None:
    """Whose rows begin at addresses that are no multiple of what tensor cores are fed with."""
    for shape in (product.left, product.right, product.result):
        bits = shape.array.bits
        if bits is None or bits > 16 or not shape.minor_to_major:
            return None
    for shape in (product.left, product.right, product.result):
        row = shape.array.dimensions[shape.minor_to_major[0]]
        row_bytes = row * shape.array.bits // 8
        # A single column has no rows to speak of.
        if row > 1 and row_bytes % GPU_BYTES:
            step = GPU_BYTES * 8 // shape.array.bits
            return (
                f"rows of {shape.array} are {format_exact(row_bytes)} B long, no multiple of {GPU_BYTES}.",
                f"Pad the dimension of {row} to {-(-row // step) * step}, a multiple of {step}, where it is made.",
            )
    return None


_TELLING = {"tpu": _on_tpu, "cuda": _on_gpu}

RULE = Rule(
    key="padded-size",
    title="Sizes that fit the target badly",
    severity="warning",
    find=_observations,
    documentation=read_documentation(__doc__),
)
