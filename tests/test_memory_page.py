"""The Memory tab is held to closed forms of programs whose buffers are known, and to the frames, instant by instant."""

import json

import jax
import jax.numpy as jnp
import pytest
from jax import lax

import jaxscope
from jaxscope._view.format import format_bytes, format_exact
from jaxscope._view.memory import memory_page
from tests.plugins import TPU

LENGTH = 1000


def update(x, y):
    return x + 1, y[0, 0]


def loop(x, ws):
    return lax.scan(lambda h, w: (jnp.tanh(h @ w), h.sum()), x, ws)


def gradient(ws, x):
    return jax.grad(lambda ws: jnp.sum(loop(x, ws)[0] ** 2))(ws)


PROGRAMS = {
    "donated": (jax.jit(update, donate_argnums=0), f"f32[{LENGTH}]", "f32[64,64]"),
    "refused": (jax.jit(lambda x: x.sum(), donate_argnums=0), "f32[64,64]"),
    "kept": (update, f"f32[{LENGTH}]", "f32[64,64]"),
    "loop": (loop, "f32[8,64]", "f32[5,64,64]"),
    "gradient": (gradient, "f32[5,64,64]", "f32[8,64]"),
}

# JAX warns of the donation that it cannot use.
pytestmark = pytest.mark.filterwarnings("ignore:Some donated buffers were not usable")


@pytest.fixture(scope="module")
def inspections():
    made = {}

    def inspect(name, **options):
        key = (name, *options.values())
        if key not in made:
            made[key] = jaxscope.inspect(*PROGRAMS[name], **options)
        return made[key]

    return inspect


def columns_of(inspection):
    return json.loads(inspection._source.listing("live")[0])


def page(inspection):
    tab = next(tab for tab in inspection._source.view["tabs"] if tab["key"] == "memory")
    return tab, {table["key"]: table for table in tab["tables"]}


@pytest.mark.parametrize("target", ["cpu", pytest.param("tpu:v5e:1x1", marks=TPU)])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_columns_say_at_every_instant_who_is_alive(inspections, name, target):
    inspection = inspections(name, target=target)
    columns, frame = columns_of(inspection), inspection.buffers
    text = columns["strings"]
    # What takes over the buffer of another shows in its place, but at the peak.
    taken_over = {each.name: each.hand_over for each in inspection._facts.memory_curve.buffers}
    peak = inspection._facts.memory_curve.peak_instant
    rows = list(zip(columns["cells"]["buffer"], columns["size"], columns["first"], columns["last"], columns["line"]))
    assert {(text[row[0]], row[1], row[2]) for row in rows} == set(zip(frame.buffer, frame.size_bytes, frame.start))
    for instant, total in enumerate(columns["step_bytes"]):
        alive = inspection.alive(instant)
        shown = [row for row in rows if row[2] <= instant <= row[3]]
        names = [text[row[0]] for row in shown]
        expected = [
            buffer
            for buffer in alive.buffer
            if instant == peak or taken_over[buffer] in (None, peak) or instant < taken_over[buffer]
        ]
        assert names == expected, "the largest first, in the same order"
        assert sum(row[1] for row in shown) == total <= alive.size_bytes.sum()
    lines = dict(zip(frame.buffer, frame.line))
    assert all((row[4] + 1 or None) == (None if lines[text[row[0]]] is None else lines[text[row[0]]]) for row in rows)


@pytest.mark.parametrize("name", PROGRAMS)
def test_instants_point_at_their_instructions(inspections, name):
    inspection = inspections(name)
    columns, hlo = columns_of(inspection), inspection.hlo.split("\n")
    *steps, last = zip(columns["step_name"], columns["step_line"], strict=True)
    assert columns["strings"][last[0]] == "end of the program" and last[1] == -1
    for name_index, line in steps:
        words = hlo[line].removeprefix("  ROOT ").split()
        assert words[0] == columns["strings"][name_index] and words[1] == "="
    for name_index, line in zip(columns["cells"]["buffer"], columns["line"], strict=True):
        instruction = columns["strings"][name_index].partition("{")[0].removeprefix("%")
        assert f"%{instruction} = " in hlo[line]


def test_a_donated_argument_and_its_result_are_one_buffer(inspections):
    """By hand: x and what replaces it are 4,000 bytes, y 16,384, its corner 4, the pair of pointers 16."""
    columns = columns_of(inspections("donated"))
    x, y, corner, pointers = 4 * LENGTH, 4 * 64 * 64, 4, 16
    assert columns["step_bytes"][0] == x + y and columns["step_bytes"][-1] == x + y + corner + pointers
    assert max(columns["step_bytes"]) == x + y + corner + pointers
    kept = columns_of(inspections("kept"))
    assert max(kept["step_bytes"]) == 2 * x + y + corner + pointers


@pytest.mark.parametrize(
    ("name", "worked", "note"), [("donated", 4 * LENGTH, "all of them"), ("refused", 0, "1 donation not used")]
)
def test_the_figure_of_donation(inspections, name, worked, note):
    tab, tables = page(inspections(name))
    figure = next(figure for figure in tab["figures"] if figure["label"] == "donated and reused")
    assert (figure["value"], figure["note"]) == (format_bytes(worked), note)
    (row,) = tables["donations"]["rows"]
    assert row["cells"][3] == ("yes" if worked else "no") and bool(row["cells"][5]) != bool(worked)
    assert figure["tone"] == row["tone"] == ("" if worked else "warning")


def test_nothing_is_said_of_donation_where_nothing_was_donated(inspections):
    tab, tables = page(inspections("kept"))
    assert "donations" not in tables and not any("donated" in figure["label"] for figure in tab["figures"])


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_table_of_the_peak_is_the_frame(inspections, name):
    inspection = inspections(name)
    _, tables = page(inspection)
    alive, live = inspection.alive(), tables["live"]
    cells = [row["cells"] for row in live["rows"]]
    assert [(row[0], row[4], row[5]) for row in cells] == [
        (each.buffer, format_bytes(each.size_bytes), format_bytes(each.running_bytes)) for each in alive.itertuples()
    ]
    assert [row[6] for row in cells] == [f"{each.start + 1:,} … {each.end + 1:,}" for each in alive.itertuples()]
    chart = live["chart"]
    shown = columns_of(inspection)["step_bytes"]
    assert chart["count"] == len(shown) and shown[chart["peak"]] == alive.size_bytes.sum()
    # The compiler's own peak leaves out what lies behind a tuple's pointers; a note then names the fuller instant.
    higher = f"{format_bytes(max(shown))} are in use at instant {shown.index(max(shown)) + 1:,}"
    assert any(higher in note for note in live["notes"]) == (max(shown) > shown[chart["peak"]])
    assert max(shown) < chart["top"] < 1.1 * max(shown) and all(0 <= tick["at"] <= 1 for tick in chart["ticks"])


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_needed_is_xlas_own_sum(inspections, name):
    inspection = inspections(name)
    tab, tables = page(inspection)
    own = inspection.compiled.memory_analysis()
    needed = own.argument_size_in_bytes + own.output_size_in_bytes + own.temp_size_in_bytes - own.alias_size_in_bytes
    figure = tab["figures"][0]
    assert format_exact(own.argument_size_in_bytes) in figure["help"]
    constants = inspection.allocations.query("kind == 'constant'").size_bytes.sum()
    assert figure["value"] == format_bytes(needed + constants)
    parts = tables["memory"]["chart"]["parts"]
    assert sum(part["share"] for part in parts) == pytest.approx(1, abs=1e-3)


@TPU
def test_the_verdict_of_a_chip(inspections):
    """A TPU v5e has 16 GB: https://cloud.google.com/tpu/docs/v5e."""
    tab, _ = page(inspections("gradient", target="tpu:v5e:1x1"))
    assert tab["figures"][0]["tone"] == "good" and tab["figures"][0]["note"].startswith("fits ")


def test_the_strip_has_the_most_that_is_in_use():
    """The compiler's report has its peak where the results are copied, after the widened weights are gone."""

    def step(weights, states, x):
        for weight in weights:
            x = jnp.tanh(x.astype(jnp.float32) @ weight)
        return [(weight - 0.1 * state).astype(weight.dtype) for weight, state in zip(weights, states)], states, x.mean()

    arrays = ["bf16[1024,1024]"] * 12
    facts = jaxscope.inspect(step, arrays, arrays, "bf16[256,1024]")._facts
    curve = facts.program_memory.curve
    page = memory_page(facts)
    assert page.count == f"{format_bytes(max(curve.bytes_in_use))} peak"
    noted = [figure["note"] for figure in page.figures if figure["label"] == "alive at the peak"]
    assert ("in use at instant" in noted[0]) == (max(curve.bytes_in_use) > curve.peak_bytes)
