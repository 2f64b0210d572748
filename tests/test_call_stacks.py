"""Whole stacks of StableHLO are held to what Python's own call stack was, and to modules written by hand."""

import jax
import jax.numpy as jnp
import pytest
from jax import lax

import jaxscope
from jaxscope._analysis.call_stacks import complete_stacks
from jaxscope._ir import stablehlo
from jaxscope._links import link_listing

HAND_MADE = """module {
  func.func public @main(%arg0: tensor<f32>) -> tensor<f32> {
    %0 = call @twice(%arg0) : (tensor<f32>) -> tensor<f32> loc(#loc1)
    %1 = call @twice(%0) : (tensor<f32>) -> tensor<f32> loc(#loc2)
    %2 = call @once(%1) : (tensor<f32>) -> tensor<f32> loc(#loc2)
    return %2 : tensor<f32>
  }
  func.func private @twice(%arg0: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.sine %arg0 : tensor<f32> loc(#loc3)
    return %0 : tensor<f32>
  }
  func.func private @once(%arg0: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.cosine %arg0 : tensor<f32> loc(#loc3)
    %1 = call @twice(%0) : (tensor<f32>) -> tensor<f32> loc(#loc3)
    return %1 : tensor<f32>
  }
}
#loc1 = loc(callsite("first"("f.py":1:1) at "model"("f.py":9:1)))
#loc2 = loc(callsite("second"("f.py":2:1) at "model"("f.py":9:1)))
#loc3 = loc("inner"("f.py":5:1))
"""


def lines_of(linked, name):
    """The Python lines on the stack of the op of that name, innermost first."""
    number = next(number for number, op in enumerate(linked.listing.ops) if op.name == name)
    return [frame.line for frame in linked.stacks.walk(linked.op_stack[number])]


def test_of_several_callers_the_common_frames_count():
    linked = link_listing("stablehlo", stablehlo.parse(HAND_MADE), None)
    whole = complete_stacks(linked)
    assert lines_of(linked, "stablehlo.sine") == [5] and lines_of(linked, "stablehlo.cosine") == [5]
    assert lines_of(whole, "stablehlo.cosine") == [5, 2, 9]
    assert lines_of(whole, "stablehlo.sine") == [5, 9], "its callers have the model in common"
    assert lines_of(whole, "call") == [1, 9]
    assert linked.listing is whole.listing


def test_what_calls_itself_ends():
    text = HAND_MADE.replace("stablehlo.sine %arg0 :", "call @once(%arg0) : (tensor<f32>) ->")
    complete_stacks(link_listing("stablehlo", stablehlo.parse(text), None))


def test_depth_is_no_limit():
    calls = "".join(
        f"func.func private @f{n}(%arg0: tensor<f32>) -> tensor<f32> {{\n"
        f"  %0 = call @f{n + 1}(%arg0) : (tensor<f32>) -> tensor<f32>\n  return %0 : tensor<f32>\n}}\n"
        for n in range(3000)
    )
    complete_stacks(link_listing("stablehlo", stablehlo.parse(calls), None))


def body(h, w):
    return jnp.tanh(h @ w)


def inner(ws, h):
    return lax.scan(lambda h, w: (body(h, w), None), h, ws)[0]


def outer(ws, h):
    return lax.fori_loop(0, 3, lambda i, h: inner(ws, h), h)


@pytest.mark.skipif(jax.__version_info__ < (0, 9), reason="JAX 0.8 gives the innermost frame only")
def test_loops_in_loops_reach_the_function():
    inspection = jaxscope.inspect(outer, "f32[4,16,16]", "f32[8,16]")
    frame = inspection.cost_by("function", stage="stablehlo").set_index("function").flops
    product = 2 * 8 * 16 * 16 * 4 * 3
    assert (frame["body"], frame["inner"], frame["outer"]) == (product,) * 3
    whole = complete_stacks(inspection._facts.listing("stablehlo"))
    expected = [one.__code__.co_firstlineno + 1 for one in (body, inner, outer)]
    assert [line for line in dict.fromkeys(lines_of(whole, "stablehlo.dot_general")) if line in expected] == expected


@pytest.mark.skipif(jax.__version_info__ < (0, 9), reason="JAX 0.8 gives the innermost frame only")
def test_a_line_that_calls_a_loop_is_hot_where_nothing_was_compiled():
    source = jaxscope.inspect(inner, "f32[4,16,16]", "f32[8,16]", target="rocm")._source
    heat = source.view["heat"]["python"]
    numbers = source.index("python")["numbers"]
    shares = {numbers[line]: share for line, share in zip(heat["lines"], heat["shares"], strict=True)}
    assert shares[inner.__code__.co_firstlineno + 1] == shares[body.__code__.co_firstlineno + 1] == 1
