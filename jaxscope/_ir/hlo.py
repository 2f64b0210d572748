"""The text of an HLO module, compiled or not, as a `Listing`.

Problem: HLO is printed one instruction a line, but a big program has 400,000 of them, with types, literals, strings and
layouts that hold every kind of bracket. Input: what ``compiled.as_text()`` or ``lowered.as_text("hlo")`` gives, any
backend, with stack-frame tables (JAX 0.9 and later), ``source_line=`` metadata (0.8) or neither. Output: a `Listing`
whose text is the input.

Every instruction is an op, parameters and constants included. Every computation is an isolated block of kind
``computation``, or ``entry`` for the one that runs; its arguments are its parameter instructions, by number. A name
path is the whole ``op_name``: fused instructions join several with ``;``, which scopes may contain as well.
"""

import re
from dataclasses import dataclass, field

from jaxscope._ir.locations import QUOTED, TABLE_TITLES, HloStackTables, decode_hlo_string, make_frame
from jaxscope._ir.model import NO_STACK, Block, Fold, Listing, Op, StackTableBuilder

# An instruction up to its first operand, one line:
# `  ROOT %add.0 = f32[4]{0} add(`    `  t.1 = (f32[2]{0:T(8,128)}, /*index=1*/s32[]) tuple(`
# A tuple's type ends where an opcode follows; nothing inside a type reads `) word(`.
_INSTRUCTION = re.compile(r"\s+(?:ROOT )?(%?[^\s=(){}]+) = ([^\s(]\S*|\(.*?\)) ([a-z][\w-]*)\(")
# Operands without shapes: `%a, %b)` or `)`
_PLAIN_OPERANDS = re.compile(r"[^()]*\)")
# Operands with shapes, up to the parenthesis that closes them: `f32[2]{0:T(8,128)(2,1)} %a, (s32[], (f32[])) %b)`
_OPERANDS = re.compile(r"(?:[^()]++|\((?:[^()]++|\((?:[^()]++|\((?:[^()]++|\([^()]*+\))*+\))*+\))*+\))*+\)")
# /*index=5*/
_COMMENT = re.compile(r"/\*.*?\*/")
# The name at the end of an operand: `f32[4]{0} %add.0` or `add.0`
_OPERAND_NAME = re.compile(r"%?[\w.$-]+$")
# metadata={op_type="mul" op_name="jit(f)/mul" source_file="f.py" source_line=3 scheduling_name="m" stack_frame_id=7}
_METADATA_FIELD = re.compile(rf"(\w+)=({QUOTED}|-?\d+)")
# The same, from its brace to the one that closes it.
_METADATA = re.compile(rf"\{{(?:[^{{}}\"]++|{QUOTED}|\{{[^{{}}]*\}})*+\}}")
# `%fused_computation (p: f32[4]) -> f32[4] {`    `ENTRY main.3 {`
_COMPUTATION = re.compile(r"(ENTRY )?(%?[^\s=(){}]+) (?:\(.*\) -> .*)?\{\s*$")
# calls=%fused_computation    to_apply=region_0.1    branch_computations={%a, %b}    body=%b, condition=%c
_CALLED = re.compile(
    r"\b(?:calls|to_apply|body|condition|true_computation|false_computation|select|scatter|comparator"
    r"|branch_computations|called_computations)=(\{[^{}]*\}|%?[\w.$-]+)"
)
_METADATA_START = ", metadata="


def called_computations(instruction: str) -> tuple[str, ...]:
    """The computations that an instruction's line names, as printed and in order: bodies, branches, fusions."""
    found: list[str] = []
    for value in _CALLED.findall(_strip_strings(instruction)):
        found.extend(name.strip() for name in value.strip("{}").split(",") if name.strip())
    return tuple(found)


_STRING = re.compile(QUOTED)


def _strip_strings(text: str) -> str:
    return _STRING.sub('""', text) if '"' in text else text


@dataclass(slots=True)
class _OpenBlock:
    kind: str
    name: str
    line: int
    end_line: int = -1
    parameters: dict[int, str] = field(default_factory=dict)


class _MetadataReader:
    """Name path and stack of an instruction's metadata, read once for each different text."""

    def __init__(self, stacks: StackTableBuilder, tables: HloStackTables):
        self.stacks = stacks
        self.tables = tables
        self.known: dict[str, tuple[str, int]] = {}

    def read(self, text: str) -> tuple[str, int]:
        if (found := self.known.get(text)) is None:
            fields = dict(_METADATA_FIELD.findall(text))
            path = fields.get("op_name", "")
            found = self.known[text] = (
                decode_hlo_string(path) if path.startswith('"') else "",
                self._stack(fields),
            )
        return found

    def _stack(self, fields: dict[str, str]) -> int:
        frame_id = fields.get("stack_frame_id", "")
        if frame_id.isdecimal():
            return self.tables.node(int(frame_id))
        file, line = fields.get("source_file", ""), fields.get("source_line", "")
        if not file.startswith('"') or not line.isdecimal():
            return NO_STACK
        column, end_line, end_column = (
            int(value) if (value := fields.get(key, "")).isdecimal() else 0
            for key in ("source_column", "source_end_line", "source_end_column")
        )
        return self.stacks.push(make_frame(decode_hlo_string(file), "", int(line), column, end_line, end_column))


def _operand_names(text: str) -> tuple[str, ...]:
    """The names in an operand list, whose closing parenthesis may still be there."""
    text = text[:-1] if text.endswith(")") else text
    if "/*" in text:
        text = _COMMENT.sub("", text)
    if "(" not in text and "[" not in text:
        return tuple(text.split(", ")) if text else ()
    names, depth, start = [], 0, 0
    for index, character in enumerate(text):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and not depth:
            names.append(text[start:index])
            start = index + 1
    names.append(text[start:])
    return tuple(match[0] for name in names if (match := _OPERAND_NAME.search(name.strip())))


def _read_tables(lines: list[str], tables: HloStackTables) -> list[Fold]:
    """Takes in the tables at the head of the text; a closed fold for each."""
    folds = []
    at = 0
    # They stand before the first computation, which ends with a brace.
    while at < len(lines) and not lines[at].endswith("{"):
        if lines[at] in TABLE_TITLES:
            end = at + 1
            while end < len(lines) and lines[end].strip():
                end += 1
            tables.read(lines[at], lines[at + 1 : end])
            if end - 1 > at:
                folds.append(Fold(at, end - 1, "locations", closed=True))
            at = end
        at += 1
    return folds


def parse(text: str) -> Listing:
    """Reads a module; text that is not HLO gives a listing with few or no ops, never an exception."""
    lines = text.split("\n")
    stacks = StackTableBuilder()
    tables = HloStackTables(stacks)
    folds = _read_tables(lines, tables)
    metadata = _MetadataReader(stacks, tables)
    ops: list[Op] = []
    blocks: list[_OpenBlock] = []
    block: _OpenBlock | None = None
    number_of_block = -1
    # The last line of the literal before, where one was printed over several lines.
    literal_end = -1
    # Looked up once: this loop runs for every line of the largest texts.
    match_instruction, match_plain = _INSTRUCTION.match, _PLAIN_OPERANDS.match
    known_metadata, read_metadata = metadata.known, metadata.read

    for number, line in enumerate(lines):
        if number <= literal_end:
            continue
        match = match_instruction(line) if block is not None else None
        if match is None:
            if line.startswith("}"):
                if block is not None:
                    block.end_line = number
                    block, number_of_block = None, -1
            elif line.endswith("{") and (found := _COMPUTATION.match(line)):
                if block is not None:
                    block.end_line = number - 1
                block = _OpenBlock("entry" if found[1] else "computation", found[2], number)
                number_of_block = len(blocks)
                blocks.append(block)
            continue
        name, type_, opcode = match.groups()
        at, end_line = match.end(), number
        if opcode == "constant":
            operands: tuple[str, ...] = ()
            end_line = literal_end = _literal_end(lines, number)
            if end_line > number:
                line = "\n".join(lines[number : end_line + 1])
        elif opcode == "parameter":
            operands = ()
            if (index := line[at : line.find(")", at)]).isdecimal():
                block.parameters[int(index)] = name
        else:
            plain = match_plain(line, at)
            if plain is None:
                plain = _OPERANDS.match(line, at)
            operands = _operand_names(plain[0]) if plain is not None else ()
            if plain is not None:
                at = plain.end()
        path, stack = "", NO_STACK
        start = line.find(_METADATA_START, at)
        if start >= 0 and '"' in line[at:start]:
            start = _find_outside_strings(line, at, start)
        if start >= 0:
            start += len(_METADATA_START)
            if (end := _METADATA.match(line, start)) is not None:
                key = end[0]
                found_metadata = known_metadata.get(key)
                path, stack = found_metadata if found_metadata is not None else read_metadata(key)
        ops.append(Op(number, end_line, opcode, (name,), operands, type_, path, stack, number_of_block))
    last = len(lines) - 1
    done = tuple(
        Block(b.kind, b.name, b.line, last if b.end_line < 0 else b.end_line, -1, _in_order(b.parameters))
        for b in blocks
    )
    folds.extend(Fold(b.line, b.end_line, "computation") for b in done if b.end_line > b.line)
    return Listing("hlo", text, tuple(ops), done, stacks.build(), tuple(folds))


def _in_order(parameters: dict[int, str]) -> tuple[str, ...]:
    return tuple(parameters[number] for number in sorted(parameters))


def _find_outside_strings(line: str, at: int, start: int) -> int:
    """The first metadata from `start` on that is not text in quotes, -1 when there is none."""
    while start >= 0 and '"' in _STRING.sub("", line[at:start]):
        start = line.find(_METADATA_START, start + 1)
    return start


def _literal_end(lines: list[str], number: int) -> int:
    """The last line of a constant that begins at `number`: where its parentheses close, or before what ends it."""
    open_parentheses = 0
    for end in range(number, len(lines)):
        line = lines[end]
        if end > number and (line.startswith("}") or _INSTRUCTION.match(line)):
            return end - 1
        bare = _strip_strings(line)
        open_parentheses += bare.count("(") - bare.count(")")
        if open_parentheses <= 0:
            return end
    return len(lines) - 1
