"""Arguments and results that JAX cannot take: static ones, missing ones, leaves that are no arrays.

Output: rows of the table of failures.
"""

import re

from jaxscope._failures.records import Recogniser, shorten

_TYPE = ("TypeError",)
_VALUE = ("ValueError",)


def _argument(match: re.Match[str]) -> str:
    return (
        f"The argument {shorten(match['path'])} is of type {shorten(match['type'])}, which JAX cannot trace: it takes "
        "arrays, numbers and pytrees of these."
    )


def _result(match: re.Match[str]) -> str:
    place = f" at {shorten(match['place'])}" if match["place"] else ""
    return (
        f"The function returned an object of type {shorten(match['type'])}{place}, and a compiled program gives arrays."
    )


def _different_trees(match: re.Match[str]) -> str:
    where = f"Below {shorten(match['path'])}, the" if match["path"] else "The"
    rest = match.string[match.end() :]
    found = re.findall(r"(?:subtree of(?: different)? type|with metadata)\s+([^\n]+?)\.?(?:\n|$)", rest)
    # Pairs of containers, or of what is kept with them (the keys of a dict), of the first tree and of the other.
    pair = {"types": found[:2], "pytree metadata": found[1:3]}.get(match["what"], [])
    if len(pair) == 2:
        first, other = (shorten(text.removeprefix("<class '").removesuffix("'>")) for text in pair)
        return f"{where} trees to be mapped over together are different: {first} in the first, {other} in another."
    return f"{where} trees to be mapped over together have different {shorten(match['what'])}."


ROWS = (
    Recogniser(
        "static-unhashable",
        _VALUE,
        "A traced array was given for a static argument, and static arguments have to be values.",
        "Make it static in the outer function too, or let the inner function take it as a traced argument by not "
        "naming it in static_argnums= or static_argnames=.",
        pattern=r"Non-hashable static arguments are not supported\. .* of type <class '[\w.]*Tracer'>",
        samples=(
            "Non-hashable static arguments are not supported. An error occurred while trying to hash an object of type "
            "<class 'jax._src.interpreters.partial_eval.DynamicJaxprTracer'>, JitTracer(int32[]). The error was:",
        ),
        page="jax.jit",
    ),
    Recogniser(
        "static-unhashable",
        _VALUE,
        "A {type} was given for a static argument: what was compiled is found again by hash, and lists, dicts and "
        "arrays have none.",
        "Give a tuple, a number or a string; or stop naming it static, so that it is traced.",
        pattern=r"Non-hashable static arguments are not supported\. .* of type <class "
        r"'(?P<type>list|dict|set|bytearray|numpy\.ndarray|jaxlib\.[\w.]*ArrayImpl)'>",
        samples=(
            "Non-hashable static arguments are not supported. An error occurred while trying to hash an object of type "
            "<class 'list'>, [1, 2]. The error was:\nTypeError: unhashable type: 'list'",
        ),
        page="jax.jit",
    ),
    Recogniser(
        "static-unhashable",
        _VALUE,
        "An object of type {type} was given for a static argument: what was compiled is found again by hash, and it "
        "has none.",
        "Give its class a `__hash__` and an `__eq__` by value, `@dataclass(frozen=True)` does both; or register it as "
        "a pytree with `jax.tree_util.register_dataclass` and stop naming it static.",
        pattern=r"Non-hashable static arguments are not supported\. .* of type <class '(?P<type>[^']+)'>",
        samples=(
            "Non-hashable static arguments are not supported. An error occurred while trying to hash an object of type "
            "<class 'model.Settings'>, Settings(scale=2). The error was:\nTypeError: unhashable type: 'Settings'",
        ),
        page="jax.jit",
    ),
    Recogniser(
        "abstract-static-argument",
        _TYPE,
        "A type without values, a `jax.ShapeDtypeStruct`, stood where the function computes with values.",
        "A static argument is used as it is. Pass the value itself: a number, a name or a tuple of these to `jax.jit`, "
        "a real array (of any values) to another library's jit. Or let the argument be traced, which takes types.",
        pattern=r"'ShapeDtypeStruct'",
        samples=("unsupported operand type(s) for @: 'ShapeDtypeStruct' and 'DynamicJaxprTracer'",),
    ),
    Recogniser(
        "static-name",
        _VALUE,
        "{names} is named static, and the function has no such argument.",
        "Write the name of a parameter of the function itself; through a decorator without `functools.wraps` its names "
        "cannot be seen.",
        pattern=r"invalid argnames \{(?P<names>[^}]*)\} in static_argnames",
        samples=(
            "Jitted function has invalid argnames {'axis'} in static_argnames. Function does not take these args.",
        ),
        page="jax.jit",
    ),
    Recogniser(
        "static-number",
        _VALUE,
        "Argument number {numbers} is to be static or donated, and the function takes {count} positional ones.",
        "Numbering counts from 0 and from the end with -1, `self` included for a method; or use static_argnames=, "
        "which survives reordering.",
        pattern=r"(?:static|donate)_argnums=\((?P<numbers>[^)]*?),?\), but only accepts (?P<count>\d+) positional",
        samples=("Jitted function has static_argnums=(3,), but only accepts 1 positional arguments.",),
        page="jax.jit",
    ),
    Recogniser(
        "donated-name",
        _VALUE,
        "{names} is to be donated, and the function has no such argument.",
        "Write the name of a parameter of the function itself, or use donate_argnums=, which counts from 0.",
        pattern=r"invalid argnames \{(?P<names>[^}]*)\} in donate_argnames",
        samples=(
            "Jitted function has invalid argnames {'state'} in donate_argnames. Function does not take these args.",
        ),
        page="jax.jit",
    ),
    Recogniser(
        "donated-and-static",
        _VALUE,
        "An argument is both static and donated: {words}.",
        "Make it either: a static argument has no buffer that could be given away.",
        pattern=r"(?P<words>(?:Argument names (?P<names>\{[^}]*\}) appear in both|`?static_argnums`? .* "
        r"cannot intersect)[^\n]*)",
        samples=(
            "static_argnames and donate_argnames cannot intersect. Argument names {'y'} appear in both static_argnames "
            "and donate_argnames",
        ),
        page="jax.jit",
    ),
    Recogniser(
        "call-arguments",
        _TYPE,
        "The function was called with other arguments than it takes: {words}.",
        "Compare the call with the function's signature. What is bound by `functools.partial`, and `self`, counts as "
        "given.",
        pattern=r"^(?P<words>\S+\(\) (?:missing \d+ required|takes .* positional|got an unexpected "
        r"keyword|got multiple values|got some positional-only)[^\n]*?)(?:\. Did you mean[^\n]*)?(?:\n|$)",
        samples=(
            "missing_argument() missing 1 required positional argument: 'y'",
            "extra_argument() takes 1 positional argument but 2 were given",
            "layer() got an unexpected keyword argument 'sacle'. Did you mean 'scale'?",
        ),
    ),
    Recogniser(
        "call-arguments",
        _TYPE,
        "The function was called with other arguments than it takes: {words}.",
        "Compare the call with the function's signature. What is bound by `functools.partial`, and `self`, counts as "
        "given.",
        pattern=r"^(?P<words>(?:missing a required|too many positional arguments|got an unexpected keyword "
        r"argument)[^\n]*)",
        samples=("missing a required argument: 'y'", "too many positional arguments"),
    ),
    Recogniser(
        "argument-not-an-array",
        _TYPE,
        _argument,
        "Name it in static_argnames= of `jax.jit` if it is a setting, such as a string or a function; leave it out, or "
        "register its class as a pytree with `jax.tree_util.register_dataclass` if it holds arrays.",
        pattern=r"Error interpreting argument to .* as an? (?:abstract array|JAX value)\. The problematic "
        r"value is of type <class '(?P<type>(?!numpy\.ndarray)[^']+)'> and was passed to .*? at (?:path|position) "
        r"(?P<path>[^\n]*?)\.?(?:\n|$)",
        samples=(
            "Error interpreting argument to <function f at 0x7f> as an abstract array. The problematic value is of "
            "type <class 'bytes'> and was passed to the function at path settings['name'].\nThis typically means",
        ),
        page="jax.jit",
    ),
    Recogniser(
        "argument-not-an-array",
        _TYPE,
        "A function stood among the arrays of an argument, and JAX can trace arrays and numbers only.",
        "Modules of Equinox hold their activation functions: use `eqx.filter_jit`, `eqx.filter_grad` and "
        "`eqx.filter_vmap`, or take the arrays out with `eqx.partition`. Name a function that is a setting in "
        "static_argnames= of `jax.jit`.",
        pattern=r"^(?:Argument|Value) [^\n]* of type <class '(?:function|builtin_function_or_method|functools\.partial|"
        r"[\w.]*(?:custom_jvp|custom_vjp|PjitFunction))'>[^\n]* is not a valid JAX",
        samples=(
            "Argument '<jax._src.custom_derivatives.custom_jvp object at 0x7f>' of type <class "
            "'jax._src.custom_derivatives.custom_jvp'> is not a valid JAX type",
        ),
        page="jax.jit",
    ),
    Recogniser(
        "argument-not-an-array",
        _TYPE,
        "A value that is no array reached JAX: {value}.",
        "Convert it with `jnp.asarray`, keep it out of the traced arguments with static_argnames= of `jax.jit`, or "
        "register its class as a pytree.",
        pattern=r"^(?P<value>(?:Argument|Value) .* of type <class '[^']+'>)[^\n]* is not a valid JAX",
        samples=("Argument 'train' of type <class 'str'> is not a valid JAX type",),
    ),
    Recogniser(
        "argument-protocol",
        _VALUE,
        "An argument has a `__jax_array__` method, which JAX does not call for arguments of a jitted function.",
        "Convert it before the call, `jnp.asarray(x)`, or register its class as a pytree with "
        "`jax.tree_util.register_pytree_node_class`.",
        pattern=r"Triggering __jax_array__\(\) during abstractification",
        samples=("Triggering __jax_array__() during abstractification is no longer supported.",),
        page="jax.tree_util.register_pytree_node_class",
    ),
    Recogniser(
        "tree-structures",
        _VALUE,
        _different_trees,
        "Pass trees of one structure: the same containers, keys and lengths. `jax.tree.structure(x)` prints it, and "
        "`jax.tree_util.tree_map_with_path` names the leaves.",
        pattern=r"^pytree structure error: different (?P<what>[\w ]+?)(?: of (?P<container>\w+))? at key path\s+"
        r"tree_?map tree(?P<path>\S*)",
        samples=(
            "pytree structure error: different pytree metadata at key path\n    tree_map tree['a']\nAt that key path, "
            "the prefix pytree tree_map tree has a subtree of type\n    <class 'dict'>\nwith metadata\n    ('b',)\nbut "
            "at the same key path the full pytree has a subtree of the same type but with metadata\n    ('c',)\nso",
            "pytree structure error: different types at key path\n    tree_map tree\nAt that key path, the prefix "
            "pytree tree_map tree has a subtree of type\n    <class 'list'>\nbut at the same key path the full pytree "
            "has a subtree of different type\n    <class 'tuple'>.",
            "pytree structure error: different lengths of tuple at key path\n    tree_map tree\nAt that key path, the",
        ),
        page="jax.tree.map",
    ),
    Recogniser(
        "tree-structures",
        _VALUE,
        "A tree was to be built from {count} leaves, and its structure has {wanted}.",
        "Take the leaves and the structure from one tree, `leaves, structure = jax.tree.flatten(x)`, and keep their "
        "number.",
        pattern=r"Too (?:few|many) leaves for PyTreeDef; expected (?P<wanted>\d+), got (?P<count>\d+)",
        samples=("Too few leaves for PyTreeDef; expected 2, got 1",),
        page="jax.tree.unflatten",
    ),
    Recogniser(
        "result-coroutine",
        _TYPE,
        "The function is an `async def`: calling it gives a coroutine, not arrays.",
        "Hand over a plain function; what is async stays outside of what is compiled.",
        pattern=r"coroutine",
        samples=(
            "Tracing f: it is a coroutine function (async def), and calling it gives a coroutine, not arrays.",
            "function fn at f.py:9 traced for jit returned a value of type <class 'coroutine'>, which is not a valid "
            "JAX",
        ),
    ),
    Recogniser(
        "result-generator",
        _TYPE,
        "The function is a generator, for its `yield`: calling it gives no arrays.",
        "Collect what it yields in a list and return that, or stack it with `jnp.stack`.",
        pattern=r"got a generator function|<class 'generator'>",
        samples=("Expected a function, got a generator function: <function generator at 0x7f>",),
    ),
    Recogniser(
        "result-not-an-array",
        _TYPE,
        _result,
        "Return arrays and pytrees of these (None is one); keep names and other objects outside, or return them from a "
        "function around the jitted one.",
        pattern=r"traced for \w+ returned a value of type <class '(?P<type>[^']+)'>(?: at output component "
        r"(?P<place>\[[^\n]*?\]))?[^\n]*which is not a valid JAX type",
        samples=(
            "function f at f.py:8 traced for jit returned a value of type <class 'str'> at output component ['name'], "
            "which is not a valid JAX type",
        ),
        page="jax.jit",
    ),
    Recogniser(
        "integer-overflow",
        ("OverflowError",),
        "The Python integer {value} given for {path} does not fit JAX's default type.",
        "Pass it as an array of a wider type, `jnp.uint32(n)`, or switch on 64 bits: "
        "`jax.config.update('jax_enable_x64', True)`.",
        pattern=r"whose argument path is (?P<path>[^\n]*?)\. Got <class 'int'> with value (?P<value>-?\d+)",
        samples=(
            "An overflow was encountered while parsing an argument to a jitted computation, whose argument path is i. "
            "Got <class 'int'> with value 1099511627776",
        ),
    ),
    Recogniser(
        "unsortable-keys",
        _VALUE,
        "The keys of a dict cannot be sorted, and JAX puts the leaves of a dict in the order of its keys.",
        "Use keys of one type, such as strings only, or a `collections.OrderedDict`, which keeps its own order.",
        pattern=r"Comparator raised exception while sorting pytree dictionary keys",
        samples=("Comparator raised exception while sorting pytree dictionary keys.",),
    ),
    Recogniser(
        "not-callable",
        _TYPE,
        "What was handed over is not a function: {given}.",
        "Hand over the function itself, show(f, x), not the result of calling it, show(f(x)).",
        pattern=r"Expected a callable value, got (?P<given>.*)",
        samples=("Expected a callable value, got [1. 1. 1.]",),
    ),
)
