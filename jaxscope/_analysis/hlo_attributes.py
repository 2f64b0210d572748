"""What an HLO instruction says beside its operands: dimension numbers, windows, called computations, configuration.

Problem: work hangs on attributes such as ``lhs_contracting_dims={2}`` or ``window={size=3x3 pad=1_1x1_1}``, which stand
between strings of the user's that may read the same. Input: an instruction's text. Output: its attributes by name,
split outside strings and brackets only, and readers for the values of each kind.

https://github.com/openxla/xla/blob/main/xla/hlo/ir/hlo_instructions.cc prints them.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from jaxscope._analysis.rules import ConvolutionNumbers
from jaxscope._ir.locations import QUOTED

# Every character that opens, closes or separates, and whole strings: `"a\"b"`  `{`  `)`  `,`
_MARK = re.compile(rf"{QUOTED}|[()\[\]{{}},]")
# size=3x3    stride=2x2    pad=1_1x0_2    lhs_dilate=2x1    rhs_reversal=1x1
_WINDOW_FIELD = re.compile(r"(\w+)=([-\d_x]+)")
# b01f_01io->b01f
_CONVOLUTION_LABELS = re.compile(r"([^_]*)_(.*)->(.*)$")
# {0,2}    {}
_NUMBERS = re.compile(r"-?\d+")


def read_attributes(instruction: str, opcode: str) -> dict[str, str]:
    """The attributes of an instruction, as printed.

    Args:
        instruction: Its text: ``%d = f32[4]{0} dot(%a, %b), lhs_contracting_dims={1}, metadata={...}``.
        opcode: Its opcode, which its operands follow.

    Returns:
        ``{"lhs_contracting_dims": "{1}", "metadata": "{...}"}``; {} where there are none.
    """
    start = instruction.find(f" {opcode}(")
    if start < 0:
        return {}
    start += len(opcode) + 2
    depth = 1
    parts: list[str] = []
    # Outside the operands `begin` is where the attribute being read begins.
    begin = -1
    for mark in _MARK.finditer(instruction, start):
        character = mark[0]
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
            if not depth and begin < 0:
                begin = mark.end()
        elif character == "," and not depth and begin >= 0:
            parts.append(instruction[begin : mark.start()])
            begin = mark.end()
    if begin < 0:
        return {}
    parts.append(instruction[begin:])
    found = {}
    for part in parts:
        name, equals, value = part.partition("=")
        if equals:
            found[name.strip()] = value.strip()
    return found


def numbers(text: str) -> tuple[int, ...]:
    """The whole numbers of a list: ``{0,2}`` is (0, 2)."""
    return tuple(map(int, _NUMBERS.findall(text)))


def names(text: str) -> tuple[str, ...]:
    """The names of computations: ``%a`` is ("%a",), ``{%a, %b}`` is ("%a", "%b")."""
    return tuple(name.strip() for name in text.strip("{}").split(",") if name.strip())


@dataclass(frozen=True, slots=True)
class WindowDimension:
    """How a window moves along one dimension: https://openxla.org/xla/operation_semantics#reducewindow."""

    size: int
    stride: int = 1
    padding_low: int = 0
    padding_high: int = 0
    window_dilation: int = 1
    base_dilation: int = 1


@lru_cache(maxsize=1 << 12)
def read_window(text: str) -> tuple[WindowDimension, ...]:
    """The dimensions of a window: ``{size=3x3 stride=2x2 pad=1_1x1_1 lhs_dilate=1x1 rhs_dilate=2x2}``."""
    fields = dict(_WINDOW_FIELD.findall(text))
    sizes = fields.get("size", "")
    if not sizes:
        return ()
    count = sizes.count("x") + 1
    columns = {name: value.split("x") for name, value in fields.items()}

    def column(name: str, otherwise: str) -> list[str]:
        found = columns.get(name, [])
        return found if len(found) == count else [otherwise] * count

    padding = [pair.split("_") for pair in column("pad", "0_0")]
    return tuple(
        WindowDimension(int(size), int(stride), int(pad[0]), int(pad[-1]), int(window), int(base))
        for size, stride, pad, window, base in zip(
            columns["size"],
            column("stride", "1"),
            padding,
            column("rhs_dilate", "1"),
            column("lhs_dilate", "1"),
            strict=True,
        )
    )


@lru_cache(maxsize=1 << 12)
def read_convolution_numbers(text: str) -> ConvolutionNumbers | None:
    """The dimension numbers of ``b01f_01io->b01f``; None where that cannot be read."""
    found = _CONVOLUTION_LABELS.match(text)
    if found is None:
        return None
    inputs, kernel, output = found.groups()
    # Dimensions that are none of these are printed as "?": https://openxla.org/xla/operation_semantics#conv
    if not {"b", "f"} <= set(inputs) or not {"i", "o"} <= set(kernel) or not {"b", "f"} <= set(output):
        return None
    spatial = sorted(character for character in inputs if character.isdecimal())
    if any(character not in side for character in spatial for side in (kernel, output)):
        return None
    return ConvolutionNumbers(
        inputs.index("b"),
        inputs.index("f"),
        tuple(map(inputs.index, spatial)),
        kernel.index("i"),
        kernel.index("o"),
        tuple(map(kernel.index, spatial)),
        output.index("b"),
        output.index("f"),
        tuple(map(output.index, spatial)),
    )


def whole(attributes: Mapping[str, str], name: str, otherwise: int) -> int:
    """The whole number of an attribute, `otherwise` where it is not printed or is none."""
    text = attributes.get(name, "")
    return int(text) if text.lstrip("-").isdecimal() else otherwise


def backend_configuration(attributes: Mapping[str, str]) -> dict[str, Any]:
    """The configuration that a compiler left on an instruction, a JSON object in or without quotes; {} for no such."""
    text = attributes.get("backend_config", "")
    try:
        value = json.loads(text)
        if isinstance(value, str):
            value = json.loads(value)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def known_trip_count(attributes: Mapping[str, str]) -> int | None:
    """How often a loop runs, where the compiler found out: ``{"known_trip_count":{"n":"12"}}``."""
    found = backend_configuration(attributes).get("known_trip_count")
    count = found.get("n") if isinstance(found, dict) else None
    return int(count) if isinstance(count, str | int) and str(count).isdecimal() else None
