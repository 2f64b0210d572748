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
        pattern=r"module '(?P<module>jax[\w.]*)' has no attribute '(?P<name>\w+)'",
        samples=("module 'jax.numpy' has no attribute 'matrix_multiply'",),
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
