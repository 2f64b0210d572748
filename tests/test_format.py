"""Numbers as people read them say the same as the numbers."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxscope._view.format import (
    format_bytes,
    format_count,
    format_exact,
    format_quantity,
    format_seconds,
    format_share,
)

KIB = 1024
UNITS = {unit: KIB**power for power, unit in enumerate(("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"))}
PREFIXES = {prefix: 1000**power for power, prefix in enumerate(("", "k", "M", "G", "T", "P", "E"))}
SECONDS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [
        (0, "0 B"),
        (1, "1 B"),
        (1023, "1023 B"),
        (KIB, "1.00 KiB"),
        (1536, "1.50 KiB"),
        (KIB**2 - 1, "1.00 MiB"),
        (12_582_912, "12.0 MiB"),
        (100 * KIB**3, "100 GiB"),
        (2**63, "8.00 EiB"),
        (2**80, "1048576 EiB"),
        (-2048, "-2.00 KiB"),
    ],
)
def test_bytes(size_bytes, text):
    assert format_bytes(size_bytes) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0 FLOP"),
        (999, "999 FLOP"),
        (999.4, "999 FLOP"),
        (999.7, "1.00 kFLOP"),
        (1000, "1.00 kFLOP"),
        (34_600_000, "34.6 MFLOP"),
        (999_999, "1.00 MFLOP"),
        (1.5, "1.5 FLOP"),
        (-12.0, "-12 FLOP"),
        (2e21, "2000 EFLOP"),
    ],
)
def test_quantities(value, text):
    assert format_quantity(value, "FLOP") == text


def test_a_quantity_without_a_unit_has_no_space_at_its_end():
    assert format_quantity(12) == "12" and format_quantity(75_300) == "75.3 k"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0.0 ms"),
        (4.1e-3, "4.1 ms"),
        (0.0123, "12.3 ms"),
        (0.212, "212 ms"),
        (0.9994, "999 ms"),
        (1, "1.0 s"),
        (99.9, "99.9 s"),
        (100, "1 min 40 s"),
        (3599.9, "59 min 59 s"),
    ],
)
def test_seconds(seconds, text):
    assert format_seconds(seconds) == text


def test_counts_agree_with_their_nouns():
    unit = ("op", "ops")
    assert [format_count(number, unit) for number in (0, 1, 2, 31_204)] == ["0 ops", "1 op", "2 ops", "31,204 ops"]


@pytest.mark.parametrize(("part", "whole", "text"), [(0, 0, "n/a"), (0, 5, "0 %"), (5, 5, "100 %"), (94, 100, "94 %")])
def test_shares(part, whole, text):
    assert format_share(part, whole) == text


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_a_share_is_only_all_or_nothing_when_it_is(part, more):
    share = int(format_share(part, part + more).removesuffix(" %"))
    assert 1 <= share <= 99 and abs(share - 100 * part / (part + more)) <= 1


@given(st.integers(-(2**64), 2**64))
def test_exact_figures_keep_every_digit(value):
    # Floats are what XLA gives: beyond 2**53 they are already rounded.
    assert int(format_exact(value).replace(",", "")) == value


@given(st.floats(1, 1e20))
def test_bytes_are_right_to_three_digits(size_bytes):
    number, unit = format_bytes(size_bytes).split(" ")
    assert "e" not in number
    assert math.isclose(float(number) * UNITS[unit], size_bytes, rel_tol=5.1e-3) or abs(size_bytes) < KIB


@given(st.floats(1, 1e20))
def test_quantities_are_right_to_three_digits(value):
    number, prefix = re.fullmatch(r"([0-9.]+) ([a-zA-Z]?)", format_quantity(value) + " " * (value < 999.5)).groups()
    assert math.isclose(float(number) * PREFIXES[prefix], value, rel_tol=5.1e-3)


@given(st.floats(0, 99))
def test_seconds_are_right_to_what_is_shown(seconds):
    number, unit = format_seconds(seconds).split(" ")
    half_a_digit_s = 0.051 if unit == "s" else 0.000051 if "." in number else 0.00051
    assert abs(float(number) * SECONDS[unit] - seconds) <= half_a_digit_s


@given(st.one_of(st.just(math.nan), st.just(math.inf), st.just(-math.inf)))
def test_what_is_no_number_is_shown_as_such(value):
    for text in (format_bytes(value), format_quantity(value), format_exact(value)):
        assert "nan" in text or "inf" in text
