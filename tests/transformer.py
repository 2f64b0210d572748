"""A transformer's training step of twelve layers, compiled once in a session for each target that a test asks for.

Input: the name of a target; one of 256 devices gets the step over the mesh `MESH`. Output: its inspection, and the
step's arguments.
"""

import functools
import runpy
from collections.abc import Callable
from typing import Any

import jax
import pytest
from jax.sharding import AbstractMesh, AxisType

import jaxscope
from jaxscope._targets import resolve_target
from tests.shared import ABSENT, SHARED

LAYERS, WIDTH, LENGTH = 12, 768, 128
MESH = {"data": 64, "model": 4}
# The file whose line called the inspection: what has no place in the program has this one.
CALLER = __file__


@functools.cache
def step_and_args(target: str) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The step, and its arguments: parameters, momentum, tokens; skips the test where the program is not here."""
    if SHARED is None:
        pytest.skip(ABSENT)
    program = runpy.run_path(str(SHARED / "programs" / "transformer.py"))
    options = {}
    if resolve_target(target).device_count == 256:
        mesh = AbstractMesh(tuple(MESH.values()), tuple(MESH), axis_types=(AxisType.Auto,) * len(MESH))
        options = {"mesh": mesh, "batch": MESH["data"]}
    return program["step_and_args"](LAYERS, width=WIDTH, length=LENGTH, **options)


@functools.cache
def transformer_for(target: str) -> jaxscope.Inspection:
    """The inspection of the step, whose parameters and momentum are donated."""
    step, args = step_and_args(target)
    return jaxscope.inspect(jax.jit(step, donate_argnums=(0, 1)), *args, target=target)
