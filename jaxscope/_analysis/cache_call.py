"""What jit does for a call of a compiled function, after the call that was inspected.

Problem: a compiled function takes no static arguments and jit does, and not every inspected call leaves a program.
Input: the jitted function, the `CallKey` of the inspected call and another call's arguments. Output: a `CacheVerdict`,
or why there is none.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from jaxscope import _jax_types
from jaxscope._analysis.cache_verdict import CacheVerdict, cache_verdict
from jaxscope._analysis.call_key import CallKey, call_key, with_static_arguments
from jaxscope._analysis.unavailable import Unavailable


def judge_call(
    jitted: Any,
    first: CallKey | Unavailable,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    types: _jax_types.InputTypes | None = None,
) -> CacheVerdict | Unavailable:
    """What jit does for a call of the compiled function after the inspected one, or why nobody can tell.

    Args:
        jitted: The jitted function.
        first: The key of the inspected call.
        args: The positional arguments; static ones may be left out.
        kwargs: The keyword arguments, likewise.
        types: As for `cache_verdict`.
    """
    if isinstance(first, Unavailable):
        return first
    if first.refusals:
        reasons = "; ".join(f"{item.path}: {item.now} ({item.differs})" for item in first.refusals)
        return Unavailable(f"jit raises for the arguments that were inspected, and keeps no program. {reasons}")
    filled, named = with_static_arguments(jitted, first, args, kwargs)
    now = call_key(jitted, filled, named)
    return now if isinstance(now, Unavailable) else cache_verdict(first, now, types)
