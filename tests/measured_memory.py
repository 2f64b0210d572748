"""What a program really allocates on this machine's CPU: run in a process of its own, which prints it as JSON.

Problem: XLA's memory figures are a plan, and only a run shows whether they are kept. Input: the name of one of
`RUNS`. Output: bytes of the arguments' and results' arrays, and how far the process's resident memory rose above its
level before the call, which the kernel keeps as VmHWM and forgets on a write to ``/proc/self/clear_refs``.
https://www.kernel.org/doc/html/latest/filesystems/proc.html

Buffers are large, so that what libraries take on the side is little, and glibc is told to give every large buffer back
at once: run with the environment `ENVIRONMENT`.
"""

import gc
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

# https://man7.org/linux/man-pages/man3/mallopt.3.html
ENVIRONMENT = {"MALLOC_MMAP_THRESHOLD_": "65536", "JAX_PLATFORMS": "cpu"}
MILLION = 1 << 20


def stacked(x):
    """A loop that keeps what it computes: a large result, a small temporary."""
    return jax.lax.scan(lambda carry, _: (jnp.sin(carry) * 1.5,) * 2, x, None, length=8)


def differentiated(x, weights):
    """A gradient: temporaries larger than the result."""
    return jax.grad(lambda w: jnp.sum(jnp.tanh(jnp.tanh(x @ w) @ w.T) ** 2))(weights)


def donated(parameters, gradient):
    """An update in place, with a sorted copy as temporary."""
    ranked = jnp.sort(gradient, axis=1)
    return parameters - 0.1 * jax.lax.rev(ranked, (0,)), jnp.max(ranked[:, ::7], axis=0)


# The function, the shapes of its arguments, which of them are donated.
RUNS: dict[str, tuple[Callable[..., Any], Callable[[int], tuple[tuple[int, ...], ...]], tuple[int, ...]]] = {
    "stacked": (stacked, lambda size: ((16 * size,),), ()),
    "differentiated": (differentiated, lambda size: ((size // 32, 1024), (1024, 1024)), ()),
    "donated": (donated, lambda size: ((size // 64, 2048), (size // 64, 2048)), (0,)),
}


def resident_bytes(field: str) -> int:
    """``VmRSS``, what is resident now, or ``VmHWM``, the most since it was last forgotten."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) * 1024
    raise LookupError(field)


def settled_bytes() -> int:
    """What is resident once nothing more is given back: the runtime frees in threads of its own."""
    gc.collect()
    levels = [resident_bytes("VmRSS")]
    while len(levels) < 100 and (len(levels) < 8 or len(set(levels[-8:])) > 1):
        time.sleep(0.05)
        levels.append(resident_bytes("VmRSS"))
    return levels[-1]


def measure(name: str) -> dict[str, int]:
    """Compiles one of `RUNS`, runs it small so that libraries and threads are there, then large, and measures."""
    function, shapes, donate = RUNS[name]
    for size in (MILLION // 64, MILLION):
        results = None
        arguments = jax.block_until_ready([jnp.ones(shape) for shape in shapes(size)])
        compiled = jax.jit(function, donate_argnums=donate).lower(*arguments).compile()
        taken = sum(argument.nbytes for argument in arguments)
        before = settled_bytes()
        Path("/proc/self/clear_refs").write_text("5")
        results = jax.block_until_ready(compiled(*arguments))
        risen = resident_bytes("VmHWM") - before
    leaves = jax.tree.leaves(results)
    analysis = compiled.memory_analysis()
    return {
        "taken": taken,
        "kept": sum(argument.nbytes for argument in arguments if not argument.is_deleted()),
        "returned": sum(result.nbytes for result in leaves),
        "results": len(leaves),
        "risen": risen,
        **{part: getattr(analysis, f"{part}_size_in_bytes") for part in ("argument", "output", "temp", "alias")},
    }


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))
