"""The text of a StableHLO module, as MLIR prints it, as a `Listing`.

Problem: MLIR has one generic syntax and a pretty one per operation, and regions, attributes and locations all use the
same brackets. Input: the text of one or more modules, printed by MLIR or written by hand; with or without locations.
Output: a `Listing` whose text is the input.

What counts as an op: every operation *as printed*, terminators (``return``, ``stablehlo.return``) and symbols such as
``sdy.mesh`` included, but for ``module`` and ``func.func``, which are blocks. ``stablehlo.reduce(...) applies
stablehlo.add`` prints its body as one word, so its two hidden operations do not count.

Most lines are one complete op and take the short way, one regular expression; the others (regions, functions, text
broken over lines) are scanned token by token.
"""

import re
from dataclasses import dataclass, field

from jaxscope._ir.blocks import OpenBlock
from jaxscope._ir.locations import QUOTED, MlirLocations
from jaxscope._ir.model import Fold, Listing, Op, StackTableBuilder

# %arg0    %5    %values_3
_NAME = r"%[\w$.-]+"
_NAMES = re.compile(_NAME)
_STRINGS = re.compile(QUOTED)
# The results and the name of an op: `%0 = stablehlo.add`, `%3:2, %x = "stablehlo.case"(`, `return`; with no result only
# a dialect's prefix, quotes or these words tell an op from a line that goes on.
_OP_START = re.compile(
    rf'\s*(?:({_NAME}(?::\d+)?(?:, ?{_NAME}(?::\d+)?)*) ?= ?("?)([A-Za-z_][\w$.-]*)\2'
    r'|"([\w$.-]+)"(?=\()'
    r"|([A-Za-z_][\w$]*\.[\w$.-]+|return|call|call_indirect|module|unrealized_conversion_cast)(?=[ (@{]|$)(?! ?[=,]))"
)
_FLAT = rf'[^{{}}"]++|{QUOTED}'
# What may follow an op's name on a line that holds all of it: ` %arg0, %0 {a = [{}]} : tensor<4xf32>`
_WHOLE = re.compile(rf"(?:{_FLAT}|\{{(?:{_FLAT}|\{{(?:{_FLAT}|\{{(?:{_FLAT})*+\}})*+\}})*+\}})*+$")
# #loc12 = loc("jit(f)/mul"(#loc3))
_LOCATION_ALIAS = re.compile(r"(#loc\d*) = loc\((.*)\)\s*$")
# The tokens that matter inside an op: `loc(`, `"text"`, `// note`, `%5#1`, `%arg0:`, `%iterArg = `, `^bb0`, brackets
_TOKEN = re.compile(rf"({QUOTED})|(//)|\b(loc\()|({_NAME})(?:#\d+)?(:(?!:)| ?= ?(?!=))?|(\^[\w$.-]*)|([](){{}}[])|(:)")
_PARENTHESIS = re.compile(rf"{QUOTED}|[()]")
# The words before a region: `cond {`    `} do {`
_REGION_WORD = re.compile(r"(?:^|[\s)}])([a-z_]+) ?\{$")
# @main    @"odd name"
_SYMBOL = re.compile(rf"@([\w$.-]+|{QUOTED})")

_CLOSING = {")": "(", "]": "[", "}": "{"}
_FUNCTIONS = frozenset(("func.func", "module", "builtin.module"))


@dataclass(slots=True)
class _OpenOp:
    """An op, function or module whose text is being read."""

    line: int
    end_line: int
    name: str
    block: int
    results: tuple[str, ...] = ()
    result_count: int = 0
    operands: list[str] = field(default_factory=list)
    type: str = ""
    tail: str = ""
    location: str = ""
    arguments: list[str] = field(default_factory=list)
    symbol: str = ""


def result_type(tail: str, count: int) -> str:
    """The result type of an op with `count` results, from the text after its name without location.

    ``%0 : tensor<f32>`` has it after the colon, ``(tensor<f32>) -> tensor<i1>`` after the arrow, and where more types
    are printed than there are results (``stablehlo.select``: predicate, result) they are the last.
    """
    _, colon, types = tail.rpartition(": ")
    if not count or not colon or ("}" in types and "{" not in types):
        return ""
    _, arrow, after = types.partition(" -> ")
    types = (after if arrow else types).strip()
    if not arrow and "," in types:
        parts = split_types(types)
        types = ", ".join(parts[-count:])
    return types


def split_types(types: str) -> list[str]:
    """A list of types at its outer commas: ``tensor<2xf32>, tuple<i1, i2>`` is two."""
    parts, depth, start = [], 0, 0
    for index, character in enumerate(types):
        if character in "<([{":
            depth += 1
        elif character in ")]}" or (character == ">" and types[index - 1] != "-"):
            depth -= 1
        elif character == "," and not depth:
            parts.append(types[start:index].strip())
            start = index + 1
    parts.append(types[start:].strip())
    return parts


def _closing_parenthesis(line: str, at: int) -> int:
    """The index of the parenthesis that closes the one before `at`, quoted text apart; the line's end without one."""
    depth = 1
    for match in _PARENTHESIS.finditer(line, at):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if not depth:
            return match.start()
    return len(line)


class _Reader:
    """Reads lines into ops and blocks. `scopes` holds, per open region, its block and the op and brackets around it."""

    def __init__(self, lines: list[str], locations: MlirLocations):
        self.lines = lines
        self.locations = locations
        self.ops: list[_OpenOp] = []
        self.blocks: list[OpenBlock] = []
        self.scopes: list[tuple[int, _OpenOp | None, list[str]]] = []
        self.block = -1
        self.op: _OpenOp | None = None
        self.brackets: list[str] = []
        self.in_label = False

    def read(self) -> None:
        for number, line in enumerate(self.lines):
            if not self.brackets:
                if line.startswith("#"):
                    if match := _LOCATION_ALIAS.match(line):
                        self.locations.define(match[1], match[2])
                        continue
                elif self._read_whole_op(number, line):
                    continue
            self._read_tokens(number, line)
        for block in self.blocks:
            if block.end_line < 0:
                block.end_line = len(self.lines) - 1

    def _begin(self, number: int, match: re.Match[str]) -> _OpenOp:
        results, _, name, quoted, bare = match.groups()
        op = _OpenOp(number, number, name or quoted or bare, self.block)
        if results is not None:
            # %3:2 defines one name for two results.
            parts = [part.strip().partition(":") for part in results.split(",")]
            op.results = tuple(part[0] for part in parts)
            op.result_count = sum(int(part[2] or 1) for part in parts)
        self.op = op
        if op.name not in _FUNCTIONS:
            self.ops.append(op)
        return op

    def _read_whole_op(self, number: int, line: str) -> bool:
        """Takes a line that holds one op and nothing else; False when it is anything more complicated."""
        match = _OP_START.match(line)
        if match is None:
            return False
        at = line.rfind(" loc(")
        end, location = len(line), ""
        if at > 0:
            # Only an alias: text in quotes may itself read " loc(".
            location = line[at + 5 : -1]
            if not location.startswith("#") or ")" in location:
                return False
            end = at
        tail = line[match.end() : end]
        if "= %" in tail or "({" in tail or "//" in tail or tail.count("(") != tail.count(")"):
            return False
        if not _WHOLE.match(tail) or match[3] in _FUNCTIONS or match[4] in _FUNCTIONS or match[5] in _FUNCTIONS:
            return False
        op = self._begin(number, match)
        op.location = location
        op.operands = _NAMES.findall(_STRINGS.sub("", tail) if '"' in tail else tail)
        op.tail, op.type = tail, result_type(tail, op.result_count)
        return True

    def _read_tokens(self, number: int, line: str) -> None:
        at, may_start = 0, True
        tail_start = 0
        while True:
            if may_start and not self.brackets and not self.in_label:
                if match := _OP_START.match(line, at):
                    self._begin(number, match)
                    at = tail_start = match.end()
                may_start = False
            token = _TOKEN.search(line, at)
            if token is None:
                break
            at = token.end()
            string, comment, location, name, binder, label, bracket, colon = token.groups()
            if string is not None:
                continue
            if comment is not None:
                line = line[: token.start()]
                break
            if location is not None:
                closing = _closing_parenthesis(line, at)
                if self.op is not None and not self.brackets:
                    self._note_tail(line[tail_start : token.start()])
                    self.op.location = line[at:closing]
                    tail_start = len(line)
                at = closing + 1
            elif name is not None:
                self._note_name(name, binder)
            elif label is not None:
                # Before a region's first op or at the start of a line it is no successor: its names are the region's.
                if not self.brackets and (self.op is None or not line[: token.start()].strip()):
                    self.in_label, self.op = True, None
            elif colon is not None:
                if self.in_label and not self.brackets:
                    self.in_label, may_start = False, True
            elif bracket == "{" and self._opens_region(number, line, token.start()):
                if self.op is not None and number == self.op.line:
                    # On a later line this is `cond`, `do` or `reducer(...)`.
                    self._note_tail(line[tail_start : token.start()])
                self._open_region(number, line[: token.end()])
                may_start = True
            elif bracket in "([{":
                self.brackets.append(bracket)
            elif self.brackets and self.brackets[-1] == _CLOSING[bracket]:
                self.brackets.pop()
            elif bracket == "}" and self.scopes:
                if self.op is not None and (tail := line[tail_start : token.start()].strip()):
                    self._note_tail(tail)
                    self.op.end_line = number
                self._close_region(number)
                tail_start, may_start = at, self.op is None
        if self.op is not None:
            self.op.end_line = max(self.op.end_line, number) if line.strip() else self.op.end_line
            if not self.brackets:
                self._note_tail(line[tail_start:])

    def _note_tail(self, text: str) -> None:
        """Adds text at the op's own bracket level; its type may come after its regions and on several lines."""
        if self.op is not None:
            self.op.tail += " " + text.strip()
            self.op.type = ""

    def _note_name(self, name: str, binder: str | None) -> None:
        if self.in_label:
            if self.block >= 0:
                self.blocks[self.block].arguments.append(name)
        elif self.op is None:
            return
        elif self.op.name in _FUNCTIONS or (binder is not None and self.brackets):
            self.op.arguments.append(name)
        else:
            self.op.operands.append(name)

    def _opens_region(self, number: int, line: str, at: int) -> bool:
        """Whether a brace begins a region, not an attribute dictionary: by what is before it, else by what follows."""
        if self.brackets and not (self.brackets[-1] == "(" and line[:at].rstrip().endswith(("(", ","))):
            return False
        if line[:at].endswith("("):
            return True
        rest = line[at + 1 :].partition("//")[0].strip()
        follow = number + 1
        while not rest and follow < len(self.lines):
            rest = self.lines[follow].partition("//")[0].strip()
            follow += 1
            if rest.startswith("}"):
                # An empty dictionary is printed on one line, an empty region never.
                return True
        if rest.startswith("}"):
            return self.op is not None and self.op.name in _FUNCTIONS
        return rest.startswith("^") or _OP_START.match(rest) is not None

    def _open_region(self, number: int, before: str) -> None:
        op = self.op
        kind, name, arguments = "region", "", []
        if op is not None:
            arguments = list(op.arguments)
            if op.name in _FUNCTIONS:
                kind = "func" if op.name == "func.func" else "module"
                symbol = _SYMBOL.search(" ".join(self.lines[op.line : number + 1]))
                name = "@" + symbol[1] if symbol else ""
            elif word := _REGION_WORD.search(before):
                name = word[1]
        self.scopes.append((self.block, op, self.brackets))
        line = op.line if op is not None and kind != "region" else number
        self.blocks.append(OpenBlock(kind, name, line, self.block, arguments))
        self.block, self.op, self.brackets = len(self.blocks) - 1, None, []

    def _close_region(self, number: int) -> None:
        self.blocks[self.block].end_line = number
        self.block, self.op, self.brackets = self.scopes.pop()


def _fold_runs(lines: list[str]) -> list[Fold]:
    """A closed fold for each run of location definitions."""
    folds, start = [], None
    for number, line in enumerate((*lines, "")):
        if line.startswith("#loc"):
            start = number if start is None else start
        elif start is not None:
            if number - start > 1:
                folds.append(Fold(start, number - 1, "locations", closed=True))
            start = None
    return folds


def parse(text: str) -> Listing:
    """Reads a module; text that is not MLIR gives a listing with few or no ops, never an exception."""
    stacks = StackTableBuilder()
    locations = MlirLocations(stacks)
    lines = text.split("\n")
    reader = _Reader(lines, locations)
    reader.read()
    ops = []
    for op in reader.ops:
        path, stack = locations.resolve(op.location) if op.location else ("", -1)
        ops.append(
            Op(
                op.line,
                op.end_line,
                op.name,
                op.results,
                tuple(op.operands),
                op.type or result_type(op.tail, op.result_count),
                path,
                stack,
                op.block,
            )
        )
    blocks = tuple(block.close(isolated=block.kind != "region") for block in reader.blocks)
    folds = _fold_runs(lines)
    for block in blocks:
        # The line that closes a region goes on with the op's types or its next region; it stays.
        end_line = block.end_line if block.kind == "func" else block.end_line - 1
        if block.kind != "module" and end_line > block.line:
            folds.append(Fold(block.line, end_line, "function" if block.kind == "func" else "region"))
    folds.sort(key=lambda fold: (fold.line, -fold.end_line))
    return Listing("stablehlo", text, tuple(ops), blocks, stacks.build(), tuple(folds))
