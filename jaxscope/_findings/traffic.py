"""What of a program's traffic with memory is worth a word: the whole, and the least that counts.

Problem: a share says something only where the whole is known. Input: the account of compiled HLO. Output: the bytes
that all kernels move in all their runs; None where some of them is not known.
"""

from jaxscope._analysis.roll_up import moved_bytes
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._analysis.work import KernelCost, ProgramCost

# Below it, any device moves it in the time that starting a few kernels takes: microseconds.
LEAST_BYTES = 2**20
# Below it, removing all of it makes a program faster by less than what measurements vary.
LEAST_SHARE = 0.1


def all_bytes(cost: ProgramCost) -> int | None:
    """What all kernels read and write; None where a size or how often one runs is not known."""
    total = 0
    for kernel in cost.kernels:
        if kernel.is_counted:
            if (size := bytes_of(kernel)) is None:
                return None
            total += size
    return total


def bytes_of(kernel: KernelCost) -> int | None:
    """What all runs of a kernel read and write; None where that is not known."""
    size, runs = moved_bytes(kernel), kernel.runs.known
    return None if isinstance(size, Unavailable) or runs is None else size * runs


def matters(size_bytes: int, whole_bytes: int) -> bool:
    """Whether a part of a program's traffic is worth a word."""
    return size_bytes >= LEAST_BYTES and size_bytes >= LEAST_SHARE * whole_bytes
