"""Where in Python an exception belongs, and its traceback as people can read it.

Problem: a tracing error arrives with dozens of frames of JAX and of jaxscope around the one line that matters; an error
of lowering has no frame of the user's at all, but hangs the operation's own traceback on itself, or names the place in
its message. Input: an exception. Output: `Frame`s, the user's own innermost line first, and a text.
"""

import os
import re
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, TracebackType

from jaxscope import _jax, _jax_failures
from jaxscope._failures.sites import NOWHERE, Position, Site, position_of, returns_of, site_at, statement_at
from jaxscope._ir.model import Frame
from jaxscope._jax_failures import class_name
from jaxscope._sources import display_name, is_library, name_cells

PACKAGE = str(Path(__file__).parents[1]) + os.sep
# A traceback of a thousand frames of one recursive function says no more than its first and last ones.
_MAXIMUM_FRAMES = 200

# … at loc("jit(f)/reshape"(callsite("f"("/home/me/f.py":108:11 to :33) at "<module>"("/home/me/g.py":10:12 to :65))))
_PRINTED_FRAME = re.compile(r'"([^"]+)"\("([^"]+)":(\d+):(\d+)(?: to (\d*):(\d+))?')
# function f at /home/me/f.py:116 traced for jit returned a value of type <class 'str'>, which is not a valid JAX type
_RETURNING_FUNCTION = re.compile(r"^function (.+) at (.+):(\d+) traced for \S+ returned a value of type")


def frames_of(error: BaseException, message: str) -> list[Frame]:
    """The user's frames that an exception belongs to, innermost first, their own before those of libraries."""
    frames = [_frame(frame, line, position) for frame, line, position in _walk(_jax_failures.traceback_of(error))]
    if not frames:
        frames = [_frame(frame, line, position) for frame, line, position in _walk(_jax_failures.origin_of(error))]
    frames.reverse()
    if not frames:
        frames = list(_printed_frames(message))
    frames = [*_returning(message), *frames]
    return sorted(frames, key=lambda frame: is_library(frame.file))


def site_of(error: BaseException) -> tuple[Site, FrameType | None, bool]:
    """Where the user's innermost own frame stood, that frame, and whether it is where the exception was raised."""
    found: tuple[FrameType, int, Position | None] | None = None
    for entry in _walk(_jax_failures.traceback_of(error)):
        if not is_library(entry[0].f_code.co_filename):
            found = entry
    if found is None:
        return NOWHERE, None, False
    last = _jax_failures.traceback_of(error)
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    frame, line, position = found
    file = frame.f_code.co_filename
    # JAX, where it takes out its own frames, asks the others where they stand by then: in the `finally` or `except`
    # that the exception passed through, or at the end of a comprehension. The line is kept.
    is_known = position is not None and position.line == line
    site = site_at(file, position) if position is not None and is_known else statement_at(file, line)
    return site, frame, last is not None and last.tb_frame is frame


def expression_at(frame: Frame) -> str:
    """The code at a place that says where it ends, on one line; "" at others."""
    if not frame.end_column:
        return ""
    return site_at(frame.file, Position(frame.line, frame.end_line, frame.column - 1, frame.end_column - 1)).text


def format_traceback(error: BaseException) -> str:
    """The traceback as Python prints it, without jaxscope's own frames and with short file names.

    It is saved in notebooks and pages, where a home directory has no place.
    """
    try:
        whole = traceback.TracebackException.from_exception(error)
        waiting, seen = [whole], set()
        while waiting:
            part = waiting.pop()
            if part is None or id(part) in seen:
                continue
            seen.add(id(part))
            part.stack = traceback.StackSummary.from_list(
                [
                    (_short_file(frame.filename), frame.lineno, frame.name, frame.line)
                    for frame in part.stack
                    if not _is_own(frame.filename)
                ]
            )
            waiting += [part.__cause__, part.__context__, *(part.exceptions or ())]
        return name_cells("".join(whole.format()))
    except BaseException as second:  # Case 117: an exception whose own formatting fails, in any way.
        return f"{class_name(type(error))} (formatting its traceback raised {class_name(type(second))})"


def is_cell(file: str) -> bool:
    """Whether a file is a notebook cell, or the prompt."""
    return "ipykernel_" in file or file.startswith("<")


def _walk(trace: TracebackType | None) -> Iterator[tuple[FrameType, int, Position | None]]:
    """The user's frames of a traceback, outermost first, with line and position."""
    entries = []
    while trace is not None:
        code = trace.tb_frame.f_code
        if not _is_own(code.co_filename) and _jax.is_user_file(code.co_filename):
            entries.append(trace)
        trace = trace.tb_next
    if len(entries) > _MAXIMUM_FRAMES:
        entries = [*entries[: _MAXIMUM_FRAMES // 2], *entries[-_MAXIMUM_FRAMES // 2 :]]
    for entry in entries:
        yield entry.tb_frame, entry.tb_lineno, position_of(entry.tb_frame.f_code, entry.tb_lasti)


def _frame(frame: FrameType, line: int, position: Position | None) -> Frame:
    code = frame.f_code
    if position is None or position.line != line:
        return Frame(code.co_filename, code.co_qualname, line)
    return Frame(
        code.co_filename, code.co_qualname, line, position.column + 1, position.end_line, position.end_column + 1
    )


def _printed_frames(message: str) -> Iterator[Frame]:
    """The frames that MLIR's own diagnostics name, innermost first."""
    for function, file, line, column, end_line, end_column in _PRINTED_FRAME.findall(message):
        if _jax.is_user_file(file) and not _is_own(file):
            # MLIR counts columns from 0 and leaves out an end line that is the same.
            end = (int(end_line or line), int(end_column) + 1) if end_column else (0, 0)
            yield Frame(file, function, int(line), int(column) + 1, *end)


def _returning(message: str) -> Iterator[Frame]:
    """The ``return`` of a function whose result JAX refused: no frame is left of it by then."""
    if (match := _RETURNING_FUNCTION.search(message)) is not None and _jax.is_user_file(match[2]):
        returns = returns_of(match[2], int(match[3]))
        yield Frame(match[2], match[1], returns[0] if len(returns) == 1 else int(match[3]))


def _is_own(file: str) -> bool:
    return file.startswith(PACKAGE)


def _short_file(file: str) -> str:
    """``jax/_src/core.py`` for an installed file, otherwise the file's name."""
    installed = re.split(r"(?:site|dist)-packages[/\\]", file)  # /usr/lib/python3/site-packages/jax/_src/core.py
    return installed[-1] if len(installed) > 1 else display_name(file)
