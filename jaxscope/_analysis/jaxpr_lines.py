"""The line of a jaxpr's listing that each equation is printed on.

Problem: the printer gives text, the program gives objects, and nothing connects the two. Input: a closed jaxpr and the
`Listing` of its text. Output: the line of each equation by its identity. Both are walked in the same order: equations
stand in their jaxpr's block in order, a jaxpr that the printer named stands in a block of that name. Where the two do
not agree, the equations of that jaxpr have no line.
"""

import re
from collections.abc import Mapping
from typing import Any

from jaxscope import _jax_equations
from jaxscope._ir.model import Listing

# `name=_where jaxpr=_where1]`    `jaxpr=_where1` on a line of its own    `branches=(_f _f1)`
_NAMED = r"(?<![\w.]){parameter}=(\()?([^\s\[\](){{}}]+(?:\s+[^\s\[\](){{}}]+)*)"


def line_of_equations(closed_jaxpr: Any, listing: Listing) -> Mapping[int, int]:
    """The line, counted from 0, of every equation that could be found, by the equation's ``id``."""
    return _Lines(listing).run(closed_jaxpr.jaxpr)


class _Lines:
    def __init__(self, listing: Listing):
        self.listing = listing
        self.ops_of: dict[int, list[int]] = {}
        for index, op in enumerate(listing.ops):
            self.ops_of.setdefault(op.block, []).append(index)
        self.blocks_of: dict[int, list[int]] = {}
        self.named: dict[str, int] = {}
        for index, block in enumerate(listing.blocks):
            self.blocks_of.setdefault(block.parent, []).append(index)
            if block.parent == -1 and block.name:
                self.named[block.name] = index
        self.found: dict[int, int] = {}
        self.seen: set[int] = set()

    def run(self, jaxpr: Any) -> Mapping[int, int]:
        roots = [index for index in self.blocks_of.get(-1, ()) if not self.listing.blocks[index].name]
        if roots:
            self.jaxpr(jaxpr, roots[-1])
        return self.found

    def jaxpr(self, jaxpr: Any, block: int) -> None:
        waiting = [(jaxpr, block)]
        while waiting:
            jaxpr, block = waiting.pop()
            if id(jaxpr) in self.seen:
                continue
            self.seen.add(id(jaxpr))
            ops = self.ops_of.get(block, [])
            if len(ops) != len(jaxpr.eqns):
                continue
            for number, equation in zip(ops, jaxpr.eqns, strict=True):
                self.found[id(equation)] = self.listing.ops[number].line
                waiting.extend(self.inside(equation, number, block))

    def inside(self, equation: Any, number: int, block: int) -> list[tuple[Any, int]]:
        """The jaxprs inside an equation with the blocks they are printed in."""
        op = self.listing.ops[number]
        blocks = self.listing.blocks
        printed = [index for index in self.blocks_of.get(block, ()) if op.line <= blocks[index].line <= op.end_line]
        text = "\n".join(self.listing.lines[op.line : op.end_line + 1])
        pairs: list[tuple[Any, int]] = []
        inners = _jax_equations.inner_jaxprs(equation)
        for parameter in dict.fromkeys(inner.parameter for inner in inners):
            jaxprs = [inner.jaxpr for inner in inners if inner.parameter == parameter]
            own = [index for index in printed if blocks[index].name == parameter]
            if len(own) != len(jaxprs):
                match = re.search(_NAMED.format(parameter=re.escape(parameter)), text)
                names = match.group(2).split() if match else []
                names = names if match and match.group(1) else names[:1]
                own = [self.named[name] for name in names if name in self.named]
            if len(own) == len(jaxprs):
                pairs.extend(zip(jaxprs, own, strict=True))
        return pairs
