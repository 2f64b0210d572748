"""Runs of ops in StableHLO: loops, branches, calls, manual computations, and what is inside of kernels."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental import pallas as pl
from jax.sharding import PartitionSpec

from jaxscope._analysis.stablehlo_cost import count_stablehlo
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._analysis.work import Amount, Work
from jaxscope._ir import stablehlo
from tests import programs
from tests.test_stablehlo_cost import F4, M8, account, array, by_rule, total


def layer(x, w):
    return jnp.tanh(x @ w) + x * 0.5


def test_scan_and_unrolled_have_the_same_work():
    ws, x = array((6, 8, 8)), array((4, 8))

    def scanned(x, ws):
        return lax.scan(lambda h, w: (layer(h, w), None), x, ws)[0].sum()

    def unrolled(x, ws):
        for w in ws:
            x = layer(x, w)
        return x.sum()

    one, other = total(scanned, x, ws), total(unrolled, x, ws)
    assert (one.flops, one.transcendentals) == (other.flops, other.transcendentals)
    assert one.flops == 6 * (2 * 4 * 8 * 8 + 4 * 8 * 2) + 31
    # Backwards each step has the product with the transposed weights as well; what a scan keeps and fetches is no work.
    dots = [by_rule(jax.grad(each), x, ws)["dot"] for each in (scanned, unrolled)]
    assert dots == [Work(flops=2 * 6 * 2 * 4 * 8 * 8)] * 2


@pytest.mark.parametrize("name", ["axpy", "custom_rules", "nested_jit", "convolution", "spread_over_lines", "pooling"])
def test_gradient_of_jit_and_jit_of_gradient(name):
    function, args = programs.PROGRAMS[name]

    def loss(*args):
        leaves = jax.tree.leaves(function(*args))
        return sum(jnp.sum(leaf) for leaf in leaves)

    assert total(jax.jit(jax.grad(loss)), *args) == total(jax.grad(jax.jit(loss)), *args)


def test_a_function_counts_at_every_call():
    @jax.jit
    def helper(x):
        return jnp.sin(x) * x

    def outer(x):
        y = lax.fori_loop(0, 5, lambda i, v: helper(v), helper(x))
        return helper(y)

    cost = account(outer, F4)
    (product,) = [op for op in cost.ops if op.rule == "elementwise" and op.work.flops]
    assert product.runs.known == 7
    assert cost.total.known.flops == 28 and cost.total.known.transcendentals == 28


def test_nested_loops_multiply_and_unknown_ones_have_symbols():
    def function(x, n):
        x = lax.fori_loop(0, n, lambda i, v: lax.fori_loop(0, 3, lambda j, w: w * 2, v), x)
        return lax.while_loop(lambda v: v.sum() < 9, lambda v: jnp.sin(lax.fori_loop(0, n, lambda i, w: w * w, v)), x)

    cost = account(function, F4, jax.ShapeDtypeStruct((), jnp.int32))
    symbols = {loop.symbol for loop in cost.loops}
    assert symbols == {"", "n1", "n2", "n3"} and len(cost.loops) == 4
    assert [loop.trip_count for loop in cost.loops if not loop.symbol] == [3]
    assert all(isinstance(loop.trip_count, Unavailable) for loop in cost.loops if loop.symbol)
    terms = dict(cost.total.terms)
    flops = sorted(work.flops for work in terms.values() if work.flops)
    # The sum and comparison of the condition run once more than the body, and once more than the symbol says.
    assert flops == [4, 4, 4, 12]
    pair = [key for key in terms if len(key) == 2 and terms[key].flops]
    assert len(pair) == 1 and terms[pair[0]].flops == 4
    assert not cost.total.is_known and cost.total.known.flops == 4
    assert any("n1" in note for note in cost.notes)


def test_a_conditional_counts_its_dearest_branch():
    def function(i, x):
        return lax.switch(i, [lambda v: v + 1, lambda v: v @ v @ v, lambda v: jnp.sin(v) * v], x)

    cost = account(function, jax.ShapeDtypeStruct((), jnp.int32), M8)
    (conditional,) = cost.conditionals
    assert [branch.known for branch in conditional.branches] == [
        Work(flops=64),
        Work(flops=2 * 2 * 8**3),
        Work(flops=64, transcendentals=64),
    ]
    assert conditional.dearest == 1 and cost.total.known.flops == 2 * 2 * 8**3
    aside = Amount.total((op.work, op.runs) for op in cost.ops if not op.is_counted)
    assert aside.known == Work(flops=128, transcendentals=64)


def test_an_op_of_a_function_counts_where_it_is_counted():
    """A function called from both branches, and a conditional in a branch that is not taken."""

    @jax.jit
    def helper(x):
        return jnp.sin(x)

    def function(p, x):
        def small(v):
            return lax.cond(v[0] > 0, helper, lambda v: v + 1, v)

        return lax.cond(p, small, lambda v: helper(helper(v) * 3 + 1), x)

    cost = account(function, jax.ShapeDtypeStruct((), bool), F4)
    assert len(cost.conditionals) == 2
    sines = [op for op in cost.ops if op.rule == "transcendental"]
    assert sum(op.runs.known for op in sines if op.is_counted) == 2
    assert len({op.op for op in cost.ops}) == len(cost.ops)
    assert cost.total.known.transcendentals == 8


def test_calls_and_regions_may_be_deeper_than_pythons_stack():
    function = """
      func.func private @f{0}(%arg0: tensor<4xf32>) -> tensor<4xf32> {{
        %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>
        %1 = func.call @f{1}(%0) : (tensor<4xf32>) -> tensor<4xf32>
        %2 = func.call @f{1}(%1) : (tensor<4xf32>) -> tensor<4xf32>
        return %2 : tensor<4xf32>
      }}"""
    functions = [function.format(number, number + 1) for number in range(1500)]
    leaf = "func.func private @f1500(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n return %arg0 : tensor<4xf32>\n}"
    text = "module {" + "\n".join([*functions, leaf]).replace("private @f0(", "public @main(") + "\n}"
    assert count_stablehlo(stablehlo.parse(text)).total.known.flops == 4 * (2**1500 - 1)
    inside = "%x = stablehlo.add %a, %a : tensor<f32>\nstablehlo.return %x : tensor<f32>\n"
    for number in range(1500):
        inside = f"""%v{number} = "stablehlo.if"(%p) ({{
          {inside}}}, {{
          stablehlo.return %a : tensor<f32>
        }}) : (tensor<i1>) -> tensor<f32>
        stablehlo.return %v{number} : tensor<f32>
        """
    text = f"func.func @main(%a: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {{\n{inside}}}"
    cost = count_stablehlo(stablehlo.parse(text))
    assert cost.total.known == Work(flops=1) and len(cost.conditionals) == 1500


def test_a_manual_computation_counts_on_every_device():
    mesh = jax.sharding.AbstractMesh((4, 2), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)

    def local(x):
        return x * lax.psum(x.sum(), "data"), lax.psum(x, ("data", "model")), lax.psum_scatter(x, "data", tiled=True)

    spec = PartitionSpec("data")
    function = jax.shard_map(local, mesh=mesh, in_specs=spec, out_specs=(spec,) * 3, check_vma=False)
    text = jax.jit(function).trace(array((32,))).lower(lowering_platforms=("cpu",)).as_text()
    cost = count_stablehlo(stablehlo.parse(text))
    found = {}
    for op in cost.ops:
        found.setdefault(op.rule, []).append(op.work.flops * op.runs.known)
    # Each of 8 devices adds 8 values and multiplies 8. Two groups of 4 add 4 sums each; one of 8 adds 8 times 8 values;
    # two groups of 4 add 4 times 8 values.
    assert found == {
        "reduce": [8 * 7],
        "elementwise": [8 * 8],
        # A share of 3/4 of an addition is a whole one on each device.
        "all-reduce": [8 * 1, 7 * 8],
        "reduce-scatter": [2 * 3 * 8],
    }
    assert "8 devices" in cost.notes[0]


def test_kernels_and_callbacks_are_named_or_declared():
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2

    def pallas(x):
        estimate = pl.CostEstimate(flops=1024, transcendentals=3, bytes_accessed=8192)
        return pl.pallas_call(kernel, out_shape=x, cost_estimate=estimate)(x)

    text = jax.jit(pallas).trace(array((8, 128))).lower(lowering_platforms=("tpu",)).as_text()
    assert count_stablehlo(stablehlo.parse(text)).total.known == Work(1024, 3)
    cost = account(lambda x: jax.pure_callback(np.sin, F4, x) + 1, F4)
    (unknown,) = cost.unknown
    assert "python" in unknown.work.reason and cost.total.known == Work(flops=4)
