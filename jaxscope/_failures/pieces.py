"""Functions that see one piece of an array at a time: those of `jax.shard_map` and the kernels of Pallas.

Output: rows of the table of failures.
"""

import re

from jaxscope._failures.records import Recogniser, shorten

_VALUE = ("ValueError",)


def _too_long(match: re.Match[str]) -> str:
    return (
        f"`jax.shard_map` was given {shorten(match['spec'])} in {match['side']}_specs= for an array of rank "
        f"{match['rank']}."
    )


ROWS = (
    Recogniser(
        "shard-map-specs",
        _VALUE,
        _too_long,
        "A spec has at most one entry for each dimension, and `jax.P()` for a single number. Where a result is to be "
        "joined along an axis of the mesh, give it that dimension, `x[None]`, or reduce with `jax.lax.psum`.",
        pattern=r"(?P<side>in|out)_specs is (?P<spec>[^\n]*?) which has length \d+, but [^\n]*? has rank (?P<rank>\d+)",
        samples=(
            "shard_map applied to the function 'f' was given an out_specs entry which is too long\n\nout_specs is "
            "P('data',) which has length 1, but f(*args) has shape float32[]{V:data}, which has rank 0 (and 0 < 1)",
        ),
        page="jax.shard_map",
    ),
    Recogniser(
        "shard-map-specs",
        _VALUE,
        "By out_specs={spec} a result of `jax.shard_map` is the same along axis {axis} of the mesh, and nothing makes "
        "it so.",
        "Name the axis in out_specs= to join the pieces along it, or make them the same, such as with `jax.lax.psum`. "
        "check_vma=False believes out_specs= unseen.",
        pattern=r"out_specs is (?P<spec>[^\n]*?) which implies that the corresponding output value is replicated "
        r"across mesh ax[ei]s (?P<axis>[^,\n]*?),",
        samples=(
            "was given out_specs which require replication which can't be statically inferred given the mesh:\n\n"
            "out_specs is P() which implies that the corresponding output value is replicated across mesh axis 'data', "
            "but could not infer replication over any axes",
        ),
        page="jax.shard_map",
    ),
    Recogniser(
        "shard-map-specs",
        _VALUE,
        "The {side}_specs= of `jax.shard_map` name {axis}, which is no axis of the mesh that it maps over.",
        "Name axes of the mesh, as they were given to `jax.make_mesh`; axis_names= says which of them are mapped over.",
        pattern=r"shard_map (?P<side>in|out)_specs argument must refer to an axis marked as manual .*?_specs[^\n]* "
        r"refers to (?P<axis>[^\n]*)",
        samples=(
            "shard_map in_specs argument must refer to an axis marked as manual (frozenset({'data'})), but:\n\n  "
            "in_specs refers to 'model'\n\nCheck the in_specs values passed to shard_map.",
        ),
        page="jax.shard_map",
    ),
    Recogniser(
        "shard-map-specs",
        _VALUE,
        "The {side}_specs= of `jax.shard_map` do not have the structure of what they are for.",
        "Give in_specs= a tuple with one entry for each positional argument, and out_specs= one for each result; an "
        "entry can stand for a whole tree.",
        pattern=r"pytree structure error: .*?\n\s+shard_map (?P<side>in|out)_specs",
        samples=("pytree structure error: different lengths of tuple at key path\n    shard_map in_specs\nAt that",),
        page="jax.shard_map",
    ),
    Recogniser(
        "shard-map-mesh",
        _VALUE,
        "The mesh given to `jax.shard_map` differs from the one that the call is traced under.",
        "Enter the mesh around the call, `with jax.set_mesh(mesh):`, or pass it as mesh= here; or make its axes those "
        "of the compiler, `jax.make_mesh(..., axis_types=(jax.sharding.AxisType.Auto,))`, which is no longer the "
        "default.",
        pattern=r"The context mesh .* should match the mesh passed to shard_map",
        samples=("The context mesh AbstractMesh('data': 1) should match the mesh passed to shard_map Mesh('data': 1)",),
        page="jax.set_mesh",
    ),
    Recogniser(
        "shard-map-specs",
        _VALUE,
        "An argument of `jax.shard_map` is laid out as {given}, and in_specs= says {wanted}.",
        "With explicit axes an argument has to come laid out as in_specs= says: `jax.reshard(x, spec)` before the "
        "call, `jax.sharding.reshard` before JAX 0.9, or leave in_specs= out.",
        pattern=r"in_specs passed to shard_map: (?P<wanted>.*?) does not match the specs of the input: (?P<given>.*?) "
        r"for arg",
        samples=(
            "in_specs passed to shard_map: P('data', None) does not match the specs of the input: P(None, None) for "
            "arg: float32[7,4].",
        ),
        page="jax.shard_map",
    ),
    Recogniser(
        "kernel-captures",
        _VALUE,
        "The kernel uses arrays from outside of it: {types}.",
        "Pass them to the kernel as further inputs, with a BlockSpec each, or make them inside of it; Python numbers "
        "can stay.",
        pattern=r"The kernel function .* captures constants (?P<types>\[[^\n]*?\])\. You should pass them as inputs",
        samples=(
            "The kernel function in the pallas_call kernel at f.py:9 captures constants [f32[16]]. You should pass "
            "them as inputs.",
        ),
        page="jax.experimental.pallas.pallas_call",
    ),
    Recogniser(
        "kernel-shapes",
        _VALUE,
        "A value of shape {value} was written to a piece of a reference of shape {wanted}.",
        "Write what has the shape of the piece: index the reference to fit, `o_ref[:8] = x`, or choose the blocks of "
        "input and output alike.",
        pattern=r"Invalid shape for `swap`\. Ref shape: .*? Expected shape: (?P<wanted>\([^)]*\))\. Value shape: "
        r"(?P<value>\([^)]*\))",
        samples=(
            "Invalid shape for `swap`. Ref shape: (16,). Expected shape: (16,). Value shape: (8,). Transforms: ().",
        ),
        page="jax.experimental.pallas.pallas_call",
    ),
    Recogniser(
        "kernel-shapes",
        _VALUE,
        "The block of {array} has another number of dimensions than the array, of shape {shape}.",
        "Give a BlockSpec one size for each dimension of the array, and an index map that returns as many numbers; "
        "None stands for a dimension of which the kernel sees one element.",
        pattern=r"Block shape for (?P<array>[^\s(]+) .*must have the same number of dimensions as the array shape "
        r"(?P<shape>\([^)]*\))",
        samples=(
            "Block shape for args[0] (= (Blocked(block_size=4), Blocked(block_size=4))) must have the same number of "
            "dimensions as the array shape (16,).",
        ),
        page="jax.experimental.pallas.BlockSpec",
    ),
    Recogniser(
        "checkify-outside",
        _VALUE,
        "A `checkify.check` is to be compiled as it is, and somebody has to take up the error that it may give.",
        "Wrap the function first, `err, y = jax.jit(checkify.checkify(f))(x)`, and call `err.throw()` afterwards.",
        pattern=r"checkify\.check which was not functionalized",
        samples=("Cannot abstractly evaluate a checkify.check which was not functionalized. This probably means",),
        page="jax.experimental.checkify.checkify",
    ),
)
