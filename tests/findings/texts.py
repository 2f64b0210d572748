"""Rules on HLO text that no compiler here gives: calls of libraries that are not installed, other devices' kernels."""

from types import SimpleNamespace

from jaxscope._analysis.collectives import collectives_of
from jaxscope._analysis.hlo_cost import count_module
from jaxscope._analysis.hlo_module import read_module
from jaxscope._analysis.roofline import roofline_of
from jaxscope._findings import RULES, Finding, find
from jaxscope._ir.hlo import parse
from jaxscope._links import link_listing
from jaxscope._targets import Target
from jaxscope._targets.model import NO_FACTS
from jaxscope.errors import UnavailableError


def findings_of_text(key: str, text: str, facts=NO_FACTS, meshes=()) -> list[Finding]:
    """What the rule of that key says of compiled HLO, of which nothing else is known.

    Args:
        key: The rule's.
        text: A whole module.
        facts: What is published of one device of the target.
        meshes: Axis sizes by name.
    """
    (rule,) = [rule for rule in RULES if rule.key == key]
    module = read_module(parse(text))
    linked, cost = link_listing("hlo", module.listing, None), count_module(module)

    def only_hlo(found):
        def get(key):
            if key != "hlo":
                raise UnavailableError("Reading a stage: this is a text alone. Read the compiled HLO.")
            return found

        return get

    program = SimpleNamespace(
        listing=only_hlo(linked),
        program_cost=only_hlo(cost),
        hlo_module=module,
        collectives=collectives_of(module.listing, meshes),
        target=Target("some", "Some device", "cuda", facts=facts),
        roofline=roofline_of(cost, facts),
    )
    findings = find(program, (rule,))
    assert not findings.broken, findings.broken
    assert findings.looked == 1
    return list(findings.found)
