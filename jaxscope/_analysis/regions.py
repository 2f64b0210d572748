"""How a StableHLO module hangs together: which op holds which region, which function a call runs.

Problem: a listing's blocks say what is around them, and a count needs the other way: what an op runs. Input: the
`Listing` of a module. Output: `Program`, which answers that, with the text of one op without its regions and location.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

from jaxscope._ir.locations import QUOTED
from jaxscope._ir.model import Listing

# A location at the end of a line, outside strings: ` loc(#loc3)`    ` loc("f"("a.py":1:2))`
_LOCATION = re.compile(rf"{QUOTED}|( loc\()")
# `%5#1`    `%iterArg_0`
_VALUE = re.compile(r"(%[\w$.-]+)(?:#(\d+))?")
# `%iterArg = %5#1`
_BINDING = re.compile(r"%[\w$.-]+ ?= ?(%[\w$.-]+)(?:#(\d+))?")
# `call @f(%0)`    `decomposition = @"odd name"`    `@main`
_SYMBOL = re.compile(rf"@([\w$.-]+|{QUOTED})")
# `decomposition = @f`    `callee = @f`
_CALLEE = re.compile(rf"\b(?:decomposition|callee) ?= ?@([\w$.-]+|{QUOTED})")
# `"func.func"() <{function_type = (tensor<4xf32>) -> (), sym_name = "main"}> ({`
_SYMBOL_NAME = re.compile(rf"\bsym_name = ({QUOTED})")
_STRINGS = re.compile(QUOTED)

TOP = -1
CALLS = frozenset(("call", "func.call", "stablehlo.composite"))


@dataclass(frozen=True, slots=True)
class Value:
    """A value as an op uses it: ``%5#1`` is result 1 of ``%5``."""

    name: str
    number: int = 0


class Program:
    """A module, from ops to what they run."""

    def __init__(self, listing: Listing):
        self.listing = listing

    @cached_property
    def ops_in(self) -> dict[int, list[int]]:
        """Block to the ops directly in it, in order; `TOP` to those in none."""
        found: dict[int, list[int]] = {}
        for index, op in enumerate(self.listing.ops):
            found.setdefault(op.block, []).append(index)
        return found

    @cached_property
    def regions(self) -> dict[int, tuple[int, ...]]:
        """Op to the blocks that are its regions, in order."""
        ops, starts = self.listing.ops, {}
        found: dict[int, list[int]] = {}
        for number, block in enumerate(self.listing.blocks):
            if block.kind != "region":
                continue
            around = self.ops_in.get(block.parent, [])
            if block.parent not in starts:
                starts[block.parent] = [ops[index].line for index in around]
            position = bisect_right(starts[block.parent], block.line) - 1
            if position >= 0 and ops[around[position]].end_line >= block.end_line:
                found.setdefault(around[position], []).append(number)
        return {op: tuple(blocks) for op, blocks in found.items()}

    @cached_property
    def owners(self) -> dict[int, int]:
        """Region to the op that holds it."""
        return {block: op for op, blocks in self.regions.items() for block in blocks}

    @cached_property
    def functions(self) -> dict[str, int]:
        """Symbol, without ``@`` and quotes, to the function's block."""
        found = {}
        for number, block in enumerate(self.listing.blocks):
            if block.kind == "func":
                # The generic form has the symbol in an attribute, and other symbols before it.
                named = _SYMBOL_NAME.search(self.listing.lines[block.line])
                found[(named[1] if named else block.name.removeprefix("@")).strip('"')] = number
        return found

    @cached_property
    def calls(self) -> dict[int, list[int]]:
        """A function's block to the ops that call it."""
        found: dict[int, list[int]] = {}
        for index, op in enumerate(self.listing.ops):
            if op.name in CALLS and (callee := self.callee(index)) is not None:
                found.setdefault(callee, []).append(index)
        return found

    def callee(self, index: int) -> int | None:
        """The block of the function that a call or a composite runs; None where it is not in the module."""
        text = self.own_text(index)
        named = _CALLEE.search(text)
        if named is None and self.listing.ops[index].name != "stablehlo.composite":
            named = _SYMBOL.search(text)
        return self.functions.get(named[1].strip('"')) if named else None

    def own_text(self, index: int) -> str:
        """The text of an op on one line, without its regions and without its location."""
        op, lines = self.listing.ops[index], self.listing.lines
        regions = self.regions.get(index, ())
        if op.line == op.end_line:
            return without_location(lines[op.line])
        parts, line = [], op.line
        for region in regions:
            block = self.listing.blocks[region]
            parts += lines[line : block.line + 1]
            line = max(block.end_line, line)
        parts += lines[line : op.end_line + 1]
        return " ".join(without_location(part).strip() for part in parts)

    def operands(self, index: int) -> list[Value]:
        """The values that an op without regions, or a ``while``, takes, in order."""
        op = self.listing.ops[index]
        text = without_location(self.listing.lines[op.line]) if self.regions.get(index) else self.own_text(index)
        if op.name == "stablehlo.while" and (bound := _BINDING.findall(text.partition("while")[2])):
            return [Value(name, int(number or 0)) for name, number in bound]
        if op.results:
            # The op's own name comes after its results, in quotes in the generic form.
            text = text.partition("=")[2]
        text = _STRINGS.sub("", text)
        return [Value(name, int(number or 0)) for name, number in _VALUE.findall(text)]

    def terminator(self, block: int) -> int | None:
        """The last op of a block: ``return`` or ``stablehlo.return``."""
        inside = self.ops_in.get(block)
        return inside[-1] if inside else None

    def argument(self, block: int, name: str) -> tuple[int, int] | None:
        """The block that takes in `name`, seen from `block`, and the argument's number; None where an op defines it."""
        blocks = self.listing.blocks
        while block != TOP:
            if name in blocks[block].arguments:
                return block, blocks[block].arguments.index(name)
            if (block, name) in self.listing.definitions or blocks[block].isolated:
                return None
            block = blocks[block].parent
        return None


def without_location(line: str) -> str:
    """A line up to its first location."""
    if (at := line.find(" loc(")) < 0:
        return line
    if '"' in line[:at]:
        at = next((match.start() for match in _LOCATION.finditer(line) if match[1]), len(line))
    return line[:at]
