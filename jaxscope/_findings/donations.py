"""Donations that do not work, and states that could be donated.

What it does:
    Names donated arguments whose memory no result takes, with the reason. And names arguments that come out again, with
    the same structure and types, as an update of themselves, and are not donated, if they have a mebibyte or more and a
    tenth of all arguments.

Why it matters:
    Without donation the old and the new state are in memory at the same time. A donation that does not work saves
    nothing, and JAX says so in one warning, without names.

Example:
        @jax.jit
        def step(params, batch):
            return jax.tree.map(lambda p, g: p - 1e-3 * g, params, gradients(params, batch))

Use instead:
        @functools.partial(jax.jit, donate_argnames="params")

    And call it as `params = step(params, batch)`. A donation works where a result has the type, the sharding and the
    layout of the argument.

When it is wrong:
    Where the caller reads the old value after the call: to compare, to retry, to keep the best. A donated array is
    gone.
"""

from collections.abc import Iterator, Sequence

from jaxscope._analysis.donation import Donation
from jaxscope._analysis.signature import Leaf
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._findings.records import Observation, Program, Rule, read_documentation
from jaxscope._findings.states import Updates, carried_leaves
from jaxscope._ir.model import Frame
from jaxscope._view.format import format_bytes, format_count

LEAST_BYTES = 2**20
LEAST_SHARE = 0.1
_MOST_NAMES = 4


def _observations(program: Program) -> Iterator[Observation]:
    frames = program.own_frames
    reasons: dict[str, list[Donation]] = {}
    for donation in program.donations:
        if donation.worked is False and isinstance(donation.output, Unavailable):
            reasons.setdefault(donation.output.reason, []).append(donation)
    dropped = {leaf.path for leaf in program.signature.arguments if leaf.dropped is True}
    for reason, donations in reasons.items():
        # What is not read costs only its memory, and is another rule's to tell.
        if _size(donations) >= LEAST_BYTES or not all(each.path in dropped for each in donations):
            yield _in_vain(reason, donations, frames)
    yield from _possible(program, frames)


def _in_vain(reason: str, donations: Sequence[Donation], frames: tuple[Frame, ...]) -> Observation:
    shown = ", ".join(f"{each.path} ({each.type})" for each in donations[:_MOST_NAMES])
    more = f" and {len(donations) - _MOST_NAMES} more" if len(donations) > _MOST_NAMES else ""
    size = _size(donations)
    return Observation(
        f"{shown}{more}, {format_bytes(size)}, {'is' if len(donations) == 1 else 'are'} donated in vain. {reason}",
        "Return a result of the same type, sharding and layout, or leave it out of what is donated.",
        frames,
        severity="warning" if size >= LEAST_BYTES else "note",
    )


def _size(leaves: Sequence[Donation] | Sequence[Leaf]) -> int:
    return sum(each.size_bytes for each in leaves if isinstance(each.size_bytes, int))


def _possible(program: Program, frames: tuple[Frame, ...]) -> Iterator[Observation]:
    arguments, outputs = program.signature.arguments, program.signature.outputs
    pairs = [(one, other) for one, other in carried_leaves(program.signature) if not arguments[one].donated]
    least = max(LEAST_BYTES, LEAST_SHARE * _size(arguments))
    if _size([arguments[one] for one, _ in pairs]) < least:
        return
    updates = Updates(program.require_product("trace").jaxpr)
    states = [arguments[one] for one, other in pairs if updates.is_update(other, one)]
    if _size(states) < least:
        return
    first = next(outputs[other].path for one, other in pairs if arguments[one] is states[0])
    names = list(dict.fromkeys(leaf.name for leaf in states))
    shown = ", ".join(names[:_MOST_NAMES]) + (", …" if len(names) > _MOST_NAMES else "")
    arrays = format_count(len(states), ("array", "arrays"))
    come = "comes" if len(names) == 1 else "come"
    yield Observation(
        f"{shown} ({arrays}, {format_bytes(_size(states))}) {come} out again, updated and with the same types, the "
        f"first as {first}. Not donated, the old arrays stay beside the new ones.",
        f"If the caller does not read the old ones again: jax.jit(…, donate_argnames={_quoted(names)}).",
        frames,
        severity="note",
    )


def _quoted(names: Sequence[str]) -> str:
    return f'"{names[0]}"' if len(names) == 1 else "(" + ", ".join(f'"{name}"' for name in names) + ")"


RULE = Rule(
    key="donation",
    title="Donation in vain, or possible",
    severity="warning",
    find=_observations,
    documentation=read_documentation(__doc__),
)
