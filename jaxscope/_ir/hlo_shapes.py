"""The shape of an HLO value, tuples and layouts included, as a tree.

Problem: a buffer holds one array of a tuple, in one memory space, with padding that tiles bring, and all of it is in
the printed type only. Input: a type as XLA prints it: ``(f32[8,128]{1,0:T(8,128)S(1)}, s32[])``. Output: a `Shape`
tree whose leaves know their bytes without padding, as XLA counts them, and with it.

Layouts: https://openxla.org/xla/shapes and https://openxla.org/xla/tiled_layout
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from jaxscope._ir.shapes import DYNAMIC, ArrayType

POINTER_BYTES = 8

# A path into nested tuples: () is the value itself, (1, 0) the first part of its second part.
ShapeIndex = tuple[int, ...]

# f32[8,128]{1,0:T(8,128)(2,1)S(1)}    s32[<=5]    token[]    b(f32[4])
_ARRAY = re.compile(r"(?:b\()?([a-z]\w*)\[([<=\d,?]*)\](?:\{([\d,]*)(?::([^{}]*))?\})?\)?")
# T(8,128)    (2,1)    T(*,128)
_TILE = re.compile(r"\(([\d,*]+)\)")
# S(1)    E(4)
_MEMORY_SPACE = re.compile(r"S\((\d+)\)")
_ELEMENT_BITS = re.compile(r"E\((\d+)\)")
# Tiles stand first, up to the next letter: T(8,128)(2,1)S(1)
_TILES = re.compile(r"T((?:\([\d,*]+\))+)")


@dataclass(frozen=True, slots=True)
class Shape:
    """An array, a token, or a tuple of shapes.

    Attributes:
        text: As printed.
        array: Element type and dimensions; None for a tuple.
        parts: The parts of a tuple; None for an array.
        minor_to_major: The order of the dimensions in memory, fastest first.
        tiles: Sizes of the tiles, outermost first; () where there are none.
        memory_space: XLA's number of the memory it lies in; 0 is the device's main memory.
        element_bits: Bits of an element where the layout packs it otherwise than its type; 0 where not.
    """

    text: str
    array: ArrayType | None = None
    parts: "tuple[Shape, ...] | None" = None
    minor_to_major: tuple[int, ...] = ()
    tiles: tuple[tuple[int, ...], ...] = ()
    memory_space: int = 0
    element_bits: int = 0

    @property
    def is_tuple(self) -> bool:
        """Whether its buffer is a table of pointers."""
        return self.parts is not None

    @property
    def size_bytes(self) -> int | None:
        """Bytes of its own buffer as XLA's reports count them, without padding; None for an unknown element type.

        A tuple's own buffer has a pointer for each part. An element of less than a byte takes a whole one unless the
        layout packs it.
        """
        if self.parts is not None:
            return POINTER_BYTES * len(self.parts)
        return self._bytes_of(self.array.elements)

    @property
    def padded_bytes(self) -> int | None:
        """The same with the padding that the tiles of its layout bring."""
        if not self.tiles or self.array is None:
            return self.size_bytes
        dimensions = [1 if size == DYNAMIC else size for size in self.array.dimensions]
        physical = [dimensions[number] for number in reversed(self.minor_to_major) if number < len(dimensions)]
        return self._bytes_of(_padded_elements(physical, self.tiles))

    def padded_dimension(self, number: int) -> int:
        """The size of a dimension once the tiles that hold it are filled."""
        size = self.array.dimensions[number]
        place = self.minor_to_major.index(number) if number in self.minor_to_major else None
        if not self.tiles or place is None or place >= len(self.tiles[0]):
            return size
        edge = self.tiles[0][-1 - place]
        return -(-size // edge) * edge

    def _bytes_of(self, elements: int) -> int | None:
        if self.array.element == "token":
            return 0
        if self.array.element == "opaque":
            return POINTER_BYTES
        bits = self.array.bits
        if bits is None:
            return None
        return -(-elements * (self.element_bits or max(bits, 8)) // 8)

    def at(self, index: ShapeIndex) -> "Shape | None":
        """The shape at a path; None where there is none."""
        shape: Shape | None = self
        for number in index:
            if shape is None or shape.parts is None or number >= len(shape.parts):
                return None
            shape = shape.parts[number]
        return shape

    def walk(self, index: ShapeIndex = ()) -> "Iterator[tuple[ShapeIndex, Shape]]":
        """Every shape of the tree with its path, a tuple before its parts."""
        yield index, self
        for number, part in enumerate(self.parts or ()):
            yield from part.walk((*index, number))


def _padded_elements(dimensions: list[int], tiles: tuple[tuple[int, ...], ...]) -> int:
    """Elements of an array, dimensions from the slowest to the fastest, once every tile is filled."""
    physical = dimensions
    for tile in tiles:
        if len(physical) < len(tile):
            physical = [1] * (len(tile) - len(physical)) + physical
        kept, tiled = physical[: len(physical) - len(tile)], physical[len(physical) - len(tile) :]
        physical = kept + [-(-size // edge) for size, edge in zip(tiled, tile, strict=True)] + list(tile)
    return math.prod(physical)


@lru_cache(maxsize=1 << 16)
def read_shape(text: str) -> Shape | None:
    """Reads a type as XLA prints it; None for text that is none."""
    if not text.startswith("("):
        return _read_array(text)
    parts, depth, start = [], 0, 1
    for at, character in enumerate(text):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        if (character == "," and depth == 1) or (character == ")" and depth == 0):
            if part := _COMMENT.sub("", text[start:at]).strip():
                parts.append(read_shape(part))
            start = at + 1
    return Shape(text, parts=tuple(parts)) if depth == 0 and None not in parts else None


# /*index=5*/
_COMMENT = re.compile(r"/\*.*?\*/")


def _read_array(text: str) -> Shape | None:
    found = _ARRAY.match(text)
    if found is None:
        return None
    element, sizes, order, properties = found.groups()
    dimensions = tuple(_size(size) for size in sizes.split(",") if size)
    properties = properties or ""
    tiles = _TILES.search(properties)
    space = _MEMORY_SPACE.search(properties)
    bits = _ELEMENT_BITS.search(properties)
    return Shape(
        text,
        ArrayType(element, dimensions),
        minor_to_major=tuple(int(number) for number in (order or "").split(",") if number),
        # A star joins a dimension to the next; such tiles fill nothing.
        tiles=tuple(
            tuple(map(int, tile.split(","))) for tile in _TILE.findall(tiles[1] if tiles else "") if "*" not in tile
        ),
        memory_space=int(space[1]) if space else 0,
        element_bits=int(bits[1]) if bits else 0,
    )


def _size(text: str) -> int:
    text = text.lstrip("<=")
    return int(text) if text.isdecimal() else DYNAMIC
