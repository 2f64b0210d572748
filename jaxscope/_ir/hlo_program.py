"""An HLO listing as the graph it prints: computations, instructions, who calls whom.

Problem: what a value's buffer is follows from tuples, calls and loops, which a listing knows as lines only. Input: the
`Listing` of an HLO module. Output: an `HloProgram`, whose computations are read when they are asked for: of the 400,000
instructions of a big program, most are in fusions that nobody needs to look into.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from jaxscope._ir.hlo import called_computations
from jaxscope._ir.hlo_shapes import Shape, ShapeIndex, read_shape
from jaxscope._ir.model import Listing

# ), index=1, metadata=
_TUPLE_INDEX = re.compile(r"\), index=(\d+)")
# = f32[2]{0} parameter(3)
_PARAMETER = re.compile(r" parameter\((\d+)\)")
# condition=%cond.1, body=%body.2
_ROLE = re.compile(r"\b(condition|body)=(%?[\w.$-]+)")
# output_to_operand_aliasing={{}: (0, {}), {1}: (2, {0})}
_OUTPUT_ALIASES = re.compile(r"output_to_operand_aliasing=\{((?:\{[\d, ]*\}: \(\d+, \{[\d, ]*\}\)(?:, )?)*)\}")
_OUTPUT_ALIAS = re.compile(r"\{([\d, ]*)\}: \((\d+), \{([\d, ]*)\}\)")
# input_output_alias={ {0}: (0, {}, may-alias), {1}: (3, {1}, must-alias) }
_INPUT_OUTPUT_ALIASES = re.compile(
    r"\binput_output_alias=\{ ((?:\{[\d, ]*\}: \(\d+, \{[\d, ]*\}(?:, [\w-]+)?\)(?:, )?)*) ?\}"
)
_INPUT_OUTPUT_ALIAS = re.compile(r"\{([\d, ]*)\}: \((\d+), \{([\d, ]*)\}(?:, ([\w-]+))?\)")
# Their results are their own; all others wrap a computation.
_STARTS_OF_THEIR_OWN = frozenset(("all-gather-start", "all-reduce-start", "collective-permute-start", "copy-start"))


@dataclass(slots=True, eq=False)
class Instruction:
    """An instruction.

    Attributes:
        op: Its index in `Listing.ops`.
        name: Without a leading ``%``, as XLA's reports have it.
        opcode: As printed.
        shape: Its type.
        operands: What it reads, in order.
        computation: Where it stands.
        is_root: Whether it is the result of that computation.
        place: Of an instruction that the text leaves out, and that goes by the name of its start: where its result
            stands in that of the start.
    """

    op: int
    name: str
    opcode: str
    shape: Shape
    computation: "Computation"
    operands: tuple["Instruction", ...] = ()
    is_root: bool = False
    place: ShapeIndex = ()


@dataclass(slots=True, eq=False)
class Computation:
    """A computation: its instructions in the order of the text, its parameters by number, and its result."""

    name: str
    is_entry: bool
    instructions: list[Instruction] = field(default_factory=list)
    parameters: dict[int, Instruction] = field(default_factory=dict)
    root: Instruction | None = None


@dataclass(frozen=True, slots=True)
class InputOutputAlias:
    """An output of the program that takes the buffer of one of its parameters."""

    output_index: ShapeIndex
    parameter: int
    parameter_index: ShapeIndex
    kind: str


class HloProgram:
    """The graph of a listing, read on demand."""

    def __init__(self, listing: Listing):
        self.listing = listing
        self._blocks = {block.name.removeprefix("%"): number for number, block in enumerate(listing.blocks)}
        self._computations: dict[str, Computation | None] = {}

    @property
    def head(self) -> str:
        """The line that names the module and its settings."""
        return next((line for line in self.listing.lines[:3] if line.startswith("HloModule")), "")

    @property
    def is_scheduled(self) -> bool:
        """Whether the order of the text is the order of execution."""
        return "is_scheduled=true" in self.head

    @cached_property
    def entry(self) -> Computation | None:
        """The computation that runs; None where the text has none."""
        name = next((block.name for block in self.listing.blocks if block.kind == "entry"), None)
        return None if name is None else self.computation(name)

    @cached_property
    def input_output_aliases(self) -> tuple[InputOutputAlias, ...]:
        """The outputs that take a parameter's buffer."""
        found = _INPUT_OUTPUT_ALIASES.search(self.head)
        return tuple(
            InputOutputAlias(read_index(output), int(parameter), read_index(index), kind or "may-alias")
            for output, parameter, index, kind in _INPUT_OUTPUT_ALIAS.findall(found[1] if found else "")
        )

    def computation(self, name: str) -> Computation | None:
        """A computation by its name, read on first use; None where the text has none of this name."""
        name = name.removeprefix("%")
        if name not in self._computations:
            number = self._blocks.get(name)
            self._computations[name] = None if number is None else self._read(name, number)
        return self._computations[name]

    def computations_with(self, opcodes: frozenset[str]) -> frozenset[str]:
        """Names of the computations that have an instruction of one of these opcodes, found without reading them."""
        numbers = {op.block for op in self.listing.ops if op.name in opcodes}
        return frozenset(self.listing.blocks[number].name.removeprefix("%") for number in numbers if number >= 0)

    def called_names(self, instruction: Instruction) -> tuple[str, ...]:
        """The names of the computations that an instruction names, in order."""
        return tuple(name.removeprefix("%") for name in called_computations(self.line(instruction)))

    def line(self, instruction: Instruction) -> str:
        """The first line of an instruction."""
        return self.listing.lines[self.listing.ops[instruction.op].line]

    def called(self, instruction: Instruction) -> list[Computation]:
        """The computations that an instruction names, in order; those that the text lacks are left out."""
        found = (self.computation(name) for name in self.called_names(instruction))
        return [computation for computation in found if computation is not None]

    def wrapped(self, start: Instruction) -> Computation | None:
        """What an instruction such as ``slice-start`` starts to run beside the others; None where it starts no such.

        The text names the computation only where it has more than one instruction. Else it is made up here: its
        parameters, and the instruction, which goes by the name of its start.
        """
        if not start.opcode.endswith("-start") or (
            start.opcode in _STARTS_OF_THEIR_OWN and not self._wraps_collective(start)
        ):
            return None
        if start.opcode == "async-start":
            return next(iter(self.called(start)), None)
        key = f"{start.name} wraps"
        if key not in self._computations:
            computation = self._computations[key] = Computation(key, is_entry=False)
            for number, operand in enumerate(start.operands):
                name = f"{start.name} operand {number}"
                parameter = Instruction(start.op, name, "parameter", operand.shape, computation)
                computation.parameters[number] = parameter
            operands = tuple(computation.parameters.values())
            shape = start.shape.at((1,)) or start.shape
            opcode = start.opcode.removesuffix("-start")
            root = Instruction(start.op, start.name, opcode, shape, computation, operands, True, (1,))
            computation.root = root
            computation.instructions = [*operands, root]
        return self._computations[key]

    def _wraps_collective(self, start: Instruction) -> bool:
        """Whether a start is the general one, ``((operands), result)``, though a special one has the same name.

        XLA of JAX 0.12 for GPUs has the general one. With several operands both look alike for some collectives; then
        the others of the program tell.
        """
        if len(start.operands) == 1:
            return _is_general(start)
        return self._has_general_collectives and _is_general(start)

    @cached_property
    def _has_general_collectives(self) -> bool:
        block = next((n for n, block in enumerate(self.listing.blocks) if block.kind == "entry"), -1)
        starts = (op for op in self.listing.ops if op.block == block and op.name in _STARTS_OF_THEIR_OWN)
        return any(op.name != "copy-start" and op.type.startswith("((") and len(op.operands) == 1 for op in starts)

    def loop_of(self, instruction: Instruction) -> tuple[Computation | None, Computation | None]:
        """Condition and body of a ``while``."""
        roles = dict(_ROLE.findall(self.line(instruction)))
        return self.computation(roles.get("condition", "")), self.computation(roles.get("body", ""))

    def tuple_index(self, instruction: Instruction) -> int:
        """Which part a ``get-tuple-element`` takes; -1 where the text does not say."""
        found = _TUPLE_INDEX.search(self.line(instruction))
        return int(found[1]) if found else -1

    def output_aliases(self, instruction: Instruction) -> Iterator[tuple[int, ShapeIndex, ShapeIndex]]:
        """What an instruction declares to share: operand number, place in the operand, place in the result."""
        line = self.line(instruction)
        if "output_to_operand_aliasing" in line and (found := _OUTPUT_ALIASES.search(line)):
            for output, operand, index in _OUTPUT_ALIAS.findall(found[1]):
                yield int(operand), read_index(index), read_index(output)

    def _read(self, name: str, number: int) -> Computation:
        listing = self.listing
        ops, lines = listing.ops, listing.lines
        block = listing.blocks[number]
        computation = Computation(name, block.kind == "entry")
        named: dict[str, Instruction] = {}
        at = bisect_left(ops, block.line, key=lambda op: op.line)
        waiting = []
        while at < len(ops) and ops[at].block == number:
            op = ops[at]
            shape = read_shape(op.type)
            if shape is None:
                shape = Shape(op.type, parts=())
            instruction = Instruction(at, op.results[0].removeprefix("%"), op.name, shape, computation)
            named[op.results[0]] = instruction
            computation.instructions.append(instruction)
            waiting.append((instruction, op.operands))
            if lines[op.line].lstrip().startswith("ROOT "):
                instruction.is_root = True
                computation.root = instruction
            if op.name == "parameter" and (found := _PARAMETER.search(lines[op.line])):
                computation.parameters[int(found[1])] = instruction
            at += 1
        for instruction, operands in waiting:
            if operands:
                instruction.operands = tuple(named[name] for name in operands if name in named)
        return computation


def _is_general(start: Instruction) -> bool:
    parts = start.shape.parts or ()
    return (
        len(parts) > 1
        and parts[0].parts is not None
        and [part.text for part in parts[0].parts] == [operand.shape.text for operand in start.operands]
    )


def read_index(text: str) -> ShapeIndex:
    """The path between the braces of ``{1, 0}``."""
    return tuple(int(number) for number in text.split(",") if number.strip())
