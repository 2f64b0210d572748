"""Readers of XLA's buffer assignment, as text and as bytes, against each other and against XLA's own figures."""

import dataclasses
import random
import re

import jax
import jax.numpy as jnp
import pytest

import jaxscope
from jaxscope import _jax_memory
from jaxscope._analysis.memory import memory_of
from jaxscope._analysis.program_memory import read_dump
from jaxscope._ir.allocations import Allocation, AllocationTotals, AssignedValue, total_allocations
from jaxscope._ir.buffer_assignment import read_buffer_assignment
from jaxscope._ir.buffer_proto import read_buffer_proto, read_instruction_names
from jaxscope._ir.hlo_shapes import read_shape
from jaxscope._ir.live_range import read_live_range
from tests import memory_dumps
from tests.plugins import CUDA, CUDA_TEXT, TPU
from tests.programs import PROGRAMS, case_names
from tests.shared import ABSENT

NAMES = [*sorted(PROGRAMS), *case_names()]
recorded = pytest.mark.skipif(not memory_dumps.recorded_folders(), reason=ABSENT)


@pytest.fixture(params=NAMES)
def dump(request):
    found = memory_dumps.made_now(request.param)
    return found or pytest.skip("JAX refuses to compile it")


def assert_equal_to_figures(totals, figures):
    """On CPU and GPU all four sums are XLA's own; on TPU the temporaries are not, which `Agreement` says."""
    assert (totals.argument, totals.output, totals.alias) == tuple(
        figures[f"{part}_size_in_bytes"] for part in ("argument", "output", "alias")
    )


@pytest.mark.slow
@recorded
@pytest.mark.parametrize("folder", memory_dumps.recorded_folders())
def test_recorded_assignments_add_up_to_xlas_figures(folder):
    found = memory_dumps.recorded(folder)
    allocations = read_buffer_assignment(found.assignment)
    assert len(allocations) == found.assignment.count("\nallocation ")
    assert sum(len(each.values) for each in allocations) == found.assignment.count("\n value: ")
    totals = total_allocations(allocations)
    assert_equal_to_figures(totals, found.figures)
    if folder.startswith("tpu"):
        # What XLA of TPUs reports as temporaries has more than the buffer assignment.
        assert found.figures["temp_size_in_bytes"] > totals.temporary
        assert dict(totals.elsewhere) == {1: 117437440, 2: 176, 6: 512}
    else:
        assert totals.temporary == found.figures["temp_size_in_bytes"]


def test_assignments_made_now_add_up_to_xlas_figures(dump):
    allocations = read_buffer_assignment(dump.assignment)
    assert len(allocations) == dump.assignment.count("\nallocation ")
    totals = total_allocations(allocations)
    assert_equal_to_figures(totals, dump.figures)
    assert totals.temporary == dump.figures["temp_size_in_bytes"]


def test_bytes_say_the_same_as_text(dump):
    """Without names the bytes number what the text names; with the module's, both have all names."""
    text = read_buffer_assignment(dump.assignment)
    data = memory_of(dump.compiled).buffer_assignment
    names = read_instruction_names(
        _jax_memory.module_bytes(dump.compiled), [b.name.removeprefix("%") for b in dump.listing.blocks]
    )
    found = read_buffer_proto(data, names)
    # The bytes have neither types nor joins.
    without = [
        dataclasses.replace(
            each, values=tuple(dataclasses.replace(value, type="", is_join=False) for value in each.values)
        )
        for each in text
    ]
    assert _sorted(found) == _sorted(without)
    assert all(not value.name for each in read_buffer_proto(data) for value in each.values)


def _sorted(allocations):
    return [
        dataclasses.replace(each, values=tuple(sorted(each.values, key=lambda value: value.number)))
        for each in allocations
    ]


@pytest.mark.parametrize("name", ("nested_loops", "while_and_cond", "sorting"))
@pytest.mark.parametrize(
    "target",
    [pytest.param("tpu:v5e:2x2", marks=TPU), pytest.param("cuda:h100", marks=(CUDA, CUDA_TEXT))],
)
def test_assignments_for_hardware_that_is_not_here(name, target):
    function, args = PROGRAMS[name]
    facts = jaxscope.inspect(function, *args, target=target)._facts
    assert facts.program_memory.allocations_from == "" and not facts.program_memory.agreement
    memory = facts.read_buffer_assignment()
    assert memory.allocations_from == "the dump's buffer assignment"
    agreement = {each.name: each for each in memory.agreement}
    assert agreement["argument"].agrees and agreement["output"].agrees and agreement["alias"].agrees
    if not agreement["temporary"].agrees:
        assert target.startswith("tpu") and agreement["temporary"].note


TEXT = """BufferAssignment:
allocation 0: size 512, color 6, page 0, parameter 3, shape |(f32[4], s32[])| at ShapeIndex {0,1}, maybe-live-out:
 value: <12 p.1{0,1} @6> (size=16,offset=0): f32[4]{0}
allocation 1: size 24, output shape is |(f32[4], constant, thread-local)|, maybe-live-out:
allocation 2: size 8, constant:
 value: <1 c.1 @0> (size=8,offset=0): s64[]
allocation 3: size 4, thread-local:
allocation 4: size 96, preallocated-temp:
 value: <40 while.2{1} (phi) @0> (size=32,offset=64): f32[8]{0}
 a line of a later version

Total bytes used: 644 (644B)
allocation 9: size 1, constant:
"""


def test_every_form_of_a_line():
    found = read_buffer_assignment(TEXT)
    assert [each.kind for each in found] == ["parameter", "output", "constant", "thread-local", "temporary"]
    assert found[0] == Allocation(
        0, 512, "parameter", 6, 3, (0, 1), True, (AssignedValue(12, "p.1{0,1}", 0, 16, "f32[4]{0}"),)
    )
    assert found[4].values == (AssignedValue(40, "while.2{1}", 64, 32, "f32[8]{0}", True),)
    assert total_allocations(found) == AllocationTotals(512, 536, 512, 96, 8, 4, ())


def test_text_that_is_no_report_gives_nothing():
    assert read_buffer_assignment("HloModule m\n") == ()
    assert read_live_range("HloModule m\n") is None
    assert read_dump({}) == (None, ())


def test_the_program_is_the_largest_of_a_dump():
    small = "BufferAssignment:\nallocation 0: size 1, constant:\n"
    texts = {"a.buffer-assignment.txt": small, "b.buffer-assignment.txt": TEXT}
    assert len(read_dump(texts)[1]) == 5


@pytest.mark.parametrize("seed", range(20))
def test_bytes_that_are_damaged_raise_a_value_error_or_nothing_else(seed):
    compiled = jax.jit(lambda x: jnp.sort(jnp.sin(x))).lower(jax.ShapeDtypeStruct((64,), jnp.float32)).compile()
    data = bytearray(memory_of(compiled).buffer_assignment)
    draw = random.Random(seed)
    for _ in range(5):
        data[draw.randrange(len(data))] = draw.randrange(256)
    try:
        read_buffer_proto(bytes(data[: draw.randrange(len(data))]))
    except ValueError as error:
        assert "Reading a buffer assignment" in str(error)


# Sizes with padding: what TPUs give to arrays, by the tiles of their types.


@recorded
def test_padding_by_tiles_is_what_tpus_allocate():
    folder = next(name for name in memory_dumps.recorded_folders() if name.startswith("tpu"))
    values = re.findall(
        r"^ value: <.*> \(size=(\d+),offset=\d+\): ([^(].*)$", memory_dumps.recorded(folder).assignment, 8
    )
    assert len(values) > 3000
    for size, type_text in values:
        assert read_shape(type_text).padded_bytes == int(size), type_text


@pytest.mark.parametrize(
    ("type_text", "size_bytes", "padded_bytes"),
    [
        ("f32[8,128]{1,0:T(8,128)}", 4096, 4096),
        ("f32[9,129]{1,0:T(8,128)}", 4 * 9 * 129, 4 * 16 * 256),
        # Along the first dimension, which is the fastest here.
        ("f32[129,9]{0,1:T(8,128)}", 4 * 9 * 129, 4 * 16 * 256),
        ("bf16[2,128]{1,0:T(8,128)(2,1)}", 512, 2048),
        ("f32[]{:T(128)}", 4, 512),
        ("s4[3]{0:E(4)}", 2, 2),
        ("s4[3]{0}", 3, 3),
        ("(f32[4]{0}, (s32[], token[]))", 16, 16),
        ("token[]", 0, 0),
        ("f32[<=5]{0}", 20, 20),
        ("f77[4]{0}", None, None),
    ],
)
def test_sizes(type_text, size_bytes, padded_bytes):
    shape = read_shape(type_text)
    assert (shape.size_bytes, shape.padded_bytes) == (size_bytes, padded_bytes)


def test_parts_of_nested_tuples():
    shape = read_shape("(f32[2]{0:S(1)}, /*index=1*/(s32[], pred[3]{0}))")
    assert shape.at((1, 1)).text == "pred[3]{0}" and shape.at((0,)).memory_space == 1
    assert shape.at((2,)) is None and shape.at((0, 0)) is None
    assert [index for index, _ in shape.walk()] == [(), (0,), (1,), (1, 0), (1, 1)]
    assert read_shape("(f32[2]") is None and read_shape("?") is None
