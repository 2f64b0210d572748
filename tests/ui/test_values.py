"""Values on exported pages of real programs: lit where they are defined and used, jumped to and back from."""

import re

import jax
import jax.numpy as jnp
import pytest

import jaxscope
from tests.programs import PROGRAMS
from tests.ui.conftest import LOOKS


def shifted(x):
    return x - x.max(-1, keepdims=True)


def softmax(x, y):
    e = jnp.exp(shifted(x))
    return helper(e / e.sum(-1, keepdims=True), y)


@jax.jit
def helper(x, y):
    return x @ y


@pytest.fixture(scope="module")
def inspections():
    made = {
        "softmax": jaxscope.inspect(softmax, "f32[8,128]", "f32[128,4]"),
        "far_apart": jaxscope.inspect(far_apart, "f32[4]"),
    }
    for name in ("while_and_cond", "many_results"):
        function, args = PROGRAMS[name]
        made[name] = jaxscope.inspect(function, *args)
    return made


@pytest.fixture
def open_tab(inspections, open_source):
    def open_page(name, key, **options):
        inspection = inspections[name]
        page = open_source(inspection._source, **options)
        page.locator(f'[role=tab][data-key="{key}"]').click()
        page.locator(".pane.right .row").first.wait_for()
        return page, inspection._facts.listing(key).listing

    return open_page


def row(page, line, side="right"):
    return page.locator(f'.pane.{side} .row[data-line="{line}"]')


def name(page, line, text, kind="name"):
    return row(page, line).locator(f".k-{kind}", has_text=re.compile(rf"^\s*{re.escape(text)}$")).first


def marked(page, kind):
    found = page.locator(f'.pane.right .row[data-value="{kind}"]').evaluate_all("rows => rows.map(r => r.dataset.line)")
    return sorted(map(int, found))


def cursor(page, side="right"):
    return page.locator(f".pane.{side} .row.cursor").evaluate_all("rows => rows.map(row => Number(row.dataset.line))")


def facts(page):
    return page.locator(".facts").inner_text()


def defined_and_used(listing):
    """A value with several uses: its op, its name, and the lines of its uses."""
    for number, op in enumerate(listing.ops):
        users = listing.uses.get(number, ())
        if len(users) > 1 and len(op.results) == 1 and op.line == op.end_line:
            lines = sorted({listing.ops[user].line for user in users})
            if len(lines) > 1 and all(listing.ops[user].end_line == listing.ops[user].line for user in users):
                return op, op.results[0], lines
    raise AssertionError("no such value")


@pytest.mark.parametrize("key", ["jaxpr", "stablehlo", "hlo"])
def test_definition_and_uses_are_lit_in_rows_and_ruler(open_tab, key):
    page, listing = open_tab("softmax", key)
    op, value, lines = defined_and_used(listing)
    name(page, lines[1], value).hover()
    assert marked(page, "definition") == [op.line] and marked(page, "use") == lines
    style = "span => [getComputedStyle(span).outlineStyle, Number(getComputedStyle(span).fontWeight)]"
    assert page.locator(".pane.right .value").first.evaluate(style) == ["solid", 700]
    assert page.locator(".pane.right .ruler .value").count() >= 2
    assert f"{len(lines)} uses" in facts(page)
    page.locator(".signature").hover()
    assert page.locator(".value").count() == 0


def test_the_cursor_lights_what_its_row_defines_and_keys_follow_it(open_tab):
    page, listing = open_tab("softmax", "stablehlo")
    op, _, lines = defined_and_used(listing)
    row(page, op.line).locator(".number").click()
    assert marked(page, "use") == lines
    for key, line, said in (
        ("u", lines[0], f"use 1 of {len(lines)}"),
        ("u", lines[1], f"use 2 of {len(lines)}"),
        ("U", lines[0], f"use 1 of {len(lines)}"),
        ("d", op.line, "uses"),
        ("b", lines[0], ""),
        ("Alt+ArrowLeft", lines[1], ""),
        ("b", lines[0], ""),
        ("b", op.line, ""),
    ):
        page.keyboard.press(key)
        assert cursor(page) == [line] and said in facts(page), key


def test_ctrl_click_on_a_name_jumps_and_a_plain_click_pins(open_tab):
    page, listing = open_tab("softmax", "hlo")
    entry = next(number for number, block in enumerate(listing.blocks) if block.kind == "entry")
    op = next(op for op in listing.ops if op.block == entry and op.operands and op.name == "fusion")
    target = listing.ops[listing.definition(op.block, op.operands[0])]
    name(page, op.line, op.operands[0]).click(modifiers=["ControlOrMeta"])
    assert cursor(page) == [target.line] and page.locator(".row.pinned").count() == 0
    name(page, op.line, op.operands[0]).click()
    assert page.locator(".pane.right .row.pinned").get_attribute("data-line") == str(op.line)


def test_names_of_sibling_regions_are_told_apart(open_tab):
    page, listing = open_tab("while_and_cond", "stablehlo", viewport={"width": 1240, "height": 4000})
    by_name = {}
    for number, op in enumerate(listing.ops):
        for result in op.results:
            if listing.uses.get(number):
                by_name.setdefault(result, []).append((number, op))
    several = next(found for found in by_name.values() if len(found) > 1)
    for number, op in several:
        name(page, op.line, op.results[0], "definition").hover()
        assert marked(page, "definition") == [op.line]
        assert set(marked(page, "use")) <= {listing.ops[user].line for user in listing.uses[number]}


def test_what_is_called_is_entered_by_key_and_by_click(open_tab):
    page, listing = open_tab("softmax", "hlo")
    op = next(op for op in listing.ops if op.name == "fusion")
    called = re.search(r"calls=(%[\w.-]+)", listing.lines[op.line])[1]
    head = next(block.line for block in listing.blocks if block.name == called)
    row(page, op.line).locator(".number").click()
    page.keyboard.press("i")
    assert cursor(page) == [head]
    page.keyboard.press("b")
    name(page, op.line, called, "symbol").click(modifiers=["ControlOrMeta"])
    assert cursor(page) == [head]
    page, listing = open_tab("softmax", "stablehlo")
    op = next(op for op in listing.ops if op.name == "call")
    row(page, op.line).locator(".number").click()
    page.keyboard.press("i")
    assert "@helper" in row(page, cursor(page)[0]).inner_text()


def test_types_of_the_value_and_its_operands_are_told(open_tab):
    page, listing = open_tab("softmax", "jaxpr")
    op = next(op for op in listing.ops if op.name == "div")
    row(page, op.line).locator(".number").hover()
    by_name = {result: each.type for each in listing.ops for result in each.results}
    for words in (f"{op.results[0]} {op.type}", *(f"{operand} {by_name[operand]}" for operand in op.operands)):
        assert words in facts(page)


def test_a_line_of_python_says_what_it_became(open_tab, inspections):
    page, _ = open_tab("softmax", "hlo")
    source = inspections["softmax"]._facts.python_side()[0].text.split("\n")
    line = next(number for number, text in enumerate(source) if "jnp.exp" in text)
    row(page, line, "left").hover()
    page.wait_for_function("() => document.querySelector('.jaxscope').shadowRoot.querySelector('.counts')")
    page.locator(".counts", has_text="kernel").wait_for()
    counted = [
        sum(
            next(iter(listing.stacks.walk(stack))).line == softmax.__code__.co_firstlineno + 1
            for stack in listing.op_stack
            if stack >= 0
        )
        for listing in map(inspections["softmax"]._facts.listing, ("jaxpr", "stablehlo"))
    ]
    found = re.search(r"became (\d+) equations? → (\d+) ops? → (\d+) kernels?", facts(page))
    assert [int(found[1]), int(found[2])] == counted and 1 <= int(found[3]) <= counted[1]


def test_the_call_stack_leads_to_its_lines_of_python_by_keyboard_alone(open_tab, inspections):
    page, listing = open_tab("softmax", "stablehlo")
    op = next(op for op in listing.ops if "subtract" in op.name)
    row(page, op.line).locator(".number").click()
    caller = page.locator(".status .jump").nth(1)
    caller.focus()
    page.keyboard.press("Enter")
    [line] = cursor(page, "left")
    assert "jnp.exp(shifted(x))" in row(page, line, "left").inner_text()
    page.keyboard.press("b")
    assert cursor(page) == [op.line]


@pytest.mark.parametrize(("scheme", "viewport"), LOOKS)
def test_what_is_known_of_a_value_fits(open_tab, scheme, viewport, picture):
    page, listing = open_tab("softmax", "stablehlo", color_scheme=scheme, viewport=viewport)
    op, value, _ = defined_and_used(listing)
    row(page, op.line).locator(".number").click()
    name(page, op.line, value, "definition").hover()
    page.locator(".counts").wait_for()
    picture(page, f"values-{scheme}")
    assert page.locator(".facts").evaluate("facts => facts.scrollWidth <= facts.clientWidth + 1")


def far_apart(x):
    y = jnp.sin(x)
    z = y * 2
    for _ in range(60):
        z = z * 3 + 1
    return z * y


def test_a_pointer_that_rests_does_not_end_a_walk(open_tab):
    """The rows move under the pointer when a use far away is brought into view."""
    page, listing = open_tab("far_apart", "jaxpr")
    op, _, uses = defined_and_used(listing)
    assert len(uses) == 2 and uses[1] > op.line + 60
    box = row(page, op.line).locator(".number").bounding_box()
    pointer = box["x"] + 2, box["y"] + 9
    page.mouse.click(*pointer)
    for count, line in ((1, uses[0]), (2, uses[1]), (1, uses[0]), (2, uses[1])):
        page.keyboard.press("u")
        page.mouse.move(*pointer)
        page.wait_for_timeout(100)
        assert cursor(page) == [line] and f"use {count} of 2" in facts(page)
