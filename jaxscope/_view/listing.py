"""From a linked listing to the columns that renderers read.

Input: `LinkedListing`, or the frames that make up the Python side. Output: the exact text and a `ListingIndex`.
"""

from collections.abc import Sequence
from typing import cast

from pygments.lexers.python import PythonLexer
from pygments.token import Token

from jaxscope._ir.model import Listing
from jaxscope._links import Definition, LinkedListing
from jaxscope._sources import SourceLine, display_names
from jaxscope._view.model import LINE_WITHOUT_OP, Grammar, ListingIndex
from jaxscope._view.names import short_names
from jaxscope._view.values import value_columns
from jaxscope.lexers.grammar import dialect_rules

# Pygments' token types in the kinds of jaxscope's own grammar; the first that contains the token wins.
_PYTHON_KINDS = (
    (Token.Comment, "comment"),
    (Token.Keyword, "keyword"),
    (Token.Operator.Word, "keyword"),
    (Token.Literal.String, "string"),
    (Token.Literal.Number, "number"),
    (Token.Name.Function, "definition"),
    (Token.Name.Class, "definition"),
    (Token.Name.Decorator, "attribute"),
    (Token.Name.Builtin, "symbol"),
    (Token.Name, "name"),
    (Token.Operator, "punctuation"),
    (Token.Punctuation, "punctuation"),
)


def index_listing(linked: LinkedListing) -> ListingIndex:
    """The columns of one compiler listing."""
    listing = linked.listing
    names = display_names(frame.file for frame in linked.stacks.frames)
    files: dict[str, int] = {}
    functions: dict[str, int] = {}
    frames = [
        [
            files.setdefault(names[frame.file], len(files)),
            functions.setdefault(frame.function, len(functions)),
            frame.line,
            frame.column,
            frame.end_line,
            frame.end_column,
        ]
        for frame in linked.stacks.frames
    ]
    paths: dict[str, int] = {}
    line_path = [-1] * len(listing.lines)
    spans = []
    for op in listing.ops:
        if op.name_path:
            line_path[op.line] = paths.setdefault(op.name_path, len(paths))
        if op.end_line > op.line:
            spans.append([op.line, op.end_line])
    values = value_columns(listing)
    return ListingIndex(
        key=linked.key,
        dialect=listing.dialect,
        grammar=cast("Grammar", dialect_rules(listing.dialect)),
        numbers=[],
        line_stack=linked.line_stack,
        line_path=line_path,
        line_place=[],
        spans=spans,
        folds=[[fold.line, fold.end_line, fold.kind, fold.closed] for fold in listing.folds],
        start=_main_line(listing),
        files=list(files),
        functions=list(functions),
        frames=frames,
        stacks=[list(node) for node in linked.stacks.nodes],
        paths=list(paths),
        tokens=[],
        short_names=short_names(listing),
        coverage=[linked.linked_ops, len(listing.ops)],
        op_line=values.op_line,
        op_operands=values.op_operands,
        operand_source=values.operand_source,
        calls=values.calls,
    )


def _main_line(listing: Listing) -> int:
    """Where the program itself begins: jaxprs and computations print their helpers before it."""
    if listing.dialect == "hlo":
        return next((block.line for block in listing.blocks if block.kind == "entry"), 0)
    if listing.dialect == "jaxpr":
        # The printer puts what is used more than once before the program, which comes last.
        return max((block.line for block in listing.blocks if block.parent == -1), default=0)
    if listing.dialect in ("llvm", "ptx"):
        return next((block.line for block in listing.blocks if block.kind == "func" and block.end_line > block.line), 0)
    return 0


def index_python(lines: Sequence[SourceLine], definition: Definition | None, start: int | None = None) -> ListingIndex:
    """The columns of the Python side: real line numbers, the file of each line, and Pygments' tokens.

    Args:
        lines: The Python side.
        definition: The inspected function's, whose first line is shown first.
        start: The row to show first instead, where something else matters more.
    """
    names = display_names(line.file for line in lines)
    files = {name: number for number, name in enumerate(dict.fromkeys(names.values()))}
    return ListingIndex(
        key="python",
        dialect="python",
        grammar=None,
        numbers=[line.number for line in lines],
        line_stack=[LINE_WITHOUT_OP] * len(lines),
        line_path=[-1] * len(lines),
        line_place=[files[names[line.file]] if line.number else -1 for line in lines],
        spans=[],
        folds=[],
        start=start
        if start is not None
        else next(
            (
                at
                for at, line in enumerate(lines)
                if definition and (line.file, line.number) == (definition.file, definition.first_line)
            ),
            0,
        ),
        files=list(files),
        functions=[],
        frames=[],
        stacks=[],
        paths=[],
        tokens=python_tokens([line.text for line in lines]),
        short_names={},
        coverage=[0, 0],
        op_line=[],
        op_operands=[],
        operand_source=[],
        calls=[],
    )


def python_tokens(lines: Sequence[str]) -> list[list[list[str | int]]]:
    """Per line the runs ``[kind, length]`` of Python source, strings over several lines included."""
    runs: list[list[list[str | int]]] = [[] for _ in lines]
    line = 0
    lexer = PythonLexer(stripnl=False, stripall=False, ensurenl=False, tabsize=0)
    for token, text in lexer.get_tokens("\n".join(lines)):
        kind = next((kind for known, kind in _PYTHON_KINDS if token in known), "text")
        for part_number, part in enumerate(text.split("\n")):
            line += part_number > 0
            if part and line < len(runs):
                runs[line].append([kind, len(part)])
    return runs
