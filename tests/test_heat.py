"""Heat and costs of lines are shares of closed forms; what the chart of live buffers is sent agrees with the frames."""

import json

import jax
import jax.numpy as jnp
import pytest
from jax import lax

import jaxscope

ROWS, WIDTH, TURNS = 8, 64, 12
PRODUCT = 2 * ROWS * WIDTH * WIDTH


def layer(h, w):
    return jnp.tanh(h @ w)


def model(ws, w, h):
    h = h @ w
    return lax.scan(lambda h, w: (layer(h, w), None), h, ws)[0]


@pytest.fixture(scope="module")
def inspection():
    return jaxscope.inspect(model, f"f32[{TURNS},{WIDTH},{WIDTH}]", f"f32[{WIDTH},{WIDTH}]", f"f32[{ROWS},{WIDTH}]")


@pytest.fixture(scope="module")
def source(inspection):
    return inspection._source


def shares(source, key):
    heat = source.view["heat"][key]
    return dict(zip(heat["lines"], heat["shares"], strict=True))


def python_row(source, function, offset):
    return source.index("python")["numbers"].index(function.__code__.co_firstlineno + offset)


def test_a_line_of_python_has_what_it_calls(source):
    found = shares(source, "python")
    assert found[python_row(source, layer, 1)] == pytest.approx(TURNS / (TURNS + 1), abs=1e-3)
    assert found[python_row(source, model, 1)] == pytest.approx(1 / (TURNS + 1), abs=1e-3)
    assert found[python_row(source, model, 2)] == pytest.approx(TURNS / (TURNS + 1), abs=1e-3), "it calls layer"


def test_texts_are_the_shares(source):
    for heat in source.view["heat"].values():
        assert all(text == f"{100 * share:.0f} %" for text, share in zip(heat["texts"], heat["shares"]) if share > 0.01)
        assert heat["lines"] == sorted(set(heat["lines"])) and min(heat["shares"]) >= 0.005


def test_lines_of_the_compiled_program_add_up_to_at_most_all(inspection, source):
    listing = inspection._facts.listing("hlo").listing
    kernels = {listing.ops[kernel.op].line for kernel in inspection._facts.program_cost("hlo").kernels}
    assert sum(share for line, share in shares(source, "hlo").items() if line in kernels) == pytest.approx(1, abs=0.05)


def test_the_cost_of_a_line_is_that_of_its_op(inspection, source):
    listing = inspection._facts.listing("stablehlo").listing
    index = source.index("stablehlo")
    dot = next(op for op in listing.ops if op.name == "stablehlo.dot_general" and op.type.startswith("tensor<8x64"))
    words = {index["costs"][index["line_cost"][op.line]] for op in listing.ops if op.name == dot.name}
    assert f"{PRODUCT / 1e3:.1f} kFLOP · {TURNS} runs" in words and f"{PRODUCT / 1e3:.1f} kFLOP" in words


def test_a_function_without_arithmetic_has_no_heat():
    assert jaxscope.inspect(lambda x: x, "f32[8]")._source.view["heat"] == {}


@pytest.fixture(scope="module")
def gradient():
    def loss(ws, h):
        return jnp.sum(model(ws, ws[0], h) ** 2)

    return jaxscope.inspect(jax.jit(jax.grad(loss), donate_argnums=0), "f32[4,64,64]", "f32[8,64]")


def test_live_columns_agree_with_the_frames(gradient):
    columns, text = map(bytes.decode, gradient._source.listing("live"))
    columns = json.loads(columns)
    frame, curve = gradient.buffers, gradient._facts.memory_curve
    assert text == "" and columns["listing"] == "hlo"
    assert sorted(columns["size"], reverse=True) == columns["size"] == sorted(frame.size_bytes.tolist(), reverse=True)
    for instant, total in enumerate(columns["step_bytes"]):
        rows = zip(columns["size"], columns["first"], columns["last"], strict=True)
        assert sum(size for size, first, last in rows if first <= instant <= last) == total
    assert columns["step_bytes"][curve.peak_instant] == int(gradient.alive().size_bytes.sum())
    assert len(columns["step_name"]) == len(columns["step_line"]) == len(columns["step_bytes"])


def test_the_chart_marks_the_peak_of_the_frame(gradient):
    memory = next(tab for tab in gradient._source.view["tabs"] if tab["key"] == "memory")
    live = next(table for table in memory["tables"] if table["key"] == "live")
    chart = live["chart"]
    assert chart["peak"] == gradient._facts.memory_curve.peak_instant
    assert max(tick["at"] for tick in chart["ticks"]) <= 1
    assert [row["cells"][0] for row in live["rows"]] == gradient.alive().buffer.tolist()[: len(live["rows"])]
    assert live["request"], "the compiler's own report can be asked for"


def test_the_compilers_report_is_asked_for_through_the_card(gradient):
    gradient._source.make("memory", "live")
    memory = next(tab for tab in gradient._source.view["tabs"] if tab["key"] == "memory")
    live = next(table for table in memory["tables"] if table["key"] == "live")
    assert "request" not in live and "the compiler's own report says the same" in live["source"]


def test_other_cards_have_nothing_to_ask_for(gradient):
    with pytest.raises(jaxscope.errors.UnavailableError, match="nothing to make"):
        gradient._source.make("cost", "roofline")
