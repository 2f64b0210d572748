"""Sizes and sums as XLA's cost analysis has them: tables of tuples, tiles, windows, single precision.

Problem: XLA's figures are to be met to the unit, and its versions differ in how large a value is. Input: the type of
an instruction, with its layout. Output: `Shape`, its arrays and their bytes in a `XlaConvention`; and sums in single
precision.
"""

import math
import re
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from jaxscope._analysis.hlo_attributes import WindowDimension, numbers
from jaxscope._ir.shapes import ArrayType, read_hlo_type

# Numbers of this many bits and fewer are exact in single precision.
EXACT_BITS = 24
_EXACT = 1 << EXACT_BITS
_SINGLE = struct.Struct("f")


def single(value: float) -> float:
    """The nearest number in single precision."""
    return value if -_EXACT <= value <= _EXACT else _SINGLE.unpack(_SINGLE.pack(value))[0]


def add_single(values: Iterable[float]) -> float:
    """The sum from left to right, each step rounded to single precision."""
    total = 0.0
    for value in values:
        total = single(total + single(value))
    return total


@dataclass(frozen=True, slots=True)
class XlaConvention:
    """What differs between XLA's versions.

    Attributes:
        pointer_bytes: Bytes of an entry of a tuple's table.
        counts_results: Whether an instruction with several results is charged these, or the table that names them.
        pads_tiles: Whether arrays in tiles are as large as their whole tiles.
        is_tpu: Whether it is that of XLA for TPUs: tables take whole 512 bytes, arrays without tiles are as large as in
            tiles of 8 by 128, and some custom calls are known.
    """

    pointer_bytes: int
    counts_results: bool
    pads_tiles: bool
    is_tpu: bool = False


# Those of JAX 0.12, 0.10 and 0.8, and of XLA for TPUs: a module does not say who counted it.
CONVENTIONS = (
    XlaConvention(4, True, True),
    XlaConvention(8, True, False),
    XlaConvention(8, False, False),
    XlaConvention(4, True, True, is_tpu=True),
)


def likely_convention(version: tuple[int, ...], platform: str) -> XlaConvention:
    """The convention to try first: of a version of JAX, such as ``(0, 10, 2)``, on a platform such as ``cpu``."""
    if platform == "tpu":
        return CONVENTIONS[3]
    return CONVENTIONS[0 if version >= (0, 12) else 1 if version >= (0, 10) else 2]


# Of XLA for TPUs.
_TABLE_BYTES = 512
TILE_OF_TPU = (8, 128)


@dataclass(frozen=True, slots=True)
class Shape:
    """A value as XLA sizes it.

    Attributes:
        arrays: Its arrays, those of a tuple in order.
        sizes: The bytes of each.
        own_bytes: Those of a tuple's table, or of what is no array.
        is_tuple: Whether it is a tuple.
    """

    arrays: tuple[ArrayType, ...] = ()
    sizes: tuple[int, ...] = ()
    own_bytes: int = 0
    is_tuple: bool = False

    @property
    def elements(self) -> int:
        """Elements of the first array."""
        return self.arrays[0].elements if self.arrays else 0

    @property
    def size_bytes(self) -> int:
        """XLA's size of the value: of a tuple, the table alone."""
        return self.own_bytes if self.is_tuple or not self.sizes else self.sizes[0]


NO_SHAPE = Shape()


@lru_cache(maxsize=1 << 16)
def read_shape(text: str, convention: XlaConvention) -> Shape:
    """A type as printed, with its layout, in a convention."""
    if text.startswith("("):
        # Comments number the parts: `/*index=5*/f32[2]{0}`.
        inner = [read_shape(part.rpartition("*/")[2].strip(), convention) for part in _parts(text)]
        arrays = tuple(array for shape in inner for array in shape.arrays)
        sizes = tuple(size for shape in inner for size in shape.sizes)
        table = convention.pointer_bytes * len(inner)
        if convention.is_tpu:
            table = -(-table // _TABLE_BYTES) * _TABLE_BYTES
        return Shape(arrays, sizes, table, True)
    arrays = read_hlo_type(text)
    sizes = tuple(_array_bytes(array, text, convention) for array in arrays)
    return Shape(arrays, sizes, _OPAQUE_BYTES if text.startswith("opaque") else 0)


_OPAQUE_BYTES = 8

# The bits of an element in memory, in a layout: `{0:E(4)}`
_ELEMENT_BITS = re.compile(r"\bE\((\d+)\)")
# Tiles in a layout, `T(8,128)(2,1)` of `{1,0:T(8,128)(2,1)S(1)}`
_TILES = re.compile(r"\bT((?:\([\d,]+\))+)")
_TILE = re.compile(r"\(([\d,]+)\)")  # (8,128)


def _array_bytes(array: ArrayType, text: str, convention: XlaConvention) -> int:
    """XLA's size of an array, whose type is printed with its layout."""
    elements = array.elements
    found = _TILES.search(text) if convention.pads_tiles else None
    tiles = tuple(numbers(tile) for tile in _TILE.findall(found[1])) if found else ()
    if convention.is_tpu and not tiles:
        tiles = (TILE_OF_TPU,)
    if tiles:
        order = minor_to_major(text, len(array.dimensions))
        elements = _in_tiles(tuple(max(0, array.dimensions[dimension]) for dimension in reversed(order)), tiles)
    bits = array.bits or 0
    if found := _ELEMENT_BITS.search(text):
        return -(-elements * int(found[1]) // 8)
    return elements * max(1, bits // 8) if bits else 0


def _in_tiles(dimensions: tuple[int, ...], tiles: tuple[tuple[int, ...], ...]) -> int:
    """Elements of the whole tiles that an array of these dimensions, major to minor, takes.

    A tile splits the last dimensions in tiles and places in one; the next one splits those of the outcome.
    """
    for tile in tiles:
        dimensions = (1,) * (len(tile) - len(dimensions)) + dimensions
        kept = len(dimensions) - len(tile)
        counts = (-(-size // width) for size, width in zip(dimensions[kept:], tile, strict=True))
        dimensions = (*dimensions[:kept], *counts, *tile)
    return math.prod(dimensions)


def _parts(text: str) -> tuple[str, ...]:
    """The types in a tuple's type; comments as ``/*index=5*/`` left in."""
    parts, depth, begin = [], 0, 1
    for index, character in enumerate(text):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
            if not depth and index > begin:
                parts.append(text[begin:index])
        elif character == "," and depth == 1:
            parts.append(text[begin:index])
            begin = index + 1
    return tuple(part.strip() for part in parts)


def minor_to_major(type_text: str, rank: int) -> tuple[int, ...]:
    """The order of an array's dimensions in memory, the densest first: of ``f32[2,3]{1,0:T(8,128)}`` (1, 0)."""
    start = type_text.find("]{")
    if start < 0:
        return tuple(reversed(range(rank)))
    found = numbers(type_text[start + 2 :].partition("}")[0].partition(":")[0])
    return found if len(found) == rank else tuple(reversed(range(rank)))


def is_bitcast(before: str, after: str, permutation: tuple[int, ...]) -> bool:
    """Whether a transposition leaves the bytes where they are: the layouts of operand and result undo it.

    Args:
        before: The operand's type.
        after: The result's type.
        permutation: Which dimension of the operand each of the result is.
    """
    sources, targets = read_hlo_type(before), read_hlo_type(after)
    if not sources or not targets or sources[0].element != targets[0].element:
        return False
    source, target, rank = sources[0].dimensions, targets[0].dimensions, len(permutation)
    if len(source) != rank or len(target) != rank or sorted(permutation) != list(range(rank)):
        return False
    # Dimensions of one element have no place in memory.
    moved = [permutation[dimension] for dimension in minor_to_major(after, rank) if target[dimension] != 1]
    return moved == [dimension for dimension in minor_to_major(before, rank) if source[dimension] != 1]


def valid_positions(
    window: tuple[WindowDimension, ...], inputs: tuple[int, ...], outputs: tuple[int, ...]
) -> tuple[int, ...]:
    """For each dimension, at how many pairs of result position and kernel position the window meets an input element.

    Args:
        window: How the window moves.
        inputs: Sizes of the input along the window's dimensions, undilated.
        outputs: Sizes of the result along them.
    """
    return tuple(
        _valid_positions(dimension, size, result)
        for dimension, size, result in zip(window, inputs, outputs, strict=True)
    )


@lru_cache(maxsize=1 << 12)
def _valid_positions(dimension: WindowDimension, size: int, result: int) -> int:
    """Pairs (o, k) with 0 <= o·stride + k·dilation - padding < dilated size, at a multiple of the base dilation.

    Counted by the o's of each k: of a kernel as large as an image, pairs are too many to try one by one.
    """
    stride, base = dimension.stride, dimension.base_dilation
    # o·stride ≡ -offset (mod base) has a solution only where this divides the offset, and then one in `step`.
    common = math.gcd(stride, base)
    step = base // common
    inverse = pow(stride // common, -1, step) if step > 1 else 0
    last = (size - 1) * base
    count = 0
    for position in range(dimension.size):
        offset = position * dimension.window_dilation - dimension.padding_low
        if offset % common:
            continue
        low = max(0, -(offset // stride))
        high = min(result - 1, (last - offset) // stride)
        if high < low:
            continue
        first = (-offset // common * inverse) % step if step > 1 else 0
        low += (first - low) % step
        if low <= high:
            count += (high - low) // step + 1
    return count
