"""Pygments lexers for jaxpr, StableHLO (MLIR), HLO, LLVM IR and PTX text.

Problem: JAX and XLA print programs in notations that Pygments does not know, or not as they print them. Input: such
text. Output: Pygments tokens, under the aliases ``jaxpr``, ``stablehlo`` (or ``mlir``), ``hlo``, ``xla-llvm`` and
``xla-ptx``, which Sphinx, Jupyter and ``pygmentize`` find through the package's entry points. A highlighter does not
validate: it says what each word is, and only a character that no rule explains is an error.
"""

from collections.abc import Iterator
from typing import ClassVar

from pygments.lexer import Lexer
from pygments.token import Comment, Error, Keyword, Name, Number, Punctuation, String, Whitespace, _TokenType

from jaxscope.lexers.grammar import tokenize

__all__ = ["HloLexer", "JaxprLexer", "LlvmLexer", "PtxLexer", "StablehloLexer"]

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
    """A lexer that reads one dialect of the grammar, a line at a time."""

    dialect: ClassVar[str]

    def get_tokens_unprocessed(self, text: str) -> Iterator[tuple[int, _TokenType, str]]:
        """Yields ``(offset, token type, text)``; the texts add up to the input."""
        offset = 0
        for number, line in enumerate(text.split("\n")):
            if number:
                yield offset, Whitespace, "\n"
                offset += 1
            for kind, token in tokenize(self.dialect, line):
                yield offset, TOKEN_TYPES[kind], token
                offset += len(token)


class JaxprLexer(_GrammarLexer):
    """What ``jax.make_jaxpr`` and ``Traced.jaxpr`` print."""

    name = "jaxpr"
    url = "https://docs.jax.dev/en/latest/jaxpr.html"
    aliases: ClassVar[list[str]] = ["jaxpr"]
    filenames: ClassVar[list[str]] = ["*.jaxpr"]
    mimetypes: ClassVar[list[str]] = ["text/x-jaxpr"]
    dialect = "jaxpr"

    def analyse_text(text: str) -> float:
        """How sure a guesser may be that `text` is a jaxpr, from 0 to 1."""
        return 0.9 if "{ lambda " in text and ". let" in text else 0.0


class StablehloLexer(_GrammarLexer):
    """What ``Lowered.as_text()`` prints, and MLIR in general as far as it looks like that (kernels of Pallas)."""

    name = "StableHLO"
    url = "https://openxla.org/stablehlo/spec"
    aliases: ClassVar[list[str]] = ["stablehlo", "mlir"]
    filenames: ClassVar[list[str]] = ["*.mlir", "*.stablehlo"]
    mimetypes: ClassVar[list[str]] = ["text/x-mlir"]
    dialect = "stablehlo"

    def analyse_text(text: str) -> float:
        """How sure a guesser may be that `text` is StableHLO, from 0 to 1."""
        return 0.9 if "stablehlo." in text and "tensor<" in text else 0.0


class HloLexer(_GrammarLexer):
    """What ``Compiled.as_text()`` prints."""

    name = "HLO"
    url = "https://openxla.org/xla/operation_semantics"
    aliases: ClassVar[list[str]] = ["hlo"]
    filenames: ClassVar[list[str]] = ["*.hlo", "*.hlo.txt"]
    mimetypes: ClassVar[list[str]] = ["text/x-hlo"]
    dialect = "hlo"

    def analyse_text(text: str) -> float:
        """How sure a guesser may be that `text` is HLO, from 0 to 1."""
        return 1.0 if text.startswith("HloModule ") else 0.0


class LlvmLexer(_GrammarLexer):
    """The LLVM IR in XLA's dump, debug metadata apart; Pygments has a lexer ``llvm`` of its own."""

    name = "LLVM IR of XLA"
    url = "https://llvm.org/docs/LangRef.html"
    aliases: ClassVar[list[str]] = ["xla-llvm"]
    filenames: ClassVar[list[str]] = ["*.ir-no-opt.ll", "*.ir-with-opt.ll"]
    mimetypes: ClassVar[list[str]] = ["text/x-xla-llvm"]
    dialect = "llvm"

    def analyse_text(text: str) -> float:
        """How sure a guesser may be that `text` is LLVM IR, from 0 to 1."""
        return 0.9 if "target triple = " in text or text.startswith("; ModuleID") else 0.0


class PtxLexer(_GrammarLexer):
    """NVIDIA's PTX as LLVM prints it."""

    name = "PTX of XLA"
    url = "https://docs.nvidia.com/cuda/parallel-thread-execution/"
    aliases: ClassVar[list[str]] = ["xla-ptx"]
    filenames: ClassVar[list[str]] = ["*.ptx"]
    mimetypes: ClassVar[list[str]] = ["text/x-xla-ptx"]
    dialect = "ptx"

    def analyse_text(text: str) -> float:
        """How sure a guesser may be that `text` is PTX, from 0 to 1."""
        return 0.9 if ".address_size " in text and ".target sm_" in text else 0.0


# By the key that listings carry.
LEXERS: dict[str, type[Lexer]] = {
    lexer.dialect: lexer for lexer in (JaxprLexer, StablehloLexer, HloLexer, LlvmLexer, PtxLexer)
}
