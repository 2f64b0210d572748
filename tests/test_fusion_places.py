"""A kernel that names no place has that of what is fused in it: what it moves belongs to somebody's line.

The oracle reads the text: XLA's own tables of frames, and the lines that the body of a fusion names.
"""

import re

import jax
import jax.numpy as jnp
import pytest

import jaxscope
from jaxscope._ir.model import NO_STACK
from tests.oracles import read_frame_tables

# "%fused_computation.1 (param_0.2: f32[8]) -> f32[8] {"
COMPUTATION = re.compile(r"^(?:ENTRY )?%(\S+) \(")
# "  %fusion = f32[8]{0} fusion(%p), kind=kLoop, calls=%fused_computation.1"
FUSION = re.compile(r"%(\S+) = .* fusion\(.*calls=%([\w.\-]+)")

pytestmark = pytest.mark.skipif(jax.__version_info__ < (0, 9), reason="JAX 0.8 prints no frame tables")


def step(w, x):
    h = jnp.maximum(x @ w, 0)
    y = jax.nn.softmax(h * 2)
    return (y * x).sum(0)


@pytest.fixture(scope="module")
def inspection():
    return jaxscope.inspect(step, "bf16[512,512]", "bf16[512,512]")


def lines_of_bodies(hlo):
    """Each fusion that names no frame, and the lines of Python that its body names, by reading the text."""
    frames = read_frame_tables(hlo)
    named, fusions, computation = {}, {}, ""
    for line in hlo.split("\n"):
        if found := COMPUTATION.match(line):
            computation = found[1]
        frame = re.search(r"\bstack_frame_id=(\d+)", line)
        if frame and " = " in line:
            named.setdefault(computation, set()).add(frames[int(frame[1])][1])
        if (found := FUSION.search(line)) and not frame:
            fusions[f"%{found[1]}"] = found[2]
    return {name: named.get(called, set()) for name, called in fusions.items()}


def test_it_has_a_line_that_its_body_names(inspection):
    expected = {name: lines for name, lines in lines_of_bodies(inspection.hlo).items() if lines}
    assert expected, "XLA converts 16-bit floats itself, and such a conversion ends a fusion"
    kernels = inspection.cost_by("kernel").set_index("kernel")
    for name, lines in expected.items():
        assert kernels.loc[name, "python_line"] in lines


def test_what_it_moves_is_not_the_compilers(inspection):
    by_line = inspection.cost_by("line")
    nobody = by_line[by_line.python_line.isna()]
    kernels = inspection.cost_by("kernel")
    assert nobody.moved_bytes.sum() == kernels[kernels.python_line.isna()].moved_bytes.sum()
    assert by_line.moved_bytes.sum() == kernels.moved_bytes.sum()


def test_links_keep_to_what_the_compiler_says(inspection):
    linked = inspection._facts.listing("hlo")
    for op, stack in zip(linked.listing.ops, linked.op_stack, strict=True):
        assert (stack != NO_STACK) <= ("stack_frame_id=" in linked.listing.lines[op.line])
