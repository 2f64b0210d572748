"""Machines by name: what each name means, what the list says, and what loading a compiler leaves alone."""

import contextlib
import importlib.util
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
from jaxscope._targets import Target, TopologySpec, resolve_target
from jaxscope.errors import InputError, UnavailableError
from tests.plugins import CUDA, TPU
from tests.test_device_facts import ENTRIES, GPUS, TPUS


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
