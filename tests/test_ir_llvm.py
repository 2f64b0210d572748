"""The LLVM IR parser against the dump itself, read by rules of a line each, and against the HLO's names."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jaxscope._ir import hlo, llvm
from jaxscope._ir.model import NO_STACK
from jaxscope._ir.origins import HloOrigins
from tests.dumped import NAMES, dump
from tests.listing_properties import assert_names_resolve, assert_well_formed
from tests.test_lexers import check_text

ENDINGS = ("ir-no-opt.ll", "ir-with-opt.ll")


@pytest.fixture(params=[(name, ending) for name in NAMES for ending in ENDINGS], ids="-".join)
def modules(request):
    name, ending = request.param
    found = dump(name)
    assert found.of(ending)
    return list(found.of(ending).values()), found.hlo


def test_listing_is_well_formed_and_every_name_is_defined(modules):
    texts, _ = modules
    text = "\n".join(texts)
    listing = llvm.parse(text)
    assert_well_formed(listing, text)
    assert_names_resolve(listing)


def test_functions_are_those_of_the_dump(modules):
    texts, _ = modules
    text = "\n".join(texts)
    # define internal float @region_0_1(float %0) {    declare float @__nv_expf(float)
    heads = re.findall(r'^(define|declare) .*?@("?[\w.$-]+"?)\(', text, re.MULTILINE)
    blocks = [block for block in llvm.parse(text).blocks if block.kind == "func"]
    assert [block.name for block in blocks] == [f"@{name}" for _, name in heads]
    lines = text.split("\n")
    for (word, _), block in zip(heads, blocks, strict=True):
        assert (lines[block.end_line] == "}") == (word == "define")


def test_instructions_are_the_indented_lines(modules):
    texts, _ = modules
    text = "\n".join(texts)
    listing = llvm.parse(text)
    # Cases of a switch are indented twice, comments and debug records are no instructions.
    expected = [n for n, line in enumerate(text.split("\n")) if re.match(r"  [^ ;#\]]", line)]
    functions = {number for number, block in enumerate(listing.blocks) if block.kind == "func"}
    assert [op.line for op in listing.ops if op.block in functions and op.name != "label"] == expected
    for op in listing.ops:
        line = listing.lines[op.line]
        if op.results and op.name not in ("label",):
            assert line.lstrip().startswith(f"{op.results[0]} = ")


def test_a_kernel_is_linked_through_the_instruction_that_it_is_named_after(modules):
    texts, compiled = modules
    parsed = hlo.parse(compiled)
    listing = llvm.parse("\n".join(texts), HloOrigins(parsed))
    # `  ROOT %fusion.1 = `    `%region_0.2 (a: f32[]) -> f32[] {`
    names = re.findall(r"^ *(?:ROOT |ENTRY )?%([\w.-]+)(?: = | \()", compiled, re.MULTILINE)
    plain = {re.sub(r"\W", "_", name) for name in names}
    for number, block in enumerate(listing.blocks):
        if block.kind != "func" or block.end_line == block.line:
            continue
        own = re.sub(r"\W", "_", block.name.strip("@"))
        # A part of a kernel has a longer name.
        assert own in plain or any(own.startswith(f"{name}_") for name in plain), block.name
        ops = [op for op in listing.ops if op.block == number]
        assert len({op.stack for op in ops}) == 1
        candidates = [op for op in parsed.ops if re.sub(r"\W", "_", op.results[0].strip("%")) == own]
        if len(candidates) == 1 and candidates[0].stack != NO_STACK:
            expected = tuple(parsed.stacks.walk(candidates[0].stack))
            assert tuple(listing.stacks.walk(ops[0].stack)) == expected


def test_lexer_explains_every_character(modules):
    for text in modules[0]:
        check_text("llvm", text)


# Nothing in XLA's dumps has debug locations yet; this follows LLVM's language reference.
DEBUG = """\
define float @fusion_1(float %0) !dbg !4 {
  %2 = fadd float %0, %0, !dbg !7
  %3 = fmul float %2, %2, !dbg !8
  %4 = fneg float %3, !dbg !99
  ret float %4
}

!0 = !DIFile(filename: "model.py", directory: "/home/user")
!4 = distinct !DISubprogram(name: "kernel", scope: !0, file: !0, line: 3, unit: !1)
!5 = distinct !DISubprogram(name: "gelu", scope: !0, file: !0, line: 9, unit: !1)
!6 = distinct !DILexicalBlock(scope: !5, file: !0, line: 9, column: 1)
!7 = !DILocation(line: 4, column: 17, scope: !4)
!8 = !DILocation(line: 10, column: 4, scope: !6, inlinedAt: !9)
!9 = distinct !DILocation(line: 5, column: 8, scope: !4)
"""


def test_debug_locations_are_call_stacks():
    listing = llvm.parse(DEBUG)
    stacks = [[(f.file, f.function, f.line, f.column) for f in listing.stacks.walk(op.stack)] for op in listing.ops]
    file = "/home/user/model.py"
    assert stacks == [
        [(file, "kernel", 4, 18)],
        [(file, "gelu", 10, 5), (file, "kernel", 5, 9)],
        [],
        [],
    ]


def test_a_circle_of_inlined_calls_ends():
    listing = llvm.parse(DEBUG.replace("scope: !4)", "scope: !4, inlinedAt: !9)"))
    assert all(len(list(listing.stacks.walk(op.stack))) <= 3 for op in listing.ops)


PIECES = [
    "define void @f(ptr %0) {",
    "}",
    "  %1 = load i8, ptr %0",
    "; ModuleID = 'm'",
    "!0 = !{!0}",
    "  switch i8 %1 [",
]


@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=20), max_size=12).map("\n".join))
def test_any_text_is_kept_and_raises_nothing(text):
    assert_well_formed(llvm.parse(text), text)
