"""What is needed to read an executable's memory beyond the figures: the bytes of its module, and XLA's conventions.

Problem: the module has no public interface, and what XLA's live ranges mean changes with its version. Input: a
`jax.stages.Compiled`. Output: bytes, b"" where the platform gives none. Tested on JAX 0.8, 0.10 and 0.12; deletable
when `Compiled` offers its buffer assignment by name.
"""

from typing import Any

import jax

# XLA of JAX 0.12 lets the result of what runs beside the schedule take its buffer when it is started; that of JAX 0.10
# an instant earlier. The reports of both were compared with jaxscope's account.
STARTS_OPEN_BUFFERS = tuple(map(int, jax.__version__.split(".")[:2])) >= (0, 11)


def module_bytes(compiled: Any) -> bytes:
    """The serialized HloModuleProto of the program; it has the numbers of its instructions, which no text has."""
    try:
        return compiled.runtime_executable().hlo_modules()[0].as_serialized_hlo_module_proto()
    except Exception:
        # Stand-ins of other processes and of other libraries have no modules; names are then left out.
        return b""
