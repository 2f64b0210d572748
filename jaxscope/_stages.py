"""Runs trace, lower and compile, and keeps what each gave: a product or the exception, never both, never neither.

Problem: later stages need earlier ones, any of them can raise, compilation can take minutes and must not hold the
prompt, and some inputs would take the whole process down. Input: a `Request` and where it is placed. Output: one
`Stage` per step, yielded as it finishes.
"""

import contextlib
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from jaxscope import _jax, _jax_topology, _jax_worker
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._failures import message_of
from jaxscope._inputs import Request
from jaxscope._jax_failures import NOTHING_TRACED, partial_jaxpr, refuse_leaked_tracers
from jaxscope._placement import Placement, place
from jaxscope._targets import Target
from jaxscope._truncations import Truncation, noted_truncations, truncations_of
from jaxscope._worker import DEFAULT_TIME_LIMIT_S, Job
from jaxscope.errors import UnavailableError

Status = Literal["done", "failed", "not reached", "unavailable"]

# XLA's byte counts are signed 64-bit: beyond this they overflow, and JAX up to 0.10 takes the process down with them.
MAXIMUM_ARRAY_BYTES = 2**62
_JOIN_SECONDS = 0.05


@dataclass(frozen=True)
class StageSpec:
    """What is fixed about a stage: its key, the titles people read, and the dialect of its text."""

    key: str
    title: str
    dialect: str
    unit: tuple[str, str]


STAGES = (
    StageSpec("trace", "Jaxpr", "jaxpr", ("equation", "equations")),
    StageSpec("lower", "StableHLO", "stablehlo", ("op", "ops")),
    StageSpec("compile", "Compiled HLO", "hlo", ("instruction", "instructions")),
)


@dataclass(frozen=True)
class Stage:
    """One step of jit.

    Attributes:
        key: ``trace``, ``lower`` or ``compile``.
        status: ``done``; ``failed`` (see `error`); ``not reached``; or ``unavailable`` (see `reason`): left out on
            purpose.
        product: JAX's own `Traced`, `Lowered` or `Compiled`; None unless done.
        seconds: What JAX took for it; None where it did not run.
        error: The very exception that was raised.
        reason: Why there is no product although nothing failed.
        warnings: What Python's `warnings` were given meanwhile.
        truncations: The 64-bit types that were asked for and cut meanwhile.
    """

    key: str
    status: Status
    product: Any = None
    seconds: float | None = None
    error: BaseException | None = None
    reason: str = ""
    warnings: tuple[str, ...] = ()
    truncations: tuple[Truncation, ...] = ()

    @property
    def partial_jaxpr(self) -> str:
        """The jaxprs up to the equation at which tracing failed, one for each function that was being traced.

        Raises:
            UnavailableError: Tracing did not fail, or JAX kept nothing of it.
        """
        partial = partial_jaxpr(self.error) if self.error is not None else NOTHING_TRACED
        if isinstance(partial, Unavailable):
            raise UnavailableError(
                f"Reading the jaxpr up to the failure of the {self.key} stage: {partial.reason} "
                "inspection.jaxpr gives the whole one where tracing succeeded."
            )
        return partial.text


def run_stages(
    request: Request,
    target: Target,
    compiler_options: Mapping[str, Any] | None = None,
    meanwhile: Callable[[], None] | None = None,
    placement: Placement | None = None,
    time_limit_s: float | None = DEFAULT_TIME_LIMIT_S,
) -> Iterator[Stage]:
    """Runs the stages in order, yielding each as it finishes; always yields all three.

    `meanwhile` is called once in the calling thread while XLA compiles in another: time that would only be waited.
    `placement` is where the request was placed; by default, on the bare target.
    `time_limit_s` holds for compiling in the worker, where programs for hardware that is not here are compiled: those
    compilers may abort or never end. What is attached is compiled for in this process, where its program can be called.

    Exceptions become failed stages. `KeyboardInterrupt` is yielded as a failed stage too, and the rest as not reached:
    the caller decides whether to raise it again.
    """
    if target.topology is not None and target.kind == "compile-only" and request.kind != "compiled":
        _jax_worker.prepare_worker(target.topology)  # It loads JAX and the plugin while this process traces.
    steps = _Steps(request, placement or place(target), compiler_options, meanwhile, time_limit_s)
    blocked = ""
    for spec, step in zip(STAGES, (steps.trace, steps.lower, steps.compile), strict=True):
        stage = _attempt(spec.key, step) if not blocked else Stage(spec.key, "not reached", reason=blocked)
        if stage.key == "compile" and steps.compile_seconds is not None:
            stage = replace(stage, seconds=steps.compile_seconds)
        if stage.key == "trace" and stage.product is not None:
            stage = replace(stage, truncations=truncations_of(stage.product.jaxpr, stage.truncations))
        if stage.status in ("failed", "not reached"):
            blocked = blocked or f"{spec.title} failed, so this stage was not reached."
        yield stage


def _attempt(key: str, step: Callable[[], Any]) -> Stage:
    with _recorded_warnings() as (caught, truncations):
        # The user's filters stay in force: what they turn into errors is an error here too.
        start = time.perf_counter()
        try:
            product = step()
        except _LeftOut as reason:
            return Stage(key, "unavailable", reason=str(reason))
        except (Exception, KeyboardInterrupt) as error:
            seconds = time.perf_counter() - start
            return Stage(key, "failed", None, seconds, error, message_of(error), _texts(caught))
        seconds = time.perf_counter() - start
    return Stage(key, "done", product, seconds, warnings=_texts(caught), truncations=tuple(truncations))


_RECORDING = threading.RLock()


@contextlib.contextmanager
def _recorded_warnings() -> Iterator[tuple[list[warnings.WarningMessage], list[Truncation]]]:
    """Collects what Python's `warnings` are given, and the truncations among them; nothing while another thread does.

    Python keeps one recorder for the whole process: two that overlap would leave the wrong one in place for good.
    """
    if not _RECORDING.acquire(blocking=False):
        yield [], []
        return
    try:
        with warnings.catch_warnings(record=True) as caught, noted_truncations() as truncations:
            yield caught, truncations
    finally:
        _RECORDING.release()


def _texts(caught: list[warnings.WarningMessage]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f"{item.category.__name__}: {item.message}" for item in caught))


class _LeftOut(Exception):
    """A step that is not taken, and why; no function of the user's can raise it."""


class _Steps:
    """The three steps for one request; holds the arguments only until they are traced."""

    def __init__(
        self,
        request: Request,
        placement: Placement,
        compiler_options: Mapping[str, Any] | None,
        meanwhile: Callable[[], None] | None,
        time_limit_s: float | None,
    ):
        self._meanwhile = meanwhile
        self._time_limit_s = time_limit_s
        self._request: Request | None = request
        self._kind = request.kind
        self._name = request.name
        self._placement = placement
        self._target = target = placement.target
        defaults = _jax_topology.compiler_defaults(target.topology) if target.topology is not None else {}
        self._options = {**defaults, **(compiler_options or {})} or None
        self._traced: Any = None
        self._lowered: Any = None
        self._compiled: Any = None
        # What XLA took, which may be less than what `meanwhile` took.
        self.compile_seconds: float | None = None

    def trace(self) -> Any:
        request, self._request = self._request, None
        if request.refusal is not None:
            raise request.refusal
        if request.kind in ("lowered", "compiled"):
            setattr(self, f"_{request.kind}", request.function)
            raise _LeftOut(_gone(request.kind, "jaxpr"))
        if request.kind == "traced":
            self._traced = request.function
        elif hasattr(request.function, "trace"):
            with self._placement.tracing():
                self._traced = _jax.unwrap_stage(request.function.trace(*request.args, **request.kwargs))
        if not hasattr(self._traced, "jaxpr"):
            # Another library's wrapper without .trace (Equinox, pmap): its .lower does both steps.
            self._traced, self._request = None, request
            raise _LeftOut(
                f"{request.name} is compiled through its own .lower, which does not give the jaxpr. "
                "Inspect the function inside it to see one."
            )
        return self._traced

    def lower(self) -> Any:
        if self._compiled is not None:
            raise _LeftOut(_gone("compiled", "StableHLO"))
        if self._request is not None:
            request, self._request = self._request, None
            if self._placement.lowering_platforms is not None:
                raise _LeftOut(
                    f"{request.name} is lowered through its own .lower, which takes no platform, and only a compiler "
                    f"describes devices of {self._target.name}. Inspect the function inside it. {self._target.reason}"
                )
            with self._placement.lowering():
                self._lowered = _jax.unwrap_stage(request.function.lower(*request.args, **request.kwargs))
        elif self._lowered is None:
            refuse_leaked_tracers(self._traced)
            platforms = self._placement.lowering_platforms
            with self._placement.lowering():
                self._lowered = self._traced.lower(**({"lowering_platforms": platforms} if platforms else {}))
        self._placement.check_lowered(self._lowered, self._name)
        return self._lowered

    def compile(self) -> Any:
        if self._compiled is None:
            try:
                self._refuse_what_cannot_be_compiled()
            except _LeftOut:
                raise
            except Exception as error:  # Not the compiler's fault, and must not look like it.
                raise _LeftOut(
                    f"Looking over the program before compiling it: jaxscope itself raised {type(error).__name__}: "
                    f"{error}. Please report this as a bug of jaxscope; inspection.lowered.compile() compiles without."
                ) from error
            topology = self._target.topology
            if topology is not None and _jax_worker.is_for(self._lowered, topology):
                job = Job()
                self._compiled = in_background(lambda: self._compile_elsewhere(job), self._meanwhile, job.cancel)
            else:
                self._compiled = in_background(self._compile_lowered, self._meanwhile)
        self._placement.check_compiled(self._compiled, self._lowered, self._name)
        return self._compiled

    def _compile_elsewhere(self, job: Job) -> Any:
        try:
            product = _jax_worker.compile_in_worker(
                self._lowered, self._target.topology, self._options, job, self._time_limit_s
            )
        except UnavailableError as error:
            raise _LeftOut(str(error)) from error
        self.compile_seconds = product.seconds
        return product.compiled

    def _compile_lowered(self) -> Any:
        start = time.perf_counter()
        try:
            return _jax.unwrap_stage(self._lowered.compile(compiler_options=self._options))
        finally:
            self.compile_seconds = time.perf_counter() - start

    def _refuse_what_cannot_be_compiled(self) -> None:
        if self._target.kind == "lower-only":
            raise _LeftOut(self._target.reason)
        platforms = _jax.platforms_of(self._lowered)
        if len(platforms) > 1:
            raise _LeftOut(
                f"Lowered for several platforms ({', '.join(platforms)}): such a module is for jax.export, and XLA "
                "compiles for one. Lower for one platform to compile it."
            )
        # The arguments' devices decide, and they need not be the target's.
        here = _jax.compiling_platform(self._lowered) or self._target.platform
        if platforms and here not in platforms and not _same_family(platforms[0], here):
            raise _LeftOut(
                f"Lowered for {platforms[0]}, but JAX would compile it for {here} without a word. "
                f"Lower for {here} to compile it here."
            )
        if self._traced is not None and hasattr(self._traced, "jaxpr"):
            for aval in _jax.all_avals(self._traced.jaxpr):
                if (size_bytes := _jax.size_bytes(aval)) is not None and size_bytes >= MAXIMUM_ARRAY_BYTES:
                    raise _LeftOut(
                        f"Not compiled: {aval.str_short()} takes {size_bytes:.3g} bytes, and XLA counts bytes in 63 "
                        "bits (JAX 0.10 and older abort the process). Check the shape."
                    )


def _gone(kind: str, text: str) -> str:
    return (
        f"A jax.stages.{kind.title()} was handed over, and it no longer holds its {text}. "
        "Hand over the function to see it."
    )


def _same_family(one: str, other: str) -> bool:
    gpu = {"gpu", "cuda", "rocm"}
    return one in gpu and other in gpu


def in_background(
    work: Callable[[], Any], meanwhile: Callable[[], None] | None, cancel: Callable[[], None] = lambda: None
) -> Any:
    """Runs `work` in a thread while this one waits in short joins, so that an interrupt returns at once.

    XLA holds no lock of Python's while it compiles, but a thread inside it cannot be interrupted; after an interrupt,
    which calls `cancel`, it ends on its own. The thread is no daemon: a process that ended under it would abort.
    """
    outcome: list[Any] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(work())
        except BaseException as error:  # Carried to the waiting thread, whatever it is.
            failure.append(error)

    thread = threading.Thread(target=run, name="jaxscope-compile")
    thread.start()
    try:
        if meanwhile is not None:
            # An error in it is not the compiler's. The caller does the same work again at the end, where it shows.
            with contextlib.suppress(Exception):
                meanwhile()
        while thread.is_alive():
            thread.join(_JOIN_SECONDS)
    except BaseException:
        cancel()
        raise
    if failure:
        raise failure[0]
    return outcome[0]
