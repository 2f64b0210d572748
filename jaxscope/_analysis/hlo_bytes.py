"""What the kernels of compiled HLO read from memory and write to it.

Problem: the bound that memory puts on a kernel is set by what it really moves: of an array that it only slices, the
slice; of one that it updates in place, the update; of what stays inside a fusion, nothing. Input: the graph of a module
and one instruction that runs as a whole. Output: the bytes that one run reads and writes.

Memory is the device's main memory, memory space 0 of the layouts: arrays in another, ``S(1)`` of a TPU's own vector
memory, cost nothing here; the copies between the two do. An operand that is given twice is read once. Sizes are
without padding.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from jaxscope._analysis.hlo_module import FUSIONS, UNKNOWN, HloModule
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._ir.shapes import read_hlo_type

# What runs no kernel of its own.
NOT_RUN = frozenset(
    (
        "add-dependency",
        "after-all",
        "all-gather-done",
        "all-reduce-done",
        "async-done",
        "async-start",
        "async-update",
        "bitcast",
        "call",
        "collective-permute-done",
        "conditional",
        "constant",
        "copy-done",
        "domain",
        "fusion-done",
        "get-dimension-size",
        "get-tuple-element",
        "opt-barrier",
        "optimization-barrier",
        "parameter",
        "partition-id",
        "recv-done",
        "replica-id",
        "send-done",
        "slice-done",
        "tuple",
        "while",
    )
)
# One array of a type with its layout: `f32[8,128]{1,0:T(8,128)S(1)}`  `bf16[4]{0}`  `pred[]`
_ARRAY = re.compile(r"\w+\[[^\]]*\](?:\{[^}]*\})?")
# The memory space in a layout: `{1,0:T(8,128)S(1)}`
_SPACE = re.compile(r"S\((\d+)\)")
_SLICES = frozenset(("slice", "dynamic-slice", "gather"))
_UPDATES = frozenset(("dynamic-update-slice", "scatter"))
# What may use a part of an operand, or pass it on.
_PARTIAL = _SLICES | _UPDATES | {"bitcast", "get-tuple-element", "fusion"}
# Followed through so many instructions at most.
_DEPTH_LIMIT = 30


class UnknownSizeError(Exception):
    """An element type whose bits are not known."""


@lru_cache(maxsize=1 << 16)
def bytes_in_memory(type_text: str) -> tuple[int, ...]:
    """The bytes of each array of a type; 0 for one that does not lie in main memory.

    Raises:
        UnknownSizeError: An element type is not known.
    """
    sizes = []
    for text in _ARRAY.findall(type_text):
        for array in read_hlo_type(text):
            if (size := array.size_bytes) is None:
                raise UnknownSizeError(array.element)
            space = _SPACE.search(text)
            sizes.append(size if space is None or space[1] == "0" else 0)
    return tuple(sizes)


@lru_cache(maxsize=1 << 16)
def _whole_bytes(type_text: str) -> int:
    return sum(bytes_in_memory(type_text))


def _is_outside(type_text: str) -> bool:
    space = _SPACE.search(type_text)
    return space is not None and space[1] != "0"


def moved_bytes(module: HloModule, number: int) -> tuple[int, int] | Unavailable:
    """The bytes that one run of an instruction reads and writes.

    Args:
        module: The graph.
        number: An instruction that is not of `NOT_RUN`.
    """
    try:
        return _Bytes(module).of(number)
    except UnknownSizeError as error:
        return Unavailable(f"The size of an element of type {error} is not known.")


class _Bytes:
    def __init__(self, module: HloModule):
        self.module = module
        self.ops = module.listing.ops

    def size(self, number: int) -> int:
        return _whole_bytes(self.ops[number].type) if number >= 0 else 0

    def sizes(self, numbers: Iterable[int]) -> int:
        """Of values, each once."""
        return sum(self.size(number) for number in dict.fromkeys(numbers))

    def of(self, number: int) -> tuple[int, int]:
        name = self.ops[number].name
        operands = self.module.operands[number]
        if name in FUSIONS:
            return self._fusion(number)
        if name in ("copy-start", "slice-start"):
            # The result is the copy, its source and a mark.
            written = bytes_in_memory(self.ops[number].type)
            return self._asynchronous(number, written)
        if name in _SLICES:
            return self._slice(number, operands)
        if name == "dynamic-update-slice":
            return self._part(operands, 1) + self.sizes(operands[2:]), self._part(operands, 1)
        if name == "scatter":
            count = (len(operands) - 1) // 2
            updates = self.sizes(operands[count + 1 :])
            # What is updated is read and written in place.
            return 2 * updates + self.sizes(operands[count : count + 1]), updates
        if name == "iota":
            return 0, self.size(number)
        if name in ("send", "recv", "infeed", "outfeed"):
            return self.sizes(operands), self.size(number) if name in ("recv", "infeed") else 0
        if name.endswith("-start"):
            return self.sizes(operands), sum(self._results_of_start(number))
        return self.sizes(operands), self.size(number)

    def _asynchronous(self, number: int, written: Sequence[int]) -> tuple[int, int]:
        operand = self.module.operands[number][0] if self.module.operands[number] else UNKNOWN
        text = self.ops[number].type
        arrays = _ARRAY.findall(text)
        if self.ops[number].name == "copy-start":
            return self.size(operand), written[0] if written else 0
        # Of a slice: the source in its own tuple first, then the slice.
        if len(arrays) < 2:
            return self.size(operand), 0
        whole = read_hlo_type(arrays[1])[0].size_bytes or 0
        is_outside = operand >= 0 and _is_outside(self.ops[operand].type)
        return 0 if is_outside else whole, written[1]

    def _results_of_start(self, number: int) -> Sequence[int]:
        """Of a collective that starts: its results, which its type holds behind its operands, if it holds these."""
        sizes = bytes_in_memory(self.ops[number].type)
        operands = len(self.module.operands[number])
        return sizes[operands : 2 * operands] if len(sizes) >= 2 * operands else sizes

    def _part(self, operands: Sequence[int], position: int) -> int:
        return self.size(operands[position]) if position < len(operands) else 0

    def _slice(self, number: int, operands: Sequence[int]) -> tuple[int, int]:
        source = operands[0] if operands else UNKNOWN
        return self._sliced(source, number) + self.sizes(operands[1:]), self.size(number)

    def _sliced(self, source: int, slice_: int) -> int:
        """The bytes of a slice where it is read: those of its result, but in the memory of its source."""
        if source < 0 or _is_outside(self.ops[source].type):
            return 0
        return self._plain(slice_)

    def _plain(self, number: int) -> int:
        total = 0
        for array in self.module.types(number):
            if (size := array.size_bytes) is None:
                raise UnknownSizeError(array.element)
            total += size
        return total

    # Fusions

    def _fusion(self, number: int) -> tuple[int, int]:
        module = self.module
        called = module.called(number, "calls")
        operands = module.operands[number]
        if not called:
            return self.sizes(operands), self.size(number)
        computation = called[0]
        updated = self._updates(computation)
        targets = set(updated.values())
        parameters = module.parameters(computation)
        read = 0
        seen: dict[int, int] = {}
        for parameter, operand in zip(parameters, operands, strict=False):
            if operand < 0 or parameter < 0:
                continue
            # The same array given twice is read as much as the greedier of its two uses asks.
            amount = self._read(parameter, targets, operand)
            read += max(0, amount - seen.get(operand, 0))
            seen[operand] = max(amount, seen.get(operand, 0))
        # The start of an asynchronous fusion gives its operands too; what it writes is what its root is.
        root = module.roots[computation] if self.ops[number].name == "fusion-start" else number
        sizes = bytes_in_memory(self.ops[root if root >= 0 else number].type)
        written = 0
        for place, size in enumerate(sizes):
            update = updated.get(place)
            if update is not None and size:
                amount = min(size, self._update_size(update))
                if self.ops[update].name == "scatter":
                    read += amount
                written += amount
            else:
                written += size
        return read, written

    def _updates(self, computation: int) -> dict[int, int]:
        """The updates in place that a fused computation ends in, by their place in its result.

        In place means that the updated array is a parameter: the compiler then gives both one buffer.
        """
        module, ops = self.module, self.ops
        root = module.roots[computation]
        if root < 0:
            return {}
        parts = module.operands[root] if ops[root].name == "tuple" else (root,)
        found = {}
        for place, part in enumerate(parts):
            part = self._through_views(part, ("bitcast", "copy"))
            if part < 0 or ops[part].name not in _UPDATES:
                continue
            target = module.operands[part][0] if module.operands[part] else UNKNOWN
            target = self._through_views(target, ("bitcast",))
            if target >= 0 and ops[target].name == "parameter":
                found[place] = part
        return found

    def _through_views(self, number: int, names: Sequence[str]) -> int:
        for _ in range(_DEPTH_LIMIT):
            if number < 0 or self.ops[number].name not in names or not self.module.operands[number]:
                break
            number = self.module.operands[number][0]
        return number

    def _update_size(self, update: int) -> int:
        operands = self.module.operands[update]
        if self.ops[update].name == "scatter":
            return sum(self._plain(number) for number in operands[(len(operands) - 1) // 2 + 1 :])
        return self._plain(operands[1]) if len(operands) > 1 else 0

    def _read(self, parameter: int, targets: set[int], operand: int) -> int:
        """What a fusion reads of a parameter: all, unless every use takes a slice or updates it in place."""
        whole = self.size(operand)
        ops = self.ops
        # The first user mostly takes it all.
        for user in self.module.passed_to.get(parameter, ()):
            if ops[user].name not in _PARTIAL:
                return whole
        if not whole:
            return 0
        amount = self._used(parameter, targets, 0)
        return whole if amount is None else min(whole, amount)

    def _used(self, number: int, targets: set[int], depth: int) -> int | None:
        """Bytes that the users of a value take of it; None where one takes it all."""
        if depth > _DEPTH_LIMIT:
            return None
        module, ops = self.module, self.ops
        total = 0
        for user in module.passed_to.get(number, ()):
            name, operands = ops[user].name, module.operands[user]
            first_only = operands[0] == number and number not in operands[1:] if operands else False
            if name in _SLICES and first_only:
                total += self._plain(user)
            elif user in targets and first_only:
                continue
            elif name in ("bitcast", "get-tuple-element"):
                inner = self._used(user, targets, depth + 1)
                if inner is None:
                    return None
                total += inner
            elif name == "fusion":
                called = module.called(user, "calls")
                parameters = module.parameters(called[0]) if called else ()
                for place, operand in enumerate(operands):
                    if operand == number:
                        inner = self._used(parameters[place], set(), depth + 1) if place < len(parameters) else None
                        if inner is None:
                            return None
                        total += inner
            else:
                return None
        return total
