"""What XLA's dump says: recorded for an H100 (see `tests.record_dumps`), and made now for the CPU of this machine.

Input: none. Output: `Dump`, the texts by file name and the compiled HLO, which tests read by rules of their own.
"""

import functools
from dataclasses import dataclass
from pathlib import Path

from jaxscope._dumps import dump_texts
from tests import programs

RECORDED = sorted(path.name for path in (Path(__file__).parent / "dumps").iterdir())
# Between them: a kernel of each emitter, calls into libraries, a loop, a comparator, a reduction.
LIVE = ("nested_jit", "references", "odd_literals", "many_results", "spread_over_lines")
NAMES = [*RECORDED, *LIVE]


@dataclass(frozen=True)
class Dump:
    """The texts of one dump by file name, and the HLO of the same compilation."""

    texts: dict[str, str]
    hlo: str

    def of(self, ending: str) -> dict[str, str]:
        """The texts whose file name ends so."""
        return {name: text for name, text in self.texts.items() if name.endswith(ending)}


@functools.cache
def dump(name: str) -> Dump:
    """One of `NAMES`."""
    if name in RECORDED:
        folder = Path(__file__).parent / "dumps" / name
        texts = {path.name: path.read_text() for path in sorted(folder.iterdir())}
        return Dump(texts, texts.pop("compiled.hlo"))
    stages = programs.stages(name)
    return Dump(dump_texts(stages.lowered, None, ("*.ll",)), stages.compiled.as_text())
