"""From the file names that compilers print to lines of Python that people know.

Problem: a frame names a file such as ``/tmp/ipykernel_123/456.py``, which is a notebook cell that exists nowhere on
disk, or an absolute path that differs from one machine to the next. Input: file names and line numbers. Output: source
lines (through `linecache`, where IPython keeps its cells), short display names, and the Python `Listing` that shows
just the definitions that matter.
"""

import ast
import linecache
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePath
from types import CodeType
from typing import Any

from jaxscope._ir.model import Frame, Listing

# A cell's file: /tmp/ipykernel_4242/1185309534.py, or <ipython-input-3-0a1b2c3d> in a terminal.
_CELL_FILE = re.compile(r"ipykernel_[0-9]+[/\\]([0-9]+)\.py$|^<ipython-input-([0-9]+)-")
# The same inside a message: "… while tracing the function f at /tmp/ipykernel_4242/1185309534.py:1 for jit."
_CELL_PATH = re.compile(r"(?<![^\s\"'])[^\s\"']*?ipykernel_[0-9]+[/\\][0-9]+\.py")
WHOLE_FILE_LINES = 60


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of the Python listing: `number` counts from 1 in `file`; 0 marks a heading or a gap."""

    file: str
    number: int
    text: str


def rows_of(lines: Iterable[SourceLine]) -> dict[tuple[str, int], int]:
    """(file, line) to the row of a Python listing, from 0."""
    return {(line.file, line.number): row for row, line in enumerate(lines) if line.number}


def source_lines(file: str) -> tuple[str, ...]:
    """The lines of a file or notebook cell without line feeds; () when the source is not to be had."""
    # A module that was edited and loaded again would otherwise be shown as it was when its source was first asked for.
    linecache.checkcache(file)
    return tuple(line.rstrip("\r\n") for line in linecache.getlines(file))


def source_line(file: str, line: int) -> str:
    """One line, counted from 1; "" when it is not to be had."""
    return linecache.getline(file, line).rstrip("\r\n")


@lru_cache(maxsize=64)
def syntax_tree(lines: tuple[str, ...]) -> ast.Module | None:
    """The syntax tree of a source; None where it is not Python, such as a cell with magics."""
    try:
        return ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def display_name(file: str) -> str:
    """A file's name as shown to people: the last part of the path, or ``In[3]`` for a notebook cell.

    A cell that IPython does not know (any more) is called ``cell 1185309534`` after the hash of its text, which unlike
    the number of the process is the same in every run.
    """
    if (cell := _CELL_FILE.search(file)) is None:
        return PurePath(file).name or file
    if cell[2]:
        return f"In[{cell[2]}]"
    # IPython is only asked when it is there already: importing it would cost more than everything else here.
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    number = getattr(getattr(shell, "compile", None), "_filename_map", {}).get(file)
    return f"In[{number}]" if number is not None else f"cell {cell[1]}"


def name_cells(text: str) -> str:
    """Text of JAX's with notebook cells called as people know them, not by a file that names the process."""
    return _CELL_PATH.sub(lambda found: display_name(found[0]), text)


def display_names(files: Iterable[str]) -> dict[str, str]:
    """A short name for each file; those that would share one get as much of their folder as tells them apart."""
    files = list(dict.fromkeys(files))
    names = {file: display_name(file) for file in files}
    for depth in range(2, 12):
        counts: dict[str, int] = {}
        for name in names.values():
            counts[name] = counts.get(name, 0) + 1
        clashing = [file for file in files if counts[names[file]] > 1 and len(PurePath(file).parts) >= depth]
        if not clashing:
            break
        for file in clashing:
            names[file] = "/".join(PurePath(file).parts[-depth:])
    return names


def is_library(file: str) -> bool:
    """Whether a file was installed rather than written by the user."""
    return "site-packages" in file or "dist-packages" in file


def code_of(function: Any) -> CodeType | None:
    """The code of a function, or of the ``__call__`` of an object; None where it is not Python."""
    code = getattr(function, "__code__", None)
    return code if code is not None else getattr(getattr(type(function), "__call__", None), "__code__", None)  # noqa: B004


def python_listing(
    frames: Iterable[Frame], own: tuple[str, int] | None = None
) -> tuple[Listing, tuple[SourceLine, ...]]:
    """The Python side of the links: of each file, the top-level statements that hold a frame, with gaps marked.

    Args:
        frames: Every frame that some op names.
        own: Where the inspected function is defined: shown first and always, also when nothing links to it.

    Returns:
        The listing and, for each of its lines, where it comes from.
    """
    wanted: dict[str, set[int]] = {}
    if own is not None:
        wanted[own[0]] = {own[1]}
    ordered = sorted(frames, key=lambda frame: (is_library(frame.file), frame.file, frame.line))
    for frame in ordered:
        wanted.setdefault(frame.file, set()).add(frame.line)
    names = display_names(wanted)
    shown: list[SourceLine] = []
    for file, numbers in wanted.items():
        lines = source_lines(file)
        while lines and not lines[-1].strip():
            lines = lines[:-1]
        if not lines:
            continue
        if len(wanted) > 1:
            shown.append(SourceLine(file, 0, names[file]))
        last = 0
        for first, end in _statements(lines, numbers):
            if first > last + 1 and (last or first > 1):
                shown.append(SourceLine(file, 0, "⋯"))
            shown.extend(SourceLine(file, number, lines[number - 1]) for number in range(first, end + 1))
            last = end
        if last < len(lines):
            shown.append(SourceLine(file, 0, "⋯"))
    return Listing("python", "\n".join(line.text for line in shown)), tuple(shown)


def _statements(lines: tuple[str, ...], numbers: set[int]) -> list[tuple[int, int]]:
    """The line ranges of the top-level statements that hold `numbers`; everything when the file is short."""
    last = len(lines)
    if last <= WHOLE_FILE_LINES:
        return [(1, last)]
    tree = syntax_tree(lines)
    if tree is None:
        # A cell with magics is not Python; its lines are still what the user wrote.
        return [(1, last)]
    body = tree.body
    ranges = []
    for statement in body:
        decorators = getattr(statement, "decorator_list", [])
        first = min([statement.lineno, *(decorator.lineno for decorator in decorators)])
        end = statement.end_lineno or first
        if any(first <= number <= end for number in numbers):
            if ranges and first <= ranges[-1][1] + 3:
                ranges[-1] = (ranges[-1][0], end)
            else:
                ranges.append((first, end))
    return ranges or [(1, last)]
