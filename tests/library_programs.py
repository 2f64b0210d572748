"""Well-written programs that nobody wrote for these tests: what rules say of them must be true.

Problem: a rule that calls good code bad is worse than none. Input: a size. Output: `scipy_programs`, a call of every
public function of `jax.scipy`, `NOT_CALLED`, those left out with the reason, and `public_names`, what there is.
"""

import functools
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy


@dataclass(frozen=True)
class LibraryProgram:
    """A function and what `jaxscope.inspect` is called with."""

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...] = ()


@dataclass(frozen=True)
class _Call:
    """The arguments of a call; `through` is called instead of the function, and `static` is bound before."""

    args: tuple[Any, ...]
    static: Mapping[str, Any]
    through: Callable[..., Any] | None = None


def _call(*args: Any, through: Callable[..., Any] | None = None, **static: Any) -> _Call:
    return _Call(args, static, through)


NOT_CALLED = {
    "linalg.funm": "runs on the host: it takes no tracer",
    "optimize.OptimizeResults": "a record, no function",
}
# Distributions of counts.
_COUNTS = ("bernoulli", "betabinom", "binom", "geom", "nbinom", "poisson")

_ALONG_AXES = ("bernoulli", "bessel_jn", "log_softmax", "logsumexp", "softmax", "sph_harm_y")
_DISTRIBUTIONS = tuple(
    f"stats.{info.name}"
    for info in pkgutil.iter_modules(importlib.import_module("jax.scipy.stats").__path__)
    if info.name not in ("dirichlet", "multinomial", "multivariate_normal")
)


def public_names() -> list[str]:
    """Every public function and class of `jax.scipy`, as ``special.erf``."""
    found = []
    for info in pkgutil.walk_packages(jax.scipy.__path__, "jax.scipy."):
        module = importlib.import_module(info.name)
        found += [
            f"{info.name.removeprefix('jax.scipy.')}.{name}"
            for name in dir(module)
            if not name.startswith("_") and callable(getattr(module, name))
        ]
    return found


def is_elementwise(name: str) -> bool:
    """Whether a function of `jax.scipy` only works number by number: its kernels are then one, or loops."""
    module, _, function = name.rpartition(".")
    return (module.startswith("special") and function not in _ALONG_AXES) or module in _DISTRIBUTIONS


def scipy_programs(size: int) -> Iterator[LibraryProgram]:
    """A call of every function, with arrays of `size` by `size` where it takes such."""
    calls = _calls(size)
    for name in public_names():
        if name in NOT_CALLED:
            continue
        function = functools.reduce(getattr, name.split("."), jax.scipy)
        call = calls[name] if name in calls else _distribution(name, function, size)
        if call.through is not None:
            function = call.through
        elif call.static:
            function = functools.partial(function, **call.static)
        yield LibraryProgram(name, function, call.args)


def _distribution(name: str, function: Callable[..., Any], size: int) -> _Call:
    """A function of `jax.scipy.stats.*`: all its parameters are arrays, the first one large."""
    distribution, method = name.removeprefix("stats.").split(".")
    first = "i32" if distribution in _COUNTS and method not in ("ppf", "entropy") else "f32"
    others = ["f32[]"] * (len(inspect.signature(function).parameters) - 1)
    return _call(f"{first}[{size},{size}]", *others)


def _calls(n: int) -> dict[str, _Call]:
    array, counts, vector, complex_array = f"f32[{n},{n}]", f"i32[{n},{n}]", f"f32[{n}]", f"c64[{n},{n}]"
    stats, linalg, sparse, signal = (
        importlib.import_module(f"jax.scipy.{name}") for name in ("stats", "linalg", "sparse.linalg", "signal")
    )
    spatial = importlib.import_module("jax.scipy.spatial.transform")
    unary = (
        *(
            "dawsn",
            "digamma",
            "entr",
            "erf",
            "erfc",
            "erfcinv",
            "erfcx",
            "erfinv",
            "exp1",
            "expi",
            "expit",
            "factorial",
        ),
        *("fresnel", "gamma", "gammaln", "gammasgn", "i0", "i0e", "i1", "i1e", "log_ndtr", "loggamma", "logit", "ndtr"),
        *("ndtri", "sici", "spence"),
    )
    binary = (
        *("beta", "betaln", "boxcox", "boxcox1p", "comb", "gammainc", "gammaincc", "kl_div", "owens_t", "poch"),
        *("rel_entr", "xlog1py", "xlogy", "zeta"),
    )
    of_vector = ("companion", "fiedler_companion", "circulant", "fiedler", "toeplitz", "hankel")
    return {
        **{f"special.{name}": _call(array) for name in unary},
        **{f"special.{name}": _call(array, array) for name in binary},
        "special.bernoulli": _call(through=lambda: jax.scipy.special.bernoulli(20)),
        "special.bessel_jn": _call(vector, through=lambda z: jax.scipy.special.bessel_jn(z, v=4)),
        "special.betainc": _call(array, array, array),
        "special.expn": _call(counts, array),
        "special.hyp1f1": _call(array, array, array),
        "special.hyp2f1": _call(array, array, array, array),
        "special.log_softmax": _call(array, axis=-1),
        "special.logsumexp": _call(array, axis=-1),
        "special.multigammaln": _call(array, d=3),
        "special.polygamma": _call(counts, array),
        "special.softmax": _call(array, axis=-1),
        "special.sph_harm_y": _call(*(f"i32[{n}]", f"i32[{n}]", vector, vector), diff_n=None, n_max=4),
        "special.wofz": _call(complex_array),
        **{f"linalg.{name}": _call(vector) for name in of_vector},
        "linalg.block_diag": _call(array, array),
        "linalg.cho_factor": _call(array),
        "linalg.cho_solve": _call(array, array, through=lambda c, b: linalg.cho_solve((c, True), b)),
        "linalg.cholesky": _call(array, lower=True),
        "linalg.convolution_matrix": _call(vector, n=n),
        "linalg.det": _call(array),
        "linalg.dft": _call(n=n),
        "linalg.eigh": _call(array),
        "linalg.eigh_tridiagonal": _call(vector, f"f32[{n - 1}]", eigvals_only=True),
        "linalg.expm": _call(array),
        "linalg.expm_frechet": _call(array, array),
        "linalg.hadamard": _call(n=n),
        "linalg.helmert": _call(n=n),
        "linalg.hessenberg": _call(array, calc_q=True),
        "linalg.hilbert": _call(n=n),
        "linalg.inv": _call(array),
        "linalg.invhilbert": _call(n=n),
        "linalg.invpascal": _call(n=n),
        "linalg.leslie": _call(vector, f"f32[{n - 1}]"),
        "linalg.lu": _call(array),
        "linalg.lu_factor": _call(array),
        "linalg.lu_solve": _call(array, f"i32[{n}]", array, through=lambda lu, p, b: linalg.lu_solve((lu, p), b)),
        "linalg.pascal": _call(n=n),
        "linalg.polar": _call(array),
        "linalg.qr": _call(array, mode="economic"),
        "linalg.qr_multiply": _call(array, array),
        "linalg.rsf2csf": _call(array, array),
        "linalg.schur": _call(array),
        "linalg.solve": _call(array, array, assume_a="pos"),
        "linalg.solve_sylvester": _call(array, array, array),
        "linalg.solve_triangular": _call(array, array, lower=True),
        "linalg.sqrtm": _call(array),
        "linalg.svd": _call(array, full_matrices=False),
        "cluster.vq.vq": _call(array, array),
        "fft.dct": _call(array),
        "fft.dctn": _call(array),
        "fft.idct": _call(array),
        "fft.idctn": _call(array),
        "integrate.trapezoid": _call(array, vector),
        "interpolate.RegularGridInterpolator": _call(
            *(vector, vector, array, f"f32[{n * n},2]"),
            through=lambda x, y, values, at: jax.scipy.interpolate.RegularGridInterpolator((x, y), values)(at),
        ),
        "ndimage.map_coordinates": _call(
            *(array, f"f32[2,{n * n}]"), through=lambda image, at: jax.scipy.ndimage.map_coordinates(image, at, order=1)
        ),
        "optimize.minimize": _call(
            *(array, vector),
            through=lambda a, x: jax.scipy.optimize.minimize(lambda x: jnp.sum((a @ x - 1) ** 2), x, method="BFGS").x,
        ),
        "signal.convolve": _call(array, "f32[7,7]", mode="same"),
        "signal.convolve2d": _call(array, "f32[7,7]", mode="same"),
        "signal.correlate": _call(array, "f32[7,7]", mode="same"),
        "signal.correlate2d": _call(array, "f32[7,7]", mode="same"),
        "signal.csd": _call(f"f32[{n * n}]", f"f32[{n * n}]", through=lambda x, y: signal.csd(x, y, nperseg=n)),
        "signal.detrend": _call(array),
        "signal.fftconvolve": _call(array, array, mode="same"),
        "signal.istft": _call(f"c64[{n // 2 + 1},{2 * n}]", through=lambda z: signal.istft(z, nperseg=n)),
        "signal.stft": _call(f"f32[{n * n}]", through=lambda x: signal.stft(x, nperseg=n)),
        "signal.welch": _call(f"f32[{n * n}]", through=lambda x: signal.welch(x, nperseg=n)),
        "sparse.linalg.bicgstab": _call(array, vector, through=lambda a, b: sparse.bicgstab(lambda x: a @ x, b)),
        "sparse.linalg.cg": _call(array, vector, through=lambda a, b: sparse.cg(lambda x: a @ x, b)),
        "sparse.linalg.gmres": _call(array, vector, through=lambda a, b: sparse.gmres(lambda x: a @ x, b)),
        "spatial.transform.Rotation": _call(
            *(f"f32[{n},4]", f"f32[{n},3]"), through=lambda q, x: spatial.Rotation.from_quat(q).apply(x)
        ),
        "spatial.transform.Slerp": _call(
            *(f"f32[{n}]", f"f32[{n},4]", f"f32[{n - 1}]"),
            through=lambda times, q, at: spatial.Slerp.init(times, spatial.Rotation.from_quat(q))(at).as_quat(),
        ),
        "stats.gaussian_kde": _call(vector, vector, through=lambda data, x: stats.gaussian_kde(data)(x)),
        "stats.mode": _call(counts),
        "stats.rankdata": _call(array, axis=-1),
        "stats.sem": _call(array),
        "stats.dirichlet.logpdf": _call(array, vector),
        "stats.dirichlet.pdf": _call(array, vector),
        "stats.multinomial.logpmf": _call(counts, f"i32[{n}]", array),
        "stats.multinomial.pmf": _call(counts, f"i32[{n}]", array),
        "stats.multivariate_normal.logpdf": _call(array, vector, array),
        "stats.multivariate_normal.pdf": _call(array, vector, array),
    }
