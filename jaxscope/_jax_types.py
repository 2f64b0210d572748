"""What a stage knows of its inputs and outputs, flat, without unflattening anything the user wrote.

Problem: `Stage.args_info`, `in_avals` and `in_tree` rebuild the user's own containers, whose constructors may raise;
the names of arguments, dropped arguments, hidden inputs and what a compiled call compares have no public interface.
Input: a `Traced`, a `Lowered` and a `Compiled`, any of them None. Output: plain records of avals, names and flags, one
entry per leaf. Each entry says why it is needed and what would let us delete it. Tested on JAX 0.8, 0.10 and 0.12.
It is over 400 lines because a new JAX should break one file.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax._src import core, dtypes, tree_util

from jaxscope import _jax


@dataclass(frozen=True)
class InputTypes:
    """The inputs of a program, one entry per leaf of `tree` unless said otherwise.

    Attributes:
        tree: The structure of the pair (positional arguments, keyword arguments).
        avals: JAX's type of each leaf.
        names: JAX's own name of each leaf, such as ``params['w']``; "" where it has none.
        key_paths: The keys that lead to each leaf; empty when the user's classes refuse to be walked.
        donated: Whether the caller gives the leaf away.
        kept: Whether the compiled program reads the leaf at all; None before lowering.
        requested: The shardings that were asked for; None where nothing was.
        shardings: The shardings it was compiled for, None for dropped leaves; None before compilation.
        layouts: Likewise for layouts.
        hidden: Types of inputs that are no argument of the function: tracers of somebody else's trace.
        refuses_keywords: Whether the compiled call takes no keyword arguments at all.
    """

    tree: Any
    avals: tuple[Any, ...]
    names: tuple[str, ...]
    key_paths: tuple[tuple[Any, ...], ...]
    donated: tuple[bool, ...]
    kept: tuple[bool, ...] | None
    requested: tuple[Any, ...]
    shardings: tuple[Any, ...] | None
    layouts: tuple[Any, ...] | None
    hidden: tuple[Any, ...]
    refuses_keywords: bool


@dataclass(frozen=True)
class OutputTypes:
    """The outputs of a program, one entry per leaf; `names` are paths such as ``result['loss']``."""

    avals: tuple[Any, ...]
    names: tuple[str, ...]
    shardings: tuple[Any, ...] | None
    layouts: tuple[Any, ...] | None


@dataclass(frozen=True)
class MainArgument:
    """One argument of the StableHLO function ``main``.

    Attributes:
        is_token: It orders side effects and holds no data.
        constant: ``_platform_index`` or the name of a symbolic dimension; "" for an ordinary argument.
        aliased_output: Index of the result of ``main`` that takes its buffer; None when JAX fixed none.
        is_donor: Its buffer was given away and XLA may choose a result for it.
    """

    is_token: bool
    constant: str
    aliased_output: int | None
    is_donor: bool


def flatten(tree: Any) -> tuple[list[Any], Any]:
    """Leaves and structure exactly as a compiled call sees them.

    Since 0.11 compiled calls use a registry of their own, which `jax.tree_util` does not export. Deletable when
    `jax.tree_util.tree_flatten` compares equal to `Compiled.in_tree` again by definition.
    """
    return _registry().flatten(tree)


def key_paths(tree: Any) -> tuple[tuple[Any, ...], ...]:
    """The keys that lead to each leaf of `tree`; deletable with `flatten`."""
    leaves, _ = _registry().flatten_with_path(tree)
    return tuple(tuple(path) for path, _ in leaves)


def _registry() -> Any:
    return getattr(tree_util, "tracing_registry", None) or tree_util.default_registry


def abstract_type(value: Any) -> Any:
    """The type that a compiled call gives to `value`, under the 64-bit mode of this moment; raises what JAX raises.

    The public `jax.typeof` refuses abstract values, which jaxscope judges as arrays of their type. Deletable when
    `jax.typeof` takes `jax.ShapeDtypeStruct`.
    """
    if isinstance(value, jax.ShapeDtypeStruct):
        # Not through shaped_abstractify, which warns on 0.12 for every 64-bit type that it narrows.
        dtype = dtypes.canonicalize_dtype(value.dtype, allow_extended_dtype=True)
        return core.ShapedArray(value.shape, dtype, weak_type=bool(getattr(value, "weak_type", False)))
    return core.shaped_abstractify(value)


def traced_type(value: Any) -> Any:
    """The type under which jit traces `value`: like `abstract_type`, with explicit shardings and memory spaces.

    Types that compare equal share a trace. Deletable with `abstract_type`.
    """
    if isinstance(value, jax.ShapeDtypeStruct):
        dtype = dtypes.canonicalize_dtype(value.dtype, allow_extended_dtype=True)
        # Narrowed here because shaped_abstractify warns of it on 0.12.
        value = value if dtype == value.dtype else value.update(dtype=dtype)
    return core.shaped_abstractify(value)


def is_abstract(value: Any) -> bool:
    """Whether `value` is one of JAX's own types already; `jax.core.AbstractValue` leaves the public API."""
    return isinstance(value, core.AbstractValue)


def short_type(aval: Any) -> str:
    """JAX's short form of a type: ``f32[8,128]``, ``f32[8@x,4]``, ``key<fry>[]``, ``float0[3]``.

    `str_short` is the printer jaxprs use; `str` gives the long form and marks weak types with a tilde.
    """
    try:
        return aval.str_short(short_dtypes=True)
    except (AttributeError, TypeError):
        return str(aval)


def short_array_type(shape: Sequence[Any], dtype: Any) -> str:
    """The short form of an array type that JAX may not have, such as a NumPy ``f64[3]`` without 64-bit mode."""
    return short_type(core.ShapedArray(tuple(shape), dtype))


def physical_type(aval: Any) -> Any:
    """The type that the compiler sees: ``u32[2]`` for ``key<fry>[]``; `aval` itself for ordinary types.

    Deletable when extended dtypes say publicly how they are stored.
    """
    return core.physical_aval(aval) if is_extended(aval) else aval


def is_extended(aval: Any) -> bool:
    """Whether the element type is one of JAX's own, such as PRNG keys."""
    return jax.dtypes.issubdtype(getattr(aval, "dtype", np.dtype(np.float32)), jax.dtypes.extended)


def is_committed(value: Any) -> bool:
    """Whether an array insists on its devices; compiled calls move the others.

    `jax.Array.committed` is public since 0.6 only on the array class and not on keys; only plain arrays are checked.
    """
    return bool(getattr(value, "_committed", False))


def is_attached(sharding: Any) -> bool:
    """Whether the devices of a sharding can run something here: compile-only devices cannot.

    Their client is not among the process's backends, and asking `jax.devices` for their platform raises or waits.
    """
    from jax._src import xla_bridge

    clients = list(xla_bridge.backends().values())
    return all(any(getattr(device, "client", None) is client for client in clients) for device in sharding.device_set)


@dataclass(frozen=True)
class CallSignature:
    """What jit compares of a call before it looks at types.

    Attributes:
        key: JAX's own record of static values and structures; equal records share a trace if their types do too.
        leaves: The arrays, positional arguments first, then keyword arguments by name.
        static_positions: Positions of the static arguments that were passed by position.
        static_names: Names of those that were passed by keyword.
        fixed_shardings: Whether the function was jitted with ``in_shardings``.
    """

    key: Any
    leaves: tuple[Any, ...]
    static_positions: tuple[int, ...]
    static_names: tuple[str, ...]
    fixed_shardings: bool


def call_signature(jitted: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> CallSignature:
    """Splits a call of a jitted function as jit does; raises what jit raises, for unhashable static values say.

    `ArgumentSignature` and its parser have no public counterpart. Deletable when jit answers whether a call would hit.

    Args:
        jitted: A function made by `jax.jit`.
        args: The positional arguments.
        kwargs: The keyword arguments.
    """
    from jax._src.lib import jax_jit

    info = jitted._jit_info
    numbers, names = tuple(info.static_argnums or ()), tuple(info.static_argnames or ())
    key, leaves = jax_jit.parse_arguments(
        tuple(args), tuple(kwargs.values()), tuple(kwargs), numbers, names, _registry()
    )
    count = len(args)
    # The parser takes any static values; they are hashed when the call is looked up.
    hash(key)
    positions = sorted({number % count for number in numbers if -count <= number < count} if count else ())
    return CallSignature(
        key=key,
        leaves=tuple(leaves),
        static_positions=tuple(positions),
        static_names=tuple(name for name in kwargs if name in names),
        fixed_shardings=bool(info.user_specified_in_shardings),
    )


def tells_static_types_apart() -> bool:
    """Whether jit traces again for a static keyword argument that is equal but of another type, 1 and True.

    JAX 0.8 looks its traces up by equality alone. Deletable when 0.8 is.
    """
    from jax._src import pjit

    return hasattr(pjit, "_trace_for_jit")


def own_layout(value: Any, aval: Any) -> Any:
    """The layout of a committed array where it is not the device's usual one, else None.

    What is usual is asked of the device's client, for which there is no public way.
    """
    from jax._src.interpreters import pxla

    if not isinstance(value, jax.Array) or is_extended(aval) or not is_committed(value):
        return None
    layout = value.format.layout
    return None if pxla.is_default_layout(layout, value.sharding, aval) else layout


def are_placed_alike(first: Any, second: Any, rank: int) -> bool:
    """Whether two shardings put an array on the same devices in the same pieces, memory kind included.

    `is_equivalent_to` is public but takes the memory kind's default for another one.
    """
    return first.is_equivalent_to(second, rank) and first.memory_kind == second.memory_kind


def are_cut_alike(first: Any, second: Any, rank: int) -> bool:
    """Whether two shardings cut an array into the same pieces, whatever the devices; jit compares no more than that."""
    from jax._src import op_shardings

    return bool(
        op_shardings.are_hlo_shardings_equal(first._to_xla_hlo_sharding(rank), second._to_xla_hlo_sharding(rank))
    )


def device_order(sharding: Any) -> tuple[Any, ...]:
    """The devices of a sharding in its order, which `Sharding.device_set` does not keep."""
    return tuple(sharding._device_assignment)


def explicit_mesh_size(aval: Any) -> int:
    """The number of devices in the mesh that a type names, 1 where it names none or not all of its axes."""
    mesh = getattr(getattr(aval, "sharding", None), "mesh", None)
    explicit = all(axis == jax.sharding.AxisType.Explicit for axis in getattr(mesh, "axis_types", None) or ())
    return int(getattr(mesh, "size", 1) or 1) if explicit else 1


def follows_device_argument(sharding: Any) -> bool:
    """Whether a sharding comes from ``jit(..., backend=)`` or ``device=``, to which arguments are moved."""
    return bool(getattr(sharding, "_device_backend", False))


def input_types(traced: Any, lowered: Any, compiled: Any) -> InputTypes | None:
    """The inputs of a program from whichever stages there are; None when there is none.

    The earliest stage names the types, later ones add what they decided. `_in_tree`, `_num_consts`, `_params`,
    `_lowering.compile_args` and `_executable` have no public counterpart that does not unflatten. Deletable when
    `Stage` offers flat avals with names, and what was dropped.
    """
    flat = _first(_traced_inputs(traced), _lowered_inputs(lowered), _compiled_inputs(compiled))
    if flat is None:
        return None
    tree, all_avals, all_names, all_donated, all_requested, constants = flat
    count = tree.num_leaves
    skipped = len(all_avals) - count
    hidden = tuple(all_avals[constants:skipped])
    total = len(all_avals) - constants
    kept = _kept(lowered, compiled)
    shardings, layouts = _compiled_placement(compiled, total, skipped - constants)
    return InputTypes(
        tree=tree,
        avals=tuple(all_avals[skipped:]),
        names=tuple(all_names[-count:]) if count and len(all_names) >= count else ("",) * count,
        key_paths=_stage_key_paths(compiled, lowered, traced),
        donated=_last(all_donated, count, False),
        kept=None if kept is None else kept(total, skipped - constants),
        requested=_last(all_requested, count, None),
        shardings=shardings,
        layouts=layouts,
        hidden=hidden,
        refuses_keywords=bool(getattr(compiled, "_no_kwargs", False)),
    )


def output_types(traced: Any, lowered: Any, compiled: Any) -> OutputTypes | None:
    """The outputs of a program; None when no stage says. Public `out_info` raises for tokens and references."""
    avals: Sequence[Any] | None = None
    debug = None
    if traced is not None:
        avals, debug = traced.jaxpr.out_avals, _debug_info(traced)
    elif lowered is not None:
        arguments = _compile_arguments(lowered)
        avals, debug = arguments.get("global_out_avals"), getattr(arguments.get("all_args_info"), "debug_info", None)
    elif compiled is not None:
        executable = getattr(compiled, "_executable", None)
        avals = getattr(executable, "out_avals", None)
        debug = getattr(getattr(executable, "_all_args_info", None), "debug_info", None)
    if avals is None:
        return None
    names = tuple(getattr(debug, "result_paths", None) or ())
    executable = getattr(compiled, "_executable", None)
    shardings = tuple(getattr(executable, "_out_shardings", None) or ())
    layouts = tuple(getattr(executable, "_xla_out_layouts", None) or ())
    return OutputTypes(
        avals=tuple(avals),
        names=names if len(names) == len(avals) else tuple(f"result[{index}]" for index in range(len(avals))),
        shardings=shardings[: len(avals)] if len(shardings) >= len(avals) else None,
        layouts=layouts[: len(avals)] if len(layouts) >= len(avals) else None,
    )


def captured_constants(traced: Any) -> list[Any]:
    """The arrays that a traced function took from outside its arguments.

    With `jax_use_simplified_jaxpr_constants` they are literals inside equations, else `ClosedJaxpr.consts`.
    """
    found = {id(constant): constant for _, constant in _jax.captured_values(traced.jaxpr)}
    if getattr(jax.config, "jax_use_simplified_jaxpr_constants", False):
        for literal in _array_literals(traced.jaxpr):
            found[id(literal)] = literal
    return list(found.values())


def live_numpy_array(value: Any) -> np.ndarray | None:
    """The elements, as they are now, of a captured constant that is a writable NumPy array; None for all others.

    JAX wraps such an array without a copy, in a class of its own that is an `np.ndarray` only since 0.9.
    """
    if isinstance(value, jax.Array) or not hasattr(value, "__array__"):
        return None
    array = np.asarray(value)
    return array if array.flags.writeable else None


def _array_literals(closed_jaxpr: Any) -> Iterator[Any]:
    for jaxpr in _jax.every_jaxpr(closed_jaxpr):
        for equation in jaxpr.eqns:
            for operand in equation.invars:
                if isinstance(operand, core.Literal) and np.ndim(operand.val) > 0:
                    yield operand.val


def ordered_effects(traced: Any, lowered: Any) -> int:
    """How many kinds of ordered side effects there are: each adds a token to the inputs and outputs of ``main``."""
    if (found := _compile_arguments(lowered).get("ordered_effects")) is not None:
        return len(found)
    if traced is None:
        return 0
    from jax._src import effects

    return sum(effects.ordered_effects.contains(effect) for effect in traced.jaxpr.effects)


def main_arguments(lowered: Any) -> tuple[list[MainArgument], int] | None:
    """The arguments of ``main`` and the number of its token results; None when the module cannot be read.

    `compiler_ir` is public; the attribute names ``jax.token``, ``jax.global_constant``, ``tf.aliasing_output`` and
    ``jax.buffer_donor`` are what JAX's lowering writes and are documented nowhere.
    """
    if lowered is None:
        return None
    try:
        for operation in lowered.compiler_ir("stablehlo").body.operations:
            if str(operation.attributes["sym_name"]).strip('"') == "main":
                arguments = [_main_argument(attributes) for attributes in operation.arg_attrs]
                return arguments, sum("jax.token" in attributes for attributes in operation.result_attrs)
    except Exception:
        # MLIR bindings raise many types for a module that was closed or is not StableHLO; only notes depend on it.
        return None
    return None


def _main_argument(attributes: Any) -> MainArgument:
    constant = str(attributes["jax.global_constant"]).strip('"') if "jax.global_constant" in attributes else ""
    # "1 : i32"
    aliased = str(attributes["tf.aliasing_output"]).split(":")[0] if "tf.aliasing_output" in attributes else ""
    return MainArgument(
        is_token="jax.token" in attributes,
        constant=constant,
        aliased_output=int(aliased) if aliased else None,
        is_donor="jax.buffer_donor" in attributes,
    )


def captured_references(lowered: Any) -> int:
    """How many mutable references the function captured: each is a trailing argument of ``main``."""
    return len(getattr(_compile_arguments(lowered).get("mut"), "in_mut", None) or ())


def has_symbolic_dimensions(lowered: Any) -> bool:
    """Whether a lowering depends on dimensions without a number.

    `Lowered.cost_analysis` ends the process for such a program on 0.12, so this is asked without touching it.
    """
    arguments = _compile_arguments(lowered)
    if getattr(arguments.get("shape_poly_state"), "uses_dim_vars", False):
        return True
    avals = [*(arguments.get("global_in_avals") or ()), *(arguments.get("global_out_avals") or ())]
    return any(_jax.is_symbolic(_jax.dimensions_of(aval)) for aval in avals)


def platform_of(compiled: Any) -> str:
    """The platform an executable was compiled for, "" when it does not say."""
    try:
        executable = compiled.runtime_executable()
        return str(executable.local_devices()[0].platform)
    except Exception:
        # Compile-only executables have no local devices; other libraries' have no runtime executable at all.
        client = getattr(getattr(getattr(compiled, "_executable", None), "xla_executable", None), "client", None)
        return str(getattr(client, "platform", ""))


def count_cost_on_cpu(stage: Any) -> Any:
    """XLA's cost table of a lowering or an executable by the model of its CPU client; raises where there is no module.

    Compile-only clients and PJRT plugins answer None or refuse. Deletable when `cost_analysis` answers for them.
    """
    from jax._src.lib import _jax as extension

    if isinstance(stage, jax.stages.Lowered):
        module = stage.compiler_ir("hlo").as_hlo_module()
    else:
        module = stage.runtime_executable().hlo_modules()[0]
    return extension.hlo_module_cost_analysis(jax.devices("cpu")[0].client, module)


_Flat = tuple[Any, Sequence[Any], Sequence[str], Sequence[bool], Sequence[Any], int]


def _first(*found: _Flat | None) -> _Flat | None:
    return next((entry for entry in found if entry is not None), None)


def _last(values: Sequence[Any], count: int, otherwise: Any) -> tuple[Any, ...]:
    return tuple(values[len(values) - count :]) if len(values) >= count else (otherwise,) * count


def _debug_info(traced: Any) -> Any:
    return getattr(traced.jaxpr.jaxpr, "debug_info", None)


def _compile_arguments(lowered: Any) -> dict[str, Any]:
    return getattr(getattr(lowered, "_lowering", None), "compile_args", None) or {}


def _traced_inputs(traced: Any) -> _Flat | None:
    if traced is None:
        return None
    names = getattr(_debug_info(traced), "arg_names", None) or ()
    # JAX's own args_info is off by the number of hidden inputs here: donated_invars counts them too.
    parameters = traced._params
    requested = [_sharding_or_none(sharding) for sharding in parameters.get("in_shardings", ())]
    return traced._in_tree, traced.jaxpr.in_avals, names, parameters.get("donated_invars", ()), requested, 0


def _lowered_inputs(lowered: Any) -> _Flat | None:
    if lowered is None:
        return None
    info = _compile_arguments(lowered).get("all_args_info")
    constants = len(getattr(lowered._lowering, "const_args", None) or ())
    return _stage_inputs(lowered, info, constants, lowered.in_tree)


def _compiled_inputs(compiled: Any) -> _Flat | None:
    if compiled is None:
        return None
    info = getattr(getattr(compiled, "_executable", None), "_all_args_info", None)
    parameters = getattr(compiled, "_params", None)
    constants = len(getattr(parameters, "const_args", None) or ())
    return _stage_inputs(compiled, info, constants, parameters.in_tree if parameters else compiled.in_tree)


def _stage_inputs(stage: Any, info: Any, constants: int, tree: Any) -> _Flat:
    leaves = jax.tree_util.tree_leaves(stage.args_info)
    donated = [leaf.donated for leaf in leaves]
    if info is None:
        return tree, [leaf._aval for leaf in leaves], (), donated, (), 0
    return tree, info.in_avals, getattr(info.debug_info, "arg_names", None) or (), donated, (), constants


def _kept(lowered: Any, compiled: Any) -> Callable[[int, int], tuple[bool, ...]] | None:
    constants = len(getattr(getattr(lowered, "_lowering", None), "const_args", None) or ())
    indices = _compile_arguments(lowered).get("kept_var_idx")
    if indices is None:
        constants = len(getattr(getattr(compiled, "_params", None), "const_args", None) or ())
        indices = getattr(getattr(compiled, "_executable", None), "_kept_var_idx", None)
    if indices is None:
        return None
    return lambda total, hidden: tuple(index + constants in indices for index in range(hidden, total))


def _compiled_placement(
    compiled: Any, total: int, hidden: int
) -> tuple[tuple[Any, ...] | None, tuple[Any, ...] | None]:
    """Shardings and layouts per leaf; the executable lists them for what it kept, constants first."""
    executable = getattr(compiled, "_executable", None)
    kept = getattr(executable, "_kept_var_idx", None)
    if kept is None:
        return None, None
    constants = len(getattr(getattr(compiled, "_params", None), "const_args", None) or ())

    def spread(values: Sequence[Any] | None) -> tuple[Any, ...] | None:
        if not values and any(index >= constants for index in kept):
            return None
        remaining = iter((values or ())[constants:])
        flat = [next(remaining, None) if index + constants in kept else None for index in range(total)]
        return tuple(flat[hidden:])

    shardings = spread(getattr(executable, "_in_shardings", None))
    if shardings is not None:
        shardings = tuple(_sharding_or_none(sharding) for sharding in shardings)
    return shardings, spread(getattr(executable, "_xla_in_layouts", None))


def _sharding_or_none(sharding: Any) -> Any:
    # A sharding that was left open is an object of a private class, not None.
    return sharding if isinstance(sharding, jax.sharding.Sharding) else None


def _stage_key_paths(*stages: Any) -> tuple[tuple[Any, ...], ...]:
    for stage in stages:
        if stage is None:
            continue
        try:
            return key_paths(stage.args_info)
        except Exception:
            # args_info of a Traced rebuilds the user's containers, which may raise anything they like.
            continue
    return ()
