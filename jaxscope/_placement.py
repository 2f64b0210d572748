"""Puts a request on the devices of its target, and makes sure that the program ends up there.

Problem: JAX compiles for wherever the arguments are; what has no place goes to the CPU without a word, and meshes and
arrays of the user's process are on its own devices. Input: a `Request`, a `Target` and what was passed as ``mesh=``.
Output: a `Placement`: the target's devices, the mesh over them, the same request placed there, the contexts to trace
and lower in, and checks of what came out.
"""

import contextlib
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np
from jax.sharding import AbstractMesh, Mesh, NamedSharding, SingleDeviceSharding

from jaxscope import _jax, _jax_topology
from jaxscope._inputs import Request
from jaxscope._specs import shorten
from jaxscope._targets import Target
from jaxscope.errors import InputError, TargetMismatchError

# "HloModule jit_f, is_scheduled=true, …, replica_count=2, num_partitions=8"
_COUNTS = re.compile(r"\b(?:replica_count|num_partitions)=(\d+)")
# A layout in tiles, which only TPUs have: "f32[8,128]{1,0:T(8,128)}"
_TILED = re.compile(r"\]\{[0-9,]*:T\(")
_PLATFORM_NAMES = {"tpu": {"tpu"}, "cuda": {"cuda", "gpu"}, "rocm": {"rocm", "gpu"}}


@dataclass(frozen=True)
class Placement:
    """Where one request is compiled.

    Attributes:
        target: The machine.
        devices: Its devices; empty when it is attached or cannot be compiled for.
        mesh: The mesh for strings that name its axes and for functions that ask for one: over the target's devices;
            None when there is none.
        in_context: Whether `mesh` is set while tracing and lowering.
    """

    target: Target
    devices: tuple[Any, ...] = ()
    mesh: Any = None
    in_context: bool = False

    @contextlib.contextmanager
    def tracing(self) -> Iterator[None]:
        """The context to trace in."""
        with contextlib.ExitStack() as stack:
            if self.target.device is not None:
                stack.enter_context(jax.default_device(self.target.device))
            if self.in_context:
                stack.enter_context(_jax.mesh_context(self.mesh))
            yield

    @contextlib.contextmanager
    def lowering(self) -> Iterator[None]:
        """The context to lower in: what has no place of its own, and functions without arguments, belong here."""
        with self.tracing():
            # Not while tracing: an array that the function makes then would have to be put on a device that is not
            # there.
            place = jax.default_device(self.devices[0]) if self.devices else contextlib.nullcontext()
            with place:
                yield

    @property
    def lowering_platforms(self) -> tuple[str, ...] | None:
        """The platform to lower for where there are no devices to say it; None where there are."""
        return (self.target.platform,) if self.target.kind == "lower-only" else None

    def check_lowered(self, lowered: Any, name: str) -> None:
        """Makes sure that a lowering is for the target.

        Raises:
            TargetMismatchError: It is for something else.
        """
        if self.target.attached:
            devices = _jax_topology.program_devices(lowered) or ()
            if absent := [device for device in devices if not _jax_topology.is_attached(device)]:
                raise TargetMismatchError(
                    f"Lowering {name} for {self.target.name}: it was lowered for {shorten(absent[0].device_kind)}, "
                    "which is not attached. Name that machine as target=, or leave its devices out of the program."
                )
            return
        platforms = _jax.platforms_of(lowered)
        if platforms and self.target.platform not in platforms:
            raise TargetMismatchError(
                f"Lowering {name} for {self.target.name}: it was lowered for {', '.join(platforms)}, because something "
                "in it names devices: device=, backend= or shardings given to jit or pmap, or a mesh of other devices. "
                + _ADVICE
            )
        if not self.devices:
            return
        devices = _jax_topology.program_devices(lowered)
        if devices is not None and not set(devices) <= set(self.devices):
            raise TargetMismatchError(
                f"Lowering {name} for {self.target.name}: it was lowered for other devices than the target's "
                f"({shorten(devices[0])}{', ...' * (len(devices) > 1)}). {_ADVICE}"
            )

    def check_compiled(self, compiled: Any, lowered: Any, name: str) -> None:
        """Makes sure that a compiled program is for the target, by what itself says.

        Raises:
            TargetMismatchError: It is for something else.
        """
        if self.target.attached:
            return
        for found in self._contradictions(compiled, lowered):
            raise TargetMismatchError(
                f"Compiling {name} for {self.target.name}: the compiled program {found}, so it is not for this target. "
                f"{_ADVICE}"
            )

    def _contradictions(self, compiled: Any, lowered: Any) -> Iterator[str]:
        client = _jax_topology.executable_client(compiled)
        platform = getattr(client, "platform", None)
        if platform is not None and platform not in _PLATFORM_NAMES.get(self.target.platform, {self.target.platform}):
            yield f"runs on {platform}"
        named = _devices_of(_jax_topology.compiled_shardings(compiled))
        if strange := [device for device in named if device not in self.devices]:
            yield f"has an argument or result on {shorten(strange[0])}"
        kinds = {device.device_kind for device in named}
        if self.target.device_kind and kinds - {self.target.device_kind}:
            yield f"is for {shorten(min(kinds))}"
        text = compiled.as_text() or ""
        header = text[: text.find("\n")]
        if _TILED.search(header) and self.target.platform != "tpu":
            yield "has layouts in tiles, as only TPUs do"
        program = _jax_topology.program_devices(lowered) if lowered is not None else None
        count = math.prod(map(int, _COUNTS.findall(header)))
        if text and program is not None and count != len(program):
            yield f"is for {count} devices instead of {len(program)}"
        if count > self.target.device_count:
            yield f"needs {count} devices, of which there are {self.target.device_count}"


_ADVICE = (
    "Leave them out, or hand over the function inside; mesh={...} lays a mesh over the target's devices, and "
    "jaxscope.targets().devices(name) gives them."
)


def place(target: Target, mesh: Any = None) -> Placement:
    """The devices of a target and the mesh over them.

    Args:
        target: The machine.
        mesh: A dict of axis sizes, a mesh, or None for the mesh in context.

    Raises:
        InputError: The compiler does not know the machine, or the mesh does not fit on it.
    """
    _jax_topology.start_backends()  # Tracing and lowering would.
    devices: tuple[Any, ...] = ()
    if target.kind == "compile-only":
        assert target.topology is not None, "a machine that is not attached has a topology"
        devices = _jax_topology.topology_devices(target.topology)
    if target.attached and not isinstance(mesh, Mapping):
        return Placement(target, mesh=mesh)  # The user's devices, and JAX's own rules about them.
    if mesh is None and (mesh := _jax.mesh_in_context() or _jax.abstract_mesh_in_context()) is None:
        return Placement(target, devices)
    return Placement(target, devices, _mesh_on(mesh, target, devices), in_context=True)


def place_request(request: Request, placement: Placement) -> Request:
    """The request with every sharding moved to the target's devices; those without one are placed when lowering.

    On an attached target, only what lies on machines that are not there is moved.

    Shardings over several devices keep their axes and sizes. What was on a single device of this process goes to the
    target's first: only its type matters, since nothing is run.

    Raises:
        InputError: A sharding has no meaning on the target.
    """
    if request.kind in ("traced", "lowered", "compiled"):
        return request
    if placement.target.attached and not _is_placed_elsewhere(request, placement):
        return request
    if not placement.target.attached and _jax.is_pmap_of_all_devices(request.function):
        raise InputError(
            f"Placing {request.name} on {placement.target.name}: jax.pmap takes the devices of this process unless it "
            f'is given others. Write jax.pmap(f, devices=jaxscope.targets().devices("{placement.target.name}")), with '
            "as many as the mapped axis is long."
        )
    moved: list[str] = []

    def move(path: Any, leaf: Any) -> Any:
        if not isinstance(leaf, jax.ShapeDtypeStruct) or leaf.sharding is None:
            return leaf
        sharding = _moved(leaf.sharding, placement, jax.tree_util.keystr(path))
        if sharding is leaf.sharding:
            return leaf
        if not (isinstance(leaf.sharding, NamedSharding) and isinstance(leaf.sharding.mesh, AbstractMesh)):
            moved.append(jax.tree_util.keystr(path))
        return leaf.update(sharding=sharding)

    def each(value: Any) -> Any:
        try:
            return jax.tree_util.tree_map_with_path(move, value)
        except InputError:
            raise
        except Exception:  # A container that checks its leaves: checks of the lowering find what stays behind.
            return value

    args, kwargs = tuple(map(each, request.args)), {name: each(value) for name, value in request.kwargs.items()}
    notes = request.notes
    if moved and not placement.target.attached:
        were = "arguments were" if len(moved) > 1 else "argument was"
        notes += (
            f"{len(moved)} {were} on devices of this process: compiled as if on {placement.target.name}. Nothing is "
            "copied.",
        )
    return replace(request, args=args, kwargs=kwargs, notes=notes)


def _is_placed_elsewhere(request: Request, placement: Placement) -> bool:
    """Whether an argument is on a machine that is not attached: the request was read for another target."""
    try:
        leaves = jax.tree.leaves((request.args, request.kwargs))
    except Exception:  # Keys that do not sort: JAX says so in the trace stage.
        return False
    shardings = [leaf.sharding for leaf in leaves if isinstance(leaf, jax.ShapeDtypeStruct) and leaf.sharding]
    return any(_moved(sharding, placement, "") is not sharding for sharding in shardings)


def _moved(sharding: Any, placement: Placement, path: str) -> Any:
    abstract = isinstance(sharding, NamedSharding) and isinstance(sharding.mesh, AbstractMesh)
    if placement.target.attached and (
        placement.mesh is None if abstract else all(map(_jax_topology.is_attached, sharding.device_set))
    ):
        return sharding  # JAX's own rules about the user's devices.
    if isinstance(sharding, NamedSharding):
        if placement.devices and isinstance(sharding.mesh, Mesh) and _on(sharding.mesh, placement.devices):
            return sharding
        mesh = _mesh_on(sharding.mesh, placement.target, placement.devices)
        if placement.mesh is not None and _shape_of(placement.mesh) == _shape_of(mesh):
            mesh = placement.mesh
        return NamedSharding(mesh, sharding.spec, **_memory(sharding))
    if len(sharding.device_set) == 1:
        (device,) = sharding.device_set
        memory = _memory(sharding)
        if device in placement.devices:
            return sharding
        return SingleDeviceSharding(placement.devices[0], **memory) if memory and placement.devices else None
    raise InputError(
        f"Placing the argument {path or 'given'} on {placement.target.name}: a {type(sharding).__name__} lays it over "
        f"{len(sharding.device_set)} devices of this process, and names no mesh axes. "
        "Give it a jax.sharding.NamedSharding, or write its type as a string with @axis."
    )


def _memory(sharding: Any) -> dict[str, str]:
    """The memory that was asked for, where it is not simply the device's own."""
    kind = getattr(sharding, "memory_kind", None)
    return {"memory_kind": kind} if kind == "pinned_host" else {}


def _devices_of(shardings: Any) -> set[Any]:
    return {device for sharding in shardings for device in getattr(sharding, "device_set", ())}


def _on(mesh: Mesh, devices: tuple[Any, ...]) -> bool:
    return set(mesh.devices.flat) <= set(devices)


def _shape_of(mesh: Any) -> tuple[Any, ...]:
    return tuple(mesh.shape.items()), tuple(getattr(mesh, "axis_types", ()) or ())


def _mesh_on(mesh: Any, target: Target, devices: tuple[Any, ...]) -> Any:
    """A mesh of the same axes over the target's devices; an abstract one where there are none.

    Raises:
        InputError: It is no mesh, or needs more devices than the target has.
    """
    if isinstance(mesh, Mapping):
        sizes, types = dict(mesh), None
        if not sizes or not all(
            isinstance(name, str) and isinstance(size, int) and not isinstance(size, bool) and size > 0
            for name, size in sizes.items()
        ):
            raise InputError(
                f"Reading mesh={shorten(mesh)}: a dict of axis sizes has a name and a whole number from 1 on for each "
                'axis. Write mesh={"data": 4, "model": 2}.'
            )
    elif isinstance(mesh, Mesh | AbstractMesh):
        if isinstance(mesh, Mesh) and devices and _on(mesh, devices):
            return mesh
        sizes, types = dict(mesh.shape), getattr(mesh, "axis_types", None)
    else:
        raise InputError(
            f"Reading mesh={shorten(mesh)}: found a {type(mesh).__name__}. Pass a dict of axis sizes, "
            'mesh={"data": 4}, or a jax.sharding.Mesh.'
        )
    if target.kind == "lower-only":
        types = types or (jax.sharding.AxisType.Auto,) * len(sizes)
        return AbstractMesh(tuple(sizes.values()), tuple(sizes), axis_types=types)
    if target.attached:
        devices = tuple((target.device or jax.devices(_jax.platform_to_ask(target.platform))[0]).client.devices())
    count = math.prod(sizes.values())
    if count > len(devices):
        shape = " × ".join(f"{name}={size}" for name, size in sizes.items())
        raise InputError(
            f"Laying the mesh {shape} over {target.name}: it needs {count} devices, and there are {len(devices)}. "
            "Make an axis smaller, or choose a larger target."
        )
    types = types or (jax.sharding.AxisType.Auto,) * len(sizes)
    return Mesh(_ordered(tuple(sizes.values()), devices[:count]), tuple(sizes), axis_types=types)


def _ordered(sizes: tuple[int, ...], devices: tuple[Any, ...]) -> np.ndarray:
    """The devices in the order in which neighbours in the mesh are neighbours in the machine, where JAX finds one."""
    from jax.experimental import mesh_utils

    try:
        return mesh_utils.create_device_mesh(sizes, devices)
    except Exception:  # Shapes that do not fit on the torus, and parts of one: any order is a mesh.
        return np.array(devices, dtype=object).reshape(sizes)
