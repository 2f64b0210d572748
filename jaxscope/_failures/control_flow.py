"""Loops and branches whose parts do not fit together.

Output: rows of the table of failures, and `mismatches`: the leaves that differ, read out of JAX's message, which names
each with its path in the tree and both types.
"""

import re
from collections.abc import Callable

from jaxscope._failures.records import Mismatch, Recogniser, shorten

_TYPE = ("TypeError",)
_VALUE = ("ValueError",)

# The input carry component carry['count'] has type int32[] but the corresponding output carry component has type
# float32[], so the dtypes do not match.
# The input carry carry is a tuple of length 2 but the corresponding component of the carry output is a tuple of length
# 1, so the lengths do not match.
_CARRY = re.compile(
    r"[Tt]he input carry(?: component| at path)? ?(?P<path>[^\n]*?) (?:has type|is an?) (?P<left>[^\n]+?) but the "
    r"corresponding (?:output carry component has type|component of the carry output is an?) (?P<right>[^\n]+?)(?:, so "
    r"(?P<reason>[^\n]*?))?[.;]?(?:\n|$)"
)
# The output of true_fun at path ['a'] has type float32[3] but the corresponding output of false_fun has type int32[3],
# so the dtypes do not match.
_BRANCH = re.compile(
    r"[Tt]he output of [^\n]+?(?: at path (?P<path>[^\n]*?))? has type (?P<left>[^\n]+?) but the corresponding output "
    r"of [^\n]+? has type (?P<right>[^\n]+?)(?:, so (?P<reason>[^\n]*?))?[.;]?(?:\n|$)"
)
# true_fun output at path [0] is a <class 'tuple'> but false_fun output at path [0] is a pytree leaf, so their Python
# types differ.
_BRANCH_TREE = re.compile(
    r"(?:^|\n)(?:  \* )?[^\n]+? output(?: at path (?P<path>[^\n]*?))? is an? (?P<left>[^\n]+?) but [^\n]+? output(?: "
    r"at path [^\n]*?)? is an? (?P<right>[^\n]+?), so (?P<reason>[^\n]*?)[.;]?(?:\n|$)"
)
_SHOWN = 3
_IN_AND_OUT = "{path} goes in as {left} and comes out as {right}"
_ONE_AND_OTHER = "{path} is {left} in one and {right} in the other"


def mismatches(message: str) -> tuple[Mismatch, ...]:
    """The leaves, or places in the tree, that differ between input and output of a loop's body, or between branches."""
    for pattern in (_CARRY, _BRANCH, _BRANCH_TREE):
        if found := [
            Mismatch(
                shorten(match["path"] or "", 200),
                shorten(_plain(match["left"]), 200),
                shorten(_plain(match["right"]), 200),
                shorten(match["reason"] or "", 200),
            )
            for match in pattern.finditer(message)
        ]:
            return tuple(found)
    return ()


def _plain(text: str) -> str:
    """``<class 'tuple'>`` as ``tuple``, and what stands for a leaf as that."""
    text = re.sub(r"<class '(?:jax\._src\.core\.)?([\w.]+)'>", r"\1", text)  # <class 'jax._src.core.ShapedArray'>
    text = text.replace("dict with pytree metadata", "dict with the keys")
    return "a single array" if text in ("ShapedArray", "pytree leaf") else text


def _listed(sentence: str, item_words: str, whole: str) -> Callable[[re.Match[str]], str]:
    """A sentence with the first differences put in; `whole` is what one without a path is called."""

    def found(match: re.Match[str]) -> str:
        listed = mismatches(match.string)
        if not listed:
            return sentence.format("in a way that JAX's message shows")
        words = "; ".join(
            item_words.format_map({"path": item.path or whole, "left": item.left, "right": item.right})
            for item in listed[:_SHOWN]
        )
        more = f"; and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
        return sentence.format(words + more)

    return found


def _repair(match: re.Match[str], start: str, inside: str) -> str:
    """What makes equal what differs: types, shapes, or along which axes of a mesh something varies."""
    reasons = " ".join(item.reason for item in mismatches(match.string))
    if "manual ax" in reasons:
        return (
            f"Under `jax.shard_map` {start} has to vary over the same axes of the mesh: `jax.lax.pcast(x, axes, "
            "to='varying')` makes it, `jax.lax.pvary` before JAX 0.9."
        )
    if "shape" in reasons:
        return (
            f"{inside[0].upper()}{inside[1:]} has to keep the shape. What grows with each round is written "
            f"to an array that was made as large "
            "as it will get, `.at[i].set(x)`, or returned as scan's second result."
        )
    return f"Start from {start} of the type that comes out, or convert in {inside} with `x.astype(...)`."


ROWS = (
    Recogniser(
        "carry-type",
        _TYPE,
        _listed("What a loop carries changes its type in the body: {}.", _IN_AND_OUT, "the carry"),
        lambda match: _repair(match, "a carry", "the body"),
        pattern=r"\b(?P<loop>\w+) (?:body )?function carry input and carry output must have equal types",
        samples=(
            "scan body function carry input and carry output must have equal types, but they differ:\n\nThe input "
            "carry component carry['count'] has type int32[] but the corresponding output carry component has type "
            "float32[], so the dtypes do not match.\n",
        ),
        page="jax.lax.{loop}",
    ),
    Recogniser(
        "carry-tree",
        _TYPE,
        _listed("What a loop carries changes its structure in the body: {}.", _IN_AND_OUT, "the carry"),
        "Return from the body the same structure of tuples and dicts as the loop starts from, with the same keys and "
        "lengths.",
        pattern=r"\b(?P<loop>\w+) (?:body )?function carry input and carry output must have the same pytree structure",
        samples=(
            "while_loop body function carry input and carry output must have the same pytree structure, but they "
            "differ:\n\nThe input carry c is a <class 'tuple'> but the corresponding component of the carry output is "
            "a <class 'jax._src.core.ShapedArray'>, so their Python types differ.\n",
        ),
        page="jax.lax.{loop}",
    ),
    Recogniser(
        "branch-types",
        _TYPE,
        _listed("The branches give results of different types: {}.", _ONE_AND_OTHER, "the result"),
        lambda match: (
            "All branches have to give the same shape: pad or broadcast the smaller one, or let the branches give only "
            "what has the same shape, and do the rest behind them."
            if "shape" in " ".join(item.reason for item in mismatches(match.string))
            else "Convert in one of them with `x.astype(...)`: all branches have to give the same type."
        ),
        pattern=r"\bbranches must have equal output types",
        samples=(
            "cond branches must have equal output types but they differ.\n\nThe output of true_fun has type float32[3] "
            "but the corresponding output of false_fun has type int32[3], so the dtypes do not match.\n",
        ),
        page="jax.lax.cond",
    ),
    Recogniser(
        "branch-trees",
        _TYPE,
        _listed("The branches give results of different structure: {}.", _ONE_AND_OTHER, "the result"),
        "Return the same structure of tuples and dicts from all branches; a branch that has nothing to give returns "
        "zeros, or its input.",
        pattern=r"branch outputs must have the same pytree structure",
        samples=(
            "cond branch outputs must have the same pytree structure, but they differ:\n\ntrue_fun output is a <class "
            "'tuple'> but false_fun output is a pytree leaf, so their Python types differ.\n",
        ),
        page="jax.lax.cond",
    ),
    Recogniser(
        "scan-result",
        _TYPE,
        "The body of a scan gave {given} instead of a pair.",
        "Return a pair from the body, the next carry and what is collected: `return carry, None` where nothing is.",
        pattern=r"scan body output must be a pair, got (?P<given>.*?)\.?$",
        samples=("scan body output must be a pair, got float32[].",),
        page="jax.lax.scan",
    ),
    Recogniser(
        "scan-lengths",
        _VALUE,
        "The arrays that a scan goes over have different lengths: {lengths}.",
        "All of them need the same length along their first axis; what stays the same in each round is used by the "
        "body directly, or carried.",
        pattern=r"scan got values with different leading axis sizes: (?P<lengths>[\d, ]+)",
        samples=("scan got values with different leading axis sizes: 4, 5.",),
        page="jax.lax.scan",
    ),
    Recogniser(
        "scan-lengths",
        _VALUE,
        "A scan was given neither arrays to go over nor a number of rounds.",
        "Give the number of rounds: `jax.lax.scan(body, carry, None, length=10)`.",
        pattern=r"scan got no values to scan over and `length` not provided",
        samples=("scan got no values to scan over and `length` not provided.",),
        page="jax.lax.scan",
    ),
    Recogniser(
        "scan-lengths",
        _VALUE,
        "The length= of a scan is {given}, and the arrays that it goes over have another.",
        "Leave length= out: the arrays say it.",
        pattern=r"scan got `length` argument of (?P<given>\S+) which disagrees with leading axis sizes",
        samples=("scan got `length` argument of 3 which disagrees with leading axis sizes [4].",),
        page="jax.lax.scan",
    ),
    Recogniser(
        "while-condition",
        _TYPE,
        "The condition of a while loop gave {given} instead of one boolean.",
        "Reduce it to one: `jnp.any(...)` or `jnp.all(...)`.",
        pattern=r"cond_fun must return a boolean scalar, but got (?:output type\(s\) "
        r"\[(?:ShapedArray\()?|pytree )(?P<given>[^\n)]*)",
        samples=("cond_fun must return a boolean scalar, but got output type(s) [ShapedArray(bool[3])].",),
        page="jax.lax.while_loop",
    ),
    Recogniser(
        "cond-predicate",
        _TYPE,
        "The condition of `jax.lax.cond` has the shape {shape}, and it chooses once, not element by element.",
        "Choose element by element with `jnp.where(p, x, y)`, map with `jax.vmap`, or reduce it with `jnp.any`.",
        pattern=r"Pred must be a scalar, got .* of shape (?P<shape>\([^)]*\))",
        samples=("Pred must be a scalar, got JitTracer(bool[3]) of shape (3,).",),
        page="jax.lax.cond",
    ),
    Recogniser(
        "switch-index",
        _TYPE,
        "The index of `jax.lax.switch` is of type {dtype}.",
        "Give it an integer: `i.astype(jnp.int32)`.",
        pattern=r"Index type must be an integer, got .* as (?P<dtype>\w+)",
        samples=("Index type must be an integer, got JitTracer(float32[]) as float32",),
        page="jax.lax.switch",
    ),
    Recogniser(
        "branch-arguments",
        _TYPE,
        "A branch or body was called with other arguments than it takes: {words}.",
        "All branches get the same operands, those after the functions: give each branch a parameter for each operand, "
        "or none at all and use outer variables.",
        pattern=r"^(?P<words>\S+\(\) (?:takes .*|missing .*))",
        samples=("cond_arguments.<locals>.<lambda>() takes 0 positional arguments but 1 was given",),
        forms=("call cond", "call switch"),
        page="jax.lax.cond",
    ),
    Recogniser(
        "reverse-mode-while",
        _VALUE,
        "A gradient was taken through a loop whose number of rounds is not known: all of its states would have to be "
        "kept.",
        "Use `jax.lax.scan`, or `jax.lax.fori_loop` with bounds that are Python integers; or give the loop a gradient "
        "of its own with `jax.custom_vjp`.",
        pattern=r"Reverse-mode differentiation does not work for lax\.while_loop",
        samples=("Reverse-mode differentiation does not work for lax.while_loop or lax.fori_loop with dynamic",),
        page="jax.lax.fori_loop",
    ),
    Recogniser(
        "fori-bounds",
        _TYPE,
        "The bounds of a loop are of types {types}.",
        "Give both bounds as integers of one type: `n.astype(jnp.int32)`.",
        pattern=r"lower and upper arguments to fori_loop must have equal types, got (?P<types>\w+ and \w+)",
        samples=("lower and upper arguments to fori_loop must have equal types, got int32 and float32",),
        page="jax.lax.fori_loop",
    ),
)
