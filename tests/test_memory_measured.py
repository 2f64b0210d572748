"""What XLA plans on CPU against what a run really takes, measured by the kernel."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.measured_memory import ENVIRONMENT, RUNS

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="only Linux keeps the highest resident memory and forgets it"
)
# Pages that are half used, threads' stacks, what the allocator rounds up: of hundreds of megabytes.
SHARE = 0.01
# A product of matrices packs blocks of them into memory of the library's own.
PACKED_BYTES = {"differentiated": 16 << 20}


@pytest.mark.parametrize("name", RUNS)
def test_arguments_results_and_temporaries_are_what_a_run_takes(name):
    done = subprocess.run(
        [sys.executable, "-m", "tests.measured_memory", name],
        env={**os.environ, **ENVIRONMENT},
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    # Arrays, counted by JAX, to the byte: donated ones are gone, and a tuple of results has a table of pointers.
    assert found["taken"] == found["argument"]
    assert found["kept"] == found["argument"] - found["alias"]
    table = 8 * found["results"] if found["results"] > 1 else 0
    assert found["returned"] + table == found["output"]
    # Everything that the call adds to what was there before.
    planned = found["output"] + found["temp"] - found["alias"]
    assert found["risen"] >= planned * (1 - SHARE)
    assert found["risen"] <= planned * (1 + SHARE) + PACKED_BYTES.get(name, 0)
    # What is tolerated is far less than what is claimed.
    assert found["temp"] > 3 * (planned * SHARE + PACKED_BYTES.get(name, 0))
