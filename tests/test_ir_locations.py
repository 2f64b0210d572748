"""Locations by hand-written examples, and one expression's position told the same way in all three notations."""

import ast
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax._src import source_info_util

from jaxscope._ir import hlo, jaxpr, stablehlo
from jaxscope._ir.locations import HloStackTables, MlirLocations, decode_hlo_string, decode_mlir_string, make_frame
from jaxscope._ir.model import NO_STACK, Frame, StackTableBuilder
from tests import programs
from tests.shared import ABSENT

DEFINITIONS = r"""
#loc = loc(unknown)
#loc1 = loc("f.py":19:17 to :27)
#loc2 = loc("step"(#loc1))
#loc3 = loc("g.py":3:0 to 5:9)
#loc4 = loc("main"(#loc3))
#loc5 = loc(callsite(#loc2 at #loc4))
#loc6 = loc("jit(step)/jvp()/mul"(#loc5))
#loc7 = loc("mul:"(#loc6))
#loc8 = loc(callsite(#loc5 at #loc4))
#loc9 = loc(callsite(#loc4 at #loc5))
#loc10 = loc("x"(#loc10))
#loc11 = loc(callsite(#loc2 at #loc11))
#loc12 = loc(callsite(#loc2 at #loc99))
#loc13 = loc(#loc14)
#loc14 = loc(#loc13)
#loc15 = loc(fused[#loc, #loc6, #loc2])
#loc16 = loc(fused<"cse">[#loc2, #loc6])
"""

STEP = ("step", "f.py", 19, 18, 19, 28)
MAIN = ("main", "g.py", 3, 1, 5, 10)
# location: (name path, frames innermost first as (function, file, line, column, end line, end column))
EXAMPLES = {
    "#loc": ("", []),
    "unknown": ("", []),
    "#loc1": ("", [("", "f.py", 19, 18, 19, 28)]),
    '"f.py":19:17': ("", [("", "f.py", 19, 18, 0, 0)]),
    '"f.py":19:0': ("", [("", "f.py", 19, 0, 0, 0)]),
    '"f.py":19:0 to :4': ("", [("", "f.py", 19, 1, 19, 5)]),
    '"f.py":19:0 to 20:5': ("", [("", "f.py", 19, 1, 20, 6)]),
    '"f.py":19': ("", [("", "f.py", 19, 0, 0, 0)]),
    "#loc2": ("", [STEP]),
    "#loc5": ("", [STEP, MAIN]),
    "#loc6": ("jit(step)/jvp()/mul", [STEP, MAIN]),
    "#loc7": ("jit(step)/jvp()/mul", [STEP, MAIN]),
    "#loc8": ("", [STEP, MAIN, MAIN]),
    "#loc9": ("", [MAIN, STEP, MAIN]),
    # Names: of a function, of an op, of an argument, of an op with tracebacks switched off.
    '"attention"("f.py":31:14 to :61)': ("", [("attention", "f.py", 31, 15, 31, 62)]),
    '"f.<locals>.<lambda>"("f.py":1:1 to :2)': ("", [("f.<locals>.<lambda>", "f.py", 1, 2, 1, 3)]),
    '"jit(f)/mul"("f.py":1:2)': ("jit(f)/mul", [("", "f.py", 1, 3, 0, 0)]),
    '"mul"(#loc5)': ("mul", [STEP, MAIN]),
    '"jit(f)"(#loc2)': ("jit(f)", [STEP]),
    '"mul"': ("mul", []),
    '"jit(f)/a[0]/mul"': ("jit(f)/a[0]/mul", []),
    "\"params['w']\"": ("", []),
    '"args[0]"': ("", []),
    '""': ("", []),
    r'"jit(f)/\22\C3\A9\\"': ('jit(f)/"é\\', []),
    r'"step"("gr\C3\B6\C3\9Fe.py":1:2 to :3)': ("", [("step", "größe.py", 1, 3, 1, 4)]),
    # The same, written in place.
    'callsite("step"("f.py":19:17 to :27) at "main"("g.py":3:0 to 5:9))': ("", [STEP, MAIN]),
    '"jit(f)/x"(callsite(#loc2 at callsite(#loc4 at #loc4)))': ("jit(f)/x", [STEP, MAIN, MAIN]),
    "loc(#loc6)": ("jit(step)/jvp()/mul", [STEP, MAIN]),
    # What an inlined call becomes: the callee's path counts.
    'callsite("jit(f)/a"(#loc2) at "jit(f)/b"(#loc4))': ("jit(f)/a", [STEP, MAIN]),
    "callsite(#loc2 at unknown)": ("", [STEP]),
    "callsite(unknown at #loc4)": ("", [MAIN]),
    # Fused: the first that has a path, the first that has a place.
    "#loc15": ("jit(step)/jvp()/mul", [STEP, MAIN]),
    "#loc16": ("jit(step)/jvp()/mul", [STEP]),
    "fused[]": ("", []),
    'fused<"a]b">["f.py":1:2 to :3]': ("", [("", "f.py", 1, 3, 1, 4)]),
    # Circles, dangling references, and text that is no location.
    "#loc10": ("", []),
    "#loc11": ("", [STEP]),
    "#loc12": ("", [STEP]),
    "#loc13": ("", []),
    "#loc99": ("", []),
    "callsite(#loc2": ("", [STEP]),
    "nonsense": ("", []),
    "": ("", []),
}


def read_definitions(stacks):
    locations = MlirLocations(stacks)
    # Backwards, so that every alias is used before it is defined.
    for line in reversed(DEFINITIONS.strip().splitlines()):
        alias, _, text = line.partition(" = ")
        locations.define(alias, text[4:-1])
    return locations


@pytest.mark.parametrize("location", EXAMPLES)
def test_mlir(location):
    stacks = StackTableBuilder()
    path, node = read_definitions(stacks).resolve(location)
    frames = [(f.function, f.file, f.line, f.column, f.end_line, f.end_column) for f in stacks.build().walk(node)]
    # "x" around nothing but itself is a name and nothing else.
    expected_path, expected = EXAMPLES[location]
    assert (path or "", frames) == ("x" if location == "#loc10" else expected_path, expected)


def test_mlir_in_any_order():
    """What was resolved before does not change what is resolved after."""
    for order in (list(EXAMPLES), list(reversed(EXAMPLES))):
        stacks = StackTableBuilder()
        locations = read_definitions(stacks)
        nodes = {location: locations.resolve(location)[1] for location in order}
        table = stacks.build()
        for location, node in nodes.items():
            assert [f.function for f in table.walk(node)] == [frame[0] for frame in EXAMPLES[location][1]]


def test_exponential_definitions_end():
    """Thirty lines that spell 2**30 frames."""
    stacks = StackTableBuilder()
    locations = MlirLocations(stacks)
    locations.define("#loc0", '"f"("f.py":1:1 to :2)')
    for level in range(1, 31):
        locations.define(f"#loc{level}", f"callsite(#loc{level - 1} at #loc{level - 1})")
    locations.resolve("#loc30")
    locations.resolve("fused[#loc30, #loc29]")
    assert len(stacks.build().nodes) < 1_000_000


def test_deep_text_ends():
    stacks = StackTableBuilder()
    locations = MlirLocations(stacks)
    for text in ('"a"(' * 5000, "callsite(" * 5000, "fused[" * 5000, "loc(" * 5000):
        assert locations.resolve(text)[1] == NO_STACK


def test_long_chains_are_whole():
    """A stack of any depth, as aliases; far deeper than Python would recurse."""
    stacks = StackTableBuilder()
    locations = MlirLocations(stacks)
    locations.define("#loc0", '"f"("f.py":1:1 to :2)')
    for level in range(1, 2000):
        locations.define(f"#f{level}", f'"f"("f.py":{level + 1}:1 to :2)')
        locations.define(f"#loc{level}", f"callsite(#f{level} at #loc{level - 1})")
    _, node = locations.resolve("#loc1999")
    assert [frame.line for frame in stacks.build().walk(node)] == list(range(2000, 0, -1))


@given(st.text(alphabet=st.sampled_from('"#loc1(): atfused[]<>,\\2C'), max_size=60))
@settings(max_examples=500, deadline=None)
def test_nonsense_has_a_defined_result(text):
    stacks = StackTableBuilder()
    locations = read_definitions(stacks)
    locations.define("#loc1", text)
    for location in (text, "#loc1", "#loc6"):
        path, node = locations.resolve(location)
        assert isinstance(path, str)
        assert isinstance(list(stacks.build().walk(node)), list)


@given(st.text())
def test_strings_survive(text):
    """What a compiler would print for any text is read back: octal bytes in HLO, hexadecimal ones in MLIR."""
    if any(0xD800 <= ord(character) < 0xE000 for character in text):
        return
    as_hlo = "".join(f"\\{byte:03o}" for byte in text.encode())
    as_mlir = "".join(f"\\{byte:02X}" for byte in text.encode())
    assert decode_hlo_string(f'"{as_hlo}"') == decode_mlir_string(f'"{as_mlir}"') == text
    plain = text.replace("\\", "\\\\").replace('"', '\\"')
    assert decode_hlo_string(f'"{plain}"') == decode_mlir_string(f'"{plain}"') == text


@pytest.mark.parametrize(
    ("quoted", "text"),
    [
        (r'"it\'s \"x\" \\n \n\t"', 'it\'s "x" \\n \n\t'),
        (r'"\303\251 é"', "é é"),
        (r'"\377"', "�"),
        (r'"\400"', "\0"),
        ('"\\"', "\\"),
        ('""', ""),
    ],
)
def test_hlo_strings(quoted, text):
    assert decode_hlo_string(quoted) == text


def test_frames_without_columns():
    assert make_frame("f.py", "f", 3, None, 0, 0) == Frame("f.py", "f", 3)
    assert make_frame("f.py", "f", 3, 0, 3, 0) == Frame("f.py", "f", 3, 0, 3, 0)
    assert make_frame("f.py", "f", 3, 0, 3, 1) == Frame("f.py", "f", 3, 1, 3, 2)
    assert make_frame("f.py", "f", 3, 4, 0, 0) == Frame("f.py", "f", 3, 5, 0, 0)


def test_tables_that_are_missing():
    stacks = StackTableBuilder()
    tables = HloStackTables(stacks)
    tables.read("StackFrames", ["1 {file_location_id=1 parent_frame_id=1}", "rubbish", "2 {}", "3 {=}"])
    tables.read("NoSuchTable", ["1 {a=1}"])
    assert [tables.node(frame_id) for frame_id in range(5)] == [NO_STACK] * 5


def read_all(stages):
    """The three listings of one program, the jaxpr with the frames JAX's own tracebacks give."""

    def to_frames(source):
        one = isinstance(source, source_info_util.Frame)
        frames = (source,) if one else source_info_util.user_frames(source)
        return tuple(
            Frame(f.file_name, f.function_name, f.start_line, f.start_column + 1, f.end_line, f.end_column + 1)
            for f in frames
        )

    source_map = []
    text = stages.traced.jaxpr.pretty_print(use_color=False, source_map=source_map)
    spans = [[(start, end, to_frames(source)) for start, end, source in line] for line in source_map]
    return (
        jaxpr.parse(text, spans),
        stablehlo.parse(stages.lowered.as_text(debug_info=True)),
        hlo.parse(stages.compiled.as_text()),
    )


def test_one_position_in_three_notations():
    """Where Python's own parser sees an expression, each notation has its op: the columns agree, counted from 1."""
    source = Path(programs.__file__).read_text()
    function = next(node for node in ast.parse(source).body if getattr(node, "name", "") == "spread_over_lines")
    wanted = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Call | ast.BinOp):
            wanted[ast.unparse(node)] = (programs.__file__, node.lineno, node.col_offset + 1)
    names = {
        "jnp.cos(y)": ("cos", "stablehlo.cosine", "cosine"),
        "jnp.exp(v)": ("exp", "stablehlo.exponential", "exponential"),
        "x * y": ("mul", "stablehlo.multiply", "multiply"),
        "x - y": ("sub", "stablehlo.subtract", "subtract"),
    }
    for listing, of_dialect in zip(read_all(programs.stages("spread_over_lines")), zip(*names.values()), strict=True):
        for expression, name in zip(names, of_dialect, strict=True):
            positions = {
                frame.position
                for op in listing.ops
                if op.name == name
                for frame in list(listing.stacks.walk(op.stack))[:1]
            }
            assert wanted[expression] in positions, (listing.dialect, expression)


def test_transformer_links():
    """Nearly every place in the compiled program is the very place of an equation, and of a StableHLO op."""
    stages = programs.transformer_stages()
    if stages is None:
        pytest.skip(ABSENT)

    def positions(listing):
        # Constants and `return` have the place where `.lower()` was called, in this repository.
        frames = (next(listing.stacks.walk(op.stack)) for op in listing.ops if op.stack != NO_STACK)
        return {frame.position for frame in frames if frame.file.endswith("transformer.py")}

    traced, lowered, compiled = (positions(listing) for listing in read_all(stages))
    assert len(traced) > 20
    assert lowered <= traced
    assert compiled <= lowered
    assert len(compiled) > 0.8 * len(traced)


def test_functions_are_named_alike():
    """A frame is the same record in all notations, end included, wherever the notation has function names."""
    traced, lowered, compiled = read_all(programs.stages("gradient"))
    functions = {f.function for f in traced.stacks.frames}
    assert any(re.fullmatch(r"gradient\.<locals>\.loss\.<locals>\.<lambda>", function) for function in functions)
    assert {f for f in lowered.stacks.frames if f.file == programs.__file__} <= set(traced.stacks.frames) | {
        f for op in lowered.ops for f in list(lowered.stacks.walk(op.stack))[1:]
    }
    if all(f.function for f in compiled.stacks.frames):
        assert set(compiled.stacks.frames) <= set(lowered.stacks.frames)
