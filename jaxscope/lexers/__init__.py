"""Pygments lexers for jaxpr, StableHLO (MLIR) and HLO text.

Problem: JAX prints programs in three notations that Pygments does not know. Input: such text. Output: Pygments tokens,
under the aliases ``jaxpr``, ``stablehlo`` (or ``mlir``) and ``hlo``, which Sphinx, Jupyter and ``pygmentize`` find
through the package's entry points. A highlighter does not validate: it only says what each word is.
"""

from collections.abc import Iterator
from typing import ClassVar

from pygments.lexer import Lexer
from pygments.token import (
    Comment,
    Error,
    Keyword,
    Name,
    Number,
    Punctuation,
    String,
    Whitespace,
    _TokenType,
)

from jaxscope.lexers.grammar import tokenize

__all__ = ["HloLexer", "JaxprLexer", "StablehloLexer"]

TOKEN_TYPES: dict[str, _TokenType] = {
    "comment": Comment,
    "keyword": Keyword,
    "op": Name.Function,
    "type": Keyword.Type,
    "definition": Name.Variable,
    "name": Name,
    "symbol": Name.Class,
    "attribute": Name.Attribute,
    "number": Number,
    "string": String,
    "punctuation": Punctuation,
    "location": Comment.Special,
    "text": Whitespace,
    "error": Error,
}


class _GrammarLexer(Lexer):
    """A lexer that reads one dialect of the grammar, line by line."""

    dialect: ClassVar[str]
    priority = 0.1

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, _TokenType, str]]:
        """Yields ``(offset, token type, text)``; the texts add up to the input."""
        offset = 0
        for line in text.splitlines(keepends=True) if "\r" not in text else text.split("\n"):
            for kind, token in tokenize(self.dialect, line):
                yield offset, TOKEN_TYPES[kind], token
                offset += len(token)
