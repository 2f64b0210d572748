"""The curve of memory over the schedule: by hand, against the compiler's assignment, and its tables."""

import dataclasses

import jax
import jax.numpy as jnp
import pytest

import jaxscope
from jaxscope import _dumps, _jax_dump
from jaxscope._analysis.buffers import FROM_REPORT, Buffer, MemoryCurve, check_curve, curve_of
from jaxscope._analysis.memory_columns import MEMORY_TABLES
from jaxscope._analysis.memory_frames import alive_frame, allocations_frame, buffers_frame, donation_frame
from jaxscope._analysis.peak_reconciliation import reconcile_peak
from jaxscope._analysis.program_memory import read_dump
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._ir import hlo
from jaxscope._ir.live_range import read_live_range
from tests import memory_dumps
from tests.programs import PROGRAMS, case_names
from tests.shared import ABSENT

recorded = pytest.mark.skipif(not memory_dumps.recorded_folders(), reason=ABSENT)

# By hand: a is read at 2 and is nobody's to overwrite, so it stays to the end (4). b lives from 1 to 3, c from 2 to 3,
# the result d from 3 to 4.
HLO = """HloModule m, is_scheduled=true

ENTRY %main (a: f32[100]) -> f32[100] {
  %a = f32[100]{0} parameter(0)
  %b = f32[100]{0} sine(%a)
  %c = f32[50]{0} slice(%a), slice={[0:50]}
  ROOT %d = f32[100]{0} custom-call(%b, %c), custom_call_target="f"
}
"""


def by_hand():
    return curve_of(hlo.parse(HLO))


def test_curve_by_hand():
    curve = by_hand()
    assert {each.name: (each.start, each.end, each.role) for each in curve.buffers} == {
        "a{}": (0, 4, "argument"),
        "b{}": (1, 3, "temporary"),
        "c{}": (2, 3, "temporary"),
        "d{}": (3, 4, "output"),
    }
    assert curve.bytes_alive == curve.bytes_in_use == (400, 800, 1000, 1400, 800)
    assert (curve.peak_instant, curve.peak_bytes, curve.highest_instant, curve.highest_bytes) == (3, 1400, 3, 1400)
    assert [each.name for each in curve.alive_at(3)] == ["a{}", "b{}", "d{}", "c{}"]
    assert curve.breakdown_at(3) == {("temporary", 0): 600, ("argument", 0): 400, ("output", 0): 400}
    assert curve.bytes_alive_as("temporary") == (0, 400, 600, 600, 0)
    assert curve.bytes_alive_in(0) == curve.bytes_alive and curve.memory_spaces == (0,)


@pytest.mark.parametrize("instant", (-1, 5))
def test_there_is_nobody_outside_the_schedule(instant):
    with pytest.raises(IndexError, match="instants 0 to 4"):
        by_hand().alive_at(instant)


def test_an_update_in_place_is_in_use_once():
    head = "HloModule m, is_scheduled=true"
    text = HLO.replace(head, f"{head}, input_output_alias={{ {{}}: (0, {{}}, may-alias) }}").replace(
        "(%b, %c)", "(%a, %b)"
    )
    curve = curve_of(hlo.parse(text))
    ends = {each.name: (each.start, each.end, each.hand_over) for each in curve.buffers}
    assert ends["a{}"] == (0, 3, 3) and ends["d{}"] == (3, 4, None)
    assert curve.bytes_alive[3] - curve.bytes_in_use[3] == 400


NAMES = [*sorted(PROGRAMS), *case_names()]


def placed(dump):
    report, allocations = read_dump(dump.texts)
    ours = curve_of(dump.listing, starts_open_buffers=dump.starts_open_buffers)
    return check_curve(ours, report, allocations, dump.listing), allocations


def assert_consistent(curve, allocations):
    """What holds of any right account of values and allocations."""
    assert curve.confirmed and not curve.notes
    sizes = {each.index: each.size_bytes for each in allocations}
    for buffer in curve.buffers:
        if isinstance(buffer.allocation, Unavailable):
            assert buffer.size_bytes == 0
        else:
            # A TPU's tables of pointers take 4 bytes for each part, and reports count 8.
            assert buffer.size_bytes <= buffer.allocated_bytes or buffer.type.startswith("(")
            assert buffer.offset + buffer.allocated_bytes <= sizes[buffer.allocation]
    set_aside = sum(each.size_bytes for each in allocations if each.kind != "thread-local")
    assert max(curve.bytes_in_use) <= set_aside
    for instant in {curve.peak_instant, curve.highest_instant, 0, len(curve.instants)}:
        found = reconcile_peak(curve, allocations, instant)
        assert found.peak_bytes == curve.bytes_alive[instant]
        assert found.peak_bytes + sum(step.size_bytes for step in found.steps) == found.allocated_bytes
        only_down = {"other memories", "no memory", "shared"}
        assert all((step.size_bytes < 0) == (step.name in only_down) for step in found.steps)
    main = [each for each in allocations if each.kind != "thread-local" and each.memory_space == 0]
    assert reconcile_peak(curve, allocations).allocated_bytes == sum(each.size_bytes for each in main)


@pytest.mark.slow
@recorded
@pytest.mark.parametrize("folder", memory_dumps.recorded_folders())
def test_recorded_programs_lie_where_the_compiler_put_them(folder):
    dump = memory_dumps.recorded(folder)
    curve, allocations = placed(dump)
    assert_consistent(curve, allocations)
    if "total_allocation_bytes" in dump.figures:
        assert reconcile_peak(curve, allocations).allocated_bytes == dump.figures["total_allocation_bytes"]


@pytest.mark.parametrize("name", NAMES)
def test_programs_lie_where_the_compiler_put_them(name):
    dump = memory_dumps.made_now(name)
    if dump is None:
        pytest.skip("JAX refuses to compile it")
    curve, allocations = placed(dump)
    assert_consistent(curve, allocations)
    if "total_allocation_bytes" in dump.figures:
        assert reconcile_peak(curve, allocations).allocated_bytes == dump.figures["total_allocation_bytes"]


@recorded
@pytest.mark.parametrize("folder", memory_dumps.recorded_folders())
def test_the_report_alone_gives_the_same_curve(folder):
    """Where our own account fails or differs, the compiler's is shown."""
    dump = memory_dumps.recorded(folder)
    report, allocations = read_dump(dump.texts)
    ours, _ = placed(dump)
    alone = check_curve(Unavailable("no text"), report, allocations, dump.listing)
    assert alone.source == FROM_REPORT and alone.peak_bytes == report.peak_bytes == ours.peak_bytes
    assert alone.bytes_alive == ours.bytes_alive
    assert {b.name: b.memory_space for b in alone.buffers} == {b.name: b.memory_space for b in ours.buffers}


def test_an_account_that_differs_gives_way_to_the_compilers():
    dump = memory_dumps.made_now("nested_loops")
    report, allocations = read_dump(dump.texts)
    ours = curve_of(dump.listing, starts_open_buffers=dump.starts_open_buffers)
    first, *others = ours.buffers
    wrong = dataclasses.replace(ours, buffers=(dataclasses.replace(first, end=first.end + 1), *others))
    found = check_curve(wrong, report, allocations, dump.listing)
    assert found.source == FROM_REPORT and found.bytes_alive == ours.bytes_alive
    assert "1 of" in found.notes[0] and "live ranges differ" in found.notes[0]
    shorter = dataclasses.replace(ours, instants=ours.instants[1:])
    assert "instants" in check_curve(shorter, report, allocations, dump.listing).notes[0]
    elsewhere = dataclasses.replace(ours, peak_instant=ours.peak_instant - 1)
    assert "the peak at instant" in check_curve(elsewhere, report, allocations, dump.listing).notes[0]


def test_without_allocations_nothing_is_reconciled():
    assert "not known" in reconcile_peak(by_hand(), ()).reason


# The inspection


def function(params, batch):
    hidden = jnp.tanh(batch @ params["w"])
    return jnp.sort(hidden, axis=-1)[:, :4].sum()


ARGS = ({"w": jax.ShapeDtypeStruct((64, 32), jnp.float32)}, jax.ShapeDtypeStruct((16, 64), jnp.float32))


def test_one_more_compilation_brings_everything(monkeypatch):
    made = []

    def counted(lowered, options, folder, original=_jax_dump.compile_with_dump):
        made.append(folder)
        original(lowered, options, folder)

    monkeypatch.setattr(_dumps.dump_texts, "__defaults__", (counted,))
    inspection = jaxscope.inspect(function, *ARGS)
    facts = inspection._facts
    before = facts.program_memory
    assert facts.program_memory is before and not made
    # On CPU the executable brings its buffer assignment.
    assert before.allocations_from == "the executable's buffer assignment" and before.curve.confirmed is None
    assert all(each.agrees for each in before.agreement) and len(before.agreement) == 4
    after = facts.read_buffer_assignment()
    assert len(made) == 1 and inspection.llvm_ir and len(made) == 1
    assert after.curve.confirmed and after is facts.program_memory
    assert [dataclasses.replace(each, offset=0) for each in after.curve.buffers] == [
        dataclasses.replace(each, offset=0) for each in before.curve.buffers
    ]
    assert after.reconciliation == before.reconciliation


@pytest.mark.filterwarnings("ignore:Some donated buffers were not usable")
def test_frames_have_the_documented_columns():
    facts = jaxscope.inspect(jax.jit(function, donate_argnums=1), *ARGS)._facts
    memory, linked = facts.program_memory, facts.listing("hlo")
    frames = {
        "buffers": buffers_frame(memory.curve, linked),
        "alive": alive_frame(memory.curve, linked),
        "allocations": allocations_frame(memory.allocations),
        "donations": donation_frame(facts.donations),
    }
    assert set(frames) | {"peak", "agreement"} == set(MEMORY_TABLES), "two are on the screen only"
    for table, frame in frames.items():
        assert list(frame.columns) == [entry.key for entry in MEMORY_TABLES[table]]
        assert len(frame) and all(entry.what.endswith(".") for entry in MEMORY_TABLES[table])
    alive = frames["alive"]
    assert alive["running_bytes"].iloc[-1] == alive["size_bytes"].sum() == memory.curve.peak_bytes
    assert (alive["start"] <= memory.curve.peak_instant).all() and (alive["end"] >= memory.curve.peak_instant).all()
    # The line of the product, and of nobody else's file.
    tanh = frames["buffers"].query("opcode != 'parameter' and file == file")
    source = function.__code__
    assert set(tanh["file"]) == {__file__}
    assert tanh["python_line"].between(source.co_firstlineno, source.co_firstlineno + 3).all()
    for _, row in frames["buffers"].iterrows():
        text = linked.listing.lines[row["line"] - 1]
        assert f"%{row['buffer'].partition('{')[0]} = " in text and f" {row['opcode']}(" in text


def test_ten_thousand_buffers_are_counted_right():
    """Sums at every instant against a count value by value."""
    buffers = tuple(
        Buffer(
            f"v{number}{{}}", 0, "temporary", "f32[]", number % 97, number, min(number + number % 13, 10_000), number
        )
        for number in range(10_000)
    )
    curve = MemoryCurve((0,) * 10_000, buffers, 0)
    for instant in (0, 17, 5_000, 9_999, 10_000):
        expected = sum(each.size_bytes for each in buffers if each.start <= instant <= each.end)
        assert curve.bytes_alive[instant] == expected == sum(each.size_bytes for each in curve.alive_at(instant))
    assert len(curve.bytes_alive) == 10_001


def test_reports_are_read_line_by_line():
    dump = memory_dumps.made_now("sorting")
    report = read_live_range(dump.live_range)
    head, _, rest = dump.live_range.partition("  BufferLiveRange:\n")
    ranges, _, alive = rest.partition("  Live ranges at ")
    assert len(report.instants) == len(head.strip().split("\n")) - 2
    assert len(report.ranges) == len(ranges.strip().split("\n"))
    assert len(report.alive) == sum("(cumulative:" in line for line in alive.split("\n"))
