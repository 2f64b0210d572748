"""Groups of cost are held to closed forms of programs whose work is known, and to the sums they are parts of."""

import jax
import jax.numpy as jnp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax

import jaxscope
from jaxscope._analysis.roll_up import Bytes, RollUp, amount_in_symbols, scopes_of
from jaxscope._analysis.work import Amount, Runs, Work
from jaxscope.errors import InputError, UnavailableError
from tests.plugins import TPU
from tests.random_programs import PROGRAM_KINDS, dots

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


@pytest.mark.skipif(jax.__version_info__ < (0, 9), reason="JAX 0.8 prints no frame tables")
@pytest.mark.parametrize("stage", ["stablehlo", "hlo"])
def test_functions_include_what_they_call(inspection, stage):
    frame = inspection.cost_by("function", stage=stage).set_index("function")
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


@pytest.mark.skipif(jax.__version_info__ < (0, 9), reason="JAX 0.8 prints no frame tables")
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
    assert "opaque call" in {tab["key"]: tab["count"] for tab in found._source.view["tabs"]}["cost"]
    assert not any(isinstance(group.moved, Bytes) and group.key == "" for group in _lines(inspection))


def _lines(inspection):
    facts = inspection._facts
    return facts.roll_up("hlo").by("line")


@pytest.mark.parametrize(
    ("grouping", "stage", "found", "advice"),
    [
        ("colour", None, "'colour'", "Pass one of line, function, scope, op, kernel"),
        ("line", "jaxpr", "'jaxpr'", "'stablehlo' or 'hlo' as stage="),
        ("kernel", "stablehlo", "only compiled HLO has kernels", "Leave stage= out, or sum by 'op'"),
    ],
)
def test_a_refusal_says_what_was_done_what_was_found_and_what_to_do(inspection, grouping, stage, found, advice):
    with pytest.raises(InputError) as refusal:
        inspection.cost_by(grouping, stage=stage)
    done, _, rest = str(refusal.value).partition(": ")
    assert done.startswith("Summing the cost by") and found in str(refusal.value) and advice in rest


# Programs of calls and loops whose closed forms are known.


def once(h, w):
    return layer(h, w)


def repeated(h, w, times):
    return lax.scan(lambda h, _: (layer(h, w), None), h, None, length=times)[0]


def nested(h, w, outer, inner):
    return lax.scan(lambda h, _: (repeated(h, w, inner), None), h, None, length=outer)[0]


TIMES = st.integers(1, 5)
STEPS = st.one_of(
    st.tuples(st.just(once)),
    st.tuples(st.just(repeated), TIMES),
    st.tuples(st.just(nested), TIMES, TIMES),
)


@pytest.mark.skipif(jax.__version_info__ < (0, 9), reason="JAX 0.8 prints no frame tables")
@settings(deadline=None, max_examples=8)
@given(st.lists(STEPS, min_size=1, max_size=4))
def test_calls_and_loops_have_their_closed_forms(steps):
    def program(h, w):
        for step, *times in steps:
            h = step(h, w, *times)
        return h

    layers = dict.fromkeys(("once", "repeated", "nested"), 0)
    for step, *times in steps:
        count = 1
        for number in times:
            count *= number
        layers[step.__name__] += count
    everything = sum(layers.values())
    # A nested loop runs through the simple one.
    layers["repeated"] += layers["nested"]
    layers |= {"layer": everything, program.__qualname__: everything}
    found = jaxscope.inspect(program, f"f32[{ROWS},{WIDTH}]", f"f32[{WIDTH},{WIDTH}]")
    frame = found.cost_by("function", stage="hlo").set_index("function")
    for name, count in layers.items():
        assert frame.flops.get(name, 0) == count * PRODUCT, name
        assert frame.own_flops.get(name, 0) == (count * PRODUCT if name == "layer" else 0), name
        assert frame.transcendentals.get(name, 0) == count * ROWS * WIDTH, name
    assert frame.own_flops.sum() == everything * PRODUCT
    for stage in ("stablehlo", "hlo"):
        lines = found.cost_by("line", stage=stage).set_index("python_line").flops
        assert lines[line_of(layer, 1)] == everything * PRODUCT == lines.sum()
        assert found.cost_by("scope", stage=stage).own_flops.sum() == everything * PRODUCT


@settings(deadline=None, max_examples=10)
@given(dots())
def test_ops_have_the_multiply_adds_of_the_definition(program):
    """Counted pair by pair, and an addition and a multiplication for each element around the product."""
    left, right = program.args
    product = jax.eval_shape(program.function, left, right)
    found = jaxscope.inspect(program.function, left, right)
    frame = found.cost_by("op", stage="stablehlo").set_index("op")
    figure, of_pair, of_sum, of_product = {"f": ("flops", 2, 1, 1), "c": ("flops", 8, 2, 6)}.get(
        left.dtype.kind if left.dtype != jnp.bfloat16 else "f", ("integer_ops", 2, 1, 1)
    )
    expected = {
        "dot_general": of_pair * program.multiply_adds,
        "add": of_sum * left.size,
        "multiply": of_product * product.size,
    }
    assert {op: frame[figure][op] for op in expected} == expected


@settings(deadline=None, max_examples=12)
@given(st.one_of(*PROGRAM_KINDS.values()))
def test_every_sum_is_that_of_the_program(program):
    """What a group counts itself is in no other; of lines, ops and kernels this is all there is."""
    found = jaxscope.inspect(program.function, *program.args)
    for stage in ("stablehlo", "hlo"):
        cost = found._facts.program_cost(stage)
        total = cost.total.with_loops_once
        for grouping in ("line", "op", *(("kernel",) if stage == "hlo" else ())):
            frame = found.cost_by(grouping, stage=stage)
            for figure in ("flops", "transcendentals", "integer_ops", "padding_flops"):
                assert frame[figure].sum() == getattr(total, figure), (grouping, figure)
        for grouping in ("function", "scope"):
            groups = RollUp(cost, found._facts.listing(stage)).by(grouping)
            own = sum((group.own.with_loops_once for group in groups), Work())
            assert own == total
            assert all(group.inclusive.with_loops_once.flops <= total.flops for group in groups)
            ops = [op for group in groups for op in group.ops]
            assert len(set(ops)) == len(ops), "each op is of one group"


def test_a_window_over_padding_alone_has_a_row():
    """Of [padding, x], every other position: the one result is a product with padding, which papers count as 2."""

    def convolve(image, kernel):
        return lax.conv_general_dilated(image, kernel, (2,), [(1, 0)])

    frame = jaxscope.inspect(convolve, "f32[1,1,1]", "f32[1,1,1]").cost_by("line", stage="stablehlo")
    assert (frame.flops.tolist(), frame.padding_flops.tolist()) == ([0], [2])


@pytest.mark.skipif(jax.__version_info__ < (0, 9), reason="JAX 0.8 puts the body of a loop on the loop's line")
def test_a_line_that_is_reached_in_and_out_of_unknown_loops_has_a_sum():
    def square(a):
        return a @ a

    def program(n, m, x):
        def outer(_, a):
            return lax.fori_loop(0, m, lambda _, b: square(b), square(a))

        return lax.fori_loop(0, n, outer, square(x))

    found = jaxscope.inspect(program, "i32[]", "i32[]", "f32[32,32]")
    one = 2 * 32**3
    row = found.cost_by("line", stage="stablehlo").set_index("python_line").loc[line_of(square, 1)]
    assert row.unknown_loops == f"{one} + {one}·n1 + {one}·n1·n2"
    assert row.flops == 3 * one and row.ops == 3, "each unknown loop once"
    # In compiled text, the body of the inner loop stands first.
    row = found.cost_by("line").set_index("python_line").loc[line_of(square, 1)]
    assert row.unknown_loops == f"{one} + {one}·n1·n2 + {one}·n2"


@pytest.mark.parametrize("other", ["rocm", pytest.param("tpu:v5e:1x1", marks=TPU)])
def test_several_targets_stand_one_below_the_other(other):
    found = jaxscope.inspect(lambda x: x @ x, "f32[8,8]", targets=["cpu", other])
    for grouping in ("line", "function", "scope", "op"):
        frame = found.cost_by(grouping)
        assert frame.columns[0] == "target" and list(dict.fromkeys(frame.target)) == ["cpu", other]
        assert frame[frame.flops > 0].groupby("target").flops.max().to_dict() == {"cpu": 2 * 8**3, other: 2 * 8**3}
    assert "target" not in found.for_target("cpu").cost_by("op").columns


def test_without_a_compiled_program_the_lowered_one_is_counted():
    found = jaxscope.inspect(lambda x: x @ x, "f32[8,8]", target="rocm")
    assert found.cost_by("op").set_index("op").flops.to_dict() == {"dot_general": 2 * 8**3}
    for grouping, stage in (("line", "hlo"), ("kernel", None)):
        with pytest.raises(UnavailableError, match=r"Reading the compile stage of .*: .* unavailable\. .* See \w+"):
            found.cost_by(grouping, stage=stage)
