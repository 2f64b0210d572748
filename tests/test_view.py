"""The view model is complete, JSON-ready and consistent, while stages run, after they failed, and when a tab breaks."""

import json
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jaxscope
from jaxscope import _facts
from jaxscope._facts import Facts
from jaxscope._inputs import read_request
from jaxscope._programs import Programs
from jaxscope._stages import STAGES, Stage, run_stages
from jaxscope._targets import resolve_target
from jaxscope._view import build
from jaxscope._view.build import build_view
from jaxscope._view.listing import python_tokens
from jaxscope._view.model import LINE_MADE_BY_COMPILER, LINE_WITHOUT_OP, SCHEMA_VERSION, Tab, View
from tests.programs import PROGRAMS

KEYS = ["python", "jaxpr", "stablehlo", "hlo", "llvm_ir_unoptimised", "llvm_ir", "cost", "memory", "types", "findings"]


def two_lines(x, y):
    z = jnp.sin(x) @ y
    return jax.lax.scan(lambda c, _: (c * 2 + z, None), z, None, length=3)[0]


def broken(x):
    return x[x > 0]


@pytest.fixture(autouse=True)
def strict(monkeypatch):
    """Nothing is contained: a tab that breaks breaks the test."""
    monkeypatch.setattr(build, "CONTAIN_FAILURES", False)


@pytest.fixture(scope="module")
def inspection():
    return jaxscope.inspect(two_lines, "f32[4,4]", "f32[4,4]", call=("f32[4,4]", "f32[5,4]"))


def tabs_of(source):
    return {tab["key"]: tab for tab in source.view["tabs"]}


def test_the_view_is_json_and_has_every_key(inspection):
    view = inspection._source.view
    assert json.loads(json.dumps(view)) == view
    assert view["schema"] == SCHEMA_VERSION and set(view) == set(View.__annotations__)
    assert [tab["key"] for tab in view["tabs"]] == KEYS
    for tab in view["tabs"]:
        assert Tab.__required_keys__ <= set(tab) <= set(Tab.__annotations__)
        assert ("lines" in tab) == (tab["kind"] == "listing" and tab["status"] == "done")


def test_tables_are_rectangular_and_every_column_has_help(inspection):
    tables = [table for tab in inspection._source.view["tabs"] for table in tab["tables"]]
    assert {table["key"] for table in tables} >= {"cost", "memory", "mismatches", "arguments", "outputs"}
    for table in tables:
        assert table["rows"] or table["empty"]
        assert all(column["help"] and column["label"] for column in table["columns"])
        for row in table["rows"]:
            assert len(row["cells"]) == len(table["columns"])
            assert all(isinstance(cell, str) and cell for cell in row["cells"][:-1]), "no cell is silently empty"
            assert all(0 <= mark < len(row["cells"]) for mark in row["marks"])


def test_sizes_and_counts_are_those_of_the_texts(inspection):
    for key in ("python", "jaxpr", "stablehlo", "hlo"):
        tab, text = tabs_of(inspection._source)[key], inspection._source.text(key)
        assert (tab["lines"], tab["size_bytes"]) == (len(text.split("\n")), len(text))
    assert inspection._source.text("hlo") == inspection.compiled.as_text()


def check_index(index, text):
    """Every number of an index points at something that is there."""
    lines = text.split("\n")
    for column in ("line_stack", "line_path"):
        assert len(index[column]) == len(lines)
    for stack in index["line_stack"]:
        assert stack in (LINE_WITHOUT_OP, LINE_MADE_BY_COMPILER) or 0 <= stack < len(index["stacks"])
    assert all(-1 <= path < len(index["paths"]) for path in index["line_path"])
    for frame, caller in index["stacks"]:
        assert 0 <= frame < len(index["frames"]) and -1 <= caller < len(index["stacks"])
    for start in range(len(index["stacks"])):
        seen = set()
        while start != -1:
            assert start not in seen, "a walk outwards must end"
            seen.add(start)
            start = index["stacks"][start][1]
    for file, function, line, column, end_line, end_column in index["frames"]:
        # HLO of JAX 0.8 has no names of functions.
        assert index["files"][file] and (index["functions"][function] or jax.__version_info__ < (0, 9))
        assert line >= 1 and min(column, end_line, end_column) >= 0
    for line, end_line, kind, closed in index["folds"]:
        assert 0 <= line < end_line < len(lines) and kind and isinstance(closed, bool)
    for line, end_line in index["spans"]:
        assert 0 <= line < end_line < len(lines)
    assert 0 <= index["start"] < len(lines)
    assert 0 <= index["coverage"][0] <= index["coverage"][1]
    linked = sum(stack >= 0 for stack in index["line_stack"])
    assert not index["coverage"][0] or linked


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_index_points_at_what_is_there(name):
    function, args = PROGRAMS[name]
    source = jaxscope.inspect(function, *args)._source
    for key in ("jaxpr", "stablehlo", "hlo"):
        if tabs_of(source)[key]["status"] == "done":
            check_index(source.index(key), source.text(key))


def test_the_same_file_has_the_same_name_everywhere(inspection):
    source = inspection._source
    for key in ("jaxpr", "stablehlo", "hlo"):
        assert set(source.index(key)["files"]) <= set(source.index("python")["files"]) == {"test_view.py"}


def test_the_python_side_has_real_numbers_and_the_exact_tokens(inspection):
    index, text = inspection._source.index("python"), inspection._source.text("python")
    lines = text.split("\n")
    assert len(lines) == len(index["numbers"]) == len(index["tokens"]) == len(index["line_place"])
    with open(__file__) as file:  # noqa: PTH123
        real = file.read().split("\n")
    for line, number, tokens, place in zip(lines, index["numbers"], index["tokens"], index["line_place"], strict=True):
        assert sum(length for _, length in tokens) == len(line)
        assert (place == -1) == (number == 0)
        assert not number or line == real[number - 1]
    assert lines[index["start"]] == "def two_lines(x, y):"


@given(st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), max_size=30).map(lambda t: "a" + t))
def test_python_tokens_add_up_to_every_line(line):
    for lines in ([line], ["def f():", line, '    """doc', line, '    """']):
        runs = python_tokens(lines)
        assert [sum(length for _, length in run) for run in runs] == list(map(len, lines))


def test_the_browser_gets_the_same_index_and_text(inspection):
    index, text = inspection._source.listing("hlo")
    assert json.loads(index) == inspection._source.index("hlo")
    assert text.decode() == inspection._source.text("hlo")


def test_tabs_follow_the_stages_while_they_run():
    request, target = read_request(two_lines, ("f32[4,4]", "f32[4,4]"), {}), resolve_target()
    facts = Facts(request, target)
    facts.begin()
    states = [[tab["status"] for tab in build_view(Programs(facts))["tabs"]]]
    for stage in run_stages(request, target):
        facts.finish(stage)
        states.append([tab["status"] for tab in build_view(Programs(facts))["tabs"]])
    wait, run, done = "pending", "running", "done"
    ask = "on request"  # what lies below compiled HLO, which no stage is
    assert states == [
        [wait, run, wait, wait, wait, wait, wait, wait],
        [done, done, run, wait, wait, wait, wait, wait],
        [done, done, done, run, wait, wait, wait, wait],
        [done, done, done, done, ask, ask, done, done, done, done],
    ]


def test_the_head_of_a_listing_says_what_is_linked_and_what_cannot_be(inspection):
    tab = tabs_of(inspection._source)["hlo"]
    parameters = sum(" parameter(" in line for line in inspection.hlo.split("\n"))
    assert tab["notes"][-1].endswith(f"; {parameters:,} are parameters.")


def test_what_comes_after_a_failure_is_not_reached():
    tabs = tabs_of(jaxscope.inspect(broken, "f32[8]")._source)
    assert [tabs[key]["status"] for key in ("python", "jaxpr", "stablehlo", "hlo")] == [
        "done",
        "failed",
        "not reached",
        "not reached",
    ]
    failure = tabs["jaxpr"]["failure"]
    assert (failure["places"][0]["file"], failure["places"][0]["text"]) == ("test_view.py", "    return x[x > 0]")
    assert "Jaxpr failed" in tabs["hlo"]["reason"]


def test_a_failure_far_from_the_function_is_shown_on_the_python_side(tmp_path, monkeypatch):
    """The lowering of a callback fails in another file: its lines appear although no equation names them."""
    elsewhere = tmp_path / "elsewhere.py"
    elsewhere.write_text("def fail(*args, **kwargs):\n    raise ValueError('from elsewhere')\n")
    namespace = {}
    exec(compile(elsewhere.read_text(), str(elsewhere), "exec"), namespace)
    monkeypatch.setattr(jax.stages.Traced, "lower", namespace["fail"])
    request, target = read_request(lambda x: x + 1, ("f32[4]",), {}), resolve_target()
    facts = Facts(request, target)
    for stage in run_stages(request, target):
        facts.finish(stage)
        facts.python_side()
    shown = facts.python_side()[1]
    assert [line.number for line in shown if line.file == str(elsewhere)] == [0, 1, 2]


def test_a_reader_that_breaks_leaves_the_other_tabs_alone(monkeypatch):
    def fail(product):
        raise IndexError("<b>no such line</b>")

    monkeypatch.setattr(build, "CONTAIN_FAILURES", True)
    monkeypatch.setitem(_facts._READERS, "stablehlo", fail)
    inspection = jaxscope.inspect(two_lines, "f32[4,4]", "f32[4,4]")
    tabs = tabs_of(inspection._source)
    assert tabs["stablehlo"]["status"] == "failed"
    for words in ("jaxscope itself raised IndexError", "<b>no such line</b>", "report this as a bug"):
        assert words in tabs["stablehlo"]["reason"]
    assert [tabs[key]["status"] for key in ("python", "jaxpr", "hlo", "memory", "types")] == ["done"] * 5
    assert "no such line" in str(inspection)
    assert inspection.stages["lower"].status == "done", "the stage itself did not fail"


def test_nothing_is_contained_when_tests_run_strict(monkeypatch):
    monkeypatch.setitem(_facts._READERS, "stablehlo", lambda product: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        _ = jaxscope.inspect(two_lines, "f32[4,4]", "f32[4,4]")._source.view


def test_a_backend_without_a_text_is_unavailable_and_no_bug():
    request, target = read_request(lambda x: x, ("f32[4]",), {}), resolve_target()
    facts = Facts(request, target)
    for stage in run_stages(request, target):
        facts.finish(stage)
    facts._stages["compile"] = Stage("compile", "done", SimpleNamespace(as_text=lambda: None), 1.0)
    tab = build._contain(lambda facts: build._stage_tab(facts, STAGES[2]), facts, build._tab("hlo", "Compiled HLO"))
    assert tab["status"] == "unavailable" and "the backend gives no text" in tab["reason"]


def test_coverage_counts_every_op_once(inspection):
    for key in ("jaxpr", "stablehlo", "hlo"):
        linked = inspection._facts.listing(key)
        index = inspection._source.index(key)
        assert index["coverage"] == [sum(stack >= 0 for stack in linked.op_stack), len(linked.listing.ops)]
        assert any(
            f"{index['coverage'][0]:,} of {index['coverage'][1]:,}" in note
            for note in tabs_of(inspection._source)[key]["notes"]
        )
