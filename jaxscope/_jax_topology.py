"""Devices that are not there: what a compiler plugin says a machine looks like.

Problem: JAX offers compile-only devices through `jax.experimental.topologies`, and the plugins behind them read and
write what belongs to the process: the environment (libtpu asks a metadata server that is not there unless told not to)
and file descriptor 2 (both plugins write log lines to it as they start). Input: a `TopologySpec`. Output: its devices,
made once per process, with the process as it was before. Deletable when `jax.experimental.topologies` is stable and
the plugins are quiet. Tested on JAX 0.8, 0.10 and 0.12.
"""

import contextlib
import os
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from jax.experimental import topologies

from jaxscope._targets.model import TopologySpec
from jaxscope.errors import InputError

# libtpu asks a metadata server for its machine, for minutes where there is none; it reads this once, when it loads.
PLUGIN_ENVIRONMENT = {"tpu": {"TPU_SKIP_MDS_QUERY": "1"}}

_LOCK = threading.RLock()
_DEVICES: dict[TopologySpec, tuple[Any, ...]] = {}
_LOG_EXCERPT_CHARACTERS = 400


def topology_devices(spec: TopologySpec) -> tuple[Any, ...]:
    """The compile-only devices of a topology; the same objects at every call with an equal spec.

    Shardings over two descriptions of one topology do not mix, so there is one description per process.

    Raises:
        InputError: The plugin does not know such a machine, or is not there or cannot be loaded.
    """
    with _LOCK:
        if (known := _DEVICES.get(spec)) is not None:
            return known
        # JAX's own messages (a missing plugin is a RuntimeError) and the plugin's are the reason that is shown.
        with quiet_plugin(spec.platform) as log:
            try:
                devices = tuple(
                    topologies.get_topology_desc(
                        platform=spec.platform, topology_name=spec.topology_name, **dict(spec.options)
                    ).devices
                )
            except Exception as error:
                lines = " ".join(str(error).split()) or log()
                raise InputError(
                    f"Describing the machine {spec.topology_name!r} to the {spec.platform} compiler: it refused, "
                    f"{type(error).__name__}: {lines[:_LOG_EXCERPT_CHARACTERS]}. "
                    "Choose a target that jaxscope.targets() lists as available."
                ) from error
        _DEVICES[spec] = devices
        return devices


@contextlib.contextmanager
def quiet_plugin(platform: str) -> Iterator[Any]:
    """Keeps what a plugin does as it starts from the process: its environment variables and its log lines.

    Yields a function that returns what was written to file descriptor 2 meanwhile.
    """
    with _LOCK, changed_environment(PLUGIN_ENVIRONMENT.get(platform, {})), redirected_stderr() as log:
        yield log


@contextlib.contextmanager
def changed_environment(values: Mapping[str, str]) -> Iterator[None]:
    """Sets environment variables that have no value yet, and takes them out again."""
    added = [name for name in values if name not in os.environ]
    try:
        for name in added:
            os.environ[name] = values[name]
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


@contextlib.contextmanager
def redirected_stderr() -> Iterator[Any]:
    """Sends file descriptor 2 to a temporary file, for native code that writes to it directly.

    Python's own `sys.stderr` is flushed first and after, so that nobody's lines change their order. Where there is no
    descriptor 2 (a process without a console), nothing is done.
    """
    with _LOCK:
        try:
            saved = os.dup(2)
        except OSError:
            yield lambda: ""
            return
        with contextlib.ExitStack() as stack:
            stack.callback(os.close, saved)
            log = stack.enter_context(tempfile.TemporaryFile())

            def read() -> str:
                return os.pread(log.fileno(), 1 << 16, 0).decode(errors="replace")

            _flush()
            os.dup2(log.fileno(), 2)
            try:
                yield read
            finally:
                _flush()
                os.dup2(saved, 2)


def _flush() -> None:
    with contextlib.suppress(Exception):  # A closed or replaced stream is nobody's error here.
        sys.stderr.flush()
