"""All rules, in the order in which their findings of equal severity are told.

Input: none. Output: `RULES`.
"""

from jaxscope._findings import (
    captured_constants,
    constant_folding,
    host_callbacks,
    side_effects,
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
)
