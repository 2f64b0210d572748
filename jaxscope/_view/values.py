"""From a listing to the columns that say where values are defined, used and called, for the browser.

Problem: a name means another value in every region, jaxpr and computation, so the browser cannot find a definition by
its text; and 370,000 instructions with 500,000 operands must stay a small part of what is sent. Input: a `Listing`.
Output: `ValueColumns`, flat lists of small numbers. Names are not sent: they stand in the lines.
"""

import re
from dataclasses import dataclass

from jaxscope._analysis.hlo_module import FUSIONS
from jaxscope._ir.hlo import called_computations
from jaxscope._ir.model import Block, Listing

ENTRY_OF_BLOCK = -1

# The opcodes whose instructions may name computations; the others are not searched for them.
_CALLING = frozenset(
    (
        *FUSIONS,
        *("call", "while", "conditional", "custom-call", "async-start", "reduce", "reduce-window", "map"),
        *("sort", "scatter", "select-and-scatter", "all-reduce", "all-reduce-start", "reduce-scatter", "topk"),
    )
)
# `%0 = call @f(%arg0)`    `%0 = func.call @"odd name"(%arg0)`
_CALLED_FUNCTION = re.compile(r'\bcall (@(?:[\w$.-]+|"(?:[^"\\]|\\.)*"))\(')
# `call void @f(ptr %0)`    `call.uni (retval0), f, (param0)`
_CALLED_SYMBOL = {
    "llvm": re.compile(r'(@(?:[\w$.-]+|"[^"]*"))\('),
    "ptx": re.compile(r"\bcall(?:\.uni)?\s+(?:\([^()]*\),\s*)?([A-Za-z_$][\w$]*)"),
}
# `jaxpr=_where`    `body_jaxpr=cond_body`    `branches=(f, g)`
_CALLED_JAXPR = re.compile(r"\b(?:\w*jaxpr|branches)=(?:(\w+)|\(([\w, ]+)\))")


@dataclass(frozen=True, slots=True)
class ValueColumns:
    """The columns `op_line`, `op_operands`, `operand_source` and `calls` of `ListingIndex`, explained there."""

    op_line: list[int]
    op_operands: list[int]
    operand_source: list[int]
    calls: list[int]


def value_columns(listing: Listing) -> ValueColumns:
    """The columns of a listing; agrees with `Listing.definition` on every operand."""
    ops, blocks = listing.ops, listing.blocks
    # A dictionary for each block: one for all of them, with pairs as keys, takes twice the time.
    results: list[dict[str, int]] = [{} for _ in blocks]
    outside: dict[str, int] = {}
    entry_of_op, entry_of_block, lines = _entries(listing)
    for number, op in enumerate(ops):
        known = results[op.block] if op.block >= 0 else outside
        for name in op.results:
            known[name] = number

    def source(block: int, name: str) -> int | None:
        while block != -1:
            if (found := results[block].get(name)) is not None:
                return entry_of_op[found]
            if name in blocks[block].arguments:
                return entry_of_block[block]
            if blocks[block].isolated:
                return None
            block = blocks[block].parent
        return None

    op_operands = [ENTRY_OF_BLOCK] * len(lines)
    operand_source: list[int] = []
    # Ops are in the order of their lines, and so are the entries.
    for entry, op in zip(entry_of_op, ops, strict=True):
        operands = op.operands
        op_operands[entry] = len(operands)
        if not operands:
            continue
        block = op.block
        known = results[block] if block >= 0 else {}
        for name in operands:
            if (found := known.get(name)) is not None:
                operand_source.append(entry - entry_of_op[found])
            else:
                outer = source(block, name)
                operand_source.append(0 if outer is None else entry - outer)
    return ValueColumns(_steps(lines), op_operands, operand_source, _calls(listing))


def _entries(listing: Listing) -> tuple[list[int] | range, dict[int, int], list[int]]:
    """Where each op, and each block that takes arguments, stands in the columns, and the line of each entry."""
    if listing.dialect == "hlo":
        # Its parameters are instructions.
        return range(len(listing.ops)), {}, [op.line for op in listing.ops]
    order = [(op.line, 1, number) for number, op in enumerate(listing.ops)]
    order += [(block.line, 0, number) for number, block in enumerate(listing.blocks) if block.arguments]
    order.sort()
    entry_of_op, entry_of_block = [0] * len(listing.ops), {}
    for entry, (_, is_op, number) in enumerate(order):
        if is_op:
            entry_of_op[number] = entry
        else:
            entry_of_block[number] = entry
    return entry_of_op, entry_of_block, [line for line, _, _ in order]


def _steps(numbers: list[int]) -> list[int]:
    return [number - before for before, number in zip([0, *numbers], numbers)]


def _calls(listing: Listing) -> list[int]:
    """Flat pairs: the line of a call, and how many lines before it what it calls begins (negative: after it)."""
    if listing.dialect in _CALLED_SYMBOL:
        return _calls_within_modules(listing)
    places = {block.name: block.line for block in reversed(listing.blocks) if _may_be_called(block)}
    pairs: list[int] = []
    for line, name in _called_names(listing):
        if (place := places.get(name)) is not None and place != line:
            pairs += (line, line - place)
    return pairs


def _calls_within_modules(listing: Listing) -> list[int]:
    """The calls of a listing of several modules, which may each have a function of the same name."""
    blocks = listing.blocks
    places = {(block.parent, block.name): block.line for block in reversed(blocks) if block.kind == "func"}
    pattern = _CALLED_SYMBOL[listing.dialect]
    pairs: list[int] = []
    last = -1
    for op in listing.ops:
        if op.name.startswith(("call", "invoke")) and op.block >= 0 and op.line != last:
            last = op.line
            for name in pattern.findall(listing.lines[op.line]):
                if (place := places.get((blocks[op.block].parent, name))) is not None:
                    pairs += (op.line, op.line - place)
    return pairs


def _may_be_called(block: Block) -> bool:
    # A jaxpr inside another has the name of the parameter that it is the value of.
    return bool(block.name) and (block.parent == -1 or block.kind == "func")


def _called_names(listing: Listing) -> list[tuple[int, str]]:
    lines = listing.lines
    if listing.dialect == "hlo":
        calling = (op.line for op in listing.ops if op.name in _CALLING)
        return [(line, name) for line in calling for name in called_computations(lines[line])]
    if listing.dialect == "stablehlo":
        calling = (op.line for op in listing.ops if op.name in ("call", "func.call"))
        return [(line, name) for line in calling for name in _CALLED_FUNCTION.findall(lines[line])]
    return [
        (number, name)
        for number, line in enumerate(lines)
        if "jaxpr=" in line or "branches=" in line
        for one, several in _CALLED_JAXPR.findall(line)
        for name in (one or several).split(", ")
    ]
