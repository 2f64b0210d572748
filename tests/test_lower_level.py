"""Listings made on request: what they cost, what they leave behind, how they reach each picture."""

import json
import re
import subprocess
import sys
import tempfile
import threading

import jax
import jax.numpy as jnp
import pytest

import jaxscope
from jaxscope import _dumps, _jax_dump, _lower_level
from jaxscope._ir import hlo
from jaxscope._render.html import NOT_OPENED, render_page
from jaxscope.errors import UnavailableError
from tests.dumped import RECORDED, dump
from tests.plugins import CUDA, CUDA_TEXT

X = jax.ShapeDtypeStruct((64, 32), jnp.float32)
# "module_0003.jit_f.part_00.ir-no-opt.ll"
UNOPTIMISED, OPTIMISED = "*.ir-no-opt.ll", "*.ir-with-opt.ll"


def function(x):
    shifted = jnp.sin(x) * 2
    return jnp.sort(shifted, axis=-1), jnp.cumsum(shifted[0])


@pytest.fixture
def inspection():
    return jaxscope.inspect(function, X)


@pytest.fixture
def compilations(monkeypatch):
    """Counts the compilations that are made for a dump."""
    made = []

    def counted(lowered, options, folder, original=_jax_dump.compile_with_dump):
        made.append(folder)
        original(lowered, options, folder)

    monkeypatch.setattr(_dumps.dump_texts, "__defaults__", (counted,))
    return made


def tab_of(inspection, key):
    return next(tab for tab in inspection._source.view["tabs"] if tab["key"] == key)


# The dump


def test_dump_leaves_nothing_behind(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    texts = _dumps.dump_texts(jax.jit(function).lower(X), None, (OPTIMISED,))
    assert texts and all(name.endswith(".ir-with-opt.ll") and text for name, text in texts.items())
    assert not list(tmp_path.iterdir())


def test_interrupted_dump_is_cleaned_up_by_the_thread_that_goes_on(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    began, go_on = threading.Event(), threading.Event()

    def slow(lowered, options, folder):
        (tmp_path / folder / "a.ll").write_text("define")
        began.set()
        go_on.wait(20)

    def interrupt(*_):
        assert began.wait(20)
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "join", interrupt)
    with pytest.raises(KeyboardInterrupt):
        _dumps.dump_texts(None, None, ("*.ll",), slow)
    monkeypatch.undo()
    assert list(tmp_path.iterdir())
    go_on.set()
    for thread in threading.enumerate():
        if thread.name == "jaxscope-compile":
            thread.join(20)
    assert not list(tmp_path.iterdir())


def test_persistent_cache_neither_answers_nor_grows(tmp_path):
    # In a process of its own: JAX decides once whether it uses the cache.
    code = f"""
import os, jax, jax.numpy as jnp
jax.config.update("jax_compilation_cache_dir", {str(tmp_path)!r})
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)
from jaxscope import _dumps
lowered = jax.jit(lambda x: jnp.sort(jnp.sin(x) * 2)).lower(jax.ShapeDtypeStruct((64,), jnp.float32))
lowered.compile()
before = sorted(os.listdir({str(tmp_path)!r}))
texts = [_dumps.dump_texts(lowered, None, ("*.ll",)) for _ in range(2)]
import json
print(json.dumps([before, sorted(os.listdir({str(tmp_path)!r})), [sorted(each.values()) for each in texts]]))
"""
    output = subprocess.run(
        [sys.executable, "-c", code], check=True, timeout=120, capture_output=True, text=True
    ).stdout
    before, after, (first, second) = json.loads(output.splitlines()[-1])
    assert before and {name.removesuffix("-atime") for name in after} == {
        name.removesuffix("-atime") for name in before
    }
    assert first and first == second


def test_listing_is_the_same_however_the_files_are_numbered():
    found = dump(RECORDED[0])
    texts = found.of(".ptx")
    turned = {f"{index:03}.ptx": text for index, text in enumerate(reversed(texts.values()))}
    listings = [
        _lower_level.make_dumped(_lower_level.LOWER_LISTINGS["ptx"], each, hlo.parse(found.hlo))
        for each in (texts, turned)
    ]
    assert listings[0].text == listings[1].text
    for text in texts.values():
        assert text in listings[0].text


# The inspection


def test_nothing_is_compiled_for_it_until_it_is_asked_for(inspection, compilations):
    before = str(inspection)
    for key in ("llvm_ir", "llvm_ir_unoptimised"):
        tab = tab_of(inspection, key)
        assert tab["status"] == "on request" and "compiling once more" in tab["reason"]
    assert "== LLVM IR · on request ==" in before
    assert not compilations
    assert inspection.llvm_ir.count("\ndefine ") and inspection.llvm_ir_unoptimised != inspection.llvm_ir
    assert len(compilations) == 1
    tab = tab_of(inspection, "llvm_ir")
    assert tab["status"] == "done" and tab["lines"] == inspection.llvm_ir.count("\n") + 1
    assert tab["count"].endswith("instructions") and tab["seconds"] > 0


def code_of(text):
    """A module without its metadata, whose numbers depend on which thread came first."""
    lines = (re.sub(r"![\w.]+(?: ![0-9]+)?", "!", line) for line in text.split("\n"))
    return "\n".join(line for line in lines if not line.startswith("!")).strip()


def test_text_is_made_of_whole_files_of_a_dump(inspection):
    expected = _dumps.dump_texts(inspection.lowered, None, (OPTIMISED,))
    start = "; ModuleID = "
    modules = [start + text for text in inspection.llvm_ir.split(start)[1:]]
    assert sorted(map(code_of, modules)) == sorted(map(code_of, expected.values()))


def test_kernel_lines_lead_to_python(inspection):
    index = inspection._source.index if inspection.llvm_ir else None
    columns = index("llvm_ir")
    lines = {columns["frames"][columns["stacks"][stack][0]][2] for stack in columns["line_stack"] if stack >= 0}
    first = function.__code__.co_firstlineno
    assert lines <= {first + 1, first + 2} and lines


def test_language_of_another_platform_is_refused_without_compiling(inspection, compilations):
    with pytest.raises(UnavailableError, match=r"Reading the PTX of function: it was compiled for cpu, .* Choose such"):
        _ = inspection.ptx
    assert "ptx" not in {tab["key"] for tab in inspection._source.view["tabs"]}
    assert not compilations


def test_program_without_code_of_its_own_says_so():
    inspection = jaxscope.inspect(lambda x: x, X)
    with pytest.raises(UnavailableError, match=r"wrote none \(\*\.ir-with-opt\.ll in its dump\)"):
        _ = inspection.llvm_ir
    assert tab_of(inspection, "llvm_ir")["status"] == "unavailable"


def test_compiled_program_without_its_lowering_cannot_be_compiled_again():
    inspection = jaxscope.inspect(jax.jit(function).lower(X).compile())
    assert "llvm_ir" not in {tab["key"] for tab in inspection._source.view["tabs"]}
    with pytest.raises(UnavailableError, match=r"no longer holds its StableHLO"):
        _ = inspection.llvm_ir


def test_compiler_that_fails_the_second_time_is_quoted(inspection, monkeypatch):
    def fail(*_):
        raise RuntimeError("no space left")

    monkeypatch.setattr(_dumps.dump_texts, "__defaults__", (fail,))
    with pytest.raises(UnavailableError, match=r"once more for its LLVM IR: RuntimeError: no space left"):
        _ = inspection.llvm_ir
    assert "no space left" in tab_of(inspection, "llvm_ir")["reason"]


def test_options_of_the_user_hold_for_the_second_compilation(monkeypatch):
    seen = []
    monkeypatch.setattr(_dumps.dump_texts, "__defaults__", (lambda lowered, options, folder: seen.append(options),))
    inspection = jaxscope.inspect(function, X, compiler_options={"xla_cpu_enable_fast_math": True})
    with pytest.raises(UnavailableError):
        _ = inspection.llvm_ir
    assert seen == [{"xla_cpu_enable_fast_math": True}]


# Pictures


def test_page_says_what_was_not_opened_and_holds_what_was(inspection, tmp_path):
    page = inspection.to_html(tmp_path / "a.html").read_text()
    number = [tab["key"] for tab in inspection._source.view["tabs"]].index("llvm_ir")
    assert f'id="jaxscope-{number}-text"' not in page
    assert NOT_OPENED.split(".")[0] in page
    page = inspection.to_html(tmp_path / "a.html", compile_again=True).read_text()
    assert f'id="jaxscope-{number}-text"' in page


def test_rendering_a_page_leaves_the_view_alone(inspection):
    class Source:
        view = inspection._source.view
        listing = staticmethod(inspection._source.listing)

    render_page(Source())
    assert tab_of(inspection, "llvm_ir")["status"] == "on request"
    assert next(tab for tab in Source.view["tabs"] if tab["key"] == "llvm_ir")["status"] == "on request"


@pytest.fixture
def widget(inspection, compilations):
    from jaxscope._render.widget import InspectionWidget

    widget = InspectionWidget(inspection._source)
    widget.sent = []
    widget.send = lambda content, buffers=None: widget.sent.append((content, buffers))
    widget.refresh()
    return widget


def ask(widget, key):
    """Does what the browser does: asks for a listing, part after part."""
    widget._on_message(widget, {"type": "listing", "key": key}, None)
    while (answer := widget.sent[-1][0])["type"] == "part":
        name, part = answer["name"], answer["part"] + 1
        if part == answer["parts"]:
            if name == "text":
                break
            name, part = "text", 0
        widget._on_message(widget, {"type": "next", "key": key, "name": name, "part": part}, None)
    return answer


def test_saved_notebook_has_only_what_was_opened(widget, compilations):
    assert not compilations
    assert "llvm_ir" not in widget.listings and NOT_OPENED in widget.left_out["llvm_ir"]
    assert ask(widget, "llvm_ir")["type"] == "part"
    assert len(compilations) == 1
    tab = next(tab for tab in widget.view["tabs"] if tab["key"] == "llvm_ir")
    assert tab["status"] == "done" and tab["lines"]
    assert widget.stored["llvm_ir"]["text"] and "llvm_ir" not in widget.left_out
    assert NOT_OPENED in widget.left_out["llvm_ir_unoptimised"]


def test_opened_listing_that_does_not_fit_is_left_out(widget):
    widget.saved_bytes = 0
    widget.refresh()
    assert ask(widget, "llvm_ir")["type"] == "part"
    assert "llvm_ir" not in widget.stored and "saved_bytes" in widget.left_out["llvm_ir"]


def test_interrupt_while_opening_is_an_answer(widget, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(_dumps.dump_texts, "__defaults__", (interrupt,))
    answer = ask(widget, "llvm_ir")
    assert answer["type"] == "failed" and "interrupted" in answer["reason"]
    assert next(tab for tab in widget.view["tabs"] if tab["key"] == "llvm_ir")["status"] == "on request"


# A GPU that is not there


def smooth(x, w):
    h = jnp.tanh(x @ w)
    return jax.nn.softmax(h), h[:3]


@CUDA
@CUDA_TEXT
def test_ptx_of_an_absent_gpu():
    inspection = jaxscope.inspect(smooth, "f32[64,128]", "f32[128,128]", target="cuda:h100")
    assert tab_of(inspection, "ptx")["status"] == "on request"
    kernels = re.findall(r"^\.visible \.entry (\w+)", inspection.ptx, re.MULTILINE)
    assert kernels and kernels == [
        # `define ptx_kernel void @fusion(`, in JAX 0.8 `define void @fusion(` among helpers that are `internal`
        name
        for name in re.findall(r"^define (?!internal)[^@\n]*@([\w.]+)\(", inspection.llvm_ir, re.MULTILINE)
        if name in kernels
    ]
    tab = tab_of(inspection, "ptx")
    assert tab["status"] == "done"
    assert f"{len(kernels)} kernels" in tab["notes"][0]
    listing = inspection._facts.listing("ptx")
    assert listing.linked_ops == len(listing.listing.ops) > 0
    lines = {frame.line for frame in listing.stacks.frames if frame.file == __file__}
    first = smooth.__code__.co_firstlineno
    assert lines and lines <= {first + 1, first + 2}
    # `  %fusion.1 = (f32[]) fusion(`: what PTX is named after, some of which are only copied
    fusions = re.findall(r"^  (?:ROOT )?%([\w.-]+) = .*? fusion\(", inspection.hlo, re.MULTILINE)
    assert set(kernels) <= {re.sub(r"\W", "_", name) for name in fusions}


@CUDA
@CUDA_TEXT
def test_compiler_of_an_absent_gpu_runs_in_the_worker_this_time_too(monkeypatch):
    def refuse(*_):
        raise AssertionError("compiled in the kernel's own process")

    monkeypatch.setattr(_dumps.dump_texts, "__defaults__", (refuse,))
    inspection = jaxscope.inspect(smooth, "f32[64,128]", "f32[128,128]", target="cuda:h100")
    assert ".entry" in inspection.ptx
