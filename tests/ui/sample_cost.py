"""Reports of cost and memory made by hand, for tests of their tables and pictures; the figures only look real."""

import math
import random

from jaxscope._view.format import format_bytes
from jaxscope._view.model import LiveColumns, View
from tests.ui import sample

GIB = 2**30
PEAK_FLOPS, BANDWIDTH = 197e12, 819e9


def column(key: str, label: str, align: str = "left", **fields) -> dict:
    made = sample.column(key, label, align)
    made["code"] = key in ("place", "kernel", "name", "buffer", "maker", "scope")
    return {**made, **fields}


def row(*cells: str, link: tuple[str, int] | None = None, **fields) -> dict:
    made = {"cells": list(cells), "tone": "", "marks": [], **fields}
    if link is not None:
        made["link"] = {"listing": link[0], "line": link[1]}
    return made


def figure(label: str, value: str, note: str, tone: str = "") -> dict:
    return {"label": label, "value": value, "note": note, "help": f"What it is: {label}.", "tone": tone}


SHARE = column("share", "share", "right", bar=True)


def cost_tables() -> list:
    by_line = sample.table(
        "cost-line",
        "Cost by Python line",
        [
            column("place", "Python line"),
            column("op", "operations"),
            column("flops", "FLOPs", "right"),
            SHARE,
            column("transcendentals", "transcendentals", "right"),
            column("runs", "runs", "right"),
        ],
        [
            row("attention.py:12", "dot_general", "16.8 M", "48.5 %", "", "1", link=("python", 3)),
            row("attention.py:15", "dot_general", "16.8 M", "48.5 %", "", "1", link=("python", 6)),
            row("layers.py:4", "reduce, exp", "0.9 M", "2.6 %", "131 k", "1", link=("python", 11)),
            row("attention.py:13", "div", "131 k", "0.4 %", "", "1", link=("python", 4)),
        ],
        summary="34.6 MFLOP with loops counted",
        notes=["Transcendentals are counted apart."],
        group="cost",
        choice="Python line",
    )
    by_function = sample.table(
        "cost-function",
        "Cost by function",
        [column("name", "function"), column("own", "own", "right"), column("flops", "with callees", "right"), SHARE],
        [
            row("attention", "33.7 M", "34.6 M", "100 %", link=("python", 2)),
            row("softmax", "0.9 M", "0.9 M", "2.6 %", link=("python", 10)),
        ],
        group="cost",
        choice="function",
    )
    by_op = sample.table(
        "cost-op",
        "Cost by operation",
        [column("name", "operation"), column("count", "count", "right"), column("flops", "FLOPs", "right"), SHARE],
        [
            row(f"kind_{number}", f"{60 - number}", f"{round(1000 * 0.8**number)} k", f"{round(20 * 0.8**number, 1)} %")
            for number in range(40)
        ],
        group="cost",
        choice="operation",
    )
    return [by_line, by_function, by_op]


def _axis(low: int, high: int, unit: str = "") -> list:
    labels = {0: "1", 1: "10", 2: "100", 3: "1 k", 4: "10 k", 9: "1 G", 10: "10 G", 11: "100 G", 12: "1 T", 13: "10 T"}
    labels[14] = "100 T"
    return [
        {"at": (power - low) / (high - low), "label": labels[power] + unit}
        for power in range(low, high + 1)
        if power in labels
    ]


def roofline_table(points: int = 24) -> dict:
    """Kernels below the roofs of a TPU v5e, from 0.1 to 10,000 FLOP per byte and from 1 G to 1 P FLOP per second."""
    x0, x1, y0, y1 = -1, 4, 9, 15

    def at(intensity: float, flops: float) -> list[float]:
        return [(math.log10(intensity) - x0) / (x1 - x0), (math.log10(flops) - y0) / (y1 - y0)]

    ridge = PEAK_FLOPS / BANDWIDTH
    names = ["%dot.3", "%dot.4", "%fusion.2"]
    lines = [16, 18, 17]
    drawn = random.Random(1)
    rows, places = [], []
    for number in range(points):
        name = names[number] if number < 3 else f"%fusion.{number + 8}"
        share = 0.35 * 0.75**number
        intensity = [27.7, 24.2, 1.1][number] if number < 3 else 10 ** drawn.uniform(-0.8, 3.2)
        bound = "memory" if intensity < ridge else "FLOPs"
        least = min(PEAK_FLOPS, BANDWIDTH * intensity)
        places.append([*at(intensity, least * 0.93 if number % 2 else least), share])
        rows.append(
            row(
                name,
                f"{intensity:.3g} FLOP/B",
                f"{100 * share:.2g} %",
                bound,
                f"{1000 * share:.1f} µs",
                link=("hlo", lines[number % 3]),
            )
        )
    return sample.table(
        "roofline",
        "Roofline",
        [
            column("kernel", "kernel"),
            column("intensity", "intensity", "right"),
            SHARE,
            column("bound", "bound by"),
            column("time", "least time", "right"),
        ],
        rows,
        summary="memory-bound on TPU v5e (ridge at 241 FLOP/B)",
        chart={
            "kind": "scatter",
            "summary": f"{points} kernels, 18 bound by memory; the ridge is at 241 FLOP per byte.",
            "x_label": "FLOP per byte",
            "y_label": "FLOP per second",
            "x_ticks": _axis(x0, x1),
            "y_ticks": _axis(y0, y1),
            "roofs": [
                {"label": "819 GB/s", "points": [at(0.1, BANDWIDTH * 0.1), at(ridge, PEAK_FLOPS)]},
                {"label": "197 TFLOP/s in bf16", "points": [at(ridge, PEAK_FLOPS), at(10_000, PEAK_FLOPS)]},
            ],
            "points": places,
        },
    )


def live_columns(buffers: int = 400, instants: int = 2306) -> LiveColumns:
    """Buffers that come and go around a peak in the middle, the largest first."""
    drawn = random.Random(0)
    found = []
    for number in range(buffers):
        middle = int(instants * min(0.999, max(0.0, drawn.gauss(0.57, 0.22))))
        length = int(drawn.expovariate(1 / (instants / 12)))
        size = 4 * int(10 ** drawn.uniform(2, 6.6))
        found.append((size, max(0, middle - length), min(instants - 1, middle + length), number))
    found.sort(key=lambda each: -each[0])
    steps = [0] * (instants + 1)
    for size, first, last, _ in found:
        steps[first] += size
        steps[last + 1] -= size
    total, step_bytes = 0, []
    for change in steps[:-1]:
        total += change
        step_bytes.append(total)
    strings = [f"%fusion.{number}" for number in range(instants)]
    places = [f"transformer.py:{line}" for line in range(20, 80)]
    types = [f"f32[{2**a},{2**b}]" for a in range(1, 8) for b in range(4, 10)]
    return {
        "strings": [*strings, *places, *types],
        "listing": "hlo",
        "step_bytes": step_bytes,
        "step_name": list(range(instants)),
        "step_line": [(16, 17, 18, -1)[at % 4] for at in range(instants)],
        "size": [each[0] for each in found],
        "first": [each[1] for each in found],
        "last": [each[2] for each in found],
        "line": [(16, 17, 18, -1)[each[3] % 4] for each in found],
        "cells": {
            "buffer": [instants + len(places) + each[3] % len(types) for each in found],
            "maker": [each[1] for each in found],
            "place": [instants + each[3] % len(places) if each[3] % 5 else -1 for each in found],
        },
    }


def live_table(live: LiveColumns, key: str = "live") -> dict:
    """The card of a curve, with the rows of its peak."""
    step_bytes, strings, count = live["step_bytes"], live["strings"], len(live["step_bytes"])
    peak = step_bytes.index(max(step_bytes))
    alive = [at for at in range(len(live["size"])) if live["first"][at] <= peak <= live["last"][at]]
    rows, total = [], 0
    for at in alive[:20]:
        total += live["size"][at]
        texts = [strings[live["cells"][name][at]] if live["cells"][name][at] >= 0 else "" for name in live["cells"]]
        span = f"{live['first'][at] + 1:,} … {live['last'][at] + 1:,}"
        link = ("hlo", live["line"][at]) if live["line"][at] >= 0 else None
        rows.append(row(*texts, format_bytes(live["size"][at]), format_bytes(total), span, link=link))
    top = max(step_bytes) * 1.1
    label = f"peak at instruction {peak + 1:,} of {count:,}: {strings[live['step_name'][peak]]}"
    return sample.table(
        key,
        "Alive at the peak",
        [
            column("buffer", "buffer"),
            column("maker", "made by"),
            column("place", "Python line"),
            column("size", "size", "right", bar=True),
            column("total", "sum", "right"),
            column("lifetime", "from … to", "right"),
        ],
        rows,
        summary=f"{format_bytes(max(step_bytes))} in {len(alive):,} buffers",
        chart={
            "kind": "steps",
            "summary": f"Bytes alive over {count:,} instructions: {format_bytes(max(step_bytes))} at the {label}.",
            "data": f"{key}-columns",
            "count": count,
            "peak": peak,
            "label": label,
            "axis": "schedule of the compiled program →",
            "top": top,
            "ticks": [{"at": at / 1.1, "label": format_bytes(at * max(step_bytes))} for at in (0, 0.25, 0.5, 0.75, 1)],
        },
    )


def memory_table() -> dict:
    return sample.table(
        "memory",
        "Memory",
        [column("part", "part"), column("size", "size", "right"), column("exact", "bytes", "right")],
        [
            row("arguments", "654 MiB", "685,768,704"),
            row("outputs", "4 B", "4"),
            row("temporaries", "540 MiB", "566,231,040"),
            row("code and constants", "48.0 MiB", "50,331,648"),
            row("in all", "1.21 GiB", "1,302,331,396", marks=[0, 1]),
        ],
        summary="fits TPU v5e: 1.21 of 16 GiB, 14.8 GiB to spare",
        tone="good",
        chart={
            "kind": "stack",
            "summary": "Arguments 654 MiB, outputs 4 B, temporaries 540 MiB, code and constants 48 MiB, of 1.5 GiB.",
            "parts": [
                {"label": "arguments 654 MiB (donated 654)", "share": 0.426},
                {"label": "outputs 4 B more", "share": 0.002},
                {"label": "temporaries 540 MiB", "share": 0.352},
                {"label": "code, constants 48 MiB", "share": 0.031},
            ],
            "marks": [{"at": 0.93, "label": "memory of the target 1.43 GiB"}],
        },
    )


def costs(buffers: int = 400, instants: int = 2306) -> sample.SampleSource:
    """The attention example with reports of cost and memory, heat beside its lines, and cost in the status bar."""
    source = sample.attention()
    index, text = source.listings["hlo"]
    line_cost = [-1] * len(index["line_stack"])
    line_cost[16], line_cost[17], line_cost[18] = 0, 1, 0
    texts = ["16.8 MFLOP · 1.0 MiB moved", "0.9 MFLOP · 1.0 MiB moved"]
    source.listings["hlo"] = ({**index, "costs": texts, "line_cost": line_cost}, text)
    live = live_columns(buffers, instants)
    source.listings["live-columns"] = (live, "")
    view: View = source.view
    cost, memory = view["tabs"][4], view["tabs"][5]
    cost["figures"] = [
        figure("FLOPs", "34.6 MFLOP", "with loops counted · XLA reports 34.6"),
        figure("bytes accessed", "2.10 MiB", "by 3 kernels"),
        figure("transcendentals", "131 k", "exp"),
        figure("intensity", "16.5 FLOP/B", "memory-bound on v5e (ridge 241)", "warning"),
    ]
    cost["tables"] = [*cost_tables(), roofline_table()]
    memory["figures"] = []
    memory["tables"] = [memory_table(), live_table(live)]
    view["heat"] = {
        "python": {
            "help": "Share of the 34.6 MFLOP of the compiled program.",
            "lines": [3, 4, 6, 11],
            "shares": [0.485, 0.01, 0.485, 0.026],
            "texts": ["48 %", "1 %", "48 %", "3 %"],
        },
        "hlo": {
            "help": "Share of the FLOPs.",
            "lines": [16, 17, 18],
            "shares": [0.485, 0.03, 0.485],
            "texts": ["48 %", "3 %", "48 %"],
        },
    }
    return source


def on_request() -> sample.SampleSource:
    """A card of the memory report that has to be asked for."""
    source = costs()
    asked = live_table(live_columns())
    del asked["chart"]
    asked.update(rows=[], summary="", request="Compile once more", empty="What is alive when stands in XLA's dump.")
    source.view["tabs"][5]["tables"][1] = asked
    return source
