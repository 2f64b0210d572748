"""What a rule says of a program: for the tests of rules, one module each, named after the rule's own.

Each has at least one program that has the finding (`test_found…`) and one, as like it as can be, that has not
(`test_not_found…`).
"""

import jaxscope
from jaxscope._findings import RULES, Finding, find


def findings_of(key: str, function, *args, **options) -> list[Finding]:
    """What the rule of that key says of a program; options are those of `jaxscope.inspect`."""
    (rule,) = [rule for rule in RULES if rule.key == key]
    facts = jaxscope.inspect(function, *args, **options)._facts
    findings = find(facts, (rule,))
    assert not findings.broken, findings.broken
    return list(findings.found)


def source_of(finding: Finding) -> str:
    """The line of Python that a finding points at; "" where it points at none."""
    from jaxscope._sources import source_line

    frame = finding.frame
    return source_line(frame.file, frame.line).strip() if frame is not None else ""
