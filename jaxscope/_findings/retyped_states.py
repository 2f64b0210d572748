"""States that come back with another type, for which jit compiles once more.

What it does:
    Looks for arguments that come out again, by structure, keys and types, or by name; and names those whose type is
    weak on one side only. A type is weak if it comes from Python numbers alone and gives way to others in arithmetic.
    Also those that come out in another element type, where the result is computed from the argument number by number.

Why it matters:
    Weakness is part of the type that jit looks programs up by. When such a result is passed as the argument of the next
    call, jit traces and compiles the whole function a second time. In `lax.scan` and `lax.while_loop` JAX evens this
    out itself, in a loop of Python it does not. With another element type, all later steps run in that type, too.

Example:
        @jax.jit
        def step(state):                             # {"x": f32[8], "best": f32[]}
            return {"x": state["x"] * 0.9, "best": jnp.where(state["x"].sum() > 0, 1.0, 0.0)}   # best: f32[] weak

Use instead:
        best = jnp.where(state["x"].sum() > 0, 1.0, 0.0).astype(jnp.float32)

    And start with `jnp.zeros(())` and not with the Python number `0.0`, whose type is weak. A step that updates 16-bit
    parameters with 32-bit gradients or momenta ends with `.astype(p.dtype)`, as `optax.apply_updates` does.

When it is wrong:
    Where the result is not passed back, or one more compilation does not matter.
"""

from collections.abc import Iterator, Sequence

from jaxscope import _jax_equations
from jaxscope._analysis.signature import Leaf
from jaxscope._findings.records import ListingLine, Observation, Program, Rule, read_documentation
from jaxscope._findings.states import Updates, carried_leaves, retyped_leaves
from jaxscope._ir.model import Frame
from jaxscope._view.format import format_count


def _observations(program: Program) -> Iterator[Observation]:
    closed = program.require_product("trace").jaxpr
    signature = program.signature
    arguments, outputs = signature.arguments, signature.outputs
    updates = Updates(closed)
    retyped = [
        (argument, result)
        for argument, result in retyped_leaves(signature)
        if arguments[argument].type != outputs[result].type and updates.is_update(result, argument)
    ]
    carried = [
        (argument, result)
        for argument, result in carried_leaves(signature)
        if arguments[argument].weak_type != outputs[result].weak_type
    ]
    weak = [pair for pair in carried if outputs[pair[1]].weak_type]
    strong = [pair for pair in carried if not outputs[pair[1]].weak_type]
    for pairs, advice in (
        (retyped, "Cast the result back: .astype('{dtype}')."),
        (weak, "Give the result a type of its own: .astype('{dtype}')."),
        (strong, "Start with an array, jnp.asarray({path}, '{dtype}'), instead of a Python number."),
    ):
        if pairs:
            yield _observation(program, pairs, advice)


def _observation(program: Program, pairs: Sequence[tuple[int, int]], advice: str) -> Observation:
    place, result_place = pairs[0]
    argument, result = program.signature.arguments[place], program.signature.outputs[result_place]
    text = f"{_told(result)} comes back as {result.path} for {argument.path}, which was {_told(argument)}"
    if len(pairs) > 1:
        text += f", and {format_count(len(pairs) - 1, ('leaf', 'leaves'))} more likewise"
    text += ". Passed back, it makes jit trace and compile the function a second time."
    frames, lines = _maker(program, result_place)
    advice = advice.replace("{dtype}", _dtype(program, place)).replace("{path}", argument.path)
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
        for placed in program.equations:
            if not placed.enclosing and variable in placed.equation.outvars:
                return placed.frames, placed.lines
    return program.own_frames, ()


RULE = Rule(
    key="retyped-state",
    title="State comes back with another type",
    severity="warning",
    find=_observations,
    documentation=read_documentation(__doc__),
)
