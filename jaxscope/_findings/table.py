"""All rules, in the order in which their findings of equal severity are told.

Input: none. Output: `RULES`.
"""

from jaxscope._findings import (
    captured_constants,
    constant_folding,
    dominant_collectives,
    donations,
    host_callbacks,
    implicit_upcasts,
    layout_copies,
    memory_limit,
    opaque_custom_calls,
    padded_sizes,
    recompiles,
    retyped_states,
    side_effects,
    split_kernels,
    stale_captures,
    unrolled_repetition,
    unused_arguments,
)
from jaxscope._findings.records import Rule

RULES: tuple[Rule, ...] = (
    captured_constants.RULE,
    constant_folding.RULE,
    host_callbacks.RULE,
    side_effects.RULE,
    stale_captures.RULE,
    unrolled_repetition.RULE,
    unused_arguments.RULE,
    implicit_upcasts.RULE,
    retyped_states.RULE,
    recompiles.RULE,
    padded_sizes.RULE,
    donations.RULE,
    opaque_custom_calls.RULE,
    layout_copies.RULE,
    split_kernels.RULE,
    dominant_collectives.RULE,
    memory_limit.RULE,
)
