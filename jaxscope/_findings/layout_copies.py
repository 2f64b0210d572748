"""Copies that only change the order in which an array lies in memory.

What it does:
    Names the lines of Python whose kernels do nothing but transpose or copy an array into another layout, where these
    move a tenth of all bytes that the program moves, and a mebibyte at least.

Why it matters:
    Such a kernel reads and writes the whole array and computes nothing. A matrix product or convolution wants its
    dimensions in a certain order; an array in another order is copied first, on every run.

Example:
        jax.lax.conv_general_dilated(x, w, (1, 1), "SAME")   # channels before space: copied on most devices

Use instead:
        jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    Keep arrays in the order in which what is dearest reads them, store parameters so, and name dimensions in
    `jnp.einsum` or `lax.dot_general` instead of transposing first. `jax.jit` chooses the layout of an argument itself
    with `in_shardings=jax.experimental.layout.Format(jax.experimental.layout.Layout.AUTO)`.

When it is wrong:
    Where two consumers want different orders, or the other order makes a dearer kernel slower.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from jaxscope._analysis.hlo_attributes import numbers
from jaxscope._analysis.hlo_module import UNKNOWN, HloModule
from jaxscope._analysis.work import KernelCost
from jaxscope._analysis.xla_sizes import minor_to_major
from jaxscope._findings.places import by_line, frames_of
from jaxscope._findings.records import ListingLine, Observation, Program, Rule, read_documentation
from jaxscope._findings.traffic import all_bytes, bytes_of, matters
from jaxscope._ir.model import NO_STACK, Op
from jaxscope._links import LinkedListing
from jaxscope._view.format import format_bytes, format_count, format_percent

_MOVES = frozenset(("copy", "transpose"))
# What may stand beside them in a kernel that computes nothing.
_VIEWS = frozenset(("bitcast", "parameter", "reshape"))
_CONVOLUTIONS = frozenset(("conv_general_dilated", "convolution"))


@dataclass(frozen=True, slots=True)
class _LayoutCopy:
    """A kernel that only lays an array out anew.

    Attributes:
        kernel: It.
        move: The instruction, its own or one inside it, that does.
        reader: The first instruction that reads the result; `UNKNOWN` where the program returns it.
        place: The instruction that stands for it in Python: itself, or the next one that has a line.
    """

    kernel: KernelCost
    move: int
    reader: int
    place: int


def _observations(program: Program) -> Iterator[Observation]:
    copies = _layout_copies(program)
    whole = all_bytes(program.program_cost("hlo")) if copies else None
    if whole is None:
        return
    module, linked = program.hlo_module, program.listing("hlo")
    by_place: dict[int, list[_LayoutCopy]] = {}
    for copy in copies:
        by_place.setdefault(copy.place, []).append(copy)
    found = []
    for places in by_line(linked, by_place):
        of_line = sorted((copy for place in places for copy in by_place[place]), key=lambda copy: -_size(copy))
        size = sum(map(_size, of_line))
        if matters(size, whole):
            found.append((size, of_line))
    for size, of_line in sorted(found, key=lambda pair: -pair[0]):
        most = of_line[0]
        runs = sum(copy.kernel.runs.with_loops_once for copy in of_line)
        others = f" With {len(of_line) - 1} more it" if len(of_line) > 1 else " It"
        yield Observation(
            found=(
                f"{_told(module, most)}{others} moves {format_bytes(size)} in {format_count(runs, ('run', 'runs'))}, "
                f"{format_percent(size / whole)} of all bytes that the program moves."
            ),
            advice=_advice(program, most),
            frames=frames_of(linked, most.place),
            lines=tuple(ListingLine("hlo", linked.listing.ops[copy.kernel.op].line) for copy in of_line),
        )


def _layout_copies(program: Program) -> list[_LayoutCopy]:
    module, linked = program.hlo_module, program.listing("hlo")
    ops = module.listing.ops
    moves: dict[int, tuple[KernelCost, int]] = {}
    for kernel in program.program_cost("hlo").kernels:
        if kernel.is_counted and bytes_of(kernel) and (move := _changed_order(module, kernel.op)) is not None:
            moves[kernel.op] = kernel, move
    readers, places = _followed(module, linked, moves)
    return [
        _LayoutCopy(kernel, move, readers.get(number, UNKNOWN), places.get(number, number))
        for number, (kernel, move) in moves.items()
        # A transpose that is the program's result is what was asked for.
        if number in readers or not _is_transpose(ops[number])
    ]


def _size(copy: _LayoutCopy) -> int:
    return bytes_of(copy.kernel) or 0


def _changed_order(module: HloModule, number: int) -> int | None:
    """The instruction of a kernel that changes the order in memory, where the kernel does nothing else."""
    ops = module.listing.ops
    name = ops[number].name
    if name in _MOVES:
        return number if _reorders(module, number) else None
    if name != "fusion":
        return None
    called = module.called(number, "calls")
    moves = []
    for member in module.members[called[0]] if called else ():
        inner = ops[member].name
        if inner in _MOVES:
            moves.append(member)
        elif inner not in _VIEWS:
            return None
    return next((move for move in moves if _reorders(module, move)), None)


def _reorders(module: HloModule, number: int) -> bool:
    """Whether a copy or transpose puts elements elsewhere; dimensions of size 1 have no place in the order."""
    ops, operands = module.listing.ops, module.operands[number]
    arrays = module.types(operands[0]) if operands else ()
    if len(arrays) != 1:
        return False
    sizes = arrays[0].dimensions
    permutation = tuple(range(len(sizes)))
    if ops[number].name == "transpose":
        permutation = numbers(module.attributes(number).get("dimensions", ""))
        if sorted(permutation) != list(range(len(sizes))):
            return False
    before = minor_to_major(ops[operands[0]].type, len(sizes))
    after = [permutation[dimension] for dimension in minor_to_major(ops[number].type, len(sizes))]
    return [place for place in before if sizes[place] != 1] != [place for place in after if sizes[place] != 1]


def _followed(
    module: HloModule, linked: LinkedListing, kernels: Mapping[int, object]
) -> tuple[dict[int, int], dict[int, int]]:
    """The first reader of what each kernel gives, and the first instruction from it on that has a line of Python.

    XLA names no line for the copy of an argument, but for what it is copied for. What is only returned has no reader.
    """
    ops, operands = module.listing.ops, module.operands
    readers: dict[int, int] = {}
    places = {number: number for number in kernels if linked.op_stack[number] != NO_STACK}
    # Values by the kernel that they are a view of, or that they follow from without a line of their own.
    views, followers = {number: number for number in kernels}, {number: number for number in kernels}
    for block in sorted({ops[number].block for number in kernels}):
        for number in module.members[block]:
            name = ops[number].name
            for operand in operands[number]:
                if (kernel := views.get(operand)) is not None:
                    if name == "bitcast":
                        views[number] = kernel
                    elif name != "tuple" or block != module.entry:
                        readers.setdefault(kernel, number)
                if (kernel := followers.get(operand)) is not None and kernel not in places:
                    if linked.op_stack[number] != NO_STACK:
                        places[kernel] = number
                    else:
                        followers[number] = kernel
    return readers, places


def _is_transpose(op: Op) -> bool:
    return _primitive(op) == "transpose"


def _primitive(op: Op) -> str:
    """``dot_general`` of the name path ``jit(f)/dot_general``; "" for the name of an argument."""
    path, _, name = op.name_path.rpartition("/")
    return name if path else ""


def _told(module: HloModule, copy: _LayoutCopy) -> str:
    ops = module.listing.ops
    (kind,) = module.types(module.operands[copy.move][0])
    array = f"{kind.element}[{','.join(map(str, kind.dimensions))}]"
    if _is_transpose(ops[copy.kernel.op]):
        return f"The transpose of {array} is a kernel of its own."
    return f"{array} is copied into another order of its dimensions, for {_reader_name(module, copy)}."


def _reader_name(module: HloModule, copy: _LayoutCopy) -> str:
    if copy.reader == UNKNOWN:
        return "the program's result"
    op = module.listing.ops[copy.reader]
    return _primitive(op) or ("the kernel that reads it" if op.name in ("fusion", "call") else op.name)


def _advice(program: Program, copy: _LayoutCopy) -> str:
    ops = program.hlo_module.listing.ops
    reader, source = _reader_name(program.hlo_module, copy), ops[program.hlo_module.operands[copy.kernel.op][0]]
    if _CONVOLUTIONS & {reader, _primitive(ops[copy.kernel.op])}:
        return 'Keep channels last: dimension_numbers=("NHWC", "HWIO", "NHWC") of lax.conv_general_dilated.'
    if _is_transpose(ops[copy.kernel.op]):
        return (
            "Name the dimensions where the array is read, with axis=, jnp.einsum or the dimension_numbers of "
            "lax.dot_general, instead of transposing it first; or keep it transposed from the start."
        )
    # Arrays on a CPU have one layout only.
    can_choose = program.target.platform != "cpu"
    if copy.reader == UNKNOWN:
        choice = ", or let it keep its own layout: out_shardings=Format(Layout.AUTO) of jax.jit" if can_choose else ""
        return f"Compute it in the order of dimensions in which it is returned{choice}."
    if source.name == "parameter" and source.block == program.hlo_module.entry:
        choice = ", or let the compiler choose: in_shardings=Format(Layout.AUTO) of jax.jit" if can_choose else ""
        return f"Pass {source.name_path or 'the argument'} with its dimensions in that order{choice}."
    return "Make the array with its dimensions in that order."


RULE = Rule(
    key="layout-copy",
    title="Copy into another layout",
    severity="warning",
    find=_observations,
    documentation=read_documentation(__doc__),
)
