"""Programs that do not fit into the memory of a device, or hardly.

What it does:
    Compares what one device needs at once with what is published of its memory. What does not fit is an error. A
    warning comes above 85 %, and on NVIDIA GPUs above 75 %, which is what JAX sets aside there unless told otherwise.
    The largest arrays at the peak are named.

Why it matters:
    The call fails with RESOURCE_EXHAUSTED, on hardware that was perhaps rented for it. Just below the limit it depends
    on what else is on the device: the runtime, other programs, the arrays of the next batch, gaps between buffers.

Example:
        jaxscope.show(step, params, "f32[4096,1024,1024]", target="tpu:v5e:2x2")      # 16 GiB for the batch alone

Use instead:
        step = jax.jit(step, donate_argnames="params")         # no second copy of what is updated
        layer = jax.checkpoint(layer)                          # computed again in the backward pass, and not kept

    Or a smaller batch, with gradients summed over several; or arrays spread over more devices.

When it is wrong:
    Where the program has the device to itself, with XLA_PYTHON_CLIENT_MEM_FRACTION raised on a GPU
    (https://docs.jax.dev/en/latest/gpu_memory_allocation.html), and the figures are exact.
"""

from collections.abc import Iterator

from jaxscope._analysis.buffers import NO_OP, Buffer, MemoryCurve
from jaxscope._analysis.memory_verdict import MemoryVerdict
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._findings.records import ListingLine, Observation, Program, Rule, read_documentation
from jaxscope._ir.model import Frame
from jaxscope._links import LinkedListing
from jaxscope._sources import display_name
from jaxscope._view.format import format_bytes, format_percent

# A TPU's runtime keeps some of its memory, and buffers leave gaps; neither is in the figure.
LEAST_SHARE = 0.85
# https://docs.jax.dev/en/latest/gpu_memory_allocation.html
PREALLOCATED_SHARE = 0.75
_MOST_BUFFERS = 3


def _observations(program: Program) -> Iterator[Observation]:
    memory = program.program_memory
    needed, capacity = memory.verdict.needed_bytes, memory.verdict.capacity_bytes
    if isinstance(needed, Unavailable) or isinstance(capacity, Unavailable):
        return
    is_gpu = program.target.platform == "cuda"
    if needed <= (PREALLOCATED_SHARE if is_gpu else LEAST_SHARE) * capacity:
        return
    about = "about " if memory.verdict.is_estimate else ""
    text = f"A device needs {about}{format_bytes(needed)} and has {format_bytes(capacity)}"
    fits = needed <= capacity
    text += f": {format_percent(needed / capacity)}." if fits else f": {format_bytes(needed - capacity)} too much."
    if fits and is_gpu:
        text += (
            f" JAX takes {PREALLOCATED_SHARE:.0%} of the device for all its arrays, where "
            "XLA_PYTHON_CLIENT_MEM_FRACTION says nothing else: in that it does not fit."
        )
    linked = program.listing("hlo")
    largest = _largest(memory.curve)
    if largest:
        text += f" The largest at the peak: {', '.join(_told(buffer, linked) for buffer in largest)}."
    frames = next((stack for buffer in largest if (stack := _frames(buffer, linked))), ())
    lines = tuple(ListingLine("hlo", linked.listing.ops[each.op].line) for each in largest if each.op != NO_OP)
    severity = "warning" if fits else "error"
    yield Observation(text, _advice(program, memory.verdict), frames, lines, severity)


def _largest(curve: MemoryCurve | Unavailable) -> list[Buffer]:
    """The largest values in main memory at the peak."""
    if isinstance(curve, Unavailable):
        return []
    alive = [buffer for buffer in curve.alive_at(curve.peak_instant) if not buffer.memory_space and buffer.size_bytes]
    return sorted(alive, key=lambda buffer: -buffer.size_bytes)[:_MOST_BUFFERS]


def _frames(buffer: Buffer, linked: LinkedListing) -> tuple[Frame, ...]:
    return () if buffer.op == NO_OP else linked.op_frames(buffer.op)


def _told(buffer: Buffer, linked: LinkedListing) -> str:
    """``fusion.3 (f32[8,128], 4.00 KiB, train.py:12)``."""
    kind = buffer.type.partition("{")[0]
    frame = next(iter(_frames(buffer, linked)), None)
    place = f"{display_name(frame.file)}:{frame.line}" if frame is not None else buffer.role
    return f"{buffer.name} ({kind}, {format_bytes(buffer.size_bytes)}, {place})"


def _advice(program: Program, verdict: MemoryVerdict) -> str:
    sizes = {part.name: part.size_bytes for part in verdict.parts}
    if sizes.get("temporary", 0) >= max(sizes.get("argument", 0), sizes.get("output", 0)):
        return (
            "Temporaries take the most: wrap layers in jax.checkpoint, take a smaller batch, or spread arrays over "
            "more devices."
        )
    kept = {leaf.type for leaf in program.signature.arguments if not leaf.donated}
    results = [(leaf.size_bytes, leaf.type) for leaf in program.signature.outputs if isinstance(leaf.size_bytes, int)]
    if results and max(results)[1] in kept:
        return "Donate the arguments that results replace, donate_argnames=, and spread the largest over more devices."
    return "Most of it goes in and comes out: spread the arrays over more devices, or keep them in a shorter type."


RULE = Rule(
    key="memory-limit",
    title="Near the memory of a device",
    severity="warning",
    find=_observations,
    documentation=read_documentation(__doc__),
)
