"""From an inspection to the view model: every tab, whatever state it is in.

Input: what an `Inspection` offers (`Programs`), possibly while stages still run. Output: a `View`. A tab whose
facts cannot be worked out says so itself and leaves the others alone; tests set `CONTAIN_FAILURES` to False so that
nothing is hidden from them.
"""

from collections.abc import Callable
from importlib import metadata
from typing import Any

import jaxscope
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._facts import Facts
from jaxscope._links import LinkedListing
from jaxscope._lower_level import LowerListing
from jaxscope._programs import Programs
from jaxscope._stages import STAGES, StageSpec
from jaxscope._view import tables
from jaxscope._view.cells import Page
from jaxscope._view.comparison import comparison_tables
from jaxscope._view.cost import cost_page
from jaxscope._view.failure import failure_marks, failure_view
from jaxscope._view.findings import finding_marks, findings_page
from jaxscope._view.format import format_count, format_share
from jaxscope._view.heat import heat_of
from jaxscope._view.memory import memory_page
from jaxscope._view.model import SCHEMA_VERSION, Heat, Link, Mark, Status, Tab, Table, View
from jaxscope._view.type_tables import broken_table, type_flow_tables
from jaxscope.errors import UnavailableError

CONTAIN_FAILURES = True


# A tab of tables has nothing to show when none of these stages gave a product.
_NEEDED_STAGES = {"cost": ("lower", "compile"), "memory": ("compile",), "types": ()}


_TABLE_TABS = (
    ("cost", "Cost", cost_page),
    ("memory", "Memory", memory_page),
    ("types", "Types", tables.types_page),
)


def build_view(programs: Programs) -> View:
    """The view of what is known by now."""
    first = programs.first
    tabs = [_contain(_python_tab, first, _tab("python", "Python"))]
    for facts in programs:
        tabs += _program_tabs(programs, facts)
    return View(
        schema=SCHEMA_VERSION,
        title=_contain_title(first),
        function=first.name,
        targets=[{"name": facts.target.name, "label": facts.target.label} for facts in programs],
        choices=[{"name": target.name, "label": target.label, "reason": target.reason} for target in programs.choices],
        versions=versions(),
        notes=list(dict.fromkeys(note for facts in programs for note in facts.notes)),
        tabs=tabs,
        heat=_heat(programs),
        marks=_marks(programs),
    )


def _heat(programs: Programs) -> dict[str, Heat]:
    """Where the work is, once it is known."""
    found: dict[str, Heat] = {}
    for facts in programs:
        if not facts.has_ended or isinstance(facts.error, KeyboardInterrupt):
            continue
        try:
            found |= {programs.key(facts, key): heat for key, heat in heat_of(facts).items()}
        except UnavailableError:
            continue
        except Exception:
            # The Cost tab says what went wrong.
            if not CONTAIN_FAILURES:
                raise
    return found


def _marks(programs: Programs) -> list[Mark]:
    """What is said about lines: where stages failed, and what findings are about."""
    found: list[Mark] = []
    for marks_of in (failure_marks, finding_marks):
        try:
            found += marks_of(programs)
        except Exception:
            # The tab of the stage that failed, or that of the findings, says what went wrong.
            if not CONTAIN_FAILURES:
                raise
    return found


def _program_tabs(programs: Programs, facts: Facts) -> list[Tab]:
    """The tabs of one target; a jaxpr that it shares with the first one is shown once."""
    several = len(programs) > 1
    tabs = []
    for spec in STAGES:
        is_jaxpr = spec.dialect == "jaxpr"
        if is_jaxpr and facts is not programs.first and programs.shares_trace(facts):
            continue
        tab = _contain(lambda facts, spec=spec: _stage_tab(facts, spec), facts, _tab(spec.dialect, spec.title))
        about = (
            [each for each in programs if programs.shares_trace(each)]
            if is_jaxpr and facts is programs.first
            else [facts]
        )
        # What is true of all needs no name.
        tab["targets"] = [] if len(about) == len(programs) else [each.target.name for each in about]
        tabs.append(tab)
    for listing in _lower_listings(facts):
        empty = _tab(listing.key, listing.title)
        tab = _contain(lambda facts, listing=listing: _lower_tab(facts, listing), facts, empty)
        tab["targets"] = [facts.target.name] if several else []
        tabs.append(tab)
    for key, title, build in _TABLE_TABS:
        tab = _contain(
            lambda facts, key=key, title=title, build=build: _table_tab(facts, key, title, build),
            facts,
            _tab(key, title, "tables"),
        )
        if several and tab["status"] == "done":
            tab["tables"] = [*comparison_tables(key, programs), *tab["tables"]]
        tab["targets"] = [facts.target.name] if several else []
        tabs.append(tab)
    findings = _contain(_findings_tab, facts, _tab("findings", "Findings", "tables"))
    findings["targets"] = [facts.target.name] if several else []
    tabs.append(findings)
    for tab in tabs:
        tab["key"] = programs.key(facts, tab["key"])
        for finding in tab.get("findings", []):
            finding["links"] = [_own(programs, facts, link) for link in finding["links"]]
        for table in tab["tables"]:
            _lead_to(programs, facts, table)
    return tabs


def _own(programs: Programs, facts: Facts, link: Link) -> Link:
    """The link into the listing of its own target; the Python side is that of all, and so can the jaxpr be."""
    key = link["listing"]
    return link if key == "python" else Link(listing=programs.listing_key(facts, key), line=link["line"])


def _lead_to(programs: Programs, facts: Facts, table: Table) -> None:
    """Makes the links of a table lead to the listings of its own target."""
    for row in table["rows"]:
        if "link" in row:
            row["link"] = _own(programs, facts, row["link"])
    chart = table.get("chart")
    if chart is not None and chart["kind"] == "steps":
        chart["data"] = programs.key(facts, chart["data"])


def versions() -> str:
    """The versions that the texts depend on."""
    packages = ", ".join(f"{name} {metadata.version(name)}" for name in ("jax", "jaxlib"))
    return f"{packages}, jaxscope {jaxscope.__version__}"


def _tab(key: str, title: str, kind: Any = "listing", status: Status = "pending", reason: str = "") -> Tab:
    return Tab(
        key=key,
        title=title,
        kind=kind,
        status=status,
        count="",
        seconds=None,
        reason=reason,
        failure=None,
        figures=[],
        tables=[],
        notes=[],
        targets=[],
    )


def _contain(build: Callable[[Any], Tab], facts: Facts, empty: Tab) -> Tab:
    try:
        return build(facts)
    except UnavailableError as reason:
        empty.update(status="unavailable", reason=str(reason))
        return empty
    except Exception as error:
        if not CONTAIN_FAILURES:
            raise
        empty["status"] = "failed"
        empty["reason"] = (
            f"Making the tab {empty['title']}: jaxscope itself raised {type(error).__name__}: {error}. "
            "The other tabs are not affected; please report this as a bug of jaxscope."
        )
        return empty


def _contain_title(facts: Facts) -> str:
    if not facts.has_ended:
        return facts.name
    try:
        return tables.title(facts.name, facts.signature, facts.types)
    except Exception:
        if not CONTAIN_FAILURES:
            raise
        return facts.name


def _python_tab(facts: Facts) -> Tab:
    tab = _tab("python", "Python")
    if not facts.stages:
        return tab
    listing, lines = facts.python_side()
    if not lines:
        tab["status"] = "unavailable"
        tab["reason"] = "The source is not to be had: no op names a file that can be read here."
        return tab
    tab.update(status="done", count=facts.python_name(), lines=len(lines), size_bytes=len(listing.text))
    return tab


def _stage_tab(facts: Facts, spec: StageSpec) -> Tab:
    stage = facts.stages.get(spec.key)
    tab = _tab(spec.dialect, spec.title)
    if stage is None:
        tab["status"] = "running" if facts.running == spec.key else "pending"
        return tab
    tab.update(status=stage.status, seconds=stage.seconds, reason=stage.reason, notes=list(stage.warnings))
    if stage.error is not None:
        tab["failure"] = failure_view(facts.explanation(stage.key))
        partial = facts.partial_listing if stage.key == "trace" else None
        if isinstance(partial, Unavailable):
            tab["notes"].append(partial.reason)
        elif partial is not None:
            _describe(tab, partial, spec.unit)
            tab["count"] += ", up to the failure"
            if not partial.listing.ops:
                tab["notes"].append("No equation had been traced by then.")
    if stage.status == "done":
        listing = facts.listing(spec.dialect)
        _describe(tab, listing, spec.unit)
        if listing.listing.ops and not listing.linked_ops:
            tab["notes"][-1] = "No source locations were recorded (are they switched off in JAX's configuration?)."
    return tab


def _lower_listings(facts: Facts) -> list[LowerListing]:
    """What lies below compiled HLO, known once all stages have ended."""
    if not facts.has_ended:
        return []
    try:
        return facts.lower_listings()
    except Exception:
        # What went wrong stands in the tab of the listing that could not be read.
        if not CONTAIN_FAILURES:
            raise
        return []


def _lower_tab(facts: Facts, lower: LowerListing) -> Tab:
    tab = _tab(lower.key, lower.title)
    if not facts.is_made(lower.key):
        tab["status"] = "on request"
        # How long that took stands in the tab of the compiled HLO; here it would make every report another text.
        tab["reason"] = f"{lower.title} is made by compiling once more, with XLA's dump switched on."
        return tab
    listing = facts.listing(lower.key)
    tab.update(status="done", seconds=facts.dump_seconds if lower.pattern else None)
    if lower.key == "ptx":
        tab["notes"] += filter(None, [facts.launches_note()])
    _describe(tab, listing, lower.unit)
    return tab


def _describe(tab: Tab, listing: LinkedListing, unit: tuple[str, str]) -> None:
    """How much there is of a listing, and how much of it is linked."""
    ops = len(listing.listing.ops)
    tab["count"] = format_count(ops, unit)
    tab["lines"] = len(listing.listing.lines)
    tab["size_bytes"] = len(listing.listing.text)
    if ops:
        share = format_share(listing.linked_ops, ops)
        note = f"{share} of {unit[1]} linked to Python ({listing.linked_ops:,} of {ops:,})"
        # Arguments of computations have no line of their own: without them the share would look like a loss.
        parameters = sum(op.name == "parameter" for op in listing.listing.ops)
        tab["notes"].append(f"{note}; {parameters:,} are parameters." if parameters else f"{note}.")


def _table_tab(facts: Facts, key: str, title: str, build: Callable[[Facts], Page]) -> Tab:
    tab = _tab(key, title, "tables")
    if not facts.has_ended:
        return tab
    needed = [facts.stages[stage] for stage in _NEEDED_STAGES[key]]
    if needed and all(stage.product is None for stage in needed):
        last = needed[-1]
        tab["status"] = "unavailable" if last.status == "unavailable" else "not reached"
        tab["reason"] = f"There are no figures without a compiled program. {last.reason}"
        return tab
    if needed and isinstance(facts.error, KeyboardInterrupt):
        # Asking XLA for figures can take longer than whoever interrupted is willing to wait.
        tab["status"], tab["reason"] = "not reached", f"Interrupted. inspection.{key} asks XLA for what is known."
        return tab
    page = build(facts)
    more = _type_flow(facts) if key == "types" else []
    # The sign of a warning stands beside what it warns of.
    warned = [table["key"] for table in more if table["tone"] == "warning"]
    tab.update(
        status="done", count=" · ".join([page.count, *warned]), figures=page.figures, tables=[*page.tables, *more]
    )
    if page.call is not None:
        tab["call"] = page.call
    return tab


def _findings_tab(facts: Facts) -> Tab:
    tab = _tab("findings", "Findings", "tables")
    if not facts.has_ended:
        return tab
    if facts.product("trace") is None and facts.product("lower") is None and facts.product("compile") is None:
        tab["status"], tab["reason"] = "not reached", "There is nothing to look at without a program."
        return tab
    if isinstance(facts.error, KeyboardInterrupt):
        tab["status"], tab["reason"] = "not reached", "Interrupted. inspection.findings looks at what is there."
        return tab
    page = findings_page(facts)
    tab.update(status="done", count=page.count, notes=page.notes, findings=page.findings, rules=page.rules)
    return tab


def _type_flow(facts: Facts) -> list[Table]:
    """What happens to types inside the program; a failure takes no other table with it."""
    if facts.product("trace") is None or isinstance(facts.error, KeyboardInterrupt):
        return []
    try:
        return type_flow_tables(facts)
    except Exception as error:
        if not CONTAIN_FAILURES:
            raise
        return [broken_table(error)]
