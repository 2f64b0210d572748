"""`show` and `inspect`: the two functions that know the whole way from a function to a picture.

Input: what the user typed. Output: an `Inspection`, and for `show` exactly one display, live while the stages run.
"""

import sys
from collections.abc import Callable, Mapping
from typing import Any

from jaxscope._facts import Facts
from jaxscope._inputs import Request, read_call, read_request, refuse_collisions
from jaxscope._inspection import Inspection
from jaxscope._placement import place, place_request
from jaxscope._programs import Programs
from jaxscope._stages import run_stages
from jaxscope._targets import resolve_target


def show(
    f: Callable[..., Any],
    /,
    *args: Any,
    target: Any = None,
    call: Any = None,
    compiler_options: Mapping[str, Any] | None = None,
    mesh: Any = None,
    strict: bool = False,
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
        call: A call to compare with the signature: a tuple of positional arguments or a dict of keyword arguments.
        compiler_options: XLA options, as for `jax.stages.Lowered.compile`.
        mesh: A dict of axis sizes such as ``{"data": 4, "model": 2}``, laid over the target's devices, or a
            `jax.sharding.Mesh`; for strings that name its axes and functions that use it. None for the mesh in context.
        strict: Whether to raise the exception of a stage that fails, after displaying it.
        **kwargs: Keyword arguments of `f`.

    Returns:
        The inspection: texts, tables, JAX's own stage objects.

    Raises:
        jaxscope.errors.InputError: Bad input to jaxscope itself, before any work.
        Exception: With `strict`, what the failing stage raised.
    """
    work = _Work(f, args, kwargs, target, call, compiler_options, mesh, strict)
    del args, kwargs, call  # the traceback of a failed stage may keep this frame, and nothing else may keep the arrays
    return work.run(live=True)


def inspect(
    f: Callable[..., Any],
    /,
    *args: Any,
    target: Any = None,
    call: Any = None,
    compiler_options: Mapping[str, Any] | None = None,
    mesh: Any = None,
    strict: bool = False,
    **kwargs: Any,
) -> Inspection:
    """Does what `show` does without displaying anything; the result shows itself when it is the value of a cell.

    Arguments, result and errors are those of `show`.
    """
    work = _Work(f, args, kwargs, target, call, compiler_options, mesh, strict)
    del args, kwargs, call
    return work.run(live=False)


def _callers() -> frozenset[tuple[str, int]]:
    """The places, (file, line), that led to this inspection: they are not part of the program it looks at."""
    places, frame = [], sys._getframe(1)
    while frame is not None:
        places.append((frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return frozenset(places)


class _Work:
    """One call of `show` or `inspect`: all input is read, and refused if need be, before `run` begins."""

    def __init__(
        self,
        f: Any,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        target: Any,
        call: Any,
        compiler_options: Mapping[str, Any] | None,
        mesh: Any,
        strict: bool,
    ):
        options = {"target": target, "call": call, "compiler_options": compiler_options, "mesh": mesh, "strict": strict}
        refuse_collisions(f, options)
        self._placement = place(resolve_target(target), mesh)
        request = read_request(f, args, kwargs, self._placement.mesh)
        self._request: Request | None = place_request(request, self._placement)
        self._call = read_call(call)
        self._facts = Facts(self._request, self._placement.target, _callers())
        self._compiler_options = compiler_options
        self._strict = strict

    def run(self, *, live: bool) -> Inspection:
        """Runs the stages, with a picture if `live`."""
        facts, request = self._facts, self._request
        inspection = Inspection(Programs(facts))
        display = inspection._display if live else None
        facts.begin()
        if display is not None:
            display.open()
        stages = run_stages(
            request,
            facts.target,
            self._compiler_options,
            display.refresh if display is not None else None,
            self._placement,
        )
        request = self._request = None
        try:
            for stage in stages:
                facts.finish(stage)
                if display is not None and facts.running is not None:
                    display.refresh_view()
        except KeyboardInterrupt:
            # Within a stage it is that stage's failure; this one came between two, and would leave the rest running.
            facts.stop("Interrupted before this stage began.")
            if display is not None:
                display.close(embed=False)
            raise
        if self._call is not None:
            facts.mismatches = inspection.check(*self._call[0], **self._call[1]).mismatches
            self._call = None
        interrupted = isinstance(facts.error, KeyboardInterrupt)
        if display is not None:
            # After an interrupt the prompt comes first: listings are then made when they are opened.
            display.close(embed=not interrupted)
        if facts.error is not None and (self._strict or interrupted):
            raise facts.error
        return inspection
