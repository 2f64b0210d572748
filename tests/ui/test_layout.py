"""How the two listings share the screen, what of their text is shown, and that these choices are kept."""

import pytest

from tests.ui import sample
from tests.ui.conftest import NARROW
from tests.ui.test_page import click_toggle, lines, offered, row, rows, toggle

WIDTHS_PIXELS = (700, 1000, 1600)


def box(page, selector):
    return page.locator(selector).bounding_box()


def press(page, *keys, at=".pane.right .scroller"):
    page.locator(at).focus()
    for key in keys:
        page.keyboard.press(key)


def opened(open_source, **options):
    page = open_source(sample.attention(), **options)
    row(page, "right", 16).wait_for()
    return page


def reopened(page):
    page.reload()
    row(page, "right", 16).wait_for()


def test_the_split_is_dragged_and_moved_by_keyboard(open_source):
    page = opened(open_source)
    split = page.locator('.split[role="separator"]')
    before = box(page, ".pane.left")["width"]
    at = split.bounding_box()
    page.mouse.move(at["x"] + 3, at["y"] + 60)
    page.mouse.down()
    page.mouse.move(at["x"] + 123, at["y"] + 60, steps=4)
    page.mouse.up()
    assert box(page, ".pane.left")["width"] == pytest.approx(before + 120, abs=3)
    now = int(split.get_attribute("aria-valuenow"))
    assert now == pytest.approx(53, abs=2) and split.get_attribute("aria-orientation") == "vertical"
    press(page, "ArrowRight", "ArrowRight", "ArrowLeft", at=".split")
    assert int(split.get_attribute("aria-valuenow")) == now + 1
    press(page, "Home", at=".split")
    assert split.get_attribute("aria-valuenow") == split.get_attribute("aria-valuemin")
    panes = box(page, ".panes")
    assert box(page, ".pane.left")["width"] == pytest.approx(0.15 * panes["width"], abs=6)
    press(page, "End", at=".split")
    assert split.get_attribute("aria-valuenow") == split.get_attribute("aria-valuemax") == "85"


def test_layouts_one_pane_side_by_side_and_stacked(open_source):
    page = opened(open_source)
    button = page.locator('[data-action="layout"]')
    assert button.inner_text() == "layout: automatic"
    press(page, "w")
    assert button.inner_text() == "layout: one pane"
    assert not page.locator(".pane.left").is_visible() and not page.locator(".split").is_visible()
    assert box(page, ".pane.right")["width"] == pytest.approx(box(page, ".panes")["width"], abs=1)
    button.click()
    assert button.inner_text() == "layout: side by side"
    assert box(page, ".pane.left")["y"] == box(page, ".pane.right")["y"]
    button.click()
    assert button.inner_text() == "layout: stacked"
    left, right = box(page, ".pane.left"), box(page, ".pane.right")
    assert right["y"] >= left["y"] + left["height"] and left["width"] == right["width"]
    split = page.locator(".split")
    assert split.get_attribute("aria-orientation") == "horizontal"
    press(page, *["ArrowDown"] * 10, at=".split")
    assert box(page, ".pane.left")["height"] > left["height"] + 20
    at = split.bounding_box()
    page.mouse.move(at["x"] + 50, at["y"] + 3)
    page.mouse.down()
    page.mouse.move(at["x"] + 50, at["y"] - 57, steps=4)
    before = int(split.get_attribute("aria-valuenow"))
    page.mouse.up()
    assert int(split.get_attribute("aria-valuenow")) == before
    assert box(page, ".split")["y"] == pytest.approx(at["y"] - 60, abs=8)
    button.click()
    assert button.inner_text() == "layout: automatic"


def test_the_automatic_layout_follows_the_width(open_source):
    page = opened(open_source)
    assert page.locator(".panes").get_attribute("data-layout") == "side"
    page.set_viewport_size(NARROW)
    page.wait_for_function(
        "() => document.querySelector('.jaxscope').shadowRoot.querySelector('.panes').dataset.layout === 'stacked'"
    )
    page.set_viewport_size({"width": 1240, "height": 800})
    page.wait_for_function(
        "() => document.querySelector('.jaxscope').shadowRoot.querySelector('.panes').dataset.layout === 'side'"
    )


def test_side_by_side_on_a_narrow_screen_when_the_reader_says_so(open_source):
    page = opened(open_source, viewport=NARROW)
    assert page.locator(".panes").get_attribute("data-layout") == "stacked"
    press(page, "w", "w")
    assert box(page, ".pane.left")["y"] == box(page, ".pane.right")["y"]
    assert page.evaluate("() => document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_choices_are_kept_for_the_next_visit(open_source):
    page = opened(open_source)
    press(page, "o", "y", "f")
    press(page, "End", at=".split")
    press(page, *["ArrowDown"] * 3, at=".grip")
    height = box(page, ".pane.right .scroller")["height"]
    reopened(page)
    assert page.locator(".split").get_attribute("aria-valuenow") == "85"
    assert box(page, ".pane.right .scroller")["height"] == height
    assert page.locator(".pane.right [data-action=locations]").inner_text() == "locations: full"
    assert page.locator(".pane.right [data-action=layouts]").get_attribute("aria-pressed") == "true"
    assert "{2,1,0}" in row(page, "right", 16).locator(".text").inner_text()
    assert page.locator("[data-action=follow]").get_attribute("aria-pressed") == "false"


@pytest.mark.parametrize("stored", ["[", '{"split": 900, "rows": "x", "layout": 7, "shown": [1]}', "null"])
def test_a_damaged_storage_does_no_harm(open_source, stored):
    page = opened(open_source)
    page.evaluate("(stored) => localStorage.setItem('jaxscope.preferences', stored)", stored)
    reopened(page)
    assert page.locator(".split").get_attribute("aria-valuenow") == "43"


def test_without_storage_choices_hold_for_the_widgets_of_the_page(new_page):
    """Every notebook widget is a module of its own; two are mounted here, the second after a choice in the first."""
    from jaxscope._render.html import bundle

    page = new_page()
    page.goto("about:blank")
    page.set_content("<div id=first></div><div id=second></div>")
    source = sample.attention()
    data = {
        "view": source.view,
        "listings": {
            key: {"index": index, "lines": text.split("\n")} for key, (index, text) in source.listings.items()
        },
    }
    page.evaluate(
        """([code, { view, listings }]) => {
          const get = () => { throw new DOMException('denied', 'SecurityError'); };
          Object.defineProperty(window, 'localStorage', { get });
          window.mountAt = async (id) => {
            const { mount } = await import(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })));
            const source = { view, listing: async (key) => listings[key], get: () => ({}), set() {}, onChange() {} };
            mount(document.getElementById(id), source);
          };
        }""",
        [bundle(), data],
    )
    page.evaluate("() => window.mountAt('first')")
    page.locator("#first .pane.right .row").first.wait_for()
    press(page, "o", at="#first .pane.right .scroller")
    press(page, "Home", at="#first .split")
    page.evaluate("() => window.mountAt('second')")
    page.locator("#second .pane.right .row").first.wait_for()
    assert page.locator("#second .split").get_attribute("aria-valuenow") == "15"
    assert page.locator("#second .pane.right [data-action=locations]").inner_text() == "locations: full"


def covers_the_window(page):
    size = page.viewport_size
    return page.evaluate(
        """([width, height]) => {
          const box = document.querySelector('.jaxscope').getBoundingClientRect();
          const foot = document.querySelector('.jaxscope').shadowRoot.querySelector('.foot').getBoundingClientRect();
          return box.left === 0 && box.top === 0 && box.width >= width && box.height >= height
            && foot.bottom <= height + 1 && foot.bottom > height - 25;
        }""",
        [size["width"], size["height"]],
    )


@pytest.mark.parametrize("is_allowed", [True, False], ids=["fullscreen", "overlay"])
@pytest.mark.parametrize("layout", ["side", "stacked"])
def test_full_screen_and_back(open_source, is_allowed, layout):
    page = opened(open_source)
    if layout == "stacked":
        press(page, "w", "w", "w")
    before = box(page, ".app")
    if not is_allowed:
        page.evaluate("() => Object.defineProperty(document, 'fullscreenEnabled', { get: () => false })")
    row(page, "right", 16).click()
    press(page, "F")
    page.wait_for_function("() => document.querySelector('.jaxscope').dataset.full !== undefined")
    page.wait_for_timeout(150)
    assert page.evaluate("() => document.fullscreenElement !== null") == is_allowed
    assert covers_the_window(page)
    assert page.locator("[data-action=full]").get_attribute("aria-pressed") == "true"
    page.keyboard.press("Escape")
    page.wait_for_function("() => document.querySelector('.jaxscope').dataset.full === undefined")
    page.wait_for_timeout(150)
    assert box(page, ".app") == before
    assert lines(page, "right", "pinned") == [16], "leaving the full screen takes no pin off"
    page.keyboard.press("Escape")
    assert lines(page, "right", "pinned") == []


def test_toggles_show_one_kind_at_a_time(open_source):
    page = opened(open_source)
    text = row(page, "right", 16).locator(".text")
    assert "{2,1,0}" not in text.inner_text() and "metadata" not in text.inner_text()
    for key, name, words in [
        ("y", "layouts", "f32[8,128,128]{2,1,0}"),
        ("m", "metadata", "metadata={stack_frame_id=1}"),
    ]:
        press(page, key)
        assert words in text.inner_text()
        assert toggle(page, "right", name).get_attribute("aria-pressed") == "true"
        click_toggle(page, "right", name)
        assert words not in text.inner_text()
    page.get_by_role("tab", name="Jaxpr").click()
    row(page, "right", 1).wait_for()
    shown = offered(page, "right")
    assert shown == ["locations: short", "exact text", "types", "long lists", "wrap long lines"], (
        "a jaxpr has no layouts and so on"
    )


def test_backend_config_is_shown_on_request(open_source):
    source = sample.attention()
    index, text = source.listings["hlo"]
    config = ', backend_config={"outer_dimension_partitions":["2"]}'
    source.listings["hlo"] = (index, text.replace("calls=%fused_computation", f"calls=%fused_computation{config}"))
    page = open_source(source)
    text = row(page, "right", 17).locator(".text")
    text.wait_for()
    assert "partitions" not in text.inner_text()
    press(page, "k")
    assert config in text.inner_text() and "metadata" not in text.inner_text()


def test_every_toggle_names_its_key(open_source):
    page = opened(open_source)
    titles = page.locator(".pane.right .toggle[data-action]").evaluate_all(
        "all => all.filter((each) => !each.closest('.bar')).map((each) => [each.dataset.action, each.title])"
    )
    assert len(titles) == 12
    assert all("(key " in title for _, title in titles), titles


def test_the_other_pane_can_be_told_not_to_follow(open_source):
    page = open_source(sample.long(line_count=3000))
    row(page, "right", 0).wait_for()
    press(page, "f")
    page.locator(".pane.right .scroller").evaluate("s => { s.scrollTop = 19 * 500 }")
    row(page, "right", 500).wait_for()
    row(page, "left", 6).click()
    page.wait_for_timeout(200)
    assert row(page, "right", 500).count() == 1
    page.locator("[data-action=follow]").click()
    row(page, "left", 3).click()
    row(page, "right", 1).wait_for()


def test_pins_have_numbers_and_colours_and_are_taken_off_one_by_one(open_source):
    page = opened(open_source)
    for line in (3, 4, 6):
        row(page, "left", line).click(modifiers=["Control"])
    page.locator(".signature").hover()
    signs = {line: row(page, "left", line).locator(".sign").inner_text() for line in (3, 4, 6)}
    assert signs == {3: "1", 4: "2", 6: "3"}
    assert row(page, "right", 16).locator(".sign").inner_text() == "1"
    assert row(page, "right", 18).locator(".sign").inner_text() == "3"
    colours = rows(page, "left", "pinned").evaluate_all(
        "all => all.map((row) => getComputedStyle(row.querySelector('.sign')).backgroundColor)"
    )
    assert len(set(colours)) == 3
    assert row(page, "right", 18).get_attribute("aria-description") == "linked to pin 3"
    pins = page.locator(".pins button")
    assert [text.split(" ✕")[0] for text in pins.all_inner_texts()] == ["1 Python 12", "2 Python 13", "3 Python 15"]
    press(page, "2")
    assert lines(page, "left", "pinned") == [3, 6]
    pins.nth(0).focus()
    page.keyboard.press("Enter")
    assert lines(page, "left", "pinned") == [6]
    assert page.evaluate("() => document.querySelector('.jaxscope').shadowRoot.activeElement.dataset.remove") == "0"
    page.keyboard.press("Enter")
    assert lines(page, "left", "pinned") == [] and not page.locator(".pins").is_visible()


def test_six_pins_are_told_apart(open_source):
    page = opened(open_source)
    for line in (2, 3, 4, 5, 6, 10):
        row(page, "left", line).click(modifiers=["Control"])
    page.locator(".signature").hover()
    marks = rows(page, "left", "pinned").evaluate_all(
        "all => all.map((row) => [row.dataset.pin, getComputedStyle(row.querySelector('.sign')).backgroundColor])"
    )
    assert len({number for number, _ in marks}) == len({colour for _, colour in marks}) == 6
