"""The kernels that a program's custom calls carry, found in its text.

Problem: Pallas puts a whole MLIR module into an attribute of one operation: base64 in JSON in an escaped string for
TPU, escaped bytes in a dictionary for GPUs. Input: a `Listing` of StableHLO or of compiled HLO, and later the kernels'
texts from whoever can read MLIR bytecode. Output: the bytes with their lines, and one `Listing` of several modules.
"""

import base64
import binascii
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jaxscope._ir.locations import QUOTED
from jaxscope._ir.model import NO_STACK, Block, Fold, Listing, Op, StackTableBuilder

# Custom-call targets to the compiler that their module is for.
LANGUAGES = {
    "tpu_custom_call": "mosaic_tpu",
    "mosaic_gpu": "mosaic_gpu",
    "mosaic_gpu_v2": "mosaic_gpu",
    "__gpu$xla.gpu.triton": "triton",
}
_OPERATIONS = frozenset(("stablehlo.custom_call", "custom-call"))
# `stablehlo.custom_call @tpu_custom_call(%arg0)`    `custom_call_target="tpu_custom_call"`
_TARGET = re.compile(r'(?:custom_call @"?|custom_call_target=")([\w$.]+)')
# `ir = "ML\EFR\0DMLIR22.0.0git..."`    `module = "ML\EFR..."`
_MODULE = re.compile(rf"\b(?:ir|module) = ({QUOTED})", re.DOTALL)
# `backend_config = "{\22custom_call_config\22: ...}"`    `backend_config={"custom_call_config":{"body":"TUzv..."}}`
_CONFIGURATION = re.compile(rf"\bbackend_config ?= ?({QUOTED}|\{{.*\}})", re.DOTALL)
# \EF    \22    \\
_ESCAPE = re.compile(rb"\\([0-9A-Fa-f]{2}|.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class KernelCall:
    """A custom call that carries its kernel.

    Attributes:
        line: The line of the call.
        language: ``mosaic_tpu``, ``mosaic_gpu`` or ``triton``.
        bytecode: The kernel's module.
        locations: The module of its debug locations, where that stands beside it; None otherwise.
    """

    line: int
    language: str
    bytecode: bytes
    locations: bytes | None = None


def unescape_mlir(quoted: str) -> bytes:
    r"""The bytes of an MLIR string in quotes: ``"ML\EFR"`` is ``b"ML\xefR"``."""

    def one(match: re.Match[bytes]) -> bytes:
        code = match[1]
        return bytes([int(code, 16)]) if len(code) == 2 else {b"n": b"\n", b"t": b"\t"}.get(code, code)

    return _ESCAPE.sub(one, quoted[1:-1].encode("utf-8", "surrogatepass"))


def kernel_calls(listing: Listing) -> list[KernelCall]:
    """The kernels of a program; each only once, however often it is called."""
    found: dict[tuple[str, bytes, bytes | None], KernelCall] = {}
    for op in listing.ops:
        if op.name not in _OPERATIONS:
            continue
        line = "\n".join(listing.lines[op.line : op.end_line + 1])
        target = _TARGET.search(line)
        language = LANGUAGES.get(target[1]) if target else None
        if language is None:
            continue
        bytecode, locations = _tpu_module(line) if language == "mosaic_tpu" else (_module(line), None)
        if bytecode:
            call = KernelCall(op.line, language, bytecode, locations)
            found.setdefault((language, bytecode, locations), call)
    return list(found.values())


def _module(line: str) -> bytes:
    match = _MODULE.search(line)
    return unescape_mlir(match[1]) if match else b""


def _tpu_module(line: str) -> tuple[bytes, bytes | None]:
    """The module and its locations; ``b""`` where the configuration is not as expected."""
    match = _CONFIGURATION.search(line)
    if match is None:
        return b"", None
    text = match[1]
    try:
        # What follows the configuration on the line of HLO is not part of it.
        value: Any = json.JSONDecoder().raw_decode(
            unescape_mlir(text).decode("utf-8", "replace") if text.startswith('"') else text
        )[0]
        fields = value["custom_call_config"]
        locations = fields.get("debug_locations")
        return base64.b64decode(fields["body"]), base64.b64decode(locations) if locations else None
    except (ValueError, TypeError, KeyError, AttributeError, binascii.Error):
        return b"", None


def join_listings(parts: Sequence[Listing]) -> Listing:
    """Several listings of one dialect below each other, an empty line between them; each keeps its own names."""
    if len(parts) == 1:
        return parts[0]
    stacks = StackTableBuilder()
    ops: list[Op] = []
    blocks: list[Block] = []
    folds: list[Fold] = []
    line = 0
    for part in parts:
        first_block = len(blocks)
        nodes = {NO_STACK: NO_STACK}
        for node in range(len(part.stacks.nodes)):
            nodes[node] = stacks.intern(part.stacks.walk(node))
        for op in part.ops:
            ops.append(
                replace(
                    op,
                    line=op.line + line,
                    end_line=op.end_line + line,
                    stack=nodes[op.stack],
                    block=op.block if op.block < 0 else op.block + first_block,
                )
            )
        blocks += (
            replace(
                block,
                line=block.line + line,
                end_line=block.end_line + line,
                parent=block.parent if block.parent < 0 else block.parent + first_block,
            )
            for block in part.blocks
        )
        folds += _moved(part.folds, line)
        line += len(part.lines) + 1
    text = "\n\n".join(part.text for part in parts)
    return Listing(parts[0].dialect, text, tuple(ops), tuple(blocks), stacks.build(), tuple(folds))


def _moved(folds: Sequence[Fold], lines: int) -> Iterator[Fold]:
    for fold in folds:
        yield replace(fold, line=fold.line + lines, end_line=fold.end_line + lines)
