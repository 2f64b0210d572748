"""What users hold in their hands: show, inspect, Inspection, and what they leave behind."""

import gc
import json
import os
import re
import subprocess
import sys
import weakref
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxscope
from jaxscope.errors import InputError, UnavailableError
from tests.oracles import count_equations, count_instructions, count_operations
from tests.programs import PROGRAMS
from tests.shared import SHARED

GOLDENS = Path(__file__).with_name("goldens")


def scale(x, factor=2.0):
    return jnp.sin(x) * factor


def broken(x):
    return x[x > 0]


def public_names():
    """Every public name, one per line, with its members for classes."""
    lines = []
    for name in sorted(jaxscope.__all__):
        lines.append(name)
        value = getattr(jaxscope, name)
        if isinstance(value, type):
            lines += [f"{name}.{member}" for member in sorted(vars(value)) if not member.startswith("_")]
    lines += [f"errors.{name}" for name in sorted(vars(jaxscope.errors)) if not name.startswith("_")]
    return "\n".join(lines) + "\n"


def test_the_public_surface_is_frozen(update_goldens):
    path = GOLDENS / "api.txt"
    if update_goldens:
        path.write_text(public_names())
    assert public_names() == path.read_text(), "if this is meant: make goldens"


def test_jax_own_objects_and_texts():
    inspection = jaxscope.inspect(scale, "f32[8]")
    assert isinstance(inspection.traced, jax.stages.Traced)
    assert inspection.stablehlo == inspection.lowered.as_text(debug_info=True)
    assert inspection.hlo == inspection.compiled.as_text()
    # Only where lines break may differ from what JAX prints by default.
    assert re.sub(r"[\s;]+", "", inspection.jaxpr) == re.sub(r"[\s;]+", "", str(inspection.traced.jaxpr))
    assert inspection.compiled(np.ones(8, np.float32)).shape == (8,)


@pytest.mark.parametrize("name", PROGRAMS)
def test_counts_are_jax_own_and_nothing_is_lost(name):
    function, args = PROGRAMS[name]
    inspection = jaxscope.inspect(function, *args)
    for key, product, count in (
        ("jaxpr", "traced", count_equations),
        ("stablehlo", "lowered", count_operations),
        ("hlo", "compiled", count_instructions),
    ):
        if key in inspection._facts.available_listings():
            expected = count(getattr(inspection, product))
            assert expected is None or len(inspection._facts.listing(key).listing.ops) == expected
    assert str(inspection)
    json.dumps(inspection._source.view)


def test_data_frames():
    inspection = jaxscope.inspect(scale, "f32[8]")
    assert inspection.cost.set_index("figure").loc["transcendentals", "after"] == 8
    assert inspection.memory.set_index("memory").loc["argument", "size_bytes"] == 32
    assert list(inspection.signature["path"]) == ["x", "result"]
    ops = inspection.ops
    assert set(ops["stage"]) == {"jaxpr", "stablehlo", "hlo"}
    sine = ops[(ops["stage"] == "jaxpr") & (ops["op"] == "sin")].iloc[0]
    assert (sine["file"], sine["python_line"]) == (__file__, scale.__code__.co_firstlineno + 1)


def test_a_failure_is_kept_and_not_raised():
    inspection = jaxscope.inspect(broken, "f32[8]")
    error = inspection.stages["trace"].error
    assert isinstance(error, jax.errors.NonConcreteBooleanIndexError) and inspection.error is error
    with pytest.raises(UnavailableError, match="it is not reached"):
        _ = inspection.compiled
    with pytest.raises(UnavailableError, match="it is failed") as raised:
        _ = inspection.traced
    assert raised.value.__cause__ is error
    assert not inspection.ops.size and inspection.cost["after"].isna().all()


def test_strict_raises_the_very_exception():
    error = ValueError("mine")

    def f(x):
        raise error

    with pytest.raises(ValueError, match="mine") as raised:
        jaxscope.inspect(f, "f32[8]", strict=True)
    assert raised.value is error


def test_bad_input_is_refused_before_any_work():
    traced = []

    def f(x):
        traced.append(1)
        return x

    for bad in ({"target": "nonesuch"}, {"call": 3}):
        with pytest.raises(InputError):
            jaxscope.inspect(f, "f32[8]", **bad)
    with pytest.raises(InputError):
        jaxscope.inspect(f, "f32[8")
    assert not traced


def test_check_and_call_agree():
    inspection = jaxscope.inspect(scale, "f32[8]", call=("f32[9]",))
    again = inspection.check(jnp.ones(9))
    assert [row.path for row in again.rows] == ["x"] and again.raises and len(again) == 1
    assert list(again.frame["verdict"]) == ["raises"]
    assert "f32[9] ✕" in str(again) and "<table>" in again._repr_html_()
    table = next(
        table for tab in inspection._source.view["tabs"] for table in tab["tables"] if table["key"] == "mismatches"
    )
    assert table["rows"][0]["cells"][:3] == ["x", "f32[8]", "f32[9]"] and table["rows"][0]["tone"] == "error"
    assert "f32[9] ✕" in str(inspection)


def test_no_argument_is_kept_alive():
    array = jnp.arange(1000.0)
    inspection = jaxscope.inspect(scale, array, call=(array,))
    str(inspection)
    reference = weakref.ref(array)
    del array
    gc.collect()
    assert reference() is None
    assert "f32[1000]" in repr(inspection)


def test_no_argument_is_kept_alive_by_a_failure():
    array = jnp.arange(1000.0)
    inspection = jaxscope.inspect(broken, array)
    reference = weakref.ref(array)
    del array
    gc.collect()
    assert reference() is None and inspection.error is not None


def test_the_text_is_the_same_in_every_process(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import jax, jax.numpy as jnp, jaxscope\n"
        "def f(x):\n"
        "    jax.debug.print('{}', x)\n"
        "    return jax.checkpoint(lambda y: jnp.sin(y) @ y, policy=jax.checkpoint_policies.dots_saveable)(x)\n"
        "print(jaxscope.inspect(jax.grad(lambda x: f(x).sum()), 'f32[8,8]'))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    texts = {
        subprocess.run([sys.executable, program], capture_output=True, text=True, check=True, env=environment).stdout
        for _ in range(2)
    }
    (text,) = texts
    assert not re.search(" at 0x[0-9a-f]", text) and str(tmp_path) not in text
    for heading in ("== Python", "== Jaxpr", "== StableHLO", "== Compiled HLO", "== Cost", "== Memory", "== Types"):
        assert heading in text


def test_times_and_colour_only_on_request():
    inspection = jaxscope.inspect(scale, "f32[8]")
    timed = re.compile(r"== Compiled HLO · .* (µs|ms|s) ==")
    assert not timed.search(str(inspection)) and "\x1b" not in str(inspection)
    assert timed.search(inspection.to_text(times=True))
    assert "\x1b[" in inspection.to_text(colour=True)


def test_colour_adds_nothing_but_colour():
    inspection = jaxscope.inspect(scale, "f32[8]")
    plain = re.sub("\x1b\\[[0-9;]*m", "", inspection.to_text(colour=True))
    assert "\n".join(line.rstrip() for line in plain.split("\n")) == str(inspection)


def test_show_prints_in_a_terminal(capsys):
    inspection = jaxscope.show(scale, "f32[8]")
    assert capsys.readouterr().out == str(inspection)


def test_mime_bundle_without_a_kernel():
    bundle = jaxscope.inspect(scale, "f32[8]")._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert "ENTRY" not in bundle["text/plain"], "the listings stay out of what every notebook saves"
    assert set(jaxscope.inspect(scale, "f32[8]")._repr_mimebundle_(include={"text/html"})) == {"text/html"}


def test_options_and_the_function_own_keywords():
    def f(x, *, target):
        return x * target

    with pytest.raises(InputError, match="has a parameter of the same name"):
        jaxscope.inspect(f, "f32[8]", target="cpu")
    import functools

    assert jaxscope.inspect(functools.partial(f, target=2.0), "f32[8]", target="cpu").error is None


def test_hostile_names_never_become_markup(tmp_path):
    hostile = "<img src=x onerror=alert(1)>\x1b[31m\u202eevil"

    def f(x, mode):
        with jax.named_scope(hostile):
            return x * 2

    f.__name__ = f.__qualname__ = hostile
    inspection = jaxscope.inspect(jax.jit(f, static_argnames="mode"), "f32[8]", mode=hostile)
    page = inspection.to_html(tmp_path / "page.html").read_text()
    for text in (inspection._repr_mimebundle_()["text/html"], page):
        assert "<img" not in text and "\x1b" not in text and "\u202e" not in text
    for text in (str(inspection), repr(inspection)):
        assert "\x1b" not in text and "\u202e" not in text


def environment():
    """What must be the same before and after."""
    return dict(os.environ), dict(jax.config.values), jax.devices(), jax.default_backend()


@pytest.mark.parametrize("function", [scale, broken])
def test_jax_is_left_as_it_was(function):
    before = environment()
    inspection = jaxscope.inspect(function, "f32[8]")
    str(inspection)
    assert environment() == before


@pytest.mark.skipif(SHARED is None, reason="the shared programs are not beside the repository")
def test_keys_of_the_sde_program():
    sys.path.insert(0, str(SHARED / "programs"))
    import sde

    inspection = jaxscope.inspect(sde.solve, *sde.args(), adaptive=True)
    rows = inspection.signature.set_index("path")
    assert rows.loc["adaptive", "value"] == "True" and rows.loc["key", "type"] == "key<fry>[]"
    assert any("steps=256" in note for note in inspection.notes)


@pytest.mark.parametrize("value", [-1, 1.5, True, "1"])
def test_a_limit_of_saved_bytes_that_is_none_is_refused(value):
    inspection = jaxscope.inspect(scale, "f32[8]")
    before = inspection.saved_bytes
    with pytest.raises(jaxscope.errors.InputError, match="whole number"):
        inspection.saved_bytes = value
    assert inspection.saved_bytes == before > 0
    inspection.saved_bytes = 0
    assert inspection.saved_bytes == 0
