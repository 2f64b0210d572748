"""The LLVM IR of a compiled module as a `Listing`.

Problem: XLA's dump has one LLVM module for each part or kernel, several thousand lines of metadata among them, and no
Python places. Input: the text of one or more LLVM modules, one after the other, as LLVM prints them, and optionally the
`HloOrigins` of the compiled HLO. Output: a `Listing` whose text is the input.

An op is an instruction, a label, a global, or a named type: everything that defines a name or runs. A module is a block
of kind ``module``, a function with a body or a declaration one of kind ``func``. An op's stack is that of its debug
location (``!dbg``) where it has one, else that of the HLO instruction that its function is named after.
"""

import re
from dataclasses import dataclass, field

from jaxscope._ir.blocks import OpenBlock, fold_modules
from jaxscope._ir.debug_metadata import DebugMetadata
from jaxscope._ir.locations import QUOTED
from jaxscope._ir.model import NO_STACK, Fold, Listing, Op, StackTableBuilder
from jaxscope._ir.origins import HloOrigins

_WORD = r"[\w.$-]+"
# %0    %.lr.ph    %"odd name"
_LOCAL = rf"%(?:{_WORD}|{QUOTED})"
_GLOBAL = rf"@(?:{_WORD}|{QUOTED})"
# define ptx_kernel void @fusion_12(ptr %0) #0 {    declare float @__nv_expf(float)
_FUNCTION = re.compile(rf"(define|declare)\b[^@]*({_GLOBAL})\(")
# The parameters' names: "(ptr noalias align 64 dereferenceable(512) %1, i64 %2)"
_PARAMETER = re.compile(rf"(?<= )({_LOCAL})(?=[,)])")
# `  %5 = tail call float @f(...)`    `  store float %1, ptr %2, align 4`
_INSTRUCTION = re.compile(rf"\s+(?:({_LOCAL}) = )?(?:(?:tail|musttail|notail) )?([a-z]\w*)")
# `.lr.ph:    ; preds = %1`    `6:`    `"a b":`
_LABEL = re.compile(rf"({_WORD}|{QUOTED}):(?:\s|$)")
# `@constant.3 = private constant [4 x i8] zeroinitializer`    `%kernel_dim3 = type { i64, i64, i64 }`
_MODULE_NAME = re.compile(rf"({_GLOBAL}|{_LOCAL}) = (.*)")
# Names, and the strings between them, which may hold what looks like names: `asm "mov.u32 $0, %tid.x;", "=r"()`
_NAME = re.compile(rf"({_LOCAL}|{_GLOBAL})|{QUOTED}")
_STRING = re.compile(QUOTED)
# `, !dbg !12`
_DEBUG = re.compile(r", !dbg !(\d+)")
# `attributes #0 = { nounwind }`    `!5 = distinct !{!5, !6}`    `!llvm.module.flags = !{!0}`
_TAIL = re.compile(r"attributes #|![\w.]+ = |!llvm\.")


@dataclass(slots=True)
class _Function:
    """Where the ops of a function come from unless they say so themselves."""

    name_path: str = ""
    stack: int = NO_STACK


@dataclass(slots=True)
class _OpenOp:
    line: int
    end_line: int
    name: str
    block: int
    module: int
    results: tuple[str, ...] = ()
    operands: tuple[str, ...] = ()
    name_path: str = ""
    stack: int = NO_STACK
    debug: str = ""


@dataclass(slots=True)
class _Module:
    functions: set[str] = field(default_factory=set)
    metadata: dict[str, str] = field(default_factory=dict)


class _Reader:
    def __init__(self, lines: list[str], origins: HloOrigins | None):
        self.lines = lines
        self.origins = origins
        self.stacks = StackTableBuilder()
        self.ops: list[_OpenOp] = []
        self.blocks: list[OpenBlock] = []
        self.folds: list[Fold] = []
        self.modules = [_Module()]
        self.module_block = -1
        self.tail_start = -1

    def read(self) -> None:
        function: _Function | None = None
        block = -1
        open_op: _OpenOp | None = None
        for number, line in enumerate(self.lines):
            if open_op is not None:
                # `  switch i32 %0, label %1 [` and its cases.
                open_op.end_line = number
                open_op.operands += self._names(line)
                if line.strip().startswith("]"):
                    open_op = None
                continue
            if function is not None:
                if line.startswith("}"):
                    self._end_block(block, number, "function")
                    function, block = None, self.module_block
                elif (op := self._instruction(number, line, block, function)) is not None:
                    open_op = op if line.rstrip().endswith("[") else None
                continue
            if line.startswith("; ModuleID = "):
                self._begin_module(number, line)
                block = self.module_block
            elif line.startswith(("define ", "declare ")) and (match := _FUNCTION.match(line)):
                block = self._begin_function(number, line, match)
                if match[1] == "define":
                    function = self._origin(match[2])
                else:
                    block = self.module_block
            elif line.startswith(("@", "%")) and (match := _MODULE_NAME.match(line)):
                name = "type" if match[2].startswith("type ") else "global"
                op = _OpenOp(number, number, name, self.module_block, len(self.modules) - 1, (match[1],))
                op.operands = self._names(match[2])
                self.ops.append(op)
            self._note_tail(number, line)
        self._end_module(len(self.lines) - 1)
        if block not in (-1, self.module_block):
            self._end_block(block, len(self.lines) - 1, "function")

    def _begin_module(self, number: int, line: str) -> None:
        self._end_module(number - 1)
        self.modules.append(_Module())
        self.blocks.append(OpenBlock("module", line.removeprefix("; ModuleID = ").strip("'"), number, -1))
        self.module_block = len(self.blocks) - 1

    def _end_module(self, last: int) -> None:
        self._note_tail(last + 1, "")
        if self.module_block >= 0:
            self._end_block(self.module_block, last, "module")

    def _end_block(self, block: int, number: int, kind: str) -> None:
        opened = self.blocks[block]
        opened.end_line = number
        if number > opened.line:
            self.folds.append(Fold(opened.line, number, kind))

    def _begin_function(self, number: int, line: str, match: re.Match[str]) -> int:
        self.modules[-1].functions.add(match[2])
        opened = OpenBlock("func", match[2], number, self.module_block, end_line=number)
        if match[1] == "define":
            named = _PARAMETER.findall(_STRING.sub("", line[match.end() :]))
            # An entry without a label takes the number after those of the parameters: "[ 0, %1 ]" names it.
            entry = f"%{sum(name[1:].isdecimal() for name in named)}"
            opened.arguments = [*named, entry]
        self.blocks.append(opened)
        return len(self.blocks) - 1

    def _origin(self, name: str) -> _Function:
        found = self.origins.find(name) if self.origins is not None else None
        return _Function() if found is None else _Function(found.name_path, self.stacks.intern(found.frames))

    def _instruction(self, number: int, line: str, block: int, function: _Function) -> _OpenOp | None:
        if match := _INSTRUCTION.match(line):
            results, opcode, rest = match[1], match[2], line[match.end() :]
        elif match := _LABEL.match(line):
            results, opcode, rest = f"%{match[1]}", "label", ""
        else:
            return None
        op = _OpenOp(number, number, opcode, block, len(self.modules) - 1, (results,) if results else ())
        op.operands = self._names(rest)
        op.name_path, op.stack = function.name_path, function.stack
        if (found := _DEBUG.search(rest)) is not None:
            op.debug = found[1]
        self.ops.append(op)
        return op

    @staticmethod
    def _names(text: str) -> tuple[str, ...]:
        return tuple(filter(None, _NAME.findall(text)))

    def _note_tail(self, number: int, line: str) -> None:
        """Keeps metadata, and folds the attributes and metadata that end a module."""
        if _TAIL.match(line):
            if self.tail_start < 0:
                self.tail_start = number
            if line.startswith("!") and (at := line.find(" = ")) > 0:
                self.modules[-1].metadata[line[1:at]] = line[at + 3 :]
        elif self.tail_start >= 0 and (line.strip() or number >= len(self.lines)):
            last = number - 1
            while last > self.tail_start and not self.lines[last].strip():
                last -= 1
            if last > self.tail_start:
                self.folds.append(Fold(self.tail_start, last, "metadata", closed=True))
            self.tail_start = -1


def parse(text: str, origins: HloOrigins | None = None) -> Listing:
    """Reads LLVM IR; text that is not gives a listing with few or no ops, never an exception.

    Args:
        text: One or more modules.
        origins: The compiled HLO that the functions are named after; None links by debug locations alone.
    """
    reader = _Reader(text.split("\n"), origins)
    reader.read()
    debug = [DebugMetadata(module.metadata, reader.stacks) for module in reader.modules]
    ops = []
    for op in reader.ops:
        functions = reader.modules[op.module].functions
        stack = debug[op.module].node(op.debug) if op.debug else NO_STACK
        operands = tuple(name for name in op.operands if name not in functions)
        ops.append(
            Op(
                op.line,
                op.end_line,
                op.name,
                op.results,
                operands,
                "",
                op.name_path,
                op.stack if stack == NO_STACK else stack,
                op.block,
            )
        )
    blocks = tuple(block.close(isolated=block.kind == "module") for block in reader.blocks)
    return Listing("llvm", text, tuple(ops), blocks, reader.stacks.build(), fold_modules(reader.folds, blocks))
