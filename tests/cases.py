"""Runs one program behind a public bug report through jaxscope and says what came of it.

Input: a case file (its format is in the README beside the cases). Output: a dict of plain facts, printed as JSON by
``python -m tests.cases FILE``: cases that need an environment of their own, or that could take the process with them,
run that way.
"""

import contextlib
import importlib.util
import io
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

REPOSITORY = Path(__file__).parents[1]


def needs_own_process(source: str) -> bool:
    """Whether a case sets its environment, changes JAX's configuration, or can kill the process."""
    return any(mark in source for mark in ("\nenv =", "jax.config.update", "enable_x64", "kills_process_at"))


def load(path: Path) -> ModuleType:
    """The case as a module, its environment set before it imports JAX."""
    source = path.read_text()
    if "\nenv =" in source:
        namespace: dict[str, Any] = {}
        line = next(line for line in source.splitlines() if line.startswith("env ="))
        exec(line, namespace)
        os.environ.update(namespace["env"])
    spec = importlib.util.spec_from_file_location(f"case_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    with contextlib.redirect_stdout(io.StringIO()):
        spec.loader.exec_module(module)
    return module


def inspect_case(module: ModuleType, **options: Any) -> Any:
    """The inspection of a loaded case, made the way its own fields and the options ask for."""
    import jax

    import jaxscope

    function, args = module.fn, module.args
    kwargs = getattr(module, "kwargs", {})
    jit_kwargs = getattr(module, "jit_kwargs", {})
    compile_kwargs = getattr(module, "compile_kwargs", {})
    if jit_kwargs:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            function = jax.jit(function, **jit_kwargs)
    if platforms := getattr(module, "lowering_platforms", None):
        function = jax.jit(function).trace(*args, **kwargs).lower(lowering_platforms=platforms)
        args, kwargs = (), {}
    if compile_kwargs:
        options["compiler_options"] = compile_kwargs["compiler_options"]
    with contextlib.redirect_stdout(io.StringIO()):
        return jaxscope.inspect(function, *args, **options, **kwargs)


def examine(path: Path) -> dict[str, Any]:
    """What jaxscope makes of a case, and what JAX's own objects say to the same questions."""
    from jaxscope._view import build
    from jaxscope.lexers.grammar import restore, split_hidden, tokenize
    from tests.oracles import count_equations, count_instructions, count_operations

    build.CONTAIN_FAILURES = False
    module = load(path)
    inspection = inspect_case(module)
    source = inspection._source
    view = source.view
    facts: dict[str, Any] = {
        "title": view["title"],
        "notes": list(inspection.notes),
        "status": {key: stage.status for key, stage in inspection.stages.items()},
        "reason": {key: stage.reason for key, stage in inspection.stages.items()},
        "error": type(inspection.error).__name__ if inspection.error else None,
        "warnings": [text for stage in inspection.stages.values() for text in stage.warnings],
        "tabs": {tab["key"]: [tab["status"], tab["count"], tab["reason"]] for tab in view["tabs"]},
        "places": [place for tab in view["tabs"] if tab["failure"] for place in tab["failure"]["places"]],
        "counts": {},
        "oracle": {},
        "text": str(inspection),
        "signature": json.loads(inspection.signature.astype(str).to_json(orient="records")),
        "tables": {
            table["key"]: {
                "rows": [row["cells"] for row in table["rows"]],
                "notes": table["notes"],
                "summary": table["summary"],
            }
            for tab in view["tabs"]
            for table in tab["tables"]
        },
    }
    json.dumps(view)
    facts["failure"] = next((tab["failure"] for tab in view["tabs"] if tab["failure"]), None)
    facts["explained"] = {
        key: {
            "kind": explanation.kind,
            "found": explanation.found,
            "advice": explanation.advice,
            "places": [[Path(frame.file).name, frame.line] for frame in explanation.frames],
            "operands": [str(operand) for operand in explanation.operands],
            "mismatches": [[item.path, item.left, item.right] for item in explanation.mismatches],
        }
        for key, stage in inspection.stages.items()
        if stage.error is not None
        for explanation in [inspection._facts.explanation(key)]
    }
    facts["findings"] = [
        {
            "rule": finding.rule.key,
            "severity": finding.severity,
            "found": finding.observation.found,
            "line": finding.frame.line if finding.frame is not None else None,
        }
        for finding in inspection._facts.findings.found
    ]
    facts["broken"] = [broken.reason for broken in inspection._facts.findings.broken]
    facts["tab_notes"] = [note for tab in view["tabs"] for note in tab["notes"]]
    facts["listings"] = {}
    for key, count in (("jaxpr", count_equations), ("stablehlo", count_operations), ("hlo", count_instructions)):
        if key in inspection._facts.available_listings():
            product = {"jaxpr": "traced", "stablehlo": "lowered", "hlo": "compiled"}[key]
            facts["counts"][key] = len(inspection._facts.listing(key).listing.ops)
            facts["oracle"][key] = count(getattr(inspection, product))
            index = source.index(key)
            facts["lossless"] = facts.get("lossless", True) and all(
                restore(*split_hidden(index["dialect"], line)) == line
                and not any(kind == "error" for kind, _ in tokenize(index["dialect"], line))
                for line in set(source.text(key).split("\n"))
            )
            facts["listings"][key] = {
                "coverage": index["coverage"],
                "folds": [[fold[2], fold[3]] for fold in index["folds"]],
                "functions": index["functions"],
                "paths": index["paths"],
                "places": sorted({frame[2] for frame in index["frames"] if index["files"][frame[0]] == path.name}),
                "ops": [op.name for op in inspection._facts.listing(key).listing.ops],
            }
            json.dumps(index)
    facts["html"] = inspection._repr_mimebundle_()["text/html"]
    facts["python"] = source.text("python")
    if "X" in vars(module):
        facts["deleted"] = module.X.is_deleted()
    if "COUNT" in vars(module):
        facts["traced"] = len(module.COUNT)
    facts["calls"] = {label: judge(inspection, args, kwargs) for label, args, kwargs in getattr(module, "calls", [])}
    return facts


def judge(inspection: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    """What jaxscope says of a call, and whether the compiled function really takes it."""
    import jax
    import numpy as np

    rows = inspection.check(*args, **kwargs)
    with contextlib.suppress(Exception):
        # A donated buffer is gone after the call: hand over copies.
        args, kwargs = jax.tree.map(
            lambda leaf: leaf + 0 if isinstance(leaf, jax.Array | np.ndarray) else leaf, (args, kwargs)
        )
    try:
        inspection.compiled(*args, **kwargs)
        accepted = True
    except Exception:
        accepted = False
    keys = ("path", "compiled", "called", "differs", "verdict", "note", "advice")
    return {"rows": [{key: getattr(row, key) for key in keys} for row in rows.rows], "accepted": accepted}


def examine_apart(path: Path) -> dict[str, Any]:
    """As `examine`, in a process of its own.

    Raises:
        AssertionError: The process died or wrote no facts.
    """
    result = subprocess.run(
        [sys.executable, "-m", "tests.cases", str(path)], cwd=REPOSITORY, capture_output=True, text=True, timeout=120
    )
    assert result.returncode == 0, f"{path.name} ended with {result.returncode}:\n{result.stderr[-3000:]}"
    return json.loads(result.stdout.splitlines()[-1])


if __name__ == "__main__":
    print(json.dumps(examine(Path(sys.argv[1]))))
