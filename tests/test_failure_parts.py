"""The parts of an explanation: the table of recognisers, the place in the code, its operands, the equations so far.

Nothing of anybody's program may run while a failure is looked at, and none may make `explain` raise.
"""

import ast
import builtins
import contextlib
import importlib
import inspect
import re
import string
import sys
from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import jaxscope
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._failures import explain
from jaxscope._failures.control_flow import mismatches
from jaxscope._failures.operands import operands_of
from jaxscope._failures.records import Failure
from jaxscope._failures.sites import Position, Site, returns_of, site_at
from jaxscope._failures.table import ROWS, recognise
from jaxscope._ir import jaxpr
from jaxscope._jax_failures import partial_jaxpr


def caught(work: Callable[[], object]) -> BaseException:
    """The exception that `work` raises, with its traceback."""
    with pytest.raises(BaseException) as raised:
        work()
    return raised.value


# The table.


def fields_of(text):
    """The names that a template asks for."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name} if isinstance(text, str) else set()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.kind)
def test_a_row_recognises_its_samples(row):
    assert bool(row.pattern) == bool(row.samples), "a pattern without a sample, or a sample without a pattern"
    asked = fields_of(row.found) | fields_of(row.advice) | fields_of(row.page)
    for sample in row.samples:
        match = row._compiled.search(sample)
        assert match is not None, sample
        for name in asked - {"expression"}:
            assert match[name], f"{name} is empty in {sample!r}"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.kind)
def test_no_row_takes_the_samples_of_another_kind(row):
    for sample in row.samples:
        site = Site("f(x)", None, row.forms[:1])
        for name in row.classes or ("ValueError",):
            diagnosis = recognise(Failure((name, "Exception"), sample, site=site))
            assert diagnosis is not None and diagnosis.kind == row.kind, (name, diagnosis)


def test_rows_name_classes_that_exist():
    known = {"CompilerError", "InconclusiveDimensionOperation"}  # jaxscope's own; public in JAX since 0.10
    for row in ROWS:
        for name in row.classes:
            assert name in known or hasattr(jax.errors, name) or hasattr(builtins, name), name


def test_rows_name_functions_of_jax_that_exist():
    """An advice that names something of JAX's names it right, in this version or says in which."""
    for module in ("experimental.checkify", "interpreters.ad", "interpreters.batching", "interpreters.mlir", "scipy"):
        importlib.import_module(f"jax.{module}")
    # `jnp.maximum` and `jax.lax.cond` in a sentence, and the pages; not `jax.lax.{loop}`.
    texts = [text for row in ROWS for text in (row.found, row.advice, row.page) if isinstance(text, str)]
    names = {name for text in texts for name in re.findall(r"\b(?:jax|jnp)(?:\.[a-zA-Z_]+)+(?![.\w{])", text)}
    assert len(names) > 80
    missing = {name for name in names if not exists(name)}
    assert missing <= {
        "jax.lax.pcast",
        "jax.lax.pvary",
        "jax.numpy.ndarray.at",
        "jax.reshard",
        "jax.sharding.reshard",
    }, missing


def exists(name):
    """Whether `name` can be looked up from jax or jax.numpy."""
    owner = jnp if name.startswith("jnp.") else jax
    for part in name.split(".")[1:]:
        if not hasattr(owner, part):
            return False
        owner = getattr(owner, part)
    return True


def test_words_of_a_message_are_not_looked_at_again():
    text = "data type '{expression.__class__} {0} {{' not understood"
    diagnosis = recognise(Failure(("TypeError",), text))
    assert diagnosis.found == "There is no type called '{expression.__class__} {0} {{'."


def test_what_a_user_raises_is_not_read():
    failure = Failure(("TypeError",), "data type 'flot32' not understood", is_raised=True)
    assert recognise(failure).kind == "user-exception"


# The mismatching leaves.


TREES = [
    (lambda: ({"a": jnp.float32(0), "b": (jnp.int32(0), jnp.zeros(3))}), lambda c: {**c, "a": jnp.int32(1)}),
    (lambda: (jnp.zeros(2), [jnp.int32(0)]), lambda c: (c[0][:1], [c[1][0] + 0.5])),
    (lambda: jnp.zeros((2, 2)), lambda c: c.astype(jnp.bfloat16)),
]


@pytest.mark.parametrize(("start", "body"), TREES, ids=["one of a dict", "two in a list", "an array"])
def test_the_leaves_that_differ_are_those_whose_types_do(start, body):
    """Compared with the types that JAX itself works out for the body."""
    before, after = jax.eval_shape(start), jax.eval_shape(body, jax.eval_shape(start))
    leaves, _ = jax.tree_util.tree_flatten_with_path(before)
    wanted = [
        (jax.tree_util.keystr(path), old, new)
        for (path, old), new in zip(leaves, jax.tree.leaves(after), strict=True)
        if (old.shape, old.dtype) != (new.shape, new.dtype)
    ]
    error = caught(lambda: jax.lax.scan(lambda carry, _: (body(carry), None), start(), None, length=2))
    found = mismatches(str(error))
    assert [item.path for item in found] == [f"carry{path}" for path, _, _ in wanted]
    for item, (_, old, new) in zip(found, wanted, strict=True):
        assert item.left == f"{old.dtype}[{','.join(map(str, old.shape))}]"
        assert item.right == f"{new.dtype}[{','.join(map(str, new.shape))}]"
        assert ("dtypes" in item.reason) == (old.dtype != new.dtype)
        assert ("shapes" in item.reason) == (old.shape != new.shape)


def test_branches_are_compared_at_their_paths():
    error = caught(
        lambda: jax.lax.cond(True, lambda: {"a": 1.0, "b": jnp.zeros(2)}, lambda: {"a": 1.0, "b": jnp.zeros(3)})
    )
    (item,) = mismatches(str(error))
    assert (item.path, item.left, item.right) == ("['b']", "float32[2]", "float32[3]")


# The operands of the code, and its form.


class Shouting:
    """An object none of whose methods may be called."""

    def __getattribute__(self, name):
        raise AssertionError(f"asked for {name}")

    def __repr__(self):
        raise AssertionError("printed")

    def __eq__(self, other):
        raise AssertionError("compared")

    __hash__ = None
    __str__ = __format__ = __bool__ = __len__ = __iter__ = __array__ = __jax_array__ = __repr__


class ShoutingDict(dict):
    """A mapping of the user's own."""

    __getitem__ = get = items = __iter__ = __contains__ = Shouting.__repr__


class LoudMeta(type):
    """A metaclass that answers to nothing."""

    def __getattribute__(cls, name):
        raise AssertionError(f"asked the class for {name}")

    def __instancecheck__(cls, instance):
        raise AssertionError("isinstance")


class Loud(metaclass=LoudMeta):
    """Its instances may be looked at only through `type`."""


class Layer:
    """Keeps an array, and computes another one."""

    def __init__(self):
        self.w = jnp.zeros((3, 4))
        self.parts = [jnp.zeros(2), {"b": np.zeros(5, np.int8)}]

    @property
    def computed(self):
        raise AssertionError("computed")

    def __getattr__(self, name):
        raise AssertionError(f"asked for {name}")


def operands_at_line(source, **variables):
    """The operands of an expression in a function's frame with these variables."""
    names = ", ".join(variables)
    code = compile(f"def f({names}):\n    return sys._getframe()\n", "<test>", "exec")
    scope = {"sys": sys}
    exec(code, scope)
    frame = scope["f"](**variables)
    return [str(operand) for operand in operands_of(ast.parse(source, mode="eval").body, frame)]


X = jnp.zeros((2, 3))


@pytest.mark.parametrize(
    ("source", "variables", "wanted"),
    [
        ("x @ w", {"x": X, "w": np.zeros(3)}, ["x: f32[2,3]", "w: f64[3]"]),
        ("f(x, y=x, z=n)", {"x": X, "n": 3, "f": print}, ["x: f32[2,3]", "n: int = 3"]),
        ("x.sum(axis=a)", {"x": X, "a": None}, ["x: f32[2,3]", "a: None"]),
        ("x.T[0].mean()", {"x": X}, ["x: f32[2,3]"]),
        ("layer.w @ layer.parts[0]", {"layer": Layer()}, ["layer.w: f32[3,4]", "layer.parts[0]: f32[2]"]),
        ("layer.parts[1]['b']", {"layer": Layer()}, ["layer.parts[1]['b']: i8[5]"]),
        ("layer.computed + layer.missing", {"layer": Layer()}, []),
        ("p['w'] + p[-1]", {"p": {"w": X, -1: 2.5}}, ["p['w']: f32[2,3]", "p[-1]: float = 2.5"]),
        ("g(p)", {"p": {"w": X, "b": (X, [1])}}, ["p: {w: f32[2,3], b: (f32[2,3], [int = 1])}"]),
        ("g(lambda x: x + y)", {"x": X, "y": 1j}, ["y: complex = 1j"]),
        ("[x + y for x in xs]", {"x": X, "y": True, "xs": [X]}, ["y: bool = True", "xs: [f32[2,3]]"]),
        ("a + b + c", {"a": Shouting(), "b": ShoutingDict(w=X), "c": Loud()}, []),
        ("a.d + b.d", {"a": Shouting(), "b": Layer()}, []),
        ("a[0] + b['w'] + c.d", {"a": Shouting(), "b": ShoutingDict(w=X), "c": Loud()}, []),
        ("[a, b]", {"a": [Shouting(), X], "b": {Loud: X, "k": Loud()}}, ["a: […, f32[2,3]]"]),
        ("s + t", {"s": "<b>text</b>", "t": jax.ShapeDtypeStruct((4,), jnp.bfloat16)}, ["s: str", "t: bf16[4]"]),
        ("n", {"n": 1 << 4000}, ["n: int"]),
        ("x", {"x": np.array(["a"])}, ["x: array of str32"]),
    ],
)
def test_operands_are_what_the_expression_names(source, variables, wanted):
    found = operands_at_line(source, **variables)
    if source == "[a, b]":  # a dict with a class for a key shows what it can
        found = found[:1]
    assert found == wanted


def test_a_random_key_is_an_array():
    (words,) = operands_at_line("k", k=jax.random.key(0))
    assert words == "k: key<fry>[]"


def test_a_tracers_type_is_that_of_its_own_trace():
    seen = []

    def f(x):
        def inner(row):
            seen.append(operands_at_line("x + row", x=x, row=row))
            return row

        return jax.vmap(inner)(x) + jax.grad(lambda y: (inner(y), y.sum())[1])(x)

    jax.make_jaxpr(f)(jnp.zeros((4, 3)))
    assert seen == [["x: f32[4,3]", "row: f32[3]"], ["x: f32[4,3]", "row: f32[4,3]"]]


def test_weak_types_are_marked():
    seen = []
    jax.make_jaxpr(lambda x: seen.append(operands_at_line("x", x=x)) or x)(1.0)
    assert seen == [["x: f32[] weak"]]


def test_variables_of_a_class_body_are_left_alone():
    class Spaces(type):
        @classmethod
        def __prepare__(mcs, name, bases):
            return Namespace()

    class Namespace(dict):
        def __getitem__(self, key):
            if key == "x":
                raise AssertionError("looked up")
            return dict.__getitem__(self, key)

    def work():
        class Model(metaclass=Spaces):
            frame = sys._getframe()

        return Model

    frame = work().__dict__["frame"]
    assert operands_of(ast.parse("x", mode="eval").body, frame) == ()


FORMS = [
    ("def f(x):\n    if x.sum() > 0:\n        pass\n", "x.sum() > 0", "if"),
    ("while g(x):\n    pass\n", "g(x)", "while"),
    ("assert g(x), 'no'\n", "g(x)", "assert"),
    ("y = a and b\n", "a and b", "and"),
    ("y = not b\n", "not b", "not"),
    ("y = 0 < x < 1\n", "0 < x < 1", "chained comparison"),
    ("y = x in z\n", "x in z", "in"),
    ("y = max(x, 0)\n", "max(x, 0)", "call max"),
    ("y = [v for v in z if v > 0]\n", "v > 0", "if"),
    ("y = 1 if é > 0 else 2\n", "é > 0", "if"),
    ("raise ValueError(x)\n", "ValueError(x)", "raise"),
    ("for i in range(n):\n    pass\n", "range(n)", "call range"),
]


@pytest.mark.parametrize(("source", "text", "form"), FORMS, ids=[row[2] + " " + row[1] for row in FORMS])
def test_the_form_of_the_code_is_told(tmp_path, source, text, form):
    file = tmp_path / "code.py"
    file.write_text(source, encoding="utf-8")
    line = next(number for number, words in enumerate(source.split("\n"), 1) if text in words)
    words = source.split("\n")[line - 1].encode()
    column = words.index(text.encode())
    site = site_at(str(file), Position(line, line, column, column + len(text.encode())))
    assert site.text == text and form in site.forms
    assert ast.unparse(site.node) == ast.unparse(ast.parse(text, mode="eval").body)


def test_an_assignment_is_shown_with_what_is_assigned(tmp_path):
    file = tmp_path / "code.py"
    file.write_text("x[0] = y\n")
    site = site_at(str(file), Position(1, 1, 0, 4))
    assert site.text == "x[0] = y" and "assignment" in site.forms


@pytest.mark.parametrize("source", ["%matplotlib inline\nf(x)\n", "f(x\n", "\x00", "f(" * 3000 + "x"])
def test_code_that_is_no_python_has_a_text_only(tmp_path, source):
    file = tmp_path / "code.py"
    file.write_text(source)
    lines = source.split("\n")
    site = site_at(str(file), Position(1, 1, 0, len(lines[0])))
    assert site.forms == ()
    assert site_at(str(file), Position(99, 99, 0, 1)).text == ""


def test_the_returns_of_a_function_are_its_own():
    def f(x):
        def g(y):
            return y

        if x:
            return g(x)
        return [lambda: 1]

    first = inspect.getsourcelines(f)[1]
    assert sorted(returns_of(__file__, first)) == [first + 5, first + 6]


# The equations up to the failure.

STEPS = [
    ("sin", jnp.sin),
    ("exp", jnp.exp),
    ("mul", lambda x: x * 2.0),
    ("reshape", lambda x: x.reshape(3, 2)),
    ("transpose", lambda x: x.T),
    ("constant", lambda x: x + np.arange(3, dtype=np.float32)),
]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(STEPS[:3] + STEPS[5:]), max_size=6), st.integers(0, 2))
def test_the_equations_are_those_of_the_function_cut_short(steps, inner):
    """JAX's own jaxpr of the same steps without what fails."""

    def cut_short(x):
        for _, step in steps:
            x = step(x)
        return x

    def fails(x):
        x = cut_short(x)
        return x.block if inner == 0 else x[:, None, None].nothing if inner == 1 else float(x.sum())

    x = jax.ShapeDtypeStruct((3,), jnp.float32)
    error = caught(lambda: jax.jit(fails).trace(x))
    partial = partial_jaxpr(error)
    wanted = jax.make_jaxpr(cut_short)(x)
    got = partial.traces[0].jaxpr
    primitives = [equation.primitive.name for equation in wanted.jaxpr.eqns]
    assert [equation.primitive.name for equation in got.jaxpr.eqns][: len(primitives)] == primitives
    assert [v.aval for e in got.jaxpr.eqns[: len(primitives)] for v in e.outvars] == [
        v.aval for e in wanted.jaxpr.eqns for v in e.outvars
    ]
    assert len(got.jaxpr.eqns) <= len(primitives) + 2  # what came before the failure in the failing expression
    assert [v.aval for v in got.jaxpr.invars] == [v.aval for v in wanted.jaxpr.invars]
    made = [variable for equation in got.jaxpr.eqns for variable in equation.outvars]
    used = [atom for equation in got.jaxpr.eqns for atom in equation.invars]
    assert list(got.jaxpr.outvars) == [variable for variable in made if not any(atom is variable for atom in used)]
    assert len(partial.traces) == 1 and str(got).startswith("{ lambda ")


def test_open_functions_are_told_outermost_first():
    def body(carry, x):
        y = jnp.sin(x)
        if y > 0:
            return carry, x
        return carry, y

    def f(xs):
        scaled = xs * 3.0
        return jax.lax.scan(body, 0.0, scaled)

    partial = partial_jaxpr(caught(lambda: jax.jit(f).trace(jax.ShapeDtypeStruct((4,), jnp.float32))))
    assert [(trace.function, trace.purpose) for trace in partial.traces] == [("f", "jit"), ("body", "scan")]
    assert [[e.primitive.name for e in trace.jaxpr.jaxpr.eqns] for trace in partial.traces] == [["mul"], ["sin", "gt"]]
    assert "# body, traced for scan, up to the failure\n{ lambda " in partial.text


def test_the_equations_are_read_and_linked_like_any_jaxpr():
    def body(carry, x):
        y = jnp.sin(x)
        return carry, y.nothing

    def f(xs):
        scaled = xs * 3.0
        return jax.lax.scan(body, 0.0, scaled)

    partial = partial_jaxpr(caught(lambda: jax.jit(f).trace(jax.ShapeDtypeStruct((4,), jnp.float32))))
    listing = jaxpr.parse(*partial.printed())
    assert listing.text == partial.text
    lines = {op.name: next(iter(listing.stacks.walk(op.stack))).line for op in listing.ops}
    first = inspect.getsourcelines(body)[1]
    assert lines == {"mul": first + 5, "sin": first + 1}
    assert len(listing.blocks) >= 2


def test_a_failure_while_another_is_handled_has_its_own_equations_only():
    def branch(x):
        return x if jnp.sin(x) > 0 else -x

    try:
        jax.jit(branch)(1.0)
    except jax.errors.TracerBoolConversionError:
        error = jaxscope.inspect(lambda i: i, 1 << 40).error
    assert error.__context__ is not None
    assert isinstance(partial_jaxpr(error), Unavailable)


def test_an_own_exception_while_another_is_handled_gets_no_advice_for_that():
    def fails(x):
        raise LookupError("mine")

    try:
        jax.jit(lambda x: x if x > 0 else -x)(1.0)
    except jax.errors.TracerBoolConversionError:
        inspection = jaxscope.inspect(fails, "f32[3]")
    assert explain(inspection.error, "trace").advice == ""


def test_without_a_traceback_there_are_no_equations():
    assert isinstance(partial_jaxpr(ValueError("x")), Unavailable)


@pytest.mark.parametrize("mode", ["off", "tracebackhide", "remove_frames", "quiet_remove_frames"])
def test_how_jax_filters_its_frames_makes_no_difference(mode):
    def f(x):
        y = jnp.cos(x)
        return y if y.sum() > 0 else x

    with filtering(mode):
        inspection = jaxscope.inspect(f, "f32[3]")
    explanation = explain(inspection.error, "trace")
    first = inspect.getsourcelines(f)[1]
    assert (explanation.kind, explanation.frames[0].line) == ("tracer-to-bool", first + 2)
    assert [str(operand) for operand in explanation.operands] == ["y: f32[3]"]
    names = [e.primitive.name for e in partial_jaxpr(inspection.error).traces[0].jaxpr.jaxpr.eqns]
    assert names == ["cos", "reduce_sum", "gt"]


@contextlib.contextmanager
def filtering(mode):
    """JAX's frames are taken out of tracebacks in this way."""
    before = jax.config.jax_traceback_filtering
    jax.config.update("jax_traceback_filtering", mode)
    try:
        yield
    finally:
        jax.config.update("jax_traceback_filtering", before)


# Whatever an exception does.


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
