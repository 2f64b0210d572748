"""Findings as a whole: documented, tested, contained when they break, the worst first."""

import ast
import inspect
from pathlib import Path

import pytest

import jaxscope
from jaxscope._findings import HEADINGS, RULES, SEVERITIES, Observation, Rule, captured_constants, find
from jaxscope._findings.records import read_documentation

TESTS = Path(__file__).parent / "findings"
PACKAGE = Path(inspect.getfile(find)).parent


def module_of(rule):
    return inspect.getmodule(rule.find)


def test_every_module_of_a_rule_is_in_the_table():
    modules = {path.stem for path in PACKAGE.glob("*.py") if "RULE = Rule(" in path.read_text()}
    assert modules == {module_of(rule).__name__.rpartition(".")[2] for rule in RULES}
    assert len({rule.key for rule in RULES}) == len(RULES) == len({rule.title for rule in RULES})


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.key)
def test_every_rule_is_documented_and_tested_both_ways(rule):
    assert tuple(rule.documentation) == HEADINGS
    assert all(rule.documentation.values())
    assert rule.severity in SEVERITIES
    name = module_of(rule).__name__.rpartition(".")[2]
    tests = [
        node.name
        for node in ast.parse((TESTS / f"test_{name}.py").read_text()).body
        if isinstance(node, ast.FunctionDef)
    ]
    assert any(test.startswith("test_found") for test in tests), name
    assert any(test.startswith("test_not_found") for test in tests), name


def test_the_readme_lists_every_rule():
    readme = (Path(__file__).parents[1] / "README.md").read_text()
    listed = [line.split("|")[1].strip() for line in readme.partition("## The findings")[2].split("\n") if "|" in line]
    assert sorted(listed[2:]) == sorted(rule.title for rule in RULES)


def test_documentation_has_its_headings():
    with pytest.raises(ValueError, match="What it does"):
        read_documentation("Something.\n\nWhat it does:\n    This.\n")
    assert read_documentation(captured_constants.__doc__)["Example"].startswith("    table = ")


def rule_of(key, severity, *observations, error=None):
    def look(program):
        yield from observations
        if error is not None:
            raise error

    return Rule(key, key, severity, look, {})


def test_the_worst_come_first_and_a_broken_rule_is_named():
    facts = jaxscope.inspect(lambda x: x + 1, "f32[4]")._facts
    rules = (
        rule_of("a", "note", Observation("first", "")),
        rule_of("b", "warning", Observation("second", ""), Observation("third", "", severity="error")),
        rule_of("c", "error", Observation("lost", ""), error=KeyError("oops")),
    )
    findings = find(facts, rules)
    assert [finding.observation.found for finding in findings.found] == ["third", "second", "first"]
    ((broken),) = findings.broken
    assert broken.rule.key == "c"
    assert "oops" in broken.reason
    assert findings.looked == 2


def test_a_program_that_failed_has_no_findings_of_later_stages():
    facts = jaxscope.inspect(lambda x: x if x > 0 else -x, "f32[]")._facts
    assert not facts.findings.broken
    assert not facts.findings.found
