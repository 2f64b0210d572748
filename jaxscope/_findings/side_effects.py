"""What runs while the function is traced, and not when its program runs.

What it does:
    Names statements of traced functions that print, read a clock, draw random numbers of Python or NumPy, or change
    something outside of the function: a global list, a variable of the function around it, an attribute of `self`.

    The source is read, not run. Statements under a condition, and functions that only a callback runs, are left out.

Why it matters:
    Python runs once, to write the program down. Calls of the compiled program do not print, have the random numbers of
    that one time, and change nothing; the next trace, for another shape, does it once more.

Example:
        @jax.jit
        def step(x):
            history.append(x)   # keeps a tracer, once
            return x + np.random.normal()   # the same number in every call

Use instead:
        @jax.jit
        def step(key, x):
            return x + jax.random.normal(key)
        x = step(key, x)
        history.append(x)

    `jax.debug.print` prints in every call, `jax.debug.callback` and `jax.experimental.io_callback` run Python.

When it is wrong:
    Where it is meant to run at trace time: counting traces, filling a cache, a note for whoever is debugging.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from jaxscope._findings.python_source import Function, Source, read_source
from jaxscope._findings.records import Observation, Program, Rule, Severity, read_documentation
from jaxscope._ir.model import Frame
from jaxscope._sources import is_library

_CLOCKS = frozenset(
    (
        "datetime.date.today",
        "datetime.datetime.now",
        "datetime.datetime.today",
        "datetime.datetime.utcnow",
        "time.monotonic",
        "time.monotonic_ns",
        "time.perf_counter",
        "time.perf_counter_ns",
        "time.process_time",
        "time.process_time_ns",
        "time.time",
        "time.time_ns",
    )
)
# With a seed these give the same numbers in every trace, as their reader expects.
_SEEDED = frozenset(
    ("numpy.random.RandomState", "numpy.random.SeedSequence", "numpy.random.default_rng", "random.Random")
)
# Setting up, and classes that are no draw.
_NO_DRAWS = frozenset(("numpy.random.seed", "random.seed", "numpy.random.Generator", "numpy.random.PCG64"))
# Methods of lists, sets, dictionaries and deques that are called for their effect.
_CHANGING = frozenset(("add", "append", "appendleft", "extend", "insert", "setdefault", "update"))
# Equations that write to a reference of JAX's own, `ref[...] = x`, which is part of the program.
_WRITES = frozenset(("addupdate", "swap"))
_MOST_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class _Effect:
    node: ast.AST
    found: str
    advice: str
    severity: Severity


def _observations(program: Program) -> Iterator[Observation]:
    linked = program.listing("jaxpr")
    effects: dict[tuple[str, int], tuple[Frame, list[_Effect]]] = {}
    by_file: dict[str, list[Frame]] = {}
    for frame in linked.stacks.frames:
        if not is_library(frame.file):
            by_file.setdefault(frame.file, []).append(frame)
    own = program.definition
    if own is not None and not is_library(own.file):
        by_file.setdefault(own.file, [])
    self_is_argument = any(leaf.name == "self" for leaf in program.signature.arguments)
    for file, frames in by_file.items():
        source = read_source(file)
        ran_to: dict[Function, int] = {}
        for frame in frames:
            if (function := source.function_of(frame)) is not None:
                ran_to[function] = max(ran_to.get(function, 0), frame.line)
        inspected = source.function_at(own.first_line) if own is not None and file == own.file else None
        if inspected is not None:
            ran_to.setdefault(inspected, 0)
        for function, last_line in ran_to.items():
            owns_self = function is inspected and not self_is_argument
            looker = _Looker(source, function, set(ran_to), owns_self=owns_self)
            for effect in looker.look(last_line):
                place = Frame(
                    file,
                    function.name,
                    effect.node.lineno,
                    effect.node.col_offset + 1,
                    effect.node.end_lineno or 0,
                    (effect.node.end_col_offset or 0) + 1,
                )
                effects.setdefault((file, place.line), (place, []))[1].append(effect)
    if not effects:
        return
    written = _lines_that_write(program)
    ordered = [(frame, found) for line, (frame, found) in effects.items() if line not in written]
    ordered.sort(key=lambda item: (all(effect.severity == "note" for effect in item[1]), item[0].file, item[0].line))
    for frame, found in ordered:
        worst = min(found, key=lambda effect: effect.severity == "note")
        yield Observation(worst.found, worst.advice, (frame,), severity=worst.severity)


def _lines_that_write(program: Program) -> set[tuple[str, int]]:
    return {
        (frame.file, frame.line)
        for placed in program.equations
        if placed.equation.primitive.name in _WRITES
        for frame in placed.frames
    }


class _Looker:
    """Looks through the statements of one function that run whenever it does."""

    def __init__(self, source: Source, function: Function, traced: set[Function], *, owns_self: bool):
        self.source, self.function, self.traced, self.owns_self = source, function, traced, owns_self

    def look(self, ran_to: int) -> Iterator[_Effect]:
        """What the function does besides computing.

        Args:
            ran_to: The last line that is known to have run.
        """
        node = self.function.node
        if isinstance(node, ast.Lambda):
            # Its result is used: what it calls is not called for its effect alone.
            yield from self.expressions(node.body)
        else:
            yield from self.statements(node.body, ran_to)

    def statements(self, body: list[ast.stmt], ran_to: int) -> Iterator[_Effect]:
        may_have_left = False
        for statement in body:
            if may_have_left and statement.lineno > ran_to:
                return
            if isinstance(statement, ast.With | ast.For):
                heads = [item.context_expr for item in statement.items] if isinstance(statement, ast.With) else []
                for head in heads or [statement.iter]:
                    yield from self.expressions(head)
                yield from self.statements(statement.body, ran_to)
            elif isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr | ast.Return):
                yield from self.changes(statement)
                yield from self.expressions(statement)
            may_have_left = may_have_left or any(
                isinstance(node, ast.Return | ast.Raise | ast.Break | ast.Continue) for node in ast.walk(statement)
            )

    def changes(self, statement: ast.stmt) -> Iterator[_Effect]:
        """Assignments to, and changes of, what is not the function's own."""
        targets: list[ast.expr] = []
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        elif isinstance(statement, ast.AugAssign | ast.AnnAssign):
            targets = [statement.target]
        elif (
            isinstance(statement, ast.Expr)
            and isinstance(statement.value, ast.Call)
            and isinstance(statement.value.func, ast.Attribute)
            and statement.value.func.attr in _CHANGING
        ):
            targets = [statement.value.func]
        for target in targets:
            if isinstance(target, ast.Tuple | ast.List):
                targets.extend(target.elts)
            elif (name := self.changed_name(target)) is not None:
                yield _Effect(
                    statement,
                    f"{_shorten(statement)} changes {name} once, while the function is traced; calls of the compiled "
                    "program do not.",
                    f"Return the value as a result, and change {name} where the function is called.",
                    "warning",
                )

    def changed_name(self, target: ast.expr) -> str | None:
        """What an assignment changes that lives on outside of the function; None where it changes nothing such."""
        if isinstance(target, ast.Name):
            return target.id if target.id in self.function.declared else None
        base: ast.expr = target
        while isinstance(base, ast.Attribute | ast.Subscript):
            base = base.value
        if not isinstance(base, ast.Name):
            return None
        if base.id == "self" and self.owns_self and self.function.first_parameter == "self":
            return _shorten(target.value) if isinstance(target, ast.Subscript) else _shorten(target)
        # `module.update(…)` is a function; a list inside a longer name may be anybody's.
        if self.module(base.id) is not None or (isinstance(target, ast.Attribute) and target.value is not base):
            return None
        return base.id if self.is_outside(base.id) else None

    def module(self, name: str) -> str | None:
        """What a name was imported from; None where it is something else."""
        function: Function | None = self.function
        while function is not None and name not in function.own_names:
            function = function.outer
        return self.source.imports.get(name) if function is None else None

    def is_outside(self, name: str) -> bool:
        """Whether a name belongs to no function that was traced."""
        function: Function | None = self.function
        while function is not None:
            if name in function.own_names:
                return function not in self.traced
            function = function.outer
        return True

    def expressions(self, root: ast.AST) -> Iterator[_Effect]:
        """Calls for their effect, in what runs whenever `root` does."""
        waiting = [root]
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.Lambda | ast.IfExp | ast.BoolOp):
                continue
            waiting += ast.iter_child_nodes(node)
            if isinstance(node, ast.Call) and (effect := self.call(node)) is not None:
                yield effect

    def call(self, node: ast.Call) -> _Effect | None:
        name = self.full_name(node.func)
        text = f"{ast.unparse(node.func)}(…)" if node.args or node.keywords else f"{ast.unparse(node.func)}()"
        once = f"{text} runs once, while the function is traced"
        if name == "print":
            return _Effect(
                node,
                f"{once}; calls of the compiled program print nothing.",
                "jax.debug.print prints the values of every call.",
                "note",
            )
        if name in _CLOCKS:
            return _Effect(
                node,
                f"{once}: what it gives is no time of the compiled program.",
                "Measure around the call, outside of jit, and wait for the result with jax.block_until_ready.",
                "warning",
            )
        if name.startswith(("numpy.random.", "random.")) and name not in _NO_DRAWS:
            if name in _SEEDED and (node.args or node.keywords):
                return None
            return _Effect(
                node,
                f"{once}: every call of the compiled program has the same numbers.",
                "Take a key as an argument and draw with jax.random.",
                "warning",
            )
        return None

    def full_name(self, function: ast.expr) -> str:
        """``numpy.random.normal`` for ``np.random.normal``; "" for what is not a module's or built in."""
        parts: list[str] = []
        while isinstance(function, ast.Attribute):
            parts.append(function.attr)
            function = function.value
        if not isinstance(function, ast.Name):
            return ""
        if (module := self.module(function.id)) is not None:
            return ".".join((module, *reversed(parts)))
        return function.id if function.id == "print" and not parts and self.is_outside("print") else ""


def _shorten(node: ast.AST) -> str:
    text = ast.unparse(node)
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1]}…"


RULE = Rule(
    key="side-effect",
    title="Runs only while tracing",
    severity="warning",
    find=_observations,
    documentation=read_documentation(__doc__),
)
