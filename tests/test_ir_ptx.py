"""The PTX parser against recorded dumps: their own heads and semicolons, XLA's table of thunks, and the HLO."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jaxscope._ir import hlo, ptx
from jaxscope._ir.origins import HloOrigins
from jaxscope._ir.thunks import read_launches
from tests.dumped import RECORDED, dump
from tests.listing_properties import assert_names_resolve, assert_well_formed
from tests.test_lexers import check_text


@pytest.fixture(params=RECORDED)
def recorded(request):
    return dump(request.param)


def joined(found):
    return "\n".join(found.of(".ptx").values())


def bodies(text):
    """The text between the braces of each kernel, comments apart."""
    return re.findall(r"\n\{\n(.*?)\n\}", re.sub(r"//[^\n]*", "", text), re.DOTALL)


def launched(found):
    """Instruction to kernel, by XLA's own tables of thunks."""
    metadata, sequence = found.of("thunk_metadata.txt"), found.of("thunk_sequence.txt")
    # `profile_annotation: "fusion.1"\n    thunk_id: 4`
    named = {
        int(number): name
        for name, number in re.findall(r'profile_annotation: "(.*?)"\s+thunk_id: (\d+)', *metadata.values())
    }
    # `002: kCustomKernel [prev=001 (1) | sink        ] wrapped_sine grid: [32, 1, 1] threads: ...`
    kernels = re.findall(r"(\d+): kCustomKernel \[.*?\] (\S+) grid:", *sequence.values())
    return {named[int(number)]: kernel for number, kernel in kernels}


def test_listing_is_well_formed_and_every_name_is_defined(recorded):
    listing = ptx.parse(joined(recorded))
    assert_well_formed(listing, joined(recorded))
    assert_names_resolve(listing)


def test_kernels_are_the_entries_and_what_the_program_launches(recorded):
    listing = ptx.parse(joined(recorded))
    kernels = [block.name for block in listing.blocks if block.kind == "func"]
    assert kernels == re.findall(r"\.entry (\w+)", joined(recorded))
    assert set(kernels) == set(launched(recorded).values())


def test_launches_are_counted_by_kernel_and_by_kind(recorded):
    (sequence,) = recorded.of("thunk_sequence.txt").values()
    found = read_launches(sequence)
    # `003: kCopy`    `  009: kCustomKernel`
    kinds = re.findall(r"\d+: k(\w+)", sequence)
    assert sum(found.kernels.values()) == kinds.count("CustomKernel")
    assert found.others == {kind: kinds.count(kind) for kind in kinds if kind != "CustomKernel"}
    assert set(found.kernels) == set(re.findall(r"\.entry (\w+)", joined(recorded)))


def test_launching_instructions_are_the_fusions_that_are_not_mere_copies(recorded):
    # `  %wrapped_slice = f32[1,128]{1,0} fusion(%x), kind=kLoop, calls=...`
    fusions = set(re.findall(r"^  (?:ROOT )?%([\w.-]+) = .*? fusion\(", recorded.hlo, re.MULTILINE))
    (metadata,) = recorded.of("thunk_metadata.txt").values()
    copied = set(re.findall(r'profile_annotation: "([^"]*)"\s+thunk_id: \d+\s+\}\s+thunk_kind: "kCopy"', metadata))
    assert copied & fusions, "the recorded program holds such a copy on purpose"
    # Fusions whose computation calls another one are no kernels of their own: only what the schedule runs counts.
    assert set(launched(recorded)) <= fusions
    assert set(launched(recorded)) == fusions - copied


def test_a_kernel_is_linked_to_the_instruction_that_launches_it(recorded):
    parsed = hlo.parse(recorded.hlo)
    origins = HloOrigins(parsed)
    listing = ptx.parse(joined(recorded), origins)
    for instruction, kernel in launched(recorded).items():
        (op,) = (op for op in parsed.ops if op.results == (f"%{instruction}",))
        block = next(number for number, block in enumerate(listing.blocks) if block.name == kernel)
        stacks = {tuple(listing.stacks.walk(each.stack)) for each in listing.ops if each.block == block}
        assert stacks == {tuple(parsed.stacks.walk(op.stack))}, kernel
        assert origins.find(kernel).line == op.line


def test_instructions_are_what_semicolons_end(recorded):
    listing = ptx.parse(joined(recorded))
    expected = [
        # `@%p1 bra $L__BB0_2` is a `bra`; directives are no instructions.
        re.sub(r"^@!?%\w+\s+", "", statement.strip()).split()[0]
        for body in bodies(joined(recorded))
        for statement in re.sub(r"^\$?\w+:", "", body, flags=re.MULTILINE).split(";")
        if statement.strip().strip("{}") and not statement.strip().startswith(".")
    ]
    assert [op.name for op in listing.ops if op.name != "label"] == expected


def test_lexer_explains_every_character(recorded):
    for text in recorded.of(".ptx").values():
        check_text("ptx", text)


# XLA's dumps hold no `.loc` yet; this follows NVIDIA's reference.
LOCATED = """\
.version 9.0
.target sm_90a
.address_size 64
.visible .entry kernel(
	.param .u64 kernel_param_0
)
{
	.reg .b32 	%r<4>;
	mov.u32 	%r1, %tid.x;
	.loc	1 4 17
	add.s32 	%r2, %r1, 1;
	.loc	1 10 4, function_name $L__info_string0, inlined_at 1 5 8
	add.s32 	%r3, %r2, %r2;
	mov.u32 	%r2, %r3;
	ret;
}
	.file	1 "/home/user/model.py"
"""


def test_locations_are_call_stacks():
    listing = ptx.parse(LOCATED)
    stacks = [[(frame.line, frame.column) for frame in listing.stacks.walk(op.stack)] for op in listing.ops]
    assert stacks == [[], [(4, 18)], [(10, 5), (5, 9)], [(10, 5), (5, 9)], [(10, 5), (5, 9)]]
    assert {frame.file for frame in listing.stacks.frames} == {"/home/user/model.py"}


def test_the_first_write_of_a_register_defines_it():
    listing = ptx.parse(LOCATED)
    assert [(op.results, op.operands) for op in listing.ops] == [
        (("%r1",), ()),
        (("%r2",), ("%r1",)),
        (("%r3",), ("%r2", "%r2")),
        ((), ("%r2", "%r3")),
        ((), ()),
    ]


PIECES = [
    ".visible .entry f(",
    ")",
    "{",
    "}",
    "\tadd.s32 \t%r1, %r2;",
    "$L_1:",
    ".version 9.0",
    "// Generated by x",
    "\t.loc 1 2 3",
]


@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES) | st.text(max_size=20), max_size=14).map("\n".join))
def test_any_text_is_kept_and_raises_nothing(text):
    assert_well_formed(ptx.parse(text), text)
