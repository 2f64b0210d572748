"""The account of compiled HLO: work by the definition, runs by the loops, bytes by what is really touched."""

import math
import re

import jax
import jax.numpy as jnp
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jaxscope._analysis.hlo_attributes import read_attributes
from jaxscope._analysis.hlo_cost import count_hlo
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._analysis.work import Amount, Work
from jaxscope._ir.hlo import parse
from tests import random_programs
from tests.programs import PROGRAMS, case_names, stages
from tests.shared import ABSENT, SHARED, read_recorded, recorded_files

FEW = settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
M16 = jax.ShapeDtypeStruct((16, 16), jnp.float32)
PRODUCT = 2 * 16**3


def text_of(function, *args):
    return jax.jit(function).trace(*args).lower().compile().as_text()


def count(text):
    listing = parse(text)
    return listing, count_hlo(listing)


def compile_and_count(function, *args):
    return count(text_of(function, *args))


# Work


# Of single elements XLA makes no product, but multiplies.
@FEW
@given(st.one_of(random_programs.dots(st.integers(2, 6), fewest=1), random_programs.convolutions(least=2)))
def test_products_have_the_multiply_adds_of_their_definition(program):
    _, cost = compile_and_count(program.function, *program.args)
    kind = program.args[0].dtype.kind
    figure, times = ("integer_ops", 2) if kind == "i" else ("flops", 8 if kind == "c" else 2)
    products = [one for one in cost.ops if one.rule in ("dot", "convolution")]
    assert sum(getattr(one.work, figure) * one.runs.known for one in products) == times * program.multiply_adds


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name", [*sorted(PROGRAMS), *case_names()])
def test_accounts_hold_together(name):
    """Each instruction once, in order; the kernels together compute what the instructions do."""
    compiled = stages(name).compiled
    if compiled is None:
        pytest.skip("JAX refuses this program")
    listing, cost = count(compiled.as_text())
    indices = [one.op for one in cost.ops]
    assert indices == sorted(set(indices))
    assert [kernel.op for kernel in cost.kernels] == sorted({kernel.op for kernel in cost.kernels})
    kernels = Amount.total(
        (kernel.work, kernel.runs) for kernel in cost.kernels if kernel.is_counted and isinstance(kernel.work, Work)
    )
    assert kernels == cost.total
    for kernel in cost.kernels:
        name = listing.ops[kernel.op].name
        assert name not in ("parameter", "constant", "tuple", "get-tuple-element", "bitcast", "while", "call")
        assert kernel.bytes_read >= 0 and kernel.bytes_written >= 0
        assert bool(kernel.dtype) or not isinstance(kernel.work, Work) or not kernel.work
    # Every custom call is counted by a rule, or unknown by the name of its target.
    for number, op in enumerate(listing.ops):
        if op.name == "custom-call" and (one := next((one for one in cost.ops if one.op == number), None)):
            target = read_attributes(listing.lines[op.line], op.name)["custom_call_target"].strip('"')
            assert isinstance(one.work, Work) or target in one.work.reason


def test_padding_of_a_convolution_is_counted_apart():
    def function(image, kernel):
        return jax.lax.conv_general_dilated(image, kernel, (1,), "SAME")

    _, cost = compile_and_count(function, f32(2, 3, 10), f32(4, 3, 5))
    # Of five places of the window two, and then one, lie outside at either end.
    assert (cost.total.known.flops, cost.total.known.padding_flops) == (2 * 2 * 4 * 3 * (50 - 6), 2 * 2 * 4 * 3 * 6)


# Loops


def nested(x):
    def outer(c, _):
        return jax.lax.fori_loop(0, 3, lambda i, v: v @ v, c), None

    return jax.lax.scan(outer, x, None, length=5)[0]


def test_trip_counts_multiply():
    listing, cost = compile_and_count(nested, M16)
    (product,) = (one for one in cost.ops if one.rule == "dot")
    assert product.runs.known == 15
    assert cost.total.known.flops == 15 * PRODUCT
    assert sorted(loop.trip_count for loop in cost.loops) == [3, 5]
    assert all(listing.ops[loop.op].name == "while" for loop in cost.loops)
    assert {loop.source for loop in cost.loops} == {"known_trip_count"}


@pytest.mark.parametrize(
    ("start", "stop", "step", "turns"),
    [(0, 7, 1, 7), (3, 12, 1, 9), (0, 10, 3, 4), (-4, 4, 2, 4), (10, 0, -1, 10), (10, 0, -3, 4), (5, 5, 1, 0)],
)
@pytest.mark.parametrize("is_closed", [False, True])
def test_loops_are_read_where_the_compiler_says_nothing(start, stop, step, turns, is_closed):
    """The counts are those of Python's own loop over the same numbers."""
    compare = {(True, False): jnp.less, (False, False): jnp.greater, (True, True): jnp.less_equal}.get(
        (step > 0, is_closed), jnp.greater_equal
    )

    def function(x):
        def test(carry):
            return compare(carry[0], stop)

        return jax.lax.while_loop(test, lambda carry: (carry[0] + step, carry[1] @ carry[1]), (start, x))[1]

    expected = len(range(start, stop + ((1 if step > 0 else -1) if is_closed else 0), step))
    assert is_closed or expected == turns
    text = text_of(function, M16)
    # XLA unrolls or drops loops of few turns.
    if " while(" not in text:
        pytest.skip("XLA left no loop")
    stripped = re.sub(r'"known_trip_count":\{"n":"\d+"\},?', "", text)
    assert "known_trip_count" not in stripped
    (loop,) = count(stripped)[1].loops
    assert (loop.trip_count, loop.source) == (expected, "the loop's bounds")


def test_a_loop_that_data_ends_is_counted_by_a_symbol():
    def function(x, n):
        x = jax.lax.while_loop(lambda v: v.sum() < 3, lambda v: v @ v, x)
        return jax.lax.fori_loop(0, n, lambda i, v: jax.lax.fori_loop(0, 4, lambda j, w: w @ w, v), x)

    _, cost = compile_and_count(function, M16, jax.ShapeDtypeStruct((), jnp.int32))
    unknown = [loop for loop in cost.loops if isinstance(loop.trip_count, Unavailable)]
    assert [loop.symbol for loop in unknown] == ["n1", "n2"]
    products = dict(cost.total.terms)
    assert {products[("n1",)].flops - 16 * 16 + 1, products[("n2",)].flops} & {PRODUCT, 4 * PRODUCT}
    by_symbol = {one.runs.terms[0] for one in cost.ops if one.rule == "dot"}
    assert sorted(number for _, number in by_symbol) == [1, 4]
    assert not cost.total.is_known


def test_the_condition_runs_once_more_than_the_body():
    def function(x):
        return jax.lax.while_loop(lambda c: c[0] < 6, lambda c: (c[0] + 1, c[1] @ c[1]), (0, x))

    listing, cost = compile_and_count(function, M16)
    by_name = {listing.ops[one.op].name: one for one in cost.ops}
    assert by_name["dot"].runs.known == 6
    assert by_name["compare"].runs.known == 7


@pytest.mark.parametrize("unrolled", [1, 2, 12])
def test_a_scan_and_its_unrolled_form_have_the_same_products(unrolled):
    def function(x, layers):
        return jax.lax.scan(lambda c, w: (jnp.tanh(c @ w), None), x, layers, unroll=unrolled)[0]

    args = jax.ShapeDtypeStruct((8, 16), jnp.float32), jax.ShapeDtypeStruct((12, 16, 16), jnp.float32)
    _, cost = compile_and_count(function, *args)
    assert sum(one.work.flops * one.runs.known for one in cost.ops if one.rule == "dot") == 12 * 2 * 8 * 16 * 16
    assert cost.total.known.transcendentals == 12 * 8 * 16


# Branches


def test_the_dearest_branch_counts_and_all_are_shown():
    def function(which, x):
        branches = [lambda v: jnp.sin(v), lambda v: v @ v @ v, lambda v: v @ v]
        return jax.lax.switch(which, branches, x)

    _, cost = compile_and_count(function, jax.ShapeDtypeStruct((), jnp.int32), M16)
    (conditional,) = cost.conditionals
    assert [branch.known.flops for branch in conditional.branches] == [0, 2 * PRODUCT, PRODUCT]
    assert [branch.known.transcendentals for branch in conditional.branches] == [256, 0, 0]
    assert conditional.dearest == 1
    assert cost.total.known.flops == 2 * PRODUCT
    products = [one for one in cost.ops if one.rule == "dot"]
    assert sorted(one.is_counted for one in products) == [False, True, True]
    assert all(one.runs.known == 1 for one in products)


def test_branches_in_a_loop_run_as_often_as_it():
    def function(x):
        def step(c, i):
            return jax.lax.cond(i % 2 == 0, lambda v: v @ v, lambda v: v + 1, c), None

        return jax.lax.scan(step, x, jnp.arange(9))[0]

    _, cost = compile_and_count(function, M16)
    (product,) = (one for one in cost.ops if one.rule == "dot")
    assert product.runs.known == 9 and product.is_counted


# Bytes


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


@pytest.mark.parametrize(
    ("function", "args", "read", "written"),
    [
        (lambda x, y: x * 2 + y, (f32(100), f32(100)), 800, 400),
        # Twice the same array is read once.
        (lambda x: x * x, (f32(100),), 400, 400),
        (lambda x, y: x @ y, (f32(8, 64), f32(64, 32)), 4 * (8 * 64 + 64 * 32), 4 * 8 * 32),
        # Of 1000 numbers ten.
        (lambda x: x[10:20] * 2, (f32(1000),), 40, 40),
        (lambda x: jnp.sum(x * x, axis=1), (f32(8, 4),), 128, 32),
        (lambda x: jnp.broadcast_to(x, (50, 8)) + 1, (f32(8),), 32, 4 * 50 * 8),
        (lambda x: x.T, (f32(8, 4),), 128, 128),
        (lambda: jnp.arange(16), (), 0, 64),
    ],
    ids=["axpy", "same twice", "product", "slice", "sum", "broadcast", "transpose", "iota"],
)
def test_what_a_kernel_moves(function, args, read, written):
    kernels = compile_and_count(function, *args)[1].kernels
    # A scalar that starts a sum is a constant, which costs nothing but its own four bytes where a kernel reads it.
    total_read = sum(kernel.bytes_read for kernel in kernels)
    assert total_read - read in (0, 4)
    assert sum(kernel.bytes_written for kernel in kernels) == written


def test_an_update_in_place_moves_the_update():
    """Of 100 rows a loop writes one each turn, and reads one."""

    def function(x):
        return jax.lax.scan(lambda c, row: (c, row * 2), 0, x)[1]

    listing, cost = compile_and_count(function, f32(100, 64))
    inside = [kernel for kernel in cost.kernels if kernel.runs.known == 100]
    update = max(inside, key=lambda kernel: kernel.bytes_written)
    assert update.bytes_written == 4 * 64
    assert 4 * 64 <= update.bytes_read < 2 * 4 * 64
    assert all(kernel.bytes_written < 100 * 64 for kernel in inside), listing.text


def test_rows_that_are_gathered_are_all_that_is_read():
    kernels = compile_and_count(lambda x, i: x[i] * 2, f32(1000, 8), jax.ShapeDtypeStruct((3,), jnp.int32))[1].kernels
    assert sum(kernel.bytes_read for kernel in kernels) < 1000
    assert kernels[-1].bytes_written == 3 * 8 * 4


def test_element_types_are_those_that_the_dearest_instruction_computes_in():
    args = jax.ShapeDtypeStruct((64, 64), jnp.float16), jax.ShapeDtypeStruct((64, 64), jnp.float16)
    _, cost = compile_and_count(lambda x, y: (x @ y).astype(jnp.float32) + 1, *args)
    dearest = max(cost.kernels, key=lambda kernel: kernel.work.flops)
    listing = count(text_of(lambda x, y: (x @ y).astype(jnp.float32) + 1, *args))[0]
    (dot,) = (op for op in listing.ops if op.name == "dot")
    operand = next(op for op in listing.ops if op.block == dot.block and op.results[0] == dot.operands[0])
    assert dearest.dtype == operand.type.partition("[")[0]


# Asynchronous copies between a TPU's memories, and a sum spread over two fusions.
TPU = """HloModule jit_f, is_scheduled=true, num_partitions=4

%region (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %sum = f32[] add(%a, %b)
}

%first (p: f32[256]) -> f32[256] {
  %p = f32[256]{0:T(256)} parameter(0)
  ROOT %r = f32[256]{0:T(256)} all-reduce(%p), channel_id=3, replica_groups={{0,1,2,3}}, to_apply=%region, \
backend_config={"async_collective_fusion_config":{"flag_start":"1"}}
}

%second (p.1: f32[256]) -> f32[256] {
  %p.1 = f32[256]{0:T(256)} parameter(0)
  ROOT %r.1 = f32[256]{0:T(256)} all-reduce(%p.1), channel_id=3, replica_groups={{0,1,2,3}}, to_apply=%region, \
backend_config={"async_collective_fusion_config":{"flag_start":"2"}}
}

%double (q: f32[256]) -> f32[256] {
  %q = f32[256]{0:T(256)S(1)} parameter(0)
  ROOT %d = f32[256]{0:T(256)} add(%q, %q)
}

ENTRY %main (x: f32[256], y: f32[1024]) -> f32[256] {
  %x = f32[256]{0:T(256)} parameter(0)
  %y = f32[1024]{0:T(1024)} parameter(1)
  %start = (f32[256]{0:T(256)S(1)}, f32[256]{0:T(256)}, u32[]{:S(2)}) copy-start(%x)
  %part = ((f32[1024]{0:T(1024)}), f32[128]{0:T(128)S(1)}, s32[]{:S(2)}) slice-start(%y), slice={[0:128]}
  %here = f32[128]{0:T(128)S(1)} slice-done(%part)
  %done = f32[256]{0:T(256)S(1)} copy-done(%start)
  %f = f32[256]{0:T(256)} fusion(%done), kind=kLoop, calls=%double
  %g = f32[256]{0:T(256)} fusion(%f), kind=kLoop, calls=%first
  ROOT %h = f32[256]{0:T(256)} fusion(%g), kind=kLoop, calls=%second
}
"""


def test_memories_of_a_tpu():
    listing, cost = count(TPU)
    moved = {listing.ops[one.op].results[0]: (one.bytes_read, one.bytes_written) for one in cost.kernels}
    # Memory is what stands outside S(1): copies read it, kernels that stay inside move nothing.
    assert moved == {
        "%start": (1024, 0),
        "%part": (512, 0),
        "%f": (0, 1024),
        "%g": (1024, 1024),
        "%h": (1024, 1024),
    }
    # Four devices add three times, of which each does a quarter; the second fusion is the other half of the first.
    assert [one.work.flops for one in cost.ops] == [256 * 3 // 4, 256]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "HloModule m\n",
        "HloModule m\n\nENTRY %m (p: f32[2]) -> f32[2] {\n  ROOT %a = f32[2]{0} add(%nothing, %p)\n}\n",
        "HloModule m\n\nENTRY %m () -> f32[2] {\n  ROOT %a = f32[2]{0} fusion(%b), kind=kLoop, calls=%missing\n}\n",
        "HloModule m\n\nENTRY %m () -> f32[2] {\n  ROOT %a = f32[2]{0} call(), to_apply=%m\n}\n",
        "HloModule m\n\nENTRY %m () -> f32[2] {\n  ROOT %a = f32[2]{0} dot(), lhs_contracting_dims={9}\n}\n",
        "HloModule m\n\nENTRY %m () -> f32[2] {\n  ROOT %a = f32[2]{0} convolution(), window={size=0x}\n}\n",
        'HloModule m\n\nENTRY %m () -> q9[2] {\n  ROOT %a = q9[2]{0} custom-call(), custom_call_target="x", y={{\n}\n',
        "HloModule m\n\nENTRY %m () -> f32[2] {\n  ROOT %a = f32[2]{0} while(%a), condition=%m, body=%m\n}\n",
        "HloModule m\n\nENTRY %m () -> f32[2] {\n  ROOT %a = f32[2]{0} unheard-of(%a), to_apply=%m\n}\n",
    ],
)
def test_text_that_is_not_whole_gives_less_and_never_an_exception(text):
    _, cost = count(text)
    assert cost.kernels or not cost.total.terms
    assert all(isinstance(one.work, Work | Unavailable) for one in cost.ops)


def test_an_opcode_without_a_rule_is_unknown_by_name():
    _, cost = count("HloModule m\n\nENTRY %m (p: f32[2]) -> f32[2] {\n  ROOT %a = f32[2]{0} unheard-of()\n}\n")
    assert "unheard" in cost.unknown[0].work.reason


@given(st.sampled_from(sorted(PROGRAMS)), st.randoms())
@settings(max_examples=30, deadline=None)
def test_lines_in_any_state_are_survived(name, random):
    lines = stages(name).compiled.as_text().split("\n")
    for _ in range(10):
        number = random.randrange(len(lines))
        action = random.randrange(3)
        if action == 0:
            del lines[number]
        elif action == 1:
            lines[number] = lines[number][: random.randrange(len(lines[number]) + 1)]
        else:
            lines[number] = re.sub(r"[({\[\d]", lambda found: random.choice(["", "9", found[0]]), lines[number])
        if not lines:
            return
    count("\n".join(lines))


# Recorded programs


def transformer_products(layers, width=768, heads=12, length=128, batch=2, vocabulary=1024):
    """FLOPs of the matrix products of the shared training step, from its shapes alone: 2·M·N·K of each.

    Backwards every product has two, for its two operands; the attention's weights are of one head each.
    """
    tokens, head = batch * length, width // heads
    of_layer = [
        (tokens, 3 * width, width),
        *[(length, length, head), (length, head, length)] * (batch * heads),
        (tokens, width, width),
        (tokens, 4 * width, width),
        (tokens, width, 4 * width),
    ]
    forward = [*of_layer * layers, (tokens, vocabulary, width)]
    return 3 * sum(2 * math.prod(sizes) for sizes in forward)


def recorded(*words):
    return [path for path in recorded_files("compiled.hlo.gz") if all(word in path.parent.name for word in words)]


@pytest.mark.skipif(SHARED is None, reason=ABSENT)
@pytest.mark.parametrize("path", recorded("12-layers"), ids=lambda path: path.parent.name)
def test_products_of_the_recorded_transformer_are_those_of_its_shapes(path):
    """On CPU, CUDA and TPU alike: a dot, a library's fusion, a convolution."""
    _, cost = count(read_recorded(path))
    products = sum(one.work.flops * one.runs.known for one in cost.ops if one.rule in ("dot", "convolution"))
    assert products == transformer_products(12)
    assert cost.unknown == () and cost.total.is_known
    # The convolutions that stand for products on a TPU have no padding that anyone meant.
    assert cost.total.known.padding_flops == 0


@pytest.mark.slow
@pytest.mark.skipif(SHARED is None, reason=ABSENT)
@pytest.mark.parametrize("path", recorded("48-layers"), ids=lambda path: path.parent.name)
def test_products_of_forty_eight_layers(path):
    _, cost = count(read_recorded(path))
    assert sum(one.work.flops for one in cost.ops if one.rule == "dot") == transformer_products(48)


FUSED = """HloModule fused, is_scheduled=true

%step (a: f32[5,256], at: s32[], row: f32[256]) -> f32[5,256] {
  %a = f32[5,256]{1,0} parameter(0)
  %row = f32[256]{0} parameter(2)
  %sum = f32[256]{0} add(%row, %row)
  %one = f32[1,256]{1,0} bitcast(%sum)
  %at = s32[] parameter(1)
  %zero = s32[] constant(0)
  ROOT %kept = f32[5,256]{1,0} dynamic-update-slice(%a, %one, %at, %zero)
}

ENTRY %main (x: f32[5,256], i: s32[], y: f32[256]) -> f32[5,256] {
  %x = f32[5,256]{1,0} parameter(0)
  %i = s32[] parameter(1)
  %y = f32[256]{0} parameter(2)
"""
AT_ONCE = "  ROOT %out = f32[5,256]{1,0} fusion(%x, %i, %y), kind=kLoop, calls=%step\n}\n"
MEANWHILE = (
    "  %start = ((f32[5,256]{1,0}, s32[], f32[256]{0}), f32[5,256]{1,0}, u32[])"
    " fusion-start(%x, %i, %y), kind=kLoop, calls=%step\n"
    "  ROOT %out = f32[5,256]{1,0} fusion-done(%start)\n}\n"
)


@pytest.mark.parametrize("rest", [AT_ONCE, MEANWHILE], ids=["fusion", "fusion-start"])
def test_a_fusion_that_runs_meanwhile_costs_what_a_fusion_costs(rest):
    """XLA for GPUs starts fusions that others need not wait for; what they give holds what they are given."""
    cost = count_hlo(parse(FUSED + rest))
    assert cost.total.with_loops_once.flops == 256
    (kernel,) = cost.kernels
    # The row and where it goes are read, the row is written; the other four rows stay where they are.
    assert (kernel.work.flops, kernel.bytes_read, kernel.bytes_written) == (256, 4 * 256 + 4, 4 * 256)
