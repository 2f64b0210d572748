"""How much an op computes: one documented rule for each op of StableHLO, CHLO and HLO.

Problem: XLA's own figures skip custom calls, know one convention only and are not there on every platform. Input: an
`Operation`, as the reader of either notation fills it. Output: `Work`, or why it is not known; `RULES` documents it.

Convention. A multiplication and an addition are one FLOP each, and so is every other elementwise operation on
floating-point numbers that hardware has an instruction for: add, subtract, multiply, divide, remainder, maximum,
minimum, negate, abs, sign, rounding, comparison. Functions that take a series or an iteration are counted apart, one
transcendental for each element, and no FLOP; they are those that XLA sets apart, and CHLO's. Arithmetic on integers,
truth values and quantised numbers is counted apart as integer operations. A complex number counts the real FLOPs of
its definition. Moving, selecting, converting and reshaping are no work.
"""

from jaxscope._analysis.rules.entries import RULES, Kind, Rule, rule_of
from jaxscope._analysis.rules.records import (
    Convolution,
    ConvolutionNumbers,
    FourierTransform,
    Operation,
    TriangularSolve,
    operation_name,
)
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._analysis.work import NO_WORK, Work
from jaxscope._ir.shapes import DYNAMIC

__all__ = [
    "RULES",
    "Convolution",
    "ConvolutionNumbers",
    "FourierTransform",
    "Kind",
    "Operation",
    "Rule",
    "TriangularSolve",
    "count_work",
    "operation_name",
    "rule_of",
]


def count_work(operation: Operation) -> Work | Unavailable:
    """What one run of an op computes itself; the ops that a control op runs count on their own.

    Args:
        operation: The op with the attributes that its rule asks for.

    Returns:
        The work; Unavailable for an op without a rule, for arrays whose size is not known before the program runs, and
        where the rule says so. Never an exception, whatever the text held.
    """
    rule = rule_of(operation.name)
    if rule is None:
        return Unavailable(f"There is no rule for {operation.name}.")
    if rule.count is None:
        return NO_WORK
    if any(DYNAMIC in array.dimensions for array in (*operation.operands, *operation.results)):
        return Unavailable(f"{operation.name} works on an array whose size is not known before the program runs.")
    try:
        return rule.count(operation)
    except (IndexError, AttributeError, ValueError, ZeroDivisionError):
        # Text written by hand may lack an attribute, or give numbers that no compiler accepts.
        return Unavailable(f"The text of this {operation.name} lacks what the rule {rule.key!r} needs to know.")
