"""The expression at which the user's code stood when something was raised.

Problem: a line may hold many expressions, and what to do about a failed branch depends on whether it is an ``if``, a
``while`` or a ``max``. Input: a frame of a traceback with its position. Output: a `Site`: the text of the expression,
its syntax tree, and the forms of code around it. The source is parsed and never run.
"""

import ast
import builtins
import contextlib
import functools
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType

from jaxscope._sources import source_lines

_MAXIMUM_TEXT = 100
# A larger file is not parsed just to tell an `if` from a `while`.
_MAXIMUM_LINES = 20_000
# Where Python itself asks whether a value is true.
_TESTS = frozenset(("and", "assert", "case", "chained comparison", "if", "in", "not", "while"))


@dataclass(frozen=True)
class Site:
    """Where code stood.

    Attributes:
        text: The expression on one line, or the assignment of whose target it is; shortened; "" where it is not known.
        node: Its syntax tree; None where it is not known.
        forms: What it is and stands in, from inside out: ``call max``, ``and``, ``if``, ``raise`` and so on. The
            innermost one is there a second time, as ``innermost call max``; a call whose result nothing asks for its
            truth is ``called`` too.
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
    if path and (test := _test_of(path[0])) is not None:
        # A name, an attribute or a call that is tested: before 3.12 Python gives the place of the whole statement.
        path = [test, *path]
        while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test = test.operand
            path = [test, *path]
        position = _position(test)
    if isinstance(statement, ast.Assign | ast.AugAssign) and statement.value not in path:
        # What is written to, without what is written, says half of it.
        position = _position(statement)
        return Site(_text_of(lines, position), statement, tuple(_forms(path)))
    return Site(_text_of(lines, position), _expression(_slice(lines, position)), tuple(_forms(path)))


def statement_at(file: str, line: int) -> Site:
    """The simple statement on a line, where no more than that is known; `NOWHERE` for the head of another one.

    Its only form is ``statement``, or ``raise``: which of its expressions is meant is not known.
    """
    lines = source_lines(file)
    tree = _tree(lines)
    statements = [
        node
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    innermost = max(statements, key=lambda node: node.lineno, default=None)
    if innermost is None or hasattr(innermost, "body") or hasattr(innermost, "cases"):
        return NOWHERE
    form = "raise" if isinstance(innermost, ast.Raise) else "statement"
    return Site(_text_of(lines, _position(innermost)), innermost, (form,))


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


def _test_of(node: ast.AST) -> ast.expr | None:
    """What a statement or expression asks whether it is true; None for others."""
    return node.test if isinstance(node, ast.If | ast.While | ast.Assert | ast.IfExp) else None


def _position(node: ast.expr | ast.stmt) -> Position:
    return Position(node.lineno, node.end_lineno or 0, node.col_offset, node.end_col_offset or 0)


def _slice(lines: tuple[str, ...], position: Position) -> str:
    parts = [line.encode("utf-8", "replace") for line in lines[position.line - 1 : position.end_line]]
    parts[-1] = parts[-1][: position.end_column]
    parts[0] = parts[0][position.column :]
    return b"\n".join(parts).decode("utf-8", "replace")


def _text_of(lines: tuple[str, ...], position: Position) -> str:
    """The code at a position on one line, shortened; without comments where it goes over several."""
    text = _slice(lines, position)
    if "#" in text and "\n" in text:
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            text = ast.unparse(ast.parse(textwrap.dedent(text).strip()))
    return _one_line(text)


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
    """The nodes that hold a position, from inside out, up to the statement; [] where the file is no Python.

    The body of a lambda has nothing to do with what the lambda stands in, and ends the path as a statement does.
    """
    path: list[ast.AST] = []
    node: ast.AST | None = _tree(lines)
    while node is not None:
        path.append(node)
        node = next((child for child in ast.iter_child_nodes(node) if _holds(child, position)), None)
    path.reverse()
    last = next((number for number, node in enumerate(path) if isinstance(node, ast.stmt | ast.Lambda)), len(path))
    return path[: last + 1]


def _forms(path: list[ast.AST]) -> Iterator[str]:
    forms: list[str] = []
    inner: ast.AST | None = None
    for node in path:
        own = list(_forms_of(node, inner))
        forms += own if inner is not None else [*own, *(f"innermost {form}" for form in own)]
        inner = node
    yield from forms
    match path:
        case [ast.Call(func=ast.Name(id=name)), *_] if hasattr(builtins, name):
            pass
        case [ast.Call(), *_] if not _TESTS & set(forms):
            yield "called"


def _forms_of(node: ast.AST, inner: ast.AST | None) -> Iterator[str]:
    """What `node` is to the expression `inner` in it, or to itself where that is None."""
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            yield f"call {name}"
        case ast.BinOp(op=ast.Mod(), left=ast.Constant(value=str()) | ast.JoinedStr()):
            yield "%"
        case ast.match_case(pattern=pattern):
            yield "case" if inner is pattern else "if"
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
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            yield "comprehension"


def _holds(node: ast.AST, position: Position) -> bool:
    if not hasattr(node, "lineno"):
        # Operators, contexts and comprehensions have no place of their own; the last hold expressions.
        return any(_holds(child, position) for child in ast.iter_child_nodes(node))
    if any(_holds(decorator, position) for decorator in getattr(node, "decorator_list", ())):
        return True  # A definition's own place begins after them.
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
