"""What compiling in the worker costs beside compiling in this process, for the transformer of the shared material.

Input: the number of layers. Output: for each target that can be compiled for here, the seconds of both ways, on the
clock and of the processors, the share that the worker adds once it runs, the bytes that travel, and whether the texts
are the same; the exit status of `main` counts the limits that were missed.
"""

import os
import sys
import time
from pathlib import Path
from typing import Any

TARGETS = ("cpu", "tpu:v5e:2x2", "cuda:h100")
ROUNDS = 2
LIMIT_SHARE = 0.10
LIMIT_START_S = 3.0


def main(layers: int) -> int:
    """Runs the benchmark for every target."""
    from jaxscope._targets import resolve_target

    missed = bench_start()
    for name in TARGETS:
        target = resolve_target(name)
        if target.kind == "lower-only":
            print(f"worker, {name}: left out. {target.reason}")
            continue
        missed += bench_target(name, target, layers)
    return missed


def bench_start() -> int:
    """From nothing to the first answer: starting Python, loading JAX, and the smallest program."""
    import jax

    from jaxscope._jax_worker import compile_in_worker
    from jaxscope._targets.model import TopologySpec
    from jaxscope._worker import shared_worker

    lowered = jax.jit(lambda x: x).lower(1.0)
    seconds = []
    for _ in range(3):
        shared_worker().close()
        start = time.perf_counter()
        compile_in_worker(lowered, TopologySpec("cpu", "host"))
        seconds.append(time.perf_counter() - start)
    print(f"worker: start to first answer           {min(seconds) * 1e3:9.1f} ms")
    return int(min(seconds) > LIMIT_START_S)


def bench_target(name: str, target: Any, layers: int) -> int:
    """Both ways in turn, the better of two, the worker already running."""
    from jaxscope._jax_worker import compile_in_worker
    from jaxscope._targets.model import TopologySpec

    topology = target.topology or TopologySpec("cpu", "host")
    here_s, there_s, here_cpu_s, there_cpu_s = [], [], [], []
    for _ in range(ROUNDS):
        lowered = lower(name, layers)
        start, cpu_start = time.perf_counter(), processor_s()
        own = lowered.compile()
        here_s.append(time.perf_counter() - start)
        here_cpu_s.append(processor_s() - cpu_start)
        start, cpu_start = time.perf_counter(), processor_s()
        product = compile_in_worker(lowered, topology)
        there_s.append(time.perf_counter() - start)
        there_cpu_s.append(processor_s() - cpu_start)
    share = min(there_s) / min(here_s) - 1
    around_s = there_s[-1] - product.seconds
    same = "the same text" if product.compiled.as_text() == own.as_text() else "ANOTHER TEXT"
    print(f"worker, {name}, {layers} layers: in process {min(here_s):6.2f} s, in the worker {min(there_s):6.2f} s")
    print(f"  of the processors                     {min(here_cpu_s):9.2f} s   and {min(there_cpu_s):.2f} s")
    print(f"  it adds                               {share:9.2%}   around the compiler {around_s * 1e3:.0f} ms, {same}")
    print(f"  sent, received                        {product.sent_bytes:,} B, {product.received_bytes:,} B")
    return int(share > LIMIT_SHARE and target.kind == "compile-only")


def processor_s() -> float:
    """Processor seconds of this process and of the worker, which say more than the clock on a machine with others."""
    from jaxscope._worker import shared_worker

    fields = Path(f"/proc/{shared_worker().pid}/stat").read_text().rpartition(")")[2].split()
    return time.process_time() + sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def lower(name: str, layers: int) -> Any:
    """The transformer's lowering, made anew, so that JAX has nothing of it in its caches."""
    import jax

    from tests.shared import SHARED

    sys.path.insert(0, str(SHARED / "programs"))
    from transformer import step_and_args

    step, args = step_and_args(layers=layers)
    jitted = jax.jit(lambda *given: step(*given))
    if name == "cpu":
        return jitted.lower(*args)
    from jaxscope._inputs import read_request
    from jaxscope._placement import place, place_request
    from jaxscope._stages import run_stages
    from jaxscope._targets import resolve_target

    target = resolve_target(name)
    placement = place(target)
    stages = run_stages(place_request(read_request(jitted, args, {}), placement), target, placement=placement)
    next(stages)
    return next(stages).product


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 12))
