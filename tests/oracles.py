"""Counts from JAX's own objects, and XLA's frame tables, by readers that know nothing of jaxscope's parsers."""

import re
from typing import Any

import jax


def count_equations(traced: Any) -> int | None:
    """The equations of a jaxpr and of every jaxpr inside it; one that is used twice is printed, and counted, once.

    None where the printer follows another rule: JAX 0.8 repeats what is shared inside a shared jaxpr, and a
    `custom_linear_solve` prints its jaxprs as the text of a named tuple. What is printed there is checked equation by
    equation in ``test_ir_jaxpr.py``.
    """
    if jax.__version_info__ < (0, 9) or "LinearSolveTuple" in str(traced.jaxpr):
        return None
    seen: list[Any] = []

    def inner_jaxprs(value: Any) -> list[Any]:
        if hasattr(value, "eqns"):
            return [getattr(value, "jaxpr", value)]
        if isinstance(value, tuple | list):
            return [jaxpr for item in value for jaxpr in inner_jaxprs(item)]
        return []

    def count(jaxpr: Any) -> int:
        if any(jaxpr is other for other in seen):
            return 0
        seen.append(jaxpr)
        nested = [inner for eqn in jaxpr.eqns for value in eqn.params.values() for inner in inner_jaxprs(value)]
        return len(jaxpr.eqns) + sum(map(count, nested))

    return count(traced.jaxpr.jaxpr)


def count_operations(lowered: Any) -> int:
    """The operations of the MLIR module, `builtin.module` and `func.func` aside.

    The bodies of reductions printed as ``applies stablehlo.add`` are not in the text and not counted: two operations
    each (the one that is named, and the return).
    """

    def count(operation: Any) -> int:
        total = operation.name not in ("builtin.module", "func.func")
        for region in operation.regions:
            for block in region.blocks:
                total += sum(count(inner.operation) for inner in block.operations)
        return total

    module = lowered.compiler_ir("stablehlo").operation
    hidden = str(module).count(" applies stablehlo.")
    return count(module) - 2 * hidden


def count_instructions(compiled: Any) -> int | None:
    """The instructions of every computation that is printed; None on JAX 0.8, whose modules do not list them.

    A computation that only holds what runs asynchronously is not printed: ``fusion-start`` stands for it.
    """
    if jax.__version_info__ < (0, 9):
        return None
    # "%fused_add (param_0.1: s32[]) -> s32[] {"
    printed = set(re.findall(r"^(?:ENTRY )?%(\S+) \(.*\{$", compiled.as_text(), re.MULTILINE))
    modules = compiled.runtime_executable().hlo_modules()
    computations = [each for module in modules for each in module.computations() if each.name in printed]
    return sum(len(computation.instructions()) for computation in computations)


def read_frame_tables(text: str) -> dict[int, tuple[str, int]]:
    """The innermost place of each stack frame that compiled HLO names: file and line by number."""
    tables, name = {}, None
    for line in text.split("\n"):
        if line in ("FileNames", "FunctionNames", "FileLocations", "StackFrames"):
            name = line
            tables[name] = {}
        elif name and (entry := re.fullmatch(r"(\d+) (.*)", line)):
            tables[name][int(entry[1])] = entry[2]
        elif line:
            name = None
    locations = {
        number: re.fullmatch(r"\{file_name_id=(\d+) function_name_id=\d+ line=(\d+) .*\}", entry)
        for number, entry in tables["FileLocations"].items()
    }
    frames = {}
    for number, entry in tables["StackFrames"].items():
        location = locations[int(re.match(r"\{file_location_id=(\d+)", entry)[1])]
        frames[number] = (tables["FileNames"][int(location[1])].strip('"'), int(location[2]))
    return frames
