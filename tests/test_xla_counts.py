"""XLA's way of counting, imitated: equal to what XLA says, to the unit, in every figure."""

import ast
import itertools

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxscope._analysis.hlo_attributes import WindowDimension
from jaxscope._analysis.hlo_module import read_module
from jaxscope._analysis.xla_counts import CONVENTIONS, FIGURES, count_as_xla
from jaxscope._analysis.xla_sizes import add_single, read_shape, valid_positions
from jaxscope._ir.hlo import parse
from tests.programs import PROGRAMS, case_names, stages
from tests.shared import ABSENT, SHARED, read_recorded, recorded_files

# What this jaxlib does: the three of `CONVENTIONS` are of JAX 0.12, 0.10 and 0.8.
OWN = CONVENTIONS[0 if jax.__version_info__ >= (0, 12) else 1 if jax.__version_info__ >= (0, 10) else 2]


def counted(text, convention=OWN):
    total = count_as_xla(read_module(parse(text)), convention).total
    return dict(zip(FIGURES, total.rounded, strict=True))


def asked(table):
    """XLA's three figures; it leaves out those that are zero."""
    return {figure: table.get(figure, 0.0) for figure in FIGURES}


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name", [*sorted(PROGRAMS), *case_names()])
def test_figures_are_xlas_own(name):
    compiled = stages(name).compiled
    if compiled is None:
        pytest.skip("JAX refuses this program")
    assert counted(compiled.as_text()) == asked(compiled.cost_analysis())


def recorded_tables():
    """Recorded compiled programs for CPUs, with the cost table that was printed with each."""
    return [path for path in recorded_files("compiled.hlo.gz") if path.parent.name.startswith("cpu")]


@pytest.mark.skipif(SHARED is None, reason=ABSENT)
@pytest.mark.parametrize("path", recorded_tables(), ids=lambda path: path.parent.name)
def test_figures_of_large_programs_are_rounded_as_xla_rounds_them(path):
    lines = read_recorded(path.parent / "memory-and-cost.txt.gz").splitlines()
    line = next(line for line in lines if "'flops'" in line)
    table = ast.literal_eval(line[line.index("{") :])
    convention = CONVENTIONS[0 if "0.12" in path.parent.name else 1]
    total = count_as_xla(read_module(parse(read_recorded(path))), convention).total
    assert dict(zip(FIGURES, total.rounded, strict=True)) == asked(table)
    # Single precision does not hold the sum: what is compared is the rounding of tens of thousands of steps.
    assert total.exact[0] != table["flops"]


def other_platforms():
    return [path for path in recorded_files("compiled.hlo.gz") if not path.parent.name.startswith("cpu")]


@pytest.mark.skipif(SHARED is None, reason=ABSENT)
@pytest.mark.parametrize("path", other_platforms(), ids=lambda path: path.parent.name)
def test_programs_of_other_platforms_are_counted_as_by_the_model_for_cpus(path):
    hlo = pytest.importorskip("jaxlib._hlo", reason="this jaxlib does not read HLO")
    from jax._src.lib import _jax as extension

    text = read_recorded(path)
    module = hlo.hlo_module_from_text(text)
    assert counted(text) == asked(extension.hlo_module_cost_analysis(jax.devices("cpu")[0].client, module))


@given(st.lists(st.integers(-1, 1 << 34), max_size=60))
def test_sums_are_rounded_at_every_step(values):
    expected = np.float32(0)
    for value in values:
        expected = np.float32(expected + np.float32(value))
    assert add_single(values) == expected


@given(st.data())
def test_positions_of_a_window(data):
    size, window, result = (data.draw(st.integers(1, 9)) for _ in range(3))
    stride, dilation, base = (data.draw(st.integers(1, 4)) for _ in range(3))
    low = data.draw(st.integers(-2, 8))
    elements = {element * base for element in range(size)}
    expected = sum(
        place * stride + element * dilation - low in elements
        for place, element in itertools.product(range(result), range(window))
    )
    dimension = WindowDimension(window, stride, low, 0, dilation, base)
    assert valid_positions((dimension,), (size,), (result,)) == (expected,)


@pytest.mark.parametrize(
    ("text", "convention", "size"),
    [
        ("f32[3,5]{1,0}", 0, 60),
        ("pred[7]{0}", 0, 7),
        ("s4[8]{0:E(4)}", 0, 4),
        ("f32[]", 0, 4),
        ("token[]", 0, 0),
        ("(f32[3,5]{1,0}, /*index=1*/(s32[], s32[]))", 0, 8),
        ("(f32[3,5]{1,0}, /*index=1*/(s32[], s32[]))", 1, 16),
        # Whole tiles of 8 by 128, of two rows of 16 bits each in one word; dimension 0 is the densest.
        ("bf16[3,5]{1,0:T(8,128)(2,1)}", 0, 8 * 128 * 2),
        ("bf16[3,5]{1,0:T(8,128)(2,1)}", 1, 30),
        ("f32[130,9]{0,1:T(8,128)S(1)}", 0, 16 * 256 * 4),
        ("bf16[128]{0:T(256)(128)(2,1)}", 0, 512),
        ("pred[]{:T(512)}", 0, 512),
    ],
)
def test_sizes(text, convention, size):
    assert read_shape(text, CONVENTIONS[convention]).size_bytes == size
