"""Large arrays that the function takes from outside its arguments.

What it does:
    Names every captured array of a mebibyte or more, and the line that reads it.

Why it matters:
    A captured array is part of the program: JAX keeps it in the jaxpr, writes it into the module, and the compiler
    carries it, may fold it, and stores it with the executable. Compiling takes longer and uses more memory, the
    compilation cache misses for other values, and a change to the array later is not seen.

Example:
        table = jnp.zeros((1000, 1000))
        jax.jit(lambda x: table @ x)

Use instead:
        jax.jit(lambda table, x: table @ x)

    Or bind it with `jax.tree_util.Partial(f, table)`, whose arguments are passed like any other.

When it is wrong:
    Where the array never changes and has to be inside the executable, such as a table on a device that runs without
    Python, and compiling is quick all the same.
"""

from collections.abc import Iterator

from jaxscope import _jax, _jax_types
from jaxscope._findings.equations import first_uses
from jaxscope._findings.records import Observation, Program, Rule, read_documentation
from jaxscope._view.format import format_bytes

LEAST_BYTES = 2**20


def _observations(program: Program) -> Iterator[Observation]:
    traced = program.require_product("trace")
    large = [value for value in _jax_types.captured_constants(traced) if (_jax.size_bytes(value) or 0) >= LEAST_BYTES]
    places = first_uses(program) if large else {}
    for value in sorted(large, key=lambda value: -(_jax.size_bytes(value) or 0)):
        place = places.get(id(value))
        kind = _jax_types.short_array_type(value.shape, value.dtype)
        size = format_bytes(_jax.size_bytes(value) or 0)
        yield Observation(
            found=f"{kind}, {size}, comes from outside the function's arguments and is written into the program.",
            advice="Make it an argument of the function.",
            frames=place.frames if place is not None else (),
            lines=place.lines if place is not None else (),
        )


RULE = Rule(
    key="captured-constant",
    title="Large captured array",
    severity="warning",
    find=_observations,
    documentation=read_documentation(__doc__),
)
