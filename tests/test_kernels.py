"""Kernels inside custom calls: bytes against MLIR's attributes, text read again by MLIR, places in Python."""

import base64
import contextlib
import json
from importlib import import_module

import jax
import jax.numpy as jnp
import pytest
from jax._src import config
from jax.experimental import pallas as pl
from jaxlib.mlir import ir

import jaxscope
from jaxscope import _jax_mlir, _lower_level
from jaxscope._ir import hlo, stablehlo
from jaxscope._ir.kernel_calls import join_listings, kernel_calls
from jaxscope.errors import UnavailableError
from tests.listing_properties import assert_names_resolve, assert_well_formed
from tests.test_lexers import check_text

X = jax.ShapeDtypeStruct((32, 128), jnp.float32)


def scaled_add(x_ref, y_ref, out_ref):
    a = x_ref[...] * 2
    out_ref[...] = a + y_ref[...]


def negated(x_ref, out_ref):
    out_ref[...] = -x_ref[...]


def call(kernel, *args, **options):
    spec = pl.BlockSpec((8, 128), lambda i: (i, 0))
    shape = jax.ShapeDtypeStruct(args[0].shape, args[0].dtype)
    grid = (args[0].shape[0] // 8,)
    specs = [spec] * len(args)
    return pl.pallas_call(kernel, out_shape=shape, grid=grid, in_specs=specs, out_specs=spec, **options)(*args)


def for_tpu(x, y):
    z = call(scaled_add, x, y)
    for _ in range(2):
        z = call(negated, z)
    return jnp.sin(z)


def for_triton(x, y):
    from jax.experimental.pallas import triton

    return call(scaled_add, x, y, compiler_params=triton.CompilerParams())


def for_mosaic_gpu(x, y):
    from jax.experimental.pallas import mosaic_gpu

    return call(scaled_add, x, y, compiler_params=mosaic_gpu.CompilerParams())


@contextlib.contextmanager
def some_gpu():
    """JAX 0.12 wants to know which GPU a kernel is for."""
    device = getattr(jax.sharding, "AbstractDevice", None)
    if tuple(map(int, jax.__version__.split(".")[:2])) < (0, 12) or device is None:
        yield
        return
    device = device(device_kind="NVIDIA H100 80GB HBM3", num_cores=132, platform="cuda")
    with jax.sharding.use_abstract_mesh(jax.sharding.AbstractMesh((1,), ("x",), abstract_device=device)):
        yield


def lower(function, platform):
    with some_gpu() if platform == "cuda" else contextlib.nullcontext():
        return jax.jit(function).trace(X, X).lower(lowering_platforms=(platform,))


CASES = {"mosaic_tpu": (for_tpu, "tpu"), "triton": (for_triton, "cuda"), "mosaic_gpu": (for_mosaic_gpu, "cuda")}


@pytest.fixture(params=CASES)
def lowered(request):
    if request.param == "mosaic_gpu" and not jax.__version__.startswith("0.10."):
        pytest.skip("JAX 0.8 and 0.12 make no Mosaic GPU module without a GPU")
    return request.param, lower(*CASES[request.param])


def custom_calls(operation):
    for region in operation.regions:
        for block in region.blocks:
            for inner in block.operations:
                if inner.operation.name == "stablehlo.custom_call":
                    yield inner.operation
                yield from custom_calls(inner.operation)


def payload(operation):
    """Bytes of a custom call's kernel, by MLIR's attributes."""
    if "mhlo.backend_config" in operation.attributes:
        fields = ir.DictAttr(operation.attributes["mhlo.backend_config"])
        return ir.StringAttr(fields["ir" if "ir" in fields else "module"]).value_bytes
    configuration = json.loads(ir.StringAttr(operation.attributes["backend_config"]).value)
    return base64.b64decode(configuration["custom_call_config"]["body"])


def test_bytes_are_those_of_the_attribute(lowered):
    language, program = lowered
    found = kernel_calls(stablehlo.parse(program.as_text(debug_info=True)))
    expected = [payload(each) for each in custom_calls(program.compiler_ir("stablehlo").operation)]
    assert [each.bytecode for each in found] == list(dict.fromkeys(expected))
    assert {each.language for each in found} == {language}


def test_text_is_what_mlir_prints_again(lowered):
    language, program = lowered
    for each in kernel_calls(stablehlo.parse(program.as_text())):
        text = _jax_mlir.print_kernel(language, each.bytecode, each.locations)
        assert _jax_mlir.reprint_kernel(language, text) == text
        check_text("stablehlo", text)
        # The dialect that is kept stable is for compilers, not for readers.
        assert "stable_mosaic" not in text.replace("stable_mosaic.version", "")


def test_ops_are_the_operations_of_the_modules(lowered):
    _, program = lowered
    calls = kernel_calls(stablehlo.parse(program.as_text()))
    listing = _lower_level.make_kernels(calls)
    assert_well_formed(listing, listing.text)
    if "mosaic_gpu" not in {each.language for each in calls}:  # prints names that are defined on the line of a region
        assert_names_resolve(listing)
    for name in ("arith.mulf", "arith.addf"):
        assert sum(op.name == name for op in listing.ops) == listing.text.count(f"= {name} ")


def test_kernel_is_linked_to_the_lines_of_its_function(lowered):
    _, program = lowered
    listing = _lower_level.make_kernels(kernel_calls(stablehlo.parse(program.as_text())))
    first = scaled_add.__code__.co_firstlineno
    lines = {
        op.name: {frame.line for frame in listing.stacks.walk(op.stack) if frame.file == __file__}
        for op in listing.ops
        if op.name in ("arith.mulf", "arith.addf")
    }
    assert first + 1 in lines["arith.mulf"]
    assert first + 2 in lines["arith.addf"]


@pytest.mark.skipif(not hasattr(config, "jax_mosaic_unzip_debug_locations"), reason="this JAX keeps them inside")
def test_locations_beside_a_kernel_are_put_back_where_they_were():
    texts = []
    for apart in (True, False):
        with config.jax_mosaic_unzip_debug_locations(apart):
            jax.clear_caches()
            calls = kernel_calls(stablehlo.parse(lower(for_tpu, "tpu").as_text()))
        assert all((each.locations is not None) == apart for each in calls)
        texts.append([_jax_mlir.print_kernel(each.language, each.bytecode, each.locations) for each in calls])
    assert texts[0] == texts[1]


def test_compiled_text_carries_the_same_kernels():
    # As XLA prints the two kinds; the bytes are `b"ML\xefR\x00"`.
    body = base64.b64encode(b"ML\xefR\x00").decode()
    tpu = f'{{"flag_configs":[],"custom_call_config":{{"body":"{body}"}}}}'
    triton = r'{debug = false, grid_x = 4 : i32, ir = "ML\EFR\00", name = "k"}'
    text = f"""HloModule m

ENTRY %main (x: f32[4]) -> f32[4] {{
  %x = f32[4]{{0}} parameter(0)
  %k.1 = f32[4]{{0}} custom-call(%x), custom_call_target="tpu_custom_call", backend_config={tpu}
  ROOT %k.2 = f32[4]{{0}} custom-call(%k.1), custom_call_target="__gpu$xla.gpu.triton", backend_config={triton}
}}
"""
    found = kernel_calls(hlo.parse(text))
    assert [(each.language, each.bytecode) for each in found] == [
        ("mosaic_tpu", b"ML\xefR\x00"),
        ("triton", b"ML\xefR\x00"),
    ]


def test_joined_listings_keep_their_own_names():
    one = stablehlo.parse('%0 = a.b : i1 loc(#loc1)\n#loc1 = loc("f.py":1:0 to :2)\n')
    other = stablehlo.parse('%0 = c.d : i1 loc(#loc1)\n#loc1 = loc("f.py":9:0 to :2)\n')
    both = join_listings([one, other])
    assert_well_formed(both, f"{one.text}\n\n{other.text}")
    assert [[frame.line for frame in both.stacks.walk(op.stack)] for op in both.ops] == [[1], [9]]


def test_damaged_kernel_is_said_and_hides_no_other():
    calls = kernel_calls(stablehlo.parse(lower(for_tpu, "tpu").as_text()))
    damaged = type(calls[0])(calls[0].line, "mosaic_tpu", b"ML\xefR damaged")
    listing = _lower_level.make_kernels([damaged, calls[1]])
    assert listing.ops and listing.text.startswith("// The kernel called on line")
    with pytest.raises(UnavailableError, match=r"Reading the kernels: .* reads none of 1 .* Lower the program"):
        _lower_level.make_kernels([damaged])


def test_inspection_shows_kernels_of_a_program_that_was_lowered_elsewhere():
    inspection = jaxscope.inspect(lower(for_tpu, "tpu"))
    (tab,) = (tab for tab in inspection._source.view["tabs"] if tab["key"] == "kernels")
    assert (tab["title"], tab["status"]) == ("Kernels", "done")
    assert inspection.kernels.count("module ") == 2  # `negated` is called twice
    assert "arith.mulf" in str(inspection)


def test_program_without_kernels_has_no_such_tab():
    inspection = jaxscope.inspect(jnp.sin, "f32[4]")
    assert "kernels" not in {tab["key"] for tab in inspection._source.view["tabs"]}
    with pytest.raises(UnavailableError, match="no custom call of this program carries one"):
        _ = inspection.kernels


def test_extensions_are_there():
    for name in _jax_mlir._EXTENSIONS.values():
        assert import_module(f"jaxlib.mlir._mlir_libs.{name}").register_dialect
