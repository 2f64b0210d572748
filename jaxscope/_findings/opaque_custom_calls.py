"""Custom calls that neither XLA nor jaxscope can look into.

What it does:
    Names the custom calls that the program asks for and whose work is not known, and the Pallas kernels for TPU that
    declare no cost. Calls into the libraries of JAX and XLA, host callbacks and notes to the compiler are left out.

Why it matters:
    To XLA a custom call is a name. Nothing fuses into it, so that its operands and results go through memory; XLA's
    scheduler and cost model, and the totals here, count nothing for it; and without a rule of its own XLA cannot
    partition it over devices, nor JAX batch or differentiate it.

Example:
        pl.pallas_call(kernel, out_shape=shape)(x)

Use instead:
        pl.pallas_call(kernel, out_shape=shape, cost_estimate=pl.estimate_cost(reference, x))(x)

    where `reference` is the same function in `jax.numpy`; or `pl.CostEstimate(flops=..., transcendentals=...,
    bytes_accessed=...)`. A foreign function declares none: keep in mind that totals leave it out. Give it a gradient
    with `jax.custom_vjp`, batching with `vmap_method=`, and several devices with `jax.shard_map`.

When it is wrong:
    Where the call is wanted for what it does, and nobody reads the totals.
"""

from collections.abc import Iterator, Mapping, Sequence

from jaxscope._analysis.work import KernelCost
from jaxscope._findings.foreign_calls import PALLAS_FOR_TPU, foreign_calls, is_pallas
from jaxscope._findings.places import by_line
from jaxscope._findings.records import ListingLine, Observation, Program, Rule, read_documentation
from jaxscope._findings.traffic import bytes_of
from jaxscope._view.format import format_bytes

_MOST_NAMES = 3

_ADVICE = (
    "Totals leave this call out. The call needs rules of its own: jax.custom_vjp for gradients, vmap_method= of "
    "jax.ffi.ffi_call for batches, jax.shard_map around it for several devices."
)
_ADVICE_FOR_PALLAS = (
    "Pass cost_estimate= to pl.pallas_call: pl.estimate_cost of the same function in jax.numpy, or pl.CostEstimate."
)


def _observations(program: Program) -> Iterator[Observation]:
    cost = program.program_cost("hlo")
    if not cost.unknown:
        return
    unknown = {one.op for one in cost.unknown}
    # Pallas for GPU drops the estimate that a kernel declares, so that there is nothing to be done.
    targets = {
        op: target
        for op, target in foreign_calls(program).items()
        if op in unknown and (target == PALLAS_FOR_TPU or not is_pallas(target))
    }
    if not targets:
        return
    kernels = {kernel.op: kernel for kernel in cost.kernels if kernel.op in targets}
    linked = program.listing("hlo")
    groups = [(_moved(kernels, ops), ops) for ops in by_line(linked, targets)]
    for moved, ops in sorted(groups, key=lambda group: -group[0]):
        names = list(dict.fromkeys(targets[op] for op in ops))
        yield Observation(
            found=_told(names, len(ops), moved),
            advice=_ADVICE_FOR_PALLAS if names == [PALLAS_FOR_TPU] else _ADVICE,
            frames=linked.op_frames(ops[0]),
            lines=tuple(ListingLine("hlo", linked.listing.ops[op].line) for op in ops),
        )


def _moved(kernels: Mapping[int, KernelCost], ops: Sequence[int]) -> int:
    """What all runs of these calls read and write; 0 where that is not known of one."""
    sizes = [bytes_of(kernels[op]) if op in kernels else None for op in ops]
    return 0 if None in sizes else sum(sizes)


def _told(names: list[str], count: int, moved: int) -> str:
    shown = ", ".join(names[:_MOST_NAMES]) + (f" and {len(names) - _MOST_NAMES} more" if names[_MOST_NAMES:] else "")
    kind = "Pallas kernel without a cost estimate" if names == [PALLAS_FOR_TPU] else "custom call"
    what = f"{shown} is a {kind}" if count == 1 else f"{shown}: {count} {kind.replace('kernel', 'kernels', 1)}"
    if count > 1 and kind == "custom call":
        what += "s"
    whole = f" {'It moves' if count == 1 else 'They move'} {format_bytes(moved)} through memory." if moved else ""
    return f"{what}: the work is not known, and no total counts it.{whole}"


RULE = Rule(
    key="opaque-custom-call",
    title="Opaque custom call",
    severity="note",
    find=_observations,
    documentation=read_documentation(__doc__),
)
