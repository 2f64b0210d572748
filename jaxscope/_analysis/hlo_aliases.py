"""Which values of an HLO program must share a buffer.

Problem: an update in place, a loop's carried value and a donated argument live in one buffer under many names, and
counting each name counts the buffer twice. Input: a `ValueTable`. Output: for each value the number of its buffer.

It follows XLA's HloAliasAnalysis, with the rules of AliasInfo for operations in place.
https://github.com/openxla/xla/blob/main/xla/hlo/analysis/alias_info.h
"""

from collections.abc import Iterator

from jaxscope._analysis.hlo_values import Tree, Value, ValueTable
from jaxscope._ir.hlo_program import HloProgram, Instruction
from jaxscope._ir.hlo_shapes import ShapeIndex

# Operand number, place in the operand, place in the result.
InPlacePair = tuple[int, ShapeIndex, ShapeIndex]


# What a fusion may do in place: only computations with one of these are looked into.
_IN_PLACE = frozenset(
    (
        "collective-permute",
        "custom-call",
        "dynamic-update-slice",
        "fusion",
        "ragged-all-to-all",
        "scatter",
        "set-dimension-size",
    )
)


def in_place_pairs(program: HloProgram, instruction: Instruction) -> list[InPlacePair]:
    """The operands whose buffers an instruction's results take over."""
    opcode = instruction.opcode
    if opcode == "dynamic-update-slice":
        return [(0, (), ())]
    if opcode == "scatter":
        # Its operands are the arrays, the indices, and as many arrays of updates.
        return _one_for_one((len(instruction.operands) - 1) // 2)
    if opcode == "all-reduce-start":
        return [] if "nvshmem" in program.line(instruction).lower() else _one_for_one(len(instruction.operands))
    if opcode in ("collective-permute", "collective-permute-start") and len(instruction.operands) == 4:
        start: ShapeIndex = (1,) if opcode.endswith("start") else ()
        parts = instruction.operands[1].shape.parts or ()
        return [(1, (), start), *((1, (number,), (*start, number)) for number in range(len(parts)))]
    if opcode == "fusion":
        return [*_of_fusion(program, instruction), *program.output_aliases(instruction)]
    if opcode == "custom-call" or opcode.endswith("-start"):
        return list(program.output_aliases(instruction))
    if opcode == "set-dimension-size":
        return [(0, (), ())]
    if opcode == "ragged-all-to-all":
        return [(1, (), ())]
    return []


def _one_for_one(operands: int) -> list[InPlacePair]:
    return [(0, (), ())] if operands == 1 else [(number, (), (number,)) for number in range(operands)]


def _of_fusion(program: HloProgram, fusion: Instruction) -> Iterator[InPlacePair]:
    """A fusion works in place where its result comes from an operation in place on one of its parameters."""
    called = program.called(fusion)
    root = called[0].root if called else None
    if root is None:
        return
    for index, shape in fusion.shape.walk():
        if shape.is_tuple:
            continue
        source, source_index = _follow(program, root, index)
        for number, place, result in in_place_pairs(program, source):
            if result != source_index or number >= len(source.operands):
                continue
            start, start_index = _follow(program, source.operands[number], place)
            if start.opcode == "fusion":
                for inner, inner_place, inner_result in in_place_pairs(program, start):
                    if inner_result == start_index:
                        start, start_index = _follow(program, start.operands[inner], inner_place)
                        break
            if start.opcode == "parameter":
                parameter = next((n for n, each in called[0].parameters.items() if each is start), None)
                if parameter is not None:
                    yield parameter, start_index, index


def _follow(program: HloProgram, source: Instruction, index: ShapeIndex) -> tuple[Instruction, ShapeIndex]:
    """Where a value comes from, through tuples and bitcasts."""
    while source.opcode == "tuple" and index and index[0] < len(source.operands):
        source, index = source.operands[index[0]], index[1:]
    while source.opcode == "get-tuple-element" and source.operands:
        source, index = source.operands[0], (program.tuple_index(source), *index)
    while source.opcode == "bitcast" and not index and source.operands:
        source = source.operands[0]
    return source, index


class _Groups:
    """Values that share, as a forest in which each root stands for a buffer."""

    def __init__(self) -> None:
        self.parents: dict[Value, Value] = {}

    def root(self, value: Value) -> Value:
        while (parent := self.parents.get(value)) is not None:
            if (grandparent := self.parents.get(parent)) is not None:
                self.parents[value] = grandparent
            value = parent
        return value

    def join(self, values: "tuple[Value, ...]", others: "tuple[Value, ...]") -> None:
        for value in values:
            for other in others:
                first, second = self.root(value), self.root(other)
                if first is not second:
                    self.parents[max(first, second, key=_number)] = min(first, second, key=_number)


def _number(value: Value) -> int:
    return value.number


def buffers_of(table: ValueTable) -> "dict[Value, list[Value]]":
    """The values that share a buffer with others, by one of them that stands for it; the rest is alone in its own."""
    groups = _Groups()
    program = table.program
    trees = table.trees
    looked_into = program.computations_with(_IN_PLACE)
    if program.entry is not None and program.entry.root in trees:
        root = trees[program.entry.root]
        for alias in program.input_output_aliases:
            parameter = program.entry.parameters.get(alias.parameter)
            output = root.at(alias.output_index)
            source = trees[parameter].at(alias.parameter_index) if parameter in trees else None
            if output is not None and source is not None:
                groups.join(output.values, source.values)
    for instruction, tree in trees.items():
        if instruction.opcode == "while":
            condition, body = program.loop_of(instruction)
            others = [trees.get(instruction.operands[0])]
            if condition is not None and body is not None:
                others += [trees.get(condition.parameters[0]), trees.get(body.parameters[0]), trees.get(body.root)]
            for other in others:
                _join_everywhere(groups, tree, other)
        elif instruction.opcode == "conditional":
            for branch in program.called(instruction):
                _join_everywhere(groups, tree, trees.get(branch.root))
        elif instruction.operands:
            if (
                instruction.opcode == "fusion"
                and looked_into.isdisjoint(program.called_names(instruction))
                and "output_to_operand_aliasing" not in program.line(instruction)
            ):
                continue
            for number, place, result in in_place_pairs(program, instruction):
                operand = trees[instruction.operands[number]].at(place) if number < len(instruction.operands) else None
                output = tree.at(result)
                if operand is not None and output is not None:
                    groups.join(operand.values, output.values)
    shared: dict[Value, list[Value]] = {}
    members = dict.fromkeys((*groups.parents, *map(groups.root, groups.parents)))
    for value in members:
        shared.setdefault(groups.root(value), []).append(value)
    return shared


def _join_everywhere(groups: _Groups, tree: Tree, other: Tree | None) -> None:
    if other is None:
        return
    groups.join(tree.values, other.values)
    for part, another in zip(tree.parts, other.parts, strict=False):
        _join_everywhere(groups, part, another)
