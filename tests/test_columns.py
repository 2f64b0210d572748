"""Every column and row of the tables is documented, and nothing else is."""

import jax
import jax.numpy as jnp
import pytest

import jaxscope
from jaxscope._analysis import columns
from jaxscope._analysis.cost import MAIN_KEYS, cost_frame, cost_of
from jaxscope._analysis.memory import ROW_KEYS, memory_frame, memory_of
from jaxscope._analysis.mismatches import check_call, mismatch_frame
from jaxscope._analysis.roll_up import GROUPINGS
from jaxscope._analysis.signature import signature_frame, signature_of

F3 = jax.ShapeDtypeStruct((3,), jnp.float32)


@pytest.fixture(scope="module")
def frames():
    traced = jax.jit(lambda x: x + 1).trace(F3)
    lowered = traced.lower()
    compiled = lowered.compile()
    signature = signature_of(traced, lowered, compiled)
    inspection = jaxscope.inspect(lambda x: x + 1, F3)
    return {
        "signature": signature_frame(signature),
        "cache": inspection.check(1.0).cache_frame,
        "type changes": inspection.type_changes,
        "overflows": inspection.integer_overflows,
        "mismatches": mismatch_frame(check_call(signature, (1.0,))),
        "cost": cost_frame(cost_of(lowered, compiled)),
        "memory": memory_frame(memory_of(compiled)),
        "collectives": inspection.collectives,
        "targets": jaxscope.targets().frame,
        **{f"cost by {grouping}": inspection.cost_by(grouping) for grouping in GROUPINGS},
        "loops": inspection.loops,
        "roofline": inspection.roofline,
        "reconciliation": inspection.reconciliation,
        "buffers": inspection.buffers,
        "alive": inspection.alive(),
        "allocations": inspection.allocations,
        "donations": inspection.donations,
        "findings": inspection.findings,
    }


# Tables of the Memory tab and of failures that are no frames.
ON_SCREEN_ONLY = {"peak", "agreement", "carry", "branches"}


def test_every_column_of_every_frame_has_an_entry(frames):
    assert set(frames) | ON_SCREEN_ONLY == set(columns.COLUMNS)
    for table, frame in frames.items():
        assert list(frame.columns) == [entry.key for entry in columns.COLUMNS[table]]


def test_every_fixed_row_has_an_entry():
    assert [entry.key for entry in columns.ROWS["cost"]] == list(MAIN_KEYS)
    assert [entry.key for entry in columns.ROWS["memory"]] == list(ROW_KEYS)


PARTS = ("bytes accessed0{}", "bytes accessedout{}", "utilization12{}", "bytes accessed operand 0 {}", "new figure")
ENTRIES = [
    pytest.param(entry, id=f"{table}-{entry.key}")
    for group in (columns.COLUMNS, columns.ROWS)
    for table, entries in group.items()
    for entry in entries
] + [pytest.param(columns.row("cost", key), id=key) for key in PARTS]


@pytest.mark.parametrize("entry", ENTRIES)
def test_no_heading_is_empty(entry):
    for heading in ("key", "label", "what", "source", "missing"):
        assert getattr(entry, heading).strip(), heading
    for sentence in ("what", "source", "missing"):
        assert getattr(entry, sentence).endswith("."), sentence
    assert entry.align in ("left", "right")
    assert entry.what in entry.help and entry.source in entry.help and entry.missing in entry.help


def test_parts_are_labelled():
    assert columns.row("cost", "bytes accessed0{}").label == "Bytes accessed, operand 0"
    assert columns.row("cost", "bytes accessedout{}").label == "Bytes accessed, results"
    assert columns.row("cost", "bytes accessed operand 1 {}").label == "Bytes accessed, operand 1"
    assert columns.row("cost", "utilization12{}").label == "Utilization, operand 12"


def test_parts_of_a_real_program_are_known(frames):
    parts = frames["cost"].loc[frames["cost"]["part"], "figure"]
    assert len(parts)
    assert not any("does not know" in columns.row("cost", key).what for key in parts)


def test_undocumented_keys_are_refused():
    with pytest.raises(KeyError):
        columns.column("cost", "price")
    with pytest.raises(KeyError):
        columns.row("memory", "price")
