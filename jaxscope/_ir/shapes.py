"""The arrays that a printed type holds, in one vocabulary for both notations.

Problem: ``tensor<8x128xbf16>``, ``bf16[8,128]{1,0:T(8,128)}`` and tuples of them say the same, and every count starts
from element types and dimensions. Input: a type as MLIR or XLA prints it. Output: its `ArrayType` leaves in order,
tokens left out, with XLA's names of element types. A dynamic dimension (``?``, ``<=5``) has the bound where there is
one, else `DYNAMIC`.
"""

import math
import re
from dataclasses import dataclass
from functools import lru_cache

DYNAMIC = -1

# Bits of an element: https://openxla.org/xla/shapes
_BITS = {
    **dict.fromkeys(("pred", "s8", "u8"), 8),
    **dict.fromkeys(("s16", "u16", "f16", "bf16"), 16),
    **dict.fromkeys(("s32", "u32", "f32"), 32),
    **dict.fromkeys(("s64", "u64", "f64", "c64"), 64),
    "c128": 128,
    **dict.fromkeys(("s1", "u1"), 1),
    **dict.fromkeys(("s2", "u2"), 2),
    **dict.fromkeys(("s4", "u4", "f4e2m1fn"), 4),
}
# Eight-bit floats: f8e4m3fn, f8e5m2fnuz, f8e4m3b11fnuz, f8e8m0fnu
_FLOAT8 = re.compile(r"f8e\d+m\d+\w*")
# f32[8,128]    pred[]    s32[<=5,2]    token[]
_HLO_ARRAY = re.compile(r"\b([a-z]\w*)\[([<=\d,?]*)\]")
# tensor<8x?xf32>    tensor<complex<f64>>    tensor<4x!quant.uniform<i8:f32, 0.1>>
# tensor<?x2xi32, #stablehlo.bounds<5, ?>>
_MLIR_ARRAY = re.compile(
    r"\b(?:tensor|memref|vector)<((?:(?:\d+|\?)x)*)(complex<\w+>|[!\w.]+(?:<[^>]*>)?)((?:, [^<>]*<[^<>]*>)?)"
)
# #stablehlo.bounds<5, ?>
_BOUNDS = re.compile(r"bounds<([^<>]*)>")
_MLIR_NAMES = {"i1": "pred", "complex<f32>": "c64", "complex<f64>": "c128", "index": "s64"}
# i32    ui8    si4
_MLIR_INTEGER = re.compile(r"(u|s)?i(\d+)$")


@dataclass(frozen=True, slots=True)
class ArrayType:
    """An array's element type, in XLA's names (``f32``, ``bf16``, ``s32``, ``pred``, ``c64``), and its dimensions."""

    element: str
    dimensions: tuple[int, ...] = ()

    def __str__(self) -> str:
        """``f32[8,128]``; a dimension without a bound is ``?``."""
        return f"{self.element}[{','.join('?' if size == DYNAMIC else str(size) for size in self.dimensions)}]"

    @property
    def elements(self) -> int:
        """How many there are; a dimension without a bound counts as one."""
        return math.prod(1 if size == DYNAMIC else size for size in self.dimensions)

    @property
    def bits(self) -> int | None:
        """Bits of an element; None where the element type is not known."""
        return 8 if _FLOAT8.fullmatch(self.element) else _BITS.get(self.element)

    @property
    def size_bytes(self) -> int | None:
        """Bytes without padding, rounded up; None where the element type is not known."""
        bits = self.bits
        return None if bits is None else -(-self.elements * bits // 8)

    @property
    def is_complex(self) -> bool:
        """Whether an element is a complex number."""
        return self.element in ("c64", "c128")

    @property
    def is_float(self) -> bool:
        """Whether an element is a real floating-point number."""
        return self.element.startswith(("f", "bf", "tf"))


@lru_cache(maxsize=1 << 16)
def read_hlo_type(text: str) -> tuple[ArrayType, ...]:
    """The arrays of a type as XLA prints it, of arrays or of tuples of any depth."""
    found = []
    for element, dimensions in _HLO_ARRAY.findall(text):
        if element not in ("token", "opaque"):
            sizes = tuple(_hlo_size(size) for size in dimensions.split(",") if size)
            found.append(ArrayType(element, sizes))
    return tuple(found)


def _hlo_size(text: str) -> int:
    text = text.lstrip("<=")
    return int(text) if text.isdecimal() else DYNAMIC


@lru_cache(maxsize=1 << 16)
def read_mlir_types(text: str) -> tuple[ArrayType, ...]:
    """The arrays of a list of types as MLIR prints them."""
    found = []
    for dimensions, element, encoding in _MLIR_ARRAY.findall(text):
        sizes = [int(size) if size != "?" else DYNAMIC for size in dimensions.split("x") if size]
        if (bounds := _BOUNDS.search(encoding)) is not None:
            for number, bound in enumerate(bounds[1].split(",")):
                if bound.strip().isdecimal() and number < len(sizes):
                    sizes[number] = int(bound)
        found.append(ArrayType(_element(element), tuple(sizes)))
    return tuple(found)


def _element(name: str) -> str:
    if (known := _MLIR_NAMES.get(name)) is not None:
        return known
    if found := _MLIR_INTEGER.match(name):
        return f"{'u' if found[1] == 'u' else 's'}{found[2]}"
    return name.lower()


def size_bytes(type_text: str) -> int | None:
    """The bytes of all arrays of an HLO type, without padding.

    Args:
        type_text: The type of an instruction, of arrays or of tuples of any depth; a bound such as ``<=5`` counts in
            full.

    Returns:
        The sum, each array rounded up to whole bytes; None when an element type is not known.
    """
    sizes = [array.size_bytes for array in read_hlo_type(type_text)]
    return None if None in sizes else sum(sizes)
