"""Whether a program fits: the sum, its parts, and targets with and without a published memory."""

import dataclasses

import jax
import jax.numpy as jnp
import pytest

import jaxscope
from jaxscope._analysis.buffers import Buffer, MemoryCurve
from jaxscope._analysis.memory import ROW_KEYS, MemoryRow, MemoryTable
from jaxscope._analysis.memory_verdict import FORMULA, verdict_of
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._ir.allocations import AllocationTotals
from jaxscope._targets import resolve_target
from jaxscope._targets.model import DeviceFacts, Figure, Source, Target
from tests.plugins import CUDA, CUDA_TEXT, TPU

GIGABYTE = 1 << 30
SOURCE = Source("a data sheet", "https://example.com")


def target(platform="cuda", memory_bytes=1000):
    return Target(platform, platform, platform, facts=DeviceFacts(memory_bytes=Figure(memory_bytes, SOURCE)))


def table(**sizes):
    known = {"argument": 300, "output": 200, "temporary": 500, "alias": 100, "generated code": 50, **sizes}
    return MemoryTable(tuple(MemoryRow(key, known.get(key, 0), key) for key in ROW_KEYS), ())


def parts(verdict):
    return {part.name: part.size_bytes for part in verdict.parts}


def test_the_sum_is_the_formula():
    verdict = verdict_of(target(), table(), AllocationTotals(300, 200, 100, 500, 7))
    named = parts(verdict)
    assert named == {
        "argument": 300,
        "output": 200,
        "temporary": 500,
        "alias": -100,
        "generated code": 50,
        "constants": 7,
    }
    assert list(named) == FORMULA.replace("−", "+").split(" + ")
    assert verdict.needed_bytes == 957 and verdict.margin_bytes == 43 and verdict.fits is True
    assert not verdict.is_estimate


@pytest.mark.parametrize(("memory_bytes", "fits"), [(957, True), (956, False)])
def test_the_last_byte_decides(memory_bytes, fits):
    verdict = verdict_of(target(memory_bytes=memory_bytes), table(), AllocationTotals(300, 200, 100, 500, 7))
    assert verdict.fits is fits and verdict.margin_bytes == memory_bytes - 957


def test_temporaries_that_a_tpu_does_not_report():
    reported = table(temporary=0)
    totals = AllocationTotals(300, 200, 100, 400, 0, 0, ((1, 90),))
    verdict = verdict_of(target("tpu"), reported, totals)
    assert parts(verdict)["temporary"] == 400 and not verdict.is_estimate
    assert any("memory space 1" in note for note in verdict.notes)
    # Without the buffer assignment, what is alive at once in main memory stands in: 30 + 40 at instant 1.
    buffers = (
        Buffer("a{}", 0, "temporary", "f32[]", 30, 0, 1, 0),
        Buffer("b{}", 0, "temporary", "f32[]", 40, 1, 2, 1),
        Buffer("c{}", 0, "temporary", "f32[]", 500, 1, 2, 1, memory_space=1),
        Buffer("d{}", 0, "argument", "f32[]", 900, 0, 2, 0),
        Buffer("e{}", 0, "constant", "f32[]", 8, 0, 2, 0),
    )
    verdict = verdict_of(target("tpu"), reported, None, MemoryCurve((0, 1), buffers, 1))
    assert parts(verdict)["temporary"] == 70 and parts(verdict)["constants"] == 8 and verdict.is_estimate
    # A figure that is larger than the buffer assignment's is XLA's last word.
    assert parts(verdict_of(target("tpu"), table(temporary=600), totals))["temporary"] == 600


def test_figures_that_are_missing():
    nothing = Unavailable("The program was not compiled.")
    missing = table(**dict.fromkeys(("argument", "output", "temporary", "alias", "generated code"), nothing))
    verdict = verdict_of(target(), missing)
    assert verdict.needed_bytes == verdict.fits == verdict.margin_bytes == nothing and verdict.parts == ()
    verdict = verdict_of(target(), missing, AllocationTotals(300, 200, 100, 500, 7))
    assert verdict.needed_bytes == 907 and any("machine code" in note for note in verdict.notes)


def test_targets_without_a_published_memory():
    unknown = dataclasses.replace(target(), facts=Unavailable("No published figures are known for this device."))
    assert "No published figures" in verdict_of(unknown, table()).fits.reason
    none = dataclasses.replace(target(), facts=DeviceFacts())
    assert "No document" in verdict_of(none, table()).margin_bytes.reason


def test_this_machines_memory_is_no_limit():
    facts = jaxscope.inspect(lambda x: x @ x, jax.ShapeDtypeStruct((64, 64), jnp.float32))._facts
    verdict = facts.program_memory.verdict
    assert "shared" in verdict.fits.reason
    analysis = facts.product("compile").memory_analysis()
    assert verdict.needed_bytes == sum(
        sign * getattr(analysis, f"{part}_size_in_bytes")
        for part, sign in (("argument", 1), ("output", 1), ("temp", 1), ("alias", -1))
    )


@pytest.mark.parametrize(
    "name", [pytest.param("tpu:v5e:2x2", marks=TPU), pytest.param("cuda:h100", marks=(CUDA, CUDA_TEXT))]
)
def test_a_program_that_does_not_fit(name):
    """Results of 20 % more than a device has, by the vendor's figure; the compiler itself may refuse it."""
    memory = resolve_target(name).facts.memory_bytes.value
    rows = int(memory * 1.2) // (4 << 20)

    def grown(x, shape):
        return jnp.broadcast_to(x, (shape, 1 << 20)) * 2.0

    for count, fits in ((8, True), (rows, False)):
        argument = jax.ShapeDtypeStruct((1 << 20,), jnp.float32)
        facts = jaxscope.inspect(jax.jit(grown, static_argnums=1), argument, count, target=name)._facts
        if facts.product("compile") is None:
            assert not fits and "memory" in str(facts.error).lower()
            continue
        verdict = facts.program_memory.verdict
        assert verdict.capacity_bytes == memory and verdict.fits is fits
        assert verdict.needed_bytes >= count * (4 << 20)
