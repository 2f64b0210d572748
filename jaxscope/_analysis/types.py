"""One type, sharding or layout in a line, and its size.

Problem: element types below a byte, PRNG keys, `float0` and symbolic dimensions each break the product of shape and
item size, and shardings print over several lines. Input: an aval, a `Sharding` or a `Layout`. Output: bytes or
`Unavailable`, and short text.
"""

import re
from typing import Any

import jax
import numpy as np

from jaxscope import _jax, _jax_types
from jaxscope._analysis.unavailable import Unavailable

MAXIMUM_VALUE_LENGTH = 80

# "params['w']", "xs[0]", "s.opt[0]", "x"
_ROOT = re.compile(r"[^.\[]*")


def size_of(aval: Any) -> int | Unavailable:
    """The bytes of an array type without padding; types below a byte are packed, as XLA packs them."""
    shape, dtype = getattr(aval, "shape", None), getattr(aval, "dtype", None)
    if shape is None or dtype is None:
        return Unavailable("It holds no array.")
    if _jax.is_symbolic(shape):
        return Unavailable(f"The shape depends on symbolic dimensions: {', '.join(map(str, shape))}.")
    physical = _jax_types.physical_type(aval)
    count = int(np.prod([int(dimension) for dimension in physical.shape], dtype=object))
    return (count * _bits(physical.dtype) + 7) // 8


def _bits(dtype: Any) -> int:
    if dtype == jax.dtypes.float0:
        return 0
    # itemsize is 1 for int4, int2 and float4, although XLA packs them.
    if jax.dtypes.issubdtype(dtype, np.integer):
        return int(jax.numpy.iinfo(dtype).bits)
    if jax.dtypes.issubdtype(dtype, np.floating):
        return int(jax.numpy.finfo(dtype).bits)
    return 8 * dtype.itemsize


def describe_sharding(sharding: Any) -> str:
    """One line for a sharding: ``cpu:0``, or ``P(None, 'd') over d=8``."""
    if isinstance(sharding, jax.sharding.NamedSharding):
        # JAX 0.8 prints PartitionSpec('d',) and 0.10 P('d',): made here so that both read alike.
        spec = ", ".join(
            "+".join(map(repr, entry)) if isinstance(entry, tuple) else repr(entry) for entry in sharding.spec
        )
        mesh = ", ".join(f"{name}={size}" for name, size in sharding.mesh.shape.items())
        text = f"P({spec}) over {mesh}"
    elif isinstance(sharding, jax.sharding.SingleDeviceSharding):
        (device,) = sharding.device_set
        text = f"{device.platform}:{device.id}"
    else:
        text = str(sharding)
    memory = getattr(sharding, "memory_kind", None)
    return shorten(text if memory in (None, "device") else f"{text} in {memory}")


def describe_layout(layout: Any, rank: int) -> str:
    """One line for a layout: ``row-major``, or the order of dimensions from major to minor and the tiling."""
    order = tuple(getattr(layout, "major_to_minor", range(rank)))
    tiling = tuple(getattr(layout, "tiling", None) or ())
    text = "row-major" if order == tuple(range(rank)) else f"major to minor ({', '.join(map(str, order))})"
    return text + (f", tiles {', '.join(map(str, tiling))}" if tiling else "")


def shorten(text: str) -> str:
    """`text` in at most `MAXIMUM_VALUE_LENGTH` characters, on one line."""
    cut = text[: MAXIMUM_VALUE_LENGTH + 1].replace("\n", " ")
    return cut if len(cut) <= MAXIMUM_VALUE_LENGTH else cut[: MAXIMUM_VALUE_LENGTH - 1] + "…"


def root_name(path: str) -> str:
    """The parameter at the head of a path: ``params`` of ``params['w']``."""
    found = _ROOT.match(path)
    return (found.group() if found else "") or path


def storage_note(aval: Any) -> str:
    """How an array is stored, where that is not plain from its type; "" where it is."""
    dtype = getattr(aval, "dtype", None)
    if dtype is None:
        return ""
    if _jax_types.is_extended(aval):
        return f"lowered as {_jax_types.short_type(_jax_types.physical_type(aval))}"
    if dtype == jax.dtypes.float0:
        return "holds no data: the gradient of a value that has none"
    bits = _bits(dtype)
    if bits < 8:
        return f"{bits} bits an element; XLA packs {8 // bits} in a byte"
    return ""


def stored_rank(aval: Any) -> int:
    """The number of dimensions of the stored array."""
    # Layouts are those of the stored array: a key array has one dimension more there.
    return len(getattr(_jax_types.physical_type(aval), "shape", ()))


def own_type(value: Any, given: Any) -> str:
    """The type of what was passed, before JAX narrows it: a NumPy ``f64[3]`` stays one."""
    own_dtype = getattr(value, "dtype", None)
    if isinstance(own_dtype, np.dtype) and own_dtype != given.dtype:
        return _jax_types.short_array_type(given.shape, own_dtype)
    return _jax_types.short_type(given)


def describe_value(value: Any) -> str:
    """What a value is that JAX takes for no array; the value itself is not shown."""
    if isinstance(value, np.ndarray):
        return f"numpy array of {shorten(str(value.dtype))}"
    if isinstance(value, int):
        return f"int of {value.bit_length()} bits"
    return f"value of type {shorten(type(value).__name__)}"
