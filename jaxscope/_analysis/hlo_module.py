"""An HLO module as a graph: operands by index, the members and the root of each computation, who calls whom.

Problem: counts of work need an instruction's operands, not their names, and start from the computation that runs.
Input: the `Listing` of HLO. Output: `HloModule`, made in one pass, since the largest modules hold 400,000 instructions.

An operand that is not defined in its computation is -1: the text is not trusted to be whole.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from jaxscope._analysis.hlo_attributes import names, read_attributes
from jaxscope._ir.model import Listing, Op
from jaxscope._ir.shapes import ArrayType, read_hlo_type

UNKNOWN = -1
# The attributes that name computations, in the order in which `HloModule.called` gives their computations.
CALLING_ATTRIBUTES = (
    "calls",
    "to_apply",
    "body",
    "condition",
    "true_computation",
    "false_computation",
    "branch_computations",
    "select",
    "scatter",
    "called_computations",
)
# One kernel, run at once or, as XLA for GPUs has it since JAX 0.12, while others run.
FUSIONS = frozenset(("fusion", "fusion-start"))
# What passes a value on without touching it; the users of these are kept, to see what becomes of a parameter.
_PASSING = frozenset(("parameter", "bitcast", "get-tuple-element"))


@dataclass(frozen=True)
class HloModule:
    """The graph of a module.

    Attributes:
        listing: The text and its instructions.
        operands: Of each instruction, the indices of its operands.
        members: Of each computation, the indices of its instructions, in the order of the text.
        computations: The number of each computation by its name.
        passed_to: Of each parameter, bitcast and get-tuple-element that has users, those, each once.
    """

    listing: Listing
    operands: Sequence[tuple[int, ...]]
    members: tuple[range, ...]
    computations: dict[str, int]
    passed_to: dict[int, list[int]]

    @cached_property
    def entry(self) -> int:
        """The number of the computation that runs; `UNKNOWN` where there is none."""
        blocks = self.listing.blocks
        return next((number for number, block in enumerate(blocks) if block.kind == "entry"), UNKNOWN)

    @cached_property
    def roots(self) -> tuple[int, ...]:
        """Of each computation, the instruction whose value is its own; `UNKNOWN` where none is marked."""
        return tuple(self._root(members) for members in self.members)

    def _root(self, members: range) -> int:
        lines, ops = self.listing.lines, self.listing.ops
        # It is mostly the last.
        for number in reversed(members):
            if lines[ops[number].line].lstrip().startswith("ROOT "):
                return number
        return UNKNOWN

    @cached_property
    def _parameters(self) -> dict[int, tuple[int, ...]]:
        return {}

    def parameters(self, computation: int) -> tuple[int, ...]:
        """The indices of a computation's parameters, by their numbers."""
        known = self._parameters
        if (found := known.get(computation)) is None:
            by_name = {}
            ops = self.listing.ops
            for number in self.members[computation]:
                if ops[number].name == "parameter":
                    by_name[ops[number].results[0]] = number
            arguments = self.listing.blocks[computation].arguments
            found = known[computation] = tuple(by_name.get(name, UNKNOWN) for name in arguments)
        return found

    def text(self, number: int) -> str:
        """The text of an instruction."""
        op = self.listing.ops[number]
        lines = self.listing.lines
        return lines[op.line] if op.line == op.end_line else "\n".join(lines[op.line : op.end_line + 1])

    @cached_property
    def _attributes(self) -> dict[int, dict[str, str]]:
        return {}

    def attributes(self, number: int) -> dict[str, str]:
        """The attributes of an instruction, as `read_attributes` splits them."""
        known = self._attributes
        if (found := known.get(number)) is None:
            found = known[number] = read_attributes(self.text(number), self.listing.ops[number].name)
        return found

    def called(self, number: int, *attributes: str) -> tuple[int, ...]:
        """The computations that an instruction names in these attributes (`CALLING_ATTRIBUTES` for all), in order."""
        found = self.attributes(number)
        calls = (name for attribute in attributes or CALLING_ATTRIBUTES for name in names(found.get(attribute, "")))
        return tuple(self.computations[name] for name in calls if name in self.computations)

    def branches(self, number: int) -> tuple[int, ...]:
        """The branches of a conditional, in order."""
        return self.called(number, "branch_computations", "true_computation", "false_computation")

    def types(self, number: int) -> tuple[ArrayType, ...]:
        """The arrays of an instruction's result; () for `UNKNOWN`."""
        return read_hlo_type(self.listing.ops[number].type) if number >= 0 else ()

    def operand_types(self, number: int) -> Iterator[tuple[ArrayType, ...]]:
        """The arrays of each operand."""
        return (self.types(operand) for operand in self.operands[number])


def read_module(listing: Listing) -> HloModule:
    """The graph of a listing of HLO."""
    blocks, ops = listing.blocks, listing.ops
    operands: list[tuple[int, ...]] = []
    passed_to: dict[int, list[int]] = {}
    starts: dict[int, int] = {}
    ends: dict[int, int] = {}
    local: dict[str, int] = {}
    passing = bytearray(len(ops))
    block = UNKNOWN
    unknown, append = UNKNOWN, operands.append
    for number, op in enumerate(ops):
        if op.block != block:
            if block in starts:
                ends[block] = number
            block = op.block
            starts[block] = number
            local = {}
        if given := op.operands:
            try:
                found = tuple([local[name] for name in given])
            except KeyError:
                found = tuple([local.get(name, unknown) for name in given])
            append(found)
            for operand in found:
                if operand >= 0 and passing[operand]:
                    users = passed_to.setdefault(operand, [])
                    if not users or users[-1] != number:
                        users.append(number)
        else:
            append(())
        if op.name in _PASSING:
            passing[number] = 1
        local[op.results[0]] = number
    if block in starts:
        ends[block] = len(ops)
    members = tuple(range(starts.get(number, 0), ends.get(number, 0)) for number in range(len(blocks)))
    computations = {block.name: number for number, block in enumerate(blocks)}
    return HloModule(listing, operands, members, computations, passed_to)


def has_root(module: HloModule, computation: int) -> Op | None:
    """The root instruction of a computation, None where none is marked."""
    root = module.roots[computation]
    return module.listing.ops[root] if root >= 0 else None
