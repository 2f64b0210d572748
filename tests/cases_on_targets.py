"""Runs many programs behind public bug reports for machines that are not there, in one process.

Input: case files, each with the names of its targets. Output: plain facts of what came of each, one line of JSON for
each; before it, a line that says which is next, so that a process that dies or hangs says over what. ``python -m
tests.cases_on_targets FILE=TARGET,TARGET ...``. A case that sets its environment, or may kill its process, shares it
with none that does not: `examine_all` sees to that.
"""

import collections
import contextlib
import json
import re
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.cases import REPOSITORY, inspect_case, load

# For one program in the worker, and for a whole process with all cases, on a machine that is very busy.
_TIME_LIMIT_S = 300.0
_PROCESS_LIMIT_S = 1800.0
# custom_call_target="__cublas$gemm"
_CUSTOM_CALL = re.compile(r'custom_call_target="([^"]*)"')

Facts = dict[str, Any]
Key = tuple[str, str]


def examine(path: Path, target: str) -> Facts:
    """What jaxscope makes of a case for a target; ``outcome`` says which of the other facts are there."""
    from jaxscope._view import build
    from jaxscope.errors import InputError

    build.CONTAIN_FAILURES = False
    with _restored_configuration():
        try:
            module = load(path)
        except ModuleNotFoundError as error:
            return {"outcome": "missing", "module": error.name}
        try:
            inspection = inspect_case(module, target=target, time_limit_s=_TIME_LIMIT_S)
        except InputError as refusal:
            return {"outcome": "refused", "reason": str(refusal)}
        view = inspection._source.view
        json.dumps(view)
        facts = {
            "outcome": next((key for key, stage in inspection.stages.items() if stage.status == "failed"), "done"),
            "label": view["targets"][0]["label"],
            "failure": next((tab["failure"] for tab in view["tabs"] if tab["failure"]), None),
            "reports": target in str(inspection) or view["targets"][0]["label"] in str(inspection),
        }
        compiled = inspection.stages["compile"]
        if compiled.status == "unavailable":
            return {**facts, "outcome": "unavailable", "reason": compiled.reason}
        return facts | _of_program(inspection) if compiled.status == "done" else facts


def _of_program(inspection: Any) -> Facts:
    """What the compiled program says of itself, by JAX's objects and by its text."""
    import jax

    from jaxscope.lexers.grammar import restore, split_hidden, tokenize
    from tests.oracles import count_instructions

    compiled, hlo = inspection.compiled, inspection.hlo
    shardings = jax.tree.leaves((compiled.input_shardings, compiled.output_shardings))
    return {
        "devices": sorted(
            {f"{device.platform} {device.device_kind}" for each in shardings for device in each.device_set}
        ),
        "client": compiled.runtime_executable().client.platform,
        "head": hlo.partition("\n")[0],
        "has_tiles": ":T(" in hlo,
        "custom_calls": sorted(set(_CUSTOM_CALL.findall(hlo))),
        "collectives": inspection.collectives.collective.tolist(),
        "counted": len(inspection._facts.listing("hlo").listing.ops),
        "instructions": count_instructions(compiled),
        "lossless": all(
            restore(*split_hidden("hlo", line)) == line
            and not any(kind == "error" for kind, _ in tokenize("hlo", line))
            for line in set(hlo.split("\n"))
        ),
    }


@contextlib.contextmanager
def _restored_configuration() -> Iterator[None]:
    """Takes back what a case changes in JAX's configuration."""
    import jax

    before = dict(jax.config.values)
    try:
        yield
    finally:
        for name, value in before.items():
            if jax.config.values[name] is not value:
                jax.config.update(name, value)


def examine_all(jobs: Mapping[Path, Sequence[str]]) -> dict[Key, Facts]:
    """The facts of every case for each of its targets, by the case's number and the target's name.

    The outcome is ``died`` for the case that a process died or took too long over, and ``not run`` for those after it.
    """
    groups: dict[str, list[Path]] = collections.defaultdict(list)
    for path in jobs:
        groups[_process_of(path)].append(path)
    found: dict[Key, Facts] = {}
    for paths in groups.values():
        found |= _examine_group({path: jobs[path] for path in paths})
    return found


def _process_of(path: Path) -> str:
    """What a case must have in common with those that it shares a process with."""
    source = path.read_text()
    if "kills_process_at" in source:
        return path.name
    return next((line for line in source.splitlines() if line.startswith("env =")), "")


def _examine_group(jobs: Mapping[Path, Sequence[str]]) -> dict[Key, Facts]:
    command = [sys.executable, "-m", "tests.cases_on_targets"]
    command += [f"{path}={','.join(targets)}" for path, targets in jobs.items()]
    try:
        done = subprocess.run(
            command, cwd=REPOSITORY, capture_output=True, text=True, timeout=_PROCESS_LIMIT_S, check=False
        )
        output, end = done.stdout, f"its process ended with {done.returncode}:\n{done.stderr[-3000:]}"
    except subprocess.TimeoutExpired as expired:
        output = (expired.stdout or b"").decode()
        end = f"its process was ended after {_PROCESS_LIMIT_S:g} s"
    found: dict[Key, Facts] = {}
    last = None
    for line in output.splitlines():
        with contextlib.suppress(json.JSONDecodeError):
            record = json.loads(line)
            last = (record["case"], record["target"])
            found[last] = record.get("facts") or {"outcome": "died", "reason": end}
    for path, targets in jobs.items():
        for target in targets:
            found.setdefault(_key(path, target), {"outcome": "not run", "reason": f"{last} came before it, and {end}"})
    return found


def _key(path: Path, target: str) -> Key:
    return path.name[:3], target


def main(arguments: Sequence[str]) -> None:
    """Examines the cases that are named, and prints the facts."""
    warnings.simplefilter("ignore")
    for argument in arguments:
        path, _, targets = argument.rpartition("=")
        for target in targets.split(","):
            case, _ = _key(Path(path), target)
            record: Facts = {"case": case, "target": target}
            print("\n" + json.dumps(record), flush=True)
            start = time.perf_counter()
            try:
                facts = examine(Path(path), target)
            except Exception:  # jaxscope's own, or a defect of these tests: it is one case's, and must be seen.
                facts = {"outcome": "crashed", "reason": traceback.format_exc()}
            facts["seconds"] = time.perf_counter() - start
            print("\n" + json.dumps({**record, "facts": facts}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
