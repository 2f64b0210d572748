"""An exported page: offline, safe with any text, linked, and usable by keyboard."""

import pytest

from tests.ui import sample
from tests.ui.conftest import LOOKS, NARROW, WIDE

EVERY_NODE = """() => {
  const found = [];
  const walk = (root) => {
    for (const element of root.querySelectorAll('*')) {
      found.push(element);
      if (element.shadowRoot) walk(element.shadowRoot);
    }
  };
  walk(document.body);
  return found;
}"""


def rows(page, side, name):
    return page.locator(f".pane.{side} .row.{name}")


def lines(page, side, name):
    return sorted(
        int(line) for line in rows(page, side, name).evaluate_all("rows => rows.map(row => row.dataset.line)")
    )


def row(page, side, line):
    return page.locator(f'.pane.{side} .row[data-line="{line}"]')


def toggle(page, side, name):
    """A switch of a pane, which may be in the panel that is closed."""
    return page.locator(f".pane.{side} .toggle", has_text=name)


def click_toggle(page, side, name):
    """Turns a switch, in the head or in the panel, as one would by mouse."""
    found = toggle(page, side, name)
    if found.is_visible():
        found.click()
        return
    page.locator(f".pane.{side} .view").click()
    found.click()
    page.keyboard.press("Escape")


def offered(page, side):
    """The switches that there are for the listing of a pane."""
    return page.locator(f".pane.{side} .toggle:not([hidden])").evaluate_all(
        "all => all.filter((each) => !each.closest('.toggles')?.hidden && !each.closest('.bar'))"
        ".map((each) => each.firstChild.data)"
    )


def active_tab(page):
    return page.locator('[role=tab][aria-selected="true"]').get_attribute("data-key")


def test_newest_finished_stage_is_shown_beside_python(open_source):
    page = open_source(sample.attention())
    row(page, "right", 16).wait_for()
    assert active_tab(page) == "hlo"
    assert "jnp.einsum" in row(page, "left", 3).inner_text()
    assert page.requests == [page.own_url]


def test_hover_lights_exact_and_related_lines_differently(open_source):
    page = open_source(sample.attention())
    row(page, "right", 17).hover()  # %fusion.2, from layers.py:4 called at attention.py:14
    assert (lines(page, "left", "exact"), lines(page, "left", "related")) == ([11], [5])
    assert lines(page, "right", "exact") == [8, 17]
    style = "row => getComputedStyle(row.querySelector('.gutter'), '::before').backgroundImage"
    assert rows(page, "left", "exact").evaluate(style) == "none"
    assert "repeating-linear-gradient" in rows(page, "left", "related").evaluate(style)
    status = page.locator(".status").inner_text()
    assert "layers.py:4:9" in status and "softmax" in status and "‹ attention attention.py:14" in status
    row(page, "left", 5).hover()  # Python line 14, which only calls
    assert (lines(page, "right", "exact"), lines(page, "right", "related")) == ([], [8, 17])


def test_leaving_the_panes_puts_the_lights_out(open_source):
    page = open_source(sample.attention())
    row(page, "right", 16).hover()
    assert lines(page, "left", "exact") == [3]
    page.locator(".signature").hover()
    assert rows(page, "left", "exact").count() == 0


def test_line_made_by_the_compiler_says_so(open_source):
    page = open_source(sample.attention())
    row(page, "right", 15).hover()
    assert "made by the compiler" in page.locator(".status").inner_text()
    assert rows(page, "left", "exact").count() == 0


def test_pin_stays_scrolls_the_other_pane_and_is_undone(open_source):
    page = open_source(sample.long(line_count=3000))
    row(page, "left", 3).click()
    assert row(page, "left", 3).locator(".sign").inner_text() == "1"
    page.locator(".signature").hover()
    assert "pin-exact" in row(page, "right", 1).get_attribute("class")
    page.locator(".pane.right .scroller").evaluate("s => { s.scrollTop = 19 * 500 }")
    row(page, "right", 500).wait_for()
    row(page, "left", 6).click()  # linked at 3, 1003, 2003, none of them in view
    row(page, "right", 3).wait_for()
    assert lines(page, "left", "pinned") == [6]
    page.keyboard.press("Escape")
    assert rows(page, "left", "pinned").count() == 0 == rows(page, "right", "pin-exact").count()


def test_control_click_keeps_the_other_pins(open_source):
    page = open_source(sample.attention())
    row(page, "left", 3).click()
    row(page, "left", 6).click(modifiers=["Control"])
    assert lines(page, "left", "pinned") == [3, 6]
    assert lines(page, "right", "pin-exact") == [16, 18]
    row(page, "left", 3).click(modifiers=["Control"])
    assert lines(page, "left", "pinned") == [6]


def test_tabs_by_keyboard(open_source):
    page = open_source(sample.attention())
    page.locator('[role=tab][aria-selected="true"]').focus()
    page.keyboard.press("ArrowRight")
    assert active_tab(page) == "cost"
    page.keyboard.press("End")
    assert active_tab(page) == "types"
    page.keyboard.press("ArrowRight")
    assert active_tab(page) == "python"
    page.keyboard.press("ArrowRight")
    assert active_tab(page) == "jaxpr"
    focused = "() => document.querySelector('.jaxscope').shadowRoot.activeElement.dataset.key"
    assert page.evaluate(focused) == "jaxpr"
    page.locator(".pane.right .scroller").focus()
    page.keyboard.press("]")
    assert active_tab(page) == "stablehlo"
    assert "The sample has no StableHLO." in page.locator(".pane.right .message").inner_text()


def test_stepping_through_stages_and_reports_keeps_the_keyboard(open_source):
    page = open_source(sample.attention())
    row(page, "right", 16).wait_for()
    page.locator(".pane.right .scroller").focus()
    seen = []
    for key in "]]][[[":
        page.keyboard.press(key)
        seen.append(active_tab(page))
        page.wait_for_timeout(60)
    assert seen == ["cost", "memory", "types", "memory", "cost", "hlo"]
    page.keyboard.press("End")
    assert lines(page, "right", "cursor") == [19]


def test_lines_by_keyboard(open_source):
    page = open_source(sample.attention())
    scroller = page.locator(".pane.right .scroller")
    row(page, "right", 16).wait_for()
    scroller.focus()
    page.keyboard.press("End")
    assert lines(page, "right", "cursor") == [19]
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    assert lines(page, "right", "pinned") == [18]
    assert lines(page, "left", "exact") == [6]
    assert scroller.get_attribute("aria-activedescendant") == row(page, "right", 18).get_attribute("id")
    page.keyboard.press("Home")
    assert lines(page, "right", "cursor") == [0]


def test_folds(open_source):
    page = open_source(sample.attention())
    row(page, "right", 2).wait_for()
    assert row(page, "right", 3).count() == 0
    assert "3 lines of locations" in row(page, "right", 2).inner_text()
    row(page, "right", 6).locator(".fold").click()
    assert row(page, "right", 7).count() == 0
    assert row(page, "right", 6).locator(".fold").get_attribute("aria-expanded") == "false"
    row(page, "left", 11).hover()
    assert "exact" in row(page, "right", 6).get_attribute("class").split(), (
        "a closed fold shows the marks of what it hides"
    )
    page.locator(".pane.right .scroller").focus()
    page.keyboard.press("ArrowRight")
    row(page, "right", 7).wait_for()


def test_exact_text_is_one_click_away(open_source):
    page = open_source(sample.attention())
    text = row(page, "right", 16).locator(".text")
    assert "metadata" not in text.inner_text() and "{2,1,0}" not in text.inner_text()
    click_toggle(page, "right", "exact text")
    shown = page.locator(".pane.right .row .text").evaluate_all(
        "rows => rows.map(row => [Number(row.parentElement.dataset.line), row.textContent]).sort((a, b) => a[0] - b[0])"
    )
    shown = [tuple(each) for each in shown]
    exact = sample.HLO.split("\n")
    assert shown == list(enumerate(exact)), "every line, folds and location tables included"
    click_toggle(page, "right", "exact text")
    assert row(page, "right", 3).count() == 0
    assert "metadata" not in text.inner_text()


def test_locations_in_the_gutter(open_source):
    page = open_source(sample.attention())
    assert row(page, "right", 16).locator(".location").inner_text() == "12"
    assert row(page, "right", 17).locator(".location").inner_text() == "layers.py:4"
    click_toggle(page, "right", "locations: short")
    assert row(page, "right", 17).locator(".location").inner_text() == "layers.py:4 ‹ 14"
    click_toggle(page, "right", "locations: full")
    assert page.locator(".pane.right .location").count() == 0
    click_toggle(page, "right", "locations: off")
    assert row(page, "right", 16).locator(".location").inner_text() == "12"


def test_left_pane_can_show_another_stage(open_source):
    page = open_source(sample.attention())
    page.locator(".pane.left select").select_option("jaxpr")
    row(page, "left", 1).hover()
    assert lines(page, "right", "exact") == [16]
    assert "100 % of ops linked" in page.locator(".pane.left .coverage").inner_text()
    page.get_by_role("tab", name="Jaxpr").click()
    assert not page.locator(".pane.left").is_visible()


def test_tables_sort_and_explain(open_source):
    page = open_source(sample.attention())
    page.get_by_role("tab", name="Cost").click()
    cells = page.locator("tbody tr td:nth-child(3)")
    assert cells.all_inner_texts() == ["0.9 M", "16.8 M", "16.9 M", "940 k"]
    page.get_by_role("button", name="FLOPs").click()
    assert cells.all_inner_texts() == ["16.9 M", "16.8 M", "940 k", "0.9 M"]
    assert page.locator("th").nth(2).get_attribute("aria-sort") == "descending"
    assert "Where it comes from" in page.get_by_role("button", name="FLOPs").get_attribute("title")
    page.get_by_role("tab", name="Types").click()
    bad = page.locator("tr.tone-error")
    assert bad.locator("b").all_inner_texts() == ["✕ f64[8,128,64]", "✕ dtype: float32 → float64"]
    assert "1 of 3 arguments differs" in page.locator(".summary").inner_text()
    page.get_by_role("tab", name="Memory").click()
    assert "XLA gave no figures." in page.locator(".card").inner_text()


def test_failure_panel(open_source):
    page = open_source(sample.failed())
    panel = page.locator(".failure")
    assert active_tab(page) == "jaxpr"
    assert "Indexing with a boolean mask" in panel.inner_text()
    assert panel.locator("li").first.inner_text().startswith("attention.py:13")
    assert panel.locator("code").first.inner_text() == "jnp.where(mask, x, 0)"
    assert not panel.locator("pre").is_visible()
    panel.locator("summary").click()
    assert "NonConcreteBooleanIndexError" in panel.locator("pre").inner_text()
    assert panel.locator("a").count() == 0
    assert "not reached" in page.get_by_role("tab", name="StableHLO").inner_text()


def test_running_stage_counts_up(open_source):
    page = open_source(sample.running())
    label = page.get_by_role("tab", name="Compiled HLO").locator(".caption")
    first = label.inner_text()
    assert first.startswith("running")
    page.wait_for_timeout(400)
    assert label.inner_text() != first


def test_hostile_texts_stay_text(open_source):
    page = open_source(sample.hostile())
    page.get_by_role("tab").nth(2).wait_for()
    for number in range(4):
        page.get_by_role("tab").nth(number).click()
        page.wait_for_timeout(100)
        found = page.evaluate(f"""() => {{
          const nodes = ({EVERY_NODE})();
          const names = new Set(nodes.map((node) => node.localName));
          const attributes = nodes.flatMap((node) => [...node.attributes]);
          const handlers = attributes.filter((attribute) => /^on|^href|^src/.test(attribute.name));
          return {{ names: [...names], handlers: handlers.length, pwned: window.pwned ?? null }};
        }}""")
        assert found["handlers"] == 0 and found["pwned"] is None
        assert not {"img", "svg", "iframe", "textarea", "object", "a"} & set(found["names"])
    assert page.requests == [page.own_url]
    text = page.locator(".signature").inner_text()
    assert "<script>window.pwned" in text and "⟨U+202E⟩" in text and "⟨U+001B⟩[31m" in text
    everything = page.evaluate("() => document.querySelector('.jaxscope').shadowRoot.querySelector('.app').textContent")
    assert not set(everything) & set("\x1b\x07\u202e\u2066\u200f\u200b")


def test_listing_that_cannot_be_made_says_why_and_the_others_stay(open_source):
    page = open_source(sample.hostile())
    page.get_by_role("tab").nth(1).click()
    message = page.locator(".pane.right .message")
    message.locator("b").wait_for()
    assert "could not be read" in message.inner_text()
    assert "javascript:alert(5)" in message.inner_text()
    assert row(page, "left", 0).is_visible()


def test_page_without_scripts_shows_the_tables(new_page, tmp_path):
    from jaxscope._render.html import render_page

    page = new_page(java_script_enabled=False)
    page.set_content(render_page(sample.hostile()))
    assert "<script>window.pwned" in page.locator("noscript").inner_text()
    page.set_content(render_page(sample.attention()))
    assert "dtype: float32 → float64" in page.locator("noscript").text_content()


def test_height_can_be_dragged_and_set_by_keyboard(open_source):
    page = open_source(sample.attention())
    row(page, "right", 16).wait_for()
    height = lambda: page.locator(".pane.right .scroller").bounding_box()["height"]  # noqa: E731
    before = height()
    box = page.locator(".grip").bounding_box()
    page.mouse.move(box["x"] + 50, box["y"] + 3)
    page.mouse.down()
    page.mouse.move(box["x"] + 50, box["y"] + 98, steps=4)
    page.mouse.up()
    assert height() == pytest.approx(before + 95, abs=3)
    page.locator(".grip").focus()
    page.keyboard.press("ArrowDown")
    assert height() == pytest.approx(before + 114, abs=12)


LINES_OF_TEXT = """(cells) => cells.map((cell) => {
  const range = document.createRange();
  range.selectNodeContents(cell);
  return new Set([...range.getClientRects()].map((box) => Math.round(box.bottom))).size;
})"""


@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
def test_types_are_never_broken_over_lines(open_source, viewport):
    source = sample.attention()
    rows = source.view["tabs"][6]["tables"][0]["rows"]
    rows[2]["cells"][1] = "f32[8,128,64,32,16,8]"
    page = open_source(source, viewport=viewport)
    page.get_by_role("tab", name="Types").click()
    cells = page.locator("tbody tr:not(.below) td:not(.prose)")
    assert cells.count() >= 12
    assert set(cells.evaluate_all(LINES_OF_TEXT)) == {1}


@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
def test_advice_is_read_without_scrolling_sideways(open_source, viewport):
    source = sample.attention()
    source.view["tabs"][6]["tables"][0]["rows"][1]["cells"][4] = "cast with k.astype('float32'), or compile again " * 6
    page = open_source(source, viewport=viewport)
    page.get_by_role("tab", name="Types").click()
    advice = page.get_by_text("or compile again").locator("visible=true")
    assert advice.count() == 1
    box, view = advice.bounding_box(), page.locator(".table-scroll").bounding_box()
    assert view["x"] <= box["x"] and box["x"] + box["width"] <= view["x"] + view["width"]


def test_a_column_that_no_row_fills_is_left_out_and_sorting_stays_right(open_source):
    source = sample.attention()
    cost = source.view["tabs"][4]["tables"][0]
    for each in cost["rows"]:
        each["cells"][1] = ""
    page = open_source(source)
    page.get_by_role("tab", name="Cost").click()
    assert page.locator("th").all_inner_texts() == ["Python line", "FLOPs", "share"]
    page.get_by_role("button", name="FLOPs").click()
    assert page.locator("tbody tr td:nth-child(2)").all_inner_texts() == ["16.9 M", "16.8 M", "940 k", "0.9 M"]
    assert page.locator('th[aria-sort="descending"]').inner_text().startswith("FLOPs")


def test_warnings_of_a_stage_stand_above_and_its_links_in_the_head(open_source):
    source = sample.attention()
    source.view["tabs"][1]["notes"] = ["Some donated buffers were not usable.", "100 % of equations linked (9 of 9)."]
    page = open_source(source)
    page.get_by_role("tab", name="Jaxpr").click()
    row(page, "right", 1).wait_for()
    assert page.locator(".report .notes").inner_text() == "Some donated buffers were not usable."
    coverage = page.locator(".pane.right .coverage")
    assert coverage.inner_text() == "100 % of ops linked"
    assert coverage.get_attribute("title") == "100 % of equations linked (9 of 9)."


def test_a_failure_is_told_once(open_source):
    page = open_source(sample.failed())
    page.locator(".failure").wait_for()
    text = page.locator(".app").inner_text()
    assert text.count("as many elements as the mask has True") == 1
    assert "There is no Jaxpr, for the reason above." in page.locator(".pane.right .message").inner_text()
    page.get_by_role("tab", name="StableHLO").click()
    assert page.locator(".pane.right .message").inner_text() == "Tracing failed."


def test_a_parameter_is_not_called_no_operation(open_source):
    page = open_source(sample.attention())
    row(page, "right", 12).hover()
    assert "a parameter" in page.locator(".status").inner_text()
    row(page, "right", 11).hover()
    assert "no operation on this line" in page.locator(".status").inner_text()


def test_what_is_linked_to_a_pin_comes_into_view_in_the_next_listing_too(open_source):
    source = sample.long(line_count=3000)
    index, _ = source.listings["hlo"]
    index["line_stack"] = [-1] * 3000
    index["line_stack"][2500] = 8
    page = open_source(source)
    row(page, "right", 0).wait_for()
    page.get_by_role("tab", name="Python").click()
    row(page, "right", 6).click()
    page.get_by_role("tab", name="Compiled HLO").click()
    row(page, "right", 2500).wait_for()
    assert "pin-exact" in row(page, "right", 2500).get_attribute("class")


@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
def test_hovering_moves_nothing(open_source, viewport):
    page = open_source(sample.attention(), viewport=viewport)
    row(page, "right", 17).wait_for()
    height = lambda: page.locator(".app").bounding_box()["height"]  # noqa: E731
    before = height()
    for line in (11, 15, 16, 17):
        row(page, "right", line).hover()
        assert height() == before


def test_a_page_fills_its_window(open_source):
    page = open_source(sample.long(line_count=3000), viewport={"width": 1240, "height": 1400})
    row(page, "right", 40).wait_for()
    bottom = page.locator(".app").evaluate("app => app.getBoundingClientRect().bottom")
    assert 1400 - 3 * 19 < bottom <= 1400


def test_short_listings_are_only_as_high_as_they_need_when_stacked(open_source):
    page = open_source(sample.failed(), viewport=NARROW)
    row(page, "left", 0).wait_for()
    left = page.locator(".pane.left .scroller")
    assert left.evaluate("s => s.scrollHeight <= s.clientHeight && s.clientHeight <= 15 * 19")
    right = page.locator(".pane.right .message")
    assert right.evaluate("m => m.scrollHeight <= m.clientHeight")


def test_doubled_zoom_keeps_everything_reachable(open_source):
    page = open_source(sample.attention(), viewport={"width": 620, "height": 400}, device_scale_factor=2)
    row(page, "right", 16).wait_for()
    for each in page.get_by_role("tab").all():
        box = each.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 620
    assert page.evaluate("() => document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_every_stop_of_the_tab_key_shows_its_focus(open_source):
    page = open_source(sample.attention())
    row(page, "right", 16).wait_for()
    stops = []
    for _ in range(19):
        page.keyboard.press("Tab")
        stops.append(
            page.evaluate("""() => {
              const focused = document.querySelector('.jaxscope').shadowRoot.activeElement;
              const style = getComputedStyle(focused);
              const name = focused.getAttribute('aria-label') ?? focused.textContent;
              return [name, style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2];
            }""")
        )
    names = [name for name, _ in stops]
    assert names[4].startswith("Compiled HLO")
    finding = ["find", "go to line, copy, fold"]
    assert names[:4] + names[5:] == [
        *("layout: automatic", "follow", "full screen", "? keys"),
        *("listing on the left", *finding, "view", "Python", "room of the first listing", "listing on the right"),
        *(*finding, "locations: short", "exact text", "view"),
        "Compiled HLO",
        "height of the listings",
    ]
    assert all(is_seen for _, is_seen in stops)


def test_without_colours_of_our_own_tabs_and_links_are_still_told_apart(open_source):
    page = open_source(sample.attention(), forced_colors="active")
    row(page, "right", 17).hover()
    line = "each => getComputedStyle(each).borderBottomColor"
    chosen = page.locator('[role=tab][aria-selected="true"]').evaluate(line)
    assert chosen not in page.locator('[role=tab][aria-selected="false"]').evaluate_all(f"all => all.map({line})")
    style = "row => getComputedStyle(row).outlineStyle"
    assert rows(page, "left", "exact").evaluate(style) == "solid"
    assert rows(page, "left", "related").evaluate(style) == "dashed"
    assert row(page, "left", 4).evaluate(style) == "none"


def test_nothing_moves_for_those_who_asked_for_that(open_source):
    moving = """() => [...document.querySelector('.jaxscope').shadowRoot.querySelectorAll('*')].filter((each) => {
      const style = getComputedStyle(each);
      return style.animationName !== 'none' || parseFloat(style.transitionDuration) > 0.01;
    }).length"""
    assert open_source(sample.running()).evaluate(moving) > 0
    assert open_source(sample.running(), reduced_motion="reduce").evaluate(moving) == 0


@pytest.mark.parametrize(("scheme", "viewport"), LOOKS)
@pytest.mark.parametrize("name", ["attention", "failed", "running", "hostile"])
def test_nothing_overflows(open_source, name, scheme, viewport, picture):
    page = open_source(getattr(sample, name)(), viewport=viewport, color_scheme=scheme)
    page.locator(".pane.left .row").first.wait_for()
    assert page.locator(".app").get_attribute("data-theme") == scheme
    picture(page, f"{name}-{scheme}")
    assert page.evaluate("() => document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    boxes = [page.locator(f".pane.{side}").bounding_box() for side in ("left", "right")]
    stacked = boxes[1]["y"] >= boxes[0]["y"] + boxes[0]["height"] - 1
    assert stacked == (viewport is NARROW)
