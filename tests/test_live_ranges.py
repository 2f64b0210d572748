"""Live ranges read from the compiled text equal the compiler's own report: schedule, ranges, peak, bytes, values."""

import random
import re

import jax
import jax.numpy as jnp
import pytest

import jaxscope
from jaxscope._analysis.buffers import MemoryCurve, curve_of, differences
from jaxscope._analysis.schedule_live_ranges import live_ranges_of
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._ir import hlo
from jaxscope._ir.live_range import read_live_range
from tests import memory_dumps
from tests.plugins import CUDA, CUDA_TEXT, TPU
from tests.programs import PROGRAMS, case_names
from tests.shared import ABSENT

# Every program that compiles for one CPU device of this process.
NAMES = [*sorted(PROGRAMS), *case_names()]


def assert_equal_to_report(dump):
    """Everything that the report says, compared with the curve by rules of this test alone."""
    curve = curve_of(dump.listing, starts_open_buffers=dump.starts_open_buffers)
    assert isinstance(curve, MemoryCurve) and not curve.notes
    instants = re.findall(r"^    \d+:(\S+)$", dump.live_range, re.MULTILINE)
    # An instruction that the text leaves out goes by the name of its start, whose second part it is.
    ours = [_name(dump.listing, op) for op in curve.instants]
    assert len(ours) == len(instants)
    made = {}
    for buffer in curve.buffers:
        name, index = buffer.name.split("{")
        if instants[buffer.made_at] != name:
            index = index.removeprefix("1").removeprefix(",")
        made[f"{instants[buffer.made_at]}{{{index}"] = buffer
    shown = [name for name, instant in zip(ours, instants, strict=True) if name == instant]
    assert len(shown) >= len([name for name in instants if name in set(ours)])
    ranges = re.findall(r"^    (\S+\{[\d,]*\}):(\d+)-(\d+)$", dump.live_range, re.MULTILINE)
    assert {name: (int(start), int(end)) for name, start, end in ranges} == {
        name: (buffer.start, buffer.end) for name, buffer in made.items()
    }
    peak = int(re.search(r"Live ranges at (\d+) \(peak\)", dump.live_range)[1])
    assert curve.peak_instant == peak
    alive = re.findall(r"^    (\S+\{[\d,]*\}): (\d+) bytes \(cumulative: (\d+) bytes\)$", dump.live_range, re.MULTILINE)
    assert {name: int(size) for name, size, _ in alive} == {
        name: buffer.size_bytes for name, buffer in made.items() if buffer.start <= peak <= buffer.end
    }
    assert curve.peak_bytes == (int(alive[-1][2]) if alive else 0)
    assert differences(curve, read_live_range(dump.live_range)) == ()


def _name(listing, op):
    return listing.ops[op].results[0].removeprefix("%")


@pytest.mark.slow
@pytest.mark.skipif(not memory_dumps.recorded_folders(), reason=ABSENT)
@pytest.mark.parametrize("folder", memory_dumps.recorded_folders())
def test_recorded_transformers(folder):
    assert_equal_to_report(memory_dumps.recorded(folder))


@pytest.mark.parametrize("name", NAMES)
def test_programs_compiled_now(name):
    dump = memory_dumps.made_now(name)
    if dump is None:
        pytest.skip("JAX refuses to compile it")
    assert_equal_to_report(dump)


def random_program(seed):
    """A function of three matrices, with loops, branches, updates in place, tuples and sorts, drawn by chance."""
    draw = random.Random(seed)

    def step(kind, values):
        x, y, z = values
        if kind == "loop":
            return jax.lax.fori_loop(0, 3, lambda i, v: (v[1], jnp.tanh(v[0] @ v[2]), v[2] + i), values)
        if kind == "scan":
            return *jax.lax.scan(lambda c, row: (c * row, c.sum()), x, y)[0:1], y, z
        if kind == "while":
            return (
                jax.lax.while_loop(lambda v: v[0].sum() < 100, lambda v: (v[0] * 2 + 1, v[1]), (x, y))[0],
                z,
                y,
            )
        if kind == "branch":
            return jax.lax.cond(x[0, 0] > 0, lambda v: (v[1], v[0], v[2]), lambda v: (v[0] @ v[1], v[1], v[0]), values)
        if kind == "update":
            return x.at[2:4].set(y[2:4] * 2), y, jax.lax.dynamic_update_slice(z, x[:3], (1, 0))
        if kind == "scatter":
            return x, y.at[jnp.argsort(z[0]) % 5].add(1.0), z
        if kind == "sort":
            return *jax.lax.sort((x, y), num_keys=1), z
        return jnp.sin(x @ y), x + z, jnp.where(y > 0, y, z)

    kinds = [draw.choice(("loop", "scan", "while", "branch", "update", "scatter", "sort", "plain")) for _ in range(6)]

    def program(*values):
        for kind in kinds:
            values = step(kind, values)
        return values

    return program, draw.choice(((), (0,), (0, 2)))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.filterwarnings("ignore:Some donated buffers were not usable")
def test_programs_drawn_by_chance(seed):
    program, donated = random_program(seed)
    lowered = jax.jit(program, donate_argnums=donated).lower(*[jax.ShapeDtypeStruct((8, 8), jnp.float32)] * 3)
    assert_equal_to_report(memory_dumps.of_stages(lowered, lowered.compile()))


FOR_ABSENT = ("nested_loops", "many_results", "while_and_cond", "ordered_effects", "sorting", "closed_over_constant")


@pytest.mark.parametrize("name", FOR_ABSENT)
@pytest.mark.parametrize(
    "target",
    [pytest.param("tpu:v5e:2x2", marks=TPU), pytest.param("cuda:h100", marks=(CUDA, CUDA_TEXT))],
)
def test_programs_for_hardware_that_is_not_here(name, target):
    function, args = PROGRAMS[name]
    facts = jaxscope.inspect(function, *args, target=target)._facts
    if facts.product("compile") is None:
        pytest.skip(f"its compiler refuses it: {facts.error}")
    before = facts.program_memory.curve
    after = facts.read_buffer_assignment().curve
    assert after.confirmed and after.notes == ()
    assert (before.peak_instant, before.bytes_alive) == (after.peak_instant, after.bytes_alive)


# What it says of text that is no schedule


def test_text_that_is_no_schedule_has_no_curve():
    lowered = jax.jit(lambda x: x + 1).lower(jax.ShapeDtypeStruct((3,), jnp.float32))
    curve = curve_of(hlo.parse(lowered.as_text("hlo")))
    assert isinstance(curve, Unavailable) and "not a schedule" in curve.reason


def test_what_cannot_be_followed_is_an_estimate():
    text = """HloModule m, is_scheduled=true

%shared (p: f32[4]) -> f32[4] {
  %p = f32[4]{0} parameter(0)
  ROOT %n = f32[4]{0} negate(%p)
}

ENTRY %main (a: f32[4]) -> f32[4] {
  %a = f32[4]{0} parameter(0)
  %first = f32[4]{0} call(%a), to_apply=%shared
  %lost = f32[4]{0} while(%first), condition=%gone, body=%gone
  ROOT %second = f32[4]{0} call(%lost), to_apply=%shared
}
"""
    problems = live_ranges_of(hlo.parse(text)).problems
    assert any("several places" in problem for problem in problems) and any(
        "%gone" in p or "lost" in p for p in problems
    )
    curve = curve_of(hlo.parse(text))
    assert curve.notes and all(note.startswith("An estimate") for note in curve.notes)


@pytest.mark.parametrize("cut", range(1, 40))
def test_text_that_is_cut_off_raises_nothing(cut):
    dump = memory_dumps.made_now("while_and_cond")
    lines = dump.listing.text.split("\n")
    found = live_ranges_of(hlo.parse("\n".join(lines[: len(lines) * cut // 40])))
    assert all(each.start <= each.end for each in found.ranges)
