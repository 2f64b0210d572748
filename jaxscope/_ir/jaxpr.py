"""The text of a jaxpr, as JAX's pretty-printer lays it out, as a `Listing`.

Problem: the notation has no published grammar, equations have several forms, parameters hold any object's ``str`` (a
user's own text, line feeds and brackets included), and sub-jaxprs stand inside parameters or before their first use.
Input: the text, and where JAX can give it the printer's source map. Output: a `Listing` whose text is the input.

The reader follows the printer: a group is either flat (``[a=1 b=2]``, ``let x = f y; z = g x in``) or broken, with
each parameter or equation on a line of its own at a fixed indentation. That indentation, not the brackets inside
values, says where a value ends.

What counts as an op: every equation as printed. A jaxpr that the printer names (``let f = {...} in``) is printed, and
counted, once, however often it is called; jaxprs inside the ``str`` of another object (``custom_linear_solve``) are
printed, and counted. Each jaxpr is an isolated block; its name is its own or the parameter's it is the value of.
Equations on references print without their primitive: ``a <- x[i]`` is called ``get``, ``x[i] <- a`` and
``a, x[i] <- x[i], b`` ``swap``, ``x[i] += a`` ``addupdate``. Literals are not operands, ``_`` is not a result.
"""

import functools
import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from jaxscope._ir.model import NO_STACK, Block, Fold, Frame, Listing, Op, StackTableBuilder

# One printed line of a source map: (start column, end column, frames innermost first) for each part of the line that an
# equation printed, columns in bytes of UTF-8; or only the frames of the line's first equation, or None.
LineStacks = Sequence[Sequence[tuple[int, int, Sequence[Frame]]] | Sequence[Frame] | None]

# f32[4]    Ref<vmem>{f32[8,128]}    f32[8@(x, y)]{V:(x, y)}    key<fry>[]
_BRACKETED = r"(?:\[(?:[^\[\]]|\[[^\[\]]*\])*\]|\{(?:[^{}]|\{[^{}]*\})*\}|\((?:[^()]|\([^()]*\))*\))"
_TYPE = rf"[^\s\[\](){{}},;.]++(?:{_BRACKETED}|[^\s\[\](){{}},;.]++)*+"
# a:f32[4]    _:f32[]
_BINDER = rf"[a-z_*]+:{_TYPE}"
_BINDERS = rf"{_BINDER}(?:\s+{_BINDER})*"
_EACH_BINDER = re.compile(rf"([a-z_*]+):({_TYPE})")
# `{ lambda a:f32[2]; b:f32[4] c:i32[]. let`
_JAXPR = re.compile(rf"\{{ lambda ((?:{_BINDERS})?); ((?:{_BINDERS})?)\. let(?=\s)")
_JAXPR_START = "{ lambda "
# `let _uniform = { lambda `
_SHARED = re.compile(r"let (\S.*?) = (?=\{ lambda )")
# `a:f32[4] b:f32[] = `    `a:f32[] <- `    `a:f32[], `
_RESULTS = re.compile(rf"({_BINDERS})( = | <- |, )")
# `mul[`    `mul `    `random_bits[`
_PRIMITIVE = re.compile(r"(?: ?= )?([^\s\[\]={}]+)(?=[ \[\n]|$)")
# Between a reference and what is written to it: `x[i,:] <- a`    `x[...] += a`
_WRITE = re.compile(r" (<-|\+=) ")
# What is written there: a reference or the start of one, `x[i,:]`    `(x[...], y[...])`
_REFERENCE = re.compile(r"\(?[a-z]+[\[.{]")
# What an equation reads or writes: `x[i,1:3]`    `x[...] mask=m other=o`
_READ = re.compile(r"([^\n;]*?)(?=\n|; |\s+in \(|$)")
# The names in such text; not the words before `=`, in type names or after a dot.
_REFERENCE_NAME = re.compile(r"(?<![\w.])[a-z]+(?![\w=(.])(?<!mask)(?<!other)")
# a variable or a literal among operands: `a`    `1.0:f32[]`    `[...]:f32[3]`    `True:bool[]`
_ATOM = rf"(?:[a-z]+(?![^\s;])|(?:\[\.\.\.\]|[^\s\[\]=:;]+):{_TYPE})"
_VARIABLE = re.compile(r"(?<![^\s])[a-z]+(?![^\s])")
# `jaxpr=`    `out_sharding=`
_KEY = re.compile(r"([A-Za-z_]\w*)=")
# The end of a jaxpr: `in (a, b) }` after its equations.
_OUTPUT = re.compile(r"\s*in \(")
_PARENTHESIS = re.compile(r"[()]")
# Where to look again when the text at hand is not a jaxpr.
_ANY_START = re.compile(r"^(?:let \S.*? = )?\{ lambda ", re.MULTILINE)
# What a flat parameter list is made of: its end, or a jaxpr, or the next key.
_FLAT_PART = re.compile(r"\]|\{ lambda |([A-Za-z_]\w*)=")
# A literal among the things a reference is read or written with: `5.0:f32[]`    `True:bool[]`
_LITERAL = re.compile(rf"(?:-?(?:\d|inf|nan)[\w.+-]*|True|False|\[\.\.\.\]):{_TYPE}")
# A slice whose start is a variable prints it twice: `a:a+4`
_SLICE = re.compile(r"\b([a-z]+):\1\+")

# Nesting beyond this is read as the text of a parameter: nobody's program, and Python's own stack is finite.
_MAX_DEPTH = 120


@functools.lru_cache(maxsize=256)
def _operands(separator: str) -> re.Pattern[str]:
    """Operands up to what ends their equation; they go on over lines that are indented more than equations are."""
    between = f"(?: |{separator} +)" if separator.startswith("\n") else " "
    return re.compile(rf"(?:{between}{_ATOM})* ?(?=\n|; |\s+in \(|$)")


@dataclass(slots=True)
class _OpenOp:
    start: int
    name: str
    results: tuple[str, ...]
    type: str
    block: int
    end: int = -1
    operands: tuple[str, ...] = ()


@dataclass(slots=True)
class _OpenBlock:
    name: str
    start: int
    parent: int
    arguments: tuple[str, ...]
    end: int = -1


@dataclass(slots=True)
class _SourceMap:
    """Offsets in the text at which a part printed by an equation starts, with that equation's frames.

    `raw` holds the offsets of line feeds that the printer did not make: they came with a parameter's own text.
    """

    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    frames: list[Sequence[Frame]] = field(default_factory=list)
    raw: set[int] = field(default_factory=set)

    def add(self, start: int, end: int, frames: Sequence[Frame]) -> None:
        """Notes the part of the text from `start` to before `end`; parts come in order."""
        self.starts.append(start)
        self.ends.append(end)
        self.frames.append(frames)

    def at(self, offset: int) -> Sequence[Frame]:
        """The frames of the equation that printed what stands at `offset`; () when none did, or it has no frames."""
        index = bisect_right(self.starts, offset) - 1
        return self.frames[index] if index >= 0 and offset < self.ends[index] else ()


def _align(text: str, line_stacks: LineStacks) -> _SourceMap:
    """Places a source map in the text.

    The printer counts columns in bytes, and a line feed inside a parameter's text as one more character of the line: so
    its lines are put in step by their lengths.
    """
    found = _SourceMap()
    lines = text.split("\n")
    at, number = 0, 0
    for entries in line_stacks:
        if number >= len(lines):
            break
        spans = [span for span in entries or () if not isinstance(span, Frame)]
        if entries and not spans:
            found.add(at, at + max(len(lines[number]), 1), tuple(entries))
        first, width = number, len(lines[number].encode("utf-8", "replace"))
        needed = max((end for _, end, _ in spans), default=0)
        while width < needed and number + 1 < len(lines):
            found.raw.add(at + sum(len(line) + 1 for line in lines[first : number + 1]) - 1)
            number += 1
            width += 1 + len(lines[number].encode("utf-8", "replace"))
        whole = "\n".join(lines[first : number + 1])
        as_bytes = None if whole.isascii() else whole.encode("utf-8", "replace")
        for start, end, frames in spans:
            if as_bytes is not None:
                start, end = (len(as_bytes[:column].decode("utf-8", "ignore")) for column in (start, end))
            found.add(at + start, at + end, frames)
        at += len(whole) + 1
        number += 1
    return found


class _Reader:
    """Reads from offset to offset; each method takes where its part starts and returns where it ends."""

    def __init__(self, text: str, source_map: _SourceMap):
        self.text = text
        self.ops: list[_OpenOp] = []
        self.blocks: list[_OpenBlock] = []
        # Line feeds that no printer made; empty while a jaxpr inside such text is read, whose layout is all its own.
        self.raw = source_map.raw
        # (start, end) offsets, kind.
        self.folds: list[tuple[int, int, str]] = []

    def read(self) -> None:
        at = 0
        while at < len(self.text):
            shared = _SHARED.match(self.text, at)
            start = shared.end() if shared is not None else at
            end = self.jaxpr(start, shared[1] if shared is not None else "", -1, 0)
            if end is None:
                # Not a jaxpr: try again where one may start.
                if (again := _ANY_START.search(self.text, at + 1)) is None:
                    return
                at = again.start()
                continue
            at = end
            for separator in (" in\n", "\n"):
                if self.text.startswith(separator, at):
                    at += len(separator)

    def jaxpr(self, at: int, name: str, parent: int, depth: int) -> int | None:
        """Reads ``{ lambda ... }``; None where there is none."""
        head = _JAXPR.match(self.text, at) if depth <= _MAX_DEPTH else None
        if head is None:
            return None
        arguments = tuple(match[1] for match in _EACH_BINDER.finditer(f"{head[1]} {head[2]}"))
        block = _OpenBlock(name, at, parent, arguments)
        number = len(self.blocks)
        self.blocks.append(block)
        text, at = self.text, head.end()
        if (last := text.rfind("\n", block.start, at)) >= 0:
            self.folds.append((block.start, last, "binders"))
        body = at
        broken = text.startswith("\n", at)
        raw_around = self.raw
        if body in self.raw:
            self.raw = set()
        at += 1
        separator = "; "
        if broken:
            indent = self._indent(at)
            separator = "\n" + " " * indent
            at += indent
        # Behind the last equation; also where there is none, before `in`.
        while at < len(text):
            if output := _OUTPUT.match(text, at):
                at = self._output(output.end() - 1)
                break
            end = self.equation(at, separator, number, depth)
            if text.startswith(separator, end):
                at = end + len(separator)
            elif end > at:
                at = end
            else:
                at = len(text)
        self.raw = raw_around
        block.end = at
        if broken:
            self.folds.append((body, at, "jaxpr"))
        return at

    def _indent(self, at: int) -> int:
        end = at
        while self.text.startswith(" ", end):
            end += 1
        return end - at

    def _output(self, at: int) -> int:
        """Reads ``(a, 1.0:f32[]) }``, with the effects that some printings add."""
        depth = 0
        for match in _PARENTHESIS.finditer(self.text, at):
            depth += 1 if match[0] == "(" else -1
            if not depth:
                at = match.end()
                break
        end = self.text.find(" }", at)
        return len(self.text) if end < 0 else end + 2

    def equation(self, at: int, separator: str, block: int, depth: int) -> int:
        """Reads one equation; an unknown form is an op named by its first word, up to the next separator."""
        text = self.text
        op = _OpenOp(at, "", (), "", block)
        self.ops.append(op)
        results = _RESULTS.match(text, at)
        joint = ""
        if results is not None:
            joint = results[2]
            binders = _EACH_BINDER.findall(results[1])
            op.results = tuple(name for name, _ in binders if name != "_")
            op.type = ", ".join(type_ for _, type_ in binders)
            if (last := text.rfind("\n", at, results.end())) >= 0:
                self.folds.append((at, last, "binders"))
            at = results.end()
        if joint == " <- ":
            op.name = "get"
            read = _READ.match(text, at)
            return self._finish_reference(op, read[1], read.end())
        if joint != " = " and (write := self._write(at)):
            op.name = "addupdate" if write[1] == "+=" else "swap"
            value = _READ.match(text, write.end())
            # `b, x[i] <- x[i], v` prints the reference twice and uses it once.
            names = value[1] if joint == ", " else f"{text[at : write.start()]} {value[1]}"
            return self._finish_reference(op, names, value.end())
        primitive = _PRIMITIVE.match(text, at)
        if primitive is None:
            op.end = self._next(at, separator)
            return op.end
        op.name = primitive[1]
        at = primitive.end()
        if text.startswith("[\n", at):
            at = self._broken_parameters(at, block, depth)
        elif text.startswith("[", at):
            at = self._flat_parameters(at, separator, block, depth)
        operands = _operands(separator).match(text, at)
        # What follows is a separator, the end, or something unforeseen, which then belongs to this equation.
        end = operands.end() if operands is not None else self._next(at, separator)
        op.operands = tuple(_VARIABLE.findall(text[at:end]))
        op.end = end if end > at or not text.startswith(" ", at) else at + 1
        return op.end

    def _write(self, at: int) -> re.Match[str] | None:
        """The arrow of an equation that writes to a reference and starts at `at`, None when it is another's."""
        if not _REFERENCE.match(self.text, at):
            return None
        end = self.text.find("\n", at)
        write = _WRITE.search(self.text, at, len(self.text) if end < 0 else end)
        if write is None or "; " in (reference := self.text[at : write.start()]) or reference[-1] not in "]})":
            return None
        return write

    def _finish_reference(self, op: _OpenOp, names: str, end: int) -> int:
        op.operands = tuple(_REFERENCE_NAME.findall(_SLICE.sub(r"\1 ", _LITERAL.sub("", names))))
        op.end = end
        return end

    def _next(self, at: int, separator: str) -> int:
        end = self.text.find(separator, at)
        return len(self.text) if end < 0 else end

    def _broken_parameters(self, at: int, block: int, depth: int) -> int:
        """Reads ``[`` and a parameter a line, up to the ``]`` at the equation's own indentation."""
        text, start = self.text, at
        indent = self._indent(at + 2)
        ends = re.compile(rf"\n {{{indent}}}(?=[A-Za-z_]\w*=)|\n {{{max(indent - 2, 0)}}}\](?=\s|;|$)")
        at += 2 + indent
        while True:
            key = _KEY.match(text, at)
            end = self._value_end(key.end() if key else at, ends, key[1] if key else "", block, depth)
            if end is None:
                return len(text)
            at = end.end()
            if end[0].endswith("]"):
                self.folds.append((start, end.start(), "parameters"))
                return at

    def _value_end(self, at: int, ends: re.Pattern[str], name: str, block: int, depth: int) -> re.Match[str] | None:
        """The end of a parameter's value, with the jaxprs in it read."""
        text = self.text
        while (end := ends.search(text, at)) is not None:
            # No further than that: looking for a jaxpr through the rest of the text would take quadratic time.
            nested = text.find(_JAXPR_START, at, end.start())
            if nested >= 0:
                after = self.jaxpr(nested, name, block, depth + 1)
                at = nested + 1 if after is None else after
            elif end.start() in self.raw:
                at = end.start() + 1
            else:
                return end
        return None

    def _flat_parameters(self, at: int, separator: str, block: int, depth: int) -> int:
        """Reads ``[a=1 b={ lambda ... }]``: it ends at the first ``]`` after which only operands follow."""
        text = self.text
        start, name = at + 1, ""
        for match in _FLAT_PART.finditer(text, at):
            if match.start() < start:
                continue
            if match[1]:
                name = match[1]
            elif match[0] == "]":
                if _operands(separator).match(text, match.end()):
                    return match.end()
            elif (after := self.jaxpr(match.start(), name, block, depth + 1)) is not None:
                start = after
        return len(text)


def parse(text: str, line_stacks: LineStacks | None = None) -> Listing:
    """Reads a jaxpr; text that is not one gives a listing with few or no ops, never an exception.

    Args:
        text: What ``jaxpr.pretty_print(use_color=False)`` gave.
        line_stacks: What the same call put into its ``source_map``, tracebacks replaced by their frames; see
            `LineStacks`. With columns, an equation is found exactly, also among several on one line and after text of
            the user's that holds line feeds.
    """
    source_map = _align(text, line_stacks or ())
    reader = _Reader(text, source_map)
    reader.read()
    line_starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def line_of(offset: int) -> int:
        return bisect_right(line_starts, offset) - 1

    stacks = StackTableBuilder()
    nodes: dict[int, int] = {}
    ops = []
    for op in reader.ops:
        frames = source_map.at(op.start) if source_map.starts else ()
        # The frames of one equation are one object, shared by its lines and by the equations of the same place.
        if (node := nodes.get(id(frames))) is None:
            node = nodes[id(frames)] = stacks.intern(frames) if frames else NO_STACK
        line, end_line = line_of(op.start), line_of(max(op.start, op.end - 1))
        ops.append(Op(line, end_line, op.name, op.results, op.operands, op.type, "", node, op.block))
    blocks = tuple(
        Block("jaxpr", b.name, line_of(b.start), line_of(max(b.start, b.end - 1)), b.parent, b.arguments)
        for b in reader.blocks
    )
    folds = []
    for start, end, kind in reader.folds:
        line, end_line = line_of(start), line_of(end - 1)
        if end_line > line:
            folds.append(Fold(line, end_line, kind))
    folds.sort(key=lambda fold: (fold.line, -fold.end_line))
    return Listing("jaxpr", text, tuple(ops), blocks, stacks.build(), tuple(folds))
