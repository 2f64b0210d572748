"""Arguments that the program never reads.

What it does:
    Names every argument that the compiled program does not take, because no result depends on it. Left out are leaves
    of a state that comes out again, while other leaves of it are read: they are only overwritten.

Why it matters:
    It is often a mistake: a value was overwritten, a mask or key was forgotten, a gradient does not reach. Its type is
    still part of jit's key, so a change of its shape compiles the program again for nothing.

Example:
        jax.jit(lambda params, x: params["w"] @ x)   # params["b"] is never read

Use instead:
    Leave the argument out, or use it. With `jax.jit(f, keep_unused=True)` it stays an argument of the compiled program,
    which is needed where buffers are bound by their position.

When it is wrong:
    Where one signature serves several functions, or a tree is passed whole because its other leaves are read.
"""

from collections.abc import Iterator

from jaxscope._analysis.unavailable import Unavailable
from jaxscope._findings.records import Observation, Program, Rule, read_documentation
from jaxscope._findings.states import carried_leaves
from jaxscope._view.format import format_count

_MOST_NAMES = 6


def _observations(program: Program) -> Iterator[Observation]:
    program.require_product("lower")
    arguments = program.signature.arguments
    unread = [leaf for leaf in arguments if not isinstance(leaf.dropped, Unavailable) and leaf.dropped]
    if unread:
        overwritten = _overwritten(program)
        unread = [leaf for leaf in unread if leaf.path not in overwritten]
    if not unread:
        return
    shown = ", ".join(f"{leaf.path} ({leaf.type})" for leaf in unread[:_MOST_NAMES])
    more = f" and {len(unread) - _MOST_NAMES} more" if len(unread) > _MOST_NAMES else ""
    verb = "is" if len(unread) == 1 else "are"
    count = format_count(len(unread), ("argument", "arguments"))
    yield Observation(
        found=f"{count} of {len(arguments)} {verb} never read: {shown}{more}.",
        advice="Use what should have been used, or leave it out of the signature.",
        frames=program.own_frames,
    )


def _overwritten(program: Program) -> set[str]:
    """The leaves of states of which something is read: an optimizer keeps places that only some parameters need."""
    arguments = program.signature.arguments
    read = {leaf.name for leaf in arguments if leaf.dropped is False}
    carried = (arguments[argument] for argument, _ in carried_leaves(program.signature))
    return {leaf.path for leaf in carried if leaf.name in read}


RULE = Rule(
    key="unused-argument",
    title="Argument never read",
    severity="note",
    find=_observations,
    documentation=read_documentation(__doc__),
)
