"""Inspections as HTML: a static fragment for saved notebooks, and one offline interactive page.

Problem: the text in a view comes from programs and exceptions, and must never become markup, script or a request.
Input: a `View`, and for the page a source that also gives the listings. Output: strings of HTML. This is the only place
in Python that escapes.
"""

import base64
import hashlib
import html
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from jaxscope._view.format import format_seconds
from jaxscope._view.model import FailureView, Figure, FindingView, Place, Row, Tab, Table, View
from jaxscope.errors import UnavailableError

BUNDLE = Path(__file__).resolve().parents[1] / "static" / "widget.js"
CAP_BYTES = 64_000_000
# A fragment is kept in every saved notebook beside the widget, so it stays small; the page and the widget show all.
FALLBACK_ROWS = 30
# Of tables that answer one question in several ways.
GROUP_ROWS = 10
FALLBACK_CHARACTERS = 6_000

# Ranges of characters that leave no mark of their own or change how the text around them is drawn (control codes, the
# escape of ANSI codes among them, soft hyphen, fillers, zero-width and direction marks, line separators, tags, lone
# surrogates). Tab and line feed are layout; variation selectors are left alone because emoji carry them.
INVISIBLE: tuple[tuple[int, int], ...] = (
    (0x00, 0x08),
    (0x0B, 0x1F),
    (0x7F, 0x9F),
    (0xAD, 0xAD),
    (0x034F, 0x034F),
    (0x061C, 0x061C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180E, 0x180E),
    (0x200B, 0x200F),
    (0x2028, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xD800, 0xDFFF),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFFB),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
)
# A sample it matches: "\u202e" (right-to-left override).
_INVISIBLE = re.compile("[" + "".join(f"\\U{first:08x}-\\U{last:08x}" for first, last in INVISIBLE) + "]")

NOT_OPENED = (
    "Nobody had opened it when this was saved. Open it and save again, or write a page that has it with "
    "to_html(path, compile_again=True)."
)

# A sample it matches: "`jnp.where(mask, x, 0)`".
_CODE = re.compile("`([^`\n]+)`")

_STATUS_WORDS = {"done": "✓ done", "failed": "✕ failed", "running": "… running"}
# Notebooks' own style sheets put every cell to the right, and only a style of the cell's own is stronger than that.
_ALIGN = {"left": 'align="left" style="text-align:left"', "right": 'align="right"'}
_CODE_INDENT = "    "
TONE_SIGNS = {"error": "✕", "warning": "▲", "muted": "", "good": "✓", "": ""}


class Source(Protocol):
    """Where a picture gets its facts: the view, and per listing its index (JSON) and exact text (UTF-8)."""

    view: View

    def listing(self, key: str) -> tuple[bytes, bytes]:
        """The index and text of a listing, not compressed; raises with a readable message when there is none.

        Of a chart, asked for by its `data`, the index is `LiveColumns` and the text is empty.
        """
        ...

    def make(self, tab: str, table: str) -> None:
        """Makes what a card has a `request` for, so that the view has it; raises with a readable message."""
        ...

    def check(self, tab: str, text: str) -> str:
        """Judges a call that was typed in a tab, so that the view has the verdict; says it in a line, or raises."""
        ...


def data_keys(view: View) -> Iterator[tuple[str, Tab]]:
    """What is sent on demand, and the tab that shows it: the listings, and the columns of charts."""
    for tab in view["tabs"]:
        if tab["kind"] == "listing":
            yield tab["key"], tab
        for table in tab["tables"]:
            chart = table.get("chart")
            if chart is not None and chart["kind"] == "steps":
                yield chart["data"], tab


def visible(text: str) -> str:
    """The text with every invisible character written by its number, such as ``⟨U+202E⟩``."""
    return _INVISIBLE.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text)


def escape(text: object) -> str:
    """Any text as HTML text or attribute value."""
    return html.escape(visible(str(text)), quote=True)


def _prose(text: str) -> str:
    """Escaped text in which ```code``` stands as code."""
    return _CODE.sub(r"<code>\1</code>", escape(text))


def bundle() -> str:
    """The browser's program; UnavailableError when this installation has none."""
    try:
        text = BUNDLE.read_text(encoding="utf-8")
    except OSError:
        text = ""
    if not text:
        raise UnavailableError(
            "Preparing the interactive view. This installation of jaxscope has no browser bundle (static/widget.js is "
            "missing or empty). Install jaxscope from a wheel, or run `npm ci && npm run build` in the js folder of "
            "the checkout."
        )
    return text


def _shorten(text: str, characters: int = FALLBACK_CHARACTERS) -> str:
    """The two ends of a text that is too long: a traceback begins with the user's call and ends with the error."""
    if len(text) <= characters:
        return text
    half = characters // 2
    return f"{text[:half]}\n… {len(text) - 2 * half:,} characters are left out here …\n{text[-half:]}"


def is_documentation(address: str) -> bool:
    """Whether an address is of JAX's documentation: nothing else becomes a link."""
    return address.startswith("https://docs.jax.dev/")


def _place(place: Place, more: str = "") -> str:
    where = f"{place['file']}:{place['line']}"
    text = f"<code>{escape(where)}</code> in {escape(place['function'])}<br><code>{escape(place['text'])}</code>"
    return f"<li>{text}{more}</li>"


def _operands(failure: FailureView) -> str:
    """The expression at the first place that failed, and what it names."""
    parts = [f"<code>{escape(failure['expression'])}</code>"] if failure["expression"] else []
    parts += [f"<code>{escape(each['expression'])}: {escape(each['type'])}</code>" for each in failure["operands"]]
    return f"<br>{' · '.join(parts)}" if parts else ""


def _advice(failure: FailureView) -> str:
    parts = [f"What to do: {_prose(failure['advice'])}"] if failure["advice"] else []
    if is_documentation(failure["page"]):
        parts.append(f'<a href="{escape(failure["page"])}" target="_blank" rel="noopener">In JAX’s documentation</a>')
    return f"<p>{' '.join(parts)}</p>" if parts else ""


def _folded(summary: str, content: str) -> str:
    return f"<details><summary>{summary}</summary>{content}</details>"


def _failure(title: str, failure: FailureView) -> str:
    places = "".join(
        _place(place, "" if number else _operands(failure)) for number, place in enumerate(failure["places"])
    )
    words = f"<p>{_prose(_shorten(failure['message']))}</p>"
    traceback = f"<pre>{escape(_shorten(failure['traceback']))}</pre>"
    return (
        f"<p><strong>✕ {escape(title)}: {escape(failure['headline'])}</strong></p>"
        + (f"<p>{_prose(failure['found'])}</p>" if failure["found"] else words)
        + _advice(failure)
        + (render_table(failure["mismatches"], FALLBACK_ROWS) if failure["mismatches"] is not None else "")
        + (f"<ul>{places}</ul>" if places else "")
        + (_folded("the exception's own words", words) if failure["found"] else "")
        + (_folded("full traceback", traceback) if failure["traceback"] else "")
    )


def _finding(finding: FindingView) -> str:
    sign = TONE_SIGNS.get(finding["tone"], "")
    places = "".join(map(_place, finding["places"]))
    return (
        f"<p><strong>{sign} {escape(finding['severity'])}: {escape(finding['title'])}</strong></p>"
        + (f"<ul>{places}</ul>" if places else "")
        + f"<p>{_prose(finding['found'])} What to do: {_prose(finding['advice'])}</p>"
    )


def render_table(table: Table, most_rows: int | None = None) -> str:
    """One table as a static fragment.

    Args:
        table: What to show; a column that no row fills is left out.
        most_rows: The most rows to show, those with a tone first; a sentence counts the others. None for all.
    """
    rows = _most_telling(table["rows"], most_rows)
    columns = [
        (number, column) for number, column in enumerate(table["columns"]) if any(row["cells"][number] for row in rows)
    ]
    head = "".join(
        f'<th {_ALIGN[column["align"]]} title="{escape(column["help"])}">{escape(column["label"])}</th>'
        for _, column in columns
    )
    body = []
    for row in rows:
        sign = TONE_SIGNS.get(row["tone"], "")
        cells = []
        for number, column in columns:
            text = _cell(row["cells"][number])
            if column["code"] and text:
                text = f"<code>{text}</code>"
            if number in row["marks"]:
                text = f"<strong>{sign} {text}</strong>" if sign else f"<strong>{text}</strong>"
            whole = column["code"] or column["align"] == "right"
            cells.append(f"<td {_ALIGN[column['align']]}{' nowrap' if whole else ''}>{text}</td>")
        body.append(f"<tr>{''.join(cells)}</tr>")
    summary = f": {escape(table['summary'])}" if table["summary"] else ""
    sign = TONE_SIGNS.get(table["tone"], "")
    parts = [f"<p><strong>{sign} {escape(table['title'])}</strong>{summary}</p>"]
    if "chart" in table:
        parts.append(f"<p>{escape(table['chart']['summary'])}</p>")
    if table["rows"]:
        parts.append(f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>")
    elif table["empty"]:
        parts.append(f"<p>{escape(table['empty'])}</p>")
    if left_out := len(table["rows"]) - len(rows):
        parts.append(f"<p>{left_out:,} more rows are left out here; the interactive view has them.</p>")
    parts += [f"<p><small>{escape(note)}</small></p>" for note in table["notes"]]
    if table["source"]:
        parts.append(f"<p><small>source: {escape(table['source'])}</small></p>")
    return "".join(parts)


def _cell(text: str) -> str:
    """The text of a cell; lines that four spaces begin are code, as in documentation."""
    return "<br>".join(map(_line_of_cell, text.split("\n")))


def _line_of_cell(line: str) -> str:
    code = line.removeprefix(_CODE_INDENT)
    indent = len(code) - len(code.lstrip(" "))
    return escape(line) if code == line else f"<code>{'&nbsp;' * indent}{escape(code[indent:])}</code>"


def _figures(figures: list[Figure]) -> str:
    """The figures that a report begins with."""
    rows = []
    for figure in figures:
        note = f"{TONE_SIGNS.get(figure['tone'], '')} {figure['note']}".strip()
        cells = (f"<strong>{escape(figure['value'])}</strong>", escape(figure["label"]), escape(note))
        made = "".join(f"<td {_ALIGN['left']}>{cell}</td>" for cell in cells)
        rows.append(f'<tr title="{escape(figure["help"])}">{made}</tr>')
    return f"<table><tbody>{''.join(rows)}</tbody></table>" if rows else ""


def _most_telling(rows: list[Row], most_rows: int | None) -> list[Row]:
    """At most so many rows in their order: those that say that something is wrong, then the first ones."""
    if most_rows is None or len(rows) <= most_rows:
        return rows
    by_weight = sorted(range(len(rows)), key=lambda number: rows[number]["tone"] not in ("error", "warning"))
    return [rows[number] for number in sorted(by_weight[:most_rows])]


def _stage(tab: Tab, title: str) -> str:
    status = _STATUS_WORDS.get(tab["status"], tab["status"])
    # Why a stage failed is told at length below the table.
    reason = "" if tab["failure"] else tab["reason"]
    remarks = " ".join(filter(None, (reason, *tab["notes"])))
    seconds = "" if tab["seconds"] is None else format_seconds(tab["seconds"])
    cells = (title, status, tab["count"], seconds, remarks)
    return "<tr>" + "".join(f"<td {_ALIGN['left']}>{escape(cell)}</td>" for cell in cells) + "</tr>"


def render_fallback(view: View, note: str = "", listings: Mapping[str, str] = MappingProxyType({})) -> str:
    """The view as a static fragment, for places where no script runs.

    `note` says how to get the interactive one; `listings` are texts to show in it, by the keys of their tabs.
    """
    labels = {target["name"]: target["label"] for target in view["targets"]}
    titles = {tab["key"]: ", ".join([tab["title"], *(labels[name] for name in tab["targets"])]) for tab in view["tabs"]}
    parts = [
        f"<div><p><strong><code>{escape(view['title'])}</code></strong></p>",
        f"<p>{escape('; '.join(labels.values()))} · {escape(view['versions'])}</p>",
    ]
    parts += [f"<p>{escape(text)}</p>" for text in (*view["notes"], note) if text]
    parts.append("<table><thead><tr>")
    parts += [f"<th {_ALIGN['left']}>{name}</th>" for name in ("stage", "status", "size", "time", "remarks")]
    parts.append(
        f"</tr></thead><tbody>{''.join(_stage(tab, titles[tab['key']]) for tab in view['tabs'])}</tbody></table>"
    )
    parts += [_failure(titles[tab["key"]], tab["failure"]) for tab in view["tabs"] if tab["failure"]]
    for tab in view["tabs"]:
        content = _figures(tab["figures"]) + "".join(map(_finding, tab.get("findings", [])))
        for table in tab["tables"]:
            content += render_table(table, GROUP_ROWS if "group" in table else FALLBACK_ROWS)
        if tab["key"] in listings:
            content += f"<pre>{escape(listings[tab['key']])}</pre>"
        if content:
            summary = " · ".join(escape(text) for text in (titles[tab["key"]], tab["count"]) if text)
            parts.append(f"<details><summary>{summary}</summary>{content}</details>")
    return "".join(parts) + "</div>"


def _payload(name: str, data: bytes) -> str:
    text = base64.b64encode(zlib.compress(data, 9)).decode()
    return f'<script type="application/octet-stream;base64" id="{escape(name)}">{text}</script>\n'


def _listings(source: Source, view: View, cap_bytes: int) -> tuple[list[str], dict[str, str]]:
    """The payload elements of all listings, in the order of `data_keys`, and the reasons of those that are left out."""
    payloads: list[str] = []
    left_out: dict[str, str] = {}
    used_bytes = 0
    for number, (key, tab) in enumerate(data_keys(view)):
        if tab["reason"].endswith(NOT_OPENED):
            continue
        try:
            index, text = source.listing(key)
        except Exception as error:  # a listing that cannot be made must not take the page with it; its pane says why
            left_out[key] = str(error) or type(error).__name__
            continue
        parts = [_payload(f"jaxscope-{number}-index", index), _payload(f"jaxscope-{number}-text", text)]
        size_bytes = sum(map(len, parts))
        if used_bytes + size_bytes > cap_bytes:
            left_out[key] = (
                f"This listing was left out of the page: it takes {size_bytes:,} bytes, and all listings together may "
                f"take {cap_bytes:,}. Export again with a larger limit to have it."
            )
            continue
        used_bytes += size_bytes
        payloads += parts
    return payloads, left_out


def _as_saved(view: View) -> View:
    """The view for a place where nothing can be asked for any more."""
    tabs = []
    for tab in view["tabs"]:
        if tab["status"] == "on request":
            tab = Tab({**tab, "status": "unavailable", "reason": f"{tab['reason']} {NOT_OPENED}"})
        tabs.append(Tab({**tab, "tables": [_table_as_saved(table) for table in tab["tables"]]}))
    return View({**view, "tabs": tabs})


def _table_as_saved(table: Table) -> Table:
    if "request" not in table:
        return table
    note = f"The compiler's own account is made by compiling once more. {NOT_OPENED}"
    saved = Table({**table, "notes": [*table["notes"], note]})
    del saved["request"]
    return saved


def render_page(source: Source, cap_bytes: int = CAP_BYTES) -> str:
    """One interactive page that needs no kernel and makes no request.

    Args:
        source: The facts to show.
        cap_bytes: The most that the listings' payloads may take in the page; those beyond are left out, with a reason.

    Raises:
        UnavailableError: This installation has no browser bundle.
    """
    view = _as_saved(source.view)
    # The two sequences that end or switch the state of a script element in HTML; inside JavaScript strings, where alone
    # they can occur in the bundle, the backslash changes nothing.
    program = bundle().replace("</script", "<\\/script").replace("<!--", "<\\!--")
    digest = base64.b64encode(hashlib.sha256(program.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    payloads, left_out = _listings(source, view, cap_bytes)
    head = json.dumps({"view": view, "left_out": left_out, "keys": [key for key, _ in data_keys(view)]}).encode()
    # The policy stands before everything it governs.
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">\n'
        f"<title>{escape(view['title'])} · jaxscope</title>\n"
        "<style>body{margin:16px;font:14px/1.45 system-ui,sans-serif}"
        "@media (prefers-color-scheme:dark){body{background:#0f1115;color:#e4e8ef}}</style>\n</head>\n<body>\n"
        '<main id="jaxscope"></main>\n'
        f"<noscript>{render_fallback(view, 'This page is interactive where scripts are allowed.')}</noscript>\n"
        f"{_payload('jaxscope-view', head)}{''.join(payloads)}"
        f'<script type="module">{program}</script>\n</body>\n</html>\n'
    )
