"""The signature agrees with JAX's printers, with the arguments of StableHLO's main, and with XLA's own bytes."""

import collections
import json
import re
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export
from jax.experimental import io_callback
from jax.sharding import AxisType, NamedSharding, PartitionSpec

from jaxscope._analysis.signature import CapturedConstants, signature_frame, signature_of
from jaxscope._analysis.types import MAXIMUM_VALUE_LENGTH, describe_sharding
from jaxscope._analysis.unavailable import Unavailable
from tests.programs import PROGRAMS

REPOSITORY = Path(__file__).parents[1]
F3 = jax.ShapeDtypeStruct((3,), jnp.float32)
State = collections.namedtuple("State", "params opt step extra")


def stages(function, *args, jit=None, **kwargs):
    traced = jax.jit(function, **(jit or {})).trace(*args, **kwargs)
    lowered = traced.lower()
    return traced, lowered, lowered.compile()


def nested(s, x, *xs, n=3, **kw):
    return {"a": s.params["w"] * x + kw["q"], "b": [xs[0], x + s.opt[0]]}


NESTED_ARGS = (
    State(
        {"w": F3, "none": None},
        [F3, F3],
        jax.ShapeDtypeStruct((), jnp.int32),
        collections.OrderedDict(z=F3, a=F3),
    ),
    F3,
    F3,
    F3,
)


def main_arguments(lowered):
    """Types and location names of main's arguments, read from the StableHLO text."""
    text = lowered.as_text(debug_info=True)
    header = re.search(r"func\.func public @main\((.*?)\) -> ", text, re.DOTALL)[1]
    # %arg0: tensor<3xf32> loc("s.params['w']")
    return re.findall(r'tensor<([^>]*)>.*?loc\("((?:[^"\\]|\\.)*)"\)', header)


def test_paths_are_the_names_jax_writes_into_stablehlo():
    traced, lowered, compiled = stages(nested, *NESTED_ARGS, q=F3, jit={"static_argnames": "n"})
    signature = signature_of(traced, lowered, compiled, (("n", "3"),))
    kept = [leaf.path for leaf in signature.arguments if leaf.dropped is False]
    assert kept == [name for _, name in main_arguments(lowered)]
    assert [leaf.path for leaf in signature.arguments] == [
        "s.params['w']",
        "s.opt[0]",
        "s.opt[1]",
        "s.step",
        "s.extra['z']",
        "s.extra['a']",
        "x",
        "xs[0]",
        "xs[1]",
        "kw['q']",
    ]
    assert [leaf.name for leaf in signature.arguments][-3:] == ["xs", "xs", "kw"]
    assert [leaf.path for leaf in signature.outputs] == ["result['a']", "result['b'][0]", "result['b'][1]"]
    assert [(leaf.path, leaf.static, leaf.value) for leaf in signature.static] == [("n", True, "3")]


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_types_are_those_the_jaxpr_prints_and_sizes_add_up_to_xlas(name):
    function, args = PROGRAMS[name]
    traced, lowered, compiled = stages(function, *args)
    signature = signature_of(traced, lowered, compiled)
    # "{ lambda a:f32[4]; b:f32[4] c:f32[4]. let", behind "in " where jaxprs that are used twice come first
    text = traced.jaxpr.pretty_print(use_color=False)
    header = re.search(r"^(?:in )?\{ lambda ([^;]*);(.*?)\. let", text, re.DOTALL | re.MULTILINE)
    printed = re.findall(r":(\S+)", header[2])
    assert [leaf.type for leaf in signature.arguments] == printed
    kept = [leaf.size_bytes for leaf in signature.arguments if not leaf.dropped]
    assert sum(kept) == compiled.memory_analysis().argument_size_in_bytes
    constants = re.findall(r":(\S+)", header[1])
    assert isinstance(signature.constants, CapturedConstants)
    assert signature.constants.count == len(constants)


def test_every_combination_of_stages_gives_the_same_types():
    traced, lowered, compiled = stages(nested, *NESTED_ARGS, q=F3)
    whole = signature_of(traced, lowered, compiled)
    for combination in (
        (traced, lowered, None),
        (traced, None, None),
        (None, lowered, compiled),
        (None, lowered, None),
        (None, None, compiled),
    ):
        signature = signature_of(*combination)
        for part in ("arguments", "outputs"):
            ours, expected = getattr(signature, part), getattr(whole, part)
            assert [(a.path, a.type, a.weak_type, a.size_bytes, a.donated) for a in ours] == [
                (a.path, a.type, a.weak_type, a.size_bytes, a.donated) for a in expected
            ]
    assert isinstance(signature_of(traced, None, None).arguments[0].dropped, Unavailable)
    assert isinstance(signature_of(traced, lowered, None).arguments[6].layout, Unavailable)


def test_nothing_reached():
    signature = signature_of(None, None, None, (("n", "3"),))
    assert signature.arguments == signature.outputs == ()
    assert signature.static[0].value == "3"
    assert isinstance(signature.constants, Unavailable)
    assert signature.notes
    assert list(signature_frame(signature)["kind"]) == ["static"]


@pytest.mark.parametrize(
    ("dtype", "count", "type", "size_bytes"),
    [
        ("bool", 5, "bool[5]", 5),
        ("complex64", 3, "c64[3]", 24),
        ("bfloat16", 3, "bf16[3]", 6),
        ("int4", 7, "i4[7]", 4),
        ("uint4", 8, "u4[8]", 4),
        ("int2", 5, "i2[5]", 2),
        ("float8_e4m3fn", 3, "f8_e4m3fn[3]", 3),
        ("float4_e2m1fn", 3, "f4_e2m1fn[3]", 2),
    ],
)
def test_small_types_are_packed_as_xla_packs_them(dtype, count, type, size_bytes):
    argument = jax.ShapeDtypeStruct((count,), jnp.dtype(dtype))
    traced, lowered, compiled = stages(lambda x: x, argument)
    (leaf,) = signature_of(traced, lowered, compiled).arguments
    assert (leaf.type, leaf.size_bytes) == (type, size_bytes)
    assert compiled.memory_analysis().argument_size_in_bytes == size_bytes
    assert ("packs" in leaf.note) == (size_bytes < count)


def test_weak_types_keys_and_float0():
    traced, lowered, compiled = stages(
        lambda key, lr, x: (jax.random.normal(key, x.shape) * lr * x, key), jax.random.key(0), 0.5, F3
    )
    key, rate, _ = signature_of(traced, lowered, compiled).arguments
    assert (key.type, key.size_bytes, key.note) == ("key<fry>[]", 8, "lowered as u32[2]")
    assert key.layout == "row-major"
    assert (rate.type, rate.weak_type, rate.size_bytes) == ("f32[]", True, 4)

    zero = np.zeros(3, jax.dtypes.float0)
    traced, lowered, compiled = stages(lambda x, dx: (x * 2, dx), F3, zero)
    argument = signature_of(traced, lowered, compiled).arguments[1]
    output = signature_of(traced, lowered, compiled).outputs[1]
    assert (argument.type, argument.size_bytes) == (output.type, output.size_bytes) == ("float0[3]", 0)


def test_donated_buffers_name_the_output_that_the_executable_takes_them_for():
    def step(params, batch, unused):
        return {"loss": batch.sum()}, params * 2

    with pytest.warns(UserWarning, match="donated buffers were not usable"):
        traced, lowered, compiled = stages(
            step, F3, jax.ShapeDtypeStruct((7,), jnp.float32), F3, jit={"donate_argnums": (0, 1, 2)}
        )
    params, batch, unused = signature_of(traced, lowered, compiled).arguments
    assert params.donated and batch.donated and unused.donated
    assert params.aliased == "result[1]"
    assert "not usable" in batch.aliased.reason
    assert unused.dropped is True and "does not read" in unused.aliased.reason
    # HloModule jit_step, is_scheduled=true, input_output_alias={ {1}: (0, {}, may-alias) }, ...
    assert re.search(r"input_output_alias=\{ \{1\}: \(0, ", compiled.as_text().split("\n")[0])


def test_a_token_is_noted_and_not_counted():
    def logged(x):
        return io_callback(lambda v: np.float32(v), jax.ShapeDtypeStruct((), jnp.float32), x, ordered=True) + 1

    traced, lowered, compiled = stages(logged, jax.ShapeDtypeStruct((), jnp.float32), jit={"donate_argnums": 0})
    assert "%arg0: !stablehlo.token" in lowered.as_text()
    signature = signature_of(traced, lowered, compiled)
    assert [leaf.path for leaf in signature.arguments] == ["x"]
    assert signature.arguments[0].aliased == "result"
    assert any("1 token" in note for note in signature.notes)
    assert any("1 token" in note for note in signature_of(traced, None, None).notes)


def test_a_leaked_tracer_is_a_hidden_input():
    box = []

    def leak(x, y):
        result = jnp.sin(x) if not box else box[0] + x
        box.append(result)
        return result + y

    jax.jit(leak).trace(F3, F3)
    traced = jax.jit(lambda x, y: leak(x, y), donate_argnums=1).trace(F3, F3)
    lowered = traced.lower()
    signature = signature_of(traced, lowered, lowered.compile())
    assert [leaf.path for leaf in signature.arguments] == ["x", "y"]
    assert [leaf.donated for leaf in signature.arguments] == [False, True]
    assert signature.arguments[1].aliased == "result"
    assert any("1 tracer of another trace (f32[3])" in note for note in signature.notes)


def test_platform_index_and_symbolic_dimensions_are_no_arguments():
    traced = jax.jit(lambda x: x * 2).trace(F3)
    lowered = traced.lower(lowering_platforms=("cpu", "tpu"))
    assert '{jax.global_constant = "_platform_index"}' in lowered.as_text()
    signature = signature_of(traced, lowered, None)
    assert [leaf.path for leaf in signature.arguments] == ["x"]
    assert any("platform" in note for note in signature.notes)

    (b,) = export.symbolic_shape("b")
    traced = jax.jit(lambda x: (x.sum(0), jnp.concatenate([x, x]))).trace(jax.ShapeDtypeStruct((b, 4), jnp.float32))
    signature = signature_of(traced, traced.lower(), None)
    assert [leaf.type for leaf in (*signature.arguments, *signature.outputs)] == ["f32[b,4]", "f32[4]", "f32[2*b,4]"]
    assert "symbolic" in signature.arguments[0].size_bytes.reason
    assert any("dimensions b" in note for note in signature.notes)


def test_classes_that_check_their_leaves_do_not_matter():
    class Strict:
        def __init__(self, a):
            if not isinstance(a, jax.Array | jax.ShapeDtypeStruct):
                raise TypeError("an array, please")
            self.a = a

    jax.tree_util.register_pytree_node(Strict, lambda s: ((s.a,), None), lambda _, children: Strict(children[0]))
    traced = jax.jit(lambda p: p.a + 1).trace(Strict(jnp.ones(3)))
    with pytest.raises(TypeError, match="an array, please"):
        traced.args_info
    (leaf,) = signature_of(traced, None, None).arguments
    assert (leaf.path, leaf.type) == ("p[0]", "f32[3]")


def test_mutable_arrays():
    reference = jax.new_ref(jnp.ones(3))

    def update(x):
        reference[...] = x
        return x * 2

    traced, lowered, compiled = stages(update, F3, jit={"donate_argnums": 0})
    signature = signature_of(traced, lowered, compiled)
    assert [(leaf.path, leaf.type) for leaf in signature.arguments] == [("x", "f32[3]")]
    assert signature.arguments[0].aliased == "result"
    assert any("mutable array" in note for note in signature.notes)


def test_explicit_shardings_are_part_of_the_type():
    mesh = jax.make_mesh((1,), ("x",), axis_types=(AxisType.Explicit,))
    with jax.set_mesh(mesh):
        argument = jax.ShapeDtypeStruct((8, 4), jnp.float32, sharding=NamedSharding(mesh, PartitionSpec("x", None)))
        traced, lowered, compiled = stages(lambda a: a * 2, argument)
        (leaf,) = signature_of(traced, lowered, compiled).arguments
    assert leaf.type == "f32[8@x,4]"
    assert leaf.sharding == "P('x', None) over x=1"


def test_shardings_read_alike_on_every_version():
    mesh = jax.make_mesh((1, 1), ("x", "y"), axis_types=(AxisType.Auto, AxisType.Auto))
    sharding = NamedSharding(mesh, PartitionSpec(("x", "y"), None))
    assert describe_sharding(sharding) == "P('x'+'y', None) over x=1, y=1"


def test_long_static_values_are_cut():
    signature = signature_of(*stages(lambda x: x + 1, F3), (("text", repr("ab" * 500_000)), ("lines", "a\nb")))
    text, lines = signature.static
    assert len(text.value) == MAXIMUM_VALUE_LENGTH and text.value.endswith("…")
    assert lines.value == "a b"


def test_captured_constants_are_summed_up():
    constants = [np.full(3, i, np.float32) for i in range(30)]
    signature = signature_of(*stages(lambda x: sum((x * c for c in constants), x), F3))
    assert signature.constants == CapturedConstants(30, 360)
    frame = signature_frame(signature)
    row = frame[frame["kind"] == "constant"].iloc[0]
    assert (row["path"], row["type"], row["size_bytes"]) == ("captured constants", "30 arrays", 360)


def test_literal_constants_are_found_under_simplified_constants():
    name = "jax_use_simplified_jaxpr_constants"
    if not hasattr(jax.config, name):
        pytest.skip("this JAX has no simplified constants")
    constant = np.ones(5, np.float32)
    jax.config.update(name, True)
    try:
        traced = jax.jit(lambda x: x + jax.jit(lambda y: y.sum() * constant)(x)[0]).trace(F3)
        signature = signature_of(traced, None, None)
    finally:
        jax.config.update(name, False)
    assert signature.constants == CapturedConstants(1, 20)


HOISTED = """
import os
os.environ["JAX_USE_SIMPLIFIED_JAXPR_CONSTANTS"] = "1"
import json
import jax, jax.numpy as jnp, numpy as np
from jaxscope._analysis.mismatches import check_call
from jaxscope._analysis.signature import signature_of

small, large = np.ones(5, np.float32), jnp.ones((1000, 1000))
types = (jax.ShapeDtypeStruct((size,), jnp.float32) for size in (3, 5, 5))
traced = jax.jit(lambda unused, y, x: (x + large[0, :5], y * small), donate_argnums=2).trace(*types)
try:
    lowered = traced.lower()
except TypeError:
    print(json.dumps("JAX cannot lower it"))
    raise SystemExit
compiled = lowered.compile()
stages = (traced, lowered, compiled), (None, lowered, compiled), (None, None, compiled)
signatures = [signature_of(*some) for some in stages]
call = tuple(np.ones(size, np.float32) for size in (3, 5, 5))
compiled(*call)
print(json.dumps({
    "hoisted": len(lowered._lowering.const_args),
    "leaves": [[(a.path, a.dropped, a.donated) for a in signature.arguments] for signature in signatures],
    "aliased": signatures[0].arguments[2].aliased,
    "shardings": [str(a.sharding) for a in signatures[2].arguments],
    "constants": [signatures[0].constants.count, signatures[0].constants.size_bytes],
    "rows": len(check_call(signatures[0], call).rows),
}))
"""


def test_constants_that_become_arguments_of_main_are_not_the_users():
    environment = {"JAX_PLATFORMS": "cpu", "PYTHONPATH": str(REPOSITORY), "PATH": ""}
    result = subprocess.run(
        [sys.executable, "-c", HOISTED], capture_output=True, text=True, timeout=120, env=environment, check=True
    )
    facts = json.loads(result.stdout.splitlines()[-1])
    if facts == "JAX cannot lower it":
        pytest.skip("JAX 0.8 fails on hoisted constants")
    assert facts["hoisted"] == 1
    assert facts["leaves"] == [[["unused", True, False], ["y", False, False], ["x", False, True]]] * 3
    assert facts["aliased"] == "result[0]"
    assert facts["shardings"][1:] == ["cpu:0", "cpu:0"] and "does not read" in facts["shardings"][0]
    assert facts["constants"] == [2, 4_000_020]
    assert facts["rows"] == 0


def test_the_frame_holds_missing_values_with_their_reasons():
    traced, lowered, compiled = stages(lambda x, y: x * 2, F3, F3)
    frame = signature_frame(signature_of(traced, lowered, compiled, (("n", "3"),)))
    assert list(frame["kind"]) == ["argument", "argument", "static", "output"]
    assert str(frame["size_bytes"].dtype) == "Int64"
    assert frame["size_bytes"].isna().tolist() == [False, False, True, False]
    assert "size_bytes: A static value" in frame["missing"][2]
    assert frame["dropped"].tolist()[:2] == [False, True]


def test_importing_the_analyses_does_not_import_pandas():
    program = (
        "import sys, jaxscope._analysis.signature, jaxscope._analysis.mismatches, jaxscope._analysis.cost, "
        "jaxscope._analysis.memory, jaxscope._analysis.columns; print('pandas' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout.strip() == "False"


def test_what_an_inner_jitted_function_captured_is_counted():
    table = np.ones((16, 16), np.float32)
    inner = jax.jit(lambda x: table @ x)
    constants = signature_of(jax.jit(lambda x: inner(x) + 1).trace(np.ones(16, np.float32)), None, None).constants
    assert (constants.count, constants.size_bytes) == (1, 1024)
