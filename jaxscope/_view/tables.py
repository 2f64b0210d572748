"""The tables of the Memory and Types tabs: raw figures become cells, reasons stay reasons.

Input: the facts of an inspection whose stages have ended. Output: for each tab a short count for the strip and its
tables.
"""

from collections.abc import Sequence

from jaxscope._analysis import columns
from jaxscope._analysis.memory import TOTAL, MemoryTable
from jaxscope._analysis.mismatches import Mismatches
from jaxscope._analysis.signature import CapturedConstants, Leaf, Signature
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._facts import Facts
from jaxscope._view.call_box import call_box
from jaxscope._view.cells import MEMORY_KEYS, MISSING, Page, column_list, known, reasons_of, row_of
from jaxscope._view.format import format_bytes, format_count, format_exact
from jaxscope._view.model import Column, Row, Table, Tone
from jaxscope._view.type_tables import cache_table

_MAXIMUM_TITLE_LENGTH = 160
_SIZE = Column(
    key="size", label="Size", align="right", code=False, help="The bytes beside it, rounded to three digits."
)


def title(name: str, signature: Signature, types: Sequence[tuple[str, str]]) -> str:
    """``attention(q: f32[8,128,64], k: …) → f32[8,128,64]``, cut where it gets too long to read.

    `types` are those that were asked for: all that is known where no stage was reached.
    """
    arguments = [f"{leaf.path}: {_type_of(leaf)}" for leaf in signature.arguments]
    if signature.types is None:
        arguments = [f"{path}: {type_}" for path, type_ in types]
    arguments += [f"{leaf.path}={leaf.value}" for leaf in signature.static]
    outputs = ", ".join(leaf.type for leaf in signature.outputs)
    result = f"({outputs})" if len(signature.outputs) != 1 else outputs
    if signature.types is None or (not signature.outputs and not signature.arguments):
        result = "?" if signature.types is None else result
    shown = f"{name}({', '.join(arguments)}) → {result}"
    if len(shown) <= _MAXIMUM_TITLE_LENGTH:
        return shown
    few = ", ".join(arguments[:3]) + (f", … {len(arguments) - 3} more" if len(arguments) > 3 else "")
    if len(signature.outputs) > 2:
        result = f"{len(signature.outputs)} arrays"
    return f"{name}({few}) → {result}"


def memory_table(facts: Facts) -> Table:
    """XLA's account of one device's memory."""
    memory: MemoryTable = facts.memory
    # Fields that this version of XLA does not have, and an idle host, are told in the data frame only.
    shown = [row for row in memory.rows if row.key in MEMORY_KEYS or not isinstance(row.size_bytes, Unavailable)]
    shown = [row for row in shown if not (row.is_host and row.size_bytes == 0)]
    rows = [
        row_of(
            columns.row("memory", row.key).label,
            known(row.size_bytes, format_bytes),
            known(row.size_bytes, format_exact),
            row.source,
            reasons_of(row.note, row.size_bytes),
        )
        for row in shown
    ]
    for row, cells in zip(shown, rows, strict=True):
        cells["marks"] = [0, 1] if row.key == TOTAL else []
        cells["tone"] = "muted" if isinstance(row.size_bytes, Unavailable) else ""
    return Table(
        key="memory",
        title="Memory",
        source="XLA's own memory analysis",
        summary="",
        tone="",
        columns=[*column_list("memory", "memory"), _SIZE, *column_list("memory", "size_bytes", "source", "note")],
        rows=rows,
        notes=list(memory.notes),
        empty="XLA gave no figures.",
    )


def types_page(facts: Facts) -> Page:
    """The call's mismatches, where a call was given, and the compiled signature."""
    signature = facts.signature
    tables = [mismatch_table(facts.mismatches, facts.call_text or "")] if facts.mismatches is not None else []
    if facts.cache is not None:
        tables.append(cache_table(facts.cache))
    if signature.types is None:
        tables.append(_asked_table(facts))
    else:
        tables += [_argument_table(signature), _output_table(signature)]
    if facts.mismatches is not None:
        count = format_count(len(facts.mismatches.rows), ("mismatch", "mismatches"))
    else:
        count = format_count(len(signature.arguments) or len(facts.types), ("argument", "arguments"))
    return Page(count, [], tables, call_box(facts))


def _asked_table(facts: Facts) -> Table:
    """The types that were asked for, when no stage confirmed them."""
    return Table(
        key="arguments",
        title="Arguments",
        source="the call",
        summary=format_count(len(facts.types), ("array", "arrays")),
        tone="",
        columns=column_list("signature", "path", "type"),
        rows=[row_of(path, type_) for path, type_ in facts.types]
        + [row_of(leaf.path, f"static = {leaf.value}") for leaf in facts.signature.static],
        notes=["As given: no stage was reached that would confirm them."],
        empty="The function was given no arguments.",
    )


def mismatch_table(mismatches: Mismatches, call_text: str = "") -> Table:
    """One row per leaf of a call that differs from the compiled signature; `call_text` says which call, if known."""
    rows = []
    for row in mismatches.rows:
        raises = row.verdict == "raises"
        cells = row_of(
            row.path,
            row.compiled,
            row.called,
            ", ".join(row.differs),
            "raises" if raises else "accepted",
            ". ".join(filter(None, (row.advice.rstrip("."), row.note))) or MISSING,
        )
        cells["tone"] = "error" if raises else "warning"
        cells["marks"] = [2, 3] if raises else [3]
        rows.append(cells)
    tone: Tone = "error" if mismatches.raises else "warning" if rows else ""
    return Table(
        key="mismatches",
        title="Call against signature",
        source="jaxscope",
        summary=mismatches.summary,
        tone=tone,
        columns=column_list("mismatches", "path", "compiled", "called", "differs", "verdict", "advice"),
        rows=rows,
        notes=[*([f"The call: {_cut(call_text)}"] if call_text else []), *mismatches.notes],
        empty="Every argument agrees with the compiled signature.",
    )


def _cut(text: str) -> str:
    return text if len(text) <= _MAXIMUM_TITLE_LENGTH else f"{text[: _MAXIMUM_TITLE_LENGTH - 1]}…"


def _argument_table(signature: Signature) -> Table:
    leaves = [*signature.arguments, *signature.static]
    notes = list(signature.notes)
    constants = signature.constants
    if isinstance(constants, CapturedConstants) and constants.count:
        size = (
            "of unknown size" if isinstance(constants.size_bytes, Unavailable) else format_bytes(constants.size_bytes)
        )
        notes.append(f"Captured constants: {format_count(constants.count, ('array', 'arrays'))}, {size}.")
    split = _is_split(signature)
    total = sum(leaf.size_bytes for leaf in signature.arguments if not isinstance(leaf.size_bytes, Unavailable))
    return Table(
        key="arguments",
        title="Arguments",
        source="JAX",
        summary=f"{format_count(len(signature.arguments), ('array', 'arrays'))}, {format_bytes(total)}",
        tone="",
        columns=column_list(
            "signature", "path", "type", "size_bytes", "donated", "dropped", "sharding", *_pieces(split), "note"
        ),
        rows=[_argument_row(leaf, split) for leaf in leaves],
        notes=notes,
        empty="The function takes no arguments.",
    )


def _is_split(signature: Signature) -> bool:
    """Whether any array is divided over devices: only then is it worth a column what one of them holds."""
    leaves = (*signature.arguments, *signature.outputs)
    return any(leaf.per_device != leaf.type for leaf in leaves if " over " in known(leaf.sharding))


def _pieces(split: bool) -> tuple[str, ...]:
    return ("per_device",) if split else ()


def _argument_row(leaf: Leaf, split: bool) -> Row:
    if leaf.static:
        missing = [MISSING] * (5 if split else 4)
        row = row_of(leaf.path, f"static = {leaf.value}", *missing, leaf.note)
        row["tone"] = "muted"
        return row
    donated = "no"
    if leaf.donated:
        donated = f"yes, to {leaf.aliased}" if not isinstance(leaf.aliased, Unavailable) else "yes, but not used"
    dropped = MISSING
    if not isinstance(leaf.dropped, Unavailable):
        dropped = "yes, never read" if leaf.dropped else "no"
    row = row_of(
        leaf.path,
        _type_of(leaf),
        known(leaf.size_bytes, format_bytes),
        donated,
        dropped,
        known(leaf.sharding),
        *([known(leaf.per_device)] if split else []),
        reasons_of(leaf.note, leaf.size_bytes),
    )
    row["tone"] = "muted" if leaf.dropped is True else ""
    return row


def _output_table(signature: Signature) -> Table:
    split = _is_split(signature)
    columns = column_list("signature", "path", "type", "size_bytes", "sharding", *_pieces(split), "note")
    columns[0]["label"] = "Result"
    return Table(
        key="outputs",
        title="Results",
        source="JAX",
        summary=format_count(len(signature.outputs), ("array", "arrays")),
        tone="",
        columns=columns,
        rows=[
            row_of(
                leaf.path,
                _type_of(leaf),
                known(leaf.size_bytes, format_bytes),
                known(leaf.sharding),
                *([known(leaf.per_device)] if split else []),
                reasons_of(leaf.note, leaf.size_bytes),
            )
            for leaf in signature.outputs
        ],
        notes=[],
        empty="The function returns no arrays.",
    )


def _type_of(leaf: Leaf) -> str:
    return f"{leaf.type} weak" if leaf.weak_type else leaf.type
