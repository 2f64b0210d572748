"""The Python source around a line: the loop that holds it.

Problem: a jaxpr says which line made an equation, not that Python came by that line twelve times because of a loop.
Input: a file, or a notebook's cell, and lines. Output: the lines of the innermost loop around them. Nothing is run.
"""

import ast
from functools import lru_cache

from jaxscope._sources import source_lines

_LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def loop_around(file: str, first: int, last: int) -> int | None:
    """The first line of the innermost loop or comprehension whose body holds these lines; None where there is none."""
    found: list[tuple[int, int]] = []
    for node in ast.walk(parse_source(source_lines(file))):
        if not isinstance(node, _LOOPS) or node.end_lineno is None:
            continue
        # What a `for` loop goes over is worked out once.
        begin = node.body[0].lineno if isinstance(node, ast.For | ast.AsyncFor | ast.While) else node.lineno
        if begin <= first and last <= node.end_lineno:
            found.append((node.end_lineno - node.lineno, node.lineno))
    return min(found)[1] if found else None


@lru_cache(maxsize=64)
def parse_source(lines: tuple[str, ...]) -> ast.Module:
    """The syntax tree of a source; an empty one where it is not Python, such as a cell with magics."""
    try:
        return ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError):
        return ast.Module([], [])
