"""Calls from the running program back to Python.

What it does:
    Names every `jax.pure_callback`, `jax.experimental.io_callback`, `jax.debug.callback` and `jax.debug.print`, with
    the bytes that go over and how often. Inside a loop it is a warning, else a note.

Why it matters:
    Values go to the host and Python runs, which takes many times as long as a small kernel; where results come back,
    the device waits for them. Nothing can be fused across the call. In a loop that is paid in every turn.

Example:
        def step(x, _):
            jax.debug.print("{x}", x=x)
            return advance(x), None
        jax.lax.scan(step, x, length=1000)

Use instead:
        def step(x, _):
            return advance(x), x
        x, path = jax.lax.scan(step, x, length=1000)
        print(path)

    Or call in one of a hundred turns only, with `jax.lax.cond(turn % 100 == 0, report, ignore, x)`. What
    `jax.pure_callback` computes may be had from `jax.numpy`, `jax.scipy` or a foreign function (`jax.ffi`).

When it is wrong:
    While looking for a mistake, or where the call is rare beside the work between two of them.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from jaxscope import _jax
from jaxscope._findings.equations import PlacedEquation
from jaxscope._findings.records import Observation, Program, Rule, Severity, read_documentation
from jaxscope._view.format import format_bytes, format_count

_NAMES = {
    "debug_callback": "jax.debug.callback",
    "debug_print": "jax.debug.print",
    "io_callback": "jax.experimental.io_callback",
    "pure_callback": "jax.pure_callback",
}
_INSTEAD = {
    "debug_callback": "return the value instead, as an output of the loop, and look at it afterwards",
    "debug_print": "return the value instead, as an output of the loop, and print it afterwards",
    "io_callback": "collect the values as outputs of the loop and hand them over once, afterwards",
    "pure_callback": "work it out for all turns before or after the loop, or write it in jax.numpy",
}


def _observations(program: Program) -> Iterator[Observation]:
    if not any(
        equation.primitive.name in _NAMES
        for jaxpr in _jax.every_jaxpr(program.require_product("trace").jaxpr)
        for equation in jaxpr.eqns
    ):
        return
    by_line: dict[Any, list[PlacedEquation]] = {}
    for placed in program.equations:
        # A kernel's own print comes from the device.
        around = {equation.primitive.name for equation in placed.enclosing}
        if placed.equation.primitive.name in _NAMES and "pallas_call" not in around:
            line = (placed.frames[0].file, placed.frames[0].line) if placed.frames else id(placed.equation)
            by_line.setdefault(line, []).append(placed)
    for group in sorted(by_line.values(), key=lambda group: max(map(_cost, group)), reverse=True):
        yield _observation(max(group, key=_cost), len(group) - 1)


def _cost(placed: PlacedEquation) -> tuple[bool, bool, int]:
    """What calls in every turn of the longest loop comes first; of a `while`, nobody knows."""
    return _is_in_every_turn(placed), "while" in placed.loops, math.prod(_lengths(placed)) * sum(_sizes(placed))


def _is_in_every_turn(placed: PlacedEquation) -> bool:
    """Whether it is inside a loop, and no conditional of the loop's body lets it run in some turns only."""
    names = [equation.primitive.name for equation in placed.enclosing]
    loops = [number for number, name in enumerate(names) if name in ("scan", "while")]
    return bool(loops) and "cond" not in names[loops[-1] :]


def _lengths(placed: PlacedEquation) -> list[int]:
    return [equation.params["length"] for equation in placed.enclosing if equation.primitive.name == "scan"]


def _sizes(placed: PlacedEquation) -> tuple[int, int]:
    """The bytes of all operands, and of all results; keys and tokens have none."""
    return (_sum(placed.equation.invars), _sum(placed.equation.outvars))


def _sum(values: Sequence[Any]) -> int:
    return sum(_jax.size_bytes(value.aval) or 0 for value in values)


def _observation(placed: PlacedEquation, others: int) -> Observation:
    name = placed.equation.primitive.name
    sent, taken = _sizes(placed)
    what = f"{_NAMES[name]} sends {format_bytes(sent)} to Python" if sent else f"{_NAMES[name]} calls Python"
    if taken:
        what += f" and waits for {format_bytes(taken)} from there"
    more = f" {format_count(others, ('more callback', 'more callbacks'))} on this line." if others else ""
    if not placed.loops:
        found = f"{what}, outside of loops.{more}"
        advice = "Nothing to do where that is wanted; it costs a transfer to the host in each run."
        return Observation(found, advice, placed.frames, placed.lines, "note")
    often = format_count(math.prod(_lengths(placed)), ("time", "times"))
    if "while" in placed.loops:
        often += " for each turn of a while loop, whose number of turns is not known"
    else:
        often += " in each run of the program"
    up_to = "at most " if any(each.primitive.name == "cond" for each in placed.enclosing) else ""
    advice = f"In a loop, {_INSTEAD[name]}; or call in some turns only, with jax.lax.cond."
    severity: Severity = "warning" if _is_in_every_turn(placed) else "note"
    return Observation(f"{what}, {up_to}{often}.{more}", advice, placed.frames, placed.lines, severity)


RULE = Rule(
    key="host-callback",
    title="Call back to Python",
    severity="note",
    find=_observations,
    documentation=read_documentation(__doc__),
)
