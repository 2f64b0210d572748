"""Short names: different from each other wherever the compiler's are, never longer, always the same for a listing.

The names are applied by the browser's own code to all that real listings define and call, so that what is held is what
a reader sees.
"""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from jaxscope._ir import hlo, stablehlo
from jaxscope._view.names import _shortened, short_names
from tests.programs import stages
from tests.shared import ABSENT, SHARED, read_recorded, recorded_files

SCRIPT = """
import { readFileSync } from "node:fs";
import { shortName } from "./src/names.js";
const { short_names, names } = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(names.map((name) => shortName({ short_names }, name))));
"""
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="there is no node on the PATH")


def as_shown(shorter, names):
    done = subprocess.run(
        ["node", "--input-type=module", "-e", SCRIPT],
        cwd=Path(__file__).parents[1] / "js",
        input=json.dumps({"short_names": shorter, "names": names}),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return json.loads(done.stdout)


def names_of(listing):
    return sorted({name for op in listing.ops for name in op.results} | {block.name for block in listing.blocks})


def check(listing):
    shorter = short_names(listing)
    assert shorter == short_names(hlo.parse(listing.text))
    names = names_of(listing)
    shown = as_shown(shorter, names)
    assert len(set(shown)) == len(names)
    assert all(len(short) <= len(name) for short, name in zip(shown, names, strict=True))
    return sum(map(len, shown)) / sum(map(len, names))


@needs_node
@pytest.mark.parametrize("name", ["while_and_cond", "many_results", "gradient", "pooling", "sorting"])
def test_names_of_programs(name):
    check(hlo.parse(stages(name).compiled.as_text()))


@pytest.mark.slow
@needs_node
@pytest.mark.skipif(SHARED is None, reason=ABSENT)
@pytest.mark.parametrize("path", recorded_files("compiled*"), ids=lambda path: path.parent.name)
def test_names_of_recorded_listings(path):
    assert check(hlo.parse(read_recorded(path))) < 0.8


@pytest.mark.skipif(SHARED is None, reason=ABSENT)
def test_names_that_are_short_already_stay():
    (path, *_) = recorded_files("stablehlo.mlir*")
    assert short_names(stablehlo.parse(read_recorded(path))) == {}
    text = "HloModule m\n\nENTRY main {\n  ROOT constant.1 = f32[] constant(0)\n}\n"
    assert short_names(hlo.parse(text)) == {}
    assert short_names(hlo.parse(text.replace("constant.1", "%c.1").replace("main", "%main"))) == {}


def test_short_stems_can_be_read():
    stems = [
        "broadcast_multiply_fusion",
        "get-tuple-element",
        "constant",
        "param",
        "layers___10___down__",
        "add",
        "remat2",
    ]
    assert _shortened(stems) == {
        "broadcast_multiply_fusion": "bmf",
        "get-tuple-element": "gte",
        "constant": "con",
        "param": "par",
        "layers___10___down__": "l10d",
        "remat2": "r2",
    }


def test_stems_that_would_be_alike_stay_apart():
    assert _shortened(["add_fusion", "abs_fusion", "aft_fusion", "af", "afu"]) == {
        "abs_fusion": "afus",
        "add_fusion": "afusi",
        "aft_fusion": "afusio",
    }
    # Nothing shorter is left for the last two, and a word that another stem is may not be taken.
    stems = ["const", "con", "cons", "x_y", "xyz", "____y", "constt"]
    assert _shortened(stems) == {}
    assert _shortened(reversed(["multiply", "mul", "multi", "mult"])) == {"multiply": "multip"}
