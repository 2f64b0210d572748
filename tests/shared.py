"""Where the larger test material lies: a folder `shared` beside the repository, when there is one.

It holds programs behind public bug reports, IR files written by others and recorded compiler output. It is not part of
the project; tests that read it skip, with this reason, where it is absent.
"""

import gzip
from pathlib import Path

_CANDIDATE = Path(__file__).resolve().parents[2] / "shared"
SHARED: Path | None = _CANDIDATE if _CANDIDATE.is_dir() else None
ABSENT = "the folder of shared test material is not beside the repository"


def corpus_files() -> list[Path]:
    """Every StableHLO file of the corpus; empty when the material is absent."""
    return sorted((SHARED / "corpus").rglob("*.mlir")) if SHARED else []


def recorded_files(pattern: str = "*.gz") -> list[Path]:
    """Recorded compiler output whose file name matches `pattern`; empty when the material is absent."""
    return sorted((SHARED / "recorded").glob(f"*/{pattern}")) if SHARED else []


def read_recorded(path: Path) -> str:
    """The text of one recorded file."""
    return gzip.decompress(path.read_bytes()).decode()


def case_files() -> list[Path]:
    """The case programs, one file each; empty when the material is absent."""
    return sorted((SHARED / "cases").glob("[0-9]*.py")) if SHARED else []
