"""The PTX of a compiled module as a `Listing`.

Problem: XLA's dump has one PTX module for each kernel; its registers are written more than once, several instructions
may share a line, and Python places are rare. Input: the text of one or more PTX modules, one after the other, as LLVM
prints them, and optionally the `HloOrigins` of the compiled HLO. Output: a `Listing` whose text is the input.

An op is an instruction or a label. A module is a block of kind ``module``, a kernel (``.entry``) or a function
(``.func``) one of kind ``func`` whose arguments are its parameters and what it declares apart from numbered registers.
What writes a register first defines it; later writes count as uses. An op's stack is that of the ``.loc`` above it,
else that of the HLO instruction that its kernel is named after.
"""

import re
from dataclasses import dataclass, field

from jaxscope._ir.locations import QUOTED, make_frame
from jaxscope._ir.model import NO_STACK, Block, Fold, Listing, Op, StackTableBuilder
from jaxscope._ir.origins import HloOrigins, Origin

# .visible .entry fusion_12(    .func  (.param .b32 retval) helper(    .weak .func f
_FUNCTION = re.compile(r"\s*(?:\.(?:visible|extern|weak) )*\.(entry|func)\s+(?:\([^()]*\)\s*)?([A-Za-z_$%][\w$]*)")
# .param .u64 .ptr .align 16 fusion_12_param_0,    .reg .pred %p<3>;    .shared .align 4 .b8 shared_0[128];
_DECLARATION = re.compile(r"\.(?:param|shared|local|global|const|reg)\b[^;,(){}=]*?\s([A-Za-z_$%][\w$]*)(<\d+>)?")
# `$L__BB0_2:`
_LABEL = re.compile(r"\s*(\$?[A-Za-z_][\w$]*):(?:\s|$)")
# `@%p1 bra $L__BB0_2`    `@!%p1 ld.global.b32 %r1, [%rd1]`    `mov.u32 \t%r1, %tid.x`
_INSTRUCTION = re.compile(r"\s*(?:@!?(%\w+)\s+)?([a-z][\w.:]*)\s*(.*)", re.DOTALL)
# %rd13    $L__BB0_2    gemm_fusion_dot_param_0    %tid.x
_NAME = re.compile(r"%\w+(?:\.[xyzw]\b)?|\$?[A-Za-z_][\w$]*")
# The first operand where that is a register or several: `%r1, …`    `{%r1, %r2}, …`    `%p1|%p2, …`
_WRITTEN = re.compile(r"\s*(\{[^{}]*\}|%\w+(?:\|%\w+)?)\s*(?:,|$)")
# .file 1 "/home/user/model.py"
_FILE = re.compile(rf"\s*\.file\s+(\d+)\s+({QUOTED})")
# .loc 1 23 5    .loc 1 23 5, function_name $L__info_string0, inlined_at 1 40 9
_LOCATION = re.compile(r"\s*\.loc\s+(\d+) (\d+) (\d+)(?:.*?inlined_at (\d+) (\d+) (\d+))?")
_COMMENT = re.compile(r"//[^\n]*")
# Opcodes whose first operand is read although it is a register.
_READING = frozenset(("bra", "brx", "bar", "barrier", "nanosleep", "setmaxnreg"))


@dataclass(slots=True)
class _OpenBlock:
    kind: str
    name: str
    line: int
    parent: int
    end_line: int = -1
    arguments: list[str] = field(default_factory=list)


class _Reader:
    def __init__(self, lines: list[str], origins: HloOrigins | None):
        self.lines = lines
        self.origins = origins
        self.stacks = StackTableBuilder()
        self.ops: list[Op] = []
        self.blocks: list[_OpenBlock] = []
        self.folds: list[Fold] = []
        # LLVM prints the files after the kernels that name them.
        self.files = {match[1]: match[2][1:-1] for line in lines if (match := _FILE.match(line))}
        self.module = -1
        self.known: set[str] = set()

    def read(self) -> None:
        function, origin, location, opened = -1, None, NO_STACK, False
        depth = 0
        for number, line in enumerate(self.lines):
            bare = _COMMENT.sub("", line)
            if function < 0:
                if self._starts_module(number, line):
                    self._begin_module(number)
                elif match := _FUNCTION.match(bare):
                    self.blocks.append(_OpenBlock("func", match[2], number, self.module))
                    function, depth, opened, location = len(self.blocks) - 1, 0, False, NO_STACK
                    origin = self.origins.find(match[2]) if self.origins is not None else None
                    self.known = set()
                    bare = bare[match.end() :]
                else:
                    self._declare(bare, self.module)
                    continue
            if function < 0:
                continue
            block = self.blocks[function]
            if not opened:
                self._declare(bare, function)
                opened = bare.strip().startswith("{")
                depth = int(opened)
                # A declaration without a body ends with a semicolon.
                if not opened and bare.strip().endswith(";"):
                    block.end_line, function = number, -1
                continue
            if match := _LOCATION.match(bare):
                location = self._location(match)
                continue
            depth += self._braces(bare)
            if depth <= 0:
                block.end_line, function = number, -1
                self.folds.append(Fold(block.line, number, "function"))
                continue
            self._read_line(number, bare, function, origin, location)
        if function >= 0:
            self.blocks[function].end_line = len(self.lines) - 1
        self._end_module(len(self.lines) - 1)

    def _starts_module(self, number: int, line: str) -> bool:
        if line.startswith("// Generated by"):
            return True
        # Without LLVM's heading a module begins with its version.
        return line.startswith(".version") and not (
            self.module >= 0 and not any(block.parent == self.module for block in self.blocks)
        )

    def _begin_module(self, number: int) -> None:
        # The heading is a comment of three lines.
        start = number - 1 if number and self.lines[number - 1].strip() == "//" else number
        self._end_module(start - 1)
        self.blocks.append(_OpenBlock("module", "", start, -1))
        self.module = len(self.blocks) - 1

    def _end_module(self, last: int) -> None:
        if self.module >= 0:
            block = self.blocks[self.module]
            block.end_line = max(last, block.line)
            if block.end_line > block.line:
                self.folds.append(Fold(block.line, block.end_line, "module"))

    def _declare(self, text: str, block: int) -> None:
        if block < 0:
            return
        for name, several in _DECLARATION.findall(text):
            if not several:
                self.blocks[block].arguments.append(name)
                self.known.add(name)

    @staticmethod
    def _braces(text: str) -> int:
        """How much deeper a line goes: vectors of registers close on the line that they begin on."""
        return text.count("{") - text.count("}")

    def _location(self, match: re.Match[str]) -> int:
        groups = match.groups()
        stack = NO_STACK
        for file, line, column in (groups[3:], groups[:3]):
            if file in self.files and int(line):
                stack = self.stacks.push(make_frame(self.files[file], "", int(line), int(column), 0, 0), stack)
        return stack

    def _read_line(self, number: int, text: str, function: int, origin: Origin | None, location: int) -> None:
        while match := _LABEL.match(text):
            self._add(number, "label", (match[1],), (), function, origin, location)
            self.known.add(match[1])
            text = text[match.end() :]
        for part in text.split(";"):
            part = part.strip().strip("{}").strip() if part.strip() in ("{", "}") else part.strip()
            if not part:
                continue
            if part.startswith("{") and "}" not in part:
                part = part[1:].strip()
            if part.startswith("."):
                self._declare(part, function)
            elif instruction := _INSTRUCTION.match(part):
                self._read_instruction(number, instruction, function, origin, location)

    def _read_instruction(
        self, number: int, match: re.Match[str], function: int, origin: Origin | None, location: int
    ) -> None:
        guard, opcode, rest = match.groups()
        opcode = opcode.rstrip(".:")
        results: tuple[str, ...] = ()
        read = rest
        if opcode.partition(".")[0] not in _READING and (written := _WRITTEN.match(rest)):
            names = tuple(dict.fromkeys(_NAME.findall(written[1])))
            results = tuple(name for name in names if name not in self.known and name != "_")
            # What is written again is named like a use, so that the first write stays the definition.
            read = " ".join(name for name in names if name in self.known) + " " + rest[written.end() :]
            self.known.update(results)
        operands = tuple(name for name in _NAME.findall(read) if name != "_")
        if guard:
            operands = (guard, *operands)
        self._add(number, opcode, results, operands, function, origin, location)

    def _add(
        self,
        number: int,
        name: str,
        results: tuple[str, ...],
        operands: tuple[str, ...],
        function: int,
        origin: Origin | None,
        location: int,
    ) -> None:
        stack, path = location, ""
        if origin is not None:
            path = origin.name_path
            if stack == NO_STACK:
                stack = self.stacks.intern(origin.frames)
        self.ops.append(Op(number, number, name, results, operands, "", path, stack, function))


def parse(text: str, origins: HloOrigins | None = None) -> Listing:
    """Reads PTX; text that is not gives a listing with few or no ops, never an exception.

    Args:
        text: One or more modules.
        origins: The compiled HLO that the kernels are named after; None links by ``.loc`` alone.
    """
    reader = _Reader(text.split("\n"), origins)
    reader.read()
    defined: dict[int, set[str]] = {}
    for op in reader.ops:
        defined.setdefault(op.block, set()).update(op.results)
    ops = []
    for op in reader.ops:
        # Special registers, functions and immediates such as `WARP_SZ` are defined nowhere in the text.
        known = defined[op.block] | set(_arguments(reader.blocks, op.block))
        ops.append(_with_operands(op, tuple(name for name in op.operands if name in known)))
    blocks = tuple(
        Block(b.kind, b.name, b.line, max(b.line, b.end_line), b.parent, tuple(b.arguments), b.kind == "module")
        for b in reader.blocks
    )
    modules = sum(block.kind == "module" for block in blocks)
    folds = [fold for fold in reader.folds if fold.kind != "module" or modules > 1]
    folds.sort(key=lambda fold: (fold.line, -fold.end_line))
    return Listing("ptx", text, tuple(ops), blocks, reader.stacks.build(), tuple(folds))


def _arguments(blocks: list[_OpenBlock], block: int) -> list[str]:
    parent = blocks[block].parent
    return blocks[block].arguments + (blocks[parent].arguments if parent >= 0 else [])


def _with_operands(op: Op, operands: tuple[str, ...]) -> Op:
    return Op(op.line, op.end_line, op.name, op.results, operands, op.type, op.name_path, op.stack, op.block)
