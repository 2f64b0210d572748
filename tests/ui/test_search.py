"""Finding in a listing, going to a line, copying and folding: by key and by what can be seen."""

import pytest

from tests.ui import sample
from tests.ui.conftest import LOOKS
from tests.ui.test_page import EVERY_NODE, click_toggle, row


def pane(page, side="right"):
    return page.locator(f".pane.{side}")


def focus(page, side="right"):
    row(page, side, 0).wait_for(state="attached")
    pane(page, side).locator(".scroller").focus()


def search(page, text, side="right"):
    """Opens the bar by its key and types; waits until all is searched."""
    focus(page, side)
    page.keyboard.press("/")
    pane(page, side).locator(".bar .query:visible").fill(text)
    settle(page, side)


def settle(page, side="right"):
    page.wait_for_timeout(90)
    page.wait_for_function(
        f"""() => {{
          const bar = document.querySelector('.jaxscope').shadowRoot.querySelector('.pane.{side} [role=search]');
          return !bar.querySelector('[aria-busy]');
        }}"""
    )


def count(page, side="right"):
    return pane(page, side).locator(".count").inner_text()


def said(page, side="right"):
    return pane(page, side).locator(".said")


def current(page):
    return page.locator(".pane.right mark.current")


def current_line(page):
    return int(current(page).evaluate("mark => mark.closest('.row').dataset.line"))


def bar_problem(page, side="right"):
    return pane(page, side).locator("[role=search] .problem").inner_text()


def focused(page):
    """The class of what has the focus."""
    return page.evaluate("() => document.querySelector('.jaxscope').shadowRoot.activeElement?.className")


def cursor(page, side="right"):
    return int(pane(page, side).locator(".row.cursor").get_attribute("data-line"))


@pytest.fixture
def clipboard(browser):
    """What the page puts into the clipboard, with the permission to."""
    return {"permissions": ["clipboard-read", "clipboard-write"]}


def pasted(page):
    return page.evaluate("() => navigator.clipboard.readText()")


def test_matches_are_counted_marked_and_gone_through(open_source):
    page = open_source(sample.attention())
    search(page, "DOT(")
    assert count(page) == "1 of 2"
    assert page.locator(".pane.right mark").all_inner_texts() == ["dot(", "dot("]
    assert current_line(page) == 16
    assert current(page).evaluate("mark => getComputedStyle(mark).outlineStyle") == "solid"
    other = page.locator(".pane.right mark:not(.current)")
    assert "underline" in other.evaluate("mark => getComputedStyle(mark).textDecorationLine")
    page.keyboard.press("Enter")
    assert (count(page), current_line(page)) == ("2 of 2", 18)
    page.keyboard.press("Enter")
    assert (count(page), current_line(page)) == ("1 of 2", 16)
    page.keyboard.press("Shift+Enter")
    assert count(page) == "2 of 2"
    pane(page).get_by_role("button", name="next match").click()
    assert count(page) == "1 of 2"
    pane(page).get_by_role("button", name="previous match").click()
    assert count(page) == "2 of 2"
    assert page.locator(".pane.left mark").count() == 0


def test_escape_gives_the_focus_back_to_the_row_of_the_match(open_source):
    page = open_source(sample.attention())
    search(page, "fusion(")
    page.keyboard.press("Escape")
    assert focused(page) == "scroller"
    assert cursor(page) == 17
    assert page.locator("mark").count() == 0 and not pane(page).locator("[role=search]").is_visible()
    page.keyboard.press("ArrowDown")
    assert cursor(page) == 18


def test_n_and_shift_n_go_on_in_the_listing(open_source):
    page = open_source(sample.attention())
    search(page, "parameter(")
    assert current_line(page) == 7
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    settle(page)
    assert focused(page) == "scroller", "the query is kept, and the keys stay with the listing"
    page.keyboard.press("n")
    assert current_line(page) == 12
    page.keyboard.press("n")
    assert current_line(page) == 13
    page.keyboard.press("N")
    assert current_line(page) == 12
    for _ in range(4):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("n")
    assert current_line(page) == 7, "from the cursor on, and around"


@pytest.mark.parametrize("key", ["Control+f", "Meta+f", "/"])
def test_the_bar_opens_in_the_pane_that_has_the_focus(open_source, key):
    page = open_source(sample.attention())
    for side, other in (("left", "right"), ("right", "left")):
        focus(page, side)
        page.keyboard.press(key)
        assert focused(page) == "query"
        assert pane(page, side).locator("[role=search]").is_visible()
        assert not pane(page, other).locator("[role=search]").is_visible()
        page.keyboard.press("Escape")


def test_case_and_regular_expressions(open_source):
    page = open_source(sample.attention())
    search(page, "ROOT")
    assert count(page) == "1 of 2"
    pane(page).locator(".query:visible").fill("root")
    page.keyboard.press("Alt+c")
    settle(page)
    assert count(page) == "no match"
    pane(page).get_by_role("button", name="match case").click()
    settle(page)
    assert count(page) == "1 of 2"
    pane(page).locator(".query:visible").fill(r"%\w+\.\d =")
    settle(page)
    assert count(page) == "no match"
    page.keyboard.press("Alt+r")
    settle(page)
    assert page.locator(".pane.right mark").all_inner_texts() == ["%copy.1 =", "%dot.3 =", "%fusion.2 =", "%dot.4 ="]


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(", "not a regular expression (unterminated group): searched as plain text"),
        ("(%+)+$", "a repeated group that can match in several ways could take for ever: searched as plain text"),
    ],
)
def test_bad_patterns_are_told_in_words_and_searched_as_text(open_source, pattern, words):
    page = open_source(sample.attention())
    search(page, pattern)
    page.keyboard.press("Alt+r")
    settle(page)
    assert bar_problem(page) == words
    expected = sum(line.count("(") for line in page.locator(".pane.right .text").all_inner_texts())
    assert count(page) == (f"1 of {expected}" if pattern == "(" else "no match")
    page.keyboard.press("Alt+r")
    settle(page)
    assert bar_problem(page) == ""


def test_what_is_put_away_is_found_in_the_exact_text_only(open_source):
    page = open_source(sample.attention())
    search(page, "stack_frame_id")
    assert count(page) == "no match"
    assert "exact text" in pane(page).locator(".query:visible").get_attribute("title")
    click_toggle(page, "right", "exact text")
    settle(page)
    assert count(page) == f"{sample.HLO.count('stack_frame_id')} matches"
    click_toggle(page, "right", "exact text")
    settle(page)
    # Over a layout that is put away.
    pane(page).locator(".query:visible").fill("f32[8,128,64] copy")
    settle(page)
    assert (count(page), current(page).inner_text()) == ("1 of 1", "f32[8,128,64] copy")


def test_a_match_in_a_fold_opens_it_when_it_is_visited_not_while_typing(open_source):
    page = open_source(sample.attention())
    focus(page)
    row(page, "right", 6).locator(".fold").click()
    search(page, "exponential")
    assert count(page) == "1 match"
    assert not row(page, "right", 8).is_visible()
    page.keyboard.press("Enter")
    assert (count(page), current_line(page)) == ("1 of 1", 8)
    assert row(page, "right", 8).is_visible()


def test_only_the_lines_that_match(open_source):
    page = open_source(sample.attention())
    search(page, "parameter(")
    pane(page).get_by_role("button", name="only matches: no other lines").click()
    lines = lambda: [int(each.get_attribute("data-line")) for each in page.locator(".pane.right .row").all()]  # noqa: E731
    assert sorted(lines()) == [7, 12, 13, 14]
    assert pane(page).locator(".scroller").get_attribute("aria-rowcount") == "4"
    pane(page).locator(".query:visible").fill("dot(")
    settle(page)
    assert sorted(lines()) == [16, 18]
    pane(page).locator(".query:visible").fill("nothing like it")
    settle(page)
    assert count(page) == "no match" and len(lines()) > 10
    pane(page).locator(".query:visible").fill("dot(")
    settle(page)
    pane(page).locator(".query:visible").press("Escape")
    assert len(lines()) > 10
    assert cursor(page) == 16


def test_going_elsewhere_brings_all_lines_back(open_source):
    page = open_source(sample.attention())
    search(page, "dot(")
    page.keyboard.press("Alt+o")
    only = pane(page).get_by_role("button", name="only matches: no other lines")
    assert only.get_attribute("aria-pressed") == "true"
    pane(page).locator(".scroller").focus()
    page.keyboard.press("g")
    page.keyboard.type("8")
    page.keyboard.press("Enter")
    assert cursor(page) == 7
    assert only.get_attribute("aria-pressed") == "false"
    assert page.locator(".pane.right .row").count() > 10


def test_a_long_listing_is_searched_whole_while_the_page_stays_awake(open_source):
    source = sample.long()
    text = source.listings["hlo"][1]
    page = open_source(source)
    focus(page)
    # In one task, nothing would be seen between the first count and the last. How long each takes the machine decides.
    page.evaluate("""() => {
      window.counts = new Set();
      const count = document.querySelector('.jaxscope').shadowRoot.querySelector('.pane.right .count');
      new MutationObserver(() => window.counts.add(count.textContent)).observe(count, { childList: true });
    }""")
    search(page, "%c.13)")
    assert count(page) == f"1 of {text.count('%c.13)'):,}"
    assert len([each for each in page.evaluate("() => [...window.counts]") if each.endswith("…")]) >= 2
    assert page.locator(".pane.right .ruler .found").count() > 100
    page.keyboard.press("Shift+Enter")
    assert count(page) == f"{text.count('%c.13)'):,} of {text.count('%c.13)'):,}"
    last = max(number for number, line in enumerate(text.split("\n")) if "%c.13)" in line)
    assert current_line(page) == last
    assert page.locator(".pane.right .row").count() < 60
    # Deep in the long line the view moves sideways too.
    pane(page).locator(".query:visible").fill("f32[4790]")
    settle(page)
    assert current_line(page) == 10
    box, view = current(page).bounding_box(), pane(page).locator(".scroller").bounding_box()
    assert view["x"] <= box["x"] and box["x"] + box["width"] <= view["x"] + view["width"]
    pane(page).locator(".query:visible").fill("")
    settle(page)
    assert count(page) == "" and page.locator("mark").count() == 0


def test_hostile_queries_and_texts_stay_text(open_source):
    page = open_source(sample.hostile())
    page.get_by_role("tab").nth(2).click()
    for text in sample.HOSTILE:
        search(page, text)
        # Each stands alone and in a call.
        assert count(page) in ("1 of 2", "2 of 2"), text
        for key in ("Alt+r", "Alt+r"):
            page.keyboard.press(key)
            settle(page)
        page.keyboard.press("Escape")
        focus(page)
        page.keyboard.press("g")
        page.keyboard.insert_text(text)
        page.keyboard.press("Enter")
        assert "is not a line number" in pane(page).locator(".bar:visible .problem").inner_text()
        page.keyboard.press("Escape")
    # As the screen writes it.
    search(page, "abc⟨U+202E⟩dcba")
    assert (count(page)[-4:], current(page).inner_text()) == ("of 2", "abc⟨U+202E⟩dcba")
    names = page.evaluate(f"() => [...new Set(({EVERY_NODE})().map((node) => node.localName))]")
    assert not {"img", "svg", "iframe", "object", "a"} & set(names)
    assert page.requests == [page.own_url] and page.evaluate("() => window.pwned ?? null") is None


def test_go_to_a_line(open_source):
    page = open_source(sample.long())
    focus(page)
    page.keyboard.press("g")
    page.keyboard.type("20,000")
    page.keyboard.press("Enter")
    assert focused(page) == "scroller"
    assert cursor(page) == 19_999
    assert row(page, "right", 19_999).locator(".number").inner_text() == "20000"
    page.keyboard.press("g")
    page.keyboard.type("25001")
    page.keyboard.press("Enter")
    assert pane(page).locator(".bar:visible .problem").inner_text() == "the lines are 1 to 25,000"
    page.keyboard.press("Escape")
    assert cursor(page) == 19_999
    focus(page, "left")
    page.keyboard.press("g")
    page.keyboard.type("layers.py:4")
    page.keyboard.press("Enter")
    assert cursor(page, "left") == 11


def test_copy_lines_as_shown_exact_and_their_place(open_source, clipboard):
    page = open_source(sample.attention(), **clipboard)
    focus(page)
    page.keyboard.press("c")
    assert said(page).inner_text().startswith("no line is chosen")
    page.keyboard.press("g")
    page.keyboard.type("17")
    page.keyboard.press("Enter")
    page.keyboard.press("c")
    said(page).get_by_text("copied 1 line").wait_for()
    assert pasted(page) == "  %dot.3 = f32[8,128,128] dot(%q, %copy.1), lhs_batch_dims={0}, rhs_batch_dims={0}…"
    for _ in range(2):
        page.keyboard.press("Shift+ArrowDown")
    assert page.locator(".pane.right .row.selected").count() == 3
    page.keyboard.press("Shift+C")
    said(page).get_by_text("copied 3 lines of exact text").wait_for()
    assert pasted(page) == "\n".join(sample.HLO.split("\n")[16:19])
    page.keyboard.press("l")
    said(page).get_by_text("copied attention.py:15").wait_for()
    assert pasted(page) == "attention.py:15"
    page.keyboard.press("ArrowDown")
    assert page.locator(".pane.right .row.selected").count() == 0
    page.keyboard.press("l")
    said(page).get_by_text("this line comes from no place in Python").wait_for()
    assert said(page).get_attribute("role") == "status"


def test_a_folded_row_is_copied_as_it_looks_or_with_all_that_is_in_it(open_source, clipboard):
    page = open_source(sample.attention(), **clipboard)
    focus(page)
    row(page, "right", 6).locator(".fold").click()
    page.keyboard.press("c")
    said(page).get_by_text("copied 1 line").wait_for()
    assert pasted(page) == "%fused_computation (p: f32[8,128,128]) -> f32[8,128,128] { ⋯ 3 lines"
    page.keyboard.press("Shift+C")
    said(page).get_by_text("copied 4 lines of exact text").wait_for()
    assert pasted(page) == "\n".join(sample.HLO.split("\n")[6:10])


@pytest.mark.parametrize("works", [True, False])
def test_where_pages_may_not_use_the_clipboard(open_source, works):
    page = open_source(sample.attention())
    page.evaluate(
        """(works) => {
          Object.defineProperty(navigator, 'clipboard', { value: undefined });
          window.copied = [];
          document.execCommand = (name) => {
            const { shadowRoot } = document.querySelector('.jaxscope');
            const { activeElement } = shadowRoot;
            const { selectionStart, selectionEnd, value } = activeElement;
            window.copied.push(name, value.slice(selectionStart, selectionEnd));
            return works;
          };
        }""",
        works,
    )
    focus(page, "left")
    page.keyboard.press("g")
    page.keyboard.type("12")
    page.keyboard.press("Enter")
    page.keyboard.press("c")
    said(page, "left").get_by_text("copied").wait_for()
    assert said(page, "left").inner_text().startswith("copied 1 line" if works else "not copied (1 line)")
    assert page.evaluate("() => window.copied") == ["copy", '    s = jnp.einsum("htd,hsd->hts", q, k)']
    assert "scroller" in focused(page)
    assert page.evaluate("() => document.querySelector('.jaxscope').shadowRoot.querySelector('textarea')") is None


def shown_lines(page):
    return sorted(int(each.get_attribute("data-line")) for each in page.locator(".pane.right .row").all())


def test_folding_by_level_and_by_what_is_linked(open_source):
    page = open_source(sample.attention())
    page.get_by_role("tab", name="Jaxpr").click()
    focus(page)
    page.keyboard.press("z")
    page.keyboard.press("a")
    assert shown_lines(page) == [0]
    assert said(page).inner_text() == "1 of 15 lines shown"
    page.keyboard.press("z")
    page.keyboard.press("1")
    assert shown_lines(page) == [0, 1, *range(5, 15)]
    page.keyboard.press("z")
    page.keyboard.press("2")
    assert shown_lines(page) == list(range(15))
    page.keyboard.press("z")
    page.keyboard.press("a")
    page.keyboard.press("z")
    page.keyboard.press("u")
    assert shown_lines(page) == list(range(15))
    page.get_by_role("tab", name="Compiled HLO").click()
    page.locator(".signature").hover()
    focus(page)
    page.keyboard.press("Escape")
    page.keyboard.press("z")
    page.keyboard.press("k")
    assert said(page).inner_text() == "nothing is linked here: pin a line first"
    row(page, "left", 3).click()  # links to line 16 in the entry computation
    focus(page)
    page.keyboard.press("z")
    page.keyboard.press("k")
    assert shown_lines(page) == [0, 1, 2, 5, 6, 10, *range(11, 20)]


def test_the_menu_is_usable_with_arrows_and_pointer_and_closes(open_source):
    page = open_source(sample.attention())
    focus(page)
    more = pane(page).get_by_role("button", name="go to line, copy, fold")
    more.click()
    menu = pane(page).get_by_role("menu")
    assert [each.get_attribute("aria-keyshortcuts") for each in menu.get_by_role("menuitem").all()] == (
        ["/", "g", "c", "C", "l", "z a", "z u", "z 1", "z 2", "z k"]
    )
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert pane(page).get_by_role("textbox", name="line to go to").is_visible()
    page.keyboard.press("Escape")
    more.click()
    menu.get_by_role("menuitem", name="fold all z a").click()
    assert not menu.is_visible() and focused(page) == "scroller"
    assert shown_lines(page) == [0, 1, 2, 5, 6, 10, 11]
    more.click()
    more.click()
    assert not menu.is_visible()
    more.click()
    page.keyboard.press("Escape")
    assert not menu.is_visible() and focused(page) == "scroller"
    more.click()
    pane(page, "left").locator(".scroller").click()
    assert not menu.is_visible()


def test_buttons_name_their_keys(open_source):
    page = open_source(sample.attention())
    search(page, "dot")
    for button, key in [
        ("find", "(key / Ctrl+F)"),
        ("go to line, copy, fold", "(key z)"),
        ("match case", "(key Alt+C)"),
        ("regular expression", "(key Alt+R)"),
        ("only matches: no other lines", "(key Alt+O)"),
        ("next match", "(Enter; n in the listing)"),
        ("previous match", "(Shift+Enter; N in the listing)"),
        ("close the search", "(Escape)"),
    ]:
        assert key in pane(page).get_by_role("button", name=button, exact=True).get_attribute("title")


def test_the_search_of_one_stage_goes_on_in_the_next_without_moving_it(open_source):
    page = open_source(sample.attention())
    search(page, "dot")
    page.get_by_role("tab", name="Jaxpr").click()
    settle(page)
    assert count(page) == "2 matches"
    assert page.locator(".pane.right mark").all_inner_texts() == ["dot", "dot"]


@pytest.mark.parametrize(("scheme", "viewport"), LOOKS)
def test_bar_and_menu_fit_and_nothing_below_moves(open_source, scheme, viewport, picture):
    page = open_source(sample.attention(), viewport=viewport, color_scheme=scheme)
    row(page, "right", 16).wait_for()
    height = lambda: page.locator(".app").bounding_box()["height"]  # noqa: E731
    before = height()
    search(page, "f32[8")
    page.wait_for_timeout(50)
    assert height() == before
    picture(page, f"search-{scheme}")
    outer = pane(page).bounding_box()
    for each in pane(page).locator("[role=search] :is(button, input)").all():
        box = each.bounding_box()
        assert outer["x"] <= box["x"] and box["x"] + box["width"] <= outer["x"] + outer["width"]
    pane(page).get_by_role("button", name="go to line, copy, fold").click()
    picture(page, f"menu-{scheme}")
    box, view = pane(page).get_by_role("menu").bounding_box(), pane(page).locator(".listing").bounding_box()
    assert view["y"] <= box["y"] and box["y"] + box["height"] <= view["y"] + view["height"]
