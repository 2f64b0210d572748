"""Links reach the user's own line, checked against JAX's tracebacks, MLIR's location objects and XLA's frame tables."""

import re
from collections import Counter

import jax
import jax.numpy as jnp
import pytest
from jax._src import source_info_util

import jaxscope
from jaxscope._ir.model import NO_STACK, Frame
from jaxscope._links import (
    MADE_BY_COMPILER,
    WITHOUT_OP,
    Definition,
    definition_of,
    lines_of_python,
    linked_lines,
    trim_stack,
)
from tests.oracles import read_frame_tables
from tests.transformer import CALLER, transformer_for


@pytest.fixture(scope="module")
def transformer():
    """The inspection of the transformer at 12 layers."""
    return transformer_for("cpu")


def innermost(linked):
    """(op name, file, line) of every op of a listing, None for those without a place."""
    found = []
    for op, stack in zip(linked.listing.ops, linked.op_stack, strict=True):
        frame = next(linked.stacks.walk(stack), None) if stack != NO_STACK else None
        found.append((op.name, frame and frame.file, frame and frame.line))
    return found


def test_equations_reach_the_lines_of_jax_own_tracebacks(transformer):
    expected, seen = Counter(), set()

    def walk(jaxpr):
        if id(jaxpr) in seen:
            return
        seen.add(id(jaxpr))
        for eqn in jaxpr.eqns:
            frame = source_info_util.user_frame(eqn.source_info.traceback)
            expected[(eqn.primitive.name, frame and frame.file_name, frame and frame.start_line)] += 1
            for value in eqn.params.values():
                for inner in value if isinstance(value, tuple | list) else [value]:
                    if hasattr(inner, "eqns"):
                        walk(getattr(inner, "jaxpr", inner))

    walk(transformer.traced.jaxpr.jaxpr)
    found = Counter(innermost(transformer._facts.listing("jaxpr")))
    right = sum((found & expected).values())
    assert right / sum(expected.values()) >= 0.99
    assert sum(expected.values()) > 100


# "transformer.py":31:14 to :61
MLIR_FILE = re.compile(r'"([^"]*)":([0-9]+):[0-9]+')


def test_operations_reach_the_lines_of_mlir_own_locations(transformer):
    expected = []

    def walk(operation):
        if operation.name not in ("builtin.module", "func.func"):
            # The first file of a location printed in full is the innermost: callsite(callee at caller).
            place = MLIR_FILE.search(str(operation.location))
            # Constants and returns carry the line that called the inspection: no part of the program.
            place = None if place and place[1] == CALLER else place
            expected.append((operation.name, place and place[1], place and int(place[2])))
        for region in operation.regions:
            for block in region.blocks:
                for inner in block.operations:
                    walk(inner.operation)

    walk(transformer.lowered.compiler_ir("stablehlo").operation)
    names = {"func.call": "call", "func.return": "return"}
    wanted = Counter((names.get(name, name), file, line) for name, file, line in expected if file)
    found = Counter(innermost(transformer._facts.listing("stablehlo")))
    # Bodies printed as "applies stablehlo.add" are operations of the module and not of the text.
    hidden = 2 * transformer.stablehlo.count(" applies stablehlo.")
    right = sum((found & wanted).values())
    assert right / (sum(wanted.values()) - hidden) >= 0.99


@pytest.mark.skipif(jax.__version_info__ < (0, 9), reason="JAX 0.8 prints no frame tables")
def test_every_instruction_that_names_a_stack_frame_reaches_its_line(transformer):
    frames = read_frame_tables(transformer.hlo)
    linked = transformer._facts.listing("hlo")
    named = 0
    for op, (_, file, line) in zip(linked.listing.ops, innermost(linked), strict=True):
        if frame_id := re.search(r" stack_frame_id=(\d+)", linked.listing.lines[op.line]):
            named += 1
            expected = frames[int(frame_id[1])]
            assert (file, line) == ((None, None) if expected[0] == CALLER else expected), op
    assert named == len(re.findall(r"stack_frame_id=\d+", transformer.hlo)) > 1000


def test_coverage_is_said(transformer):
    tabs = {tab["key"]: tab for tab in transformer._source.view["tabs"]}
    linked = transformer._facts.listing("hlo")
    expected = f"({linked.linked_ops:,} of {len(linked.listing.ops):,})"
    assert any(expected in note for note in tabs["hlo"]["notes"])


def test_exact_and_near_links_are_told_apart():
    def f(x):
        return jnp.sin(x) + jnp.cos(x)

    inspection = jaxscope.inspect(f, "f32[4]")
    jaxpr, stablehlo = (inspection._facts.listing(key) for key in ("jaxpr", "stablehlo"))
    sine = next(op.line for op in jaxpr.listing.ops if op.name == "sin")
    links = linked_lines(jaxpr, sine, stablehlo)
    assert ["sine" in stablehlo.listing.lines[line] for line in links.exact] == [True]
    near = " ".join(stablehlo.listing.lines[line] for line in links.near)
    assert "stablehlo.cosine" in near and "stablehlo.add" in near and "sine %" not in near.replace("cosine", "")


def test_a_line_of_python_reaches_what_it_called():
    def inner(x):
        return jnp.tanh(x)

    def outer(x):
        y = inner(x)
        return y * 2

    inspection = jaxscope.inspect(outer, "f32[4]")
    file, first = outer.__code__.co_filename, outer.__code__.co_firstlineno
    # JAX 0.8 gives the innermost frame of an equation only.
    jaxpr = inspection._facts.listing("jaxpr" if jax.__version_info__ >= (0, 9) else "stablehlo")
    calling, multiplying = (lines_of_python(jaxpr, file, first + offset) for offset in (1, 2))
    assert not calling.exact and ["tanh" in jaxpr.listing.lines[line] for line in calling.near] == [True]
    assert multiplying.exact and not multiplying.near


def test_stacks_start_at_the_inspected_function():
    def f(x):
        return jnp.sin(x)

    inspection = jaxscope.inspect(f, "f32[4]")
    for key in ("jaxpr", "hlo"):
        linked = inspection._facts.listing(key)
        for node in range(len(linked.stacks.nodes)):
            *_, outermost = linked.stacks.walk(node)
            assert outermost.file == __file__


def test_trimming():
    own = Frame("mine.py", "f", 12)
    caller = Frame("mine.py", "<module>", 40)
    library = Frame("/lib/site-packages/IPython/core.py", "run", 1)
    inner = Frame("/lib/site-packages/equinox/nn.py", "call", 5)
    definition = Definition("mine.py", 10, 14)
    assert trim_stack((inner, own, caller, library), definition) == (inner, own)
    assert trim_stack((own, caller, library), None) == (own, caller)
    assert trim_stack((library,), definition) == (library,)
    assert trim_stack((), definition) == ()
    assert trim_stack((caller, library), definition, frozenset({("mine.py", 40)})) == ()
    assert trim_stack((inner, caller), None, frozenset({("mine.py", 40)})) == (inner,)


def test_definitions_are_found_behind_wrappers():
    def f(x):
        return x

    import functools

    expected = definition_of(f)
    assert definition_of(functools.partial(f, 1)) == expected
    assert definition_of(jax.jit(f)) == expected
    assert definition_of(jax.grad(f)) == expected
    assert definition_of(len) is None


def test_lines_without_a_place_say_why():
    inspection = jaxscope.inspect(lambda x: x + 1, "f32[4]")
    linked = inspection._facts.listing("hlo")
    assert linked.line_stack[0] == WITHOUT_OP
    for op, stack in zip(linked.listing.ops, linked.op_stack, strict=True):
        if op.name == "parameter":
            assert linked.line_stack[op.line] == WITHOUT_OP
        elif stack == NO_STACK:
            assert linked.line_stack[op.line] == MADE_BY_COMPILER
