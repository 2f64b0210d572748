"""Which value stands where in a scheduled HLO program.

Problem: most instructions make no new value: tuples, bitcasts, calls and loops pass on values of others, and a buffer
lives as long as its value does anywhere. Input: an `HloProgram`. Output: `ValueTable`: the values, for each instruction
of the computations that run in order the tree of values that it stands for, and where each is used.

It follows XLA's HloDataflowAnalysis in the form that buffer assignment uses: bitcasts define nothing; where a loop or a
conditional joins several values, the join is a value of its own.
https://github.com/openxla/xla/blob/main/xla/hlo/analysis/hlo_dataflow_analysis.h
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from jaxscope._ir.hlo_program import Computation, HloProgram, Instruction
from jaxscope._ir.hlo_shapes import Shape, ShapeIndex

# Passes the tree of its first operand on as it is.
_FORWARDING = frozenset(("bitcast", "domain", "opt-barrier", "add-dependency"))


@dataclass(slots=True, eq=False)
class Value:
    """An array, or a tuple's table of pointers, that some instruction makes.

    Attributes:
        number: In the order of making.
        instruction: What makes it.
        index: Where in that instruction's result it stands.
        shape: Its own shape.
        joined: For the join of a loop or a conditional, the values that reach it; else None.
    """

    number: int
    instruction: Instruction
    index: ShapeIndex
    shape: Shape
    joined: "list[Value] | None" = None

    @property
    def name(self) -> str:
        """As XLA's live-range report has it: ``fusion.3{1}``."""
        return f"{self.instruction.name}{{{','.join(map(str, (*self.instruction.place, *self.index)))}}}"


@dataclass(slots=True, eq=False)
class Tree:
    """The values at one position, more than one only where an asynchronous chain joins them, and those of its parts."""

    values: tuple[Value, ...]
    parts: "tuple[Tree, ...]" = ()

    def walk(self, index: ShapeIndex = ()) -> "Iterator[tuple[ShapeIndex, tuple[Value, ...]]]":
        """Every position with its values, a tuple before its parts."""
        yield index, self.values
        for number, part in enumerate(self.parts):
            yield from part.walk((*index, number))

    def at(self, index: ShapeIndex) -> "Tree | None":
        """The tree at a path; None where there is none."""
        tree: Tree | None = self
        for number in index:
            if tree is None or number >= len(tree.parts):
                return None
            tree = tree.parts[number]
        return tree


_NOTHING = Tree(())


def _numbered(operands: list[Tree]) -> dict[ShapeIndex, Tree]:
    """The operands in the first part of a start's result."""
    return {(0, number): operand for number, operand in enumerate(operands)}


@dataclass
class ValueTable:
    """What `find_values` found.

    Attributes:
        program: The program.
        trees: The values of each instruction of the computations that run in order.
        sequence: Those computations in the order of their calls, each once.
        callers: Who calls them.
        problems: What could not be followed, in words; with any, figures that build on this are an estimate.
    """

    program: HloProgram
    trees: dict[Instruction, Tree] = field(default_factory=dict)
    sequence: list[Computation] = field(default_factory=list)
    callers: dict[Computation, list[Instruction]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def positions(self) -> "Iterator[tuple[Instruction, ShapeIndex, Value]]":
        """Every place where a value stands."""
        for instruction, tree in self.trees.items():
            for index, values in tree.walk():
                for value in values:
                    yield instruction, index, value

    def uses(self) -> "Iterator[tuple[Instruction, int, ShapeIndex, Value]]":
        """Every use: the instruction that uses, the number of its operand, the place in that operand, and the value.

        Passing a value on is no use, save by the instruction that is the result of its computation.
        """
        for instruction in self.trees:
            opcode = instruction.opcode
            own: set[Value] = set()
            if instruction.is_root:
                own = {value for _, values in self.trees[instruction].walk() for value in values}
            for number, operand in enumerate(instruction.operands):
                tree = self.trees[operand]
                if opcode in ("get-tuple-element", "copy"):
                    for value in tree.values:
                        yield instruction, number, (), value
                elif opcode not in ("tuple", "domain"):
                    for index, values in tree.walk():
                        for value in values:
                            yield instruction, number, index, value
                    continue
                if own:
                    for index, values in tree.walk():
                        for value in values:
                            if value in own:
                                yield instruction, number, index, value


def find_values(program: HloProgram) -> ValueTable:
    """Follows every value through a program whose text is its schedule."""
    finder = _Finder(program)
    if program.entry is not None:
        finder.evaluate(program.entry, {})
        finder.settle()
    return finder.table


class _Finder:
    def __init__(self, program: HloProgram):
        self.program = program
        self.table = ValueTable(program)
        self.count = 0
        self.joins: list[Value] = []

    def value(self, instruction: Instruction, index: ShapeIndex, shape: Shape) -> Value:
        self.count += 1
        return Value(self.count, instruction, index, shape)

    def define(self, instruction: Instruction, shape: Shape | None = None, index: ShapeIndex = ()) -> Tree:
        """New values everywhere from `index` on."""
        shape = instruction.shape if shape is None else shape
        value = self.value(instruction, index, shape)
        parts = tuple(self.define(instruction, part, (*index, number)) for number, part in enumerate(shape.parts or ()))
        return Tree((value,), parts)

    def join(self, instruction: Instruction, inputs: list[Tree], shape: Shape, index: ShapeIndex = ()) -> Tree:
        """New values that stand for whichever of `inputs` is there; more inputs may come."""
        value = self.value(instruction, index, shape)
        value.joined = [each for tree in inputs for each in tree.values]
        self.joins.append(value)
        parts = tuple(
            self.join(
                instruction, [tree.parts[number] for tree in inputs if number < len(tree.parts)], part, (*index, number)
            )
            for number, part in enumerate(shape.parts or ())
        )
        return Tree((value,), parts)

    def add_input(self, tree: Tree, further: Tree) -> None:
        """One more input of a join."""
        for value in tree.values:
            value.joined.extend(further.values)
        for part, other in zip(tree.parts, further.parts, strict=False):
            self.add_input(part, other)

    def evaluate(self, computation: Computation, arguments: dict[int, Tree]) -> Tree:
        """The values of a computation's result, given those of its parameters."""
        if computation in self.table.callers:
            self.table.problems.append(f"{computation.name} is called from several places")
            return self.table.trees.get(computation.root, _NOTHING)
        self.table.callers[computation] = []
        self.table.sequence.append(computation)
        trees = self.table.trees
        for instruction in computation.instructions:
            if instruction.opcode == "parameter":
                continue
            for operand in instruction.operands:
                if operand not in trees and operand.opcode == "parameter":
                    trees[operand] = self.parameter(operand, arguments)
            trees[instruction] = self.of(instruction)
        for number in computation.parameters:
            if (parameter := computation.parameters[number]) not in trees:
                trees[parameter] = self.parameter(parameter, arguments)
        return trees.get(computation.root, _NOTHING)

    def parameter(self, instruction: Instruction, arguments: dict[int, Tree]) -> Tree:
        number = next(n for n, each in instruction.computation.parameters.items() if each is instruction)
        return arguments[number] if number in arguments else self.define(instruction)

    def call(self, instruction: Instruction, computation: Computation, arguments: dict[int, Tree]) -> Tree:
        result = self.evaluate(computation, arguments)
        self.table.callers[computation].append(instruction)
        return result

    def of(self, instruction: Instruction) -> Tree:
        """The values of one instruction, whose operands are known."""
        opcode = instruction.opcode
        trees = self.table.trees
        operands = [trees.get(operand, _NOTHING) for operand in instruction.operands]
        if opcode == "get-tuple-element":
            return (operands and operands[0].at((self.program.tuple_index(instruction),))) or self.define(instruction)
        if opcode == "tuple":
            return Tree((self.value(instruction, (), instruction.shape),), tuple(operands))
        if opcode in _FORWARDING and operands:
            return operands[0]
        if opcode == "copy" and operands and operands[0].parts:
            return Tree((self.value(instruction, (), instruction.shape),), operands[0].parts)
        if opcode == "call":
            for computation in self.program.called(instruction)[:1]:
                return self.call(instruction, computation, dict(enumerate(operands)))
        if opcode == "while":
            return self.loop(instruction, operands[0])
        if opcode == "conditional":
            return self.conditional(instruction, operands)
        if opcode.endswith(("-start", "-done", "-update")) or opcode == "send":
            return self.asynchronous(instruction, operands)
        return self.define(instruction)

    def loop(self, instruction: Instruction, initial: Tree) -> Tree:
        condition, body = self.program.loop_of(instruction)
        if condition is None or body is None:
            self.table.problems.append(f"the body of {instruction.name} is not in the text")
            return self.define(instruction)
        entering = [
            self.join(computation.parameters[0], [initial], instruction.shape) for computation in (condition, body)
        ]
        self.call(instruction, condition, {0: entering[0]})
        result = self.call(instruction, body, {0: entering[1]})
        for tree in entering:
            self.add_input(tree, result)
        return self.join(instruction, [result, initial], instruction.shape)

    def conditional(self, instruction: Instruction, operands: list[Tree]) -> Tree:
        results = [
            self.call(instruction, branch, {0: operands[number + 1]})
            for number, branch in enumerate(self.program.called(instruction))
            if number + 1 < len(operands)
        ]
        return self.join(instruction, results, instruction.shape)

    def asynchronous(self, instruction: Instruction, operands: list[Tree]) -> Tree:
        """Starts hand their operands on in their first part; dones take the result out of the start's tuple."""
        opcode = instruction.opcode
        first = operands[0] if operands else _NOTHING
        if opcode == "send-done":
            return self.define(instruction)
        if opcode in ("copy-start", "send"):
            return self.grafted(self.define(instruction), {(1,) if opcode == "copy-start" else (0,): first})
        if opcode.endswith("-start"):
            grafts = _numbered(operands)
            if (wrapped := self.program.wrapped(instruction)) is not None:
                grafts[(1,)] = self.call(instruction, wrapped, dict(enumerate(operands)))
            elif opcode == "all-reduce-start":
                grafts = {}
            elif len(operands) == 1 or "slice_sizes" in self.program.line(instruction):
                grafts = {(0,): first}
            return self.grafted(self.define(instruction), grafts)
        if opcode == "copy-done":
            return first.at((0,)) or self.define(instruction)
        if opcode == "recv-done":
            return self.grafted(self.define(instruction), {(0,): first.at((0,)) or _NOTHING})
        of_reduction = opcode == "all-reduce-done" and self.program.wrapped(instruction.operands[0]) is None
        source = first if of_reduction or opcode.endswith("-update") else first.at((1,))
        if source is None:
            return self.define(instruction)
        if of_reduction:
            return source
        return self._leaves_of(instruction, instruction.shape, source)

    def _leaves_of(self, instruction: Instruction, shape: Shape, source: Tree, index: ShapeIndex = ()) -> Tree:
        """The arrays of `source`, in tables of pointers that are made anew."""
        if shape.parts is None:
            return source
        parts = tuple(
            self._leaves_of(instruction, part, source.parts[number], (*index, number))
            if number < len(source.parts)
            else self.define(instruction, part, (*index, number))
            for number, part in enumerate(shape.parts)
        )
        return Tree((self.value(instruction, index, shape),), parts)

    def grafted(self, tree: Tree, grafts: dict[ShapeIndex, Tree], index: ShapeIndex = ()) -> Tree:
        """`tree` with arrays at some places taken from elsewhere."""
        if (graft := grafts.get(index)) is not None:
            return Tree(graft.values if not tree.parts else tree.values, tree.parts and self._merged(tree, graft).parts)
        parts = tuple(self.grafted(part, grafts, (*index, number)) for number, part in enumerate(tree.parts))
        return Tree(tree.values, parts)

    def _merged(self, tree: Tree, graft: Tree) -> Tree:
        if not tree.parts:
            return graft
        parts = tuple(
            self._merged(part, graft.parts[number]) if number < len(graft.parts) else part
            for number, part in enumerate(tree.parts)
        )
        return Tree(tree.values, parts)

    def settle(self) -> None:
        """Replaces joins that only one value reaches by that value."""
        chosen: dict[Value, Value] = {}

        def final(value: Value) -> Value:
            while value in chosen:
                value = chosen[value]
            return value

        changed = True
        while changed:
            changed = False
            for join in self.joins:
                if join in chosen:
                    continue
                join.joined = list(dict.fromkeys(each for each in map(final, join.joined) if each is not join))
                if len(join.joined) == 1:
                    chosen[join] = join.joined[0]
                    changed = True
            if not changed:
                changed = self._settle_cycle(chosen, final)
        if chosen:
            self._replace(final)

    def _settle_cycle(self, chosen: dict[Value, Value], final) -> bool:
        """Joins that only reach each other and one value: all of them are that value."""
        checked: set[Value] = set()
        for join in self.joins:
            if join in chosen or join in checked:
                continue
            seen: set[Value] = set()
            waiting = [join]
            sources: set[Value] = set()
            while waiting and len(sources) < 2:
                value = final(waiting.pop())
                if value in seen:
                    continue
                seen.add(value)
                if value.joined is None:
                    sources.add(value)
                else:
                    waiting.extend(value.joined)
            checked |= seen
            if len(sources) == 1:
                (source,) = sources
                for value in seen - sources:
                    chosen[value] = source
                return True
        return False

    def _replace(self, final) -> None:
        known: dict[Tree, Tree] = {}

        def settled(tree: Tree) -> Tree:
            if (found := known.get(tree)) is None:
                values = tuple(dict.fromkeys(map(final, tree.values)))
                parts = tuple(map(settled, tree.parts))
                unchanged = values == tree.values and all(a is b for a, b in zip(parts, tree.parts, strict=True))
                found = known[tree] = tree if unchanged else Tree(values, parts)
            return found

        trees = self.table.trees
        for instruction, tree in trees.items():
            trees[instruction] = settled(tree)
