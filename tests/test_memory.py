"""XLA's memory figures: its own fields, one sum, and reasons where a figure is missing or none."""

import jax
import jax.numpy as jnp
import pytest

import jaxscope
from jaxscope._analysis.memory import ROW_KEYS, memory_frame, memory_of
from jaxscope._analysis.unavailable import Unavailable
from tests.programs import PROGRAMS

M128 = jax.ShapeDtypeStruct((128, 128), jnp.float32)


class Answering:
    """A compiled stage that answers `memory_analysis`, or raises."""

    def __init__(self, answer):
        self.answer = answer

    def memory_analysis(self):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


class Stats:
    """The fields of older versions."""

    argument_size_in_bytes, output_size_in_bytes, temp_size_in_bytes, alias_size_in_bytes = 100, 50, 20, 30
    generated_code_size_in_bytes = 4096
    host_argument_size_in_bytes = host_output_size_in_bytes = host_temp_size_in_bytes = 0
    host_alias_size_in_bytes = host_generated_code_size_in_bytes = 0

    def __init__(self, **fields):
        self.__dict__.update(fields)


def sizes(table):
    return {row.key: row.size_bytes for row in table.rows}


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_figures_are_xlas_own(name):
    function, args = PROGRAMS[name]
    compiled = jax.jit(function).lower(*args).compile()
    analysis = compiled.memory_analysis()
    table = memory_of(compiled)
    assert [row.key for row in table.rows] == list(ROW_KEYS)
    for row in table.rows:
        if row.key == "total":
            parts = (getattr(analysis, f"{part}_size_in_bytes") for part in ("argument", "output", "temp", "alias"))
            argument, output, temporary, alias = parts
            assert row.size_bytes == argument + output + temporary - alias
        elif row.key == "generated code":
            assert "not reported" in row.size_bytes.reason
        elif not hasattr(analysis, row.source):
            assert row.source in row.size_bytes.reason
        else:
            assert row.size_bytes == getattr(analysis, row.source)


@pytest.mark.parametrize(("given", "kept"), [(b"assignment", b"assignment"), (b"", b""), (None, b"")])
def test_the_buffer_assignment_comes_with_the_figures(given, kept):
    assert memory_of(Answering(Stats(serialized_buffer_assignment_proto=given))).buffer_assignment == kept
    assert memory_of(Answering(Stats())).buffer_assignment == b""


def test_xla_is_asked_once_for_figures_and_buffers(monkeypatch):
    asked = []
    original = jax.stages.Compiled.memory_analysis
    monkeypatch.setattr(jax.stages.Compiled, "memory_analysis", lambda self: asked.append(1) or original(self))
    inspection = jaxscope.inspect(lambda a: a @ a, M128)
    _ = (inspection.memory, inspection.allocations, inspection.alive())
    assert len(asked) == 1


def test_donation_is_subtracted_once():
    compiled = jax.jit(lambda a, b: a * 2 + b, donate_argnums=0).lower(M128, M128).compile()
    found = sizes(memory_of(compiled))
    one = 128 * 128 * 4
    assert (found["argument"], found["output"], found["alias"]) == (2 * one, one, one)
    assert found["total"] == 2 * one + found["temporary"]


def test_xlas_peak_on_cpu_is_said_to_leave_out_temporaries():
    def largest(x):
        return jax.lax.top_k(x, 4), jnp.argsort(x)

    table = memory_of(jax.jit(largest).lower(jax.ShapeDtypeStruct((64,), jnp.float32)).compile())
    found = sizes(table)
    assert found["temporary"] > 0 and found["peak"] < found["total"]
    (peak,) = (row for row in table.rows if row.key == "peak")
    assert "leaves out" in peak.note


def test_figures_below_zero_and_missing_fields_have_a_reason():
    table = memory_of(Answering(Stats(peak_memory_in_bytes=-5)))
    found = sizes(table)
    assert "reports -5" in found["peak"].reason
    assert "total_allocation_bytes" in found["all allocations"].reason
    assert found["total"] == 140
    assert found["generated code"] == 4096

    found = sizes(memory_of(Answering(Stats(temp_size_in_bytes=-1))))
    assert found["total"] == found["temporary"] == Unavailable("XLA reports -1: the figure does not fit its type.")


@pytest.mark.parametrize(
    ("compiled", "reason"),
    [
        (None, "not compiled"),
        (Answering(None), "no memory figures"),
        (Answering([]), "no memory figures"),
        (Answering(RuntimeError("UNIMPLEMENTED: here\nand more")), "RuntimeError: UNIMPLEMENTED: here"),
        (object(), "AttributeError"),
    ],
)
def test_no_figures_at_all(compiled, reason):
    table = memory_of(compiled)
    assert all(reason in row.size_bytes.reason for row in table.rows)
    frame = memory_frame(table)
    assert frame["size_bytes"].isna().all() and frame["missing"].str.contains(reason).all()


def test_older_answers_in_a_list():
    assert sizes(memory_of(Answering([Stats()])))["argument"] == 100


def test_frame():
    frame = memory_frame(memory_of(Answering(Stats()))).set_index("memory")
    assert str(frame["size_bytes"].dtype) == "Int64"
    assert frame.loc["total", "source"] == "argument + output + temporary − alias"
    assert frame["host"].sum() == 5
