"""The records that say where a program is compiled for.

Problem: a target has to be chosen, shown, compared and sent to another process before any plugin is loaded. Input:
none; this module only defines the shapes, with neither JAX nor a plugin. Output: `Target`, and what it is made of.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from jaxscope._analysis.unavailable import Unavailable

NO_FACTS = Unavailable("No published figures are known for this device.")
_NOT_PUBLISHED = Unavailable("No document was found that gives it.")

Kind = Literal["attached", "compile-only", "lower-only"]


@dataclass(frozen=True)
class TopologySpec:
    """A machine as its compiler plugin takes it; hashable, and can be pickled and sent to another process.

    Attributes:
        platform: The plugin's platform: ``tpu``, ``cuda``.
        topology_name: The plugin's name of it: ``v5e:2x2``, ``h100``.
        options: What else the plugin is told, as pairs in order of their names.
    """

    platform: str
    topology_name: str
    options: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class Source:
    """A published document: its title and address."""

    title: str
    url: str


@dataclass(frozen=True)
class Figure:
    """A published number in the unit that its field names, the document it stands in, and how it was read."""

    value: float
    source: Source
    note: str = ""


@dataclass(frozen=True)
class DeviceFacts:
    """What is published of one JAX device: a TPU chip or core, a GPU.

    Attributes:
        peak_flop_per_second: By element type (``bf16``, ``f32``, ``i8``), dense; for integers, operations.
        memory_bytes: The main memory.
        memory_bandwidth_bytes_per_second: Between it and the device.
        interconnect_bandwidth_bytes_per_second: Of all links to other devices together, both directions.
        on_chip_memory_bytes: Shared by the whole device: a GPU's L2 cache, a TPU's VMEM.
    """

    peak_flop_per_second: Mapping[str, Figure] = field(default_factory=lambda: MappingProxyType({}))
    memory_bytes: Figure | Unavailable = _NOT_PUBLISHED
    memory_bandwidth_bytes_per_second: Figure | Unavailable = _NOT_PUBLISHED
    interconnect_bandwidth_bytes_per_second: Figure | Unavailable = _NOT_PUBLISHED
    on_chip_memory_bytes: Figure | Unavailable = _NOT_PUBLISHED


@dataclass(frozen=True)
class Target:
    """A machine to compile for.

    Attributes:
        name: What the user would pass: ``cpu``, ``gpu``, ``tpu:v5e:2x2``, ``cuda:h100:8``.
        label: The machine in words, for people.
        platform: JAX's name of the platform: ``cpu``, ``tpu``, ``cuda``, ``rocm``.
        device: The attached device to place everything on; None for the backend that JAX would use anyway, and for
            machines that are not attached.
        kind: ``attached``; ``compile-only``: a compiler is here and the hardware need not be; ``lower-only``: not even
            the compiler is, so StableHLO is the last stage.
        topology: The machine as its plugin takes it; None when attached.
        device_count: JAX devices of the whole machine.
        device_kind: What JAX calls one device; "" where only the plugin could say.
        facts: What is published of one device, or why nothing is known.
        reason: For ``lower-only``: why it cannot be compiled for, and the command that would change that.
    """

    name: str
    label: str
    platform: str
    device: Any = None
    kind: Kind = "attached"
    topology: TopologySpec | None = None
    device_count: int = 1
    device_kind: str = ""
    facts: DeviceFacts | Unavailable = NO_FACTS
    reason: str = ""

    @property
    def machine(self) -> str:
        """The label without what it says of this computer, for use in a sentence."""
        return self.label.partition(" — ")[0]

    @property
    def attached(self) -> bool:
        """Whether the hardware is here."""
        return self.kind == "attached"
