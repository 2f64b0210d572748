"""Indices, element types and values that functions of jnp and lax do not take.

JAX raises Python's own classes here, so only the words tell. Output: rows of the table of failures.
"""

import re

from jaxscope._failures.records import Recogniser

_TYPE = ("TypeError",)
_VALUE = ("ValueError",)
# The usual type of each kind that JAX's messages name.
_USUAL_TYPES = {
    "bool": "jnp.bool_",
    "complexfloating": "jnp.complex64",
    "floating": "jnp.float32",
    "inexact": "jnp.float32",
    "integer": "jnp.int32",
    "number": "jnp.float32",
    "signedinteger": "jnp.int32",
    "unsignedinteger": "jnp.uint32",
}


def _conversion(match: re.Match[str]) -> str:
    kinds = [kind.strip() for kind in match["accepted"].split(",")]
    usual = next((_USUAL_TYPES[kind] for kind in kinds if kind in _USUAL_TYPES), "")
    if not usual:
        return "Convert the argument first, `x.astype(...)`, to one of those types."
    return f"Convert the argument first: `x.astype({usual})`, or another of those types."


def _operand(match: re.Match[str]) -> str:
    return f"The operator {match['operator']} was used between an array and a {match['type'] or match['other']}."


ROWS = (
    Recogniser(
        "too-many-indices",
        ("IndexError",),
        "{expression} has more indices than the array, of rank {rank}, has dimensions.",
        "Leave one out, or look at where a dimension was lost; under `jax.vmap` the mapped dimension is not there.",
        pattern=r"Too many indices: (?:array is )?(?P<rank>\d+)-dimensional",
        samples=(
            "Too many indices: array is 1-dimensional, but 2 were indexed",
            "Too many indices: 1-dimensional array indexed with 2 regular indices.",
        ),
    ),
    Recogniser(
        "index-dtype",
        _TYPE,
        "A value of type {dtype} was used as an index.",
        "Indices are integers, or booleans for a mask: `x[i.astype(jnp.int32)]`; `//` keeps a Python number whole.",
        pattern=r"Indexer must have integer or boolean type, got indexer with type (?P<dtype>\w+)",
        samples=("Indexer must have integer or boolean type, got indexer with type float32 at position 0",),
    ),
    Recogniser(
        "mask-shape",
        ("IndexError",),
        "A mask of shape {mask} was used on an array, or an axis of it, of shape {shape}.",
        "A mask has the shape of what it masks, or of its first axes: compare it with `x` itself, or slice one of "
        "them.",
        pattern=r"boolean index did not match shape of indexed array in index \d+: got (?P<mask>\([^)]*\)), expected "
        r"(?P<shape>\[[^\]]*\]|\([^)]*\))",
        samples=("boolean index did not match shape of indexed array in index 0: got (4,), expected [3]",),
    ),
    Recogniser(
        "update-shape",
        _VALUE,
        "What is written, of shape {given}, has more dimensions than what is written to, of shape {wanted}.",
        "Write a value of the shape of `x[i]` itself, or take another slice.",
        pattern=r"Cannot broadcast to shape with fewer dimensions: arr_shape=(?P<given>\([^)]*\)) "
        r"shape=(?P<wanted>\([^)]*\))",
        samples=("Cannot broadcast to shape with fewer dimensions: arr_shape=(4,) shape=()",),
        forms=("call set", "call add", "call multiply", "call min", "call max", "call mul"),
        page="jax.numpy.ndarray.at",
    ),
    Recogniser(
        "index-type",
        _TYPE,
        "A list was used as an index, which could mean one index or several.",
        "Say which: `x[jnp.array([0, 1])]` takes two elements, `x[0, 1]` one of two dimensions.",
        pattern=r"Using a non-tuple sequence for multidimensional indexing is not allowed",
        samples=("Using a non-tuple sequence for multidimensional indexing is not allowed; use `arr[array(seq)]`",),
    ),
    Recogniser(
        "index-type",
        _TYPE,
        "An array was indexed with a string: {expression}.",
        "Arrays have no named fields: keep a dict of arrays, or index by number.",
        pattern=r"JAX does not support string indexing",
        samples=("JAX does not support string indexing; got idx='a'",),
    ),
    Recogniser(
        "dtype-mismatch",
        _TYPE,
        "`lax.{function}` was given {dtypes}, and functions of lax do not promote.",
        "Convert one, `x.astype(y.dtype)`, or use the function of jnp, which promotes.",
        pattern=r"lax\.(?P<function>\w+) requires arguments to have (?:the same|equal) dtypes, got "
        r"(?P<dtypes>[^.(]*\w)",
        samples=(
            "lax.add requires arguments to have the same dtypes, got float32, int32. (Tip: jnp.add is a similar "
            "function",
        ),
        page="jax.lax.convert_element_type",
    ),
    Recogniser(
        "dtype-unsupported-by-op",
        _TYPE,
        "`{function}` was given {dtype}, and takes {accepted} only.",
        _conversion,
        pattern=r"(?<!\S)(?P<function>\S+) does not accept dtype (?P<dtype>\w+).*Accepted dtypes.*are subtypes of "
        r"(?P<accepted>[^.]*)\.",
        samples=(
            "sin does not accept dtype int32. Accepted dtypes are subtypes of floating, complexfloating.",
            "and does not accept dtype float32 at position 0. Accepted dtypes at position 0 are subtypes of integer, "
            "bool.",
        ),
        page="jax.lax.convert_element_type",
    ),
    Recogniser(
        "dtype-unsupported-by-op",
        _TYPE,
        "The function {function} was given complex numbers, and takes real ones only.",
        "Take the part that is meant, `x.real` or `jnp.abs(x)`, or use true division, `/`.",
        pattern=r"(?<!\S)(?P<function>\w+) does not support complex-valued inputs",
        samples=("floor_divide does not support complex-valued inputs",),
    ),
    Recogniser(
        "dtype-unsupported-by-op",
        _VALUE,
        "The expression {expression} computes with a type narrower than a byte, which not every function of jnp can.",
        "Convert first: `x.astype(jnp.int8)` or wider.",
        pattern=r"Invalid integer data type 'V'",
        samples=("Invalid integer data type 'V'.",),
    ),
    Recogniser(
        "not-an-array",
        _TYPE,
        "`{function}` was given None, at position {position}.",
        "Look at where that None comes from: a function without `return`, or an argument that was left out.",
        pattern=r"(?<![\w.])(?P<function>[\w.]+) requires ndarray or scalar arguments, got <class 'NoneType'> at "
        r"position (?P<position>\d+)",
        samples=("add requires ndarray or scalar arguments, got <class 'NoneType'> at position 1.",),
    ),
    Recogniser(
        "not-an-array",
        _TYPE,
        "`jnp.{function}` was given a {type}, at position {position}, and takes arrays and numbers.",
        "Make an array of it: `jnp.asarray(x)`. jnp does not do so by itself, as it would be slow.",
        pattern=r"(?<![\w.])(?P<function>[\w.]+) requires ndarray or scalar arguments, got <class "
        r"'(?P<type>[^']+)'> at position (?P<position>\d+)",
        samples=("sum requires ndarray or scalar arguments, got <class 'list'> at position 0.",),
        page="jax.numpy.asarray",
    ),
    Recogniser(
        "operand-type",
        _TYPE,
        "The operator {operator} was given None, in {expression}.",
        "Look at where that None comes from: a function without `return`, or an argument that was left out.",
        pattern=r"unsupported operand type\(s\) for (?P<operator>[^:]+): (?:'\w+' and 'NoneType'|'NoneType' and "
        r"'\w+')",
        samples=(
            "unsupported operand type(s) for +: 'DynamicJaxprTracer' and 'NoneType'",
            "unsupported operand type(s) for ** or pow(): 'NoneType' and 'int'",
        ),
    ),
    Recogniser(
        "operand-type",
        _TYPE,
        _operand,
        "Make an array of it first, `jnp.asarray(x)`; of a pytree's leaves, with `jax.tree.map`.",
        pattern=r"unsupported operand type\(s\) for (?P<operator>[^:]+): (?:'\w*Tracer' and '(?P<type>\w+)'|"
        r"'(?P<other>\w+)' and '\w*Tracer')",
        samples=("unsupported operand type(s) for +: 'DynamicJaxprTracer' and 'list'",),
    ),
    Recogniser(
        "dtype-unsupported",
        _TYPE,
        "A NumPy array of a type that JAX has no arrays of was used: {dtype}.",
        "JAX has arrays of numbers and booleans only. Keep strings, dates and objects outside, or turn them into "
        "numbers first.",
        pattern=r"(?:with d|^D|\nD)type (?P<dtype>\S+) is not a valid JAX array type",
        samples=(
            "Value 'a' with dtype <U1 is not a valid JAX array type. Only arrays of numeric types are supported by "
            "JAX.",
            "Dtype datetime64[D] is not a valid JAX array type. Only arrays of numeric types are supported by JAX.",
        ),
    ),
    Recogniser(
        "dtype-unsupported",
        _TYPE,
        "A NumPy array of a type that JAX has no arrays of was used in {expression}.",
        "JAX has arrays of numbers and booleans only. Keep strings, dates and objects outside, or turn them into "
        "numbers first.",
        pattern=r"Error interpreting argument to .* problematic value is of type <class 'numpy\.ndarray'>",
        samples=(
            "Error interpreting argument to stage as a JAX value. The problematic value is of type <class "
            "'numpy.ndarray'> and was passed to stage at position 0.",
        ),
    ),
    Recogniser(
        "dtype-unknown",
        _TYPE,
        "There is no type called {dtype}.",
        "Name types by the objects of jnp, `jnp.float32`, `jnp.bfloat16`, which a typing mistake cannot pass.",
        pattern=r"data type (?P<dtype>'[^']*') not understood",
        samples=("data type 'flot32' not understood",),
    ),
    Recogniser(
        "array-inhomogeneous",
        _VALUE,
        "The nested lists have different lengths, and an array has one shape.",
        "Pad them to one shape and keep the lengths beside them, or keep a list of arrays.",
        pattern=r"setting an array element with a sequence\. The requested array has an inhomogeneous shape",
        samples=(
            "setting an array element with a sequence. The requested array has an inhomogeneous shape after 1 "
            "dimensions.",
        ),
    ),
    Recogniser(
        "pad-widths",
        _VALUE,
        "The widths have the shape {given}, for an array of rank {rank}.",
        "Give one pair (before, after) to pad each dimension by, or one pair for all.",
        pattern=r"pad_width with nd=(?P<rank>\d+) has unsupported shape (?P<given>\([^)]*\))",
        samples=("jnp.pad: pad_width with nd=1 has unsupported shape (2, 2). Valid shapes are (1, 2), (1, 2), (2,)",),
        page="jax.numpy.pad",
    ),
    Recogniser(
        "key-type",
        _TYPE,
        "Something else than a random key was given for one.",
        "Make a key with `jax.random.key(0)`, and others from it with `jax.random.split`.",
        pattern=r"invalid PRNG key data",
        samples=("JAX encountered invalid PRNG key data: expected key_data.dtype = uint32; got dtype=float32",),
        page="jax.random.key",
    ),
    Recogniser(
        "key-type",
        _TYPE,
        "An object of type {type} was given where a random key belongs.",
        "The key comes first, `jax.random.normal(key, shape)`. Make one with `jax.random.key(0)`, and others from it "
        "with `jax.random.split`.",
        pattern=r"unexpected PRNG key type <class '(?P<type>[^']+)'>",
        samples=("unexpected PRNG key type <class 'tuple'>",),
        page="jax.random.key",
    ),
    Recogniser(
        "key-type",
        _TYPE,
        "A random key was computed with like a number, in {expression}.",
        "Make new keys of one with `jax.random.split(key)`, or `jax.random.fold_in(key, i)` for the number i.",
        pattern=r"\w+ does not accept dtypes? [^\n]*key<\w+>",
        samples=("add does not accept dtypes key<fry>, int32.",),
        page="jax.random.fold_in",
    ),
    Recogniser(
        "key-shape",
        ("TypeError", "ValueError"),
        "`jax.random.{function}` takes one key, and was given an array of keys of shape {shape}.",
        "Map over the keys, `jax.vmap(lambda key: jax.random.{function}(key, shape))(keys)`, or take one, `keys[0]`.",
        pattern=r"(?P<function>\w+) accepts a single key, but was given a key array of shape (?P<shape>\([^)]*\))",
        samples=(
            "normal accepts a single key, but was given a key array of shape (3,) != (). Use jax.vmap for batching.",
        ),
        page="jax.random.split",
    ),
    Recogniser(
        "key-shape",
        _TYPE,
        "A seed is one number, and was given as an array of shape {shape}.",
        "Give one integer, or make many keys of one with `jax.random.split(jax.random.key(0), n)`.",
        pattern=r"accepts a scalar seed, but was given an array of shape ?(?P<shape>\([^)]*\))",
        samples=("PRNGKey accepts a scalar seed, but was given an array of shape (4,) != (). Use jax.vmap",),
        page="jax.random.key",
    ),
    Recogniser(
        "select-predicate",
        _TYPE,
        "`jax.lax.select` was given {dtype} to choose by.",
        "Compare first, `x > 0`: what chooses is boolean, or an integer that numbers the cases. `jnp.where` converts "
        "by itself.",
        pattern=r"select `which` must be boolean or integer type, got (?P<dtype>\w+)",
        samples=("select `which` must be boolean or integer type, got float32.",),
        page="jax.numpy.where",
    ),
    Recogniser(
        "integer-overflow",
        ("OverflowError",),
        "A Python integer does not fit the type that it would get.",
        "Pass it as an array of a wider type, `jnp.uint32(n)`, or switch on 64 bits: "
        "`jax.config.update('jax_enable_x64', True)`.",
    ),
)
