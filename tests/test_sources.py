"""File names and lines are those that people know; the Python side shows real lines under their real numbers."""

import argparse
import functools
import importlib
import inspect
import linecache
import sys
import types

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jaxscope
from jaxscope import _sources
from jaxscope._ir.model import Frame
from jaxscope._sources import code_of, display_name, display_names, is_library, python_listing, source_line

CELL = "/tmp/ipykernel_4242/1185309534.py"
LIBRARY = argparse.__file__
LIBRARY_LINES = inspect.getsource(argparse).split("\n")


def numbers(shown):
    return [line.number for line in shown]


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("/home/me/code/model.py", "model.py"),
        (CELL, "cell 1185309534"),
        ("C:\\Temp\\ipykernel_77\\12.py", "cell 12"),
        ("<ipython-input-3-0a1b2c3d>", "In[3]"),
        ("<stdin>", "<stdin>"),
        ("", ""),
    ],
)
def test_a_file_has_the_name_that_people_know(file, name):
    assert display_name(file) == name


def test_a_cell_that_ipython_knows_has_its_number(monkeypatch):
    shell = types.SimpleNamespace(compile=types.SimpleNamespace(_filename_map={CELL: 7}))
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    assert display_name(CELL) == "In[7]"
    assert display_name(CELL.replace("118", "119")) == "cell 1195309534"


def test_the_real_ipython_numbers_its_cells(tmp_path, monkeypatch):
    interactive = pytest.importorskip("IPython.core.interactiveshell")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    shell = interactive.InteractiveShell.instance()
    try:
        shell.run_cell("def f(x):\n    return x + 1", store_history=True)
        file = shell.user_ns["f"].__code__.co_filename
        assert display_name(file) == "In[1]"
        assert source_line(file, 2) == "    return x + 1"
    finally:
        shell.history_manager.end_session()
        interactive.InteractiveShell.clear_instance()


def test_names_that_clash_get_as_much_of_their_folder_as_tells_them_apart():
    files = ["/a/net/model.py", "/a/old/model.py", "/b/old/model.py", "/a/train.py", "/a/train.py"]
    names = display_names(files)
    assert names == {
        "/a/net/model.py": "net/model.py",
        "/a/old/model.py": "a/old/model.py",
        "/b/old/model.py": "b/old/model.py",
        "/a/train.py": "train.py",
    }


@given(st.lists(st.lists(st.sampled_from("ab"), min_size=1, max_size=4), max_size=8))
def test_different_files_never_share_a_name(paths):
    files = {"/" + "/".join(parts) + ".py" for parts in paths}
    assert len(set(display_names(sorted(files)).values())) == len(files)


def test_a_short_file_is_shown_whole(tmp_path):
    file = tmp_path / "short.py"
    file.write_text("import math\n\n\ndef f(x):\n    return x\n")
    listing, shown = python_listing([Frame(str(file), "f", 5)])
    assert listing.text == file.read_text().rstrip("\n")
    assert numbers(shown) == [1, 2, 3, 4, 5]


def test_blank_lines_at_the_end_are_no_gap(tmp_path):
    file = tmp_path / "short.py"
    file.write_text("def f(x):\n    return x\n\n\n\n")
    assert python_listing([Frame(str(file), "f", 2)])[0].text == "def f(x):\n    return x"


def test_of_a_long_file_the_statements_that_hold_a_frame_are_shown(tmp_path):
    file = tmp_path / "long.py"
    filler = [f"constant_{number} = {number}" for number in range(100)]
    function = ["@staticmethod", "def f(x):", "    # a comment", "    return (", "        x", "    )"]
    file.write_text("\n".join([*filler, *function, *filler]) + "\n")
    listing, shown = python_listing([Frame(str(file), "f", 105)])
    assert listing.text.split("\n") == ["⋯", *function, "⋯"]
    assert numbers(shown) == [0, 101, 102, 103, 104, 105, 106, 0]


@settings(max_examples=30, deadline=None)
@given(st.sets(st.integers(1, len(LIBRARY_LINES)), min_size=1, max_size=6))
def test_every_line_asked_for_is_shown_as_it_stands_in_the_file(wanted):
    listing, shown = python_listing([Frame(LIBRARY, "f", number) for number in wanted])
    assert listing.lines == tuple(line.text for line in shown)
    for line in shown:
        assert line.text == (LIBRARY_LINES[line.number - 1] if line.number else "⋯")
    shown_numbers = [number for number in numbers(shown) if number]
    assert shown_numbers == sorted(set(shown_numbers)), "in order, each once"
    code = {number for number in wanted if LIBRARY_LINES[number - 1].startswith(("    ", "def ", "class "))}
    inside = {number for number in code if LIBRARY_LINES[number - 1].lstrip().startswith(("return", "self.", "def "))}
    assert inside <= set(shown_numbers)


def test_the_function_itself_comes_first_and_libraries_last(tmp_path):
    mine, other = tmp_path / "z_mine.py", tmp_path / "b_other.py"
    library = tmp_path / "site-packages" / "a_library.py"
    library.parent.mkdir()
    for file in (mine, other, library):
        file.write_text("def f(x):\n    return x\n")
    _, shown = python_listing([Frame(str(library), "f", 2), Frame(str(other), "f", 2)], (str(mine), 1))
    headings = [line.text for line in shown if not line.number and line.text != "⋯"]
    assert headings == ["z_mine.py", "b_other.py", "a_library.py"]


def test_a_source_that_is_not_to_be_had_is_left_out():
    listing, shown = python_listing([Frame("<no such string>", "f", 1), Frame("/no/such/file.py", "f", 1)])
    assert listing.text == "" and shown == ()
    assert source_line("/no/such/file.py", 3) == ""


def test_a_cell_is_read_through_linecache_even_with_magics(monkeypatch):
    lines = ["%matplotlib inline\n", *(f"line_{number}\n" for number in range(70))]
    monkeypatch.setitem(linecache.cache, CELL, (100, None, lines, CELL))
    listing, _ = python_listing([Frame(CELL, "f", 3)])
    assert listing.text == "".join(lines).rstrip("\n")


def test_a_module_that_was_edited_and_loaded_again_is_shown_as_it_is_now(tmp_path, monkeypatch):
    file = tmp_path / "edited_module.py"
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    file.write_text("def f(x):\n    return x + 1\n")
    import edited_module

    try:
        assert "x + 1" in jaxscope.inspect(edited_module.f, "f32[3]")._source.text("python")
        file.write_text("# A line more.\ndef f(x):\n    return x * 3 + 7\n")
        importlib.reload(edited_module)
        again = jaxscope.inspect(edited_module.f, "f32[3]")
        assert again._source.text("python") == file.read_text().rstrip("\n")
    finally:
        del sys.modules["edited_module"]


def test_libraries_are_told_from_the_user_files():
    assert is_library("/x/lib/python3.11/site-packages/equinox/nn.py")
    assert not is_library(__file__) and not is_library(CELL)


def test_code_of_functions_and_of_callable_objects():
    class Model:
        def __call__(self, x):
            return x

    assert code_of(Model()) is Model.__call__.__code__
    assert code_of(display_name) is display_name.__code__
    assert code_of(len) is None and code_of(functools.partial(len)) is None


def test_whole_file_limit_is_about_lines_of_text(tmp_path):
    file = tmp_path / "limit.py"
    body = ["def f(x):", "    return x"] + [f"a{number} = 1" for number in range(_sources.WHOLE_FILE_LINES - 2)]
    file.write_text("\n".join(body) + "\n")
    assert len(python_listing([Frame(str(file), "f", 2)])[1]) == _sources.WHOLE_FILE_LINES
    file.write_text("\n".join([*body, "b = 1"]) + "\n")
    assert [line.text for line in python_listing([Frame(str(file), "f", 2)])[1]] == ["def f(x):", "    return x", "⋯"]


def test_cells_in_a_message_are_called_as_people_know_them():
    message = "while tracing the function f at /tmp/ipykernel_4242/1185309534.py:1 for jit."
    assert _sources.name_cells(message) == "while tracing the function f at cell 1185309534:1 for jit."
    assert _sources.name_cells("no cell here: /tmp/model.py:1") == "no cell here: /tmp/model.py:1"
