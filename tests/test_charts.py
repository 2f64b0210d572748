"""Charts are read back: where a point, a roof or a tick stands gives the number again, and nothing leaves the frame."""

import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jaxscope._analysis.roofline import roofline_of
from jaxscope._analysis.work import KernelCost, ProgramCost, Runs, Work
from jaxscope._targets.model import DeviceFacts, Figure, Source
from jaxscope._view.charts import LogAxis, byte_ticks, scatter_of, stack_of

DOCUMENT = Source("a document", "https://example.org")
BANDWIDTH = 3.35e12
# FLOP/s of three types that differ by more than a decade: 20, 295 and 591 FLOP/B are their ridges.
PEAKS = {"f64": 66.9e12, "bf16": 989.4e12, "f8": 1978.9e12}
FACTS = DeviceFacts(
    peak_flop_per_second={name: Figure(value, DOCUMENT) for name, value in PEAKS.items()},
    memory_bandwidth_bytes_per_second=Figure(BANDWIDTH, DOCUMENT),
)
PEAK_OF = {"f64": PEAKS["f64"], "bf16": PEAKS["bf16"], "f8e4m3fn": PEAKS["f8"]}
KERNELS = st.lists(
    st.tuples(st.integers(0, 10**15), st.integers(0, 10**12), st.sampled_from(sorted(PEAK_OF))), min_size=1, max_size=8
)
PREFIXES = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50}


def chart_of(kernels):
    made = tuple(KernelCost(0, Work(flops=flops), size, 0, Runs(), dtype=dtype) for flops, size, dtype in kernels)
    found = roofline_of(ProgramCost((), made), FACTS)
    return found, scatter_of(found, found.kernels)


def number(label):
    value, _, prefix = label.partition(" ")
    return float(value) * PREFIXES[prefix]


def reader(ticks):
    """From a place on an axis to the number there, by two of its ticks."""
    low, high = ticks[0], ticks[-1]
    decades = math.log10(number(high["label"]) / number(low["label"])) / (high["at"] - low["at"])
    return lambda at: number(low["label"]) * 10 ** (decades * (at - low["at"])), decades


@settings(deadline=None)
@given(KERNELS)
def test_points_and_roofs_say_what_the_kernels_are(kernels):
    found, chart = chart_of(kernels)
    if chart is None:
        assert not any(flops and size for flops, size, _ in kernels)
        return
    x_of, x_decades = reader(chart["x_ticks"])
    y_of, y_decades = reader(chart["y_ticks"])
    # Places have four digits.
    x_near, y_near = (10 ** (2e-4 * decades) - 1 for decades in (x_decades, y_decades))
    points = dict(zip(found.kernels, chart["points"], strict=False))
    for one in found.kernels:
        point = points.get(one, [])
        assert bool(point) == bool(one.flops and one.moved_bytes)
        if point:
            roof = min(one.flops / one.moved_bytes * BANDWIDTH, PEAK_OF[one.kernel.dtype])
            assert x_of(point[0]) == pytest.approx(one.flops / one.moved_bytes, rel=x_near)
            assert y_of(point[1]) == pytest.approx(roof, rel=y_near)
    memory, *peaks = chart["roofs"]
    for x, y in memory["points"]:
        assert y_of(y) / x_of(x) == pytest.approx(BANDWIDTH, rel=2 * (x_near + y_near))
    for roof in peaks:
        (start, left), (end, right) = roof["points"]
        value = PEAK_OF[roof["label"].split()[0].rstrip(",")]
        assert left == right and y_of(left) == pytest.approx(value, rel=y_near)
        assert x_of(start) == pytest.approx(value / BANDWIDTH, rel=x_near) and end == 1 > start, "from its ridge on"


@settings(deadline=None)
@given(KERNELS)
def test_nothing_leaves_the_frame(kernels):
    _, chart = chart_of(kernels)
    if chart is not None:
        corners = [corner for roof in chart["roofs"] for corner in roof["points"]]
        places = [place for corner in (*corners, *chart["points"]) for place in corner]
        places += [tick["at"] for tick in (*chart["x_ticks"], *chart["y_ticks"])]
        assert min(places) >= 0 and max(places) <= 1


def test_a_small_kernel_of_a_faster_type_keeps_its_roof():
    """Most is f64, whose ridge is at 20 FLOP/B; that of f8 is at 591."""
    _, chart = chart_of([(10**12, 10**10, "f64"), (10**6, 10**6, "f8e4m3fn")])
    memory, slow, fast = chart["roofs"]
    assert memory["points"][0] == fast["points"][0] and slow["points"][0][0] < fast["points"][0][0] < 1
    assert [point[2] for point in chart["points"]] == pytest.approx([1, 0], abs=1e-3), "shares of the time"


def test_there_is_no_chart_without_arithmetic():
    assert chart_of([(0, 10**6, "bf16")])[1] is None


@given(st.floats(1e-3, 1e18), st.floats(1, 1e12))
def test_ticks_are_powers_of_ten_where_they_stand(lowest, span):
    axis = LogAxis(lowest, lowest * span)
    values = []
    ticks = axis.ticks(lambda value: values.append(value) or str(value))
    assert ticks == [{"at": axis.place(value), "label": str(value)} for value in values] and 2 <= len(ticks) <= 7
    powers = [math.log10(value) for value in values]
    assert powers == pytest.approx([round(power) for power in powers])
    assert len({round(after - before) for before, after in pairwise(powers)}) <= 1, "steps are even"


@given(st.one_of(st.integers(1, 2**50), st.floats(1, 2.0**50)))
def test_ticks_of_bytes_are_round(top):
    ticks = byte_ticks(top)
    assert all(0 <= tick["at"] <= 1 for tick in ticks) and ticks[0] == {"at": 0.0, "label": "0 B"}
    assert 1 - ticks[-1]["at"] <= ticks[1]["at"] + 2e-4, "up to the last that fits"
    for count, tick in enumerate(ticks):
        value, unit = tick["label"].split()
        size = float(value) * UNITS[unit]
        assert tick["at"] == pytest.approx(size / top, abs=1e-2)
        assert tick["at"] == pytest.approx(count * ticks[1]["at"], abs=1e-3)
    step, unit = ticks[1]["label"].split()
    # Half of a unit is 512 of the one below.
    assert step == "512" or f"{float(step):g}".strip("0.") in ("1", "2", "5"), step


@given(st.lists(st.integers(0, 2**40), max_size=6), st.integers(1, 2**42))
def test_parts_of_a_stack_are_shares_of_its_length(sizes, capacity):
    stack = stack_of([(f"part{number}", size) for number, size in enumerate(sizes)], ("memory", capacity))
    whole = sum(sizes)
    length = max(whole, capacity) if stack["marks"] else whole
    assert [part["share"] for part in stack["parts"]] == pytest.approx(
        [size / length for size in sizes if size], abs=1e-5
    )
    for mark in stack["marks"]:
        assert mark["at"] == pytest.approx(capacity / length, abs=1e-4) and 0 <= mark["at"] <= 1
    assert whole == 0 or bool(stack["marks"]) == (capacity < 8 * whole), "a limit too far away is left out"
