"""Work of linear algebra, Fourier transforms and random bits.

Input: an `Operation`. Output: its `Work`. Factorisations count the multiplications, additions and divisions of their
textbook algorithm one by one, not only the leading term.
"""

import math

from jaxscope._analysis.rules.records import Operation
from jaxscope._analysis.work import NO_WORK, Work
from jaxscope._ir.shapes import ArrayType

# Integer operations of one block of random bits, and its bits (Salmon et al. 2011, "Parallel random numbers: as easy
# as 1, 2, 3"). Threefry-2x32-20: 20 rounds of add, rotate (two shifts, or), xor; the key added at the start (2) and
# after every fourth round (2, and 1 for the number of the round). Philox-4x32-10: 10 rounds of two products and four
# xor, the key moved on (2) between them.
_THREEFRY = (20 * 5 + 2 + 5 * 3, 64)
_PHILOX = (10 * 6 + 9 * 2, 128)


def multiply_add(result: ArrayType, times: int) -> Work:
    """A multiplication and an addition, `times` times, in the element type of the result."""
    if result.is_float:
        return Work(flops=2 * times)
    return Work(flops=8 * times) if result.is_complex else Work(integer_ops=2 * times)


def count_dot(operation: Operation) -> Work:
    """A multiply-add for each element of the result and each position along the contracting dimensions."""
    lhs, result = operation.operands[0], operation.results[0]
    return multiply_add(result, result.elements * math.prod(lhs.dimensions[axis] for axis in operation.contracting))


def count_ragged_dot(operation: Operation) -> Work:
    """As a dot in which every row belongs to one group."""
    work = count_dot(operation)
    if not operation.is_ragged_contracting:
        return work
    # Each group has its own result, and only its own part of the contracting dimension.
    groups = operation.results[0].dimensions[0] or 1
    return Work(flops=work.flops // groups, integer_ops=work.integer_ops // groups)


def cholesky_work(size: int, is_complex: bool) -> Work:
    """Of one matrix: column j takes j products for its root, j and a division for each element below.

    The real sum is n³/3 + n²/2 − 5n/6 FLOPs and n square roots.
    """
    n = size
    below = (n - 1) * n // 2
    on_diagonal = n * (n - 1) // 2
    products_below = (n - 2) * (n - 1) * n // 6
    if is_complex:
        # |z|² and a subtraction are 4; elements below are divided by a real number.
        return Work(flops=4 * on_diagonal + 8 * products_below + 2 * below, transcendentals=n)
    return Work(flops=2 * on_diagonal + 2 * products_below + below, transcendentals=n)


def count_cholesky(operation: Operation) -> Work:
    """`cholesky_work` for each matrix of the batch."""
    matrix = operation.operands[0]
    size = matrix.dimensions[-1]
    return cholesky_work(size, matrix.is_complex) * math.prod(matrix.dimensions[:-2]) if size else NO_WORK


def triangular_solve_work(size: int, vectors: int, is_complex: bool, has_unit_diagonal: bool) -> Work:
    """Of `vectors` right-hand sides: n(n−1)/2 multiply-subtracts each, and n divisions."""
    products, divisions = size * (size - 1) // 2, 0 if has_unit_diagonal else size
    flops = 8 * products + 11 * divisions if is_complex else 2 * products + divisions
    return Work(flops=flops * vectors)


def count_triangular_solve(operation: Operation) -> Work:
    """`triangular_solve_work` for each right-hand side of the batch."""
    matrix, right = operation.operands[:2]
    solve = operation.triangular_solve
    size = matrix.dimensions[-1]
    vectors = right.elements // size if size else 0
    return triangular_solve_work(size, vectors, matrix.is_complex, solve.has_unit_diagonal)


def count_fft(operation: Operation) -> Work:
    """5·N·log₂ N for each transform of N points, rounded; half of that where one side is real."""
    transform = operation.fourier_transform
    points = math.prod(transform.lengths)
    is_real = "R" in transform.kind.upper()
    flops = round((2.5 if is_real else 5) * points * math.log2(points)) if points > 0 else 0
    whole = operation.results[0] if transform.kind.upper() == "IRFFT" else operation.operands[0]
    rank = len(transform.lengths)
    return Work(flops=flops * math.prod(whole.dimensions[: len(whole.dimensions) - rank]))


def random_bits_work(elements: int, bits: int, algorithm: str) -> Work:
    """Of random integers, in whole blocks of the generator."""
    # XLA's compilers for CPU and GPU take Philox for the default.
    operations, block_bits = _THREEFRY if "THREE" in algorithm.upper() else _PHILOX
    return Work(integer_ops=-(-elements * bits // block_bits) * operations)


def count_random_bits(operation: Operation) -> Work:
    """Of the last result; the first one is the generator's new state."""
    values = operation.results[-1]
    # Generators make 32 bits at a time; narrower elements throw the rest away.
    return random_bits_work(values.elements, max(values.bits or 32, 32), operation.algorithm)


def count_random_numbers(operation: Operation) -> Work:
    """One transcendental for each element, as XLA counts it: the distribution decides how many there are."""
    return Work(transcendentals=operation.results[0].elements)
