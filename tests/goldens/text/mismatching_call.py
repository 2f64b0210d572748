"""A call that differs from the signature in shape, in type and in a key."""

import jax.numpy as jnp


def loss(params, batch):
    logits = batch["x"] @ params["w"] + params["b"]
    return jnp.mean((logits - batch["y"]) ** 2)


PARAMS = {"w": "f32[8,4]", "b": "f32[4]"}


def make(inspect):
    call = (PARAMS, {"x": "f32[16,9]", "y": "i32[16,4]", "z": "f32[]"})
    return inspect(loss, PARAMS, {"x": "f32[16,8]", "y": "f32[16,4]"}, call=call)
