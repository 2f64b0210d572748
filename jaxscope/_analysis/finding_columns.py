"""What the columns of the frame of findings mean.

Input: none. Output: `FINDING_COLUMNS`.
"""

from jaxscope._analysis.entry import Entry

_PLACE = "The call stack of what it is about."

FINDING_COLUMNS = (
    Entry(
        "severity",
        "Severity",
        "error (will fail or does not fit), warning (costs something) or note (may be meant so).",
        "The rule.",
        "Never.",
    ),
    Entry("rule", "Rule", "The stable name of the rule.", "jaxscope.", "Never."),
    Entry("title", "Finding", "The name of the rule for people.", "jaxscope.", "Never."),
    Entry("found", "What was found", "What is there, with its figures.", "The program.", "Never."),
    Entry("advice", "What to do", "The repair.", "The rule.", "Never."),
    Entry("file", "File", "The Python file.", _PLACE, "Where no line of Python asked for it."),
    Entry(
        "python_line",
        "Python line",
        "The innermost line of the user's own, else of a library.",
        _PLACE,
        "Where no line of Python asked for it.",
        "right",
    ),
    Entry("function", "Function", "The Python function of that line.", _PLACE, "Where no line of Python asked for it."),
    Entry("listing", "Listing", "The listing that `lines` are of.", "The rule.", "Where it is about no op."),
    Entry("lines", "Lines", "The lines in that listing, from 1.", "The rule.", "Empty where it is about no op."),
)
