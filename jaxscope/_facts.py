"""Everything that is known about one inspection, worked out on first use and kept.

Problem: stages finish one by one, and parsing 50 MB is worth its time only when somebody looks. Input: a `Request`, a
`Target` and the stages as they end. Output: `Facts`: products, linked listings, the Python side and the tables'
records. It has over 400 lines because each of these is worked out from others of them.
"""

import fnmatch
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import jax

from jaxscope import _jax, _jax_topology, _lower_level
from jaxscope._analysis.buffers import MemoryCurve
from jaxscope._analysis.cache_call import judge_call
from jaxscope._analysis.cache_verdict import CacheVerdict
from jaxscope._analysis.call_key import CallKey, static_by_identity
from jaxscope._analysis.call_stacks import complete_stacks
from jaxscope._analysis.collectives import Collective, collectives_of
from jaxscope._analysis.compiled_call import CompiledCall, mesh_of_inputs, write_compiled_call
from jaxscope._analysis.cost import CostTable, cost_of
from jaxscope._analysis.donation import Donation, donations_of
from jaxscope._analysis.fusion_places import place_fusions
from jaxscope._analysis.hlo_cost import count_module
from jaxscope._analysis.hlo_module import HloModule, read_module
from jaxscope._analysis.memory import MemoryTable, memory_of
from jaxscope._analysis.mismatches import Mismatches, check_call
from jaxscope._analysis.program_memory import MEMORY_PATTERNS, ProgramMemory, program_memory
from jaxscope._analysis.reconciliation import Reconciliation, reconcile_module
from jaxscope._analysis.roll_up import RollUp
from jaxscope._analysis.roofline import Roofline, roofline_of
from jaxscope._analysis.signature import Signature, signature_of
from jaxscope._analysis.stablehlo_cost import count_stablehlo
from jaxscope._analysis.type_flow import TypeFlow, type_flow
from jaxscope._analysis.unavailable import Unavailable
from jaxscope._analysis.work import ProgramCost
from jaxscope._analysis.xla_sizes import likely_convention
from jaxscope._call_text import read_call_text, write_call_text
from jaxscope._collector import collector_put_off
from jaxscope._dumps import dump_texts
from jaxscope._failures import Explanation, explain, expression_at, message_of
from jaxscope._findings import Findings, find
from jaxscope._findings.equations import PlacedEquation, placed_equations
from jaxscope._inputs import Request
from jaxscope._ir import hlo, stablehlo
from jaxscope._ir import jaxpr as jaxpr_parser
from jaxscope._ir.kernel_calls import KernelCall
from jaxscope._ir.model import Frame, Listing
from jaxscope._jax_failures import NOTHING_TRACED, partial_jaxpr
from jaxscope._links import Definition, LinkedListing, definition_of, link_listing
from jaxscope._lower_level import LOWER_LISTINGS, LowerListing
from jaxscope._sources import SourceLine, display_name, python_listing, rows_of
from jaxscope._specs import read_types
from jaxscope._stages import STAGES, Stage
from jaxscope._targets import Target
from jaxscope.errors import UnavailableError

# Of one more compilation, everything is read that anybody may ask for.
_PATTERNS = (*_lower_level.PATTERNS, *MEMORY_PATTERNS)
_NO_CALL = Unavailable("The call that was inspected is not known.")
_STAGE_OF_LISTING = {spec.dialect: spec.key for spec in STAGES}


class Facts:
    """The store behind an inspection.

    Attributes:
        name: The function's name.
        target: Where the program is compiled for.
        notes: What was noticed while reading the input.
        types: Path and type of every leaf that was asked for.
        static: The values that are baked in, as (name, shortened repr).
        definition: Where the function's own code stands, None where it is not Python.
        mismatches: How the call that was given as ``call=``, or typed since, differs from the signature; None when
            there was none.
        cache: What jit does for that call after the inspected one, or why nobody can tell; None likewise.
        call_text: That call as text, "" where it cannot be written; None likewise.
        cache_entries: How many entries jit kept for the function when it was inspected; None where it does not say.
        static_by_identity: The static arguments, as (name, shortened repr), that equal nothing but themselves; of a
            function that the user jitted.
        running: The key of the stage that runs now; None before and after.
        dump_seconds: What compiling once more for listings below HLO took; None where nobody asked for them.
    """

    def __init__(
        self,
        request: Request,
        target: Target,
        callers: frozenset[tuple[str, int]] = frozenset(),
        compiler_options: Mapping[str, Any] | None = None,
        jitted: Any = None,
        first_call: CallKey | Unavailable = _NO_CALL,
    ):
        self.name = request.name
        self._compiler_options = dict(compiler_options) if compiler_options else None
        self.target = target
        self._callers = callers
        self.notes = request.notes
        self.types = request.types
        self._attributes = request.attributes
        self.static = tuple((item.name, item.value) for item in request.static)
        self.definition: Definition | None = definition_of(request.own) if request.own is not None else None
        self.mismatches: Mismatches | None = None
        self.cache: CacheVerdict | Unavailable | None = None
        self.call_text: str | None = None
        self._jitted, self._first_call = jitted, first_call
        self.cache_entries = _jax.cache_entries(jitted)
        by_user = request.kind == "jitted" and isinstance(first_call, CallKey)
        self.static_by_identity = static_by_identity(first_call) if by_user else ()
        self.running: str | None = None
        self._stages: dict[str, Stage] = {}
        self._listings: dict[str, LinkedListing] = {}
        self._partial: LinkedListing | Unavailable | None = None
        self._explanations: dict[str, Explanation] = {}
        self._costs: dict[str, ProgramCost] = {}
        self._roll_ups: dict[str, RollUp] = {}
        self._placed: dict[str, LinkedListing] = {}
        self._dump: dict[str, str] | None = None
        self._refusals: dict[str, UnavailableError] = {}
        self.dump_seconds: float | None = None
        self._program_memory: tuple[dict[str, str] | None, ProgramMemory] | None = None
        self._findings: tuple[tuple[object, object], Findings] | None = None
        self._python: tuple[tuple[str, str], tuple[Listing, tuple[SourceLine, ...]]] | None = None

    @property
    def own_frames(self) -> tuple[Frame, ...]:
        """Where the inspected function itself stands; () where it is not Python."""
        return (self.definition.frame(self.name),) if self.definition is not None else ()

    @property
    def stages(self) -> Mapping[str, Stage]:
        """The stages that have ended, by key."""
        return MappingProxyType(self._stages)

    @property
    def error(self) -> BaseException | None:
        """The exception of the stage that failed; None when none did."""
        return next((stage.error for stage in self._stages.values() if stage.error is not None), None)

    def begin(self) -> None:
        """Marks the first stage as running."""
        self.running = STAGES[0].key

    def finish(self, stage: Stage) -> None:
        """Takes a stage that has ended and marks the next as running."""
        self._stages[stage.key] = stage
        waiting = [spec.key for spec in STAGES if spec.key not in self._stages]
        self.running = waiting[0] if waiting else None

    @property
    def has_ended(self) -> bool:
        """Whether all stages have ended; with several targets, one may not have begun while another runs."""
        return len(self._stages) == len(STAGES)

    def stop(self, reason: str) -> None:
        """Marks the stages that have not ended as not reached."""
        for spec in STAGES:
            self._stages.setdefault(spec.key, Stage(spec.key, "not reached", reason=reason))
        self.running = None

    def product(self, key: str) -> Any:
        """JAX's own object of a stage, or None."""
        stage = self._stages.get(key)
        return stage.product if stage is not None else None

    def require_product(self, key: str) -> Any:
        """JAX's own object of a stage.

        Raises:
            UnavailableError: There is none; the message gives the reason, and the stage's exception is its cause.
        """
        stage = self._stages.get(key)
        if stage is not None and stage.status == "done":
            return stage.product
        status, reason = (stage.status, stage.reason) if stage else ("not reached yet", "A stage before it is running.")
        raise UnavailableError(
            f"Reading the {key} stage of {self.name}: it is {status}. {reason} "
            f'See inspection.stages["{key}"] for what is known.'
        ) from (stage.error if stage else None)

    # Listings.

    def available_listings(self) -> list[str]:
        """The keys of the compilers' listings that there is a text for, in stage order."""
        return [spec.dialect for spec in STAGES if self.product(spec.key) is not None]

    def listing(self, key: str) -> LinkedListing:
        """The parsed and linked listing of a stage, or one of `LOWER_LISTINGS`; made on first use.

        The first of those below HLO, kernels apart, compiles once more.

        Raises:
            UnavailableError: There is no such text; the message says why.
        """
        if key in LOWER_LISTINGS and key not in self._listings:
            self._listings[key] = link_listing(key, self._lower_listing(key), self.definition, self._callers)
        if key not in self._listings:
            product = self.require_product(_STAGE_OF_LISTING[key])
            with collector_put_off():
                self._listings[key] = link_listing(key, _READERS[key](product), self.definition, self._callers)
        return self._listings[key]

    @property
    def partial_listing(self) -> LinkedListing | Unavailable | None:
        """The jaxpr up to the equation at which tracing failed, to be read; None where no equation was traced.

        It is not the program, so `listing` does not give it and no table is made from it.
        """
        stage = self._stages.get("trace")
        if stage is None or stage.error is None:
            return None
        if self._partial is None:
            self._partial = self._read_partial(stage.error)
        return None if self._partial is NOTHING_TRACED else self._partial

    def _read_partial(self, error: BaseException) -> LinkedListing | Unavailable:
        partial = partial_jaxpr(error)
        if isinstance(partial, Unavailable):
            return partial
        try:
            return link_listing("jaxpr", jaxpr_parser.parse(*partial.printed()), self.definition, self._callers)
        except Exception as second:
            # What is known of the failure must not be lost with it.
            return Unavailable(
                f"Printing the jaxpr up to the failure: jaxscope itself raised {type(second).__name__}: {second}. "
                "It is a bug."
            )

    def shown_listing(self, key: str) -> LinkedListing:
        """What the tab of a listing shows: the listing, or, of a jaxpr, what there was of it when tracing failed.

        Raises:
            UnavailableError: As for `listing`.
        """
        partial = self.partial_listing if key == "jaxpr" else None
        return partial if isinstance(partial, LinkedListing) else self.listing(key)

    # Listings below compiled HLO.

    def lower_listings(self) -> list[LowerListing]:
        """Those that this program has or may have: kernels that it carries, and what its compiler can be asked for."""
        if self.product("compile") is None:
            return [LOWER_LISTINGS["kernels"]] if self.kernel_calls else []
        platform = self._compiled_for
        return [
            listing
            for listing in LOWER_LISTINGS.values()
            if (self.kernel_calls if not listing.pattern else platform in listing.platforms and self.product("lower"))
        ]

    def is_made(self, key: str) -> bool:
        """Whether a listing is there without further work, or known not to be."""
        return key in self._listings or key in self._refusals or not LOWER_LISTINGS[key].pattern

    @cached_property
    def kernel_calls(self) -> list[KernelCall]:
        """The kernels that custom calls carry."""
        return _lower_level.find_kernels(self._stage_listing("stablehlo"), self._stage_listing("hlo"))

    def _stage_listing(self, key: str) -> Listing | None:
        """The listing of a stage; None where there is no such text, which its own tab explains."""
        try:
            return self.listing(key).listing
        except UnavailableError:
            return None

    @property
    def _compiled_for(self) -> str:
        """JAX's name of the platform that the program was compiled for."""
        return _jax.compiling_platform(self.product("lower")) or self.target.platform

    def _lower_listing(self, key: str) -> Listing:
        if (refusal := self._refusals.get(key)) is not None:
            raise refusal
        listing = LOWER_LISTINGS[key]
        try:
            if not listing.pattern:
                return _lower_level.make_kernels(self.kernel_calls)
            texts = {
                name: text for name, text in self._dumped(listing).items() if fnmatch.fnmatchcase(name, listing.pattern)
            }
            hlo_listing = self._stage_listing("hlo") or _lower_level.compiled_hlo(self._dumped(listing))
            return _lower_level.make_dumped(listing, texts, hlo_listing)
        except UnavailableError as refusal:
            self._refusals[key] = refusal
            raise

    def launches_note(self) -> str:
        """How often the kernels of a GPU are launched, in words; "" where nobody has asked for the dump."""
        return _lower_level.launches_note(self._dump or {})

    def _dumped(self, listing: LowerListing) -> dict[str, str]:
        """The texts of all languages below HLO, from one more compilation."""
        self.require_product("compile")
        platform = self._compiled_for
        if platform not in listing.platforms:
            raise UnavailableError(
                f"Reading the {listing.title} of {self.name}: it was compiled for {platform}, and XLA writes "
                f"{listing.title} for {' and '.join(sorted(listing.platforms))} only. Choose such a target."
            )
        return self._compiled_once_more(listing.title)

    def _compiled_once_more(self, purpose: str) -> dict[str, str]:
        """What the compiler writes beside the program: languages below HLO, buffers, live ranges; made only once."""
        if self._dump is None:
            lowered = self.require_product("lower")
            start = time.perf_counter()
            try:
                self._dump = dump_texts(lowered, self._options_of_compiler(), _PATTERNS, topology=self.target.topology)
            except Exception as error:
                raise UnavailableError(
                    f"Compiling {self.name} once more for its {purpose}: {type(error).__name__}: "
                    f"{message_of(error)} Compiled HLO is the last text there is."
                ) from error
            self.dump_seconds = time.perf_counter() - start
        return self._dump

    # Memory.

    @property
    def program_memory(self) -> ProgramMemory:
        """Who is alive when, what is set aside, whether it fits; the compiler's own account once the dump is there."""
        dump = self._dump
        if self._program_memory is None or self._program_memory[0] is not dump:
            listing, compiled = self._stage_listing("hlo"), self.product("compile")
            if listing is None and dump is not None:
                listing = _lower_level.compiled_hlo(dump)
            with collector_put_off():
                found = program_memory(listing, compiled, self.target, self.memory, dump)
            self._program_memory = (dump, found)
        return self._program_memory[1]

    @property
    def memory_curve(self) -> MemoryCurve:
        """Who is alive when.

        Raises:
            UnavailableError: There is no compiled text, or no schedule in it.
        """
        curve = self.program_memory.curve
        if isinstance(curve, Unavailable):
            self.require_product("compile")
            raise UnavailableError(f"Reading the live buffers of {self.name}: {curve.reason} See inspection.memory.")
        return curve

    def read_buffer_assignment(self) -> ProgramMemory:
        """Compiles once more where that was not done yet, so that the compiler's own account of memory is there.

        Raises:
            UnavailableError: The program was not compiled, or that compilation failed.
        """
        self.require_product("compile")
        self._compiled_once_more("buffer assignment")
        return self.program_memory

    @cached_property
    def donations(self) -> tuple[Donation, ...]:
        """What became of every donated argument."""
        return donations_of(self.signature, self.product("lower"), self._stage_listing("hlo"))

    def _options_of_compiler(self) -> dict[str, Any]:
        """The options that the program was compiled with."""
        topology = self.target.topology
        defaults = _jax_topology.compiler_defaults(topology) if topology is not None else {}
        return {**defaults, **(self._compiler_options or {})}

    def python_side(self) -> tuple[Listing, tuple[SourceLine, ...]]:
        """The Python side, made from the earliest stage that is there: later ones name the same places."""
        earliest = next(iter(self.available_listings()), "")
        failed = next((stage for stage in self._stages.values() if stage.error is not None), None)
        made_from = (earliest, failed.key if failed else "")
        if self._python is None or self._python[0] != made_from:
            own = (self.definition.file, self.definition.first_line) if self.definition else None
            listing = self.listing(earliest) if earliest else self.partial_listing
            frames: list[Frame] = list(listing.stacks.frames) if isinstance(listing, LinkedListing) else []
            if failed is not None:
                frames += self.explanation(failed.key).frames
            self._python = (made_from, python_listing(frames, own))
        return self._python[1]

    def explanation(self, key: str) -> Explanation:
        """A failed stage in words and places.

        What failed in a compiler, which knows no Python, is looked for by its name in the text that it was given.
        """
        if key not in self._explanations:
            error = self._stages[key].error
            assert error is not None
            explanation = explain(error, key, next(iter(self.own_frames), None))
            if not explanation.frames and (op := self._op_naming(explanation.symbol)) is not None:
                frames = self.listing("stablehlo").op_frames(op)
                explanation = replace(explanation, frames=frames, expression=expression_at(frames[0]) if frames else "")
            self._explanations[key] = explanation
        return self._explanations[key]

    def failed_line(self, key: str) -> int | None:
        """The line of the StableHLO that a failed stage is about, from 0, where its message names an op."""
        op = self._op_naming(self.explanation(key).symbol)
        return None if op is None else self.listing("stablehlo").listing.ops[op].line

    def _op_naming(self, symbol: str) -> int | None:
        """The first op of the StableHLO that names `symbol`."""
        if not symbol or self.product("lower") is None:
            return None
        listing = self.listing("stablehlo").listing
        named = re.compile(rf"[@\"]{re.escape(symbol)}(?![\w.])")  # stablehlo.custom_call @my_call(%arg0)
        return next((number for number, op in enumerate(listing.ops) if named.search(listing.lines[op.line])), None)

    def python_name(self) -> str:
        """Short name of the file that holds the function, or else of the first one shown."""
        if self.definition is not None:
            return display_name(self.definition.file)
        lines = self.python_side()[1]
        return display_name(lines[0].file) if lines else ""

    # Tables; only asked for once all stages have ended.

    @cached_property
    def cost(self) -> CostTable:
        """XLA's own cost figures."""
        texts = {key: self.listing(key).listing.text for key in self.available_listings() if key != "jaxpr"}
        return cost_of(self.product("lower"), self.product("compile"), texts.get("hlo"), texts.get("stablehlo"))

    # The account of work, of which the browser's gutters and status bar have a part as well.

    def program_cost(self, key: str) -> ProgramCost:
        """The account of the work of a listing, ``stablehlo`` or ``hlo``; made on first use.

        Raises:
            UnavailableError: There is no such text.
        """
        if key not in self._costs:
            listing = self.listing(key).listing
            with collector_put_off():
                self._costs[key] = (
                    count_module(self.hlo_module)
                    if key == "hlo"
                    else count_stablehlo(listing, self._stage_listing("jaxpr"))
                )
        return self._costs[key]

    def roll_up(self, key: str) -> RollUp:
        """The same, to be summed by line, function, scope, op or kernel."""
        if key not in self._roll_ups:
            self._roll_ups[key] = RollUp(self.program_cost(key), self.placed_listing(key))
        return self._roll_ups[key]

    def placed_listing(self, key: str) -> LinkedListing:
        """A listing with the stacks that costs and buffers belong to, which say more than links do.

        Those of StableHLO reach up to the program, a fusion of HLO that names no place has that of what is fused.
        """
        if key not in self._placed:
            linked = self.listing(key)
            self._placed[key] = (
                complete_stacks(linked) if key == "stablehlo" else place_fusions(linked, lambda: self.hlo_module)
            )
        return self._placed[key]

    def cost_or_none(self, key: str) -> ProgramCost | None:
        """The same; None where there is no such text, which its own tab explains."""
        return self.program_cost(key) if self._stage_listing(key) is not None else None

    @cached_property
    def hlo_module(self) -> HloModule:
        """The compiled program as a graph.

        Raises:
            UnavailableError: There is no compiled text.
        """
        return read_module(self.listing("hlo").listing)

    @cached_property
    def main_cost(self) -> tuple[str, LinkedListing, ProgramCost]:
        """Key, listing and account of what runs, or of what was asked for where nothing was compiled.

        Raises:
            UnavailableError: Neither text is there.
        """
        key = "hlo" if self._stage_listing("hlo") is not None else "stablehlo"
        return key, self.placed_listing(key), self.program_cost(key)

    @cached_property
    def roofline(self) -> Roofline | Unavailable:
        """The compiled program's kernels against the target's published figures."""
        if self._stage_listing("hlo") is None:
            return Unavailable("There is no compiled text to count.")
        return roofline_of(self.program_cost("hlo"), self.target.facts)

    @cached_property
    def reconciliations(self) -> tuple[Reconciliation, ...]:
        """From our figures of the compiled program to XLA's, cause by cause; () where there is no compiled text."""
        if self._stage_listing("hlo") is None:
            return ()
        with collector_put_off():
            likely = likely_convention(jax.__version_info__, self._compiled_for)
            return reconcile_module(self.hlo_module, self.program_cost("hlo"), self.cost.after, likely)

    @cached_property
    def python_lines(self) -> Mapping[tuple[str, int], int]:
        """(file, line) to the line of the Python side, from 0; only asked for once all stages have ended."""
        return rows_of(self.python_side()[1])

    @cached_property
    def meshes(self) -> tuple[Mapping[str, int], ...]:
        """Axis sizes by name of the meshes that the program names."""
        return _jax.meshes_of(self.product("trace"), self.product("compile"))

    @cached_property
    def collectives(self) -> tuple[Collective, ...]:
        """What the devices say to each other.

        Raises:
            UnavailableError: There is no compiled text.
        """
        return collectives_of(self.listing("hlo").listing, self.meshes)

    @cached_property
    def type_flow(self) -> TypeFlow:
        """Every change of type inside the traced program, and integer arithmetic that may overflow.

        Raises:
            UnavailableError: There is no jaxpr.
        """
        jaxpr = self.require_product("trace").jaxpr
        return type_flow(jaxpr, self._stage_listing("jaxpr"), self._stages["trace"].truncations)

    @cached_property
    def equations(self) -> tuple[PlacedEquation, ...]:
        """Every equation of the traced program with its place, those inside another after it.

        Raises:
            UnavailableError: The program was not traced.
        """
        return placed_equations(self.require_product("trace").jaxpr, self.listing("jaxpr").listing)

    @property
    def findings(self) -> Findings:
        """What is worth saying about the program, and about the call that was judged last."""
        made_from = (self.cache, self._dump)
        if self._findings is None or any(was is not now for was, now in zip(self._findings[0], made_from, strict=True)):
            with collector_put_off():
                self._findings = (made_from, find(self))
        return self._findings[1]

    def check(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Mismatches, CacheVerdict | Unavailable]:
        """How a call differs from the signature, and what jit does for it after the inspected one.

        Strings that name a type stand for it. Everything is judged under the settings of this moment.

        Raises:
            InputError: Such a string cannot be read.
        """
        return self._judge(*self._read_types(args, kwargs))

    def _judge(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Mismatches, CacheVerdict | Unavailable]:
        return check_call(self.signature, args, kwargs), self._judge_cache(args, kwargs)

    def take_call(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Keeps the verdict on a call for the Types tab.

        Raises:
            InputError: As in `check`.
        """
        args, kwargs = self._read_types(args, kwargs)
        self.mismatches, self.cache = self._judge(args, kwargs)
        self.call_text = write_call_text(args, kwargs) or ""

    def take_call_text(self, text: str) -> None:
        """The same for a call that was typed.

        Raises:
            InputError: The text is no call of types and literal values.
        """
        self.mismatches, self.cache = self._judge(*read_call_text(text, self._mesh_of_calls))
        self.call_text = text

    @cached_property
    def compiled_call(self) -> CompiledCall | Unavailable | None:
        """The call that was compiled for, as it can be typed; None where no stage was reached."""
        types = self.signature.types
        return None if types is None else write_compiled_call(types)

    def _read_types(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        mesh = self._mesh_of_calls
        return tuple(read_types(value, mesh) for value in args), {
            name: read_types(value, mesh) for name, value in kwargs.items()
        }

    @property
    def _mesh_of_calls(self) -> Any:
        """The mesh that axes in types belong to: that in context, or else that of the program."""
        mesh, types = _jax.mesh_in_context(), self.signature.types
        return mesh if mesh is not None or types is None else mesh_of_inputs(types)

    def _judge_cache(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> CacheVerdict | Unavailable:
        """What jit does for a call after the inspected one."""
        try:
            return judge_call(self._jitted, self._first_call, args, kwargs, self.signature.types)
        except Exception as error:
            # The comparison with the signature stands without it.
            return Unavailable(
                f"Comparing the calls: jaxscope itself raised {type(error).__name__}: {error}. It is a bug."
            )

    @cached_property
    def memory(self) -> MemoryTable:
        """XLA's own memory figures."""
        return memory_of(self.product("compile"))

    @cached_property
    def signature(self) -> Signature:
        """The arguments and results."""
        return signature_of(
            self.product("trace"), self.product("lower"), self.product("compile"), self.static, self._attributes
        )


def _read_jaxpr(traced: Any) -> Listing:
    return jaxpr_parser.parse(*_jax.print_jaxpr(traced.jaxpr))


def _read_stablehlo(lowered: Any) -> Listing:
    return stablehlo.parse(lowered.as_text(debug_info=True))


def _read_hlo(compiled: Any) -> Listing:
    text = compiled.as_text()
    if not text:
        raise UnavailableError(
            "Reading the compiled HLO: the backend gives no text for its executables. "
            "Compile for another target to read it."
        )
    return hlo.parse(text)


_READERS = {"jaxpr": _read_jaxpr, "stablehlo": _read_stablehlo, "hlo": _read_hlo}
