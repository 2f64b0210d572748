"""The contract between the facts and the pictures: what text, HTML and the widget are all made from.

Problem: three renderers must show the same facts, and a saved picture must be readable without JAX or a kernel. Input:
none; this module only defines the shapes, and has over 400 lines because each field is documented here. Output: `View`
(small, synced with the browser), one `ListingIndex` per listing (large, sent deflated and on demand beside the
listing's exact text), and `LiveColumns` for a chart of live buffers (as large, sent in the same way).

`js/src/schema.d.ts` is generated from this module by ``python -m tests.contract``; a test fails when it is stale.
"""

from typing import Literal, NotRequired, TypedDict

SCHEMA_VERSION = 4

Status = Literal["pending", "running", "done", "failed", "not reached", "unavailable", "on request"]
Tone = Literal["", "error", "warning", "muted", "good"]

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


class Link(TypedDict):
    """A line, from 0, of the listing of that key: a tab's, ``python`` among them."""

    listing: str
    line: int


class Column(TypedDict):
    """A column of a table.

    `help` says what it is, where it comes from and when it is missing, and is shown on demand; `code` says that its
    cells are names and types, not words. With `bar`, a bar beside each cell's figure shows how much that is: of 100 %
    where the cell ends in a percent sign, else of the largest figure of the column.
    """

    key: str
    label: str
    align: Literal["left", "right"]
    code: bool
    help: str
    bar: NotRequired[bool]


class Row(TypedDict):
    """`cells` in column order; `marks` are the indices of the cells that the tone is about.

    `link` is the line that the row is about: its first cell leads there.
    """

    cells: list[str]
    tone: Tone
    marks: list[int]
    link: NotRequired[Link]


class Tick(TypedDict):
    """A labelled place on an axis; like every place in a chart it is a share, from 0 to 1, of its length."""

    at: float
    label: str


class Part(TypedDict):
    """A part of a whole: ``temporaries 540 MiB`` and its share of the bar's length."""

    label: str
    share: float


class Stack(TypedDict):
    """Parts of one whole side by side, with a legend; `marks` are limits such as the memory of the target."""

    kind: Literal["stack"]
    summary: str
    parts: list[Part]
    marks: list[Tick]


class Steps(TypedDict):
    """Bytes over the instants of a schedule; beside it, the table shows what is alive at the instant that is chosen.

    The table that the chart belongs to holds the rows of the peak, for whoever cannot choose; the browser fills it from
    `LiveColumns`.

    Attributes:
        summary: The curve in a sentence.
        data: The key under which `LiveColumns` are asked for, like a listing's.
        count: How many instants there are.
        peak: The instant of the most bytes, from 0.
        label: What stands beside the peak.
        axis: What the instants are, below the chart.
        top: The bytes at the upper edge of the chart.
        ticks: Of the bytes.
    """

    kind: Literal["steps"]
    summary: str
    data: str
    count: int
    peak: int
    label: str
    axis: str
    top: float
    ticks: list[Tick]


class Roof(TypedDict):
    """A line of a roofline chart: ``[x, y]`` of its corners, and its name."""

    label: str
    points: list[list[float]]


class Scatter(TypedDict):
    """Points among roofs.

    Attributes:
        summary: The chart in a sentence.
        x_label: What goes to the right.
        y_label: What goes up.
        x_ticks: On that axis; likewise `y_ticks`.
        roofs: What bounds the points from above, and marks such as the ridge.
        points: ``[x, y, share]`` for each row of the table that the chart belongs to, of which the rows after the last
            point have none; the share, from 0 to 1, is drawn as the size. ``[]`` for a row that has no place.
    """

    kind: Literal["scatter"]
    summary: str
    x_label: str
    y_label: str
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    roofs: list[Roof]
    points: list[list[float]]


class Table(TypedDict):
    """A card.

    Attributes:
        source: Who made the figures.
        empty: The sentence shown when there are no rows.
        group: Tables of a tab with the same `group` are one card, and the reader chooses between them.
        choice: What it is called among those: ``Python line``, ``kernel``.
        chart: A picture of the rows, above them.
        request: The words of a button that asks the kernel for what the card lacks, which takes another compilation;
            only where the card has something to ask for. The answer is another view.
    """

    key: str
    title: str
    source: str
    summary: str
    tone: Tone
    columns: list[Column]
    rows: list[Row]
    notes: list[str]
    empty: str
    group: NotRequired[str]
    choice: NotRequired[str]
    chart: NotRequired[Stack | Steps | Scatter]
    request: NotRequired[str]


class Figure(TypedDict):
    """One of the figures that a report begins with: ``34.6 MFLOP``, what it is, and a remark such as XLA's own."""

    label: str
    value: str
    note: str
    help: str
    tone: Tone


class Heat(TypedDict):
    """Lines of a listing, from 0, that a noticeable share of the work comes from.

    `shares` are from 0 to 1 and `texts` the same for people; `help` says what they are shares of.
    """

    help: str
    lines: list[int]
    shares: list[float]
    texts: list[str]


class Mark(TypedDict):
    """Something that is said about a line of a listing, shown beside it and in the overview: here a stage failed.

    A line may carry several, of which the gravest gives its sign.

    Attributes:
        listing: The key under which `View.heat` would have that listing.
        line: From 0.
        tone: How grave it is; ``muted`` for a remark, and for what only led to something.
        text: What is said, as a sentence.
        note: The same in the fewest words, or what helps to read the line, such as types; stands at the line's end.
    """

    listing: str
    line: int
    tone: Tone
    text: str
    note: str


class CallBox(TypedDict):
    """A field for a call to be judged by the kernel: what stands in it, and what can be typed."""

    text: str
    note: str


class Operand(TypedDict):
    """A value that an expression names, and its type: ``params['w']``, ``f32[3,4]``."""

    expression: str
    type: str


class FailureView(TypedDict):
    """A stage that raised: what was being done, what was found, what to do, and where (the user's own line first).

    Attributes:
        found: What was found, in one sentence; "" where the message has to speak for itself.
        message: The exception's own words; where there is something `found`, they are of less interest.
        page: The address of JAX's page on it, "" for none. Renderers make a link of an address of JAX's documentation
            and leave any other out.
        expression: What failed at the first place, "" where its line says so or nobody knows; `operands` are what it
            names.
        mismatches: The leaves that differ between what goes into a loop's body and what comes out, or between branches;
            None where that is not what went wrong.
    """

    headline: str
    found: str
    message: str
    advice: str
    page: str
    places: list[Place]
    expression: str
    operands: list[Operand]
    mismatches: Table | None
    traceback: str


class Paragraph(TypedDict):
    """A part of the documentation of a rule: ``Why it matters``, and paragraphs, those of code indented by four."""

    heading: str
    text: str


class FindingView(TypedDict):
    """A piece of advice.

    Attributes:
        rule: The stable name of the rule, under which `Tab.rules` has its documentation.
        title: What it is called.
        severity: ``error``, ``warning`` or ``note``; `tone` is the same for the eye.
        found: What is there.
        advice: What to do.
        places: The line of Python that it is about, or nothing.
        links: Its lines, that of Python first where that is shown.
    """

    rule: str
    title: str
    severity: str
    tone: Tone
    found: str
    advice: str
    places: list[Place]
    links: list[Link]


class Tab(TypedDict):
    """One entry of the strip.

    `count` is a short string such as ``18 eqns`` ("" while unknown), `seconds` the stage's own time (None where there
    is none), `reason` why a tab without content has none, or what opening one costs that is made on request. A listing
    tab carries `lines` and `size_bytes` once it is known, a failed one for what there was until then. `targets` are the
    names of the targets that the tab is about; empty means all. `figures` stand before its tables. With a `call`, one
    can be typed whose verdict becomes part of its tables. The tab of findings has `findings`, and the documentation of
    their `rules`.
    """

    key: str
    title: str
    kind: Literal["listing", "tables"]
    status: Status
    count: str
    seconds: float | None
    reason: str
    failure: FailureView | None
    figures: list[Figure]
    tables: list[Table]
    notes: list[str]
    targets: list[str]
    lines: NotRequired[int]
    size_bytes: NotRequired[int]
    call: NotRequired[CallBox]
    findings: NotRequired[list[FindingView]]
    rules: NotRequired[dict[str, list[Paragraph]]]


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

    `targets` are those that the program is compiled for, `choices` those that the kernel could compile it for. `heat`
    is by the key of a listing; that of Python stands under ``python`` for the first target, and for each other one
    under ``python@`` and its name. `marks` go by the same keys.
    """

    schema: int
    title: str
    function: str
    targets: list[Target]
    choices: list[Choice]
    versions: str
    notes: list[str]
    tabs: list[Tab]
    heat: dict[str, Heat]
    marks: list[Mark]


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
        costs: What ops cost, in words: ``16.8 MFLOP · 1.0 MiB moved``.
        line_cost: Index into `costs` for every line, -1 for none; both are left out where nothing is known.
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
    costs: NotRequired[list[str]]
    line_cost: NotRequired[list[int]]


class LiveColumns(TypedDict):
    """What is alive when, as columns; JSON that travels like a listing's index, with an empty text beside it.

    Attributes:
        strings: Every text of the columns, once.
        listing: The key of the listing that `step_line` and `line` point into.
        step_bytes: The bytes alive at each instant.
        step_name: Index into `strings` of what runs then, -1 for none.
        step_line: Its line, -1 for none.
        size: The bytes of each buffer, the largest first.
        first: The instant from which on it is alive.
        last: The last instant at which it is.
        line: The line of the op that makes it, -1 for none.
        cells: Index into `strings` for each buffer, by key of the table's column; -1 for an empty cell. The columns
            `size`, `total` (the sum down to this row) and `lifetime` are made from the figures and left out.
    """

    strings: list[str]
    listing: str
    step_bytes: list[int]
    step_name: list[int]
    step_line: list[int]
    size: list[int]
    first: list[int]
    last: list[int]
    line: list[int]
    cells: dict[str, list[int]]
