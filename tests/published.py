"""Networks that nobody here wrote, and what their papers print: multiply-adds of one image at the paper's size.

Input: the name of one of `NETWORKS`. Output: a function of abstract weights and an image, through Keras on its JAX
backend without weights, and the types to call it with.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

# Read once, when Keras is first imported.
os.environ.setdefault("KERAS_BACKEND", "jax")


@dataclass(frozen=True)
class Network:
    """A network of `keras.applications`, the multiply-adds that its paper prints, and where."""

    name: str
    multiply_adds: float
    source: str
    size: int = 224


NETWORKS = (
    Network("VGG16", 15.3e9, "He et al., Deep Residual Learning, 2015, section 3.3 gives VGG-16's 15.3 billion FLOPs"),
    Network("VGG19", 19.6e9, "He et al., Deep Residual Learning, 2015, figure 3"),
    Network("ResNet50", 3.8e9, "He et al., Deep Residual Learning, 2015, table 1"),
    Network("ResNet152", 11.3e9, "He et al., Deep Residual Learning, 2015, table 1"),
    Network("MobileNet", 569e6, "Howard et al., MobileNets, 2017, table 4"),
    Network("MobileNetV2", 300e6, "Sandler et al., MobileNetV2, 2018, table 4"),
    Network("EfficientNetB0", 0.39e9, "Tan and Le, EfficientNet, 2019, table 2"),
    Network("ConvNeXtTiny", 4.5e9, "Liu et al., A ConvNet for the 2020s, 2022, table 1"),
)


def build_network(network: Network) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The forward pass and the types of its arguments: weights that are trained, those that are not, one image."""
    import keras

    # Within the scope weights have shapes and no values, which nobody needs.
    with keras.StatelessScope(initialize_variables=False):
        model = getattr(keras.applications, network.name)(weights=None, input_shape=(network.size, network.size, 3))
    weights = tuple(
        [jax.ShapeDtypeStruct(tuple(one.shape), one.dtype) for one in variables]
        for variables in (model.trainable_variables, model.non_trainable_variables)
    )

    def forward(trainable: Any, fixed: Any, image: Any) -> Any:
        return model.stateless_call(trainable, fixed, image, training=False)[0]

    return forward, (*weights, jax.ShapeDtypeStruct((1, network.size, network.size, 3), jnp.float32))
