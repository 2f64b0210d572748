"""Exceptions of JAX's own and of the user's become words and places: the user's line first, nothing of jaxscope's."""

import functools
import importlib.util
import inspect
import re
import traceback
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxscope
from jaxscope import _jax
from jaxscope._failures import explain, message_of, places
from jaxscope.errors import UnavailableError

THIS_FILE = __file__


def caught(work):
    """The exception that `work` raises, with its traceback."""
    with pytest.raises(BaseException) as raised:
        work()
    return raised.value


def explained(function, *args, stage="trace", **options):
    """What jaxscope says of the stage of a function that fails."""
    inspection = jaxscope.inspect(function, *args, **options)
    assert inspection.stages[stage].status == "failed"
    return explain(inspection.error, stage)


def branch(x):
    if x.sum() > 0:
        return x
    return -x


def as_integer(x):
    return [1, 2, 3][x[0]]


def to_numpy(x):
    return np.sin(x)


def to_float(x):
    return x * float(x[0])


def mask(x):
    return x[x > 0]


def too_large(x):
    return x


# A function, its argument, the class JAX raises for it, and words of the advice.
JAX_FAILURES = [
    (branch, "f32[3]", "TracerBoolConversionError", "`jax.lax.cond` to choose what runs"),
    (as_integer, "i32[3]", "TracerIntegerConversionError", "jnp.take"),
    (to_numpy, "f32[3]", "TracerArrayConversionError", "the same name in jax.numpy"),
    (to_float, "f32[3]", "ConcretizationTypeError", "static argument"),
    (mask, "f32[3]", "NonConcreteBooleanIndexError", "jnp.where(mask, x, 0)"),
    (too_large, 1 << 40, "OverflowError", "wider type"),
]


@pytest.mark.parametrize(("function", "argument", "kind", "advice"), JAX_FAILURES, ids=[row[2] for row in JAX_FAILURES])
def test_what_jax_raises_is_explained(function, argument, kind, advice):
    explanation = explained(function, argument)
    assert explanation.headline.startswith(f"Tracing the function stopped with {kind}")
    assert advice in explanation.advice
    if function is not too_large:  # it fails before its first line
        code = function.__code__
        place = explanation.frames[0]
        assert (place.file, place.function) == (code.co_filename, code.co_qualname)
        assert code.co_firstlineno < place.line <= code.co_firstlineno + 2


def test_a_leaked_tracer_is_explained():
    kept = []
    jaxscope.inspect(lambda x: kept.append(x) or x, "f32[3]")
    # Inside another trace JAX takes it for a constant; only running it raises.
    explanation = explain(caught(lambda: kept[0] + 1), "trace")
    assert "UnexpectedTracerError" in explanation.headline and "Return it from the function" in explanation.advice


@pytest.mark.parametrize(
    ("stage", "function", "options", "advice"),
    [
        ("trace", jnp.ones(3), {}, "show(f, x), not the result of calling it"),
        ("compile", lambda x: x, {"compiler_options": {"xla_no_such_flag": True}}, "Check the spelling"),
        (
            "compile",
            jax.ffi.ffi_call("no_such_target_xyz", jax.ShapeDtypeStruct((3,), jnp.float32)),
            {},
            "Import or register it first",
        ),
        (
            "trace",
            functools.partial(jax.jit(lambda n, x: x * n, static_argnums=0), jax.ShapeDtypeStruct((3,), jnp.float32)),
            {},
            "Pass the value itself",
        ),
    ],
    ids=["result instead of function", "unknown option", "unregistered call", "type as a value"],
)
def test_what_the_class_does_not_tell_is_read_from_the_message(stage, function, options, advice):
    assert advice in explained(function, "f32[3]", stage=stage, **options).advice


@pytest.mark.parametrize(
    ("message", "advice"),
    [
        # xla_bridge.get_backend, for a platform that JAX did not try to start, and for one that did not start
        ("Unknown backend tpu. Available backends are ['cpu']", "choose with target="),
        ("Backend 'tpu' failed to initialize: no device. Available backends are ['cpu']", "choose with target="),
        ("Unknown backend: 'gpu' requested, but no platforms that are instances of gpu", "no host callback"),
        ("INVALID_ARGUMENT: Custom emitter for no_such_target not found", "leave the call out"),
    ],
)
def test_advice_for_the_messages_of_compilers_that_may_not_be_here(message, advice):
    assert advice in explain(RuntimeError(message), "compile").advice


def test_names_for_sizes_are_no_numbers():
    error = ValueError("Error refining shapes. Define JAX_DUMP_IR_TO to dump the module.")
    assert "Give numbers" in explain(error, "compile").advice


def test_no_advice_is_made_up():
    def f(x):
        raise LookupError("no such layer: dense_7")

    explanation = explained(f, "f32[3]")
    assert (explanation.message, explanation.advice) == ("no such layer: dense_7", "")


def test_a_subclass_of_jaxs_class_gets_the_advice_of_that():
    class Mine(jax.errors.ConcretizationTypeError):
        pass

    Mine.__module__ = "jax.errors"  # as JAX's own later ones will be
    error = Mine.__new__(Mine)
    explanation = explain(error, "trace")
    assert explanation.kind == "concrete-value-needed" and "static argument" in explanation.advice


def test_a_users_subclass_is_the_users_own():
    class Mine(OverflowError):
        pass

    explanation = explain(Mine("x"), "trace")
    assert (explanation.kind, explanation.advice) == ("user-exception", "")


def test_frames_lead_from_the_line_that_raised_to_the_function():
    def inner(x):
        return mask(x)

    def outer(x):
        return inner(x)

    frames = explained(outer, "f32[3]").frames
    assert [frame.function.rpartition(".")[2] for frame in frames[:3]] == ["mask", "inner", "outer"]
    files = {frame.file for frame in frames}
    assert not any("/jaxscope/" in file or "/jax/" in file for file in files), files


def load(folder, source):
    """A module of its own in a folder, so that its frames carry that path."""
    folder.mkdir(parents=True)
    path = folder / "module.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location("module", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_own_lines_come_before_those_of_libraries(tmp_path):
    library = load(tmp_path / "site-packages" / "layers", "def apply(f, x):\n    return f(x)\n")

    def f(x):
        return library.apply(mask, x)

    frames = explained(f, "f32[3]").frames
    assert [frame.function.rpartition(".")[2] for frame in frames if frame.file == THIS_FILE][:2] == ["mask", "f"]
    assert frames[-1].function == "apply"


def test_a_folder_beside_the_package_is_the_users(tmp_path, monkeypatch):
    neighbour = load(tmp_path / "jaxscope_course", "def f(x):\n    raise ValueError('mine')\n")
    own = str(Path(jaxscope.__file__).parent)
    monkeypatch.setattr(places, "PACKAGE", places.PACKAGE.replace(own, str(tmp_path / "jaxscope")))
    (frame, *_) = explain(caught(lambda: neighbour.f(1)), "trace").frames
    assert frame.function == "f" and frame.line == 2


@pytest.mark.parametrize("stage", ["trace", "lower", "compile"])
def test_the_headline_says_what_was_being_done(stage):
    words = {"trace": "Tracing the function", "lower": "Lowering the jaxpr", "compile": "Compiling the StableHLO"}
    headline = explain(caught(lambda: 1 / 0), stage).headline
    line = test_the_headline_says_what_was_being_done.__code__.co_firstlineno + 3
    assert re.fullmatch(rf"{words[stage]}.* stopped with ZeroDivisionError, test_failures.py:{line}\.", headline)


def test_a_notebook_cell_is_not_named_by_its_file():
    code = compile("def f():\n    raise ValueError('x')\n", "/tmp/ipykernel_1/2.py", "exec")
    namespace = {}
    exec(code, namespace)
    explanation = explain(caught(namespace["f"]), "trace")
    assert explanation.headline == "Tracing the function stopped with ValueError."
    assert explanation.frames[0].file == "/tmp/ipykernel_1/2.py"


def test_an_exception_that_cannot_be_formatted_is_explained():
    class Odd(Exception):
        def __str__(self):
            raise RuntimeError("odd")

    explanation = explain(caught(lambda: (_ for _ in ()).throw(Odd())), "trace")
    assert explanation.message == "(the exception's own __str__ raised RuntimeError)"
    assert "Odd" in explanation.headline and "Odd" in explanation.traceback


def test_an_exception_without_words_says_so():
    assert message_of(ValueError()) == message_of(ValueError("  ")) == "(no message)"


def test_the_message_and_the_traceback_are_kept_whole():
    text = "first line\n  second line\n" + "x" * 5000
    error = caught(lambda: (_ for _ in ()).throw(ValueError(text)))
    explanation = explain(error, "trace")
    assert explanation.message == text
    lines = explanation.traceback.splitlines()
    for frame in traceback.extract_tb(error.__traceback__):
        assert any(f'{Path(frame.filename).name}", line {frame.lineno}, in {frame.name}' in line for line in lines)
    assert str(Path(THIS_FILE).parent) not in explanation.traceback


def test_the_cause_is_in_the_traceback():
    def work():
        try:
            1 / 0
        except ZeroDivisionError as error:
            raise ValueError("outer") from error

    assert "ZeroDivisionError" in explain(caught(work), "trace").traceback


def test_the_exception_is_left_as_it_was():
    error = caught(lambda: 1 / 0)
    before = (error.__traceback__, error.__cause__, error.__context__, error.args)
    explain(error, "trace")
    assert (error.__traceback__, error.__cause__, error.__context__, error.args) == before


def test_an_exception_without_a_traceback_has_no_places():
    explanation = explain(ValueError("x"), "trace")
    assert explanation.frames == () and explanation.headline == "Tracing the function stopped with ValueError."


def test_jaxscopes_own_fault_is_not_taken_for_the_compilers(monkeypatch):
    def fail(jaxpr):
        raise IndexError("mine")

    monkeypatch.setattr(_jax, "all_avals", fail)
    stage = jaxscope.inspect(lambda x: x, "f32[3]").stages["compile"]
    assert stage.status == "unavailable" and stage.error is None
    assert "jaxscope itself raised IndexError: mine" in stage.reason and "report this" in stage.reason


def test_an_error_of_jaxscopes_raised_by_the_function_is_the_functions():
    error = UnavailableError("asked of another inspection, inside the function")

    def f(x):
        raise error

    inspection = jaxscope.inspect(f, "f32[3]")
    assert inspection.stages["trace"].status == "failed" and inspection.error is error


def passed_through_finally(x, y):
    try:
        z = x + y
    finally:
        del x
    return z


def passed_through_except(x, y):
    try:
        return x + y
    except TypeError:
        raise


def branch_on_a_name(x, y):
    if y:
        return x
    return y


def negated_attribute(x, y):
    flag = [y]
    return x if not flag[0] else y


@pytest.mark.parametrize(
    ("function", "types", "expression"),
    [
        (passed_through_finally, ("f32[3]", "f32[4]"), "z = x + y"),
        (passed_through_except, ("f32[3]", "f32[4]"), "return x + y"),
        (branch_on_a_name, ("f32[3]", "bool[]"), "y"),
        (negated_attribute, ("f32[3]", "bool[]"), "flag[0]"),
    ],
)
def test_the_code_that_is_named_is_what_raised(function, types, expression):
    """JAX leaves the line of what raised, and the place that the frame has reached since."""
    explanation = jaxscope.inspect(function, *types)._facts.explanation("trace")
    assert explanation.expression == expression
    line = inspect.getsource(function).splitlines()[explanation.frames[0].line - function.__code__.co_firstlineno]
    assert expression in line


@pytest.mark.parametrize(
    ("function", "types", "wrong", "right"),
    [
        (lambda x: jnp.zeros(x.shape[0] / 2), ("f32[4]",), "traced value", "(2.0,)"),
        (lambda x: x << 2, ("f32[4]",), "float32`", "jnp.int32"),
        (lambda x, k: jax.lax.top_k(x, k), ("f32[4]", "i32[]"), "jax.lax.cond", "top_k(x, k)"),
        (lambda x, k: jnp.eye(k), ("f32[4]", "i32[]"), "jnp.eye()", "(JitTracer"),
        (lambda x: jax.debug.print("{y}", x=x), ("f32[4]",), "dict", "'y'"),
        (lambda x: "%f" % x.sum(), ("f32[4]",), "float()", "jax.debug.print"),  # noqa: UP031
        (lambda x: jax.tree_multimap(x), ("f32[4]",), "jax.numpy", "change log"),
    ],
)
def test_nothing_is_said_that_is_not_so(function, types, wrong, right):
    explanation = jaxscope.inspect(function, *types)._facts.explanation("trace")
    told = f"{explanation.found} {explanation.advice}"
    assert wrong not in told
    assert right in told
