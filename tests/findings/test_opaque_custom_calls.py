"""Custom calls that neither XLA nor jaxscope can look into."""

import re

import jax
import jax.numpy as jnp
import pytest
from jax.experimental import pallas as pl

import jaxscope
from tests.findings import findings_of, source_of
from tests.findings.texts import findings_of_text
from tests.plugins import TPU

KEY = "opaque-custom-call"


def negate(x_ref, out_ref):
    out_ref[...] = -x_ref[...]


def kernel_of(x, **options):
    return pl.pallas_call(negate, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype), **options)(x)


def module_of(target, element="f32"):
    """A loop of 12 turns around one call that reads and writes 4 KiB."""
    return f"""HloModule m

%body (p: (s32[], {element}[1024])) -> (s32[], {element}[1024]) {{
  %p = (s32[], {element}[1024]) parameter(0)
  %i = s32[] get-tuple-element(%p), index=0
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one)
  %x = {element}[1024]{{0}} get-tuple-element(%p), index=1
  %y = {element}[1024]{{0}} custom-call(%x), custom_call_target="{target}"
  ROOT %t = (s32[], {element}[1024]) tuple(%next, %y)
}}

%test (q: (s32[], {element}[1024])) -> pred[] {{
  %q = (s32[], {element}[1024]) parameter(0)
  %j = s32[] get-tuple-element(%q), index=0
  %n = s32[] constant(12)
  ROOT %less = pred[] compare(%j, %n), direction=LT
}}

ENTRY %main (x: {element}[1024]) -> {element}[1024] {{
  %x = {element}[1024]{{0}} parameter(0)
  %zero = s32[] constant(0)
  %start = (s32[], {element}[1024]) tuple(%zero, %x)
  %loop = (s32[], {element}[1024]) while(%start), condition=%test, body=%body
  ROOT %out = {element}[1024]{{0}} get-tuple-element(%loop), index=1
}}
"""


def test_found_by_its_target():
    (finding,) = findings_of_text(KEY, module_of("mylib.norm"))
    found = finding.observation.found
    assert found == (
        "mylib.norm is a custom call: the work is not known, and no total counts it. It moves 96.0 KiB through memory."
    )
    assert finding.severity == "note"
    (line,) = finding.observation.lines
    assert "mylib.norm" in module_of("mylib.norm").split("\n")[line.line]


@pytest.mark.parametrize(
    "target",
    [
        *("lapack_sgesdd_ffi", "cusolver_gesvdj_ffi", "cusparse_csr_todense_ffi", "__cudnn$fmhaSoftmax", "cudnn_rnn"),
        *("AllocateBuffer", "MoveToHost", "annotate_device_placement", "Sharding", "TopK", "ApproxTopK"),
        *("xla_ffi_python_cpu_callback", "__gpu$xla.gpu.triton", "mosaic_gpu_v2"),
    ],
)
def test_not_found_in_libraries_and_notes(target):
    assert not findings_of_text(KEY, module_of(target))


def test_found_where_the_program_asks_for_it():
    """A function of jaxlib's under another name, of which nothing can be known."""
    name = "jaxscope_test.lu"
    function = pytest.importorskip("jaxlib.cpu._lapack").registrations()["lapack_sgetrf_ffi"]
    jax.ffi.register_ffi_target(name, function, platform="cpu")
    matrix, pivots = jax.ShapeDtypeStruct((64, 64), jnp.float32), jax.ShapeDtypeStruct((64,), jnp.int32)

    def decomposed(x):
        return jax.ffi.ffi_call(name, (matrix, pivots, jax.ShapeDtypeStruct((), jnp.int32)))(jnp.sin(x))[0] * 2

    (finding,) = findings_of(KEY, decomposed, "f32[64,64]", target="cpu")
    assert finding.observation.found.startswith(f"{name} is a custom call")
    assert "ffi_call(name" in source_of(finding)


@TPU
def test_found_in_a_pallas_kernel_without_an_estimate():
    (finding,) = findings_of(KEY, lambda x: jnp.sin(kernel_of(x)), "f32[1024,1024]", target="tpu:v5e:2x2")
    assert "tpu_custom_call is a Pallas kernel without a cost estimate" in finding.observation.found
    assert "cost_estimate=" in finding.observation.advice
    assert "pl.pallas_call(negate" in source_of(finding)


@TPU
def test_not_found_in_a_pallas_kernel_with_an_estimate():
    estimate = pl.CostEstimate(flops=2**20, transcendentals=0, bytes_accessed=2**23)
    assert not findings_of(
        KEY, lambda x: jnp.sin(kernel_of(x, cost_estimate=estimate)), "f32[1024,1024]", target="tpu:v5e:2x2"
    )


def attention(q, k, v):
    scores = jnp.einsum("htd,hsd->hts", q, k) / jnp.sqrt(q.shape[-1])
    weights = jnp.exp(scores - scores.max(-1, keepdims=True))
    return jnp.einsum("hts,hsd->htd", weights / weights.sum(-1, keepdims=True), v)


@TPU
def test_not_found_in_a_kernel_that_xla_put_in_itself():
    """Nobody can give XLA's own kernel an estimate; the figures that lack it say so where they stand."""
    inspection = jaxscope.inspect(attention, *["f32[8,128,64]"] * 3, targets=["cpu", "tpu:v5e:2x2"])
    on_tpu = inspection.for_target("tpu:v5e:2x2")
    if 'custom_call_target="tpu_custom_call"' not in on_tpu.hlo:
        pytest.skip("this XLA makes no kernel of softmax")
    assert KEY not in list(on_tpu.findings.rule)
    text = str(inspection)
    assert "note: tpu:v5e:2x2: 1 opaque call that nobody can look into: its figures are too small." in text
    assert "note: tpu:v5e:2x2: On TPU XLA reports no temporaries even where it allocates them." in text
    assert "; 1 kernel left out" in text
    assert re.search(r"fits TPU v5e 2x2, 4 chips: [\d.]+ MiB of 16\.0 GiB, 16\.0 GiB to spare", text)


def test_not_found_in_a_decomposition_nor_a_callback():
    def function(x):
        jax.debug.print("{}", x[0, 0])
        return jnp.linalg.svd(x @ x.T)[1] + jax.lax.top_k(x[0], 3)[0].sum()

    assert not findings_of(KEY, function, "f32[64,64]")
