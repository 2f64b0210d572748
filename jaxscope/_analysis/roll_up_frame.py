"""The groups of a program's account as a data frame.

Input: a `RollUp`. Output: one row per group; `jaxscope._analysis.cost_columns` documents the columns.
"""

from typing import TYPE_CHECKING

from jaxscope._analysis.roll_up import Grouping, RollUp, rule_text, unknown_text

if TYPE_CHECKING:
    import pandas

_FRAME_KEYS = {
    "line": ("file", "python_line"),
    "function": ("function", "file"),
    "scope": ("scope",),
    "op": ("op",),
    "kernel": ("kernel", "line", "file", "python_line"),
}
GROUP_COLUMNS = {
    grouping: (
        *keys,
        *(("own_flops",) if grouping in ("function", "scope") else ()),
        "flops",
        "share",
        "transcendentals",
        "integer_ops",
        "padding_flops",
        "moved_bytes",
        "runs",
        "ops",
        *(("rule",) if grouping == "op" else ()),
        "unknown_loops",
        "missing",
    )
    for grouping, keys in _FRAME_KEYS.items()
}

_WHOLE = frozenset(
    (
        "python_line",
        "line",
        "own_flops",
        "flops",
        "transcendentals",
        "integer_ops",
        "padding_flops",
        "moved_bytes",
        "runs",
        "ops",
    )
)


def group_frame(roll_up: RollUp, grouping: Grouping) -> "pandas.DataFrame":
    """One row per group, dearest first; the columns are documented in `jaxscope._analysis.cost_columns`."""
    import pandas

    cost, listing = roll_up.cost, roll_up.linked.listing
    total = cost.total.with_loops_once.flops
    rows = []
    for group in roll_up.by(grouping):
        work = group.inclusive.with_loops_once
        place = (group.place.file, group.place.line) if group.place is not None else (None, None)
        keys: tuple[object, ...] = {"line": place, "function": (group.key, place[0])}.get(grouping, (group.key,))
        if grouping == "kernel":
            keys = (group.key, listing.ops[group.dearest].line + 1, *place)
        rows.append(
            (
                *keys,
                *((group.own.with_loops_once.flops,) if grouping in ("function", "scope") else ()),
                work.flops,
                work.flops / total if total else None,
                work.transcendentals,
                work.integer_ops,
                work.padding_flops,
                group.moved.with_loops_once if cost.kernels else None,
                group.runs.with_loops_once,
                len(group.ops),
                *((rule_text(group),) if grouping == "op" else ()),
                unknown_text(group.inclusive),
                " ".join((*group.unknown, *group.moved.missing)),
            )
        )
    frame = pandas.DataFrame(rows, columns=list(GROUP_COLUMNS[grouping]))
    whole = [name for name in frame.columns if name in _WHOLE]
    return frame.astype({**dict.fromkeys(whole, "Int64"), "share": "Float64"})
