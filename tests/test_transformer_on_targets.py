"""A whole model, on this machine, on a GPU and TPUs that are not there, and over 256 chips of a mesh.

The oracles are XLA's own frame tables and instruction counts, the lines that the jaxpr names, and arithmetic on shapes.
"""

import math
import re

import jax
import pytest

from jaxscope._ir.model import NO_STACK
from tests.oracles import count_instructions, read_frame_tables
from tests.plugins import CUDA, CUDA_TEXT, MARKS, TPU
from tests.transformer import CALLER, LAYERS, LENGTH, MESH, WIDTH, step_and_args, transformer_for

SLICE = "tpu:v5e:16x16"
NAMES = [
    "cpu",
    pytest.param("cuda:h100", marks=(CUDA, CUDA_TEXT)),
    pytest.param("tpu:v5e:2x2", marks=TPU),
    pytest.param(SLICE, marks=TPU),
]
# JAX's platform and name of the devices.
DEVICES = {"cpu": ("cpu", "cpu"), "cuda": ("gpu", "NVIDIA H100 80GB HBM3"), "tpu": ("tpu", "TPU v5 lite")}

pytestmark = pytest.mark.slow


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture
def inspection(name):
    inspection = transformer_for(name)
    assert inspection.stages["compile"].status == "done", inspection.stages["compile"]
    return inspection


def test_the_program_is_for_the_machine(name, inspection):
    compiler = name.partition(":")[0]
    shardings = jax.tree.leaves((inspection.compiled.input_shardings, inspection.compiled.output_shardings))
    devices = {(device.platform, device.device_kind) for each in shardings for device in each.device_set}
    assert devices == {DEVICES[compiler]}
    head = inspection.hlo.partition("\n")[0]
    assert MARKS[compiler] in head
    assert not any(mark in head for mark in MARKS.values() if mark not in ("", MARKS[compiler]))
    # Every array that goes in or comes out lies in tiles on a TPU, and nowhere else.
    layouts = re.findall(r"\[\d[\d,]*\]\{([^}]*)\}", head)
    tiled = sum(":T(" in layout for layout in layouts)
    assert len(layouts) > 200 and tiled == (len(layouts) if compiler == "tpu" else 0)
    assert ("num_partitions=256" in head) == (name == SLICE)
    assert inspection._source.view["targets"][0]["name"] == name


def test_every_instruction_is_there(inspection):
    listing = inspection._facts.listing("hlo").listing
    assert "\n".join(listing.lines) == inspection.hlo
    assert len(listing.ops) > 5000 and count_instructions(inspection.compiled) in (len(listing.ops), None)


@pytest.mark.skipif(jax.__version_info__ < (0, 9), reason="JAX 0.8 prints no frame tables")
def test_every_instruction_that_names_a_stack_frame_reaches_its_line(inspection):
    frames = read_frame_tables(inspection.hlo)
    linked = inspection._facts.listing("hlo")
    named = 0
    for op, stack in zip(linked.listing.ops, linked.op_stack, strict=True):
        frame = next(linked.stacks.walk(stack)) if stack != NO_STACK else None
        found = (frame.file, frame.line) if frame else None
        if frame_id := re.search(r" stack_frame_id=(\d+)", linked.listing.lines[op.line]):
            named += 1
            expected = frames[int(frame_id[1])]
            assert found == (None if expected[0] == CALLER else expected), op
        else:
            assert found is None, op
    assert named == len(re.findall(r"\bstack_frame_id=\d+", inspection.hlo)) > 4000


@pytest.mark.skipif(jax.__version_info__ < (0, 9), reason="JAX 0.8 gives other frames for equations")
def test_every_line_of_the_model_reaches_the_compiled_program(inspection):
    """What is fused away differs from machine to machine; from every line that was traced, something is left.

    Only `step` itself may go: beside its calls it holds the 1 that the gradients begin with.
    """
    lines = {}
    for key in ("jaxpr", "hlo"):
        linked = inspection._facts.listing(key)
        frames = [next(linked.stacks.walk(stack)) for stack in linked.op_stack if stack != NO_STACK]
        model = [
            frame
            for frame in frames
            if frame.file.endswith("programs/transformer.py") and not frame.function.endswith("step")
        ]
        lines[key] = {frame.line for frame in model}
    assert lines["hlo"] == lines["jaxpr"] and len(lines["hlo"]) > 10


def test_the_difference_to_the_compilers_own_figures_has_causes(inspection):
    causes = inspection.reconciliation["cause"]
    assert causes.eq("XLA").sum() == 3 and not causes.str.contains("not explained|by another rule|missing").any()


def piece_bytes(tree):
    """What one device holds of a tree of types, by JAX's own shardings."""
    return sum(
        math.prod(leaf.sharding.shard_shape(leaf.shape) if leaf.sharding else leaf.shape) * leaf.dtype.itemsize
        for leaf in jax.tree.leaves(tree)
    )


def test_memory_is_that_of_the_pieces(name, inspection):
    params, momentum, tokens = map(piece_bytes, step_and_args(name)[1])
    memory = inspection.memory.set_index("memory")["size_bytes"]
    # TPUs pad rows to whole tiles, and results have a loss and a table of pointers.
    for figure, least in (
        ("argument", params + momentum + tokens),
        ("output", params + momentum + 4),
        ("alias", params + momentum),
    ):
        assert least <= memory[figure] < 1.001 * least, figure
    assert memory["total"] == memory["argument"] + memory["output"] + memory["temporary"] - memory["alias"]


def test_one_device_says_nothing_to_others(name, inspection):
    assert inspection.collectives.empty == (name != SLICE)


@TPU
def test_what_256_chips_say_to_each_other():
    """Two sums of activations over `model` in each layer, and two backwards; sums of gradients over `data`."""
    inspection = transformer_for(SLICE)
    collectives = inspection.collectives
    assert set(collectives.collective) == {"all-reduce"}
    # A data frame has an attribute `axes` of its own.
    over = set(zip(collectives["mesh_axes"], collectives["group_size"], collectives["groups"]))
    assert over == {("data", 64, 4), ("model", 4, 64)}, "each over one axis of the mesh"
    bytes_over = collectives.groupby("mesh_axes").operand_bytes.sum()
    params, _, _ = step_and_args(SLICE)[1]
    # One row of the batch is left for each chip.
    activations, gradients = LENGTH * WIDTH * 4, piece_bytes(params)
    assert 4 * LAYERS * activations <= bytes_over["model"] < 1.1 * 4 * LAYERS * activations
    # The embedding is used twice, and so is its gradient.
    assert gradients <= bytes_over["data"] <= gradients + piece_bytes(params["embedding"]) + 4
    lines = set(collectives.python_line.dropna()) & {32, 37}
    assert lines == {32, 37}, "the products whose contracted dimension is split"
    signature = inspection.signature.set_index("path")
    assert signature.loc["params['layers'][0]['up']", "per_device"] == f"f32[{WIDTH},{4 * WIDTH // MESH['model']}]"
    assert signature.loc["tokens", "per_device"] == f"i32[1,{LENGTH + 1}]"


@CUDA
@CUDA_TEXT
def test_the_kernels_are_for_the_gpu():
    """An H100 is of compute capability 9.0: https://developer.nvidia.com/cuda-gpus."""
    targets = set(re.findall(r"^\.target (\w+)", transformer_for("cuda:h100").ptx, re.MULTILINE))
    assert targets and targets <= {"sm_90", "sm_90a"}
