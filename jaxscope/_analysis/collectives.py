"""What the devices of a program say to each other: each collective, over which axes of the mesh, how much.

Problem: a compiled program names device numbers, ``replica_groups={{0,4},{1,5}}`` or ``[4,2]<=[2,4]T(1,0)``, and nobody
thinks in these; what was written was an axis of a mesh. Input: the compiled HLO's `Listing` and the meshes that the
program's shardings name. Output: a `Collective` for every instruction that communicates.

Device numbers are positions in the program's device assignment, which for jit is the order of ``mesh.devices.flat``.
https://openxla.org/xla/operation_semantics
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

from jaxscope._analysis.unavailable import Unavailable
from jaxscope._ir.model import Listing, Op

KINDS = (
    "all-gather",
    "all-reduce",
    "all-to-all",
    "collective-broadcast",
    "collective-permute",
    "ragged-all-to-all",
    "reduce-scatter",
)

# ", replica_groups={{0,4},{1,5}}, use_global_device_ids=true"    ", replica_groups={}"
_LISTED = re.compile(r"\breplica_groups=\{((?:\{[\d,]*\},?)*)\}")
# ", replica_groups=[4,2]<=[2,4]T(1,0), "
_IOTA = re.compile(r"\breplica_groups=\[(\d+),(\d+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?")
# ", replica_groups=mesh['a'=2,'b'=4] {'a','b'}, "
_NAMED = re.compile(r"\breplica_groups=@?mesh\[([^\]]*)\](?:, ?device_ids=\S+)? ?\{([^}]*)\}")
# 'a'=2
_AXIS = re.compile(r"'([^']*)'=(\d+)")
# 'a' alone, without the part of an axis that 'a':(1)2 names
_WHOLE_AXIS = re.compile(r"'([^']*)'(?!:)")
# ", source_target_pairs={{0,1},{1,0}}, "
_PAIRS = re.compile(r"\bsource_target_pairs=\{((?:\{\d+,\d+\},?)*)\}")
_GROUP = re.compile(r"\{([\d,]*)\}")  # {0,4}
# num_partitions=8
_PARTITIONS = re.compile(r"\bnum_partitions=(\d+)")
# replica_count=8
_REPLICAS = re.compile(r"\breplica_count=(\d+)")

Groups = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Collective:
    """One instruction that communicates.

    Attributes:
        op: Its index in the listing's ops.
        kind: One of `KINDS`; an asynchronous one counts where it starts.
        axes: The axes of the mesh that it runs over, in the mesh's order, those of size 1 left out.
        group_size: How many devices take part in each group.
        group_count: How many groups there are.
    """

    op: int
    kind: str
    axes: tuple[str, ...] | Unavailable
    group_size: int | Unavailable
    group_count: int | Unavailable


def collectives_of(listing: Listing, meshes: Sequence[Mapping[str, int]]) -> tuple[Collective, ...]:
    """Every collective of a compiled program, in the order of the text.

    Args:
        listing: Compiled HLO.
        meshes: Axis sizes by name, in the order of the mesh's axes, of the meshes that the program's shardings name.
    """
    found = []
    devices = _device_count(listing.lines[0])
    for number, op in enumerate(listing.ops):
        kind = op.name.removesuffix("-start")
        if kind in KINDS:
            found.append(_read(number, kind, op, listing.lines[op.line], devices, meshes))
    return tuple(found)


def _read(number: int, kind: str, op: Op, line: str, devices: int, meshes: Sequence[Mapping[str, int]]) -> Collective:
    if kind == "collective-permute":
        pairs = tuple(pair for pair in _listed(_PAIRS.search(line)))
        axes = next((axes for mesh in meshes if (axes := axes_of_pairs(pairs, mesh)) is not None), None)
        size: int | Unavailable = (
            math.prod(mesh_of(axes, meshes)[axis] for axis in axes) if axes else Unavailable(_NO_MESH)
        )
        count: int | Unavailable = devices // size if isinstance(size, int) else size
        return Collective(number, kind, axes if axes is not None else Unavailable(_NO_MESH), size, count)
    if named := _NAMED.search(line):
        sizes = {axis: int(size) for axis, size in _AXIS.findall(named[1])}
        axes = tuple(_WHOLE_AXIS.findall(named[2]))
        if ":" not in named[2] and set(axes) <= set(sizes):
            size = math.prod(sizes[axis] for axis in axes)
            wide = tuple(axis for axis in axes if sizes[axis] > 1)
            return Collective(number, kind, wide, size, math.prod(sizes.values()) // size)
        return Collective(number, kind, *(Unavailable(f"XLA names a part of an axis: {named[0]}."),) * 3)
    groups = replica_groups(line, devices)
    if groups is None:
        return Collective(number, kind, *(Unavailable("The instruction names no groups that can be read."),) * 3)
    axes = next((axes for mesh in meshes if (axes := axes_of_groups(groups, mesh)) is not None), None)
    return Collective(number, kind, axes if axes is not None else Unavailable(_NO_MESH), len(groups[0]), len(groups))


_NO_MESH = "No mesh of the program has axes that give these groups."


def mesh_of(axes: Iterable[str], meshes: Sequence[Mapping[str, int]]) -> Mapping[str, int]:
    """The first mesh that has all these axes."""
    return next(mesh for mesh in meshes if all(axis in mesh for axis in axes))


def _device_count(head: str) -> int:
    """How many devices run the program, from the module's first line: replicas times partitions."""
    counts = (found for pattern in (_PARTITIONS, _REPLICAS) if (found := pattern.search(head)))
    return math.prod(int(found[1]) for found in counts)


def _listed(found: re.Match[str] | None) -> Groups:
    if found is None:
        return ()
    return tuple(tuple(map(int, group.split(","))) for group in _GROUP.findall(found[1]) if group)


def replica_groups(line: str, devices: int) -> Groups | None:
    """The groups of device numbers that an instruction names.

    Args:
        line: Its text; ``{}`` means one group of all.
        devices: How many devices run the program.

    Returns:
        The groups in their order; None when the line names none.
    """
    if found := _LISTED.search(line):
        return _listed(found) or (tuple(range(devices)),)
    if found := _IOTA.search(line):
        count, size = int(found[1]), int(found[2])
        dimensions = tuple(map(int, found[3].split(",")))
        order = tuple(map(int, found[4].split(","))) if found[4] else tuple(range(len(dimensions)))
        if count * size != math.prod(dimensions) or sorted(order) != list(range(len(dimensions))):
            return None
        strides = [math.prod(dimensions[axis + 1 :]) for axis in range(len(dimensions))]
        flat = [
            sum(at * strides[axis] for at, axis in zip(place, order, strict=True))
            for place in product(*(range(dimensions[axis]) for axis in order))
        ]
        return tuple(tuple(flat[start : start + size]) for start in range(0, len(flat), size))
    return None


def _coordinates(mesh: Mapping[str, int]) -> list[tuple[int, ...]]:
    return list(product(*(range(size) for size in mesh.values())))


def axes_of_groups(groups: Groups, mesh: Mapping[str, int]) -> tuple[str, ...] | None:
    """The axes whose devices make up each group.

    Args:
        groups: Device numbers.
        mesh: Axis sizes by name; device numbers count through the last axis first.

    Returns:
        The fewest axes, in the mesh's order, that give exactly these groups in any order, those of size 1 left out; ()
        for groups of one device; None when no axes do.
    """
    places = _coordinates(mesh)
    if sorted(number for group in groups for number in group) != list(range(len(places))):
        return None
    wanted = {frozenset(group) for group in groups}
    wide = [axis for axis, size in enumerate(mesh.values()) if size > 1]
    names = list(mesh)
    for count in range(len(wide) + 1):
        for axes in combinations(wide, count):
            if math.prod(list(mesh.values())[axis] for axis in axes) != len(groups[0]):
                continue
            by_rest: dict[tuple[int, ...], set[int]] = {}
            for number, place in enumerate(places):
                rest = tuple(at for axis, at in enumerate(place) if axis not in axes)
                by_rest.setdefault(rest, set()).add(number)
            if {frozenset(group) for group in by_rest.values()} == wanted:
                return tuple(names[axis] for axis in axes)
    return None


def axes_of_pairs(pairs: Groups, mesh: Mapping[str, int]) -> tuple[str, ...] | None:
    """The axes along which a permutation moves data: those in which a source and its target differ.

    Returns:
        The axes in the mesh's order; None when a device number is not one of the mesh's.
    """
    places = _coordinates(mesh)
    moved: set[int] = set()
    for source, target in pairs:
        if source >= len(places) or target >= len(places):
            return None
        moved |= {axis for axis, (a, b) in enumerate(zip(places[source], places[target], strict=True)) if a != b}
    return tuple(name for axis, name in enumerate(mesh) if axis in moved)
