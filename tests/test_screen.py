"""Widgets that no cell shows any more are closed, and no others."""

import gc
import weakref
from functools import partial
from types import SimpleNamespace

import pytest
import traitlets

from jaxscope._render.screen import Screen


class FakeWidget(traitlets.HasTraits):
    """What `Screen` sees of a widget."""

    _view_count = traitlets.Int(0, allow_none=True)

    def __init__(self, model_id):
        super().__init__()
        self.model_id = model_id
        self.layout = SimpleNamespace(close=lambda: None)
        self.closed = False

    def close(self):
        self.closed = True


class FakeShell:
    """A shell with IPython's two events around each cell."""

    def __init__(self):
        self.listeners = {}
        self.events = SimpleNamespace(register=lambda name, call: self.listeners.setdefault(name, []).append(call))
        self.kernel = SimpleNamespace(get_parent=lambda: self.parent)
        self.parent = None

    def run(self, cell, *actions):
        """Runs a cell; None is one without an id."""
        self.parent = {"metadata": {} if cell is None else {"cellId": cell}}
        self.tell("pre_run_cell", SimpleNamespace(cell_id=cell))
        for action in actions:
            action()
        self.tell("post_run_cell", SimpleNamespace())

    def tell(self, name, value):
        for listener in self.listeners.get(name, []):
            listener(value)


class Owner:
    """Whoever made a widget."""

    def __init__(self):
        self.told = 0

    def forget(self):
        self.told += 1


@pytest.fixture
def stage():
    """A screen, its shell, and `show(widget)`, which shows it in the cell that runs."""
    screen, shell, owner = Screen(), FakeShell(), Owner()
    return SimpleNamespace(
        shell=shell, owner=owner, show=lambda widget: lambda: screen.show(shell, widget, owner.forget)
    )


def test_run_again_a_cell_closes_what_it_showed(stage):
    old, new = FakeWidget("old"), FakeWidget("new")
    stage.shell.run("a", stage.show(old))
    old._view_count = 1
    stage.shell.run("a", stage.show(new))
    assert not old.closed, "the browser still has its view"
    old._view_count = 0
    assert old.closed and stage.owner.told == 1 and not new.closed
    stage.shell.run("a")
    assert new.closed, "without a browser there is nothing to wait for"


def test_shown_again_by_the_same_cell_it_stays(stage):
    widget = FakeWidget("one")
    for _ in range(3):
        stage.shell.run("a", stage.show(widget), stage.show(widget))
    assert not widget.closed


def test_another_cell_that_shows_it_keeps_it(stage):
    widget = FakeWidget("one")
    stage.shell.run("a", stage.show(widget))
    stage.shell.run("b", stage.show(widget))
    stage.shell.run("a")
    assert not widget.closed
    stage.shell.run("b")
    assert widget.closed


def test_a_view_that_comes_and_goes_closes_nothing_that_a_cell_shows(stage):
    widget = FakeWidget("one")
    stage.shell.run("a", stage.show(widget))
    for count in (1, 0, 1, 0):
        widget._view_count = count
    stage.shell.run("b")
    assert not widget.closed


@pytest.mark.parametrize("ends", [False, True], ids=["of the same cell", "of others"])
def test_without_cell_ids_nothing_is_closed(stage, ends):
    widget = FakeWidget("one")
    stage.shell.run(None, stage.show(widget))
    stage.shell.run("b" if ends else None)
    assert not widget.closed


def test_it_keeps_neither_the_widget_nor_its_maker_once_closed(stage):
    widget, owner = FakeWidget("one"), Owner()
    screen, shell = Screen(), stage.shell
    shell.run("a", partial(screen.show, shell, widget, owner.forget))
    known = weakref.ref(owner)
    del owner
    gc.collect()
    assert known() is None
    shell.run("a")
    assert widget.closed
    known = weakref.ref(widget)
    del widget
    gc.collect()
    assert known() is None
