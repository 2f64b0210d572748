"""Programs that fail, each explained: the stage, the user's line, the kind, what to do, the operands at that line.

The truth is what the programs' authors marked in them (`tests/failure_programs`), and where they fail is up to JAX.
"""

import functools
import importlib.util
import re
from pathlib import Path

import jax
import pytest

import jaxscope
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._failures.table import ROWS
from jaxscope._jax_failures import partial_jaxpr
from tests.failure_programs import programs
from tests.shared import ABSENT, case_files
from tests.test_cases import facts_of

PROGRAMS = {
    program.name: program
    for program in programs()
    if jax.__version_info__ >= program.since and (not program.needs or importlib.util.find_spec(program.needs))
}

pytestmark = pytest.mark.filterwarnings("ignore")

# What is recognised and cannot be brought about on every machine, or in every version of JAX; their rows have samples.
WITHOUT_PROGRAM = {
    "abstract-mesh",  # case 133
    "argument-protocol",  # case 142
    "compiler-aborted",
    "interrupted",
    "manual-axes",
    "mesh-axis-type",
    "symbolic-dimension",
}


@functools.cache
def explained(name):
    """The inspection of a program and the explanation of the stage that failed."""
    program = PROGRAMS[name]
    inspection = jaxscope.inspect(program.make(), *program.args, **program.kwargs, **program.options)
    failed = [key for key, stage in inspection.stages.items() if stage.status == "failed"]
    assert len(failed) == 1, {key: stage.status for key, stage in inspection.stages.items()}
    return inspection, failed[0], inspection._facts.explanation(failed[0])


def test_there_are_enough_programs():
    assert len(PROGRAMS) >= 150
    assert len({program.kind for program in PROGRAMS.values()}) >= 60
    assert len(PROGRAMS) == len({program.name for program in PROGRAMS.values()})


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_failure_is_explained(name):
    program = PROGRAMS[name]
    inspection, stage, explanation = explained(name)
    assert stage == program.stage
    places = [(frame.file, frame.line) for frame in explanation.frames]
    assert places[:1] == ([program.place] if program.place else []), places
    assert explanation.kind == program.kind, explanation.message
    if program.hint:
        assert program.hint in explanation.advice
        assert explanation.found
    else:
        assert explanation.advice == ""
    assert set(program.operands) <= {str(operand) for operand in explanation.operands}
    # The original words and the exception itself are kept.
    assert explanation.message == jaxscope._failures.message_of(inspection.error)
    assert "jaxscope/" not in explanation.traceback


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_stages_before_are_kept(name):
    inspection, stage, _ = explained(name)
    keys = list(inspection.stages)
    for earlier in keys[: keys.index(stage)]:
        assert inspection.stages[earlier].status == "done"
    for later in keys[keys.index(stage) + 1 :]:
        assert inspection.stages[later].status == "not reached"


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_line_is_shown_in_the_python_pane_and_in_every_report(name):
    program = PROGRAMS[name]
    inspection, _, _ = explained(name)
    if program.place is None:
        return
    file, line = program.place
    shown = {(row.file, row.number) for row in inspection._facts.python_side()[1]}
    assert (file, line) in shown
    assert f"{Path(file).name}:{line}" in str(inspection)


@pytest.mark.parametrize("name", [name for name, program in PROGRAMS.items() if program.hint])
def test_the_sentences_are_finished(name):
    _, _, explanation = explained(name)
    for sentence in (explanation.headline, explanation.found, explanation.advice):
        assert re.match(r"[A-Z`'\d(]", sentence), sentence
        assert sentence.endswith("."), sentence
        assert "\n" not in sentence and "  " not in sentence, sentence
        assert ".." not in sentence.replace("...", ""), sentence
    assert len(explanation.found) < 600


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_equations_up_to_the_failure_are_there_where_tracing_had_begun(name):
    program = PROGRAMS[name]
    inspection, stage, _ = explained(name)
    partial = partial_jaxpr(inspection.error)
    if stage == "trace" and program.has_begun:
        assert not isinstance(partial, Unavailable), partial.reason
        assert len(re.findall(r"(?m)^\{ lambda ", partial.text)) == len(partial.traces) >= 1
        outermost = partial.traces[0]
        assert (outermost.function, outermost.purpose) == (program.name.rpartition(".")[2], "jit")
    else:
        assert partial == Unavailable("No function was being traced when this was raised.")


def test_every_kind_has_a_program():
    kinds = {row.kind for row in ROWS}
    assert kinds - {program.kind for program in programs()} == WITHOUT_PROGRAM


# Case: stage, kind, the line that comes first (0: none), words of what to do.
CASES = {
    "053": ("trace", "static-unhashable", 11, "frozen=True"),
    "067": ("trace", "unsortable-keys", 8, "keys of one type"),
    "073": ("trace", "integer-overflow", 8, "jax_enable_x64"),
    "076": ("trace", "result-not-an-array", 9, "Return arrays"),
    "089": ("trace", "carry-type", 12, "jax.lax.pcast"),
    "091": ("trace", "compiled-transformed", 10, "before it was compiled"),
    "097": ("trace", "not-callable", 0, "show(f, x)"),
    "098": ("trace", "result-coroutine", 9, "plain function"),
    "099": ("trace", "tracer-to-bool", 9, "jax.lax.cond"),
    "100": ("trace", "boolean-mask", 9, "size=4"),
    "101": ("trace", "carry-type", 11, "x.astype"),
    "106": ("compile", "custom-call-missing", 12, "register"),
    "107": ("compile", "compiler-option", 0, "spelling"),
    "108": ("trace", "backend-missing", 9, "target="),
    "111": ("compile", "symbolic-shape", 0, "numbers"),
    "117": ("trace", "user-exception", 13, ""),
    "133": ("lower", "abstract-mesh", 0, "target="),
    "142": ("trace", "argument-protocol", 11, "jnp.asarray"),
}
FILES = {path.name[:3]: path for path in case_files()}


@pytest.mark.skipif(not FILES, reason=ABSENT)
@pytest.mark.parametrize("number", CASES)
def test_the_cases_that_fail_are_explained(number):
    stage, kind, line, words = CASES[number]
    explained = facts_of(number)["explained"][stage]
    assert explained["kind"] == kind
    assert [place for _, place in explained["places"]][:1] == ([line] if line else [])
    assert words in explained["advice"]


@pytest.mark.skipif(not FILES, reason=ABSENT)
def test_no_failing_case_is_left_out():
    """Those whose docstring says where they fail, but for what jaxscope gets right where JAX alone fails."""
    failing = {
        number for number, path in FILES.items() if re.search(r"\n  fails at (trace|lower|compile):", path.read_text())
    }
    # 064: in a pytree class of the user's; 110: refused before the compiler; 127, 152: not failures with jaxscope.
    assert failing - set(CASES) <= {"064", "110", "126", "127", "152"}


@pytest.mark.skipif(not FILES, reason=ABSENT)
def test_a_carry_of_forty_leaves_is_told_leaf_by_leaf():
    told = facts_of("101")["explained"]["trace"]
    assert told["mismatches"] == [[f"c['k{number:02d}']", "int32[2]", "float32[2]"] for number in range(40)]
    assert told["found"].count("goes in as") == 3 and "and 37 more" in told["found"]


@pytest.mark.skipif(not FILES, reason=ABSENT)
def test_a_carry_that_varies_over_other_axes_is_told_so():
    (mismatch,) = facts_of("089")["explained"]["trace"]["mismatches"]
    assert mismatch[:2] == ["c", "float32[2]"] and mismatch[2] in ("float32[2]{V:i}", "float32[2]{i}")


def test_the_sizes_that_a_product_sums_over_are_numbers():
    """JAX writes tuples, of one size each nearly always."""
    assert "sizes 3 and 4." in explained("shapes.matmul")[2].found
