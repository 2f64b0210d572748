"""The StableHLO parser against MLIR's own objects: operations, use-def chains, types, block arguments, locations."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jax._src.interpreters import mlir
from jax._src.lib.mlir import ir

from jaxscope._ir import stablehlo
from jaxscope._ir.model import NO_STACK
from tests import programs
from tests.listing_properties import assert_names_resolve, assert_well_formed
from tests.shared import ABSENT, SHARED, corpus_files, read_recorded, recorded_files

NAMES = [*programs.PROGRAMS, *programs.case_names()]


def printed_operations(operation, generic=False):
    """Every operation in the order of printing, without those whose text the pretty printer leaves out."""
    operation = operation.operation
    found = [] if operation.name in ("builtin.module", "func.func") else [operation]
    hides_body = operation.name == "stablehlo.reduce" and " applies " in str(operation).split("\n")[0]
    if not hides_body or generic:
        for region in operation.regions:
            for block in region.blocks:
                for inner in block.operations:
                    found.extend(printed_operations(inner, generic))
    return found


def short(name):
    return name.removeprefix("func.")


def check(module, text, *, generic=False, types=True):
    listing = stablehlo.parse(text)
    assert_well_formed(listing, text)
    assert_names_resolve(listing)
    operations = printed_operations(module, generic)
    assert [short(op.name) for op in listing.ops] == [short(operation.name) for operation in operations]
    number = {operation: index for index, operation in enumerate(operations)}
    for op, operation in zip(listing.ops, operations, strict=True):
        defined = [
            None if isinstance(value.owner, ir.Block) else number[value.owner.operation] for value in operation.operands
        ]
        found = [listing.definition(op.block, name) for name in op.operands]
        if operation.name == "stablehlo.reduce":
            # Printed as (input init: value), (input init: value): pairs, where the operation has inputs, then values.
            defined, found = sorted(defined, key=str), sorted(found, key=str)
        assert found == defined, op
        if types:
            inner = op.type[1:-1] if op.type.startswith("(") else op.type
            assert [part for part in stablehlo.split_types(inner) if part] == [str(r.type) for r in operation.results]
    arguments = sorted(
        len(region.blocks[0].arguments)
        for operation in operations
        for region in operation.regions
        if len(region.blocks) == 1 and (generic or " applies " not in str(operation).split("\n")[0])
    )
    assert sorted(len(b.arguments) for b in listing.blocks if b.kind == "region") == arguments
    return listing


@pytest.mark.parametrize("name", NAMES)
def test_every_operation_as_mlir_has_it(name):
    lowered = programs.stages(name).lowered
    if lowered is None or not hasattr(lowered, "compiler_ir"):
        pytest.skip("this program is not lowered, which is its point")
    module = lowered.compiler_ir("stablehlo")
    with_locations = check(module, lowered.as_text(debug_info=True))
    without = check(module, lowered.as_text())
    assert len(with_locations.ops) == len(without.ops)
    assert {op.stack for op in without.ops} <= {NO_STACK}


@pytest.mark.parametrize("name", list(programs.PROGRAMS))
def test_generic_form(name):
    """MLIR's other syntax: everything quoted, no body hidden, inline locations when asked for."""
    module = programs.stages(name).lowered.compiler_ir("stablehlo")
    text = module.operation.get_asm(print_generic_op_form=True)
    listing = stablehlo.parse(text)
    assert listing.text == text
    assert [op.name for op in listing.ops] == [op.name for op in printed_operations(module, generic=True)]
    inline = module.operation.get_asm(enable_debug_info=True, use_local_scope=True)
    aliased = stablehlo.parse(module.operation.get_asm(enable_debug_info=True))
    local = check(module, inline)
    for one, other in zip(local.ops, aliased.ops, strict=True):
        assert one.name_path == other.name_path
        assert list(local.stacks.walk(one.stack)) == list(aliased.stacks.walk(other.stack))


def test_functions_are_isolated_blocks():
    lowered = programs.stages("nested_jit").lowered
    listing = stablehlo.parse(lowered.as_text(debug_info=True))
    functions = [
        operation.operation.attributes["sym_name"].value
        for operation in lowered.compiler_ir("stablehlo").body.operations
        if operation.operation.name == "func.func"
    ]
    # As printed: in quotes where the name is no identifier.
    printed = [block.name.replace('"', "") for block in listing.blocks if block.kind == "func"]
    assert printed == [f"@{name}" for name in functions]
    assert all(block.isolated == (block.kind != "region") for block in listing.blocks)
    assert listing.blocks[0].kind == "module" and listing.blocks[0].name == "@jit_nested_jit"


def test_regions_see_the_names_around_them():
    listing = stablehlo.parse(programs.stages("while_and_cond").lowered.as_text())
    loop = next(op for op in listing.ops if op.name == "stablehlo.while")
    regions = [block for block in listing.blocks if block.parent == loop.block and block.name in ("cond", "do")]
    assert [block.name for block in regions] == ["cond", "do"]
    assert regions[0].arguments == regions[1].arguments == ("%iterArg",)
    assert regions[0].end_line == regions[1].line, "`} do {` ends one and begins the other"
    assert loop.line < regions[0].line and loop.end_line == regions[1].end_line


def test_folds():
    text = programs.stages("while_and_cond").lowered.as_text(debug_info=True)
    listing = stablehlo.parse(text)
    locations = [fold for fold in listing.folds if fold.kind == "locations"]
    assert all(fold.closed for fold in locations)
    hidden = {line for fold in locations for line in range(fold.line, fold.end_line + 1)}
    assert hidden == {number for number, line in enumerate(listing.lines) if line.startswith("#loc")}
    functions = [fold for fold in listing.folds if fold.kind == "function"]
    assert [listing.lines[fold.line].lstrip()[:9] for fold in functions] == ["func.func"] * len(functions)
    assert all(listing.lines[fold.end_line].startswith("  }") for fold in functions)


@pytest.mark.parametrize("name", ["axpy", "gradient", "spread_over_lines", "odd_scopes", "nested_loops"])
def test_locations_as_mlir_prints_them(name):
    """MLIR's own text of each operation's location, read here by a few patterns of its own."""
    module = programs.stages(name).lowered.compiler_ir("stablehlo")
    listing = stablehlo.parse(module.operation.get_asm(enable_debug_info=True))
    checked = 0
    for op, operation in zip(listing.ops, printed_operations(module), strict=True):
        places = re.findall(r'"([^"]*)"\("([^"]+)":(\d+):(\d+)', str(operation.location))
        frames = list(listing.stacks.walk(op.stack))
        assert [(f.function, f.file, f.line, f.column - 1) for f in frames] == [
            (function, file, int(line), int(column)) for function, file, line, column in places
        ]
        checked += bool(places)
    assert checked


def test_scopes_are_decoded():
    listing = stablehlo.parse(programs.stages("odd_scopes").lowered.as_text(debug_info=True))
    paths = {op.name: op.name_path for op in listing.ops}
    assert paths["stablehlo.add"] == 'jit(odd_scopes)/he said "hi" <b>&amp;</b>/add'
    assert paths["stablehlo.sine"] == "jit(odd_scopes)/größe; a/b\\c {d} [e] it's/sin"
    assert paths["stablehlo.multiply"] == "jit(odd_scopes)/metadata={op_name=, loc(#loc1)/mul"


def test_arguments_locations_are_nobodys_path():
    listing = stablehlo.parse(programs.stages("many_results").lowered.as_text(debug_info=True))
    assert "params['layer_00']" in listing.text
    assert not any("params[" in op.name_path for op in listing.ops)


def test_transformer():
    stages = programs.transformer_stages()
    if stages is None:
        pytest.skip(ABSENT)
    listing = check(stages.lowered.compiler_ir("stablehlo"), stages.lowered.as_text(debug_info=True))
    placed = [op for op in listing.ops if op.stack != NO_STACK]
    assert len(placed) > 0.8 * len(listing.ops)
    assert all(op.name_path for op in placed if op.name not in ("return", "stablehlo.return"))


@pytest.mark.slow
@pytest.mark.skipif(SHARED is None, reason=ABSENT)
@pytest.mark.parametrize("path", recorded_files("stablehlo*.gz"), ids=lambda p: f"{p.parent.name}-{p.name}")
def test_recorded(path):
    text = read_recorded(path)
    listing = stablehlo.parse(text)
    assert_well_formed(listing, text)
    assert_names_resolve(listing)
    # As MLIR prints it, an op begins where a line assigns, or has a dialect's or a terminator's word first.
    starts = re.compile(r'\s+(?:%\S+(?:, %\S+)* = |"?(?:stablehlo|sdy|chlo)\.|return |call )')
    assert [op.line for op in listing.ops] == [n for n, line in enumerate(listing.lines) if starts.match(line)]


@pytest.mark.skipif(SHARED is None, reason=ABSENT)
def test_corpus():
    """Files written by hand and by other tools; those that MLIR itself can read are compared with what it read."""
    context = mlir.make_ir_context()
    context.allow_unregistered_dialects = True
    compared = 0
    for path in corpus_files():
        text = path.read_text()
        assert_well_formed(stablehlo.parse(text), text)
        for part in text.split("// -----"):
            listing = stablehlo.parse(part)
            try:
                with context:
                    module = ir.Module.parse(part)
            except ir.MLIRError:
                continue
            compared += 1
            # The source may spell out a body where the printer would not; all of them or none, or it is passed over.
            source = "\n".join(line.partition("//")[0] for line in part.split("\n"))
            operations = printed_operations(module, generic=" applies " not in source)
            hidden = len(printed_operations(module, generic=True)) - len(printed_operations(module))
            if not hidden or source.count(" applies ") in (0, hidden // 2):
                assert [short(op.name) for op in listing.ops] == [short(o.name) for o in operations], path.name
            printed = module.operation.get_asm(enable_debug_info=True)
            # The printer may know a type better than the source, and abbreviates types whose aliases it has.
            check(module, printed, types="!" not in printed and "sparse" not in printed and "while" not in part)
    assert compared > 200


LAYOUTS = {
    "an op over several lines": (
        '%0 = "stablehlo.gather"(%a, %b) {\n    offset_dims = [0],\n    mhlo.note = "}"\n  } :\n  (i32, i32) ->\n  f32',
        [("stablehlo.gather", ("%0",), ("%a", "%b"), "f32")],
    ),
    "a comment": (
        "%0 = stablehlo.add %a, %b : i32 // {not %c}\n  // %1 = stablehlo.add %a, %b : i32",
        [("stablehlo.add", ("%0",), ("%a", "%b"), "i32")],
    ),
    "several names": (
        '%0:2, %1 = "x.y"(%a) : (i32) -> (i1, i2, i3)\n  "x.z"(%0#1, %1) : (i2, i3) -> ()',
        [("x.y", ("%0", "%1"), ("%a",), "(i1, i2, i3)"), ("x.z", (), ("%0", "%1"), "")],
    ),
    "a region on one line": (
        '%0 = "x.y"(%a) ({ ^bb0(%c: i32): "x.z"(%c, %b) : (i32, i32) -> () }) : (i32) -> i32',
        [("x.y", ("%0",), ("%a",), "i32"), ("x.z", (), ("%c", "%b"), "")],
    ),
    "strings with brackets": (
        '%0 = stablehlo.custom_call @f(%a) {backend_config = "({ %x", c = "\\22}"} : (i32) -> i32',
        [("stablehlo.custom_call", ("%0",), ("%a",), "i32")],
    ),
    "a type chosen by count": (
        "%0 = stablehlo.select %a, %b, %b : tensor<2xi1, #stablehlo.bounds<3, 4>>, tensor<2xf32>",
        [("stablehlo.select", ("%0",), ("%a", "%b", "%b"), "tensor<2xf32>")],
    ),
    "successors": (
        "cf.br ^bb1(%a : i32)\n^bb1(%c: i32):\n  func.return %c : i32",
        [("cf.br", (), ("%a",), ""), ("func.return", (), ("%c",), "")],
    ),
}


@pytest.mark.parametrize("case", LAYOUTS)
@pytest.mark.parametrize(
    "around",
    [
        "func.func @f(%a: i32, %b : i32) {{\n  {}\n}}",
        "module {{\n func.func @f(%a: i32,\n  %b: i32) attributes {{x}} {{\n {}\n }}\n}}",
    ],
)
def test_layouts_written_by_hand(case, around):
    source, expected = LAYOUTS[case]
    text = around.format(source)
    listing = stablehlo.parse(text)
    assert_well_formed(listing, text)
    assert [(op.name, op.results, op.operands, op.type) for op in listing.ops] == expected
    assert_names_resolve(listing)
    function = next(block for block in listing.blocks if block.kind == "func")
    assert function.arguments[:2] == ("%a", "%b") and function.name == "@f"


PIECES = st.sampled_from(
    [
        "%0 = ",
        "stablehlo.add",
        " %a",
        "{",
        "}",
        "({",
        "})",
        "\n",
        "  ",
        " : ",
        "tensor<2xf32>",
        '"',
        "^bb0",
        "(",
        ")",
        "loc(",
        "#loc1",
        "#loc1 = loc(callsite(#loc1 at #loc2))\n",
        "#loc2 = loc(#loc1)\n",
        "func.func @f",
        "module ",
        "// ",
        "return",
        ", ",
    ]
)


@given(st.lists(PIECES, max_size=40).map("".join))
@settings(max_examples=300, deadline=None)
def test_nonsense_is_read_without_exception(text):
    listing = stablehlo.parse(text)
    assert listing.text == text
    assert all(op.end_line < len(listing.lines) for op in listing.ops)
