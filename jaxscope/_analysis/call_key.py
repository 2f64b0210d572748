"""What jit compares of one call of a jitted function.

Problem: jit keeps programs by a key of static values, structures, types, places and settings that nobody sees. Input: a
jitted function and the arguments of a call (arrays, NumPy, Python numbers, `jax.ShapeDtypeStruct`). Output: `CallKey`,
which holds no array and can be kept; `jaxscope._analysis.cache_verdict` compares two of them.
"""

import enum
import functools
import inspect
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import jax
import numpy as np

from jaxscope import _jax, _jax_equations, _jax_types
from jaxscope._analysis.types import describe_value, shorten
from jaxscope._analysis.unavailable import Unavailable

Refusal = Literal["arguments", "by keyword", "not accepted", "not an array"]


@dataclass(frozen=True, slots=True)
class Refused:
    """One reason why jit raises for a call, whatever was called before.

    Attributes:
        path: Where.
        now: What the call has there.
        differs: What is wrong with it.
    """

    path: str
    now: str
    differs: Refusal


@dataclass(frozen=True, slots=True)
class LeafKey:
    """What jit compares of one array; no array is kept.

    Attributes:
        path: Where it sits.
        aval: The type it is traced under.
        text: The type for people.
        sharding: Where it is; None for what is on the host or abstract and free.
        committed: Whether it insists on being there.
        layout: Its layout in memory, where it is committed and not stored as usual.
        abstract: Whether it only stands for an array.
        deleted: Whether the array was deleted or donated, which jit minds only where the program reads it.
        refusal: Why jit refuses it; None for a good array.
    """

    path: str
    aval: Any
    text: str
    sharding: Any = None
    committed: bool = False
    layout: Any = None
    abstract: bool = False
    deleted: bool = False
    refusal: Refusal | None = None


@dataclass(frozen=True)
class CallKey:
    """What jit compares of one call.

    Attributes:
        signature: JAX's record of the static values and structures; None where it refused to make one.
        tree: The structure of the pair (arrays by position, arrays by keyword).
        key_paths: The keys that lead to each leaf.
        leaves: The arrays, in the order of the structure.
        static: The static values by position or name.
        static_names: What to call each of them.
        context: Settings of JAX that belong to the key.
        settings: The same by name.
        refusals: What makes the call raise whatever was called before.
        fixed_shardings: Whether the function was jitted with ``in_shardings``.
    """

    signature: Any
    tree: Any
    key_paths: tuple[tuple[Any, ...], ...]
    leaves: tuple[LeafKey, ...]
    static: Mapping[int | str, Any]
    static_names: Mapping[int | str, str]
    context: tuple[Any, ...]
    settings: Mapping[str, Any]
    refusals: tuple[Refused, ...]
    fixed_shardings: bool


def call_key(jitted: Any, args: Sequence[Any], kwargs: Mapping[str, Any] | None = None) -> CallKey | Unavailable:
    """What jit compares of a call of `jitted`, under the settings of this moment.

    Args:
        jitted: A function made by `jax.jit`.
        args: The positional arguments, static ones included.
        kwargs: The keyword arguments, likewise.

    Returns:
        The key, or why there is none: the function is not jitted, or an argument is a tracer.
    """
    kwargs = dict(kwargs or {})
    facts = _jax.jit_facts(jitted)
    if facts is None:
        return Unavailable("The function was not made by jax.jit, whose cache is the only one that is known.")
    refusals = _binding(facts.function, args, kwargs)
    try:
        found = _jax_types.call_signature(jitted, args, kwargs)
    except Exception as error:
        # jit's own words, of any kind: static values that cannot be hashed, pytrees that cannot be flattened.
        row = Refused("the arguments", shorten(str(error)), "not accepted")
        return CallKey(None, None, (), (), {}, {}, (), {}, (*refusals, row), False)
    names = _positional_names(facts.function, len(args))
    positions = found.static_positions
    dynamic = tuple(value for index, value in enumerate(args) if index not in positions)
    by_name = {name: value for name, value in kwargs.items() if name not in found.static_names}
    leaves, tree = _jax_types.flatten((dynamic, by_name))
    roots = [name for index, name in enumerate(names) if index not in positions]
    key_paths = _key_paths((dynamic, by_name))
    if any(map(_jax.is_tracer, leaves)):
        return Unavailable(
            "An argument is a tracer: inside another jit, grad or vmap, jit keeps no program of its own."
        )
    keys = tuple(_leaf(_path(key_paths, index, roots), leaf) for index, leaf in enumerate(leaves))
    context, settings = _jax_equations.context_of_call()
    refused = [Refused(leaf.path, leaf.text, leaf.refusal) for leaf in keys if leaf.refusal is not None]
    if found.fixed_shardings and kwargs:
        refused.append(Refused("keyword arguments", "some", "by keyword"))
    return CallKey(
        signature=found.key,
        tree=tree,
        key_paths=key_paths,
        leaves=keys,
        static={index: args[index] for index in positions} | {name: kwargs[name] for name in found.static_names},
        static_names={index: names[index] for index in positions} | {name: name for name in found.static_names},
        context=tuple(context),
        settings=settings,
        refusals=(*refusals, *refused),
        fixed_shardings=found.fixed_shardings,
    )


def static_by_identity(key: CallKey) -> tuple[tuple[str, str], ...]:
    """The static values, as (name, shortened repr), that equal no other object, however like it.

    Functions that a module defines are left out: whoever names one passes the same object every time.
    """
    return tuple(
        (key.static_names[place], shorten(repr(value)))
        for place, value in key.static.items()
        if _is_compared_by_identity(value)
    )


def _is_compared_by_identity(value: Any) -> bool:
    if isinstance(value, type | types.ModuleType | types.BuiltinFunctionType | enum.Enum):
        return False
    if isinstance(value, types.FunctionType):
        return value.__name__ == "<lambda>" or "<locals>" in value.__qualname__
    # What jit and NumPy make of functions is as lasting as these.
    if callable(value) and not isinstance(value, functools.partial) and hasattr(value, "__wrapped__"):
        return False
    return type(value).__eq__ is object.__eq__ and not type(value).__module__.startswith(("numpy", "jax"))


def with_static_arguments(
    jitted: Any, first: CallKey, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call of the compiled function as jit would get them: the first call's static ones put in.

    Static arguments that the call brings stay: those by keyword, those that were given by keyword before and are by
    position now, and all where it has as many as the first call.
    """
    facts = _jax.jit_facts(jitted)
    function = facts.function if facts is not None else None
    filled = list(args)
    positions = sorted(place for place in first.static if isinstance(place, int))
    if first.tree is None or len(filled) < len(first.tree.children()[0].children()) + len(positions):
        for position in positions:
            if position <= len(filled) and first.static_names[position] not in kwargs:
                filled.insert(position, first.static[position])
    by_position = set(_positional_names(function, len(filled)))
    named = {
        place: value for place, value in first.static.items() if isinstance(place, str) and place not in by_position
    }
    return tuple(filled), {**named, **kwargs}


def _leaf(path: str, value: Any) -> LeafKey:
    if isinstance(value, np.ma.MaskedArray):
        # Their type is read without complaint, and putting them on a device raises.
        return LeafKey(path, None, describe_value(value), refusal="not an array")
    try:
        aval = _jax_types.traced_type(value)
    except Exception:
        # Whatever JAX says of a value that is no array: TypeError, ValueError, OverflowError and others.
        return LeafKey(path, None, describe_value(value), refusal="not an array")
    text = _jax_types.short_type(aval) + (" weak" if getattr(aval, "weak_type", False) else "")
    sharding = getattr(value, "sharding", None)
    if isinstance(value, jax.Array):
        if not _jax_types.is_extended(aval) and value.is_deleted():
            return LeafKey(path, aval, f"{text} deleted", sharding, _jax_types.is_committed(value), deleted=True)
        layout = _jax_types.own_layout(value, aval)
        return LeafKey(path, aval, text, sharding, _jax_types.is_committed(value), layout)
    abstract = isinstance(value, jax.ShapeDtypeStruct) or _jax_types.is_abstract(value)
    sharding = sharding if isinstance(value, jax.ShapeDtypeStruct) else None
    return LeafKey(path, aval, text, sharding, sharding is not None, None, abstract)


def _key_paths(tree: Any) -> tuple[tuple[Any, ...], ...]:
    try:
        return _jax_types.key_paths(tree)
    except Exception:
        # Classes may refuse to name their children although they can be flattened.
        return ()


def _path(key_paths: Sequence[Sequence[Any]], index: int, roots: Sequence[str]) -> str:
    if index >= len(key_paths):
        return f"leaf {index}"
    side, argument, *inside = key_paths[index]
    root = roots[argument.idx] if side.idx == 0 else str(argument.key)
    return root + jax.tree_util.keystr(tuple(inside))


def _positional_names(function: Any, count: int) -> list[str]:
    """What to call each positional argument: the parameter's name, or its place."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [parameter.name for parameter in parameters if parameter.kind in kinds][:count]
    return names + [f"args[{index}]" for index in range(len(names), count)]


def _binding(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Refused, ...]:
    """A reason where the arguments do not fit the function's parameters."""
    try:
        inspect.signature(function).bind(*args, **kwargs)
    except TypeError as error:
        return (Refused("the arguments", shorten(str(error)), "arguments"),)
    except ValueError:
        # Built-in functions have no signature.
        pass
    return ()
