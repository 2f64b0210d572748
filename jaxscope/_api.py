"""`show` and `inspect`: the two functions that know the whole way from a function to a picture.

Input: what the user typed. Output: an `Inspection`, and for `show` exactly one display, live while the stages run.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jaxscope._analysis.call_key import CallKey, call_key
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._facts import Facts
from jaxscope._inputs import Request, read_call, read_request, refuse_collisions
from jaxscope._inspection import Inspection
from jaxscope._placement import Placement, place, place_request
from jaxscope._programs import Programs
from jaxscope._stages import run_stages
from jaxscope._targets import resolve_target, resolve_targets
from jaxscope._worker import DEFAULT_TIME_LIMIT_S
from jaxscope.errors import InputError


def show(
    f: Callable[..., Any],
    /,
    *args: Any,
    target: Any = None,
    targets: Any = None,
    call: Any = None,
    compiler_options: Mapping[str, Any] | None = None,
    mesh: Any = None,
    strict: bool = False,
    time_limit_s: float | None = DEFAULT_TIME_LIMIT_S,
    **kwargs: Any,
) -> Inspection:
    """Traces, lowers and compiles a function, and displays what each stage made of it while it happens.

    Nothing is executed and no argument is kept: arrays are reduced to their types at once.

    Args:
        f: Anything that `jax.jit` takes, a jitted function, a bound method, another library's jit wrapper (with
            ``.trace`` or ``.lower``), a `jax.stages` object or a `jax.export.Exported`.
        *args: Arguments of `f`: arrays, `jax.ShapeDtypeStruct`, Python scalars (weak types are kept), pytrees of these,
            strings such as ``"f32[8,128]"`` or ``"bf16[8,@data 128]"``, and plain values for static parameters.
        target: Where to compile: None for JAX's own choice, a platform such as ``"cpu"``, a `jax.Device`, or a machine
            that need not be there, such as ``"tpu:v5e:4x4"`` or ``"cuda:h100:8"`` (`jaxscope.targets` lists them).
        targets: Several of these at once, ``["cpu", "cuda:h100"]``: one inspection with a column for each.
        call: A call to compare with the signature: a tuple of positional arguments or a dict of keyword arguments.
        compiler_options: XLA options, as for `jax.stages.Lowered.compile`.
        mesh: A dict of axis sizes such as ``{"data": 4, "model": 2}``, laid over the target's devices, or a
            `jax.sharding.Mesh`; for strings that name its axes and functions that use it. None for the mesh in context.
        strict: Whether to raise the exception of a stage that fails, after displaying it.
        time_limit_s: The longest that a compiler for hardware that is not attached may take, in seconds; None for no
            limit. It runs in a process of its own, which is ended then. Attached hardware has no limit.
        **kwargs: Keyword arguments of `f`.

    Returns:
        The inspection: texts, tables, JAX's own stage objects.

    Raises:
        jaxscope.errors.InputError: Bad input to jaxscope itself, before any work.
        Exception: With `strict`, what the failing stage raised.
    """
    work = _Work(f, args, kwargs, target, targets, call, compiler_options, mesh, strict, time_limit_s)
    del args, kwargs, call  # the traceback of a failed stage may keep this frame, and nothing else may keep the arrays
    return work.run(live=True)


def inspect(
    f: Callable[..., Any],
    /,
    *args: Any,
    target: Any = None,
    targets: Any = None,
    call: Any = None,
    compiler_options: Mapping[str, Any] | None = None,
    mesh: Any = None,
    strict: bool = False,
    time_limit_s: float | None = DEFAULT_TIME_LIMIT_S,
    **kwargs: Any,
) -> Inspection:
    """Does what `show` does without displaying anything; the result shows itself when it is the value of a cell.

    Arguments, result and errors are those of `show`.
    """
    work = _Work(f, args, kwargs, target, targets, call, compiler_options, mesh, strict, time_limit_s)
    del args, kwargs, call
    return work.run(live=False)


def _callers() -> frozenset[tuple[str, int]]:
    """The places, (file, line), that led to this inspection: they are not part of the program it looks at."""
    places, frame = [], sys._getframe(1)
    while frame is not None:
        places.append((frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return frozenset(places)


def _first_call(request: Request) -> CallKey | Unavailable:
    """What jit compares of the inspected call as this process would make it: before it is moved to a target."""
    try:
        return call_key(request.function, request.args, request.kwargs)
    except Exception as error:
        # No reason to show nothing.
        return Unavailable(f"Reading the inspected call as jit does: {type(error).__name__}: {error}.")


def _refuse_time_limit(time_limit_s: Any) -> None:
    is_number = isinstance(time_limit_s, int | float) and not isinstance(time_limit_s, bool)
    if time_limit_s is not None and not (is_number and time_limit_s > 0):
        raise InputError(
            f"Reading the option time_limit_s=: {time_limit_s!r} is not a number of seconds above 0. "
            "Give one, or None for no limit."
        )


class _Work:
    """One call of `show` or `inspect`: all input is read, and refused if need be, before `run` begins."""

    def __init__(
        self,
        f: Any,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        target: Any,
        targets: Any,
        call: Any,
        compiler_options: Mapping[str, Any] | None,
        mesh: Any,
        strict: bool,
        time_limit_s: float | None,
    ):
        options = {"target": target, "targets": targets, "call": call, "compiler_options": compiler_options}
        given_limit_s = None if time_limit_s == DEFAULT_TIME_LIMIT_S else time_limit_s
        refuse_collisions(f, {**options, "mesh": mesh, "strict": strict, "time_limit_s": given_limit_s})
        _refuse_time_limit(time_limit_s)
        self._callers = _callers()
        self._compiler_options = compiler_options
        self._mesh = mesh
        self._strict = strict
        self._time_limit_s = time_limit_s
        self._call = read_call(call)
        placements = [place(wanted, mesh) for wanted in resolve_targets(target, targets)]
        requests = [read_request(f, args, kwargs, placement.mesh) for placement in placements]
        self._jobs = [self._job(request, placement) for request, placement in zip(requests, placements, strict=True)]
        # Types and no arrays, so it can be kept for a target that is chosen later; a wrapper gets its arguments as they
        # are, and a finished stage is for one target.
        self._request = requests[0] if requests[0].kind in ("plain", "jitted") else None

    def _job(self, request: Request, placement: Placement) -> "_Job":
        placed = place_request(request, placement)
        first_call = _first_call(request)
        facts = Facts(placed, placement.target, self._callers, self._compiler_options, request.function, first_call)
        return _Job(facts, placed, placement, self._compiler_options, self._time_limit_s)

    def _job_for(self, target: Any) -> "_Job":
        """What there is to do for one more target."""
        assert self._request is not None, "only asked for where it is known"
        return self._job(self._request, place(resolve_target(target), self._mesh))

    def run(self, *, live: bool) -> Inspection:
        """Runs the stages for one target after the other, with a picture if `live`."""
        jobs, self._jobs = self._jobs, []
        programs = Programs(*(job.facts for job in jobs))
        inspection = Inspection(programs, self._job_for if self._request is not None else None)
        display = inspection._display if live else None
        jobs[0].facts.begin()
        if display is not None:
            display.open()
        while jobs:
            # Nothing holds a finished one: it may keep the arguments of another library's wrapper.
            inspection._run(jobs.pop(0), display)
        if self._call is not None:
            for facts in programs:
                facts.take_call(*self._call)
            self._call = None
        if display is not None:
            display.close()
        if inspection.error is not None and self._strict:
            raise inspection.error
        return inspection


@dataclass
class _Job:
    """What is to be run for one target, and where its facts go."""

    facts: Facts
    request: Request | None
    placement: Placement
    compiler_options: Mapping[str, Any] | None
    time_limit_s: float | None

    def run(self, meanwhile: Callable[[], None] | None) -> Iterator[None]:
        """Runs the stages; yields after each. `meanwhile` is called once while XLA compiles."""
        request, self.request = self.request, None
        assert request is not None, "a job is run once"
        self.facts.begin()
        stages = run_stages(
            request, self.facts.target, self.compiler_options, meanwhile, self.placement, self.time_limit_s
        )
        del request
        for stage in stages:
            self.facts.finish(stage)
            yield
