"""Advice about a program, tied to its lines.

Problem: what is wrong with a program that compiles is spread over five texts and a dozen tables, and the reader has to
know what to look for. Input: the facts of a program whose stages have ended. Output: `Findings`: what the rules, one
module each, say of it. A rule that fails is reported as broken, and the others stay.
"""

from jaxscope._findings.records import (
    HEADINGS,
    SEVERITIES,
    BrokenRule,
    Finding,
    Findings,
    ListingLine,
    Observation,
    Program,
    Rule,
    Severity,
)
from jaxscope._findings.table import RULES
from jaxscope.errors import UnavailableError

__all__ = [
    "HEADINGS",
    "RULES",
    "SEVERITIES",
    "BrokenRule",
    "Finding",
    "Findings",
    "ListingLine",
    "Observation",
    "Program",
    "Rule",
    "Severity",
    "find",
]


def find(program: Program, rules: tuple[Rule, ...] = RULES) -> Findings:
    """What the rules say of a program; never raises."""
    found: list[Finding] = []
    broken: list[BrokenRule] = []
    looked = 0
    for rule in rules:
        try:
            found += [Finding(rule, observation) for observation in rule.find(program)]
            looked += 1
        except UnavailableError:
            # A stage is missing, which its own tab explains: there is nothing to look at.
            continue
        except Exception as error:
            broken.append(BrokenRule(rule, f"{type(error).__name__}: {error}"))
    found.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    return Findings(tuple(found), tuple(broken), looked)
