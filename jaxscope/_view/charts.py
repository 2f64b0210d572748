"""Charts as places between 0 and 1 and as words: renderers map and draw, and know neither units nor logarithms.

Input: raw numbers. Output: the chart records of the view model.
"""

import math
from collections.abc import Callable, Sequence

from jaxscope._analysis.roofline import KernelBound, Roofline
from jaxscope._view.format import format_bytes, format_count, format_quantity
from jaxscope._view.model import Part, Roof, Scatter, Stack, Tick

# A decade or so of air around the points of a logarithmic axis.
_MARGIN = 0.4


class LogAxis:
    """A logarithmic axis over a range of positive numbers; `place` gives shares of its length."""

    def __init__(self, lowest: float, highest: float):
        self.low = math.log10(lowest) - _MARGIN
        self.high = math.log10(highest) + _MARGIN
        if math.floor(self.high) <= math.ceil(self.low):
            # One tick, or none, does not say what the scale is.
            self.low, self.high = math.floor(self.low), math.ceil(self.high)

    def place(self, value: float) -> float:
        """Where a value lies, 0 at the lower end and 1 at the upper."""
        return round((math.log10(value) - self.low) / (self.high - self.low), 4)

    def ticks(self, show: Callable[[float], str]) -> list[Tick]:
        """Powers of ten, every other or every third where there are many."""
        first, last = math.ceil(self.low), math.floor(self.high)
        step = max(1, -(-(last - first + 1) // 7))
        return [Tick(at=self.place(10.0**power), label=show(10.0**power)) for power in range(first, last + 1, step)]


def byte_ticks(top: float, count: int = 4) -> list[Tick]:
    """Round numbers of bytes from 0 to the top of an axis."""
    if top <= 0:
        return [Tick(at=0.0, label="0 B")]
    unit = 1024 ** min(int(math.log(max(top, 1), 1024)), 5)
    rough = max(top / unit / count, 1 / unit)
    step = next(
        (size for power in range(-1, 4) for size in (10.0**power, 2 * 10.0**power, 5 * 10.0**power) if size >= rough),
        rough,
    )
    ticks = []
    number = 0
    while number * step * unit <= top:
        ticks.append(Tick(at=round(number * step * unit / top, 4), label=format_bytes(number * step * unit)))
        number += 1
    return ticks


def stack_of(parts: Sequence[tuple[str, int]], limit: tuple[str, int] | None) -> Stack:
    """Parts of memory side by side, and a limit where there is one.

    Args:
        parts: Name and bytes.
        limit: Name and bytes; the bar is as long as the larger of the whole and the limit, unless the whole would be
            too small to see.
    """
    whole = sum(size for _, size in parts)
    length = whole
    if limit is not None and limit[1] < 8 * whole:
        length = max(whole, limit[1])
    marks = [Tick(at=round(limit[1] / length, 4), label=limit[0])] if limit and length >= limit[1] else []
    shown = [Part(label=f"{name} {format_bytes(size)}", share=round(size / length, 5)) for name, size in parts if size]
    summary = ", ".join(f"{name} {format_bytes(size)}" for name, size in parts if size)
    return Stack(
        kind="stack", summary=f"{summary or 'Nothing'}; together {format_bytes(whole)}.", parts=shown, marks=marks
    )


def scatter_of(roofline: Roofline, rows: Sequence[KernelBound]) -> Scatter | None:
    """The roofline chart with a point for each of the rows that computes and moves something; None without any.

    Args:
        roofline: The whole.
        rows: The kernels of the table's rows, in their order.
    """
    drawn = [one for one in rows if _is_drawn(one)]
    main = roofline.main_peak
    if not drawn or main is None:
        return None
    ridge = main[1].value / roofline.bandwidth.value
    # The roof of memory ends at the ridge of the highest peak, which need not be the main one's.
    ridges = [figure.value / roofline.bandwidth.value for figure in roofline.peaks.values()]
    intensities = [one.intensity for one in drawn] + ridges
    rates = [_rate(one) for one in drawn] + [figure.value for figure in roofline.peaks.values()]
    x_axis = LogAxis(min(intensities), max(intensities))
    left, right = 10**x_axis.low, 10**x_axis.high
    y_axis = LogAxis(min([*rates, roofline.bandwidth.value * min(intensities)]), max(rates))

    def corner(x: float, y: float) -> list[float]:
        return [x_axis.place(x), y_axis.place(y)]

    slope = roofline.bandwidth.value
    foot = max(left, 10**y_axis.low / slope)
    top = max(figure.value for figure in roofline.peaks.values()) / slope
    middle = math.sqrt(foot * top)
    # Its name stands at the last corner: half way up, where nothing else is.
    roofs = [
        Roof(
            label=f"memory, {format_bytes_rate(slope)}",
            points=[corner(top, top * slope), corner(foot, foot * slope), corner(middle, middle * slope)],
        )
    ]
    by_value: dict[float, list[str]] = {}
    for dtype, figure in sorted(roofline.peaks.items()):
        by_value.setdefault(figure.value, []).append(dtype)
    for value, dtypes in by_value.items():
        start = min(max(left, value / roofline.bandwidth.value), right)
        label = f"{', '.join(dtypes)} {format_quantity(value, 'FLOP/s')}"
        roofs.append(Roof(label=label, points=[corner(start, value), corner(right, value)]))
    total = roofline.seconds or 1.0
    points: list[list[float]] = []
    for one in rows:
        if _is_drawn(one):
            points.append([*corner(one.intensity, _rate(one)), round(one.seconds / total, 4)])
        else:
            points.append([])
    while points and not points[-1]:
        points.pop()
    bound = "arithmetic" if roofline.bound == "compute" else "memory"
    return Scatter(
        kind="scatter",
        summary=(
            f"{format_count(len(drawn), ('kernel', 'kernels'))}; the ridge for {main[0]} is at "
            f"{format_quantity(ridge)} FLOP/B, the program has {format_quantity(roofline.intensity)} FLOP/B, and "
            f"{bound} is what most of its time is bound by."
        ),
        x_label="FLOP for each byte moved",
        y_label="FLOP/s at best",
        x_ticks=x_axis.ticks(format_quantity),
        y_ticks=y_axis.ticks(format_quantity),
        roofs=roofs,
        points=points,
    )


def _is_drawn(one: KernelBound) -> bool:
    """Whether a kernel has a place on both logarithmic axes."""
    return bool(one.flops and one.moved_bytes and one.seconds)


def _rate(one: KernelBound) -> float:
    """The arithmetic in a second that the roof allows."""
    return one.flops / one.seconds


def format_bytes_rate(bytes_per_second: float) -> str:
    """``819 GB/s``, in powers of ten as vendors print rates."""
    return format_quantity(bytes_per_second, "B/s")
