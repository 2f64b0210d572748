"""The parts of an explanation: the table of recognisers, the leaves that differ, the place in the code, its operands.

Nothing of anybody's program may run while a failure is looked at.
"""

import ast
import builtins
import importlib
import inspect
import re
import string
import sys
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from jaxscope._failures.control_flow import mismatches
from jaxscope._failures.operands import operands_of
from jaxscope._failures.records import Failure
from jaxscope._failures.sites import Position, Site, returns_of, site_at
from jaxscope._failures.table import ROWS, recognise


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
