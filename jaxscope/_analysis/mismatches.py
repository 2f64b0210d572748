"""The differences between a call and the signature that a program was compiled for.

Problem: a compiled function refuses a call with one exception that stops at the first kind of difference, names places
in JAX's own words and says nothing of abstract arguments. Input: a `Signature` and the arguments of a call (arrays,
NumPy, Python scalars, `jax.ShapeDtypeStruct`, avals). Output: `Mismatches`, one row for each leaf or container that
differs, with what the compiled call does about it and what to do. Structures are walked in
`jaxscope._analysis.structure`, the advice is written in `jaxscope._analysis.advice`; no array is read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from jaxscope import _jax, _jax_types
from jaxscope._analysis import placements, structure
from jaxscope._analysis.advice import type_advice, x64_note
from jaxscope._analysis.placements import judge_placement
from jaxscope._analysis.pytrees import Side, describe, same
from jaxscope._analysis.signature import Signature, argument_path
from jaxscope._analysis.structure import Kind, Verdict
from jaxscope._analysis.types import describe_value, own_type, shorten

if TYPE_CHECKING:
    import pandas

RECOMPILES = "jit itself would compile again for this call."

Difference = (
    Kind | placements.Difference | Literal["shape", "dtype", "weak type", "not an array", "tracer", "hidden input"]
)


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One place where a call differs.

    Attributes:
        path: Where, as JAX names it: ``params['b']``.
        compiled: What the program was compiled for: ``f32[4,3]``, ``tuple of 2``, ``missing``.
        called: What the call brings.
        differs: What differs; nothing for a leaf that agrees.
        verdict: Whether the compiled call ``raises``, the leaf is ``copied`` to where the program runs, or ``accepted``
            as it is.
        note: What else follows from it, "" for nothing.
        advice: What to do, "" where nothing needs to be done.
    """

    path: str
    compiled: str
    called: str
    differs: tuple[Difference, ...]
    verdict: Verdict
    note: str = ""
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Mismatches:
    """Every difference between a call and a signature.

    Attributes:
        rows: In the order of the signature; what the call brings on top comes last.
        argument_count: How many arrays the program takes.
        differing_count: How many of them the rows are about.
        extra_count: How many things the call brings that the program does not take.
        notes: What was not compared, and why.
        every_leaf: The rows among the leaves in which nothing differs, of which those from the host are ``copied``.
    """

    rows: tuple[Mismatch, ...]
    argument_count: int
    differing_count: int
    extra_count: int
    notes: tuple[str, ...] = ()
    every_leaf: tuple[Mismatch, ...] = ()

    @property
    def raises(self) -> bool:
        """Whether the compiled call would raise."""
        return any(row.verdict == "raises" for row in self.rows)

    @property
    def copies(self) -> bool:
        """Whether the compiled call would copy an argument to where the program runs; not where it raises."""
        return not self.raises and any(row.verdict == "copied" for row in self.every_leaf)

    @property
    def summary(self) -> str:
        """One line: ``1 of 3 arguments differs from the compiled signature; the call raises``."""
        if not self.rows:
            return "The call agrees with the compiled signature"
        parts = []
        if self.differing_count:
            verb = "differs" if self.differing_count == 1 else "differ"
            noun = "argument" if self.argument_count == 1 else "arguments"
            parts.append(f"{self.differing_count} of {self.argument_count} {noun} {verb} from the compiled signature")
        if self.extra_count:
            parts.append(f"{self.extra_count} too many")
        return "; ".join((*parts, "the call raises" if self.raises else "the call is accepted"))


MISMATCH_COLUMNS = ("path", "compiled", "called", "differs", "verdict", "note", "advice")


def mismatch_frame(mismatches: Mismatches, *, every_leaf: bool = False) -> "pandas.DataFrame":
    """The rows as a pandas DataFrame; `differs` is joined by commas.

    Args:
        mismatches: What `check_call` found.
        every_leaf: Whether the leaves in which nothing differs are rows too.
    """
    import pandas

    rows = [
        {column: getattr(row, column) for column in MISMATCH_COLUMNS} | {"differs": ", ".join(row.differs)}
        for row in (mismatches.every_leaf if every_leaf else mismatches.rows)
    ]
    return pandas.DataFrame(rows, columns=list(MISMATCH_COLUMNS), dtype="object")


def check_call(signature: Signature, args: Sequence[Any], kwargs: Mapping[str, Any] | None = None) -> Mismatches:
    """Compares a call with a signature, under the 64-bit mode of this moment; runs nothing.

    Static arguments are left out when a compiled function is called, so they are no part of a right call. An abstract
    argument is judged as an array of its type would be.

    Args:
        signature: What `signature_of` found.
        args: The positional arguments of the call.
        kwargs: Its keyword arguments.
    """
    types = signature.types
    if types is None:
        return Mismatches((), 0, 0, 0, ("No stage was reached, so there is no signature to compare with.",))
    try:
        leaves, tree = _jax_types.flatten((tuple(args), dict(kwargs or {})))
    except Exception as error:
        # Flattening runs the user's classes and dictionary orders; JAX's own call fails in the same way.
        row = Mismatch(
            path="the arguments",
            compiled=describe(types.tree, ""),
            called=shorten(str(error)),
            differs=("container",),
            verdict="raises",
            advice="make the arguments a pytree that JAX can flatten",
        )
        return Mismatches((row,), len(types.avals), len(types.avals), 0, every_leaf=(row,))
    return _Comparison(signature, types, leaves, tree, args, dict(kwargs or {})).run()


class _Comparison:
    """One comparison: what was found so far, and how to describe a leaf of either side."""

    def __init__(
        self,
        signature: Signature,
        types: _jax_types.InputTypes,
        leaves: Sequence[Any],
        tree: Any,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
    ):
        self.types, self.leaves, self.tree = types, leaves, tree
        try:
            called_keys = _jax_types.key_paths((tuple(args), dict(kwargs)))
        except Exception:
            # Classes may refuse to name their children although they can be flattened.
            called_keys = ()
        self.compiled = Side(types.tree, types.key_paths, self._compiled_type)
        self.called = Side(tree, called_keys, self._called_type)
        self.paths = tuple(argument_path(types, index) for index in range(len(types.avals)))
        self.static = tuple((leaf.name, leaf.value) for leaf in signature.static)
        self.notes: list[str] = []
        self._placement_compared = True

    def run(self) -> Mismatches:
        walk = self._walk()
        found = [(entry.order, _structural(entry)) for entry in walk.differences]
        touched = set(walk.touched)
        for compiled_index, called_index, path in walk.pairs:
            row = self._leaf(compiled_index, called_index, path)
            found.append((compiled_index, row))
            if row.differs:
                touched.add(compiled_index)
        every = [row for _, row in sorted(found, key=lambda entry: entry[0])]
        every.extend(self._whole_call(every))
        if not self._placement_compared:
            self.notes.append("The program is for devices that are not attached, so placement was not compared.")
        return Mismatches(
            rows=tuple(row for row in every if row.differs),
            argument_count=len(self.types.avals),
            differing_count=len(touched),
            extra_count=walk.extra,
            notes=tuple(self.notes),
            every_leaf=tuple(every),
        )

    def _walk(self) -> structure.Walk:
        try:
            return structure.compare(
                self.compiled, self.called, self.paths, self.static, self._leaves_agree, self._value
            )
        except RecursionError:
            self.notes.append("The arguments are nested too deeply to say where their structures differ.")
            agree = same(self.tree, self.types.tree)
            pairs = [(index, index, path) for index, path in enumerate(self.paths)] if agree else []
            return structure.Walk(pairs=pairs)

    def _whole_call(self, rows: Sequence[Mismatch]) -> list[Mismatch]:
        """Rows that are about no single argument."""
        found = []
        if self.types.hidden:
            listed = ", ".join(map(_jax_types.short_type, self.types.hidden))
            found.append(
                Mismatch(
                    path="hidden inputs",
                    compiled=listed,
                    called="nothing",
                    differs=("hidden input",),
                    verdict="raises",
                    note="The function uses a tracer that belongs to another trace.",
                    advice="do not keep traced values outside the function; pass them as arguments",
                )
            )
        if self.types.refuses_keywords and self.tree.children()[1].num_nodes > 1:
            found.append(
                Mismatch(
                    path="keyword arguments",
                    compiled="none",
                    called="some",
                    differs=("by keyword",),
                    verdict="raises",
                    advice="pass every argument by position",
                )
            )
        if not any(row.verdict == "raises" for row in (*rows, *found)) and not same(self.tree, self.types.tree):
            # The walk gave up, or a registry of the future knows structures that node_data does not describe.
            found.append(
                Mismatch(
                    path="the arguments",
                    compiled=shorten(str(self.types.tree)),
                    called=shorten(str(self.tree)),
                    differs=("container",),
                    verdict="raises",
                    advice="pass the containers that the program was compiled for",
                )
            )
        return found

    def _compiled_type(self, index: int) -> str:
        return _jax_types.short_type(self.types.avals[index])

    def _called_type(self, index: int) -> str:
        value = self.leaves[index]
        try:
            return own_type(value, _jax_types.abstract_type(value))
        except Exception:
            return describe_value(value)

    def _value(self, index: int) -> str:
        """A leaf of the call as text, to recognise a static argument by; arrays are not read."""
        value = self.leaves[index]
        return shorten(repr(value)) if isinstance(value, str | int | float | bool | type(None)) else ""

    def _leaves_agree(self, compiled_index: int, called_index: int) -> bool:
        return self._leaf(compiled_index, called_index, "").verdict != "raises"

    def _leaf(self, compiled_index: int, called_index: int, path: str) -> Mismatch:
        """The row for two leaves in the same place; nothing differs when they agree."""
        value, aval = self.leaves[called_index], self.types.avals[compiled_index]
        compiled = _jax_types.short_type(aval)
        if _jax.is_tracer(value):
            return Mismatch(
                path,
                compiled,
                "a tracer",
                ("tracer",),
                "raises",
                "A compiled function cannot be called under jit, grad or vmap.",
                "call the jitted function instead of the compiled one",
            )
        try:
            given = _jax_types.abstract_type(value)
        except Exception as error:
            # Whatever JAX says of a value that is no array: TypeError, ValueError, OverflowError and others.
            return Mismatch(
                path,
                compiled,
                describe_value(value),
                ("not an array",),
                "raises",
                shorten(str(error)),
                f"pass {compiled}, for instance jnp.asarray of a number or a NumPy array",
            )
        called = own_type(value, given)
        differs: list[Difference] = []
        if not _same_shape(aval.shape, given.shape):
            differs.append("shape")
        if aval.dtype != given.dtype:
            differs.append("dtype")
        if differs:
            note = x64_note(aval.dtype, given.dtype) or RECOMPILES
            advice = type_advice(path, value, aval, given, differs)
            return Mismatch(path, compiled, called, tuple(differs), "raises", note, advice)
        placement = judge_placement(self.types, compiled_index, value, path)
        if not placement.known:
            self._placement_compared = False
        if placement.differs is not None:
            sides = f"{compiled} {placement.compiled}".rstrip(), f"{called} {placement.called}".rstrip()
            note = placement.note or RECOMPILES
            return Mismatch(path, *sides, (placement.differs,), placement.verdict, note, placement.advice)
        own_dtype = getattr(value, "dtype", aval.dtype)
        if own_dtype != aval.dtype:
            note = f"JAX takes {own_dtype} as {aval.dtype} while 64-bit mode is off."
            return Mismatch(path, compiled, called, ("dtype",), placement.verdict, note)
        compiled_weak, given_weak = bool(getattr(aval, "weak_type", False)), bool(getattr(given, "weak_type", False))
        if compiled_weak != given_weak:
            words = {True: "weak", False: "strong"}
            compiled, called = f"{compiled} {words[compiled_weak]}", f"{called} {words[given_weak]}"
            advice = "" if not given_weak else f"jnp.asarray({path}, '{aval.dtype}') is strong"
            return Mismatch(path, compiled, called, ("weak type",), placement.verdict, RECOMPILES, advice)
        return Mismatch(path, compiled, called, (), placement.verdict)


def _structural(entry: structure.Difference) -> Mismatch:
    return Mismatch(
        path=entry.path,
        compiled=entry.compiled,
        called=entry.called,
        differs=(entry.kind,),
        verdict="raises",
        note=entry.note or ("" if entry.kind in ("missing", "extra") else RECOMPILES),
        advice=entry.advice,
    )


def _same_shape(compiled: Sequence[Any], given: Sequence[Any]) -> bool:
    if len(compiled) != len(given):
        return False
    # A symbolic dimension stands for any number.
    return all(
        _jax.is_symbolic((wanted,)) or wanted == brought for wanted, brought in zip(compiled, given, strict=True)
    )
