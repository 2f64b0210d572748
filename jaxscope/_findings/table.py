"""All rules, in the order in which their findings of equal severity are told.

Input: none. Output: `RULES`.
"""

from jaxscope._findings import captured_constants, unused_arguments
from jaxscope._findings.records import Rule

RULES: tuple[Rule, ...] = (
    captured_constants.RULE,
    unused_arguments.RULE,
)
