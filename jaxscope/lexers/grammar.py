"""One line of jaxpr, StableHLO or HLO to its tokens, and to the parts of it that a reader may put away.

Problem: the Pygments lexers, the parsers and the browser must read the three notations alike. Input: ``grammar.json``,
whose rules ``js/src/tokenize.js`` reads too, a dialect and one line of text. Output: tokens, hidden spans, the line
without them. There is no state across lines, so any row can be tokenised alone. The browser is given the rules of one
dialect with each listing (`dialect_rules`), so that it needs none of its own.

The grammar is data, version 1:

* ``kinds``: what a token can be, for a reader; ``error`` is a character that no rule explains.
* ``parts``: named regexes; ``<<name>>`` inside a regex stands for the part, which lets nested brackets be written out.
* ``dialects``: for each dialect ``rules``, tried in order at the current position, the first match wins; ``hidden``,
  the parts of a line that may be put away and whether they are ``shown`` until then, where a regex that begins with
  ``^`` is tried at the start of the line only; ``step_over``, text inside which no hidden part begins, such as
  strings; and, where names are long, ``names``: those that may be shown shortened. Those of the hidden parts that are
  shown are looked for apart from the others, and may hold them: a type holds its layout.

Every regex keeps to what Python and JavaScript read alike (explicit character classes, no captures, no flags, no
``{n,}``, on which V8 overflows) and never matches the empty string. Alternatives begin with different characters, and
what may be left open, such as a string, runs to the end of the line, so time grows with the length of the line. Each
rule carries a sample line in which it gives a token.
"""

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

GRAMMAR_PATH = Path(__file__).with_name("grammar.json")

# A reference to a part, "<<string>>" in ", metadata=<<braces_12>>".
_PART = re.compile("<<([a-z_0-9]+)>>")
ERROR = "error"


class Span(NamedTuple):
    """A part of a line that may be put away: from `start` to `end`, exclusive, in characters."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class _Dialect:
    """The compiled rules; group n + 1 of a pattern is rule n, and the last kind is for the character left over."""

    tokens: re.Pattern[str]
    token_kinds: tuple[str, ...]
    whole_line: re.Pattern[str] | None
    whole_line_kinds: tuple[str, ...]
    hidden: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]


@cache
def load() -> dict[str, Any]:
    """The grammar as it is written, read once."""
    return json.loads(GRAMMAR_PATH.read_text(encoding="utf-8"))


_HIDDEN_RULES = [rule for dialect in load()["dialects"].values() for rule in dialect["hidden"]]

KINDS: tuple[str, ...] = tuple(load()["kinds"])
HIDDEN_KINDS: tuple[str, ...] = tuple(dict.fromkeys(rule["kind"] for rule in _HIDDEN_RULES))
DEFAULT_PUT_AWAY: frozenset[str] = frozenset(rule["kind"] for rule in _HIDDEN_RULES if not rule["shown"])


@cache
def expand(regex: str) -> str:
    """`regex` with every ``<<part>>`` written out."""
    return _PART.sub(lambda found: expand(load()["parts"][found.group(1)]), regex)


@cache
def dialect_rules(dialect: str) -> dict[str, Any]:
    """What a reader of one dialect needs: its rules without their samples, and only the parts that these refer to.

    Args:
        dialect: ``jaxpr``, ``stablehlo`` or ``hlo``.

    Returns:
        ``parts``, ``step_over``, ``names``, ``rules`` (``kind``, ``match``) and ``hidden`` (``kind``, ``match``,
        ``shown``), as in ``grammar.json``. It is the same object each time: do not change it.

    Raises:
        ValueError: There is no such dialect.
    """
    found = _dialect(dialect)
    rules, hidden = (
        [{name: value for name, value in rule.items() if name != "sample"} for rule in found[group]]
        for group in ("rules", "hidden")
    )
    parts: dict[str, str] = {}
    names = found.get("names", "")
    wanted = [names, found["step_over"], *(rule["match"] for rule in rules + hidden)]
    while wanted:
        for name in _PART.findall(wanted.pop()):
            if name not in parts:
                parts[name] = load()["parts"][name]
                wanted.append(parts[name])
    # In the order of the file, where neighbours are alike, which deflates best.
    parts = {name: text for name, text in load()["parts"].items() if name in parts}
    return {"parts": parts, "step_over": found["step_over"], "names": names, "rules": rules, "hidden": hidden}


def _dialect(name: str) -> dict[str, Any]:
    dialects = load()["dialects"]
    if name not in dialects:
        known = ", ".join(sorted(dialects))
        raise ValueError(f"Tokenising a line: there is no dialect {name!r}. Use one of {known}.")
    return dialects[name]


def _alternatives(regexes: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"({expand(regex)})" for regex in regexes))


@cache
def _compile(dialect: str) -> _Dialect:
    found = _dialect(dialect)
    rules = found["rules"]
    whole_line = [rule for rule in found["hidden"] if rule["match"].startswith("^")]
    within = [rule for rule in found["hidden"] if not rule["match"].startswith("^")]
    groups = [[rule for rule in within if rule["shown"] == shown] for shown in (False, True)]
    return _Dialect(
        tokens=_alternatives([*(rule["match"] for rule in rules), "[^\\n]|\\n"]),
        token_kinds=("", *(rule["kind"] for rule in rules), ERROR),
        whole_line=_alternatives([rule["match"] for rule in whole_line]) if whole_line else None,
        whole_line_kinds=("", *(rule["kind"] for rule in whole_line)),
        hidden=tuple(
            (
                _alternatives([*(rule["match"] for rule in group), found["step_over"]]),
                ("", *(rule["kind"] for rule in group), ""),
            )
            for group in groups
        ),
    )


def tokenize(dialect: str, line: str) -> list[tuple[str, str]]:
    """The tokens of one line.

    Args:
        dialect: ``jaxpr``, ``stablehlo`` or ``hlo``.
        line: Any text; line feeds are white space.

    Returns:
        ``(kind, text)`` in order; the texts add up to `line`.

    Raises:
        ValueError: There is no such dialect.
    """
    compiled = _compile(dialect)
    kinds = compiled.token_kinds
    return [(kinds[found.lastindex or 0], found.group()) for found in compiled.tokens.finditer(line)]


def hidden_spans(dialect: str, line: str) -> list[Span]:
    """The parts of one line that may be put away, of every kind, in the order of their beginnings.

    A part that is shown by default may hold others that are not.

    Raises:
        ValueError: There is no such dialect.
    """
    compiled = _compile(dialect)
    if compiled.whole_line and (found := compiled.whole_line.match(line)):
        return [Span(0, found.end(), compiled.whole_line_kinds[found.lastindex or 0])]
    spans = []
    for pattern, kinds in compiled.hidden:
        for found in pattern.finditer(line):
            if kind := kinds[found.lastindex or 0]:
                spans.append(Span(found.start(), found.end(), kind))
    return sorted(spans, key=lambda span: span.start)


def split_hidden(
    dialect: str, line: str, put_away: frozenset[str] = DEFAULT_PUT_AWAY
) -> tuple[str, list[tuple[int, str]]]:
    """One line without its hidden parts.

    Args:
        dialect: ``jaxpr``, ``stablehlo`` or ``hlo``.
        line: One line of text.
        put_away: The kinds to take out, of `HIDDEN_KINDS`.

    Returns:
        The clean line, and each part taken out as (where it belongs in the clean line, its text), in order.

    Raises:
        ValueError: There is no such dialect.
    """
    clean: list[str] = []
    hidden: list[tuple[int, str]] = []
    end = length = 0
    for span in hidden_spans(dialect, line):
        if span.kind in put_away and span.end > end:
            start = max(span.start, end)
            clean.append(line[end:start])
            length += start - end
            hidden.append((length, line[start : span.end]))
            end = span.end
    if not hidden:
        return line, hidden
    clean.append(line[end:])
    return "".join(clean), hidden


def restore(clean: str, hidden: list[tuple[int, str]]) -> str:
    """The line that `split_hidden` took apart."""
    pieces: list[str] = []
    end = 0
    for offset, text in hidden:
        pieces += (clean[end:offset], text)
        end = offset
    pieces.append(clean[end:])
    return "".join(pieces)
