"""The count of networks that nobody here wrote is that of their papers.

Papers print multiply-adds of convolutions and dense layers, with those over padding; jaxscope and XLA leave the latter
out, so both columns are added and halved.
"""

import jax
import pytest

import jaxscope
from jaxscope._analysis.stablehlo_cost import count_stablehlo
from jaxscope._ir import stablehlo
from tests.published import NETWORKS, build_network

pytest.importorskip("keras", reason="Keras is not installed for this JAX")

TOLERANCE = 0.02


def multiply_adds(work) -> float:
    return (work.flops + work.padding_flops) / 2


def lowered_cost(network):
    forward, types = build_network(network)
    text = jax.jit(forward).trace(*types).lower().as_text(debug_info=True)
    listing = stablehlo.parse(text)
    return listing, count_stablehlo(listing)


@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: network.name)
def test_multiply_adds_are_those_of_the_paper(network):
    listing, cost = lowered_cost(network)
    assert cost.unknown == ()
    counted = sum(
        multiply_adds(one.work) * one.runs.known
        for one in cost.ops
        if listing.ops[one.op].name in ("stablehlo.convolution", "stablehlo.dot_general")
    )
    assert counted == pytest.approx(network.multiply_adds, rel=TOLERANCE)


def test_the_table_of_an_inspection_has_the_same_figures():
    network = next(one for one in NETWORKS if one.name == "MobileNetV2")
    forward, types = build_network(network)
    inspection = jaxscope.inspect(forward, *types)
    frame = inspection.cost_by("op", stage="stablehlo").set_index("op")
    layers = frame.loc[["convolution", "dot_general"]]
    counted = int((layers["flops"] + layers["padding_flops"]).sum()) / 2
    assert counted == pytest.approx(network.multiply_adds, rel=TOLERANCE)
    # What runs: one rule for both texts.
    compiled = inspection.cost_by("op", stage="hlo").set_index("op")
    runs = compiled.loc[compiled.index.intersection(["convolution", "dot", "custom-call"])]
    assert int((runs["flops"] + runs["padding_flops"]).sum()) / 2 == counted
    # XLA leaves padding out as well, so nothing of it is in the difference to XLA's figure.
    assert layers["padding_flops"].sum() > 0
    assert not inspection.reconciliation["cause"].isin(["not explained"]).any()
