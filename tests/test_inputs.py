"""What the user hands over is read as `jax.jit` would read it, and holds no arrays afterwards."""

import functools
import gc
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxscope import _inputs
from jaxscope._inputs import abstract, read_call, read_request, refuse_collisions
from jaxscope._specs import parse_spec, shorten
from jaxscope.errors import InputError


def lowered_text(request):
    return request.function.trace(*request.args, **request.kwargs).lower().as_text()


LEAVES = {
    "array": lambda: jnp.ones((2, 3)),
    "committed array": lambda: jax.device_put(jnp.ones((2, 3)), jax.devices()[0]),
    "numpy": lambda: np.ones((2, 3), np.float32),
    "numpy of 64 bits": lambda: np.ones((2, 3)),
    "numpy scalar": lambda: np.float64(2),
    "bool": lambda: True,
    "int": lambda: 3,
    "float": lambda: 0.5,
    "complex": lambda: 1j,
    "weakly typed array": lambda: jnp.asarray(1.0) * 2,
    "bfloat16": lambda: jnp.ones(3, jnp.bfloat16),
    "int4": lambda: jnp.ones(4, jnp.int4),
}


@pytest.mark.parametrize("leaf", LEAVES)
def test_abstract_arguments_lower_to_the_same_program(leaf):
    def f(x):
        return x * 2

    value = LEAVES[leaf]()
    assert lowered_text(read_request(f, (value,), {})) == jax.jit(f).trace(value).lower().as_text()


def test_keys_keep_their_type():
    key = jax.random.key(0)
    request = read_request(jax.random.split, (key,), {})
    assert request.args[0].dtype == key.dtype


def test_no_array_is_kept_alive():
    array = jnp.arange(12.0)
    request = read_request(lambda tree: tree["a"] + 1, ({"a": array},), {})
    reference = weakref.ref(array)
    del array
    gc.collect()
    assert reference() is None
    assert request.args[0]["a"].shape == (12,)


def test_a_deleted_array_has_a_type_still():
    array = jnp.ones(3)
    array.delete()
    assert read_request(lambda x: x, (array,), {}).args[0].shape == (3,)


@pytest.mark.parametrize(
    ("text", "shape", "dtype"),
    [
        ("f32[8,128]", (8, 128), "float32"),
        ("bf16[]", (), "bfloat16"),
        (" i8 [ 3 ] ", (3,), "int8"),
        ("s32[3]", (3,), "int32"),
        ("u4[2]", (2,), "uint4"),
        ("c64[1]", (1,), "complex64"),
        ("bool[2]", (2,), "bool"),
        ("pred[2]", (2,), "bool"),
        ("float8_e4m3fn[2]", (2,), "float8_e4m3fn"),
        ("f8_e4m3fn[2]", (2,), "float8_e4m3fn"),
        ("key<fry>[2]", (2,), "key<fry>"),
    ],
)
def test_a_string_names_a_type(text, shape, dtype):
    spec = parse_spec(text)
    assert (spec.shape, str(spec.dtype)) == (shape, dtype)


def test_a_tilde_means_weakly_typed():
    assert parse_spec("~f32[]").weak_type
    assert not parse_spec("f32[]").weak_type


@given(st.lists(st.integers(0, 1 << 40), max_size=5), st.sampled_from(["float32", "bfloat16", "int8", "bool"]))
def test_every_printed_type_is_read_back(shape, dtype):
    aval = jax.core.ShapedArray(tuple(shape), jnp.dtype(dtype))
    spec = parse_spec(aval.str_short(short_dtypes=True))
    assert (spec.shape, spec.dtype) == (aval.shape, aval.dtype)


@given(st.text(max_size=30))
def test_any_other_string_is_refused_in_words(text):
    try:
        parse_spec(text)
    except InputError as error:
        assert str(error).startswith("Reading the argument")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("relu", "found no type and shape"),
        ("f32[8,x]", "the dimension 'x' is not a number"),
        ("q32[8]", "q32 is no array type"),
        ("f32[@data 8]", "there is no mesh axis 'data'"),
    ],
)
def test_a_bad_string_says_what_is_wrong(text, words):
    with pytest.raises(InputError, match=words):
        parse_spec(text)


def test_axes_are_laid_over_the_mesh():
    mesh = jax.make_mesh((1,), ("data",))
    sharding = parse_spec("bf16[8,@data 128]", mesh).sharding
    assert sharding.spec == jax.sharding.PartitionSpec(None, "data")


def test_axes_are_laid_over_the_mesh_in_context():
    with jax.make_mesh((1,), ("data",)):
        assert parse_spec("f32[@data 8]").sharding.spec == jax.sharding.PartitionSpec("data")


def test_static_arguments_of_a_jitted_function_are_left_as_they_are():
    f = jax.jit(lambda x, n, mode: x * n, static_argnums=1, static_argnames="mode")
    request = read_request(f, ("f32[3]", 2), {"mode": "fast"})
    assert request.args[1] == 2 and request.kwargs["mode"] == "fast"
    assert [(item.name, item.value) for item in request.static] == [("n", "2"), ("mode", "'fast'")]


def test_static_positions_from_the_end_are_those_that_jax_takes():
    f = jax.jit(lambda x, n: x * n, static_argnums=-1)
    request = read_request(f, ("f32[3]", 2), {})
    assert [(item.name, item.value) for item in request.static] == [("n", "2")]
    assert request.function.trace(*request.args).jaxpr.in_avals[0].shape == (3,)


def test_plain_values_of_a_plain_function_become_static():
    def f(x, activation, scale=2.0):
        return activation(x) * scale

    request = read_request(f, ("f32[3]", jnp.tanh), {})
    assert [item.name for item in request.static] == ["activation"]
    assert "static_argnums=(1,)" in request.notes[0]
    assert "scale=2.0" in request.notes[1]


def test_a_bound_method_of_a_jitted_function_keeps_self():
    class Net:
        @functools.partial(jax.jit, static_argnums=0)
        def step(self, x):
            return x + 1

    net = Net()
    request = read_request(net.step, ("f32[3]",), {})
    assert request.args[0] is net and request.static[0].name == "self"


def test_a_jitted_function_is_not_jitted_again():
    f = jax.jit(lambda x: x, donate_argnums=0)
    assert read_request(f, ("f32[3]",), {}).function is f


@pytest.mark.parametrize("stage", ["traced", "lowered", "compiled"])
def test_a_finished_stage_takes_no_arguments(stage):
    traced = jax.jit(lambda x: x).trace(jnp.ones(3))
    product = {"traced": traced, "lowered": traced.lower(), "compiled": traced.lower().compile()}[stage]
    assert read_request(product, (), {}).kind == stage
    with pytest.raises(InputError, match="Leave them out"):
        read_request(product, (1,), {})


def test_an_exported_program_brings_its_types():
    exported = jax.export.export(jax.jit(lambda x: x + 1))(jnp.ones(3))
    assert read_request(exported, (), {}).args[0].shape == (3,)


def test_an_option_that_is_also_a_parameter_is_refused():
    def f(x, target):
        return x

    with pytest.raises(InputError, match="has a parameter of the same name"):
        refuse_collisions(f, {"target": "cpu"})
    refuse_collisions(f, {"target": None})
    refuse_collisions(functools.partial(f, target=1), {"target": "cpu"})
    refuse_collisions(lambda x, **kwargs: x, {"target": "cpu"})


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (jnp.sin, "sin"),
        (functools.partial(round, ndigits=3), "partial(round, ndigits=3)"),
        (type("Model", (), {"__call__": lambda self, x: x})(), "Model"),
    ],
)
def test_every_function_has_a_name(function, name):
    assert _inputs.function_name(function) == name


def test_shorten_survives_any_repr():
    class Bad:
        def __repr__(self):
            raise ValueError

    assert shorten(Bad()) == "<Bad>"
    assert len(shorten("x" * 1000)) == 80
    assert " at 0x" not in shorten(object())
    assert shorten(np.ones((2, 3))) == "float64[2, 3]"


def test_what_jax_refuses_is_left_to_jax():
    class Thing:
        pass

    thing = Thing()
    assert read_request(lambda x: x, (thing,), {}).args[0] is thing
    assert read_request(3, (), {}).refusal is not None


def test_containers_that_check_their_leaves_are_left_alone():
    @jax.tree_util.register_pytree_node_class
    class Strict:
        def __init__(self, leaf):
            if not isinstance(leaf, jax.Array):
                raise TypeError("needs an array")
            self.leaf = leaf

        def tree_flatten(self):
            return (self.leaf,), None

        @classmethod
        def tree_unflatten(cls, _, leaves):
            return cls(*leaves)

    strict = Strict(jnp.ones(2))
    assert abstract(strict, "x", None, []) is strict


def test_a_call_is_a_tuple_or_a_dict():
    assert read_call((1, 2)) == ((1, 2), {})
    assert read_call({"x": 1}) == ((), {"x": 1})
    with pytest.raises(InputError, match="is no list of arguments"):
        read_call(3)
