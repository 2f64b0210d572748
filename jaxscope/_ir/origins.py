"""Which place in Python a function below HLO comes from, by its name.

Problem: LLVM IR and PTX hold no Python places; all they keep is the name of the HLO instruction or computation that a
function was made for, with other characters and with endings of the compiler's own. Input: the compiled HLO's
`Listing`. Output: for a function's name, the instruction's name path and call stack.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from jaxscope._ir.hlo import called_computations
from jaxscope._ir.model import NO_STACK, Frame, Listing, Op

# Characters that HLO names have and names of PTX do not: the dot of "fusion.12", the dash of "wrapped_reduce-window".
_OTHER_CHARACTERS = re.compile(r"[^A-Za-z0-9_]")
# What emitters put behind the name: "slice_bitcast_fusion_wrapped", "copy_bitcast_fusion.1_impl",
# "region_1_2_clone_757718422541417945710661".
_ENDING = re.compile(r"(?:_wrapped|_impl|_\d{15,})$")
# A custom call names its own kernel: `backend_config={debug = false, grid_x = 4 : i32, name = "scaled_add"}`
_KERNEL_NAME = re.compile(r'\bbackend_config=\{.*\bname = "([^"\\]+)"')


@dataclass(frozen=True, slots=True)
class Origin:
    """What is known of an instruction.

    Attributes:
        line: Its line in the compiled HLO.
        name_path: Its name path.
        frames: Its call stack, innermost frame first.
    """

    line: int
    name_path: str
    frames: tuple[Frame, ...]


def plain_name(name: str) -> str:
    """An HLO name as languages with fewer characters write it: ``%fusion.12`` is ``fusion_12``."""
    return _OTHER_CHARACTERS.sub("_", name.removeprefix("%"))


class HloOrigins:
    """The instructions of a compiled module by the names that functions made for them may have."""

    def __init__(self, hlo: Listing):
        self._hlo = hlo
        self._roots = self._find_roots()
        self._exact: dict[str, list[Op]] = {}
        self._plain: dict[str, list[Op]] = {}
        for op in hlo.ops:
            computation = hlo.blocks[op.block].name if op.block >= 0 else ""
            if op.name == "custom-call" and (kernel := _KERNEL_NAME.search(hlo.lines[op.line])):
                self._add(kernel[1], op)
            for name in op.results:
                self._add(name, op)
                # Emitters that cut a fusion into functions name each after the computation and its last instruction.
                self._plain.setdefault(plain_name(f"{computation}_{name.removeprefix('%')}"), []).append(op)
        for number, block in enumerate(hlo.blocks):
            if (root := self._roots.get(number)) is not None:
                self._add(block.name, root)
        self._found: dict[str, Origin | None] = {}

    def _add(self, name: str, op: Op) -> None:
        self._exact.setdefault(name.removeprefix("%"), []).append(op)
        self._plain.setdefault(plain_name(name), []).append(op)

    def _find_roots(self) -> dict[int, Op]:
        lines = self._hlo.lines
        roots: dict[int, Op] = {}
        for op in self._hlo.ops:
            if lines[op.line].lstrip().startswith("ROOT ") or op.block not in roots:
                roots[op.block] = op
        return roots

    def find(self, function: str) -> Origin | None:
        """The instruction that a function was made for; None where the name tells none, or several that differ."""
        if function not in self._found:
            self._found[function] = self._find(function.strip('@"'))
        return self._found[function]

    def _find(self, name: str) -> Origin | None:
        for ops in (self._exact.get(name), self._plain.get(plain_name(name))):
            if ops:
                return self._common(ops)
        shorter = _ENDING.sub("", name)
        return self._find(shorter) if shorter and shorter != name else None

    def _common(self, ops: Iterable[Op]) -> Origin | None:
        """What the instructions agree on; names that differ in a dot only may mean different ones."""
        origins = {(origin.name_path, origin.frames): origin for origin in map(self._origin, ops)}
        return next(iter(origins.values())) if len(origins) == 1 else None

    def _origin(self, op: Op) -> Origin:
        speaker = op
        if op.stack == NO_STACK:
            # A fusion that XLA made without a word says where it comes from through what it computes last.
            for called in called_computations(self._hlo.lines[op.line]):
                number = next((n for n, block in enumerate(self._hlo.blocks) if block.name == called), -1)
                if (root := self._roots.get(number)) is not None and root.stack != NO_STACK:
                    speaker = root
                    break
        frames = tuple(self._hlo.stacks.walk(speaker.stack))
        return Origin(op.line, speaker.name_path, frames)
