"""A headless Chromium, exported pages in it, and a JupyterLab of its own.

Tests skip with a reason where a part is missing on the machine; with CI set in the environment they fail instead.
"""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.error import URLError

import pytest

from tests.chromium import FLAGS, find_chromium

ROOT = Path(__file__).resolve().parents[2]
AXE = ROOT / "js" / "node_modules" / "axe-core" / "axe.min.js"
SCREENSHOTS = Path(__file__).with_name("screenshots")
LAB_START_TIMEOUT_S = 90
WIDE, NARROW = {"width": 1240, "height": 800}, {"width": 520, "height": 1000}
# Scheme and viewport. Colours move nothing and widths change no colour, so that either is looked at once.
LOOKS = [pytest.param("light", WIDE, id="light-wide"), pytest.param("dark", NARROW, id="dark-narrow")]


def missing(reason: str) -> None:
    """Skips the test, or fails it where everything must be there."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(item.path).is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.ui)


@pytest.fixture(scope="session")
def browser() -> Iterator:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright is not installed")
    executable = find_chromium()
    if executable is None:
        missing("there is no chromium on the PATH")
    if not (ROOT / "jaxscope" / "static" / "widget.js").exists():
        missing("the browser bundle is not built: npm run build in js/")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture
def new_page(browser) -> Iterator[Callable]:
    """Opens a page: ``new_page(viewport=…, color_scheme=…)``. Script errors on it fail the test."""
    contexts = []
    errors: list[str] = []

    def open_page(**options):
        context = browser.new_context(**{"viewport": WIDE, **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.append(message.text) if "[jaxscope]" in message.text else None)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []


@pytest.fixture
def open_page(new_page, tmp_path) -> Callable:
    """Opens the text of an exported page: ``open_page(html, **options of the page)``."""

    def open_text(html: str, **options):
        path = tmp_path / "page.html"
        path.write_text(html, encoding="utf-8")
        page = new_page(**options)
        # A page may load itself and nothing else.
        page.requests = []
        page.on("request", lambda request: page.requests.append(request.url))
        page.on("dialog", lambda dialog: (page.requests.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.goto(path.as_uri())
        page.wait_for_selector(".jaxscope, noscript + p, table", state="attached")
        page.own_url = path.as_uri()
        return page

    return open_text


@pytest.fixture
def open_source(open_page) -> Callable:
    """Exports a source as a page and opens it: ``open_source(sample.attention(), **options of the page)``."""
    from jaxscope._render.html import render_page

    return lambda source, **options: open_page(render_page(source), **options)


@pytest.fixture
def picture(request) -> Callable:
    """Takes a picture of a page or a part of it, to be looked at: ``picture(page, "cost-light")``.

    Drawing costs about as much as all else that these tests do: without ``--pictures`` there are none.
    """
    if not request.config.getoption("--pictures"):
        return lambda shown, name, **options: None

    def take(shown, name: str, **options) -> None:
        # Whatever the last action started has been drawn.
        shown.page.wait_for_timeout(100) if hasattr(shown, "page") else shown.wait_for_timeout(100)
        shown.screenshot(path=SCREENSHOTS / f"{name}.png", **options)

    SCREENSHOTS.mkdir(exist_ok=True)
    return take


@pytest.fixture(scope="session")
def axe() -> str:
    """The program of axe-core, as text to run in a page."""
    if not AXE.exists():
        missing("axe-core is not installed: npm ci in js/")
    return AXE.read_text(encoding="utf-8")


class Lab:
    """A running JupyterLab and the folder that it serves."""

    def __init__(self, url: str, root: Path):
        self.url = url
        self.root = root
        self._count = 0

    def write(self, cells: list[str], name: str = "") -> str:
        """Writes a notebook of code cells; its name."""
        self._count += 1
        name = name or f"notebook_{self._count}.ipynb"
        notebook = {
            "nbformat": 4,
            "nbformat_minor": 5,
            "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
            "cells": [
                {
                    "cell_type": "code",
                    "id": f"cell{at}",
                    "metadata": {},
                    "outputs": [],
                    "execution_count": None,
                    "source": source,
                }
                for at, source in enumerate(cells)
            ],
        }
        (self.root / name).write_text(json.dumps(notebook), encoding="utf-8")
        return name

    def open(self, page, cells: list[str]) -> None:
        """Opens a new notebook with these cells on the page and waits until its kernel is there; nothing runs yet."""
        page.goto(f"{self.url}/doc/tree/{self.write(cells)}")
        page.wait_for_function(
            "() => window.jupyterapp?.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'",
            timeout=60_000,
        )

    def run_all(self, page, timeout_s: float = 60) -> None:
        """Runs all cells and waits until the last has ended."""
        self.command(page, "notebook:run-all-cells")
        page.wait_for_function(
            "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'idle'",
            timeout=timeout_s * 1000,
        )

    def command(self, page, name: str, arguments: dict | None = None) -> None:
        """Runs one of JupyterLab's commands and waits for its end."""
        page.evaluate(
            "([name, args]) => window.jupyterapp.commands.execute(name, args).then(() => {})", [name, arguments or {}]
        )

    def run(self, page, cells: list[str], timeout_s: float = 60):
        """Opens a new notebook with these cells on the page and runs them; the page."""
        self.open(page, cells)
        self.run_all(page, timeout_s)
        return page

    def outputs(self, page) -> list[str]:
        """The text of each cell's output area, "" for none."""
        return page.evaluate(
            "() => [...document.querySelectorAll('.jp-Notebook .jp-CodeCell')]"
            ".map((cell) => cell.querySelector('.jp-OutputArea')?.innerText ?? '')"
        )

    def evaluate(self, page, code: str) -> str:
        """What the notebook's kernel prints for this code, run beside the cells."""
        return page.evaluate(
            """async (code) => {
              const { kernel } = window.jupyterapp.shell.currentWidget.sessionContext.session;
              const future = kernel.requestExecute({ code, store_history: false });
              let text = '';
              future.onIOPub = ({ header, content }) => {
                if (header.msg_type === 'stream') text += content.text;
                if (header.msg_type === 'error') text += content.traceback.join('\\n');
              };
              await future.done;
              return text.trim();
            }""",
            code,
        )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="session")
def lab(tmp_path_factory) -> Iterator[Lab]:
    """One JupyterLab for the session, in folders of its own, with this checkout importable in its kernels."""
    try:
        import jupyterlab  # noqa: F401
    except ImportError:
        missing("jupyterlab is not installed")
    home = tmp_path_factory.mktemp("lab")
    root = home / "notebooks"
    root.mkdir()
    notification = home / "settings" / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
    notification.parent.mkdir(parents=True)
    notification.write_text(json.dumps({"fetchNews": "false", "checkForUpdates": False}), encoding="utf-8")
    port = _free_port()
    environment = {
        **os.environ,
        "HOME": str(home),
        "IPYTHONDIR": str(home / "ipython"),
        "JAX_PLATFORMS": "cpu",
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTER_PREFER_ENV_PATH": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1"),
        *(f"--ServerApp.port={port}", "--ServerApp.port_retries=0", f"--ServerApp.root_dir={root}"),
        *("--IdentityProvider.token=", "--ServerApp.password=", "--ServerApp.terminals_enabled=False"),
        *("--LabApp.expose_app_in_browser=True", "--LabApp.extension_manager=readonly", "--LabApp.news_url="),
        "--LabApp.check_for_updates_class=jupyterlab.handlers.announcements.NeverCheckForUpdate",
    ]
    url = f"http://127.0.0.1:{port}"
    with (home / "lab.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=root, env=environment, stdout=log, stderr=subprocess.STDOUT)
        try:
            _wait_for(url, process, home / "lab.log")
            yield Lab(url, root)
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait_for(url: str, process: subprocess.Popen, log: Path) -> None:
    end_s = time.monotonic() + LAB_START_TIMEOUT_S
    while time.monotonic() < end_s and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{url}/api", timeout=5):
                return
        except (URLError, OSError):
            time.sleep(0.3)
    missing(f"JupyterLab did not start; its log ends with:\n{log.read_text(errors='replace')[-2000:]}")
