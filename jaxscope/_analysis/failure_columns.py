"""What the columns mean of the leaves that differ where a loop's carry, or the results of branches, do not fit.

Input: none. Output: the entries of the columns.
"""

from jaxscope._analysis.entry import Entry

_MESSAGE = "The message of JAX's exception."


def _columns(left: Entry, right: Entry) -> tuple[Entry, ...]:
    path = Entry("path", "Path", "The leaf, or the place in the tree, that differs.", _MESSAGE, "Never.")
    reason = Entry("reason", "How they differ", "In JAX's words.", _MESSAGE, "Where JAX gives the two only.")
    return (path, left, right, reason)


CARRY_COLUMNS = _columns(
    Entry("left", "Goes in", "What the body of the loop is given.", _MESSAGE, "Never."),
    Entry("right", "Comes out", "What the body gives for the next round.", _MESSAGE, "Never."),
)
BRANCH_COLUMNS = _columns(
    Entry("left", "One branch", "What the first of the two branches gives.", _MESSAGE, "Never."),
    Entry("right", "Another branch", "What the other one gives.", _MESSAGE, "Never."),
)
