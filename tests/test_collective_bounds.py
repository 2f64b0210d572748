"""Lower bounds of collectives are held to ring algorithms that are carried out step by step."""

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
