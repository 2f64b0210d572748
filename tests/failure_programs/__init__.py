"""Programs that fail, by family: small ones of the kind people write, each saying what jaxscope must make of it.

A program is a function under `@program(KIND, *ARGUMENTS, hint=WORDS)`, and adding one is all that adding a case takes.
The line that must come first among the places carries `# <- here`, in the function or in one beside it that it calls
(then `at=` names that one). A program without such a mark has no line of its own: the place is the function's
definition (`at="definition"`), or there is none (`at="nowhere"`).
"""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax

MARK = "# <- here"


@dataclass(frozen=True)
class Program:
    """A program that fails, and how.

    Attributes:
        name: Family and function, ``shapes.matmul``.
        make: Gives what is handed to `jaxscope.inspect`: the function, made anew each time.
        args: Its arguments; callables among them are called first, for what must not be made at import.
        kwargs: Its keyword arguments.
        options: Options of `jaxscope.inspect`.
        kind: The `kind` that `explain` must give.
        stage: Where it fails.
        hint: A piece of the advice; "" where none may be made up.
        place: (file, line) of the first place; None for none at all.
        operands: What `operands` must hold, among others.
        since: The first version of JAX that behaves so.
        needs: The package that has its compiler; "" for the CPU's.
        has_begun: Whether it is the function that fails, and not what comes before it.
    """

    name: str
    make: Callable[[], Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    options: Mapping[str, Any]
    kind: str
    stage: str
    hint: str
    place: tuple[str, int] | None
    operands: tuple[str, ...]
    since: tuple[int, ...]
    has_begun: bool
    needs: str


PROGRAMS: list[Program] = []


def program(
    kind: str,
    *args: Any,
    hint: str = "",
    stage: str = "trace",
    at: Any = None,
    make: Callable[[Any], Any] = lambda function: function,
    jit: Mapping[str, Any] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    operands: tuple[str, ...] = (),
    since: tuple[int, ...] = (),
    needs: str = "",
    **options: Any,
) -> Callable[[Any], Any]:
    """Enters the function below into `PROGRAMS`; see `Program` for the fields, `make` and `jit` wrap it."""

    def enter(function: Any) -> Any:
        def made() -> Any:
            # A function object that JAX has traced once is not traced again: what it remembers would be tested.
            jax.clear_caches()
            return make(jax.jit(function, **jit) if jit else function)

        family = function.__module__.rpartition(".")[2]
        PROGRAMS.append(
            Program(
                f"{family}.{function.__name__}",
                made,
                args,
                kwargs or {},
                options,
                kind,
                stage,
                hint,
                _place(function, at),
                operands,
                since,
                at not in ("definition", "nowhere"),
                needs,
            )
        )
        return function

    return enter


def _place(function: Any, at: Any) -> tuple[str, int] | None:
    if at == "nowhere":
        return None
    where = function if at in (None, "definition") else at
    where = inspect.unwrap(where)
    lines, first = inspect.getsourcelines(where)
    if at == "definition":
        return where.__code__.co_filename, where.__code__.co_firstlineno
    (marked,) = [number for number, line in enumerate(lines) if MARK in line]
    return where.__code__.co_filename, first + marked


def programs() -> list[Program]:
    """All programs of all families."""
    if not PROGRAMS:
        for module in sorted(info.name for info in pkgutil.iter_modules(__path__)):
            importlib.import_module(f"{__name__}.{module}")
    return PROGRAMS
