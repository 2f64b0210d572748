"""Records what XLA's dump says of one small program for an H100, for tests where there is no CUDA plugin.

Problem: PTX needs the plugin, and tests run without it. Input: the path of a target description in XLA's text format
(``gpu_target_config.pbtxt`` of any dump). Output: a folder of `DUMPS` named after JAX's version, with the program's
compiled HLO and the dump's LLVM IR, PTX and thunk tables. Run: ``python -m tests.record_dumps TARGET_CONFIG``.
"""

import sys
import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp

from jaxscope import _jax_dump
from jaxscope._dumps import read_texts

DUMPS = Path(__file__).parent / "dumps"
KEPT = ("*.ll", "*.ptx", "*thunk_metadata.txt", "*thunk_sequence.txt")


def program(x, weights):
    """A matrix product, a softmax, an index of a maximum, a slice that is only copied, a loop."""
    x = jnp.tanh(x @ weights)
    shares = jax.nn.softmax(x, axis=-1)
    rounds = jax.lax.fori_loop(0, 3, lambda i, y: y * 0.5 + i, x[0])
    return shares, jnp.argmax(x, axis=-1), x[:2], rounds


def record(target_config: str) -> Path:
    """Compiles and writes; the folder."""
    from jax.experimental import topologies

    topology = topologies.get_topology_desc(
        platform="cuda", topology_name="h100", target_config=target_config, topology="1x1x1"
    )
    sharding = jax.sharding.SingleDeviceSharding(topology.devices[0])
    matrix = jax.ShapeDtypeStruct((32, 32), jnp.float32, sharding=sharding)
    lowered = jax.jit(program).trace(matrix, matrix).lower()
    folder = DUMPS / f"cuda-{jax.__version__}"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        _jax_dump.compile_with_dump(lowered, None, scratch)
        for name, text in read_texts(scratch, KEPT).items():
            (folder / name.split(".", 2)[2]).write_text(text)
    here = str(Path(__file__).parents[1]) + "/"
    (folder / "compiled.hlo").write_text(lowered.compile().as_text().replace(here, ""))
    return folder


if __name__ == "__main__":
    print(record(Path(sys.argv[1]).read_text()))
