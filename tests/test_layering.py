"""The walls: imports point one way, private JAX lives in one file, and no two errors share a message."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "jaxscope"

# A module may import only from groups before its own, or from its own package.
ORDER = [
    {"__version__", "_collector", "errors", "lexers", "_ir.model", "_analysis.unavailable"},
    {"_targets.model", "_worker_messages"},
    {"_worker"},
    {"_jax", "_jax_topology"},
    {
        "_jax_types",
        "_jax_dump",
        "_jax_equations",
        "_jax_failures",
        "_jax_memory",
        "_jax_mlir",
        "_jax_worker",
    },
    {"_worker_main", "_truncations"},
    {"_specs"},
    {"_call_text"},
    {"_inputs"},
    {"_targets"},
    {"_placement"},
    {"_sources"},
    {"_failures"},
    {"_stages"},
    {"_dumps"},
    {"_ir"},
    {"_lower_level"},
    {"_links"},
    {"_analysis"},
    {"_view.format"},
    {"_findings"},
    {"_facts"},
    {"_programs"},
    {"_view"},
    {"_render"},
    {"_inspection", "_reference", "_target_list"},
    {"_api"},
    {""},
]
# What each of these may see of the project besides itself.
MODULES = sorted(path for path in PACKAGE.rglob("*.py"))


def rank(name: str) -> int:
    """The place of a dotted module name (without the package) in the order."""
    parts = name.split(".")
    for candidate in (".".join(parts[:2]), parts[0]):
        for number, group in enumerate(ORDER):
            if candidate in group:
                return number
    raise AssertionError(f"jaxscope.{name} has no place in ORDER; give it one")


def name_of(path: Path) -> str:
    parts = list(path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(part for part in parts if part != "__init__")


def imports(tree: ast.AST) -> Iterator[str]:
    """Every module that a source names in an import, absolute."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide which way they point"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_imports_point_one_way(path):
    own = name_of(path)
    for target in imports(ast.parse(path.read_text())):
        if not target.startswith("jaxscope") or own == "":
            continue
        other = target.removeprefix("jaxscope").lstrip(".") or "__version__"  # the bare package is only asked for that
        same_package = other.split(".")[0] == own.split(".")[0]
        assert same_package or rank(other) < rank(own), f"jaxscope.{own} imports {target}, which stands to its right"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_private_jax_lives_in_one_file(path):
    if name_of(path).startswith("_jax"):
        return
    for target in imports(ast.parse(path.read_text())):
        assert not target.startswith(("jax._src", "jaxlib")), f"{path.name} imports {target}; put it into _jax.py"


@pytest.mark.parametrize("package", ["_ir", "lexers"])
def test_parsers_do_not_know_jax(package):
    for path in (PACKAGE / package).glob("*.py"):
        for target in imports(ast.parse(path.read_text())):
            assert target.split(".")[0] not in ("jax", "jaxlib"), f"{path.name} imports {target}"


def test_renderers_know_the_view_only():
    allowed = ("jaxscope._view", "jaxscope._render", "jaxscope.lexers", "jaxscope.errors")
    for path in (PACKAGE / "_render").glob("*.py"):
        for target in imports(ast.parse(path.read_text())):
            if target.startswith("jaxscope"):
                assert target.startswith(allowed), f"{path.name} imports {target}"


def test_no_two_errors_share_a_message():
    seen: dict[str, str] = {}
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
                message = ast.unparse(node.exc.args[0])
                if "has no attribute" in message:
                    continue  # Python's own words for a module's missing name
                if message.startswith(("'", '"', "f'", 'f"')):
                    place = f"{path.name}:{node.lineno}"
                    assert message not in seen, f"{place} and {seen[message]} raise the same words"
                    seen[message] = place


def test_large_modules_give_a_reason():
    for path in MODULES:
        source = path.read_text()
        if source.count("\n") > 400:
            assert "lines because" in (ast.get_docstring(ast.parse(source)) or ""), (
                f"{path.name} has {source.count(chr(10))} lines: split it, or say in its docstring "
                "'over 400 lines because …'"
            )


def test_the_order_can_be_broken():
    """The rule above would notice: a parser importing the view is refused."""
    assert rank("_view.build") > rank("_ir.hlo")
    assert rank("_ir.model") < rank("_jax")
