"""The Python source around a place: the loop and the function that hold it.

Problem: a jaxpr says which line made an equation, not that Python came by that line twelve times because of a loop, nor
what else the function does there. Input: a file, or a notebook's cell, and places in it. Output: `Source`, with its
functions, their own names and its imports, and the loop around a line. Nothing is run.
"""

import ast
from collections import deque
from dataclasses import dataclass
from functools import lru_cache

from jaxscope._ir.model import Frame
from jaxscope._sources import source_lines, syntax_tree

_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)

# What is not Python has no functions.
_EMPTY = ast.Module([], [])

_Position = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Function:
    """A function or a lambda.

    Attributes:
        node: Its syntax.
        name: ``<lambda>`` for a lambda.
        outer: The function around it.
        own_names: Its parameters and what it assigns or defines, without what it declares or imports.
        declared: The names that it declares `global` or `nonlocal`.
    """

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    name: str
    outer: "Function | None"
    own_names: frozenset[str]
    declared: frozenset[str]

    @property
    def first_line(self) -> int:
        """Where its code begins, the decorators included."""
        return min([self.node.lineno, *(each.lineno for each in getattr(self.node, "decorator_list", ()))])

    @property
    def first_parameter(self) -> str:
        """The name of its first parameter; "" where it has none."""
        arguments = self.node.args
        return next((each.arg for each in (*arguments.posonlyargs, *arguments.args)), "")


@dataclass(frozen=True)
class Source:
    """A file or a cell.

    Attributes:
        functions: All functions, those inside another after it.
        imports: Each imported name and what it stands for, ``np`` and ``numpy``, ``pi`` and ``math.pi``.
    """

    functions: tuple[Function, ...]
    imports: dict[str, str]

    def function_of(self, frame: Frame) -> Function | None:
        """The innermost function that runs a frame; None where none of its name holds the place."""
        # `A.step.<locals>.<lambda>`    `<listcomp>`, which before Python 3.12 is a function of its own
        name = frame.function.rpartition(".")[2]
        is_named = name == "<lambda>" or not name.startswith("<")
        begin = (frame.line, max(frame.column - 1, 0))
        end = (frame.end_line, frame.end_column - 1) if frame.end_line and frame.end_column else begin
        holding = [
            function
            for function in self.functions
            if (function.name == name or not is_named) and _begin(function.node) <= begin and end <= _end(function.node)
        ]
        return holding[-1] if holding else None

    def function_at(self, first_line: int) -> Function | None:
        """The function whose code begins on a line; None where that is not one."""
        found = [function for function in self.functions if function.first_line == first_line]
        return found[0] if len(found) == 1 else None


def read_source(file: str) -> Source:
    """The functions and imports of a source; none where it is not Python, such as a cell with magics."""
    return _read(source_lines(file))


@lru_cache(maxsize=64)
def _read(lines: tuple[str, ...]) -> Source:
    functions: list[Function] = []
    imports: dict[str, str] = {}
    waiting: deque[tuple[ast.AST, Function | None]] = deque([(syntax_tree(lines) or _EMPTY, None)])
    while waiting:
        node, outer = waiting.popleft()
        if isinstance(node, ast.Import):
            for name in node.names:
                bound = name.asname or name.name.partition(".")[0]
                imports[bound] = name.name if name.asname else bound
        elif isinstance(node, ast.ImportFrom):
            for name in node.names:
                imports[name.asname or name.name] = f"{'.' * node.level}{node.module or ''}.{name.name}"
        elif isinstance(node, _FUNCTIONS):
            outer = _function(node, outer)
            functions.append(outer)
        waiting += ((child, outer) for child in ast.iter_child_nodes(node))
    return Source(tuple(functions), imports)


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, outer: Function | None) -> Function:
    arguments = node.args
    own = {each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    own |= {each.arg for each in (arguments.vararg, arguments.kwarg) if each is not None}
    declared: set[str] = set()
    waiting: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, ast.Global | ast.Nonlocal):
            declared.update(inner.names)
        elif isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store | ast.Del):
            own.add(inner.id)
        elif isinstance(inner, ast.ExceptHandler) and inner.name:
            own.add(inner.name)
        elif isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            own.add(inner.name)
            continue
        elif isinstance(inner, ast.Lambda):
            continue
        waiting += ast.iter_child_nodes(inner)
    name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
    return Function(node, name, outer, frozenset(own - declared), frozenset(declared))


def _begin(node: ast.AST) -> _Position:
    return node.lineno, node.col_offset


def _end(node: ast.AST) -> _Position:
    return node.end_lineno, node.end_col_offset


def loop_around(file: str, first: int, last: int) -> int | None:
    """The first line of the innermost loop or comprehension whose body holds these lines; None where there is none."""
    found: list[tuple[int, int]] = []
    for node in ast.walk(syntax_tree(source_lines(file)) or _EMPTY):
        if not isinstance(node, _LOOPS) or node.end_lineno is None:
            continue
        # What a `for` loop goes over is worked out once.
        begin = node.body[0].lineno if isinstance(node, ast.For | ast.AsyncFor | ast.While) else node.lineno
        if begin <= first and last <= node.end_lineno:
            found.append((node.end_lineno - node.lineno, node.lineno))
    return min(found)[1] if found else None
