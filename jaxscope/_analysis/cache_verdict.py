"""Whether a second call of a jitted function would find the program of the first, and if not, because of which leaf.

Problem: jit keeps programs by a key that nobody sees: a Python number for an array, a list for a tuple, an argument by
keyword, another device, and it traces and compiles again without a word. Input: two calls of one jitted function
as `CallKey`. Output: `CacheVerdict`: what the second call does, with one row for each difference that decides it.
Nothing is traced and no array is read.

jit looks in four places, each behind the one before: programs it ran (static values, structures, types, placements and
settings are the same: nothing is done), programs it compiled (the same once uncommitted arrays and arrays on the host
are put where the program is), traces (other devices or pieces: it compiles again), and the function itself (other
types, structures, static values or settings: it traces, lowers and compiles again).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import jax

from jaxscope import _jax_types
from jaxscope._analysis import structure
from jaxscope._analysis.call_key import CallKey, LeafKey, Refused
from jaxscope._analysis.entry import Entry
from jaxscope._analysis.placements import placement_difference
from jaxscope._analysis.pytrees import Side, is_equal
from jaxscope._analysis.tree_difference import type_difference
from jaxscope._analysis.types import describe_layout, describe_sharding, root_name, shorten, stored_rank

if TYPE_CHECKING:
    import pandas

Outcome = Literal["hits", "dispatches again", "compiles again", "traces again", "raises"]
_ORDER: tuple[Outcome, ...] = ("hits", "dispatches again", "compiles again", "traces again", "raises")

_SUMMARIES: Mapping[Outcome, str] = {
    "hits": "jit runs the program it has",
    "dispatches again": "jit runs the program it has, after one slow look-up for this kind of call",
    "compiles again": "jit keeps the trace and compiles it again",
    "traces again": "jit traces the function again, lowers and compiles it",
    "raises": "jit raises",
}


@dataclass(frozen=True, slots=True)
class CacheRow:
    """One difference between two calls.

    Attributes:
        path: Where: ``params['b']``, a static argument's name, ``setting jax_enable_x64``.
        first: What the first call had there.
        now: What this one has.
        differs: What differs: as in a mismatch, or ``static value``, ``committed``, ``device``, ``host or device``,
            ``setting``.
        outcome: What this difference alone makes jit do.
    """

    path: str
    first: str
    now: str
    differs: tuple[str, ...]
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class CacheVerdict:
    """What jit does for a call after another one.

    Attributes:
        outcome: The costliest of the rows' outcomes; ``hits`` without rows.
        rows: The differences, in the order of the arguments; those that only slow down the first look-up are left out
            where something costlier happens anyway.
        notes: What could not be judged.
    """

    outcome: Outcome
    rows: tuple[CacheRow, ...]
    notes: tuple[str, ...] = ()

    @property
    def compiles(self) -> bool:
        """Whether XLA compiles for this call."""
        return self.outcome in ("compiles again", "traces again")

    @property
    def summary(self) -> str:
        """One line: ``jit traces the function again, lowers and compiles it because of x (weak type)``."""
        text = _SUMMARIES[self.outcome]
        causes = [row for row in self.rows if row.outcome == self.outcome]
        if not causes:
            return text
        listed = ", ".join(f"{row.path} ({', '.join(row.differs)})" for row in causes[:3])
        return f"{text} because of {listed}" + (f" and {len(causes) - 3} more" if len(causes) > 3 else "")


def cache_verdict(first: CallKey, now: CallKey, types: _jax_types.InputTypes | None = None) -> CacheVerdict:
    """What jit does for a call, if it was called before as in `first` and never otherwise.

    Args:
        first: The call whose program is kept.
        now: The call that is judged.
        types: The inputs of that program, for the arguments it does not read and the shardings it was jitted with;
            without them all arguments count as read.

    Returns:
        The verdict. A call that traces again may raise inside the function, which is not known here.
    """
    if now.refusals:
        return CacheVerdict("raises", tuple(_refusal_row(item) for item in now.refusals))
    rows, pairs = _traced_apart(first, now)
    kept, requested = _known_of_program(first, now, pairs, types)
    refused = _refused_placements(now, kept, requested)
    if refused:
        return CacheVerdict("raises", refused)
    if all(row.outcome == "dispatches again" for row in rows):
        rows += _placed_apart(first, now, pairs, kept, requested)
    if not rows:
        rows = [row for pair in pairs if (row := _dispatched_apart(first.leaves[pair[0]], now.leaves[pair[1]]))]
    outcome = max((row.outcome for row in rows), key=_ORDER.index, default="hits")
    return CacheVerdict(outcome, tuple(rows))


def _refusal_row(refused: Refused) -> CacheRow:
    return CacheRow(refused.path, "", refused.now, (refused.differs,), "raises")


def best_verdict(earlier: Sequence[CallKey], now: CallKey, types: _jax_types.InputTypes | None = None) -> CacheVerdict:
    """What jit does for a call after several others: the cheapest of the verdicts against each.

    Args:
        earlier: The calls whose programs are kept, latest last.
        now: The call that is judged.
        types: As for `cache_verdict`.
    """
    verdicts = [cache_verdict(key, now, types) for key in reversed(earlier)]
    if not verdicts:
        alone = cache_verdict(now, now, types)
        return alone if alone.outcome == "raises" else CacheVerdict("traces again", (), ("It is the first call.",))
    return min(verdicts, key=lambda verdict: _ORDER.index(verdict.outcome))


def _known_of_program(
    first: CallKey, now: CallKey, pairs: Sequence[tuple[int, int]], types: _jax_types.InputTypes | None
) -> tuple[list[bool], list[Any]]:
    """For each leaf of a call, whether the program reads it and the sharding it was jitted with.

    What sits at no place of the first call is taken to be read like the rest of its argument.
    """
    kept, requested = [True] * len(now.leaves), [None] * len(now.leaves)
    if types is None or len(types.avals) != len(first.leaves):
        return kept, requested
    reads = types.kept or (True,) * len(first.leaves)
    places = {other: one for one, other in pairs}
    # One sharding, device or backend for all arguments holds for those that came later, too.
    shared = types.requested[0] if len(set(map(id, types.requested))) == 1 else None
    for index, leaf in enumerate(now.leaves):
        if index in places:
            kept[index], requested[index] = reads[places[index]], types.requested[places[index]]
            continue
        root, requested[index] = root_name(leaf.path), shared
        siblings = [read for read, old in zip(reads, first.leaves, strict=True) if root_name(old.path) == root]
        kept[index] = any(siblings) or not siblings
    return kept, requested


def _traced_apart(first: CallKey, now: CallKey) -> tuple[list[CacheRow], list[tuple[int, int]]]:
    """The differences for which the function is traced again, and the leaves that sit in the same place."""
    rows: list[CacheRow] = []
    pairs = [(index, index) for index in range(len(now.leaves))]
    if not _same_signature(first.signature, now.signature):
        rows.extend(_static_rows(first, now))
        walk = _walk(first, now)
        rows.extend(
            CacheRow(entry.path, entry.compiled, entry.called, (entry.kind,), "traces again")
            for entry in walk.differences
        )
        pairs = [(one, other) for one, other, _ in walk.pairs]
        if not rows and not any(_types_differ(first.leaves[one], now.leaves[other]) for one, other in pairs):
            rows.append(CacheRow("the arguments", "", "", ("container",), "traces again"))
    for one, other in pairs:
        before, after = first.leaves[one], now.leaves[other]
        if differs := _types_differ(before, after):
            sides = (before.text, after.text) if before.text != after.text else (_placed(before), _placed(after))
            rows.append(CacheRow(after.path, *sides, differs, "traces again"))
    if first.context != now.context:
        rows.extend(_setting_rows(first, now))
    return rows, pairs


def _types_differ(first: LeafKey, now: LeafKey) -> tuple[str, ...]:
    return () if first.aval == now.aval else type_difference(first.aval, now.aval) or ("type",)


def _same_signature(first: Any, now: Any) -> bool:
    try:
        return bool(first == now)
    except Exception:
        # Static values whose __eq__ raises: jit does not find them either.
        return False


def _static_rows(first: CallKey, now: CallKey) -> list[CacheRow]:
    rows = []
    moved = _respelt(first, now)
    for place in dict.fromkeys((*first.static, *now.static)):
        name = (first.static_names | now.static_names)[place]
        if place in moved.values():
            continue
        if (other := moved.get(place)) is not None:
            before, after = first.static[place], now.static[other]
            spelt = ("by keyword", "by position") if isinstance(place, str) else ("by position", "by keyword")
            sides = [f"{shorten(repr(value))} {how}" for value, how in zip((before, after), spelt, strict=True)]
            alike = type(before) is type(after) and is_equal(before, after)
            differs = (spelt[1],) if alike else (spelt[1], "static value")
            rows.append(CacheRow(name, *sides, differs, "traces again"))
            continue
        sides = [shorten(repr(key.static[place])) if place in key.static else "missing" for key in (first, now)]
        if place in first.static and place in now.static:
            before, after = first.static[place], now.static[place]
            # jit takes 1 and True for different although Python does not.
            if type(before) is type(after) and is_equal(before, after):
                continue
            if type(before) is not type(after) and sides[0] == sides[1]:
                sides = [f"{side} ({type(value).__name__})" for side, value in zip(sides, (before, after), strict=True)]
            alike = isinstance(place, str) and is_equal(before, after) and not _jax_types.tells_static_types_apart()
            outcome: Outcome = "dispatches again" if alike else "traces again"
            rows.append(CacheRow(name, *sides, ("static value",), outcome))
            continue
        rows.append(CacheRow(name, *sides, ("static value",), "traces again"))
    return rows


def _respelt(first: CallKey, now: CallKey) -> dict[int | str, int | str]:
    """Where static arguments sit that came by position in one call and by keyword in the other, place by place."""
    gone = [place for place in first.static if place not in now.static]
    come = {now.static_names[place]: place for place in now.static if place not in first.static}
    return {place: come[name] for place in gone if (name := first.static_names[place]) in come}


def _walk(first: CallKey, now: CallKey) -> structure.Walk:
    sides = [
        Side(key.tree, key.key_paths, lambda index, key=key: key.leaves[index].text)  # type: ignore[misc]
        for key in (first, now)
    ]
    try:
        return structure.compare(*sides, tuple(leaf.path for leaf in first.leaves), (), lambda *_: True, lambda _: "")
    except RecursionError:
        return structure.Walk()


def _setting_rows(first: CallKey, now: CallKey) -> list[CacheRow]:
    names = [name for name in now.settings if not is_equal(first.settings.get(name), now.settings[name])]
    return [
        CacheRow(
            f"setting {name}",
            shorten(str(first.settings.get(name))),
            shorten(str(now.settings[name])),
            ("setting",),
            "traces again",
        )
        for name in names
    ] or [CacheRow("a context of JAX", "", "", ("setting",), "traces again")]


def _placement(leaf: LeafKey, requested: Any) -> Any:
    """Where the program must take a leaf; None where that is left open."""
    if requested is not None:
        return requested
    return leaf.sharding if leaf.committed else None


def _placed_apart(
    first: CallKey,
    now: CallKey,
    pairs: Sequence[tuple[int, int]],
    kept: Sequence[bool],
    requested: Sequence[Any],
) -> list[CacheRow]:
    """The differences for which the trace is compiled again."""
    rows = []
    for one, other in pairs:
        if not kept[other] or _jax_types.follows_device_argument(requested[other]):
            continue
        before, after = first.leaves[one], now.leaves[other]
        rank = len(getattr(after.aval, "shape", ()))
        places = _placement(before, requested[other]), _placement(after, requested[other])
        if (places[0] is None) != (places[1] is None):
            differs: tuple[str, ...] = ("committed",)
        elif places[0] is not None and not _jax_types.are_placed_alike(places[0], places[1], rank):
            differs = (placement_difference(places[0], places[1]),)
        elif before.layout != after.layout:
            differs = ("layout",)
        else:
            continue
        rows.append(CacheRow(after.path, _placed(before), _placed(after), differs, "compiles again"))
    return rows


def _refused_placements(now: CallKey, kept: Sequence[bool], requested: Sequence[Any]) -> tuple[CacheRow, ...]:
    """Rows for arrays that cannot be used where they are: jit moves no committed array."""
    rows = []
    placed: list[tuple[LeafKey, Any]] = []
    for leaf, is_kept, wanted in zip(now.leaves, kept, requested, strict=True):
        if leaf.deleted and is_kept:
            rows.append(CacheRow(leaf.path, "", leaf.text, ("deleted",), "raises"))
            continue
        if wanted is not None and _jax_types.follows_device_argument(wanted):
            # jit moves arguments to its device, but a type that names a mesh of several devices fits on no single one.
            if is_kept and _jax_types.explicit_mesh_size(leaf.aval) > 1:
                rows.append(CacheRow(leaf.path, describe_sharding(wanted), _placed(leaf), ("sharding",), "raises"))
            continue
        if wanted is not None and leaf.sharding is not None:
            differs = ""
            if wanted.memory_kind != leaf.sharding.memory_kind:
                differs = "memory kind"
            elif leaf.committed and not _jax_types.are_cut_alike(wanted, leaf.sharding, len(leaf.aval.shape)):
                differs = placement_difference(wanted, leaf.sharding)
            if differs:
                rows.append(CacheRow(leaf.path, describe_sharding(wanted), _placed(leaf), (differs,), "raises"))
                continue
        place = _placement(leaf, wanted)
        if is_kept and place is not None and not isinstance(getattr(place, "mesh", None), jax.sharding.AbstractMesh):
            placed.append((leaf, place))
    if rows or not placed:
        return tuple(rows)
    leading = _jax_types.device_order(placed[0][1])
    return tuple(
        CacheRow(
            leaf.path,
            f"{placed[0][0].path} on {describe_sharding(placed[0][1])}",
            _placed(leaf),
            ("device",),
            "raises",
        )
        for leaf, place in placed[1:]
        if _jax_types.device_order(place) != leading
    )


def _dispatched_apart(first: LeafKey, now: LeafKey) -> CacheRow | None:
    """The row for a leaf that the quick look-up takes for another one, although the program fits."""
    if first.abstract or now.abstract:
        return None
    if (first.sharding is None) != (now.sharding is None):
        differs = "host or device"
    elif first.committed != now.committed:
        differs = "committed"
    elif not is_equal(first.sharding, now.sharding):
        differs = placement_difference(first.sharding, now.sharding)
    elif first.layout != now.layout:
        differs = "layout"
    else:
        return None
    return CacheRow(now.path, _placed(first), _placed(now), (differs,), "dispatches again")


def _placed(leaf: LeafKey) -> str:
    if leaf.sharding is None:
        return leaf.text if leaf.abstract else f"{leaf.text} on the host"
    text = f"{leaf.text} on {describe_sharding(leaf.sharding)}"
    if leaf.layout is not None:
        text += f" as {describe_layout(leaf.layout, stored_rank(leaf.aval))}"
    return text if leaf.committed else f"{text}, uncommitted"


CACHE_COLUMNS = (
    Entry("path", "Where", "The argument, static value or setting that differs.", "The keys of the pytree.", "Never."),
    Entry(
        "first",
        "First call",
        "What the call had whose program is kept.",
        "The arguments that were inspected.",
        "Empty for what fits no call.",
    ),
    Entry("now", "This call", "What this call has.", "The arguments that were given.", "Never."),
    Entry(
        "differs",
        "What differs",
        "The property that is part of jit's key.",
        "Both calls compared in JAX's order of look-ups.",
        "Never.",
    ),
    Entry(
        "outcome",
        "What jit does",
        "What this difference alone makes jit do: dispatch, compile or trace again, or raise.",
        "Which of jit's caches the difference belongs to.",
        "Never; without rows the call hits.",
    ),
)


def cache_frame(verdict: CacheVerdict) -> "pandas.DataFrame":
    """The rows as a pandas DataFrame; `differs` is joined by commas."""
    import pandas

    columns = [entry.key for entry in CACHE_COLUMNS]
    rows = [(row.path, row.first, row.now, ", ".join(row.differs), row.outcome) for row in verdict.rows]
    return pandas.DataFrame(rows, columns=columns, dtype="object")
