"""The box into which a call is typed, and what the kernel answers in a line.

Input: the facts of an inspection whose stages have ended. Output: the box, where there is a signature to compare with;
the verdict on the call that was typed last.
"""

from jaxscope._analysis.unavailable import Unavailable
from jaxscope._facts import Facts
from jaxscope._view.model import CallBox

_WHAT_CAN_BE_TYPED = (
    "Types such as f32[8,128], numbers, strings, None, and tuples, lists and dicts of these; nothing is run. "
    "A compiled function takes no static arguments, and jit gets the inspected ones where none are typed."
)
_NOT_PLACED = (
    "How the compiled inputs are split over devices cannot be typed here and is left out; "
    "inspection.check(...) in Python takes it."
)


def call_box(facts: Facts) -> CallBox | None:
    """The box, with the call that was judged last, or else the one that the program was compiled for."""
    compiled = facts.compiled_call
    if compiled is None:
        return None
    if isinstance(compiled, Unavailable):
        text, more = "", compiled.reason
    else:
        text, more = compiled.text, "" if compiled.is_placed else _NOT_PLACED
    return CallBox(
        text=text if facts.call_text is None else facts.call_text,
        note=" ".join(filter(None, (_WHAT_CAN_BE_TYPED, more))),
    )


def verdict_line(facts: Facts) -> str:
    """What the compiled function and jit do for the call that was judged last."""
    assert facts.mismatches is not None, "only asked for once there was a call"
    cache = "" if facts.cache is None or isinstance(facts.cache, Unavailable) else facts.cache.summary
    return ". ".join(filter(None, (facts.mismatches.summary, cache)))
