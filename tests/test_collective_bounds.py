"""Lower bounds of collectives are held to ring algorithms that are carried out step by step."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxscope._analysis.collectives import Collective, collective_seconds, link_bytes, run_count
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._analysis.work import Runs
from jaxscope._targets.model import DeviceFacts, Figure, Source

FACTS = DeviceFacts(interconnect_bandwidth_bytes_per_second=Figure(2e9, Source("a document", "https://example.org")))


def collective(kind, operand_bytes, devices=4):
    return Collective(0, kind, ("a",), devices, 1, operand_bytes)


def ring_reduce_scatter(devices, pieces):
    """Every device ends with one piece of the sum; bytes that one device sends. A piece is one byte."""
    held = [{piece: {device} for piece in range(devices)} for device in range(devices)]
    sent = 0
    for step in range(devices - 1):
        moved = [(device, (device - step) % devices) for device in range(devices)]
        arriving = [held[device][piece] for device, piece in moved]
        for (device, piece), parts in zip(moved, arriving):
            held[(device + 1) % devices][piece] = held[(device + 1) % devices][piece] | parts
        sent += pieces
    assert all(any(len(parts) == devices for parts in own.values()) for own in held)
    return sent


def ring_all_gather(devices, size):
    """Every device ends with the pieces of all; bytes that one device receives."""
    held = [{device} for device in range(devices)]
    received = 0
    for step in range(devices - 1):
        passed = [(device - step) % devices for device in range(devices)]
        for device, piece in enumerate(passed):
            held[(device + 1) % devices].add(piece)
        received += size
    assert all(len(own) == devices for own in held)
    return received


@given(st.integers(2, 9), st.integers(1, 1000))
def test_rings_reach_the_bounds(devices, piece):
    whole = devices * piece
    assert link_bytes(collective("reduce-scatter", whole, devices)) == ring_reduce_scatter(devices, piece)
    assert link_bytes(collective("all-gather", piece, devices)) == ring_all_gather(devices, piece)
    both = ring_reduce_scatter(devices, piece) + ring_all_gather(devices, piece)
    assert link_bytes(collective("all-reduce", whole, devices)) == both
    # Of an array in one piece for each device, all but the own one leave.
    assert link_bytes(collective("all-to-all", whole, devices)) == (devices - 1) * piece


@pytest.mark.parametrize("kind", ["collective-permute", "collective-broadcast"])
def test_what_is_passed_on_passes_once(kind):
    assert link_bytes(collective(kind, 77)) == 77


def test_one_device_says_nothing():
    assert link_bytes(collective("all-reduce", 100, devices=1)) == 0


def test_one_direction_of_the_links_counts():
    assert collective_seconds(collective("collective-permute", 10**9), FACTS) == 1.0


def test_what_is_not_known_stays_so():
    assert isinstance(link_bytes(collective("ragged-all-to-all", 8)), Unavailable)
    assert isinstance(link_bytes(collective("all-reduce", Unavailable("no size"))), Unavailable)
    assert isinstance(collective_seconds(collective("all-reduce", 8), DeviceFacts()), Unavailable)
    assert isinstance(collective_seconds(collective("all-reduce", 8), Unavailable("no device")), Unavailable)


def test_loops_multiply_and_unknown_ones_are_said():
    one = collective("all-reduce", 8)
    assert run_count(one, {0: Runs().times(12)}) == 12
    assert "not known" in run_count(one, {0: Runs().times("n1")}).reason
    assert "not counted" in run_count(one, {}).reason


@given(st.integers(2, 9), st.integers(1, 500))
def test_no_ring_of_real_arrays_is_below_the_bounds(devices, size):
    """Every message is an array of bytes; pieces differ in size where the array does not divide."""
    numbers = np.random.default_rng(size).integers(0, 9, (devices, size), dtype=np.uint8)
    held = [[piece.copy() for piece in np.array_split(own, devices)] for own in numbers]
    sent, received = [0] * devices, [0] * devices

    def turn(offset, combine):
        messages = [(device, (device - offset) % devices) for device in range(devices)]
        arriving = [held[device][piece].copy() for device, piece in messages]
        for (device, piece), message in zip(messages, arriving, strict=True):
            other = (device + 1) % devices
            sent[device] += message.nbytes
            received[other] += message.nbytes
            held[other][piece] = combine(held[other][piece], message)

    for step in range(devices - 1):
        turn(step, np.add)
    one_way = link_bytes(collective("reduce-scatter", size, devices))
    assert max(*sent, *received) >= one_way >= max(sent) - devices
    for step in range(devices - 1):
        turn(step - 1, lambda _, message: message)
    both = link_bytes(collective("all-reduce", size, devices))
    assert max(*sent, *received) >= both >= max(sent) - 2 * devices
    assert all((np.concatenate(own) == numbers.sum(axis=0, dtype=np.uint8)).all() for own in held)


PROGRAM = """
import json
import jax, jax.numpy as jnp
from jax import lax
from jax.sharding import PartitionSpec as P
import jaxscope
from jaxscope._analysis.collectives import collectives_frame, kernel_runs
from tests.test_collective_bounds import FACTS

mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
TURNS, AGAIN = 6, 3


def turn(x, again):
    return lax.fori_loop(0, again, lambda _, y: jnp.sin(lax.psum(y, "model")), x)


def body(x, n):
    x = lax.psum(x, "data")
    x = lax.fori_loop(0, TURNS, lambda _, y: lax.ppermute(turn(y, AGAIN), "data", [(0, 1), (1, 0)]), x)
    return lax.fori_loop(0, n, lambda _, y: jnp.cos(lax.all_to_all(y, "model", 0, 0, tiled=True)), x)


spec = P(("data", "model"))
f = jax.shard_map(body, mesh=mesh, in_specs=(spec, P()), out_specs=spec, check_vma=False)
inspection = jaxscope.inspect(f, "f32[64,8]", "i32[]", strict=True)
facts = inspection._facts
runs = kernel_runs(facts.program_cost("hlo"))
frame = collectives_frame(facts.listing("hlo"), facts.meshes, FACTS, runs)
own = inspection.collectives
print(json.dumps([frame.to_json(orient="records"), own.seconds.isna().all().item(), own.missing.tolist()]))
"""


def test_collectives_in_loops_run_as_often_as_these():
    """Of f32[64,8] each of 8 devices has 256 bytes; one direction of the links carries 1e9 bytes a second."""
    flags = {"XLA_FLAGS": "--xla_force_host_platform_device_count=8", "JAX_PLATFORMS": "cpu"}
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], env={**os.environ, **flags}, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    frame, without_seconds, reasons = json.loads(run.stdout)
    found = {(row["collective"], row["mesh_axes"]): row for row in json.loads(frame)}
    # Of an all-reduce 2(n − 1)/n, of an all-to-all (n − 1)/n, of a permutation all.
    expected = {
        ("all-reduce", "data"): (256, 1),
        ("all-reduce", "model"): (384, 6 * 3),
        ("collective-permute", "data"): (256, 6),
        ("all-to-all", "model"): (192, None),
    }
    assert set(found) == set(expected)
    for key, (size, runs) in expected.items():
        row = found[key]
        assert (row["operand_bytes"], row["link_bytes"], row["runs"]) == (256, size, runs), key
        assert row["seconds"] == (None if runs is None else pytest.approx(size * runs / 1e9, rel=1e-9)), key
        assert ("loop whose number of runs is not known" in row["missing"]) == (runs is None)
    assert without_seconds and all("No published figures" in reason for reason in reasons), "of this CPU"
