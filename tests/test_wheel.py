"""What is installed is whole: the wheel, built from a copy of the tree, works on its own and holds nothing else."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
# The public lexers by the alias that Pygments, and with it Jupyter and Sphinx, knows them by.
ALIASES = {"jaxpr": "JaxprLexer", "stablehlo": "StablehloLexer", "hlo": "HloLexer"}

pytestmark = pytest.mark.packaging


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of this checkout, built where nothing but the copied files is."""
    folder = tmp_path_factory.mktemp("build")
    tree = folder / "tree"
    # copytree keeps the times of files, by which the build hook tells whether the bundle is older than its sources.
    shutil.copytree(
        REPOSITORY,
        tree,
        ignore=shutil.ignore_patterns(
            ".git", ".venv", "node_modules", "__pycache__", "dist", ".*_cache", "screenshots"
        ),
    )
    if (installed := REPOSITORY / "js" / "node_modules").is_dir():
        # A bundle that is stale is built again; and what must not be packed is there to be packed.
        (tree / "js" / "node_modules").symlink_to(installed)
    if importlib.util.find_spec("build") is not None:
        command = ["-m", "build", "--wheel", "--outdir", str(folder), str(tree)]
    else:
        command = ["-m", "pip", "wheel", "--no-deps", "--wheel-dir", str(folder), str(tree)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-4000:]
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """A folder into which the wheel, and nothing it depends on, is installed."""
    folder = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", folder, wheel]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    return folder


def run(installed, source):
    """What a program prints that sees the installed copy and not the checkout."""
    environment = {**os.environ, "PYTHONPATH": str(installed), "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-c", source]
    done = subprocess.run(
        command, cwd=installed, env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_every_module_and_data_file_is_in_the_wheel(wheel):
    with zipfile.ZipFile(wheel) as archive:
        sizes = {item.filename: item.file_size for item in archive.infolist()}
    package = REPOSITORY / "jaxscope"
    sources = {path.relative_to(REPOSITORY).as_posix() for path in package.rglob("*.py")}
    assert sources <= set(sizes)
    assert sizes["jaxscope/static/widget.js"] > 10_000
    assert sizes["jaxscope/lexers/grammar.json"] == (package / "lexers" / "grammar.json").stat().st_size
    assert "jaxscope/py.typed" in sizes


def test_nothing_else_is_in_the_wheel(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"jaxscope"}
    assert not [name for name in names if "node_modules" in name or "tests/" in name or name.endswith((".ts", ".map"))]
    assert {Path(name).suffix for name in names if ".dist-info/" not in name} == {".py", ".json", ".js", ".typed"}
    assert any(name.endswith("LICENSE") for name in names)


def test_the_metadata_names_python_and_every_dependency(wheel):
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = archive.read(name).decode().split("\n")
    needed = {line.removeprefix("Requires-Dist: ") for line in metadata if line.startswith("Requires-Dist: ")}
    unconditional = {line for line in needed if "extra ==" not in line}
    assert {line.split(">")[0] for line in unconditional} == {"jax", "anywidget", "ipywidgets", "pygments", "pandas"}
    assert "Requires-Python: >=3.11" in metadata


def test_the_installed_copy_works(installed, tmp_path):
    page = tmp_path / "page.html"
    facts = run(
        installed,
        "import json, jaxscope\n"
        "inspection = jaxscope.inspect(lambda x: x * 2, 'f32[3]')\n"
        f"path = inspection.to_html({str(page)!r})\n"
        "print(json.dumps([jaxscope.__file__, inspection.error is None, str(path)]))",
    )
    assert Path(facts[0]).is_relative_to(installed) and facts[1:] == [True, str(page)]
    bundle = (installed / "jaxscope" / "static" / "widget.js").read_text()
    assert bundle[:500] in page.read_text()


def test_pygments_finds_the_lexers_by_their_alias(installed):
    source = (
        "import json, sys\n"
        "from pygments.lexers import get_lexer_by_name\n"
        f"found = {{alias: get_lexer_by_name(alias) for alias in {list(ALIASES)}}}\n"
        "print(json.dumps([{alias: type(lexer).__name__ for alias, lexer in found.items()},"
        " sys.modules['jaxscope'].__file__, 'jax' in sys.modules]))"
    )
    names, file, jax_was_loaded = run(installed, source)
    assert names == ALIASES and Path(file).is_relative_to(installed)
    assert not jax_was_loaded
