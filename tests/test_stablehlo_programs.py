"""Counts of whole StableHLO programs, against closed forms and XLA's own figures."""

import math
import re

import jax
import jax.numpy as jnp
import pytest
from jax import lax

from jaxscope._analysis.stablehlo_cost import count_stablehlo
from jaxscope._analysis.work import Work
from jaxscope._ir import stablehlo
from tests import programs
from tests.shared import ABSENT, case_files, corpus_files, read_recorded, recorded_files
from tests.test_stablehlo_cost import array, by_rule


@pytest.mark.parametrize("name", [*programs.PROGRAMS, *programs.case_names()])
def test_every_program_counts(name):
    lowered = programs.stages(name).lowered
    if lowered is None or not hasattr(lowered, "as_text"):
        pytest.skip("this program is not lowered, which is its point")
    listing = stablehlo.parse(lowered.as_text(debug_info=True))
    cost = count_stablehlo(listing)
    assert len({op.op for op in cost.ops}) == len(cost.ops)
    assert [op.op for op in cost.ops] == sorted(op.op for op in cost.ops)
    for op in cost.unknown:
        line = listing.lines[listing.ops[op.op].line]
        known = "custom_call" in line or "?" in line or "sdy." in line
        assert known, f"{line}\n{op.work.reason}"


@pytest.mark.skipif(not corpus_files(), reason=ABSENT)
def test_every_file_of_the_corpus_counts():
    lacking = []
    for path in corpus_files():
        listing = stablehlo.parse(path.read_text())
        for op in count_stablehlo(listing).unknown:
            # Files named so are made of ops that a verifier refuses.
            refused = path.name.startswith(("verify", "infer")) or "invalid" in path.name
            if "lacks what" in op.work.reason and not refused:
                lacking.append((path.name, listing.ops[op.op].name))
    # Its padding is a value.
    assert lacking == [("dynamic_conv.mlir", "stablehlo.dynamic_conv")]


@pytest.mark.skipif(not recorded_files(), reason=ABSENT)
def test_recorded_networks():
    """The products of a training step in closed form: three for each weight and token, two scores for each pair."""
    for path in recorded_files("stablehlo.mlir.gz"):
        layers = int(re.search(r"-(\d+)-layers", str(path))[1])
        cost = count_stablehlo(stablehlo.parse(read_recorded(path)))
        assert not cost.unknown and not cost.loops
        tokens, width, length, vocabulary = 2 * 128, 768, 128, 1024
        # Products of weights, and of queries with keys and of those with values, forwards.
        weights = layers * (3 + 1 + 4 + 4) * width**2 + vocabulary * width
        forward = 2 * tokens * weights + layers * 2 * 2 * tokens * length * width
        dots = sum(op.work.flops * op.runs.known for op in cost.ops if op.rule == "dot")
        assert dots == 3 * forward, path


def gpt2(params, tokens):
    """The forward pass of GPT-2 (Radford et al. 2019), from token numbers to logits."""

    def norm(x, p):
        centred = x - x.mean(-1, keepdims=True)
        return centred * lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * p["gain"] + p["bias"]

    def dense(x, p):
        return x @ p["weight"] + p["bias"]

    length = tokens.shape[1]
    x = params["tokens"][tokens] + params["positions"][:length]
    for block in params["blocks"]:
        q, k, v = jnp.split(dense(norm(x, block["norm1"]), block["qkv"]), 3, axis=-1)
        q, k, v = (part.reshape(*part.shape[:2], 12, 64) for part in (q, k, v))
        scores = jnp.einsum("bthe,bshe->bhts", q, k) / 8
        weights = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9))
        x = x + dense(jnp.einsum("bhts,bshe->bthe", weights, v).reshape(x.shape), block["out"])
        x = x + dense(jax.nn.gelu(dense(norm(x, block["norm2"]), block["up"])), block["down"])
    return norm(x, params["norm"]) @ params["tokens"].T


def test_gpt2_small_equals_the_closed_form():
    width, vocabulary, length, layers = 768, 50257, 1024, 12

    def dense(rows, columns):
        return {"weight": array((rows, columns)), "bias": array((columns,))}

    def norm():
        return {"gain": array((width,)), "bias": array((width,))}

    block = {
        "norm1": norm(),
        "qkv": dense(width, 3 * width),
        "out": dense(width, width),
        "norm2": norm(),
        "up": dense(width, 4 * width),
        "down": dense(4 * width, width),
    }
    params = {
        "tokens": array((vocabulary, width)),
        "positions": array((1024, width)),
        "blocks": [block] * layers,
        "norm": norm(),
    }
    # The published size of the model, with the embedding shared by both ends.
    assert sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(params)) == 124_439_808
    counted = by_rule(gpt2, params, array((1, length), "int32"))
    in_products = layers * 12 * width**2 + vocabulary * width
    assert counted["dot"] == Work(flops=2 * in_products * length + layers * 2 * 2 * length**2 * width)


# XLA's own figures, which differ by convention, and by what its converter folds.

# Names of HLO for those of StableHLO; XLA counts a FLOP, or a transcendental, for each element of each.
ELEMENTWISE = (
    "abs add and atan2 cbrt ceil clamp compare convert cosine count-leading-zeros divide exponential"
    " exponential-minus-one floor is-finite log log-plus-one logistic maximum minimum multiply negate not or popcnt"
    " power reduce-precision remainder round-nearest-afz round-nearest-even rsqrt select shift-left"
    " shift-right-arithmetic shift-right-logical sign sine sqrt subtract tan tanh xor"
)
TRANSCENDENTAL = (
    "atan2 cbrt cosine exponential exponential-minus-one log log-plus-one logistic power rsqrt sine sqrt tan tanh"
)
# Of these XLA counts FLOPs, and the convention here none; and a clamp counts once there.
NO_WORK = "convert is-finite reduce-precision select"
# `  add.3 = f32[8,4]{1,0} add(x.1, y.2)`
INSTRUCTION = re.compile(r"= [a-z]\w*\[([\d,]*)\](?:\{[^}]*\})? ([a-z][\w-]*)\(")


def elements_in_stablehlo(lowered):
    """Elements by opcode of the elementwise operations of a module, as MLIR's own objects have them."""
    found = dict.fromkeys(ELEMENTWISE.split(), 0)

    def visit(operation):
        opcode = operation.name.removeprefix("stablehlo.").replace("_", "-")
        if opcode in found:
            found[opcode] += math.prod(operation.results[0].type.shape)
        for region in operation.regions:
            for block in region:
                for inner in block:
                    visit(inner.operation)

    visit(lowered.compiler_ir("stablehlo").operation)
    return found


def elements_in_hlo(lowered):
    """Likewise in the text that XLA's converter makes of it."""
    found = dict.fromkeys(ELEMENTWISE.split(), 0)
    for sizes, opcode in INSTRUCTION.findall(lowered.as_text(dialect="hlo")):
        if opcode in found:
            found[opcode] += math.prod(int(size) for size in sizes.split(",") if size)
    return found


def check_against_xla(lowered, name):
    """XLA's figure is ours, plus what only XLA counts, less what its converter folded (``0 + x``, constants)."""
    cost = count_stablehlo(stablehlo.parse(lowered.as_text()))
    assert not cost.unknown and not cost.loops and not cost.conditionals
    work, xla = cost.total.known, lowered.cost_analysis() or {}
    asked, made = elements_in_stablehlo(lowered), elements_in_hlo(lowered)
    gone = {opcode: asked[opcode] - made[opcode] for opcode in asked}
    transcendental = set(TRANSCENDENTAL.split())
    more = sum(asked[opcode] for opcode in NO_WORK.split()) - asked["clamp"]
    folded = sum(elements for opcode, elements in gone.items() if opcode not in transcendental)
    # XLA adds up in 32-bit floats: exact below 2²⁴.
    rounding = {"rel": 2**-24, "abs": 0}
    assert xla.get("flops", 0) == pytest.approx(work.flops + work.integer_ops + more - folded, **rounding), name
    folded = sum(elements for opcode, elements in gone.items() if opcode in transcendental)
    assert xla.get("transcendentals", 0) == pytest.approx(work.transcendentals - folded, **rounding), name
    return not any(gone.values())


COMPARABLE = ["axpy", "identity", "no_arguments", "convolution", "odd_literals", "batched", "narrow_types"]
COMPARABLE += ["closed_over_constant", "odd_scopes", "spread_over_lines"]


@pytest.mark.parametrize("name", COMPARABLE)
def test_xla_counts_the_same_but_for_the_convention(name):
    check_against_xla(programs.stages(name).lowered, name)


@pytest.mark.skipif(not case_files(), reason=ABSENT)
def test_xla_counts_the_cases_the_same():
    """Every case without loops, calls and ops for which XLA's convention differs in kind."""
    kinds = r"while|case|custom_call|sort|fft|complex<|chlo\.|\?|call @|triangular|rng|all_reduce|sdy|composite"
    equal = []
    for name in programs.case_names():
        lowered = programs.stages(name).lowered
        if lowered is not None and hasattr(lowered, "compiler_ir") and not re.search(kinds, lowered.as_text()):
            equal.append(check_against_xla(lowered, name))
    assert len(equal) > 20 and sum(equal) > 15
