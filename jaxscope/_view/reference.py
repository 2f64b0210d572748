"""The manual: what every column, figure, counting rule and finding means.

Problem: a tooltip is read one at a time, and where there is no screen not at all. Input: words to look for. Output: one
`Table` for each table of an inspection, for the rules of counting and for the findings, made of the very entries that
feed tooltips.
"""

from collections.abc import Iterator, Sequence

from jaxscope._analysis import columns
from jaxscope._analysis.custom_calls import TARGETS
from jaxscope._analysis.entry import Entry
from jaxscope._analysis.library_calls import LIBRARY_TARGETS
from jaxscope._analysis.rules import RULES
from jaxscope._findings import RULES as FINDINGS
from jaxscope._view.cells import row_of
from jaxscope._view.format import format_count
from jaxscope._view.model import Column, Table

# Where each table is to be had, in the order of the tabs.
SOURCES = {
    "signature": "inspection.signature",
    "mismatches": "inspection.check(...).frame",
    "cache": "inspection.check(...).cache_frame",
    "type changes": "inspection.type_changes",
    "overflows": "inspection.integer_overflows",
    "carry": "a stage that failed",
    "branches": "a stage that failed",
    "cost by line": 'inspection.cost_by("line")',
    "cost by function": 'inspection.cost_by("function")',
    "cost by scope": 'inspection.cost_by("scope")',
    "cost by op": 'inspection.cost_by("op")',
    "cost by kernel": 'inspection.cost_by("kernel")',
    "loops": "inspection.loops",
    "roofline": "inspection.roofline",
    "cost": "inspection.cost",
    "reconciliation": "inspection.reconciliation",
    "collectives": "inspection.collectives",
    "memory": "inspection.memory",
    "buffers": "inspection.buffers",
    "alive": "inspection.alive()",
    "allocations": "inspection.allocations",
    "donations": "inspection.donations",
    "peak": "the Memory tab",
    "agreement": "the Memory tab",
    "findings": "inspection.findings",
    "targets": "jaxscope.targets().frame",
}
COUNTING, LIBRARIES = "FLOPs, op by op", "FLOPs of library calls"
_HEADING = "heading"
_ENTRIES = ("entry", "entries")


def reference_tables(words: str = "") -> list[Table]:
    """Every table of the manual, or of them the rows that hold these words, in any case."""
    tables = [*_tables_of_columns(), _counting_rules(), _library_rules(), *_findings()]
    if not words:
        return tables
    found = []
    for table in tables:
        about = [row for row in table["rows"] if any(_holds(words, cell) for cell in row["cells"])]
        # The headings of a finding are one text.
        is_whole = _holds(words, table["title"]) or _holds(words, table["source"])
        is_whole = is_whole or (bool(about) and table["columns"][0]["key"] == _HEADING)
        rows = table["rows"] if is_whole else about
        if rows:
            found.append(Table({**table, "rows": rows, "summary": format_count(len(rows), _ENTRIES)}))
    return found


def _holds(words: str, text: str) -> bool:
    return words.casefold() in text.casefold()


def _tables_of_columns() -> Iterator[Table]:
    for key, source in SOURCES.items():
        rows = columns.ROWS.get(key, ())
        yield _table(
            key.capitalize(),
            source,
            ("name", "heading", "what it is", "where it comes from", "when it is missing"),
            [_cells(entry) for entry in (*columns.COLUMNS[key], *rows)],
        )


def _cells(entry: Entry) -> tuple[str, ...]:
    return entry.key, entry.label, entry.what, entry.source, entry.missing


def _counting_rules() -> Table:
    return _table(
        COUNTING,
        "",
        ("rule", "ops", "what one op counts", "source"),
        [(rule.key, ", ".join(rule.operations), rule.formula, rule.source) for rule in RULES],
    )


def _library_rules() -> Table:
    programs = [(target.key, target.example, target.formula, target.source) for target in TARGETS]
    compilers = [(each.key, ", ".join(each.targets), each.formula, each.source) for each in LIBRARY_TARGETS]
    return _table(LIBRARIES, "", ("rule", "calls such as", "what one call counts", "source"), [*programs, *compilers])


def _findings() -> Iterator[Table]:
    for rule in FINDINGS:
        yield _table(
            rule.title, f"inspection.findings, rule {rule.key}", (_HEADING, "text"), [*rule.documentation.items()]
        )


def _table(title: str, source: str, labels: Sequence[str], rows: Sequence[tuple[str, ...]]) -> Table:
    return Table(
        key=title,
        title=title,
        source=source,
        summary=format_count(len(rows), _ENTRIES),
        tone="",
        columns=[
            Column(key=label, label=label, align="left", code=not at and label != _HEADING, help="")
            for at, label in enumerate(labels)
        ],
        rows=[row_of(*cells) for cells in rows],
        notes=[],
        empty="",
    )
