"""The texts that XLA writes while it compiles, from one more compilation with the dump switched on.

Problem: what lies below compiled HLO reaches Python through files only, which must not stay behind, not even when the
user interrupts. Input: a `jax.stages.Lowered` and patterns of file names. Output: texts by file name. A compilation
costs what the first one cost; nobody but the user asks for it.
"""

import fnmatch
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jaxscope import _jax_dump, _jax_worker
from jaxscope._stages import in_background
from jaxscope._targets.model import TopologySpec
from jaxscope._worker import Job

# Compiles into a folder, in this process.
Compile = Callable[[Any, Mapping[str, Any] | None, str], None]


def dump_texts(
    lowered: Any,
    compiler_options: Mapping[str, Any] | None,
    patterns: Sequence[str],
    compile_with_dump: Compile = _jax_dump.compile_with_dump,
    *,
    topology: TopologySpec | None = None,
) -> dict[str, str]:
    """Compiles once more and reads what XLA wrote.

    Args:
        lowered: The program, as it was compiled before.
        compiler_options: The options of that compilation.
        patterns: Shell patterns of the files to read, such as ``*.ptx``.
        compile_with_dump: What compiles into a folder.
        topology: The machine that is not there, whose compiler runs in the worker; None for attached hardware.

    Returns:
        The texts by file name, in the order of the names; files that are empty are left out.

    Raises:
        Exception: What the compiler raised.
        KeyboardInterrupt: The user did not want to wait; the compilation ends on its own and its files are removed.
    """

    def work() -> dict[str, str]:
        # Made and removed by the thread that compiles: after an interrupt it is the one that is still there.
        with tempfile.TemporaryDirectory(prefix="jaxscope-dump-", ignore_cleanup_errors=True) as folder:
            if topology is not None and _jax_worker.is_for(lowered, topology):
                options = {**(compiler_options or {}), **_jax_dump.dump_options(folder)}
                _jax_worker.compile_in_worker(lowered, topology, options, job)
            else:
                compile_with_dump(lowered, compiler_options, folder)
            return read_texts(folder, patterns)

    job = Job()
    return in_background(work, None, job.cancel)


def read_texts(folder: str, patterns: Sequence[str]) -> dict[str, str]:
    """The texts in a folder whose names match one of the patterns, by name; bytes that are no UTF-8 stand escaped."""
    texts = {}
    for path in sorted(Path(folder).iterdir()):
        is_asked_for = any(fnmatch.fnmatchcase(path.name, pattern) for pattern in patterns)
        if is_asked_for and path.is_file() and (data := path.read_bytes()):
            texts[path.name] = data.decode("utf-8", "backslashreplace")
    return texts
