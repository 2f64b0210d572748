"""The jaxpr parser against the printer's own account of what it printed, and against the jaxpr objects.

The oracle listens to JAX's printer: each time it prints an equation, the equation and its names are noted. That is the
order and the number of equations in the text, sub-jaxprs that are printed once included.
"""

import ast
import re
from pathlib import Path
from types import SimpleNamespace

import jax
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax._src import core, source_info_util

from jaxscope._ir import jaxpr
from jaxscope._ir.model import NO_STACK, Frame
from tests import programs
from tests.listing_properties import assert_names_resolve, assert_well_formed
from tests.shared import ABSENT, SHARED, read_recorded, recorded_files

NAMES = [*programs.PROGRAMS, *programs.case_names()]
# Equations on references print as assignments.
WRITTEN = {"load": "get", "masked_load": "get", "masked_swap": "swap"}


def to_frames(traceback):
    """All of JAX's user frames; of JAX 0.8, whose printer hands out one frame, that one."""
    if isinstance(traceback, source_info_util.Frame):
        frames = (traceback,)
    else:
        frames = tuple(source_info_util.user_frames(traceback))
    return tuple(
        Frame(f.file_name, f.function_name, f.start_line, f.start_column + 1, f.end_line, f.end_column + 1)
        for f in frames
    )


def print_with_log(closed_jaxpr, monkeypatch, width):
    """The text, the source map in frames, and one record for each equation in the order of printing."""
    log = []
    original = core.pp_eqn

    def listening(eqn, context, settings):
        record = SimpleNamespace(eqn=eqn, results=(), operands=())
        log.append(record)
        doc = original(eqn, context, settings)

        def names(atoms):
            return tuple(
                context.var_names[atom]
                for atom in atoms
                if isinstance(atom, core.Var) and not isinstance(atom, core.DropVar) and context.var_names[atom] != "_"
            )

        record.results, record.operands = names(eqn.outvars), names(eqn.invars)
        return doc

    known = {}
    source_map = []
    with monkeypatch.context() as patch:
        patch.setattr(core, "pp_eqn", listening)
        text = closed_jaxpr.pretty_print(use_color=False, source_map=source_map, width=width)
    spans = [
        [(start, end, known.setdefault(id(source), to_frames(source))) for start, end, source in line]
        for line in source_map
    ]
    return text, spans, log


def check(closed_jaxpr, monkeypatch, width=80):
    text, spans, log = print_with_log(closed_jaxpr, monkeypatch, width)
    listing = jaxpr.parse(text, spans)
    assert_well_formed(listing, text)
    assert_names_resolve(listing)
    assert [op.name for op in listing.ops] == [WRITTEN.get(r.eqn.primitive.name, r.eqn.primitive.name) for r in log]
    in_other_text = False
    for op, record in zip(listing.ops, log, strict=True):
        assert op.results == record.results, op
        if op.name in ("get", "swap", "addupdate"):
            assert set(op.operands) == set(record.operands), op
        else:
            assert op.operands == record.operands, op
        frames = tuple(listing.stacks.walk(op.stack))
        expected = to_frames(record.eqn.source_info.traceback)
        if frames[:1] != expected[:1] and record.eqn.source_info.traceback is not None:
            in_other_text = True
            continue
        # The source map of JAX 0.8 has the innermost frame only.
        if jax.__version_info__ >= (0, 9) and record.eqn.source_info.traceback is not None:
            assert frames == expected, op
    # Equations inside the `str` of a parameter have the frames of the equation whose parameter it is.
    assert not in_other_text or "LinearSolveTuple" in text
    # Without the map, the structure is the same for all but text of the user's that imitates the printer.
    plain = jaxpr.parse(text)
    assert [(op.line, op.name, op.operands) for op in plain.ops] == [(o.line, o.name, o.operands) for o in listing.ops]
    assert {op.stack for op in plain.ops} <= {NO_STACK}
    return listing


@pytest.mark.parametrize("width", [1, 30, 60, 400])
@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_every_width(name, width, monkeypatch):
    """Narrow lines break what is flat at the usual width, wide ones join what is broken."""
    check(programs.stages(name).traced.jaxpr, monkeypatch, width)


def count_distinct(jaxpr_object, seen):
    """Equations by walking the object, each distinct jaxpr once: the printer names those that occur again."""
    inner = getattr(jaxpr_object, "jaxpr", None)
    jaxpr_object = inner if hasattr(inner, "eqns") else jaxpr_object
    if id(jaxpr_object) in seen:
        return 0
    seen[id(jaxpr_object)] = jaxpr_object
    total = 0
    for eqn in jaxpr_object.eqns:
        total += 1
        waiting = list(eqn.params.values())
        while waiting:
            value = waiting.pop()
            if hasattr(value, "eqns"):
                total += count_distinct(value, seen)
            elif isinstance(value, tuple | list):
                waiting.extend(value)
    return total


@pytest.mark.parametrize("name", NAMES)
def test_every_equation_as_the_printer_says(name, monkeypatch):
    traced = programs.stages(name).traced
    if traced is None or not hasattr(traced, "jaxpr"):
        pytest.skip("this program is not traced, which is its point")
    check(traced.jaxpr, monkeypatch)


PRINTS_ONCE = jax.__version_info__ >= (0, 9)


@pytest.mark.skipif(not PRINTS_ONCE, reason="JAX 0.8 prints again what is shared inside a shared jaxpr")
@pytest.mark.parametrize("name", [name for name in programs.PROGRAMS if name != "linear_algebra"])
def test_count_is_that_of_the_object(name):
    """All but `linear_algebra`, which prints jaxprs as the text of a named tuple."""
    traced = programs.stages(name).traced
    listing = jaxpr.parse(traced.jaxpr.pretty_print(use_color=False))
    assert len(listing.ops) == count_distinct(traced.jaxpr, {})


def test_transformer(monkeypatch):
    stages = programs.transformer_stages()
    if stages is None:
        pytest.skip(ABSENT)
    listing = check(stages.traced.jaxpr, monkeypatch)
    assert len(listing.ops) > 300
    assert not PRINTS_ONCE or len(listing.ops) == count_distinct(stages.traced.jaxpr, {})
    in_step = [
        op for op in listing.ops if any(f.file.endswith("transformer.py") for f in listing.stacks.walk(op.stack))
    ]
    # The rest is inside jitted functions of JAX's own, whose equations have no frame of the user's.
    assert len(in_step) > 0.8 * len(listing.ops)


def test_lines_of_equations_hold_what_they_define():
    """The lines of an op hold its results, its name and its operands: a check by the text alone."""
    for name in programs.PROGRAMS:
        listing = jaxpr.parse(programs.stages(name).traced.jaxpr.pretty_print(use_color=False))
        for op in listing.ops:
            span = "\n".join(listing.lines[op.line : op.end_line + 1])
            for result in op.results:
                assert re.search(rf"\b{result}:", span)
            if op.name not in ("get", "swap", "addupdate"):
                assert op.name in span
            for operand in op.operands:
                assert re.search(rf"(?<![\w:]){operand}(?![\w:])", span), op


def test_blocks_are_the_jaxprs():
    listing = jaxpr.parse(programs.stages("nested_loops").traced.jaxpr.pretty_print(use_color=False))
    main = next(block for block in listing.blocks if block.parent == -1 and not block.name)
    closed = programs.stages("nested_loops").traced.jaxpr
    assert len(main.arguments) == len(closed.jaxpr.invars) + len(closed.jaxpr.constvars)
    scans = [op for op in listing.ops if op.name == "scan"]
    bodies = [block for block in listing.blocks if block.name == "jaxpr" and block.parent >= 0]
    assert len(scans) == 2 and len(bodies) == 2
    assert all(block.isolated and block.kind == "jaxpr" for block in listing.blocks)


def test_positions_are_those_of_the_source():
    """Python's own parser knows where `jnp.cos(` stands; columns count from 1 here and from 0 there."""
    source = Path(programs.__file__).read_text()
    function = next(node for node in ast.parse(source).body if getattr(node, "name", "") == "spread_over_lines")
    calls = {
        ast.unparse(node.func): (node.lineno, node.col_offset + 1)
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
    }
    source_map = []
    traced = programs.stages("spread_over_lines").traced
    text = traced.jaxpr.pretty_print(use_color=False, source_map=source_map)
    listing = jaxpr.parse(text, [[(a, b, to_frames(source)) for a, b, source in line] for line in source_map])
    by_name = {op.name: next(listing.stacks.walk(op.stack)) for op in listing.ops}
    assert by_name["cos"].position == (programs.__file__, *calls["jnp.cos"])
    assert by_name["exp"].position == (programs.__file__, *calls["jnp.exp"])
    line = source.splitlines()[by_name["mul"].line - 1]
    assert line[by_name["mul"].column - 1 :].startswith("x * y")
    assert line[by_name["sub"].column - 1 :].startswith("x - y")


def test_frames_per_line_are_enough_where_no_text_misleads():
    """The simpler form of `line_stacks`: the frames of each line's first equation."""
    text = "{ lambda ; a:f32[]. let\n    b:f32[] = sin a\n    c:f32[] = cos b\n  in (c,) }"
    frames = [Frame("f.py", "f", line, 1) for line in (3, 4)]
    listing = jaxpr.parse(text, [None, (frames[0],), (frames[1],), None])
    assert [next(listing.stacks.walk(op.stack)) for op in listing.ops] == frames


def test_text_of_the_users_does_not_end_an_equation():
    """A format string that imitates the end of its own parameters, told apart by the source map alone."""

    def imitation(x):
        jax.debug.print("one\n    ] x\n    z:f32[4] = mul x x\n    y {y}", y=x)
        return jax.numpy.sin(x)

    source_map = []
    closed = jax.jit(imitation).trace(1.0).jaxpr
    text = closed.pretty_print(use_color=False, source_map=source_map)
    listing = jaxpr.parse(text, [[(a, b, to_frames(source)) for a, b, source in line] for line in source_map])
    assert [op.name for op in listing.ops] == [eqn.primitive.name for eqn in closed.eqns]
    assert listing.ops[1].line == next(n for n, line in enumerate(listing.lines) if "= sin" in line)
    assert next(listing.stacks.walk(listing.ops[1].stack)).line > next(listing.stacks.walk(listing.ops[0].stack)).line


def test_columns_of_the_source_map_count_bytes():
    """Text that is not ASCII before an equation on the same line."""

    def largest_é(x):
        return x + 1

    largest_é.__name__ = "größte"
    source_map = []

    def outer(x):
        return jax.jit(largest_é)(x) * 2

    closed = jax.jit(outer).trace(1.0).jaxpr
    text = closed.pretty_print(use_color=False, source_map=source_map)
    listing = jaxpr.parse(text, [[(a, b, to_frames(source)) for a, b, source in line] for line in source_map])
    add = next(op for op in listing.ops if op.name == "add")
    first_line = largest_é.__code__.co_firstlineno
    assert next(listing.stacks.walk(add.stack)).line == first_line + 1


@pytest.mark.parametrize(
    ("line", "name", "results", "operands", "type_"),
    [
        ("a:f32[4] = mul b 2.0:f32[]", "mul", ("a",), ("b",), "f32[4]"),
        ("_:i32[] a:i32[] = foo 1:i32[] b", "foo", ("a",), ("b",), "i32[], i32[]"),
        ("debug_callback[effect=Debug] b c", "debug_callback", (), ("b", "c"), ""),
        (" = debug_callback[effect=Debug] b", "debug_callback", (), ("b",), ""),
        ("a:f32[] <- b[c,1:3]", "get", ("a",), ("b", "c"), "f32[]"),
        ("a:f32[] <- b[c:c+4,...] mask=d other=e", "get", ("a",), ("b", "c", "d", "e"), "f32[]"),
        ("a:f32[] <- b[c:c+4]", "get", ("a",), ("b", "c"), "f32[]"),
        ("b[c:c+d] <- True:bool[]", "swap", (), ("b", "c", "d"), ""),
        ("b[c,:] <- d", "swap", (), ("b", "c", "d"), ""),
        ("b[...] <- 5.0:f32[]", "swap", (), ("b",), ""),
        ("a:f32[2], b[c] <- b[c], d", "swap", ("a",), ("b", "c", "d"), "f32[2]"),
        ("b[c] += d", "addupdate", (), ("b", "c", "d"), ""),
        ("a:f32[8@(x, y)]{V:(x, y)} = neg b", "neg", ("a",), ("b",), "f32[8@(x, y)]{V:(x, y)}"),
        ("a:Ref<vmem>{f32[8,128]} = new_ref[kind=None] b", "new_ref", ("a",), ("b",), "Ref<vmem>{f32[8,128]}"),
        ("a:i32[3] = iota[shape=(3,)] ", "iota", ("a",), (), "i32[3]"),
        ("a:c64[] = mul (2+3j):c64[] b", "mul", ("a",), ("b",), "c64[]"),
        ("a:f32[3] = add [...]:f32[3] in", "add", ("a",), ("in",), "f32[3]"),
        ("a:f32[] = jit[name=we ] ird [x] b, c f=1] b", "jit", ("a",), ("b",), "f32[]"),
    ],
)
@pytest.mark.parametrize(
    "layout", ["{{ lambda ; b:f32[]. let {} in (a,) }}", "{{ lambda ; b:f32[]. let\n    {}\n  in (a,) }}"]
)
def test_forms_of_equations(line, name, results, operands, type_, layout):
    listing = jaxpr.parse(layout.format(line))
    assert [(op.name, op.results, op.operands, op.type) for op in listing.ops] == [(name, results, operands, type_)]


def test_binders_that_wrap():
    listing = jaxpr.parse(programs.stages("many_results").traced.jaxpr.pretty_print(use_color=False))
    scan = next(op for op in listing.ops if op.name == "scan")
    assert len(scan.results) == 48 and len(scan.operands) == 24
    binders = [fold for fold in listing.folds if fold.kind == "binders"]
    assert scan.line in {fold.line for fold in binders}
    parameters = next(f for f in listing.folds if f.kind == "parameters" and scan.line < f.line <= scan.end_line)
    assert listing.lines[parameters.line].endswith("scan[")
    assert listing.lines[parameters.end_line + 1].lstrip().startswith("]")


@pytest.mark.slow
@pytest.mark.skipif(SHARED is None, reason=ABSENT)
@pytest.mark.parametrize("path", recorded_files("jaxpr.txt.gz"), ids=lambda path: path.parent.name)
def test_recorded(path):
    text = read_recorded(path)
    listing = jaxpr.parse(text)
    assert_well_formed(listing, text)
    assert_names_resolve(listing)
    # The transformer has no scan and no reference: each line with " = " outside a parameter is an equation.
    equations = [line for line in listing.lines if re.match(r"\s*(?:[a-z_]+:\S+ )*(?:[a-z_]+:\S+) = ", line)]
    one_liners = sum(len(re.findall(r"(?:let |; )[a-z]+:\S+ = ", line)) for line in listing.lines)
    assert len(listing.ops) == len(equations) + one_liners


PIECES = st.sampled_from(
    [
        "{ lambda ",
        "; ",
        ". let",
        "\n",
        "\n    ",
        "a:f32[] = ",
        "in (",
        ") }",
        "scan[",
        "]",
        " in\n",
        "let f = ",
        "x=",
        " a",
        "<- ",
        "é",
    ]
)


@given(st.lists(PIECES, max_size=40).map("".join))
@settings(max_examples=300, deadline=None)
def test_nonsense_is_read_without_exception(text):
    listing = jaxpr.parse(text)
    assert listing.text == text
    assert all(op.end_line < len(listing.lines) for op in listing.ops)


def test_deep_nesting_is_cut_not_raised():
    text = "{ lambda ; a:f32[]. let b:f32[] = jit[jaxpr=" * 2000
    assert jaxpr.parse(text).text == text
