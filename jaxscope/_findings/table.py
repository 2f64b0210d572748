"""All rules, in the order in which their findings of equal severity are told.

Input: none. Output: `RULES`.
"""

from jaxscope._findings import (
    captured_constants,
    dominant_collectives,
    layout_copies,
    opaque_custom_calls,
    split_kernels,
    unused_arguments,
)
from jaxscope._findings.records import Rule

RULES: tuple[Rule, ...] = (
    captured_constants.RULE,
    unused_arguments.RULE,
    opaque_custom_calls.RULE,
    layout_copies.RULE,
    split_kernels.RULE,
    dominant_collectives.RULE,
)
