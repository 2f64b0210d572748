"""Machines by name: what each name means, what is published of it, and what the list says, with the real plugins."""

import contextlib
import dataclasses
import importlib.util
import json
import math
import os
import pickle
import re
import subprocess
import sys
import threading
from pathlib import Path

import equinox
import jax
import jax.numpy as jnp
import pytest

import jaxscope
from jaxscope import _jax_topology
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._targets import DeviceFacts, Figure, Target, TopologySpec, resolve_target
from jaxscope._targets.catalogue import built_in_entries, text_proto
from jaxscope.errors import InputError, UnavailableError
from tests.plugins import CUDA, TPU

ENTRIES = built_in_entries()
TPUS = [name for name in ENTRIES if name.startswith("tpu:")]
GPUS = [name for name in ENTRIES if name.startswith("cuda:")]
FIGURES = [field.name for field in dataclasses.fields(DeviceFacts) if field.name != "peak_flop_per_second"]


def facts_of(name):
    return ENTRIES[name].facts


def figures(facts):
    yield from (value for name in FIGURES if isinstance(value := getattr(facts, name), Figure))
    yield from facts.peak_flop_per_second.values()


def run_python(code, **environment):
    """What a fresh process prints, and what reaches its standard error."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**os.environ, "JAX_PLATFORMS": "cpu", **environment},
        capture_output=True,
        text=True,
        timeout=300,
        cwd=Path(__file__).parents[1],
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


# Names.


@pytest.mark.parametrize(
    ("name", "topology", "devices"),
    [
        ("tpu:v5e", "v5e:2x2", 4),
        ("tpu:v5e:1x1", "v5e:1x1", 1),
        ("tpu:v5e:16x16", "v5e:16x16", 256),
        ("tpu:v4", "v4:2x2x1", 4),
        ("tpu:v5p:8x8x8", "v5p:8x8x8", 512),
        ("tpu:7x", "tpu7x:2x2x1", 8),
        ("cuda:h100", "h100", 1),
        ("cuda:h100:8", "h100", 8),
        ("cuda:a100-40gb:2x8", "a100-40gb", 16),
    ],
)
def test_names_mean_machines(name, topology, devices):
    target = resolve_target(name)
    assert (target.topology.topology_name, target.device_count) == (topology, devices)
    assert target.platform == name.split(":")[0] and not target.attached


def test_sizes_are_written_out_so_that_a_name_says_what_it_means():
    assert resolve_target("tpu:v5e").name == "tpu:v5e:2x2"
    assert resolve_target("cuda:h100:1").name == "cuda:h100"
    assert dict(resolve_target("cuda:h100:2x8").topology.options)["topology"] == "2x1x8"


@pytest.mark.parametrize(
    ("name", "found", "advice"),
    [
        ("tpu:v5", "no machine of that name", "tpu:v5e"),
        ("cuda:h10", "no machine of that name", "cuda:h100"),
        ("tpu:v5e:2x2x2", "'2x2x2' is no size", "tpu:v5e:2x2"),
        ("tpu:v5p:8x8", "'8x8' is no size", "3 dimensions"),
        ("tpu:v5e:0x2", "'0x2' is no size", "2 dimensions"),
        ("tpu:v5e:", "'' is no size", "2 dimensions"),
        ("cuda:h100:many", "'many' is no size", "number of GPUs"),
        ("cuda:h100:1x2x3", "'1x2x3' is no size", "nodes times GPUs"),
        ("cuda:h100:-1", "'-1' is no size", "number of GPUs"),
        ("nowhere.json#mine", "FileNotFoundError", "JSON file"),
        ("nonesuch", "no such backend is attached (attached: cpu)", "jaxscope.targets()"),
    ],
)
def test_other_names_are_refused(name, found, advice):
    with pytest.raises(InputError) as refused:
        resolve_target(name)
    message = str(refused.value)
    assert message.startswith(("Choosing the target", "Reading the targets")) and found in message and advice in message


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="an accelerator is attached")
@pytest.mark.parametrize("name", ["gpu", "tpu"])
def test_a_platform_that_is_not_attached_names_one_that_need_not_be(name):
    with pytest.raises(InputError, match=r'target="(cuda:h100|tpu:v5e:2x2)" compiles for one that is not here'):
        resolve_target(name)


def test_attached_targets_are_as_they_were():
    assert resolve_target() == resolve_target("cpu")
    device = jax.devices("cpu")[0]
    target = resolve_target(device)
    assert (target.name, target.platform, target.device, target.kind) == ("cpu", "cpu", device, "attached")
    assert resolve_target(target) is target


@pytest.mark.parametrize("name", [*TPUS, *GPUS])
def test_a_topology_can_be_sent_to_another_process(name):
    topology = resolve_target(name).topology
    copy = pickle.loads(pickle.dumps(topology))
    assert copy == topology and hash(copy) == hash(topology)


# What the plugins make of the names.

PLUGIN_CASES = [
    pytest.param(f"{name}:{size}" if size else name, marks=TPU if name.startswith("tpu") else CUDA)
    for name, entry in ENTRIES.items()
    if entry.platform != "rocm"
    for size in entry.examples
]


@pytest.mark.parametrize("name", PLUGIN_CASES)
def test_the_plugin_describes_the_machine_that_the_catalogue_describes(name):
    target = resolve_target(name)
    try:
        devices = _jax_topology.topology_devices(target.topology)
    except InputError as error:
        if "Invalid TPU external name" in str(error):
            pytest.skip(f"this libtpu is older than the machine: {error}")
        raise
    assert len(devices) == target.device_count
    assert {device.device_kind for device in devices} == {target.device_kind}
    assert _jax_topology.topology_devices(target.topology) is devices, "one description per process"


@CUDA
def test_nodes_are_processes():
    devices = _jax_topology.topology_devices(resolve_target("cuda:h100:2x8").topology)
    assert [sum(device.process_index == node for device in devices) for node in (0, 1)] == [8, 8]


@TPU
def test_what_the_compiler_refuses_is_told_in_its_words():
    with pytest.raises(InputError, match=r"Describing the machine 'v5e:3x3'.*not divisible.*Choose another"):
        _jax_topology.topology_devices(resolve_target("tpu:v5e:3x3").topology)


@TPU
def test_a_device_that_is_not_there_is_named_instead():
    device = jaxscope.targets().devices("tpu:v5e:2x2")[0]
    with pytest.raises(InputError, match="only its name says which"):
        resolve_target(device)


# Published figures.


@pytest.mark.parametrize("name", [*TPUS, *GPUS])
def test_every_figure_has_its_document(name):
    found = list(figures(facts_of(name)))
    assert len(found) >= 4
    for figure in found:
        assert figure.source.title and re.fullmatch(r"https://[a-z0-9.-]+/\S+", figure.source.url)


@pytest.mark.parametrize("name", [*TPUS, *GPUS])
def test_figures_are_in_their_units(name):
    facts = facts_of(name)
    assert 8 * 2**30 <= facts.memory_bytes.value < 2**40
    assert 1e11 <= facts.memory_bandwidth_bytes_per_second.value < 1e14
    peaks = {dtype: figure.value for dtype, figure in facts.peak_flop_per_second.items()}
    assert all(1e12 < value < 1e17 for value in peaks.values())
    order = [peaks[dtype] for dtype in ("f64", "f32", "tf32", "f16", "f8", "f4") if dtype in peaks]
    assert order == sorted(order), "narrower types are not slower"
    if isinstance(facts.interconnect_bandwidth_bytes_per_second, Figure):
        assert facts.interconnect_bandwidth_bytes_per_second.value < facts.memory_bandwidth_bytes_per_second.value
    assert 2**20 < facts.on_chip_memory_bytes.value < facts.memory_bytes.value / 50


@pytest.mark.parametrize("name", GPUS)
def test_the_configuration_for_the_compiler_agrees_with_the_datasheet(name):
    info, facts = ENTRIES[name].target_config_fields["gpu_device_info"], facts_of(name)
    # Drivers keep a few per cent of the memory for themselves.
    assert 0.95 < info["device_memory_size"] / facts.memory_bytes.value <= 1
    assert info["memory_bandwidth"] == pytest.approx(facts.memory_bandwidth_bytes_per_second.value, rel=0.01)
    assert info["l2_cache_size"] == facts.on_chip_memory_bytes.value
    # Each unit does a multiply and an add in a clock.
    flop_per_second = 2 * info["core_count"] * info["fpus_per_core"] * info["clock_rate_ghz"] * 1e9
    assert flop_per_second == pytest.approx(facts.peak_flop_per_second["f32"].value, rel=0.02)


@pytest.mark.parametrize("name", TPUS)
def test_tpu_figures_agree_with_those_of_jax(name):
    """JAX keeps a table of its own for kernels: figures of one core, rounded in another way."""
    try:
        from jax._src import tpu_info
    except ImportError:
        tpu_info = pytest.importorskip("jax._src.pallas.mosaic.tpu_info")
    versions = {version.value: version for version in getattr(tpu_info, "ChipVersion", ())}
    version = versions.get(name.removeprefix("tpu:"))
    if version is None or not hasattr(tpu_info, "get_tpu_info_for_chip"):
        pytest.skip(f"this JAX has no table for {name}")
    facts, cores = facts_of(name), version.num_physical_tensor_cores_per_chip // ENTRIES[name].devices_per_chip
    theirs = tpu_info.get_tpu_info_for_chip(version, 1)
    assert facts.peak_flop_per_second["bf16"].value == pytest.approx(cores * theirs.bf16_ops_per_second, rel=0.02)
    assert facts.memory_bytes.value == pytest.approx(cores * theirs.hbm_capacity_bytes, rel=0.02)
    bandwidth = facts.memory_bandwidth_bytes_per_second.value
    assert bandwidth == pytest.approx(cores * theirs.mem_bw_bytes_per_second, rel=0.13)
    assert facts.on_chip_memory_bytes.value == cores * theirs.vmem_capacity_bytes


@pytest.mark.parametrize(
    ("name", "dtype", "teraflops", "gigabytes", "gigabytes_per_second"),
    [
        # Typed from the vendors' own tables, dense, per chip (TPU7x: halved, since a chip is two devices).
        ("tpu:v4", "bf16", 275, 32, 1200),
        ("tpu:v5e", "i8", 393, 16, 819),
        ("tpu:v5p", "bf16", 459, 95, 2765),
        ("tpu:v6e", "bf16", 918, 32, 1638),
        ("tpu:7x", "f8", 2307, 96, 3690),
        ("cuda:a100-40gb", "bf16", 312, 40, 1555),
        ("cuda:a100-80gb", "tf32", 156, 80, 2039),
        ("cuda:h100", "bf16", 989.4, 80, 3350),
        ("cuda:h200", "f8", 1979, 141, 4800),
        ("cuda:b200", "bf16", 2250, 180, 7700),
        ("cuda:l4", "f32", 30.3, 24, 300),
        ("cuda:t4", "f16", 65, 16, 320),
    ],
)
def test_figures_typed_from_the_documents(name, dtype, teraflops, gigabytes, gigabytes_per_second):
    facts = facts_of(name)
    assert facts.peak_flop_per_second[dtype].value == teraflops * 1e12
    assert facts.memory_bytes.value == gigabytes * 2**30
    assert facts.memory_bandwidth_bytes_per_second.value == gigabytes_per_second * 1e9


def test_attached_devices_have_the_facts_of_their_kind():
    assert isinstance(resolve_target("cpu").facts, Unavailable)
    from jaxscope._targets.resolve import facts_of_kind

    assert facts_of_kind("TPU v5 lite") is facts_of("tpu:v5e")
    assert isinstance(facts_of_kind(""), Unavailable)


# Text protos.


def test_fields_are_printed_as_a_text_proto():
    fields = {"a": 1, "b": 1.5, "name": 'a "quoted"\nline', "on": True, "c": {"major": 9, "feature_extension": "NONE"}}
    assert text_proto(fields) == (
        'a: 1\nb: 1.5\nname: "a \\"quoted\\"\\nline"\non: true\nc {\n  major: 9\n  feature_extension: NONE\n}\n'
    )


def test_a_value_cannot_leave_its_field():
    """Names of enumerations are printed bare, so only names are."""
    assert text_proto({"feature_extension": "NONE } x {"}) == 'feature_extension: "NONE } x {"\n'


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


# The list.


def test_the_list_is_a_table_and_a_data_frame():
    targets = jaxscope.targets()
    frame = targets.frame
    assert len(targets) == len(frame) == len(list(targets))
    assert frame["name"].is_unique
    h100 = frame.set_index("name").loc["cuda:h100"]
    assert (h100["devices"], h100["memory_bytes"]) == (1, 80 * 2**30)
    for name in frame["name"]:
        assert name in str(targets) and name in targets._repr_html_()
        assert isinstance(targets[name], Target)
    assert "cpu" in set(frame["name"]) and not frame.set_index("name").loc["cpu", "missing"]


@pytest.mark.parametrize(("platform", "package"), [("tpu", "libtpu"), ("cuda", "jax_cuda13_plugin")])
def test_the_list_says_what_is_installed(platform, package):
    rows = [row for row in jaxscope.targets().frame.itertuples() if row.name.startswith(f"{platform}:")]
    installed = importlib.util.find_spec(package) is not None
    assert rows and {row.state for row in rows} == {"compile-only" if installed else "lower-only"}
    assert {row.missing for row in rows} == (
        {""} if installed else {f'Its compiler is not installed: pip install "jaxscope[{platform}]"'}
    )


def test_the_commands_name_extras_that_are_there():
    """`importlib.metadata` would answer for what is installed, which may be older: the file is asked."""
    import tomllib

    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    from jaxscope._targets.resolve import INSTALL_COMMANDS

    for command in INSTALL_COMMANDS.values():
        assert re.search(r"\[(\w+)\]", command)[1] in project["optional-dependencies"]
    assert not any("nvidia" in need for need in project["optional-dependencies"]["cuda"])


@pytest.fixture
def without_compilers(monkeypatch):
    """Looks for plugins under names that nobody has, as on a machine without them."""
    missing = dict.fromkeys(_jax_topology.PLUGIN_MODULES, ("no_such_plugin",))
    monkeypatch.setattr(_jax_topology, "PLUGIN_MODULES", missing)


def test_without_its_compiler_a_machine_is_lowered_for(without_compilers):
    inspection = jaxscope.inspect(lambda x: x * 2, "f32[8]", target="tpu:v5e:2x2")
    assert [stage.status for stage in inspection.stages.values()] == ["done", "done", "unavailable"]
    assert 'pip install "jaxscope[tpu]"' in inspection.stages["compile"].reason
    frame = jaxscope.targets().frame.set_index("name")
    assert frame.loc["tpu:v5e:2x2", "missing"].endswith('pip install "jaxscope[tpu]"')
    with pytest.raises(UnavailableError, match=r"Making the devices of tpu:v5e:2x2.*jaxscope\[tpu\]"):
        jaxscope.targets().devices("tpu:v5e:2x2")


def test_a_wrapper_without_trace_cannot_be_lowered_for_devices_that_nobody_describes():
    inspection = jaxscope.inspect(equinox.filter_jit(lambda x: x * 2), jnp.ones(8), target="rocm")
    assert [stage.status for stage in inspection.stages.values()] == ["unavailable"] * 3
    assert "takes no platform" in inspection.stages["lower"].reason


def test_names_that_are_no_strings_are_refused():
    with pytest.raises(InputError, match=r"Looking up the target 3: .*targets\[\"cuda:h100\"\]"):
        jaxscope.targets()[3]


# The user's process.

# In a fresh process: plugins load once.
LIST_ONLY = """
import jax
before = {line.split()[-1] for line in open("/proc/self/maps")}
import jaxscope
jaxscope.targets()._repr_html_(), str(jaxscope.targets()), jaxscope.targets().frame
new = {line.split()[-1] for line in open("/proc/self/maps")} - before
print([path for path in new if "libtpu" in path or "plugin" in path])
from jax._src import xla_bridge
print(xla_bridge.backends_are_initialized())
"""


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs /proc")
def test_listing_loads_no_plugin_and_starts_no_backend():
    assert run_python(LIST_ONLY)[0].split("\n")[:2] == ["[]", "False"]


UNCHANGED = """
import os, sys, warnings
import jax, jaxscope
def snapshot():
    return (
        dict(os.environ),
        dict(jax.config.values),
        jax.default_backend(),
        jax.devices(),
        os.fstat(2)[:2],
        list(warnings.filters),
        sys.stderr,
    )
before = snapshot()
from jaxscope import _jax_topology
from jaxscope._targets import resolve_target
for name in {names}:
    assert _jax_topology.topology_devices(resolve_target(name).topology)
    assert snapshot() == before, name
    inspection = jaxscope.inspect(lambda x: x * 2, "f32[8]", target=name)
    assert inspection.stages["compile"].status == "done", inspection.stages
    assert snapshot() == before, name
assert jax.numpy.ones(3).devices() == {{jax.devices()[0]}}
print("unchanged")
"""


@pytest.mark.parametrize(
    "names", [pytest.param(["tpu:v5e:2x2"], marks=TPU), pytest.param(["cuda:h100"], marks=CUDA)], ids=["tpu", "cuda"]
)
def test_the_process_is_as_it_was(names):
    assert run_python(UNCHANGED.format(names=names))[0].strip() == "unchanged"


QUIET = """
import os
import jax, jaxscope
os.write(2, b"before ")
jaxscope.inspect(lambda x: x, "f32[8]", target="cpu")
from jaxscope import _jax_topology
from jaxscope._targets import resolve_target
_jax_topology.topology_devices(resolve_target({name!r}).topology)
os.write(2, b"after")
"""


@pytest.mark.parametrize("name", [pytest.param("tpu:v5e:2x2", marks=TPU), pytest.param("cuda:h100", marks=CUDA)])
def test_the_log_lines_of_a_plugin_stay_out_of_sight(name):
    for platforms in ("cpu", ""):  # Without the setting, JAX starts every plugin with its first array.
        assert (
            run_python(QUIET.format(name=name), TF_CPP_MIN_LOG_LEVEL="0", JAX_PLATFORMS=platforms)[1] == "before after"
        )


def test_the_redirection_keeps_what_is_written_and_ends_with_an_error():
    before = os.fstat(2)
    with pytest.raises(RuntimeError, match="in between"), _jax_topology.redirected_stderr() as log:
        os.write(2, b"a native line\n")
        assert log() == "a native line\n"
        raise RuntimeError("in between")
    assert os.fstat(2)[:2] == before[:2]


def test_two_threads_take_turns_with_the_descriptor():
    before, seen, gate = os.fstat(2), [], threading.Barrier(8)

    def work(number):
        gate.wait()
        for turn in range(20):
            with _jax_topology.redirected_stderr() as log:
                os.write(2, f"{number}.{turn}".encode())
                seen.append((log(), f"{number}.{turn}"))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 160 and all(got == wrote for got, wrote in seen)
    assert os.fstat(2)[:2] == before[:2]


def test_variables_that_the_user_set_keep_their_values(monkeypatch):
    monkeypatch.setenv("JAXSCOPE_TEST_SET", "mine")
    monkeypatch.delenv("JAXSCOPE_TEST_UNSET", raising=False)
    theirs = dict.fromkeys(("JAXSCOPE_TEST_SET", "JAXSCOPE_TEST_UNSET"), "theirs")
    with contextlib.suppress(RuntimeError), _jax_topology.changed_environment(theirs):
        assert os.environ["JAXSCOPE_TEST_SET"] == "mine" and os.environ["JAXSCOPE_TEST_UNSET"] == "theirs"
        raise RuntimeError
    assert os.environ["JAXSCOPE_TEST_SET"] == "mine" and "JAXSCOPE_TEST_UNSET" not in os.environ


def test_a_plugin_that_is_not_there_is_told():
    with pytest.raises(InputError, match=r"Describing the machine 'mi300' to the rocm compiler: it refused"):
        _jax_topology.topology_devices(TopologySpec("rocm", "mi300", (("topology", "1x1x1"),)))
