"""What a program for a GPU does at run time, step by step, by XLA's table of thunks.

Problem: PTX says which kernels there are, not how often each is launched, nor what runs without one (copies, calls into
libraries, loops). Input: the file ``thunk_sequence.txt`` of a dump. Output: how often each kernel is launched, and how
many steps of other kinds there are; a loop's body counts once.
"""

import re
from collections import Counter
from dataclasses import dataclass

# `002: kCustomKernel [prev=001 (1) | sink        ] wrapped_sine grid: [32, 1, 1] threads: [128, 1, 1] ...`
# `    008: kCopy [source | sink] kCopy`
_THUNK = re.compile(r"^ *\d+: k(\w+) +\[[^\]]*\] *(?:(\S+) grid: )?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Launches:
    """How often each kernel is launched, by name, and how many other steps there are, by kind."""

    kernels: dict[str, int]
    others: dict[str, int]


def read_launches(text: str) -> Launches:
    """Counts the steps of a table of thunks; what is no entry is passed over."""
    kernels: Counter[str] = Counter()
    others: Counter[str] = Counter()
    for kind, kernel in _THUNK.findall(text):
        if kernel:
            kernels[kernel] += 1
        else:
            others[kind] += 1
    return Launches(dict(kernels), dict(others))
