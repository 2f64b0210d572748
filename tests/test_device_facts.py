"""What is published of each device, in units that hold, and how a GPU is described to its compiler."""

import dataclasses
import re

import pytest

from jaxscope._analysis.unavailable import Unavailable
from jaxscope._targets import DeviceFacts, Figure, resolve_target
from jaxscope._targets.catalogue import built_in_entries, text_proto

ENTRIES = built_in_entries()
TPUS = [name for name in ENTRIES if name.startswith("tpu:")]
GPUS = [name for name in ENTRIES if name.startswith("cuda:")]
FIGURES = [field.name for field in dataclasses.fields(DeviceFacts) if field.name != "peak_flop_per_second"]


def facts_of(name):
    return ENTRIES[name].facts


def figures(facts):
    yield from (value for name in FIGURES if isinstance(value := getattr(facts, name), Figure))
    yield from facts.peak_flop_per_second.values()


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
