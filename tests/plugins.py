"""Compilers for hardware that is not here: the tests that need one are skipped, with a reason, where it is missing.

CI installs both, ``pip install ".[tpu,cuda]"``, so nothing is skipped there.
"""

import importlib.util
import re

import jax
import pytest

TPU = pytest.mark.skipif(importlib.util.find_spec("libtpu") is None, reason='needs libtpu: pip install ".[tpu]"')
CUDA = pytest.mark.skipif(
    not any(importlib.util.find_spec(name) for name in ("jax_cuda13_plugin", "jax_cuda12_plugin")),
    reason='needs the CUDA plugin: pip install ".[cuda]"',
)
# The one plugin whose text cannot be read: XLA of JAX 0.8 gives none for GPUs that are not there.
CUDA_TEXT = pytest.mark.skipif(
    tuple(map(int, jax.__version__.split(".")[:2])) < (0, 10), reason="JAX 0.8 gives no HLO text for absent GPUs"
)
# What one compiler alone writes into the first line of every program; "" where there is no such thing: for TPUs on
# JAX 0.8 too.
MARKS = {
    "cpu": "",
    "tpu": "arg_memory_spaces=" if jax.__version_info__ >= (0, 10) else "",
    "cuda": "fingerprint_before_lhs=",
}
BOTH = (pytest.param("tpu:v5e:2x2", marks=TPU), pytest.param("cuda:h100:4", marks=(CUDA, CUDA_TEXT)))

# ", metadata={op_name="jit(f)/mul" stack_frame_id=3}", and the tables of places at the head of the text
_METADATA = re.compile(r",? ?metadata=\{(?:[^{}\"]|\"(?:[^\"\\]|\\.)*\")*\}")
_PLACES = re.compile(r"\n(?:FileNames|FunctionNames|FileLocations|StackFrames)\n(?:.+\n)*")
# , sharding={mesh[], [{}]} and , frontend_attributes={xla.sdy.sharding="…"}: over one device they say nothing
_SHARDING = re.compile(
    r", sharding=\{(?:[^{}]|\{[^{}]*\})*\}|, frontend_attributes=\{xla\.sdy\.sharding=\"(?:[^\"\\]|\\.)*\"\}"
)
# The number at the end of "%copy.12"
_NUMBER = re.compile(r"(%[A-Za-z_][\w-]*?)((?:\.\d+)+)\b")


def without_places(hlo):
    """The text of a program for one device without where it came from, so that two compilations can be compared.

    Names are numbered anew in the order in which they appear: XLA counts what it throws away too.
    """
    header, _, body = _PLACES.sub("\n", _METADATA.sub("", hlo)).partition("\n")
    # After the types come a fingerprint, and what XLA may decide about a division over one device.
    types = header.split(", allow_spmd_sharding")[0].split(", frontend_attributes")[0]
    numbers = {}
    body = _NUMBER.sub(lambda name: f"{name[1]}#{numbers.setdefault(name[0], len(numbers))}", _SHARDING.sub("", body))
    return f"{types}\n{body}"
