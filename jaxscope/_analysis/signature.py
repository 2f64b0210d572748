"""The signature of a program: what goes in, what is baked in, what comes out.

Problem: the types a program was compiled for are spread over three stage objects, some of whose attributes run the
user's constructors; tokens, dropped arguments and static values make the compiler's list differ from the user's.
Input: JAX's stage objects, any of them None, and the static arguments as text. Output: a `Signature` of one `Leaf` per
flattened argument, static value and output, in order, under the names JAX itself uses.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import jax

from jaxscope import _jax_types
from jaxscope._analysis.types import (
    describe_layout,
    describe_sharding,
    root_name,
    shorten,
    size_of,
    storage_note,
    stored_rank,
)
from jaxscope._analysis.unavailable import Unavailable, known_or

if TYPE_CHECKING:
    import pandas

_NOT_DONATED = Unavailable("It was not donated, so no output may take its buffer.")
_NOT_LOWERED = Unavailable("The program was not lowered, so nothing was dropped or aliased yet.")
_NOT_COMPILED = Unavailable("The program was not compiled, so nothing was decided yet.")
_DROPPED = Unavailable("The program does not read this argument, so it is not passed to the device.")
_STATIC = Unavailable("A static value is part of the program and not an array.")
_OUTPUT = Unavailable("This is an output.")
_NOT_TRACED = Unavailable("The function was not traced.")


@dataclass(frozen=True, slots=True)
class Leaf:
    """One array of the signature, or one static value.

    Attributes:
        path: Where it sits, as JAX names it: ``params['w']``, ``xs[0]``, ``result['loss']``.
        name: The parameter it belongs to: ``params``.
        type: JAX's short form, ``f32[8,128]``; ``static`` for a static value.
        weak_type: Whether the type gives way to others in arithmetic, as Python scalars do.
        size_bytes: All of it, over all devices, without padding.
        donated: Whether the caller gives its buffer away.
        aliased: The output that takes its buffer.
        dropped: Whether the compiled program never reads it.
        static: Whether it is baked into the program and left out when the compiled function is called.
        value: The shortened repr of a static value, "" for arrays.
        sharding: How it is spread over devices.
        per_device: The type of the piece that one device holds.
        layout: The order of dimensions in memory.
        note: What else there is to say, "" for nothing.
    """

    path: str
    name: str
    type: str
    weak_type: bool = False
    size_bytes: int | Unavailable = _STATIC
    donated: bool = False
    aliased: str | Unavailable = _NOT_DONATED
    dropped: bool | Unavailable = False
    static: bool = False
    value: str = ""
    sharding: str | Unavailable = _STATIC
    per_device: str | Unavailable = _STATIC
    layout: str | Unavailable = _STATIC
    note: str = ""


@dataclass(frozen=True, slots=True)
class CapturedConstants:
    """Arrays that the function took from outside its arguments and that are part of the program."""

    count: int
    size_bytes: int | Unavailable


@dataclass(frozen=True)
class Signature:
    """What goes in and what comes out.

    Attributes:
        arguments: One entry per array, in the order the program takes them.
        static: One entry per static argument.
        outputs: One entry per array, in order.
        constants: The captured arrays, summed up.
        notes: Sentences about inputs that are not the user's, and about what could not be read.
        types: JAX's own types of the inputs, which a call is compared with; None when no stage was reached.
    """

    arguments: tuple[Leaf, ...] = ()
    static: tuple[Leaf, ...] = ()
    outputs: tuple[Leaf, ...] = ()
    constants: CapturedConstants | Unavailable = _NOT_TRACED
    notes: tuple[str, ...] = ()
    types: _jax_types.InputTypes | None = field(default=None, repr=False, compare=False)


def signature_of(
    traced: Any,
    lowered: Any,
    compiled: Any,
    static_arguments: Sequence[tuple[str, str]] = (),
    readable_paths: Mapping[str, str] | None = None,
) -> Signature:
    """The signature that the stages agree on.

    Args:
        traced: A `jax.stages.Traced`, or None when that stage failed or was not reached.
        lowered: A `jax.stages.Lowered` or None.
        compiled: A `jax.stages.Compiled` or None.
        static_arguments: Name and repr of every value that is baked into the program.
        readable_paths: JAX's name of a leaf to a better one, where the caller knows one.
    """
    static = tuple(
        Leaf(path=name, name=name, type="static", static=True, value=shorten(value)) for name, value in static_arguments
    )
    types = _jax_types.input_types(traced, lowered, compiled)
    if types is None:
        return Signature(static=static, notes=("No stage was reached, so there are no types to show.",))
    if readable_paths:
        types = replace(types, names=tuple(readable_paths.get(name, name) for name in types.names))
    outputs, output_notes = _outputs(traced, lowered, compiled)
    aliased = _aliased_outputs(types, lowered, tuple(leaf.path for leaf in outputs))
    return Signature(
        arguments=tuple(_argument(types, index, aliased) for index in range(len(types.avals))),
        static=static,
        outputs=outputs,
        constants=_constants(traced),
        notes=(*_hidden_inputs(types, traced, lowered), *output_notes),
        types=types,
    )


def signature_frame(signature: Signature) -> "pandas.DataFrame":
    """The signature as a pandas DataFrame; missing values are NA and their reasons are in the column ``missing``."""
    import pandas

    rows = [
        _frame_row(kind, leaf)
        for kind, leaves in (
            ("argument", signature.arguments),
            ("static", signature.static),
            ("output", signature.outputs),
        )
        for leaf in leaves
    ]
    if isinstance(signature.constants, CapturedConstants) and signature.constants.count:
        summary = Leaf(
            path="captured constants",
            name="captured constants",
            type=f"{signature.constants.count} array" + "s" * (signature.constants.count > 1),
            size_bytes=signature.constants.size_bytes,
            sharding=Unavailable("A constant is part of the program."),
            per_device=Unavailable("A constant is part of the program."),
            layout=Unavailable("A constant is part of the program."),
        )
        rows.append(_frame_row("constant", summary))
    frame = pandas.DataFrame(rows, columns=list(FRAME_COLUMNS))
    # A shape mistyped by a few digits takes more bytes than 64 bits can count.
    sizes = [row["size_bytes"] for row in rows if row["size_bytes"] is not None]
    size_type = "Int64" if max(sizes, default=0) < 1 << 63 else "object"
    return frame.astype({"size_bytes": size_type, "weak_type": "bool", "donated": "bool", "dropped": "boolean"})


FRAME_COLUMNS = (
    "path",
    "kind",
    "type",
    "weak_type",
    "size_bytes",
    "donated",
    "aliased",
    "dropped",
    "value",
    "sharding",
    "per_device",
    "layout",
    "note",
    "missing",
)


def _frame_row(kind: str, leaf: Leaf) -> dict[str, Any]:
    row: dict[str, Any] = {"kind": kind}
    missing = []
    for column in FRAME_COLUMNS:
        if column in ("kind", "missing"):
            continue
        value = getattr(leaf, column)
        if isinstance(value, Unavailable):
            missing.append(f"{column}: {value.reason}")
            value = None
        row[column] = value
    row["missing"] = " ".join(missing)
    return row


def argument_path(types: _jax_types.InputTypes, index: int) -> str:
    """The path of an argument: JAX's own name, or its place in the arguments where JAX has no name."""
    if types.names[index]:
        return types.names[index]
    if types.key_paths:
        keys = types.key_paths[index]
        return ("args", "kwargs")[keys[0].idx] + jax.tree_util.keystr(keys[1:])
    return f"leaf {index}"


def _argument(types: _jax_types.InputTypes, index: int, aliased: Sequence[str | Unavailable]) -> Leaf:
    aval = types.avals[index]
    path = argument_path(types, index)
    dropped: bool | Unavailable = _NOT_LOWERED if types.kept is None else not types.kept[index]
    return Leaf(
        path=path,
        name=root_name(path),
        type=_jax_types.short_type(aval),
        weak_type=bool(getattr(aval, "weak_type", False)),
        size_bytes=size_of(aval),
        donated=types.donated[index],
        aliased=aliased[index],
        dropped=dropped,
        sharding=_described(sharding := _sharding(types, index)),
        per_device=_per_device(aval, sharding),
        layout=_layout(types, index),
        note=storage_note(aval),
    )


def _described(sharding: Any) -> str | Unavailable:
    return sharding if isinstance(sharding, Unavailable) else describe_sharding(sharding)


def _per_device(aval: Any, sharding: Any) -> str | Unavailable:
    if isinstance(sharding, Unavailable):
        return sharding
    try:
        return _jax_types.short_array_type(sharding.shard_shape(tuple(aval.shape)), aval.dtype)
    except Exception:  # Symbolic dimensions, tokens: nothing that could be cut.
        return Unavailable("Its shape cannot be divided over devices.")


def _sharding(types: _jax_types.InputTypes, index: int) -> Any:
    """The sharding of an argument, or why there is none."""
    if types.shardings is not None:
        if types.shardings[index] is not None:
            return types.shardings[index]
        if types.kept is not None and not types.kept[index]:
            return _DROPPED
    if types.requested[index] is not None:
        return types.requested[index]
    return _NOT_COMPILED if types.shardings is None else Unavailable("It was left to the compiler.")


def _layout(types: _jax_types.InputTypes, index: int) -> str | Unavailable:
    if types.kept is not None and not types.kept[index]:
        return _DROPPED
    if types.layouts is None:
        return _NOT_COMPILED
    if types.layouts[index] is None:
        return Unavailable("The executable does not say.")
    return describe_layout(types.layouts[index], stored_rank(types.avals[index]))


def _aliased_outputs(
    types: _jax_types.InputTypes, lowered: Any, output_paths: Sequence[str]
) -> tuple[str | Unavailable, ...]:
    """For each argument the output that takes its buffer, by what JAX wrote into ``main``."""
    if not any(types.donated):
        return (_NOT_DONATED,) * len(types.avals)
    found = _jax_types.main_arguments(lowered)
    if found is None or types.kept is None:
        reason = _NOT_LOWERED if lowered is None else Unavailable("The lowered module could not be read.")
        return tuple(reason if donated else _NOT_DONATED for donated in types.donated)
    arguments, token_results = found
    last = len(arguments) - _jax_types.captured_references(lowered)
    # The user's arguments are the last ones of main but for captured references; what stands before them varies.
    mine = iter(arguments[max(0, last - sum(types.kept)) : last])
    return tuple(
        _aliased_output(next(mine, None) if kept else None, donated, kept, token_results, output_paths)
        for donated, kept in zip(types.donated, types.kept, strict=True)
    )


def _aliased_output(
    argument: _jax_types.MainArgument | None, donated: bool, kept: bool, token_results: int, output_paths: Sequence[str]
) -> str | Unavailable:
    if not donated:
        return _NOT_DONATED
    if not kept or argument is None:
        return _DROPPED
    if argument.aliased_output is not None:
        index = argument.aliased_output - token_results
        return output_paths[index] if 0 <= index < len(output_paths) else f"result {argument.aliased_output} of main"
    if argument.is_donor:
        return Unavailable("No output was fixed for it; XLA may reuse its buffer.")
    return Unavailable("No output has its shape, type and sharding: the donation was not usable.")


def _outputs(traced: Any, lowered: Any, compiled: Any) -> tuple[tuple[Leaf, ...], tuple[str, ...]]:
    types = _jax_types.output_types(traced, lowered, compiled)
    if types is None:
        return (), ("The outputs are not known: no stage says what they are.",)
    leaves = []
    for index, (aval, path) in enumerate(zip(types.avals, types.names, strict=True)):
        sharding = types.shardings[index] if types.shardings is not None else None
        sharding = sharding if isinstance(sharding, jax.sharding.Sharding) else None
        layout = types.layouts[index] if types.layouts is not None else None
        not_known = _NOT_COMPILED if compiled is None else Unavailable("The executable does not say.")
        rank = stored_rank(aval)
        leaves.append(
            Leaf(
                path=path,
                name=root_name(path),
                type=_jax_types.short_type(aval),
                weak_type=bool(getattr(aval, "weak_type", False)),
                size_bytes=size_of(aval),
                aliased=_OUTPUT,
                sharding=_described(not_known if sharding is None else sharding),
                per_device=_per_device(aval, not_known if sharding is None else sharding),
                layout=describe_layout(layout, rank) if hasattr(layout, "major_to_minor") else not_known,
                note=storage_note(aval),
            )
        )
    return tuple(leaves), ()


def _constants(traced: Any) -> CapturedConstants | Unavailable:
    if traced is None:
        return Unavailable("The function was not traced here, so its constants are only in the program's text.")
    constants = _jax_types.captured_constants(traced)
    sizes = [size_of(constant) for constant in constants]
    unknown = next((size for size in sizes if isinstance(size, Unavailable)), None)
    return CapturedConstants(len(constants), unknown or sum(known_or(size, 0) for size in sizes))


def _hidden_inputs(types: _jax_types.InputTypes, traced: Any, lowered: Any) -> list[str]:
    """Sentences about inputs of the program that are no argument of the function."""
    notes = []
    if types.hidden:
        listed = ", ".join(_jax_types.short_type(aval) for aval in types.hidden)
        notes.append(
            f"The function uses {_plural(len(types.hidden), 'tracer')} of another trace ({listed}). Each is a hidden "
            "input of the program, so the compiled function cannot be called."
        )
    if tokens := _jax_types.ordered_effects(traced, lowered):
        notes.append(
            f"{_plural(tokens, 'token')} that keeps side effects in order is passed to main and returned by it; it is "
            "no argument."
        )
    arguments, _ = _jax_types.main_arguments(lowered) or ([], 0)
    constants = [argument.constant for argument in arguments if argument.constant]
    if "_platform_index" in constants:
        notes.append(
            "main takes the number of the platform it runs on, because it was lowered for several; it is no argument."
        )
    if dimensions := [name for name in constants if name != "_platform_index"]:
        notes.append(f"main takes the symbolic dimensions {', '.join(dimensions)}; they are not arguments.")
    if references := _jax_types.captured_references(lowered):
        notes.append(
            f"main takes {_plural(references, 'mutable array')} that the function captured; it is no argument."
        )
    return notes


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" + ("" if count == 1 else "s")
