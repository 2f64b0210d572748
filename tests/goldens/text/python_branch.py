"""A Python `if` on a traced value: JAX's own error, with advice."""

import jax.numpy as jnp


def clip(x, limit):
    if jnp.linalg.norm(x) > limit:
        x = x * (limit / jnp.linalg.norm(x))
    return x


def make(inspect):
    return inspect(clip, "f32[8]", 1.0)
