"""Values that are part of the program: by name, by position, and a default that was not passed."""

import jax
import jax.numpy as jnp


def dense(x, w, activation, width=4):
    y = x @ w[:, :width]
    return getattr(jnp, activation)(y)


def make(inspect):
    jitted = jax.jit(dense, static_argnames=("activation", "width"))
    return inspect(jitted, "f32[2,8]", "bf16[8,16]", activation="tanh")
