"""Machines of a user's own file: listed, compiled for, and refused with the entry and the field that is wrong."""

import json
import math

import pytest

import jaxscope
from jaxscope._targets import resolve_target
from jaxscope.errors import InputError
from tests.plugins import CUDA
from tests.test_device_facts import ENTRIES

# The user's own file.

OWN = {
    "sources": {"sheet": {"title": "A datasheet", "url": "https://example.com/sheet"}},
    "targets": {
        "slice": {"label": "A slice", "platform": "tpu", "topology_name": "v5e", "dimensions": 2, "smallest": "2x2"},
        "half": {
            "label": "Half of a GPU <b>",
            "platform": "cuda",
            "topology_name": "half",
            "examples": ["1", "2"],
            "target_config": [
                {"source": "sheet", "fields": ENTRIES["cuda:h100"].target_config_fields},
                {"source": "sheet", "fields": {"gpu_device_info": {"core_count": 66}}},
            ],
            "facts": [{"source": "sheet", "memory_bytes": 40 * 2**30, "peak_flop_per_second": {"bf16": 5e14}}],
        },
    },
}


@pytest.fixture
def own_file(tmp_path):
    path = tmp_path / "machines.json"
    path.write_text(json.dumps(OWN))
    return path


def test_own_machines_are_listed_first_under_the_names_to_pass(own_file):
    targets = jaxscope.targets(own_file)
    names = [target.name for target in targets]
    assert names[:3] == [f"{own_file}#slice:2x2", f"{own_file}#half", f"{own_file}#half:2"]
    assert resolve_target(names[2]) == targets[names[2]]
    assert targets["half"].facts.memory_bytes.value == 40 * 2**30
    assert targets["cuda:h100"] == resolve_target("cuda:h100")
    assert resolve_target(f"{own_file}#slice:4x4").device_count == 16


def test_own_labels_are_text_in_the_table(own_file):
    html = jaxscope.targets(own_file)._repr_html_()
    assert "Half of a GPU &lt;b&gt;" in html and "GPU <b>" not in html


@CUDA
def test_own_gpus_are_compiled_for(own_file):
    inspection = jaxscope.inspect(lambda x: x @ x, "bf16[256,256]", target=f"{own_file}#half")
    assert inspection.stages["compile"].status == "done"
    assert "core_count: 66" in dict(resolve_target(f"{own_file}#half").topology.options)["target_config"]


def broken(change):
    document = json.loads(json.dumps(OWN))
    change(document)
    return json.dumps(document)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", ["no JSON", "catalogue.json"]),
        ("[]", ["no object 'targets'", "Write"]),
        (broken(lambda d: d["targets"].update(half=3)), ["target 'half'", "it is a int", "Write an object"]),
        (broken(lambda d: d["targets"]["half"].update(platform="gpu")), ["'half', field 'platform'", "tpu, cuda"]),
        (broken(lambda d: d["targets"]["half"].update(memory=3)), ["'half', field 'memory'", "no such field"]),
        (broken(lambda d: d["targets"]["half"].pop("label")), ["'half', field 'label'", "missing"]),
        (broken(lambda d: d["targets"]["slice"].update(dimensions="2")), ["'slice', field 'dimensions'", "'2'"]),
        (broken(lambda d: d["targets"]["slice"].update(dimensions=True)), ["'slice', field 'dimensions'", "True"]),
        (broken(lambda d: d["targets"]["half"].update(examples=[1])), ["'half', field 'examples'", "list of strings"]),
        (broken(lambda d: d["targets"]["half"].update(facts={})), ["'half', field 'facts'", "a list"]),
        (
            broken(lambda d: d["targets"]["half"]["facts"][0].update(source="?")),
            ["'half', field 'facts[0].source'", "'?' is not among", "names a document"],
        ),
        (
            broken(lambda d: d["targets"]["half"]["facts"][0].update(memory_bytes=-1)),
            ["'half', field 'facts[0].memory_bytes'", "-1", "positive number"],
        ),
        (
            broken(lambda d: d["targets"]["half"]["facts"][0].update(memory_bytes=math.inf)),
            ["'half', field 'facts[0].memory_bytes'", "inf"],
        ),
        (
            broken(lambda d: d["targets"]["half"]["facts"][0].update(memory_bytes=math.nan)),
            ["'half', field 'facts[0].memory_bytes'", "nan"],
        ),
        (
            broken(lambda d: d["targets"]["half"]["facts"][0].update(memory_gb=40)),
            ["'half', field 'facts[0].memory_gb'", "no such fact", "memory_bytes"],
        ),
        (
            broken(lambda d: d["targets"]["half"]["facts"][0]["peak_flop_per_second"].update(bf16="5e14")),
            ["'half', field 'facts[0].peak_flop_per_second.bf16'", "'5e14'"],
        ),
        (
            broken(lambda d: d["targets"]["half"]["target_config"][0].pop("fields")),
            ["'half', field 'target_config[0].fields'", "as an object"],
        ),
    ],
)
def test_a_bad_file_names_the_entry_and_the_field(tmp_path, text, words):
    path = tmp_path / "machines.json"
    path.write_text(text)
    with pytest.raises(InputError) as refused:
        jaxscope.targets(path)
    message = str(refused.value)
    assert message.startswith(f"Reading the targets in {path}") and message.endswith(".")
    assert all(word in message for word in words), message
