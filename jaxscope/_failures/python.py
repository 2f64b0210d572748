"""Python's own exceptions in the user's code, where something can be said beyond their words.

Output: rows of the table of failures, tried after all others.
"""

from jaxscope._failures.records import Recogniser

ROWS = (
    Recogniser(
        "interrupted",
        ("KeyboardInterrupt",),
        "It was interrupted.",
        "Run the cell again to go on. A compilation for attached hardware that had begun ends in the background; any "
        "other has ended.",
    ),
    Recogniser(
        "recursion",
        ("RecursionError",),
        "A function calls itself without end: while tracing, a condition on traced values does not stop it.",
        "Stop on something static, such as a depth or a shape, or make a loop of it with `jax.lax.while_loop`.",
        page="jax.lax.while_loop",
    ),
    Recogniser(
        "jnp-name",
        ("AttributeError",),
        "There is no {name} in {module}.",
        "Look it up in the list of jax.numpy: not all of NumPy is there, and some of SciPy is in jax.scipy.",
        pattern=r"module '(?P<module>jax\.numpy[\w.]*)' has no attribute '(?P<name>\w+)'",
        samples=("module 'jax.numpy' has no attribute 'matrix_multiply'",),
    ),
    Recogniser(
        "jax-name",
        ("AttributeError",),
        "There is no {name} in {module}.",
        "Some modules have to be imported by their own name: `import {module}.{name}`. Of functions, names move: look "
        "it up in JAX's documentation and change log.",
        pattern=r"module '(?P<module>jax[\w.]*)' has no attribute '(?P<name>\w+)'",
        samples=("module 'jax.scipy' has no attribute 'optimize'", "module 'jax' has no attribute 'tree_map'"),
    ),
    Recogniser(
        "none-attribute",
        ("AttributeError",),
        "`.{name}` was asked of None, in {expression}.",
        "Look at where that None comes from: a function without `return`, or an argument that was left out.",
        pattern=r"^'NoneType' object has no attribute '(?P<name>\w+)'",
        samples=("'NoneType' object has no attribute 'shape'",),
    ),
    Recogniser(
        "array-called",
        ("TypeError",),
        "An array was called like a function.",
        "Index it with brackets, `x[3]`; or the name of a function was given to an array before.",
        pattern=r"^'\w*(?:Tracer|ArrayImpl)' object is not callable",
        samples=("'DynamicJaxprTracer' object is not callable",),
    ),
    Recogniser(
        "unpacked-length",
        ("ValueError",),
        "There are {words} in {expression}.",
        "Compare the names on the left with what is on the right: of an array, it is the size of the first axis that "
        "counts.",
        pattern=r"^(?P<words>(?:too many|not enough) values) to unpack",
        samples=("too many values to unpack (expected 3)", "not enough values to unpack (expected 3, got 2)"),
    ),
    Recogniser(
        "array-iteration",
        ("TypeError",),
        "The length of a scalar was asked for, and it has no dimension.",
        "Look at where the dimension was lost, such as a sum too many; `x.size` is known of any array.",
        pattern=r"^len\(\) of unsized object",
        samples=("len() of unsized object",),
    ),
    Recogniser(
        "format-name",
        ("KeyError",),
        "The text to be printed has a place for {key}, and no value of that name was given.",
        "Give it by that name, `jax.debug.print('loss {{loss}}', loss=loss)`; braces that stand for themselves are "
        "doubled.",
        pattern=r"^(?P<key>'\w*')$",
        samples=("'loss'",),
        forms=("innermost call print", "innermost call format"),
        page="jax.debug.print",
    ),
    Recogniser(
        "module-missing",
        ("ModuleNotFoundError",),
        "The function imports a module that is not installed here: {name}.",
        "Install it where this runs, or import it at the top to see that earlier.",
        pattern=r"No module named (?P<name>'[^']*')",
        samples=("No module named 'no_such_module_xyz'",),
    ),
    Recogniser(
        "name-missing",
        ("NameError",),
        "A name is used that means nothing here: {words}.",
        "Define it before the call; a notebook forgets what a restart of its kernel forgot.",
        pattern=r"(?P<words>name '\w+' is not defined|cannot access \w+ variable '\w+'[^\n]*)",
        samples=("name 'undefined' is not defined",),
    ),
    Recogniser(
        "key-missing",
        ("KeyError",),
        "A dict has no key {key}.",
        "Compare it with the keys of what was passed; the types of the arguments show them.",
        pattern=r"^(?P<key>.{1,120})$",
        samples=("'b'",),
    ),
)
