"""Failures on the screen: the view and the report of every program that fails, marks, and the jaxpr until then.

What was traced until then is compared with the equations that JAX's own trace holds.
"""

import gc
import linecache
import weakref

import jax
import jax.numpy as jnp
import pytest

import jaxscope
from jaxscope import _facts
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._failures.records import Explanation, Mismatch
from jaxscope._jax_failures import class_name, partial_jaxpr
from jaxscope._links import LinkedListing
from jaxscope._render.html import escape, render_fallback
from jaxscope._view import build
from jaxscope._view.failure import failure_view
from jaxscope.errors import UnavailableError
from tests.test_failure_programs import PROGRAMS, explained
from tests.test_text import lost

pytestmark = pytest.mark.filterwarnings("ignore")

DIALECTS = {"trace": "jaxpr", "lower": "stablehlo", "compile": "hlo"}


@pytest.fixture(autouse=True)
def nothing_hidden(monkeypatch):
    monkeypatch.setattr(build, "CONTAIN_FAILURES", False)


def tab_of(view, key):
    return next(tab for tab in view["tabs"] if tab["key"] == key)


def marks_of(view, listing, tone="error"):
    return [mark for mark in view["marks"] if mark["listing"] == listing and mark["tone"] == tone]


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_view_has_all_that_is_known(name):
    inspection, stage, explanation = explained(name)
    view = inspection._source.view
    failure = tab_of(view, DIALECTS[stage])["failure"]
    for field in ("headline", "found", "message", "advice", "page", "traceback"):
        assert failure[field] == getattr(explanation, field)
    told = [f"{each['expression']}: {each['type']}" for each in failure["operands"]]
    assert told == [*map(str, explanation.operands)]
    assert (failure["mismatches"] is None) == (not explanation.mismatches)
    assert not lost(inspection, str(inspection))
    fragment = render_fallback(view)
    assert all(escape(failure[field]).split("`")[0] in fragment for field in ("headline", "found", "advice"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_line_that_failed_is_marked_with_the_types_of_what_it_names(name):
    program = PROGRAMS[name]
    inspection, _, explanation = explained(name)
    view = inspection._source.view
    marks = marks_of(view, "python")
    if program.place is None:
        assert marks == []
        return
    (mark,) = marks
    line = inspection._facts.python_side()[1][mark["line"]]
    assert (line.file, line.number) == program.place
    assert mark["text"] == (explanation.found or explanation.headline)
    assert mark["note"] == (" · ".join(map(str, explanation.operands)) or class_name(type(inspection.error)))
    start = inspection._source.index("python")["start"]
    assert start <= mark["line"] <= start + 12, "it is among the lines that are shown first"


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_was_traced_until_then_is_a_listing_and_no_program(name):
    inspection, stage, _ = explained(name)
    tab = tab_of(inspection._source.view, "jaxpr")
    partial = partial_jaxpr(inspection.error)
    if isinstance(partial, Unavailable):
        assert stage != "trace" or ("lines" not in tab and tab["count"] == "")
        return
    assert inspection._source.text("jaxpr") == inspection.stages["trace"].partial_jaxpr == partial.text
    listing = inspection._facts.partial_listing.listing
    outermost = [number for number, block in enumerate(listing.blocks) if block.parent == -1 and not block.name]
    counts = [sum(op.block == number for op in listing.ops) for number in outermost]
    assert counts == [len(trace.jaxpr.eqns) for trace in partial.traces]
    assert tab["count"].endswith(", up to the failure") and tab["status"] == "failed"
    (mark,) = marks_of(inspection._source.view, "jaxpr")
    assert mark["line"] == len(listing.lines) - 1
    # Nothing takes it for the program.
    with pytest.raises(UnavailableError):
        _ = inspection.jaxpr
    with pytest.raises(UnavailableError):
        _ = inspection.type_changes
    assert len(inspection.ops) == 0 and inspection._facts.available_listings() == []
    assert all(tab_of(inspection._source.view, key)["status"] == "not reached" for key in ("cost", "memory"))


@pytest.mark.parametrize("name", [name for name, program in PROGRAMS.items() if program.stage != "trace"])
def test_the_tabs_of_finished_stages_stay(name):
    inspection, stage, _ = explained(name)
    view = inspection._source.view
    for earlier in ("trace", "lower")[: list(DIALECTS).index(stage)]:
        tab = tab_of(view, DIALECTS[earlier])
        assert (tab["status"], tab["failure"]) == ("done", None)
        assert inspection._source.text(tab["key"]).count("\n") + 1 == tab["lines"]


def test_lines_traced_before_the_failure_are_linked_to_python():
    def f(x):
        y = jnp.sin(x)
        return y @ jnp.ones(4)

    facts = jaxscope.inspect(f, "f32[3]")._facts
    linked = facts.shown_listing("jaxpr")
    lines = {frame.line for frame in linked.stacks.frames}
    first = f.__code__.co_firstlineno
    assert first + 1 in lines and linked.linked_ops >= 1
    with pytest.raises(UnavailableError):
        facts.listing("jaxpr")


def test_a_line_far_below_the_beginning_of_its_function_is_shown_first():
    text = ["def f(x):", *(f"    y{number} = x + {number}" for number in range(40)), "    return x @ x[None]"]
    namespace = {}
    linecache.cache["far.py"] = (0, None, [f"{line}\n" for line in text], "far.py")
    exec(compile("\n".join(text), "far.py", "exec"), namespace)
    inspection = jaxscope.inspect(namespace["f"], "f32[3]")
    (mark,) = marks_of(inspection._source.view, "python")
    assert mark["line"] == 41
    assert inspection._source.index("python")["start"] == 35


def test_callers_of_the_line_that_failed_are_marked_as_such():
    def inner(x):
        return x @ jnp.ones(4)

    def again(x, times):
        return again(x, times - 1) if times else inner(x)

    inspection = jaxscope.inspect(lambda x: again(x, 3), "f32[3]")
    view, rows = inspection._source.view, inspection._facts.python_side()[1]
    assert [rows[mark["line"]].text.strip() for mark in marks_of(view, "python")] == ["return x @ jnp.ones(4)"]
    callers = [rows[mark["line"]].text.strip() for mark in marks_of(view, "python", "muted")]
    assert len(callers) == len(set(callers)) == 2 and callers[0].startswith("return again(x, times - 1)")


def test_a_compilers_failure_marks_the_operation_that_it_names():
    inspection, _, _ = explained("compilers.unregistered_call")
    (mark,) = marks_of(inspection._source.view, "stablehlo")
    assert "custom_call @no_such_target_xyz" in inspection.stablehlo.split("\n")[mark["line"]]


def test_marks_of_another_target_go_by_its_name():
    # Schur decompositions are CPUs' only.
    inspection = jaxscope.inspect(lambda x: jax.lax.linalg.schur(x)[0], "f32[3,3]", targets=["cpu", "rocm"])
    assert inspection.for_target("cpu").error is None
    assert inspection.for_target("rocm").stages["lower"].status == "failed"
    view = inspection._source.view
    assert [mark["listing"] for mark in view["marks"]] == ["python@rocm"]
    assert "jax.lax.linalg.schur" in inspection._facts.python_side()[1][view["marks"][0]["line"]].text


def test_leaves_beyond_a_hundred_are_counted():
    mismatches = tuple(Mismatch(f"c[{number}]", "a", "b", "") for number in range(130))
    told = failure_view(Explanation("H.", "m", "", (), "", kind="carry-type", mismatches=mismatches))["mismatches"]
    assert len(told["rows"]) == 100 and told["notes"] == ["30 more stand in the exception's own words."]
    assert [column["label"] for column in told["columns"]] == ["Path", "Goes in", "Comes out", "How they differ"]


def test_branches_are_called_branches():
    mismatches = (Mismatch("", "f32[3]", "i32[3]", "the dtypes do not match"),)
    told = failure_view(Explanation("H.", "m", "", (), "", kind="branch-types", mismatches=mismatches))["mismatches"]
    labels = [column["label"] for column in told["columns"]]
    assert labels == ["Path", "One branch", "Another branch", "How they differ"]
    assert told["rows"][0]["cells"] == ["the result", "f32[3]", "i32[3]", "the dtypes do not match"]


def test_a_stage_without_a_partial_jaxpr_says_so():
    done = jaxscope.inspect(lambda x: x + 1, "f32[3]").stages
    static, _, _ = explained("arguments.static_list")
    for stage in (done["trace"], done["compile"], static.stages["trace"]):
        with pytest.raises(UnavailableError, match="No function was being traced"):
            _ = stage.partial_jaxpr


def broken(x):
    y = jnp.sin(x)
    return y @ jnp.ones(4)


def test_a_listing_that_cannot_be_printed_says_so_beside_the_failure(monkeypatch):
    def unprintable(_partial):
        raise OverflowError("too wide")

    monkeypatch.setattr(_facts.jaxpr_parser, "parse", unprintable)
    monkeypatch.setattr("jaxscope._jax_failures.PartialJaxpr.printed", unprintable)
    inspection = jaxscope.inspect(broken, "f32[3]")
    tab = tab_of(inspection._source.view, "jaxpr")
    assert tab["failure"]["found"] and "lines" not in tab
    assert "Printing the jaxpr up to the failure: jaxscope itself raised OverflowError: too wide." in tab["notes"][-1]
    assert tab["notes"][-1] in str(inspection)


def test_marks_that_cannot_be_made_take_nothing_with_them(monkeypatch):
    def no_marks(_programs):
        raise OverflowError("too many")

    monkeypatch.setattr(build, "failure_marks", no_marks)
    inspection = jaxscope.inspect(broken, "f32[3]")
    with pytest.raises(OverflowError):
        _ = inspection._source.view
    monkeypatch.setattr(build, "CONTAIN_FAILURES", True)
    view = inspection._source.view
    assert view["marks"] == [] and tab_of(view, "jaxpr")["failure"]["found"]


def test_the_partial_listing_keeps_no_array_alive():
    array = jnp.arange(1000.0)
    held = weakref.ref(array)

    inspection = jaxscope.inspect(broken, array)
    assert isinstance(inspection._facts.partial_listing, LinkedListing)
    assert "f32[1000]" in str(inspection)
    del array
    gc.collect()
    assert held() is None


def test_the_report_marks_the_lines_of_every_target_once():
    text = str(jaxscope.inspect(broken, "f32[3]", targets=["cpu", "rocm"]))
    (line,) = [line for line in text.split("\n") if "return y @ jnp.ones(4)" in line and "✕" in line]
    assert line.endswith("return y @ jnp.ones(4)  ← y: f32[3]")
    assert text.count("Jaxpr up to the failure:") == 2
