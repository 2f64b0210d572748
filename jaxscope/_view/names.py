"""The long names of a listing and a shorter one for each.

Problem: XLA calls a value `%broadcast_multiply_fusion.123.clone`, and a line of such names is longer than a screen is
wide. Input: the listing. Output: a shorter stem for each long one (``broadcast_multiply_fusion`` → ``bmf``); what
follows a stem, its numbers, stays, so that a few hundred stems are enough for 370,000 names. The stems of a listing
stay different from each other, and with them its names.
"""

import re
from collections.abc import Iterable, Iterator

from jaxscope._ir.model import Listing

# Up to this length a stem stays as it is; a single word is cut to one less.
KEPT_CHARACTERS = 4
# What `js/src/names.js` takes for the stem of a name. "param_0.2", "fusion.12.clone.1", "layers___0___qkv__.1"
STEM = re.compile(r"([^.]*?)(?:_[0-9]+)?(?:\..*)?")
# "broadcast_multiply_fusion", "get-tuple-element", "layers___10___down"
_WORD = re.compile(r"[A-Za-z]+|[0-9]+")


def short_names(listing: Listing) -> dict[str, str]:
    """A shorter stem for each long one of the names in a listing.

    Args:
        listing: Any; only those of HLO have names that are long.

    Returns:
        Stems to shorter ones, empty where nothing can be made shorter. No two stems of the listing, shortened or not,
        are the same, and the same listing always gives the same result.
    """
    if listing.dialect != "hlo" or not any("%" in listing.lines[op.line] for op in listing.ops[:1]):
        # Without the sign a name cannot be told from a word.
        return {}
    # A set of heads first: most names differ in the number behind the point only.
    heads = {name.removeprefix("%").partition(".")[0] for op in listing.ops for name in op.results}
    heads |= {block.name.removeprefix("%").partition(".")[0] for block in listing.blocks}
    stems = {found[1] for head in heads if (found := STEM.fullmatch(head))}
    return _shortened(stems)


def _shortened(stems: Iterable[str]) -> dict[str, str]:
    # The short ones choose first: they are the common ones, and their abbreviations the obvious ones.
    ordered = sorted(stems, key=lambda stem: (len(stem), stem))
    taken = set(ordered)
    found = {}
    for stem in ordered:
        if len(stem) > KEPT_CHARACTERS:
            short = next((each for each in _abbreviations(stem) if each not in taken), stem)
            if len(short) < len(stem):
                found[stem] = short
                taken.add(short)
    return found


def _abbreviations(stem: str) -> Iterator[str]:
    """What a stem may be called, best first: the beginning of a word, the initials of several."""
    words = _WORD.findall(stem)
    if not words:
        return
    *others, last = words
    initials = "".join(word if word.isdigit() else word[0] for word in others)
    shortest = len(last) if last.isdigit() else 1 if initials else KEPT_CHARACTERS - 1
    yield from (initials + last[:length] for length in range(shortest, len(last) + 1))
