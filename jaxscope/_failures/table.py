"""All rows of the table of failures, in the order in which they are tried, and the look-up.

Input: a `Failure`. Output: a `Diagnosis`; that of an exception of the user's own says no more than that.
"""

from jaxscope._failures import (
    arguments,
    compilers,
    concretization,
    control_flow,
    indices,
    pieces,
    python,
    shapes,
    transformations,
)
from jaxscope._failures.records import Diagnosis, Failure, Recogniser

# Rows that go by JAX's own classes come first, Python's own mishaps last.
ROWS: tuple[Recogniser, ...] = (
    *concretization.ROWS,
    *control_flow.ROWS,
    *transformations.ROWS,
    *arguments.ROWS,
    *shapes.ROWS,
    *indices.ROWS,
    *compilers.ROWS,
    *pieces.ROWS,
    *python.ROWS,
)


def recognise(failure: Failure) -> Diagnosis | None:
    """What is known about a failure; None where only its own words can be shown."""
    if failure.is_raised or failure.is_foreign:
        return Diagnosis("user-exception", "", "", "")
    for row in ROWS:
        if (diagnosis := row.recognise(failure)) is not None:
            return diagnosis
    return None
