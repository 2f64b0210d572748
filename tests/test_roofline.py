"""The roofline is held to hand-made kernels and published figures, and to products whose intensity is known."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import jaxscope
from jaxscope._analysis.roofline import Roofline, peak_of, roofline_of
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._analysis.work import KernelCost, ProgramCost, Runs, Work
from jaxscope._targets.model import DeviceFacts, Figure, Source
from jaxscope._view.charts import LogAxis, byte_ticks, scatter_of, stack_of
from tests.plugins import CUDA, CUDA_TEXT, TPU

DOCUMENT = Source("a document", "https://example.org")
PEAK, BANDWIDTH = 1e12, 1e9
FACTS = DeviceFacts(
    peak_flop_per_second={"bf16": Figure(PEAK, DOCUMENT), "i8": Figure(2 * PEAK, DOCUMENT)},
    memory_bandwidth_bytes_per_second=Figure(BANDWIDTH, DOCUMENT),
)


def kernel(flops=0, size=0, runs=1, dtype="bf16", **fields):
    return KernelCost(0, Work(flops=flops), size, 0, Runs().times(runs), dtype=dtype, **fields)


def roofline(*kernels):
    return roofline_of(ProgramCost((), kernels), FACTS)


@given(st.integers(1, 10**15), st.integers(1, 10**12), st.integers(1, 50))
def test_the_larger_time_binds(flops, size, runs):
    found = roofline(kernel(flops, size, runs))
    one = found.kernels[0]
    times = {"compute": runs * flops / PEAK, "memory": runs * size / BANDWIDTH}
    assert one.seconds == pytest.approx(max(times.values()))
    assert times[one.bound] == max(times.values())
    assert one.intensity == pytest.approx(flops / size)
    assert found.ridge == PEAK / BANDWIDTH
    assert (one.bound == "compute") == (one.intensity >= found.ridge) or one.intensity == pytest.approx(found.ridge)


def test_times_add_up_and_the_slowest_comes_first():
    found = roofline(kernel(10**9, 10), kernel(1, 10**9), kernel(0, 0))
    assert found.seconds == pytest.approx(1e-3 + 1)
    assert [one.bound for one in found.kernels] == ["memory", "compute"] and found.bound == "memory"


def test_other_branches_are_left_out():
    assert roofline(kernel(10**9, 10, is_counted=False)).kernels == ()


def test_what_is_not_known_is_left_out_with_its_reason():
    opaque = KernelCost(0, Unavailable("An opaque call."), 8, 8)
    double = kernel(10, 10, dtype="f64")
    found = roofline(opaque, double)
    assert [reason for _, reason in found.left_out] == [
        "An opaque call.",
        "No peak for f64 is published for this device.",
    ]


def test_eight_bit_integers_have_their_own_peak():
    one = roofline_of(ProgramCost((), (KernelCost(0, Work(integer_ops=4 * 10**12), 1, 0, dtype="s8"),)), FACTS).kernels[
        0
    ]
    assert (one.flops, one.seconds, one.bound) == (4 * 10**12, 2.0, "compute")


@pytest.mark.parametrize(
    ("name", "dtype", "teraflops"),
    [
        ("cuda:h100", "f32", 494.7),  # TF32, dense
        ("cuda:h100", "bf16", 989.4),
        ("cuda:h100", "f64", 66.9),
        ("cuda:h100", "f8e4m3fn", 1978.9),
        ("cuda:t4", "f32", 8.1),
        ("tpu:v5e:1x1", "f32", 197),  # bf16: no other is published
        ("tpu:v5e:1x1", "s8", 393),
    ],
)
def test_peaks_are_those_of_the_vendors(name, dtype, teraflops):
    assert peak_of(dtype, jaxscope.targets()[name].facts).value == pytest.approx(teraflops * 1e12)


def test_a_device_without_figures_has_no_roofline():
    frame = jaxscope.inspect(lambda x: x @ x, "f32[8,8]").roofline
    assert frame.empty and "No published figures" in frame.attrs["missing"]


@pytest.mark.parametrize(
    ("target", "bandwidth", "peak"),
    [
        pytest.param("cuda:h100", 3.35e12, 989.4e12, marks=(CUDA, CUDA_TEXT)),
        pytest.param("tpu:v5e:1x1", 819e9, 197e12, marks=TPU),
    ],
)
@pytest.mark.parametrize("rows", [1, 8192])
def test_a_product_is_bound_by_what_its_shape_says(target, bandwidth, peak, rows):
    width = 4096
    inspection = jaxscope.inspect(lambda x, w: x @ w, f"bf16[{rows},{width}]", f"bf16[{width},{width}]", target=target)
    found = inspection._facts.roofline
    assert isinstance(found, Roofline)
    flops, size = 2 * rows * width**2, 2 * (2 * rows * width + width**2)
    assert found.bound == ("memory" if flops / size < peak / bandwidth else "compute")
    # A compiler may add kernels and pass over the result once more, and fuse what is written with what is read.
    assert found.flops == pytest.approx(flops, rel=0.01)
    assert found.seconds >= max(flops / peak, size / bandwidth) * 0.99
    chart = scatter_of(found, found.kernels)
    assert chart is not None and len(chart["points"]) <= len(found.kernels)


@given(st.lists(st.tuples(st.integers(1, 10**14), st.integers(1, 10**11)), min_size=1, max_size=8))
def test_points_lie_on_the_roof(kernels):
    found = roofline(*(kernel(*one) for one in kernels))
    chart = scatter_of(found, found.kernels)
    (ridge, top), foot, _ = chart["roofs"][0]["points"]
    for x, y, share in chart["points"]:
        assert 0 <= x <= 1 and 0 <= y <= 1 and 0 <= share <= 1
        slope = (top - foot[1]) / (ridge - foot[0])
        assert y == pytest.approx(min(top, top + slope * (x - ridge)), abs=2e-3)
    for tick in (*chart["x_ticks"], *chart["y_ticks"]):
        assert -1e-9 <= tick["at"] <= 1 + 1e-9


def test_powers_of_ten_stand_where_they_are():
    axis = LogAxis(1, 1000)
    places = [axis.place(10**power) for power in range(4)]
    steps = [after - before for before, after in pairwise(places)]
    assert steps == pytest.approx([steps[0]] * 3, abs=1e-3) and places[0] == pytest.approx(1 - places[-1], abs=1e-3)


@given(st.integers(1, 2**50))
def test_ticks_of_bytes_are_round_and_within(top):
    ticks = byte_ticks(top)
    assert ticks[0] == {"at": 0.0, "label": "0 B"} and 2 <= len(ticks) <= 12
    assert all(0 <= tick["at"] <= 1.001 for tick in ticks)
    assert len({tick["label"] for tick in ticks}) == len(ticks)


def test_parts_of_a_stack_fill_it():
    stack = stack_of([("arguments", 30), ("temporaries", 70)], ("memory", 200))
    assert [part["share"] for part in stack["parts"]] == [0.15, 0.35] and stack["marks"][0]["at"] == 1.0
    assert stack_of([("arguments", 1)], ("memory", 10**9))["marks"] == [], "too far away to draw"


TYPES = {"bf16": PEAK, "f32": PEAK, "f8e4m3fn": PEAK, "s8": 2 * PEAK, "s4": 2 * PEAK}


@given(
    st.lists(
        st.tuples(st.integers(0, 10**14), st.integers(0, 10**11), st.integers(1, 9), st.sampled_from(sorted(TYPES))),
        max_size=6,
    )
)
def test_the_whole_is_its_kernels_one_after_the_other(rows):
    """For a device with peaks of bf16 and int8 alone: f32 runs as bf16 does, f8 too, int4 as int8."""
    kernels = [
        KernelCost(
            0, Work(**{"integer_ops" if dtype[0] == "s" else "flops": work}), size, 0, Runs().times(runs), True, dtype
        )
        for work, size, runs, dtype in rows
    ]
    times = [(work * runs / TYPES[dtype], size * runs / BANDWIDTH) for work, size, runs, dtype in rows]
    found = roofline(*kernels)
    if not rows:
        assert isinstance(found, Unavailable)
        return
    assert found.seconds == pytest.approx(sum(map(max, times))) and not found.left_out
    assert found.flops == sum(work * runs for work, _, runs, _ in rows)
    assert found.moved_bytes == sum(size * runs for _, size, runs, _ in rows)
    seconds = [one.seconds for one in found.kernels]
    assert seconds == sorted(seconds, reverse=True) and len(seconds) == sum(any(pair) for pair in times)
    compute = sum(first for first, second in times if first >= second)
    if (memory := sum(second for first, second in times if first < second)) != pytest.approx(compute):
        assert found.bound == ("compute" if compute > memory else "memory")


def test_an_unknown_loop_runs_once():
    one = roofline(kernel(10**9, 10, runs="n1")).kernels[0]
    assert one.seconds == pytest.approx(1e-3)


def test_the_ridge_is_that_of_the_type_most_is_computed_in():
    assert roofline(kernel(10**9, 1), KernelCost(0, Work(integer_ops=2 * 10**9), 1, 0, dtype="s8")).ridge == 2000
    assert roofline(kernel(0, 10)).ridge is None


def test_without_a_bandwidth_there_is_no_roof():
    facts = DeviceFacts(peak_flop_per_second={"bf16": Figure(PEAK, DOCUMENT)})
    found = roofline_of(ProgramCost((), (kernel(1, 1),)), facts)
    assert isinstance(found, Unavailable) and "bandwidth of this device is not known" in found.reason
