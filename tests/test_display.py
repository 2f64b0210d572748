"""One picture per cell: a live widget under one display id in a notebook, one report in a terminal, never two."""

import copy
import io
import os
import pickle
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import jax.numpy as jnp
import pytest

import jaxscope
from jaxscope._facts import Facts
from jaxscope._render import display
from jaxscope._view import build
from jaxscope.errors import UnavailableError

REPOSITORY = Path(__file__).parents[1]
REPORT = "== Compiled HLO"


def scale(x):
    return jnp.sin(x) * 2


def broken(x):
    return x[x > 0]


class FakeWidget:
    """A widget that notes what it is told."""

    made: list["FakeWidget"]

    def __init__(self, source, compile_for=None, **traits):
        self.source, self.refreshed, self.model_id = source, [], f"model-{len(self.made)}"
        self.made.append(self)

    def refresh(self, embed=True):
        statuses = [tab["status"] for tab in self.source.view["tabs"]]
        self.refreshed.append((embed, statuses.count("done")))


@pytest.fixture
def notebook(monkeypatch):
    """A kernel whose displays are collected; `cell()` begins the next cell."""
    publisher = pytest.importorskip("IPython.display")
    shell = SimpleNamespace(kernel=object(), execution_count=1)
    published = []

    def publish(data, transient=None, update=False, **_):
        published.append(SimpleNamespace(data=data, id=transient["display_id"], update=update))

    def cell():
        shell.execution_count += 1

    FakeWidget.made = []
    monkeypatch.setattr(display, "running_shell", lambda: shell)
    monkeypatch.setattr(publisher, "publish_display_data", publish)
    monkeypatch.setitem(sys.modules, "jaxscope._render.widget", SimpleNamespace(InspectionWidget=FakeWidget))
    return SimpleNamespace(published=published, cell=cell, widgets=FakeWidget.made)


def is_silent(inspection):
    """Whether the inspection, as the value of a cell, adds nothing to it."""
    try:
        inspection._ipython_display_()
    except NotImplementedError:
        return False
    return True


def test_show_opens_one_display_and_ends_it_in_its_final_state(notebook):
    inspection = jaxscope.show(scale, "f32[8]")
    first, last = notebook.published
    assert not first.update and last.update and first.id == last.id
    assert first.data[display.WIDGET_MIME] == last.data[display.WIDGET_MIME]
    assert "pending" not in last.data["text/plain"] and last.data["text/plain"] == repr(inspection)
    (widget,) = notebook.widgets
    assert widget.refreshed[-1] == (True, 8), "what is saved is complete"
    assert [embed for embed, _ in widget.refreshed[:-2]] == [False] * (len(widget.refreshed) - 2)


def test_the_value_of_the_cell_that_showed_it_adds_nothing(notebook):
    inspection = jaxscope.show(scale, "f32[8]")
    assert is_silent(inspection)
    notebook.cell()
    assert not is_silent(inspection), "in a later cell it is shown again"
    assert display.WIDGET_MIME in inspection._repr_mimebundle_() and len(notebook.widgets) == 1


def test_an_inspection_is_silent_until_it_is_the_value_of_a_cell(notebook):
    inspection = jaxscope.inspect(scale, "f32[8]")
    assert not notebook.published and not notebook.widgets
    assert not is_silent(inspection)


def test_a_loop_shows_each_one_once(notebook):
    for _ in range(3):
        jaxscope.show(scale, "f32[8]")
    assert [display.update for display in notebook.published] == [False, True] * 3
    assert len({display.id for display in notebook.published}) == 3 == len(notebook.widgets)


def test_a_failure_is_displayed_before_strict_raises_it(notebook):
    with pytest.raises(IndexError):
        jaxscope.show(broken, "f32[8]", strict=True)
    assert "NonConcreteBooleanIndexError" in notebook.published[-1].data["text/html"]


def test_pictures_of_several_targets_drawn_meanwhile_leave_the_tables_whole(notebook, monkeypatch):
    """While the first target compiles, the others have not begun: nothing of theirs may be worked out and kept."""
    monkeypatch.setattr(build, "CONTAIN_FAILURES", False)
    shown = jaxscope.show(scale, "f32[8]", targets=["rocm", "cpu"])
    quiet = jaxscope.inspect(scale, "f32[8]", targets=["rocm", "cpu"])
    assert shown.signature["target"].tolist() == ["rocm", "rocm", "cpu", "cpu"]
    assert shown.signature.equals(quiet.signature)
    assert shown.memory.equals(quiet.memory) and shown.cost.equals(quiet.cost)


def test_an_interrupt_is_displayed_without_making_listings(notebook):
    def interrupted(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        jaxscope.show(interrupted, "f32[8]")
    assert "stopped with KeyboardInterrupt" in notebook.published[-1].data["text/plain"]
    assert not notebook.widgets[0].refreshed[-1][0]
    assert jaxscope.show(scale, "f32[8]").error is None


def test_figures_are_not_asked_for_after_an_interrupt(notebook, monkeypatch):
    """XLA's analysis of a large program takes seconds, and somebody waits for the prompt."""
    monkeypatch.setattr(Facts, "cost", property(lambda self: pytest.fail("asked for figures")))

    def interrupted(self, *args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("jaxscope._stages._Steps.compile", interrupted)
    with pytest.raises(KeyboardInterrupt):
        jaxscope.show(scale, "f32[8]")
    tabs = {tab["key"]: tab for tab in notebook.widgets[0].source.view["tabs"]}
    assert tabs["hlo"]["status"] == "failed" and tabs["cost"]["status"] == tabs["memory"]["status"] == "not reached"
    assert "inspection.cost" in tabs["cost"]["reason"]


def test_an_interrupt_between_two_stages_leaves_none_running(notebook, monkeypatch):
    finish = Facts.finish

    def interrupted(self, stage):
        finish(self, stage)
        if stage.key == "lower":
            raise KeyboardInterrupt

    monkeypatch.setattr(Facts, "finish", interrupted)
    with pytest.raises(KeyboardInterrupt):
        jaxscope.show(scale, "f32[8]")
    tabs = {tab["key"]: tab for tab in notebook.widgets[0].source.view["tabs"]}
    assert tabs["stablehlo"]["status"] == "done" and tabs["hlo"]["status"] == "not reached"
    assert tabs["hlo"]["reason"] == "Interrupted before this stage began."
    assert tabs["cost"]["status"] == "done", "that one came between two stages"
    assert notebook.published[-1].update and not notebook.widgets[0].refreshed[-1][0]


def test_a_target_that_was_interrupted_is_tried_again(monkeypatch):
    inspection = jaxscope.inspect(scale, "f32[8]", target="cpu")

    def interrupted(self):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("jaxscope._stages._Steps.lower", interrupted)
        inspection.compile_for("rocm")
    assert inspection.targets == ("cpu", "rocm") and inspection.error is not None
    assert "stablehlo.sine" in inspection.compile_for("rocm").stablehlo
    assert inspection.targets == ("cpu", "rocm") and inspection.error is None


def test_an_error_of_the_picture_is_not_taken_for_one_of_the_compiler(notebook, monkeypatch):
    def refresh(self, embed=True):
        if embed:
            raise OSError("the comm is closed")

    monkeypatch.setattr(FakeWidget, "refresh", refresh)
    finished = {}
    finish = Facts.finish
    monkeypatch.setattr(Facts, "finish", lambda self, stage: finished.update({stage.key: stage}) or finish(self, stage))
    with pytest.raises(OSError, match="the comm is closed"):
        jaxscope.show(scale, "f32[8]")
    assert finished["compile"].status == "done"


def test_the_compilers_time_is_not_that_of_the_picture(notebook, monkeypatch):
    monkeypatch.setattr(FakeWidget, "refresh", lambda self, embed=True: time.sleep(0.8 * embed))
    assert jaxscope.show(scale, "f32[8]").stages["compile"].seconds < 0.7


def test_without_a_bundle_the_html_says_why_from_the_first_time(notebook, monkeypatch):
    class NoWidget:
        def __getattr__(self, name):
            raise UnavailableError("There is no browser bundle.")

    monkeypatch.setitem(sys.modules, "jaxscope._render.widget", NoWidget())
    bundle = jaxscope.inspect(scale, "f32[8]")._repr_mimebundle_()
    assert display.WIDGET_MIME not in bundle and "There is no browser bundle." in bundle["text/html"]


def test_the_bundle_can_be_asked_for_in_part():
    inspection = jaxscope.inspect(scale, "f32[8]")
    assert set(inspection._repr_mimebundle_(include=["text/plain"])) == {"text/plain"}
    assert set(inspection._repr_mimebundle_(exclude=["text/plain"])) == {"text/html"}
    assert not inspection._repr_mimebundle_(include=["text/html"], exclude=["text/html"])


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_colour_only_in_a_terminal(monkeypatch):
    for stream, coloured in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stdout", stream)
        jaxscope.show(scale, "f32[8]")
        assert ("\x1b[" in stream.getvalue()) is coloured


def run_python(source, **environment):
    """What a fresh Python prints for a program."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "JAX_PLATFORMS": "cpu", **environment}
    result = subprocess.run([sys.executable, "-c", source], capture_output=True, env=environment, timeout=60)
    assert result.returncode == 0, result.stderr.decode()
    return result.stdout


def test_a_stdout_of_few_characters_gets_the_whole_report():
    out = run_python("import jaxscope; jaxscope.show(lambda x: x + 1, 'f32[3]')", PYTHONIOENCODING="ascii").decode(
        "ascii"
    )
    assert "\\u2192 f32[3]" in out and out.rstrip().endswith("found nothing to say.")


IN_IPYTHON = """
import contextlib, io, warnings
from IPython.terminal.interactiveshell import TerminalInteractiveShell
shell = TerminalInteractiveShell.instance(simple_prompt=True)
shell.run_cell("import jaxscope", store_history=True)
for cell in (
    "jaxscope.show(lambda x: x + 1, 'f32[3]')",
    "kept = jaxscope.show(lambda x: x + 1, 'f32[3]')",
    "kept",
    "jaxscope.inspect(lambda x: x + 1, 'f32[3]')",
    "for _ in range(2): jaxscope.show(lambda x: x + 1, 'f32[3]')",
):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        shell.run_cell(cell, store_history=True)
    print("counted", out.getvalue().count("== Compiled HLO"))
"""


def test_ipython_without_a_kernel_prints_each_report_once(tmp_path):
    pytest.importorskip("IPython")
    out = run_python(IN_IPYTHON, IPYTHONDIR=str(tmp_path)).decode()
    assert [line for line in out.splitlines() if line.startswith("counted")] == [
        f"counted {number}" for number in (1, 1, 1, 1, 2)
    ]


def test_an_inspection_is_its_own_copy():
    inspection = jaxscope.inspect(scale, "f32[8]")
    assert copy.copy(inspection) is inspection and copy.deepcopy({"kept": inspection})["kept"] is inspection


def test_pickling_says_what_to_keep_instead():
    with pytest.raises(UnavailableError, match=r"Pickling the inspection of scale: .* Keep inspection.to_html"):
        pickle.dumps(jaxscope.inspect(scale, "f32[8]"))


def test_two_inspections_of_one_function_do_not_disturb_each_other():
    first = jaxscope.inspect(scale, "f32[8]")
    text = str(first)
    second = jaxscope.inspect(scale, "f32[16]")
    again = jaxscope.inspect(scale, "f32[8]")
    assert str(first) == text == str(again)
    assert "f32[16]" in str(second)
