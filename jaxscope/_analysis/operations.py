"""Every op of every stage as a data frame.

Input: linked listings. Output: one row per op, in the order of the text.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from jaxscope._ir.model import NO_STACK
from jaxscope._links import LinkedListing

if TYPE_CHECKING:
    import pandas as pd


def operations_frame(listings: Iterable[LinkedListing]) -> "pd.DataFrame":
    """One row per op.

    Returns:
        Columns: ``stage`` (the listing), ``line`` (from 1, in the exact text), ``op`` (primitive, operation or opcode),
        ``result`` (names), ``type``, ``operands`` (names), ``block`` (the function, region or computation), ``file``,
        ``python_line``, ``column`` and ``function`` of the innermost Python frame (missing where the compiler names
        none), and ``name_path``.
    """
    import pandas as pd

    rows = []
    for linked in listings:
        blocks = linked.listing.blocks
        for op, stack in zip(linked.listing.ops, linked.op_stack):
            frame = linked.stacks.frames[linked.stacks.nodes[stack][0]] if stack != NO_STACK else None
            rows.append(
                (
                    linked.key,
                    op.line + 1,
                    op.name,
                    ", ".join(op.results),
                    op.type,
                    ", ".join(op.operands),
                    blocks[op.block].name if op.block >= 0 else "",
                    frame.file if frame else None,
                    frame.line if frame else None,
                    frame.column if frame else None,
                    frame.function if frame else None,
                    op.name_path,
                )
            )
    columns = [
        "stage",
        "line",
        "op",
        "result",
        "type",
        "operands",
        "block",
        "file",
        "python_line",
        "column",
        "function",
    ]
    frame = pd.DataFrame(rows, columns=[*columns, "name_path"])
    return frame.astype({"python_line": "Int64", "column": "Int64"})
