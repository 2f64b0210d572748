"""What lies below compiled HLO: which listings a program has there, and how they are made.

Problem: each backend goes on in languages of its own, which XLA shows in files only, one for each part or kernel, in an
order that changes from run to run; kernels that the user wrote travel inside custom calls. Input: the listings of the
stages, and the texts of a dump. Output: for each language one `Listing`, linked through the HLO that its functions are
named after; where there is none, the reason.
"""

import fnmatch
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from jaxscope import _jax_mlir
from jaxscope._ir import hlo, llvm, ptx, stablehlo
from jaxscope._ir.kernel_calls import KernelCall, join_listings, kernel_calls
from jaxscope._ir.model import Listing
from jaxscope._ir.origins import HloOrigins
from jaxscope._ir.thunks import read_launches
from jaxscope.errors import UnavailableError


@dataclass(frozen=True)
class LowerListing:
    """A listing below compiled HLO.

    Attributes:
        key: Its tab.
        title: What people read.
        unit: What its ops are called, one and several.
        pattern: The files of XLA's dump that it is made of; "" for kernels, which need no second compilation.
        platforms: JAX's names of the platforms whose compilers write it.
        parse: Reads its text.
    """

    key: str
    title: str
    unit: tuple[str, str]
    pattern: str
    platforms: frozenset[str]
    parse: Callable[[str, HloOrigins | None], Listing]


_GPU = frozenset(("gpu", "cuda"))
LOWER_LISTINGS = {
    listing.key: listing
    for listing in (
        LowerListing("kernels", "Kernels", ("op", "ops"), "", frozenset(), lambda text, _: stablehlo.parse(text)),
        LowerListing(
            "llvm_ir_unoptimised",
            "LLVM IR, unoptimised",
            ("instruction", "instructions"),
            "*.ir-no-opt.ll",
            _GPU | {"cpu"},
            llvm.parse,
        ),
        LowerListing(
            "llvm_ir", "LLVM IR", ("instruction", "instructions"), "*.ir-with-opt.ll", _GPU | {"cpu"}, llvm.parse
        ),
        LowerListing("ptx", "PTX", ("instruction", "instructions"), "*.ptx", _GPU, ptx.parse),
    )
}
_THUNKS = "*thunk_sequence.txt"
_HLO = "*after_optimizations.txt"
PATTERNS = (*(listing.pattern for listing in LOWER_LISTINGS.values() if listing.pattern), _THUNKS, _HLO)

# `define ptx_kernel void @fusion_12(`    `.visible .entry fusion_12(`
_FUNCTION = re.compile(r'^(?:define\b[^@\n]*@|[.\w ]*\.(?:entry|func) )"?([\w.$-]+)', re.MULTILINE)
# Modules that hold globals or code; XLA dumps empty ones too, for constants that it did not need.
_CONTENT = re.compile(r"^(?:define|@|\.visible|\.entry|\.func)", re.MULTILINE)


def make_dumped(listing: LowerListing, texts: Mapping[str, str], compiled: Listing | None) -> Listing:
    """The listing of one language from a dump.

    Args:
        listing: Which.
        texts: The dump's texts by file name, of this language only.
        compiled: The compiled HLO, whose instructions the functions are named after.

    Raises:
        UnavailableError: The dump has no code in this language.
    """
    texts = {name: text for name, text in texts.items() if _CONTENT.search(text)}
    if not texts:
        raise UnavailableError(
            f"Reading the {listing.title}: XLA compiled the program once more and wrote none ({listing.pattern} in its "
            "dump), so all of it runs in copies and ready-made libraries. Compiled HLO is the last text there is."
        )
    origins = HloOrigins(compiled) if compiled is not None else None

    def place(item: tuple[str, str]) -> tuple[float, str]:
        names = _FUNCTION.findall(item[1])
        found = [origin.line for name in names if origins and (origin := origins.find(name))]
        return (min(found, default=float("inf")), item[1])

    # The numbers in the names follow the order in which threads finished; the program's order is that of its HLO.
    ordered = [text for _, text in sorted(texts.items(), key=place)]
    return listing.parse("\n".join(text if text.endswith("\n") else f"{text}\n" for text in ordered), origins)


def compiled_hlo(texts: Mapping[str, str]) -> Listing | None:
    """The compiled HLO of a dump, for backends that give none otherwise (CUDA without a GPU, JAX 0.8)."""
    found = [text for name, text in texts.items() if fnmatch.fnmatchcase(name, _HLO)]
    return hlo.parse(found[0]) if len(found) == 1 else None


def launches_note(texts: Mapping[str, str]) -> str:
    """How often the kernels of a GPU are launched, in words; "" where the dump does not say."""
    thunks = [text for name, text in texts.items() if fnmatch.fnmatchcase(name, _THUNKS)]
    if not thunks:
        return ""
    counted = read_launches("\n".join(thunks))
    if not counted.kernels:
        return ""  # JAX 0.8 writes the table without the kernels' names.
    times = sum(counted.kernels.values())
    words = f"{len(counted.kernels):,} kernels in {times:,} launches, a loop's body counted once."
    others = ", ".join(f"{kind} {count:,}" for kind, count in sorted(counted.others.items()))
    return f"{words} Steps without a kernel here: {others}." if others else words


def find_kernels(stablehlo_listing: Listing | None, compiled: Listing | None) -> list[KernelCall]:
    """The kernels that custom calls carry, by the earliest text that is there."""
    source = stablehlo_listing or compiled
    return kernel_calls(source) if source is not None else []


def make_kernels(calls: list[KernelCall]) -> Listing:
    """The listing of kernels that custom calls carry.

    Raises:
        UnavailableError: There is none, or jaxlib cannot read any of them.
    """
    if not calls:
        raise UnavailableError(
            "Reading the kernels: no custom call of this program carries one. "
            "Kernels written with Pallas, and not run in interpret mode, are found here."
        )
    parts: list[Listing] = []
    failures: list[str] = []
    for call in calls:
        try:
            text = _jax_mlir.print_kernel(call.language, call.bytecode, call.locations)
        except Exception as error:  # MLIR's reasons differ from version to version; the other kernels are not affected
            reason = " ".join(str(error).split()) or type(error).__name__
            failures.append(reason)
            text = f"// The kernel called on line {call.line + 1} cannot be read by the MLIR in jaxlib: {reason}"
        parts.append(stablehlo.parse(text.rstrip("\n") + "\n"))
    if len(failures) == len(calls):
        raise UnavailableError(
            f"Reading the kernels: the MLIR in jaxlib reads none of {len(calls)} ({'; '.join(failures)}). "
            "Lower the program with the JAX that is installed to see them."
        )
    return join_listings(parts)
