"""Findings as a whole: documented, tested, contained when they break, the worst first."""

import ast
import html
import inspect
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxscope
from jaxscope._findings import HEADINGS, RULES, SEVERITIES, Observation, Rule, captured_constants, find
from jaxscope._findings.records import read_documentation
from jaxscope._render.html import render_fallback

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


TABLE = np.arange(300_000, dtype=np.float32).reshape(1000, 300)


def reads_a_table(unused, x):
    y = TABLE @ x
    return jnp.sin(y)


def tab_of(inspection, key="findings"):
    (tab,) = [tab for tab in inspection._source.view["tabs"] if tab["key"] == key]
    return tab


@pytest.fixture(scope="module")
def inspection():
    return jaxscope.inspect(reads_a_table, "f32[3]", "f32[300]")


def test_the_tab_tells_each_and_leads_to_its_lines(inspection):
    tab = tab_of(inspection)
    assert (tab["status"], tab["count"]) == ("done", "2 findings")
    captured, unused = tab["findings"]
    assert (captured["rule"], captured["severity"], captured["tone"]) == ("captured-constant", "warning", "warning")
    assert (unused["rule"], unused["severity"], unused["tone"]) == ("unused-argument", "note", "muted")
    assert captured["places"][0]["text"] == "y = TABLE @ x"
    texts = [inspection._source.text(link["listing"]).split("\n")[link["line"]] for link in captured["links"]]
    assert "TABLE @ x" in texts[0] and "dot_general" in texts[1]
    assert set(tab["rules"]) == {"captured-constant", "unused-argument"}
    assert [part["heading"] for part in tab["rules"]["unused-argument"]] == list(HEADINGS)


def test_its_lines_are_marked(inspection):
    view = inspection._source.view
    marked = {(mark["listing"], mark["line"], mark["tone"]) for mark in view["marks"]}
    told = {
        (link["listing"], link["line"], each["tone"])
        for each in tab_of(inspection)["findings"]
        for link in each["links"]
    }
    assert marked == told


def test_text_page_and_frame_say_the_same(inspection, tmp_path):
    report, page = str(inspection), inspection.to_html(tmp_path / "page.html").read_text()
    static = render_fallback(inspection._source.view)
    for row in inspection.findings.itertuples():
        assert f"{row.severity}: {row.title}" in report
        assert row.found in report and row.advice in report
        assert html.escape(row.title) in page and html.escape(row.title) in static
    assert list(inspection.findings["python_line"]) == [
        reads_a_table.__code__.co_firstlineno + 1,
        reads_a_table.__code__.co_firstlineno,
    ]
    assert inspection.findings.attrs["broken"] == {}


def test_a_rule_that_breaks_is_told_and_takes_nothing_with_it(monkeypatch):
    broken = rule_of("broken", "error", error=ZeroDivisionError("of mine"))
    monkeypatch.setattr("jaxscope._facts.find", lambda program: find(program, (broken, *RULES)))
    found = jaxscope.inspect(reads_a_table, "f32[3]", "f32[300]")
    assert "broken: jaxscope itself raised ZeroDivisionError: of mine" in " ".join(tab_of(found)["notes"])
    assert "warning: Large captured array" in str(found)
    assert found.findings.attrs["broken"] == {"broken": "ZeroDivisionError: of mine"}


def test_of_one_rule_only_the_first_are_shown(monkeypatch):
    many = rule_of("many", "note", *(Observation(f"number {number}", "") for number in range(9)))
    monkeypatch.setattr("jaxscope._facts.find", lambda program: find(program, (many,)))
    found = jaxscope.inspect(lambda x: x + 1, "f32[3]")
    assert [each["found"] for each in tab_of(found)["findings"]] == [f"number {number}" for number in range(5)]
    assert "many: 4 more in inspection.findings." in tab_of(found)["notes"]
    assert len(found.findings) == 9


def test_nothing_to_say_is_said():
    tab = tab_of(jaxscope.inspect(lambda x: x + 1, "f32[3]"))
    assert tab["count"] == "none"
    assert "found nothing to say" in tab["notes"][0]


def test_a_call_that_is_judged_later_brings_its_findings():
    jitted = jax.jit(lambda x: x * 2)
    inspection = jaxscope.inspect(jitted, "f32[3]")
    assert inspection.findings.empty
    inspection._facts.take_call_text("f32[4]")
    assert list(inspection.findings["rule"]) == ["recompile"]
    assert tab_of(inspection)["count"] == "1 finding"
    inspection._facts.take_call_text("f32[3]")
    assert inspection.findings.empty


def test_a_rule_that_breaks_for_one_of_several_targets_is_named(monkeypatch):
    def break_for_rocm(program):
        broken = rule_of("broken", "note", error=KeyError("x") if program.target.platform == "rocm" else None)
        return find(program, (broken,))

    monkeypatch.setattr("jaxscope._facts.find", break_for_rocm)
    inspection = jaxscope.inspect(lambda x: x + 1, "f32[3]", targets=["cpu", "rocm"])
    assert inspection.findings.attrs["broken"] == {"broken": "KeyError: 'x'"}
