"""What is worth saying about a program, as the Findings tab shows it.

Input: the facts of an inspection whose stages have ended. Output: the findings with their places, each leading to its
lines; the documentation of their rules; notes on what is not shown and on rules that failed; marks beside the lines.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from jaxscope._facts import Facts
from jaxscope._findings import Finding, Findings, Severity
from jaxscope._ir.model import Frame
from jaxscope._programs import Programs
from jaxscope._sources import display_names, source_line
from jaxscope._view.format import format_count
from jaxscope._view.model import FindingView, Link, Mark, Paragraph, Place, Tone

# The whole table is one call away; of one rule, nobody reads more.
MAXIMUM_PER_RULE = 5
MAXIMUM_LINES = 8
_TONES: dict[Severity, Tone] = {"error": "error", "warning": "warning", "note": "muted"}


@dataclass(frozen=True)
class FindingsPage:
    """What the tab shows: a short count for the strip, the findings, what their rules are, and remarks."""

    count: str
    findings: list[FindingView]
    rules: dict[str, list[Paragraph]]
    notes: list[str]


def findings_page(facts: Facts) -> FindingsPage:
    """The findings of a program, the worst first."""
    findings = facts.findings
    shown = _shown(findings.found)
    names = display_names(finding.frame.file for finding in shown if finding.frame is not None)
    rules = {finding.rule.key: finding.rule for finding in shown}
    return FindingsPage(
        count=format_count(len(findings.found), ("finding", "findings")) if findings.found else "none",
        findings=[_view(facts, finding, names) for finding in shown],
        rules={
            key: [Paragraph(heading=heading, text=text) for heading, text in rule.documentation.items()]
            for key, rule in rules.items()
        },
        notes=[*_notes(findings, shown)],
    )


def _shown(found: Iterable[Finding]) -> list[Finding]:
    """The first findings of each rule."""
    counts: Counter[str] = Counter()
    shown = []
    for finding in found:
        counts[finding.rule.key] += 1
        if counts[finding.rule.key] <= MAXIMUM_PER_RULE:
            shown.append(finding)
    return shown


def finding_marks(programs: Programs) -> Iterator[Mark]:
    """The lines that findings are about, in Python and in the compilers' listings."""
    for facts in programs:
        if not facts.has_ended or isinstance(facts.error, KeyboardInterrupt):
            continue
        for finding in _shown(facts.findings.found):
            for link in _links(facts, finding):
                yield Mark(
                    listing=programs.listing_key(facts, link["listing"]),
                    line=link["line"],
                    tone=_TONES[finding.severity],
                    text=f"{finding.rule.title}. {finding.observation.found} {finding.observation.advice}",
                    note=finding.rule.title,
                )


def _links(facts: Facts, finding: Finding) -> list[Link]:
    """The lines of a finding, that of Python first."""
    frame, links = finding.frame, []
    if frame is not None and (row := facts.python_lines.get((frame.file, frame.line))) is not None:
        links.append(Link(listing="python", line=row))
    return links + [Link(listing=each.listing, line=each.line) for each in finding.observation.lines[:MAXIMUM_LINES]]


def _view(facts: Facts, finding: Finding, names: dict[str, str]) -> FindingView:
    seen, frame = finding.observation, finding.frame
    return FindingView(
        rule=finding.rule.key,
        title=finding.rule.title,
        severity=finding.severity,
        tone=_TONES[finding.severity],
        found=seen.found,
        advice=seen.advice,
        places=[_place(frame, names[frame.file])] if frame is not None else [],
        links=_links(facts, finding),
    )


def _place(frame: Frame, name: str) -> Place:
    text = source_line(frame.file, frame.line).strip()
    return Place(file=name, line=frame.line, column=frame.column, function=frame.function, text=text)


def _notes(findings: Findings, shown: list[Finding]) -> Iterable[str]:
    if not findings.found and findings.looked:
        yield f"{format_count(findings.looked, ('rule', 'rules'))} looked at the program and found nothing to say."
    more = Counter(finding.rule.title for finding in findings.found)
    more.subtract(finding.rule.title for finding in shown)
    for title, count in more.items():
        if count:
            yield f"{title}: {count:,} more in inspection.findings."
    for broken in findings.broken:
        yield (
            f"{broken.rule.title}: jaxscope itself raised {broken.reason}. The other findings are not affected; "
            "please report this as a bug of jaxscope."
        )
