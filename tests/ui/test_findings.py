"""Findings on the screen: told in their tab, worst first, marked beside their lines, reached by keys."""

import pytest

from tests.ui import sample
from tests.ui.conftest import LOOKS
from tests.ui.test_assistive import violations
from tests.ui.test_failure import toned
from tests.ui.test_page import active_tab, row

HOSTILE = '<img src=x onerror="alert(1)">'


def open_tab(page, key):
    page.locator(f"[role=tab][data-key={key}]").click()


def finding(**fields):
    made = {
        "rule": "captured-constant",
        "title": "Large captured array",
        "severity": "warning",
        "tone": "warning",
        "found": f"`f32[8,128,128]` comes from outside. {HOSTILE}",
        "advice": "Make it an argument of the function.",
        "places": [{"file": "layers.py", "line": 4, "column": 9, "function": "softmax", "text": "e = jnp.exp(x)"}],
        "links": [{"listing": "python", "line": 11}, {"listing": "hlo", "line": 12}, {"listing": "hlo", "line": 15}],
    }
    made.update(fields)
    return made


def with_findings():
    source = sample.attention()
    text = "It is part of the program.\n\n    table = jnp.zeros(3)\n    f()"
    paragraphs = [{"heading": "Why it matters", "text": text}]
    links = [{"listing": "python", "line": 5}]
    note = finding(rule="unused", title="Argument never read", severity="note", tone="muted", links=links)
    source.view["tabs"].append(
        sample.tab(
            "findings",
            "Findings",
            "tables",
            count="2 findings",
            notes=["Captured: 3 more."],
            findings=[finding(), note],
            rules={"captured-constant": paragraphs, "unused": []},
        )
    )
    source.view["marks"] = [
        sample.mark("python", 11, "warning", "Large captured array. Make it an argument.", "Large captured array"),
        sample.mark("python", 5, "muted", "Argument never read.", "Argument never read"),
        sample.mark("hlo", 12, "warning", "Large captured array.", "Large captured array"),
        sample.mark("hlo", 15, "warning", "Large captured array.", "Large captured array"),
    ]
    return source


def test_each_says_what_where_and_what_to_do(open_source):
    page = open_source(with_findings())
    open_tab(page, "findings")
    first, second = page.locator(".finding").all()
    assert first.locator("h2").inner_text() == "▲ warning: Large captured array"
    assert second.locator("h2").inner_text() == "note: Argument never read"
    text = first.inner_text()
    assert "layers.py:4" in text and "What to do: Make it an argument" in text
    assert HOSTILE in text, "a string of the program is text"
    assert page.locator(".finding img").count() == 0
    assert page.locator(".report .notes").inner_text() == "Captured: 3 more."
    assert not first.get_by_text("It is part of the program.").is_visible()
    first.locator("summary").click()
    assert first.get_by_text("It is part of the program.").is_visible()
    assert first.locator("pre").inner_text() == "table = jnp.zeros(3)\nf()"
    assert page.requests == [page.own_url]


def test_the_strip_counts_them(open_source):
    page = open_source(with_findings())
    assert "▲ 2 findings" in page.locator("[role=tab][data-key=findings]").inner_text()
    badges = page.locator("[role=tab] .badge")
    assert [text.strip() for text in badges.all_inner_texts()] == ["▲1", "▲2"]
    assert badges.nth(1).get_attribute("aria-label") == "2 lines with findings or failures"


def test_a_finding_leads_to_its_lines(open_source):
    page = open_source(with_findings())
    open_tab(page, "findings")
    first = page.locator(".finding").first
    assert first.locator(".jump").all_inner_texts() == ["Python", "Compiled HLO (2 lines)"]
    first.locator(".jump", has_text="Compiled HLO").click()
    assert active_tab(page) == "hlo"
    row(page, "right", 12).wait_for()
    assert page.locator(".pane.right .row.cursor").get_attribute("data-line") == "12"
    # The pinned line shows its pin's number in the place of the sign.
    assert toned(page, "right") == [(12, "warning", "1"), (15, "warning", "▲")]
    assert toned(page, "left") == [(5, "muted", "›"), (11, "warning", "▲")]


def test_keys_go_from_one_to_the_next_and_around(open_source):
    page = open_source(with_findings())
    open_tab(page, "hlo")
    scroller = page.locator(".pane.right .scroller")
    scroller.focus()
    seen = []
    for key in ("a", "a", "a", "A"):
        page.keyboard.press(key)
        seen.append(page.locator(".pane.right .row.cursor").get_attribute("data-line"))
    assert seen == ["12", "15", "12", "15"]
    open_tab(page, "stablehlo")
    page.locator(".pane.right .scroller").focus()
    page.keyboard.press("a")
    assert page.locator(".pane.left .row.cursor").get_attribute("data-line") in ("5", "11")


@pytest.mark.parametrize(("scheme", "viewport"), LOOKS)
def test_it_fits_and_axe_finds_nothing(open_source, axe, scheme, viewport, picture):
    page = open_source(with_findings(), viewport=viewport, color_scheme=scheme)
    open_tab(page, "findings")
    page.locator("summary").first.click()
    picture(page, f"findings-{scheme}", full_page=True)
    assert page.evaluate("() => document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert violations(page, axe) == []
