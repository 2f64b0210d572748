"""Never the wrong machine: whatever is handed over ends as a program for the target, or as a stage that failed.

The oracle is JAX itself, told by hand where everything is: the same program, but for places in the source.
"""

import functools

import equinox
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

import jaxscope
from jaxscope import _placement
from jaxscope._targets import resolve_target
from jaxscope.errors import InputError, TargetMismatchError
from tests.plugins import BOTH, CUDA, CUDA_TEXT, TPU, without_places

CPU = jax.devices("cpu")[0]
CAPTURED = jnp.arange(5000.0)  # On the CPU, and too large to be printed as a literal.
COMMITTED = jax.device_put(jnp.arange(5000.0), CPU)
KEY = jax.random.key(7)

pytestmark = pytest.mark.parametrize("name", BOTH)


def devices_of(name):
    return jaxscope.targets().devices(name)


def assert_for(inspection, name, count=1):
    """The compiled program is for `count` devices of the target, by JAX's own objects."""
    assert inspection.error is None and inspection.stages["compile"].status == "done", inspection.stages
    devices = devices_of(name)
    shardings = jax.tree.leaves((inspection.compiled.input_shardings, inspection.compiled.output_shardings))
    for sharding in shardings:
        assert sharding.device_set <= set(devices) and len(sharding.device_set) == count
    header = inspection.hlo.partition("\n")[0]
    assert (f"num_partitions={count}" in header) == (count > 1)
    assert (":T(" in header) == name.startswith("tpu"), "tiled layouts are the mark of a TPU program"


def by_hand(function, *args, device):
    """What JAX compiles when every argument says where it is, or else every result."""
    place = SingleDeviceSharding(device)
    args = [jax.ShapeDtypeStruct(arg.shape, arg.dtype, sharding=place) for arg in args]
    return jax.jit(function, **({} if args else {"out_shardings": place})).lower(*args).compile().as_text()


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


PROGRAMS = {
    "a product": (lambda x: x @ x.T, [f32(256, 128)]),
    "no arguments": (lambda: jnp.arange(4000.0) * 2, []),
    "no arguments, a captured array": (lambda: CAPTURED * 2, []),
    "no arguments, a committed captured array": (lambda: COMMITTED * 2, []),
    "a captured array": (lambda x: x + CAPTURED, [f32(5000)]),
    "a committed captured array": (lambda x: x + COMMITTED, [f32(5000)]),
    "a captured NumPy array": (lambda x: x + np.arange(5000, dtype=np.float32), [f32(5000)]),
    "a captured key": (lambda x: x + jax.random.normal(KEY, (50,)), [f32(50)]),
    "a key made inside": (lambda: jax.random.normal(jax.random.key(3), (50,)), []),
    "a raw key": (lambda key: jax.random.normal(key, (50,)), [jax.ShapeDtypeStruct((2,), jnp.uint32)]),
    "a typed key": (lambda key: jax.random.normal(key, (50,)), [jax.ShapeDtypeStruct((), KEY.dtype)]),
    "an array put on a device inside": (lambda x: jax.device_put(x, CPU) * 2, [f32(50)]),
    "a jit inside": (lambda x: jax.jit(lambda y: y * 2)(x), [f32(50)]),
    "control flow": (lambda x: jax.lax.fori_loop(0, 9, lambda _, y: y @ y, x), [f32(64, 64)]),
    "a gradient": (jax.grad(lambda x: jnp.sum(jnp.sin(x))), [f32(50)]),
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_program_is_the_one_that_jax_compiles_when_told_where(name, program):
    function, args = PROGRAMS[program]
    inspection = jaxscope.inspect(function, *args, target=name)
    theirs = by_hand(function, *args, device=devices_of(name)[0])
    # The name in the first line is that of the function, which jit gives to both.
    assert without_places(inspection.hlo) == without_places(theirs)


def test_no_result_no_argument(name):
    inspection = jaxscope.inspect(lambda: None, target=name)
    assert inspection.stages["compile"].status == "done"
    assert inspection.stablehlo


@pytest.mark.parametrize(
    ("function", "args"),
    [
        pytest.param(jax.jit(lambda x: x + 1, donate_argnums=0), ["f32[8,128]"], id="donated"),
        pytest.param(jax.jit(lambda x, n: x * n, static_argnums=1), ["f32[8,128]", 3], id="static"),
        pytest.param(lambda x, y: x * y, [jnp.ones((8, 128)), 2.0], id="arrays and scalars"),
        pytest.param(lambda x: x * 2, [jax.device_put(np.ones((8, 128), np.float32), CPU)], id="a committed array"),
        pytest.param(lambda tree: tree["a"][0] * tree["b"], [{"a": [jnp.ones(9)], "b": 1}], id="a pytree"),
        pytest.param(jax.jit(lambda x: x * 2).trace(jnp.ones((8, 128))), [], id="Traced"),
        pytest.param(functools.partial(jax.jit(lambda x, y: x * y), jnp.ones(9)), ["f32[9]"], id="a partial"),
        pytest.param(equinox.filter_jit(lambda x: x * 2), [jnp.ones((8, 128))], id="Equinox's own jit"),
        pytest.param(
            jax.export.export(jax.jit(lambda x: x * 2), platforms=["tpu", "cuda"])(jnp.ones((8, 128))),
            [],
            id="exported for accelerators",
        ),
    ],
)
def test_everything_that_can_be_handed_over_goes_to_the_target(name, function, args):
    assert_for(jaxscope.inspect(function, *args, target=name), name)


def test_donation_survives(name):
    inspection = jaxscope.inspect(jax.jit(lambda x: x + 1, donate_argnums=0), "f32[8,128]", target=name)
    assert "input_output_alias" in inspection.hlo.partition("\n")[0]
    assert inspection.signature["donated"].tolist() == [True, False]


def test_arrays_of_this_process_are_moved_in_thought_and_it_is_said(name):
    array = jax.device_put(jnp.ones(8), CPU)
    inspection = jaxscope.inspect(lambda x: x * 2, array, target=name)
    assert_for(inspection, name)
    assert any("1 argument was on devices of this process" in note for note in inspection.notes)
    assert array.devices() == {CPU}
    assert not any("this process" in note for note in jaxscope.inspect(lambda x: x, "f32[8]", target=name).notes)


def test_values_made_while_tracing_are_made_here(name):
    """On the target's devices they could not be: nothing runs there."""

    def function(x):
        with jax.ensure_compile_time_eval():
            return x * jnp.arange(3.0).sum()

    assert_for(jaxscope.inspect(function, "f32[8]", target=name), name)


def test_a_function_can_be_compiled_for_one_machine_after_another(name):
    """JAX caches traces and lowerings; none of them may be taken for another machine's."""
    function = jax.jit(lambda x: x * 2)
    for target in (name, "cpu", name):
        inspection = jaxscope.inspect(function, "f32[8]", target=target)
        if target == "cpu":
            assert inspection.compiled(np.ones(8, np.float32)).tolist() == [2.0] * 8
        else:
            assert_for(inspection, name)
    assert function(jnp.ones(8)).devices() == {CPU}


# What names devices of its own.

ELSEWHERE = {
    "backend=": lambda: (jax.jit(lambda x: x * 2, backend="cpu"), ["f32[8]"]),
    "device=": lambda: (jax.jit(lambda x: x * 2, device=CPU), ["f32[8]"]),
    "in_shardings=": lambda: (jax.jit(lambda x: x * 2, in_shardings=SingleDeviceSharding(CPU)), ["f32[8]"]),
    "out_shardings=": lambda: (jax.jit(lambda x: x * 2, out_shardings=SingleDeviceSharding(CPU)), ["f32[8]"]),
    "no arguments, backend=": lambda: (jax.jit(lambda: jnp.ones(8), backend="cpu"), []),
    "a jit inside": lambda: (lambda x: jax.jit(lambda y: y * 2, device=CPU)(x), ["f32[8]"]),
    "a constraint inside": lambda: (
        lambda x: jax.lax.with_sharding_constraint(x, NamedSharding(Mesh([CPU], "a"), PartitionSpec("a"))),
        ["f32[8]"],
    ),
    "a shard_map inside": lambda: (
        lambda x: jax.shard_map(
            lambda y: y * 2,
            mesh=Mesh([CPU], "a", axis_types=(AxisType.Auto,)),
            in_specs=PartitionSpec("a"),
            out_specs=PartitionSpec("a"),
        )(x),
        ["f32[8]"],
    ),
    "Lowered": lambda: (jax.jit(lambda x: x * 2).lower(jnp.ones(8)), []),
    "Compiled": lambda: (jax.jit(lambda x: x * 2).lower(jnp.ones(8)).compile(), []),
    "Traced": lambda: (jax.jit(lambda x: x * 2).trace(jax.device_put(jnp.ones(8), CPU)), []),
    "Exported": lambda: (jax.export.export(jax.jit(lambda x: x * 2))(jnp.ones(8)), []),
}


@pytest.mark.parametrize("what", ELSEWHERE)
def test_what_names_other_devices_fails_and_says_so(name, what):
    function, args = ELSEWHERE[what]()
    inspection = jaxscope.inspect(function, *args, target=name)
    assert inspection.stages["compile"].status != "done", "a program for another machine was shown"
    assert inspection.error is not None
    if isinstance(inspection.error, TargetMismatchError):
        message = str(inspection.error)
        assert (
            message.startswith(("Lowering ", "Compiling ")) and f"for {name}: " in message and "Leave them" in message
        )
    else:  # JAX noticed first, and names both.
        assert what == "Exported"


def test_pmap_without_devices_is_refused_and_with_them_compiled(name):
    with pytest.raises(InputError, match=r'jax\.pmap takes the devices of this process.*targets\(\)\.devices\("'):
        jaxscope.inspect(jax.pmap(lambda x: x * 2), "f32[4,8]", target=name)
    function = jax.pmap(lambda x: x - jax.lax.pmean(x, "i"), "i", devices=devices_of(name))
    inspection = jaxscope.inspect(function, "f32[4,8]", target=name)
    assert_for(inspection, name, count=4)
    assert "all-reduce" in inspection.hlo


def test_own_stages_for_the_target_are_accepted(name):
    place = SingleDeviceSharding(devices_of(name)[0])
    lowered = jax.jit(lambda x: x * 2).lower(jax.ShapeDtypeStruct((8,), jnp.float32, sharding=place))
    assert_for(jaxscope.inspect(lowered, target=name), name)
    assert_for(jaxscope.inspect(lowered.compile(), target=name), name)


OTHERS = [
    pytest.param("tpu:v5e:1x1", marks=TPU),
    pytest.param("tpu:v5p:2x2x1", marks=TPU),
    pytest.param("cuda:h100", marks=(CUDA, CUDA_TEXT)),
    pytest.param("cuda:a100-80gb:4", marks=(CUDA, CUDA_TEXT)),
    "rocm",
]


@pytest.mark.parametrize("other", OTHERS)
def test_a_program_for_one_machine_is_not_taken_for_anothers(name, other):
    """Down to two machines of one platform, or of one kind and different size."""
    sharding = NamedSharding(Mesh(np.array(devices_of(name)), "a"), PartitionSpec("a"))
    lowered = jax.jit(lambda x: x * 2).lower(jax.ShapeDtypeStruct((8,), jnp.float32, sharding=sharding))
    for stage in (lowered, lowered.compile()):
        inspection = jaxscope.inspect(stage, target=other)
        assert inspection.stages["compile"].status != "done"
        if other != "rocm" or stage is lowered:
            assert isinstance(inspection.error, TargetMismatchError) and other in str(inspection.error)


def test_the_check_looks_at_the_text_too(name):
    """A product whose objects say nothing is still judged by what it prints."""

    class Silent:
        def runtime_executable(self):
            return None

        def as_text(self):
            wrong = "f32[8]{0}" if name.startswith("tpu") else "f32[8]{0:T(128)}"
            return f"HloModule jit_f, entry_computation_layout={{({wrong})->{wrong}}}, num_partitions=8\n"

    placement = _placement.place(resolve_target(name))
    with pytest.raises(TargetMismatchError, match=r"needs 8 devices|layouts in tiles"):
        placement.check_compiled(Silent(), None, "f")


def test_shardings_without_axes_are_refused(name):
    """They say which devices hold what, and those are not there."""

    class Two(jax.sharding.Sharding):
        """A sharding over two devices that is of no kind JAX knows."""

        device_set = frozenset({CPU, "another"})
        memory_kind = None

    placement = _placement.place(resolve_target(name))
    with pytest.raises(InputError, match=r"Placing the argument \['x'\] on .*names no mesh axes.*NamedSharding"):
        _placement._moved(Two.__new__(Two), placement, "['x']")


def test_host_memory_stays_host_memory(name):
    sharding = SingleDeviceSharding(devices_of(name)[0], memory_kind="pinned_host")
    placement = _placement.place(resolve_target(name))
    assert _placement._moved(sharding, placement, "") is sharding


def test_strict_raises_the_mismatch(name):
    with pytest.raises(TargetMismatchError):
        jaxscope.inspect(jax.jit(lambda x: x, backend="cpu"), "f32[8]", target=name, strict=True)


def test_texts_links_and_memory_are_there(name):
    def two_lines(x):
        y = jnp.sin(x)
        return y @ x.T

    inspection = jaxscope.inspect(two_lines, "f32[256,128]", target=name)
    listing = inspection._facts.listing("hlo")
    lines = {frame.line for frame in listing.listing.stacks.frames if frame.file == __file__}
    first = two_lines.__code__.co_firstlineno
    assert {first + 1, first + 2} & lines
    memory = inspection.memory.set_index("memory")["size_bytes"]
    assert memory["argument"] == 256 * 128 * 4 and memory["output"] == 256 * 256 * 4
    assert resolve_target(name).label in str(inspection)
