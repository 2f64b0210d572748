"""Programs behind public bug reports: an inspection for each, never an exception of jaxscope's, and what its docstring
asks.

Each expectation is a function of the facts that `tests.cases` collects.
"""

import functools

import jax
import pytest

from tests.cases import examine, examine_apart, load, needs_own_process
from tests.shared import ABSENT, case_files

FILES = {path.name[:3]: path for path in case_files()}

HAS_FRAME_TABLES = jax.__version_info__ >= (0, 9)

pytestmark = [
    pytest.mark.skipif(not FILES, reason=ABSENT),
    # The cases warn on purpose; each stage records what it was warned of.
    pytest.mark.filterwarnings("default"),
]


@functools.cache
def facts_of(number):
    """The facts of a case, worked out once for all tests."""
    path = FILES[number]
    if number == "127":
        pytest.importorskip("flax", reason="Flax is not installed")
    if number == "126":
        pytest.importorskip("equinox", reason="Equinox is not installed")
    return examine_apart(path) if needs_own_process(path.read_text()) else examine(path)


def arguments(facts):
    """``{path: type}`` of the arguments, static values as ``static = value``, weak types with a trailing ``weak``."""
    rows = facts["tables"]["arguments"]["rows"]
    return {row[0]: row[1] for row in rows}


def cost(facts, figure):
    """The cells of a cost row: XLA's figures before and after, note."""
    return next(row[-3:] for row in facts["tables"]["cost"]["rows"] if row[0] == figure)


def counted(facts, figure):
    """jaxscope's own figures of a cost row: asked for, runs."""
    return next(row[1:3] for row in facts["tables"]["cost"]["rows"] if row[0] == figure)


def memory(facts, name):
    """The exact bytes of a memory row, as shown."""
    return next(row[2] for row in facts["tables"]["memory"]["rows"] if row[0] == name)


def notes(facts, table):
    return " ".join(facts["tables"][table]["notes"])


def rows(facts, call):
    """The mismatch rows of a call by path."""
    return {row["path"]: row for row in facts["calls"][call]["rows"]}


def finding(facts, rule):
    """The one finding of a rule."""
    (found,) = [found for found in facts["findings"] if found["rule"] == rule]
    return found


def failed(facts, stage, kind):
    return facts["status"][stage] == "failed" and facts["error"] == kind


EXPECTED = {
    "001": lambda f: "once" in notes(f, "cost") and counted(f, "FLOPs") == ["786 k", "786 k"],
    "003": lambda f: "not known: n1" in notes(f, "cost") and "per iteration" in notes(f, "cost"),
    "005": lambda f: cost(f, "FLOPs")[1] == "3" and cost(f, "Bytes accessed")[1] == "16 B",
    "007": lambda f: f["counts"]["jaxpr"] == 0 and cost(f, "FLOPs")[1] == "—" and memory(f, "Outputs") == "64",
    "008": lambda f: "—" not in cost(f, "FLOPs")[:2] and "—" not in cost(f, "Bytes accessed")[:2],
    "011": lambda f: cost(f, "FLOPs")[1] == "75.3 k",
    "013": lambda f: cost(f, "Transcendentals")[1] == "384" and cost(f, "FLOPs")[1] == "—",
    "014": lambda f: "dearest" in notes(f, "cost"),
    "016": lambda f: memory(f, "Arguments") == "0" and arguments(f) == {"x": "f32[0,8]"},
    "018": lambda f: f["listings"]["hlo"]["folds"].count(["computation", False]) > 1,
    "019": lambda f: (memory(f, "Arguments"), memory(f, "Outputs"), memory(f, "Code")) == ("4", "4", "—"),
    "020": lambda f: (memory(f, "Arguments"), memory(f, "Outputs"), memory(f, "Aliased")) == ("131,072", "65,536", "65,536"),
    "021": lambda f: any("donated buffers were not usable" in text for text in f["warnings"]) and memory(f, "Aliased") == "0",
    "024": lambda f: len(arguments(f)) == 4 and memory(f, "Arguments") == "20,012",
    "026": lambda f: "1 array, 3.81 MiB" in notes(f, "arguments") and len(f["text"]) < 50_000,
    "027": lambda f: "1 array, 39.1 KiB" in notes(f, "arguments") and "stablehlo.iota" in f["listings"]["stablehlo"]["ops"],
    "029": lambda f: "30 arrays" in notes(f, "arguments"),
    "030": lambda f: f["listings"]["stablehlo"]["coverage"][0] >= 3 and len(f["listings"]["stablehlo"]["places"]) >= 2,
    "031": lambda f: (not HAS_FRAME_TABLES or ["locations", True] in f["listings"]["hlo"]["folds"])
    and len(f["listings"]["hlo"]["places"]) == 1,
    "033": lambda f: "<script" in f["text"] and "<script" not in f["html"],
    "034": lambda f: f["listings"]["stablehlo"]["ops"].count("call") > 20 and f["listings"]["hlo"]["paths"],
    "036": lambda f: f["title"].startswith("partial(scale, 3)(x: f32[8])"),
    "037": lambda f: "def __call__" in f["python"] and "(" in f["title"],
    "040": lambda f: f["counts"]["jaxpr"] == 6000 and f["status"]["compile"] == "done",
    "042": lambda f: " at 0x" not in f["text"].replace(" at 0x…", ""),
    "043": lambda f: "custom_vjp_call" in " ".join(f["listings"]["jaxpr"]["ops"]) and f["listings"]["jaxpr"]["folds"],
    "045": lambda f: f["listings"]["stablehlo"]["ops"].count("stablehlo.while") == 2 and len(f["listings"]["jaxpr"]["folds"]) >= 4,
    "046": lambda f: len(arguments(f)) == 1 and "token" in notes(f, "arguments"),
    "048": lambda f: any("No source locations were recorded" in note for note in f["tab_notes"]),
    "049": lambda f: f["title"].startswith("dérivée_α(") and any("couche_日本" in p for p in f["listings"]["hlo"]["paths"]),
    "051": lambda f: "\x1b" not in f["text"] + f["html"],
    "052": lambda f: "052_print_source_info.py:14  " in f["text"] and "/cases/" not in f["text"],
    "053": lambda f: failed(f, "trace", "ValueError") and "Cfg" in f["failure"]["message"] and f["tabs"]["hlo"][0] == "not reached",
    "054": lambda f: arguments(f)["n"] == "static = 3" and not f["calls"]["without static"]["rows"],
    "056": lambda f: list(arguments(f)) == ["xs[0]", "xs[1]", "kw['a']", "kw['b']"],
    "058": lambda f: arguments(f)["x"] == "i32[] weak" and "again" in rows(f, "strong int32")["x"]["note"],
    "059": lambda f: not any(r["verdict"] == "raises" for r in rows(f, "python float").values()),
    "060": lambda f: (
        {"params['b']", "params['c']"} <= set(rows(f, "other key"))
        and any("length" in row["differs"] for row in rows(f, "longer tuple").values())
    ),
    "061": lambda f: set(rows(f, "both wrong")) == {"x", "batch['img']", "batch['lbl']"},
    "063": lambda f: all(call["accepted"] for call in f["calls"].values()),
    "064": lambda f: f["status"]["trace"] == "done" and len(f["tables"]["arguments"]["rows"]) == 1,
    "066": lambda f: {"s.params['p'].w", "s.opt[0]", "s.step"} <= set(arguments(f)),
    "067": lambda f: failed(f, "trace", "ValueError") and "keys" in f["failure"]["message"],
    "069": lambda f: any("float64 → float32" in note and "int64 → int32" in note for note in f["notes"]),
    "071": lambda f: list(arguments(f).values()) == ["f64[3]", "f64[] weak"] and memory(f, "Arguments") == "32",
    "073": lambda f: failed(f, "trace", "OverflowError"),
    "074": lambda f: arguments(f) == {} and memory(f, "Arguments") == "0",
    "076": lambda f: failed(f, "trace", "TypeError") and "returned a value of type <class 'str'>" in f["failure"]["message"],
    "078": lambda f: arguments(f)["key"] == "key<fry>[]" and "u32[2]" in str(f["tables"]["arguments"]["rows"]),
    "080": lambda f: ["float0[3]", "0 B"] in [row[1:3] for row in f["tables"]["outputs"]["rows"]],
    "082": lambda f: memory(f, "Arguments") == "64" and "i4[8,8]" in arguments(f).values(),
    "083": lambda f: f["status"]["compile"] == "done",
    "085": lambda f: len(arguments(f)) == 8 and all(row[2] != "—" for row in f["tables"]["arguments"]["rows"]),
    "086": lambda f: "8 devices" in notes(f, "cost") and "one device" in notes(f, "memory"),
    "087": lambda f: list(arguments(f).values()) == ["f32[8@x,4]"],
    "089": lambda f: failed(f, "trace", "TypeError") and "varying" in f["failure"]["message"],
    "091": lambda f: failed(f, "trace", "TypeError") and "Cannot apply JAX transformations" in f["failure"]["message"],
    "093": lambda f: "partial of a jitted function" in f["notes"][0],
    "097": lambda f: failed(f, "trace", "TypeError") and "not the result of calling it" in f["failure"]["advice"],
    "098": lambda f: failed(f, "trace", "TypeError") and "coroutine" in f["failure"]["message"],
    "099": lambda f: failed(f, "trace", "TracerBoolConversionError") and f["places"][0]["function"] == "fn",
    "100": lambda f: failed(f, "trace", "NonConcreteBooleanIndexError") and f["places"][0]["file"].startswith("100_"),
    "101": lambda f: failed(f, "trace", "TypeError") and "k00" in f["failure"]["message"],
    "104": lambda f: "pallas_call" in f["listings"]["jaxpr"]["ops"] and "once" in notes(f, "cost"),
    "106": lambda f: failed(f, "compile", "JaxRuntimeError") and "no_such_target_xyz" in f["failure"]["message"] and f["counts"]["stablehlo"],
    "107": lambda f: failed(f, "compile", "JaxRuntimeError") and "xla_no_such_flag" in f["failure"]["message"],
    "108": lambda f: failed(f, "trace", "RuntimeError") and "cpu" in f["failure"]["message"],
    "109": lambda f: f["status"]["lower"] == "done" and "Lowered for tpu" in f["tabs"]["hlo"][2],
    "110": lambda f: f["status"]["lower"] == "done" and "several platforms" in f["tabs"]["hlo"][2],
    "111": lambda f: "f32[b,4]" in arguments(f).values() and failed(f, "compile", "ValueError"),
    "114": lambda f: "stablehlo.composite" in f["listings"]["stablehlo"]["ops"],
    "115": lambda f: f["traced"] == 1 and "COUNT.append(1) changes COUNT once" in finding(f, "side-effect")["found"],
    "116": lambda f: f["status"]["compile"] == "done",
    "117": lambda f: failed(f, "trace", "Odd") and "<b>bold</b>" in f["failure"]["message"] and "<b>bold" not in f["html"],
    "118": lambda f: "constant folding" in finding(f, "constant-folding")["found"] and finding(f, "constant-folding")["line"] == 14,
    "121": lambda f: list(arguments(f))[:2] == ["mat.data", "mat.indices"] and not f["calls"]["shape (6,5)"]["accepted"],
    "124": lambda f: f["tables"]["cost"]["rows"] and f["tables"]["memory"]["rows"],
    "126": lambda f: f["counts"]["stablehlo"] and f["counts"]["hlo"] and cost(f, "FLOPs")[1] != "—" and f["tabs"]["jaxpr"][2],
    "127": lambda f: f["counts"]["stablehlo"] and f["counts"]["hlo"],
    "128": lambda f: f["deleted"] is False or not f["calls"],
    "131": lambda f: list(arguments(f)) == ["x"] and any("power=10" in note for note in f["notes"]),
    "132": lambda f: f["status"]["compile"] == "done",
    "133": lambda f: f["status"]["trace"] == "done" and failed(f, "lower", "ValueError"),
    "135": lambda f: list(arguments(f).values()) == ["f32[3]"],
    # Nothing was changed between the trace and the look: see `test_a_stale_capture_is_named`.
    "136": lambda f: "stale-capture" not in [found["rule"] for found in f["findings"]],
    "137": lambda f: list(arguments(f)) == ["args[0]", "args[1]"],
    "138": lambda f: "0xFF800000" in f["text"] and "-inf" in f["text"],
    "141": lambda f: f["status"]["compile"] == "done",
    "142": lambda f: failed(f, "trace", "ValueError") and "__jax_array__" in f["failure"]["message"],
    "146": lambda f: "—" not in (memory(f, "Temporaries"), memory(f, "XLA's peak"), memory(f, "Total")),
    "147": lambda f: "2" in cost(f, "FLOPs")[2] and "call" in cost(f, "FLOPs")[2],
    "149": lambda f: max(map(len, arguments(f).values())) < 120 and len(f["html"]) < 50_000,
    "151": lambda f: "—" not in cost(f, "FLOPs")[:2],
    "152": lambda f: arguments(f)["self"].startswith("static = ") and "f32[4]" in arguments(f).values(),
    "153": lambda f: memory(f, "Aliased") == "12" and not any("jitted for this" in note for note in f["notes"]),
    "154": lambda f: f["status"] == {"trace": "done", "lower": "done", "compile": "unavailable"},
}  # fmt: skip


@pytest.mark.parametrize("number", FILES)
def test_every_case_is_inspected_and_counted_exactly(number):
    facts = facts_of(number)
    for key, counted in facts["counts"].items():
        if facts["oracle"][key] is not None:
            assert counted == facts["oracle"][key], key
    assert facts["text"].startswith(facts["title"])
    assert not facts["broken"]


@pytest.mark.parametrize("number", FILES)
def test_no_text_is_lost_and_none_is_an_error(number):
    assert facts_of(number).get("lossless", True)


@pytest.mark.parametrize("number", FILES)
def test_every_call_is_judged_as_jax_judges_it(number):
    for label, call in facts_of(number)["calls"].items():
        if label == "sds":
            continue  # a ShapeDtypeStruct is judged as an array of its type; JAX itself takes none
        raises = any(row["verdict"] == "raises" for row in call["rows"])
        assert call["accepted"] is not raises, (label, call["rows"])


@pytest.mark.parametrize("number", FILES)
def test_what_the_docstring_asks_for(number):
    facts = facts_of(number)
    assert EXPECTED[number](facts), {
        key: facts[key] for key in ("title", "notes", "status", "tables", "failure", "tab_notes")
    }


def test_every_case_has_an_expectation():
    assert not set(FILES) - set(EXPECTED)


def test_a_leaked_tracer_is_named():
    """Case 116: the first inspection leaves a tracer behind in the user's own list; the second one captures it."""
    import jaxscope

    module = load(FILES["116"])
    jaxscope.inspect(module.fn, *module.args)
    second = jaxscope.inspect(lambda x: module.fn(x), *module.args)
    assert "tracer" in " ".join(second._facts.signature.notes)


def test_a_stale_capture_is_named():
    """Case 136: the array is changed after the first inspection; JAX remembers the program that it made for it."""
    import jaxscope

    module = load(FILES["136"])
    jaxscope.inspect(module.fn, *module.args)
    module.W[:] = 7
    second = jaxscope.inspect(module.fn, *module.args)
    (found,) = [found for found in second._facts.findings.found if found.rule.key == "stale-capture"]
    assert "3 of 3 differ, [0] is 1.0 in the program and 7.0 now" in found.observation.found
