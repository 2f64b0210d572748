"""XLA's own cost figures, before and after optimisation, with what has to be known to read them.

Problem: `cost_analysis` has returned a list, a dict, an empty one and None; a missing figure, a figure lowered by calls
that XLA cannot look into and a loop counted once all look like ordinary numbers; and for some programs asking ends
the process. Input: the lowered and the compiled stage, either None, and the texts where they were printed.
Output: a `CostTable` of raw figures in a fixed order, each known or `Unavailable`, and the notes that go with them.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jaxscope import _jax_types
from jaxscope._analysis.roll_up import moved_bytes
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._analysis.work import ProgramCost

if TYPE_CHECKING:
    import pandas

MAIN_KEYS = ("flops", "transcendentals", "bytes accessed")

# Times by a model of a machine that XLA does not describe: -185 was seen for a transformer step on a TPU.
_TIME_KEY = "optimal_seconds"

# "bytes accessed0{}", "bytes accessedout{}", "utilization12{}", and of older versions "bytes accessed operand 0 {}"
_PART = re.compile(r"^(bytes accessed|utilization)(?: operand| output)? ?(\d+|out)? ?(\{[\d,]*\})$")
# "HloModule jit_step, is_scheduled=true, num_partitions=8"
_PARTITIONS = re.compile(r"\bnum_partitions=(\d+)")


@dataclass(frozen=True, slots=True)
class CostRow:
    """One figure of XLA's.

    Attributes:
        key: XLA's own name for it.
        before: Before optimisation: what was asked for, the whole program.
        after: After optimisation: what runs, one device's share.
        is_part: Whether it is a share of another row, kept for completeness.
        note: What the figure after optimisation leaves out, "" for nothing.
    """

    key: str
    before: float | Unavailable
    after: float | Unavailable
    is_part: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class CostTable:
    """XLA's figures in a fixed order: the main ones, then their parts.

    Attributes:
        rows: The figures.
        uncounted_calls: How many calls of the compiled program XLA could not look into.
        notes: What has to be known to read the figures.
        after: XLA's table of the compiled program as it gives it, in which a negative sum is a number too.
    """

    rows: tuple[CostRow, ...]
    uncounted_calls: int
    notes: tuple[str, ...]
    after: Mapping[str, float] | Unavailable


@dataclass(frozen=True, slots=True)
class _Facts:
    """What the texts say about a program that its cost table does not."""

    loops_before: int
    loops_after: int
    conditionals: int
    custom_calls: int
    partitions: int


def cost_of(lowered: Any, compiled: Any, hlo_text: str | None = None, stablehlo_text: str | None = None) -> CostTable:
    """XLA's cost figures.

    Args:
        lowered: A `jax.stages.Lowered`, or None when that stage failed or was not reached.
        compiled: A `jax.stages.Compiled` or None.
        hlo_text: The text of the compiled HLO, None when there is none; only used for the notes.
        stablehlo_text: Likewise the text that was lowered.
    """
    notes: list[str] = []
    before = _read(lowered, "lowered", notes)
    after = _read(compiled, "compiled", notes)
    facts = _facts(hlo_text or "", stablehlo_text or "")
    uncounted = _uncounted_calls(after, _jax_types.platform_of(compiled))
    keys = {key for table in (before, after) if isinstance(table, dict) for key in table} - {_TIME_KEY}
    ordered = (*MAIN_KEYS, *sorted(keys.difference(MAIN_KEYS), key=_part_order))
    rows = tuple(
        CostRow(
            key=key,
            before=_figure(before, key, 0),
            after=_figure(after, key, uncounted),
            is_part=key not in MAIN_KEYS,
            note=_uncounted_text(uncounted) if uncounted and key in ("flops", "bytes accessed") else "",
        )
        for key in ordered
    )
    return CostTable(rows, uncounted, (*notes, *_notes(before, after, facts, uncounted)), after)


COST_COLUMNS = ("figure", "counted_before", "counted_after", "before", "after", "part", "note", "missing")


def cost_frame(
    table: CostTable, counted_before: "ProgramCost | None" = None, counted_after: "ProgramCost | None" = None
) -> "pandas.DataFrame":
    """Our figures beside XLA's; missing ones are NA, and the column ``missing`` says why, and what ours leave out.

    Args:
        table: XLA's.
        counted_before: Our account of the StableHLO, where there is one.
        counted_after: Our account of the compiled HLO, where there is one.
    """
    import pandas

    counts = {"before": counted_before, "after": counted_after}
    counted = {name: counted_figures(cost) for name, cost in counts.items()}
    rows = []
    for row in table.rows:
        figures = {"before": row.before, "after": row.after}
        reasons = [f"{name}: {value.reason}" for name, value in figures.items() if isinstance(value, Unavailable)]
        known = {name: None if isinstance(value, Unavailable) else value for name, value in figures.items()}
        ours = {f"counted_{name}": figures.get(row.key) for name, figures in counted.items()}
        for name, cost in counts.items():
            if cost is not None and row.key in counted[name]:
                reasons += [f"counted_{name}: {reason}" for reason in _left_out(cost, row.key)]
        facts = {"part": row.is_part, "note": row.note, "missing": " ".join(reasons)}
        rows.append({"figure": row.key, **ours, **known, **facts})
    frame = pandas.DataFrame(rows, columns=list(COST_COLUMNS))
    whole = dict.fromkeys(("counted_before", "counted_after"), "Int64")
    return frame.astype({**whole, "before": "Float64", "after": "Float64", "part": "bool"})


def counted_figures(cost: "ProgramCost | None") -> dict[str, int]:
    """Our totals under XLA's names, unknown loops run once; {} without an account."""
    if cost is None:
        return {}
    work = cost.total.with_loops_once
    figures = {"flops": work.flops, "transcendentals": work.transcendentals}
    if cost.kernels:
        sizes = [(moved_bytes(kernel), kernel.runs.with_loops_once) for kernel in cost.kernels if kernel.is_counted]
        if not any(isinstance(size, Unavailable) for size, _ in sizes):
            figures["bytes accessed"] = sum(size * runs for size, runs in sizes)  # type: ignore[operator,misc]
    return figures


def _left_out(cost: "ProgramCost", figure: str) -> list[str]:
    """What a figure of ours does not hold, a sentence each: without it a 0 looks like no work."""
    symbols = [loop.symbol for loop in cost.loops if isinstance(loop.trip_count, Unavailable)]
    found = [f"Loops of unknown length count once: {', '.join(symbols)}."] if symbols else []
    if figure != "bytes accessed":
        works = (op.work for op in cost.unknown)
        found += dict.fromkeys(f"Left out: {work.reason}" for work in works if isinstance(work, Unavailable))
    return found


def _read(stage: Any, name: str, notes: list[str]) -> dict[str, float] | Unavailable:
    """The figures of one stage, by XLA's CPU model where its own platform has none."""
    if stage is None:
        return Unavailable(f"The program was not {name}.")
    if name == "lowered" and _jax_types.has_symbolic_dimensions(stage):
        # On JAX 0.12 asking ends the process: "shape_util.cc Check failed: !count_overflow".
        return Unavailable("The shapes have symbolic dimensions, for which XLA counts nothing.")
    table = _ask(stage.cost_analysis)
    if isinstance(table, dict):
        return table
    other = _ask(lambda: _jax_types.count_cost_on_cpu(stage))
    if isinstance(other, dict):
        notes.append(f"The {name} figures are counted by XLA's model for CPUs: the target's own has none.")
        return other
    return table


def _ask(question: Callable[[], Any]) -> dict[str, float] | Unavailable:
    try:
        answer = question()
    except Exception as error:
        # XlaRuntimeError, NotImplementedError and what plugins raise have no common root.
        text = str(error).strip().split("\n")[0]
        return Unavailable(f"XLA refused to count: {type(error).__name__}: {text[:200]}")
    if isinstance(answer, list | tuple):
        # Older versions of JAX gave one table per executable.
        answer = answer[0] if answer else None
    if answer is None:
        return Unavailable("XLA gives no cost table for this platform.")
    if not isinstance(answer, Mapping):
        return Unavailable(f"XLA gave a {type(answer).__name__} where a table was expected.")
    return {str(key): float(value) for key, value in answer.items() if isinstance(value, int | float)}


def _figure(table: dict[str, float] | Unavailable, key: str, uncounted: int) -> float | Unavailable:
    if isinstance(table, Unavailable):
        return table
    if key not in table:
        return Unavailable("XLA's table has no such entry, which means that it counted none.")
    value = table[key]
    if not math.isfinite(value):
        return Unavailable(f"XLA reports {value}.")
    if value < 0:
        if uncounted:
            counted = f"{value + uncounted:g} counted, less 1 for each of {uncounted} calls"
            return Unavailable(f"XLA reports {value:g}: {counted} that it cannot look into.")
        return Unavailable(f"XLA reports {value:g}: it adds −1 for each call that it cannot look into.")
    return value


def _part_order(key: str) -> tuple[str, int, str]:
    """Parts by kind, then by operand number, outputs last; unknown keys by name after them."""
    found = _PART.match(key)
    if found is None:
        return ("~", 0, key)
    operand = found[2]
    return (found[1], int(operand) if operand and operand != "out" else 1 << 30, key)


def _uncounted_calls(after: dict[str, float] | Unavailable, platform: str) -> int:
    """How many opaque calls the compiled figures leave out.

    XLA's cost model enters −1 for everything it cannot know of a custom call, and sums; on CPU no other instruction has
    a time, so the sum of times is minus their number. Elsewhere times are real, or nonsense.
    See HloCostAnalysis::HandleCustomCall in https://github.com/openxla/xla/blob/main/xla/service/hlo_cost_analysis.cc
    """
    if isinstance(after, Unavailable) or platform != "cpu":
        return 0
    seconds = after.get(_TIME_KEY, 0.0)
    return int(-seconds) if math.isfinite(seconds) and seconds < 0 and seconds == int(seconds) else 0


def _facts(hlo_text: str, stablehlo_text: str) -> _Facts:
    found = _PARTITIONS.search(hlo_text.partition("\n")[0])
    return _Facts(
        loops_before=_count_instructions(stablehlo_text, "stablehlo.while"),
        loops_after=_count_instructions(hlo_text, "while"),
        conditionals=_count_instructions(hlo_text, "conditional"),
        custom_calls=_count_instructions(hlo_text, "custom-call"),
        partitions=int(found[1]) if found else 1,
    )


def _count_instructions(text: str, opcode: str) -> int:
    """Instructions of one opcode, in either notation.

    ``%while.5 = (s32[], f32[8]{0}) while(%tuple.3), condition=...`` and ``%0:2 = stablehlo.while(%arg1 = %arg0) ...``

    Searched instead of parsed: the text can hold 50 MB. A string, such as a name the user chose, stands in quotes.
    """
    needle, count, start = f" {opcode}(", 0, 0
    while (found := text.find(needle, start)) != -1:
        line = text.rfind("\n", 0, found) + 1
        head = text[line:found]
        count += " =" in head and '"' not in head
        start = found + len(needle)
    return count


def _uncounted_text(uncounted: int) -> str:
    return f"+ {uncounted} uncounted call" + ("" if uncounted == 1 else "s")


def _notes(
    before: dict[str, float] | Unavailable,
    after: dict[str, float] | Unavailable,
    facts: _Facts,
    uncounted: int,
) -> list[str]:
    notes = []
    loops = [
        f"{count} {'loop' if count == 1 else 'loops'} {when} optimisation"
        for when, count in (("before", facts.loops_before), ("after", facts.loops_after))
        if count
    ]
    if loops:
        notes.append(f"XLA counts a loop body once, however often it runs: {', '.join(loops)}.")
    if facts.conditionals:
        notes.append("XLA charges a conditional the dearest of its branches.")
    if uncounted:
        lowered_by = f"flops and bytes accessed after optimisation are {uncounted} too small"
        notes.append(f"{_uncounted_text(uncounted)}: XLA adds −1 for each call it cannot look into, so {lowered_by}.")
    elif facts.custom_calls and not isinstance(after, Unavailable):
        calls = f"{facts.custom_calls} custom call{'' if facts.custom_calls == 1 else 's'}"
        notes.append(
            f"The compiled program holds {calls}; XLA adds −1 to flops and bytes accessed for each it cannot look into."
        )
    if facts.partitions > 1 and not isinstance(after, Unavailable):
        devices = f"one of {facts.partitions} devices"
        notes.append(f"Before optimisation the figures are for the whole program, after it for {devices}.")
    for when, table in (("before", before), ("after", after)):
        if isinstance(table, dict) and "flops" not in table:
            notes.append(f"XLA counted no flops {when} optimisation: its table has no such entry.")
    return notes
