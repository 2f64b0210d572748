"""The same equations again and again, which one loop would hold.

What it does:
    Names the lines of a Python loop whose body was traced eight times or more, where the copies make up a quarter of
    the program or more.

    The equations of all turns have to be the same, with the same types, parameters and connections, and each turn has
    to take a value from the one before it: an optimiser's update of many parameters is no such loop. Bodies count that
    hold a matrix product or convolution, or 15 equations or more; polynomials and the like are best written out.

Why it matters:
    Tracing, lowering and compiling take that many times longer, and every listing is that many times longer. XLA does
    not find the loop again.

Example:
        for layer in params["layers"]:
            x = block(x, layer)

Use instead:
        stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *params["layers"])
        x, _ = jax.lax.scan(lambda x, layer: (block(x, layer), None), x, stacked)

    Keep the parameters stacked outside of jit. In Flax `nnx.scan` does it, in Equinox `eqx.filter_vmap` makes the
    stacked layers. `jax.lax.scan(..., unroll=4)` puts four turns into one.

When it is wrong:
    Where the body is so short that the loop itself costs more, where XLA merges work of neighbouring turns, or where
    compile time does not matter: unrolled programs can run faster, and keep every value of a backward pass apart.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from jaxscope import _jax, _jax_equations
from jaxscope._analysis.downstream import PRODUCTS
from jaxscope._findings.equations import PlacedEquation
from jaxscope._findings.python_source import loop_around
from jaxscope._findings.records import ListingLine, Observation, Program, Rule, read_documentation
from jaxscope._ir.model import Frame
from jaxscope._sources import display_name
from jaxscope._view.format import format_count, format_share

LEAST_TURNS = 8
# A matrix product with what stands around it; below that the loop's own equations are as many.
LEAST_WITH_PRODUCT = 4
# The longest turn of the polynomials and series of `jax.scipy.special`, which are better unrolled, is shorter.
LEAST_EQUATIONS = 15
# What would be saved of a program has to be worth the rewriting.
LEAST_SHARE = 0.25

# Lengths of the pieces whose next copy is looked for; a turn may hold a short piece twice.
_PIECES = (4, 16, 48)
_MOST_PERIODS = 24


@dataclass(frozen=True, slots=True)
class _Run:
    """Equations `start` to `start + turns * period` of a jaxpr, which are `turns` times the same."""

    start: int
    period: int
    turns: int

    @property
    def end(self) -> int:
        return self.start + self.period * self.turns


@dataclass(frozen=True, slots=True)
class _Kind:
    """What is the same for equations of one kind.

    Attributes:
        number: Equal for equations of the same primitive, types and parameters; jaxprs inside it by their own kinds.
        weight: How many equations it stands for, those inside it included; a function counts at each call.
        has_product: Whether it is or holds a matrix product or a convolution.
    """

    number: int
    weight: int
    has_product: bool


@dataclass
class _Kinds:
    numbers: dict[Any, int] = field(default_factory=dict)
    jaxprs: dict[int, tuple[_Kind, ...]] = field(default_factory=dict)

    def of_jaxpr(self, jaxpr: Any) -> tuple[_Kind, ...]:
        """The kinds of its equations, in order."""
        if (found := self.jaxprs.get(id(jaxpr))) is None:
            found = self.jaxprs[id(jaxpr)] = tuple(map(self.of_equation, jaxpr.eqns))
        return found

    def of_equation(self, equation: Any) -> _Kind:
        inner: list[_Kind] = []
        key: list[Any] = [equation.primitive.name]
        key += [self.number(value.aval) for value in (*equation.invars, *equation.outvars)]
        key += map(_jax_equations.is_literal, equation.invars)
        for name, value in sorted(equation.params.items()):
            key.append(name)
            if jaxprs := tuple(_jax.jaxprs_in(value)):
                for kinds in map(self.of_jaxpr, jaxprs):
                    inner += kinds
                    key += (*(kind.number for kind in kinds), -1)
            else:
                key.append(self.number(value))
        weight = sum(kind.weight for kind in inner) if inner else 1
        has_product = equation.primitive.name in PRODUCTS or any(kind.has_product for kind in inner)
        return _Kind(self.number(tuple(key)), weight, has_product)

    def number(self, key: Any) -> int:
        try:
            return self.numbers.setdefault((type(key), key), len(self.numbers))
        except TypeError:  # What has no hash is told apart by its class alone: it is no type of an array nor an axis.
            return self.numbers.setdefault(type(key), len(self.numbers))


def _observations(program: Program) -> Iterator[Observation]:
    closed = program.require_product("trace").jaxpr
    kinds = _Kinds()
    total = _weight(kinds.of_jaxpr(closed.jaxpr))
    runs: list[tuple[Any, _Run]] = []
    for jaxpr in _jax.every_jaxpr(closed):
        if len(jaxpr.eqns) >= LEAST_TURNS and _weight(kinds.of_jaxpr(jaxpr)) >= LEAST_SHARE * total:
            runs += [(jaxpr, run) for run in _runs_of(jaxpr, kinds.of_jaxpr(jaxpr))]
    if not runs:
        return
    placed: dict[int, PlacedEquation] = {}
    for place in program.equations:
        placed.setdefault(id(place.equation), place)
    by_place: dict[tuple[str, int], list[_Repetition]] = {}
    for jaxpr, run in runs:
        equations = jaxpr.eqns[run.start : run.end]
        places = [placed[id(equation)] for equation in equations if id(equation) in placed]
        frames, lines = _common_place([place.frames for place in places])
        if frames:
            weight = _weight(kinds.of_jaxpr(jaxpr)[run.start : run.end])
            repetition = _Repetition(run, weight, frames, lines, places[0].lines)
            by_place.setdefault((frames[0].file, frames[0].line), []).append(repetition)
    groups = [(sum(run.weight for run in group), group) for group in by_place.values()]
    for weight, group in sorted(groups, key=lambda pair: -pair[0]):
        if weight >= LEAST_SHARE * total:
            yield _observation(group, weight, total, len(program.listing("jaxpr").listing.ops))


@dataclass(frozen=True, slots=True)
class _Repetition:
    run: _Run
    weight: int
    frames: tuple[Frame, ...]
    python_lines: tuple[int, int]
    lines: tuple[ListingLine, ...]


def _observation(group: Sequence[_Repetition], weight: int, total: int, printed: int) -> Observation:
    largest = max(group, key=lambda repetition: repetition.weight)
    first, last = largest.python_lines
    where = f"line {first}" if first == last else f"lines {first} to {last}"
    body = format_count(largest.weight // largest.run.turns, ("equation", "equations"))
    found = f"{body} from {where} of {display_name(largest.frames[0].file)} stand {largest.run.turns} times in a row"
    if len(group) > 1:
        found += f", and {format_count(len(group) - 1, ('other group', 'other groups'))} from there likewise"
    once = f"these equations once instead of {largest.run.turns} times" if len(group) == 1 else "each group once"
    # The text of a jaxpr, which the strip counts, has a function once that is called often.
    how = "" if total == printed else ", those of called functions at each call"
    return Observation(
        found=f"{found}: {weight:,} of {total:,} equations ({format_share(weight, total)}){how}.",
        advice=f"jax.lax.scan over stacked parameters has {once}: it traces and "
        "compiles faster. Flax has nnx.scan; in Equinox, stack layers with eqx.filter_vmap. It may run slower where "
        "a turn is short.",
        frames=largest.frames,
        lines=tuple(dict.fromkeys(line for repetition in (largest, *group) for line in repetition.lines)),
    )


def _weight(kinds: Iterable[_Kind]) -> int:
    return sum(kind.weight for kind in kinds)


def _runs_of(jaxpr: Any, kinds: Sequence[_Kind]) -> Iterator[_Run]:
    """The repetitions of a jaxpr that are worth a loop; none overlap."""
    equations = jaxpr.eqns
    numbers = [kind.number for kind in kinds]
    makers = {id(variable): number for number, equation in enumerate(equations) for variable in equation.outvars}
    taken: list[_Run] = []
    candidates = [run for period in _periods(numbers) for run in _runs(numbers, period)]
    for run in sorted(candidates, key=lambda run: (run.start - run.end, run.period)):
        if any(run.start < other.end and other.start < run.end for other in taken):
            continue
        taken.append(run)
        turn = kinds[run.start : run.start + run.period]
        has_product = any(kind.has_product for kind in turn)
        if _weight(turn) < (LEAST_WITH_PRODUCT if has_product else LEAST_EQUATIONS):
            continue
        if _are_chained(equations, makers, run):
            yield run


def _periods(kinds: Sequence[int]) -> Iterable[int]:
    """The distances from a piece to its next copy, those of most pieces first."""
    counts: dict[int, int] = {}
    for length in _PIECES:
        last: dict[int, int] = {}
        for start in range(len(kinds) - length + 1):
            piece = hash(tuple(kinds[start : start + length]))
            if piece in last:
                distance = start - last[piece]
                counts[distance] = counts.get(distance, 0) + 1
            last[piece] = start
    frequent = [period for period, count in counts.items() if count >= (LEAST_TURNS - 2) * period]
    return sorted(frequent, key=lambda period: (-counts[period], period))[:_MOST_PERIODS]


def _runs(kinds: Sequence[int], period: int) -> Iterator[_Run]:
    """The stretches in which each equation is of the kind of the one `period` before it."""
    start = 0
    for number in range(period, len(kinds) + 1):
        if number == len(kinds) or kinds[number] != kinds[number - period]:
            turns = (number - start) // period
            if turns >= LEAST_TURNS:
                yield _Run(start, period, turns)
            start = number - period + 1


def _are_chained(equations: Sequence[Any], makers: dict[int, int], run: _Run) -> bool:
    """Whether each turn takes a value from the one before it, and all are connected alike inside."""
    first: list[tuple[int, ...]] = []
    for turn in range(run.turns):
        begin = run.start + turn * run.period
        inside: list[tuple[int, ...]] = []
        takes = False
        for equation in equations[begin : begin + run.period]:
            sources = [
                -1 if _jax_equations.is_literal(value) else makers.get(id(value), -1) for value in equation.invars
            ]
            takes = takes or any(begin - run.period <= source < begin for source in sources)
            inside.append(tuple(source - begin if source >= begin else -1 for source in sources))
        if turn == 0:
            first = inside
        elif inside != first or not takes:
            return False
    return True


def _common_place(stacks: Sequence[tuple[Frame, ...]]) -> tuple[tuple[Frame, ...], tuple[int, int]]:
    """The call stack down to the loop, and the first and last line of what it repeats; () where none is the user's."""
    stacks = [stack for stack in stacks if stack]
    shared = 0
    while stacks and shared < min(map(len, stacks)) and len({_line(stack[-shared - 1]) for stack in stacks}) == 1:
        shared += 1
    places: list[tuple[tuple[Frame, ...], tuple[int, int]]] = []
    deeper = [stack[-shared - 1] for stack in stacks if len(stack) > shared]
    if deeper and len(deeper) == len(stacks) and len({(frame.file, frame.function) for frame in deeper}) == 1:
        lines = [frame.line for frame in deeper]
        first = min(range(len(stacks)), key=lines.__getitem__)
        places.append((stacks[first][-shared - 1 :], (min(lines), max(lines))))
    for depth in range(shared, 0, -1):
        line = stacks[0][-depth].line
        places.append((stacks[0][-depth:], (line, line)))
    # All turns pass through each of these; the loop is where Python has one, or statements follow each other. One line
    # without a loop calls a function of JAX's that unrolls its own: `jax.scipy.linalg.eigh_tridiagonal`.
    loops = (place for place in places if loop_around(place[0][0].file, *place[1]) is not None)
    lines_in_a_row = (place for place in places if place[1][0] != place[1][1])
    return next(loops, next(lines_in_a_row, ((), (0, 0))))


def _line(frame: Frame) -> tuple[str, str, int]:
    return frame.file, frame.function, frame.line


RULE = Rule(
    key="unrolled-repetition",
    title="Unrolled repetition",
    severity="note",
    find=_observations,
    documentation=read_documentation(__doc__),
)
