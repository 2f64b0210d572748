"""Between our figures and XLA's lie named causes, and nothing else."""

import re

import jax
import jax.numpy as jnp
import pytest
from hypothesis import HealthCheck, given, settings

import jaxscope
from jaxscope._analysis.hlo_cost import count_hlo
from jaxscope._analysis.reconciliation import RECONCILIATION_COLUMNS, reconcile
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._ir.hlo import parse
from tests.plugins import CUDA, CUDA_TEXT, TPU
from tests.programs import PROGRAMS, case_names, stages, transformer_stages
from tests.random_programs import PROGRAM_KINDS
from tests.shared import ABSENT, SHARED

FEW = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
ROUNDING = "XLA adds up in single precision"


def reconciled(compiled):
    listing = parse(compiled.as_text())
    cost = count_hlo(listing)
    return listing, cost, reconcile(listing, cost, compiled.cost_analysis())


def compile_(function, *args):
    return jax.jit(function).trace(*args).lower().compile()


def check(compiled):
    """Ours is our total, the causes lead from it to XLA's figure, and each names its instructions."""
    listing, cost, found = reconciled(compiled)
    table, total = compiled.cost_analysis(), cost.total.with_loops_once
    moved = sum(
        (kernel.bytes_read + kernel.bytes_written) * kernel.runs.with_loops_once
        for kernel in cost.kernels
        if kernel.is_counted
    )
    assert [one.figure for one in found] == ["flops", "transcendentals", "bytes accessed"]
    assert [one.ours for one in found] == [total.flops, total.transcendentals, moved]
    for one in found:
        assert one.xla == table.get(one.figure, 0)
        assert one.unexplained == 0
        assert one.ours + sum(cause.amount for cause in one.causes) == one.xla
        assert all(cause.ops for cause in one.causes if cause.reason != ROUNDING)
        assert all(cause.amount for cause in one.causes)
        assert "by another rule" not in "".join(cause.reason for cause in one.causes)
    return listing, cost, found


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name", [*sorted(PROGRAMS), *case_names()])
def test_every_difference_has_a_cause(name):
    compiled = stages(name).compiled
    if compiled is None:
        pytest.skip("JAX refuses this program")
    listing, _, found = check(compiled)
    names = {op.name for op in listing.ops}
    if not names & {"while", "conditional", "custom-call"}:
        # Without these the only differences in FLOPs are of single instructions.
        words = ("the loop", "conditional", "custom call", "library call")
        assert not any(word in cause.reason for cause in found[0].causes for word in words)


@pytest.mark.skipif(SHARED is None, reason=ABSENT)
def test_a_training_step():
    check(transformer_stages().compiled)


@pytest.mark.parametrize("kind", sorted(PROGRAM_KINDS))
def test_random_programs(kind):
    @FEW
    @given(PROGRAM_KINDS[kind])
    def run(program):
        check(compile_(program.function, *program.args))

    run()


def causes(found, figure="flops"):
    return {cause.reason: cause for one in found if one.figure == figure for cause in one.causes}


def test_loops_are_named_with_what_their_further_turns_compute():
    def function(x):
        return jax.lax.scan(lambda c, _: (c @ c, None), x, None, length=12)[0]

    listing, _, found = reconciled(compile_(function, jax.ShapeDtypeStruct((16, 16), jnp.float32)))
    (cause,) = (cause for reason, cause in causes(found).items() if "loop" in reason)
    assert "runs 12 times; XLA counts it once" in cause.reason
    assert cause.amount == -11 * 2 * 16**3
    assert [listing.ops[op].name for op in cause.ops] == ["while"]


def test_loops_in_loops_add_up():
    def function(x):
        def outer(c, _):
            return jax.lax.scan(lambda c, _: (c @ c, None), c, None, length=3)[0], None

        return jax.lax.scan(outer, x, None, length=5)[0]

    _, cost, found = reconciled(compile_(function, jax.ShapeDtypeStruct((16, 16), jnp.float32)))
    product = 2 * 16**3
    amounts = sorted(cause.amount for reason, cause in causes(found).items() if "the loop" in reason)
    # The inner loop's further turns once, then the outer's with all of the inner's.
    assert amounts == [-4 * 3 * product, -2 * product]
    assert cost.total.known.flops == 15 * product


def test_integers_selections_and_calls_are_causes_of_their_own():
    def function(x, n):
        y = jax.pure_callback(lambda v: v, jax.ShapeDtypeStruct((8,), jnp.float32), x)
        return jnp.where(x > 0, x, y), n * n, x.astype(jnp.int32)

    args = jax.ShapeDtypeStruct((8,), jnp.float32), jax.ShapeDtypeStruct((4,), jnp.int32)
    _, _, found = reconciled(compile_(function, *args))
    by_reason = causes(found)
    assert by_reason["arithmetic on integers and truth values that XLA calls FLOPs"].amount == 4
    assert by_reason["selections, conversions and tests of bits that XLA calls FLOPs"].amount == 8 + 8
    assert by_reason["custom calls, −1 each: xla_ffi_python_cpu_callback"].amount == -1


def test_a_missing_figure_is_explained_as_far_as_it_goes():
    compiled = compile_(lambda x: x @ x, jax.ShapeDtypeStruct((16, 16), jnp.float32))
    listing = parse(compiled.as_text())
    found = reconcile(listing, count_hlo(listing), Unavailable("There is no table."))
    assert [one.xla for one in found] == [Unavailable("There is no table.")] * 3
    assert found[0].ours == 2 * 16**3 and all(one.unexplained == 0 for one in found)


def test_what_has_no_cause_is_said():
    compiled = compile_(lambda x: x @ x, jax.ShapeDtypeStruct((16, 16), jnp.float32))
    listing = parse(compiled.as_text())
    table = {**compiled.cost_analysis(), "flops": 5.0, "transcendentals": float("nan")}
    flops, transcendentals, moved = reconcile(listing, count_hlo(listing), table)
    assert flops.unexplained == 5 - 2 * 16**3
    assert isinstance(transcendentals.xla, Unavailable)
    assert moved.unexplained == 0


@pytest.mark.parametrize("name", ["axpy", "nested_loops", "linear_algebra", "no_arguments"])
def test_the_frame_leads_from_ours_to_xlas(name):
    function, args = PROGRAMS[name]
    frame = jaxscope.inspect(function, *args).reconciliation
    assert list(frame.columns) == list(RECONCILIATION_COLUMNS)
    table = stages(name).compiled.cost_analysis()
    for figure, rows in frame.groupby("figure"):
        assert list(rows["cause"].iloc[[0, -1]]) == ["jaxscope", "XLA"]
        assert rows["amount"].iloc[:-1].sum() == rows["amount"].iloc[-1] == table.get(figure, 0)


def sums(x, w):
    return jnp.tanh(x @ w).sum(0), jax.nn.softmax(x)


def repeated(x, w):
    return jax.lax.scan(lambda c, _: (c @ w + 1, None), x, None, length=5)[0]


def looked_up(x, w):
    """Rows, numbers of a row, and rows that are added to."""
    rows = x[:, 0].astype(jnp.int32)
    return (
        w.at[rows].get(mode="clip"),
        w[0].astype(jnp.float32).at[rows].get(mode="clip"),
        w.at[rows].add(x, mode="promise_in_bounds"),
    )


def kept(x, w):
    """Each step is kept, in room that is set aside before the loop."""
    return jax.lax.scan(lambda c, _: (jnp.tanh(c @ w), c.sum(0)), x, None, length=5)


@pytest.mark.parametrize(
    "target", [pytest.param("cuda:h100", marks=(CUDA, CUDA_TEXT)), pytest.param("tpu:v5e:2x2", marks=TPU)]
)
@pytest.mark.parametrize("function", [sums, repeated, looked_up, kept])
def test_programs_for_machines_that_are_not_here(target, function):
    """CUDA is counted by XLA's model for CPUs, TPUs by their own: tiles are padded, tables take 512 bytes."""
    frame = jaxscope.inspect(function, "bf16[64,256]", "bf16[256,256]", target=target).reconciliation
    assert len(frame[frame["cause"] == "XLA"]) == 3
    assert not frame["cause"].str.contains("not explained|by another rule|missing").any()


def embedded(table, indices):
    return jnp.tanh(table[indices]).sum()


def updated(table, indices, updates):
    return table.at[indices].add(updates), table.at[indices[0]].set(updates[0])


@TPU
@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (jax.grad(embedded), ("f32[32000,256]", "i32[8,1024]")),
        (updated, ("f32[32000,512]", "i32[8192]", "f32[8192,512]")),
    ],
    ids=["gradient of a lookup", "update"],
)
def test_many_updates_which_the_compiler_for_tpus_sorts_first(function, arguments):
    frame = jaxscope.inspect(function, *arguments, target="tpu:v5e:2x2").reconciliation
    assert len(frame[frame["cause"] == "XLA"]) == 3
    assert not frame["cause"].str.contains("not explained|by another rule|missing").any(), frame


def test_the_account_calls_the_figures_as_the_totals_do():
    text = str(jaxscope.inspect(lambda x: jnp.exp(x @ x), "f32[8,8]"))
    account = text.split("From jaxscope's figures")[-1].split("\n\n")[0].split("\n")[2:]
    assert {re.split(" {2,}", line)[1] for line in account} == {"FLOPs", "Transcendentals", "Bytes accessed"}
