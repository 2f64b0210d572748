"""How many bytes an HLO type takes, as it is printed.

Input: a type such as ``(f32[8,128]{1,0:T(8,128)}, s4[3])``. Output: bytes of its arrays without padding, or None where
an element type is not known; tokens have nothing to add.
"""

import math
import re

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
_ARRAY = re.compile(r"\b([a-z]\w*)\[([<=\d,]*)\]")


def size_bytes(type_text: str) -> int | None:
    """The bytes of all arrays of a type.

    Args:
        type_text: The type of an instruction, of arrays or of tuples of any depth; a bound such as ``<=5`` counts in
            full.

    Returns:
        The sum, each array rounded up to whole bytes; None when an element type is not known.
    """
    total = 0
    for element, dimensions in _ARRAY.findall(type_text):
        if element in ("token", "opaque"):
            continue
        bits = 8 if _FLOAT8.fullmatch(element) else _BITS.get(element)
        if bits is None:
            return None
        elements = math.prod(int(size.lstrip("<=")) for size in dimensions.split(",") if size)
        total += -(-elements * bits // 8)
    return total
