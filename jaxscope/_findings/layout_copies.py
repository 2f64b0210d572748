"""Copies that only change the order in which an array lies in memory.

What it does:
    Names lines of Python that transpose an array, convolve with channels before space, or read an argument in another
    order than it has. The copies that this causes must move a mebibyte at least, and a tenth of all bytes that the
    program moves.

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

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from jaxscope._analysis.hlo_attributes import numbers
from jaxscope._analysis.hlo_module import UNKNOWN, HloModule
from jaxscope._analysis.work import KernelCost
from jaxscope._analysis.xla_sizes import minor_to_major
from jaxscope._findings.places import by_line
from jaxscope._findings.records import ListingLine, Observation, Program, Rule, Severity, read_documentation
from jaxscope._findings.traffic import all_bytes, bytes_of, matters
from jaxscope._ir.hlo_shapes import read_shape
from jaxscope._ir.model import NO_STACK, Frame, Op
from jaxscope._links import LinkedListing, lines_of_python
from jaxscope._sources import is_library, source_line
from jaxscope._view.format import format_bytes, format_count, format_percent
from jaxscope.errors import UnavailableError

_MOVES = frozenset(("copy", "transpose"))
# What may stand beside them in a kernel that computes nothing.
_VIEWS = frozenset(("bitcast", "parameter", "reshape"))
# "stablehlo.convolution(%0, %1) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = ..."
_CHANNELS_FIRST = re.compile(r"stablehlo\.convolution.* dim_numbers = \[b, f, \d")
# Python that asks for another order: `x.T`  `jnp.swapaxes(x, 1, 2)`  `einops.rearrange(x, "a b -> b a")`
_TRANSPOSES = re.compile(r"\.m?T\b|transpose|swapaxes|moveaxis|permute_dims|rearrange")


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


@dataclass(frozen=True, slots=True)
class _Cause:
    """Copies of one line of Python that have one cause, and what to do about it."""

    copies: list[_LayoutCopy]
    advice: str
    severity: Severity = "warning"


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
        of_line = [copy for place in places for copy in by_place[place]]
        cause = _cause(program, of_line) if matters(sum(map(_size, of_line)), whole) else None
        if cause is not None and matters(size := sum(map(_size, cause.copies)), whole):
            found.append((size, cause))
    for size, cause in sorted(found, key=lambda pair: -pair[0]):
        copies = sorted(cause.copies, key=lambda copy: -_size(copy))
        runs = sum(copy.kernel.runs.with_loops_once for copy in copies)
        others = f" With {len(copies) - 1} more it" if len(copies) > 1 else " It"
        yield Observation(
            found=(
                f"{_told(module, copies[0])}{others} moves {format_bytes(size)} in "
                f"{format_count(runs, ('run', 'runs'))}, {format_percent(size / whole)} of all bytes that the program "
                "moves."
            ),
            advice=cause.advice,
            frames=linked.op_frames(copies[0].place),
            lines=tuple(ListingLine("hlo", linked.listing.ops[copy.kernel.op].line) for copy in copies),
            severity=cause.severity,
        )


def _cause(program: Program, copies: list[_LayoutCopy]) -> _Cause | None:
    """Which copies of a line its author can do something about, and what; None where those are the compiler's own."""
    module, linked = program.hlo_module, program.listing("hlo")
    ops = module.listing.ops
    own: dict[Frame, list[_LayoutCopy]] = {}
    for copy in copies:
        frames = linked.op_frames(copy.place)
        if frames and not is_library(frames[0].file):
            own.setdefault(frames[0], []).append(copy)
    convolved = [copy for frame, here in own.items() if _has_channels_first(program, frame) for copy in here]
    if convolved:
        return _Cause(
            convolved,
            'Keep channels last: dimension_numbers=("NHWC", "HWIO", "NHWC") of lax.conv_general_dilated, and arguments '
            "in that order.",
        )
    transposed = [
        copy
        for frame, here in own.items()
        if _TRANSPOSES.search(_text(frame))
        for copy in here
        if _is_transpose(ops[copy.kernel.op])
    ]
    if transposed:
        return _Cause(
            transposed,
            "Name the dimensions where the array is read, with axis=, jnp.einsum or the dimension_numbers of "
            "lax.dot_general, instead of transposing it first; or keep it transposed from the start.",
        )
    if program.target.platform == "cpu":
        # Arrays on a CPU have one layout only.
        return None
    given = [copy for copy in copies if _is_argument(module, copy)]
    if not given:
        return None
    name = ops[module.operands[given[0].kernel.op][0]].name_path or "the argument"
    return _Cause(
        given,
        f"Pass {name} in that order, or let the compiler choose: in_shardings=Format(Layout.AUTO) of jax.jit.",
        # Another program may want the argument as it is.
        severity="note",
    )


def _has_channels_first(program: Program, frame: Frame) -> bool:
    """Whether a line of Python asks for a convolution with its channels before space."""
    try:
        linked = program.listing("stablehlo")
    except UnavailableError:
        return False
    lines = lines_of_python(linked, frame.file, frame.line).exact
    return any(_CHANNELS_FIRST.search(linked.listing.lines[line]) for line in lines)


def _text(frame: Frame) -> str:
    return "\n".join(source_line(frame.file, line) for line in range(frame.line, max(frame.line, frame.end_line) + 1))


def _is_argument(module: HloModule, copy: _LayoutCopy) -> bool:
    """Whether an argument of the program is copied, and not for a library, whose order is not the compiler's choice."""
    ops = module.listing.ops
    source = module.operands[copy.kernel.op][0]
    is_given = source >= 0 and ops[source].name == "parameter" and ops[source].block == module.entry
    # On its way into a faster memory an argument is read once in any order.
    stays = (shape := read_shape(ops[copy.kernel.op].type)) is not None and not shape.memory_space
    return is_given and stays and copy.reader != UNKNOWN and ops[copy.reader].name != "custom-call"


def _layout_copies(program: Program) -> list[_LayoutCopy]:
    module, linked = program.hlo_module, program.listing("hlo")
    ops = module.listing.ops
    moves: dict[int, tuple[KernelCost, int]] = {}
    for kernel in program.program_cost("hlo").kernels:
        if (
            kernel.is_counted
            and not kernel.work
            and bytes_of(kernel)
            and (move := _changed_order(module, kernel.op)) is not None
        ):
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
    array = str(kind)
    if _is_transpose(ops[copy.kernel.op]):
        return f"The transpose of {array} is a kernel of its own."
    return f"{array} is copied into another order of its dimensions, for {_reader_name(module, copy)}."


def _reader_name(module: HloModule, copy: _LayoutCopy) -> str:
    if copy.reader == UNKNOWN:
        return "the program's result"
    op = module.listing.ops[copy.reader]
    return _primitive(op) or ("the kernel that reads it" if op.name in ("fusion", "call") else op.name)


RULE = Rule(
    key="layout-copy",
    title="Copy into another layout",
    severity="warning",
    find=_observations,
    documentation=read_documentation(__doc__),
)
