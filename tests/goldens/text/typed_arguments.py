"""Keys, weak types, 64-bit input that is narrowed, keyword arguments, and names with letters beyond ASCII."""

import jax
import numpy as np


def sample(key, scale, *, grüße, counts):
    noise = jax.random.normal(key, counts.shape)
    return {"noise ∂": noise * scale, "grüße": grüße}, counts


def make(inspect):
    return inspect(sample, jax.random.key(0), 0.5, grüße=np.zeros(3), counts=np.arange(4))
