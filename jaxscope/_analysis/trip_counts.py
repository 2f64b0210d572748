"""How often the loops of a StableHLO module run.

Problem: a ``while`` says only when it goes on; that a ``scan`` over 48 layers runs 48 times is in a counter that starts
at a constant, grows by a constant and is compared with one, all of which may come from further out: as a value that
the loop carries along unchanged, or as the argument of a function. Input: a `Program`, and where there is one the
jaxpr that it was lowered from. Output: the count of each loop, or why it is not known. Nothing is guessed: a loop whose
end depends on data has no count.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from jaxscope._analysis.regions import Program, Value
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._ir.model import NO_STACK, Listing, Op
from jaxscope._ir.shapes import ArrayType, read_mlir_types

BOUNDS = "the loop's bounds"
JAXPR = "the jaxpr's scan"

# `stablehlo.constant dense<-3> : tensor<i32>`    `"stablehlo.constant"() <{value = dense<5> : tensor<i32>}>`
_INTEGER = re.compile(r"\bdense<(-?\d+)> ?: ?tensor<")
# `stablehlo.compare  LT, %iterArg, %c`    `comparison_direction = #stablehlo<comparison_direction LT>`
_DIRECTION = re.compile(r"\b(LT|LE|GT|GE|NE|EQ)\b")
# The number of steps among the parameters of a scan: `  length=12`    ` length=12 linear=(False,)`
_LENGTH = re.compile(r"(?<![\w.])length=(\d+)(?=\s|\]|$)")

_MIRRORED = {"LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE", "NE": "NE", "EQ": "EQ"}
_PASSED_ON = frozenset(
    f"stablehlo.{name}" for name in ("convert", "reshape", "broadcast_in_dim", "optimization_barrier", "transpose")
)
# Longer chains of definitions are nobody's loop bound. Python's own stack is finite, and a value that is used twice by
# one that is used twice takes time without end.
_MAX_DEPTH = 100
_MAX_VALUES = 5000
_UNKNOWN = Unavailable("How often it runs depends on data: its condition compares no counter with a constant.")


@dataclass(frozen=True, slots=True)
class _Affine:
    """`offset`, plus the value that loop `loop` carries at place `place` where there is a loop."""

    offset: int
    loop: int | None = None
    place: int = 0


# The values of a called function's arguments at one call, by (block, number).
_Arguments = Mapping[tuple[int, int], "_Affine | None"]


def read_trip_counts(program: Program, jaxpr: Listing | None = None) -> dict[int, tuple[int | Unavailable, str]]:
    """The count of every ``stablehlo.while``.

    Args:
        program: The module.
        jaxpr: What it was lowered from; asked only where the module does not say, and believed only where there is no
            doubt which scan a loop comes from.

    Returns:
        The index of each loop op to its count, or why it is not known, and where that was read.
    """
    reader = _Reader(program)
    loops = [index for index, op in enumerate(program.listing.ops) if op.name == "stablehlo.while"]
    counts = {index: reader.trip_count(index) for index in loops}
    lengths: dict[int, int] = {}
    if jaxpr is not None and None in counts.values():
        lengths = _scan_lengths(program.listing, loops, jaxpr)
    found: dict[int, tuple[int | Unavailable, str]] = {}
    for index, count in counts.items():
        if count is not None:
            found[index] = (count, BOUNDS)
        else:
            found[index] = (lengths[index], JAXPR) if index in lengths else (_UNKNOWN, "")
    return found


class _Reader:
    def __init__(self, program: Program):
        self.program = program
        self.ops = program.listing.ops
        self.steps: dict[tuple[int, int], int | None] = {}
        self.constant_arguments: dict[tuple[int, int], _Affine | None] = {}
        # Loops that are looked at from inside: what they carry stands for itself.
        self.open: list[int] = []
        self.values_left = 0

    def trip_count(self, loop: int) -> int | None:
        """The count of a loop, None where it is not known."""
        program = self.program
        self.values_left = _MAX_VALUES
        regions = program.regions.get(loop, ())
        if len(regions) != 2 or (last := program.terminator(regions[0])) is None:
            return None
        conditions = program.operands(last)
        comparison = program.listing.definition(regions[0], conditions[0].name) if len(conditions) == 1 else None
        if comparison is None or self.ops[comparison].name != "stablehlo.compare":
            return None
        sides = program.operands(comparison)
        direction = _DIRECTION.search(program.own_text(comparison))
        types = read_mlir_types(program.own_text(comparison).rpartition(": ")[2])
        if len(sides) != 2 or direction is None or not types:
            return None
        self.open.append(loop)
        try:
            block = self.ops[comparison].block
            left, right = (self.evaluate(block, side, {}, 0) for side in sides)
        finally:
            self.open.pop()
        if left is None or right is None:
            return None
        word = direction[1]
        if self.is_fixed(left, loop) and not self.is_fixed(right, loop):
            left, right, word = right, left, _MIRRORED[word]
        start, bound = self.entering(left, loop), self.entering(right, loop)
        if not self.is_fixed(right, loop) or start is None or bound is None:
            return None
        step = 0 if self.is_fixed(left, loop) else self.step(loop, left.place)
        return None if step is None else _count_steps(word, start, bound, step, types[0])

    def is_fixed(self, value: _Affine, loop: int) -> bool:
        """Whether a value is the same in every step of a loop."""
        return value.loop != loop or self.step(loop, value.place) == 0

    def entering(self, value: _Affine, loop: int) -> int | None:
        """A value as it is in the first step of a loop, where that is a constant."""
        if value.loop == loop:
            initial = self.initial(loop, value.place)
            return initial.offset + value.offset if initial is not None and initial.loop is None else None
        return value.offset if value.loop is None else None

    def initial(self, loop: int, place: int, arguments: _Arguments | None = None, depth: int = 0) -> _Affine | None:
        """What a loop carries at `place` before its first step."""
        values = self.program.operands(loop)
        if place >= len(values):
            return None
        return self.evaluate(self.ops[loop].block, values[place], arguments or {}, depth)

    def step(self, loop: int, place: int) -> int | None:
        """By how much what a loop carries at `place` grows in each step; None where that is not constant."""
        key = (loop, place)
        if key not in self.steps:
            self.steps[key] = None
            body = self.program.regions[loop][-1]
            last = self.program.terminator(body)
            values = self.program.operands(last) if last is not None else []
            if place < len(values):
                self.open.append(loop)
                try:
                    value = self.evaluate(body, values[place], {}, 0)
                finally:
                    self.open.pop()
                if value is not None and value.loop == loop and value.place == place:
                    self.steps[key] = value.offset
        return self.steps[key]

    def evaluate(self, block: int, value: Value, arguments: _Arguments, depth: int) -> _Affine | None:
        """A scalar integer as seen from `block`, None where it is neither constant nor carried by an open loop."""
        program = self.program
        self.values_left -= 1
        if depth > _MAX_DEPTH or self.values_left < 0:
            return None
        if (argument := program.argument(block, value.name)) is not None:
            return self.argument(*argument, arguments, depth + 1)
        index = program.listing.definition(block, value.name)
        if index is None:
            return None
        op = self.ops[index]
        number = op.results.index(value.name) if len(op.results) > 1 else value.number
        if op.name == "stablehlo.constant":
            constant = _INTEGER.search(program.own_text(index))
            return _Affine(int(constant[1])) if constant and _is_integer(op.type) else None
        if op.name in ("call", "func.call"):
            return self.call(index, number, arguments, depth + 1)
        if op.name == "stablehlo.while":
            # What a loop does not change comes out of it as it went in.
            fixed = index not in self.open and program.regions.get(index) and self.step(index, number) == 0
            return self.initial(index, number, arguments, depth + 1) if fixed else None
        if op.name not in (*_PASSED_ON, "stablehlo.add", "stablehlo.subtract") or not _is_integer(op.type):
            return None
        operands = [self.evaluate(op.block, each, arguments, depth + 1) for each in program.operands(index)]
        if op.name in _PASSED_ON:
            found = operands[number] if number < len(operands) else None
        else:
            found = _combine(op.name, operands)
        # A constant that overflows is no longer what the arithmetic here says.
        return found if found is None or found.loop is not None or _holds(op.type, found.offset) else None

    def argument(self, block: int, number: int, arguments: _Arguments, depth: int) -> _Affine | None:
        """What a block takes in as its argument `number`."""
        program = self.program
        if (block, number) in arguments:
            return arguments[block, number]
        owner = program.owners.get(block)
        if owner is not None and self.ops[owner].name == "stablehlo.while":
            if owner in self.open:
                return _Affine(0, owner, number)
            return self.initial(owner, number, arguments, depth) if self.step(owner, number) == 0 else None
        if owner is not None or program.listing.blocks[block].kind != "func":
            return None
        if (block, number) not in self.constant_arguments:
            self.constant_arguments[block, number] = None
            around, self.open = self.open, []
            # The same constant at every call, or nothing.
            values = set()
            for call in program.calls.get(block, ()):
                operands = program.operands(call)
                known = number < len(operands)
                values.add(self.evaluate(self.ops[call].block, operands[number], {}, depth) if known else None)
            self.open = around
            self.constant_arguments[block, number] = values.pop() if len(values) == 1 else None
        return self.constant_arguments[block, number]

    def call(self, index: int, number: int, arguments: _Arguments, depth: int) -> _Affine | None:
        """Result `number` of a call, with the arguments of this call."""
        program = self.program
        function = program.callee(index)
        last = program.terminator(function) if function is not None else None
        if last is None or depth > _MAX_DEPTH:
            return None
        given = {
            (function, place): self.evaluate(self.ops[index].block, value, arguments, depth)
            for place, value in enumerate(program.operands(index))
        }
        results = program.operands(last)
        return self.evaluate(function, results[number], given, depth) if number < len(results) else None


def _combine(name: str, operands: list[_Affine | None]) -> _Affine | None:
    if len(operands) != 2 or operands[0] is None or operands[1] is None:
        return None
    left, right = operands
    if name == "stablehlo.subtract":
        return None if right.loop is not None else _Affine(left.offset - right.offset, left.loop, left.place)
    if left.loop is not None and right.loop is not None:
        return None
    moving = left if left.loop is not None else right
    return _Affine(left.offset + right.offset, moving.loop, moving.place)


def _is_integer(type_text: str) -> bool:
    return all(array.element[0] in "su" for array in read_mlir_types(type_text))


def _holds(type_text: str, number: int) -> bool:
    return all(_limits(array)[0] <= number <= _limits(array)[1] for array in read_mlir_types(type_text))


def _limits(array: ArrayType) -> tuple[int, int]:
    """The least and the greatest integer of an element type."""
    bits = array.bits or 32
    return (0, (1 << bits) - 1) if array.element.startswith("u") else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def _count_steps(direction: str, start: int, bound: int, step: int, counter: ArrayType) -> int | None:
    """How often ``for (i = start; i <direction> bound; i += step)`` runs; None for ever, or where i would overflow."""
    sign = -1 if direction in ("GT", "GE") else 1
    if sign < 0:
        start, bound, step = -start, -bound, -step
        direction = _MIRRORED[direction]
    if direction == "LE":
        bound += 1
    if direction in ("LT", "LE"):
        if start >= bound:
            return 0
        count = -(-(bound - start) // step) if step > 0 else None
    elif direction == "NE":
        count = 0 if start == bound else None
        if count is None and step and (bound - start) % step == 0 and (bound - start) // step > 0:
            count = (bound - start) // step
    else:
        count = 0 if start != bound else 1 if step else None
    least, greatest = _limits(counter)
    last = sign * (start + (count or 0) * step)
    return count if least <= last <= greatest else None


def _scan_lengths(module: Listing, loops: list[int], jaxpr: Listing) -> dict[int, int]:
    """Loop of a module to the number of steps of the scan it comes from, where there is no doubt.

    One place in Python can have many loops, also such as no equation asked for (an iteration inside a special
    function): as many scans as loops, all of one length, or nothing.
    """
    asked: dict[tuple[str, int, int], list[int | None]] = {}
    for op in jaxpr.ops:
        if op.name in ("scan", "while") and op.stack != NO_STACK:
            length = _scan_length(jaxpr, op) if op.name == "scan" else None
            asked.setdefault(next(jaxpr.stacks.walk(op.stack)).position, []).append(length)
    made: dict[tuple[str, int, int], list[int]] = {}
    for index in loops:
        if (stack := module.ops[index].stack) != NO_STACK:
            made.setdefault(next(module.stacks.walk(stack)).position, []).append(index)
    return {
        index: lengths[0]
        for place, lengths in asked.items()
        if lengths[0] is not None and set(lengths) == {lengths[0]} and len(made.get(place, ())) == len(lengths)
        for index in made[place]
    }


def _scan_length(jaxpr: Listing, op: Op) -> int | None:
    """The ``length`` among an equation's own parameters, not those of equations inside it."""
    inner = [b for b in jaxpr.blocks if b.parent == op.block and op.line <= b.line and b.end_line <= op.end_line]
    own = [
        jaxpr.lines[number]
        for number in range(op.line, op.end_line + 1)
        if op.line == op.end_line or not any(b.line <= number <= b.end_line for b in inner)
    ]
    found = _LENGTH.findall(" ".join(own).rpartition(" }")[2])
    return int(found[-1]) if len(found) == 1 else None
