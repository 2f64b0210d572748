"""Programs that do not fit into the memory of a device, or hardly."""

import dataclasses

import jax.numpy as jnp
import pytest

import jaxscope
from jaxscope._findings import find
from jaxscope._findings.memory_limit import LEAST_SHARE, PREALLOCATED_SHARE, RULE
from jaxscope._targets.model import DeviceFacts, Figure, Source
from tests.findings import findings_of
from tests.plugins import CUDA, CUDA_TEXT

KEY = "memory-limit"
SIDE = 256
# The argument, the result and both products, or more; XLA's own sum is asked for below.
ARRAY_BYTES = SIDE * SIDE * 4


def squared(x):
    first = x @ x
    return jnp.sin(first) @ first


def said_of(capacity_bytes, platform="tpu"):
    """What the rule says of `squared` on a device of this memory, and what XLA says the program needs."""
    facts = jaxscope.inspect(squared, f"f32[{SIDE},{SIDE}]")._facts
    figure = Figure(capacity_bytes, Source("a data sheet", "https://example.com"))
    facts.target = dataclasses.replace(facts.target, platform=platform, facts=DeviceFacts(memory_bytes=figure))
    needed = facts.program_memory.verdict.needed_bytes
    return find(facts, (RULE,)).found, needed


def needed_bytes():
    return said_of(10**12)[1]


def test_found_as_an_error_where_it_does_not_fit():
    needed = needed_bytes()
    assert needed >= 2 * ARRAY_BYTES
    ((finding,), _) = said_of(needed - 2048)
    assert finding.severity == "error"
    assert ": 2.00 KiB too much." in finding.observation.found
    assert "f32[256,256], 256 KiB" in finding.observation.found
    assert finding.observation.lines
    assert finding.frame.file == __file__


def test_found_as_a_warning_where_it_hardly_fits():
    ((finding,), _) = said_of(int(needed_bytes() / 0.9))
    assert finding.severity == "warning"
    assert "90.0 %" in finding.observation.found


@pytest.mark.parametrize(("platform", "share"), [("tpu", LEAST_SHARE), ("cuda", PREALLOCATED_SHARE)])
def test_not_found_with_room_to_spare(platform, share):
    needed = needed_bytes()
    assert said_of(int(needed / share) - 1024, platform)[0]
    assert not said_of(int(needed / share) + 1024, platform)[0]


def test_not_found_on_a_cpu_whose_memory_has_no_limit():
    assert not findings_of(KEY, squared, f"f32[{SIDE},{SIDE}]")


@CUDA
@CUDA_TEXT
def test_found_on_a_target_with_published_memory():
    (finding,) = findings_of(KEY, lambda x: jnp.sin(x) + 1, "f32[131072,131072]", target="cuda:h100")
    assert finding.severity == "error"
    assert "A device needs 128 GiB and has 80.0 GiB" in finding.observation.found
    assert "donate_argnames" in finding.observation.advice
