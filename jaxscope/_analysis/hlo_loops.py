"""How often the loops of compiled HLO run.

Problem: a loop's body is printed once, and the number of its turns stands in one of several places or nowhere. Input:
the graph of a module and one ``while``. Output: the trip count with its source, or why it is not known.

The compiler's own finding is taken where it left one (``known_trip_count``). Otherwise the loop is read: a counter that
starts at a constant, moves by a constant and is compared with a constant. Counters that begin or end with values of the
program have no count before it runs.
"""

import re
from dataclasses import dataclass

from jaxscope._analysis.hlo_attributes import known_trip_count, whole
from jaxscope._analysis.hlo_module import UNKNOWN, HloModule
from jaxscope._analysis.unavailable import Unavailable

_NOT_CONSTANT = Unavailable("The loop ends when a value of the program says so.")
# constant(12), constant(-1)
_WHOLE_CONSTANT = re.compile(r" constant\((-?\d+)\)")
# What gives the value of its only operand.
_SAME_VALUE = frozenset(("bitcast", "copy", "convert", "reshape", "broadcast"))
# A value is followed through so many instructions at most.
_DEPTH_LIMIT = 40


@dataclass(frozen=True, slots=True)
class _Value:
    """A whole number: a constant, or part `index` of the loop's tuple plus a constant."""

    constant: int
    index: int | None = None


def trip_count(module: HloModule, loop: int) -> tuple[int | Unavailable, str]:
    """How often the body of a ``while`` runs each time, and where that was read.

    Args:
        module: The graph.
        loop: The index of the instruction.
    """
    if (count := known_trip_count(module.attributes(loop))) is not None:
        return count, "known_trip_count"
    count = _read_count(module, loop)
    return (_NOT_CONSTANT, "") if count is None else (count, "the loop's bounds")


def _read_count(module: HloModule, loop: int) -> int | None:
    condition, body = module.called(loop, "condition"), module.called(loop, "body")
    if not condition or not body:
        return None
    comparison = _comparison(module, condition[0])
    if comparison is None:
        return None
    direction, counter, bound = comparison
    start = _initial(module, loop, counter.index)
    step = _step(module, body[0], counter.index)
    if start is None or not step:
        return None
    return _turns(start + counter.constant, step, direction, bound)


def _turns(start: int, step: int, direction: str, bound: int) -> int | None:
    """Of ``for (i = start; i DIRECTION bound; i += step)``; None for a loop that this does not end."""
    if direction in ("LE", "GE"):
        bound += 1 if direction == "LE" else -1
    elif direction == "NE":
        distance = bound - start
        return distance // step if distance % step == 0 and distance // step >= 0 else None
    elif direction not in ("LT", "GT"):
        return None
    distance = bound - start
    is_upwards = direction in ("LT", "LE")
    if (distance <= 0) if is_upwards else (distance >= 0):
        return 0
    # Away from its bound it would run until the number overflows.
    return -(-distance // step) if (step > 0) == is_upwards else None


_MIRRORED = {"LT": "GT", "GT": "LT", "LE": "GE", "GE": "LE", "NE": "NE"}


def _comparison(module: HloModule, condition: int) -> tuple[str, _Value, int] | None:
    """Direction, counter and bound of a condition that compares a part of the tuple with a constant."""
    ops = module.listing.ops
    root, bindings = module.roots[condition], {}
    # A fused comparison: follow its parameters out.
    for _ in range(_DEPTH_LIMIT):
        if root < 0 or ops[root].name not in ("fusion", "call"):
            break
        root, bindings = _inside(module, root, bindings)
    if root < 0 or ops[root].name != "compare" or len(module.operands[root]) != 2:
        return None
    left, right = (_value(module, operand, bindings, 0) for operand in module.operands[root])
    direction = module.attributes(root).get("direction", "")
    if left is None or right is None or direction not in _MIRRORED:
        return None
    if left.index is not None and right.index is None:
        return direction, left, right.constant
    if right.index is not None and left.index is None:
        return _MIRRORED[direction], right, left.constant
    return None


# Parameters of a called computation to the arguments of the call, and what is known where the call stands.
_Bindings = dict[int, tuple[int, "_Bindings"]]


def _inside(module: HloModule, call: int, bindings: _Bindings) -> tuple[int, _Bindings]:
    called = module.called(call, "calls", "to_apply")
    if not called:
        return UNKNOWN, {}
    inner = {
        parameter: (argument, bindings)
        for parameter, argument in zip(module.parameters(called[0]), module.operands[call], strict=False)
    }
    return module.roots[called[0]], inner


def _value(module: HloModule, number: int, bindings: _Bindings, depth: int) -> _Value | None:
    """A whole number as a constant or a part of the tuple that the computation around is given."""
    if number < 0 or depth > _DEPTH_LIMIT:
        return None
    op = module.listing.ops[number]
    operands = module.operands[number]
    if op.name == "parameter" and number in bindings:
        outside, around = bindings[number]
        return _value(module, outside, around, depth + 1)
    if op.name == "constant":
        found = _WHOLE_CONSTANT.search(module.text(number))
        return _Value(int(found[1])) if found else None
    if op.name == "get-tuple-element":
        source = operands[0] if operands else UNKNOWN
        is_given = source >= 0 and module.listing.ops[source].name == "parameter" and source not in bindings
        return _Value(0, whole(module.attributes(number), "index", -1)) if is_given else None
    if op.name in ("fusion", "call"):
        root, inner = _inside(module, number, bindings)
        return _value(module, root, inner, depth + 1)
    if op.name in _SAME_VALUE and len(operands) == 1:
        return _value(module, operands[0], bindings, depth + 1)
    if op.name in ("add", "subtract") and len(operands) == 2:
        left, right = (_value(module, operand, bindings, depth + 1) for operand in operands)
        if left is None or right is None:
            return None
        sign = 1 if op.name == "add" else -1
        if right.index is None:
            return _Value(left.constant + sign * right.constant, left.index)
        if left.index is None and sign > 0:
            return _Value(left.constant + right.constant, right.index)
    return None


def _initial(module: HloModule, loop: int, index: int) -> int | None:
    """The constant that a part of a loop's tuple begins with."""
    ops = module.listing.ops
    operands = module.operands[loop]
    number = operands[0] if operands else UNKNOWN
    if number < 0 or ops[number].name != "tuple" or not 0 <= index < len(module.operands[number]):
        return None
    found = _value(module, module.operands[number][index], {}, 0)
    return found.constant if found is not None and found.index is None else None


def _step(module: HloModule, body: int, index: int) -> int | None:
    """What a body adds to a part of its tuple."""
    ops, root = module.listing.ops, module.roots[body]
    if root < 0 or ops[root].name != "tuple" or not 0 <= index < len(module.operands[root]):
        return None
    found = _value(module, module.operands[root][index], {}, 0)
    return found.constant if found is not None and found.index == index else None
