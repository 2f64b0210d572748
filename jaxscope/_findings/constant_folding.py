"""Work on captured arrays that the compiler does itself, slowly, while it compiles.

What it does:
    Names the lines whose operations read or write a million elements or more, depend on no argument, and are gone from
    the compiled program: XLA has worked them out.

Why it matters:
    This is called constant folding. XLA's folding is a plain interpreter, which takes about a second for a million
    elements where the device takes microseconds, and it does so in every compilation. It tells of it on the standard
    error of C++ only, which a notebook does not show. A large result is written into the executable.

Example:
        table = np.random.rand(1000, 1000)
        jax.jit(lambda x: x + jnp.sin(table))   # a million sines, one by one, while compiling

Use instead:
        jax.jit(lambda table, x: x + jnp.sin(table))

    Or work out `jnp.sin(table)` once, outside of jit, and pass the result. `jax.lax.optimization_barrier(table)` keeps
    XLA from folding what comes after it: the work is then done on the device, in every call.

When it is wrong:
    Where the program is compiled once and runs for long, the work is saved in every call.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any

import numpy as np

from jaxscope import _jax, _jax_equations, _jax_types
from jaxscope._findings.equations import live_equations
from jaxscope._findings.records import ListingLine, Observation, Program, Rule, read_documentation
from jaxscope._ir.model import NO_STACK, Frame
from jaxscope._ir.shapes import ArrayType, read_hlo_type
from jaxscope._links import LinkedListing
from jaxscope._view.format import format_bytes, format_count

# XLA's interpreter took 0.3 s (sums) to 1 s (sines, additions) for so many elements, on JAX 0.10.2.
LEAST_ELEMENTS = 2**20
# A result from here on makes the executable larger than any program's own code does.
LEAST_STORED_BYTES = 2**20


class _Origin(IntEnum):
    """What a value depends on; of several operands, the largest counts.

    ARGUMENT: an argument, so that nothing can be folded. NUMBER: one number, repeated, which costs XLA nothing.
    EQUAL_ELEMENTS: a captured array whose elements are all the same, which costs it next to nothing. CAPTURED: any
    other.
    """

    ARGUMENT = 0
    NUMBER = 1
    EQUAL_ELEMENTS = 2
    CAPTURED = 3


# They only move elements: XLA hands them on to the reader, or copies as fast as memory does.
_MOVES = frozenset(
    (
        "bitcast_convert_type",
        "broadcast_in_dim",
        "copy",
        "copy_p",
        "device_put",
        "expand_dims",
        "reshape",
        "rev",
        "slice",
        "squeeze",
        "stop_gradient",
        "transpose",
    )
)
_CALLS = frozenset(("closed_call", "core_call", "custom_jvp_call", "custom_vjp_call", "jit", "pjit"))
# XLA does not fold them: `iota` because it is short, the barrier because it is one.
_NEVER_FOLDED = frozenset(("iota", "optimization_barrier"))
# Instructions that do no work: the result of folding has the name of what was folded.
_RESULTS = frozenset(
    ("bitcast", "broadcast", "call", "constant", "copy", "fusion", "get-tuple-element", "parameter", "tuple")
)

_Place = tuple[tuple[str, int, int], str]


@dataclass(frozen=True, slots=True)
class _Folded:
    """An equation that depends on captured arrays only."""

    equation: Any
    kind: _Origin
    frames: tuple[Frame, ...]

    @property
    def elements(self) -> int:
        values = (*self.equation.invars, *self.equation.outvars)
        return max(math.prod(_jax.dimensions_of(value.aval)) for value in values)

    @property
    def place(self) -> _Place:
        """What its operations in the compilers' listings have too."""
        return self.frames[0].position, self.equation.primitive.name


@dataclass
class _Walk:
    """Finds large equations on constants; a jaxpr is entered once for each line that calls it with some."""

    captured: Mapping[Any, Any]
    sources: dict[int, _jax_equations.EquationSource] = field(default_factory=dict)
    found: list[_Folded] = field(default_factory=list)
    origin_of_array: dict[int, _Origin] = field(default_factory=dict)
    entered: dict[tuple[Any, ...], list[_Origin]] = field(default_factory=dict)

    def visit(self, jaxpr: Any, inputs: list[_Origin], outer: tuple[Frame, ...]) -> list[_Origin]:
        """The kinds of a jaxpr's results, for those of its inputs."""
        call = (id(jaxpr), tuple(inputs), outer[:1])
        if call not in self.entered:
            self.entered[call] = self.enter(jaxpr, inputs, outer)
        return self.entered[call]

    def enter(self, jaxpr: Any, inputs: list[_Origin], outer: tuple[Frame, ...]) -> list[_Origin]:
        kinds = dict(zip(jaxpr.invars, inputs, strict=True))
        live = live_equations(jaxpr)
        for equation in jaxpr.eqns:
            operands = [self.kind(operand, kinds) for operand in equation.invars]
            results = [_Origin.ARGUMENT] * len(equation.outvars)
            inner = _jax_equations.inner_jaxprs(equation)
            if equation.primitive.name in _CALLS and len(inner) == 1:
                if any(kind > _Origin.NUMBER for kind in operands) or inner[0].jaxpr.constvars:
                    frames = self.frames(equation, outer)
                    given = [_Origin.ARGUMENT if number is None else operands[number] for number in inner[0].inputs]
                    results = self.visit(inner[0].jaxpr, given, frames)
            elif not inner and not equation.effects and equation.primitive.name not in _NEVER_FOLDED:
                kind = max(operands, default=_Origin.ARGUMENT) if _Origin.ARGUMENT not in operands else _Origin.ARGUMENT
                results = [kind] * len(equation.outvars)
                if kind > _Origin.NUMBER and equation.primitive.name not in _MOVES and id(equation) in live:
                    self.consider(equation, kind, outer)
            kinds.update(zip(equation.outvars, results, strict=False))
        return [self.kind(result, kinds) for result in jaxpr.outvars]

    def consider(self, equation: Any, kind: _Origin, outer: tuple[Frame, ...]) -> None:
        if any(_jax.is_symbolic(_jax.dimensions_of(value.aval)) for value in (*equation.invars, *equation.outvars)):
            return
        folded = _Folded(equation, kind, self.frames(equation, outer))
        if folded.frames and folded.elements >= LEAST_ELEMENTS:
            self.found.append(folded)

    def frames(self, equation: Any, outer: tuple[Frame, ...]) -> tuple[Frame, ...]:
        return _jax_equations.equation_source(equation, self.sources).frames + outer

    def kind(self, operand: Any, kinds: Mapping[Any, _Origin]) -> _Origin:
        if _jax_equations.is_literal(operand):
            return self.kind_of_value(operand.val) if np.ndim(operand.val) else _Origin.NUMBER
        if operand in kinds:
            return kinds[operand]
        return self.kind_of_value(self.captured[operand]) if operand in self.captured else _Origin.ARGUMENT

    def kind_of_value(self, value: Any) -> _Origin:
        if (known := self.origin_of_array.get(id(value))) is None:
            known = _Origin.EQUAL_ELEMENTS if _has_equal_elements(value) else _Origin.CAPTURED
            self.origin_of_array[id(value)] = known
        return known


def _has_equal_elements(value: Any) -> bool:
    if math.prod(np.shape(value)) < LEAST_ELEMENTS:
        return False
    try:
        flat = np.asarray(value).reshape(-1)
        return bool(flat[0] == flat[-1]) and bool((flat == flat[0]).all())
    except Exception:  # Keys have no numbers, and an array of several hosts cannot be read from one.
        return False


def _observations(program: Program) -> Iterator[Observation]:
    program.require_product("compile")
    closed = program.require_product("trace").jaxpr
    captured = dict(_jax.captured_values(closed))
    if not captured and not _jax_types.captured_constants(program.require_product("trace")):
        return
    walk = _Walk(captured)
    walk.visit(closed.jaxpr, [_Origin.ARGUMENT] * len(closed.jaxpr.invars), ())
    if not walk.found:
        return
    places = {folded.place for folded in walk.found}
    asked = _places_with_work(program.listing("stablehlo"), places)
    gone = asked - _places_with_work(program.listing("hlo"), places)
    by_line: dict[tuple[str, int], list[_Folded]] = {}
    for folded in walk.found:
        if folded.place in gone:
            by_line.setdefault((folded.frames[0].file, folded.frames[0].line), []).append(folded)
    lines = {id(placed.equation): placed.lines for placed in program.equations} if by_line else {}
    stored = _stored_constants(program.listing("hlo")) if by_line else {}
    for group in sorted(by_line.values(), key=lambda group: -max(folded.elements for folded in group)):
        yield _observation(group, lines, stored)


def _observation(
    group: list[_Folded], lines: Mapping[int, tuple[ListingLine, ...]], stored: Mapping[tuple[str, int], int]
) -> Observation:
    largest = max(group, key=lambda folded: folded.elements)
    # The last is what the line gives.
    result = group[-1].equation.outvars[0].aval
    name = largest.equation.primitive.name
    read = max((value.aval for value in largest.equation.invars), key=lambda aval: _jax.size_bytes(aval) or 0)
    size = format_bytes(_jax.size_bytes(read) or 0)
    what = f"{name} of {_jax_types.short_array_type(read.shape, read.dtype)} ({size})"
    if len(group) > 1:
        what = f"{format_count(len(group), ('operation', 'operations'))} on captured arrays, the largest a {what},"
        found = f"{what} depend on no argument: XLA worked them out while compiling, by constant folding."
    else:
        found = f"{what} depends on no argument: XLA worked it out while compiling, by constant folding."
    places = [line for folded in (largest, *group) for line in lines.get(id(folded.equation), ())]
    result_bytes = _jax.size_bytes(result) or 0
    at = stored.get(_key_of(result)) if result_bytes >= LEAST_STORED_BYTES else None
    if at is not None:
        text = _jax_types.short_array_type(result.shape, result.dtype)
        found += f" The result, {text} ({format_bytes(result_bytes)}), is written into the executable."
        places.append(ListingLine("hlo", at))
    return Observation(
        found=found,
        advice="Pass the captured array as an argument, or compute this once outside of jit and pass the result. "
        "jax.lax.optimization_barrier on the array leaves the work to the device.",
        frames=largest.frames,
        lines=tuple(dict.fromkeys(places)),
        severity=None if any(folded.kind == _Origin.CAPTURED for folded in group) else "note",
    )


def _places_with_work(linked: LinkedListing, wanted: set[_Place]) -> set[_Place]:
    """Those of the places that an op which does work comes from."""
    positions = {position for position, _ in wanted}
    nodes = {
        node: linked.stacks.frames[frame].position
        for node, (frame, _) in enumerate(linked.stacks.nodes)
        if linked.stacks.frames[frame].position in positions
    }
    found = set()
    for op, stack in zip(linked.listing.ops, linked.op_stack, strict=True):
        if stack != NO_STACK and stack in nodes and op.name not in _RESULTS:
            # jit(f)/vmap(vmap())/reduce_sum;jit(f)/mul
            for path in op.name_path.split(";"):
                found.add((nodes[stack], path.rpartition("/")[2]))
    return found & wanted


def _stored_constants(linked: LinkedListing) -> dict[tuple[str, int], int]:
    """Element type and number of elements of each large constant of compiled HLO, and its line; no two may be alike."""
    found: dict[tuple[str, int], list[_Origin]] = {}
    for op in linked.listing.ops:
        if op.name == "constant":
            for array in read_hlo_type(op.type):
                if (array.size_bytes or 0) >= LEAST_STORED_BYTES:
                    found.setdefault((array.element, array.elements), []).append(op.line)
    return {key: lines[0] for key, lines in found.items() if len(lines) == 1}


def _key_of(aval: Any) -> tuple[str, int]:
    name = _jax_types.short_array_type((), aval.dtype).removesuffix("[]")
    # JAX's i32 and bool are XLA's s32 and pred.
    array = ArrayType({"bool": "pred"}.get(name, "s" + name[1:] if name.startswith("i") else name), aval.shape)
    return array.element, array.elements


RULE = Rule(
    key="constant-folding",
    title="Slow constant folding",
    severity="warning",
    find=_observations,
    documentation=read_documentation(__doc__),
)
