"""What of a text is shown, and with which names: types put away and short names, by button and by key."""

import jax
import jax.numpy as jnp
import pytest

import jaxscope
from jaxscope._view.names import STEM, short_names
from tests.ui import sample
from tests.ui.test_page import click_toggle, offered, toggle
from tests.ui.test_page import row as row_of
from tests.ui.test_search import count, focus, pane, search, settle

KEYS = ("jaxpr", "stablehlo", "hlo")


def loss(weights, x):
    def step(carry, row):
        return carry + jnp.tanh(row @ weights), carry.sum()

    return jax.lax.scan(step, jnp.zeros(4), x)[1].sum()


@pytest.fixture(scope="module")
def inspection():
    return jaxscope.inspect(jax.grad(loss), "f32[8,4]", "f32[5,8]")


@pytest.fixture
def open_tab(inspection, open_source):
    def open_page(key, **options):
        page = open_source(inspection._source, **options)
        page.locator(f'[role=tab][data-key="{key}"]').click()
        page.locator(".pane.right .row").first.wait_for()
        return page, inspection._facts.listing(key).listing

    return open_page


def texts(page):
    """The text of each row in view, by line."""
    found = page.locator(".pane.right .row .text").evaluate_all(
        "rows => rows.map(row => [Number(row.parentElement.dataset.line), row.textContent])"
    )
    return dict(sorted(map(tuple, found)))


def lines_in_view(page):
    """The lines that can be pointed at: rows beside the view are drawn too."""
    return set(
        page.locator(".pane.right .scroller").evaluate(
            """scroller => {
              const view = scroller.getBoundingClientRect();
              const isInside = ({ top, bottom }) => top >= view.top && bottom <= view.bottom;
              return [...scroller.querySelectorAll('.row')]
                .filter(row => isInside(row.getBoundingClientRect())).map(row => Number(row.dataset.line));
            }"""
        )
    )


def press(page, *keys):
    page.locator(".pane.right .scroller").focus()
    for key in keys:
        page.keyboard.press(key)


@pytest.mark.parametrize(("key", "type_"), [("jaxpr", ":f32["), ("stablehlo", "tensor<"), ("hlo", "f32[")])
def test_types_are_put_away_and_come_back(open_tab, key, type_):
    page, listing = open_tab(key)
    before = texts(page)
    ops = {op.line for op in listing.ops if op.line == op.end_line} & set(before)
    assert any(type_ in before[line] for line in ops)
    assert toggle(page, "right", "types").get_attribute("aria-pressed") == "true"
    press(page, "t")
    after = texts(page)
    assert toggle(page, "right", "types").get_attribute("aria-pressed") == "false"
    assert [after[line] for line in ops if type_ in after.get(line, "")] == []
    assert all(len(after[line]) < len(before[line]) for line in ops & set(after))
    # Types go without a mark in their place.
    assert page.locator('.pane.right [title^="put away (type"]').count() == 0
    click_toggle(page, "right", "types")
    assert texts(page) == before


def test_types_take_layouts_along_and_exact_text_shows_all(open_source):
    page = open_source(sample.attention())
    line = row_of(page, "right", 16).locator(".text")
    press(page, "y")
    assert "= f32[8,128,128]{2,1,0} dot(" in line.inner_text()
    press(page, "t")
    assert line.inner_text().startswith("  %dot.3 = dot(%q, %copy.1)")
    assert row_of(page, "right", 6).locator(".text").inner_text() == "%fused_computation (p) {"
    press(page, "s", "e")
    assert line.inner_text() == sample.HLO.split("\n")[16]
    for label in ("types", "short names"):
        assert toggle(page, "right", label).get_attribute("aria-disabled") == "true"


def as_short(listing):
    """What a name is expected to be shown as."""
    shorter = short_names(listing)
    assert shorter

    def show(name):
        sign, bare = name[: name.startswith("%")], name.removeprefix("%")
        stem = STEM.fullmatch(bare)[1]
        return sign + shorter.get(stem, stem) + bare[len(stem) :]

    return show


def test_names_are_short_where_they_are_defined_used_and_called(open_tab):
    page, listing = open_tab("hlo")
    show = as_short(listing)
    press(page, "s")
    shown = texts(page)
    for op in listing.ops:
        if op.line in shown:
            assert f"{show('%' + op.results[0].removeprefix('%'))} = " in shown[op.line]
            for operand in op.operands:
                assert show("%" + operand.removeprefix("%")) in shown[op.line]
    for name in page.locator(".pane.right [data-name]").all()[:20]:
        own = name.get_attribute("data-name")
        assert name.inner_text() == show(own) != own and name.get_attribute("title") == own
    called = page.locator('.pane.right .k-symbol[data-name^="%"]')
    assert called.count() > 0
    press(page, "s")
    assert page.locator(".pane.right [data-name]").count() == 0


@pytest.mark.parametrize("key", ["jaxpr", "stablehlo"])
def test_where_names_are_short_already_there_is_no_switch(open_tab, key):
    page, _ = open_tab(key)
    before = texts(page)
    assert "short names" not in offered(page, "right")
    press(page, "s")
    assert texts(page) == before


def test_values_are_lit_and_jumped_to_by_their_short_names(open_tab):
    page, listing = open_tab("hlo")
    show = as_short(listing)
    press(page, "s")
    shown = lines_in_view(page)
    numbers = {id(op): number for number, op in enumerate(listing.ops)}
    op, name, users = next(
        (op, "%" + op.results[0].removeprefix("%"), lines)
        for op in listing.ops
        if op.line in shown
        and (lines := {listing.ops[user].line for user in listing.uses.get(numbers[id(op)], ())})
        and lines <= shown
        and show("%" + op.results[0].removeprefix("%")) != "%" + op.results[0].removeprefix("%")
    )
    defined = page.locator(f'.pane.right .row[data-line="{op.line}"] .k-definition')
    defined.hover()
    assert page.locator(".pane.right .value-definition").inner_text() == show(name)
    lit = page.locator('.pane.right .row[data-value="use"]').evaluate_all(
        "all => all.map(row => Number(row.dataset.line))"
    )
    assert set(lit) == users
    assert page.locator(".facts .jump").first.inner_text() == show(name)
    use = page.locator(f'.pane.right .row[data-line="{min(users)}"] .k-name[data-name="{name}"]').first
    use.click(modifiers=["ControlOrMeta"])
    cursor = page.locator(".pane.right .row.cursor").get_attribute("data-line")
    assert cursor == str(op.line)


def test_a_computation_is_gone_into_by_its_short_name(open_source):
    page = open_source(sample.attention())
    press(page, "s")
    assert "calls=%fc" in row_of(page, "right", 17).locator(".text").inner_text()
    assert row_of(page, "right", 6).locator(".text").inner_text().startswith("%fc (p: ")


def test_search_and_copy_take_what_is_shown(open_source):
    page = open_source(sample.attention(), permissions=["clipboard-read", "clipboard-write"])
    search(page, "fusion.2")
    assert count(page).endswith("of 2")
    page.keyboard.press("Escape")
    press(page, "s", "t")
    search(page, "fusion.2")
    assert "no" in count(page)
    search(page, "%fus.2")
    assert count(page).endswith("of 2")
    assert pane(page).locator("mark.found").first.inner_text() == "%fus.2"
    page.keyboard.press("Escape")
    row_of(page, "right", 17).locator(".number").click()
    focus(page)
    page.keyboard.press("c")
    page.wait_for_timeout(200)
    copied = page.evaluate("() => navigator.clipboard.readText()")
    assert copied.startswith("  %fus.2 = fusion(%dot.3), kind=kLoop, calls=%fc") and "f32" not in copied
    focus(page)
    page.keyboard.press("C")
    page.wait_for_timeout(200)
    assert page.evaluate("() => navigator.clipboard.readText()") == sample.HLO.split("\n")[17]


def test_a_search_that_is_open_follows_the_switch(open_source):
    page = open_source(sample.attention())
    search(page, "%fusion.2")
    assert count(page).endswith("of 2")
    click_toggle(page, "right", "short names")
    settle(page)
    assert "no" in count(page)


def test_the_choices_are_kept(open_source):
    page = open_source(sample.attention())
    press(page, "t", "s")
    page.reload()
    row_of(page, "right", 16).wait_for()
    assert row_of(page, "right", 17).locator(".text").inner_text().startswith("  %fus.2 = fusion(")
    assert toggle(page, "right", "types").get_attribute("aria-pressed") == "false"
    assert toggle(page, "right", "short names").get_attribute("aria-pressed") == "true"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pictures(open_source, scheme, picture):
    page = open_source(sample.attention(), color_scheme=scheme)
    for key, name in (("t", "types"), ("s", "names")):
        press(page, key)
        row_of(page, "right", 17).locator(".k-definition").hover()
        picture(page, f"text-{name}-{scheme}")
    assert page.evaluate("() => document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_long_lists_and_constants_are_put_away_and_opened_by_a_click(open_source):
    operands = ", ".join(f"%arg.{number}" for number in range(30))
    values = ", ".join(["1.5"] * 40)
    source = sample.attention()
    index, text = source.listings["hlo"]
    text = text.replace("exponential(%p)", f"exponential({operands})").replace(
        "parameter(2)", f"constant({{{values}}})"
    )
    source.listings["hlo"] = (index, text)
    page = open_source(source)
    lists, constant = (row_of(page, "right", line).locator(".text") for line in (8, 14))
    assert operands in lists.inner_text()
    assert values in constant.inner_text()
    press(page, "p", "x")
    assert "exponential(…)" in lists.inner_text() and "constant(…)" in constant.inner_text()
    assert operands[:20] in lists.locator(".away").first.get_attribute("title")
    lists.locator(".away").first.click()
    assert operands in lists.inner_text() and "constant(…)" in constant.inner_text()
    press(page, "e")
    assert values in constant.inner_text()
