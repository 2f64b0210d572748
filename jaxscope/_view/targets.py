"""The list of targets as a table.

Input: what `jaxscope._targets.listing` found. Output: one `Table`.
"""

from collections.abc import Sequence

from jaxscope._targets.listing import Listed
from jaxscope._view.cells import column_list, known
from jaxscope._view.format import format_bytes, format_count
from jaxscope._view.model import Row, Table

_STATES = {"attached": "attached", "compile-only": "compiles", "lower-only": "lowers only"}


def target_table(listed: Sequence[Listed]) -> Table:
    """One row per machine; those that cannot be compiled for are muted and say what is missing."""
    ready = sum(not item.missing for item in listed)
    return Table(
        key="targets",
        title="Targets",
        source="jaxscope",
        summary=f"{ready} of {format_count(len(listed), ('machine', 'machines'))} can be compiled for here",
        tone="",
        columns=column_list("targets", "name", "machine", "devices", "memory_bytes", "state", "missing"),
        rows=[_row(item) for item in listed],
        notes=["Other sizes are named likewise: tpu:v5e:4x8, tpu:v5p:8x8x16, cuda:h100:4."],
        empty="There are none.",
    )


def _row(item: Listed) -> Row:
    memory = known(item.memory_bytes, format_bytes)
    target = item.target
    state = "attached" if target.attached else _STATES[target.kind]
    cells = [target.name, target.label, str(target.device_count), memory, state, item.missing]
    return Row(cells=cells, tone="muted" if item.missing else "", marks=[])
