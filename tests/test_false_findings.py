"""Good programs by others have no findings but those written down here, each judged by hand to be true.

The programs are every function of `jax.scipy`, update steps of Optax, models in Flax and Equinox, and those beside the
repository. `TRUE` is the whole of what rules may say of them.
"""

import runpy

import jax
import pytest

import jaxscope
from jaxscope._facts import Facts
from jaxscope._findings import find
from jaxscope._inputs import read_request
from jaxscope._stages import run_stages
from jaxscope._targets import resolve_target
from tests.library_models import OPTIMIZERS, PROGRAMS
from tests.library_programs import NOT_CALLED, is_elementwise, public_names, scipy_programs
from tests.plugins import CUDA, CUDA_TEXT, TPU
from tests.shared import ABSENT, SHARED

# Thresholds in bytes and elements are a mebibyte and a mega-element; a matrix of this size has both.
SIZE = 1024

# By program, for every target unless the name of one stands behind "@": the rule and why it is right.
TRUE: dict[str, dict[str, str]] = {
    "stats.poisson.entropy": {
        "unused-argument": "Moving a distribution does not change its entropy: `loc` is there to be like SciPy's."
    },
    "signal.istft@cuda:h100": {
        "layout-copy": "SciPy's order has frequencies first, transforms run along the last axis. The other order can "
        "be given, with freq_axis=-1 and time_axis=-2."
    },
    # Neither the old momenta nor the gradients are of use after an update, and this jit was not told so.
    **{f"{name}_update": {"donation": "The state comes out updated, and the old one stays."} for name in OPTIMIZERS},
    "transformer of 2 layers, nothing donated": {"donation": "The parameters come out updated, and the old ones stay."},
    "transformer of 12 layers": {"unrolled-repetition": "Twelve times the same block, forward and backward."},
}
# Optax calls every optimizer with the parameters; these three need none, and the argument may be left out.
for _name in ("sgd", "adam", "accumulated_adam"):
    TRUE[f"{_name}_update"] |= {"unused-argument": "`params` is optional, and not read without a decay of weights."}
if jax.__version_info__ < (0, 10):
    TRUE["linalg.solve_sylvester"] = {"captured-constant": "JAX 0.8 wrote the order of all elements into the program."}

SCIPY = {program.name: program for program in scipy_programs(SIZE)}
NAMES_OF_SHARED = (
    "transformer of 2 layers",
    "transformer of 2 layers, nothing donated",
    "transformer of 2 layers, scanned",
    "transformer of 12 layers",
    "sde",
    "sde, adaptive",
)
TARGETS = (
    pytest.param("cuda:h100", marks=(CUDA, CUDA_TEXT, pytest.mark.slow)),
    pytest.param("tpu:v5e:2x2", marks=(TPU, pytest.mark.slow)),
)


def before_compiling(function, *args):
    """The facts of a program that was traced and lowered."""
    target = resolve_target("cpu")
    request = read_request(function, args, {})
    facts = Facts(request, target)
    for stage in run_stages(request, target):
        facts.finish(stage)
        if stage.key == "lower":
            break
    facts.stop("Not compiled: nothing would be found.")
    return facts


def compiled(function, *args, target="cpu", **options):
    facts = jaxscope.inspect(function, *args, target=target, **options)._facts
    assert facts.stages["compile"].status == "done", facts.stages["compile"]
    return facts


def assert_only_true(name, facts, target="cpu"):
    assert facts.stages["lower"].status == "done", facts.stages
    findings = find(facts)
    assert not findings.broken
    told = [(finding.rule.key, finding.observation.found) for finding in findings.found]
    expected = TRUE.get(name, {}) | TRUE.get(f"{name}@{target}", {})
    assert sorted(key for key, _ in told) == sorted(expected), told


def test_every_public_function_is_called_or_left_out_for_a_reason():
    assert set(SCIPY) | set(NOT_CALLED) >= set(public_names())
    assert set(SCIPY).isdisjoint(NOT_CALLED)


def test_nothing_is_written_down_for_a_program_that_is_not_here():
    # Functions of later versions of JAX too.
    programs = {*SCIPY, *PROGRAMS, *NAMES_OF_SHARED, "stats.poisson.entropy"}
    assert {name.partition("@")[0] for name in TRUE} <= programs


@pytest.mark.parametrize("name", [name for name in SCIPY if is_elementwise(name)])
def test_elementwise_functions_of_scipy(name):
    program = SCIPY[name]
    assert_only_true(name, before_compiling(program.function, *program.args))


@pytest.mark.parametrize("name", [name for name in SCIPY if not is_elementwise(name)])
def test_other_functions_of_scipy(name):
    program = SCIPY[name]
    assert_only_true(name, compiled(program.function, *program.args))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["linalg.solve", "signal.istft"])
def test_functions_of_scipy_for_accelerators(name, target):
    program = SCIPY[name]
    assert_only_true(name, compiled(program.function, *program.args, target=target), target)


def model(name):
    try:
        return PROGRAMS[name]()
    except ImportError as error:
        pytest.skip(f"{error.name} is not installed for this JAX")


@pytest.mark.parametrize("name", PROGRAMS)
def test_models_and_update_steps(name):
    program = model(name)
    assert_only_true(name, compiled(program.function, *program.args))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["attention_train_step", "equinox_train_step", "lamb_step"])
def test_models_and_update_steps_for_accelerators(name, target):
    program = model(name)
    assert_only_true(name, compiled(program.function, *program.args, target=target), target)


def of_shared(name):
    if SHARED is None:
        pytest.skip(ABSENT)
    program = runpy.run_path(str(SHARED / "programs" / f"{name}.py"))
    return program


def transformer(layers, *donated, **options):
    step, args = of_shared("transformer")["step_and_args"](layers, **options)
    return jax.jit(step, donate_argnums=donated), args


@pytest.mark.parametrize("target", ["cpu", *TARGETS])
def test_transformer(target):
    step, args = transformer(2, 0, 1)
    assert_only_true("transformer of 2 layers", compiled(step, *args, target=target), target)


def test_transformers_of_other_kinds():
    step, args = transformer(2)
    assert_only_true("transformer of 2 layers, nothing donated", before_compiling(step, *args))
    step, args = transformer(2, 0, 1, scanned=True)
    assert_only_true("transformer of 2 layers, scanned", before_compiling(step, *args))
    step, args = transformer(12, 0, 1)
    assert_only_true("transformer of 12 layers", before_compiling(step, *args))


def test_stochastic_differential_equation():
    program = of_shared("sde")
    assert_only_true("sde", compiled(program["solve"], *program["args"]()))
    assert_only_true("sde, adaptive", compiled(program["solve"], *program["args"](), adaptive=True))
