"""A typed call is read as what it says, and nothing of it is evaluated; what is written is read back."""

import ast
import builtins
import collections
import functools
import math
import os

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jaxscope._call_text import MAXIMUM_LENGTH, read_call_text, write_call_text
from jaxscope.errors import InputError


def abstract(shape, dtype, **options):
    return jax.ShapeDtypeStruct(shape, dtype, **options)


X = abstract((8, 128), jnp.float32)
READ = {
    "": ((), {}),
    "  # nothing": ((), {}),
    "f32[8,128]": ((X,), {}),
    "'f32[8,128]', \"f32[8,128]\"": ((X, X), {}),
    ' f32 [ 8, 128 ] , {"w": bf16[128,64]}, n=3,': (
        (X, {"w": abstract((128, 64), jnp.bfloat16)}),
        {"n": 3},
    ),
    "f32[], ~i32[], key<fry>[2]": (
        (
            abstract((), jnp.float32),
            abstract((), jnp.int32, weak_type=True),
            abstract((2,), jax.eval_shape(lambda: jax.random.key(0)).dtype),
        ),
        {},
    ),
    "[f32[8,128]], (f32[8,128],), (f32[8,128]), {'a': {1: f32[8,128]}}": (([X], (X,), X, {"a": {1: X}}), {}),
    "-3, +2, 1.5e3, 2j, -1-2j, 0xff, 1_000": ((-3, 2, 1500.0, 2j, -1 - 2j, 255, 1000), {}),
    "None, True, False, 'relu', b'raw', r'\\d'": ((None, True, False, "relu", b"raw", r"\d"), {}),
    "{1, 'f32[2]'}, {(1, -2): 3}, {}, (), []": (({1, "f32[2]"}, {(1, -2): 3}, {}, (), []), {}),
    "'of x', '''say \"f32[2]\"''', 'f32' '[8,128]', 'it\\'s f32[2]'": (
        ("of x", 'say "f32[2]"', X, "it's f32[2]"),
        {},
    ),
    "x=f32[8,128], größe='ü'": ((), {"x": X, "größe": "ü"}),
    "(1,\r\n 2)": (((1, 2),), {}),
    "'\\d'": (("\\d",), {}),
}


@pytest.mark.parametrize("text", READ)
def test_a_call_is_read(text, recwarn):
    assert read_call_text(text) == READ[text]
    assert not recwarn.list


def test_axes_belong_to_the_mesh():
    mesh = jax.make_mesh((1,), ("data",))
    (args, _) = read_call_text("f32[8,@data 128], 'f32[@data 8]'", mesh)
    assert [str(each.sharding.spec) for each in args] == [
        str(jax.sharding.PartitionSpec(None, "data")),
        str(jax.sharding.PartitionSpec("data")),
    ]
    with pytest.raises(InputError, match=r"column 3 .*no mesh axis 'model'"):
        read_call_text("1,f32[@model 8]", mesh)


# What is refused, at which column, with which words.
REFUSED = {
    "x": (1, "`x` is a name"),
    "1, relu": (4, "`relu` is a name"),
    "n=x.y": (3, "`x.y` is an attribute"),
    '__import__("os").system("true")': (1, "is a call"),
    "f32[2], open('/etc/passwd')": (9, "is a call"),
    "'{}'.format(1)": (1, "is a call"),
    "[x for x in [1]]": (1, "is an expression"),
    "(x for x in [1])": (1, "is an expression"),
    "x for x in [1]": (1, "is an expression"),
    "f'{1}'": (1, "is a formatted string"),
    "'a' f'{x}'": (1, "is a formatted string"),
    "9**9**9**9": (1, "is an expression"),
    "'a' * 10**9": (1, "is an expression"),
    "1 + 2": (1, "is an expression"),
    "1 << 10**9": (1, "is an expression"),
    "1j + 1j": (1, "is an expression"),
    "- -1": (1, "is an expression"),
    "-True": (1, "is an expression"),
    "not 1": (1, "is an expression"),
    "1 < 2": (1, "is an expression"),
    "1 if 1 else 2": (1, "is an expression"),
    "1 in [1]": (1, "is an expression"),
    "(n := 3)": (2, "is an expression"),
    "lambda: 1": (1, "is a function"),
    "await x": (1, "is an expression"),
    "'abc'[0]": (1, "is an expression"),
    "...": (1, "is an expression"),
    "*[1]": (1, "unpacks"),
    "**{'n': 1}": (1, "unpacks"),
    "[*[1]]": (2, "unpacks"),
    "{**{}}": (4, "is unpacked"),
    "n=1, n=2": (6, "a second time"),
    "n=1, 2": (7, "follows keyword argument"),
    "{[1]: 2}": (2, "cannot be a key"),
    "{f32[2]: 1}": (2, "is a type where only plain values"),
    "{1, f32[2]}": (5, "is a type where only plain values"),
    "f32[2]=1": (1, "is a type where no value can be"),
    "f32[2]abc": (1, "is a name"),
    "-f32[2]": (1, "is an expression"),
    "f32[2] + 1": (1, "is an expression"),
    "f32[2": (4, "is never closed"),
    "(1, [2)": (7, "closes nothing"),
    "1)": (2, "closes nothing"),
    "1) + f(2": (2, "closes nothing"),
    "1)(2": (2, "closes nothing"),
    "1) #": (2, "closes nothing"),
    "1,,2": (3, "is not how arguments go on"),
    "é, 'ü', @": (9, "is not how arguments go on"),
    "'ü', é": (6, "`é` is a name"),
    "'a": (1, "is not how arguments go on"),
    "1 \\ 2": (None, "is not how arguments go on"),
    "import os": (1, "is not how arguments go on"),
    "1; 2": (2, "is not how arguments go on"),
    "\0": (None, "is not how arguments go on"),
    "'\ud800'": (2, "is half a character"),
    "f33[8]": (1, "no array type that JAX knows"),
    "1, 'f33[8]'": (4, "no array type that JAX knows"),
    "object[3]": (1, "no array type that JAX knows"),
    "str[3]": (1, "no array type that JAX knows"),
    "params['w']": (1, "no array type that JAX knows"),
    "[f32[8,x]]": (2, "the dimension 'x' is not a number"),
    "f32[@d 8]": (1, "there is no mesh axis 'd'"),
    "1" + "0" * 400 + "+1j": (1, "larger than a complex number"),
    "1" * 5000: (1, "is not how arguments go on"),
    "(" * 101 + ")" * 101: (101, "is nested more than 100 deep"),
    "-" * 9000 + "1": (1, "is"),
    "1+" * 9000 + "1": (1, "is"),
    "1j+" * 6000 + "1j": (1, "is"),
    "x" + ".x" * 9000: (1, "is"),
    "x" + " if x else x" * 1500: (1, "is"),
    "not " * 4000 + "1": (1, "is"),
    "1" * (MAXIMUM_LENGTH + 1): (MAXIMUM_LENGTH + 1, "where the first 20,000 characters end"),
}


@pytest.mark.parametrize("text", REFUSED, ids=lambda text: ascii(text[:40]))
def test_everything_else_is_refused_at_its_column_and_not_evaluated(text, monkeypatch):
    def never(*args, **kwargs):
        raise AssertionError("evaluated")

    def only_parse(source, filename, mode, flags=0, *args, _compile=builtins.compile, **kwargs):
        assert flags & ast.PyCF_ONLY_AST
        return _compile(source, filename, mode, flags, *args, **kwargs)

    with monkeypatch.context() as patch, pytest.raises(InputError) as refusal:
        for name in ("eval", "exec", "open"):
            patch.setattr(builtins, name, never)
        patch.setattr(os, "system", never)
        patch.setattr(builtins, "compile", only_parse)
        read_call_text(text)
    column, words = REFUSED[text]
    message = str(refusal.value)
    assert words in message and len(message) < 500
    if column is not None:
        assert f"t column {column}, " in message or f"t column {column} of the call" in message


PIECES = [
    *(
        "f32[8,128]",
        "bf16[",
        "~",
        "key<fry>[]",
        "'f32[2]'",
        '"',
        "'",
        "'''",
        "[",
        "]",
        "{",
        "}",
        "(",
        ")",
        ",",
        ":",
        "=",
    ),
    *(
        "1",
        "-",
        "2j",
        "1e400",
        "x",
        "n=",
        "True",
        "None",
        "*",
        "**",
        ".",
        "#",
        "\\",
        "\n",
        " ",
        "é",
        "f'",
        "b'",
        "lambda",
    ),
    *(" if ", " else ", " in ", " for ", "not ", ":=", "@", "0x", "_" * 6, "...", "\0", "\ud800", "e[0]", "i8[1]"),
]


@settings(max_examples=500, deadline=None)
@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=12).map("".join)))
def test_any_text_is_read_or_refused(text):
    try:
        args, kwargs = read_call_text(text)
    except InputError as refusal:
        assert len(str(refusal)) < 600
        return
    assert type(args) is tuple and all(type(name) is str for name in kwargs)
    if (written := write_call_text(args, kwargs)) is not None:
        assert same(read_call_text(written), (args, kwargs))


def same(left, right):
    """Equal, types of containers and numbers included."""
    if type(left) is not type(right):
        return False
    if isinstance(left, tuple | list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return list(left) == list(right) and all(map(same, left.values(), right.values()))
    return left == right


DTYPES = [
    *("bool", "int4", "uint4", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128", "float8_e4m3fn", "float8_e5m2"),
]
TYPES = st.builds(
    abstract,
    st.lists(st.integers(0, 10**6), max_size=4).map(tuple),
    st.sampled_from(DTYPES).map(jnp.dtype),
    weak_type=st.booleans(),
)
PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.complex_numbers(allow_nan=False, allow_infinity=False),
    st.text().filter(lambda text: "[" not in text),
    st.binary(),
)
KEYS = st.one_of(st.text(), st.integers(), st.tuples(st.integers(), st.text()))
VALUES = st.recursive(
    TYPES | PLAIN | st.sets(st.integers(), min_size=1),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.lists(inner, max_size=3).map(tuple), st.dictionaries(KEYS, inner, max_size=3)
    ),
    max_leaves=8,
)
NAMES = st.from_regex(r"[a-z_][a-z0-9_]{0,5}", fullmatch=True)


@settings(max_examples=300, deadline=None)
@given(st.lists(VALUES, max_size=3).map(tuple), st.dictionaries(NAMES, VALUES, max_size=2))
def test_what_is_written_is_read_back(args, kwargs):
    text = write_call_text(args, kwargs)
    if text is None:
        # Names that belong to Python, and characters that UTF-8 does not have.
        assert any(not f"{name} = 0".isascii() or not _is_name(name) for name in kwargs) or "\\ud" in repr(
            (args, kwargs)
        )
        return
    assert same(read_call_text(text), (args, kwargs))


def _is_name(name):
    try:
        ast.parse(f"{name} = 0")
    except SyntaxError:
        return False
    return True


Pair = collections.namedtuple("Pair", "a b")
seen: list = []
NOT_WRITTEN = {
    "named tuple": Pair(1, 2),
    "ordered dict": collections.OrderedDict(a=1),
    "object": object(),
    "not a number": math.nan,
    "infinity": math.inf,
    "empty set": set(),
    "text that is a type": "f32[2]",
    "no array type": abstract((2,), jax.dtypes.float0),
    "very many digits": 1 << 20_000,
    "device": abstract((2,), jnp.float32, sharding=jax.sharding.SingleDeviceSharding(jax.devices()[0])),
    "key of a dict": {object(): 1},
    "array of objects": np.array([object()]),
    "records": np.zeros(2, [("a", int)]),
    "tracer": jax.make_jaxpr(lambda x: seen.append(x))(1.0) and seen[0],
    "nested too deeply": functools.reduce(lambda inner, _: [inner], range(100), 1),
}


@pytest.mark.parametrize("name", NOT_WRITTEN)
def test_what_cannot_be_read_back_is_not_written(name):
    assert write_call_text((), {"x": [NOT_WRITTEN[name]]}) is None


def test_what_is_nested_as_deeply_as_can_be_read_is_written():
    for leaf in (1 - 2j, X):
        for make in (lambda inner: [inner], lambda inner: (inner,), lambda inner: {(): inner}):
            value = functools.reduce(lambda inner, _, make=make: make(inner), range(98), leaf)
            assert same(read_call_text(write_call_text((value,), {})), ((value,), {}))


def test_names_that_python_keeps_are_not_written():
    assert write_call_text((), {"lambda": 1}) is None and write_call_text((), {"a b": 1}) is None


def test_arrays_are_written_as_their_types():
    args = (jnp.ones((2, 3), jnp.bfloat16), jnp.asarray(1.0) * 2, np.ones(3), np.float32(2), jax.random.key(0))
    assert write_call_text((*args, 2.0), {}) == "bf16[2,3], ~f32[], f64[3], f32[], key<fry>[], 2.0"


def test_places_on_a_mesh_are_written_by_its_axes():
    mesh = jax.make_mesh((1, 1), ("data", "model"))

    def placed(*spec):
        return abstract(
            (8, 4), jnp.float32, sharding=jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*spec))
        )

    assert write_call_text((placed("data"), placed(None, "model")), {}) == "f32[@data 8,4], f32[8,@model 4]"
    assert read_call_text("f32[@data 8,4]", mesh)[0] == (placed("data", None),)
    assert write_call_text((placed(("data", "model")),), {}) is None
