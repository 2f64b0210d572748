"""Every place where jaxscope touches what JAX does not promise, so that a new JAX breaks one file.

Problem: call stacks of equations, static arguments of a jitted function and the platform of a lowering have no public
interface. Input: JAX's own objects. Output: plain values and the records of `jaxscope._ir.model`. Each entry says why
it is needed and what would let us delete it. Tested on JAX 0.8, 0.10 and 0.12.
"""

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
from jax._src import core, source_info_util
from jax._src import mesh as mesh_library

from jaxscope._ir.model import Frame

# Without this, jaxscope's own frames would stand in every location of every program it compiles; JAX offers this to
# libraries for just that purpose.
source_info_util.register_exclusion(str(Path(__file__).parent) + os.sep)


def is_user_file(file: str) -> bool:
    """Whether JAX itself would call `file` the user's: neither JAX nor the standard library.

    Private because compilers filter frames with exactly this test, and links must agree with them. Deletable when JAX
    exports its frame filter.
    """
    return source_info_util.is_user_filename(file)


def user_frames(traceback: Any) -> tuple[Frame, ...]:
    """The user's frames of a JAX traceback, innermost first, with lines and columns from 1.

    JAX and all its dialects count columns from 0. Deletable with `is_user_file`.
    """
    # JAX 0.8 puts the innermost frame alone where later versions put the traceback.
    single = isinstance(traceback, source_info_util.Frame)
    return tuple(
        Frame(
            file=frame.file_name,
            function=frame.function_name,
            line=frame.start_line,
            column=frame.start_column + 1,
            end_line=frame.end_line,
            end_column=frame.end_column + 1,
        )
        for frame in ([traceback] if single else source_info_util.user_frames(traceback))
    )


# The printer's own width; below the other one, types no longer fit on a line.
_JAXPR_WIDTH = 80
_NARROWEST_JAXPR = 24
# Two equations of one jaxpr on one line: "{ lambda ; a:f32[4]. let b:f32[4] = sin a; c:f32[4] = mul b b in (c,) }"
_CROWDED = re.compile(r" let [^\n]*; [^\n]* in \(")


def print_jaxpr(closed_jaxpr: Any) -> tuple[str, list[list[tuple[int, int, tuple[Frame, ...]]]]]:
    """The jaxpr's text without colour codes, and for each of its lines its equations' (start, end, user's frames).

    The printer puts a short jaxpr on one line, where no equation can be pointed at; it is asked for narrower lines
    until each has its own. `pretty_print` is public, its `source_map` is not documented: the printer is asked because
    its output has no grammar.
    """
    width = _JAXPR_WIDTH
    while True:
        source_map: list[list[tuple[int, int, Any]]] = []
        text = closed_jaxpr.pretty_print(use_color=False, source_map=source_map, width=width)
        crowded = [len(line) for line in text.split("\n") if len(line) <= width and _CROWDED.search(line)]
        if not crowded or width == _NARROWEST_JAXPR:
            break
        width = max(_NARROWEST_JAXPR, max(crowded) - 1)
    known: dict[int, tuple[Frame, ...]] = {}

    def frames_of(traceback: Any) -> tuple[Frame, ...]:
        # Tracebacks are shared between equations and alive for as long as the jaxpr: identity is a safe, cheap key.
        if (found := known.get(id(traceback))) is None:
            found = known[id(traceback)] = user_frames(traceback)
        return found

    return text, [[(start, end, frames_of(traceback)) for start, end, traceback in spans] for spans in source_map]


class JitFacts(NamedTuple):
    """What a jitted function was told about its arguments."""

    function: Any
    static_argnums: tuple[int, ...]
    static_argnames: tuple[str, ...]


def jit_facts(function: Any) -> JitFacts | None:
    """The facts of a function made by `jax.jit`; None for anything else.

    `_jit_info` and `_fun` have no public counterpart. Deletable when PjitFunction exposes them.
    """
    info, wrapped = getattr(function, "_jit_info", None), getattr(function, "_fun", None)
    # functools.wraps copies both onto jax.vmap(jitted), jax.nn.relu and the like, which are not jitted themselves.
    if info is None or wrapped is None or not hasattr(function, "trace"):
        return None
    return JitFacts(wrapped, tuple(info.static_argnums or ()), tuple(info.static_argnames or ()))


def cache_entries(function: Any) -> int | None:
    """How many kinds of calls a jitted function has programs for; None where it does not say.

    `_cache_size` has no public counterpart. Deletable when jit answers what it keeps.
    """
    count = getattr(function, "_cache_size", None) if jit_facts(function) is not None else None
    return count() if callable(count) else None


def platforms_of(lowered: Any) -> tuple[str, ...]:
    """The platforms that a `jax.stages.Lowered` was lowered for; () when JAX does not say.

    `Lowered.compile` compiles for another platform without a word, so it has to be known before.
    """
    return tuple(getattr(getattr(lowered, "_lowering", None), "_platforms", ()) or ())


def compiling_platform(lowered: Any) -> str | None:
    """The platform of the backend that `lowered.compile()` would use; None when JAX does not say.

    It follows the arguments' devices and need not be the default one. Deletable with `platforms_of`.
    """
    options = getattr(getattr(lowered, "_lowering", None), "compile_args", None)
    return getattr(options.get("backend"), "platform", None) if isinstance(options, dict) else None


def is_tracer(value: Any) -> bool:
    """Whether `value` stands for an array inside somebody's trace."""
    return isinstance(value, jax.core.Tracer)


def jaxprs_in(value: Any) -> Iterator[Any]:
    """The open jaxprs directly inside an equation's parameter.

    A closed jaxpr keeps an open one; since 0.12 the two are one class, whose `.jaxpr` is itself.
    """
    if isinstance(inner := getattr(value, "jaxpr", value), core.Jaxpr):
        yield inner
    elif isinstance(value, tuple | list):
        for item in value:
            yield from jaxprs_in(item)


def every_jaxpr(closed_jaxpr: Any) -> Iterator[Any]:
    """A jaxpr and all that its equations hold, each once."""
    waiting, seen = [closed_jaxpr.jaxpr], set()
    while waiting:
        jaxpr = waiting.pop()
        if id(jaxpr) in seen:
            continue
        seen.add(id(jaxpr))
        yield jaxpr
        for equation in jaxpr.eqns:
            for parameter in equation.params.values():
                waiting.extend(jaxprs_in(parameter))


def captured_values(closed_jaxpr: Any) -> Iterator[tuple[Any, Any]]:
    """Each variable that stands for an array from outside a traced function, and the array; inner functions' included.

    A jitted function that is called inside another keeps what it captured in its own closed jaxpr.
    """
    waiting, seen = [closed_jaxpr], set()
    while waiting:
        closed = waiting.pop()
        if id(closed) in seen:
            continue
        seen.add(id(closed))
        open_jaxpr = getattr(closed, "jaxpr", closed)
        yield from zip(open_jaxpr.constvars, getattr(closed, "consts", None) or ())
        for equation in open_jaxpr.eqns:
            for parameter in equation.params.values():
                parts = parameter if isinstance(parameter, tuple | list) else (parameter,)
                waiting.extend(part for part in parts if isinstance(getattr(part, "jaxpr", part), core.Jaxpr))


def all_avals(closed_jaxpr: Any) -> Iterator[Any]:
    """The types of every input, constant and equation result."""
    for jaxpr in every_jaxpr(closed_jaxpr):
        yield from (variable.aval for variable in (*jaxpr.constvars, *jaxpr.invars))
        for equation in jaxpr.eqns:
            yield from (variable.aval for variable in equation.outvars)


def dimensions_of(aval: Any) -> Sequence[Any]:
    """The dimensions of an aval, () where it has none (tokens, references to odd things)."""
    return getattr(aval, "shape", None) or ()


def is_symbolic(dimensions: Iterable[Any]) -> bool:
    """Whether a shape holds a dimension that is not a number (`jax.export.symbolic_shape`)."""
    return any(not isinstance(dimension, int) for dimension in dimensions)


def mesh_in_context() -> Any:
    """The mesh set by `jax.set_mesh` or ``with mesh:``, None when there is none.

    `jax.sharding.get_mesh` is public only since 0.9 and does not see ``with mesh:``.
    """
    concrete = mesh_library.get_concrete_mesh()
    if concrete is not None and not concrete.empty:
        return concrete
    physical = mesh_library.thread_resources.env.physical_mesh
    return None if physical.empty else physical


def is_array_dtype(dtype: Any) -> bool:
    """Whether JAX has arrays of a NumPy dtype (not of objects, strings or records)."""
    try:
        jax.dtypes.canonicalize_dtype(dtype)
    except (TypeError, ValueError):
        return False
    # bfloat16 and the 4-bit types are of NumPy's kind V, like records; records have named fields.
    return dtype.kind not in "OSUMm" and dtype.names is None


def unwrap_stage(stage: Any) -> Any:
    """JAX's own stage inside another library's (Equinox keeps `.lowered` and `.compiled`, Flax NNX `.traced` too)."""
    for name in ("traced", "lowered", "compiled"):
        inner = getattr(stage, name, None)
        if isinstance(inner, jax.stages.Traced | jax.stages.Lowered | jax.stages.Compiled):
            return inner
    return stage


def size_bytes(aval: Any) -> int | None:
    """The bytes of an array type; None where it has no fixed size (tokens, keys, symbolic dimensions)."""
    dimensions = dimensions_of(aval)
    itemsize = getattr(getattr(aval, "dtype", None), "itemsize", None)
    if itemsize is None or is_symbolic(dimensions):
        return None
    total = itemsize
    for dimension in dimensions:
        total *= int(dimension)
    return total


def short_type(leaf: Any) -> str:
    """``f32[8,128]`` for an abstract array, the class for anything else.

    The short form is that of `ShapedArray.str_short`, which `jax.ShapeDtypeStruct` does not offer.
    """
    if isinstance(leaf, jax.ShapeDtypeStruct):
        return core.ShapedArray(leaf.shape, leaf.dtype).str_short(short_dtypes=True)
    return type(leaf).__name__


def meshes_of(traced: Any, compiled: Any) -> tuple[Mapping[str, int], ...]:
    """Axis sizes by name of the meshes that a program names, in the order of their axes, each once.

    They stand in the shardings of arguments and results, and in the parameters of what maps over a mesh.

    Args:
        traced: A `jax.stages.Traced`, or None.
        compiled: A `jax.stages.Compiled`, or None.
    """
    found: dict[tuple[tuple[str, int], ...], None] = {}

    def add(mesh: Any) -> None:
        sizes = tuple((str(axis), int(size)) for axis, size in dict(getattr(mesh, "shape", None) or {}).items())
        if sizes:
            found[sizes] = None

    for name in ("input_shardings", "output_shardings"):
        # What a backend cannot say about its executables it says with one of several errors.
        with contextlib.suppress(Exception):
            for sharding in jax.tree.leaves(getattr(compiled, name)):
                add(getattr(sharding, "mesh", None))
    for jaxpr in every_jaxpr(traced.jaxpr) if getattr(traced, "jaxpr", None) is not None else ():
        for equation in jaxpr.eqns:
            add(equation.params.get("mesh"))
            for sharding in jax.tree.leaves(equation.params.get("sharding")):
                add(getattr(sharding, "mesh", None))
    return tuple(dict(sizes) for sizes in found)


def abstract_mesh_in_context() -> Any:
    """The mesh without devices that `jax.sharding.use_abstract_mesh` set; None when there is none."""
    mesh = mesh_library.get_abstract_mesh()
    return None if mesh is None or mesh.empty else mesh


def mesh_context(mesh: Any) -> Any:
    """A context in which `mesh`, concrete or abstract, is the one that functions find.

    `jax.set_mesh` takes concrete meshes only, and refuses to work inside a trace.
    """
    if isinstance(mesh, jax.sharding.Mesh):
        return jax.set_mesh(mesh)
    return mesh_library.use_abstract_mesh(mesh)


def platform_to_ask(platform: str) -> str:
    """The name under which `jax.devices` knows the platform that a device gives as its own."""
    return {"cuda": "gpu", "rocm": "gpu"}.get(platform, platform)


def is_pmap_of_all_devices(function: Any) -> bool:
    """Whether `function` was made by `jax.pmap` without devices of its own; False where that cannot be seen.

    pmap keeps its options in closures and says nowhere what they are. Deletable with pmap.
    """
    given = _closure(_closure(getattr(function, "lower", None)).get("infer_params"))
    return "devices" in given and "axis_size" in given and given["devices"] is None


def _closure(function: Any) -> dict[str, Any]:
    """The variables that a function took from around it."""
    names = getattr(getattr(function, "__code__", None), "co_freevars", ())
    return dict(zip(names, (cell.cell_contents for cell in getattr(function, "__closure__", None) or ()), strict=False))
