"""Python asked for what a traced value is: to branch, to count, to convert, to size an array.

Output: rows of the table of failures; those further up are tried first.
"""

from jaxscope._failures.records import Recogniser

_BOOL = ("TracerBoolConversionError",)
_CONCRETE = ("ConcretizationTypeError",)
_UNKNOWN = "while tracing, values are not known, only their types"

ROWS = (
    Recogniser(
        "tracer-to-bool",
        _BOOL,
        "Python's `while` asked whether {expression} is true, and " + _UNKNOWN + ".",
        "Use `jax.lax.while_loop`, or `jax.lax.fori_loop` where the number of rounds is known. Where it depends only "
        "on static values, make those static arguments.",
        forms=("while",),
    ),
    Recogniser(
        "tracer-to-bool",
        _BOOL,
        "`assert` asked whether {expression} is true, and " + _UNKNOWN + ".",
        "Assert shapes and types here, which are known. For values use `jax.experimental.checkify.check`, or leave the "
        "assertion to the caller.",
        forms=("assert",),
    ),
    Recogniser(
        "tracer-to-bool",
        _BOOL,
        "Python's `not` asked whether {expression} is true, and " + _UNKNOWN + ".",
        "Use `jnp.logical_not(x)`, or `~x` for booleans; what then depends on the result goes through `jnp.where` or "
        "`jax.lax.cond`.",
        forms=("not",),
    ),
    Recogniser(
        "tracer-to-bool",
        _BOOL,
        "A chained comparison is an `and` of two, for which Python asked whether the first one is true; "
        + _UNKNOWN
        + ".",
        "Write `jnp.logical_and(a < x, x < b)`, or `(a < x) & (x < b)` with the parentheses.",
        forms=("chained comparison",),
    ),
    Recogniser(
        "tracer-to-bool",
        _BOOL,
        "Python's `and` and `or` asked whether {expression} is true, and " + _UNKNOWN + ".",
        "Use `jnp.logical_and` and `jnp.logical_or`, or `&` and `|` with parentheses; what then depends on the result "
        "goes through `jnp.where` or `jax.lax.cond`.",
        forms=("and",),
    ),
    Recogniser(
        "tracer-to-bool",
        _BOOL,
        "Python's `in` compares and asks each time whether that is true; " + _UNKNOWN + ".",
        "Use `jnp.isin(x, jnp.array(known))`, or `(jnp.array(known) == x).any()`.",
        forms=("in",),
    ),
    Recogniser(
        "tracer-to-bool",
        _BOOL,
        "Python's own {expression} compares and asks which one is larger; " + _UNKNOWN + ".",
        "Use `jnp.maximum`, `jnp.minimum` or `jnp.clip`; `jnp.max` and `jnp.min` over an axis.",
        forms=("call max", "call min"),
    ),
    Recogniser(
        "tracer-to-bool",
        _BOOL,
        "Python's own {expression} compares and asks which one is larger; " + _UNKNOWN + ".",
        "Use `jnp.sort` or `jnp.argsort`.",
        forms=("call sorted", "call sort"),
    ),
    Recogniser(
        "tracer-to-bool",
        _BOOL,
        "Python's own {expression} asks of one element after the other whether it is true; " + _UNKNOWN + ".",
        "Use `jnp.any(x)` or `jnp.all(x)`; what then depends on the result goes through `jnp.where` or `jax.lax.cond`.",
        forms=("innermost call any", "innermost call all"),
    ),
    Recogniser(
        "tracer-to-bool",
        _BOOL,
        "Python's `match` compared a traced value with {expression} and asked whether they are equal; "
        + _UNKNOWN
        + ".",
        "Use `jax.lax.switch(i, functions)` to choose by a number, `jax.lax.cond` to choose one of two, or pass what "
        "decides as a static argument.",
        forms=("case",),
    ),
    Recogniser(
        "tracer-to-bool",
        _BOOL,
        "In {expression}, Python asked whether a traced value is true, to choose what to run, and " + _UNKNOWN + ".",
        "Use `jnp.where` to choose between values, `jax.lax.cond` to choose what runs, or pass what decides as a "
        "static argument.",
        forms=("innermost comprehension", "statement"),
    ),
    Recogniser(
        "tracer-to-bool",
        _BOOL,
        "Inside of {expression} it was asked whether a traced value is true, and " + _UNKNOWN + ".",
        "Look at which of its arguments is a setting, such as a size, an axis or a flag, and pass that as a static "
        "argument, `jax.jit(f, static_argnames=...)`, or as a Python value.",
        forms=("called",),
    ),
    Recogniser(
        "tracer-to-bool",
        _BOOL,
        "Python asked whether {expression} is true, to choose what to run, and " + _UNKNOWN + ".",
        "Use `jnp.where` to choose between values, `jax.lax.cond` to choose what runs, or pass what decides as a "
        "static argument.",
    ),
    Recogniser(
        "array-to-bool",
        ("ValueError",),
        "Python asked whether a whole array is true: {expression} has more than one element.",
        "Say which is meant, `jnp.any(x)` or `jnp.all(x)`; then use `jnp.where` or `jax.lax.cond`, as values are not "
        "known while tracing.",
        pattern=r"The truth value of an array with more than one element is ambiguous",
        samples=("The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()",),
    ),
    Recogniser(
        "tracer-to-integer",
        ("TracerIntegerConversionError",),
        "`range` needs a Python integer, and " + _UNKNOWN + ".",
        "Use `jax.lax.fori_loop` or `jax.lax.scan`, or make the number of rounds a static argument: the loop is then "
        "unrolled.",
        forms=("call range",),
    ),
    Recogniser(
        "tracer-to-integer",
        ("TracerIntegerConversionError",),
        "{expression} needs a Python integer, and " + _UNKNOWN + ".",
        "Index an array instead of a list, `jnp.array(values)[i]` or `jnp.take`, choose a function with "
        "`jax.lax.switch`, or pass the number as a static argument.",
    ),
    Recogniser(
        "tracer-to-numpy",
        ("TracerArrayConversionError",),
        "NumPy was given a traced array to store, in {expression}, and " + _UNKNOWN + ".",
        "Keep the array in JAX from the start, `out = jnp.zeros(n)`, and write `out = out.at[i].set(x)`.",
        forms=("assignment",),
        pattern=r"__array__\(\) was called",
        samples=("The numpy.ndarray conversion method __array__() was called on traced array with shape float32[3]",),
        page="",
    ),
    Recogniser(
        "tracer-to-numpy",
        ("TracerArrayConversionError",),
        "NumPy was asked to convert a traced array, in {expression}, and " + _UNKNOWN + ".",
        "Use `jnp.asarray`, or nothing at all: the array is one of JAX's already.",
        forms=("call asarray", "call array", "call asanyarray", "call ascontiguousarray"),
    ),
    Recogniser(
        "tracer-to-numpy",
        ("TracerArrayConversionError",),
        "NumPy, or a library that uses it, was called on a traced array: {expression}.",
        "Use the function of the same name in jax.numpy or jax.scipy. What only exists for NumPy is called with "
        "`jax.pure_callback`, outside of the compiled program.",
    ),
    Recogniser(
        "boolean-mask",
        ("NonConcreteBooleanIndexError",),
        "{expression} would have as many elements as the mask has True, and a compiled program's shapes are fixed.",
        "Keep the shape and blank out the rest: `jnp.where(mask, x, 0)`, or give a size: `x[jnp.nonzero(mask, "
        "size=4)]`.",
    ),
    Recogniser(
        "data-dependent-size",
        _CONCRETE,
        "How many elements {expression} has depends on values, and a compiled program's shapes are fixed.",
        "Give a size, `jnp.nonzero(x, size=4, fill_value=0)`, or keep the shape with `jnp.where(mask, x, y)`.",
        pattern=r"The size argument of (jnp\.\w+) must be statically specified",
        samples=(
            "The size argument of jnp.nonzero must be statically specified to use jnp.nonzero within JAX "
            "transformations.",
        ),
        page="jax.numpy.nonzero",
    ),
    Recogniser(
        "data-dependent-size",
        _CONCRETE,
        "How many elements {expression} has depends on values, and a compiled program's shapes are fixed.",
        "Give the largest size there can be: `{function}(x, size=8, fill_value=0)`.",
        pattern=r"first argument of (?P<function>jnp\.\w+)\(\)\. To make .* specify a concrete value for "
        r"the size argument",
        samples=(
            "The error arose for the first argument of jnp.unique(). To make jnp.unique() compatible with JIT and "
            "other transforms, you can specify a concrete value for the size argument, which will determine the output "
            "size.",
        ),
    ),
    Recogniser(
        "data-dependent-size",
        _CONCRETE,
        "How many elements {expression} has is the sum of traced counts, and a compiled program's shapes are fixed.",
        "Give the sum: `jnp.repeat(x, counts, total_repeat_length=8)`.",
        pattern=r"total number of repeats must be static",
        samples=("When jit-compiling jnp.repeat, the total number of repeats must be static.",),
    ),
    Recogniser(
        "data-dependent-size",
        _CONCRETE,
        "How many elements {expression} has depends on the largest value, and a compiled program's shapes are fixed.",
        "Give the number of bins: `jnp.bincount(x, length=10)`.",
        pattern=r"argument '\w+' of jnp\.bincount",
        samples=(
            "The error occurred because of argument 'x' of jnp.bincount. To avoid this error, pass a static `length` "
            "argument.",
        ),
    ),
    Recogniser(
        "traced-shape",
        _CONCRETE,
        "A traced value was given for {argument}, which decides a shape, and a compiled program's shapes are fixed.",
        "Make it a static argument, `jax.jit(f, static_argnames=...)`, or take it from a shape, `x.shape[0]`, which is "
        "known while tracing.",
        pattern=r"(?P<argument>jnp\.arange argument '\w+'|'num' argument of jnp\.linspace|"
        r"jax\.nn\.one_hot argument `num_classes`)",
        samples=(
            "It arose in the jnp.arange argument 'stop'",
            "'num' argument of jnp.linspace",
            "The error arose in jax.nn.one_hot argument `num_classes`.",
        ),
    ),
    Recogniser(
        "traced-shape",
        ("TypeError",),
        "A shape was given as {shape}, with a traced value in it, and a compiled program's shapes are fixed.",
        "Make the size a static argument, `jax.jit(f, static_argnames=...)`, or take it from another array's shape, "
        "`x.shape[0]`, which is known while tracing.",
        pattern=r"Shapes must be 1D sequences of concrete values of integer type, got (?P<shape>[^\n]*?Trace[^\n]*?)"
        r"\.(?:\s|$)",
        samples=(
            "Shapes must be 1D sequences of concrete values of integer type, got (JitTracer(int32[]), -1).",
            "Shapes must be 1D sequences of concrete values of integer type, got (JitTracer<int32[]>,).\nIf using "
            "`jit`",
            "Shapes must be 1D sequences of concrete values of integer type, got (JitTracer(int32[]),). argument of "
            "'N' jnp.eye()",
        ),
        page="jax.jit",
    ),
    Recogniser(
        "shape-type",
        ("TypeError",),
        "A shape was given as {shape}, and the sizes in a shape are integers.",
        "Divide with `//`, which keeps integers, instead of `/`. A shape is one integer or a tuple of them, `(3, 4)`.",
        pattern=r"Shapes must be 1D sequences of concrete values of integer type, got (?P<shape>[^\n]*?)\.(?:\s|$)",
        samples=("Shapes must be 1D sequences of concrete values of integer type, got (2.0,).",),
    ),
    Recogniser(
        "traced-slice",
        ("IndexError",),
        "The ends of the slice {expression} are traced values, so its length would depend on them.",
        "Use `jax.lax.dynamic_slice(x, (start,), (length,))`, where only the start is traced, or blank out what is "
        "beyond: `jnp.where(jnp.arange(x.shape[0]) < n, x, 0)`.",
        pattern=r"Slice entries must be static integers|slice indices must have static start/stop/step",
        samples=(
            "Slice entries must be static integers. Got slice(None, JitTracer(int32[]), None) at position 0",
            "Array slice indices must have static start/stop/step to be used with NumPy indexing syntax.",
        ),
        page="jax.lax.dynamic_slice",
    ),
    Recogniser(
        "tracer-to-number",
        _CONCRETE,
        "{expression} makes a Python number of a traced value, and " + _UNKNOWN + ".",
        "Use the function of jax.numpy, `jnp.sqrt` for `math.sqrt`, or pass the value as a static argument.",
        pattern=r"The problem arose with the `(?P<function>\w+)` function",
        samples=(
            "The problem arose with the `float` function. If trying to convert the data type of a value, try using "
            "`x.astype(float)` or `jnp.array(x, float)` instead.",
        ),
        forms=tuple(f"call {name}" for name in ("sqrt", "exp", "log", "sin", "cos", "tanh", "floor", "ceil", "pow")),
    ),
    Recogniser(
        "tracer-format",
        _CONCRETE,
        "A traced value was formatted as a number, in {expression}, and " + _UNKNOWN + ".",
        "Print while the program runs: `jax.debug.print('loss {{x:.3f}}', x=x)`.",
        forms=("innermost %",),
    ),
    Recogniser(
        "tracer-to-number",
        _CONCRETE,
        "`{function}()` was called on a traced value to make it a Python number, and " + _UNKNOWN + ".",
        "For another type of array, use `x.astype(jnp.{function}32)`. For a Python number, pass the value as a static "
        "argument.",
        pattern=r"The problem arose with the `(?P<function>float|int|complex|bool)` function",
        samples=(
            "The problem arose with the `int` function. If trying to convert the data type of a value, try using "
            "`x.astype(int)` or `jnp.array(x, int)` instead.",
        ),
    ),
    Recogniser(
        "tracer-to-number",
        _CONCRETE,
        "`{method}()` was called on a traced array to make Python numbers of it, and " + _UNKNOWN + ".",
        "Keep the array: jax.numpy computes with it as it is. Print it with `jax.debug.print`, convert it after the "
        "call, or pass it as a static argument.",
        pattern=r"(?:occurred in|^|\n|The )(?: ?the )?(?P<method>item|tolist)\(\) method",
        samples=(
            "This occurred in the item() method of jax.Array",
            "The tolist() method was called on traced array with shape float32[3].",
        ),
    ),
    Recogniser(
        "tracer-method",
        _CONCRETE,
        "`{method}()` was called on a traced array, which has no memory of its own.",
        "Call it on what the compiled function returns, outside of it.",
        pattern=r"The (?P<method>\w+)\(\) method was called on traced array",
        samples=("The delete() method was called on traced array with shape float32[3].",),
    ),
    Recogniser(
        "concrete-value-needed",
        _CONCRETE,
        "{expression} needs the value of something traced, and " + _UNKNOWN + ".",
        "Pass it as a static argument, `jax.jit(f, static_argnames=...)`, or compute with jax.numpy and jax.lax, which "
        "need no value.",
    ),
    Recogniser(
        "concrete-value-needed",
        ("TypeError",),
        "{expression} was given a traced value for {name}, and " + _UNKNOWN + ".",
        "Pass it as a static argument, `jax.jit(f, static_argnames=...)`, or as a Python value.",
        pattern=r"the value of parameter (?P<name>\w+) was not hashable: [^\n]*Trace",
        samples=(
            "As of JAX v0.7, parameters to jaxpr equations must have __hash__ and __eq__ methods. In a call to "
            "primitive tile, the value of parameter reps was not hashable: (JitTracer(int32[]),)",
        ),
    ),
    Recogniser(
        "tracer-unhashable",
        ("TypeError",),
        "A traced array was used as a key of a dict or an element of a set, and only values can be looked up.",
        "Choose by index: `jnp.array(values)[i]` for numbers, `jax.lax.switch(i, functions)` for functions, or pass "
        "the key as a static argument.",
        pattern=r"^unhashable type: '\w*(?:Tracer|ArrayImpl)'",
        samples=("unhashable type: 'DynamicJaxprTracer'", "unhashable type: 'ArrayImpl'"),
        page="jax.lax.switch",
    ),
    Recogniser(
        "tracer-format",
        ("TypeError",),
        "A traced value was formatted as a number, and " + _UNKNOWN + ".",
        "Print while the program runs: `jax.debug.print('loss {{x:.3f}}', x=x)`.",
        pattern=r"unsupported format string passed to \w*Tracer\.__format__",
        samples=("unsupported format string passed to DynamicJaxprTracer.__format__",),
        page="jax.debug.print",
    ),
    Recogniser(
        "array-assignment",
        ("TypeError",),
        "{expression} writes into an array, and arrays of JAX cannot be changed in place.",
        "Write `x = x.at[i].set(y)`, or `.at[i].add(y)` for `+=`; under jit no copy is made where none is needed.",
        pattern=r"JAX arrays are immutable and do not support in-place item assignment",
        samples=(
            "JAX arrays are immutable and do not support in-place item assignment. Instead of x[idx] = y, use x = "
            "x.at[idx].set(y) or another .at[] method",
        ),
        page="jax.numpy.ndarray.at",
    ),
    Recogniser(
        "array-iteration",
        ("TypeError",),
        "A scalar was iterated over, or unpacked: it has no dimension to go along.",
        "Give it a dimension, `jnp.atleast_1d(x)`, or look at where the dimension was lost, such as a sum too many.",
        pattern=r"iteration over a 0-d array",
        samples=("iteration over a 0-d array",),
    ),
    Recogniser(
        "array-attribute",
        ("AttributeError",),
        "`.{name}` was asked of a traced array, and arrays of JAX have no such attribute.",
        "It is another library's. In the function nothing is needed in its place; outside of it, jnp's arrays become "
        "NumPy's with `np.asarray(x)`.",
        pattern=r"^'?\w*(?:Tracer|ArrayImpl)'?(?: object)? has no attribute '?(?P<name>numpy|detach|cpu|cuda|values)\b",
        samples=("DynamicJaxprTracer has no attribute numpy", "'ArrayImpl' object has no attribute 'numpy'"),
    ),
    Recogniser(
        "array-attribute",
        ("AttributeError",),
        "`.{name}` was asked of a traced array, and arrays of JAX have no such attribute.",
        "Look for it among the functions of jnp, as in `jnp.{name}(x)`: other libraries' arrays have other methods.",
        pattern=r"^'?\w*(?:Tracer|ArrayImpl)'?(?: object)? has no attribute '?(?P<name>\w+)",
        samples=("DynamicJaxprTracer has no attribute view", "'ArrayImpl' object has no attribute 'size_of'"),
    ),
)
