"""Importing jaxscope costs next to nothing and starts nothing."""

import subprocess
import sys


def run(code: str) -> str:
    """What a fresh interpreter prints for `code`."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


HEAVY = ("pandas", "anywidget", "ipywidgets", "IPython", "pygments")


def test_import_leaves_heavy_packages_alone():
    # What JAX itself imports does not count.
    code = f"import sys, jax; before = set(sys.modules); import jaxscope; print([m for m in {HEAVY!r} if m in sys.modules and m not in before])"
    assert run(code).strip() == "[]"


def test_import_starts_no_backend():
    code = "import jaxscope; from jax._src import xla_bridge; print(bool(xla_bridge._backends))"
    assert run(code).strip() == "False"


def test_the_backend_test_can_fail():
    code = "import jax; jax.devices(); from jax._src import xla_bridge; print(bool(xla_bridge._backends))"
    assert run(code).strip() == "True"


def test_lexers_import_without_jax():
    assert run("import sys, jaxscope.lexers; print('jax' in sys.modules)").strip() == "False"
