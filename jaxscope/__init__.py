"""See what jit makes of a function: linked Python, jaxpr, StableHLO and compiled HLO, in a notebook."""

from typing import TYPE_CHECKING

from jaxscope import errors

if TYPE_CHECKING:
    from jaxscope._api import inspect, show
    from jaxscope._inspection import Inspection
    from jaxscope._reference import reference
    from jaxscope._target_list import targets

__version__ = "0.1.0"
__all__ = ["Inspection", "__version__", "errors", "inspect", "reference", "show", "targets"]

# Loaded on first use: Pygments loads the lexers through this package, and they need no JAX.
_HOMES = {
    "Inspection": "jaxscope._inspection",
    "inspect": "jaxscope._api",
    "reference": "jaxscope._reference",
    "show": "jaxscope._api",
    "targets": "jaxscope._target_list",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return __all__
