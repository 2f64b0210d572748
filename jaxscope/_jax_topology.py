"""Devices that are not there: what a compiler plugin says a machine looks like.

Problem: JAX offers compile-only devices through `jax.experimental.topologies`, and the plugins behind them read and
write what belongs to the process: the environment (libtpu asks a metadata server that is not there unless told not to)
and file descriptor 2 (both plugins write log lines to it as they start). Input: a `TopologySpec`. Output: its devices,
made once per process, with the process as it was before. Deletable when `jax.experimental.topologies` is stable and
the plugins are quiet. Tested on JAX 0.8, 0.10 and 0.12.
"""

import contextlib
import functools
import importlib
import os
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from typing import Any

import jax
from jax.experimental import topologies

from jaxscope._targets.model import TopologySpec
from jaxscope.errors import InputError

# Read once, while the plugins load. libtpu asks a metadata server for its machine, for minutes where there is none, and
# lets one process at a time load it, for the sake of a TPU that is not touched here. The CUDA plugin of JAX 0.8 refuses
# to start without NVIDIA's libraries, which only running a program needs.
PLUGIN_ENVIRONMENT = {
    "tpu": {"TPU_SKIP_MDS_QUERY": "1", "ALLOW_MULTIPLE_LIBTPU_LOAD": "1"},
    "cuda": {"JAX_SKIP_CUDA_CONSTRAINTS_CHECK": "1"},
}
# The modules of the plugins, newest first; a plugin that is there is found without loading it.
PLUGIN_MODULES = {
    "tpu": ("libtpu",),
    "cuda": ("jax_plugins.xla_cuda13", "jax_plugins.xla_cuda12"),
    "rocm": ("jax_plugins.xla_rocm7", "jax_plugins.xla_rocm60"),
}

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
                devices = _describe(spec)
            except Exception as error:
                lines = " ".join(str(error).split()) or log()
                raise InputError(
                    f"Describing the machine {spec.topology_name!r} to the {spec.platform} compiler: it refused, "
                    f"{type(error).__name__}: {lines[:_LOG_EXCERPT_CHARACTERS]}. "
                    "Choose another that jaxscope.targets() lists."
                ) from error
        _DEVICES[spec] = devices
        return devices


def _describe(spec: TopologySpec) -> tuple[Any, ...]:
    make = functools.partial(
        topologies.get_topology_desc, platform=spec.platform, topology_name=spec.topology_name, **dict(spec.options)
    )
    try:
        return tuple(make().devices)
    except NotImplementedError:
        # JAX looks for plugins once: one that refused then, for want of its hardware's libraries, is asked again.
        if not _initialize_again(spec.platform):
            raise
        return tuple(make().devices)


def _initialize_again(platform: str) -> bool:
    """Starts the plugin of a platform that JAX failed to start; False where there is none.

    Plugins are modules with `initialize`, in the namespace package ``jax_plugins``. Deletable with JAX 0.8.
    """
    module = next((found for found in map(_plugin_module, PLUGIN_MODULES.get(platform, ())) if found), None)
    if module is None:
        return False
    module.initialize()
    return True


def _plugin_module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


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


def start_backends() -> None:
    """Starts JAX's backends, as the first array would, without the complaints of plugins whose hardware is not here.

    A plugin installed for its compiler alone is no mistake: on a machine without accelerators, JAX prints a traceback
    for the CUDA plugin and libtpu its log. Where there is an accelerator, nothing is held back. Deletable when JAX
    starts quietly beside plugins without hardware.
    """
    from jax._src import hardware_utils, xla_bridge

    with _LOCK:
        if xla_bridge.backends_are_initialized():
            return
        if hardware_utils.has_visible_nvidia_gpu() or hardware_utils.num_available_tpu_chips_and_device_id()[0]:
            return  # JAX starts them when they are asked for.
        with contextlib.ExitStack() as stack:
            for platform in PLUGIN_ENVIRONMENT:
                stack.enter_context(changed_environment(PLUGIN_ENVIRONMENT[platform]))
            stack.enter_context(redirected_stderr())
            with contextlib.suppress(RuntimeError):  # Asked again, JAX says what is wrong to whoever asks.
                jax.devices()


def is_attached(device: Any) -> bool:
    """Whether a device can run something here; the client of a compile-only device is no client that runs.

    `jaxlib` names the class and JAX does not export it. Deletable when `jax.Device` says so.
    """
    return type(getattr(device, "client", None)).__name__ != "CompileOnlyPyClient"


def program_devices(lowered: Any) -> tuple[Any, ...] | None:
    """The devices that a `jax.stages.Lowered` would be compiled for; None when JAX does not say.

    They follow from arguments, meshes and jit's own options, and nothing public tells them before compiling.
    """
    devices = getattr(getattr(lowered, "_lowering", None), "_device_list", None)
    return None if devices is None else tuple(devices)


def compiler_defaults(spec: TopologySpec) -> Mapping[str, str]:
    """Compiler options without which a compiler cannot do without its hardware.

    XLA of JAX 0.8 measures kernels on the GPU to choose one, and stops where there is none; later ones choose without.
    """
    old = tuple(map(int, jax.__version__.split(".")[:2])) < (0, 10)
    return {"xla_gpu_autotune_level": "0"} if spec.platform == "cuda" and old else {}


def executable_client(compiled: Any) -> Any:
    """The client that a `jax.stages.Compiled` belongs to; None when the executable does not say.

    An executable of a client that runs programs has it as `client`; one for devices that are not there has none.
    """
    try:
        return getattr(compiled.runtime_executable(), "client", None)
    except (NotImplementedError, AttributeError):
        return None


def compiled_shardings(compiled: Any) -> list[Any]:
    """The shardings of all arguments and results, without unflattening what the user wrote.

    `Compiled.input_shardings` rebuilds the user's containers, which may raise. Deletable when it can be asked flat.
    """
    executable = getattr(compiled, "_executable", None)
    found: list[Any] = []
    for name in ("_in_shardings", "_out_shardings"):
        shardings = getattr(executable, name, None)
        if shardings is None:
            getter = getattr(executable, name.strip("_").replace("in_", "input_").replace("out_", "output_"), None)
            shardings = getter() if callable(getter) else ()
        found += [item for item in shardings or () if isinstance(item, jax.sharding.Sharding)]
    return found


def attached_devices() -> list[Any] | None:
    """The first device of every backend that JAX has started, the CPU's last; None when it has started none yet.

    `jax.devices` would start them, which loads their plugins. Deletable when JAX says publicly what it has started.
    """
    from jax._src import xla_bridge

    if not xla_bridge.backends_are_initialized():
        return None
    devices = [devices[0] for client in xla_bridge.backends().values() if (devices := client.local_devices())]
    return sorted(devices, key=lambda device: device.platform == "cpu")
