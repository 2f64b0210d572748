"""Compiling a lowering in another process, with JAX none the wiser.

Problem: `Lowered.compile` compiles in this process, and only JAX's own code can make a `jax.stages.Compiled`. Input: a
`Lowered` for devices of a topology. Output: a `Compiled` that JAX built as it always does, except that the client it
asked to compile is a stand-in which sends module and options to the worker, and whose executable answers with what the
worker's executable answered. Used on both sides. Relied on: `Lowered._lowering`, its `_hlo` and
`compile_args["backend"]`, and the methods that pxla calls on a client and an executable. Deletable when a lowering can
be compiled from its bytes by a public interface. Tested on JAX 0.8, 0.10 and 0.12.
"""

import contextlib
import copy
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
from jax._src import config, lib
from jax._src.interpreters import mlir
from jax._src.lib import _jax as extension
from jax._src.lib import xla_client
from jax._src.lib.mlir import ir

from jaxscope import _jax_topology
from jaxscope._targets.model import TopologySpec
from jaxscope._worker import DEFAULT_TIME_LIMIT_S, Job, shared_worker
from jaxscope._worker_messages import Message
from jaxscope.errors import UnavailableError

# Its own module since jaxlib 0.9.
_HLO = getattr(lib, "hlo", extension)
# The names of JAX's own exceptions that compilers raise, and their classes here.
_ERRORS = {kind.__name__: kind for kind in (jax.errors.JaxRuntimeError, NotImplementedError, ValueError, TypeError)}


@dataclass(frozen=True)
class WorkerProduct:
    """What the worker made of a lowering.

    Attributes:
        compiled: The `jax.stages.Compiled`; it answers like any other, but cannot be called.
        seconds: What the compiler took, without sending and starting.
        dump: The compiler's dump files that were asked for, by name.
        sent_bytes: Size of the request.
        received_bytes: Size of the answer.
    """

    compiled: Any
    seconds: float
    dump: Mapping[str, bytes] = field(repr=False)
    sent_bytes: int
    received_bytes: int


def prepare_worker(topology: TopologySpec) -> None:
    """Starts the worker and has it load the plugin, without waiting for it."""
    shared_worker().prepare(Message({"do": "prepare", "topology": _to_json(topology)}))


def is_for(lowered: Any, topology: TopologySpec) -> bool:
    """Whether a lowering is for devices of just this description of a machine, which the worker can make too."""
    devices = _jax_topology.program_devices(lowered)
    return devices is not None and set(devices) <= set(_devices(topology))


def compile_in_worker(
    lowered: Any,
    topology: TopologySpec,
    compiler_options: Mapping[str, Any] | None = None,
    job: Job | None = None,
    time_limit_s: float | None = DEFAULT_TIME_LIMIT_S,
    dump: Sequence[str] = (),
) -> WorkerProduct:
    """Compiles a lowering in the worker process.

    Args:
        lowered: A `jax.stages.Lowered` for devices of `topology`.
        topology: The machine.
        compiler_options: As for `jax.stages.Lowered.compile`.
        job: What another thread can end the compilation by.
        time_limit_s: The longest it may take; None for no limit.
        dump: Patterns, as of `fnmatch`, of files of XLA's dump to return; with none, XLA writes none.

    Raises:
        CompilerError: The worker ended without a result.
        UnavailableError: This version of JAX keeps a lowering in another way.
        Exception: What the compiler raised.
    """
    lowering = getattr(lowered, "_lowering", None)
    arguments = getattr(lowering, "compile_args", None)
    if not isinstance(arguments, dict) or "backend" not in arguments or not hasattr(lowering, "_hlo"):
        raise UnavailableError(
            f"Compiling in a process of its own: JAX {jax.__version__} keeps a lowering in another way. "
            "Use inspection.lowered.compile(), which compiles in this process."
        )
    with _dump_folder(dump) as folder:
        client = _Client(arguments["backend"], topology, job or Job(), time_limit_s, folder)
        sending, copied = copy.copy(lowering), copy.copy(lowered)
        sending.compile_args = {**arguments, "backend": client}
        sending._executable = None  # Of an earlier compilation in this process.
        # JAX keeps every executable, with its texts, as long as the module it was compiled from: this one goes at once.
        sending._hlo = _copy_of(lowering._hlo)
        copied._lowering = sending
        # The stand-in's executable is none that JAX could keep; a cache that is never written to keeps nothing.
        with config.persistent_cache_min_compile_time_secs(float("inf")):
            compiled = copied.compile(compiler_options=dict(compiler_options) if compiler_options else None)
        files = _read_folder(folder, dump)
    return WorkerProduct(compiled, client.seconds, files, client.sent_bytes, client.received_bytes)


def _copy_of(module: Any) -> Any:
    with module.context:
        return ir.Module.parse(mlir.module_to_bytecode(module))


class _Client:
    """Stands in for the client of compile-only devices: what pxla asks of one, and no more."""

    supports_executable_serialization = True

    def __init__(
        self, real: Any, topology: TopologySpec, job: Job, time_limit_s: float | None, dump_folder: str | None
    ):
        self._real = real
        self._topology, self._job, self._time_limit_s = topology, job, time_limit_s
        self._dump_folder = dump_folder
        self.seconds = 0.0
        self.sent_bytes = self.received_bytes = 0
        # JAX decides once per process, by the first client that compiles, whether its cache on disk is used.
        self.platform = {"cuda": "gpu", "rocm": "gpu"}.get(real.platform, real.platform)
        # Part of the key in that cache: nothing that anybody put there may be found.
        self.platform_version = f"{real.platform_version} jaxscope {uuid.uuid4()}"

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def compile_and_load(self, module: Any, executable_devices: Any, compile_options: Any, **_: Any) -> "_Executable":
        """Has the worker compile; host callbacks stay here, since they only matter to a program that is run."""
        if self._dump_folder is not None:
            compile_options.env_option_overrides = [
                *compile_options.env_option_overrides,
                ("xla_dump_to", self._dump_folder),
            ]
        # JAX 0.8 hands over the bytes.
        code = module if isinstance(module, bytes) else mlir.module_to_bytecode(module)
        header = {
            "do": "compile",
            "topology": _to_json(self._topology),
            "devices": [device.id for device in executable_devices],
        }
        request = Message(header, (code, compile_options.SerializeAsString()))
        answer = shared_worker().call(request, self._job, self._time_limit_s)
        self.sent_bytes, self.received_bytes = (sum(map(len, message.blobs)) for message in (request, answer))
        _raise(answer.header.get("error"))
        self.seconds = answer.header["seconds"]
        return _Executable(self._real, answer)


class _Executable:
    """Answers as the worker's executable did; a method that the worker's does not have is not there either."""

    def __init__(self, client: Any, answer: Message):
        self.client = client
        self._answers = answer.header["answers"]
        self._texts = answer.header["texts"]
        self._modules = answer.blobs[self._texts :]
        self._text = b"\n\n".join(answer.blobs[: self._texts])

    def __getattr__(self, name: str) -> Callable[[], Any]:
        if name not in _METHODS or name not in self._answers:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return lambda: self._answer(name)

    def _answer(self, name: str) -> Any:
        found = self._answers[name]
        _raise(found.get("error"))
        return None if found["value"] is None else _METHODS[name].unpack(found["value"])

    def get_hlo_text(self) -> str:
        """The text of the modules, as the worker's executable printed them."""
        return self._text.decode()

    def hlo_modules(self) -> list[Any]:
        """The modules, made anew at every call."""
        return [_HLO.HloModule.from_serialized_hlo_module_proto(module) for module in self._modules]

    def local_devices(self) -> list[Any]:
        """The devices to run on: none.

        Raises:
            UnavailableError: Always; JAX asks for them when the program is called.
        """
        raise UnavailableError(
            f"Running a program that was compiled for {self.client.platform}: it was compiled in another process for "
            "devices that are not attached. Compile for an attached target to run it."
        )


@dataclass(frozen=True)
class _Method:
    """How the result of an executable's method becomes JSON, and becomes itself again."""

    pack: Callable[[Any], Any]
    unpack: Callable[[Any], Any]


class CompiledMemoryStats(SimpleNamespace):
    """The figures of jaxlib's class of this name, which cannot be made from Python."""

    def __repr__(self) -> str:
        # As jaxlib's, which leaves the protocol buffer out.
        figures = ", ".join(f"{name}={value}" for name, value in vars(self).items() if not isinstance(value, bytes))
        return f"{type(self).__name__}({figures})"


def _pack_memory(stats: Any) -> dict[str, Any]:
    return {name: getattr(stats, name) for name in dir(stats) if not name.startswith("_")}


def _pack_sharding(sharding: Any) -> bytes:
    return sharding.SerializeToString()


def _unpack_sharding(data: bytes) -> Any:
    sharding = xla_client.OpSharding()
    sharding.ParseFromString(data)
    return sharding


def _unpack_layout(state: list[Any]) -> Any:
    layout = extension.PjRtLayout.__new__(extension.PjRtLayout)
    layout.__setstate__(tuple(state))
    return layout


def _same(value: Any) -> Any:
    return value


def _each(method: _Method) -> _Method:
    return _Method(lambda values: list(map(method.pack, values)), lambda values: list(map(method.unpack, values)))


_LAYOUTS = _each(_Method(lambda layout: layout.__getstate__(), _unpack_layout))
_SHARDINGS = _each(_Method(_pack_sharding, _unpack_sharding))
_METHODS = {
    "cost_analysis": _Method(_same, _same),
    "get_compiled_memory_stats": _Method(_pack_memory, lambda fields: CompiledMemoryStats(**fields)),
    "get_output_memory_kinds": _Method(_same, _same),
    "get_parameter_layouts": _LAYOUTS,
    "get_output_layouts": _LAYOUTS,
    "get_parameter_shardings": _SHARDINGS,
    "get_output_shardings": _SHARDINGS,
}


# The worker's side.


def prepare(message: Message) -> None:
    """Loads the plugin; what goes wrong here goes wrong again with the first request, which can be answered."""
    with contextlib.suppress(Exception):
        _devices(_from_json(message.header["topology"]))


def answer(message: Message) -> Message:
    """Compiles what a request holds and answers everything that can be asked of the executable."""
    devices = {device.id: device for device in _devices(_from_json(message.header["topology"]))}
    chosen = tuple(devices[number] for number in message.header["devices"] if number in devices)
    if len(chosen) != len(message.header["devices"]):
        raise ValueError(
            f"Compiling in a process of its own: the program is for {len(message.header['devices'])} devices, of which "
            f"{len(chosen)} are there. Choose a target with as many devices."
        )
    code, options_data = message.blobs
    options = xla_client.CompileOptions.ParseFromString(options_data)
    client = chosen[0].client
    compile_only = isinstance(client, extension.CompileOnlyPyClient)
    with mlir.make_ir_context():
        module = ir.Module.parse(code)
    start = time.perf_counter()
    executable = (client.compile if compile_only else client.compile_and_load)(
        module, executable_devices=extension.DeviceList(chosen), compile_options=options
    )
    seconds = time.perf_counter() - start
    modules = executable.hlo_modules()
    texts = tuple(module.to_string().encode() for module in modules)
    answers = {
        name: _ask(getattr(executable, name), method) for name, method in _METHODS.items() if hasattr(executable, name)
    }
    return Message(
        {"seconds": seconds, "texts": len(texts), "answers": answers},
        (*texts, *(module.as_serialized_hlo_module_proto() for module in modules)),
    )


def _ask(question: Callable[[], Any], method: _Method) -> dict[str, Any]:
    try:
        found = question()
        return {"value": None if found is None else method.pack(found)}
    except Exception as error:  # The parent's stand-in raises it when it is asked.
        return {"error": [type(error).__name__, str(error)]}


def _raise(error: Sequence[str] | None) -> None:
    if error is not None:
        kind, text = error
        known = _ERRORS.get(kind)
        raise known(text) if known else jax.errors.JaxRuntimeError(f"{kind}: {text}")


# Both sides.


def _devices(topology: TopologySpec) -> tuple[Any, ...]:
    # The CPU needs no description: its devices are here.
    return tuple(jax.devices("cpu")) if topology.platform == "cpu" else _jax_topology.topology_devices(topology)


def _to_json(topology: TopologySpec) -> list[Any]:
    return [topology.platform, topology.topology_name, topology.options]


def _from_json(parts: Any) -> TopologySpec:
    return TopologySpec(*_tuples(parts))


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


@contextlib.contextmanager
def _dump_folder(patterns: Sequence[str]) -> Iterator[str | None]:
    """A folder that only this user can read, gone afterwards, however the compiler ended."""
    if not patterns:
        yield None
        return
    folder = tempfile.mkdtemp(prefix="jaxscope-")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _read_folder(folder: str | None, patterns: Sequence[str]) -> dict[str, bytes]:
    if folder is None:
        return {}
    files = {str(path.relative_to(folder)): path for path in sorted(Path(folder).rglob("*")) if path.is_file()}
    return {
        name: path.read_bytes() for name, path in files.items() if any(fnmatch(name, pattern) for pattern in patterns)
    }
