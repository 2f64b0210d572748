"""The result that users hold: JAX's own objects, texts, tables, checks, and how it shows itself.

Input: the facts of one inspection. Output: `Inspection`, small on purpose; what it offers is worked out elsewhere. It
has over 400 lines because every table that it offers is documented here.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import jax

from jaxscope._analysis.cache_verdict import CacheVerdict, cache_frame
from jaxscope._analysis.collectives import collectives_frame, kernel_runs
from jaxscope._analysis.control_flow import loops_frame
from jaxscope._analysis.cost import cost_frame
from jaxscope._analysis.memory import memory_frame
from jaxscope._analysis.memory_frames import alive_frame, allocations_frame, buffers_frame, donation_frame
from jaxscope._analysis.mismatches import Mismatches, mismatch_frame
from jaxscope._analysis.operations import operations_frame
from jaxscope._analysis.reconciliation import reconciliation_frame
from jaxscope._analysis.roll_up import GROUPINGS, Grouping
from jaxscope._analysis.roll_up_frame import group_frame
from jaxscope._analysis.roofline import roofline_frame
from jaxscope._analysis.signature import signature_frame
from jaxscope._analysis.type_flow_columns import overflow_frame, type_flow_frame
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._facts import Facts
from jaxscope._findings.frame import findings_frame
from jaxscope._programs import Programs
from jaxscope._render.display import Display, has_front_end, running_shell
from jaxscope._render.html import render_table, visible
from jaxscope._render.text import render_text, table_lines
from jaxscope._stages import Stage
from jaxscope._targets.listing import list_targets
from jaxscope._view.model import Table
from jaxscope._view.source import ViewSource
from jaxscope._view.tables import mismatch_table
from jaxscope._view.type_tables import cache_table
from jaxscope.errors import InputError, UnavailableError

if TYPE_CHECKING:
    import pandas as pd


class Check:
    """How a call differs from the signature that a program was compiled for; shows itself as a table.

    Attributes:
        mismatches: The records, with notes on what was not compared.
        rows: One record per leaf or container that differs: path, both types, what differs, verdict, advice.
        raises: Whether the compiled function would raise for the call.
        summary: The outcome in one line.
        cache: What jit, which was called as inspected before, does for the call: its outcome, the leaves that decide,
            a summary; Unavailable with a reason where the function is not a jitted one.
    """

    def __init__(self, mismatches: Mismatches, cache: CacheVerdict | Unavailable):
        self.mismatches = mismatches
        self.cache = cache
        self.rows = mismatches.rows
        self.raises = mismatches.raises
        self.summary = mismatches.summary

    @property
    def frame(self) -> "pd.DataFrame":
        """The rows as a data frame."""
        return mismatch_frame(self.mismatches)

    @property
    def cache_frame(self) -> "pd.DataFrame":
        """What makes jit compile again, as a data frame: one row for each leaf, static value or setting that decides.

        Raises:
            UnavailableError: The function is not a jitted one.
        """
        if isinstance(self.cache, Unavailable):
            raise UnavailableError(
                f"Comparing the call with jit's cache: {self.cache.reason} Inspect jax.jit's result."
            )
        return cache_frame(self.cache)

    def _tables(self) -> list[Table]:
        return [mismatch_table(self.mismatches), cache_table(self.cache)]

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        return "\n\n".join("\n".join(map(visible, table_lines(table))) for table in self._tables())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "".join(map(render_table, self._tables()))


class Job(Protocol):
    """What is to be run for one target."""

    facts: Facts

    def run(self, meanwhile: Callable[[], None] | None) -> Iterator[None]:
        """Runs the stages; yields after each."""
        ...


class Inspection:
    """What jit made of a function; made by `jaxscope.show` and `jaxscope.inspect`.

    As the value of a cell it shows itself as a widget. ``str`` gives the whole report as text, ``repr`` the report
    without the listings. It holds types, never an argument's array.
    """

    def __init__(self, programs: Programs, job_for: Callable[[Any], Job] | None = None):
        self._programs = programs
        self._job_for = job_for
        self._source = ViewSource(programs)
        self._display = Display(self._source, self.compile_for)
        if job_for is not None and has_front_end(running_shell()):
            programs.choices = tuple(listed.target for listed in list_targets())

    @property
    def _facts(self) -> Facts:
        return self._programs.first

    def _run(self, job: Job, display: Display | None) -> None:
        """Runs the stages of one target.

        Raises:
            KeyboardInterrupt: In a stage, which has failed with it then, or between two.
        """
        try:
            for _ in job.run(display.refresh if display is not None else None):
                if display is not None and job.facts.running is not None:
                    display.refresh_view()
            if isinstance(job.facts.error, KeyboardInterrupt):
                raise job.facts.error
        except KeyboardInterrupt:
            for facts in self._programs:
                facts.stop("Interrupted before this stage began.")
            if display is not None:
                # The prompt comes first: listings are then made when they are opened.
                display.close(embed=False)
            raise

    @property
    def stages(self) -> Mapping[str, Stage]:
        """The stages ``trace``, ``lower`` and ``compile``: status, product, error, reason, seconds, warnings."""
        return self._facts.stages

    @property
    def targets(self) -> tuple[str, ...]:
        """The names of the targets that the function was compiled for, in the order in which they were asked for.

        What is said of one program below is said of the first; `for_target` gives the others.
        """
        return self._programs.names

    def for_target(self, name: str) -> "Inspection":
        """The inspection of one target alone.

        Args:
            name: One of `targets`.

        Raises:
            jaxscope.errors.InputError: The function was not compiled for it.
        """
        return Inspection(Programs(self._programs.of(name)))

    def compile_for(self, target: Any) -> "Inspection":
        """Compiles the same function for one more target; where it is displayed, the widget shows that too.

        Args:
            target: As for `jaxscope.show`.

        Returns:
            The inspection of that target alone.

        Raises:
            jaxscope.errors.InputError: There is no such target, or the arguments have no place on it.
            jaxscope.errors.UnavailableError: What was inspected is for one target only.
        """
        if self._job_for is None:
            raise UnavailableError(
                f"Compiling {self._facts.name} for {target}: a finished stage, or another library's wrapper, was "
                "inspected, or one target of several. Inspect the function itself."
            )
        job = self._job_for(target)
        name = job.facts.target.name
        # What was interrupted is tried again.
        if name not in self.targets or isinstance(self._programs.of(name).error, KeyboardInterrupt):
            self._programs.add(job.facts)
            display = self._display if self._display.is_open else None
            if display is not None:
                display.refresh_view()
            self._run(job, display)
            if display is not None:
                display.refresh()
        return self.for_target(name)

    @property
    def error(self) -> BaseException | None:
        """The very exception of the stage that failed, for the first target with one; None when none did."""
        return next((facts.error for facts in self._programs if facts.error is not None), None)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know about how the input was read."""
        return self._facts.notes

    @property
    def traced(self) -> jax.stages.Traced:
        """JAX's own Traced.

        Raises:
            jaxscope.errors.UnavailableError: There is none; the message says why. So for every product and text below.
        """
        return self._facts.require_product("trace")

    @property
    def lowered(self) -> jax.stages.Lowered:
        """JAX's own Lowered."""
        return self._facts.require_product("lower")

    @property
    def compiled(self) -> jax.stages.Compiled:
        """JAX's own Compiled."""
        return self._facts.require_product("compile")

    @property
    def jaxpr(self) -> str:
        """The jaxpr's text, without colour codes; ``stages["trace"].partial_jaxpr`` where tracing failed in it."""
        return self._facts.listing("jaxpr").listing.text

    @property
    def stablehlo(self) -> str:
        """The StableHLO text with debug locations, exactly as MLIR prints it."""
        return self._source.text("stablehlo")

    @property
    def hlo(self) -> str:
        """The compiled HLO text, exactly as XLA prints it."""
        return self._source.text("hlo")

    @property
    def kernels(self) -> str:
        """The kernels that custom calls carry (Pallas for TPU and GPU), as MLIR with debug locations."""
        return self._source.text("kernels")

    @property
    def llvm_ir(self) -> str:
        """The LLVM IR after LLVM's optimisations, what machine code is made from; for CPU and NVIDIA GPUs.

        This and the two below compile once more, the first of them that is asked for, as opening their tabs does.
        """
        return self._open("llvm_ir")

    @property
    def llvm_ir_unoptimised(self) -> str:
        """The LLVM IR as XLA's emitters hand it to LLVM."""
        return self._open("llvm_ir_unoptimised")

    @property
    def ptx(self) -> str:
        """The PTX of every kernel; for NVIDIA GPUs."""
        return self._open("ptx")

    def _open(self, key: str) -> str:
        """The text of a listing that is made on request, which then shows in pictures that are there already."""
        was_made = self._facts.is_made(key)
        try:
            return self._source.text(key)
        finally:
            if not was_made and self._facts.is_made(key):
                self._display.refresh()

    @property
    def cost(self) -> "pd.DataFrame":
        """FLOPs, transcendentals and bytes: jaxscope's own count, loops multiplied, beside XLA's figures.

        With several targets, a column ``target`` comes first.
        """
        return self._frame(
            lambda facts: cost_frame(facts.cost, facts.cost_or_none("stablehlo"), facts.cost_or_none("hlo"))
        )

    def cost_by(self, grouping: Grouping, *, stage: Literal["stablehlo", "hlo"] | None = None) -> "pd.DataFrame":
        """What each line, function, scope, op or kernel costs, dearest first; loops are multiplied by their counts.

        Args:
            grouping: ``line`` of Python, ``function``, ``scope``, ``op`` or ``kernel``.
            stage: The listing that is counted: ``hlo`` is what runs, on one device, ``stablehlo`` what was asked for,
                on all. By default the former, or the latter where nothing was compiled.

        Returns:
            FLOPs, share, transcendentals, integer operations, bytes moved, runs, and what is not known; with several
            targets, a column ``target`` comes first.

        Raises:
            InputError: There is no such grouping or stage, or kernels were asked of StableHLO.
            UnavailableError: There is no such text.
        """
        if grouping not in GROUPINGS or stage not in (None, "stablehlo", "hlo"):
            raise InputError(
                f"Summing the cost by {grouping!r} of the stage {stage!r}: there is no such choice. "
                f"Pass one of {', '.join(GROUPINGS)}, and 'stablehlo' or 'hlo' as stage=."
            )
        if grouping == "kernel" and stage == "stablehlo":
            raise InputError(
                "Summing the cost by kernel of the stage 'stablehlo': only compiled HLO has kernels. "
                "Leave stage= out, or sum by 'op'."
            )

        def frame(facts: Facts) -> "pd.DataFrame":
            key = stage or ("hlo" if grouping == "kernel" else facts.main_cost[0])
            return group_frame(facts.roll_up(key), grouping)

        return self._frame(frame)

    @property
    def loops(self) -> "pd.DataFrame":
        """One row per loop and conditional: how often it runs and where that was read, or what each branch costs.

        With several targets, a column ``target`` comes first.
        """
        return self._frame(lambda facts: loops_frame(facts.main_cost[2], facts.main_cost[1]))

    @property
    def roofline(self) -> "pd.DataFrame":
        """One row per kernel, slowest first: intensity, the time it cannot beat on the target, and what binds it.

        Without rows where nothing is known of the target; ``frame.attrs["missing"]`` then says why. With several
        targets, a column ``target`` comes first.
        """
        return self._frame(lambda facts: roofline_frame(facts.roofline, facts.placed_listing("hlo")))

    @property
    def reconciliation(self) -> "pd.DataFrame":
        """From jaxscope's figures of the compiled program to XLA's, cause by cause.

        With several targets, a column ``target`` comes first.
        """
        return self._frame(lambda facts: reconciliation_frame(facts.reconciliations, facts.placed_listing("hlo")))

    @property
    def memory(self) -> "pd.DataFrame":
        """XLA's own memory figures of the compiled program, in bytes; with several targets, ``target`` comes first."""
        return self._frame(lambda facts: memory_frame(facts.memory))

    @property
    def buffers(self) -> "pd.DataFrame":
        """One row per value of the compiled program: its bytes, from when to when it is alive, its line.

        Worked out from the schedule in the compiled text; with several targets, a column ``target`` comes first.

        Raises:
            UnavailableError: There is no compiled text, or no schedule in it.
        """
        return self._frame(lambda facts: buffers_frame(facts.memory_curve, facts.placed_listing("hlo")))

    def alive(self, instant: int | None = None) -> "pd.DataFrame":
        """Who is alive at an instant of the schedule, the largest first, with a running sum.

        Args:
            instant: From 0; the peak when None.

        Returns:
            One row per value; with several targets, a column ``target`` comes first.

        Raises:
            InputError: There is no such instant.
            UnavailableError: As for `buffers`.
        """

        def frame(facts: Facts) -> "pd.DataFrame":
            try:
                return alive_frame(facts.memory_curve, facts.placed_listing("hlo"), instant)
            except IndexError as error:
                raise InputError(str(error)) from None

        return self._frame(frame)

    @property
    def allocations(self) -> "pd.DataFrame":
        """What the compiler sets aside: one row per allocation, with its kind, bytes and memory.

        Where the executable does not carry it (all platforms but CPU), the first call compiles once more. With several
        targets, a column ``target`` comes first.

        Raises:
            UnavailableError: Nothing was compiled, or the compiler does not say.
        """

        def frame(facts: Facts) -> "pd.DataFrame":
            allocations = facts.program_memory.allocations
            if isinstance(allocations, Unavailable):
                allocations = facts.read_buffer_assignment().allocations
            if isinstance(allocations, Unavailable):
                raise UnavailableError(
                    f"Reading the allocations of {facts.name}: {allocations.reason} Use inspection.buffers instead."
                )
            return allocations_frame(allocations)

        return self._frame(frame)

    @property
    def donations(self) -> "pd.DataFrame":
        """What became of every donated argument: whether a result takes its buffer, and why not.

        With several targets, a column ``target`` comes first.
        """
        return self._frame(lambda facts: donation_frame(facts.donations))

    @property
    def collectives(self) -> "pd.DataFrame":
        """One row per instruction that communicates: axes of the mesh, groups, bytes, least time, lines.

        With several targets, a column ``target`` comes first.
        """
        return self._frame(
            lambda facts: collectives_frame(
                facts.listing("hlo"), facts.meshes, facts.target.facts, kernel_runs(facts.program_cost("hlo"))
            )
        )

    @property
    def signature(self) -> "pd.DataFrame":
        """One row per argument leaf, static argument and result; with several targets, ``target`` comes first."""
        return self._frame(lambda facts: signature_frame(facts.signature))

    @property
    def type_changes(self) -> "pd.DataFrame":
        """One row per change of type inside the program: both types, cause, Python line, how many ops follow in it.

        With several targets, a column ``target`` comes first.

        Raises:
            UnavailableError: There is no jaxpr.
        """
        return self._frame(lambda facts: type_flow_frame(facts.type_flow))

    @property
    def integer_overflows(self) -> "pd.DataFrame":
        """One row per integer equation whose result need not fit into its type, as far as shapes and literals tell.

        With several targets, a column ``target`` comes first.

        Raises:
            UnavailableError: There is no jaxpr.
        """
        return self._frame(lambda facts: overflow_frame(facts.type_flow))

    @property
    def findings(self) -> "pd.DataFrame":
        """One row per piece of advice, the worst first: severity, rule, what was found, what to do, where.

        ``findings.attrs["broken"]`` maps the rules that failed to what they raised. With several targets, a column
        ``target`` comes first.
        """
        frame = self._frame(lambda facts: findings_frame(facts.findings))
        frame.attrs["broken"] = {
            broken.rule.key: broken.reason for facts in self._programs for broken in facts.findings.broken
        }
        return frame

    @property
    def ops(self) -> "pd.DataFrame":
        """One row per op of every stage: name, result type, lines, Python place, name path.

        With several targets, a column ``target`` comes first.
        """
        return self._frame(lambda facts: operations_frame([facts.listing(key) for key in facts.available_listings()]))

    def _frame(self, build: Callable[[Facts], "pd.DataFrame"]) -> "pd.DataFrame":
        if len(self._programs) == 1:
            return build(self._facts)
        import pandas as pd

        frames = [build(facts) for facts in self._programs]
        for name, frame in zip(self._programs.names, frames, strict=True):
            frame.insert(0, "target", name)
        return pd.concat(frames, ignore_index=True)

    @property
    def saved_bytes(self) -> int:
        """The most bytes that the listings of this inspection may take, deflated, in a saved notebook; can be set.

        What does not fit is left out, and its pane in the saved notebook says so; 0 saves no listing.
        """
        return self._display.saved_bytes

    @saved_bytes.setter
    def saved_bytes(self, value: int) -> None:
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            raise InputError(
                f"Setting how many bytes of listings a notebook saves: {value!r} is not a whole number from 0 on. "
                "Give a number such as 2_000_000, or 0 for none."
            )
        self._display.saved_bytes = value

    def check(self, *args: Any, **kwargs: Any) -> Check:
        """Compares a call with the compiled signature, and with what jit keeps programs by, without making the call.

        Args:
            *args: Arguments as the compiled function would get them (static ones left out): arrays, scalars, types, or
                strings such as ``"f32[8,128]"``. jit itself is taken to get the inspected static ones, or those that
                are given here.
            **kwargs: Likewise.

        The box in the widget's Types tab does the same for a call that is typed there.

        Returns:
            One row per leaf that differs, with its path, both types and what to do; empty when the call fits. Its
            `cache` says whether jit would compile again, and because of which leaf.
        """
        return Check(*self._facts.check(args, kwargs))

    # It never changes, so it is its own copy; compiled programs could not be copied anyway.
    def __copy__(self) -> "Inspection":
        return self

    def __deepcopy__(self, memo: Any) -> "Inspection":
        return self

    def __reduce__(self) -> Any:
        raise UnavailableError(
            f"Pickling the inspection of {self._facts.name}: it holds JAX's traced and compiled programs, which cannot "
            "be pickled. Keep inspection.to_html(path) or str(inspection) instead."
        )

    def __str__(self) -> str:
        return render_text(self._source)

    def __repr__(self) -> str:
        return render_text(self._source, listings=False).rstrip("\n")

    def to_text(self, *, colour: bool = False, times: bool = False) -> str:
        """The report as text.

        Args:
            colour: Whether to add terminal colours.
            times: Whether to add how long each stage took; without, the text is the same in every run.
        """
        return render_text(self._source, colour=colour, times=times)

    def to_html(self, path: str | PathLike[str], *, compile_again: bool = False) -> Path:
        """Writes one interactive page that needs neither kernel nor network.

        Args:
            path: Where to; an existing file is replaced.
            compile_again: Whether the page also gets the listings below compiled HLO that nobody has opened yet, and
                the compiler's own account of memory, for which the program is compiled once more.

        Returns:
            The path.
        """
        from jaxscope._render.html import render_page

        path = Path(path)
        if compile_again:
            for facts in self._programs:
                with contextlib.suppress(UnavailableError):
                    facts.read_buffer_assignment()
                for listing in facts.lower_listings():
                    with contextlib.suppress(UnavailableError):  # The page says why.
                        facts.listing(listing.key)
        path.write_text(render_page(self._source), encoding="utf-8")
        return path

    def _ipython_display_(self) -> None:
        # `show` displayed it in this cell already: a second picture would be one too many. Otherwise
        # NotImplementedError sends IPython on to the mime bundle.
        if not self._display.shown_in_this_cell():
            raise NotImplementedError

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {
            mime: data
            for mime, data in self._display.bundle().items()
            if (include is None or mime in include) and (exclude is None or mime not in exclude)
        }
