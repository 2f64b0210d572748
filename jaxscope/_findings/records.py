"""The records of findings: what a rule is, what it says of a program, and what it may look at.

Problem: advice that cannot be checked, silenced or looked up is noise. Input: nothing; this module only defines records
and reads the documentation of rules. Output: `Rule`, `Observation`, `Finding`, `Findings`, and `Program`, the facts
that rules see.

Every rule is one module with a docstring of fixed headings, which is its documentation on the screen too.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

from jaxscope._analysis.cache_verdict import CacheVerdict
from jaxscope._analysis.collectives import Collective
from jaxscope._analysis.donation import Donation
from jaxscope._analysis.hlo_module import HloModule
from jaxscope._analysis.program_memory import ProgramMemory
from jaxscope._analysis.roofline import Roofline
from jaxscope._analysis.signature import Signature
from jaxscope._analysis.type_flow import TypeFlow
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._analysis.work import ProgramCost
from jaxscope._findings.places import own_frame
from jaxscope._ir.model import Frame
from jaxscope._links import Definition, LinkedListing
from jaxscope._targets import Target

if TYPE_CHECKING:
    from jaxscope._findings.equations import PlacedEquation

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
HEADINGS = ("What it does", "Why it matters", "Example", "Use instead", "When it is wrong")
# "Why it matters:" on a line of its own
_HEADING = re.compile(r"^(" + "|".join(HEADINGS) + r"):$", re.MULTILINE)


class Program(Protocol):
    """The facts of a program that rules look at; each is worked out on first use and kept.

    A fact that is not there raises `UnavailableError`: the rule then has nothing to look at.
    """

    name: str
    target: Target
    definition: Definition | None
    cache: CacheVerdict | Unavailable | None
    cache_entries: int | None
    static_by_identity: tuple[tuple[str, str], ...]

    @property
    def own_frames(self) -> tuple[Frame, ...]:
        """Where the inspected function itself stands; () where it is not Python."""
        ...

    @property
    def signature(self) -> Signature:
        """The arguments and results."""
        ...

    @property
    def equations(self) -> "tuple[PlacedEquation, ...]":
        """Every equation of the traced program with its place."""
        ...

    @property
    def type_flow(self) -> TypeFlow:
        """Every change of type inside the traced program, and integer arithmetic that may overflow."""
        ...

    @property
    def donations(self) -> tuple[Donation, ...]:
        """What became of every donated argument."""
        ...

    @property
    def program_memory(self) -> ProgramMemory:
        """Who is alive when, what is set aside, whether it fits."""
        ...

    @property
    def roofline(self) -> Roofline | Unavailable:
        """The compiled program's kernels against the target's published figures."""
        ...

    @property
    def collectives(self) -> tuple[Collective, ...]:
        """What the devices say to each other."""
        ...

    def require_product(self, key: str) -> Any:
        """JAX's own object of a stage."""
        ...

    def listing(self, key: str) -> LinkedListing:
        """The parsed and linked listing of a stage."""
        ...

    @property
    def hlo_module(self) -> HloModule:
        """The compiled program as a graph."""
        ...

    def program_cost(self, key: str) -> ProgramCost:
        """The account of the work of a listing."""
        ...


@dataclass(frozen=True, slots=True)
class ListingLine:
    """A line, from 0, of the listing of that key: ``jaxpr``, ``stablehlo`` or ``hlo``."""

    listing: str
    line: int


@dataclass(frozen=True, slots=True)
class Observation:
    """What a rule says of one place.

    Attributes:
        found: What is there, in this program's own names and figures: one or two sentences.
        advice: What to do about it here.
        frames: The call stack of the Python that asked for it, innermost first; () where no line did.
        lines: The lines of listings that it is about, the most telling first.
        severity: Where it differs from the rule's own.
    """

    found: str
    advice: str
    frames: tuple[Frame, ...] = ()
    lines: tuple[ListingLine, ...] = ()
    severity: Severity | None = None


@dataclass(frozen=True)
class Rule:
    """Something that is worth knowing about programs.

    Attributes:
        key: Its stable name, ``captured-constant``.
        title: The same for people.
        severity: ``error`` for what will fail, ``warning`` for what costs, ``note`` for what may be meant so.
        find: Gives an observation for each place, the most important first.
        documentation: The text under each of `HEADINGS`.
    """

    key: str
    title: str
    severity: Severity
    find: Callable[[Program], Iterable[Observation]]
    documentation: Mapping[str, str]


@dataclass(frozen=True)
class Finding:
    """An observation and the rule that made it; `severity` is what counts of the two."""

    rule: Rule
    observation: Observation

    @property
    def severity(self) -> Severity:
        """How bad it is."""
        return self.observation.severity or self.rule.severity

    @property
    def frame(self) -> Frame | None:
        """The innermost line of the user's own, or else of a library; None where there is none."""
        return own_frame(self.observation.frames)


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """A rule that raised an exception, which is a bug of jaxscope's; the other rules are not affected."""

    rule: Rule
    reason: str


@dataclass(frozen=True)
class Findings:
    """What all rules say of a program.

    Attributes:
        found: The worst first; of equal severity in the order of the rules.
        broken: The rules that failed.
        looked: How many rules had something to look at.
    """

    found: tuple[Finding, ...]
    broken: tuple[BrokenRule, ...]
    looked: int


def read_documentation(docstring: str | None) -> dict[str, str]:
    """The text under each heading of a rule's docstring.

    Raises:
        ValueError: A heading is missing or in another place.
    """
    parts = _HEADING.split(docstring or "")
    if tuple(parts[1::2]) != HEADINGS:
        raise ValueError(
            f"Reading the documentation of a rule: it has the headings {', '.join(parts[1::2]) or 'none'}. "
            f"Give it these, in this order: {', '.join(HEADINGS)}."
        )
    return {heading: _dedent(text) for heading, text in zip(HEADINGS, parts[2::2], strict=True)}


def _dedent(text: str) -> str:
    """The text without the indentation and line ends of the docstring; code, indented by four more, stays as it is."""
    paragraphs: list[str] = []
    # Lines between which one holds spaces at most: "one\n   \ntwo"
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        lines = [line.removeprefix("    ") for line in block.split("\n")]
        is_code = all(line.startswith("    ") for line in lines if line.strip())
        if is_code:
            paragraphs.append("\n".join(lines))
        else:
            paragraphs.append(" ".join(line.strip() for line in lines).strip())
    return "\n\n".join(paragraphs)
