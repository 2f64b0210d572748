"""States that come back with another weakness of type, for which jit compiles once more.

What it does:
    Looks for arguments that come out again, by structure, keys and types, or by name; and names those whose type is
    weak on one side only. A type is weak if it comes from Python numbers alone and gives way to others in arithmetic.

Why it matters:
    Weakness is part of the type that jit looks programs up by. When such a result is passed as the argument of the next
    call, jit traces and compiles the whole function a second time. In `lax.scan` and `lax.while_loop` JAX evens this
    out itself, in a loop of Python it does not.

Example:
        @jax.jit
        def step(state):                             # {"x": f32[8], "best": f32[]}
            return {"x": state["x"] * 0.9, "best": jnp.where(state["x"].sum() > 0, 1.0, 0.0)}   # best: f32[] weak

Use instead:
        best = jnp.where(state["x"].sum() > 0, 1.0, 0.0).astype(jnp.float32)

    And start with `jnp.zeros(())` and not with the Python number `0.0`, whose type is weak.

When it is wrong:
    Where the result is not passed back, or one more compilation does not matter.
"""

from collections.abc import Iterator

from jaxscope import _jax_equations
from jaxscope._analysis.signature import Leaf
from jaxscope._findings.equations import placed_equations
from jaxscope._findings.records import ListingLine, Observation, Program, Rule, read_documentation
from jaxscope._findings.states import carried_leaves
from jaxscope._ir.model import Frame
from jaxscope._view.format import format_count


def _observations(program: Program) -> Iterator[Observation]:
    program.require_product("trace")
    signature = program.signature
    pairs = [
        (argument, result)
        for argument, result in carried_leaves(signature)
        if signature.arguments[argument].weak_type != signature.outputs[result].weak_type
    ]
    for weak_result in (True, False):
        some = [pair for pair in pairs if signature.outputs[pair[1]].weak_type == weak_result]
        if some:
            yield _observation(program, some, weak_result)


def _observation(program: Program, pairs: list[tuple[int, int]], weak_result: bool) -> Observation:
    argument, result = (
        program.signature.arguments[pairs[0][0]],
        program.signature.outputs[pairs[0][1]],
    )
    text = f"{_told(result)} comes back as {result.path} for {argument.path}, which was {_told(argument)}"
    if len(pairs) > 1:
        text += f", and {format_count(len(pairs) - 1, ('leaf', 'leaves'))} more likewise"
    text += ". Passed back, it makes jit trace and compile the function a second time."
    frames, lines = _maker(program, pairs[0][1])
    dtype = _dtype(program, pairs[0][0])
    advice = (
        f"Give the result a type of its own: .astype('{dtype}')."
        if weak_result
        else f"Start with an array, jnp.asarray({argument.path}, '{dtype}'), instead of a Python number."
    )
    return Observation(text, advice, frames, lines)


def _told(leaf: Leaf) -> str:
    return f"{leaf.type} weak" if leaf.weak_type else leaf.type


def _dtype(program: Program, argument: int) -> str:
    types = program.signature.types
    return str(types.avals[argument].dtype) if types is not None else ""


def _maker(program: Program, result: int) -> tuple[tuple[Frame, ...], tuple[ListingLine, ...]]:
    """Where a result of the program is made; where the function stands for one that is an argument or a number."""
    variables = program.require_product("trace").jaxpr.jaxpr.outvars
    variable = variables[result] if result < len(variables) else None
    if variable is not None and not _jax_equations.is_literal(variable):
        for placed in placed_equations(program):
            if not placed.enclosing and variable in placed.equation.outvars:
                return placed.frames, placed.lines
    own = program.definition
    return ((Frame(own.file, program.name, own.first_line),) if own is not None else ()), ()


RULE = Rule(
    key="weak-typed-output",
    title="State comes back weakly typed",
    severity="warning",
    find=_observations,
    documentation=read_documentation(__doc__),
)
