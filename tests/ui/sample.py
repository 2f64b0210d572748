"""A source made by hand, for tests of the screen: the attention example, a failure, hostile texts, long listings.

It is over 400 lines because it is nearly all data.
"""

import json

from jaxscope._view.model import SCHEMA_VERSION, FailureView, ListingIndex, Mark, Tab, Table, View
from jaxscope.lexers.grammar import dialect_rules

PYTHON = """\
attention.py

def attention(q, k, v):
    s = jnp.einsum("htd,hsd->hts", q, k)
    s = s / jnp.sqrt(q.shape[-1])
    p = softmax(s)
    return jnp.einsum("hts,hsd->htd", p, v)

layers.py

def softmax(x):
    e = jnp.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)"""
PYTHON_NUMBERS = [0, 0, 11, 12, 13, 14, 15, 0, 0, 0, 3, 4, 5]
PYTHON_PLACES = [-1, -1, 0, 0, 0, 0, 0, -1, -1, -1, 1, 1, 1]

JAXPR = """\
{ lambda ; a:f32[8,128,64] b:f32[8,128,64] c:f32[8,128,64]. let
    d:f32[8,128,128] = dot_general[
      dimension_numbers=(([2], [2]), ([0], [0]))
      preferred_element_type=float32
    ] a b
    e:f32[] = sqrt 64.0:f32[]
    f:f32[8,128,128] = div d e
    g:f32[8,128] = reduce_max[axes=(2,) out_sharding=None] f
    h:f32[8,128,1] = broadcast_in_dim[broadcast_dimensions=(0, 1) shape=(8, 128, 1)] g
    i:f32[8,128,128] = sub f h
    j:f32[8,128,128] = exp i
    k:f32[8,128] = reduce_sum[axes=(2,)] j
    l:f32[8,128,128] = div j k
    m:f32[8,128,64] = dot_general[dimension_numbers=(([2], [1]), ([0], [0]))] l c
  in (m,) }"""
# In order: einsum, sqrt, div, the call of softmax; in layers.py max, exp, sum, div; einsum.
FRAMES = [
    [0, 0, 12, 9, 12, 43],
    [0, 0, 13, 13, 13, 34],
    [0, 0, 13, 9, 13, 34],
    [0, 0, 14, 9, 14, 19],
    [1, 1, 4, 21, 4, 47],
    [1, 1, 4, 9, 4, 48],
    [1, 1, 5, 16, 5, 38],
    [1, 1, 5, 12, 5, 38],
    [0, 0, 15, 12, 15, 44],
]
STACKS = [[0, -1], [1, -1], [2, -1], [3, -1], [4, 3], [5, 3], [6, 3], [7, 3], [8, -1]]
JAXPR_STACKS = [-1, 0, -1, -1, -1, 1, 2, 4, 4, 5, 5, 6, 7, 8, -1]

HLO = """\
HloModule jit_attention, is_scheduled=true, entry_computation_layout={(f32[8,128,64]{2,1,0})->f32[8,128,64]{2,1,0}}

FileNames
1 "attention.py"
2 "layers.py"

%fused_computation (p: f32[8,128,128]) -> f32[8,128,128] {
  %p = f32[8,128,128]{2,1,0} parameter(0)
  ROOT %e = f32[8,128,128]{2,1,0} exponential(%p), metadata={op_name="jit(attention)/exp" stack_frame_id=5}
}

ENTRY %main (q: f32[8,128,64], k: f32[8,128,64], v: f32[8,128,64]) -> f32[8,128,64] {
  %q = f32[8,128,64]{2,1,0} parameter(0), metadata={op_name="q"}
  %k = f32[8,128,64]{2,1,0} parameter(1), metadata={op_name="k"}
  %v = f32[8,128,64]{2,1,0} parameter(2), metadata={op_name="v"}
  %copy.1 = f32[8,128,64]{1,2,0} copy(%k)
  %dot.3 = f32[8,128,128]{2,1,0} dot(%q, %copy.1), lhs_batch_dims={0}, rhs_batch_dims={0}, metadata={stack_frame_id=1}
  %fusion.2 = f32[8,128,128]{2,1,0} fusion(%dot.3), kind=kLoop, calls=%fused_computation, metadata={stack_frame_id=6}
  ROOT %dot.4 = f32[8,128,64]{2,1,0} dot(%fusion.2, %v), lhs_batch_dims={0}, metadata={op_name="jit(attention)/dot"}
}"""
HLO_STACKS = [-1] * 8 + [5] + [-1] * 3 + [-1, -1, -1, -2, 0, 5, 8, -1]

# One of each kind of text that must stay text.
HOSTILE = [
    "<script>window.pwned = 1; alert(1)</script>",
    '<img src=x onerror="window.pwned = 2; alert(2)">',
    "\"'><b onmouseover=alert(3)>&amp;",
    "\x1b[31mred\x1b[0m\x07",
    "abc\u202edcba\u2066\u200f\u200b",
    "</script><!-- --></style></textarea><svg/onload=alert(4)>",
    "javascript:alert(5)",
]


def listing_index(key: str, dialect: str, text: str, **columns) -> ListingIndex:
    """An index of the right shape for `text`, with everything not given empty."""
    count = text.count("\n") + 1
    index: dict = {
        "key": key,
        "dialect": dialect,
        "grammar": None if dialect == "python" else dialect_rules(dialect),
        "numbers": [],
        "line_stack": [-1] * count,
        "line_path": [-1] * count,
        "line_place": [],
        "spans": [],
        "folds": [],
        "files": ["attention.py", "layers.py"],
        "functions": ["attention", "softmax"],
        "frames": [],
        "stacks": [],
        "paths": [],
        "tokens": [],
        "short_names": {},
        "coverage": [0, 0],
        "op_line": [],
        "op_operands": [],
        "operand_source": [],
        "calls": [],
        "start": 0,
    }
    index.update(columns)
    assert len(index["line_stack"]) == len(index["line_path"]) == count
    return index  # type: ignore[return-value]


def tab(key: str, title: str, kind: str = "listing", **fields) -> Tab:
    """A finished tab with everything not given empty."""
    made: dict = {
        "key": key,
        "title": title,
        "kind": kind,
        "status": "done",
        "count": "",
        "seconds": None,
        "reason": "",
        "failure": None,
        "figures": [],
        "tables": [],
        "notes": [],
        "targets": [],
    }
    made.update(fields)
    return made  # type: ignore[return-value]


def column(key: str, label: str, align: str = "left") -> dict:
    return {
        "key": key,
        "label": label,
        "align": align,
        "code": key in ("place", "op", "path", "compiled", "called"),
        "help": f"What it is: {label}. Where it comes from: the sample.",
    }


def table(key: str, title: str, columns: list, rows: list, **fields) -> Table:
    made: dict = {
        "key": key,
        "title": title,
        "source": "the sample",
        "summary": "",
        "tone": "",
        "columns": columns,
        "rows": [row if isinstance(row, dict) else {"cells": row, "tone": "", "marks": []} for row in rows],
        "notes": [],
        "targets": [],
        "empty": "",
    }
    made.update(fields)
    return made  # type: ignore[return-value]


# Addresses that must not become links, as near to one that may as can be.
NO_PAGES = [
    "",
    "javascript:alert(6)//https://docs.jax.dev/",
    "http://docs.jax.dev/en/latest/errors.html",
    "https://docs.jax.dev.example.com/en/latest/errors.html",
    "https://docs.jax.dev@example.com/",
    "https://docs.jax.dev:8443/",
    "//docs.jax.dev/en/latest/errors.html",
    " https://docs.jax.dev/en/latest/errors.html",
]


class SampleSource:
    """A source over a dictionary of listings; a value that is an exception is raised."""

    def __init__(self, view: View, listings: dict) -> None:
        self.view = view
        self.listings = listings

    def listing(self, key: str) -> tuple[bytes, bytes]:
        found = self.listings[key]
        if isinstance(found, Exception):
            raise found
        index, text = found
        return json.dumps(index).encode(), text.encode()


def view(tabs: list, **fields) -> View:
    made: dict = {
        "schema": SCHEMA_VERSION,
        "title": "attention(q: f32[8,128,64], k: f32[8,128,64], v: f32[8,128,64]) → f32[8,128,64]",
        "function": "attention",
        "targets": [{"name": "tpu:v5e:2x2", "label": "TPU v5e, 2×2 — compile only"}],
        "choices": [],
        "versions": "JAX 0.10.2, jaxlib 0.10.2",
        "notes": [],
        "tabs": tabs,
        "heat": {},
        "marks": [],
    }
    made.update(fields)
    return made  # type: ignore[return-value]


def python_tokens(text: str) -> list:
    """Rough tokens of Python, enough for colours: keywords, strings and numbers."""
    import re

    kinds = [
        ("keyword", r"\b(?:def|return)\b"),
        ("string", r'"[^"]*"'),
        ("number", r"\b\d+(?:\.\d+)?\b"),
        ("op", r"(?<=def )\w+"),
    ]
    pattern = re.compile("|".join(f"(?P<{kind}>{regex})" for kind, regex in kinds) + r"|(?P<text>.)")
    lines = []
    for line in text.split("\n"):
        runs: list = []
        for found in pattern.finditer(line):
            runs.append([found.lastgroup, len(found[0])])
        lines.append(runs)
    return lines


def python_listing() -> tuple:
    return (
        listing_index(
            "python",
            "python",
            PYTHON,
            numbers=PYTHON_NUMBERS,
            line_place=PYTHON_PLACES,
            tokens=python_tokens(PYTHON),
        ),
        PYTHON,
    )


def attention() -> SampleSource:
    """Every stage done, reports with a mismatch."""
    shared = {"frames": FRAMES, "stacks": STACKS}
    paths = ["jit(attention)/htd,hsd->hts/dot_general", "jit(attention)/div"]
    jaxpr = listing_index(
        "jaxpr",
        "jaxpr",
        JAXPR,
        line_stack=JAXPR_STACKS,
        line_path=[-1, 0, *[-1] * 4, 1, *[-1] * 8],
        spans=[[1, 4]],
        folds=[[0, 14, "jaxpr", False], [1, 4, "parameters", False]],
        paths=paths,
        coverage=[9, 9],
        **shared,
    )
    hlo = listing_index(
        "hlo",
        "hlo",
        HLO,
        line_stack=HLO_STACKS,
        line_path=[*[-1] * 16, 0, -1, -1, -1],
        folds=[[2, 4, "locations", True], [6, 9, "computation", False], [11, 19, "computation", False]],
        calls=[17, 11],
        paths=paths,
        short_names={"fused_computation": "fc", "fusion": "fus"},
        coverage=[8, 9],
        **shared,
    )
    cost = table(
        "cost",
        "Cost by Python line",
        [
            column("place", "Python line"),
            column("op", "operation"),
            column("flops", "FLOPs", "right"),
            column("share", "share", "right"),
        ],
        [
            ["attention.py:14", "reduce, exp, div", "0.9 M", "2.6 %"],
            ["attention.py:12", "dot_general", "16.8 M", "48.5 %"],
            ["attention.py:15", "dot_general", "16.9 M", "48.9 %"],
            ["layers.py:4", "exp", "940 k", "—"],
        ],
        summary="34.6 MFLOP with loops counted",
        notes=["Transcendentals are counted apart."],
    )
    types = table(
        "types",
        "Types",
        [
            column(key, key.replace("_", " "))
            for key in ("argument", "compiled_for", "called_with", "what_differs", "what_to_do")
        ],
        [
            ["q", "f32[8,128,64]", "f32[8,128,64]", "—", ""],
            {
                "cells": [
                    "k",
                    "f32[8,128,64]",
                    "f64[8,128,64]",
                    "dtype: float32 → float64",
                    "cast with k.astype('float32'), or compile again",
                ],
                "tone": "error",
                "marks": [2, 3],
            },
            ["v", "f32[8,128,64]", "f32[8,128,64]", "—", ""],
        ],
        summary="1 of 3 arguments differs from the compiled signature",
        tone="error",
    )
    memory = table(
        "memory", "Memory", [column("part", "part"), column("size", "size", "right")], [], empty="XLA gave no figures."
    )
    tabs = [
        tab("python", "Python", count="attention.py", lines=13, size_bytes=len(PYTHON)),
        tab("jaxpr", "Jaxpr", count="9 eqns", seconds=0.0041, lines=15, size_bytes=len(JAXPR)),
        tab("stablehlo", "StableHLO", status="unavailable", reason="The sample has no StableHLO."),
        tab("hlo", "Compiled HLO", count="4 kernels", seconds=0.212, lines=20, size_bytes=len(HLO)),
        tab("cost", "Cost", "tables", count="34.6 MFLOP", tables=[cost]),
        tab("memory", "Memory", "tables", count="2.1 MiB peak", tables=[memory]),
        tab("types", "Types", "tables", count="1 mismatch", tables=[types]),
    ]
    return SampleSource(view(tabs), {"python": python_listing(), "jaxpr": (jaxpr, JAXPR), "hlo": (hlo, HLO)})


def failure_view(**fields) -> FailureView:
    """A failure with everything not given empty."""
    made: dict = {
        "headline": "",
        "found": "",
        "message": "",
        "advice": "",
        "page": "",
        "places": [],
        "expression": "",
        "operands": [],
        "mismatches": None,
        "traceback": "",
    }
    made.update(fields)
    return made  # type: ignore[return-value]


def mark(listing: str, line: int, tone: str, text: str, note: str = "") -> Mark:
    return {"listing": listing, "line": line, "tone": tone, "text": text, "note": note}  # type: ignore[typeddict-item]


def failed() -> SampleSource:
    """A trace that stopped in a way that nothing recognises, and what follows it not reached."""
    failure = {
        "headline": "Indexing with a boolean mask while tracing, attention.py:13.",
        "message": "The result would have as many elements as the mask has True, and shapes are fixed before that.",
        "advice": "Keep the shape and blank out the rest: `jnp.where(mask, x, 0)`, or give a size.",
        "places": [
            {
                "file": "attention.py",
                "line": 13,
                "column": 9,
                "function": "attention",
                "text": "s = s / jnp.sqrt(q.shape[-1])",
            },
            {
                "file": "jax/numpy/indexing.py",
                "line": 610,
                "column": 1,
                "function": "_index",
                "text": "raise errors.NonConcrete…",
            },
        ],
        "traceback": "Traceback (most recent call last):\n  …\nNonConcreteBooleanIndexError: …",
    }
    tabs = [
        tab("python", "Python", count="attention.py", lines=13, size_bytes=len(PYTHON)),
        tab(
            "jaxpr", "Jaxpr", status="failed", seconds=0.003, reason="tracing stopped", failure=failure_view(**failure)
        ),
        tab("stablehlo", "StableHLO", status="not reached", reason="Tracing failed."),
        tab("hlo", "Compiled HLO", status="not reached", reason="Tracing failed."),
        tab("cost", "Cost", "tables", status="not reached", reason="Tracing failed."),
    ]
    marks = [mark("python", 4, "error", "The mask decides the shape.", "q: f32[8,128,64]")]
    return SampleSource(view(tabs, title="keep(x: f32[8]) → ?", marks=marks), {"python": python_listing()})


def failed_in_a_loop() -> SampleSource:
    """A trace that stopped in the body of a loop: what was traced until then, and the leaves that differ."""
    source = attention()
    words = "scan body function carry input and carry output must have equal types, but they differ."
    columns = [column("path", "Path"), column("in", "Goes in"), column("out", "Comes out"), column("how", "How")]
    mismatches = table(
        "carry",
        "What differs between input and output of the body",
        columns,
        [["carry['count']", "int32[]", "float32[]", "the dtypes do not match"], ["carry['sum']", "a", "b", "c"]],
    )
    failure = failure_view(
        headline="Tracing the function stopped with TypeError, layers.py:4.",
        found="What a loop carries changes its type in the body: `carry['count']` comes out as float32[].",
        message=words,
        advice="Start from a carry of the type that comes out.",
        page="https://docs.jax.dev/en/latest/_autosummary/jax.lax.scan.html",
        places=[
            {
                "file": "layers.py",
                "line": 4,
                "column": 9,
                "function": "softmax",
                "text": "    e = jnp.exp(x - x.max())",
            },
            {"file": "attention.py", "line": 14, "column": 9, "function": "attention", "text": "    p = softmax(s)"},
        ],
        expression="jnp.exp(x - x.max(-1, keepdims=True))",
        operands=[{"expression": "x", "type": "f32[8,128,128]"}],
        mismatches=mismatches,
        traceback="Traceback (most recent call last):\n  …\nTypeError: …",
    )
    jaxpr = source.view["tabs"][1]
    jaxpr.update(status="failed", count="9 equations, up to the failure", failure=failure, reason=words)
    jaxpr["notes"] = ["UserWarning: beware", "100 % of equations linked to Python (9 of 9)."]
    source.view["tabs"][2:] = [
        tab("stablehlo", "StableHLO", status="not reached", reason="Tracing failed."),
        tab("hlo", "Compiled HLO", status="not reached", reason="Tracing failed."),
    ]
    source.view["marks"] = [
        mark("python", 11, "error", failure["found"], "x: f32[8,128,128]"),
        mark("python", 5, "muted", "On the call stack of the failure."),
        mark("jaxpr", 14, "error", "Tracing stopped here.", "tracing stopped here"),
        mark("jaxpr", 6, "warning", "All in 32 bits.", "64 MiB"),
    ]
    return source


def running() -> SampleSource:
    """The compile is under way."""
    source = attention()
    tabs = source.view["tabs"]
    tabs[3] = tab("hlo", "Compiled HLO", status="running")
    for at in (4, 5, 6):
        tabs[at] = tab(tabs[at]["key"], tabs[at]["title"], "tables", status="pending")
    return source


def hostile() -> SampleSource:
    """Every text field holds something that would do harm as markup, and one listing cannot be made."""
    evil = " ".join(HOSTILE)
    lines = [*HOSTILE, *(f"%{number} = add({text})" for number, text in enumerate(HOSTILE))]
    text = "\n".join(lines)
    count = len(lines)
    index = listing_index(
        "hlo",
        "hlo",
        text,
        files=[evil, HOSTILE[0]],
        functions=[evil, HOSTILE[1]],
        frames=[[0, 0, 1, 1, 1, 2]],
        stacks=[[0, -1]],
        line_stack=[0] * count,
        line_path=[0] * count,
        paths=[evil],
        folds=[[2, 4, evil, False], [7, 9, HOSTILE[1], True]],
        coverage=[1, count],
    )
    python = listing_index(
        "python",
        "python",
        text,
        files=[evil],
        numbers=list(range(1, count + 1)),
        line_place=[0] * count,
        tokens=[[[HOSTILE[2], len(line)]] for line in lines],
    )
    place = {"file": evil, "line": 1, "column": 1, "function": evil, "text": evil}
    failure = failure_view(
        headline=evil,
        found=evil,
        message=evil,
        advice=f"`{evil}`",
        page=HOSTILE[6],
        places=[place],
        expression=evil,
        operands=[{"expression": evil, "type": evil}],
        traceback=evil,
    )
    columns = [{"key": evil, "label": evil, "align": "left", "code": True, "help": evil}]
    evil_table = table(
        evil,
        evil,
        columns,
        [{"cells": [text], "tone": "error", "marks": [0]} for text in HOSTILE],
        source=evil,
        summary=evil,
        tone="error",
        notes=[evil],
        empty=evil,
    )
    failure["mismatches"] = evil_table
    tabs = [
        tab("python", evil, count=evil, lines=count, reason=evil, notes=[evil]),
        tab(HOSTILE[2], evil, count=evil, lines=count, reason=evil),
        tab("hlo", evil, count=evil, status="failed", failure=failure, lines=count, reason=evil),
        tab("evil", evil, "tables", count=evil, tables=[evil_table], notes=[evil], reason=evil),
    ]
    made = view(tabs, title=evil, function=evil, targets=[{"name": evil, "label": evil}], versions=evil, notes=[evil])
    made["marks"] = [mark("python", 1, "error", evil, evil), mark("hlo", 2, "warning", evil, evil)]
    listings = {"python": (python, text), "hlo": (index, text), HOSTILE[2]: ValueError(evil)}
    return SampleSource(made, listings)


def long(line_count: int = 25_000, long_line: int = 48_000) -> SampleSource:
    """A listing of many lines, one of them very long."""
    lines = [
        f"  %add.{number} = f32[8,128]{{1,0}} add(%add.{number - 1}, %c.{number % 97})" for number in range(line_count)
    ]
    lines[10] = "  %tuple = (" + ", ".join(f"f32[{number}]" for number in range(long_line // 10)) + ") tuple()"
    text = "\n".join(lines)
    index = listing_index(
        "hlo",
        "hlo",
        text,
        frames=FRAMES,
        stacks=STACKS,
        line_stack=[(-1, 0, 5, 8)[number % 4] if number % 1000 < 4 else -1 for number in range(line_count)],
        coverage=[line_count - 1, line_count],
    )
    tabs = [
        tab("python", "Python", count="attention.py", lines=13),
        tab("hlo", "Compiled HLO", count=f"{line_count:,} ops", seconds=92.5, lines=line_count, size_bytes=len(text)),
    ]
    return SampleSource(view(tabs), {"python": python_listing(), "hlo": (index, text)})
