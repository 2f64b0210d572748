"""Kernels that stayed apart because of one op between them."""

import jax
import jax.numpy as jnp
import pytest

import jaxscope
from tests.findings import findings_of, source_of
from tests.findings.texts import findings_of_text
from tests.plugins import CUDA

KEY = "split-kernel"


def with_barrier(x):
    y = jnp.sin(x) * 2
    y = jax.lax.optimization_barrier(y)
    return jnp.cos(y) + 1


def without_barrier(x):
    return jnp.cos(jnp.sin(x) * 2) + 1


def with_barrier_before_a_product(x):
    y = jax.lax.optimization_barrier(jnp.sin(x) * 2)
    return jnp.cos(y @ y)


def module_of(call, result="%d", size=1024):
    """Sine, `call` of it (%b gives %c) and cosine of that."""
    array = f"f32[{size},512]{{1,0}}"
    return f"""HloModule m

%sines (p: f32[{size},512]) -> f32[{size},512] {{
  %p = {array} parameter(0)
  ROOT %q = {array} sine(%p)
}}

%cosines (r: f32[{size},512]) -> f32[{size},512] {{
  %r = {array} parameter(0)
  ROOT %s = {array} cosine(%r)
}}

ENTRY %main (a: f32[{size},512]) -> f32[{size},512] {{
  %a = {array} parameter(0)
  %b = {array} fusion(%a), kind=kLoop, calls=%sines
  {call}
  %d = {array} fusion(%c), kind=kLoop, calls=%cosines
  ROOT %e = ({array}, {array}) tuple({result}, %d)
}}
"""


CALL = '%c = f32[1024,512]{1,0} custom-call(%b), custom_call_target="mylib.norm"'


def test_found_around_a_custom_call():
    (finding,) = findings_of_text(KEY, module_of(CALL))
    # Each of six arrays has 2 MiB.
    assert finding.observation.found == (
        "mylib.norm, a custom call, keeps kernels apart that compute on the same f32[1024,512]: b and d. "
        "What passes between them is written to memory and read again: "
        "8.00 MiB in 1 run, 66.7 % of all bytes that the program moves."
    )
    assert finding.severity == "warning"
    lines = module_of(CALL).split("\n")
    assert lines[finding.observation.lines[0].line].strip() == CALL


def test_found_around_a_pallas_kernel():
    (finding,) = findings_of_text(KEY, module_of(CALL.replace("mylib.norm", "tpu_custom_call")))
    assert finding.observation.found.startswith("A Pallas kernel keeps kernels apart")
    assert "inside the kernel" in finding.observation.advice


@pytest.mark.parametrize("result", ["%b", "%c"])
def test_not_found_where_the_value_is_needed_anyway(result):
    assert not findings_of_text(KEY, module_of(CALL, result))


@pytest.mark.parametrize(
    "call",
    [
        "%c = f32[1024,512]{1,0} sort(%b), dimensions={1}, to_apply=%less",
        '%c = f32[1024,512]{1,0} custom-call(%b), custom_call_target="__onednn$matmul"',
        '%c = f32[1024,512]{1,0} custom-call(%a), custom_call_target="mylib.norm"',
        "%c = f32[1024,512]{1,0} copy(%b)",
    ],
)
def test_not_found_around_work_that_was_asked_for(call):
    assert not findings_of_text(KEY, module_of(call))


def test_not_found_where_it_is_small_or_in_a_faster_memory():
    assert not findings_of_text(KEY, module_of(CALL.replace("1024", "64"), size=64))
    fast = module_of(CALL).replace("{1,0} fusion(%a)", "{1,0:S(1)} fusion(%a)")
    assert not findings_of_text(KEY, fast.replace("{1,0} custom-call", "{1,0:S(1)} custom-call"))


@CUDA
def test_found_at_a_barrier():
    (finding,) = findings_of(KEY, with_barrier, "f32[1024,1024]", target="cuda:h100")
    assert "optimization_barrier keeps kernels apart" in finding.observation.found
    assert "8.00 MiB in 1 run, 50.0 %" in finding.observation.found
    assert source_of(finding) == "y = jax.lax.optimization_barrier(y)"


@CUDA
@pytest.mark.parametrize("function", [without_barrier, with_barrier_before_a_product])
def test_not_found_without_a_barrier_nor_before_a_product(function):
    assert not findings_of(KEY, function, "f32[1024,1024]", target="cuda:h100")


def test_not_found_where_the_compiler_dropped_the_barrier():
    """Some versions of XLA for CPU make one kernel across it."""
    inspection = jaxscope.inspect(with_barrier, "f32[1024,1024]", target="cpu")
    if inspection.hlo.partition("ENTRY")[2].count(" fusion(") != 1:
        pytest.skip("this XLA keeps the barrier")
    assert not findings_of(KEY, with_barrier, "f32[1024,1024]", target="cpu")


@CUDA
def test_not_found_at_the_barriers_of_a_checkpoint():
    def loss(x):
        return jax.checkpoint(lambda y: jnp.sin(jnp.cos(y)))(x * 2).sum()

    assert not findings_of(KEY, jax.grad(loss), "f32[1024,1024]", target="cuda:h100")


@CUDA
def test_found_at_the_barrier_that_passes_the_value_not_at_another_of_that_type():
    def two(x):
        kept = jax.lax.optimization_barrier(jnp.sin(x) * 2)
        product = jax.lax.optimization_barrier(x @ x)
        return jnp.cos(kept) + 1, product @ x

    (finding,) = findings_of(KEY, two, "f32[1024,1024]", target="cuda:h100")
    assert source_of(finding).startswith("kept = ")
