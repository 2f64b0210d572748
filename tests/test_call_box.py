"""A call typed in the widget is judged like the same call in Python, and stays in every picture of the inspection."""

import dataclasses
import functools
import json

import jax
import jax.numpy as jnp
import pytest

import jaxscope
from jaxscope._view import build
from jaxscope.errors import InputError, UnavailableError
from tests.test_render_widget import bundle, make_widget  # noqa: F401


@pytest.fixture(autouse=True)
def strict(monkeypatch):
    """Nothing is contained unless a test says so."""
    monkeypatch.setattr(build, "CONTAIN_FAILURES", False)


@functools.partial(jax.jit, static_argnames=("n", "activation"))
def layer(params, x, n=2, *, activation="relu"):
    for _ in range(n):
        x = getattr(jax.nn, activation)(x @ params["w"] + params.get("b", 0))
    return x


def pick(tree, scale, key=None):
    (a, b), c = tree
    noise = 0 if key is None else jax.random.normal(key, a.shape)
    return a * scale + b.sum() + noise, c


MATRIX, VECTOR = "f32[4,4]", "f32[4]"
PARAMS = {"w": MATRIX, "b": VECTOR}
# A program, and calls of it: typed, and in Python.
PROGRAMS = {
    "layer": (
        lambda: jaxscope.inspect(layer, PARAMS, "f32[8,4]", n=3),
        {
            '{"w": f32[4,4], "b": f32[4]}, f32[8,4]': lambda check: check(PARAMS, "f32[8,4]"),
            '{"w": f32[4,4], "b": f32[4]}, f32[8,4], n=4': lambda check: check(PARAMS, "f32[8,4]", n=4),
            '{"w": f32[4,4], "b": f32[4]}, f32[8,4], activation="tanh"': lambda check: check(
                PARAMS, "f32[8,4]", activation="tanh"
            ),
            '{"w": bf16[4,4], "b": ~f32[4]}, f32[8,4]': lambda check: check(
                {"w": "bf16[4,4]", "b": "~f32[4]"}, "f32[8,4]"
            ),
            '{"w": f32[4,4]}, f32[16,4]': lambda check: check({"w": MATRIX}, "f32[16,4]"),
            '{"w": f32[4,4], "b": 1.0}, f64[8,4]': lambda check: check({"w": MATRIX, "b": 1.0}, "f64[8,4]"),
            '"relu", None': lambda check: check("relu", None),
            "": lambda check: check(),
            'x=f32[8,4], params={"w": f32[4,4], "b": f32[4]}': lambda check: check(x="f32[8,4]", params=PARAMS),
        },
    ),
    "nested": (
        lambda: jaxscope.inspect(pick, ((VECTOR, "i32[3]"), None), 2.0, "key<fry>[]"),
        {
            "((f32[4], i32[3]), None), 2.0, key<fry>[]": lambda check: check(
                ((VECTOR, "i32[3]"), None), 2.0, "key<fry>[]"
            ),
            "((f32[4], i32[3]), None), 2, key<fry>[]": lambda check: check(((VECTOR, "i32[3]"), None), 2, "key<fry>[]"),
            "((f32[4], i32[3]), None), -1-2j, key=key<fry>[]": lambda check: check(
                ((VECTOR, "i32[3]"), None), -1 - 2j, key="key<fry>[]"
            ),
            "[(f32[4], i32[3]), None], f32[], key<rbg>[]": lambda check: check(
                [(VECTOR, "i32[3]"), None], "f32[]", "key<rbg>[]"
            ),
            "((f32[4],), {1, 2}), True, u32[2]": lambda check: check(((VECTOR,), {1, 2}), True, "u32[2]"),
        },
    ),
    "mesh": (
        lambda: jaxscope.inspect(jnp.tanh, "f32[@data 8,4]", mesh={"data": 1}),
        {
            "f32[@data 8,4]": lambda check: check("f32[@data 8,4]"),
            "f32[8,@data 4]": lambda check: check("f32[8,@data 4]"),
            "f32[8,4]": lambda check: check("f32[8,4]"),
        },
    ),
    "compiled": (
        lambda: jaxscope.inspect(jax.jit(jnp.tanh).lower(jnp.ones(3)).compile()),
        {"f32[3]": lambda check: check("f32[3]"), "f32[4]": lambda check: check("f32[4]")},
    ),
}
PAIRS = [(name, text) for name, (_, calls) in PROGRAMS.items() for text in calls]
_programs = functools.cache(lambda name: PROGRAMS[name][0]())


def types_tab(view, key="types"):
    (tab,) = [tab for tab in view["tabs"] if tab["key"] == key]
    return tab


def tables(view, key="types"):
    return {table["key"]: table for table in types_tab(view, key)["tables"]}


@pytest.mark.parametrize(("name", "text"), PAIRS)
def test_the_verdict_is_that_of_the_same_call_in_python(name, text):
    inspection = _programs(name)
    line = inspection._source.check("types", text)
    expected = PROGRAMS[name][1][text](inspection.check)
    found = tables(inspection._source.view)
    told, cache = expected._tables()
    told["notes"] = [*([f"The call: {text}"] if text else []), *told["notes"]]
    assert (found["mismatches"], found["cache"]) == (told, cache)
    assert expected.summary in line and expected.summary in str(inspection)
    assert types_tab(inspection._source.view)["call"]["text"] == text


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_box_begins_with_a_call_that_fits(name):
    inspection = PROGRAMS[name][0]()
    text = types_tab(inspection._source.view)["call"]["text"]
    assert text and "mismatches" not in tables(inspection._source.view)
    inspection._source.check("types", text)
    found = tables(inspection._source.view)
    assert found["mismatches"]["rows"] == found["cache"]["rows"] == []


def test_the_box_begins_with_the_call_that_was_given():
    inspection = jaxscope.inspect(pick, ((VECTOR, "i32[3]"), None), 2.0, call=(((VECTOR, "f32[3]"), None), jnp.ones(2)))
    assert types_tab(inspection._source.view)["call"]["text"] == "((f32[4], f32[3]), None), f32[2]"
    inspection = jaxscope.inspect(jnp.tanh, VECTOR, call=(object(),))
    assert types_tab(inspection._source.view)["call"]["text"] == ""


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Model:
    w: object


def test_containers_that_cannot_be_typed_are_left_to_python():
    inspection = jaxscope.inspect(lambda model, x: model.w @ x, Model(MATRIX), VECTOR)
    call = types_tab(inspection._source.view)["call"]
    assert call["text"] == "" and "(Model); inspection.check(...) in Python takes them" in call["note"]
    inspection._source.check("types", "f32[4,4], f32[4]")
    assert "container" in str(tables(inspection._source.view)["mismatches"]["rows"][0]["cells"])
    assert not inspection.check(Model(MATRIX), VECTOR).rows


def test_types_without_a_text_are_left_to_python():
    for count in (300, 400):
        many = jaxscope.inspect(lambda xs: xs[0], [VECTOR] * count)
        assert "too many to stand in one line" in types_tab(many._source.view)["call"]["note"]
    nested = VECTOR
    for _ in range(300):
        nested = [nested]
    deep = jaxscope.inspect(lambda x: 1.0, nested)
    assert "cannot be typed here" in types_tab(deep._source.view)["call"]["note"]
    tangent = jax.eval_shape(lambda: jax.jvp(lambda n: n, (1,), (jnp.zeros((), jax.dtypes.float0),))[1])
    none = jaxscope.inspect(lambda x, t: x, VECTOR, tangent)
    call = types_tab(none._source.view)["call"]
    assert call["text"] == "" and "types that cannot be typed here" in call["note"]


def test_a_split_that_has_no_spelling_is_left_out_and_that_is_said():
    mesh = jax.make_mesh((1, 1), ("data", "model"))
    both = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(("data", "model")))
    one = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("data"))
    split = [jax.ShapeDtypeStruct((8, 4), "float32", sharding=each) for each in (both, one)]
    calls = [types_tab(jaxscope.inspect(jnp.tanh, each)._source.view)["call"] for each in split]
    assert [call["text"] for call in calls] == ["f32[8,4]", "f32[@data 8,4]"]
    assert ["is left out; inspection.check(...) in Python takes it" in call["note"] for call in calls] == [True, False]


def test_there_is_no_box_without_a_signature():
    failed = jaxscope.inspect(lambda x: x.nothing, VECTOR)
    tab = types_tab(failed._source.view)
    assert tab["status"] == "done" and "call" not in tab
    with pytest.raises(UnavailableError, match="there is no signature to compare it with"):
        failed._source.check("types", "f32[4]")
    with pytest.raises(UnavailableError, match="'cost': there is no signature"):
        _programs("compiled")._source.check("cost", "f32[4]")


def test_a_call_that_cannot_be_read_leaves_the_last_verdict():
    inspection = PROGRAMS["compiled"][0]()
    inspection._source.check("types", "f32[4]")
    before = inspection._source.view
    with pytest.raises(InputError, match="at column 1, `f` is a name"):
        inspection._source.check("types", "f")
    assert inspection._source.view == before


def test_each_target_has_its_own_box():
    inspection = jaxscope.inspect(jnp.tanh, VECTOR, targets=["cpu", "rocm"])
    inspection._source.check("types@rocm", "f32[5]")
    view = inspection._source.view
    assert types_tab(view)["call"]["text"] == "f32[4]" and "mismatches" not in tables(view)
    assert types_tab(view, "types@rocm")["call"]["text"] == "f32[5]"
    assert tables(view, "types@rocm")["mismatches"]["summary"] == inspection.check("f32[5]").summary


def test_the_widget_answers_and_shows_the_verdict(make_widget, monkeypatch):  # noqa: F811
    inspection = PROGRAMS["compiled"][0]()
    shown, sent = make_widget(inspection._source), []
    monkeypatch.setattr(shown, "send", lambda content, buffers=None: sent.append(content))
    before = shown.view
    shown._handle_custom_msg({"type": "check", "tab": "types", "text": None}, [])
    assert sent == [{"type": "checked", "request": "check types", "verdict": ""}] and shown.view is before
    for text in ("f32[4]", "f32[4]", "f32[3]"):
        sent.clear()
        shown._handle_custom_msg({"type": "check", "tab": "types", "text": text}, [])
        expected = inspection.check(text)
        assert [each["type"] for each in sent] == ["checked"] and expected.summary in sent[0]["verdict"]
        assert tables(shown.view)["mismatches"]["summary"] == expected.summary
        assert shown.view == json.loads(json.dumps(shown.view)), "a notebook saves it"
    sent.clear()
    shown._handle_custom_msg({"type": "check", "tab": "types", "text": "exit()"}, [])
    (refusal,) = sent
    assert (refusal["type"], refusal["request"]) == ("refused", "check types")
    assert "at column 1, `exit()` is a call, and nothing is run here" in refusal["reason"]
    assert types_tab(shown.view)["call"]["text"] == "f32[3]"
