"""The expression at which the user's code stood when something was raised.

Problem: a line may hold many expressions, and what to do about a failed branch depends on whether it is an ``if``, a
``while`` or a ``max``. Input: a frame of a traceback with its position. Output: a `Site`: the text of the expression,
its syntax tree, and the forms of code around it. The source is parsed and never run.
"""

import ast
import contextlib
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType

from jaxscope._sources import source_lines

_MAXIMUM_TEXT = 100
# A larger file is not parsed just to tell an `if` from a `while`.
_MAXIMUM_LINES = 20_000


@dataclass(frozen=True)
class Site:
    """Where code stood.

    Attributes:
        text: The expression on one line, or the assignment of whose target it is; shortened; "" where it is not known.
        node: Its syntax tree; None where it is not known.
        forms: What it is and stands in, from inside out: ``call max``, ``and``, ``if``, ``raise`` and so on.
    """

    text: str = ""
    node: ast.AST | None = None
    forms: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Position:
    """A stretch of a source file: lines from 1, columns in bytes of UTF-8 from 0."""

    line: int
    end_line: int
    column: int
    end_column: int


NOWHERE = Site()


def position_of(code: CodeType, instruction: int) -> Position | None:
    """What Python knows of where an instruction, by its offset in bytes, came from; None where that was left out."""
    # Two bytes each, as `traceback` counts them.
    for number, found in enumerate(code.co_positions()):
        if number == instruction // 2:
            return Position(*found) if None not in found else None
    return None


def site_at(file: str, position: Position) -> Site:
    """The expression at a position in a file; `NOWHERE` where the source cannot be read."""
    lines = source_lines(file)
    if not 0 < position.line <= position.end_line <= len(lines):
        return NOWHERE
    path = _path(lines, position)
    statement = path[-1] if path else None
    if isinstance(statement, ast.Assign | ast.AugAssign) and statement.value not in path:
        # What is written to, without what is written, says half of it.
        position = Position(
            statement.lineno, statement.end_lineno or 0, statement.col_offset, statement.end_col_offset or 0
        )
        return Site(_one_line(_slice(lines, position)), statement, tuple(_forms(path)))
    text = _slice(lines, position)
    return Site(_one_line(text), _expression(text), tuple(_forms(path)))


def returns_of(file: str, line: int) -> tuple[int, ...]:
    """The lines of the ``return`` statements of the function that is defined at a line; a lambda's own line.

    Those of functions inside it are left out.
    """
    tree = _tree(source_lines(file))
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Lambda) and node.lineno == line:
            return (node.body.lineno,)
        if isinstance(node, ast.FunctionDef) and line in (node.lineno, *(each.lineno for each in node.decorator_list)):
            return tuple(each.lineno for each in _own_statements(node) if isinstance(each, ast.Return))
    return ()


def _own_statements(function: ast.FunctionDef) -> Iterator[ast.AST]:
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop(0)
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)


def _slice(lines: tuple[str, ...], position: Position) -> str:
    parts = [line.encode("utf-8", "replace") for line in lines[position.line - 1 : position.end_line]]
    parts[-1] = parts[-1][: position.end_column]
    parts[0] = parts[0][position.column :]
    return b"\n".join(parts).decode("utf-8", "replace")


def _one_line(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MAXIMUM_TEXT else text[: _MAXIMUM_TEXT - 1] + "…"


def _expression(text: str) -> ast.expr | None:
    # From Python 3.12 the position can be that of a field of an f-string, `{x:.3f}`.
    for form in (f"({text.strip()}\n)", f"f{text.strip()!r}"):
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            return ast.parse(form, mode="eval").body
    return None  # A statement, or no Python at all.


def _path(lines: tuple[str, ...], position: Position) -> list[ast.AST]:
    """The nodes that hold a position, from inside out, up to the statement; [] where the file is no Python."""
    path: list[ast.AST] = []
    node: ast.AST | None = _tree(lines)
    while node is not None:
        path.append(node)
        node = next((child for child in ast.iter_child_nodes(node) if _holds(child, position)), None)
    path.reverse()
    last = next((number for number, node in enumerate(path) if isinstance(node, ast.stmt)), len(path))
    return path[: last + 1]


def _forms(path: list[ast.AST]) -> Iterator[str]:
    inner: ast.AST | None = None
    for node in path:
        yield from _forms_of(node, inner)
        inner = node


def _forms_of(node: ast.AST, inner: ast.AST | None) -> Iterator[str]:
    """What `node` is to the expression `inner` in it, or to itself where that is None."""
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            yield f"call {name}"
        case ast.BoolOp():
            yield "and"
        case ast.UnaryOp(op=ast.Not()):
            yield "not"
        case ast.Compare(ops=[ast.In() | ast.NotIn()]):
            yield "in"
        case ast.Compare(ops=[_, _, *_]):
            yield "chained comparison"
        case ast.IfExp(test=test) | ast.If(test=test) if inner is test:
            yield "if"
        case ast.comprehension(ifs=tests) if inner in tests:
            yield "if"
        case ast.While(test=test) if inner is test:
            yield "while"
        case ast.Assert():
            yield "assert"
        case ast.Raise():
            yield "raise"
        case ast.Assign() | ast.AugAssign() | ast.AnnAssign():
            yield "assignment"
        case ast.Subscript():
            yield "subscript"


def _holds(node: ast.AST, position: Position) -> bool:
    if not hasattr(node, "lineno"):
        # Operators, contexts and comprehensions have no place of their own; the last hold expressions.
        return any(_holds(child, position) for child in ast.iter_child_nodes(node))
    start, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
    return start <= (position.line, position.column) and (position.end_line, position.end_column) <= end


@functools.lru_cache(maxsize=8)
def _tree(lines: tuple[str, ...]) -> ast.Module | None:
    if len(lines) > _MAXIMUM_LINES:
        return None
    try:
        return ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None  # A cell with magics is not Python.
