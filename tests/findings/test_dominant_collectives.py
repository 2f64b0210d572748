"""Collectives that take longer than the matrix products they serve."""

import pytest

from jaxscope._analysis.library_calls import LIBRARY_TARGETS
from jaxscope._analysis.rules import RULES
from jaxscope._findings.dominant_collectives import _PRODUCTS
from jaxscope._targets.model import DeviceFacts, Figure, Source
from tests.findings import findings_of, source_of
from tests.findings.texts import findings_of_text
from tests.plugins import TPU

KEY = "dominant-collective"
SOURCE = Source("a document", "https://example.org")
# One direction of the links carries 1e9 bytes a second.
FACTS = DeviceFacts(
    peak_flop_per_second={"f32": Figure(1e12, SOURCE)},
    memory_bandwidth_bytes_per_second=Figure(1e12, SOURCE),
    interconnect_bandwidth_bytes_per_second=Figure(2e9, SOURCE),
)
MESH = {"data": 2, "model": 4}


def module_of(contracted, rows=1024, after="%r = {0} all-reduce(%d), replica_groups=[2,4]<=[8], to_apply=%sum"):
    """A matrix product on each of eight devices, and its sum over four."""
    array = f"f32[{rows},1024]{{1,0}}"
    return f"""HloModule m, num_partitions=8

%sum (a: f32[], b: f32[]) -> f32[] {{
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %c = f32[] add(%a, %b)
}}

ENTRY %main (x: f32[{rows},{contracted}], w: f32[{contracted},1024]) -> f32[{rows},1024] {{
  %x = f32[{rows},{contracted}]{{1,0}} parameter(0)
  %w = f32[{contracted},1024]{{1,0}} parameter(1)
  %d = {array} dot(%x, %w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  {after.format(array)}
  ROOT %s = {array} sine(%r)
}}
"""


def test_found_with_both_times():
    """Of 4 MiB each device sends 2·3/4, 6 MiB in 6.29 ms; the product of 1024³ takes 2.15 ms."""
    (finding,) = findings_of_text(KEY, module_of(1024), FACTS, (MESH,))
    assert finding.observation.found == (
        "all-reduce over model, 1 run: each device sends 6.00 MiB, which takes at least 6.29 ms. "
        "All matrix products of the program take at least 2.15 ms."
    )
    assert "bfloat16" in finding.observation.advice
    (line,) = finding.observation.lines
    assert "all-reduce(" in module_of(1024).split("\n")[line.line]


def test_found_by_the_size_of_its_groups_without_a_mesh():
    (finding,) = findings_of_text(KEY, module_of(1024), FACTS)
    assert finding.observation.found.startswith("all-reduce over groups of 4, ")


def test_not_found_where_the_product_takes_longer():
    assert not findings_of_text(KEY, module_of(4096), FACTS, (MESH,))


def test_not_found_where_little_is_sent():
    assert not findings_of_text(KEY, module_of(1024, rows=64), FACTS, (MESH,))


def test_not_found_without_a_collective_nor_without_figures():
    assert not findings_of_text(KEY, module_of(1024, after="%r = {0} cosine(%d)"), FACTS, (MESH,))
    assert not findings_of_text(KEY, module_of(1024), DeviceFacts(), (MESH,))


def test_not_found_without_a_product():
    copied = module_of(1024).replace(
        "dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}", "subtract(%x, %w)"
    )
    assert not findings_of_text(KEY, copied, FACTS, (MESH,))


def test_what_counts_as_a_product_is_what_counts_work():
    assert {rule.key for rule in RULES} | {entry.key for entry in LIBRARY_TARGETS} > _PRODUCTS


def product(x, w):
    return x @ w


@TPU
def test_found_where_few_rows_are_summed():
    args = ("bf16[256,@model 8192]", "bf16[@model 8192,8192]")
    (finding,) = findings_of(KEY, product, *args, target="tpu:v5e:4x4", mesh={"model": 16})
    assert "over model" in finding.observation.found
    assert source_of(finding) == "return x @ w"


@TPU
@pytest.mark.parametrize(
    "args",
    [
        # Long sums on each device, and none at all.
        ("bf16[4096,@model 262144]", "bf16[@model 262144,4096]"),
        ("bf16[256,8192]", "bf16[8192,@model 8192]"),
    ],
)
def test_not_found_where_arithmetic_is_dearer(args):
    assert not findings_of(KEY, product, *args, target="tpu:v5e:4x4", mesh={"model": 16})
