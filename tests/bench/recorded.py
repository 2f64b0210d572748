"""A recorded compilation as a source of pictures, so that no benchmark of reading has to compile for minutes.

Input: a folder of the recorded material and the program that it was made from. Output: `RecordedSource`: the view and
the listings, read by the project's own parsers and linked as an inspection does it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType, SimpleNamespace

from jaxscope._ir import hlo, jaxpr, stablehlo
from jaxscope._ir.model import Frame, Listing
from jaxscope._links import LinkedListing, link_listing
from jaxscope._programs import Programs
from jaxscope._sources import SourceLine, python_listing
from jaxscope._stages import STAGES, Stage
from jaxscope._view.model import SCHEMA_VERSION, Tab, View
from jaxscope._view.source import ViewSource
from tests.shared import SHARED, read_recorded

_READERS = {
    "jaxpr": ("jaxpr.txt.gz", jaxpr.parse),
    "stablehlo": ("stablehlo-debug.mlir.gz", stablehlo.parse),
    "hlo": ("compiled.hlo.gz", hlo.parse),
}


class RecordedFacts:
    """What `ViewSource` asks of an inspection's facts, from a folder of recorded texts."""

    definition = None
    has_ended = False
    target = SimpleNamespace(name="cpu", label="CPU")
    stages: Mapping[str, Stage] = MappingProxyType({})

    def __init__(self, folder: Path):
        self._folder = folder

    @cache  # noqa: B019  (one object per benchmark run)
    def listing(self, key: str) -> LinkedListing:
        """The parsed and linked listing."""
        name, parse = _READERS[key]
        listing = parse(read_recorded(self._folder / name))
        return link_listing(key, _relocate(listing), None)

    def shown_listing(self, key: str) -> LinkedListing:
        """The same: nothing failed."""
        return self.listing(key)

    @cache  # noqa: B019
    def python_side(self) -> tuple[Listing, tuple[SourceLine, ...]]:
        """The Python side; the recorded jaxpr has no locations, so it is made from the StableHLO's."""
        return python_listing(self.listing("stablehlo").stacks.frames)


def _relocate(listing: Listing) -> Listing:
    """The listing with the program's file where it lies on this machine: the recording names it relatively."""
    frames: Iterable[Frame] = listing.stacks.frames
    programs = {path.name: str(path) for path in (SHARED / "programs").glob("*.py")} if SHARED else {}
    moved = tuple(replace(frame, file=programs.get(Path(frame.file).name, frame.file)) for frame in frames)
    return replace(listing, stacks=replace(listing.stacks, frames=moved))


class RecordedSource(ViewSource):
    """The picture of a recorded compilation of `layers` layers, its tabs in `order`."""

    def __init__(self, layers: int, order: Sequence[str] = ("python", "jaxpr", "stablehlo", "hlo")):
        if SHARED is None:
            raise FileNotFoundError(
                "Reading recorded compiler output: the shared material is not beside the repository."
            )
        self._facts = RecordedFacts(SHARED / "recorded" / f"cpu-{layers}-layers-jax-0.12.0.1")
        super().__init__(Programs(self._facts))  # type: ignore[arg-type]
        self._layers = layers
        self._order = order

    @property
    def view(self) -> View:
        """The four listings and no tables."""
        lines = self._facts.python_side()[1]
        tabs = [_tab("python", "Python", "transformer.py", len(lines), len(self.text("python")))]
        for spec in STAGES:
            listing = self._facts.listing(spec.dialect).listing
            count = f"{len(listing.ops):,} {spec.unit[1]}"
            tabs.append(_tab(spec.dialect, spec.title, count, len(listing.lines), len(listing.text)))
        tabs.sort(key=lambda tab: self._order.index(tab["key"]))
        return View(
            schema=SCHEMA_VERSION,
            title=f"step, {self._layers} layers",
            function="step",
            targets=[{"name": self._facts.target.name, "label": self._facts.target.label}],
            choices=[],
            versions="recorded",
            notes=[],
            tabs=tabs,
            heat={},
            marks=[],
        )


def _tab(key: str, title: str, count: str, lines: int, size_bytes: int) -> Tab:
    return Tab(
        key=key,
        title=title,
        kind="listing",
        status="done",
        count=count,
        seconds=None,
        reason="",
        failure=None,
        figures=[],
        tables=[],
        notes=[],
        targets=[],
        lines=lines,
        size_bytes=size_bytes,
    )
