"""The manual holds every entry, says rightly where each table is to be had, and finds what is asked for."""

import html
import re

import pytest

import jaxscope
from jaxscope._analysis import columns
from jaxscope._analysis.custom_calls import TARGETS
from jaxscope._analysis.library_calls import LIBRARY_TARGETS
from jaxscope._analysis.rules import RULES
from jaxscope._findings import RULES as FINDINGS
from jaxscope._view.reference import COUNTING, LIBRARIES, SOURCES

# "<td align="left">" … "</td>", "<code>"
TAG = re.compile(r"<[^>]*>")


@pytest.fixture(scope="module")
def manual():
    return jaxscope.reference()


@pytest.fixture(scope="module")
def inspection():
    return jaxscope.inspect(lambda x: x + 1, "f32[8,128]")


def test_every_entry_is_in_it_once(manual):
    told = sorted(zip(manual.frame.part, manual.frame.name))
    entries = {**columns.COLUMNS, **{key: (*columns.COLUMNS[key], *rows) for key, rows in columns.ROWS.items()}}
    expected = [(key.capitalize(), entry.key) for key, group in entries.items() for entry in group]
    expected += [(COUNTING, rule.key) for rule in RULES]
    expected += [(LIBRARIES, target.key) for target in (*TARGETS, *LIBRARY_TARGETS)]
    expected += [(rule.title, heading) for rule in FINDINGS for heading in rule.documentation]
    assert told == sorted(expected) and len(manual) == len(expected)


def test_every_word_of_the_entries_is_in_the_text_and_on_the_page(manual):
    text = " ".join(str(manual).split())
    page = " ".join(html.unescape(TAG.sub(" ", manual._repr_html_())).replace("\xa0", " ").split())
    for group in (*columns.COLUMNS.values(), *columns.ROWS.values()):
        for entry in group:
            for words in (entry.label, entry.what, entry.source, entry.missing):
                assert " ".join(words.split()) in text and " ".join(words.split()) in page
    for rule in (*RULES, *TARGETS, *LIBRARY_TARGETS):
        assert rule.formula in text and rule.formula in page and rule.source in text
    for rule in FINDINGS:
        for words in rule.documentation.values():
            assert " ".join(words.split()) in text and " ".join(words.split()) in page


@pytest.mark.parametrize("key", SOURCES)
def test_each_table_is_where_the_manual_says(key, inspection):
    source = SOURCES[key]
    if not source.startswith(("inspection.", "jaxscope.")):
        pytest.skip("no data frame")
    frame = eval(source.replace("(...)", "(1.0)"), {"inspection": inspection, "jaxscope": jaxscope})
    assert list(frame.columns) == [entry.key for entry in columns.COLUMNS[key]]


def test_what_is_asked_for_is_found_in_any_case():
    found = jaxscope.reference("CONVOLUTION").frame
    assert {(COUNTING, "convolution"), (LIBRARIES, "cuDNN convolution")} <= set(zip(found.part, found.name))
    titles = {rule.title for rule in FINDINGS}
    for part, entries in found.groupby("part"):
        told = [" ".join(map(str, row)).casefold() for row in entries.itertuples(index=False)]
        holds = ["convolution" in each for each in told]
        assert any(holds) if part in titles else all(holds)
    assert len(jaxscope.reference("a captured array is part of the program")) == 5, "a finding is shown whole"
    assert set(jaxscope.reference("inspection.roofline").frame.part) == {"Roofline"}


def test_nothing_found_says_so():
    nothing = jaxscope.reference("<b>nothing</b>")
    assert len(nothing) == 0 == len(nothing.frame)
    assert str(nothing) == "No entry holds these words. jaxscope.reference() shows all."
    assert nothing._repr_html_() == f"<p>{nothing}</p>"


def test_text_fits_and_code_keeps_its_lines():
    manual = jaxscope.reference("captured-constant")
    lines = str(manual).split("\n")
    assert all(len(line) <= 100 for line in lines)
    assert "        jax.jit(lambda table, x: table @ x)" in lines
    assert "<code>jax.jit(lambda table, x: table @ x)</code>" in manual._repr_html_()
