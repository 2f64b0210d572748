"""What the user handed over, made into a `Request` that holds types and no arrays.

Problem: `show` takes anything that `jax.jit` takes and more (bound methods of jitted functions, other libraries' jit
wrappers, finished stages, strings such as ``"f32[8,128]"``), and must neither run the function nor keep an array alive.
Input: the function, its arguments and the options. Output: a `Request`: how to start, with what, and what is to be said
about it. What jaxscope itself refuses raises `InputError` here, before any work; what JAX refuses is left to JAX, so
that its own error is seen in the stage where it belongs.
"""

import enum
import functools
import inspect
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import jax
import numpy as np

from jaxscope import _jax
from jaxscope._specs import function_name, is_partial, parse_spec, read_types, shorten
from jaxscope.errors import InputError

Kind = Literal["jitted", "plain", "wrapper", "traced", "lowered", "compiled"]


@dataclass(frozen=True)
class StaticArgument:
    """A value that is part of the program and not of its signature; `value` is a shortened repr."""

    name: str
    value: str


@dataclass(frozen=True)
class Request:
    """What to inspect.

    Attributes:
        kind: How to start: ``jitted`` and ``plain`` have `.trace`, a ``wrapper`` is another library's, the rest are
            finished stages.
        name: The function's name for people.
        function: What to start from: a jitted function, a wrapper or a stage; None when it could not be jitted.
        args: Positional arguments; arrays have become `jax.ShapeDtypeStruct`.
        kwargs: Keyword arguments, likewise.
        static: The values that are baked in.
        types: Path and type of every leaf that was asked for, which is all there is to show when tracing fails.
        attributes: Readable paths for leaves that JAX can only number: ``mat[0]`` to ``mat.data``.
        own: The user's own function where it could be found, for its source.
        notes: What the user should know about how the input was read.
        refusal: The exception `jax.jit` raised for the function, which the trace stage reports.
    """

    kind: Kind
    name: str
    function: Any
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    static: tuple[StaticArgument, ...] = ()
    types: tuple[tuple[str, str], ...] = ()
    attributes: Mapping[str, str] = field(default_factory=dict)
    own: Any = None
    notes: tuple[str, ...] = ()
    refusal: Exception | None = None


def read_request(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any], mesh: Any = None) -> Request:
    """Reads what was handed to `show` or `inspect`.

    Args:
        function: Any object that DESIGN names: a function, a jitted one, a wrapper, a stage or an exported program.
        args: Positional arguments as given.
        kwargs: Keyword arguments as given, options taken out.
        mesh: A `jax.sharding.Mesh` for strings with ``@axis``, or None for the mesh in context.

    Raises:
        InputError: A type string that cannot be read, or arguments beside a finished stage.
    """
    for kind, stage in (("traced", "Traced"), ("lowered", "Lowered"), ("compiled", "Compiled")):
        if isinstance(function, getattr(jax.stages, stage)):
            _refuse_arguments(args, kwargs, f"a jax.stages.{stage}")
            return Request(
                kind, _stage_name(function), function, notes=(f"Starts from a finished jax.stages.{stage}.",)
            )
    if isinstance(function, jax.export.Exported):
        return _read_exported(function, args, kwargs, mesh)
    if isinstance(function, types.MethodType) and hasattr(function.__func__, "trace"):
        # A bound method of a jitted function answers to .trace and .lower, but those of the unbound one: self is lost.
        return read_request(function.__func__, (function.__self__, *args), kwargs, mesh)
    if is_partial(function) and _keeps_its_own_jit(function):
        inner = read_request(function.func, (*function.args, *args), {**function.keywords, **kwargs}, mesh)
        note = "A partial of a jitted function: inspected as that function, what is bound passed as arguments."
        return replace(inner, notes=(note, *inner.notes))
    if (facts := _jax.jit_facts(function)) is not None:
        positions, names = _static_arguments(facts, args, kwargs)
        return _build("jitted", function, facts.function, args, kwargs, positions, names, mesh, ())
    if callable(function) and hasattr(function, "lower"):
        owner = type(function).__module__.partition(".")[0]
        note = f"Compiled through {owner}'s own .lower: arguments go to it as they are, but for type strings."
        own = getattr(function, "__wrapped__", None) or getattr(function, "fun", None) or getattr(function, "fn", None)
        return Request(
            "wrapper",
            function_name(function),
            function,
            tuple(read_types(value, mesh) for value in args),
            {name: read_types(value, mesh) for name, value in kwargs.items()},
            own=own,
            notes=(note,),
        )
    return _read_plain(function, args, kwargs, mesh)


def refuse_collisions(function: Any, given: Mapping[str, Any]) -> None:
    """Refuses an option that is also a parameter of the function: nobody could tell which one was meant.

    Raises:
        InputError: The function has a parameter of the same name as an option that was given.
    """
    options = [name for name, value in given.items() if value is not None and value is not False]
    if not options:
        return
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return
    bound = function.keywords if isinstance(function, functools.partial) else {}
    for name in options:
        parameter = parameters.get(name)
        if parameter is not None and parameter.kind is not parameter.VAR_KEYWORD and name not in bound:
            raise InputError(
                f"Reading the option {name}=: {function_name(function)} has a parameter of the same name. "
                f"Bind the function's own first, functools.partial(f, {name}=...), or leave the option out."
            )


def _refuse_arguments(args: Sequence[Any], kwargs: Mapping[str, Any], what: str) -> None:
    if args or kwargs:
        raise InputError(
            f"Reading the arguments for {what}: it was made for fixed arguments already, and {len(args) + len(kwargs)} "
            "more were given. Leave them out; to compare them with the signature, pass call=(...)."
        )


def _stage_name(stage: Any) -> str:
    name = getattr(stage, "fun_name", None) or getattr(stage, "_name", None)
    return name if isinstance(name, str) else type(stage).__name__.lower()


def _keeps_its_own_jit(function: Any) -> bool:
    """Whether a partial calls a jit of its own: behind a second one, static and donated arguments would be lost.

    A bound method of Equinox's wrapper is a partial that jit cannot hash.
    """
    ours = isinstance(function, functools.partial)
    return _jax.jit_facts(function.func) is not None or (not ours and hasattr(function.func, "lower"))


def _read_exported(exported: Any, args: Sequence[Any], kwargs: Mapping[str, Any], mesh: Any) -> Request:
    if not args and not kwargs:
        shardings: Sequence[Any] = [None] * len(exported.in_avals)
        mesh = mesh if mesh is not None else _jax.mesh_in_context()
        if exported.nr_devices > 1 and mesh is not None:
            shardings = exported.in_shardings_jax(mesh)
        args, kwargs = jax.tree.unflatten(
            exported.in_tree,
            [
                jax.ShapeDtypeStruct(aval.shape, aval.dtype, sharding=sharding)
                for aval, sharding in zip(exported.in_avals, shardings, strict=True)
            ],
        )
    note = f"An exported program (for {', '.join(exported.platforms)}), compiled here through its .call."
    if exported.nr_devices > 1 and mesh is None:
        note += f" It was exported for {exported.nr_devices} devices: pass a mesh of as many as mesh=."
    request = _build("plain", jax.jit(exported.call), exported.call, args, kwargs, (), (), mesh, (note,))
    return replace(request, name=exported.fun_name, own=None)


def _read_plain(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any], mesh: Any) -> Request:
    positions = tuple(index for index, value in enumerate(args) if _is_plainly_static(value))
    names = tuple(name for name, value in kwargs.items() if _is_plainly_static(value))
    if inspect.iscoroutinefunction(function):
        # Tracing it would leave a coroutine behind that nobody awaits, and Python warns of that at some later time.
        refusal = TypeError(
            f"Tracing {function_name(function)}: it is a coroutine function (async def), and calling it gives a "
            "coroutine, not arrays. Hand over a plain function."
        )
        return Request("plain", function_name(function), None, own=function, refusal=refusal)
    notes = ["A plain function: jitted for this inspection with jax.jit(f)."]
    if positions or names:
        options = [f"static_argnums={positions}"] if positions else []
        options += [f"static_argnames={names}"] if names else []
        notes = [f"A plain function: jitted for this inspection with jax.jit(f, {', '.join(options)})."]
    try:
        jitted = jax.jit(function, static_argnums=positions or None, static_argnames=names or None)
    except Exception as error:  # What jit says of the object is what the user should read, in the trace stage.
        return Request("plain", function_name(function), None, own=function, refusal=error)
    return _build("plain", jitted, function, args, kwargs, positions, names, mesh, tuple(notes))


def _is_plainly_static(value: Any) -> bool:
    """Values that no array could stand for: text that is no type, functions, enumeration members."""
    if isinstance(value, str):
        # Brackets mean that a type was meant, even when it cannot be read.
        return not set("[]") & set(value)
    if isinstance(value, enum.Enum | bytes):
        return True
    # A callable that is also a pytree (an Equinox module) carries arrays and is an ordinary argument.
    return (
        callable(value)
        and not isinstance(value, jax.Array)
        and jax.tree.structure(value).num_nodes == 1
        and (
            isinstance(value, types.FunctionType | types.BuiltinFunctionType | types.MethodType | type)
            or _jax.jit_facts(value) is not None
            or type(value).__module__.startswith(("jax", "numpy"))
        )
    )


def _static_arguments(
    facts: _jax.JitFacts, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The positions and keywords of this call that the jitted function takes as static."""
    positions = {number % len(args) if number < 0 else number for number in facts.static_argnums if args}
    return tuple(sorted(number for number in positions if number < len(args))), tuple(
        name for name in facts.static_argnames if name in kwargs
    )


def _parameter_names(function: Any, count: int) -> list[str]:
    """Names for positional arguments; ``args[1]`` where the signature does not give one."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return [names[index] if index < len(names) else f"args[{index}]" for index in range(count)]


def _build(
    kind: Kind,
    jitted: Any,
    own: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    positions: tuple[int, ...],
    names: tuple[str, ...],
    mesh: Any,
    notes: tuple[str, ...],
) -> Request:
    labels = _parameter_names(own, len(args))
    static = [StaticArgument(labels[index], shorten(args[index])) for index in positions]
    static += [StaticArgument(name, shorten(kwargs[name])) for name in names]
    narrowed: list[str] = []
    abstract_args = tuple(
        value if index in positions else abstract(value, labels[index], mesh, narrowed)
        for index, value in enumerate(args)
    )
    abstract_kwargs = {
        name: value if name in names else abstract(value, name, mesh, narrowed) for name, value in kwargs.items()
    }
    attributes: dict[str, str] = {}
    types: list[tuple[str, str]] = []
    baked = {item.name for item in static}
    for label, value in (*zip(labels, abstract_args, strict=True), *abstract_kwargs.items()):
        if label not in baked:
            attributes |= attribute_paths(label, value)
            types += _leaf_types(label, value)
    notes += _default_notes(own, args, kwargs)
    if narrowed:
        notes += (f"64-bit types are off (jax_enable_x64): {'; '.join(narrowed)}.",)
    return Request(
        kind,
        function_name(own),
        jitted,
        abstract_args,
        abstract_kwargs,
        tuple(static),
        tuple(types),
        attributes,
        own,
        notes,
    )


def _default_notes(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[str, ...]:
    """Says which defaults are baked in: a default that is not passed is a constant of the program."""
    try:
        bound = inspect.signature(function).bind(*args, **kwargs)
    except (TypeError, ValueError):
        return ()
    given = set(bound.arguments)
    variadic = {p.name for p in bound.signature.parameters.values() if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
    bound.apply_defaults()
    baked = [
        f"{name}={shorten(value)}"
        for name, value in bound.arguments.items()
        if name not in given and name not in variadic
    ]
    return (f"Baked in, because the default was not passed: {', '.join(baked)}.",) if baked else ()


def abstract(value: Any, label: str, mesh: Any, narrowed: list[str]) -> Any:
    """`value` with every array replaced by its type; as it is when its containers do not allow that.

    Weak types, shardings of committed arrays and PRNG keys are kept. `narrowed` collects what 64-bit input becomes.
    """

    def one(path: Any, leaf: Any) -> Any:
        if isinstance(leaf, str):
            return parse_spec(leaf, mesh)
        if isinstance(leaf, np.ndarray | np.generic) and not isinstance(leaf, np.ma.MaskedArray):
            dtype = jax.dtypes.canonicalize_dtype(leaf.dtype) if _jax.is_array_dtype(leaf.dtype) else None
            if dtype is None:
                return leaf
            if dtype != leaf.dtype:
                narrowed.append(f"{label}{jax.tree_util.keystr(path)} {leaf.dtype} → {dtype}")
            return jax.ShapeDtypeStruct(np.shape(leaf), dtype)
        if isinstance(leaf, jax.Array) and not _jax.is_tracer(leaf):
            sharding = leaf.sharding if leaf.committed else None
            return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding, weak_type=leaf.aval.weak_type)
        if _jax.is_tracer(leaf):
            return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, weak_type=leaf.aval.weak_type)
        return leaf

    try:
        return jax.tree_util.tree_map_with_path(one, value)
    except InputError:
        raise
    except Exception:  # A container that checks its leaves (or whose keys do not sort): JAX meets it as it is.
        return value


def _leaf_types(label: str, value: Any) -> list[tuple[str, str]]:
    """Path and type of each leaf; the container's class where it cannot be taken apart."""
    try:
        leaves = jax.tree_util.tree_flatten_with_path(value)[0]
    except Exception:  # Keys that do not sort: JAX says so in the trace stage.
        return [(label, type(value).__name__)]
    return [(label + jax.tree_util.keystr(keys), _jax.short_type(leaf)) for keys, leaf in leaves]


def attribute_paths(path: str, value: Any) -> dict[str, str]:
    """JAX's path of each leaf that it can only number, to the path by the attributes that hold the children.

    Classes registered without key names (sparse matrices, older model classes) flatten to ``mat[0]``; the attribute
    whose value is that very child is what the user calls it.
    """
    found: dict[str, str] = {}
    numbered = jax.tree_util.FlattenedIndexKey

    def walk(node: Any, jax_path: str, readable: str) -> None:
        if jax_path != readable:
            found[jax_path] = readable
        for keys, child in jax.tree_util.tree_flatten_with_path(node, is_leaf=lambda inner: inner is not node)[0]:
            if not keys:
                return
            text = f"[{keys[0].key}]" if isinstance(keys[0], numbered) else jax.tree_util.keystr(keys)
            name = None
            if isinstance(keys[0], numbered):
                name = next((name for name, held in vars(node).items() if held is child), None)
            walk(child, jax_path + text, readable + (f".{name}" if name else text))

    try:
        leaves = jax.tree_util.tree_flatten_with_path(value)[0]
        if any(isinstance(key, numbered) for keys, _ in leaves for key in keys):
            walk(value, path, path)
    except Exception:  # A container that cannot be walked keeps JAX's own paths.
        return {}
    return found


def read_call(call: Any) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
    """The positional and keyword arguments that ``call=`` stands for; None when it was not given.

    Raises:
        InputError: It is neither a tuple or list of positional arguments nor a dict of keyword arguments.
    """
    if call is None:
        return None
    if isinstance(call, tuple | list) and not hasattr(call, "_fields"):
        return tuple(call), {}
    if isinstance(call, Mapping) and all(isinstance(name, str) for name in call):
        return (), dict(call)
    raise InputError(
        f"Reading call={shorten(call)}: found {type(call).__name__}, which is no list of arguments. "
        "Pass a tuple of positional arguments, call=(x,), or a dict of keyword arguments; for both use "
        "inspection.check(...)."
    )
