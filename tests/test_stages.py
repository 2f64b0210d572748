"""Stages give a product or the very exception, in order, and leave JAX and the prompt as they were."""

import os
import signal
import threading
import time
import warnings

import jax
import jax.numpy as jnp
import pytest

from jaxscope._inputs import read_request
from jaxscope._stages import run_stages
from jaxscope._targets import resolve_target
from jaxscope.errors import InputError


def run(function, *args, **options):
    """The stages of a function by key."""
    target = resolve_target(options.pop("target", None))
    return {stage.key: stage for stage in run_stages(read_request(function, args, {}), target, **options)}


def test_each_stage_carries_jax_own_object():
    stages = run(lambda x: x + 1, "f32[3]")
    assert isinstance(stages["trace"].product, jax.stages.Traced)
    assert isinstance(stages["lower"].product, jax.stages.Lowered)
    assert isinstance(stages["compile"].product, jax.stages.Compiled)
    assert all(stage.seconds > 0 and stage.status == "done" for stage in stages.values())


def test_a_failure_keeps_the_exception_and_blocks_what_follows():
    error = KeyError("mine")

    def f(x):
        raise error

    stages = run(f, "f32[3]")
    assert stages["trace"].error is error
    assert [stages[key].status for key in stages] == ["failed", "not reached", "not reached"]
    assert "Jaxpr failed" in stages["compile"].reason


def test_a_late_failure_leaves_the_earlier_products():
    stages = run(lambda x: x + 1, "f32[3]", compiler_options={"xla_no_such_flag": True})
    assert stages["lower"].status == "done" and stages["compile"].status == "failed"
    assert "xla_no_such_flag" in str(stages["compile"].error)


def test_warnings_belong_to_their_stage():
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        stages = run(jax.jit(lambda x: x.sum(), donate_argnums=0), "f32[185,16]")
    assert any("donated buffers were not usable" in text for text in stages["lower"].warnings)
    assert not stages["trace"].warnings


def test_a_warning_that_the_user_turned_into_an_error_is_one():
    def f(x):
        warnings.warn("mine", UserWarning, stacklevel=1)
        return x

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert isinstance(run(f, "f32[3]")["trace"].error, UserWarning)


def test_a_program_lowered_for_elsewhere_is_not_compiled_here():
    traced = jax.jit(lambda x: x).trace(jnp.ones(3))
    stages = run(traced.lower(lowering_platforms=("tpu",)))
    assert stages["compile"].status == "unavailable" and "Lowered for tpu" in stages["compile"].reason
    stages = run(traced.lower(lowering_platforms=("cpu", "tpu")))
    assert stages["compile"].status == "unavailable" and "several platforms" in stages["compile"].reason


def test_a_shape_that_overflows_is_not_compiled():
    stages = run(lambda x: x + 1, f"f32[{1 << 31},{1 << 31}]")
    assert stages["lower"].status == "done"
    assert stages["compile"].status == "unavailable" and "1.84e+19 bytes" in stages["compile"].reason


def test_finished_stages_start_where_they_are():
    traced = jax.jit(lambda x: x).trace(jnp.ones(3))
    assert run(traced)["trace"].product is traced
    lowered = traced.lower()
    stages = run(lowered)
    assert stages["trace"].status == "unavailable" and stages["lower"].product is lowered
    compiled = lowered.compile()
    stages = run(compiled)
    assert stages["lower"].status == "unavailable" and stages["compile"].product is compiled


def test_wrappers_that_only_lower():
    stages = run(jax.pmap(lambda x: x + 1), "f32[1,3]")
    assert stages["trace"].status == "unavailable" or stages["trace"].product.jaxpr
    assert stages["compile"].status == "done"


def test_an_exported_program_compiles():
    stages = run(jax.export.export(jax.jit(lambda x: x + 1))(jnp.ones(3)))
    assert stages["compile"].status == "done"


def test_meanwhile_runs_once_and_in_this_thread():
    threads = []
    run(lambda x: x + 1, "f32[3]", meanwhile=lambda: threads.append(threading.current_thread()))
    assert threads == [threading.current_thread()]


def test_nothing_is_executed(tmp_path):
    ran = tmp_path / "ran"

    def f(x):
        jax.debug.callback(lambda: ran.touch())
        return x

    array = jnp.ones(3)
    run(jax.jit(f, donate_argnums=0), array)
    assert not ran.exists() and not array.is_deleted()


def environment():
    """What must be the same before and after."""
    return dict(os.environ), dict(jax.config.values), jax.devices(), warnings.filters[:]


@pytest.mark.parametrize("function", [lambda x: x + 1, lambda x: x.nothing], ids=["done", "failed"])
def test_jax_is_left_as_it_was(function):
    before = environment()
    run(function, "f32[3]", target="cpu")
    assert environment() == before


def test_an_unknown_target_is_refused_before_any_work():
    with pytest.raises(InputError, match="no such backend is attached"):
        resolve_target("nonesuch")


def test_a_named_target_is_the_one_compiled_for():
    stages = run(lambda: jnp.ones(3), target="cpu")
    assert {device.platform for device in stages["compile"].product.runtime_executable().local_devices()} == {"cpu"}


def test_an_interrupt_returns_while_xla_still_compiles(monkeypatch):
    """The compile is made to take 20 s in a call that cannot be interrupted; the interrupt comes after 0.5 s."""
    ended = threading.Event()

    def slow(self, *args, **kwargs):
        ended.wait(20)

    monkeypatch.setattr(jax.stages.Lowered, "compile", slow)
    before = environment()
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    stages = run(lambda x: x + 1, "f32[3]")
    waited_s = time.monotonic() - start
    ended.set()
    assert isinstance(stages["compile"].error, KeyboardInterrupt)
    assert stages["lower"].status == "done"
    assert waited_s < 1.5, "the prompt must come back within a second of the interrupt"
    assert environment() == before
