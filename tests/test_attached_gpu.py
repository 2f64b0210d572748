"""A GPU that is attached, and the same kind compiled for as if it were not there, agree in what a program takes.

XLA's own figures for the attached one are the oracle. Skipped where no GPU of a kind in the catalogue is attached.
"""

import jax
import jax.numpy as jnp
import pytest

import jaxscope
from jaxscope._targets import resolve_target
from jaxscope._targets.catalogue import built_in_entries
from tests.plugins import CUDA


def attached():
    """The first attached GPU and the name of its kind in the catalogue."""
    try:
        device = jax.devices("gpu")[0]
    except RuntimeError:
        pytest.skip("no GPU is attached, or JAX_PLATFORMS leaves it out")
    for name, entry in built_in_entries().items():
        if entry.device_kind == device.device_kind:
            return device, name
    pytest.skip(f"{device.device_kind} is not in the catalogue")


def normalised(x):
    """Several kernels and no library call, whose workspace would depend on what was tried on the attached GPU."""
    y = jnp.sort(x, axis=-1)
    return jnp.cumsum(jax.nn.softmax(y) * x, axis=0), y.mean(0)


@CUDA
def test_bytes_agree_with_those_of_the_attached_gpu():
    device, name = attached()
    x = jax.ShapeDtypeStruct((512, 1024), jnp.float32)
    there = jaxscope.inspect(normalised, x, target=device, strict=True).compiled.memory_analysis()
    absent = jaxscope.inspect(normalised, x, target=name, strict=True)
    assert resolve_target(name).kind == "compile-only"
    here = absent.compiled.memory_analysis()
    for figure in ("argument_size_in_bytes", "output_size_in_bytes", "temp_size_in_bytes"):
        assert getattr(here, figure) == getattr(there, figure), figure
