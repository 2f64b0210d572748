"""What to do about an argument whose type does not fit.

Problem: "f32[4,3] and f32[3,4]" leaves the repair to the reader. Input: the compiled type, the given type and the path
of the argument. Output: the expression to pass instead, or a sentence where no expression can help.
"""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from jaxscope import _jax, _jax_types


def x64_note(compiled_dtype: Any, given_dtype: Any) -> str:
    """A sentence where only 64-bit mode makes the difference."""
    if not (isinstance(compiled_dtype, np.dtype) and isinstance(given_dtype, np.dtype)):
        return ""
    same_kind = compiled_dtype.kind == given_dtype.kind
    sizes = (compiled_dtype.itemsize, given_dtype.itemsize)
    if not same_kind or sizes not in ((8, 4), (4, 8), (16, 8), (8, 16)):
        return ""
    mode = "on" if jax.config.jax_enable_x64 else "off"
    wide = sizes[0] > sizes[1]
    if wide and mode == "off":
        return f"The program was compiled for {compiled_dtype}, with 64-bit mode on; it is off now."
    if not wide and mode == "on":
        return f"The program was compiled for {compiled_dtype}; 64-bit mode is on now and keeps {given_dtype}."
    return ""


def type_advice(path: str, value: Any, aval: Any, given: Any, differs: Sequence[str]) -> str:
    """The expression that makes the passed value fit, or the sentence that says it cannot."""
    # A Python number has neither .reshape nor .astype.
    is_number = isinstance(value, int | float | complex) and not hasattr(value, "dtype")
    expression, wanted_type = f"jnp.asarray({path})" if is_number else path, f"pass {_jax_types.short_type(aval)}"
    if _jax_types.is_extended(aval) or _jax_types.is_extended(given):
        return _key_advice(path, aval, given)
    if "shape" in differs:
        if any(_jax.is_symbolic((dimension,)) for dimension in aval.shape):
            return wanted_type
        wanted, brought = tuple(aval.shape), tuple(given.shape)
        if wanted == brought[::-1] and len(wanted) == 2:
            expression = f"{expression}.T"
        elif np.prod(wanted, dtype=object) == np.prod(brought, dtype=object):
            expression = f"{expression}.reshape({_tuple_text(wanted)})"
        elif _broadcasts(brought, wanted):
            expression = f"jnp.broadcast_to({expression}, {_tuple_text(wanted)})"
        else:
            return f"{wanted_type}, or compile for {_jax_types.short_type(given)}"
    if "dtype" in differs:
        if jax.dtypes.float0 in (aval.dtype, given.dtype):
            return wanted_type
        if _needs_x64(aval.dtype):
            return f"call it inside jax.enable_x64(True), or compile for {_jax_types.short_type(given)}"
        if is_number and "shape" not in differs:
            return f"jnp.asarray({path}, '{aval.dtype}')"
        expression = f"{expression}.astype('{aval.dtype}')"
    return expression


def _needs_x64(dtype: Any) -> bool:
    return jax.dtypes.canonicalize_dtype(dtype) != dtype


def _key_advice(path: str, aval: Any, given: Any) -> str:
    if not _jax_types.is_extended(given):
        return f"jax.random.wrap_key_data({path}) if it holds the data of a key"
    if not _jax_types.is_extended(aval):
        return f"jax.random.key_data({path})"
    if aval.dtype == given.dtype:
        return f"pass {_jax_types.short_type(aval)}, or compile for {_jax_types.short_type(given)}"
    return "make the key with the implementation that the program was compiled for"


def _broadcasts(shape: Sequence[int], wanted: Sequence[int]) -> bool:
    try:
        return np.broadcast_shapes(tuple(shape), tuple(wanted)) == tuple(wanted)
    except ValueError:
        return False


def _tuple_text(shape: Sequence[int]) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"
