"""A failure on the screen: told in order, marked on its lines, with what was traced until then beside it."""

import pytest

from tests.ui import sample
from tests.ui.conftest import LOOKS
from tests.ui.test_page import active_tab, row


def toned(page, side):
    """The marked lines of a pane: line, tone, sign."""
    rows = page.locator(f".pane.{side} .row[data-tone]").evaluate_all(
        "rows => rows.map(row => [Number(row.dataset.line), row.dataset.tone, row.querySelector('.sign').textContent])"
    )
    return sorted(map(tuple, rows))


def test_what_is_known_stands_open_and_the_original_words_are_folded_away(open_source):
    page = open_source(sample.failed_in_a_loop())
    panel = page.locator(".failure")
    assert active_tab(page) == "jaxpr"
    text = panel.inner_text()
    order = [
        "stopped with TypeError",
        "changes its type",
        "What to do",
        "Goes in",
        "int32[]",
        "layers.py:4\n",
        "f32[8,",
    ]
    at = [text.index(words) for words in (*order, "attention.py:14", "the exception's own words")]
    assert at == sorted(at)
    words = panel.get_by_text("must have equal types")
    assert not words.is_visible()
    panel.locator("summary", has_text="own words").click()
    assert words.is_visible()
    (link,) = panel.locator("a").all()
    assert link.get_attribute("href") == "https://docs.jax.dev/en/latest/_autosummary/jax.lax.scan.html"
    assert (link.get_attribute("target"), link.get_attribute("rel")) == ("_blank", "noopener")
    assert page.requests == [page.own_url]


@pytest.mark.parametrize("address", sample.NO_PAGES)
def test_only_an_address_of_jaxs_documentation_becomes_a_link(open_source, address):
    source = sample.failed_in_a_loop()
    source.view["tabs"][1]["failure"]["page"] = address
    page = open_source(source)
    page.locator(".failure").wait_for()
    assert page.locator("a").count() == 0


def test_what_nothing_recognises_keeps_its_words_in_view(open_source):
    page = open_source(sample.failed())
    assert page.get_by_text("as many elements as the mask has True").is_visible()
    assert page.locator(".failure summary").all_inner_texts() == ["full traceback"]
    assert toned(page, "left") == [(4, "error", "✕")]


def test_the_lines_are_marked_with_signs_notes_and_names(open_source):
    page = open_source(sample.failed_in_a_loop())
    row(page, "right", 14).wait_for()
    assert toned(page, "left") == [(5, "muted", "›"), (11, "error", "✕")]
    assert toned(page, "right") == [(6, "warning", "▲"), (14, "error", "✕")]
    assert row(page, "left", 11).inner_text().endswith("← x: f32[8,128,128]")
    assert "What a loop carries changes" in row(page, "left", 11).get_attribute("aria-description")
    assert "64 MiB" in row(page, "right", 6).locator(".tone-warning").inner_text()
    for side, tones in (("left", ["error", "muted"]), ("right", ["error", "warning"])):
        drawn = page.locator(f".pane.{side} .ruler [class^=tone-]").evaluate_all("all => all.map((i) => i.className)")
        assert sorted(drawn) == [f"tone-{tone}" for tone in tones]
    row(page, "left", 11).hover()
    status = page.locator(".status").inner_text()
    assert "✕ What a loop carries changes its type" in status and "layers.py:4" in status
    row(page, "left", 3).hover()
    assert "carries" not in page.locator(".status").inner_text()


def test_a_note_is_not_part_of_the_text(open_source):
    page = open_source(sample.failed_in_a_loop())
    note = row(page, "left", 11).locator(".k-note")
    assert note.evaluate("note => getComputedStyle(note).userSelect") == "none"
    page.locator(".pane.left .scroller").press("e")  # the exact text
    note.wait_for(state="detached")
    assert toned(page, "left") == [(5, "muted", "›"), (11, "error", "✕")]


def test_a_closed_fold_shows_the_mark_that_it_hides(open_source):
    page = open_source(sample.failed_in_a_loop())
    row(page, "right", 14).wait_for()
    row(page, "right", 0).locator("[data-do=fold]").click()
    row(page, "right", 14).wait_for(state="detached")
    assert toned(page, "right") == [(0, "error", "✕")]


def test_the_jaxpr_up_to_the_failure_is_a_linked_listing(open_source):
    page = open_source(sample.failed_in_a_loop())
    row(page, "right", 7).hover()
    assert "exact" in row(page, "left", 11).get_attribute("class")
    assert row(page, "right", 7).locator(".k-definition").first.inner_text() == "g"
    assert page.locator(".pane.right .coverage").inner_text() == "100 % of ops linked"
    assert page.locator(".report .notes").inner_text() == "UserWarning: beware"
    tab = page.get_by_role("tab", name="Jaxpr")
    assert tab.locator("b").inner_text() == "✕ Jaxpr"
    assert "9 equations, up to the failure" in tab.inner_text()


@pytest.mark.parametrize(("scheme", "viewport"), LOOKS)
def test_it_fits(open_source, scheme, viewport, picture):
    page = open_source(sample.failed_in_a_loop(), viewport=viewport, color_scheme=scheme)
    row(page, "left", 11).wait_for()
    picture(page, f"failure-{scheme}", full_page=True)
    assert page.evaluate("() => document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    # The note of a long line is reached by scrolling.
    scroller = page.locator(".pane.left .scroller")
    scroller.evaluate("scroller => { scroller.scrollLeft = 1e6; }")
    end = row(page, "left", 11).locator(".k-note").evaluate("note => note.getBoundingClientRect().right")
    assert end <= scroller.evaluate("scroller => scroller.getBoundingClientRect().right")
