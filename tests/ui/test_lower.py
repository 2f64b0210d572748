"""Listings below compiled HLO on the screen: nothing is compiled again by passing by, one click makes them."""

from tests.ui.test_show import ATTENTION, tab, wait_for_widgets

SHOWN = "result = jaxscope.show(attention, shape, shape, shape)"


def test_a_click_on_the_button_compiles_once_more(lab, new_page, picture):
    page = lab.run(new_page(), [ATTENTION, SHOWN])
    wait_for_widgets(page, 1)
    root = page.locator(".jaxscope").first
    tab(page, "LLVM IR on request").click()
    button = root.get_by_role("button", name="Compile once more")
    button.wait_for()
    page.wait_for_timeout(500)
    # Passing by made nothing; Python still says so.
    assert lab.evaluate(page, "print(result._facts.dump_seconds)").strip() == "None"
    button.click()
    root.locator(".row:visible").filter(has_text="define").first.wait_for()
    tab(page, "instructions linked").or_(page.locator("[data-key=llvm_ir][data-status=done]")).first.wait_for()
    assert "instructions" in page.locator("[data-key=llvm_ir]").inner_text()
    picture(root, "lower-llvm")
    # A line of a kernel lights the line of Python that it was made from.
    root.locator(".row:visible").filter(has_text="define").first.hover()
    # The second one costs no compilation any more, and asks for the same click.
    tab(page, "unoptimised").click()
    root.get_by_role("button", name="Compile once more").click()
    root.locator(".row:visible").filter(has_text="define").first.wait_for()


def test_page_says_what_it_does_not_hold(open_source, tmp_path):
    import jax.numpy as jnp

    import jaxscope

    page = open_source(jaxscope.inspect(jnp.sin, "f32[64]")._source)
    page.locator("[data-key=llvm_ir]").click()
    page.get_by_text("Nobody had opened it when this was saved").first.wait_for()
    assert page.get_by_role("button", name="Compile once more").count() == 0
