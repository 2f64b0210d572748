"""From what the user passes as ``target=`` to a `Target`.

Problem: a program compiled for another machine than the one meant would be worse than none, and choosing a machine
must not load its compiler. Input: None, a name, a `jax.Device`, a `Target`, or ``path/to/file.json#name``. Output: a
`Target`; a name that nothing answers to is refused with names that are near.
"""

import difflib
import functools
import importlib.util
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import jax

from jaxscope import _jax_topology
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._specs import shorten
from jaxscope._targets.catalogue import Entry, built_in_entries, read_entries
from jaxscope._targets.model import NO_FACTS, DeviceFacts, Target, TopologySpec
from jaxscope.errors import InputError

INSTALL_COMMANDS = {"tpu": 'pip install "jaxscope[tpu]"', "cuda": 'pip install "jaxscope[cuda]"'}
_FAMILIES = {"cuda": "gpu", "rocm": "gpu"}
# "2x2", "8x8x8", "8"
_SIZE = re.compile(r"^[1-9][0-9]{0,5}(?:x[1-9][0-9]{0,5})*$")


def resolve_target(target: Any = None) -> Target:
    """The target that the user means.

    Args:
        target: None (JAX's own choice), the name of an attached platform (``cpu``, ``gpu``, ``tpu``), a `jax.Device`,
            the name of a machine (``tpu:v5e:2x2``, ``cuda:h100:8``), a machine of the user's own file
            (``machines.json#mine``), or a `Target`.

    Raises:
        InputError: There is no such machine, here or by that name.
    """
    if isinstance(target, Target):
        return target
    if not isinstance(target, str) or not set(":#") & set(target):
        _jax_topology.start_backends()
    if target is None:
        default = jax.config.jax_default_device
        return _attached(default if isinstance(default, jax.Device) else jax.devices(default)[0], None)
    if isinstance(target, jax.Device):
        return _attached(target, target)
    if isinstance(target, str):
        if "#" in target:
            path, _, name = target.partition("#")
            return named_target(name, read_entries(path), prefix=f"{path}#")
        if ":" in target:
            return named_target(target, built_in_entries())
    return _attached_platform(target)


def resolve_targets(target: Any = None, targets: Any = None) -> tuple[Target, ...]:
    """The targets that the user means, each once and in order: those of `targets`, or the one of `target`.

    Raises:
        InputError: Both are given, `targets` is no list, or one of them is not known.
    """
    if targets is None:
        return (resolve_target(target),)
    if target is not None:
        raise InputError(
            f"Choosing where to compile: target={target!r} and targets= are both given. Put all of them into targets=."
        )
    if isinstance(targets, str | Target | jax.Device) or not isinstance(targets, Iterable):
        raise InputError(
            f"Choosing where to compile: targets={shorten(targets)} is no list. "
            'Write targets=["cpu", "cuda:h100"], or pass one as target=.'
        )
    resolved = tuple(map(resolve_target, targets))
    if not resolved:
        raise InputError("Choosing where to compile: targets= is empty. Name at least one, or leave it out.")
    return tuple({each.name: each for each in resolved}.values())


def named_target(name: str, entries: Mapping[str, Entry], prefix: str = "") -> Target:
    """The machine of a catalogue that a name such as ``tpu:v5e:4x4`` or ``cuda:h100:8`` means.

    Raises:
        InputError: There is no such machine, or it does not come in that size.
    """
    entry, size = entries.get(name), None
    if entry is None:
        head, _, size = name.rpartition(":")
        entry = entries.get(head)
    if entry is None:
        head = next((head for head in (name, name.rpartition(":")[0]) if head), name)
        near = difflib.get_close_matches(head, entries, 3, 0.5)
        raise InputError(
            f"Choosing the target {prefix + name!r}: there is no machine of that name. "
            + (f"Near it: {', '.join(prefix + found for found in near)}. " if near else "")
            + "jaxscope.targets() lists them."
        )
    return _SIZED[entry.platform](entry, size, prefix)


def missing_compiler(platform: str) -> str:
    """Why there is no compiler for a platform here, with the command that brings it; "" where there is one.

    Plugins are looked for and not loaded.
    """
    if any(_is_installed(module) for module in _jax_topology.PLUGIN_MODULES.get(platform, ())):
        return ""
    command = INSTALL_COMMANDS.get(platform)
    return f"Its compiler is not installed: {command}" if command else "There is no compiler for it here."


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):  # The package that would hold it is not there either.
        return False


def _attached_platform(platform: Any) -> Target:
    try:
        device = jax.devices(platform)[0]
    except (RuntimeError, TypeError, IndexError, AttributeError) as error:
        if platform in ("rocm", "amd"):
            return named_target("rocm", built_in_entries())
        here = ", ".join(dict.fromkeys([jax.default_backend(), "cpu"]))
        alike = {"gpu": "cuda:h100", "cuda": "cuda:h100", "tpu": "tpu:v5e:2x2"}.get(str(platform))
        without = f'target="{alike}" compiles for one that is not here. ' if alike else ""
        raise InputError(
            f"Choosing the target {platform!r}: no such backend is attached (attached: {here}). {without}"
            "Pass one of these, a jax.Device, a name that jaxscope.targets() lists, or leave target= out."
        ) from error
    return _attached(device, device if device.platform != jax.default_backend() else None)


def _attached(device: Any, chosen: Any) -> Target:
    if not _jax_topology.is_attached(device):
        raise InputError(
            f"Choosing the target {device}: it is a device of a machine that is not attached, and only its name says "
            "which. Pass the name, such as tpu:v5e:2x2 or cuda:h100."
        )
    kind = device.device_kind
    words = device.platform.upper() if kind.lower() == device.platform.lower() else f"{device.platform.upper()} {kind}"
    return Target(
        name=_FAMILIES.get(device.platform, device.platform),
        label=f"{words} — this machine",
        platform=device.platform,
        device=chosen,
        device_count=len(device.client.devices()),
        device_kind=kind,
        facts=facts_of_kind(kind),
    )


@functools.cache
def facts_of_kind(device_kind: str) -> DeviceFacts | Unavailable:
    """What is published of a device that JAX calls so."""
    found = [entry.facts for entry in built_in_entries().values() if entry.device_kind == device_kind]
    return found[0] if found and device_kind else NO_FACTS


def _numbers(entry: Entry, size: str, counts: tuple[int, ...], advice: str, prefix: str) -> list[int]:
    if not _SIZE.match(size) or size.count("x") + 1 not in counts:
        raise InputError(
            f"Choosing the target {prefix}{entry.name}:{size}: {size!r} is no size of {entry.label}. {advice}"
        )
    return [int(part) for part in size.split("x")]


def _tpu(entry: Entry, size: str | None, prefix: str) -> Target:
    size = entry.smallest if size is None else size
    advice = f"Give its {entry.dimensions} dimensions in chips, such as {prefix}{entry.name}:{entry.smallest}."
    numbers = _numbers(entry, size, (entry.dimensions,), advice, prefix)
    chips, host = math.prod(numbers), math.prod(map(int, entry.smallest.split("x")))
    options = dict(entry.options)
    if chips < host:
        # libtpu up to 0.0.42 knows only whole hosts unless told that the host is this small.
        options.setdefault("chips_per_host_bounds", (*numbers, 1, 1)[:3])
    topology = TopologySpec("tpu", f"{entry.topology_name}:{size}", tuple(sorted(options.items())))
    count = chips * entry.devices_per_chip
    devices = f"{chips} chips" + (f", {count} devices" if count != chips else "") if chips > 1 else "1 chip"
    target = _compile_only(entry, f"{prefix}{entry.name}:{size}", f"{entry.label} {size}, {devices}", topology)
    return replace(target, device_count=count)


def _cuda(entry: Entry, size: str | None, prefix: str) -> Target:
    size = "1" if size is None else size
    advice = f"Give the number of GPUs, {prefix}{entry.name}:8, or nodes times GPUs, {prefix}{entry.name}:2x8."
    numbers = _numbers(entry, size, (1, 2), advice, prefix)
    nodes, each = numbers if len(numbers) == 2 else (1, numbers[0])
    topology = TopologySpec(
        "cuda",
        entry.topology_name,
        # Partitions (sets of GPUs with a fast link of their own), hosts in each, GPUs on each host.
        (("target_config", entry.target_config), ("topology", f"{nodes}x1x{each}")),
    )
    name = f"{prefix}{entry.name}" + (f":{size}" if nodes * each > 1 else "")
    words = entry.label if nodes * each == 1 else f"{nodes * each} × {entry.label}" + f" on {nodes} nodes" * (nodes > 1)
    return replace(_compile_only(entry, name, words, topology), device_count=nodes * each)


def _lower_only(entry: Entry, size: str | None, prefix: str) -> Target:
    return Target(
        name=prefix + entry.name,
        label=f"{entry.label}, lowering only",
        platform=entry.platform,
        kind="lower-only",
        device_kind=entry.device_kind,
        facts=entry.facts,
        reason=f"Not compiled for {entry.label}: {entry.lower_only}. The StableHLO is for it all the same.",
    )


def _compile_only(entry: Entry, name: str, words: str, topology: TopologySpec) -> Target:
    missing = missing_compiler(entry.platform)
    return Target(
        name=name,
        label=f"{words} — {'lowering only' if missing else 'not attached'}",
        platform=entry.platform,
        kind="lower-only" if missing else "compile-only",
        topology=topology,
        device_kind=entry.device_kind,
        facts=entry.facts,
        reason=f"Not compiled for {entry.label}. {missing}" if missing else "",
    )


_SIZED = {"tpu": _tpu, "cuda": _cuda, "rocm": _lower_only}
