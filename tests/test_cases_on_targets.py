"""Programs behind public bug reports, for machines that are not there: a program for the machine, or why there is none.

Never a crash, a hang, or a program for the CPU. What a program is for is told by JAX's objects and by marks that the
compilers print and that no other one does. A case that cannot be compiled has a row in `FAILURES`, with the words that
say what was found and what to do; every other case must compile. All run in a few processes, made once for the session.
"""

import re
from typing import NamedTuple

import jax
import pytest

from jaxscope._targets import resolve_target
from tests.cases_on_targets import examine_all
from tests.plugins import CUDA, CUDA_TEXT, MARKS, TPU
from tests.shared import ABSENT, case_files

FILES = {path.name[:3]: path for path in case_files()}

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not FILES, reason=ABSENT)]


class Machine(NamedTuple):
    """How a program for a machine is told from one for another.

    Attributes:
        name: The target.
        devices: JAX's platform and name of its devices.
        client: JAX's platform of the client that a program belongs to.
        mark: What its compiler alone writes into the first line of every program.
    """

    name: str
    devices: str
    client: str
    mark: str


MACHINES = {
    "tpu": Machine("tpu:v5e:2x2", "tpu TPU v5 lite", "tpu", MARKS["tpu"]),
    "cuda": Machine("cuda:h100", "gpu NVIDIA H100 80GB HBM3", "gpu", MARKS["cuda"]),
}
PLATFORMS = [pytest.param("tpu", marks=TPU), pytest.param("cuda", marks=(CUDA, CUDA_TEXT))]

# Meshes that need more devices than the machines above have: what is compiled for larger ones.
LARGER = {
    "086": {"tpu": "tpu:v5e:2x4", "cuda": "cuda:h100:8"},
    "087": {"tpu": "tpu:v5e:2x4", "cuda": "cuda:h100:8"},
    "133": {"tpu": "tpu:v5e:8x8", "cuda": "cuda:h100:8x8"},
}


class Failure(NamedTuple):
    """What becomes of a case that cannot be compiled.

    Attributes:
        outcome: The stage that fails, ``unavailable`` for one that is left out, ``refused`` before any work.
        found: Words that say what was found.
        advice: Words that say what to do; "" where the exception is the function's own or JAX's, and says it all.
    """

    outcome: str
    found: str
    advice: str = ""


LOWERED_ALREADY = Failure("lower", "it was lowered for", "hand over the function")
NO_CALLBACK = Failure("lower", "Unknown backend: 'gpu' requested", "no host callback")
TOO_SMALL = "Make an axis smaller, or choose a larger target."

# By the case's number, or number and platform.
FAILURES = {
    "046 cuda": NO_CALLBACK,
    "053": Failure("trace", "Non-hashable static arguments"),
    "064": Failure("lower", "Pair needs an array"),
    "067": Failure("trace", "sorting pytree dictionary keys"),
    "073": Failure("trace", "overflow", "array of a wider type"),
    "076": Failure("trace", "returned a value of type <class 'str'>"),
    # libtpu knows some of the small types, and aborts over others.
    "085 tpu": Failure("compile", "ended by SIGABRT", "change the program or its compiler options")
    if jax.__version_info__ >= (0, 10)
    else Failure("compile", "F4E2M1FN is not supported on TPU"),
    "086": Failure("refused", "needs 8 devices", TOO_SMALL),
    "087": Failure("refused", "needs 8 devices", TOO_SMALL),
    "089": Failure("trace", "carry output must have equal types", "might be fixed by applying `jax.lax.p"),
    "091": Failure("trace", "Cannot apply JAX transformations"),
    "097": Failure("trace", "Expected a callable", "Hand over the function itself"),
    "098": Failure("trace", "coroutine", "Hand over a plain function"),
    "099": Failure("trace", "boolean conversion", "jnp.where"),
    "100": Failure("trace", "boolean indices must be concrete", "jnp.where"),
    "101": Failure("trace", "carry input and carry output must have equal types"),
    "106": Failure("compile", "no_such_target_xyz", "leave the call out"),
    "107": Failure("compile", "xla_no_such_flag", "Check the spelling"),
    # JAX's words depend on whether it tried to start the backend: "Unknown backend tpu", "Backend 'tpu' failed to …".
    "108": Failure("trace", "ackend", "choose with target="),
    "109": LOWERED_ALREADY,
    "110": LOWERED_ALREADY,
    "111": Failure("compile", "Error refining shapes", "Give numbers"),
    "117": Failure("trace", "<b>bold</b>"),
    "133": Failure("refused", "needs 64 devices", TOO_SMALL),
    "142": Failure("trace", "__jax_array__", "register your object as a pytree"),
    "147 cuda": NO_CALLBACK,
    "154": Failure("unavailable", "XLA counts bytes in 63 bits", "Check the shape"),
}


@pytest.fixture(scope="session")
def facts():
    """What came of every case on every machine whose compiler is here, by number and target."""
    here = [key for key, machine in MACHINES.items() if resolve_target(machine.name).kind == "compile-only"]
    jobs = {}
    for number, path in FILES.items():
        jobs[path] = [MACHINES[key].name for key in here] + [LARGER[number][key] for key in here if number in LARGER]
    return examine_all(jobs)


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("number", FILES)
def test_a_case_is_compiled_for_the_machine_or_says_why_not(facts, number, platform):
    machine = MACHINES[platform]
    found = facts[number, machine.name]
    if found["outcome"] == "missing":
        pytest.skip(f"{found['module']} is not installed")
    expected = FAILURES.get(f"{number} {platform}", FAILURES.get(number))
    assert found["outcome"] == (expected.outcome if expected else "done"), found.get("reason") or found
    if expected is None:
        assert_for(machine, found)
    elif expected.outcome in ("refused", "unavailable"):
        assert expected.found in found["reason"] and expected.advice in found["reason"]
    else:
        failure = found["failure"]
        assert re.match(r"(Tracing|Lowering|Compiling) .* stopped with \w+", failure["headline"])
        assert expected.found in failure["message"]
        assert expected.advice in failure["message"] + failure["advice"]


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("number", LARGER)
def test_a_mesh_of_many_devices_is_compiled_for_a_machine_that_has_them(facts, number, platform):
    name = LARGER[number][platform]
    found = facts[number, name]
    assert found["outcome"] == "done", found.get("reason") or found
    assert_for(MACHINES[platform], found)
    assert f"num_partitions={resolve_target(name).device_count}" in found["head"]
    # Cases 086 and 133 multiply along, or against, the dimension that is split; 087 works element by element.
    assert bool(found["collectives"]) == (number != "087")


# "f32[8,128]{1,0:T(8,128)}" in the types of the entry: dimensions, and layout
TYPE = re.compile(r"\[([\d,]*)\]\{([^}]*)\}")
# Custom calls into the CPU's libraries, and to its host: "lapack_spotrf_ffi", "xla_ffi_python_cpu_callback"
OF_THE_CPU = re.compile(r"cpu|lapack|onednn|ynn|eigen", re.IGNORECASE)


def assert_for(machine, found):
    """The compiled program is for the machine, and its text is read whole."""
    assert found["devices"] == [machine.devices] and found["client"] == machine.client
    assert machine.mark in found["head"]
    assert not any(mark in found["head"] for mark in MARKS.values() if mark not in ("", machine.mark))
    types = found["head"].partition("entry_computation_layout=")[2].partition(", allow_spmd")[0]
    tiled = [
        ":T(" in layout for dimensions, layout in TYPE.findall(types) if dimensions and "0" not in dimensions.split(",")
    ]
    assert all(tiled) if machine.client == "tpu" else not found["has_tiles"]
    assert not any(map(OF_THE_CPU.search, found["custom_calls"]))
    assert found["lossless"] and found["counted"] == (found["instructions"] or found["counted"])
    assert found["reports"]


def test_every_row_names_a_case():
    assert {row[:3] for row in FAILURES} | set(LARGER) <= set(FILES)
