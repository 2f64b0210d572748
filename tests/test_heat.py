"""Heat and costs of lines are shares of closed forms; what the chart of live buffers is sent agrees with the frames."""

import json

import jax
import jax.numpy as jnp
import pytest
from jax import lax

import jaxscope
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._analysis.work import KernelCost, OpCost, ProgramCost, Runs, Work
from jaxscope._ir import hlo
from jaxscope._ir.model import NO_STACK, StackTable
from jaxscope._links import LinkedListing
from jaxscope._view.heat import line_costs

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


@pytest.mark.skipif(jax.__version_info__ < (0, 9), reason="JAX 0.8 prints no frame tables")
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


@pytest.mark.skipif(jax.__version_info__ < (0, 9), reason="JAX 0.8 prints no frame tables")
def test_a_function_that_calls_itself_is_hot_once():
    def descend(h, w, depth):
        h = h @ w
        return descend(h, w, depth - 1) if depth else h

    found = jaxscope.inspect(lambda h, w: descend(h, w, 3), f"f32[{ROWS},{WIDTH}]", f"f32[{WIDTH},{WIDTH}]")._source
    heat = shares(found, "python")
    assert heat[python_row(found, descend, 1)] == 1, "all four products stand here"
    assert heat[python_row(found, descend, 2)] == 0.75, "it leads to all but the first"


def test_what_is_lowered_only_has_the_heat_of_the_lowered_program():
    def two(h, w):
        h = h @ w @ w @ w
        return h @ w

    found = jaxscope.inspect(two, f"f32[{ROWS},{WIDTH}]", f"f32[{WIDTH},{WIDTH}]", target="rocm")._source
    assert set(found.view["heat"]) == {"python", "stablehlo"}
    assert sorted(shares(found, "python").values()) == [0.25, 0.75]
    assert list(shares(found, "stablehlo").values()) == [0.25] * 4


LISTING = """HloModule m, is_scheduled=true

ENTRY %main (a: f32[4096]) -> f32[4096] {
  %a = f32[4096]{0} parameter(0)
  %b = f32[4096]{0} sine(%a)
  %c = f32[4096]{0} custom-call(%b), custom_call_target="f"
  ROOT %d = f32[4096]{0} add(%b, %c)
}
"""


@pytest.mark.parametrize(
    ("work", "runs", "text"),
    [
        (Work(), Runs(), ""),
        (Work(flops=1), Runs(), "1 FLOP"),
        (Work(flops=12_300, transcendentals=4096), Runs(), "12.3 kFLOP · 4.10 k transcendentals"),
        (Work(integer_ops=512), Runs().times(7), "512 integer ops · 7 runs"),
        (Work(flops=512, integer_ops=9), Runs(), "512 FLOP"),
        (Work(flops=2_000_000), Runs().times(3).times(4), "2.00 MFLOP · 12 runs"),
        (Work(flops=2_000_000), Runs().times("n1"), "2.00 MFLOP"),
        (Unavailable("An opaque call."), Runs(), "An opaque call."),
    ],
)
def test_words_of_a_line(work, runs, text):
    listing = hlo.parse(LISTING)
    linked = LinkedListing("hlo", listing, StackTable(), (NO_STACK,) * len(listing.ops))
    texts, of_line = line_costs(linked, ProgramCost((OpCost(1, work, runs),)))
    assert texts == ([text] if text else [])
    assert [of_line[op.line] for op in listing.ops] == [-1, 0 if text else -1, -1, -1]
    assert len(of_line) == len(listing.lines)
    # A kernel says what it moves too, in place of what its op alone would say.
    kernel = KernelCost(1, work, 16384, 16384, runs)
    texts, of_line = line_costs(linked, ProgramCost((OpCost(1, Work(flops=77)),), (kernel,)))
    head, _, tail = text.partition(" · 7 runs" if "7 runs" in text else " · 12 runs")
    often = text.removeprefix(head)
    assert texts[of_line[listing.ops[1].line]] == (f"{head} · " if head else "") + "32.0 KiB moved" + often and not tail


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
