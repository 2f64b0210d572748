"""The report of cost on the screen: figures, tables in several groupings, roofline, heat, links to lines."""

import pytest

from tests.ui import sample, sample_cost
from tests.ui.conftest import LOOKS
from tests.ui.test_assistive import violations
from tests.ui.test_page import active_tab, lines, row


@pytest.fixture
def cost_page(open_source):
    """The report, opened."""

    def open_page(source=None, **options):
        page = open_source(source or sample_cost.costs(), **options)
        page.locator(".pane.left .row").first.wait_for()
        page.locator("[role=tab][data-key=cost]").click()
        return page

    return open_page


MOUNT = """async ([code, view, listings, late]) => {
  const { mount } = await import(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })));
  const waiting = [];
  window.arrive = () => waiting.forEach((give) => give());
  window.asked = [];
  const source = {
    view, get: () => ({}), set() {},
    listing: (key) => new Promise((resolve) => {
      const give = () => key in listings && resolve(listings[key]);
      if (late.includes(key)) waiting.push(give); else give();
    }),
    make: (tab, table, onRefused) => { window.asked.push([tab, table]); window.refuse = onRefused; },
    onChange: (callback) => { window.change = (view) => { source.view = view; callback(); }; },
  };
  mount(document.getElementById('place'), source);
}"""


@pytest.fixture
def mounted(new_page):
    """A view in a page that plays the kernel: listings come `late` with `arrive()`, the view becomes another one."""
    from jaxscope._render.html import bundle

    def open_page(source, late=()):
        page = new_page()
        page.goto("about:blank")
        page.set_content("<div id=place></div>")
        listings = {key: {"index": index, "lines": text.split("\n")} for key, (index, text) in source.listings.items()}
        page.evaluate(MOUNT, [bundle(), source.view, listings, list(late)])
        return page

    return open_page


def first_cells(page, key):
    return page.locator(f"[data-table={key}] tbody tr td:first-child").all_inner_texts()


def test_figures_stand_before_the_tables(cost_page):
    page = cost_page()
    tiles = page.locator(".figures li")
    assert tiles.count() == 4
    assert tiles.nth(0).inner_text().split("\n") == ["34.6 MFLOP", "FLOPs", "with loops counted · XLA reports 34.6"]
    assert "▲ memory-bound" in tiles.nth(3).inner_text() and tiles.nth(3).get_attribute("title")


def test_tables_of_a_group_are_one_card_and_the_choice_stays(cost_page):
    page = cost_page()
    choice = page.get_by_label("group by")
    assert choice.locator("option").all_inner_texts() == ["Python line", "function", "operation"]
    assert page.locator(".card").count() == 2
    choice.select_option("function")
    assert first_cells(page, "cost-function") == ["attention", "softmax"]
    assert page.locator("[data-table=cost-line]").count() == 0
    assert choice.evaluate("each => each.getRootNode().activeElement === each")
    page.locator("[role=tab][data-key=memory]").click()
    page.locator("[role=tab][data-key=cost]").click()
    assert choice.input_value() == "function"


def test_bars_are_as_long_as_their_shares(cost_page):
    page = cost_page()
    bars = page.locator("[data-table=cost-line] .with-bar i")
    widths = bars.evaluate_all("all => all.map(bar => bar.offsetWidth / bar.parentElement.offsetWidth)")
    assert widths == pytest.approx([0.485, 0.485, 0.026, 0.004], abs=0.02)


def test_long_tables_can_be_filtered(cost_page):
    page = cost_page()
    assert page.locator("[data-table=cost-line]").get_by_role("searchbox").count() == 0
    page.get_by_label("group by").select_option("operation")
    card = page.locator("[data-table=cost-op]")
    card.get_by_label("filter").fill("KIND_1")
    assert first_cells(page, "cost-op") == ["kind_1", *(f"kind_{number}" for number in range(10, 20))]
    assert card.get_by_role("status").inner_text() == "11 of 40 rows"
    card.get_by_role("button", name="count").click()
    assert first_cells(page, "cost-op")[0] == "kind_1"
    card.get_by_label("filter").fill("nothing of the kind")
    assert first_cells(page, "cost-op") == [] and card.get_by_role("status").inner_text() == "0 of 40 rows"
    card.get_by_label("filter").fill("")
    assert len(first_cells(page, "cost-op")) == 40
    # A letter in the field is no key of the program.
    card.get_by_label("filter").press("?")
    assert page.get_by_role("dialog").count() == 0


@pytest.mark.parametrize("way", ["click", "Enter"])
def test_a_row_leads_to_its_line_and_pins_it(cost_page, way):
    page = cost_page()
    place = page.get_by_role("button", name="layers.py:4")
    place.click() if way == "click" else place.press("Enter")
    assert active_tab(page) == "hlo"
    assert lines(page, "left", "pinned") == [11]
    assert 17 in lines(page, "right", "pin-exact")
    assert page.locator(".pane.left .scroller").evaluate("each => each.getRootNode().activeElement === each")
    # The arrow keys go on from there.
    page.keyboard.press("ArrowDown")
    assert lines(page, "left", "cursor") == [12]


def test_a_row_leads_to_a_compilers_line(cost_page):
    page = cost_page()
    page.get_by_role("button", name="%dot.4", exact=True).click()
    assert active_tab(page) == "hlo" and lines(page, "right", "pinned") == [18]
    assert lines(page, "left", "pin-exact") == [6]


def test_a_row_leads_to_python_where_there_is_one_pane(cost_page):
    page = cost_page()
    page.keyboard.press("w")
    page.get_by_role("button", name="attention.py:15").click()
    assert active_tab(page) == "python" and lines(page, "right", "pinned") == [6]
    assert not page.locator(".pane.left").is_visible()


def test_a_line_is_shown_once_its_listing_has_come(mounted):
    page = mounted(sample_cost.costs(), late=["hlo"])
    page.locator("[role=tab][data-key=cost]").click()
    page.get_by_role("button", name="%fusion.2", exact=True).click()
    assert active_tab(page) == "hlo" and page.locator(".pane.right .row").count() == 0
    page.evaluate("() => window.arrive()")
    row(page, "right", 17).wait_for()
    assert lines(page, "right", "pinned") == lines(page, "right", "cursor") == [17]


def test_the_roofline_shows_every_kernel_under_its_roof(cost_page):
    page = cost_page()
    plot = page.locator("[data-table=roofline] .plot")
    assert plot.get_attribute("role") == "group" and "18 bound by memory" in plot.get_attribute("aria-label")
    box = plot.bounding_box()
    points = plot.locator("button.point")
    assert points.count() == 24
    source = sample_cost.roofline_table()
    for number in (0, 5, 23):
        x, y, _ = source["chart"]["points"][number]
        at = points.nth(number).bounding_box()
        assert at["x"] + at["width"] / 2 == pytest.approx(box["x"] + x * box["width"], abs=1)
        assert at["y"] + at["height"] / 2 == pytest.approx(box["y"] + (1 - y) * box["height"], abs=1)
    sizes = points.evaluate_all("all => all.map(each => each.offsetWidth)")
    assert sizes == sorted(sizes, reverse=True) and sizes[0] > 2 * sizes[-1] >= 12
    assert page.locator(".roof-label").all_inner_texts() == ["819 GB/s", "197 TFLOP/s in bf16"]
    assert page.locator("path.roof").count() == 2


def test_points_tell_what_they_are_and_lead_there(cost_page):
    page = cost_page()
    said = page.locator("[data-table=roofline] .said-below")
    points = page.locator("button.point")
    points.nth(23).hover()
    assert said.inner_text().startswith("%fusion.31 · intensity ")
    # One stop for the Tab key, and the arrows go from point to point.
    assert points.evaluate_all("all => all.filter(each => each.tabIndex === 0).length") == 1
    points.nth(0).focus()
    for key, name in (("ArrowRight", "%dot.4"), ("End", "%fusion.31"), ("ArrowLeft", "%fusion.30"), ("Home", "%dot.3")):
        page.keyboard.press(key)
        assert said.inner_text().startswith(name), key
        assert page.locator(".point:focus").get_attribute("aria-label").startswith(name)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert active_tab(page) == "hlo" and lines(page, "right", "pinned") == [18]


def heat(page, side, line):
    cell = row(page, side, line).locator(".heat")
    return cell.inner_text() if cell.count() else None


def test_heat_stands_beside_the_lines_of_every_listing(open_source):
    page = open_source(sample_cost.costs())
    row(page, "left", 3).wait_for()
    assert [heat(page, "left", line) for line in (2, 3, 4, 5, 11)] == ["", "48 %", "1 %", "", "3 %"]
    assert heat(page, "right", 16) == "48 %"
    cell = row(page, "left", 3).locator(".heat")
    assert "34.6 MFLOP" in cell.get_attribute("title")
    assert cell.evaluate("each => getComputedStyle(each).backgroundSize").startswith("48.5%")
    page.locator("[role=tab][data-key=jaxpr]").click()
    row(page, "right", 3).wait_for()
    assert heat(page, "right", 3) is None


def test_heat_can_be_put_away_and_stays_so(open_source):
    page = open_source(sample_cost.costs())
    row(page, "left", 3).wait_for()
    page.locator(".pane.left .scroller").focus()
    page.keyboard.press("h")
    assert heat(page, "left", 3) is None and heat(page, "right", 16) is None
    page.locator(".pane.left .view").click()
    switch = page.locator(".pane.left .menu [data-action=heat]")
    assert switch.get_attribute("aria-pressed") == "false"
    page.reload()
    row(page, "left", 3).wait_for()
    assert heat(page, "left", 3) is None
    page.locator(".pane.left .scroller").focus()
    page.keyboard.press("h")
    assert heat(page, "left", 3) == "48 %"


def test_there_is_no_switch_where_no_cost_is_known(open_source):
    page = open_source(sample.attention())
    row(page, "left", 3).wait_for()
    page.locator(".pane.left .view").click()
    assert not page.locator(".pane.left .menu [data-action=heat]").is_visible()
    assert heat(page, "left", 3) is None


def test_heat_comes_when_the_view_has_it(mounted):
    """The listing of Python is open before anything is known of cost."""
    page = mounted(sample.running())
    row(page, "left", 3).wait_for()
    assert heat(page, "left", 3) is None
    row(page, "left", 4).click()
    page.evaluate("(view) => window.change(view)", sample_cost.costs().view)
    row(page, "left", 3).locator(".heat").wait_for()
    assert heat(page, "left", 3) == "48 %" and lines(page, "left", "pinned") == [4]


def test_the_status_bar_tells_what_the_line_costs(open_source):
    page = open_source(sample_cost.costs())
    row(page, "right", 16).hover()
    assert "16.8 MFLOP · 1.0 MiB moved" in page.locator(".status").inner_text()
    row(page, "right", 15).hover()
    assert "MFLOP" not in page.locator(".status").inner_text()


@pytest.mark.parametrize(("scheme", "viewport"), LOOKS)
def test_axe_finds_nothing(cost_page, axe, scheme, viewport, picture):
    page = cost_page(viewport=viewport, color_scheme=scheme, reduced_motion="reduce")
    assert violations(page, axe) == []
    page.get_by_label("group by").select_option("operation")
    page.get_by_label("filter").first.fill("kind_1")
    page.locator("button.point").first.focus()
    assert violations(page, axe) == []
    picture(page, f"cost-{scheme}", full_page=True)
    page.locator("[role=tab][data-key=hlo]").click()
    row(page, "right", 16).hover()
    assert violations(page, axe) == []


def test_without_colours_of_our_own_points_and_bars_are_still_seen(cost_page):
    page = cost_page(forced_colors="active")
    border = page.locator("button.point").first.evaluate("each => getComputedStyle(each).borderTopStyle")
    bar = page.locator(".with-bar i").first.evaluate("each => getComputedStyle(each).backgroundColor")
    assert border == "solid" and bar not in ("rgba(0, 0, 0, 0)", "rgb(255, 255, 255)")


@pytest.mark.parametrize("width", [320, 620])
def test_nothing_sticks_out_of_a_narrow_page(cost_page, width):
    page = cost_page(viewport={"width": width, "height": 700}, device_scale_factor=2)
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    plot = page.locator(".plot").bounding_box()
    assert plot["x"] >= 0 and plot["x"] + plot["width"] <= width and plot["width"] > width / 2


def test_hostile_texts_stay_text(cost_page):
    source = sample_cost.costs()
    evil = " ".join(sample.HOSTILE)

    def poison(value):
        if isinstance(value, dict):
            fixed = ("kind", "key", "data", "listing", "align", "tone", "status", "name")
            return {name: each if name in fixed else poison(each) for name, each in value.items()}
        if isinstance(value, list):
            return [poison(each) for each in value]
        return evil if isinstance(value, str) else value

    source.view["tabs"] = poison(source.view["tabs"])
    source.view["heat"] = poison(source.view["heat"])
    page = cost_page(source)
    page.locator("button.point").first.hover()
    page.locator("[role=tab][data-key=memory]").click()
    page.locator(".plot").first.wait_for()
    page.wait_for_timeout(200)
    assert page.evaluate("() => window.pwned") is None and page.requests == [page.own_url]
