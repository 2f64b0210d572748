"""The compile worker: what it gives is what JAX gives, and nothing that happens to it happens to its parent.

Most tests have it compile for the CPU, which every installation can; what plugins give is compared where they are.
"""

import gc
import os
import signal
import sys
import threading
import time
import warnings
import weakref
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxscope
from jaxscope import _jax_worker
from jaxscope._inputs import read_request
from jaxscope._jax_worker import compile_in_worker, is_for
from jaxscope._placement import place, place_request
from jaxscope._stages import run_stages
from jaxscope._targets import resolve_target
from jaxscope._targets.model import TopologySpec
from jaxscope._worker import Cancelled, Job, shared_worker
from jaxscope.errors import CompilerError, InputError, UnavailableError
from tests.plugins import without_places

HOST = TopologySpec("cpu", "host")
ABSENT = ("tpu:v5e:2x2", "cuda:h100")
PATIENCE_S = 60.0


def lower(function=lambda x: jnp.sin(x @ x).sum(), shape=(8, 8)):
    return jax.jit(function).lower(jax.ShapeDtypeStruct(shape, jnp.float32))


def endless(x):
    """XLA folds the convolution while it compiles, one product at a time: minutes, and a line in the log."""
    image = np.random.default_rng(0).random((1, 1, 500, 500), dtype=np.float32)
    return x + jax.lax.conv(image, image, (1, 1), "SAME")[0, 0, 0, 0]


def target_or_skip(name):
    target = resolve_target(name)
    if target.kind != "compile-only":
        pytest.skip(f"{name}: {target.reason}")
    return target


def lower_for(target, function, *types, mesh=None):
    """A lowering as `jaxscope.inspect` makes it."""
    placement = place(target, mesh)
    request = place_request(read_request(function, types, {}, placement.mesh), placement)
    stages = run_stages(request, target, placement=placement)
    for stage in (next(stages), next(stages)):
        if stage.error is not None:
            raise stage.error
    return stage.product


def wait_for(condition):
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def has_ended(pid):
    """Whether a process is gone, or only waits to be collected."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):  # the second: it ended between opening and reading
        return True


@pytest.fixture
def worker():
    """The worker, running and idle."""
    compile_in_worker(lower(), HOST)
    yield shared_worker()
    shared_worker().close()


@pytest.fixture
def hung(worker):
    """The worker, stopped: it will never answer, but signals that end a process still do."""
    os.kill(worker.pid, signal.SIGSTOP)
    return worker


class Background:
    """A compilation in a thread of its own."""

    def __init__(self, lowered=None, **options):
        self.job = Job()
        self.result = self.error = None
        self._work = lambda: compile_in_worker(lowered or lower(), HOST, job=self.job, **options)
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self):
        try:
            self.result = self._work()
        except BaseException as error:
            self.error = error

    def wait_until_served(self):
        wait_for(lambda: self.job._process is not None)

    def join(self):
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()
        return self.error


# What it gives.


def step(params, x):
    """Matrix products, a loop, a dropped argument and outputs in a dictionary."""
    hidden = jax.lax.fori_loop(0, 3, lambda _, h: jnp.tanh(h @ params["w"]), x)
    return {"loss": jnp.mean(hidden**2), "hidden": hidden.astype(jnp.bfloat16)}


def printing(x):
    jax.debug.print("{}", x.sum())
    return x + 1


PROGRAMS = {
    "step": (step, ({"w": "f32[256,256]", "unused": "s32[3]"}, "f32[64,256]"), None),
    "sharded": (lambda x, w: (x @ w).sum(0), ("f32[64,@d 128]", "f32[@d 128,256]"), {"d": 2}),
    "host callback": (printing, ("f32[8,128]",), None),
}


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("name", ABSENT)
def test_it_gives_what_the_compiler_gives_in_process(name, program):
    function, types, mesh = PROGRAMS[program]
    if name.startswith("cuda") and program == "host callback":
        pytest.skip("JAX lowers host callbacks for attached GPUs only")
    target = target_or_skip("cuda:h100:2" if mesh and name.startswith("cuda") else name)
    lowered = lower_for(target, function, *types, mesh=mesh)
    assert is_for(lowered, target.topology)
    compiled, own = compile_in_worker(lowered, target.topology).compiled, lowered.compile()
    assert type(compiled) is type(own) is jax.stages.Compiled
    assert compiled.as_text() == own.as_text()
    assert compiled.cost_analysis() == own.cost_analysis()
    ours, theirs = compiled.memory_analysis(), own.memory_analysis()
    fields = [field for field in dir(theirs) if not field.startswith("_")]
    assert {field: getattr(ours, field) for field in fields} == {field: getattr(theirs, field) for field in fields}
    for question in ("in_tree", "out_tree", "in_avals", "args_info", "out_info"):
        assert getattr(compiled, question) == getattr(own, question), question
    for question in ("input_shardings", "output_shardings", "input_formats", "output_formats"):
        assert getattr(compiled, question) == getattr(own, question), question
    ours, theirs = compiled.runtime_executable(), own.runtime_executable()
    assert [module.name for module in ours.hlo_modules()] == [module.name for module in theirs.hlo_modules()]
    for question in ("get_parameter_layouts", "get_output_layouts", "get_output_memory_kinds"):
        assert getattr(ours, question)() == getattr(theirs, question)()
    assert not hasattr(ours, "get_nonesuch") and not hasattr(ours, "serialize")


@pytest.mark.parametrize("name", ABSENT)
def test_an_inspection_for_absent_hardware_compiles_in_the_worker(name):
    target_or_skip(name)
    inspection = jaxscope.inspect(step, {"w": "f32[256,256]", "unused": "s32[3]"}, "f32[64,256]", target=name)
    assert inspection.error is None and inspection.hlo == inspection.lowered.compile().as_text()
    assert type(inspection.compiled.runtime_executable()).__module__ == _jax_worker.__name__
    assert inspection.stages["compile"].seconds > 0
    assert "HloModule" in str(inspection) and len(inspection.memory) and len(inspection.signature)


def test_the_cpu_compiles_the_same_program_there():
    lowered = lower()
    compiled, own = compile_in_worker(lowered, HOST).compiled, lowered.compile()
    # XLA prints maps in an order that differs between processes, and so are the ends of frames that have no column.
    assert sorted(without_places(compiled.as_text())) == sorted(without_places(own.as_text()))
    assert compiled.cost_analysis() == own.cost_analysis()
    ours, theirs = compiled.memory_analysis(), own.memory_analysis()
    for field in ("argument_size_in_bytes", "output_size_in_bytes", "temp_size_in_bytes", "peak_memory_in_bytes"):
        assert getattr(ours, field) == getattr(theirs, field)
    assert "serialized" not in repr(ours) and str(theirs.temp_size_in_bytes) in repr(ours)


def test_its_product_says_why_it_cannot_be_called():
    compiled = compile_in_worker(lower(), HOST).compiled
    with pytest.raises(UnavailableError, match="devices that are not attached"):
        compiled(jnp.ones((8, 8)))


def test_what_the_compiler_raises_is_raised_here():
    options = {"xla_no_such_flag": True}
    with pytest.raises(jax.errors.JaxRuntimeError) as there:
        compile_in_worker(lower(), HOST, options)
    with pytest.raises(jax.errors.JaxRuntimeError) as here:
        lower().compile(options)
    assert str(there.value) == str(here.value)


def test_the_lowering_stays_as_it_was():
    lowered = lower()
    before = dict(vars(lowered._lowering)), dict(lowered._lowering.compile_args)
    compile_in_worker(lowered, HOST)
    assert (vars(lowered._lowering), lowered._lowering.compile_args) == before
    assert lowered.compile()(jnp.ones((8, 8))).shape == ()


def test_what_it_gave_is_not_kept_by_jax():
    lowered = lower()
    compiled = compile_in_worker(lowered, HOST).compiled
    kept = weakref.ref(compiled.runtime_executable())
    del compiled
    gc.collect()
    assert kept() is None


def test_a_lowering_kept_in_another_way_is_refused():
    with pytest.raises(UnavailableError, match="keeps a lowering in another way"):
        compile_in_worker(object(), HOST)


def test_dump_files_come_back_and_their_folder_goes(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    product = compile_in_worker(lower(), HOST, dump=["*buffer-assignment.txt", "*.nonesuch"])
    assert product.dump and all(name.endswith("buffer-assignment.txt") for name in product.dump)
    assert all(b"allocation" in data for data in product.dump.values())
    assert not any("nonesuch" in name for name in product.dump)
    assert compile_in_worker(lower(), HOST).dump == {}
    with pytest.raises(jax.errors.JaxRuntimeError):
        compile_in_worker(lower(), HOST, {"xla_no_such_flag": True}, dump=["*"])
    assert not list(tmp_path.glob("jaxscope-*"))


@pytest.mark.parametrize("name", ABSENT)
def test_dump_files_of_absent_hardware(name):
    target = target_or_skip(name)
    lowered = lower_for(target, step, {"w": "f32[256,256]", "unused": "s32[3]"}, "f32[64,256]")
    product = compile_in_worker(lowered, target.topology, dump=["*buffer-assignment.txt", "*live-range.txt"])
    assert len(product.dump) >= 2
    assert product.compiled.as_text() == compile_in_worker(lowered, target.topology).compiled.as_text()


# How it ends.


def test_a_program_that_takes_its_compiler_down_fails_alone():
    """2**62 bytes and more: JAX up to 0.10 aborts, later ones raise."""
    lowered = lower(lambda x: x + 1, (1 << 31, 1 << 31))
    with pytest.raises((CompilerError, jax.errors.JaxRuntimeError)) as caught:
        compile_in_worker(lowered, HOST)
    if isinstance(caught.value, CompilerError):
        assert "it was ended by SIG" in str(caught.value) and "change the program" in str(caught.value)
    assert compile_in_worker(lower(), HOST).compiled.as_text()


def test_an_abort_while_compiling_is_told_with_the_log(capfd):
    background = Background(lower(endless, (8,)))
    background.wait_until_served()
    worker = shared_worker()
    wait_for(lambda: b"folding" in os.pread(worker._log.fileno(), 1 << 20, 0))
    os.kill(worker.pid, signal.SIGABRT)
    message = str(background.join())
    assert message.startswith("Compiling in a process of its own: it was ended by SIGABRT before there was a result.")
    assert "change the program or its compiler options" in message and "folding" in message
    assert capfd.readouterr() == ("", ""), "the compiler's log never reaches the notebook"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV], ids=lambda number: number.name)
def test_a_worker_ended_by_a_signal_is_replaced(hung, number):
    pid, background = hung.pid, Background()
    background.wait_until_served()
    os.kill(pid, number)
    os.kill(pid, signal.SIGCONT)
    assert isinstance(background.join(), CompilerError) and number.name in str(background.error)
    assert compile_in_worker(lower(), HOST).seconds > 0
    assert hung.pid not in (pid, None)


def test_a_worker_that_ended_while_idle_is_replaced_in_silence(worker):
    pid = worker.pid
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: worker.pid is None)
    assert compile_in_worker(lower(), HOST).seconds > 0
    assert worker.pid not in (pid, None)


def test_it_is_used_again(worker):
    pid = worker.pid
    compile_in_worker(lower(), HOST)
    assert worker.pid == pid


def test_the_time_limit_ends_it(hung):
    pid = hung.pid
    with pytest.raises(CompilerError, match=r"time limit of 0.2 s. Pass a larger time_limit_s, or None"):
        compile_in_worker(lower(), HOST, time_limit_s=0.2)
    assert has_ended(pid) and hung.pid is None


def test_no_time_limit():
    assert compile_in_worker(lower(), HOST, time_limit_s=None).seconds > 0


@pytest.mark.parametrize("value", [0, -1.0, "10", True, float("nan")])
def test_a_time_limit_that_is_none_is_refused(value):
    with pytest.raises(InputError, match="not a number of seconds above 0"):
        jaxscope.inspect(lambda x: x, 1.0, time_limit_s=value)


def test_cancelling_ends_a_compilation_at_once():
    background = Background(lower(endless, (8,)))
    background.wait_until_served()
    pid = shared_worker().pid
    background.job.cancel()
    assert isinstance(background.join(), Cancelled) and has_ended(pid)
    assert compile_in_worker(lower(), HOST).seconds > 0


def test_cancelling_one_that_waits_for_its_turn_leaves_the_other_alone(hung):
    pid, first = hung.pid, Background()
    first.wait_until_served()
    second = Background()
    second.job.cancel()
    assert isinstance(second.join(), Cancelled) and second.job._process is None
    os.kill(pid, signal.SIGCONT)
    assert first.join() is None and first.result.seconds > 0 and hung.pid == pid


def test_two_threads_share_one_worker(worker):
    pid, both = worker.pid, [Background(), Background()]
    assert [background.join() for background in both] == [None, None]
    assert all(background.result.compiled.as_text() for background in both) and worker.pid == pid


@pytest.mark.parametrize("name", ABSENT)
def test_an_interrupt_ends_the_compilation(name):
    """As Ctrl-C in a notebook does it: the stage fails, the prompt is back, nothing goes on in the background."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        pytest.skip("interrupts are ignored here, as in what a shell runs in the background")
    target = target_or_skip(name)
    placement = place(target)
    request = place_request(read_request(lambda x: x + 1, ("f32[8]",), {}), placement)
    compile_in_worker(lower(), HOST)
    os.kill(shared_worker().pid, signal.SIGSTOP)
    pid = shared_worker().pid
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    stages = {}
    for stage in run_stages(request, target, placement=placement):
        stages[stage.key] = stage
        if stage.key == "lower":
            timer.start()
    assert isinstance(stages["compile"].error, KeyboardInterrupt) and stages["lower"].status == "done"
    wait_for(lambda: has_ended(pid))
    wait_for(lambda: not any(thread.name == "jaxscope-compile" for thread in threading.enumerate()))


# What it leaves alone.


def test_the_parent_is_left_as_it_was(capfd):
    def state():
        return dict(os.environ), dict(jax.config.values), list(sys.path), jax.devices(), warnings.filters[:], Path.cwd()

    before = state()
    shared_worker().close()
    _jax_worker.prepare_worker(HOST)
    compile_in_worker(lower(), HOST)
    shared_worker().close()
    assert state() == before and capfd.readouterr() == ("", "")


def test_a_python_that_cannot_be_started_is_told(worker, monkeypatch):
    worker.close()
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    with pytest.raises(CompilerError, match="Starting a process to compile in: /nonexistent/python gave FileNotFound"):
        compile_in_worker(lower(), HOST)
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(CompilerError, match="no interpreter"):
        compile_in_worker(lower(), HOST)
