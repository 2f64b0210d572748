"""What the devices of a program say to each other: each collective, over which axes of the mesh, how much.

Problem: a compiled program names device numbers, ``replica_groups={{0,4},{1,5}}`` or ``[4,2]<=[2,4]T(1,0)``, and nobody
thinks in these; what was written was an axis of a mesh. Input: the compiled HLO's `Listing` and the meshes that the
program's shardings name. Output: a `Collective` for every instruction that communicates.

Device numbers are positions in the program's device assignment, which for jit is the order of ``mesh.devices.flat``.
https://openxla.org/xla/operation_semantics
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING

from jaxscope._analysis.unavailable import Unavailable
from jaxscope._analysis.work import ProgramCost, Runs
from jaxscope._ir.model import NO_STACK, Listing, Op
from jaxscope._ir.shapes import size_bytes
from jaxscope._links import LinkedListing
from jaxscope._targets.model import NO_FACTS, DeviceFacts

if TYPE_CHECKING:
    import pandas

KINDS = (
    "all-gather",
    "all-reduce",
    "all-to-all",
    "collective-broadcast",
    "collective-permute",
    "ragged-all-to-all",
    "reduce-scatter",
)
_KIND_BY_OPCODE = {opcode: kind for kind in KINDS for opcode in (kind, f"{kind}-start")}

# ", replica_groups={{0,4},{1,5}}, use_global_device_ids=true"    ", replica_groups={}"
_LISTED = re.compile(r"\breplica_groups=\{((?:\{[\d,]*\},?)*)\}")
# ", replica_groups=[4,2]<=[2,4]T(1,0), "
_IOTA = re.compile(r"\breplica_groups=\[(\d+),(\d+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?")
# ", replica_groups=mesh['a'=2,'b'=4] {'a','b'}, "    "…mesh['a'=2,'b'=4], device_ids=([4,2]T(1,0)) {'a'}, "
_NAMED = re.compile(
    r"\breplica_groups=@?mesh\[([^\]]*)\]"
    r"(?:, ?device_ids=\((?:\[([\d,]+)\](?:T\(([\d,]+)\))?|([\d,]+))\))? ?\{([^}]*)\}"
)
# 'a'=2
_AXIS = re.compile(r"'([^']*)'=(\d+)")
# 'a' alone, without the part of an axis that 'a':(1)2 names
_WHOLE_AXIS = re.compile(r"'([^']*)'(?!:)")
# ", source_target_pairs={{0,1},{1,0}}, "
_PAIRS = re.compile(r"\bsource_target_pairs=\{((?:\{\d+,\d+\},?)*)\}")
_GROUP = re.compile(r"\{([\d,]*)\}")  # {0,4}
# ", channel_id=4, … "async_collective_fusion_config":{"flag_start":"-1","flag_end":"-1"}, …"
_STEP = re.compile(r"\bchannel_id=(\d+).*\"async_collective_fusion_config\"")
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
        kind: One of `KINDS`; an asynchronous one counts where it starts, also when it is spread over several fusions.
        axes: The axes of the mesh that it runs over, in the mesh's order, those of size 1 left out.
        group_size: How many devices take part in each group.
        group_count: How many groups there are.
        operand_bytes: What each device gives, unpadded.
    """

    op: int
    kind: str
    axes: tuple[str, ...] | Unavailable
    group_size: int | Unavailable
    group_count: int | Unavailable
    operand_bytes: int | Unavailable


def collectives_of(listing: Listing, meshes: Sequence[Mapping[str, int]]) -> tuple[Collective, ...]:
    """Every collective of a compiled program, in the order of the text.

    Args:
        listing: Compiled HLO.
        meshes: Axis sizes by name, in the order of the mesh's axes, of the meshes that the program's shardings name.
    """
    found = []
    devices = device_count(listing.lines[0])
    begun: set[tuple[str, str]] = set()
    # Most collectives of a program have the same few groups.
    axes_by_groups: dict[Groups, tuple[str, ...] | Unavailable] = {}
    for number, op in enumerate(listing.ops):
        if (kind := _KIND_BY_OPCODE.get(op.name)) is not None:
            # XLA for TPU hides one behind other work: it stands in each fusion that does a part of it.
            if step := _STEP.search(listing.lines[op.line]):
                if (kind, step[1]) in begun:
                    continue
                begun.add((kind, step[1]))
            groups = _groups_of(kind, listing.lines[op.line], devices, meshes, axes_by_groups)
            found.append(Collective(number, kind, *groups, _operand_bytes(listing, op)))
    return tuple(found)


def link_bytes(one: Collective) -> int | Unavailable:
    """The bytes that a device must at least send, or receive if that is more, in one run.

    The known lower bounds, which ring algorithms reach: of an all-reduce, 2(n − 1)/n of what each device gives; of a
    reduce-scatter or all-to-all, (n − 1)/n; of an all-gather, n − 1 times; of a permutation or broadcast, all of it.
    E. Chan et al., Collective communication, 2007. https://doi.org/10.1002/cpe.1206
    """
    if isinstance(one.operand_bytes, Unavailable):
        return one.operand_bytes
    if one.kind in ("collective-permute", "collective-broadcast"):
        return one.operand_bytes
    if one.kind == "ragged-all-to-all":
        return Unavailable("How much a ragged all-to-all sends is decided at run time.")
    if isinstance(one.group_size, Unavailable):
        return one.group_size
    others, size = one.group_size - 1, one.operand_bytes
    if one.kind == "all-gather":
        return others * size
    return -(-(2 if one.kind == "all-reduce" else 1) * others * size // one.group_size)


def collective_seconds(one: Collective, facts: DeviceFacts | Unavailable) -> float | Unavailable:
    """The time that one run cannot beat: its bytes over the speed of all links of a device, one direction."""
    size = link_bytes(one)
    if isinstance(size, Unavailable):
        return size
    if isinstance(facts, Unavailable):
        return facts
    links = facts.interconnect_bandwidth_bytes_per_second
    if isinstance(links, Unavailable):
        return Unavailable(f"The interconnect of this device is not known. {links.reason}")
    # The published figure adds both directions.
    return size / (links.value / 2)


COLLECTIVE_COLUMNS = (
    "collective",
    "mesh_axes",
    "group_size",
    "groups",
    "operand_bytes",
    "link_bytes",
    "runs",
    "seconds",
    "line",
    "file",
    "python_line",
    "missing",
)


def collectives_frame(
    linked: LinkedListing,
    meshes: Sequence[Mapping[str, int]],
    facts: DeviceFacts | Unavailable = NO_FACTS,
    runs: Mapping[int, Runs] | None = None,
) -> "pandas.DataFrame":
    """One row per collective; missing figures are NA and their reasons are in the column ``missing``.

    Args:
        linked: Compiled HLO.
        meshes: As for `collectives_of`.
        facts: What is published of a device of the target.
        runs: How often instructions run, by their index in the listing's ops.
    """
    import pandas

    rows = []
    for one in collectives_of(linked.listing, meshes):
        often = run_count(one, runs or {})
        seconds = collective_seconds(one, facts)
        if not isinstance(seconds, Unavailable):
            seconds = often if isinstance(often, Unavailable) else seconds * often
        figures = (one.axes, one.group_size, one.group_count, one.operand_bytes, link_bytes(one), often, seconds)
        missing = dict.fromkeys(value.reason for value in figures if isinstance(value, Unavailable))
        axes, *numbers = (None if isinstance(value, Unavailable) else value for value in figures)
        stack = linked.op_stack[one.op]
        frame = linked.stacks.frames[linked.stacks.nodes[stack][0]] if stack != NO_STACK else None
        place = (frame.file, frame.line) if frame is not None else (None, None)
        named = ", ".join(axes) if axes is not None else None
        rows.append((one.kind, named, *numbers, linked.listing.ops[one.op].line + 1, *place, " ".join(missing)))
    frame = pandas.DataFrame(rows, columns=list(COLLECTIVE_COLUMNS))
    whole = ("group_size", "groups", "operand_bytes", "link_bytes", "runs", "line", "python_line")
    return frame.astype({**dict.fromkeys(whole, "Int64"), "seconds": "Float64"})


def kernel_runs(cost: ProgramCost) -> dict[int, Runs]:
    """How often each instruction of a compiled program's schedules runs, by its index in the listing's ops."""
    return {kernel.op: kernel.runs for kernel in cost.kernels}


def run_count(one: Collective, runs: Mapping[int, Runs]) -> int | Unavailable:
    """How often a collective runs."""
    found = runs.get(one.op)
    if found is None:
        return Unavailable("How often this instruction runs was not counted.")
    if (known := found.known) is None:
        return Unavailable("It stands in a loop whose number of runs is not known.")
    return known


def _operand_bytes(listing: Listing, op: Op) -> int | Unavailable:
    total = 0
    for name in op.operands:
        source = listing.definition(op.block, name)
        size = size_bytes(listing.ops[source].type) if source is not None else None
        if size is None:
            return Unavailable(f"The size of the operand {name} is not known.")
        total += size
    return total


_GroupFacts = tuple[tuple[str, ...] | Unavailable, int | Unavailable, int | Unavailable]


def _groups_of(
    kind: str,
    line: str,
    devices: int,
    meshes: Sequence[Mapping[str, int]],
    axes_by_groups: dict[Groups, tuple[str, ...] | Unavailable],
) -> _GroupFacts:
    """Axes, size of a group, number of groups."""
    if kind == "collective-permute":
        return _along_pairs(_listed(_PAIRS.search(line)), devices, meshes)
    if (named := _NAMED.search(line)) and ":" in named[5]:
        return (Unavailable(f"XLA names a part of an axis: {named[0]}."),) * 3
    groups = replica_groups(line, devices)
    if groups is None:
        return (Unavailable("The instruction names no groups that can be read."),) * 3
    if (found := axes_by_groups.get(groups)) is None:
        axes = next((axes for mesh in meshes if (axes := axes_of_groups(groups, mesh)) is not None), None)
        found = axes_by_groups[groups] = axes if axes is not None else Unavailable(_NO_MESH)
    return found, len(groups[0]), len(groups)


def _along_pairs(pairs: Groups, devices: int, meshes: Sequence[Mapping[str, int]]) -> _GroupFacts:
    for mesh in meshes:
        if (axes := axes_of_pairs(pairs, mesh)) is not None:
            size = math.prod(mesh[axis] for axis in axes)
            return axes, size, devices // size
    return (Unavailable(_NO_MESH),) * 3


_NO_MESH = "No mesh of the program has axes that give these groups."


def device_count(head: str) -> int:
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
        flat = _transposed(found[3], found[4])
        if flat is None or count * size != len(flat):
            return None
        return tuple(tuple(flat[start : start + size]) for start in range(0, len(flat), size))
    if found := _NAMED.search(line):
        # The axes may be the user's, or XLA's own "axis_0" of a mesh that it found in the shardings: numbers say which.
        mesh = {axis: int(size) for axis, size in _AXIS.findall(found[1])}
        axes = [list(mesh).index(axis) for axis in _WHOLE_AXIS.findall(found[5]) if axis in mesh]
        count = math.prod(mesh.values())
        if found[2] is not None:
            flat = _transposed(found[2], found[3])
        else:
            flat = tuple(map(int, found[4].split(","))) if found[4] else tuple(range(count))
        if flat is None or len(flat) != count or len(axes) != found[5].count("'") // 2:
            return None
        return _groups_along(mesh, axes, flat)
    return None


def _transposed(dimensions_text: str, order_text: str | None) -> tuple[int, ...] | None:
    """The numbers from 0 on, laid out in these dimensions, transposed and read in order; None when that cannot be."""
    dimensions = tuple(map(int, dimensions_text.split(",")))
    order = tuple(map(int, order_text.split(","))) if order_text else tuple(range(len(dimensions)))
    if sorted(order) != list(range(len(dimensions))):
        return None
    strides = [math.prod(dimensions[axis + 1 :]) for axis in range(len(dimensions))]
    return tuple(
        sum(at * strides[axis] for at, axis in zip(place, order, strict=True))
        for place in product(*(range(dimensions[axis]) for axis in order))
    )


def _groups_along(mesh: Mapping[str, int], axes: Sequence[int], numbers: Sequence[int]) -> Groups:
    """The numbers of a mesh's places in groups: those in one are at the same place in all axes but these."""
    by_rest: dict[tuple[int, ...], list[int]] = {}
    for number, place in zip(numbers, _coordinates(mesh), strict=True):
        rest = tuple(at for axis, at in enumerate(place) if axis not in axes)
        by_rest.setdefault(rest, []).append(number)
    return tuple(map(tuple, by_rest.values()))


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
            if set(map(frozenset, _groups_along(mesh, axes, range(len(places))))) == wanted:
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
