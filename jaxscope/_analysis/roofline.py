"""How fast a program could at best be on a device, and what holds it back there: arithmetic or memory.

Problem: FLOPs and bytes say little until they are set against what a device does in a second, and vendors publish peaks
by element type, some of which only its matrix units reach. Input: a `ProgramCost` of compiled HLO and what is published
of the device. Output: a `Roofline`: for each kernel its intensity, the time it cannot beat and which of the two limits
it meets first, and the same for the whole.

The bound is a bound: peaks are the highest that the device has for the type, and memory is read at full speed.
S. Williams, A. Waterman, D. Patterson, Roofline, CACM 52 (4), 2009. https://doi.org/10.1145/1498765.1498785
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from jaxscope._analysis.roll_up import moved_bytes
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._analysis.work import KernelCost, ProgramCost, Work
from jaxscope._ir.model import NO_STACK
from jaxscope._links import LinkedListing
from jaxscope._targets.model import DeviceFacts, Figure

if TYPE_CHECKING:
    import pandas

Bound = Literal["compute", "memory"]

# Which published peaks a program's element type may reach, in XLA's names of types. f32 matrix products may run in tf32
# on NVIDIA's matrix units, and in bf16 on Google's, for which no other peak is published: jax_default_matmul_precision.
_PEAKS: Mapping[str, tuple[str, ...]] = {
    "f64": ("f64",),
    "c128": ("f64",),
    "f32": ("f32", "tf32"),
    "c64": ("f32", "tf32"),
    "bf16": ("bf16", "f16"),
    "f16": ("f16", "bf16"),
    "s8": ("i8",),
    "u8": ("i8",),
    "s4": ("i4", "i8"),
    "u4": ("i4", "i8"),
    "f4e2m1fn": ("f4", "f8"),
}
_NARROW_INTEGERS = ("s8", "u8", "s4", "u4")


@dataclass(frozen=True, slots=True)
class KernelBound:
    """One kernel against the roof.

    Attributes:
        kernel: The kernel.
        flops: What all its runs compute, unknown loops run once; for 8-bit and 4-bit integers, operations on these.
        moved_bytes: What all its runs read and write.
        intensity: FLOPs per byte; infinite where nothing is moved.
        seconds: The time that all its runs cannot beat.
        bound: Which limit that is; None where the kernel does nothing.
        peak: The published figure that bounds its arithmetic; None where it computes nothing.
    """

    kernel: KernelCost
    flops: int
    moved_bytes: int
    intensity: float
    seconds: float
    bound: Bound | None
    peak: Figure | None


@dataclass(frozen=True)
class Roofline:
    """A program against the roof.

    Attributes:
        kernels: The counted kernels that compute or move something, the slowest first.
        left_out: Kernels of which work or bytes are not known, with the reason.
        flops, moved_bytes: Sums over the kernels.
        seconds: Time that the kernels cannot beat one after the other.
        bound: Which limit the whole meets first: the larger of the kernels' times by either.
        peaks: The figures by element type, of those types that the program computes in.
        bandwidth: The figure of the memory.
    """

    kernels: tuple[KernelBound, ...]
    left_out: tuple[tuple[KernelCost, str], ...]
    flops: int
    moved_bytes: int
    seconds: float
    bound: Bound | None
    peaks: Mapping[str, Figure]
    bandwidth: Figure

    @property
    def intensity(self) -> float:
        """FLOPs per byte of the whole."""
        return self.flops / self.moved_bytes if self.moved_bytes else float("inf") if self.flops else 0.0

    @property
    def main_peak(self) -> tuple[str, Figure] | None:
        """The element type that most FLOPs are in, and its peak; None where nothing is computed."""
        totals: dict[str, int] = {}
        for one in self.kernels:
            if one.flops:
                totals[one.kernel.dtype] = totals.get(one.kernel.dtype, 0) + one.flops
        if not totals:
            return None
        dtype = max(totals, key=lambda name: totals[name])
        return dtype, self.peaks[dtype]

    @property
    def ridge(self) -> float | None:
        """FLOPs per byte from which on arithmetic in the main element type, not memory, is the limit."""
        return self.main_peak[1].value / self.bandwidth.value if self.main_peak else None


def peak_of(dtype: str, facts: DeviceFacts) -> Figure | Unavailable:
    """The highest published rate that arithmetic in an element type can reach.

    Args:
        dtype: In XLA's names: ``bf16``, ``f32``, ``s8``, ``f8e4m3fn``.
        facts: What is published of the device.
    """
    published = facts.peak_flop_per_second
    names = ("f8", "bf16") if dtype.startswith("f8") else _PEAKS.get(dtype, ())
    figures = [published[name] for name in names if name in published]
    if not figures and dtype in ("f32", "c64") and "bf16" in published:
        figures = [published["bf16"]]
    if not figures:
        return Unavailable(f"No peak for {dtype or 'its element type'} is published for this device.")
    return max(figures, key=lambda figure: figure.value)


def roofline_of(cost: ProgramCost, facts: DeviceFacts | Unavailable) -> Roofline | Unavailable:
    """Sets a program's kernels against a device.

    Args:
        cost: The account of compiled HLO.
        facts: What is published of the device, or why nothing is known.
    """
    if isinstance(facts, Unavailable):
        return facts
    bandwidth = facts.memory_bandwidth_bytes_per_second
    if isinstance(bandwidth, Unavailable):
        return Unavailable(f"The memory bandwidth of this device is not known. {bandwidth.reason}")
    if not cost.kernels:
        return Unavailable("There is no compiled program whose kernels could be counted.")
    kernels, left_out, peaks = [], [], {}
    for kernel in cost.kernels:
        if not kernel.is_counted:
            continue
        size = moved_bytes(kernel)
        if isinstance(kernel.work, Unavailable) or isinstance(size, Unavailable):
            missing = kernel.work if isinstance(kernel.work, Unavailable) else size
            assert isinstance(missing, Unavailable)
            left_out.append((kernel, missing.reason))
            continue
        one = _bound_of(kernel, kernel.work, size, bandwidth, facts)
        if isinstance(one, Unavailable):
            left_out.append((kernel, one.reason))
            continue
        if one.peak is not None:
            peaks[kernel.dtype] = one.peak
        if one.bound is not None:
            kernels.append(one)
    kernels.sort(key=lambda one: -one.seconds)
    times = {bound: sum(one.seconds for one in kernels if one.bound == bound) for bound in ("compute", "memory")}
    return Roofline(
        kernels=tuple(kernels),
        left_out=tuple(left_out),
        flops=sum(one.flops for one in kernels),
        moved_bytes=sum(one.moved_bytes for one in kernels),
        seconds=sum(times.values()),
        bound=None if not kernels else "compute" if times["compute"] >= times["memory"] else "memory",
        peaks=peaks,
        bandwidth=bandwidth,
    )


def _bound_of(
    kernel: KernelCost, work: Work, size_bytes: int, bandwidth: Figure, facts: DeviceFacts
) -> KernelBound | Unavailable:
    runs = kernel.runs.with_loops_once
    # Of integers only those have a published peak that matrix units multiply.
    arithmetic = work.integer_ops if kernel.dtype in _NARROW_INTEGERS else work.flops
    flops, moved = arithmetic * runs, size_bytes * runs
    peak, compute_s = None, 0.0
    if flops:
        found = peak_of(kernel.dtype, facts)
        if isinstance(found, Unavailable):
            return found
        peak, compute_s = found, flops / found.value
    memory_s = moved / bandwidth.value
    seconds = max(compute_s, memory_s)
    bound: Bound | None = None if not seconds else "compute" if compute_s >= memory_s else "memory"
    intensity = flops / moved if moved else float("inf") if flops else 0.0
    return KernelBound(kernel, flops, moved, intensity, seconds, bound, peak)


ROOFLINE_COLUMNS = (
    "kernel",
    "line",
    "file",
    "python_line",
    "dtype",
    "flops",
    "moved_bytes",
    "intensity",
    "seconds",
    "share",
    "bound",
    "missing",
)


def roofline_frame(roofline: Roofline | Unavailable, linked: LinkedListing) -> "pandas.DataFrame":
    """One row per kernel, slowest first, then those that are left out; no rows where there is no roofline.

    Args:
        roofline: The kernels against the device.
        linked: The compiled HLO that they stand in.
    """
    import pandas

    def names(kernel: KernelCost) -> tuple[str, int, str | None, int | None]:
        op, stack = linked.listing.ops[kernel.op], linked.op_stack[kernel.op]
        frame = linked.stacks.frames[linked.stacks.nodes[stack][0]] if stack != NO_STACK else None
        return (op.results[0], op.line + 1, frame.file if frame else None, frame.line if frame else None)

    rows: list[tuple[object, ...]] = []
    if isinstance(roofline, Roofline):
        total = roofline.seconds
        for one in roofline.kernels:
            share = one.seconds / total if total else None
            figures = (one.kernel.dtype, one.flops, one.moved_bytes, one.intensity, one.seconds, share, one.bound, "")
            rows.append((*names(one.kernel), *figures))
        for kernel, reason in roofline.left_out:
            rows.append((*names(kernel), kernel.dtype, None, None, None, None, None, None, reason))
    frame = pandas.DataFrame(rows, columns=list(ROOFLINE_COLUMNS))
    frame.attrs["missing"] = roofline.reason if isinstance(roofline, Unavailable) else ""
    whole = dict.fromkeys(("line", "python_line", "flops", "moved_bytes"), "Int64")
    return frame.astype({**whole, **dict.fromkeys(("intensity", "seconds", "share"), "Float64")})
