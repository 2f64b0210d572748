"""Copies that only change the order in which an array lies in memory."""

import jax
import jax.numpy as jnp
import pytest

from tests.findings import findings_of, source_of
from tests.findings.texts import findings_of_text
from tests.plugins import CUDA

KEY = "layout-copy"
CHANNELS_LAST = ("NHWC", "HWIO", "NHWC")


def transposed_first(x):
    rows = jnp.swapaxes(x, 1, 2)
    return jnp.cumsum(rows, axis=2)


def along_the_last_axis(x):
    return jnp.cumsum(x, axis=2)


def convolved(x, w):
    return jax.nn.relu(jax.lax.conv_general_dilated(jnp.sin(x), w, (1, 1), "SAME"))


def convolved_channels_last(x, w):
    y = jax.lax.conv_general_dilated(jnp.sin(x), w, (1, 1), "SAME", dimension_numbers=CHANNELS_LAST)
    return jax.nn.relu(y)


def module_of(instruction, size=1024):
    """A program whose last kernel computes something of what `instruction` makes of its argument."""
    return f"""HloModule m

%half (a: f32[{size},512]) -> f32[{size},512] {{
  %a = f32[{size},512]{{1,0}} parameter(0)
  ROOT %b = f32[{size},512]{{1,0}} sine(%a)
}}

ENTRY %main (x: f32[{size},512]) -> f32[{size},512] {{
  %x = f32[{size},512]{{0,1}} parameter(0)
  {instruction}
  ROOT %z = f32[{size},512]{{1,0}} fusion(%y), kind=kLoop, calls=%half
}}
"""


COPY = "%y = f32[1024,512]{1,0} copy(%x)"


def test_found_with_its_bytes_and_share():
    (finding,) = findings_of_text(KEY, module_of(COPY))
    assert finding.observation.found == (
        "f32[1024,512] is copied into another order of its dimensions, for the kernel that reads it. "
        "It moves 4.00 MiB in 1 run, 50.0 % of all bytes that the program moves."
    )
    assert finding.severity == "note"
    assert "Layout.AUTO" in finding.observation.advice
    (line,) = finding.observation.lines
    assert module_of(COPY).split("\n")[line.line].strip() == COPY


@pytest.mark.parametrize(
    "instruction",
    [
        "%y = f32[1024,512]{0,1} copy(%x)",
        "%y = f32[1024,512]{0,1:T(8,128)S(1)} copy(%x)",
        "%s = (f32[1024,512]{1,0:S(1)}, f32[1024,512]{0,1}, u32[]) copy-start(%x)\n"
        "  %y = f32[1024,512]{1,0:S(1)} copy-done(%s)",
        # The bytes stay where they are.
        "%y = f32[512,1024]{1,0} transpose(%x), dimensions={1,0}",
        "%y = f32[1024,512]{1,0} sine(%x)",
    ],
)
def test_not_found_where_the_order_stays_or_it_is_no_copy(instruction):
    assert not findings_of_text(KEY, module_of(instruction))


def test_not_found_where_an_argument_is_brought_into_a_faster_memory():
    assert not findings_of_text(KEY, module_of("%y = f32[1024,512]{1,0:T(8,128)S(1)} copy(%x)"))


def test_not_found_where_it_is_small():
    assert not findings_of_text(KEY, module_of("%y = f32[128,512]{1,0} copy(%x)", size=128))


def test_not_found_where_dimensions_of_size_one_change_places():
    assert not findings_of_text(KEY, module_of("%y = f32[1048576,1]{1,0} copy(%x)", size=1048576).replace(",512", ",1"))


def test_found_where_an_array_is_transposed_first():
    (finding,) = findings_of(KEY, transposed_first, "f32[8,512,512]", target="cpu")
    assert "The transpose of f32[8,512,512] is a kernel of its own" in finding.observation.found
    assert "swapaxes" in source_of(finding)
    assert finding.severity == "warning"


def test_not_found_along_the_last_axis():
    assert not findings_of(KEY, along_the_last_axis, "f32[8,512,512]", target="cpu")


def test_not_found_where_the_transpose_is_the_result():
    assert not findings_of(KEY, lambda x: x.T, "f32[1024,1024]", target="cpu")


@CUDA
def test_found_for_a_convolution():
    (finding,) = findings_of(KEY, convolved, "f32[8,16,64,64]", "f32[16,16,3,3]", target="cuda:h100")
    assert "channels last" in finding.observation.advice
    assert "conv_general_dilated" in source_of(finding)


def test_not_found_where_only_the_compiler_chose():
    """What LAPACK wants, and products of heads, which stand between batch and length."""
    assert not findings_of(KEY, lambda a, b: jnp.linalg.solve(a, b), "f32[512,512]", "f32[512]", target="cpu")
    heads = ("f32[8,512,8,64]",) * 3
    attend = lambda q, k, v: jax.nn.dot_product_attention(q, k, v)  # noqa: E731
    assert not findings_of(KEY, attend, *heads, target="cpu")


@CUDA
def test_not_found_for_a_convolution_with_channels_last():
    args = ("f32[8,64,64,16]", "f32[3,3,16,16]")
    assert not findings_of(KEY, convolved_channels_last, *args, target="cuda:h100")
