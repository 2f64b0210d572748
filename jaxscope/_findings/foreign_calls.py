"""The custom calls that a program's author put in: foreign functions, and kernels written in Pallas.

Problem: compiled programs are full of custom calls that XLA and JAX put in themselves, into libraries that are known.
Input: the facts of a compiled program. Output: the calls that are neither, with their targets.
"""

import re

from jaxscope._findings.records import Program
from jaxscope.errors import UnavailableError

PALLAS_FOR_TPU = "tpu_custom_call"
# `tpu_custom_call`  `mosaic_gpu_v2`  `__gpu$xla.gpu.triton`  `triton_kernel_call`
_PALLAS = re.compile(rf"{PALLAS_FOR_TPU}|mosaic_gpu.*|__gpu\$xla\.gpu\.triton|triton_kernel_call.*")
# Vendors' libraries, whether XLA or JAX put them in: `__cudnn$fmhaSoftmax`  `cusparse_csr_todense_ffi`
_VENDORS = re.compile(r"__\w+\$.*|(?:lapack|blas)_.*|(?:cu|hip|roc)(?:blas|dnn|hybrid|solver|sparse)?_.*")
# What counts a target that no entry of the tables of custom calls knows, and a kernel that declares its cost itself.
_RULES_OF_CALLS = ("custom call", "declared cost")
# `stablehlo.custom_call @Sharding(%0)`    `custom_call @"mylib.norm"(%arg0)`
_ASKED = re.compile(r'\bcustom_call @(?:"([^"]*)"|([\w.$-]+))\(')


def foreign_calls(program: Program) -> dict[int, str]:
    """The targets of these calls, by their index in the ops of the compiled HLO.

    Raises:
        UnavailableError: There is no compiled text.
    """
    if "custom_call_target=" not in program.listing("hlo").listing.text:
        return {}
    costs = program.program_cost("hlo").ops
    targets = {cost.op: _target(program, cost.op) for cost in costs if cost.rule in _RULES_OF_CALLS and cost.is_counted}
    foreign = {target for target in targets.values() if not _VENDORS.fullmatch(target) or is_pallas(target)}
    if foreign and (asked := _asked_for(program)) is not None:
        # A target that only the compiled text has is the compiler's own, as a kernel of XLA's for softmax on TPU is.
        # Compilers for GPUs rename the targets of Pallas.
        foreign = {each for each in foreign if each in asked or (is_pallas(each) and each != PALLAS_FOR_TPU)}
    return {op: target for op, target in targets.items() if target in foreign}


def is_pallas(target: str) -> bool:
    """Whether a target is what Pallas makes of a kernel."""
    return _PALLAS.fullmatch(target) is not None


def _target(program: Program, op: int) -> str:
    return program.hlo_module.attributes(op).get("custom_call_target", "").strip('"')


def _asked_for(program: Program) -> frozenset[str] | None:
    """The targets that the program holds before it is compiled; None where that text is not there."""
    try:
        listing = program.listing("stablehlo").listing
    except UnavailableError:
        return None
    calls = (_ASKED.search(listing.lines[op.line]) for op in listing.ops if op.name == "stablehlo.custom_call")
    return frozenset(call[1] or call[2] for call in calls if call)
