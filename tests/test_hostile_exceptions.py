"""Whatever an exception does, it is explained, nothing of it runs, and its words stay text."""

from pathlib import Path

import jax
from hypothesis import example, given, settings
from hypothesis import strategies as st

import jaxscope
from jaxscope._failures import explain
from jaxscope._failures.table import ROWS
from jaxscope._jax_failures import partial_jaxpr
from tests.test_failure_parts import caught


def _raising(second):
    def method(self, *args):
        raise second

    return method


ODD_METHODS = ("__str__", "__repr__", "__getattribute__", "__eq__", "__hash__", "__reduce__", "__class_getitem__")
ODD_ATTRIBUTES = (
    "__traceback__",
    "__cause__",
    "__context__",
    "__notes__",
    "args",
    "name",
    "obj",
    "__class__",
    "__doc__",
)


@settings(max_examples=150, deadline=None)
@given(
    base=st.sampled_from(
        (Exception, BaseException, TypeError, ValueError, KeyError, NameError, AttributeError, OSError, SyntaxError)
    )
    | st.sampled_from(
        (jax.errors.TracerBoolConversionError, jax.errors.JaxRuntimeError, StopIteration, ExceptionGroup)
    ),
    methods=st.sets(st.sampled_from(ODD_METHODS)),
    attributes=st.sets(st.sampled_from(ODD_ATTRIBUTES)),
    second=st.sampled_from([RuntimeError("odd"), SystemExit(3), RecursionError("deep"), GeneratorExit()]),
    message=st.text() | st.sampled_from([row.samples[0] for row in ROWS if row.samples]),
    repeat=st.sampled_from([1, 1, 1, 20_000]),
    module=st.sampled_from(["builtins", "jax.errors", "mine", ""]),
    stage=st.sampled_from(["trace", "lower", "compile"]),
    cycle=st.sampled_from(["", "cause", "context", "long"]),
)
@example(TypeError, {"__str__"}, {"__traceback__"}, SystemExit(3), "x", 1, "builtins", "trace", "cause")
def test_explain_never_raises(base, methods, attributes, second, message, repeat, module, stage, cycle):
    body = {name: _raising(second) for name in methods}
    body |= {name: property(_raising(second)) for name in attributes}
    kind = type("Odd", (base,), {"__module__": module, **body})
    try:
        error = base.__new__(kind, message * repeat, [ValueError()]) if base is ExceptionGroup else base.__new__(kind)
        BaseException.__dict__["args"].__set__(error, (message * repeat,))
    except BaseException:
        return

    def work():
        raise error

    try:
        work()
    except BaseException as raised:
        error = raised
    set_cause, set_context = (BaseException.__dict__[name].__set__ for name in ("__cause__", "__context__"))
    if cycle == "cause":
        set_cause(error, error)
    elif cycle == "context":
        other = ValueError()
        set_context(error, other)
        set_context(other, error)
    elif cycle == "long":
        link = error
        for _ in range(3000):
            following = ValueError()
            set_context(link, following)
            link = following
    explanation = explain(error, stage)
    for text in (explanation.headline, explanation.message, explanation.advice, explanation.found):
        assert type(text) is str
    assert type(explanation.traceback) is str and explanation.headline.endswith(".")
    partial_jaxpr(error)


class Sly(str):
    """Text whose methods do something else."""

    def strip(self, *args):
        raise AssertionError("stripped")

    __contains__ = __getitem__ = __format__ = splitlines = split = strip


def test_text_of_a_users_class_is_taken_as_plain_text():
    class Odd(Exception):
        def __str__(self):
            return Sly("words")

    explanation = explain(Odd(), "trace")
    assert explanation.message == "words" and type(explanation.message) is str


def test_a_traceback_of_a_thousand_frames_is_cut_in_the_middle():
    def deeper(n):
        return deeper(n + 1)

    explanation = explain(caught(lambda: deeper(0)), "trace")
    assert explanation.kind == "recursion"
    assert len(explanation.frames) <= 200


HOSTILE = "<script>alert(1)</script> `x` **y** ${z} {0} %s \x1b[31m"


def test_markup_in_a_failure_is_text(tmp_path):
    def f(x):
        raise ValueError(HOSTILE)

    inspection = jaxscope.inspect(f, "f32[3]")
    explanation = explain(inspection.error, "trace")
    assert explanation.message == HOSTILE
    html = inspection._repr_mimebundle_()["text/html"]
    assert "<script>alert(1)" not in html
    page = tmp_path / "page.html"
    inspection.to_html(page)
    assert "<script>alert(1)" not in Path(page).read_text()


def test_the_words_of_a_message_stay_text_in_the_sentences():
    def f(x):
        return x.astype(HOSTILE)

    inspection = jaxscope.inspect(f, "f32[3]")
    explanation = explain(inspection.error, "trace")
    assert explanation.kind == "dtype-unknown" and "<script>" in explanation.found
    assert "<script>alert(1)" not in inspection._repr_mimebundle_()["text/html"]
