"""Prints how recorded compilations behave in headless Chromium, beside two peers on the same text.

Input: recorded compiler output of the shared material, the bundle, a Chromium. Output: a table of figures and the
number of limits that were missed; each part is in a module of its own.
"""

import tempfile
from pathlib import Path

from tests.bench.many import bench_many
from tests.bench.memory_view import bench_memory_view
from tests.bench.peers import bench_peers
from tests.bench.reading import bench_reading
from tests.chromium import find_chromium
from tests.shared import SHARED


def main() -> int:
    """Runs the benchmark; the number of limits that were missed, or 0 with a sentence where a part is not there."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        print("browser: left out, playwright is not installed")
        return 0
    if find_chromium() is None or SHARED is None:
        print("browser: left out, there is no chromium or no shared material beside the repository")
        return 0
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        missed = 0
        for bench in (bench_reading, bench_many, bench_memory_view, bench_peers):
            missed += bench(playwright, Path(folder))
        return missed
