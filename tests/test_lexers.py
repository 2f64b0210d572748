"""The grammar explains all that JAX prints, keeps every character, finds what may be put away, and takes linear time.

The golden files are read by ``js/test/tokenize.test.js`` too, so they hold the two engines together. A golden file is
an input, its tokens, and the parts that may be put away, as ``line:column kind text`` counted from 1. A new one is a
file with an input, completed by ``pytest tests/test_lexers.py --update-goldens``.
"""

import json
import re
import subprocess
import sys
import time
from importlib.metadata import entry_points
from itertools import pairwise
from pathlib import Path

import pygments.lexers
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygments.token import Error

from jaxscope import lexers
from jaxscope.lexers import grammar
from jaxscope.lexers.grammar import hidden_spans, restore, split_hidden, tokenize

GOLDENS = Path(__file__).parent / "goldens" / "lexers"
DIALECTS = ("jaxpr", "stablehlo", "hlo", "llvm", "ptx")
TOKENS, HIDDEN = "\n---tokens---\n", "\n---hidden---\n"
EVERY_KIND = frozenset(grammar.HIDDEN_KINDS)
ALL_GOLDENS = sorted(GOLDENS.glob("*/*.txt"))


def check_line(dialect, line):
    """Every character is kept and explained, and taking the line apart loses nothing."""
    tokens = tokenize(dialect, line)
    assert "".join(text for _, text in tokens) == line
    assert all(text for _, text in tokens)
    assert [text for kind, text in tokens if kind == "error"] == [], line
    check_split(dialect, line)


def check_split(dialect, line):
    spans = hidden_spans(dialect, line)
    assert all(0 <= start < end <= len(line) for start, end, _ in spans)
    assert all(before.start <= after.start for before, after in pairwise(spans))
    for kinds in (grammar.DEFAULT_PUT_AWAY, EVERY_KIND - grammar.DEFAULT_PUT_AWAY):
        alike = [span for span in spans if span.kind in kinds]
        assert all(before.end <= after.start for before, after in pairwise(alike))
    for put_away in (grammar.DEFAULT_PUT_AWAY, EVERY_KIND, frozenset({"type"})):
        clean, hidden = split_hidden(dialect, line, put_away)
        assert restore(clean, hidden) == line


def check_text(dialect, text):
    for line in dict.fromkeys(text.split("\n")):
        check_line(dialect, line)


# Goldens


def render_golden(dialect, source):
    tokens, hidden = [], []
    for number, line in enumerate(source.split("\n"), 1):
        tokens += [(kind, text) for kind, text in tokenize(dialect, line)] + [("text", "\n")]
        hidden += [(number, *span, line[span.start : span.end]) for span in hidden_spans(dialect, line)]
    tokens.pop()
    return (
        source
        + TOKENS
        + "\n".join(f"{kind:<11} {json.dumps(text, ensure_ascii=False)}" for kind, text in tokens)
        + HIDDEN
        + "".join(
            f"{number}:{start + 1} {kind} {json.dumps(text, ensure_ascii=False)}\n"
            for number, start, _, kind, text in hidden
        )
    )


@pytest.mark.parametrize("path", ALL_GOLDENS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_golden(path, update_goldens):
    content = path.read_text(encoding="utf-8")
    source, complete, _ = content.partition(TOKENS)
    source = source if complete else content.removesuffix("\n")
    check_text(path.parent.name, source)
    rendered = render_golden(path.parent.name, source)
    if update_goldens:
        path.write_text(rendered, encoding="utf-8")
    assert complete or update_goldens, f"{path} has no tokens yet: run pytest {__file__} --update-goldens and read them"
    assert rendered == content or update_goldens


@pytest.mark.parametrize("dialect", DIALECTS)
def test_there_are_goldens(dialect):
    assert len(list((GOLDENS / dialect).glob("*.txt"))) >= 6


def test_goldens_show_every_kind_but_error():
    shown = {
        kind for path in ALL_GOLDENS for kind in re.findall(r"(?m)^([a-z]+) +\"", path.read_text().partition(TOKENS)[2])
    }
    assert shown == set(grammar.KINDS) - {"error"}


# The grammar as data


def all_rules():
    for dialect in DIALECTS:
        for group in ("rules", "hidden"):
            for index, rule in enumerate(grammar.load()["dialects"][dialect][group]):
                yield pytest.param(dialect, group, rule, id=f"{dialect}-{group}-{index}-{rule['kind']}")


@pytest.mark.parametrize(("dialect", "group", "rule"), all_rules())
def test_sample_is_matched_by_its_own_rule_first(dialect, group, rule):
    compiled = grammar._compile(dialect)
    pattern, rules = compiled.tokens, grammar.load()["dialects"][dialect][group]
    if group == "hidden":
        whole = rule["match"].startswith("^")
        pattern = compiled.whole_line if whole else compiled.hidden[rule["shown"]][0]
        rules = [other for other in rules if other["match"].startswith("^") == whole]
        rules = [other for other in rules if other["shown"] == rule["shown"]]
    assert rules.index(rule) + 1 in {found.lastindex for found in pattern.finditer(rule["sample"])}
    check_line(dialect, rule["sample"])


def test_regexes_keep_to_what_both_languages_read_alike():
    assert grammar.load()["version"] == 1
    texts = list(grammar.load()["parts"].values())
    for dialect in grammar.load()["dialects"].values():
        texts += [
            dialect["step_over"],
            dialect.get("names", "x"),
            *(rule["match"] for rule in dialect["rules"] + dialect["hidden"]),
        ]
    for text in texts:
        without_classes = re.sub(r"\[(?:\\.|[^\]\\])*\]", "", text)
        assert not re.search(r"\\[wWdDsSbBAZ]", text), text
        # No flags, names, comments or possessive repeats; V8 overflows on {100,} where {100} and * do not.
        assert not re.search(r"\(\?[P#aiLmsux>]|[*+?}]\+|(?<!\\)\{[0-9]+,\}", without_classes), text
        assert not re.compile(grammar.expand(text)).fullmatch("")
        assert re.compile(grammar.expand(text)).groups == 0
    assert {kind for dialect in DIALECTS for kind in grammar._compile(dialect).token_kinds[1:]} == set(grammar.KINDS)
    assert {"location", "metadata", "backend_config", "layout"} == grammar.DEFAULT_PUT_AWAY


@pytest.mark.parametrize("dialect", DIALECTS)
def test_rules_of_a_dialect_stand_alone(dialect):
    rules, whole = grammar.dialect_rules(dialect), grammar.load()
    for group in ("rules", "hidden"):
        for rule, original in zip(rules[group], whole["dialects"][dialect][group], strict=True):
            assert rule == {name: original[name] for name in original if name != "sample"}
    parts = dict(rules["parts"])
    texts = [rules["names"], rules["step_over"], *(rule["match"] for rule in rules["rules"] + rules["hidden"])]
    while texts:
        for name in re.findall(r"<<([a-z_0-9]+)>>", texts.pop()):
            assert rules["parts"][name] == whole["parts"][name]
            if parts.pop(name, None):
                texts.append(rules["parts"][name])
    assert parts == {}


def test_unknown_dialect_is_said():
    with pytest.raises(ValueError, match=r"Tokenising a line: there is no dialect 'mhlo'\. Use one of hlo, jaxpr"):
        tokenize("mhlo", "")


# What is put away


@pytest.mark.parametrize(
    ("dialect", "line", "clean"),
    [
        ("stablehlo", '  %0 = a.b %x {t = " loc(y)"} : i32 loc("z("(#loc1))', '  %0 = a.b %x {t = " loc(y)"} : i32'),
        ("stablehlo", "func.func @f(%a: i32 loc(unknown), %b: i1 loc(#loc2)) {", "func.func @f(%a: i32, %b: i1) {"),
        ("stablehlo", '#loc = loc("a.py":1:2 to :3)', ""),
        ("stablehlo", '%0 = memref.alloc(%1) "alloc(" loc(', '%0 = memref.alloc(%1) "alloc(" loc('),
        ("hlo", '  %a = f32[2]{0} b(), metadata={op_name="}, metadata={\\"}"}, c=1', "  %a = f32[2] b(), c=1"),
        ("hlo", '  %a = f32[] b(), backend_config={"a":{"b":[{"c":"}"}]}}', "  %a = f32[] b()"),
        ("hlo", r'  %a = f32[] b(), backend_config="{\"a\":1}", c=1', "  %a = f32[] b(), c=1"),
        ("hlo", "  %a = (f32[8,1]{1,0:T(8,128)S(1)}, u32[]{:S(2)}) b(), dimensions={0}", None),
        ("hlo", '  %a = f32[] b(), t=", metadata={x}"', '  %a = f32[] b(), t=", metadata={x}"'),
        ("hlo", "StackFrames", ""),
        ("hlo", "12 {file_location_id=12 parent_frame_id=2}", ""),
        ("hlo", '3 "a \\"b\\" {c}.py"', ""),
        ("jaxpr", "    b:f32[] = sin a    # a.py:3:4 (f.<locals>.<lambda>)", "    b:f32[] = sin a"),
        ("jaxpr", "      fmt={x}   # not (a comment)", "      fmt={x}   # not (a comment)"),
    ],
)
def test_put_away_by_default(dialect, line, clean):
    expected = "  %a = (f32[8,1], u32[]) b(), dimensions={0}" if clean is None else clean
    assert split_hidden(dialect, line)[0] == expected


@pytest.mark.parametrize(
    ("dialect", "line", "clean"),
    [
        ("jaxpr", "    a:f32[8] b:Ref<default>{f32[]} = mul 2.0:f32[] m:bf16[8@x,16]{V:(x,y)}", "    a b = mul 2.0 m"),
        ("jaxpr", "    c:i32[] = f[name=g x='a:f32[8]' dtype=int32] a", "    c = f[name=g x='a:f32[8]' dtype=int32] a"),
        ("jaxpr", "{ lambda a:f32[2]; b:key<fry>[] c:f32[]. let", "{ lambda a; b c. let"),
        (
            "stablehlo",
            "  %0 = stablehlo.add %arg0, %c : tensor<2x!quant.uniform<i8:f32, 2.0:1>>",
            "  %0 = stablehlo.add %arg0, %c",
        ),
        ("stablehlo", "  %0:2 = f.w(%a = %b, %c = %d) : tensor<i32>, tensor<2xf32>", "  %0:2 = f.w(%a = %b, %c = %d)"),
        (
            "stablehlo",
            "    }) {d = array<i64: 1>} : (tensor<2xf32>) -> (tensor<f32>, !a.token) loc(#loc1)",
            "    }) {d = array<i64: 1>}",
        ),
        (
            "stablehlo",
            '  %1 = a.b "x : tensor<f32>", 1 : i32 : () -> tensor<f32>',
            '  %1 = a.b "x : tensor<f32>", 1 : i32',
        ),
        (
            "stablehlo",
            '  func.func @f(%a: tensor<f32> {b.c = "d"}, %e: tensor<i1>) -> tensor<f32> {',
            '  func.func @f(%a {b.c = "d"}, %e) {',
        ),
        (
            "stablehlo",
            '  func.func @f() -> (tensor<f32> {b.c = "d"}, tensor<f32> {b.c = "e"}) {',
            '  func.func @f() -> ({b.c = "d"}, {b.c = "e"}) {',
        ),
        ("stablehlo", "  ^bb0(%a: tensor<f32>, %b: tuple<tensor<i1>, tensor<f32>>):", "  ^bb0(%a, %b):"),
        ("stablehlo", "  return", "  return"),
        (
            "hlo",
            "  %w.1 = (s32[], /*index=1*/f32[8,128]{1,0:T(8,128)S(1)}) while(%t), body=%b",
            "  %w.1 = while(%t), body=%b",
        ),
        (
            "hlo",
            '  ROOT %a = f8e4m3fn[<=8]{0} add(f32[8]{0} %b, %c), metadata={op_name="x = f32[8] y"}',
            "  ROOT %a = add(%b, %c)",
        ),
        ("hlo", "%f (p.1: f32[8], q: (s32[], (f32[2]{0}, token[]))) -> (f32[8], f32[]) {", "%f (p.1, q) {"),
        (
            "hlo",
            '  %c = f32[] custom-call(), custom_call_target="a: f32[8], b"',
            '  %c = custom-call(), custom_call_target="a: f32[8], b"',
        ),
    ],
)
def test_types_put_away_too(dialect, line, clean):
    put_away = grammar.DEFAULT_PUT_AWAY | {"type"}
    taken, hidden = split_hidden(dialect, line, put_away)
    assert taken == clean and restore(taken, hidden) == line


# Any text at all


@given(st.sampled_from(DIALECTS), st.text())
def test_any_text_is_kept(dialect, line):
    assert "".join(text for _, text in tokenize(dialect, line)) == line
    check_split(dialect, line)


PIECES = [" loc(", 'loc("', ", metadata={", ", backend_config=", '{"a":', '"', "\\", "'", "(", ")", "{", "}", "[", "]"]
PIECES += [
    "<",
    ">",
    "->",
    "#loc = ",
    "# ",
    "a:f32[",
    "]{1,0}",
    "%a",
    " = ",
    "tensor<",
    "dense<",
    "/*",
    "*/",
    "fmt=",
    "λ",
]
PIECES += ["1e-", "  ", "\ud800", "\U0001f600", "\r", "\n", "x" * 120, "constant({", "})"]


@given(st.sampled_from(DIALECTS), st.lists(st.sampled_from(PIECES)).map("".join))
def test_any_pieces_are_kept(dialect, line):
    assert "".join(text for _, text in tokenize(dialect, line)) == line
    check_split(dialect, line)


ADVERSARIAL = [
    ("hlo", '"\\'), ("hlo", '\\"'), ("hlo", ", metadata={"), ("hlo", ', metadata={"'), ("hlo", "]{1,"), ("hlo", "/*"),
    ("hlo", ": ("), ("hlo", ": (()"), ("hlo", ' = ("'), ("hlo", " -> (a"), ("hlo", ": () "), ("hlo", " = (f32[]) "),
    ("hlo", "constant({"), ("hlo", "%a, "), ("hlo", "1e-"), ("hlo", '{"a":['), ("hlo", "a"), ("hlo", "{1}"),
    ("stablehlo", " loc("), ("stablehlo", ' loc(""'), ("stablehlo", "tensor<"), ("stablehlo", "->"),
    ("stablehlo", "%a, "), ("stablehlo", " "), ("stablehlo", "a."), ("stablehlo", "dense<["), ("stablehlo", "0"),
    ("stablehlo", 'dense<"0x0'), ("stablehlo", " : (tensor<a>, "), ("stablehlo", " -> ("), ("stablehlo", ": tuple<"),
    ("stablehlo", " : (tensor<a>) -> ("),
    ("stablehlo", "<->"), ("stablehlo", "tensor<a>, "), ("stablehlo", "@a."),
    ("llvm", '"\\'), ("llvm", "!a "), ("llvm", ", !a !1"), ("llvm", "%a = "), ("llvm", '@"'), ("llvm", ' c"'),
    ("llvm", "0x"), ("llvm", "a."), ("llvm", "add "), ("llvm", "f0x1"), ("llvm", "%a:"),
    ("ptx", "\t%r,"), ("ptx", "a.b"), ("ptx", "a::"), ("ptx", "= {0,"), ("ptx", "/*"), ("ptx", "$"), ("ptx", "f("),
    ("ptx", ".b32x"), ("ptx", "%r.x"), ("ptx", "0f"), ("ptx", '"'),
    ("jaxpr", "\\'"), ("jaxpr", "a:b<"), ("jaxpr", "a:b["), ("jaxpr", "a:Ref{"), ("jaxpr", " # )"), ("jaxpr", "<a"),
    ("jaxpr", "<a<b>"), ("jaxpr", "fmt="), ("jaxpr", "   # "), ("jaxpr", "a."), ("jaxpr", "'"), ("jaxpr", "#"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("dialect", "piece"), ADVERSARIAL)
def test_time_is_linear(dialect, piece):
    def seconds(length):
        line = ("  %a = f32[] " + piece * length)[:length]
        best = float("inf")
        for _ in range(3):
            start = time.perf_counter()
            tokenize(dialect, line)
            hidden_spans(dialect, line)
            best = min(best, time.perf_counter() - start)
        return best

    # A busy machine makes one measurement of a linear rule look worse; a quadratic one never looks linear.
    ratios = (seconds(32_000) / max(seconds(16_000), 0.001) for _ in range(5))
    assert any(ratio < 3.5 for ratio in ratios)


# Pygments

LEXERS = list(lexers.LEXERS.values())


@pytest.mark.parametrize("path", ALL_GOLDENS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_lexer_gives_the_tokens_of_the_grammar(path):
    source = path.read_text(encoding="utf-8").partition(TOKENS)[0]
    lexer = lexers.LEXERS[path.parent.name]
    tokens = list(lexer().get_tokens_unprocessed(source))
    assert all(source.startswith(text, offset) for offset, _, text in tokens)
    assert "".join(text for _, _, text in tokens) == source
    expected = [
        (lexers.TOKEN_TYPES[kind], text)
        for line in source.split("\n")
        for kind, text in tokenize(path.parent.name, line)
    ]
    assert [(token, text) for _, token, text in tokens if text != "\n"] == expected
    assert Error not in {token for _, token, _ in tokens}


def test_a_character_that_no_rule_explains_is_an_error():
    assert (8, Error, "\x00") in list(lexers.HloLexer().get_tokens_unprocessed("ROOT %a \x00"))
    assert set(lexers.TOKEN_TYPES) == set(grammar.KINDS)


@pytest.mark.parametrize("lexer", LEXERS)
def test_lexer_has_what_pygments_lists(lexer):
    assert lexer.name and lexer.aliases and lexer.filenames and lexer.mimetypes and lexer.url.startswith("https://")
    guesses = {other: other.analyse_text(next((GOLDENS / lexer.dialect).glob("*.txt")).read_text()) for other in LEXERS}
    assert max(guesses, key=guesses.get) is lexer


@pytest.mark.parametrize("lexer", LEXERS)
def test_pygments_finds_the_lexer_by_every_alias(lexer):
    if not entry_points(group="pygments.lexers", name=lexer.aliases[0]):
        pytest.skip("jaxscope is on the path but not installed, so it has no entry points")
    for alias in lexer.aliases:
        assert type(pygments.lexers.get_lexer_by_name(alias)) is lexer


def test_importing_the_lexers_does_not_import_jax():
    code = "import sys, jaxscope.lexers; assert not {'jax', 'jaxlib'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
