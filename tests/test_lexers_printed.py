"""The lexers on what compilers print: a corpus, recorded output, and what the installed JAX prints now.

The oracles are JAX's own objects and its own text without locations, and a counter of brackets; none of them is ours.
"""

import importlib.util
import re
from collections import Counter
from functools import cache

import jax
import pytest

from jaxscope.lexers.grammar import hidden_spans, restore, split_hidden, tokenize
from tests.programs import PROGRAMS
from tests.shared import ABSENT, SHARED, corpus_files, read_recorded, recorded_files
from tests.test_lexers import check_line, check_text

# JAX 0.12 moved it.
hlo_library = importlib.import_module("jaxlib._hlo" if importlib.util.find_spec("jaxlib._hlo") else "jaxlib._jax")


def balanced_end(line, start):
    """Where the bracket at `start` closes, by counting brackets outside strings; the oracle for the nested regexes."""
    depth, quoted, index = 0, False, start
    while index < len(line):
        character = line[index]
        if quoted:
            index += character == "\\"
            quoted = character != '"'
        elif character == '"':
            quoted = True
        elif character in "({":
            depth += 1
        elif character in ")}":
            depth -= 1
            if not depth:
                return index + 1
        index += 1
    raise AssertionError(line)


def check_brackets(dialect, line):
    kinds = ("location",) if dialect == "stablehlo" else ("metadata", "backend_config")
    for start, end, kind in hidden_spans(dialect, line):
        if kind in kinds and not line.startswith("#loc"):
            opening = re.compile(r'[({"]').search(line, start).start()
            assert balanced_end(line, opening) == end


def without_locations(debug_text):
    """Debug text as it would be without debug information, but for the numbers of lines."""
    lines = (split_hidden("stablehlo", line, frozenset({"location"})) for line in debug_text.split("\n"))
    return [clean for clean, hidden in lines if clean or not hidden]


# Text that compilers printed


def recorded_pairs():
    for dialect, pattern in {"jaxpr": "jaxpr*", "stablehlo": "stablehlo*", "hlo": "compiled*"}.items():
        for path in recorded_files(pattern):
            yield pytest.param(dialect, path, id=f"{path.parent.name}-{path.name}")


@pytest.mark.skipif(not SHARED, reason=ABSENT)
@pytest.mark.parametrize("path", corpus_files(), ids=lambda path: path.stem[:60])
def test_corpus(path):
    check_text("stablehlo", path.read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.skipif(not SHARED, reason=ABSENT)
@pytest.mark.parametrize(("dialect", "path"), recorded_pairs())
def test_recorded(dialect, path):
    lines = list(dict.fromkeys(read_recorded(path).split("\n")))
    sample = lines[:: max(1, len(lines) // 8000)] + sorted(lines, key=len)[-3:]
    for line in sample:
        check_line(dialect, line)
        check_brackets(dialect, line)
    for line in lines:
        clean, hidden = split_hidden(dialect, line)
        assert restore(clean, hidden) == line
        if dialect == "hlo":
            assert not re.search(r"metadata=|backend_config=|stack_frame_id|\]\{", clean), clean
        elif dialect == "stablehlo":
            assert "loc(" not in clean


@pytest.mark.skipif(not SHARED, reason=ABSENT)
@pytest.mark.parametrize("path", recorded_files("stablehlo-debug*"), ids=lambda path: path.parent.name)
def test_recorded_locations_put_away_leave_what_jax_prints_without_them(path):
    plain = read_recorded(path.with_name("stablehlo.mlir.gz")).split("\n")
    assert without_locations(read_recorded(path)) == plain


# Text that the installed JAX prints


@cache
def printed(name):
    function, arguments = PROGRAMS[name]
    traced = jax.jit(function).trace(*arguments)
    lowered = traced.lower()
    return traced, lowered, lowered.compile()


@pytest.mark.parametrize("name", PROGRAMS)
def test_live_text(name):
    traced, lowered, compiled = printed(name)
    check_text("jaxpr", str(traced.jaxpr))
    check_text("stablehlo", lowered.as_text())
    check_text("stablehlo", lowered.as_text(debug_info=True))
    check_text("hlo", compiled.as_text())
    assert without_locations(lowered.as_text(debug_info=True)) == lowered.as_text().split("\n")


def without_types(dialect, text):
    return [split_hidden(dialect, line, frozenset({"type"}))[0] for line in text.split("\n")]


@pytest.mark.parametrize("name", sorted(set(PROGRAMS) - {"printing"}))
def test_jaxpr_types_put_away_leave_what_jax_prints_without_them(name):
    jaxpr = printed(name)[0].jaxpr
    # JAX leaves out the types of variables only; without them it breaks lines and sets spaces elsewhere.
    texts = [str(jaxpr), jaxpr.pretty_print(print_shapes=False)]
    found, expected = (re.sub(r"[\s;]", "", "".join(without_types("jaxpr", text))) for text in texts)
    assert found == expected


@pytest.mark.parametrize("name", PROGRAMS)
def test_hlo_types_put_away_leave_what_xla_prints_without_them(name):
    module = printed(name)[1].compiler_ir("hlo").as_hlo_module()
    typed, plain = hlo_library.HloPrintOptions(), hlo_library.HloPrintOptions()
    typed.print_operand_shape = True
    plain.print_operand_shape = plain.print_result_shape = False
    expected = [line for line in module.to_string(plain).split("\n") if " = " in line]
    found = [line for line in without_types("hlo", module.to_string(typed)) if " = " in line]
    assert found == expected and found


@pytest.mark.parametrize("name", PROGRAMS)
def test_stablehlo_types_put_away_leave_values_and_attributes(name):
    for line in printed(name)[1].as_text().split("\n"):
        clean, _ = split_hidden("stablehlo", line, frozenset({"type"}))
        kinds = ("name", "definition", "op", "symbol", "string", "attribute", "keyword", "number")
        values = [[text for kind, text in tokenize("stablehlo", each) if kind in kinds] for each in (line, clean)]
        assert values[0] == values[1]
        assert not re.search(r"[:>] (?:tensor|tuple|\(tensor)", clean), clean


def sub_jaxprs(jaxpr):
    yield jaxpr
    for equation in jaxpr.eqns:
        for value in jax.tree.leaves(
            list(equation.params.values()), is_leaf=lambda leaf: hasattr(leaf, "eqns") or hasattr(leaf, "jaxpr")
        ):
            inner = getattr(value, "jaxpr", value)
            if hasattr(inner, "eqns"):
                yield from sub_jaxprs(inner)


# "printing" prints a line of the user's that looks like an equation; no grammar without state can tell.
@pytest.mark.parametrize("name", sorted(set(PROGRAMS) - {"printing"}))
def test_jaxpr_ops_are_the_primitives(name):
    traced, _, _ = printed(name)
    text = str(traced.jaxpr)
    tokens = [token for line in text.split("\n") for token in tokenize("jaxpr", line)]
    equations = [equation for jaxpr in sub_jaxprs(traced.jaxpr.jaxpr) for equation in jaxpr.eqns]
    # These three print as `a <- b[...]`, without a name.
    primitives = {equation.primitive.name for equation in equations} - {"get", "swap", "addupdate"}
    assert {token for kind, token in tokens if kind == "op"} == primitives


@pytest.mark.parametrize("name", PROGRAMS)
def test_stablehlo_ops_are_the_operations_of_the_module(name):
    _, lowered, _ = printed(name)
    operations = Counter()

    def count(operation):
        operations[operation.name] += 1
        for region in operation.regions:
            for block in region.blocks:
                for inner in block.operations:
                    count(inner.operation)

    module = lowered.compiler_ir("stablehlo")
    count(module.operation)
    text = module.operation.get_asm(print_generic_op_form=True, enable_debug_info=True)
    tokens = [token for line in text.split("\n") for token in tokenize("stablehlo", line)]
    assert Counter(text.strip('"') for kind, text in tokens if kind == "op") == operations


@pytest.mark.parametrize("name", PROGRAMS)
def test_hlo_instructions_have_one_definition_and_one_op(name):
    _, _, compiled = printed(name)
    for line in compiled.as_text().split("\n"):
        # "  ROOT %add.1 = f32[] add(%a, %b)"
        if instruction := re.match(r"  (?:ROOT )?(%?[^ ]+) = (?:\(.*?\)|[^ (]+) ([a-z-]+)\(", line):
            tokens = tokenize("hlo", line)
            assert [text for kind, text in tokens if kind == "definition"] == [instruction[1]]
            assert [text for kind, text in tokens if kind == "op"] == [instruction[2]]
            operand_names = {text for kind, text in tokens if kind == "name"}
            assert instruction[1] not in operand_names
