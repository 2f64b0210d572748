"""The report as text: what is jaxscope's own stands in readable golden files; nothing of the view is lost in it.

A golden is a program, ``goldens/text/NAME.py``, whose `make` is given `jaxscope.inspect`, and ``NAME.txt``: the head,
the Python side, what failed and the Types tab. Compilers' texts, figures and messages of JAX differ between versions
and machines and are left out.
"""

import importlib.util
import re
from pathlib import Path
from types import SimpleNamespace

import jax
import pytest

import jaxscope
from jaxscope._render.html import visible
from jaxscope._render.text import FIRST_ROWS, render_text, table_lines
from tests.programs import PROGRAMS
from tests.ui import sample_cost

GOLDENS = Path(__file__).with_name("goldens") / "text"
NAMES = sorted(path.stem for path in GOLDENS.glob("*.py"))
# "jax 0.10.2, jaxlib 0.10.2, jaxscope 0.1.0"
VERSIONS = re.compile(r"jax [0-9.]+, jaxlib [0-9.]+, jaxscope [0-9.]+")
OURS = ("python", "types")


def load(name):
    spec = importlib.util.spec_from_file_location(name, GOLDENS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def own_part(inspection):
    """The report of an inspection without what depends on versions and machines."""
    source = inspection._source
    view = source.view
    for tab in view["tabs"]:
        failure = tab["failure"]
        if failure is not None and not isinstance(inspection.error, ValueError):
            failure["message"] = "(JAX's own words)"
            # JAX's pages have moved.
            failure["page"] = failure["page"].replace("/101/", "/")
        if failure is not None and tab.pop("lines", None):
            # The jaxpr up to the failure is JAX's.
            tab["count"], tab["notes"] = "", []
        for table in tab["tables"]:
            # How a sharding is written is JAX's.
            shown = [number for number, column in enumerate(table["columns"]) if column["key"] != "sharding"]
            table["columns"] = [table["columns"][number] for number in shown]
            for row in table["rows"]:
                row["marks"] = [shown.index(mark) for mark in row["marks"]]
                row["cells"] = [row["cells"][number] for number in shown]
    view["tabs"] = [tab for tab in view["tabs"] if tab["key"] in OURS or tab["failure"] is not None]
    view["versions"] = "VERSIONS"
    view["targets"][0]["label"] = "TARGET"
    return render_text(SimpleNamespace(view=view, index=source.index, text=source.text))


def lost(inspection, text):
    """Every piece of the view and of the Python side that should stand in a report and does not.

    Of tables in several groupings, and of those with a row for every kernel or buffer, these are the first rows and how
    many more there are.
    """
    view = inspection._source.view
    wanted = [view["title"], *view["notes"]]
    for tab in view["tabs"]:
        wanted += [tab["title"], tab["count"], tab["status"] if tab["status"] not in ("done", "pending") else ""]
        wanted += tab["notes"]
        if failure := tab["failure"]:
            wanted += [failure["headline"], failure["found"], failure["advice"], failure["page"], failure["expression"]]
            wanted += failure["message"].split("\n")
            wanted += [f"{each['expression']}: {each['type']}" for each in failure["operands"]]
            if failure["mismatches"] is not None:
                wanted += [cell for row in failure["mismatches"]["rows"] for cell in row["cells"]]
            wanted += [place["text"].strip() for place in failure["places"]]
            wanted += [f"{place['file']}:{place['line']} in {place['function']}" for place in failure["places"]]
        else:
            wanted += tab["reason"].split("\n")
        for figure in tab["figures"]:
            wanted += [figure["label"], figure["value"], figure["note"]]
        for table in tab["tables"]:
            chart = table.get("chart", {"kind": "", "summary": ""})
            rows = table["rows"]
            if "group" in table or chart["kind"] in ("steps", "scatter"):
                wanted.append(f"… {len(rows) - FIRST_ROWS:,} more" if len(rows) > FIRST_ROWS else "")
                rows = rows[:FIRST_ROWS]
            wanted += [table["title"], table["summary"], chart["summary"], *table["notes"]]
            wanted += [column["label"] for column in table["columns"]] if table["rows"] else [table["empty"]]
            wanted += [cell for row in rows for cell in row["cells"]]
        if "lines" in tab and tab["failure"]:
            wanted += inspection._source.text(tab["key"]).split("\n")
    wanted += [mark["note"] for mark in view["marks"]]
    wanted += inspection._source.text("python").split("\n")
    scrubbed = [re.sub(r" at 0x[0-9a-f]{6,}", " at 0x…", visible(piece)) for piece in wanted]
    return [piece for piece in scrubbed if piece.strip() not in text]


@pytest.mark.parametrize("name", NAMES)
def test_the_report_is_the_golden_one(name, update_goldens):
    # JAX 0.8 keeps the places of an earlier caller in what it remembers of jax.numpy's and jax.random's own functions.
    jax.clear_caches()
    inspection = load(name).make(jaxscope.inspect)
    assert not lost(inspection, str(inspection))
    found, path = own_part(inspection), GOLDENS / f"{name}.txt"
    if update_goldens:
        # The source must be there whole, whatever else a change of the renderer did.
        assert [line for line in visible((GOLDENS / f"{name}.py").read_text()).split("\n") if line not in found] == []
        path.write_text(found)
    assert path.is_file(), f"there is no {path.name} yet: make goldens, and look at it"
    assert found == path.read_text(), "if this is meant: make goldens"


def test_every_golden_has_its_program():
    assert {path.stem for path in GOLDENS.glob("*.txt")} == set(NAMES) and len(NAMES) >= 6


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_of_the_view_is_lost(name):
    function, args = PROGRAMS[name]
    inspection = jaxscope.inspect(function, *args)
    assert not lost(inspection, str(inspection))


def test_the_search_for_what_is_lost_finds_it():
    inspection = load("user_error").make(jaxscope.inspect)
    text = str(inspection)
    for piece in ("over 3 heads", "def split_heads(x, heads):", "not reached"):
        assert lost(inspection, text.replace(piece, ""))


def test_the_short_form_is_the_report_without_listings():
    inspection = load("donated_arguments").make(jaxscope.inspect)
    short, whole = repr(inspection).split("\n"), str(inspection).split("\n")
    assert "ENTRY" not in repr(inspection) and "def step" not in repr(inspection)
    remaining = iter(whole)
    assert all(line in remaining for line in short), "the same lines in the same order"


# "12  program.py:17  %3 = stablehlo.sine %arg0 : tensor<8xf32>", the place may be missing or "(compiler)"
NUMBERED = re.compile(r" *([0-9]+)  (?:\S+\.py:[0-9]+|\(compiler\))? *(.*)")


def is_what_is_left_of(shown, line):
    """Whether `shown` is `line` with some characters taken out."""
    rest = iter(line)
    return all(character in rest for character in shown)


@pytest.mark.parametrize("title", ["Jaxpr", "StableHLO", "Compiled HLO"])
def test_lines_of_a_compiler_text_keep_their_number_and_their_order(title):
    inspection = load("donated_arguments").make(jaxscope.inspect)
    text = {"Jaxpr": inspection.jaxpr, "StableHLO": inspection.stablehlo, "Compiled HLO": inspection.hlo}[title]
    section = str(inspection).split(f"== {title}")[1].split("\n\n==")[0]
    rows = [found for line in section.split("\n") if (found := NUMBERED.fullmatch(line))]
    assert len(rows) >= 5
    lines = text.split("\n")
    for row in rows:
        assert is_what_is_left_of(row[2], lines[int(row[1]) - 1]), row[0]
    numbers = [int(row[1]) for row in rows]
    assert numbers == sorted(set(numbers))
    # What is missing is blank or a table of locations.
    for number in set(range(1, len(lines) + 1)) - set(numbers):
        assert re.match(r"$|#loc|File|Function|Stack|[0-9]+ [{\"]", lines[number - 1]), lines[number - 1]


def table(columns, rows, **fields):
    """A table of the view with the given (label, align) columns and (cells, tone, marks) rows."""
    return {
        "key": "t",
        "title": "Title",
        "source": "",
        "summary": "",
        "tone": "",
        "columns": [{"key": k, "label": k, "align": a, "code": False, "help": ""} for k, a in columns],
        "rows": [{"cells": cells, "tone": tone, "marks": marks} for cells, tone, marks in rows],
        "notes": [],
        "empty": "Nothing.",
        **fields,
    }


def test_columns_are_aligned_and_errors_marked():
    rows = [(["x", "1"], "", []), (["longer", "12,345"], "error", [1]), (["y", "2"], "warning", [1])]
    lines = list(table_lines(table([("Name", "left"), ("Bytes", "right")], rows, source="XLA", notes=["once"])))
    assert lines == [
        "Title (XLA)",
        "  Name       Bytes",
        "  x              1",
        "  longer  12,345 ✕",
        "  y              2",
        "note: once",
    ]


def test_of_tables_in_several_groupings_the_first_rows_are_shown():
    rows = [([f"x{number}"], "", []) for number in range(12)]
    grouped = list(table_lines(table([("Name", "left")], rows, group="cost", choice="name")))
    assert grouped == ["Title", "  Name", *(f"  x{number}" for number in range(FIRST_ROWS)), "  … 2 more"]
    assert len(list(table_lines(table([("Name", "left")], rows)))) == 14


@pytest.mark.parametrize(("kind", "shown"), [("stack", 12), ("scatter", FIRST_ROWS), ("steps", FIRST_ROWS)])
def test_a_picture_is_a_sentence(kind, shown):
    rows = [([f"x{number}"], "", []) for number in range(12)]
    lines = list(table_lines(table([("Name", "left")], rows, chart={"kind": kind, "summary": "Up, then down."})))
    assert lines[1] == "Up, then down."
    assert sum(line.startswith("  x") for line in lines) == shown


def test_figures_come_first():
    text = render_text(sample_cost.costs(), listings=False)
    report = text[text.index("== Cost") : text.index("Cost by Python line")].split("\n")
    assert report == [
        "== Cost · 34.6 MFLOP ==",
        "  FLOPs            34.6 MFLOP (with loops counted · XLA reports 34.6)",
        "  bytes accessed   2.10 MiB (by 3 kernels)",
        "  transcendentals  131 k (exp)",
        "  intensity        16.5 FLOP/B (memory-bound on v5e (ridge 241))",
        "",
        "",
    ]


def test_an_empty_table_says_so():
    assert list(table_lines(table([("Name", "left")], []))) == ["Title", "Nothing."]


def test_a_message_with_addresses_is_the_same_in_every_run():
    def f(x):
        raise ValueError(f"{object()} and {f}")

    text = str(jaxscope.inspect(f, "f32[3]"))
    assert "<object object at 0x…> and <function" in text and not re.search(r" at 0x[0-9a-f]", text)


def test_control_codes_never_reach_the_terminal(tmp_path):
    file = tmp_path / "odd.py"
    file.write_text("def label(x, text):\n    return x  # \u202eback\u200b and \x1b[31mred\n")
    namespace = {}
    exec(compile(file.read_text(), str(file), "exec"), namespace)
    inspection = jaxscope.inspect(jax.jit(namespace["label"], static_argnums=1), "i8[3]", "\x1b[31m \u202e")
    for text in (str(inspection), repr(inspection), inspection.to_text(times=True)):
        assert "\x1b" not in text and "\u202e" not in text and "\u200b" not in text
    assert "⟨U+202E⟩back⟨U+200B⟩ and ⟨U+001B⟩[31mred" in str(inspection)


def test_versions_are_in_the_head():
    assert VERSIONS.fullmatch(str(jaxscope.inspect(lambda x: x, "f32[3]")).split("\n")[2])
