"""Update steps of Optax, and models in Flax and Equinox, as their documentation writes them.

Input: a name of `PROGRAMS`. Output: the function and its arguments, which are types alone: nothing is initialized. A
library that is not there raises ImportError.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from tests.library_programs import LibraryProgram

WIDTH, DEPTH, BATCH, CLASSES = 640, 3, 256, 10
PROGRAMS: dict[str, Callable[[], LibraryProgram]] = {}
_Made = tuple[Any, tuple[Any, ...]]


def _program(make: Callable[[], _Made]) -> Callable[[], _Made]:
    name = make.__name__
    PROGRAMS[name] = lambda: LibraryProgram(name, *make())
    return make


def _floats(*shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def _key() -> Any:
    return jax.eval_shape(lambda: jax.random.key(0))


# Optax: a network of three dense layers, 1.2 M parameters.

OPTIMIZERS: dict[str, Callable[[Any], Any]] = {
    "sgd": lambda optax: optax.sgd(1e-2, momentum=0.9),
    "adam": lambda optax: optax.adam(1e-3),
    "adamw": lambda optax: optax.adamw(1e-3),
    "lion": lambda optax: optax.lion(1e-4),
    "adafactor": lambda optax: optax.adafactor(1e-3),
    "lamb": lambda optax: optax.lamb(1e-3),
    "clipped_adamw": lambda optax: optax.chain(
        optax.clip_by_global_norm(1.0), optax.adamw(optax.warmup_cosine_decay_schedule(0.0, 1e-3, 100, 10_000))
    ),
    "accumulated_adam": lambda optax: optax.MultiSteps(optax.adam(1e-3), every_k_schedule=4),
}


def _dense_params() -> list[dict[str, jax.ShapeDtypeStruct]]:
    return [{"weight": _floats(WIDTH, WIDTH), "bias": _floats(WIDTH)} for _ in range(DEPTH)]


def _dense_loss(params: Any, x: jax.Array, y: jax.Array) -> jax.Array:
    for layer in params[:-1]:
        x = jax.nn.relu(x @ layer["weight"] + layer["bias"])
    prediction = x @ params[-1]["weight"] + params[-1]["bias"]
    return jnp.mean((prediction - y) ** 2)


def _optax_step(name: str) -> LibraryProgram:
    import optax

    optimizer = OPTIMIZERS[name](optax)
    params = _dense_params()
    state = jax.eval_shape(optimizer.init, params)

    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def step(params, state, batch):
        loss, grads = jax.value_and_grad(_dense_loss)(params, *batch)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, loss

    return LibraryProgram(f"{name}_step", step, (params, state, (_floats(BATCH, WIDTH), _floats(BATCH, WIDTH))))


def _optax_update(name: str) -> LibraryProgram:
    import optax

    optimizer = OPTIMIZERS[name](optax)
    params = _dense_params()
    state = jax.eval_shape(optimizer.init, params)
    return LibraryProgram(f"{name}_update", optimizer.update, (params, state, params))


for _name in OPTIMIZERS:
    PROGRAMS[f"{_name}_step"] = functools.partial(_optax_step, _name)
    PROGRAMS[f"{_name}_update"] = functools.partial(_optax_update, _name)


# Flax Linen: a convolutional network with batch normalization and dropout.


def _linen_network() -> Any:
    from flax import linen

    class Network(linen.Module):
        @linen.compact
        def __call__(self, x, train):
            for features in (32, 64, 64):
                x = linen.Conv(features, (3, 3), use_bias=False)(x)
                x = linen.BatchNorm(use_running_average=not train, momentum=0.9)(x)
                x = linen.relu(x)
                x = linen.max_pool(x, (2, 2), strides=(2, 2))
            x = x.reshape(x.shape[0], -1)
            x = linen.relu(linen.Dense(256)(x))
            x = linen.Dropout(0.5, deterministic=not train)(x)
            return linen.Dense(CLASSES)(x)

    return Network()


def _images() -> jax.ShapeDtypeStruct:
    return _floats(64, 32, 32, 3)


def _labels(*shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.int32)


@_program
def linen_forward():
    network = _linen_network()
    variables = jax.eval_shape(functools.partial(network.init, train=False), _key(), _images())

    def forward(variables, images):
        return network.apply(variables, images, train=False)

    return forward, (variables, _images())


@_program
def linen_train_step():
    import optax
    from flax.training import train_state

    class TrainState(train_state.TrainState):
        batch_stats: Any

    network = _linen_network()

    def create(key, images):
        variables = network.init(key, images, train=False)
        return TrainState.create(
            apply_fn=network.apply,
            params=variables["params"],
            batch_stats=variables["batch_stats"],
            tx=optax.adamw(1e-3),
        )

    @functools.partial(jax.jit, donate_argnames="state")
    def train_step(state, images, labels, key):
        key = jax.random.fold_in(key, state.step)

        def loss(params):
            logits, updates = state.apply_fn(
                {"params": params, "batch_stats": state.batch_stats},
                images,
                train=True,
                rngs={"dropout": key},
                mutable=["batch_stats"],
            )
            return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean(), updates

        (value, updates), grads = jax.value_and_grad(loss, has_aux=True)(state.params)
        return state.apply_gradients(grads=grads, batch_stats=updates["batch_stats"]), value

    return train_step, (jax.eval_shape(create, _key(), _images()), _images(), _labels(64), _key())


# Flax Linen: two blocks of attention, in bfloat16 with parameters in float32.


def _attention_network() -> Any:
    from flax import linen

    class Block(linen.Module):
        @linen.compact
        def __call__(self, x, mask):
            y = linen.LayerNorm(dtype=jnp.bfloat16)(x)
            x = x + linen.MultiHeadDotProductAttention(num_heads=8, dtype=jnp.bfloat16)(y, y, mask=mask)
            y = linen.LayerNorm(dtype=jnp.bfloat16)(x)
            y = linen.gelu(linen.Dense(4 * x.shape[-1], dtype=jnp.bfloat16)(y))
            return x + linen.Dense(x.shape[-1], dtype=jnp.bfloat16)(y)

    class Network(linen.Module):
        @linen.compact
        def __call__(self, tokens):
            x = linen.Embed(1024, 256, dtype=jnp.bfloat16)(tokens)
            mask = linen.make_causal_mask(tokens)
            for _ in range(2):
                x = Block()(x, mask)
            return linen.Dense(1024, dtype=jnp.bfloat16)(linen.LayerNorm(dtype=jnp.bfloat16)(x))

    return Network()


@_program
def attention_forward():
    network = _attention_network()
    params = jax.eval_shape(network.init, _key(), _labels(8, 128))
    return network.apply, (params, _labels(8, 128))


@_program
def attention_train_step():
    import optax

    network = _attention_network()
    optimizer = optax.adamw(1e-3)
    params = jax.eval_shape(network.init, _key(), _labels(8, 128))

    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def train_step(params, state, tokens):
        def loss(params):
            logits = network.apply(params, tokens[:, :-1]).astype(jnp.float32)
            return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean()

        value, grads = jax.value_and_grad(loss)(params)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value

    return train_step, (params, jax.eval_shape(optimizer.init, params), _labels(8, 129))


# Flax NNX: a perceptron with batch normalization and dropout, jitted as its documentation does.


@_program
def nnx_train_step():
    import optax
    from flax import nnx

    class Perceptron(nnx.Module):
        def __init__(self, rngs):
            self.first = nnx.Linear(WIDTH, WIDTH, rngs=rngs)
            self.norm = nnx.BatchNorm(WIDTH, rngs=rngs)
            self.dropout = nnx.Dropout(0.1, rngs=rngs)
            self.last = nnx.Linear(WIDTH, CLASSES, rngs=rngs)

        def __call__(self, x):
            return self.last(self.dropout(nnx.relu(self.norm(self.first(x)))))

    @functools.partial(jax.jit, donate_argnums=0)
    def train_step(state, x, labels):
        model, optimizer = nnx.merge(graph, state)

        def loss(model):
            return optax.softmax_cross_entropy_with_integer_labels(model(x), labels).mean()

        value, grads = nnx.value_and_grad(loss)(model)
        optimizer.update(model, grads)
        return nnx.state((model, optimizer)), value

    model = Perceptron(nnx.Rngs(0))
    graph, state = nnx.split((model, nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)))
    return train_step, (state, _floats(BATCH, WIDTH), _labels(BATCH))


# Equinox: a block of attention over one sequence, under vmap.


def _equinox_block() -> Any:
    import equinox

    class Block(equinox.Module):
        attention: equinox.nn.MultiheadAttention
        mlp: equinox.nn.MLP
        norms: tuple[equinox.nn.LayerNorm, equinox.nn.LayerNorm]

        def __init__(self, size, key):
            first, second = jax.random.split(key)
            self.attention = equinox.nn.MultiheadAttention(8, size, key=first)
            self.mlp = equinox.nn.MLP(size, size, 4 * size, depth=1, activation=jax.nn.gelu, key=second)
            self.norms = equinox.nn.LayerNorm(size), equinox.nn.LayerNorm(size)

        def __call__(self, x):
            y = jax.vmap(self.norms[0])(x)
            x = x + self.attention(y, y, y)
            return x + jax.vmap(self.mlp)(jax.vmap(self.norms[1])(x))

    return equinox.filter_eval_shape(Block, 256, jax.random.key(0))


@_program
def equinox_forward():
    import equinox

    arrays, rest = equinox.partition(_equinox_block(), lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))

    def forward(arrays, x):
        return jax.vmap(equinox.combine(arrays, rest))(x)

    return forward, (arrays, _floats(8, 128, 256))


@_program
def equinox_train_step():
    import equinox
    import optax

    optimizer = optax.adam(1e-3)
    arrays, rest = equinox.partition(_equinox_block(), lambda leaf: isinstance(leaf, jax.ShapeDtypeStruct))

    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def step(arrays, state, x, y):
        def loss(arrays):
            return jnp.mean((jax.vmap(equinox.combine(arrays, rest))(x) - y) ** 2)

        value, grads = jax.value_and_grad(loss)(arrays)
        updates, state = optimizer.update(grads, state, arrays)
        return optax.apply_updates(arrays, updates), state, value

    sequences = _floats(8, 128, 256)
    return step, (arrays, jax.eval_shape(optimizer.init, arrays), sequences, sequences)
