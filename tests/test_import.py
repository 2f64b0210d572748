"""Importing jaxscope costs next to nothing and starts nothing."""

import subprocess
import sys


def run(code: str) -> str:
    """What a fresh interpreter prints for `code`."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


HEAVY = ("pandas", "anywidget", "ipywidgets", "IPython", "pygments")


def newly_imported(statement: str) -> set[str]:
    """The heavy packages that a statement imports and JAX itself has not."""
    code = (
        f"import sys, jax; before = set(sys.modules); {statement}; print(*(set({HEAVY!r}) & set(sys.modules) - before))"
    )
    return set(run(code).split())


def test_import_leaves_heavy_packages_alone():
    assert newly_imported("import jaxscope") == set()
    assert newly_imported("import jaxscope; jaxscope.show") <= {"pygments"}


def test_the_test_of_imports_can_fail():
    assert "pandas" in newly_imported("import pandas")


def test_import_starts_no_backend():
    code = "import jaxscope; from jax._src import xla_bridge; print(bool(xla_bridge._backends))"
    assert run(code).strip() == "False"


def test_the_backend_test_can_fail():
    code = "import jax; jax.devices(); from jax._src import xla_bridge; print(bool(xla_bridge._backends))"
    assert run(code).strip() == "True"


def test_lexers_import_without_jax():
    assert run("import sys, jaxscope.lexers; print('jax' in sys.modules)").strip() == "False"
