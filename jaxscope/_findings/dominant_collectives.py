"""Collectives that take longer than the matrix products they serve.

What it does:
    Sets the time that collectives cannot beat, their bytes over the links of a device, beside the time that all kernels
    with matrix products and convolutions cannot beat, and names the collectives, by kind and axes of the mesh, where it
    is more. For targets whose figures are published.

Why it matters:
    Devices are added to share arithmetic. XLA hides collectives behind it where it can; where they take longer than
    all of it, most of what further devices bring is lost to waiting.

Example:
        x, w = "bf16[256,@model 8192]", "bf16[@model 8192,8192]"   # x @ w: sums of 256 rows cross the links

Use instead:
        x, w = "bf16[256,8192]", "bf16[8192,@model 8192]"          # no sum: every device has its own columns

    Or give each device more rows: arithmetic grows with them, and the gradients that are summed do not. Lay axes that
    move much over neighbouring devices, send in bfloat16, gather a parameter once outside a loop.

When it is wrong:
    Where memory, not time, is why the program is divided. Both times are lower bounds: a kernel that runs far from its
    own can take longer than the collectives after all.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from jaxscope._analysis.collectives import (
    Collective,
    collective_seconds,
    kernel_runs,
    link_bytes,
    run_count,
)
from jaxscope._analysis.hlo_module import HloModule
from jaxscope._analysis.roofline import Roofline
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._analysis.work import ProgramCost
from jaxscope._findings.records import ListingLine, Observation, Program, Rule, read_documentation
from jaxscope._findings.traffic import LEAST_BYTES, LEAST_SHARE
from jaxscope._ir.model import NO_STACK, Frame
from jaxscope._view.format import format_bytes, format_count, format_duration

# The rules that count matrix products and convolutions, whether XLA's own or calls into libraries.
_PRODUCTS = frozenset(("convolution", "cuBLAS product", "cuDNN convolution", "cuDNN gradient", "dot", "ragged dot"))


@dataclass(frozen=True, slots=True)
class _Moved:
    """One collective in all its runs."""

    collective: Collective
    seconds: float
    link_bytes: int
    runs: int


def _observations(program: Program) -> Iterator[Observation]:
    linked, roofline, cost = program.listing("hlo"), program.roofline, program.program_cost("hlo")
    if isinstance(roofline, Unavailable):
        return
    collectives = program.collectives
    products_s = _product_seconds(program.hlo_module, cost, roofline) if collectives else None
    if not products_s:
        return
    all_runs = kernel_runs(cost)
    by_kind: dict[tuple[str, tuple[str, ...] | int | Unavailable], list[_Moved]] = {}
    for one in collectives:
        seconds, size, runs = collective_seconds(one, program.target.facts), link_bytes(one), run_count(one, all_runs)
        if (
            not isinstance(seconds, Unavailable)
            and not isinstance(size, Unavailable)
            and not isinstance(runs, Unavailable)
        ):
            axes = one.group_size if isinstance(one.axes, Unavailable) else one.axes
            by_kind.setdefault((one.kind, axes), []).append(_Moved(one, seconds * runs, size * runs, runs))
    groups = sorted(by_kind.values(), key=lambda group: -_seconds(group))
    total_s = sum(map(_seconds, groups))
    total_bytes = sum(moved.link_bytes for group in groups for moved in group)
    if total_s <= products_s or total_s < LEAST_SHARE * roofline.seconds or total_bytes < LEAST_BYTES:
        return
    longer = [group for group in groups if _seconds(group) > products_s] or groups[:1]
    for group in longer:
        group.sort(key=lambda moved: -moved.seconds)
        together = f"; all collectives together take {format_duration(total_s)}" if len(groups) > 1 else ""
        time = format_duration(_seconds(group))
        yield Observation(
            found=f"{_told(program.hlo_module, group)}, which takes at least {time}{together}. "
            f"All matrix products of the program take at least {format_duration(products_s)}.",
            advice=_advice(program, group),
            frames=_frames(program, group),
            lines=tuple(ListingLine("hlo", linked.listing.ops[moved.collective.op].line) for moved in group),
        )


def _seconds(group: list[_Moved]) -> float:
    return sum(moved.seconds for moved in group)


def _product_seconds(module: HloModule, cost: ProgramCost, roofline: Roofline) -> float | None:
    """The time that the kernels with matrix products cannot beat; None where one is not known.

    A kernel counts as a whole, with what is fused into it, which is more than its product takes.
    """
    holding = _kernels_with_products(module, cost)
    seconds = {bound.kernel.op: bound.seconds for bound in roofline.kernels if bound.kernel.runs.known is not None}
    if any(kernel.op in holding and kernel.is_counted and kernel.op not in seconds for kernel in cost.kernels):
        return None
    return sum(time for kernel, time in seconds.items() if kernel in holding)


def _kernels_with_products(module: HloModule, cost: ProgramCost) -> frozenset[int]:
    ops = module.listing.ops
    callers: dict[int, list[int]] = {}
    for number, op in enumerate(ops):
        if op.name == "fusion":
            for computation in module.called(number, "calls"):
                callers.setdefault(computation, []).append(number)
    found = {one.op for one in cost.ops if one.rule in _PRODUCTS and one.is_counted}
    waiting = list({ops[number].block for number in found})
    seen = set(waiting)
    while waiting:
        for caller in callers.get(waiting.pop(), ()):
            found.add(caller)
            if ops[caller].block not in seen:
                seen.add(ops[caller].block)
                waiting.append(ops[caller].block)
    return frozenset(found)


def _frames(program: Program, group: list[_Moved]) -> tuple[Frame, ...]:
    linked = program.listing("hlo")
    placed = (moved.collective.op for moved in group if linked.op_stack[moved.collective.op] != NO_STACK)
    op = next(placed, None)
    return linked.op_frames(op) if op is not None else ()


def _told(module: HloModule, group: list[_Moved]) -> str:
    first = group[0].collective
    if isinstance(first.axes, Unavailable):
        over = f"groups of {first.group_size}" if not isinstance(first.group_size, Unavailable) else "the devices"
    else:
        over = ", ".join(first.axes) or "one device"
    runs = sum(moved.runs for moved in group)
    size = sum(moved.link_bytes for moved in group)
    # XLA combines collectives, and gives them the line of one.
    arrays = sum(len(module.operands[moved.collective.op]) for moved in group)
    many = f" of {arrays} arrays" if arrays > len(group) else ""
    return (
        f"{first.kind} over {over}{many}, {format_count(runs, ('run', 'runs'))}: each device sends {format_bytes(size)}"
    )


def _advice(program: Program, group: list[_Moved]) -> str:
    first = group[0]
    elements = {array.element for array in program.hlo_module.types(first.collective.op)}
    narrow = " Sent in bfloat16 it is half as much." if elements == {"f32"} else ""
    if first.collective.kind == "all-gather":
        again = "gather it once outside the loop, " if first.runs > 1 else ""
        return f"Divide a dimension that is not contracted, {again}or give each device more rows to use it on.{narrow}"
    if first.collective.kind in ("all-reduce", "reduce-scatter"):
        return (
            "Where it sums gradients, a larger batch on each device brings arithmetic and no more bytes; where it sums "
            f"activations, divide a dimension that is not contracted, or over fewer devices.{narrow}"
        )
    return f"Keep arrays divided in the way in which the next op reads them.{narrow}"


RULE = Rule(
    key="dominant-collective",
    title="Collectives take longer than matrix products",
    severity="warning",
    find=_observations,
    documentation=read_documentation(__doc__),
)
