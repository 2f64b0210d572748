"""Values that another operand makes wider without being asked to.

What it does:
    Names the lines where a float of 16 bits becomes one of 32, or one of 32 becomes one of 64, because it meets a wider
    array or scalar, and the matrix products after it run in the wider type. Where no product follows, only promotions
    to 64 bits are named, and those that make a result of the program wider.

Why it matters:
    A wider type takes twice the bytes at every step from there on, and most accelerators compute fewer products of it
    in a second. Nothing raises, and results look the same.

Example:
        scale = jnp.ones(128)                       # f32: the default
        jax.jit(lambda x: (x * scale) @ w)          # x and w are bf16, the product runs in f32

Use instead:
        scale = jnp.ones(128, dtype=x.dtype)

    Or `scale.astype(x.dtype)` where it is used. A plain Python number, `2.0 * x`, takes the type of the array; a scalar
    of NumPy or JAX, `np.float32(2.0) * x`, has a type of its own.

When it is wrong:
    Where the digits are wanted. Say so with `x.astype(jnp.float32)` or `preferred_element_type=`, which this rule
    leaves alone, as it does sums that JAX itself keeps in more digits for a while.
"""

from collections.abc import Iterator

from jaxscope._analysis.downstream import PRODUCTS, Reach
from jaxscope._analysis.surroundings import Operand
from jaxscope._analysis.type_flow import TypeChange
from jaxscope._findings.places import own_frame
from jaxscope._findings.records import ListingLine, Observation, Program, Rule, Severity, read_documentation
from jaxscope._view.format import format_count

# What runs in the wider type without any matrix product: with fewer ops, a cast back costs about as much as it saves.
LEAST_OPS = 5
_TYPES = {"bf16": "jnp.bfloat16", "f16": "jnp.float16", "f32": "jnp.float32"}


def _observations(program: Program) -> Iterator[Observation]:
    flow = program.type_flow
    found: dict[object, list[TypeChange]] = {}
    # Types that something before has already brought about, asked or not: what meets its results is no cause.
    spread: set[str] = set()
    for change in flow.changes:
        if not {"16-bit float widened", "64-bit float unasked"} & set(change.concerns):
            spread |= {_dtype(change.after)} if change.cause == "explicit cast" and _products(change) else set()
            continue
        if change.cause == "creation":
            # What it widens is told where it does.
            continue
        if change.cause != "promotion":
            spread |= {_dtype(change.after)} if _products(change) else set()
        elif _is_own_cause(change, spread) and (
            _products(change) or _dtype(change.after) == "f64" or _wider_results(change, program)
        ):
            spread.add(_dtype(change.after))
            own = own_frame(change.frames)
            place = (own.file, own.line) if own is not None else change.path
            found.setdefault(place, []).append(change)
    for changes in sorted(found.values(), key=lambda changes: max(map(_weight, changes)), reverse=True):
        yield _observation(max(changes, key=_weight), changes, program)


def _dtype(text: str) -> str:
    return text.partition("[")[0]


def _products(change: TypeChange) -> int:
    """The matrix products that run in the wider type, its own included."""
    inside = change.reach.products if isinstance(change.reach, Reach) else 0
    return inside + (change.primitive in PRODUCTS)


def _weight(change: TypeChange) -> tuple[int, int]:
    return _products(change), change.reach.ops if isinstance(change.reach, Reach) else 0


def _is_own_cause(change: TypeChange, spread: set[str]) -> bool:
    """Whether the operand that widens another has its type of itself, and not from something that was widened before.

    What is computed counts too as long as nothing before it spread the type.
    """
    if not isinstance(change.widened_by, Operand):
        return False
    return not change.widened_by.origin.startswith("result of") or _dtype(change.after) not in spread


def _wider_results(change: TypeChange, program: Program) -> list[str]:
    """The results that have the wider type although the value came in narrow.

    A wide array of the same shape that comes in and goes out is an accumulator or a state, which is kept wide on
    purpose.
    """
    reach, other = change.reach, change.widened_by
    if not isinstance(reach, Reach) or reach.ops < LEAST_OPS or not isinstance(other, Operand):
        return []
    if other.type == change.after:
        return []
    outputs = program.signature.outputs
    return [outputs[index].path for index in sorted(reach.results) if outputs[index].type == change.after]


def _observation(change: TypeChange, same_line: list[TypeChange], program: Program) -> Observation:
    products = _products(change)
    before, after = _dtype(change.before), _dtype(change.after)
    ops = change.reach.ops if isinstance(change.reach, Reach) else 0
    other = change.widened_by.origin or "another operand"
    text = f"{change.before} becomes {after} here because {other} is {change.widened_by.type}"
    if ops:
        text += f"; {format_count(ops, ('op after it runs', 'ops after it run'))} in {after}"
    if products:
        own = change.primitive in PRODUCTS
        inside = products - own
        if inside:
            text += f", {format_count(inside, ('of them a matrix product', 'of them matrix products'))}"
        if own:
            text += ". The matrix product itself runs in " + after
    elif results := _wider_results(change, program):
        text += f", and {results[0]} is {change.after}"
    if len(same_line) > 1:
        text += f". {format_count(len(same_line) - 1, ('more value is', 'more values are'))} widened on this line"
    # A CPU often computes 16-bit floats in f32 anyway, so that only bytes are lost.
    cheap = after == "f32" and (not products or program.target.platform == "cpu")
    severity: Severity = "note" if cheap else "warning"
    lines = tuple(ListingLine("jaxpr", each.line) for each in same_line if isinstance(each.line, int))
    return Observation(f"{text}.", _advice(change, before), change.frames, lines, severity)


def _advice(change: TypeChange, before: str) -> str:
    origin = change.widened_by.origin
    wanted = _TYPES.get(before, before)
    if origin.startswith("the number "):
        number = origin.removeprefix("the number ")
        return (
            f"A Python number, {number}, takes the type of the array, which a NumPy or JAX scalar does not; jnp.ones, "
            f"jnp.full and the like take dtype={wanted}."
        )
    if origin.startswith("argument "):
        name = origin.removeprefix("argument ")
        of = change.operand.origin
        dtype = f"{of.removeprefix('argument ')}.dtype" if of.startswith("argument ") else wanted
        return f"Cast it where it is used, {name}.astype({dtype}), or pass it as {before}."
    if origin == "a constant":
        return f"Make that constant with dtype={wanted}."
    return f"Make that value with dtype={wanted}, or cast it with .astype({wanted}) before it is used here."


RULE = Rule(
    key="implicit-upcast",
    title="Silent promotion to a wider float",
    severity="warning",
    find=_observations,
    documentation=read_documentation(__doc__),
)
