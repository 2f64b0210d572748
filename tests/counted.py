"""Numbers that count what is done with them: an algorithm run on them says how much it computes.

Problem: a count of work must be checked against the definition, not against a second formula. Input: an algorithm as a
textbook has it, in Python. Output: with `Real`, `Complex` and `Word` for its numbers, and `counting` around it, a
`Tally` of the operations that really happened.
"""

import contextlib
import math
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass
class Tally:
    """Operations so far; `products` are those of the flops that multiply or divide."""

    flops: int = 0
    products: int = 0
    transcendentals: int = 0
    integer_ops: int = 0


_tallies: list[Tally] = []


@contextlib.contextmanager
def counting() -> Iterator[Tally]:
    """Counts what happens inside."""
    tally = Tally()
    _tallies.append(tally)
    try:
        yield tally
    finally:
        _tallies.pop()


def _note(flops: int = 0, products: int = 0, transcendentals: int = 0, integer_ops: int = 0) -> None:
    tally = _tallies[-1]
    tally.flops += flops
    tally.products += products
    tally.transcendentals += transcendentals
    tally.integer_ops += integer_ops


@dataclass(frozen=True)
class Real:
    """A real number."""

    value: float = field(default=1.0)

    def _sum(self, value: float) -> "Real":
        _note(flops=1)
        return Real(value)

    def _product(self, value: float) -> "Real":
        _note(flops=1, products=1)
        return Real(value)

    def __add__(self, other: "Real") -> "Real":
        return self._sum(self.value + other.value)

    def __sub__(self, other: "Real") -> "Real":
        return self._sum(self.value - other.value)

    def __mul__(self, other: "Real") -> "Real":
        return self._product(self.value * other.value)

    def __truediv__(self, other: "Real") -> "Real":
        return self._product(self.value / other.value)

    def __lt__(self, other: "Real") -> bool:
        _note(flops=1)
        return self.value < other.value

    def sqrt(self) -> "Real":
        """A root, which is a transcendental by the convention."""
        _note(transcendentals=1)
        return Real(math.sqrt(abs(self.value)))


@dataclass(frozen=True)
class Complex:
    """A complex number, by the definition of its operations in real ones."""

    real: Real = field(default=Real(1.0))
    imag: Real = field(default=Real(0.5))

    def __add__(self, other: "Complex") -> "Complex":
        return Complex(self.real + other.real, self.imag + other.imag)

    def __sub__(self, other: "Complex") -> "Complex":
        return Complex(self.real - other.real, self.imag - other.imag)

    def __mul__(self, other: "Complex") -> "Complex":
        return Complex(
            self.real * other.real - self.imag * other.imag,
            self.real * other.imag + self.imag * other.real,
        )

    def __truediv__(self, other: "Complex") -> "Complex":
        # Times the conjugate of the denominator, whose minus sign goes into the sums.
        norm = other.real * other.real + other.imag * other.imag
        real = self.real * other.real + self.imag * other.imag
        imag = self.imag * other.real - self.real * other.imag
        return Complex(real / norm, imag / norm)

    def over_real(self, other: Real) -> "Complex":
        """A quotient by a real number."""
        return Complex(self.real / other, self.imag / other)

    def squared_norm(self) -> Real:
        """|z|²."""
        return self.real * self.real + self.imag * self.imag

    def absolute(self) -> Real:
        """|z|."""
        return self.squared_norm().sqrt()


@dataclass(frozen=True)
class Word:
    """An unsigned integer of `bits` bits."""

    value: int
    bits: int = 32

    def _new(self, value: int) -> "Word":
        _note(integer_ops=1)
        return Word(value & ((1 << self.bits) - 1), self.bits)

    def __add__(self, other: "Word") -> "Word":
        return self._new(self.value + other.value)

    def __xor__(self, other: "Word") -> "Word":
        return self._new(self.value ^ other.value)

    def __or__(self, other: "Word") -> "Word":
        return self._new(self.value | other.value)

    def __lshift__(self, count: int) -> "Word":
        return self._new(self.value << count)

    def __rshift__(self, count: int) -> "Word":
        return self._new(self.value >> count)

    def wide_product(self, other: int) -> tuple["Word", "Word"]:
        """High and low word of a product, one operation."""
        product = self.value * other
        low = self._new(product)
        return Word(product >> self.bits, self.bits), low
