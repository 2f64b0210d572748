"""What can be compiled for here.

Problem: somebody who wants to know must be told quickly, and loading a compiler to ask it takes seconds and hundreds of
megabytes. Input: the catalogue, a user's file, the backends that JAX has started already, and which plugins are
installed. Output: one `Listed` per machine, with the command for what is missing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jaxscope import _jax_topology
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._targets.catalogue import Entry, built_in_entries, read_entries
from jaxscope._targets.model import DeviceFacts, Target
from jaxscope._targets.resolve import missing_compiler, named_target, resolve_target

if TYPE_CHECKING:
    import pandas

FRAME_COLUMNS = ("name", "machine", "devices", "memory_bytes", "state", "missing")


@dataclass(frozen=True, slots=True)
class Listed:
    """One line of the list.

    Attributes:
        target: The machine.
        memory_bytes: Main memory of one device.
        missing: Why it cannot be compiled for, with the command that would change that; "" where it can.
    """

    target: Target
    memory_bytes: int | Unavailable
    missing: str


def list_targets(path: str | None = None) -> tuple[Listed, ...]:
    """Attached platforms, the machines known by name in sizes worth naming, and those of a user's file.

    Args:
        path: A JSON file of the user's own machines, which come first.

    Raises:
        InputError: The file cannot be read.
    """
    own = _named(read_entries(path), f"{path}#") if path is not None else ()
    started = _jax_topology.attached_devices()
    attached = [_CPU] if started is None else [resolve_target(device) for device in started]
    return tuple(map(_listed, (*own, *attached, *_named(built_in_entries(), ""))))


# What is attached besides, only starting JAX's backends would tell, and that loads their plugins.
_CPU = Target("cpu", "CPU — this machine", "cpu", device_kind="cpu")


def _named(entries: Mapping[str, Entry], prefix: str) -> Iterable[Target]:
    for name, entry in entries.items():
        sizes = ["" if entry.platform == "cuda" and size == "1" else size for size in entry.examples or ("",)]
        for size in sizes:
            yield named_target(f"{name}:{size}" if size else name, entries, prefix)


def _listed(target: Target) -> Listed:
    facts = target.facts
    memory = facts.memory_bytes if isinstance(facts, DeviceFacts) else facts
    size = memory if isinstance(memory, Unavailable) else int(memory.value)
    missing = "" if target.kind != "lower-only" else missing_compiler(target.platform)
    # A platform without a compiler for absent hardware has a reason of its own.
    return Listed(target, size, target.reason if target.kind == "lower-only" and target.topology is None else missing)


def targets_frame(listed: Iterable[Listed]) -> "pandas.DataFrame":
    """The list as a pandas DataFrame; memory that is not known is NA."""
    import pandas

    rows = [
        (
            item.target.name,
            item.target.label,
            item.target.device_count,
            None if isinstance(item.memory_bytes, Unavailable) else item.memory_bytes,
            item.target.kind,
            item.missing,
        )
        for item in listed
    ]
    return pandas.DataFrame(rows, columns=list(FRAME_COLUMNS)).astype({"memory_bytes": "Int64"})
