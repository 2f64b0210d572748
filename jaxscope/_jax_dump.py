"""A second compilation that writes what XLA makes on its way into a folder.

Problem: which options switch the dump on differs between versions of JAX, and JAX's persistent cache of compiled
programs would answer without compiling, so that nothing is written. Input: a `jax.stages.Lowered` and a folder. Output:
files. Tested on JAX 0.8, 0.10 and 0.12; deletable when XLA gives these texts through an interface.
"""

import contextlib
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

import jax
from jax._src import config

# 0.8 does not know `xla_dump_emitter_re` and writes the code of every kernel unasked; 0.12 writes none without it.
_KNOWS_EMITTERS = tuple(map(int, jax.__version__.split(".")[:2])) >= (0, 10)


def dump_options(folder: str) -> dict[str, Any]:
    """The compiler options, for one compilation only, that make XLA write LLVM IR and PTX into `folder`.

    The persistent cache leaves dump options out of its keys, all but the one that selects emitters: a word of its own
    in it, or else in a file name that only GPUs read, makes every key new.
    """
    word = uuid.uuid4().hex
    options: dict[str, Any] = {"xla_dump_to": folder}
    if _KNOWS_EMITTERS:
        # Without the anchors the log of Triton's passes comes too, a megabyte for each kernel.
        options["xla_dump_emitter_re"] = f"^(llvm|ptx|{word})$"
    else:
        options["xla_gpu_dump_autotune_logs_to"] = f"{folder}/{word}.log"
    return options


@contextlib.contextmanager
def kept_out_of_cache() -> Iterator[None]:
    """Within it this thread's compilations are not written to the persistent cache, where nobody would find them."""
    with config.persistent_cache_min_compile_time_secs(float("inf")):
        yield


def compile_with_dump(lowered: Any, compiler_options: Mapping[str, Any] | None, folder: str) -> None:
    """Compiles once more, and leaves only files: the program itself is dropped."""
    with kept_out_of_cache():
        lowered.compile(compiler_options={**(compiler_options or {}), **dump_options(folder)})
