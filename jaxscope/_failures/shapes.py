"""Shapes that do not fit: elementwise, products, layout, slices, convolutions, linear algebra.

JAX raises Python's own classes here, so only the words tell. Output: rows of the table of failures.
"""

from jaxscope._failures.records import Recogniser

_TYPE = ("TypeError",)
_VALUE = ("ValueError",)
_EITHER = ("TypeError", "ValueError")
# (2, 3)    float32[2,3]
_SHAPE = r"(?:\([\d, ]*\)|\w+\[[^\]]*\])"

ROWS = (
    Recogniser(
        "contraction-shapes",
        _TYPE,
        "The dimensions that a product sums over have sizes {left} and {right}.",
        "Both have to be equal: for x @ w the last of x and the last but one of w. Transpose one, `w.T`, or name the "
        "dimensions with `jnp.einsum`.",
        pattern=r"dot_general requires contracting dimensions to have the same shape, got "
        r"\((?P<left>[\d, ]*\d),?\) and \((?P<right>[\d, ]*\d),?\)",
        samples=("dot_general requires contracting dimensions to have the same shape, got (3,) and (4,).",),
        page="jax.lax.dot_general",
    ),
    Recogniser(
        "contraction-shapes",
        _TYPE,
        "The batch dimensions of a product have sizes {left} and {right}.",
        "They have to be equal. Name the dimensions with `jnp.einsum`, or map over them with `jax.vmap`.",
        pattern=r"dot_general requires lhs batch dimensions and rhs batch dimensions to have the same shape, got "
        r"(?P<left>\([^)]*\)) and (?P<right>\([^)]*\))",
        samples=(
            "dot_general requires lhs batch dimensions and rhs batch dimensions to have the same shape, got (2,) and "
            "(4,).",
        ),
        page="jax.lax.dot_general",
    ),
    Recogniser(
        "contraction-shapes",
        _VALUE,
        "Operand {operand} of a matrix product, counted from 0, is a number.",
        "Multiply by a number with `*`; a matrix product takes arrays with a dimension to sum over.",
        pattern=r"matmul input operand (?P<operand>\d+) must have ndim at least 1, but it has ndim 0",
        samples=("matmul input operand 1 must have ndim at least 1, but it has ndim 0",),
        page="jax.numpy.matmul",
    ),
    Recogniser(
        "contraction-shapes",
        _VALUE,
        "The batch dimensions of {left} and {right} cannot be broadcast to each other.",
        "All dimensions but the last two are batch dimensions: they have to be equal or 1. Name them with "
        "`jnp.einsum`, or add one with `x[:, None]`.",
        pattern=rf"Incompatible (?:types|shapes) for matmul arguments: (?P<left>{_SHAPE}) and (?P<right>{_SHAPE})",
        samples=(
            "Incompatible types for matmul arguments: float32[2,8,3] and float32[4,3,5]",
            "Incompatible shapes for matmul arguments: (2, 8, 3) and (4, 3, 5)",
        ),
        page="jax.numpy.matmul",
    ),
    Recogniser(
        "einsum-shapes",
        _VALUE,
        "The letter {label} stands for a dimension of {size} here and of {other} elsewhere.",
        "Use another letter where another dimension is meant, or transpose the operand.",
        pattern=r"Size of label (?P<label>'.') for operand \d+ \((?P<size>\d+)\) does not match previous terms "
        r"\((?P<other>\d+)\)",
        samples=("Size of label 'j' for operand 1 (3) does not match previous terms (4).",),
        page="jax.numpy.einsum",
    ),
    Recogniser(
        "einsum-shapes",
        _VALUE,
        "The subscripts {label} do not have one letter for each dimension of operand {operand}, counted from 0.",
        "Write one letter for each dimension, or `...` for those that are only carried along.",
        pattern=r"Einstein sum subscript (?P<label>'[^']*') does not contain the correct number of indices for operand "
        r"(?P<operand>\d+)",
        samples=("Einstein sum subscript 'ij' does not contain the correct number of indices for operand 0.",),
        page="jax.numpy.einsum",
    ),
    Recogniser(
        "einsum-operands",
        _VALUE,
        "The subscripts are for {given} operands, and {count} were given.",
        "Write one group of letters for each operand, with commas between: `jnp.einsum('ij,jk->ik', x, y)`.",
        pattern=r"Number of einsum subscripts, (?P<given>\d+), must be equal to the number of operands, (?P<count>\d+)",
        samples=("Number of einsum subscripts, 2, must be equal to the number of operands, 1.",),
        page="jax.numpy.einsum",
    ),
    Recogniser(
        "einsum-shapes",
        _VALUE,
        "The result has the letter {label}, which stands for no dimension of the operands.",
        "Take the letters after `->` from those before it; a new dimension is made with `x[..., None]`.",
        pattern=r"Output character (?P<label>'.') did not appear in the input",
        samples=("Output character 'z' did not appear in the input",),
        page="jax.numpy.einsum",
    ),
    Recogniser(
        "update-shape",
        _EITHER,
        "What is written, {given}, does not fit what is written to, {wanted}.",
        "Write a value of the shape of `x[i]` itself, or take another slice; sizes of 1 and missing leading dimensions "
        "are filled up.",
        pattern=rf"Incompatible (?:types|shapes) for broadcasting: (?:input type=)?(?P<given>{_SHAPE}) and requested "
        rf"(?:type=|shape )(?P<wanted>{_SHAPE})",
        samples=(
            "Incompatible types for broadcasting: input type=float32[3] and requested type=float32[2]",
            "Incompatible shapes for broadcasting: (3,) and requested shape (2,)",
        ),
        forms=("call set", "call add", "call multiply", "call min", "call max", "call mul"),
        page="jax.numpy.ndarray.at",
    ),
    Recogniser(
        "broadcast-shapes",
        _EITHER,
        "An array of {given} cannot be broadcast to {wanted}.",
        "Axes are matched from the last one: each has to be equal, 1 or missing. Put an axis where it belongs, `x[:, "
        "None]`.",
        pattern=rf"Incompatible (?:types|shapes) for broadcasting: (?:input type=)?(?P<given>{_SHAPE}) and requested "
        rf"(?:type=|shape )(?P<wanted>{_SHAPE})",
        samples=(
            "Incompatible types for broadcasting: input type=float32[3] and requested type=float32[3,4]",
            "Incompatible shapes for broadcasting: (3,) and requested shape (3, 4)",
        ),
        page="jax.numpy.broadcast_to",
    ),
    Recogniser(
        "broadcast-shapes",
        _EITHER,
        "The shapes {shapes} cannot be broadcast to one.",
        "Axes are matched from the last one: each has to be equal, 1 or missing. Put an axis where it belongs, `x[:, "
        "None]` or `x[:, jnp.newaxis]`.",
        pattern=r"(?:got incompatible shapes for broadcasting: |Incompatible shapes for broadcasting: shapes=)"
        r"(?P<shapes>[^.\n]*)",
        samples=(
            "add got incompatible shapes for broadcasting: (3,), (4,).",
            "Incompatible shapes for broadcasting: shapes=[(8, 3), (8, 3), (8,)]",
        ),
        page="jax.numpy.broadcast_shapes",
    ),
    Recogniser(
        "broadcast-shapes",
        _TYPE,
        "`lax.{function}` was given arrays with different numbers of dimensions, {ranks}, and does not broadcast.",
        "Use the function of jnp, which does, or give both the same number of dimensions with `x[None]`.",
        pattern=r"\b(?P<function>\w+): arrays must have the same number of dimensions, got (?P<ranks>\{[^}]*\})",
        samples=("add: arrays must have the same number of dimensions, got {1, 2}",),
    ),
    Recogniser(
        "concatenate-shapes",
        _TYPE,
        "The arrays, {shapes}, differ in other dimensions than number {axis}, along which they are joined.",
        "Join along the dimension in which they differ, `axis=...`, or make the others equal first.",
        pattern=r"Cannot concatenate arrays with shapes that differ in dimensions other than the one being "
        r"concatenated: concatenating along dimension (?P<axis>\d+) for shapes (?P<shapes>[^.]*)",
        samples=(
            "Cannot concatenate arrays with shapes that differ in dimensions other than the one being concatenated: "
            "concatenating along dimension 0 for shapes (2, 3), (2, 4).",
        ),
        page="jax.numpy.concatenate",
    ),
    Recogniser(
        "concatenate-shapes",
        _EITHER,
        "The arrays to be joined, {shapes}, have different numbers of dimensions.",
        "Add the missing axis, `y[None]` or `y[:, None]`, before joining.",
        pattern=r"Cannot (?:concatenate|stack) arrays with different numbers of dimensions: got (?P<shapes>[^.]*)",
        samples=("Cannot concatenate arrays with different numbers of dimensions: got (2, 3), (4,).",),
        page="jax.numpy.concatenate",
    ),
    Recogniser(
        "concatenate-shapes",
        _VALUE,
        "The arrays to be stacked have different shapes.",
        "Stacking makes a new axis and needs equal shapes: join along an axis there is with `jnp.concatenate`, or pad.",
        pattern=r"All input arrays must have the same shape|Cannot stack arrays with different shapes",
        samples=("All input arrays must have the same shape.",),
        page="jax.numpy.stack",
    ),
    Recogniser(
        "reshape-size",
        _TYPE,
        "{given} has {size} elements, which cannot be laid out as {wanted}.",
        "The product of the sizes has to stay the same; one of them can be -1, which is then worked out where the "
        "others divide.",
        pattern=r"cannot reshape array of shape (?P<given>\([^)]*\)) \(size (?P<size>\d+)\) into shape "
        r"(?P<wanted>\([^)]*\)|\d+)",
        samples=(
            "cannot reshape array of shape (6,) (size 6) into shape (4, 2) (size 8)",
            "cannot reshape array of shape (6,) (size 6) into shape 7 (size 7)",
        ),
        page="jax.numpy.reshape",
    ),
    Recogniser(
        "reshape-size",
        _TYPE,
        "{given} elements cannot be laid out as {wanted}.",
        "The product of the sizes has to stay the same; `jnp.reshape` takes one of them as -1 and works it out.",
        pattern=r"reshape total size must be unchanged, got new_sizes (?P<wanted>\([^)]*\)).* for shape .*"
        r"\(of total size (?P<given>\d+)\)",
        samples=(
            "reshape total size must be unchanged, got new_sizes (4, 2) (of total size 8) for shape (6,) (of total "
            "size 6).",
        ),
        page="jax.lax.reshape",
    ),
    Recogniser(
        "reshape-size",
        _VALUE,
        "{given} elements cannot be laid out as {wanted}: MLIR's own check found it, as JAX did not.",
        "The product of the sizes has to stay the same; `jnp.reshape` takes one of them as -1 and works it out.",
        pattern=r"verifier errors:\s+number of output elements \((?P<wanted>\d+)\) doesn't match expected number of "
        r"elements \((?P<given>\d+)\)",
        samples=(
            "Cannot lower jaxpr with verifier errors:\n\tnumber of output elements (8) doesn't match expected number "
            "of elements (6)",
        ),
        page="jax.lax.reshape",
    ),
    Recogniser(
        "reshape-size",
        _EITHER,
        "The shape {wanted} has more than one -1.",
        "One size can be -1, which is then worked out; give the others.",
        pattern=r"can only specify one unknown axis size with a `-1` value, got (?P<wanted>\([^)]*\))",
        samples=("can only specify one unknown axis size with a `-1` value, got (-1, -1)",),
        page="jax.numpy.reshape",
    ),
    Recogniser(
        "axis-out-of-range",
        _EITHER,
        "The permutation {axes} does not name each axis of an array of shape {shape} once.",
        "A permutation names each axis once, counted from 0.",
        pattern=r"transpose permutation isn't a permutation of operand dimensions, got permutation (?P<axes>\([^)]*\)) "
        r"for operand shape (?P<shape>\([^)]*\))",
        samples=(
            "transpose permutation isn't a permutation of operand dimensions, got permutation (0, 0) for operand shape "
            "(3, 4).",
        ),
        page="jax.numpy.transpose",
    ),
    Recogniser(
        "axis-out-of-range",
        (),
        "The axes of {expression} do not fit: axis {axis} was asked of an array of rank {rank}.",
        "A permutation names each axis once, counted from 0.",
        pattern=r"axis (?P<axis>-?\d+) is out of bounds for array of dimension (?P<rank>\d+)",
        samples=("axis 2 is out of bounds for array of dimension 2",),
        forms=("call transpose",),
        page="jax.numpy.transpose",
    ),
    Recogniser(
        "axis-out-of-range",
        (),
        "Axis {axis} was asked of an array of rank {rank}.",
        "Axes count from 0, and from the end with -1. Look at where a dimension was lost; `keepdims=True` keeps those "
        "that are summed over.",
        pattern=r"axis (?P<axis>-?\d+) is out of bounds for array of dimension (?P<rank>\d+)",
        samples=("axis 2 is out of bounds for array of dimension 2",),
    ),
    Recogniser(
        "axis-out-of-range",
        (),
        "Axis {axis} was asked of an array of shape {shape}.",
        "Axes count from 0, and from the end with -1. Look at where a dimension was lost; `keepdims=True` keeps those "
        "that are summed over.",
        pattern=rf"axis (?P<axis>-?\d+) is out of bounds for array of shape (?P<shape>{_SHAPE})",
        samples=("axis 2 is out of bounds for array of shape (3, 4)",),
    ),
    Recogniser(
        "axis-out-of-range",
        _VALUE,
        "An axis is named twice: {axes}.",
        "Name each axis once, counted from 0, or from the end with -1.",
        pattern=r"duplicate value in 'axis': (?P<axes>\([^)]*\))",
        samples=("duplicate value in 'axis': (0, 0)",),
    ),
    Recogniser(
        "squeeze-size",
        _VALUE,
        "Dimensions {axes} of {shape} are not of size 1, so they cannot be left out.",
        "Name an axis of size 1, or take one element of it: `x[0]`.",
        pattern=r"axis to squeeze out which has size not equal to one, got shape=(?P<shape>\([^)]*\)) and "
        r"dimensions=(?P<axes>\([^)]*\))",
        samples=(
            "cannot select an axis to squeeze out which has size not equal to one, got shape=(2, 3) and "
            "dimensions=(0,)",
        ),
        page="jax.numpy.squeeze",
    ),
    Recogniser(
        "slice-size",
        _VALUE,
        "The largest {size} elements were asked for, of an axis that has fewer in shape {shape}.",
        "Ask for at most the size of the axis, `min(k, x.shape[-1])`.",
        pattern=r"k argument to top_k must be no larger than (?:size along axis; got k=|minor dimension; )"
        r"(?P<size>\d+) (?:with shape=|vs )(?P<shape>\[[^\]]*\])",
        samples=("k argument to top_k must be no larger than size along axis; got k=9 with shape=[4] and axis=0",),
        page="jax.lax.top_k",
    ),
    Recogniser(
        "split-size",
        _VALUE,
        "The axis does not divide into equal parts.",
        "Use `jnp.array_split`, whose last parts may be smaller, or give the places to cut at.",
        pattern=r"array split does not result in an equal division",
        samples=("array split does not result in an equal division: rest is 1",),
        page="jax.numpy.array_split",
    ),
    Recogniser(
        "slice-size",
        _TYPE,
        "A slice of {size} was asked of an array of {shape}.",
        "The size of a slice is at most that of the array in each dimension.",
        pattern=r"slice slice_sizes must be less than or equal to operand shape, got slice_sizes "
        r"(?P<size>\([^)]*\)) for operand shape (?P<shape>\([^)]*\))",
        samples=(
            "slice slice_sizes must be less than or equal to operand shape, got slice_sizes (5,) for operand shape "
            "(4,).",
        ),
        page="jax.lax.dynamic_slice",
    ),
    Recogniser(
        "slice-size",
        _TYPE,
        "An update of {size} was written to an array of {shape}.",
        "The size of an update is at most that of the array in each dimension.",
        pattern=r"update shape must be smaller than operand shape, got update shape (?P<size>\([^)]*\)) for operand "
        r"shape (?P<shape>\([^)]*\))",
        samples=(
            "dynamic_update_slice update shape must be smaller than operand shape, got update shape (6,) for operand "
            "shape (4,).",
        ),
        page="jax.lax.dynamic_update_slice",
    ),
    Recogniser(
        "convolution-shapes",
        _VALUE,
        "The input has {input} features and the kernel takes {kernel}.",
        "Both have to be equal (for feature_group_count=1). The order of the dimensions is batch, features, then "
        "space, unless dimension_numbers= says otherwise.",
        pattern=r"lhs feature dimension size divided by feature_group_count must equal the rhs input feature dimension "
        r"size, but (?P<input>\d+) // \d+ != (?P<kernel>\d+)",
        samples=(
            "conv_general_dilated lhs feature dimension size divided by feature_group_count must equal the rhs input "
            "feature dimension size, but 3 // 1 != 5.",
        ),
        page="jax.lax.conv_general_dilated",
    ),
    Recogniser(
        "convolution-shapes",
        _EITHER,
        "The input has {input} dimensions and the kernel {kernel}.",
        "Both have batch and features, or features in and out, beside the dimensions of space: add the missing one "
        "with `x[None]`. Their order is given by dimension_numbers=.",
        pattern=r"convolution requires lhs and rhs ndim to be equal, got (?P<input>\d+) and (?P<kernel>\d+)",
        samples=("convolution requires lhs and rhs ndim to be equal, got 3 and 4.",),
        page="jax.lax.conv_general_dilated",
    ),
    Recogniser(
        "matrix-shape",
        _VALUE,
        "`{function}` was given {shape}, and takes square matrices, or a stack of these.",
        "Check which of the last two dimensions is meant; for others there are `jnp.linalg.pinv`, `lstsq` and `svd`; "
        "square is `x.T @ x`.",
        pattern=r"Argument to (?:linalg\.|_)?(?P<function>\w+?)(?:\(\))? must have shape \[\.\.\., n, n\], got "
        r"(?P<shape>\([^)]*\))",
        samples=(
            "Argument to inv must have shape [..., n, n], got (2, 3).",
            "Argument to linalg.cholesky must have shape [..., n, n], got (2, 3).",
            "Argument to _det() must have shape [..., n, n], got (3, 4)",
        ),
        page="jax.numpy.linalg.inv",
    ),
    Recogniser(
        "matrix-shape",
        _EITHER,
        "`{function}` takes a matrix, or a stack of these, and was given an array of shape {shape}.",
        "Give it a second dimension, `x[None]` for a row or `x[:, None]` for a column.",
        pattern=r"Input \d+ to (?P<function>\w+) must have rank at least 2, but got shape=(?P<shape>\([^)]*\))",
        samples=("Input 0 to svd must have rank at least 2, but got shape=(4,)",),
        page="jax.numpy.linalg.svd",
    ),
    Recogniser(
        "matrix-shape",
        _VALUE,
        "A dimension that has to be the same in both arguments is {left} in one and {right} in the other.",
        "The right side has as many rows as the matrix: transpose it, or give it an axis, `b[:, None]`.",
        pattern=r"inconsistent size for core dimension '\w+': (?P<left>\d+) vs (?P<right>\d+)",
        samples=("inconsistent size for core dimension 'm': 4 vs 3 on vectorized function with excluded=frozenset()",),
        page="jax.numpy.linalg.solve",
    ),
)
