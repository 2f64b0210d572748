"""What lowering and compilers refuse: rules, platforms, options, memory, meshes.

Output: rows of the table of failures. XLA raises one class for everything, so only its words tell.
"""

from jaxscope._failures.records import Recogniser

_MISSING = ("NotImplementedError",)
_XLA = ("JaxRuntimeError", "RuntimeError")

ROWS = (
    Recogniser(
        "lowering-rule-missing",
        _MISSING,
        "JAX has no rule for lowering the primitive {primitive} for the platform {platform}.",
        "Choose a platform that has it with target=, compute it outside of what is compiled or with "
        "`jax.pure_callback`, or, for a primitive of your own, register `jax.interpreters.mlir.register_lowering`.",
        pattern=r"MLIR translation rule for primitive '(?P<primitive>[^']+)' not found for platform (?P<platform>\w+)",
        samples=("MLIR translation rule for primitive 'unlowered' not found for platform cpu",),
    ),
    Recogniser(
        "lowering-rule-missing",
        ("ValueError", "NotImplementedError"),
        "JAX cannot lower {what} for this platform.",
        "Choose a platform that has it with target=, or another operation.",
        pattern=r"(?P<what>[^\n.]{1,80}) (?:is|are) (?:not|only) (?:implemented|supported) on (?:the )?\w+ ?(?:backend|"
        r"platform)?",
        samples=("Nonsymmetric eigendecomposition is only implemented on the CPU backend.",),
        forms=("call eig", "call eigvals", "call schur", "call dot", "call dot_general"),
    ),
    Recogniser(
        "abstract-rule-missing",
        _MISSING,
        "The primitive {primitive} does not say which types it gives.",
        "Give it a rule: `primitive.def_abstract_eval(...)`.",
        pattern=r"Abstract evaluation for '(?P<primitive>[^']+)' not implemented",
        samples=("Abstract evaluation for 'untyped' not implemented",),
    ),
    Recogniser(
        "differentiation-rule-missing",
        _MISSING,
        "The primitive {primitive} has no rule for its derivative.",
        "Stop the gradient before it, `jax.lax.stop_gradient`, or give the function around it one with "
        "`jax.custom_jvp`; for a primitive of your own, set `jax.interpreters.ad.primitive_jvps`.",
        pattern=r"(?:Differentiation|Transpose) rule (?:\([^)]*\) )?for '(?P<primitive>[^']+)' not implemented",
        samples=(
            "Differentiation rule for 'unlowered' not implemented",
            "Transpose rule (for reverse-mode differentiation) for 'f' not implemented",
        ),
        page="jax.custom_jvp",
    ),
    Recogniser(
        "batching-rule-missing",
        _MISSING,
        "The primitive {primitive} has no rule for being mapped over.",
        "Go over the axis with `jax.lax.map`, which runs it once for each element; for a primitive of your own, set "
        "`jax.interpreters.batching.primitive_batchers`.",
        pattern=r"Batching rule for '(?P<primitive>[^']+)' not implemented",
        samples=("Batching rule for 'unlowered' not implemented",),
        page="jax.custom_batching.custom_vmap",
    ),
    Recogniser(
        "pallas-platform",
        ("ValueError",),
        "A Pallas kernel was lowered for the CPU, which has no compiler for them.",
        'Lower it for hardware that has one with target=, such as `target="tpu:v5e"`, or interpret it: '
        "`pl.pallas_call(..., interpret=True)`.",
        pattern=r"Only interpret mode is supported on CPU backend",
        samples=("Only interpret mode is supported on CPU backend.",),
    ),
    Recogniser(
        "custom-call-missing",
        _XLA,
        "The program calls a library function, {symbol}, that is not registered for this target.",
        "Import or register it first, `jax.ffi.register_ffi_target`. Nothing can be registered for hardware that is "
        "not attached: leave the call out there.",
        pattern=r"No FFI handler registered for (?P<symbol>\S+)",
        samples=("NOT_FOUND: No FFI handler registered for no_such_target_xyz on a platform Host (canonical host)",),
        page="jax.ffi.register_ffi_target",
    ),
    Recogniser(
        "custom-call-missing",
        _XLA,
        "The program calls a library function, {symbol}, that is not registered for this target.",
        "Import or register it first, `jax.ffi.register_ffi_target`. Nothing can be registered for hardware that is "
        "not attached: leave the call out there.",
        pattern=r"[Cc]ustom (?:call target|emitter for) '?(?P<symbol>[^\s']+)'? (?:was )?not found",
        samples=("INVALID_ARGUMENT: Custom emitter for no_such_target not found",),
        page="jax.ffi.register_ffi_target",
    ),
    Recogniser(
        "compiler-option",
        _XLA,
        "XLA knows no option {option}.",
        "Check the spelling in compiler_options=; the names are those of XLA's flags without the leading dashes, and "
        "some exist for one platform only.",
        pattern=r"No such compile option: (?P<option>'[^']*')",
        samples=("INVALID_ARGUMENT: No such compile option: 'xla_no_such_flag'",),
    ),
    Recogniser(
        "compiler-option-value",
        _XLA,
        "The value {value} of the option {option} is not {type}.",
        "Give the option a value of its type: True or False, a number, or the name of one of its choices.",
        pattern=r"While setting option (?P<option>\w+), (?P<value>'[^']*') is not (?P<type>[^.\n]*)",
        samples=(
            "INVALID_ARGUMENT: While setting option xla_embed_ir_in_executable, 'perhaps' is not a valid bool value.",
        ),
    ),
    Recogniser(
        "backend-missing",
        (),
        "JAX was asked for hardware that is not attached: {words}.",
        "Leave backend= and device= out, and choose with target=. For a GPU that is not attached, JAX lowers no host "
        "callback (jax.debug.print, pure_callback) either.",
        pattern=r"(?P<words>Unknown backend[^\n]*|Backend '\w+' failed to initialize|Unable to initialize backend "
        r"'\w+')",
        samples=(
            "Unknown backend tpu. Available backends are ['cpu']",
            "Unknown backend: 'gpu' requested, but no platforms that are instances of gpu are present.",
            "Backend 'tpu' failed to initialize: NOT_FOUND: no device. Available backends are ['cpu']",
            "Unable to initialize backend 'cuda': no device",
        ),
    ),
    Recogniser(
        "out-of-memory",
        _XLA,
        "The program needs {needed} of memory on a device, and there are {available}.",
        "Make the batch smaller, recompute instead of keeping with `jax.checkpoint`, donate what is not needed again, "
        "or split arrays over more devices; the Memory tab of a smaller size shows what takes most.",
        pattern=r"RESOURCE_EXHAUSTED.*?(?:\(|Used )(?P<needed>[\d.]+[KMGT]?)(?:\) exceeds available \w+ \(| of )"
        r"(?P<available>[\d.]+[KMGT]?)",
        samples=(
            "RESOURCE_EXHAUSTED: Ran out of memory on HBM, the total memory required for HLO temporaries (160.00G) "
            "exceeds available HBM (15.75G).",
        ),
        page="jax.checkpoint",
    ),
    Recogniser(
        "out-of-memory",
        (),
        "There is not enough memory: {words}.",
        "Make the batch smaller, recompute instead of keeping with `jax.checkpoint`, donate what is not needed again, "
        "or split arrays over more devices.",
        pattern=r"(?P<words>RESOURCE_EXHAUSTED[^\n]{0,120}|[Oo]ut of memory[^\n]{0,80}|Unable to allocate[^\n]{0,80})",
        samples=("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 68719476736 bytes.",),
        page="jax.checkpoint",
    ),
    Recogniser(
        "dtype-unsupported-by-target",
        _XLA,
        "The target's compiler has no {op} for the type {dtype}.",
        "Convert before it, `x.astype(jnp.float32)` or `jnp.bfloat16`, or choose another target.",
        pattern=r"(?:unsupported operand type (?P<dtype>\S+) in op (?P<op>\w+))",
        samples=("UNIMPLEMENTED: unsupported operand type U2 in op dot",),
    ),
    Recogniser(
        "dtype-unsupported-by-target",
        _XLA,
        "The target's compiler has no {op} for the type {dtype}.",
        "Convert before it, `x.astype(jnp.float32)` or `jnp.complex64`, or choose another target.",
        pattern=r"Unexpected operand type for (?P<op>\w+): (?P<dtype>\w+)",
        samples=(
            "INVALID_ARGUMENT: during context [pre-optimization]: Unexpected operand type for FFT: c128[8,8]{1,0}",
        ),
    ),
    Recogniser(
        "dtype-unsupported-by-target",
        _XLA,
        "The target has no 64-bit numbers, and its compiler cannot replace them in this {op} of {dtype}.",
        "Use 32 bits there, `x.astype(jnp.int32)`, or choose another target.",
        pattern=r"rewriting computation to not contain X\{64\|128\} element types.* = "
        r"(?P<dtype>\w+)\[\S* (?P<op>[\w-]+)\(",
        samples=(
            "UNIMPLEMENTED: While rewriting computation to not contain X{64|128} element types, XLA encountered an HLO "
            "for which this rewriting is not implemented: %dot_general.1 = s64[8,8]{1,0} dot(%x.1, %transpose.1)",
        ),
    ),
    Recogniser(
        "dtype-unsupported-by-target",
        _XLA,
        "The target's compiler has no {op} for the type {dtype}.",
        "Convert before it, `x.astype(jnp.bfloat16)` or another of the 8-bit types, or choose another target.",
        pattern=r"The only FP8 types supported in \w+ are [^\n]{0,60}, but got (?P<op>\w+) with FP8 type "
        r"(?P<dtype>\w+)",
        samples=(
            "UNIMPLEMENTED: The only FP8 types supported in convolutions are f8e5m2 and f8e4m3, but got convolution "
            "with FP8 type f8e8m0fnu: %conv_general_dilated.1",
        ),
    ),
    Recogniser(
        "dtype-unsupported-by-target",
        _XLA,
        "The target's compiler does not take the type {dtype} here: {words}.",
        "Convert before it, `x.astype(jnp.int8)` or `jnp.bfloat16`, or choose another target or larger sizes.",
        pattern=r"(?P<words>\b(?P<dtype>[A-Z]+\d\w*) is not supported for [^\n]{0,80})",
        samples=("INVALID_ARGUMENT: INT2 is not supported for rank 0",),
    ),
    Recogniser(
        "compiler-time-limit",
        ("CompilerError",),
        "The compiler was not done after {limit}, the time it was given, and was ended.",
        "Pass a larger time_limit_s=, or None for no limit; a loop in place of what is unrolled compiles faster.",
        pattern=r"ended after its time limit of (?P<limit>[\d.]+ s)\b",
        samples=("Compiling in a process of its own: it was ended after its time limit of 900 s. Pass a larger",),
    ),
    Recogniser(
        "compiler-aborted",
        ("CompilerError",),
        "The compiler ended itself, by {signal}, instead of refusing the program.",
        "Change the program or its compiler_options=: the last lines of its log name what it choked on. It is worth a "
        "report to whoever makes that compiler.",
        pattern=r"it was ended by (?P<signal>\w+)",
        samples=("Compiling in a process of its own: it was ended by SIGABRT before there was a result.",),
    ),
    Recogniser(
        "lowering-verifier",
        ("ValueError",),
        "MLIR's own check refused what a function of JAX had let pass: {words}.",
        "Check shapes and types at the line: functions of jnp check theirs, those of lax not always.",
        pattern=r"Cannot lower jaxpr with verifier errors:\s+(?P<words>[^\n]+)",
        samples=(
            "Cannot lower jaxpr with verifier errors:\n\t'stablehlo.rng' op operand #0 must be 0D tensor of bool or "
            "2/4/8/16/32/64-bit integer values\n\t\tat loc(...)",
        ),
    ),
    Recogniser(
        "symbolic-shape",
        ("ValueError",),
        "The program has sizes that are names, and XLA compiles for numbers.",
        "Give numbers where the arguments' shapes have names; a program with names is exported with `jax.export`.",
        pattern=r"Error refining shapes",
        samples=("Error refining shapes. Define JAX_DUMP_IR_TO to dump the module.",),
        page="jax.export.symbolic_shape",
    ),
    Recogniser(
        "symbolic-comparison",
        ("InconclusiveDimensionOperation",),
        "Whether {words} cannot be told for all sizes that the names may stand for.",
        "Say what is known with constraints, `jax.export.symbolic_shape('b', constraints=['b >= 4'])`, or decide with "
        "`jax.lax.cond` inside of the program.",
        pattern=r"Symbolic dimension comparison (?P<words>[^\n]*?) is inconclusive",
        samples=("Symbolic dimension comparison 'b' > '3' is inconclusive.",),
        page="jax.export.symbolic_shape",
    ),
    Recogniser(
        "symbolic-dimension",
        ("InconclusiveDimensionOperation",),
        "{expression} needs the number behind a size that is a name.",
        "Compute with the size as it is, `x.shape[0] * 2`, or as an array with `jnp.array(x.shape[0])`; say what is "
        "known about it with constraints, `jax.export.symbolic_shape('b', constraints=['b >= 4'])`.",
        page="jax.export.symbolic_shape",
    ),
    Recogniser(
        "sharding-size",
        (),
        "An axis of size {size} is to be split over {parts} devices, which does not divide it.",
        "Choose sizes that the mesh divides, pad, or leave that axis whole: None in its PartitionSpec.",
        pattern=r"dimension \d+ should be divisible by (?P<parts>\d+), but it is equal to (?P<size>\d+)",
        samples=(
            "One of with_sharding_constraint arguments was given the sharding of NamedSharding(...), which implies "
            "that the global size of its dimension 0 should be divisible by 2, but it is equal to 3 (full shape: "
            "(3,)).",
        ),
        page="jax.sharding.NamedSharding",
    ),
    Recogniser(
        "sharding-size",
        ("ValueError",),
        "An argument of `jax.shard_map` has an axis that the mesh does not divide.",
        "Check in_specs=, choose sizes that the mesh divides, or pad.",
        pattern=r"given argument arrays with axis sizes that are not evenly divisible",
        samples=(
            "shard_map applied to the function 'f' was given argument arrays with axis sizes that are not evenly "
            "divisible by the corresponding mesh axis sizes:",
        ),
        page="jax.shard_map",
    ),
    Recogniser(
        "mesh-axis",
        ("ValueError",),
        "The sharding names the axis {axis}, and the mesh has {axes}.",
        'Name axes of the mesh, or give it that axis: mesh={{"data": 2, "model": 4}}.',
        pattern=r"Resource axis: (?P<axis>\S+) of .* is not found in mesh: (?P<axes>\([^)]*\))",
        samples=("Resource axis: model of P('model',) is not found in mesh: ('data',).",),
        page="jax.sharding.NamedSharding",
    ),
    Recogniser(
        "mesh-missing",
        (),
        "A `PartitionSpec` was used without a mesh whose axes it could name.",
        "Give a mesh: mesh= here, or `jax.set_mesh(mesh)` around the call.",
        pattern=r"requires a non-empty mesh|is only supported in a mesh context",
        samples=("with_sharding_constraint requires a non-empty mesh in context if you are passing `PartitionSpec`s",),
        page="jax.set_mesh",
    ),
    Recogniser(
        "mesh-axis-type",
        ("ValueError",),
        "A sharding constraint names an axis whose sharding is part of the type: {words}.",
        "Use `jax.sharding.reshard`, or make the axis of the mesh an Auto one.",
        pattern=r"(?P<words>can only refer to Auto axes of the mesh[^\n]*)",
        samples=(
            "The spec of NamedSharding passed to with_sharding_constraint can only refer to Auto axes of the mesh.",
        ),
    ),
    Recogniser(
        "abstract-mesh",
        ("ValueError",),
        "The program names a mesh without devices, and nothing says for which platform it is to be lowered.",
        "Choose a platform with target=, or use a `jax.sharding.Mesh` of devices.",
        pattern=r"lowering_platforms .* is required when only AbstractMesh exists",
        samples=(
            "Passing lowering_platforms via jax.export or jit(f).trace(*args).lower(lowering_platforms=...) is "
            "required when only AbstractMesh exists in a jitted computation.",
        ),
        page="jax.sharding.AbstractMesh",
    ),
)
