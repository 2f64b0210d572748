"""Runs every notebook of the course and writes it back with its outputs, for readers without a kernel.

Input: the notebooks. Output: the same notebooks, executed. Widget models are left out: without their kernel they could
not be found, and a viewer then shows the static HTML beside them. ``python -m tests.notebooks``; needs nbclient.
"""

from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
WIDGET_MIME = "application/vnd.jupyter.widget-view+json"


def run_notebook(path: Path) -> None:
    """Executes one notebook in place."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}
    ).execute()
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(WIDGET_MIME, None)
    notebook.metadata["language_info"] = {"name": "python"}
    nbformat.write(notebook, path)


if __name__ == "__main__":
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        run_notebook(path)
        print(f"ran {path.name}")
