"""Calls for which jit traces and compiles again.

What it does:
    Tells three things: that the call given as `call=` would compile again, and because of which argument; that jit
    already keeps many entries for this function; and that a static argument is compared by identity, so that an equal
    one, made anew, compiles again.

Why it matters:
    Tracing and compiling take from a fraction of a second to minutes, in place of the microseconds of a call, and jit
    says nothing about it. All that it compiled is kept in memory.

Example:
        for batch in batches:                  # the last ones are shorter, each by another length
            step(params, batch)
        jitted(x, lambda y: y * 2)             # static, and a new function every time

Use instead:
    Pad arrays to one of a few sizes and mask the rest. Pass numbers that change as arguments that are traced, not as
    static ones. Give static objects `__eq__` and `__hash__` by value, `@dataclass(frozen=True)`, and define functions
    once, outside the loop. `jax.config.update("jax_explain_cache_misses", True)` names the reason at each miss,
    `jax_log_compiles` counts them.

When it is wrong:
    Where the function is meant for many types, as a library's is, or each program is used often enough.
"""

from collections.abc import Iterator

from jaxscope._analysis.cache_verdict import CacheRow, CacheVerdict
from jaxscope._findings.records import Observation, Program, Rule, read_documentation
from jaxscope._ir.model import Frame
from jaxscope._sources import is_library
from jaxscope._view.format import format_count

# Who pads lengths to powers of two keeps 16 programs for lengths up to 32,768; more has no such plan.
MOST_ENTRIES = 16
_MOST_ROWS = 3

# What differs between two calls, and how to make them alike.
_REPAIRS = (
    ("shape", "Pad it to one of a few sizes, and mask what was added."),
    ("dtype", "Cast it to the type of the other calls, .astype, before the call."),
    ("weak type", "Pass an array in every call, jnp.asarray(number, dtype), or a Python number in every call."),
    ("static value", "Pass it as an argument that is traced, or keep to a few values."),
    ("setting", "Call it under the same settings of JAX every time."),
)
_PLACES = "Put it where the other calls have it, with jax.device_put."
_STRUCTURE = "Give it the same containers and keys in every call."


def _observations(program: Program) -> Iterator[Observation]:
    own, frames = program.definition, program.own_frames
    if isinstance(program.cache, CacheVerdict) and program.cache.compiles and program.cache.rows:
        yield _compared_call(program.cache, frames)
    # What a library jits is called by everybody, with types of every kind.
    is_own = own is None or not is_library(own.file)
    if is_own and program.cache_entries is not None and program.cache_entries > MOST_ENTRIES:
        count = format_count(program.cache_entries, ("entry", "entries"))
        yield Observation(
            f"jit already keeps {count} for this function: it was called with as many combinations of types, "
            "structures, static values and places.",
            "See which argument changes with jax.config.update('jax_explain_cache_misses', True); pad shapes that "
            "vary to a few sizes, and trace numbers that are static.",
            frames,
        )
    for name, value in program.static_by_identity:
        yield Observation(
            f"The static argument {name} is {value}, which equals nothing but itself: each new object compiles again, "
            "even one that is just like it.",
            "Pass the same object in every call, or one that is compared and hashed by value, such as a frozen "
            "dataclass.",
            frames,
            severity="note",
        )


def _compared_call(verdict: CacheVerdict, frames: tuple[Frame, ...]) -> Observation:
    decisive = [row for row in verdict.rows if row.outcome == verdict.outcome]
    told = "; ".join(_told(row) for row in decisive[:_MOST_ROWS])
    more = f"; {len(decisive) - _MOST_ROWS} more" if len(decisive) > _MOST_ROWS else ""
    does = "trace the function again, lower and compile it" if verdict.outcome == "traces again" else "compile it again"
    return Observation(f"The call that was given makes jit {does}: {told}{more}.", _repair(decisive[0]), frames)


def _told(row: CacheRow) -> str:
    sides = f" was {row.first or 'absent'} and is {row.now or 'absent'}" if row.first or row.now else ""
    return f"{row.path}{sides} ({', '.join(row.differs)})"


def _repair(row: CacheRow) -> str:
    for kind, repair in _REPAIRS:
        if kind in row.differs:
            return repair
    return _PLACES if row.outcome == "compiles again" else _STRUCTURE


RULE = Rule(
    key="recompile",
    title="Compiled again",
    severity="warning",
    find=_observations,
    documentation=read_documentation(__doc__),
)
