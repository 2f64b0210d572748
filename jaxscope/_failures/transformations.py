"""What grad, vmap, jvp and friends refuse, tracers that outlive them, and buffers that were given away.

Output: rows of the table of failures.
"""

import re

from jaxscope._failures.records import Recogniser

_TYPE = ("TypeError",)
_VALUE = ("ValueError",)


def _sizes(match: re.Match[str]) -> str:
    # * one axis had size 3: axis 0 of argument args of type float32[3];
    sizes = re.findall(r"had size (\d+)", match["sizes"])
    return f"The axes to be mapped over have different sizes: {' and '.join(sizes[:6])}."


ROWS = (
    Recogniser(
        "compiled-transformed",
        _TYPE,
        "A compiled function was called inside of another transformation, with a {tracer}: compiling has ended, and it "
        "can only be run.",
        "Use the function before it was compiled, the result of `jax.jit`, inside of `jax.vmap`, `jax.grad` and "
        "`jax.jit`, and compile what comes of it.",
        pattern=r"Cannot apply JAX transformations to a function lowered and compiled for a particular "
        r"signature\. Detected argument of Tracer type <class '(?:[\w.]*\.)?(?P<tracer>\w+)'>",
        samples=(
            "Cannot apply JAX transformations to a function lowered and compiled for a particular signature. Detected "
            "argument of Tracer type <class 'jax._src.interpreters.batching.BatchTracer'>.",
        ),
        page="jax.stages.Compiled",
    ),
    Recogniser(
        "leaked-tracer",
        ("UnexpectedTracerError",),
        "A traced value of an earlier call was used after that call had ended; it was kept in a variable outside.",
        "Return it from the function instead of storing it, as a second result with `has_aux=True` where there is a "
        "gradient; `jax.checking_leaks()` shows where it gets out.",
    ),
    Recogniser(
        "leaked-tracer",
        ("Exception",),
        "A traced value was still referred to when its function had been traced, from outside: {words}.",
        "Return it from the function instead of storing it in a list, a global or an attribute.",
        pattern=r"^(?P<words>Leaked (?:trace|level|sublevel|main|\w+)[^\n]{0,80})",
        samples=("Leaked trace DynamicJaxprTrace. Leaked tracer(s):",),
        page="jax.checking_leaks",
    ),
    Recogniser(
        "gradient-not-scalar",
        _TYPE,
        "The function to be differentiated gave a pair or another pytree, and a gradient is of one number.",
        "Return the number alone, or as the first of a pair with `jax.grad(f, has_aux=True)`.",
        pattern=r"Gradient only defined for scalar-output functions\. Output was (?P<given>[^\n]*)",
        samples=("Gradient only defined for scalar-output functions. Output was (JitTracer(float32[]), 1.0).",),
        page="jax.grad",
    ),
    Recogniser(
        "gradient-not-scalar",
        _TYPE,
        "The function to be differentiated gave an array of shape {shape}, and a gradient is of one number.",
        "Reduce it, such as with `.sum()` or `.mean()`; for all derivatives use `jax.jacobian`, element by element "
        "`jax.vmap(jax.grad(f))`.",
        pattern=r"Gradient only defined for scalar-output functions\. Output had shape: (?P<shape>\([^)]*\))",
        samples=("Gradient only defined for scalar-output functions. Output had shape: (3,).",),
        page="jax.grad",
    ),
    Recogniser(
        "gradient-dtype",
        _TYPE,
        "A gradient was asked for an argument of type {dtype}, and only floating-point numbers have one.",
        "Convert it, `x.astype(jnp.float32)`, or name the right argument in argnums=; `allow_int=True` gives float0 "
        "instead of an error.",
        pattern=r"requires real-(?: or complex-)?valued inputs \(input dtype .*?\), but got (?P<dtype>\w+)",
        samples=(
            "grad requires real- or complex-valued inputs (input dtype that is a sub-dtype of np.inexact), but got "
            "int32.",
            "jacfwd requires real-valued inputs (input dtype that is a sub-dtype of np.floating), but got int32.",
        ),
        page="jax.grad",
    ),
    Recogniser(
        "gradient-dtype",
        _TYPE,
        "The function to be differentiated gave a number of type {dtype}, and a gradient is of a real one.",
        "Keep the result a real number in floating point: take integers and comparisons out of what is differentiated; "
        "of a complex one, its real part or `jnp.abs`.",
        pattern=r"requires real-valued outputs \(output dtype .*\), but got (?P<dtype>\w+)",
        samples=(
            "grad requires real-valued outputs (output dtype that is a sub-dtype of np.floating), but got int32.",
        ),
        page="jax.grad",
    ),
    Recogniser(
        "gradient-argnums",
        _TYPE,
        "A gradient was asked for argument number {number}, and the call has {count} positional arguments.",
        "Numbers in argnums= count the positional arguments from 0. Pass by position what is to be differentiated; "
        "by keyword it cannot be.",
        pattern=r"differentiating with respect to argnums=(?P<number>\S+) requires at least \d+ positional arguments "
        r".* but got only (?P<count>\d+)",
        samples=(
            "differentiating with respect to argnums=1 requires at least 2 positional arguments to be passed by the "
            "caller, but got only 1 positional arguments.",
        ),
        page="jax.grad",
    ),
    Recogniser(
        "gradient-aux",
        _TYPE,
        "With has_aux=True the function has to return a pair, and it returned something else.",
        "Return the number to be differentiated and what goes along with it, `return loss, metrics`; or leave has_aux= "
        "out.",
        pattern=r"expected function with aux output to return a two-element tuple",
        samples=("expected function with aux output to return a two-element tuple, but got type <class 'x'>",),
        page="jax.grad",
    ),
    Recogniser(
        "mapped-result",
        _VALUE,
        "A result is not to be mapped over, out_axes=None, and it differs from one element to the next.",
        "Give its axis in out_axes=, or take care that it does not depend on what is mapped over.",
        pattern=r"vmap out_axes, got axis spec None but output was batched",
        samples=("at vmap out_axes, got axis spec None but output was batched on axis 0",),
        page="jax.vmap",
    ),
    Recogniser(
        "callback-mapped",
        _VALUE,
        "A callback that must run in order was put under `jax.vmap`, where there is no order.",
        "Leave ordered=True out, or loop with `jax.lax.map` or `jax.lax.scan` instead of mapping.",
        pattern=r"Cannot `vmap` ordered IO callback",
        samples=("Cannot `vmap` ordered IO callback.",),
        page="jax.experimental.io_callback",
    ),
    Recogniser(
        "mapped-sizes",
        _VALUE,
        _sizes,
        "All mapped arguments need the same size along their axis: choose it with in_axes=, and None for what is the "
        "same each time.",
        pattern=r"got inconsistent sizes for array axes to be mapped:\n(?P<sizes>.*)",
        samples=(
            "vmap got inconsistent sizes for array axes to be mapped:\n  * one axis had size 3: axis 0 of argument "
            "args of type float32[3];\n  * one axis had size 4: axis 0 of argument out of type float32[4]",
        ),
        page="jax.vmap",
    ),
    Recogniser(
        "mapped-axis",
        _VALUE,
        "Axis {axis} is to be mapped over, of an argument of rank {rank}.",
        "Set None in in_axes= for an argument that is not mapped over, `jax.vmap(f, in_axes=(0, None))`.",
        pattern=r"was requested to map its argument along axis (?P<axis>-?\d+), .* but is only (?P<rank>\d+)",
        samples=(
            "vmap was requested to map its argument along axis 0, which implies that its rank should be at least 1, "
            "but is only 0 (its shape is ())",
        ),
        page="jax.vmap",
    ),
    Recogniser(
        "mapped-axis",
        _VALUE,
        "No argument is to be mapped over, so there is no size.",
        "Give an axis for at least one argument in in_axes=, or the size itself, axis_size=.",
        pattern=r"must have at least one non-None value in in_axes",
        samples=("vmap must have at least one non-None value in in_axes or axis_size must be specified",),
        page="jax.vmap",
    ),
    Recogniser(
        "mapped-axes-tree",
        _VALUE,
        "What in_axes= says does not fit the arguments: {words}.",
        "Give in_axes= a tuple with one entry for each positional argument; an entry can be a tree of the argument's "
        "own structure.",
        pattern=r"in_axes .*(?P<words>len\(in_axes\)=[^\n]*?|specification must be a tree prefix[^\n.]*)\.?(?:\n|$)",
        samples=(
            "vmap in_axes must be an int, None, or a tuple of entries corresponding to the positional arguments passed "
            "to the function, but got len(in_axes)=3, len(args)=2.",
        ),
        page="jax.vmap",
    ),
    Recogniser(
        "unbound-axis-name",
        ("NameError",),
        "A collective names the axis {name}, and nothing around it maps over an axis of that name.",
        "Call it inside of `jax.vmap(f, axis_name=...)` or `jax.shard_map` over a mesh with that axis.",
        pattern=r"[Uu]nbound axis name: (?P<name>[^\s.]+)",
        samples=("Found an unbound axis name: batch. To fix this, please call psum under `jax.shard_map`.",),
        page="jax.lax.psum",
    ),
    Recogniser(
        "tangent-types",
        ("TypeError", "ValueError"),
        "The tangent has the shape {tangent} and its primal {primal}.",
        "Each tangent has the shape and type of its primal argument.",
        pattern=r"jvp called with different primal and tangent shapes; ?Got primal shape "
        r"(?P<primal>\([^)]*\)) and tangent shape as (?P<tangent>\([^)]*\))",
        samples=(
            "jvp called with different primal and tangent shapes;Got primal shape (3,) and tangent shape as (4,)",
        ),
        page="jax.jvp",
    ),
    Recogniser(
        "tangent-types",
        ("TypeError", "ValueError"),
        "The cotangent is of type {given}, and the function's result of type {wanted}.",
        "Each cotangent has the shape and type of the result it belongs to.",
        pattern=r"for argument to (?:VJP|vjp) function: got (?P<given>\S+?), but expected (?P<wanted>\S+)",
        samples=(
            "unexpected JAX type (e.g. shape/dtype) for argument to VJP function: got float32[4], but expected "
            "float32[3] because the corresponding output of the differentiated function had JAX type float32[3]",
        ),
        page="jax.vjp",
    ),
    Recogniser(
        "tangent-types",
        _TYPE,
        "The tangents are of other types than their primals, or their tree is another.",
        "Each tangent has the shape and type of its primal argument; that of an integer is float0.",
        pattern=r"primal and tangent arguments to jax\.jvp do not match|Tree structure of (?:cotangent|tangent)",
        samples=("primal and tangent arguments to jax.jvp do not match; dtypes must be equal, or",),
        page="jax.jvp",
    ),
    Recogniser(
        "custom-rule-missing",
        ("AttributeError",),
        "The function {function} is a {kind} without a rule for its derivative.",
        "Give it one before it is called: `f.{setter}(...)`.",
        pattern=r"No (?:JVP|VJP) defined for (?P<kind>custom_\w+) function (?P<function>\S+) using (?P<setter>\w+)",
        samples=("No JVP defined for custom_jvp function <lambda> using defjvp.",),
        page="jax.custom_jvp",
    ),
    Recogniser(
        "custom-rule-result",
        _TYPE,
        "The backward rule of a custom_vjp function gave another structure than that of its arguments.",
        "The bwd rule returns a tuple with one cotangent for each positional argument, None for those without.",
        pattern=r"Custom VJP bwd rule .*must produce .*(?:container|structure)",
        samples=("Custom VJP bwd rule must produce an output with the same container (pytree) structure as the args",),
        page="jax.custom_vjp",
    ),
    Recogniser(
        "custom-rule-result",
        ("TypeError", "ValueError"),
        "The backward rule gave a cotangent of type {given} for an argument of type {wanted}.",
        "Each cotangent has the shape and type of its argument: sum over what was broadcast, and convert with "
        "`.astype(x.dtype)`.",
        pattern=r"Custom VJP bwd rule .*produced an output of (?:type|shape/dtype) (?P<given>\S+) corresponding to "
        r"an input of (?:type|shape/dtype) (?P<wanted>[^\s,]+)",
        samples=(
            "Custom VJP bwd rule attached to f must produce an output with the same type as the args tuple of the "
            "primal function, but at output[0] the bwd rule produced an output of type float32[3] corresponding to an "
            "input of type float32[4], so the shapes do not match",
        ),
        page="jax.custom_vjp",
    ),
    Recogniser(
        "custom-rule-result",
        _TYPE,
        "The forward rule of a custom_vjp function did not return a pair.",
        "The fwd rule returns the function's result and what the bwd rule needs: `return f(x), (x,)`.",
        pattern=r"Custom VJP fwd rule .* must produce a pair",
        samples=("Custom VJP fwd rule fwd for function f must produce a pair (list or tuple of length two)",),
        page="jax.custom_vjp",
    ),
    Recogniser(
        "custom-rule-result",
        _TYPE,
        "The rule of a custom_jvp function gave a tangent of type {given}, and {wanted} belongs to its result.",
        "The tangent of a result has that result's shape and type: convert it with `.astype(y.dtype)`.",
        pattern=r"Custom JVP rule must produce primal and tangent outputs with corresponding shapes and dtypes\. "
        r"Expected (?P<wanted>\S+) .*but got (?P<given>\S+?)\.(?:\s|$)",
        samples=(
            "Custom JVP rule must produce primal and tangent outputs with corresponding shapes and dtypes. Expected "
            "float32[4] (tangent type of float32[4]) but got float16[4].",
        ),
        page="jax.custom_jvp",
    ),
    Recogniser(
        "forward-of-custom-vjp",
        _TYPE,
        "Forward mode was applied to a function that only has a rule for reverse mode.",
        "Define it with `jax.custom_jvp` instead, which serves both modes; `jax.jvp`, `jax.jacfwd` and `jax.hessian` "
        "are forward mode.",
        pattern=r"can't apply forward-mode autodiff \(jvp\) to a custom_vjp function",
        samples=("can't apply forward-mode autodiff (jvp) to a custom_vjp function.",),
        page="jax.custom_jvp",
    ),
    Recogniser(
        "callback-derivative",
        _VALUE,
        "A gradient was taken through a callback into Python, and JAX cannot see into that.",
        "Wrap the callback in `jax.custom_jvp` or `jax.custom_vjp` and give its derivative, or stop the gradient: "
        "`jax.lax.stop_gradient`.",
        pattern=r"(?:Pure|IO) callbacks do not support JVP",
        samples=(
            "Pure callbacks do not support JVP. Please use `jax.custom_jvp` to use callbacks while taking gradients.",
        ),
        page="jax.pure_callback",
    ),
    Recogniser(
        "buffer-deleted",
        ("RuntimeError", "ValueError"),
        "The values of an array were needed, and its buffer is gone: it was donated to an earlier call, or deleted.",
        "Use what that call returned in its place, `state = step(state)`, or leave donate_argnums= out where the "
        "argument is needed again.",
        pattern=r"Array has been deleted|buffer has been (?:deleted|donated)",
        samples=(
            "Array has been deleted with shape=float32[3].",
            "INVALID_ARGUMENT: Invalid buffer passed: buffer has been deleted or donated.",
        ),
        page="jax.jit",
    ),
    Recogniser(
        "manual-axes",
        ("TypeError", "ValueError"),
        "Inside of `jax.shard_map`, values that vary over different axes of the mesh were brought together.",
        "Make them vary alike with `jax.lax.pcast(x, axes, to='varying')`, `jax.lax.pvary` before JAX 0.9.",
        pattern=r"varying manual axes",
        samples=("Primitive add requires varying manual axes to match, but got ['i', ''].",),
        page="jax.shard_map",
    ),
)
