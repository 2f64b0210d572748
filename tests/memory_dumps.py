"""What compilers say of the memory of programs: recorded, and made now.

Input: the name of a program of `tests.programs`, or a recorded folder. Output: `MemoryDump`: the compiled HLO, the
reports of its dump, and XLA's own figures.
"""

import ast
import functools
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jaxscope import _jax_memory
from jaxscope._analysis.program_memory import MEMORY_PATTERNS
from jaxscope._dumps import dump_texts
from jaxscope._ir import hlo
from jaxscope._ir.model import Listing
from tests import programs
from tests.shared import SHARED, read_recorded


@dataclass(frozen=True)
class MemoryDump:
    """One program: its compiled HLO, the two reports, XLA's figures by name, and how its XLA opens buffers."""

    listing: Listing
    assignment: str
    live_range: str
    figures: dict[str, int]
    starts_open_buffers: bool
    compiled: Any = None

    @property
    def texts(self) -> dict[str, str]:
        """The reports under names as in a dump."""
        return {"module.buffer-assignment.txt": self.assignment, "module.live-range.txt": self.live_range}


def recorded_folders() -> list[str]:
    """The names of the recorded folders; empty where the material is absent."""
    return sorted(path.name for path in (SHARED / "recorded").iterdir() if path.is_dir()) if SHARED else []


@functools.cache
def recorded(folder: str) -> MemoryDump:
    """One of the recorded folders."""
    at: Path = SHARED / "recorded" / folder
    figures = ast.literal_eval(read_recorded(at / "memory-and-cost.txt.gz").split("\n")[0])
    version = re.search(r"jax-0\.(\d+)", folder)
    return MemoryDump(
        hlo.parse(read_recorded(at / "compiled.hlo.gz")),
        read_recorded(at / "buffer-assignment.txt.gz"),
        read_recorded(at / "live-range.txt.gz"),
        figures,
        int(version[1]) >= 11,
    )


@functools.cache
def made_now(name: str) -> MemoryDump | None:
    """A program of `tests.programs`, compiled for the CPU of this machine; None where JAX refuses to."""
    stages = programs.stages(name)
    if stages.compiled is None or not stages.compiled.as_text():
        return None
    return of_stages(stages.lowered, stages.compiled)


def of_stages(lowered: Any, compiled: Any) -> MemoryDump:
    """A program from its stages, compiled once more for its dump."""
    texts = dump_texts(lowered, None, MEMORY_PATTERNS)
    assignment = max((text for name, text in texts.items() if name.endswith("buffer-assignment.txt")), key=len)
    live_range = max((text for name, text in texts.items() if name.endswith("live-range.txt")), key=len, default="")
    analysis = compiled.memory_analysis()
    return MemoryDump(
        hlo.parse(compiled.as_text()),
        assignment,
        # JAX 0.8 writes both into one file.
        live_range or assignment[assignment.find("HloLiveRange (max ") :],
        {name: value for name in dir(analysis) if isinstance(value := getattr(analysis, name), int)},
        _jax_memory.STARTS_OPEN_BUFFERS,
        compiled,
    )
