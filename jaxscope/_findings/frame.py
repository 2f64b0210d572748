"""Findings as a data frame.

Input: `Findings`. Output: one row for each, the worst first.
"""

from typing import TYPE_CHECKING

from jaxscope._analysis.finding_columns import FINDING_COLUMNS
from jaxscope._findings.records import Finding, Findings

if TYPE_CHECKING:
    import pandas


def findings_frame(findings: Findings) -> "pandas.DataFrame":
    """One row for each finding; the columns are described in `FINDING_COLUMNS`."""
    import pandas

    keys = [entry.key for entry in FINDING_COLUMNS]
    frame = pandas.DataFrame([_row(finding) for finding in findings.found], columns=keys, dtype="object")
    return frame.astype({"python_line": "Int64"})


def _row(finding: Finding) -> dict[str, object]:
    seen, frame = finding.observation, finding.frame
    listing = seen.lines[0].listing if seen.lines else None
    return {
        "severity": finding.severity,
        "rule": finding.rule.key,
        "title": finding.rule.title,
        "found": seen.found,
        "advice": seen.advice,
        "file": frame.file if frame else None,
        "python_line": frame.line if frame else None,
        "function": frame.function if frame else None,
        "listing": listing,
        "lines": [each.line + 1 for each in seen.lines if each.listing == listing],
    }
