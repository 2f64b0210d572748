"""The HLO parser against the module's own protocol buffer: instructions, operands, metadata and stack frames.

The buffer is read here by a few lines that know its wire format, so that neither a schema nor our parser is involved.
Field numbers are those of ``xla/service/hlo.proto`` and ``xla/xla_data.proto``.
"""

import importlib
import re

import jax
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jaxscope._ir import hlo
from jaxscope._ir.model import NO_STACK
from tests import programs
from tests.listing_properties import assert_names_resolve, assert_well_formed
from tests.shared import ABSENT, SHARED, read_recorded, recorded_files

# Moved between 0.8 and 0.10.
hlo_library = importlib.import_module("jaxlib._hlo" if importlib.util.find_spec("jaxlib._hlo") else "jaxlib._jax")
NAMES = [*programs.PROGRAMS, *programs.case_names()]


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def read_message(data):
    """Field number to the list of its values: integers, or bytes of what has a length."""
    fields, at = {}, 0
    while at < len(data):
        key, at = read_varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = read_varint(data, at)
        elif wire == 2:
            size, at = read_varint(data, at)
            value, at = data[at : at + size], at + size
        else:
            size = {1: 8, 5: 4}[wire]
            value, at = data[at : at + size], at + size
        fields.setdefault(number, []).append(value)
    return fields


def one(fields, number, default=b""):
    return fields.get(number, [default])[-1]


def packed(values):
    found = []
    for value in values:
        if isinstance(value, int):
            found.append(value)
            continue
        at = 0
        while at < len(value):
            number, at = read_varint(value, at)
            found.append(number)
    return found


def read_frames(module):
    """Frame id to its frames, innermost first, as (file, function, line, column, end line, end column)."""
    index = read_message(one(module, 17))
    files = [name.decode() for name in index.get(1, [])]
    functions = [name.decode() for name in index.get(2, [])]
    locations = [read_message(location) for location in index.get(3, [])]
    frames = [read_message(frame) for frame in index.get(4, [])]

    def walk(frame_id):
        while frame_id:
            frame = frames[frame_id - 1]
            location = locations[one(frame, 1, 0) - 1]
            numbers = (one(location, number, 0) for number in (3, 4, 5, 6))
            yield files[one(location, 1, 0) - 1], functions[one(location, 2, 0) - 1], *numbers
            frame_id = one(frame, 2, 0)

    return walk


def check(module, text):
    """`module` is XLA's own HloModule for the text."""
    listing = hlo.parse(text)
    assert_well_formed(listing, text)
    assert_names_resolve(listing)
    proto = read_message(module.as_serialized_hlo_module_proto())
    walk = read_frames(proto)
    by_block = {}
    for op in listing.ops:
        by_block.setdefault(listing.blocks[op.block].name.lstrip("%"), {})[op.results[0].lstrip("%")] = op
    computations = [read_message(computation) for computation in proto[3]]
    assert len(computations) == len(listing.blocks)
    total = 0
    for computation in computations:
        ops = by_block[one(computation, 1).decode()]
        instructions = [read_message(instruction) for instruction in computation[2]]
        names = {one(instruction, 35, 0): one(instruction, 1).decode() for instruction in instructions}
        assert len(ops) == len(instructions)
        total += len(instructions)
        for instruction in instructions:
            op = ops[one(instruction, 1).decode()]
            assert op.name == one(instruction, 2).decode()
            assert [name.lstrip("%") for name in op.operands] == [names[i] for i in packed(instruction.get(36, []))]
            metadata = read_message(one(instruction, 7))
            if "metadata=" not in "\n".join(listing.lines[op.line : op.end_line + 1]):
                continue
            assert op.name_path == one(metadata, 2).decode("utf-8", "replace")
            frames = tuple(listing.stacks.walk(op.stack))
            if 3 in metadata:
                expected = ((one(metadata, 3).decode(), "", *(one(metadata, n, 0) for n in (4, 18, 17, 19))),)
            else:
                expected = tuple(walk(one(metadata, 15, 0)))
            # Columns count from 1, and 0 says that there is none, which XLA's message cannot tell from the first one.
            found = [
                (f.file, f.function, f.line, max(f.column, 1) - 1, f.end_line, max(f.end_column, 1) - 1) for f in frames
            ]
            assert found == list(expected)
    assert total == len(listing.ops)
    return listing


@pytest.mark.parametrize("name", NAMES)
def test_every_instruction_as_xla_has_it(name):
    compiled = programs.stages(name).compiled
    executable = getattr(compiled, "runtime_executable", lambda: None)()
    if executable is None:
        pytest.skip("this program is not compiled, which is its point")
    modules = executable.hlo_modules()
    texts = compiled.as_text().split("\n\nHloModule ") if len(modules) > 1 else [compiled.as_text()]
    assert len(texts) == len(modules)
    for module, text in zip(modules, texts, strict=True):
        check(module, text)


@pytest.mark.parametrize("name", list(programs.PROGRAMS))
def test_before_compilation(name):
    """Names without a percent sign, computations without a signature, literals in full."""
    lowered = programs.stages(name).lowered
    module = lowered.compiler_ir("hlo").as_hlo_module()
    check(module, lowered.as_text("hlo"))
    with_shapes = hlo_library.HloPrintOptions()
    with_shapes.print_operand_shape = True
    with_shapes.print_metadata = True
    check(module, module.to_string(with_shapes))


def test_transformer():
    stages = programs.transformer_stages()
    if stages is None:
        pytest.skip(ABSENT)
    listing = check(stages.compiled.runtime_executable().hlo_modules()[0], stages.compiled.as_text())
    placed = [op for op in listing.ops if op.stack != NO_STACK]
    assert len(placed) > 0.4 * len(listing.ops)


def test_entry_and_parameters():
    stages = programs.stages("many_results")
    listing = hlo.parse(stages.compiled.as_text())
    entries = [block for block in listing.blocks if block.kind == "entry"]
    assert len(entries) == 1
    assert len(entries[0].arguments) == 24
    assert {block.kind for block in listing.blocks} == {"entry", "computation"}
    assert all(block.isolated for block in listing.blocks)
    for block in listing.blocks:
        header = listing.lines[block.line].partition(" (")[2].partition(") -> ")[0]
        # The names before a colon, outside of types.
        printed = re.findall(r"(?:^|, )(?:/\*index=\d+\*/)?([\w.-]+): ", header)
        assert [name.removeprefix("%") for name in block.arguments] == printed


def test_called_computations():
    """The names an instruction calls are those of blocks, and every block but the entry is called."""
    for name in ("while_and_cond", "gradient", "sorting", "pooling"):
        listing = hlo.parse(programs.stages(name).compiled.as_text())
        blocks = {block.name for block in listing.blocks}
        called = {c for op in listing.ops for c in hlo.called_computations(listing.lines[op.line])}
        assert called == blocks - {block.name for block in listing.blocks if block.kind == "entry"}


def test_scopes_are_decoded():
    listing = hlo.parse(programs.stages("odd_scopes").compiled.as_text())
    paths = {op.name: op.name_path for op in listing.ops}
    assert paths["sine"] == "jit(odd_scopes)/größe; a/b\\c {d} [e] it's/sin"
    assert paths["multiply"] == "jit(odd_scopes)/metadata={op_name=, loc(#loc1)/mul"


HEAD = """HloModule m

FileNames
1 "a \\"b\\" \\303\\251.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=0 end_column=5}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=1 parent_frame_id=4}
3 {file_location_id=1 parent_frame_id=3}
4 {file_location_id=9 parent_frame_id=1}
5 {file_location_id=1 parent_frame_id=6}
6 {file_location_id=1 parent_frame_id=0}
8 {file_location_id=1 parent_frame_id=2}

"""

LINES = {
    '  ROOT %add.0 = f32[4]{0} add(%a, %b.1), metadata={op_name="x" stack_frame_id=1}': (
        "add",
        ("%add.0",),
        ("%a", "%b.1"),
        "f32[4]{0}",
        "x",
    ),
    "  t = (f32[2]{0:T(8,128)S(1)}, (s32[], /*index=1*/token[])) tuple(f32[2]{0:T(8,128)} a.b, (s32[], token[]) c)": (
        "tuple",
        ("t",),
        ("a.b", "c"),
        "(f32[2]{0:T(8,128)S(1)}, (s32[], /*index=1*/token[]))",
        "",
    ),
    "  %t = (f32[]) tuple(%a, %b, %c, %d, %e, /*index=5*/%f)": (
        "tuple",
        ("%t",),
        ("%a", "%b", "%c", "%d", "%e", "%f"),
        "(f32[])",
        "",
    ),
    "  %c = s32[2,2]{1,0} constant({ { 1, 2 }, { 3, 4 } })": ("constant", ("%c",), (), "s32[2,2]{1,0}", ""),
    "  %p = f32[] parameter(0), sharding={replicated}": ("parameter", ("%p",), (), "f32[]", ""),
    "  %i = s32[3]{0} iota(), iota_dimension=0": ("iota", ("%i",), (), "s32[3]{0}", ""),
    '  %q = f32[] custom-call(%a), custom_call_target="f(", x={"x":", metadata={"}, metadata={op_name="y}"}': (
        "custom-call",
        ("%q",),
        ("%a",),
        "f32[]",
        "y}",
    ),
    '  %m = f32[] add(%a, %a), metadata={op_type="add" op_name="a;b \\"c\\" it\\\'s" scheduling_name="add.1"}': (
        "add",
        ("%m",),
        ("%a", "%a"),
        "f32[]",
        'a;b "c" it\'s',
    ),
}


@pytest.mark.parametrize("line", LINES)
def test_forms_of_instructions(line):
    text = f"HloModule m\n\nENTRY %main.1 (a: f32[]) -> f32[] {{\n{line}\n}}\n"
    listing = hlo.parse(text)
    assert_well_formed(listing, text)
    assert [(op.name, op.results, op.operands, op.type, op.name_path) for op in listing.ops] == [LINES[line]]


@pytest.mark.parametrize(
    ("frame_id", "depth"),
    [(0, 0), (1, 1), (2, 0), (3, 0), (4, 0), (5, 0), (6, 1), (7, 0), (8, 2), (99999999999999999999, 0)],
)
def test_broken_tables_yield_no_stack(frame_id, depth):
    """2 and 3 are each other's parents, 4 has no location, 5 is its own parent, 7 is not there; 6 has
    a literal root, and 8 is called from 1.
    """
    text = HEAD + f'e {{\n  a = f32[] neg(b), metadata={{op_name="n" stack_frame_id={frame_id}}}\n}}\n'
    listing = hlo.parse(text)
    assert_well_formed(listing, text)
    frames = list(listing.stacks.walk(listing.ops[0].stack))
    assert [(f.file, f.line, f.column, f.end_column) for f in frames] == [('a "b" é.py', 3, 1, 6)] * depth
    assert listing.ops[0].name_path == "n"


def test_source_line_metadata():
    text = (
        'e {\n  a = f32[] neg(b), metadata={op_name="n" source_file="f \\"g\\".py" source_line=25 source_end_line=26 '
        'source_column=14 source_end_column=3}\n  c = f32[] neg(a), metadata={source_file="f.py" source_line=7}\n}\n'
    )
    listing = hlo.parse(text)
    full, bare = (next(listing.stacks.walk(op.stack)) for op in listing.ops)
    assert (full.file, full.line, full.column, full.end_line, full.end_column) == ('f "g".py', 25, 15, 26, 4)
    assert (bare.file, bare.line, bare.column, bare.end_line, bare.end_column) == ("f.py", 7, 0, 0, 0)


def test_literals_over_several_lines():
    text = (
        'e {\n  %c = f32[2,2]{1,0} constant({\n    { 1, 2 },\n    { 3, 4 }\n  }), metadata={op_name="n"}\n'
        "  %d = f32[] constant({\n    { 1,\n  ROOT %n = f32[2,2]{1,0} negate(%c)\n}\n"
    )
    listing = hlo.parse(text)
    assert_well_formed(listing, text)
    assert [(op.name, op.line, op.end_line) for op in listing.ops] == [
        ("constant", 1, 4), ("constant", 5, 6), ("negate", 7, 7)]  # fmt: skip
    assert listing.ops[0].name_path == "n"
    assert listing.definition(0, "%c") == 0


def test_tables_are_closed_folds():
    listing = hlo.parse(HEAD + "e {\n  a = f32[] parameter(0)\n}\n")
    closed = [fold for fold in listing.folds if fold.closed]
    assert [listing.lines[fold.line] for fold in closed] == [
        "FileNames",
        "FunctionNames",
        "FileLocations",
        "StackFrames",
    ]
    assert all(listing.lines[fold.end_line + 1] == "" for fold in closed)


@pytest.mark.slow
@pytest.mark.skipif(SHARED is None, reason=ABSENT)
@pytest.mark.parametrize("path", recorded_files("compiled.hlo.gz"), ids=lambda path: path.parent.name)
def test_recorded(path):
    text = read_recorded(path)
    listing = hlo.parse(text)
    # In these texts every indented line that assigns is an instruction, and every unindented brace ends a computation.
    assert len(listing.ops) == sum(line.startswith("  ") and " = " in line for line in listing.lines)
    assert len(listing.blocks) == listing.lines.count("}")
    if "-12-" in path.parent.name:
        assert_well_formed(listing, text)
        assert_names_resolve(listing)


@pytest.mark.skipif(SHARED is None, reason=ABSENT)
@pytest.mark.skipif(jax.__version_info__ < (0, 9), reason="the HLO reader of JAX 0.8 does not know the frame tables")
@pytest.mark.parametrize("path", recorded_files("compiled.hlo.gz"), ids=lambda path: path.parent.name)
def test_recorded_as_xla_reads_it(path):
    """XLA's own reader as the oracle for programs of other machines and versions.

    Not for TPU: ``slice-start`` and its like are short for computations that XLA makes up when it reads them.
    """
    if "-48-" in path.parent.name or "tpu" in path.parent.name:
        pytest.skip("too large for a short test, or read by XLA as more than is printed")
    text = read_recorded(path)
    check(hlo_library.hlo_module_from_text(text), text)


PIECES = st.sampled_from(
    [
        "HloModule m\n",
        "ENTRY ",
        "%f (",
        ") -> ",
        "{",
        "}",
        "\n",
        "\n  ",
        "%a = ",
        "f32[2]{0} ",
        "(s32[], ",
        "add(",
        "constant(",
        "%a",
        ")",
        ", metadata={",
        'op_name="',
        '"',
        "stack_frame_id=1",
        "StackFrames\n",
        "1 {file_location_id=1 parent_frame_id=2}\n",
    ]
)


@given(st.lists(PIECES, max_size=40).map("".join))
@settings(max_examples=300, deadline=None)
def test_nonsense_is_read_without_exception(text):
    listing = hlo.parse(text)
    assert listing.text == text
    assert all(op.end_line < len(listing.lines) for op in listing.ops)
