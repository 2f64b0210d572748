"""The contract between the facts and the pictures: what text, HTML and the widget are all made from.

Problem: three renderers must show the same facts, and a saved picture must be readable without JAX or a kernel. Input:
none; this module only defines the shapes. Output: `View` (small, synced with the browser) and one `ListingIndex` per
listing (large, sent deflated and on demand beside the listing's exact text).

`js/src/schema.d.ts` is generated from this module by ``python -m tests.contract``; a test fails when it is stale.
"""

from typing import Literal, NotRequired, TypedDict

SCHEMA_VERSION = 2

Status = Literal["pending", "running", "done", "failed", "not reached", "unavailable", "on request"]
Tone = Literal["", "error", "warning", "muted"]

# Values of `ListingIndex.line_stack` below zero.
LINE_WITHOUT_OP = -1
LINE_MADE_BY_COMPILER = -2


class Place(TypedDict):
    """A line of Python as shown to people: `file` is a short name, `text` the line itself."""

    file: str
    line: int
    column: int
    function: str
    text: str


class FailureView(TypedDict):
    """A stage that raised: what was being done, what was found, what to do, and where (the user's own line first)."""

    headline: str
    message: str
    advice: str
    places: list[Place]
    traceback: str


class Column(TypedDict):
    """A column of a table.

    `help` says what it is, where it comes from and when it is missing, and is shown on demand; `code` says that its
    cells are names and types, not words.
    """

    key: str
    label: str
    align: Literal["left", "right"]
    code: bool
    help: str


class Row(TypedDict):
    """`cells` in column order; `marks` are the indices of the cells that the tone is about."""

    cells: list[str]
    tone: Tone
    marks: list[int]


class Table(TypedDict):
    """`source` names who made the figures; `empty` is the sentence shown when there are no rows."""

    key: str
    title: str
    source: str
    summary: str
    tone: Tone
    columns: list[Column]
    rows: list[Row]
    notes: list[str]
    empty: str


class Tab(TypedDict):
    """One entry of the strip.

    `count` is a short string such as ``18 eqns`` ("" while unknown), `seconds` the stage's own time (None where there
    is none), `reason` why a tab without content has none, or what opening one costs that is made on request. A listing
    tab carries `lines` and `size_bytes` once it is
    known. `targets` are the names of the targets that the tab is about; empty means all.
    """

    key: str
    title: str
    kind: Literal["listing", "tables"]
    status: Status
    count: str
    seconds: float | None
    reason: str
    failure: FailureView | None
    tables: list[Table]
    notes: list[str]
    targets: list[str]
    lines: NotRequired[int]
    size_bytes: NotRequired[int]


class Target(TypedDict):
    """Where the program is compiled for; `label` is for people."""

    name: str
    label: str


class Choice(TypedDict):
    """A target that the program could be compiled for; `reason` says why it is not available, "" where it is."""

    name: str
    label: str
    reason: str


class View(TypedDict):
    """The whole picture but for the listings' text.

    `targets` are those that the program is compiled for, `choices` those that the kernel could compile it for.
    """

    schema: int
    title: str
    function: str
    targets: list[Target]
    choices: list[Choice]
    versions: str
    notes: list[str]
    tabs: list[Tab]


class Rule(TypedDict):
    """A regex, in which ``<<name>>`` stands for a part, and the kind of what it matches."""

    kind: str
    match: str


class HiddenRule(Rule):
    """What may be put away, and whether it is `shown` until it is."""

    shown: bool


class Grammar(TypedDict):
    """How the lines of one dialect are read, as `jaxscope.lexers.grammar` explains it."""

    parts: dict[str, str]
    step_over: str
    names: str
    rules: list[Rule]
    hidden: list[HiddenRule]


class ListingIndex(TypedDict):
    """What the lines of one listing mean, as columns with one entry per line of the exact text.

    Attributes:
        key: The tab it belongs to.
        dialect: ``jaxpr``, ``stablehlo``, ``hlo`` or ``python``.
        grammar: The rules that read its lines; None for ``python``, which brings `tokens` instead.
        numbers: The number shown beside each line, 0 for none; empty means 1, 2, 3, …
        line_stack: A node of `stacks`, LINE_WITHOUT_OP, or LINE_MADE_BY_COMPILER for an op that no Python line asked
            for.
        line_path: Index into `paths`, -1 for none.
        line_place: For Python listings, index into `files` of the file that the line comes from, -1 for a heading or
            gap; empty for the others.
        spans: ``[first line, last line]`` of every op of more than one line.
        folds: ``[line, last line, kind, closed]``; `line` stays visible.
        start: The line to show first: the inspected function, the program's own body rather than its helpers.
        files: Short names, made unique. The same file has the same name in every listing of an inspection.
        functions: Function names that `frames` points into.
        frames: ``[file, function, line, column, end line, end column]``; numbers from 1, 0 for not known.
        stacks: ``[innermost frame, stack of the caller or -1]``.
        paths: Name paths such as ``jit(f)/jvp/mul``.
        tokens: For ``python``: per line, ``[kind, length]`` runs in the kinds of the grammar; empty for the others.
        short_names: Stems of long names to shorter ones, unique in the listing; the stem of ``%while_body.12.clone`` is
            ``while_body``, and of ``param_0.2`` it is ``param``. Empty where no name gets shorter.
        coverage: ``[ops linked to Python, ops]``.
        op_line: The lines since the entry before, for every op and every block that takes arguments, in the order of
            their lines. These entries define the values that operands name.
        op_operands: How many operands each entry has; -1 for a block, which defines its arguments.
        operand_source: For the operands of one entry after the other, how many entries before it its value is defined
            (negative: after it), 0 where no entry defines it.
        calls: Pairs, flat: a line that names a function, computation or shared jaxpr, and how many lines before it that
            begins (negative: after it).
    """

    key: str
    dialect: str
    grammar: Grammar | None
    numbers: list[int]
    line_stack: list[int]
    line_path: list[int]
    line_place: list[int]
    spans: list[list[int]]
    folds: list[list[int | str | bool]]
    start: int
    files: list[str]
    functions: list[str]
    frames: list[list[int]]
    stacks: list[list[int]]
    paths: list[str]
    tokens: list[list[list[str | int]]]
    short_names: dict[str, str]
    coverage: list[int]
    op_line: list[int]
    op_operands: list[int]
    operand_source: list[int]
    calls: list[int]
