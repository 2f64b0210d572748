"""Call stacks from LLVM's debug metadata.

Problem: ``!dbg !12`` names a node of a graph: a location, the scope it is in, the file of that scope, and where it was
inlined. It may be broken, since the text may come from anywhere. Input: the metadata of one module by number. Output:
nodes of a `StackTableBuilder`; `NO_STACK` for what cannot be understood.
"""

import re
from collections.abc import Mapping

from jaxscope._ir.locations import QUOTED, make_frame
from jaxscope._ir.model import Frame, StackTableBuilder

# !DILocation(line: 4, column: 17, scope: !7, inlinedAt: !9)    distinct !DISubprogram(name: "f", file: !1, line: 3)
_NODE = re.compile(r"(?:distinct )?!(DI\w+)\(")
_FIELD = re.compile(rf"(\w+): (!?\d+|{QUOTED})")
_MAX_SCOPES = 50
# A chain of inlined calls longer than this is nobody's program.
_MAX_CALLS = 1000


class DebugMetadata:
    """The debug locations of one LLVM module."""

    def __init__(self, metadata: Mapping[str, str], stacks: StackTableBuilder):
        self._metadata = metadata
        self._stacks = stacks
        self._nodes: dict[str, int] = {}

    def node(self, number: str) -> int:
        """The call stack of the location ``!number``."""
        if (found := self._nodes.get(number)) is None:
            found = self._nodes[number] = self._stacks.intern(self._frames(number))
        return found

    def _fields(self, number: str) -> tuple[str, dict[str, str]]:
        text = self._metadata.get(number, "")
        match = _NODE.match(text)
        return (match[1], dict(_FIELD.findall(text))) if match else ("", {})

    def _frames(self, number: str) -> list[Frame]:
        frames: list[Frame] = []
        seen: set[str] = set()
        while number and number not in seen and len(frames) < _MAX_CALLS:
            seen.add(number)
            kind, fields = self._fields(number)
            if kind != "DILocation" or not fields.get("line", "").isdecimal():
                break
            file, function = self._scope(fields.get("scope", "")[1:])
            line, column = int(fields["line"]), fields.get("column", "")
            if file and line:
                frames.append(make_frame(file, function, line, int(column) if column.isdecimal() else None, 0, 0))
            number = fields.get("inlinedAt", "")[1:]
        return frames

    def _scope(self, number: str) -> tuple[str, str]:
        """File and function of a scope: the nearest that is named on the way out."""
        file = function = ""
        for _ in range(_MAX_SCOPES):
            kind, fields = self._fields(number)
            if kind == "DIFile":
                return file or self._file(fields), function
            if not file and fields.get("file"):
                file = self._file(self._fields(fields["file"][1:])[1])
            if kind == "DISubprogram":
                return file, fields.get("name", '""')[1:-1]
            if not (number := fields.get("scope", "")[1:]):
                break
        return file, function

    def _file(self, fields: Mapping[str, str]) -> str:
        name, directory = (fields.get(key, '""')[1:-1] for key in ("filename", "directory"))
        return f"{directory}/{name}" if directory and name and not name.startswith(("/", "<")) else name
