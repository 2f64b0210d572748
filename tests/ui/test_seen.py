"""Every tab as a reader sees it: long names, empty tabs, failures, a one-line function, a whole model, at three widths.

The tests assert what can be counted (nothing hangs over, no button is cut off); their pictures are for looking at.
"""

import functools

import pytest

import jaxscope
from jaxscope._render.html import render_page
from tests.shared import ABSENT, SHARED
from tests.transformer import transformer_for
from tests.ui import sample
from tests.ui.test_layout import WIDTHS_PIXELS


def one_line(x): return x * 2  # fmt: skip


def normalise_the_activations_of_every_attention_head_before_the_residual_connection(
    activations_of_the_previous_layer_with_a_name_that_nobody_would_want_to_read, *, epsilon_for_numerical_stability
):
    """A name, and the name of an argument, that fill more than a line."""
    return activations_of_the_previous_layer_with_a_name_that_nobody_would_want_to_read.mean(-1, keepdims=True) + (
        epsilon_for_numerical_stability
    )


def keep(x):
    mask = x > 0.5
    return x[mask]


def nothing():
    return ()


def transformer():
    """The model that everything is measured with."""
    if SHARED is None:
        pytest.skip(ABSENT)
    return transformer_for("cpu")


@functools.cache
def page_of(name):
    """The text of a page; compiled and rendered once for all widths."""
    made = {
        "one-line": lambda: jaxscope.inspect(one_line, "f32[8]"),
        "long-names": lambda: jaxscope.inspect(
            normalise_the_activations_of_every_attention_head_before_the_residual_connection,
            "f32[128,1024]",
            epsilon_for_numerical_stability="f32[]",
        ),
        "failure": lambda: jaxscope.inspect(keep, "f32[8]"),
        "empty": lambda: jaxscope.inspect(nothing, targets=["cpu", "rocm"]),
        "transformer": transformer,
    }
    return render_page(made[name]()._source if name in made else getattr(sample, name)())


# Colours move nothing: one width is enough to look at the dark ones.
@pytest.mark.parametrize(
    ("width", "scheme"), [*((width, "light") for width in WIDTHS_PIXELS), (WIDTHS_PIXELS[1], "dark")]
)
@pytest.mark.parametrize(
    "name", ["attention", "failed", "running", "one-line", "long-names", "failure", "empty", "transformer"]
)
def test_every_tab_at_every_width(open_page, name, width, scheme, picture):
    page = open_page(page_of(name), viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.locator(".pane.left .row").first.wait_for()
    for number, modifiers in enumerate([[], ["Control"], ["Control"]]):
        rows = page.locator(".pane.left .row:has(.number:not(:empty))")
        if number < rows.count():
            rows.nth(number).locator(".number").click(modifiers=modifiers)
    for tab in page.get_by_role("tab").all():
        tab.click()
        page.wait_for_timeout(60)
        key = tab.get_attribute("data-key")
        picture(page, f"seen-{name}-{scheme}-{width}-{key.replace(':', '-')}")
        assert page.evaluate("() => document.documentElement.scrollWidth <= document.documentElement.clientWidth"), key
        cut = page.locator("button:visible, select:visible").evaluate_all(
            """all => all.filter((each) => {
              const box = each.getBoundingClientRect();
              return !each.closest('.scroller, .table-scroll') && (box.left < 0 || box.right > innerWidth);
            }).map((each) => each.textContent)"""
        )
        assert cut == [], key
