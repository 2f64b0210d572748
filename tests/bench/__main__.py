"""Prints what jaxscope costs beside what JAX itself takes, and beside two peers on the same text.

Input: the transformer of the shared material at the depths given on the command line (12 when none is; ``--all`` adds
48, which compiles for minutes; ``--browser`` adds reading the recorded 48 layers in Chromium, alone when no layers are
given). Output: a table of ratios. ``python -m tests.bench [--all] [--browser] [layers …]``
"""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

LIMIT_SHARE = 0.03
LIMIT_SMALL_S = 0.050
LIMIT_IMPORT_S = 0.050


def main(arguments: list[str]) -> int:
    """Runs the benchmark; the exit status counts the limits that were missed."""
    layers = [int(argument) for argument in arguments if argument.isdigit()]
    if "--browser" in arguments and not layers and "--all" not in arguments:
        missed = bench_browser()
        print(f"\n{missed} limits missed" if missed else "\nall limits held")
        return missed
    layers = layers or [12]
    if "--all" in arguments:
        layers = sorted({*layers, 12, 48})
    missed = bench_import() + bench_small()
    for depth in layers:
        missed += bench_transformer(depth)
    if "--browser" in arguments:
        print()
        missed += bench_browser()
    print(f"\n{missed} limits missed" if missed else "\nall limits held")
    return missed


def bench_browser() -> int:
    """Reading in Chromium; see `tests.bench.browser`."""
    from tests.bench import browser

    return browser.main()


@contextmanager
def jax_seconds() -> Iterator[list[float]]:
    """Collects the seconds spent inside JAX's own trace, lower and compile calls, wherever they are made from."""
    import jax

    spent: list[float] = []
    patched = [(jax.stages.Traced, "lower"), (jax.stages.Lowered, "compile")]
    originals = [getattr(owner, name) for owner, name in patched]

    def timed(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            start = time.perf_counter()
            try:
                return original(*args, **kwargs)
            finally:
                spent.append(time.perf_counter() - start)

        return call

    for (owner, name), original in zip(patched, originals, strict=True):
        setattr(owner, name, timed(original))
    try:
        yield spent
    finally:
        for (owner, name), original in zip(patched, originals, strict=True):
            setattr(owner, name, original)


class TimedTrace:
    """A jitted function whose `.trace` is timed: that of PjitFunction itself cannot be patched."""

    def __init__(self, jitted: Any, spent: list[float]):
        self._jitted, self._spent = jitted, spent
        self._jit_info, self._fun = jitted._jit_info, jitted._fun

    def trace(self, *args: Any, **kwargs: Any) -> Any:
        """As the jitted function's own, timed."""
        start = time.perf_counter()
        try:
            return self._jitted.trace(*args, **kwargs)
        finally:
            self._spent.append(time.perf_counter() - start)

    lower = None


def inspect_timed(function: Any, args: Any) -> tuple[Any, float, float]:
    """The inspection, the seconds of the whole call, and those spent inside JAX."""
    import jaxscope

    with jax_seconds() as spent:
        start = time.perf_counter()
        inspection = jaxscope.inspect(TimedTrace(function, spent), *args)
        whole_s = time.perf_counter() - start
    return inspection, whole_s, sum(spent)


def bench_import() -> int:
    """`import jaxscope` beside `import jax`, in fresh interpreters, the better of five."""

    def seconds(statement: str) -> float:
        code = f"import time, jax; start = time.perf_counter(); {statement}; print(time.perf_counter() - start)"
        return min(
            float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
            for _ in range(5)
        )

    code = "import time; start = time.perf_counter(); import jax; print(time.perf_counter() - start)"
    jax_s = float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
    bare_s, whole_s = seconds("import jaxscope"), seconds("import jaxscope; jaxscope.show")
    print(f"import jax                              {jax_s * 1e3:9.1f} ms")
    print(f"import jaxscope adds                    {bare_s * 1e3:9.1f} ms   {bare_s / jax_s:8.2%} of it")
    print(f"import jaxscope; jaxscope.show adds     {whole_s * 1e3:9.1f} ms   {whole_s / jax_s:8.2%} of it")
    return report("import", bare_s, LIMIT_IMPORT_S)


def bench_small() -> int:
    """A small function, warm: what `inspect` adds to JAX's own three calls, median of nine."""
    import jax
    import jax.numpy as jnp

    print()
    added = []
    for number in range(10):
        _, whole_s, jax_s = inspect_timed(jax.jit(lambda x, number=number: jnp.sin(x) * number), ("f32[8]",))
        added.append(whole_s - jax_s)
    middle_s = sorted(added[1:])[4]
    print(f"small function: inspect adds            {middle_s * 1e3:9.1f} ms   (JAX itself {jax_s * 1e3:.1f} ms)")
    return report("small function", middle_s, LIMIT_SMALL_S)


def bench_transformer(layers: int) -> int:
    """The transformer: what `inspect` adds, what is put off until a tab is opened, and two peers."""
    import jax

    from tests.shared import SHARED

    print()
    if SHARED is None:
        print(f"transformer, {layers} layers: left out, the shared material is not beside the repository")
        return 0
    sys.path.insert(0, str(SHARED / "programs"))
    from transformer import step_and_args

    step, args = step_and_args(layers=layers)
    inspection, whole_s, jax_s = inspect_timed(jax.jit(step, donate_argnums=(0, 1)), args)
    title = f"transformer, {layers} layers"
    share = (whole_s - jax_s) / jax_s
    print(f"{title}: JAX's trace + lower + compile {jax_s:9.2f} s")
    print(f"  inspect adds                          {(whole_s - jax_s) * 1e3:9.1f} ms   {share:8.2%} of JAX's own")
    source = inspection._source
    put_off = {}
    for key in ("python", "jaxpr", "stablehlo", "hlo"):
        put_off[key] = timed(lambda key=key: source.text(key))
    put_off["signature"] = timed(lambda: inspection._facts.signature)
    put_off["XLA's figures"] = timed(lambda: (inspection._facts.memory, inspection._facts.cost))
    put_off["cost, memory"] = analysis_s = timed(lambda: analyse(inspection))
    put_off["tables"] = timed(lambda: source.view)
    for key in ("python", "jaxpr", "stablehlo", "hlo"):
        put_off[key] += timed(lambda key=key: source.listing(key))
    for key, seconds in put_off.items():
        print(f"  put off until opened: {key:<15} {seconds * 1e3:9.1f} ms   {seconds / jax_s:8.2%}")
    total_s = sum(put_off.values())
    print(f"  put off, all together                 {total_s * 1e3:9.1f} ms   {total_s / jax_s:8.2%}")
    bench_peers(inspection, put_off)
    return report(title, share, LIMIT_SHARE) + report(f"{title}, cost and memory", analysis_s / jax_s, LIMIT_SHARE)


def analyse(inspection: Any) -> None:
    """The whole analysis of cost and memory; texts were parsed and XLA was asked for its own figures before."""
    from jaxscope._analysis.roll_up import GROUPINGS

    facts = inspection._facts
    for key in ("stablehlo", "hlo"):
        facts.program_cost(key)
    for grouping in GROUPINGS:
        facts.roll_up("hlo").by(grouping)
    _ = (facts.roofline, facts.program_memory, facts.donations, facts.reconciliations)


def bench_peers(inspection: Any, put_off: dict[str, float]) -> None:
    """Pygments' HTML of the same HLO text, and JAX's own page for the jaxpr."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter

    from jaxscope.lexers import HloLexer

    text = inspection.hlo
    sample = text[:4_000_000]
    seconds = timed(lambda: highlight(sample, HloLexer(), HtmlFormatter())) * len(text) / len(sample)
    print(
        f"  peer: Pygments' HTML of the HLO       {seconds * 1e3:9.1f} ms   {seconds / put_off['hlo']:8.1f} times ours"
    )
    try:
        from jax._src.jaxpr_util import jaxpr_to_html
    except ImportError:
        print("  peer: jaxpr_to_html                   not in this JAX")
        return
    closed = inspection.traced.jaxpr
    seconds, ours = timed(lambda: jaxpr_to_html(closed.jaxpr)), put_off["python"] + put_off["jaxpr"]
    print(f"  peer: JAX's jaxpr_to_html             {seconds * 1e3:9.1f} ms   {seconds / ours:8.1f} times ours")


def timed(work: Callable[[], Any]) -> float:
    """The seconds that `work` takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def report(name: str, value: float, limit: float) -> int:
    """Says that a limit was missed; 1 when it was."""
    if value <= limit:
        return 0
    print(f"  MISSED: {name}: {value:.4f} is above {limit}")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
