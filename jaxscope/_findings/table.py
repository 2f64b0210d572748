"""All rules, in the order in which their findings of equal severity are told.

Input: none. Output: `RULES`.
"""

from jaxscope._findings import (
    captured_constants,
    donations,
    implicit_upcasts,
    memory_limit,
    padded_sizes,
    recompiles,
    unused_arguments,
    weak_typed_outputs,
)
from jaxscope._findings.records import Rule

RULES: tuple[Rule, ...] = (
    captured_constants.RULE,
    unused_arguments.RULE,
    implicit_upcasts.RULE,
    weak_typed_outputs.RULE,
    recompiles.RULE,
    padded_sizes.RULE,
    donations.RULE,
    memory_limit.RULE,
)
