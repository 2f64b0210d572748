"""Groups of cost are held to closed forms of programs whose work is known, and to the sums they are parts of."""

import jax
import jax.numpy as jnp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax import lax

import jaxscope
from jaxscope._analysis.roll_up import Bytes, amount_in_symbols, group_costs, scopes_of
from jaxscope._analysis.work import Amount, Runs, Work
from jaxscope.errors import InputError

ROWS, WIDTH, TURNS = 8, 64, 12
PRODUCT = 2 * ROWS * WIDTH * WIDTH


def layer(h, w):
    return jnp.tanh(h @ w)


def model(ws, w, h):
    h = layer(h, w)
    h = h @ w
    return lax.scan(lambda h, w: (layer(h, w), None), h, ws)[0]


@pytest.fixture(scope="module")
def inspection():
    return jaxscope.inspect(model, f"f32[{TURNS},{WIDTH},{WIDTH}]", f"f32[{WIDTH},{WIDTH}]", f"f32[{ROWS},{WIDTH}]")


def line_of(function, offset):
    return function.__code__.co_firstlineno + offset


@pytest.mark.parametrize("stage", ["stablehlo", "hlo"])
def test_lines_have_the_products_that_stand_on_them(inspection, stage):
    flops = inspection.cost_by("line", stage=stage).set_index("python_line").flops
    assert flops[line_of(layer, 1)] == (TURNS + 1) * PRODUCT
    assert flops[line_of(model, 2)] == PRODUCT


def test_functions_include_what_they_call(inspection):
    # In StableHLO the ops of a loop's body name the frames from the body inwards only; XLA puts both together.
    frame = inspection.cost_by("function", stage="hlo").set_index("function")
    assert frame.flops["layer"] == frame.own_flops["layer"] == (TURNS + 1) * PRODUCT
    assert frame.flops["model"] == (TURNS + 2) * PRODUCT
    assert frame.own_flops["model"] == PRODUCT


@pytest.mark.parametrize("grouping", ["line", "op", "kernel"])
@pytest.mark.parametrize("figure", ["flops", "transcendentals", "integer_ops"])
def test_lines_ops_and_kernels_add_up_to_the_program(inspection, grouping, figure):
    total = getattr(inspection._facts.program_cost("hlo").total.known, figure)
    assert int(inspection.cost_by(grouping)[figure].sum()) == total


def test_bytes_are_the_same_however_they_are_summed(inspection):
    sums = {grouping: int(inspection.cost_by(grouping).moved_bytes.sum()) for grouping in ("line", "op", "kernel")}
    assert len(set(sums.values())) == 1


def test_transcendentals_are_the_elements_of_tanh(inspection):
    by_op = inspection.cost_by("op", stage="stablehlo").set_index("op")
    assert by_op.transcendentals["tanh"] == (TURNS + 1) * ROWS * WIDTH
    assert by_op.runs["tanh"] == TURNS and by_op.ops["tanh"] >= 1


def test_shares_are_parts_of_one(inspection):
    assert inspection.cost_by("line").share.sum() == pytest.approx(1)


def test_a_function_that_calls_itself_counts_once():
    def descend(h, w, depth):
        h = h @ w
        return descend(h, w, depth - 1) if depth else h

    found = jaxscope.inspect(lambda h, w: descend(h, w, 2), f"f32[{ROWS},{WIDTH}]", f"f32[{WIDTH},{WIDTH}]")
    frame = found.cost_by("function").set_index("function")
    name = next(name for name in frame.index if name.endswith("descend"))
    assert frame.flops[name] == 3 * PRODUCT


def test_a_loop_of_unknown_length_keeps_its_symbol():
    found = jaxscope.inspect(lambda n, x: lax.fori_loop(0, n, lambda i, a: a @ a, x + x), "i32[]", "f32[32,32]")
    frame = found.cost_by("op", stage="stablehlo").set_index("op")
    assert frame.unknown_loops["dot_general"] == f"{2 * 32**3}·n1"
    assert frame.unknown_loops["add"] == ""
    assert found.loops.symbol.tolist() == ["n1"] and found.loops.times.isna().all()


def test_named_scopes_hold_their_ops():
    def scoped(h, w):
        with jax.named_scope("outer"):
            h = h @ w
            with jax.named_scope("inner"):
                return h @ w

    found = jaxscope.inspect(scoped, f"f32[{ROWS},{WIDTH}]", f"f32[{WIDTH},{WIDTH}]")
    frame = found.cost_by("scope", stage="stablehlo").set_index("scope")
    assert frame.flops["jit(scoped)/outer"] == 2 * PRODUCT and frame.own_flops["jit(scoped)/outer"] == PRODUCT
    assert frame.flops["jit(scoped)/outer/inner"] == PRODUCT


def test_scopes_of_a_path():
    assert scopes_of("jit(f)/a/b/mul;jit(f)/c/add") == ("jit(f)/a/b", "jit(f)/a", "jit(f)")
    assert scopes_of("") == () == scopes_of("mul")


COUNTS = st.integers(0, 1000)
SYMBOLS = st.sampled_from(["n1", "n2", "n3"])


@given(st.lists(st.tuples(COUNTS, st.lists(st.one_of(st.integers(1, 9), SYMBOLS), max_size=4)), max_size=6))
def test_amounts_are_polynomials(parts):
    """Whatever the unknown loops are, the sum is that of the parts."""
    values = {"n1": 3, "n2": 5, "n3": 7}
    expected, made = 0, []
    for flops, loops in parts:
        runs, product = Runs(), flops
        for loop in loops:
            runs = runs.times(loop)
            product *= values.get(loop, loop)
        made.append((Work(flops=flops), runs))
        expected += product
    amount = Amount.total(made)
    found = 0
    for symbols, work in amount.terms:
        product = work.flops
        for symbol in symbols:
            product *= values[symbol]
        found += product
    assert found == expected
    assert amount.is_known == all(not isinstance(loop, str) for flops, loops in parts if flops for loop in loops)


def test_amounts_in_words():
    amount = Amount.total([(Work(flops=100), Runs()), (Work(flops=7), Runs().times("n1").times(3))])
    assert amount_in_symbols(amount) == "100 + 21·n1"
    assert amount_in_symbols(Amount()) == "0"


def test_what_is_opaque_is_named(inspection):
    found = jaxscope.inspect(lambda x: jnp.linalg.eigvalsh(x @ x), "f32[16,16]")
    missing = " ".join(found.cost_by("line").missing)
    assert "lapack_ssyevd" in missing or "eigh" in missing.lower()
    assert "opaque call" in found._source.view["tabs"][-3]["count"]
    assert not any(isinstance(group.moved, Bytes) and group.key == "" for group in _lines(inspection))


def _lines(inspection):
    facts = inspection._facts
    return group_costs(facts.program_cost("hlo"), facts.listing("hlo"), "line")


@pytest.mark.parametrize(("grouping", "stage"), [("colour", None), ("line", "jaxpr"), ("kernel", "stablehlo")])
def test_a_choice_that_does_not_exist_is_refused(inspection, grouping, stage):
    with pytest.raises(InputError, match=r"Summing the cost by .* stage .*: .*\. \w+"):
        inspection.cost_by(grouping, stage=stage)
