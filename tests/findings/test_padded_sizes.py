"""Sizes of matrix products that fit the target badly."""

import math
import re

import jax
import jax.numpy as jnp
import pytest

from jaxscope._findings.padded_sizes import LEAST_RATIO
from jaxscope._ir.hlo_shapes import read_shape
from tests.findings import findings_of, source_of
from tests.plugins import CUDA, CUDA_TEXT, TPU

KEY = "padded-size"
V5E, H100 = "tpu:v5e:2x2", "cuda:h100"


def scores(q, k):
    return jnp.einsum("bqd,bkd->bqk", q, k)


@pytest.mark.parametrize(
    ("shape", "padded"),
    [
        ("f32[100,130]{1,0:T(8,128)}", (104, 256)),
        ("f32[100,130]{0,1:T(8,128)}", (128, 136)),
        ("bf16[3,17,64]{2,1,0:T(8,128)(2,1)}", (3, 24, 128)),
        ("f32[100]{0:T(128)S(1)}", (128,)),
        ("f32[100,130]{1,0}", (100, 130)),
    ],
)
def test_a_padded_dimension_fills_its_tiles(shape, padded):
    read = read_shape(shape)
    assert tuple(map(read.padded_dimension, range(len(padded)))) == padded
    assert math.prod(padded) * (read.array.bits // 8) == read.padded_bytes


@TPU
def test_found_for_many_small_products_on_a_tpu():
    (finding,) = findings_of(KEY, scores, "f32[32768,17,64]", "f32[32768,17,64]", target=V5E)
    assert source_of(finding) == 'return jnp.einsum("bqd,bkd->bqk", q, k)'
    assert finding.severity == "warning"
    # 2 · 32768 · 17 · 17 · 64
    assert "1.21 GFLOP, 100.0 % of the program's" in finding.observation.found
    ratio = float(re.search(r"room for ([\d.]+) times", finding.observation.found)[1])
    # Tiles of 8 by 128 hold at least 17 by 17 in 24 by 128, and at most leave every dimension as it is but one.
    assert LEAST_RATIO <= ratio <= (24 * 128 * 128) / (17 * 17 * 64) + 0.1


@TPU
def test_not_found_where_the_tiles_are_filled():
    assert not findings_of(KEY, lambda x, w: x @ w, "bf16[4096,512]", "bf16[512,1024]", target=V5E)
    heads = ("bf16[8,1024,12,64]",) * 3
    assert not findings_of(KEY, jax.nn.dot_product_attention, *heads, target=V5E)


@TPU
def test_not_found_where_the_product_is_small():
    assert not findings_of(KEY, scores, "f32[32,17,64]", "f32[32,17,64]", target=V5E)


@CUDA
@CUDA_TEXT
def test_found_for_rows_that_no_tensor_core_can_be_fed_with():
    (finding,) = findings_of(KEY, lambda x, w: x @ w, "bf16[1000,1001]", "bf16[1001,2003]", target=H100)
    assert "rows of bf16[1000,1001] are 2,002 B long, no multiple of 16" in finding.observation.found
    assert "1001 to 1008" in finding.observation.advice
    assert finding.severity == "note"


@CUDA
@CUDA_TEXT
def test_not_found_for_whole_rows_nor_for_wide_numbers():
    assert not findings_of(KEY, lambda x, w: x @ w, "bf16[1000,1008]", "bf16[1008,2008]", target=H100)
    assert not findings_of(KEY, lambda x, w: x @ w, "f32[1000,1001]", "f32[1001,2003]", target=H100)
    assert not findings_of(KEY, lambda x, w: x @ w, "bf16[65536,16384]", "bf16[16384,1]", target=H100)


def test_not_found_on_a_cpu():
    assert not findings_of(KEY, lambda x, w: x @ w, "bf16[1001,1001]", "bf16[1001,2003]")
