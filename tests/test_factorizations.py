"""What LAPACK's factorizations by reflections cost, against its own algorithms run on counting numbers.

The algorithms are the unblocked ones of LAPACK (geqr2, org2r, gehd2, sytd2), and what they make is checked with NumPy.
The rules are the closed forms of LAPACK Working Note 41, appendix C: those of QR and of Q are exact to the flop. Those
of the two reductions to few diagonals count as much, but for what BLAS does once for each element of a reflector.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jaxscope._analysis.custom_calls import Call, count_custom_call
from jaxscope._analysis.work import NO_WORK
from jaxscope._ir.shapes import ArrayType
from tests.counted import Real, counting

ONE, ZERO, HALF = Real(1.0), Real(0.0), Real(0.5)
sizes = st.integers(1, 9)


def counted_matrix(rows, columns):
    """A matrix as a list of its columns."""
    values = np.random.default_rng(rows * 100 + columns).normal(size=(columns, rows))
    return [[Real(float(value)) for value in column] for column in values]


def plain(columns):
    return np.array([[number.value for number in column] for column in columns]).T


def dot(left, right):
    total = ZERO
    for a, b in zip(left, right, strict=True):
        total = total + a * b
    return total


def reflector(column):
    """larfg: what becomes of the first element, the factor tau, and the vector after its leading 1."""
    alpha, *tail = column
    norm = dot(tail, tail).sqrt()
    # lapy2: a root of squares that does not overflow.
    small, large = sorted((Real(abs(alpha.value)), norm), key=lambda number: number.value)
    ratio = small / large
    length = large * (ONE + ratio * ratio).sqrt()
    beta = Real(-np.copysign(length.value, alpha.value))
    scale = ONE / (alpha - beta)
    return beta, (beta - alpha) / beta, [value * scale for value in tail]


def reflect(vector, tau, columns, first=0):
    """larf: columns from a row on less tau v (vᵀ column), with a product by the leading 1 as BLAS makes it."""
    for column in columns:
        weight = tau * dot(vector, column[first:])
        column[first:] = [value - weight * element for value, element in zip(column[first:], vector, strict=True)]


def factorize(matrix):
    """geqr2: leaves R above the diagonal and the vectors below; the factors."""
    factors = []
    for j in range(min(len(matrix), len(matrix[0]))):
        beta, tau, tail = reflector(matrix[j][j:])
        matrix[j][j:] = [beta, *tail]
        reflect([ONE, *tail], tau, matrix[j + 1 :], j)
        factors.append(tau)
    return factors


def make_q(matrix, factors):
    """org2r: Q in place of the vectors."""
    for j in range(len(factors), len(matrix)):
        matrix[j][:] = [ONE if row == j else ZERO for row in range(len(matrix[j]))]
    for j in reversed(range(len(factors))):
        vector = [ONE, *matrix[j][j + 1 :]]
        reflect(vector, factors[j], matrix[j + 1 :], j)
        minus = Real(-factors[j].value)
        matrix[j][:] = [ZERO] * j + [ONE - factors[j]] + [minus * value for value in vector[1:]]


def reduce_to_hessenberg(matrix):
    """gehd2, with LAPACK's loop as its table has it: the last column has nothing to reduce."""
    size = len(matrix)
    for j in range(size - 2):
        beta, tau, tail = reflector(matrix[j][j + 1 :])
        vector = [ONE, *tail]
        matrix[j][j + 1 :] = [beta] + [ZERO] * len(tail)
        rows = [[matrix[k][i] for k in range(j + 1, size)] for i in range(size)]
        reflect(vector, tau, rows)
        for i, row in enumerate(rows):
            for k, value in enumerate(row):
                matrix[j + 1 + k][i] = value
        reflect(vector, tau, matrix[j + 1 :], j + 1)


def reduce_to_tridiagonal(matrix):
    """sytd2 of the lower triangle, on both halves of a symmetric matrix."""
    size = len(matrix)
    for j in range(size - 2):
        beta, tau, tail = reflector(matrix[j][j + 1 :])
        vector = [ONE, *tail]
        matrix[j][j + 1 :] = [beta] + [ZERO] * len(tail)
        product = [tau * dot(column[j + 1 :], vector) for column in matrix[j + 1 :]]
        alpha = HALF * tau * dot(product, vector)
        weights = [value - alpha * element for value, element in zip(product, vector, strict=True)]
        for k in range(size - j - 1):
            for i in range(k, size - j - 1):
                value = matrix[j + 1 + k][j + 1 + i] - vector[i] * weights[k] - weights[i] * vector[k]
                matrix[j + 1 + k][j + 1 + i] = matrix[j + 1 + i][j + 1 + k] = value


def work(target, *operands, element="f32"):
    counted, key = count_custom_call(Call(target, tuple(ArrayType(element, sizes) for sizes in operands), (), ""))
    return counted, key


def of_complex_numbers(tally, reflectors):
    """The note counts one of a reflector's two roots as a product, and the first square of its norm as no sum."""
    products = tally.products + reflectors
    return 6 * products + 2 * (tally.flops - tally.products - reflectors)


@given(sizes, sizes)
@settings(max_examples=40, deadline=None)
def test_qr(rows, columns):
    matrix = counted_matrix(rows, columns)
    before = plain(matrix)
    with counting() as tally:
        factorize(matrix)
    expected = np.linalg.qr(before, mode="r")
    np.testing.assert_allclose(np.abs(np.triu(plain(matrix))[: min(rows, columns)]), np.abs(expected), atol=1e-12)
    counted, key = work("lapack_sgeqrf_ffi", (2, rows, columns))
    assert (counted.flops, key) == (2 * tally.flops, "QR")
    counted, _ = work("lapack_cgeqrf_ffi", (rows, columns), element="c64")
    assert counted.flops == of_complex_numbers(tally, min(rows, columns))


@given(sizes, sizes, sizes)
@settings(max_examples=40, deadline=None)
def test_q(rows, columns, reflectors):
    rows, columns, reflectors = sorted((rows, columns, reflectors), reverse=True)
    matrix = counted_matrix(rows, columns)
    before = plain(matrix)[:, :reflectors]
    with counting():
        # The first columns of a QR are the QR of the first columns.
        factors = factorize(first := matrix[:reflectors])
        matrix[:reflectors] = first
    with counting() as tally:
        make_q(matrix, factors)
    found = plain(matrix)
    np.testing.assert_allclose(found.T @ found, np.eye(columns), atol=1e-12)
    expected = np.linalg.qr(before)[0]
    np.testing.assert_allclose(np.abs(found[:, :reflectors]), np.abs(expected), atol=1e-10)
    counted, key = work("lapack_sorgqr_ffi", (2, rows, columns), (2, reflectors))
    assert (counted.flops, key) == (2 * tally.flops, "Q of QR")
    counted, _ = work("lapack_cungqr_ffi", (rows, columns), (reflectors,), element="c64")
    assert counted.flops == 6 * tally.products + 2 * (tally.flops - tally.products)


@pytest.mark.parametrize("size", [3, 4, 8, 16, 40])
def test_hessenberg_form(size):
    matrix = counted_matrix(size, size)
    before = plain(matrix)
    with counting() as tally:
        reduce_to_hessenberg(matrix)
    found = plain(matrix)
    assert not np.tril(found, -2).any()
    np.testing.assert_allclose(np.poly(found / size), np.poly(before / size), atol=1e-9)
    counted, key = work("lapack_sgehrd_ffi", (3, size, size))
    # Reflectors of size - 1 elements down to 2: the table has a sum more for each element, and one for each reflector.
    elements = sum(range(2, size))
    assert (counted.flops, key) == (3 * (tally.flops + elements + size - 2), "Hessenberg form")


@pytest.mark.parametrize("size", [3, 4, 8, 16, 40])
def test_tridiagonal_form(size):
    matrix = counted_matrix(size, size)
    for column in range(size):
        for row in range(column):
            matrix[column][row] = matrix[row][column]
    before = plain(matrix)
    with counting() as tally:
        reduce_to_tridiagonal(matrix)
    found = np.tril(np.triu(plain(matrix), -1))
    symmetric = np.tril(found) + np.tril(found, -1).T
    np.testing.assert_allclose(np.linalg.eigvalsh(symmetric), np.linalg.eigvalsh(before), atol=1e-10)
    counted, key = work("lapack_ssytrd_ffi", (3, size, size))
    # BLAS's symv has a product more for each element of a reflector; the table leaves out five of the single numbers.
    elements = sum(range(2, size))
    assert (counted.flops, key) == (3 * (tally.flops + elements - 5 * (size - 2)), "tridiagonal form")


@pytest.mark.parametrize("size", [0, 1, 2])
@pytest.mark.parametrize("target", ["lapack_sgehrd_ffi", "lapack_ssytrd_ffi"])
def test_small_matrices_have_nothing_to_reduce(target, size):
    assert work(target, (3, size, size))[0] == NO_WORK
