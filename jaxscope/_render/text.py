"""The view as plain text, complete and the same in every run; in a terminal, with colour.

Input: a view source. Output: one string. This is the form that tests read, so it shows what the other renderers show:
every tab, every table, every failure, every listing with its Python places beside it.
"""

import re
from collections.abc import Iterator
from typing import Protocol

from jaxscope._render.html import TONE_SIGNS, is_documentation, visible
from jaxscope._view.format import format_seconds
from jaxscope._view.model import (
    LINE_MADE_BY_COMPILER,
    FailureView,
    Figure,
    FindingView,
    ListingIndex,
    Mark,
    Tab,
    Table,
    View,
)
from jaxscope.lexers import LEXERS
from jaxscope.lexers.grammar import DEFAULT_PUT_AWAY, hidden_spans

_GUTTER_LIMIT = 28
# The gravest tone first.
GRAVITY = ("error", "warning", "good", "", "muted")
FIRST_ROWS = 10
# Of a listing that a static picture holds whole: what one reads without searching.
MOST_LINES, MOST_CHARACTERS = 400, 16_000
# policy=<function dots_saveable at 0x7f3a5c0d8e50>
_ADDRESS = re.compile(r" at 0x[0-9a-fA-FX]{6,}")


class TextSource(Protocol):
    """What this renderer needs: the view, and index and text of each listing."""

    view: View

    def index(self, key: str) -> ListingIndex:
        """The columns of a listing."""
        ...

    def text(self, key: str) -> str:
        """The exact text of a listing."""
        ...


def render_text(source: TextSource, *, colour: bool = False, times: bool = False, listings: bool = True) -> str:
    """The whole report.

    Args:
        source: What to show.
        colour: Whether to add terminal colours.
        times: Whether to add how long each stage took, which makes the text differ from run to run.
        listings: Whether to print the texts of the stages, or only their counts.
    """
    view = source.view
    labels = {target["name"]: target["label"] for target in view["targets"]}
    targets = f"{'target' if len(labels) == 1 else 'targets'}: {'; '.join(labels.values())}"
    head = [view["title"], targets, view["versions"], *_notes(view["notes"])]
    blocks = ["\n".join(map(visible, head))]
    for tab in view["tabs"]:
        lines = [_heading(tab, [labels[name] for name in tab["targets"]], times), *_notes(tab["notes"])]
        if tab["failure"] is not None:
            lines += _failure(tab["failure"])
        elif tab["reason"]:
            lines.append(tab["reason"])
        lines += figure_lines(tab["figures"])
        for finding in tab.get("findings", []):
            lines += _finding(finding)
        for table in tab["tables"]:
            lines += ["", *table_lines(table)] if len(tab["tables"]) > 1 or tab["figures"] else table_lines(table)
        # Messages of exceptions name objects by their address too.
        lines = [_ADDRESS.sub(" at 0x…", visible(line)) for line in lines]
        if listings and tab["kind"] == "listing" and (tab["status"] == "done" or "lines" in tab):
            if tab["failure"] is not None:
                lines.append(f"{tab['title']} up to the failure:")
            lines += _listing(source, view, tab["key"], colour)
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


def short_listings(source: TextSource) -> dict[str, str]:
    """The listings that are short enough to be read as they are, by the keys of their tabs, as the report has them."""
    view, found = source.view, {}
    for tab in view["tabs"]:
        if tab["kind"] == "listing" and tab.get("lines", MOST_LINES + 1) <= MOST_LINES:
            try:
                text = "\n".join(_listing(source, view, tab["key"], colour=False))
            except Exception:
                # One that cannot be made must not take the picture with it; the widget says why.
                continue
            if len(text) <= MOST_CHARACTERS:
                found[tab["key"]] = text
    return found


def _notes(notes: list[str]) -> list[str]:
    return [f"note: {note}" for note in notes]


def _heading(tab: Tab, targets: list[str], times: bool) -> str:
    parts = [tab["title"], *targets]
    if tab["count"]:
        parts.append(tab["count"])
    if tab["status"] not in ("done", "pending"):
        parts.append(tab["status"])
    if times and tab["seconds"] is not None:
        parts.append(format_seconds(tab["seconds"]))
    return f"== {' · '.join(parts)} =="


def _failure(failure: FailureView) -> Iterator[str]:
    yield failure["headline"]
    if failure["found"]:
        yield failure["found"]
        yield from _advice(failure)
    if failure["mismatches"] is not None:
        yield from table_lines(failure["mismatches"])
    for number, place in enumerate(failure["places"]):
        text = place["text"].strip()
        yield f"  {place['file']}:{place['line']} in {place['function']}"
        if text:
            yield f"    {text}"
        if number == 0:
            yield from _operands(failure)
    if failure["found"]:
        yield "The exception's own words:"
    yield from (f"  {line}".rstrip() for line in failure["message"].split("\n"))
    if not failure["found"]:
        yield from _advice(failure)


def _advice(failure: FailureView) -> Iterator[str]:
    if failure["advice"]:
        yield f"What to do: {failure['advice']}"
    if is_documentation(failure["page"]):
        yield f"See {failure['page']}"


def _operands(failure: FailureView) -> Iterator[str]:
    """What failed at the first place, and what it names."""
    if failure["expression"]:
        yield f"    in {failure['expression']}"
    for operand in failure["operands"]:
        yield f"      {operand['expression']}: {operand['type']}"


def _finding(finding: FindingView) -> Iterator[str]:
    yield f"{finding['severity']}: {finding['title']}"
    for place in finding["places"]:
        yield f"  {place['file']}:{place['line']} in {place['function']}"
        if place["text"]:
            yield f"    {place['text']}"
    yield f"  {finding['found']}"
    yield f"  What to do: {finding['advice']}"


def figure_lines(figures: list[Figure]) -> Iterator[str]:
    """The figures that a report begins with, one a line."""
    width = max((len(figure["label"]) for figure in figures), default=0)
    for figure in figures:
        note = f" ({figure['note']})" if figure["note"] else ""
        yield f"  {figure['label']:<{width}}  {figure['value']}{note}"


def table_lines(table: Table) -> Iterator[str]:
    """A table as lines of text: title, summary, aligned columns, notes.

    Of tables that answer one question in several ways, and of those with a row for every kernel or buffer, only the
    first rows are shown.
    """
    yield table["title"] + (f" ({table['source']})" if table["source"] else "")
    if table["summary"]:
        yield table["summary"]
    if "chart" in table:
        yield table["chart"]["summary"]
    is_long = "group" in table or table.get("chart", {}).get("kind") in ("steps", "scatter")
    rows = table["rows"][:FIRST_ROWS] if is_long else table["rows"]
    if not table["rows"]:
        yield table["empty"]
    else:
        cells = [[column["label"] for column in table["columns"]]]
        cells += [
            [
                f"{cell} ✕" if row["tone"] == "error" and number in row["marks"] else cell
                for number, cell in enumerate(row["cells"])
            ]
            for row in rows
        ]
        widths = [max(len(row[number]) for row in cells) for number in range(len(table["columns"]))]
        for row in cells:
            padded = [
                cell.rjust(width) if column["align"] == "right" else cell.ljust(width)
                for cell, width, column in zip(row, widths, table["columns"], strict=True)
            ]
            yield f"  {'  '.join(padded)}".rstrip()
        if more := len(table["rows"]) - len(rows):
            yield f"  … {more:,} more"
    yield from _notes(table["notes"])


def _listing(source: TextSource, view: View, key: str, colour: bool) -> Iterator[str]:
    index, lines = source.index(key), source.text(key).split("\n")
    # The Python side is that of all targets.
    keys = [key, *(f"python@{target['name']}" for target in view["targets"] if key == "python")]
    marks = [mark for mark in view["marks"] if mark["listing"] in keys]
    shown: list[tuple[int, str]] = []
    for line, exact in enumerate(lines):
        clean = exact if index["dialect"] == "python" else _readable(index["dialect"], exact)
        if not clean and (exact or (shown and not shown[-1][1])):
            continue  # a line that was put away whole, or another empty one
        shown.append((line, visible(clean)))
    texts = [clean for _, clean in shown]
    if colour:
        texts = _paint(index["dialect"], texts)
    numbers = index["numbers"] or range(1, len(lines) + 1)
    places = [_place(index, line) for line, _ in shown]
    number_width = len(str(max(numbers, default=0)))
    place_width = min(_GUTTER_LIMIT, max(map(len, places), default=0))
    signs, notes = _marked(marks)
    for (line, _), place, painted in zip(shown, places, texts, strict=True):
        gutter = f"{numbers[line] or '':>{number_width}}"
        if place_width:
            gutter += f"  {place:<{place_width}}"
        if signs:
            gutter += f"  {signs.get(line, ''):<1}"
        yield f"{gutter}  {painted}{notes.get(line, '')}".rstrip()


def _marked(marks: list[Mark]) -> tuple[dict[int, str], dict[int, str]]:
    """By line the sign of the gravest mark, and what stands at the line's end."""
    signs: dict[int, str] = {}
    notes: dict[int, str] = {}
    for mark in sorted(marks, key=lambda mark: GRAVITY.index(mark["tone"])):
        signs.setdefault(mark["line"], TONE_SIGNS[mark["tone"]] or "›")
        note = f"  ← {visible(mark['note'])}" if mark["note"] else ""
        known = notes.get(mark["line"], "")
        # Several targets may say the same.
        notes[mark["line"]] = known if note in known else known + note
    return signs, notes


def _paint(dialect: str, lines: list[str]) -> list[str]:
    """The lines in terminal colours, by the Pygments lexer of the dialect."""
    from pygments import highlight
    from pygments.formatters import TerminalFormatter
    from pygments.lexers import get_lexer_by_name

    lexer = LEXERS[dialect]() if dialect in LEXERS else get_lexer_by_name("python", stripnl=False, ensurenl=False)
    return highlight("\n".join(lines), lexer, TerminalFormatter()).split("\n")[: len(lines)]


def _readable(dialect: str, line: str) -> str:
    """A line without what is put away by default; of a long constant only its length stays."""
    pieces, end = [], 0
    for span in hidden_spans(dialect, line):
        if span.kind in (*DEFAULT_PUT_AWAY, "constant"):
            pieces.append(line[end : span.start])
            if span.kind == "constant":
                pieces.append(f"…{span.end - span.start:,} characters…")
            end = span.end
    pieces.append(line[end:])
    # Functions in a jaxpr's parameters print with their address, which differs from run to run.
    return _ADDRESS.sub(" at 0x…", "".join(pieces))


def _place(index: ListingIndex, line: int) -> str:
    stack = index["line_stack"][line]
    if stack < 0:
        # In the earlier texts such an op is JAX's own (a constant, a return), and saying so each time would be noise.
        return "(compiler)" if stack == LINE_MADE_BY_COMPILER and index["dialect"] == "hlo" else ""
    file, _, number, *_ = index["frames"][index["stacks"][stack][0]]
    return f"{index['files'][file]}:{number}"
