"""XLA's cost figures: shown as XLA gives them, missing ones with a reason, and never asked for where asking kills."""

import json
import re
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

import jaxscope
from jaxscope._analysis import cost
from jaxscope._analysis.cost import cost_frame, cost_of
from jaxscope._analysis.unavailable import Unavailable
from tests.programs import PROGRAMS
from tests.shared import ABSENT, read_recorded, recorded_files

F8 = jax.ShapeDtypeStruct((8,), jnp.float32)
M64 = jax.ShapeDtypeStruct((64, 64), jnp.float32)
REPOSITORY = Path(__file__).parents[1]


class Answering:
    """A stage that answers `cost_analysis` as some version or platform does, or raises."""

    def __init__(self, answer):
        self.answer = answer

    def cost_analysis(self):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def lower(function, *args, **kwargs):
    return jax.jit(function).trace(*args, **kwargs).lower()


def by_key(table):
    return {row.key: row for row in table.rows}


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_figures_are_xlas_own(name):
    function, args = PROGRAMS[name]
    lowered = lower(function, *args)
    compiled = lowered.compile()
    table = cost_of(lowered, compiled, compiled.as_text(), lowered.as_text())
    rows = by_key(table)
    assert [row.key for row in table.rows][:3] == ["flops", "transcendentals", "bytes accessed"]
    for stage, side in ((lowered, "before"), (compiled, "after")):
        answer = {key: value for key, value in stage.cost_analysis().items() if key != "optimal_seconds"}
        assert set(answer) <= set(rows)
        for key, row in rows.items():
            value = getattr(row, side)
            if key not in answer:
                assert "counted none" in value.reason
            elif answer[key] < 0:
                assert f"XLA reports {answer[key]:g}" in value.reason
            else:
                assert value == answer[key]


def test_the_order_is_fixed():
    shuffled = {
        "utilization10{}": 1.0,
        "bytes accessedout{}": 1.0,
        "a new figure": 1.0,
        "bytes accessed10{}": 1.0,
        "flops": 1.0,
        "bytes accessed2{}": 1.0,
        "bytes accessed": 1.0,
        "utilization9{}": 1.0,
    }
    expected = [
        *("flops", "transcendentals", "bytes accessed", "bytes accessed2{}", "bytes accessed10{}"),
        *("bytes accessedout{}", "utilization9{}", "utilization10{}", "a new figure"),
    ]
    for items in (shuffled.items(), reversed(shuffled.items())):
        rows = cost_of(None, Answering(dict(items))).rows
        assert [row.key for row in rows] == expected
        assert [row.is_part for row in rows] == [False] * 3 + [True] * 6


@pytest.mark.parametrize("answer", [{"flops": 5.0}, [{"flops": 5.0}], ({"flops": 5.0},)], ids=["dict", "list", "tuple"])
def test_older_shapes_of_the_answer(answer):
    assert by_key(cost_of(None, Answering(answer)))["flops"].after == 5.0


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, "no cost table"),
        ([], "no cost table"),
        ("many", "a str where a table was expected"),
        (RuntimeError("UNIMPLEMENTED: not here\nat length"), "RuntimeError: UNIMPLEMENTED: not here"),
        ({}, "counted none"),
        ({"flops": float("nan")}, "reports nan"),
        ({"flops": -2.0}, "reports -2"),
    ],
)
def test_missing_figures_have_a_reason(answer, reason):
    table = cost_of(Answering(answer), Answering(answer))
    assert reason in by_key(table)["flops"].after.reason
    assert reason in by_key(table)["flops"].before.reason
    frame = cost_frame(table).set_index("figure")
    assert frame["after"].isna()["flops"] and reason in frame["missing"]["flops"]


def test_the_frame_says_what_the_counted_figures_leave_out():
    """A decomposition alone would be 0 FLOPs, and a loop of unknown length one run, as if that were all."""
    frame = jaxscope.inspect(lambda x: jnp.linalg.svd(x)[1], "f32[6,6]").cost.set_index("figure")
    assert frame["counted_after"]["flops"] == 0
    for figure in ("counted_before", "counted_after"):
        assert re.search(rf"{figure}: Left out: lapack_\w+: ", frame["missing"]["flops"])
    assert "Left out" not in frame["missing"]["bytes accessed"]

    repeated = jaxscope.inspect(lambda n, x: jax.lax.fori_loop(0, n, lambda _, c: c @ c, x), "i32[]", "f32[16,16]")
    frame = repeated.cost.set_index("figure")
    assert frame["counted_after"]["flops"] == 2 * 16**3
    assert "counted_after: Loops of unknown length count once: n1." in frame["missing"]["flops"]
    assert "counted_after: Loops of unknown length count once: n1." in frame["missing"]["bytes accessed"]

    known = jaxscope.inspect(lambda x: jax.lax.fori_loop(0, 3, lambda _, c: c @ c, x), "f32[16,16]").cost
    assert not known.set_index("figure")["missing"]["flops"]


def test_stages_that_were_not_reached():
    rows = by_key(cost_of(None, None))
    assert rows["flops"].before.reason == "The program was not lowered."
    assert rows["flops"].after.reason == "The program was not compiled."


def test_a_platform_without_figures_is_counted_by_the_cpu_model():
    lowered = lower(lambda x, y: jnp.sin(x) @ y, M64, M64)
    compiled = lowered.compile()

    class Silent:
        runtime_executable = staticmethod(compiled.runtime_executable)

        @staticmethod
        def cost_analysis():
            return None

    table = cost_of(lowered, Silent())
    assert by_key(table)["flops"].after == compiled.cost_analysis()["flops"]
    assert any("compiled figures are counted by XLA's model for CPUs" in note for note in table.notes)

    class NoLoweredCost:
        def __call__(self):
            raise NotImplementedError

    refusing = lower(lambda x, y: jnp.sin(x) @ y, M64, M64)
    object.__setattr__(refusing._lowering, "cost_analysis", NoLoweredCost())
    assert refusing.cost_analysis() is None
    table = cost_of(refusing, None)
    assert by_key(table)["flops"].before == lowered.cost_analysis()["flops"]
    assert any("lowered figures are counted by XLA's model for CPUs" in note for note in table.notes)


def test_symbolic_dimensions_are_never_asked_about():
    (b,) = export.symbolic_shape("b")
    lowered = lower(lambda x: x.sum(0) + jnp.concatenate([x, x]).sum(0), jax.ShapeDtypeStruct((b, 4), jnp.float32))

    def asked():
        raise AssertionError("this ends the process on JAX 0.12")

    object.__setattr__(lowered._lowering, "cost_analysis", asked)
    assert "symbolic" in by_key(cost_of(lowered, None))["flops"].before.reason


def test_opaque_calls_are_told_apart_from_figures():
    def host(x):
        return np.asarray(x) * 2

    def twice(x):
        return jax.pure_callback(host, F8, jax.pure_callback(host, F8, x))

    lowered = lower(twice, F8)
    compiled = lowered.compile()
    assert compiled.cost_analysis()["flops"] == -2
    table = cost_of(lowered, compiled, compiled.as_text())
    flops = by_key(table)["flops"]
    assert table.uncounted_calls == 2
    assert flops.after == Unavailable("XLA reports -2: 0 counted, less 1 for each of 2 calls that it cannot look into.")
    assert "XLA reports -2" in flops.before.reason
    assert flops.note == "+ 2 uncounted calls"
    assert not by_key(table)["transcendentals"].note

    # Two calls and 100 additions: the figure is XLA's, the note says what it lacks.
    lowered = lower(lambda x: twice(x) + jnp.ones((100, 1)).sum(0), F8)
    compiled = lowered.compile()
    flops = by_key(cost_of(lowered, compiled, compiled.as_text()))["flops"]
    assert flops.after == compiled.cost_analysis()["flops"] > 0
    assert flops.note == "+ 2 uncounted calls"


def test_times_of_other_platforms_are_no_calls():
    # -185 is what a TPU reported for a transformer step.
    table = cost_of(None, Answering({"flops": 7.0, "optimal_seconds": -185.0}))
    assert table.uncounted_calls == 0
    assert "optimal_seconds" not in by_key(table)


def test_loops_are_said_to_be_counted_once():
    def layers(x, weights):
        return jax.lax.scan(lambda carry, w: (jnp.tanh(carry @ w), None), x, weights)[0]

    def unrolled(x, weights):
        for index in range(12):
            x = jnp.tanh(x @ weights[index])
        return x

    args = jax.ShapeDtypeStruct((8, 64), jnp.float32), jax.ShapeDtypeStruct((12, 64, 64), jnp.float32)
    lowered = lower(layers, *args)
    compiled = lowered.compile()
    table = cost_of(lowered, compiled, compiled.as_text(), lowered.as_text())
    assert any("1 loop before optimisation, 1 loop after" in note for note in table.notes)
    one = 2 * 8 * 64 * 64
    assert one <= by_key(table)["flops"].after < 2 * one

    lowered = lower(unrolled, *args)
    compiled = lowered.compile()
    table = cost_of(lowered, compiled, compiled.as_text(), lowered.as_text())
    assert not any("loop" in note for note in table.notes)
    assert by_key(table)["flops"].before >= 12 * one

    compile_failed = lower(layers, *args)
    notes = cost_of(compile_failed, None, None, compile_failed.as_text()).notes
    assert any("1 loop before optimisation." in note for note in notes)


def test_conditionals_are_charged_the_dearest_branch():
    def choose(pred, x):
        return jax.lax.cond(pred, lambda: x @ x @ x, lambda: x + 1)

    lowered = lower(choose, jax.ShapeDtypeStruct((), jnp.bool_), M64)
    compiled = lowered.compile()
    table = cost_of(lowered, compiled, compiled.as_text())
    assert any("dearest" in note for note in table.notes)
    assert by_key(table)["flops"].after >= 4 * 64**3


def test_names_of_the_user_are_not_counted_as_instructions():
    def tricky(x):
        with jax.named_scope("a while(b) conditional(c) custom-call("):
            return x + 1

    lowered = lower(tricky, F8)
    compiled = lowered.compile()
    text = compiled.as_text()
    assert " while(" in text
    assert cost_of(lowered, compiled, text, lowered.as_text(debug_info=True)).notes == ()


@pytest.mark.parametrize("name", sorted(PROGRAMS))
@pytest.mark.parametrize("opcode", ["while", "conditional", "custom-call"])
def test_instructions_are_counted_as_the_module_holds_them(name, opcode):
    function, args = PROGRAMS[name]
    compiled = lower(function, *args).compile()
    modules = compiled.runtime_executable().hlo_modules()
    computations = [computation for module in modules for computation in module.computations()]
    if not hasattr(computations[0], "instructions"):
        pytest.skip("this jaxlib does not list instructions")
    names = [str(i.opcode).rpartition(".")[2] for computation in computations for i in computation.instructions()]
    enum = {"while": "kWhile", "conditional": "kConditional", "custom-call": "kCustomCall"}[opcode]
    assert cost._count_instructions(compiled.as_text(), opcode) == names.count(enum)


SHARDED = """
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
import json
import jax, jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
from jaxscope._analysis.cost import cost_of
mesh = jax.make_mesh((8,), ("d",), axis_types=(AxisType.Auto,))
spec = lambda p: jax.ShapeDtypeStruct((512, 512), jnp.float32, sharding=NamedSharding(mesh, p))
lowered = jax.jit(lambda a, b: a @ b).lower(spec(P(None, "d")), spec(P("d", None)))
compiled = lowered.compile()
table = cost_of(lowered, compiled, compiled.as_text())
print(json.dumps([table.rows[0].before, table.rows[0].after, table.notes]))
"""


def test_sharded_programs_are_counted_per_device_after_optimisation():
    environment = {"JAX_PLATFORMS": "cpu", "PYTHONPATH": str(REPOSITORY), "PATH": ""}
    result = subprocess.run(
        [sys.executable, "-c", SHARDED], capture_output=True, text=True, timeout=120, env=environment, check=True
    )
    before, after, notes = json.loads(result.stdout.splitlines()[-1])
    assert before == 2 * 512**3
    assert before / 8 <= after < before / 7
    assert any("after it for one of 8 devices" in note for note in notes)


RECORDED = [path for path in recorded_files("compiled.hlo.gz") if "48-layers" not in path.parent.name]


@pytest.mark.skipif(not RECORDED, reason=ABSENT)
@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.parent.name)
def test_recorded_programs_of_other_platforms(path):
    text = read_recorded(path)
    # "  %custom-call.5 = (f32[8]{0}, s8[16]{0}) custom-call(%p0), custom_call_target=...": before any string
    calls = re.findall(r'^[^"\n]* = [^"\n]* custom-call\(', text, re.MULTILINE)
    notes = cost_of(None, Answering({"flops": 1.0}), text).notes
    assert [note for note in notes if "custom call" in note] == [
        f"The compiled program holds {len(calls)} custom call{'' if len(calls) == 1 else 's'}; "
        "XLA adds −1 to flops and bytes accessed for each it cannot look into."
    ] * bool(calls)
    assert not any("devices" in note for note in notes)
