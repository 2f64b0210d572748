"""Where a line of compiler text comes from in Python, as StableHLO and HLO write it.

Problem: MLIR locations are a graph of aliases (``#loc3 = loc(callsite(#loc1 at #loc2))``) that may be forward, missing
or cyclic, and HLO has numbered tables that may be broken; both come from files we did not write. Input: the text of
locations, or the lines of the tables. Output: nodes of a `StackTableBuilder` and name paths. Nothing here raises:
what cannot be understood has no stack (`NO_STACK`) and no path ("").

Every notation prints lines from 1 and columns from 0 (they are those of Python's own `co_positions`, UTF-8 offsets); a
column that was not known prints as 0 with an end column of 0, or without any end. `Frame` counts both from 1.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from jaxscope._ir.model import NO_STACK, Frame, StackTableBuilder

# A quoted string of either notation, escapes untouched: "jit(f)/he said \22hi\22/add"
QUOTED = r'"[^"\\]*(?:\\.[^"\\]*)*"'
# "f.py":19:17 to 20:5    "f.py":19:17 to :27    "f.py":19:17    "f.py":19
_STRING = re.compile(rf"({QUOTED})(?::(\d+)(?::(\d+))?(?: to (?:(\d+)?:)?(\d+))?)?", re.DOTALL)
# #loc12
_ALIAS = re.compile(r"#[\w.$-]+")
# fused<"pass">[    fused[
_FUSED = re.compile(rf"fused(?:<(?:{QUOTED}|[^\">\[])*>)?\[", re.DOTALL)
# \C3\A9    \22    \\    \n
_MLIR_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2}|.)", re.DOTALL)
# \303\251    \"    \'    \n
_HLO_ESCAPE = re.compile(r"\\([0-7]{3}|.)", re.DOTALL)
_NAMED_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
# jit(f)    jvp()    transpose(jvp(f))
_TRANSFORM = re.compile(r"[\w<>.]+\(")
# params['w'] and args[0] name an argument; a path with such text in a scope has a slash too.
_ARGUMENT = re.compile(r"[\[\]'.]")
# Deeper nesting than this inside one location's own text is nobody's program.
_MAX_DEPTH = 100
# Nor has a stack more than a few thousand frames.
_MAX_STEPS = 20_000


def _decode(quoted: str, escape: re.Pattern[str], base: int) -> str:
    """The text of a quoted string whose numeric escapes, in `base`, are the bytes of its UTF-8 encoding."""
    inner = quoted[1:-1]
    if "\\" not in inner:
        return inner

    def one(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code, base) & 0xFF) if len(code) > 1 else _NAMED_ESCAPES.get(code, code)

    # Bytes travel as Latin-1 characters, so that text which is not ASCII may stand beside escapes.
    as_bytes = escape.sub(one, inner.encode("utf-8", "surrogatepass").decode("latin-1"))
    return as_bytes.encode("latin-1").decode("utf-8", "replace")


def decode_mlir_string(quoted: str) -> str:
    r"""The text of an MLIR string in quotes: ``"\C3\A9"`` is ``é``."""
    return _decode(quoted, _MLIR_ESCAPE, 16)


def decode_hlo_string(quoted: str) -> str:
    r"""The text of an HLO string in quotes: ``"\303\251"`` is ``é``."""
    return _decode(quoted, _HLO_ESCAPE, 8)


def make_frame(file: str, function: str, line: int, column: int | None, end_line: int, end_column: int) -> Frame:
    """A frame from printed numbers: columns count from 0 there, and 0 without an end means that none was known."""
    if column is None or (column == 0 and end_column == 0):
        return Frame(file, function, line, 0, end_line, 0)
    return Frame(file, function, line, column + 1, end_line, end_column + 1 if end_column else 0)


class _File(NamedTuple):
    file: str
    line: int
    column: int | None
    end_line: int
    end_column: int


class _Named(NamedTuple):
    name: str
    child: "_Location"


class _CallSite(NamedTuple):
    callee: "_Location"
    caller: "_Location"


class _Fused(NamedTuple):
    parts: tuple["_Location", ...]


class _Alias(NamedTuple):
    name: str


# None is ``unknown``, an undefined alias, or text that is not a location.
_Location = _File | _Named | _CallSite | _Fused | _Alias | None


def _parse(text: str, at: int, depth: int) -> tuple[_Location, int]:
    """The location that starts at `at`, and where it ends; on anything unexpected, None and the end of the text."""
    if depth > _MAX_DEPTH:
        return None, len(text)
    if text.startswith("loc(", at):
        inner, at = _parse(text, at + 4, depth + 1)
        return inner, at + 1
    if match := _STRING.match(text, at):
        quoted, line, column, end_line, end_column = match.groups()
        at = match.end()
        if line is not None:
            return (
                _File(
                    decode_mlir_string(quoted),
                    int(line),
                    None if column is None else int(column),
                    int(end_line or line) if end_column else 0,
                    int(end_column or 0),
                ),
                at,
            )
        child: _Location = None
        if text.startswith("(", at):
            child, at = _parse(text, at + 1, depth + 1)
            at += 1
        return _Named(decode_mlir_string(quoted), child), at
    if match := _ALIAS.match(text, at):
        return _Alias(match[0]), match.end()
    if text.startswith("callsite(", at):
        callee, at = _parse(text, at + 9, depth + 1)
        if not text.startswith(" at ", at):
            return callee, len(text)
        caller, at = _parse(text, at + 4, depth + 1)
        return _CallSite(callee, caller), at + 1
    if match := _FUSED.match(text, at):
        parts, at = [], match.end()
        while at < len(text):
            part, at = _parse(text, at, depth + 1)
            parts.append(part)
            if not text.startswith(", ", at):
                break
            at += 2
        return _Fused(tuple(parts)), at + 1
    return None, at + 7 if text.startswith("unknown", at) else len(text)


def _looks_like_path(name: str, around_a_file: bool) -> bool:
    """Whether a name in a location is an op's name path.

    JAX writes ``"jit(f)/mul"`` around a call stack, ``"f.<locals>.g"`` (a function) or ``"jit(f)/mul"`` (with
    tracebacks switched off) around a single place, ``"mul:"`` (the op's type for profilers) around a path, and
    ``"params['w']"`` for arguments, around nothing.
    """
    if not name or name.endswith(":"):
        return False
    if "/" in name or _TRANSFORM.match(name):
        return True
    return not around_a_file and not _ARGUMENT.search(name)


class MlirLocations:
    """The locations of one MLIR module; definitions may come in any order, before or after their use."""

    def __init__(self, stacks: StackTableBuilder):
        self._stacks = stacks
        self._texts: dict[str, str] = {}
        self._trees: dict[str, _Location] = {}
        self._nodes: dict[str, int] = {}
        self._resolved: dict[str, tuple[str, int]] = {}

    def define(self, alias: str, text: str) -> None:
        """Notes that ``alias = loc(text)``; nothing is resolved yet."""
        self._texts[alias] = text

    def resolve(self, text: str) -> tuple[str, int]:
        """The name path and the call stack of ``loc(text)``; resolve only after the last `define`."""
        if (found := self._resolved.get(text)) is None:
            tree = _parse(text, 0, 0)[0]
            found = self._resolved[text] = (self._path(tree), self._node(tree))
        return found

    def _follow(self, location: _Location) -> _Location:
        """What an alias, or an alias of an alias, stands for; None when it is undefined or its own definition."""
        seen = set()
        while isinstance(location, _Alias):
            if location.name in seen:
                return None
            seen.add(location.name)
            if location.name not in self._trees:
                text = self._texts.get(location.name)
                self._trees[location.name] = None if text is None else _parse(text, 0, 0)[0]
            location = self._trees[location.name]
        return location

    def _walk(self, location: _Location) -> Iterator[_Location]:
        """A location and all it is made of, outermost and callee first; each alias once, so that the walk ends."""
        seen: set[str] = set()
        work = [location]
        while work:
            item = work.pop()
            yield item
            if isinstance(item, _Alias):
                if item.name not in seen:
                    seen.add(item.name)
                    self._follow(item)
                    work.append(self._trees[item.name])
            elif isinstance(item, _Named):
                work.append(item.child)
            elif isinstance(item, _CallSite):
                work += (item.caller, item.callee)
            elif isinstance(item, _Fused):
                work.extend(reversed(item.parts))

    def _path(self, location: _Location) -> str:
        """The outermost name that looks like a path."""
        for item in self._walk(location):
            if isinstance(item, _Named):
                around_a_file = isinstance(self._follow(item.child), _File)
                if _looks_like_path(item.name, around_a_file):
                    return item.name
        return ""

    def _node(self, location: _Location) -> int:
        """The stack of a location. Callers are pushed before what they call; `active` holds the aliases being expanded.

        The number of steps is bounded because a few lines of aliases can spell an exponentially long stack.
        """
        node = NO_STACK
        active: set[str] = set()
        circular = False
        work: list[_Location | tuple[str, bool]] = [location]
        for _ in range(_MAX_STEPS):
            if not work:
                break
            item = work.pop()
            if isinstance(item, _Alias):
                if node == NO_STACK and (known := self._nodes.get(item.name)) is not None:
                    node = known
                elif item.name in active:
                    circular = True
                else:
                    active.add(item.name)
                    work.append((item.name, node == NO_STACK))
                    self._follow(item)
                    work.append(self._trees[item.name])
            elif isinstance(item, _CallSite):
                work.append(item.callee)
                work.append(item.caller)
            elif isinstance(item, _Named):
                child = self._follow(item.child)
                if isinstance(child, _File):
                    function = "" if _looks_like_path(item.name, True) else item.name
                    node = self._push(child, function, node)
                else:
                    work.append(item.child)
            elif isinstance(item, _File):
                node = self._push(item, "", node)
            elif isinstance(item, _Fused):
                # The first part that has a place speaks for all: MLIR lists the op that was kept first.
                work.append(
                    next((part for part in item.parts if any(isinstance(i, _File) for i in self._walk(part))), None)
                )
            elif item is not None:
                alias, from_root = item
                active.discard(alias)
                # Part of a circle has another stack when it is entered elsewhere.
                if from_root and not circular:
                    self._nodes[alias] = node
        return node

    def _push(self, place: _File, function: str, caller: int) -> int:
        return self._stacks.push(
            make_frame(place.file, function, place.line, place.column, place.end_line, place.end_column), caller
        )


# 1 "rec.py"
_TABLE_NAME = re.compile(rf"(\d+) ({QUOTED})")
# 7 {file_name_id=1 function_name_id=4 line=18 end_line=18 column=59 end_column=113}
_TABLE_RECORD = re.compile(r"(\d+) \{([^{}]*)\}")
# file_name_id=1
_TABLE_FIELD = re.compile(r"(\w+)=(\d+)")

TABLE_TITLES = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")


class HloStackTables:
    """The tables at the head of HLO text, from which ``stack_frame_id=N`` takes its call stack."""

    def __init__(self, stacks: StackTableBuilder):
        self._stacks = stacks
        self._names: dict[str, dict[int, str]] = {"FileNames": {}, "FunctionNames": {}}
        self._records: dict[str, dict[int, dict[str, int]]] = {"FileLocations": {}, "StackFrames": {}}
        self._nodes: dict[int, int] = {0: NO_STACK}

    def read(self, title: str, lines: Iterable[str]) -> None:
        """Takes in the lines below one of `TABLE_TITLES`; lines that are not entries are passed over."""
        if (names := self._names.get(title)) is not None:
            for line in lines:
                if match := _TABLE_NAME.match(line):
                    names[int(match[1])] = decode_hlo_string(match[2])
        elif (records := self._records.get(title)) is not None:
            for line in lines:
                if match := _TABLE_RECORD.match(line):
                    records[int(match[1])] = {key: int(value) for key, value in _TABLE_FIELD.findall(match[2])}

    def node(self, frame_id: int) -> int:
        """The stack for a ``stack_frame_id``; NO_STACK when any part of its chain is missing or runs in a circle."""
        frames = self._records["StackFrames"]
        chain: dict[int, None] = {}
        current = frame_id
        while current not in self._nodes:
            if current in chain or current not in frames:
                self._nodes[frame_id] = NO_STACK
                return NO_STACK
            chain[current] = None
            # The printed number is the parent's id plus one, so that 1 means none; 0 is what other printers write.
            current = max(frames[current].get("parent_frame_id", 0) - 1, 0)
        node = self._nodes[current]
        for current in reversed(chain):
            frame = self._frame(frames[current].get("file_location_id", 0))
            if frame is None:
                self._nodes[frame_id] = NO_STACK
                return NO_STACK
            node = self._nodes[current] = self._stacks.push(frame, node)
        return node

    def _frame(self, location_id: int) -> Frame | None:
        location = self._records["FileLocations"].get(location_id)
        if location is None:
            return None
        file = self._names["FileNames"].get(location.get("file_name_id", 0))
        line = location.get("line", 0)
        if file is None or not line:
            return None
        return make_frame(
            file,
            self._names["FunctionNames"].get(location.get("function_name_id", 0), ""),
            line,
            location.get("column"),
            location.get("end_line", 0),
            location.get("end_column", 0),
        )
