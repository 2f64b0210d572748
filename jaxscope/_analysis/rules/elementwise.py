"""Work of ops that compute each element of their result by itself.

Input: an `Operation`. Output: its `Work`, by the kind of its element type: real floating-point numbers, complex
numbers, or everything else, integers, truth values and quantised numbers.
"""

from jaxscope._analysis.rules.records import Operation
from jaxscope._analysis.work import NO_WORK, Work
from jaxscope._ir.shapes import ArrayType

# Real FLOPs of one complex operation, from its definition in real parts, where it is not two:
# (a+bi)(c+di) = (ac-bd) + (ad+bc)i is 4 multiplications and 2 additions; division multiplies with the conjugate (6),
# divides both parts (2) by c²+d² (3).
_COMPLEX_FLOPS = {"multiply": 6, "square": 6, "divide": 11, "conj": 1}
# |z| = sqrt(x²+y²) is 3 FLOPs and a square root; sign is z/|z|.
_COMPLEX_WITH_ROOT = {"abs": Work(flops=3, transcendentals=1), "sign": Work(flops=5, transcendentals=1)}


def _computed_type(operation: Operation) -> ArrayType:
    """The type computed in: the operands', as `compare` and the absolute value of a complex number give another."""
    return (operation.operands or operation.results)[0]


def count_arithmetic(operation: Operation) -> Work:
    """One operation for each element of the result."""
    elements, computed = operation.results[0].elements, _computed_type(operation)
    if computed.is_float:
        # The conjugate of a real number is itself.
        return NO_WORK if operation.name == "conj" else Work(flops=elements)
    if computed.is_complex:
        with_root = _COMPLEX_WITH_ROOT.get(operation.name)
        return with_root * elements if with_root else Work(flops=elements * _COMPLEX_FLOPS.get(operation.name, 2))
    return Work(integer_ops=elements)


def count_clamp(operation: Operation) -> Work:
    """A maximum and a minimum for each element of the result."""
    elements = 2 * operation.results[0].elements
    return Work(flops=elements) if operation.results[0].is_float else Work(integer_ops=elements)


def count_integer(operation: Operation) -> Work:
    """One operation on integers for each element of the result, of whatever type: bits are taken for integers."""
    return Work(integer_ops=operation.results[0].elements)


def count_transcendental(operation: Operation) -> Work:
    """One transcendental for each element of the result; integers (``power``) count as integer arithmetic."""
    result = operation.results[0]
    if result.is_float or result.is_complex:
        return Work(transcendentals=result.elements)
    return Work(integer_ops=result.elements)


def count_dequantize(operation: Operation) -> Work:
    """(stored − zero point) · scale."""
    return Work(flops=2 * operation.results[0].elements)


def count_quantize(operation: Operation) -> Work:
    """clamp(round(x / scale) + zero point)."""
    return Work(flops=5 * operation.results[0].elements)


def count_batch_norm_inference(operation: Operation) -> Work:
    """(x − mean) / sqrt(variance + ε) · scale + offset, the root once for each feature."""
    elements, features = operation.operands[0].elements, operation.operands[1].elements
    return Work(flops=4 * elements + features, transcendentals=features)


def count_batch_norm_training(operation: Operation) -> Work:
    """Mean and variance of each feature (4 for each element), then the normalisation of the centred values (3)."""
    elements, features = operation.operands[0].elements, operation.operands[1].elements
    return Work(flops=7 * elements + features if elements else 0, transcendentals=features)


def count_batch_norm_grad(operation: Operation) -> Work:
    """The specification's formula, sums and values that depend on the feature alone once for each feature."""
    elements, features = operation.operands[0].elements, operation.operands[1].elements
    return Work(flops=13 * elements if elements else 0, transcendentals=features)
