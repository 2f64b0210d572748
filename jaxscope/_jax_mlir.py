"""MLIR modules that JAX holds: the text of kernels that custom calls carry, and the constants of a lowered program.

Problem: Pallas hands its kernels to compilers as MLIR bytecode, in versioned stable dialects, for TPU (since 0.12)
without the places in Python, which stand beside them. Input: the bytes, and which compiler they are for. Output: the
module as MLIR prints it, with locations. The dialects are in jaxlib without a public interface; deletable when Pallas
prints its kernels. The text of a program has its large constants in hexadecimal. Tested on JAX 0.8, 0.10 and 0.12.
"""

import re
from collections.abc import Container, Iterator
from importlib import import_module
from typing import Any, Literal

import numpy as np
from jax._src.interpreters import mlir
from jaxlib.mlir import ir
from jaxlib.mlir.passmanager import PassManager

Language = Literal["mosaic_tpu", "mosaic_gpu", "triton"]

_EXTENSIONS: dict[Language, str] = {"mosaic_tpu": "_tpu_ext", "mosaic_gpu": "_mosaic_gpu_ext", "triton": "_triton_ext"}
# The pass that turns the stable dialect back; Triton's modules are in no stable dialect.
_PASSES: dict[Language, str] = {
    "mosaic_tpu": "builtin.module(mosaic-serde{serialize=false})",
    "mosaic_gpu": "builtin.module(mosaic_gpu-serde{serialize=false})",
}

# `tpu.locs = [#loc, #loc3, #loc24]} {`
_LOCATION_LIST = re.compile(r"tpu\.locs = \[(#loc\d*(?:, #loc\d*)*)\]")


def _context(language: Language) -> Any:
    context = mlir.make_ir_context()
    context.allow_unregistered_dialects = True
    import_module(f"jaxlib.mlir._mlir_libs.{_EXTENSIONS[language]}").register_dialect(context)
    return context


def print_kernel(language: Language, bytecode: bytes, locations: bytes | None = None) -> str:
    """The text of a kernel's module.

    Args:
        language: Which compiler the module is for.
        bytecode: The module, as MLIR bytecode or text.
        locations: Mosaic's module of debug locations, where they were taken out of the kernel.

    Raises:
        Exception: MLIR does not read the bytes, or not in this version.
    """
    with _context(language), ir.Location.unknown():
        module = ir.Module.parse(bytecode)
        if locations is not None:
            _restore_locations(module, ir.Module.parse(locations))
        if pipeline := _PASSES.get(language):
            PassManager.parse(pipeline).run(module.operation)
        return module.operation.get_asm(enable_debug_info=True)


def reprint_kernel(language: Language, text: str) -> str:
    """Reads a kernel's text and prints it again; the same text where nothing was lost."""
    with _context(language):
        return ir.Module.parse(text).operation.get_asm(enable_debug_info=True)


def _restore_locations(module: Any, holder: Any) -> None:
    """Gives a module the locations that Mosaic keeps apart: one for each operation and block argument, on a walk."""
    places = list(_walk(module.operation))
    locations = _locations(holder)
    if len(places) == len(locations):
        for place, location in zip(places, locations, strict=True):
            if isinstance(place, ir.BlockArgument):
                place.set_location(location)
            else:
                place.location = location


def _locations(holder: Any) -> list[Any]:
    """The locations in the attribute ``tpu.locs``; [] where it is not as expected.

    Elements that are locations cannot be read from Python, so they are printed, put on an operation each, and read
    again by MLIR.
    """
    head, _, definitions = holder.operation.get_asm(enable_debug_info=True).rpartition("module attributes {")
    if (found := _LOCATION_LIST.match(definitions)) is None:
        return []
    operations = "\n".join(f'"place"() : () -> () loc({alias})' for alias in found[1].split(", "))
    after = definitions.partition("\n} loc(")[2].partition("\n")[2]
    probe = ir.Module.parse(f"{head}module {{\n{operations}\n}}\n{after}")
    return [operation.location for operation in probe.body.operations]


def _walk(operation: Any) -> Iterator[Any]:
    yield operation
    for region in operation.regions:
        for block in region.blocks:
            yield from block.arguments
            for inner in block.operations:
                yield from _walk(inner.operation)


def type_in_mlir(shape: tuple[int, ...], dtype: np.dtype) -> str | None:
    """``tensor<2x3xf32>``; None for element types whose constants cannot be read: JAX 0.8 aborts on some of them."""
    name = {"f": "f{}", "i": "i{}", "u": "ui{}", "b": "i1"}.get(dtype.kind)
    if name is None or not dtype.isnative or dtype.itemsize > 8:
        return None
    return f"tensor<{''.join(f'{size}x' for size in shape)}{name.format(8 * dtype.itemsize)}>"


def constants_of(lowered: Any, types: Container[str]) -> Iterator[tuple[str, np.ndarray]]:
    """The constants of a lowered program that have one of these types, as `type_in_mlir` writes them, and their values.

    Args:
        lowered: A `jax.stages.Lowered`.
        types: Types that `type_in_mlir` can name.
    """
    for place in _walk(lowered.compiler_ir("stablehlo").operation):
        if getattr(place, "name", "") == "stablehlo.constant" and (text := str(place.results[0].type)) in types:
            yield text, np.array(place.attributes["value"])
