"""Which donations worked, and why the others did not.

Problem: a donated buffer that no result takes is memory that was believed saved; JAX says so in one warning while it
lowers, without names, and what the compiler decides later nobody says. Input: the `Signature`, the `Lowered` and the
compiled HLO's `Listing`. Output: a `Donation` for each donated argument.

A donation has worked when the compiled program's ``input_output_alias`` names the argument: that is what the runtime
goes by. https://docs.jax.dev/en/latest/buffer_donation.html
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jaxscope import _jax_types
from jaxscope._analysis.signature import Leaf, Signature
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._ir.hlo_program import HloProgram, InputOutputAlias
from jaxscope._ir.model import Listing


@dataclass(frozen=True, slots=True)
class Donation:
    """One donated argument.

    Attributes:
        path: The argument, as JAX names it.
        type: Its type.
        size_bytes: All of it, over all devices, without padding.
        output: The result that takes its buffer; or why none does, or why that is not known.
        worked: Whether one does; None before compilation.
        parameter: The number of the compiled program's parameter; None where there is none.
    """

    path: str
    type: str
    size_bytes: int | Unavailable
    output: str | Unavailable
    worked: bool | None
    parameter: int | None = None


def donations_of(signature: Signature, lowered: Any, compiled: Listing | None) -> tuple[Donation, ...]:
    """What became of every donated argument.

    Args:
        signature: What goes in and what comes out.
        lowered: A `jax.stages.Lowered`, or None.
        compiled: The compiled HLO, or None when it was not reached.
    """
    donated = [leaf for leaf in signature.arguments if leaf.donated]
    if not donated:
        return ()
    aliases, numbers, first_output = _compiled_aliases(signature, lowered, compiled)
    found = []
    for leaf, number in zip(signature.arguments, numbers, strict=True):
        if not leaf.donated:
            continue
        alias = aliases.get(number) if aliases is not None and number is not None else None
        if alias is not None:
            output = _output_path(signature, alias, first_output)
            found.append(Donation(leaf.path, leaf.type, leaf.size_bytes, output, True, number))
            continue
        reason = _reason(leaf, signature, aliases, number)
        worked = None if aliases is None and not _is_refused(leaf) else False
        found.append(Donation(leaf.path, leaf.type, leaf.size_bytes, Unavailable(reason), worked, number))
    return tuple(found)


_Aliases = dict[int, InputOutputAlias]


def _compiled_aliases(
    signature: Signature, lowered: Any, compiled: Listing | None
) -> tuple[_Aliases | None, Sequence[int | None], int]:
    """The compiled program's aliases by parameter, the parameter of each argument, and the number of the first result.

    The user's arguments are the last parameters but for captured references; tokens and constants stand before them.
    """
    nothing = [None] * len(signature.arguments)
    program = HloProgram(compiled) if compiled is not None else None
    kept = signature.types.kept if signature.types is not None else None
    if program is None or program.entry is None or kept is None:
        return None, nothing, 0
    parameters = program.entry.parameters
    is_one_tuple = len(parameters) == 1 and parameters[0].shape.is_tuple
    count = len(parameters[0].shape.parts) if is_one_tuple else len(parameters)
    aliases = {
        (alias.parameter_index[0] if is_one_tuple and alias.parameter_index else alias.parameter): alias
        for alias in program.input_output_aliases
    }
    number = count - _jax_types.captured_references(lowered) - sum(kept)
    numbers: list[int | None] = []
    for is_kept in kept:
        numbers.append(number if is_kept and number >= 0 else None)
        number += is_kept
    main = _jax_types.main_arguments(lowered)
    return aliases, numbers, main[1] if main is not None else 0


def _output_path(signature: Signature, alias: InputOutputAlias, first_output: int) -> str:
    index = (alias.output_index[0] if alias.output_index else 0) - first_output
    if 0 <= index < len(signature.outputs):
        return signature.outputs[index].path
    return f"result {{{','.join(map(str, alias.output_index))}}} of the program"


def _is_refused(leaf: Leaf) -> bool:
    """Whether JAX itself has already let the donation go."""
    return leaf.dropped is True or (
        isinstance(leaf.aliased, Unavailable) and leaf.aliased.reason.endswith("the donation was not usable.")
    )


def _reason(leaf: Leaf, signature: Signature, aliases: _Aliases | None, number: int | None) -> str:
    if leaf.dropped is True:
        return "The program does not read it, so it is not passed to the device, and there is no buffer to take."
    if _is_refused(leaf):
        return _no_output_fits(leaf, signature)
    if aliases is None:
        return "The program was not compiled, so nothing was decided yet."
    if number is None:
        return "It is not among the parameters of the compiled program."
    if isinstance(leaf.aliased, str):
        return f"JAX fixed {leaf.aliased} for it, but the compiled program does not use its buffer for a result."
    decided = "JAX left the choice to the compiler, and the compiled program uses its buffer for no result."
    fits = any(output.type == leaf.type for output in signature.outputs)
    return decided if fits else f"{decided} {_no_output_fits(leaf, signature)}"


def _no_output_fits(leaf: Leaf, signature: Signature) -> str:
    same = [output for output in signature.outputs if output.type == leaf.type]
    if not same:
        kinds = list(dict.fromkeys(output.type for output in signature.outputs))
        shown = ", ".join(kinds[:4]) + (", …" if len(kinds) > 4 else "")
        return f"No result has its type {leaf.type}" + (f"; there are {shown}." if kinds else "; there is none.")
    takers = {each.aliased: each.path for each in signature.arguments if isinstance(each.aliased, str)}
    if all(output.path in takers for output in same):
        taken = "; ".join(f"{output.path} takes {takers[output.path]}" for output in same[:3])
        return f"Every result of its type takes another donated argument: {taken}."
    if isinstance(leaf.sharding, str) and all(
        isinstance(output.sharding, str) and output.sharding != leaf.sharding for output in same
    ):
        return f"No result of its type is spread over the devices as it is: {leaf.sharding}."
    return "A result of its type lies in another kind of memory, or in another layout."
