"""Types written as strings, and values and functions written as short strings.

Problem: ``"f32[8,128]"`` is the quickest way to name an abstract array, and the values in a signature may have a repr
of any length that raises or holds an address. Input: a string, or any value. Output: a `jax.ShapeDtypeStruct`, or a
short string for people.
"""

import re
from typing import Any

import jax
import numpy as np

from jaxscope import _jax
from jaxscope.errors import InputError

# "f32[8,@data 128]": a type, then dimensions, each with the mesh axis it is split over, if any.
_SPEC = re.compile(r"^\s*(~?)([a-z][a-z0-9_]*|key<[a-z0-9]+>)\s*\[([^\[\]]*)\]\s*$")
# "@data 128" or "128"; XLA's dimensions are signed 64-bit, so 18 digits always fit
_DIMENSION = re.compile(r"^(?:@([A-Za-z_][A-Za-z0-9_]*)\s+)?([0-9]{1,18})$")

_SHORT_DTYPES = {
    "f": "float",
    "i": "int",
    "s": "int",
    "u": "uint",
    "bf": "bfloat",
    "c": "complex",
}
# f32 → float32, bf16 → bfloat16, f8_e4m3fn → float8_e4m3fn; long names are taken as they are.
_SHORT_DTYPE = re.compile(r"^(bf|[fisuc])([0-9]+)(.*)$")
_MAXIMUM_VALUE_LENGTH = 80
# An address differs from run to run: <Model object at 0x7f3a5c0d8e50>
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
# A line break inside a repr, with the indentation around it: "Tree(\n    depth=3)"
_LINE_BREAK = re.compile(r"\s*\n\s*")


def is_spec(text: str) -> bool:
    """Whether a string has the form of a type."""
    return _SPEC.match(text) is not None


def parse_spec(text: str, mesh: Any = None) -> jax.ShapeDtypeStruct:
    """The abstract array that a string such as ``"f32[8,128]"`` or ``"bf16[8,@data 128]"`` stands for.

    A leading ``~`` means weakly typed, ``key<fry>[]`` a PRNG key, ``@axis`` that the dimension is split over a mesh
    axis.

    Raises:
        InputError: The string is not of this form, its type is unknown, or it names an axis and there is no such mesh.
    """
    match = _SPEC.match(text)
    if match is None:
        raise InputError(
            f"Reading the argument {shorten(text)} as a type: found no type and shape in it. "
            'Write "f32[8,128]", or mark the parameter as static if the string itself is meant.'
        )
    dtype = _parse_dtype(match[2], text)
    dimensions, axes = [], []
    for part in filter(None, (part.strip() for part in match[3].split(","))):
        dimension = _DIMENSION.match(part)
        if dimension is None:
            raise InputError(
                f"Reading the argument {shorten(text)} as a type: the dimension {shorten(part)} is not a number of at "
                'most 18 digits. Write each dimension as 128, or as "@data 128" to split it over a mesh axis.'
            )
        axes.append(dimension[1])
        dimensions.append(int(dimension[2]))
    sharding = _named_sharding(axes, mesh, text) if any(axes) else None
    return jax.ShapeDtypeStruct(tuple(dimensions), dtype, sharding=sharding, weak_type=bool(match[1]))


def read_types(value: Any, mesh: Any = None) -> Any:
    """An argument as it is, but with strings that name a type replaced by that type."""

    def one(leaf: Any) -> Any:
        return parse_spec(leaf, mesh) if isinstance(leaf, str) and is_spec(leaf) else leaf

    try:
        return jax.tree.map(one, value)
    except InputError:
        raise
    except Exception:  # A container that checks its leaves: its strings, if any, stay strings.
        return value


def _parse_dtype(name: str, text: str) -> Any:
    if name.startswith("key<"):
        implementations = {"fry": "threefry2x32", "urbg": "unsafe_rbg"}
        wanted = implementations.get(name[4:-1], name[4:-1])
        try:
            return jax.eval_shape(lambda: jax.random.key(0, impl=wanted)).dtype
        except ValueError as error:
            raise InputError(
                f"Reading the argument {shorten(text)} as a type: {name} is no known key. "
                "Write key<fry>[] or key<rbg>[]."
            ) from error
    short = _SHORT_DTYPE.match(name)
    full = "bool" if name == "pred" else name
    if short is not None:
        full = f"{_SHORT_DTYPES[short[1]]}{short[2]}{('_' + short[3].lstrip('_')) if short[3] else ''}"
    for candidate in (full, name):
        try:
            dtype = jax.numpy.dtype(candidate)
        except TypeError:
            continue
        if _jax.is_array_dtype(dtype):
            return dtype
    raise InputError(
        f"Reading the argument {shorten(text)} as a type: {name} is no array type that JAX knows. "
        "Write it as f32, bf16, i8, u4, c64, bool, or by its full name, float8_e4m3fn."
    )


def _named_sharding(axes: list[str | None], mesh: Any, text: str) -> Any:
    mesh = mesh if mesh is not None else _jax.mesh_in_context()
    names = () if mesh is None else mesh.axis_names
    if missing := [axis for axis in axes if axis is not None and axis not in names]:
        raise InputError(
            f"Reading the argument {shorten(text)} as a type: there is no mesh axis {missing[0]!r} "
            f"(axes: {', '.join(map(str, names)) or 'no mesh at all'}). "
            "Pass mesh=jax.make_mesh((2,), ('data',)), or inspect inside jax.set_mesh(mesh)."
        )
    try:
        return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*axes))
    except Exception as error:  # JAX's DuplicateSpecError, one axis for two dimensions, is a plain Exception.
        raise InputError(
            f"Reading the argument {shorten(text)} as a type: the mesh cannot be laid over it like that ({error}). "
            "Split each dimension over an axis of its own."
        ) from error


def shorten(value: Any, limit: int = _MAXIMUM_VALUE_LENGTH) -> str:
    """A repr that is short whatever the value does: arrays by type, others cut, failing ones named by class."""
    if isinstance(value, jax.Array | np.ndarray) and getattr(value, "ndim", 0):
        return f"{value.dtype}{list(value.shape)}"
    try:
        # The order of a set differs from run to run.
        if type(value) in (set, frozenset):
            text = f"{type(value).__name__}({{{', '.join(sorted(map(repr, value)))}}})"
        else:
            text = repr(value)
    except Exception:  # A user's __repr__ may raise anything; the class name is always there.
        text = f"<{type(value).__name__}>"
    text = _LINE_BREAK.sub(" ", _ADDRESS.sub("", text))
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def is_partial(function: Any) -> bool:
    """Whether a callable binds arguments as `functools.partial` does; Equinox has a class of its own for that."""
    return all(hasattr(function, name) for name in ("func", "args", "keywords"))


def function_name(function: Any) -> str:
    """A name for people: a partial names what it binds, an object its class."""
    if is_partial(function):
        bound = [shorten(value) for value in function.args]
        bound += [f"{key}={shorten(value)}" for key, value in function.keywords.items()]
        return f"partial({', '.join([function_name(function.func), *bound])})"
    name = getattr(function, "__name__", None)
    return name if isinstance(name, str) else type(function).__name__
