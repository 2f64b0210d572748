"""Small programs that between them make JAX print every construct the parsers and analyses must understand.

Problem: each corner of the three notations (a region, an escape, an op without results) needs a program that shows it.
Input: nothing. Output: `PROGRAMS`, a name to (function, arguments) with concrete or abstract arguments; every entry
traces, lowers and compiles on one CPU device with each supported JAX. Adding a program is adding a function.

`stages` runs them once per test session, and the programs behind public bug reports as well, where these are at hand.
"""

import contextlib
import functools
import importlib.util
import io
import warnings
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import io_callback
from jax.experimental import pallas as pl
from jax.sharding import Mesh, PartitionSpec

from tests.cases import load, needs_own_process
from tests.shared import SHARED, case_files

PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {}

F4 = jax.ShapeDtypeStruct((4,), jnp.float32)
M4 = jax.ShapeDtypeStruct((4, 4), jnp.float32)


def program(*args: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers the function below under its own name, to be called with `args`."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS[function.__name__] = (function, args)
        return function

    return register


# The smallest ordinary program: one line, two equations.
@program(F4, F4)
def axpy(x, y):
    return 2.0 * x + y


# No equation at all; HLO still has a parameter and a copy.
@program(F4)
def identity(x):
    return x


# No argument at all; everything is a constant.
@program()
def no_arguments():
    return jnp.arange(6.0).reshape(2, 3), 3


# Nested loops: scan inside scan inside fori_loop, with several carried values and stacked results.
@program(F4, 3)
def nested_loops(x, n):
    def inner(carry, step):
        return carry * step + 1, carry.sum()

    def outer(carry, _):
        total, sums = jax.lax.scan(inner, carry, jnp.arange(3.0))
        return total, (sums, total)

    first, ys = jax.lax.scan(outer, x, None, length=5)
    return jax.lax.fori_loop(0, n, lambda i, v: v + i, first), ys


# A data-dependent while loop whose body branches; regions inside regions, both branches of a cond, a three-way switch.
@program(F4)
def while_and_cond(x):
    def body(v):
        return jax.lax.cond(v.sum() > 3, lambda t: t * 2, lambda t: t + 1, v)

    v = jax.lax.while_loop(lambda v: v.sum() < 10, body, x)
    return jax.lax.switch(v.argmax() % 3, [jnp.sin, jnp.cos, lambda t: t], v)


@jax.custom_jvp
def _safe_log(x):
    return jnp.log(x)


@_safe_log.defjvp
def _safe_log_jvp(primals, tangents):
    return _safe_log(primals[0]), tangents[0] / jnp.maximum(primals[0], 1e-6)


@jax.custom_vjp
def _clipped(x):
    return x * x


_clipped.defvjp(lambda x: (_clipped(x), x), lambda x, g: (jnp.clip(g, -1, 1) * x,))


# Custom derivative rules print functions as parameters, and nest their jaxpr.
@program(F4)
def custom_rules(x):
    return _safe_log(x) + _clipped(x)


# Reverse mode through custom rules and a scan: residuals, transposes, name paths with jvp and transpose.
@program(F4)
def gradient(x):
    def loss(x):
        y, _ = jax.lax.scan(lambda c, _: (_clipped(jnp.sin(c)), None), x, None, length=4)
        return jnp.sum(_safe_log(y**2 + 1))

    return jax.value_and_grad(loss)(x)


# Rematerialisation: remat2/checkpoint equations and optimization_barrier in StableHLO.
@program(M4, F4)
def rematerialised(w, x):
    layer = jax.checkpoint(lambda x: jnp.tanh(jnp.tanh(w @ x)))
    return jax.grad(lambda x: layer(layer(x)).sum())(x)


def _one_device_mesh() -> Mesh:
    return Mesh(np.array(jax.devices()[:1]), ("data",))


# shard_map: sdy.manual_computation in StableHLO, a mesh printed in the jaxpr, a collective inside.
@program(F4)
def shard_mapped(x):
    def local(x):
        return x * jax.lax.psum(x.sum(), "data")

    return jax.shard_map(
        local, mesh=_one_device_mesh(), in_specs=PartitionSpec("data"), out_specs=PartitionSpec("data")
    )(x)


# A vmapped gather and a per-example gradient: batched dimension numbers, long parameter lists.
@program(M4, jax.ShapeDtypeStruct((4,), jnp.int32))
def batched(w, index):
    return jax.vmap(lambda row, i: row[i])(w, index), jax.vmap(jax.grad(lambda r: jnp.vdot(r, r)))(w)


# PRNG keys: extended dtypes in the jaxpr, threefry loops in StableHLO, a shared jaxpr printed once.
@program(jax.random.key(0))
def random_numbers(key):
    first, second = jax.random.split(key)
    return jax.random.normal(first, (4,)) + jax.random.uniform(second, (4,))


# Comparator and reducer regions with several arguments; an op with two separately named results (top_k).
@program(F4, F4)
def sorting(x, y):
    return jax.lax.sort((x, y), num_keys=1), jax.lax.top_k(x, 2), jnp.argmin(y), jax.lax.cumsum(x)


# Windows: reduce_window and select_and_scatter with regions in generic form, a variadic reduction.
@program(jax.ShapeDtypeStruct((1, 8, 8, 1), jnp.float32))
def pooling(image):
    def pooled(image):
        return jax.lax.reduce_window(image, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    return pooled(image), jax.grad(lambda i: pooled(i).sum())(image), image.var()


# Convolution: the densest attribute syntax in all three notations.
@program(jax.ShapeDtypeStruct((1, 8, 8, 3), jnp.float32), jax.ShapeDtypeStruct((3, 3, 3, 4), jnp.float32))
def convolution(image, kernel):
    return jax.lax.conv_general_dilated(image, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


# FFT and complex arithmetic: types such as tensor<4xcomplex<f32>> and literals with two parts.
@program(jax.ShapeDtypeStruct((4,), jnp.complex64))
def complex_spectrum(z):
    return jnp.fft.ifft(jnp.fft.fft(z) * (2 + 3j)), jnp.abs(z)


# LAPACK calls: custom calls with several results; custom_linear_solve prints jaxprs inside a named tuple.
@program(M4, F4)
def linear_algebra(a, b):
    return jnp.linalg.cholesky(a @ a.T), jnp.linalg.solve(a, b)


# Sub-byte and 8-bit types, casts between many widths.
@program(jax.ShapeDtypeStruct((4, 4), jnp.int4), jax.ShapeDtypeStruct((4, 4), jnp.bfloat16))
def narrow_types(a, b):
    return (a + a).astype(jnp.int8), b.astype(jnp.float8_e4m3fn).astype(jnp.float32) @ b.astype(jnp.float32)


# Not a number, infinities, extreme and negative literals, booleans.
@program(F4)
def odd_literals(x):
    x = jnp.where(jnp.isnan(x), jnp.nan, jnp.maximum(x, -jnp.inf))
    return jnp.where(x > 1e-30, x, jnp.inf) * -1.5e30, jnp.full((2,), True), jnp.minimum(x, jnp.float32(-0.0))


# Host callbacks: custom calls with opaque backend configurations.
@program(F4)
def callbacks(x):
    y = jax.pure_callback(lambda v: np.asarray(v) * 2, jax.ShapeDtypeStruct((4,), np.float32), x)
    return y + io_callback(lambda v: np.asarray(v), jax.ShapeDtypeStruct((4,), np.float32), x, ordered=False)


# An equation without results whose parameters hold text of the user's: brackets, braces, quotes, a line feed.
@program(F4)
def printing(x):
    jax.debug.print('x = {x} ] }} {{ lambda it\'s "odd"', x=x.sum())
    jax.debug.print("first line\n    second:f32[] = line ] {x}", x=x)
    return x + 1


# Ordered effects: tokens as extra arguments and results, in every notation.
@program(F4)
def ordered_effects(x):
    jax.debug.print("before {}", x[0], ordered=True)
    y = jnp.sin(x)
    io_callback(lambda v: None, None, y, ordered=True)
    return y


# A constant too large to print with care; it becomes an argument of the jaxpr or a long literal.
@program(F4)
def closed_over_constant(x):
    table = np.arange(40_000, dtype=np.float32).reshape(4, 10_000) + 0.5
    return x @ table, x + np.array([[1, 2, 3, 4], [5, 6, 7, 8]], np.float32)


# Scope names are text of the user's: quotes, markup, a backslash, non-ASCII, a slash, a semicolon, brackets, a brace.
@program(F4)
def odd_scopes(x):
    with jax.named_scope('he said "hi" <b>&amp;</b>'):
        x = x + 1
    with jax.named_scope("größe; a/b\\c {d} [e] it's"):
        x = jnp.sin(x)
    with jax.named_scope("metadata={op_name=, loc(#loc1)"):
        return x * 2


# A jitted function called twice: one func, one shared jaxpr, two calls; names made unique by a suffix.
@program(F4)
def nested_jit(x):
    @jax.jit
    def helper(v, scale):
        return jax.jit(lambda t: jnp.tanh(t) * scale)(v) + 1

    return helper(x, 2.0) + helper(x * 3, 2.0), helper(x[:2], 1.0)


# Many results and long binder lists, which wrap over printed lines; pytrees of dictionaries as arguments.
@program({f"layer_{i:02d}": {"weight": M4, "bias's": F4} for i in range(12)})
def many_results(params):
    def step(carry, _):
        return jax.tree.map(lambda p: p * 2, carry), jax.tree.map(jnp.sum, carry)

    return jax.lax.scan(step, params, None, length=2)


# Mutable arrays inside the program: `x[...] <- y` and `a[i] += b` print without a primitive's name.
@program(F4)
def references(x):
    ref = jax.new_ref(x)
    ref[0] = 5.0
    ref[...] += jnp.sin(x)

    def body(i, _):
        ref[i] = ref[i] * 2
        return None

    jax.lax.fori_loop(0, 3, body, None)
    return ref[1:3] + ref[...].sum()


# Pallas in interpret mode: a kernel's jaxpr with Ref binders nested in a pallas_call, loads and stores.
@program(jax.ShapeDtypeStruct((8, 128), jnp.float32))
def pallas_kernel(x):
    def kernel(x_ref, o_ref):
        o_ref[...] = x_ref[...] * 2 + pl.program_id(0)

    spec = pl.BlockSpec((8, 128), lambda i: (i, 0))
    out = jax.ShapeDtypeStruct(x.shape, x.dtype)
    return pl.pallas_call(kernel, out_shape=out, grid=(1,), in_specs=[spec], out_specs=spec, interpret=True)(x)


# An expression spread over several lines, two expressions on one line, a comprehension, a lambda: frames must differ.
@program(F4, F4)
def spread_over_lines(x, y):
    a = x + jnp.cos(
        y,
    )
    b = x * y; c = x - y  # fmt: skip # noqa: E702
    return sum([jnp.exp(v) for v in (a, b, c)]), (lambda v: v / 2)(b)


class Stages:
    """JAX's own objects for one program, each made when first asked for; None where JAX refuses."""

    def __init__(self, make: Callable[[], ModuleType | SimpleNamespace], *, may_fail: bool):
        self._make = make
        self._may_fail = may_fail

    def _try(self, action: Callable[[], Any]) -> Any:
        if not self._may_fail:
            return action()
        # What a bug-report program refuses to do, or prints, or warns of is its subject, not ours.
        with (
            contextlib.suppress(Exception),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")
            return action()
        return None

    @functools.cached_property
    def _module(self) -> Any:
        return self._try(self._make)

    @functools.cached_property
    def traced(self) -> Any:
        def action() -> Any:
            function = self._module.fn
            if not getattr(self._module, "prejitted", False):
                function = jax.jit(function, **getattr(self._module, "jit_kwargs", {}))
            return function.trace(*self._module.args, **getattr(self._module, "kwargs", {}))

        return self._try(action)

    @functools.cached_property
    def lowered(self) -> Any:
        platforms = getattr(self._module, "lowering_platforms", None)
        options = {"lowering_platforms": platforms} if platforms else {}
        return self.traced and self._try(lambda: self.traced.lower(**options))

    @functools.cached_property
    def compiled(self) -> Any:
        options = getattr(self._module, "compile_kwargs", {})
        return self.lowered and self._try(lambda: self.lowered.compile(**options))


def case_names() -> list[str]:
    """The bug-report programs that may run in this process; empty where the material is absent.

    A coroutine that no-one awaits warns when it is collected, in whatever test that happens to be.
    """
    sources = {path.stem: path.read_text() for path in case_files()}
    return [name for name, text in sources.items() if not needs_own_process(text) and "async def" not in text]


@functools.cache
def stages(name: str) -> Stages:
    """The stages of an entry of `PROGRAMS`, or of a case by the stem of its file name; kept for the test session."""
    if name in PROGRAMS:
        function, args = PROGRAMS[name]
        return Stages(lambda: SimpleNamespace(fn=function, args=args), may_fail=False)
    path = next(path for path in case_files() if path.stem == name)
    return Stages(lambda: load(path), may_fail=True)


@functools.cache
def transformer_stages(layers: int = 2) -> Stages | None:
    """The shared training step, with sizes that compile in seconds; None where it is absent."""
    if SHARED is None:
        return None

    def make() -> SimpleNamespace:
        spec = importlib.util.spec_from_file_location("transformer", SHARED / "programs" / "transformer.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        step, args = module.step_and_args(layers=layers, width=64, heads=4, length=16, vocabulary=64)
        return SimpleNamespace(fn=step, args=args)

    return Stages(make, may_fail=False)
